//! The table that `FollowKernelRoutes` keeps decides as the kernel does, whatever happens to routes
//! and links.

use crate::rig::{Control, Router, has, or_skip};
use std::time::{Duration, Instant};
use trammel_core::rng::Rng;
use trammel_io::netns::{Namespace, veth};

/// How long the router may take to come to what the kernel has.
const PATIENCE: Duration = Duration::from_secs(20);
/// Changes that are made.
const CHANGES: usize = 60;

struct Rig {
    kernel: Namespace,
    _peers: Namespace,
    _router: Router,
    control: Control,
    _folder: tempfile::TempDir,
}

impl Rig {
    /// A kernel with the interfaces w0, w1 and w2, and a router that has the first two of them.
    fn new() -> Option<Rig> {
        if !has("ip") {
            return None;
        }
        let (kernel, peers) = (or_skip(Namespace::new())?, or_skip(Namespace::new())?);
        for (at, name) in ["w0", "w1", "w2"].into_iter().enumerate() {
            veth(&kernel, name, &peers, &format!("p{at}"))
                .expect("the pair of devices can be made");
            kernel
                .add_address(name, &format!("10.{}.0.1/24", at + 1))
                .expect("the address is free");
        }
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("control");
        let config = format!(
            "rt :: RadixIPLookup; Idle -> rt; rt[0] -> Discard; rt[1] -> Discard; rt[2] -> Discard;
             FollowKernelRoutes(w0, w1, TABLE rt, LOCAL 2); ControlSocket(unix, {});",
            path.display()
        );
        let router = Router::run(&kernel, &config)?;
        Some(Rig {
            control: Control::connect(&path),
            kernel,
            _peers: peers,
            _router: router,
            _folder: folder,
        })
    }

    /// Runs `ip` with words; whether it did what they say.
    fn ip(&self, words: &str) -> Result<String, ()> {
        let words: Vec<&str> = words.split(' ').collect();
        let output = self.kernel.command("ip", &words).map_err(|_| ())?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// What the kernel does with packets to an address, in the words of the table's handler
    /// `lookup`.
    fn wanted(&self, address: &str) -> String {
        let Ok(text) = self.ip(&format!("route get {address}")) else {
            return "none".to_owned();
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let after = |word: &str| {
            let at = words.iter().position(|other| *other == word)?;
            words.get(at + 1).copied()
        };
        if ["local", "broadcast"].contains(&words[0]) {
            return "2".to_owned();
        }
        let output = match after("dev") {
            Some("w0") => "0",
            Some("w1") => "1",
            _ => return "none".to_owned(),
        };
        match after("via") {
            Some("inet6") => "none".to_owned(),
            Some(gateway) => format!("{output} {gateway}"),
            None => output.to_owned(),
        }
    }

    /// Whether the router's answer is one of the ways that the kernel shares packets to an address
    /// among.
    fn is_shared(&self, address: &str, answer: &str) -> bool {
        let text = self.ip(&format!("route get fibmatch {address}"));
        let text = text.unwrap_or_default();
        let (output, gateway) = answer.split_once(' ').unwrap_or((answer, ""));
        let way = match gateway {
            "" => format!("nexthop dev w{output} "),
            gateway => format!("nexthop via {gateway} dev w{output} "),
        };
        text.matches("nexthop").count() > 1 && text.contains(&way)
    }

    /// What the router answers otherwise than the kernel.
    fn differences(&mut self, addresses: &[String]) -> Vec<String> {
        let mut differences = Vec::new();
        for address in addresses {
            let answer = self.control.read(&format!("rt.lookup {address}"));
            let answer = match answer.trim() {
                "-1" | "drop" => "none".to_owned(),
                answer => answer.to_owned(),
            };
            let wanted = self.wanted(address);
            if answer != wanted && !self.is_shared(address, &answer) {
                differences.push(format!("{address}: {answer}, the kernel {wanted}"));
            }
        }
        differences
    }

    fn agrees(&mut self, addresses: &[String], what: &str) {
        let began = Instant::now();
        loop {
            let differences = self.differences(addresses);
            if differences.is_empty() {
                return;
            }
            if began.elapsed() > PATIENCE {
                let routes = self.ip("route").unwrap_or_default();
                let table = self.control.read("rt.table");
                panic!("{what}: {differences:#?}\nthe kernel:\n{routes}the router:\n{table}");
            }
        }
    }
}

fn one<'a>(rng: &mut Rng, of: &[&'a str]) -> &'a str {
    of[rng.below(of.len() as u64) as usize]
}

const NETWORKS: &[&str] = &[
    "default",
    "10.0.0.0/8",
    "10.71.0.0/16",
    "10.71.64.0/18",
    "10.71.64.128/25",
    "10.2.0.0/25",
    "172.20.0.0/14",
];

