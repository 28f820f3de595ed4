//! PW-OSPF between three live cards in a ring, in real time.
//!
//! Port 1 of each router leads to port 0 of the next; the network between router `i` and the next
//! is 10.`i`.0.0/24, where `i` has the address .1 and the next one .2.

use crate::rig::{Rig, Running, launch, or_skip, unless_lacking};
use serde_json::Value;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use trammel_card::{Client, CommandLine, Options, RegisterDataplane};
use trammel_control::config::cpuhw;
use trammel_control::{Config, Dataplane, Route};
use trammel_core::Span;
use trammel_io::clock;
use trammel_io::netns::{Namespace, veth};

const ROUTERS: usize = 3;
const MASK: Ipv4Addr = Ipv4Addr::new(255, 255, 255, 0);
/// Between two looks at the routers, in nanoseconds.
const LOOK_NS: i64 = 10_000_000;
/// What routers may need besides.
const GRACE: Span = Span::from_secs(1);

/// The network that port 1 of `router` is in.
fn network(router: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, router as u8, 0, 0)
}

/// The router before `router` in the ring.
fn before(router: usize) -> usize {
    (router + ROUTERS - 1) % ROUTERS
}

/// The address of `router` on `port`.
fn address(router: usize, port: usize) -> Ipv4Addr {
    let (network, host) = [(before(router), 2), (router, 1)][port];
    Ipv4Addr::new(10, network as u8, 0, host)
}

struct Ring {
    // First: cards end before their interfaces go.
    cards: Vec<Option<Running>>,
    homes: Vec<Namespace>,
    folder: tempfile::TempDir,
}

impl Ring {
    fn new(hello: Span) -> Option<Ring> {
        let mut ring = Ring {
            cards: Vec::new(),
            homes: Vec::new(),
            folder: tempfile::tempdir().expect("a temporary folder can be made"),
        };
        for _ in 0..ROUTERS {
            ring.homes.push(or_skip(Namespace::new())?);
        }
        for (router, home) in ring.homes.iter().enumerate() {
            let next = &ring.homes[(router + 1) % ROUTERS];
            veth(home, "p1", next, "p0").expect("the pair of devices can be made");
        }
        for router in 0..ROUTERS {
            for port in ["p0", "p1"] {
                ring.homes[router]
                    .set_offloads(port, false)
                    .expect("offloads off");
            }
            let options = ring.options(router, hello);
            let card = unless_lacking(launch(&ring.homes[router], &options))?;
            ring.cards.push(Some(card));
        }
        Some(ring)
    }

    fn options(&self, router: usize, hello: Span) -> Options {
        let line = |port: usize| {
            let address = address(router, port);
            format!("eth{port} {address} {MASK} 2:0:0:0:{router}:{port}\n")
        };
        let interfaces = cpuhw::read("cpuhw", &(line(0) + &line(1))).expect("it is right");
        let mut config = Config::new(interfaces, Vec::new());
        let pwospf = config.pwospf.as_mut().expect("it runs by default");
        pwospf.hello_interval = hello;
        Options {
            has_hosts: false,
            registers: Some(self.socket(router, "registers")),
            console: Some(self.socket(router, "console")),
            control: Some(config),
            ..Options::new(&["p0", "p1"])
        }
    }

    fn socket(&self, router: usize, kind: &str) -> PathBuf {
        self.folder.path().join(format!("{router}.{kind}"))
    }

    /// The routes that stand in the registers of `router`.
    fn routes(&self, router: usize) -> Vec<Route> {
        let mut client = Client::connect(&self.socket(router, "registers")).expect("it runs");
        RegisterDataplane::new(&mut client).routes()
    }

    /// Waits until `is_so`, and a little between two looks.
    fn until(&self, is_so: impl Fn(&Ring) -> bool) {
        Rig::until(&true, || {
            clock::wait(&[], Some(LOOK_NS)).expect("it can be waited");
            is_so(self)
        });
    }

