//! Whoever looks at a network sees the same, however the engine gets its packets across.
//!
//! Links that only one other link feeds are crossed ahead of time (`network::stretch`); where every
//! link is captured none is, and each packet has an event at each link. Both must show the same
//! counters, queues and flows at every instant that anybody looks.

// What was seen is put together for a person, and compared as text.
#![allow(clippy::format_push_string)]

#[allow(dead_code)]
mod common;

use common::{case, law};
use trammel_core::entry::{Params, Value};
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_netsim::flow::FlowSpec;
use trammel_netsim::ids::FlowId;
use trammel_netsim::link::{LinkSpec, Queue};
use trammel_netsim::network::Network;
use trammel_netsim::trace::Pace;
use trammel_queues::loss;
use trammel_stats::arrivals::Spans;
use trammel_tcp::cc;
use trammel_tcp::stack::Stack;

/// Looks in a run, at instants of no round number.
const LOOKS: u64 = 23;

/// Hosts with access links around a bottleneck: those before it are gathered, those behind it run
/// ahead, and two of the latter drop, lose or delay packets of their own.
fn access(seed: u64) -> Seen {
    let mut rng = Rng::new(seed, "access");
    let mut net = Network::new();
    let mut wire = |net: &mut Network, name: &str, mbps: u64, packets: u32| {
        let delay = Span::from_us(20 + rng.below(3000));
        let mut spec = LinkSpec::wire(name, delay);
        spec.rate = Some(Rate::from_bps(mbps * 1_000_000 + rng.below(1_000_000)));
        spec.queue = Queue::DropTail {
            packets,
            bytes: u64::MAX,
        };
        spec.seed = seed;
        spec.departure_jitter = Span::from_us(seed % 2);
        if name == "out 1" {
            let entry = loss::find("bernoulli").expect("the loss model is built in");
            let given = [("probability".to_owned(), Value::Float(1e-3))];
            let params = Params::resolve(&entry.about, &given)
                .expect("the parameters are within their ranges");
            spec.loss = Some((entry.build)(&params).expect("possible"));
        }
        if name == "out 2" {
            spec.jitter = Some(Spans::seconds(law("exponential", &[("mean", 1e-4)])));
        }
        net.add_link(spec)
    };
    let bottleneck = wire(&mut net, "bottleneck", 20, 30);
    let back = wire(&mut net, "back", 20, u32::MAX);
    for index in 0..3 + seed % 3 {
        let mut access = |name: &str, mbps, packets| {
            let name = format!("{name} {index}");
            wire(&mut net, &name, mbps, packets)
        };
        let out_mbps = if index == 0 { 8 } else { 100 };
        let forward = vec![
            access("in", 100, u32::MAX),
            bottleneck,
            access("out", out_mbps, 10),
        ];
        let backward = vec![
            access("back in", 100, u32::MAX),
            back,
            access("back out", 100, u32::MAX),
        ];
        let entry = &cc::ALL[(seed + index) as usize % cc::ALL.len()];
        net.add_flow(FlowSpec {
            name: format!("flow {index}"),
            client: Stack::linux_6(),
            server: Stack::linux_6(),
            cc: Box::new(|| (entry.build)(&Params::defaults(&entry.about))),
            start: Time::from_ms(index),
            stop: Time::MAX,
            bytes: None,
            forward,
            backward,
            reader: None,
            overhead_bytes: 14,
            pace: Pace::EveryAck,
            seed,
        });
    }
    Seen {
        net,
        flows: 3 + (seed % 3) as usize,
        stop: Time::from_secs(2),
    }
}

/// A network of any kind.
fn random(seed: u64) -> Seen {
    let case = case(seed);
    Seen {
        net: case.net,
        flows: case.bytes.len(),
        stop: case.stop,
    }
}

/// A network to look at, and until when.
struct Seen {
    net: Network,
    flows: usize,
    stop: Time,
}

/// Everything that can be seen of a network.
fn seen(case: Seen, captured: bool) -> String {
    let Seen {
        mut net,
        flows,
        stop,
    } = case;
    let links: Vec<_> = net.links().collect();
    net.trace_queues(stop.since_start() / 101);
    if captured {
        net.capture(&links, Box::new(std::io::sink()));
    }
    let mut text = String::new();
    for look in 1..=LOOKS {
        net.run_until(Time::from_ps(stop.as_ps() / LOOKS * look));
        for link in &links {
            text += &format!("{look} {link} {:?}", net.backlog(*link));
            let link = net.link(*link);
            text += &format!(" {:?} {}\n", link.counters(), link.in_pipe());
        }
        for index in 0..flows {
            text += &format!("{look} {index} {:?}\n", net.flow(FlowId::new(index)));
        }
    }
    for link in &links {
        text += &format!("{link} {:?}\n", net.queue_trace(*link));
    }
    for index in 0..flows {
        text += &format!("{index} {:?}\n", net.flow_trace(FlowId::new(index)).samples);
    }
    for index in net.streams() {
        let stream = net.stream(index);
        text += &format!("{index} {:?} {}\n", stream.delay, stream.jitter_ps);
    }
    text
}

fn compare(what: &str, make: fn(u64) -> Seen, seeds: u64) {
    for seed in 0..seeds {
        let [ahead, each] = [false, true].map(|captured| seen(make(seed), captured));
        for (a, b) in ahead.lines().zip(each.lines()) {
            assert_eq!(a, b, "{what}, seed {seed}");
        }
        assert_eq!(ahead.len(), each.len(), "{what}, seed {seed}");
    }
}

#[test]
fn what_is_seen_does_not_depend_on_how_packets_cross() {
    compare("random", random, 150);
}

#[test]
fn nor_does_it_where_hosts_have_access_links() {
    compare("access", access, 25);
}