/// A change of the kernel's routes, addresses or links, which need not be possible.
fn change(rng: &mut Rng) -> String {
    let gateway = |rng: &mut Rng| format!("10.{}.0.{}", 1 + rng.below(3), 2 + rng.below(3));
    let metric = one(rng, &["", "", " metric 10", " metric 200"]);
    let network = one(rng, NETWORKS);
    match rng.below(12) {
        0..=5 => {
            let verb = one(rng, &["add", "replace", "append", "prepend"]);
            let way = match rng.below(9) {
                0..=2 => format!(" via {}", gateway(rng)),
                3 => format!(" dev w{}", rng.below(3)),
                4 => format!(" nexthop via {} nexthop via {}", gateway(rng), gateway(rng)),
                5 => format!(" via inet6 fe80::{} dev w0", 1 + rng.below(2)),
                6 => format!(" nhid {}", 1 + rng.below(4)),
                _ => {
                    let kind = one(rng, &["blackhole", "unreachable", "prohibit", "throw"]);
                    return format!("route {verb} {kind} {network}{metric}");
                }
            };
            format!("route {verb} {network}{way}{metric}")
        }
        6 => format!("route del {network}{metric}"),
        7 | 8 => format!(
            "link set w{} {}",
            rng.below(3),
            one(rng, &["up", "up", "down"])
        ),
        9 => format!(
            "address {} 10.{}.0.{}/24 dev w{}",
            one(rng, &["add", "del"]),
            4 + rng.below(2),
            1 + rng.below(2),
            rng.below(3)
        ),
        10 => match rng.below(4) {
            0 => "nexthop replace id 3 group 1/2".to_owned(),
            1 => "nexthop replace id 4 blackhole".to_owned(),
            _ => format!(
                "nexthop replace id {} via {} dev w{}",
                1 + rng.below(2),
                gateway(rng),
                rng.below(3)
            ),
        },
        _ => format!("nexthop del id {}", 1 + rng.below(4)),
    }
}

/// Addresses of the networks that routes are for, and of others.
fn addresses(rng: &mut Rng) -> Vec<String> {
    let mut all = Vec::new();
    for start in [
        "10.71.64", "10.71.65", "10.71.1", "10.2.0", "10.1.0", "10.4.0", "10.99.9", "172.21.3",
        "192.0.2",
    ] {
        all.push(format!("{start}.{}", 1 + rng.below(254)));
    }
    all.extend(["10.1.0.1", "10.1.0.255", "10.71.64.200", "10.3.0.1"].map(str::to_owned));
    all
}

#[test]
fn the_table_decides_as_the_kernel_whatever_changes() {
    let Some(mut rig) = Rig::new() else {
        return;
    };
    let seed = std::env::var("TRAMMEL_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let seed: u64 = seed.unwrap_or_else(|| u64::from(std::process::id()));
    println!("seed {seed}: repeat with TRAMMEL_SEED={seed}");
    let mut rng = Rng::new(seed, "routes");
    let mut done = Vec::new();
    for _ in 0..CHANGES {
        let words = change(&mut rng);
        if rig.ip(&words).is_err() {
            continue;
        }
        done.push(words);
        let addresses = addresses(&mut rng);
        rig.agrees(&addresses, &format!("seed {seed}, after {done:#?}"));
    }
    assert!(
        done.len() > CHANGES / 4,
        "hardly anything was possible: {done:#?}"
    );
}

#[test]
fn what_the_kernel_drops_silently_or_refuses_is_not_kept() {
    let Some(mut rig) = Rig::new() else {
        return;
    };
    for words in [
        "route add 10.71.0.0/16 via 10.1.0.2 metric 10",
        "route add 10.71.0.0/16 via 10.2.0.2 metric 200",
        "route add default via 10.2.0.2",
        "route add blackhole 10.62.0.0/16",
        "route add 10.50.0.0/16 nexthop via 10.1.0.2 nexthop via 10.2.0.2",
    ] {
        rig.ip(words).expect(words);
    }
    // Where the kernel has no IPv6 there are no such routers.
    let by_ipv6 = rig.ip("route add 10.51.0.0/16 via inet6 fe80::7 dev w0");
    if by_ipv6.is_err() {
        println!("skipped: no route by a router with an IPv6 address can be made");
    }
    let addresses: Vec<String> = [
        "10.71.0.1",
        "10.62.0.1",
        "10.50.0.1",
        "10.51.0.1",
        "10.9.9.9",
    ]
    .map(str::to_owned)
    .into();
    rig.agrees(&addresses, "before");
    assert_eq!(rig.control.read("rt.lookup 10.71.0.1").trim(), "0 10.1.0.2");
    assert_eq!(rig.control.read("rt.lookup 10.62.0.1").trim(), "drop");
    rig.ip("link set w0 down").expect("it goes down");
    rig.agrees(&addresses, "after w0 went down");
    assert_eq!(rig.control.read("rt.lookup 10.71.0.1").trim(), "1 10.2.0.2");
    assert_eq!(rig.control.read("rt.lookup 10.50.0.1").trim(), "1 10.2.0.2");
}