    /// The way of `router` to the network that it is not in, as port and next hop, if it has all
    /// routes.
    fn way(&self, router: usize) -> Option<(usize, Ipv4Addr)> {
        let routes = self.routes(router);
        let far = network((router + 1) % ROUTERS);
        let learned = routes.iter().find(|route| route.network == far);
        let is_whole = routes.len() == ROUTERS && routes.iter().all(|route| route.mask == MASK);
        learned
            .filter(|_| is_whole)
            .map(|route| (route.port, route.next_hop))
    }

    fn command(&self, router: usize, line: &str) -> Value {
        let path = self.socket(router, "console");
        let mut console = CommandLine::connect(&path).expect("it listens");
        let (is_ok, text) = console.run(line, true).expect("the card answers");
        assert!(is_ok, "{text}");
        serde_json::from_str(&text).expect("the reply is JSON")
    }

    /// Identities of the neighbours of `router`.
    fn neighbours(&self, router: usize) -> Vec<String> {
        let reply = self.command(router, "show pwospf iface");
        let rows = reply["pwospf_neighbours"].as_array().expect("a table");
        let ids = rows
            .iter()
            .map(|row| row["router_id"].as_str().expect("an address"));
        ids.map(str::to_owned).collect()
    }
}

/// The two neighbours on either side: a way to the network between them leads by one of them.
fn is_way(router: usize, way: Option<(usize, Ipv4Addr)>) -> bool {
    let next = (router + 1) % ROUTERS;
    let ways = [(0, address(before(router), 1)), (1, address(next, 0))];
    way.is_some_and(|way| ways.contains(&way))
}

fn since_ms(began_ns: i64) -> i64 {
    (clock::monotonic_ns() - began_ns) / 1_000_000
}

fn converges_and_notices(hello: Span) {
    let Some(mut ring) = Ring::new(hello) else {
        return;
    };
    let began = clock::monotonic_ns();
    ring.until(|ring| (0..ROUTERS).all(|router| is_way(router, ring.way(router))));
    let took_ms = since_ms(began);
    let bound = hello * 2 + GRACE;
    println!(
        "converged {took_ms} ms after the last router's start, of {} ms",
        bound.as_ms()
    );
    assert!(took_ms <= bound.as_ms().cast_signed());
    // An address of each network that the router is not in.
    for router in 0..ROUTERS {
        let far = address((router + 1) % ROUTERS, 1);
        let reply = ring.command(router, &format!("sping {far}"));
        assert_eq!(reply["ok"], true, "{reply}");
    }

    // Router 2 says nothing any more; its links stay up.
    let dead = address(2, 0).to_string();
    assert!(ring.neighbours(0).contains(&dead) && ring.neighbours(1).contains(&dead));
    let began = clock::monotonic_ns();
    drop(ring.cards[2].take());
    let is_gone = |ring: &Ring| (0..2).all(|router| !ring.neighbours(router).contains(&dead));
    ring.until(is_gone);
    let took_ms = since_ms(began);
    // To the network between 1 and 2 router 0 goes by 1 from then on, and 1 by 0 to the other.
    let ways = (Some((1, address(1, 0))), Some((0, address(0, 1))));
    ring.until(|ring| (ring.way(0), ring.way(1)) == ways);
    let rerouted_ms = since_ms(began);
    let bound = hello * 3 + GRACE;
    println!(
        "a dead neighbour was noticed after {took_ms} ms, of {} ms; routes after {rerouted_ms} ms",
        bound.as_ms()
    );
    assert!(rerouted_ms <= bound.as_ms().cast_signed());
}

#[test]
fn a_ring_converges_and_notices_a_dead_router() {
    converges_and_notices(Span::from_secs(1));
}

#[test]
#[ignore = "long: half a minute of HELLOs each 5 s"]
fn a_ring_converges_and_notices_a_dead_router_at_the_default_interval() {
    converges_and_notices(Span::from_secs(5));
}
