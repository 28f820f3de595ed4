use super::*;
use proptest::prelude::*;
use trammel_io::rtnetlink::{Address, Hop, Link, LinkCounters, Neighbour, Route};
use trammel_netfpga::{Device, design};

fn kernel() -> Kernel {
    let mut kernel = Kernel::new("nf2c");
    for (index, name) in [(10, "nf2c0"), (11, "nf2c1"), (12, "eth0"), (13, "nf2c12")] {
        kernel.learn(link(index, name));
    }
    kernel.learn(Event::Complete);
    kernel
}

fn link(index: u32, name: &str) -> Event {
    Event::Link(
        Change::Add,
        Link {
            index,
            name: name.to_owned(),
            mac: Some([2, 0, 0, 0, 0, index as u8]),
            mtu: 1500,
            is_up: true,
            is_running: true,
            counters: LinkCounters::default(),
        },
    )
}

fn hop(gateway: &str, interface: u32) -> Hop {
    Hop {
        gateway: (!gateway.is_empty()).then(|| gateway.parse().unwrap()),
        interface,
        is_dead: false,
    }
}

fn route(network: &str, metric: u32, hops: &[Hop]) -> Route {
    let (destination, prefix) = network.split_once('/').unwrap();
    Route {
        destination: destination.parse().unwrap(),
        prefix: prefix.parse().unwrap(),
        kind: UNICAST,
        table: MAIN_TABLE,
        metric,
        tos: 0,
        replaces: false,
        hops: hops.to_vec(),
    }
}

fn add(kernel: &mut Kernel, network: &str, metric: u32, hops: &[Hop]) {
    kernel.learn(Event::Route(Change::Add, route(network, metric, hops)));
}

fn empty() -> Tables {
    Tables::read(&mut Device::new(design("reference-router").unwrap()))
}

/// The rows of routes that are in use: network, mask, next hop, port.
fn shown(kernel: &Kernel) -> Vec<String> {
    let text = kernel.tables(&empty()).0.text(crate::tables::Which::Route);
    let lines = text.lines().skip(1);
    lines
        .map(|line| {
            line.split_whitespace()
                .skip(1)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect()
}

#[test]
fn routes_are_sorted_by_prefix_and_the_lowest_metric_wins() {
    let mut kernel = kernel();
    add(&mut kernel, "0.0.0.0/0", 0, &[hop("10.0.0.2", 10)]);
    add(&mut kernel, "10.0.0.0/24", 0, &[hop("", 10)]);
    add(&mut kernel, "10.1.0.0/16", 20, &[hop("10.0.0.3", 10)]);
    add(&mut kernel, "10.1.0.0/16", 10, &[hop("10.0.1.4", 11)]);
    let all = [
        "10.0.0.0 255.255.255.0 0.0.0.0 0",
        "10.1.0.0 255.255.0.0 10.0.1.4 1",
        "0.0.0.0 0.0.0.0 10.0.0.2 0",
    ];
    assert_eq!(shown(&kernel), all);
    let best = route("10.1.0.0/16", 10, &[hop("10.0.1.4", 11)]);
    kernel.learn(Event::Route(Change::Del, best));
    assert_eq!(shown(&kernel)[1], "10.1.0.0 255.255.0.0 10.0.0.3 0");
    assert!(!kernel.take_unsettled());
}

#[test]
fn what_goes_elsewhere_within_a_route_of_the_card_goes_to_the_kernel() {
    let mut kernel = kernel();
    add(&mut kernel, "10.0.0.0/8", 0, &[hop("10.0.0.2", 10)]);
    add(&mut kernel, "10.9.0.0/16", 0, &[hop("192.0.2.1", 12)]);
    add(&mut kernel, "10.9.9.0/24", 0, &[hop("192.0.2.1", 12)]);
    add(&mut kernel, "172.16.0.0/12", 0, &[hop("192.0.2.1", 12)]);
    let mut blackhole = route("10.8.0.0/16", 0, &[]);
    blackhole.kind = 6;
    kernel.learn(Event::Route(Change::Add, blackhole));
    let all = [
        "10.8.0.0 255.255.0.0 127.0.0.1 0",
        "10.9.0.0 255.255.0.0 127.0.0.1 0",
        "10.0.0.0 255.0.0.0 10.0.0.2 0",
    ];
    assert_eq!(shown(&kernel), all);
}

#[test]
fn routes_of_other_tables_services_and_versions_are_passed_over() {
    let mut kernel = kernel();
    let plain = route("10.0.0.0/8", 0, &[hop("", 10)]);
    let dead = Hop {
        is_dead: true,
        ..hop("", 10)
    };
    for other in [
        Route {
            table: 255,
            ..plain.clone()
        },
        Route {
            tos: 8,
            ..plain.clone()
        },
        Route {
            kind: 2,
            ..plain.clone()
        },
        route("::/0", 0, &[hop("", 10)]),
        route("10.0.0.0/8", 0, &[dead]),
    ] {
        kernel.learn(Event::Route(Change::Add, other));
    }
    assert_eq!(shown(&kernel), [""; 0]);
    // Of several hops, the first of the card's that lives.
    let hops = [
        hop("192.0.2.1", 12),
        hop("fe80::1", 10),
        hop("10.0.1.1", 11),
    ];
    add(&mut kernel, "10.3.0.0/16", 0, &hops);
    assert_eq!(shown(&kernel), ["10.3.0.0 255.255.0.0 10.0.1.1 1"]);
}

#[test]
fn neighbours_that_routes_need_and_addresses_of_host_interfaces_come_first() {
    let mut kernel = kernel();
    let neighbour = |interface, address: [u8; 4], state| {
        let of = Neighbour {
            interface,
            address: IpAddr::from(address),
            mac: Some([2, 0, 0, 0, 1, address[3]]),
            state,
        };
        Event::Neighbour(Change::Add, of)
    };
    const REACHABLE: u16 = 2;
    const FAILED: u16 = 0x20;
    for last in 1..=40 {
        kernel.learn(neighbour(10, [10, 0, 0, last], REACHABLE));
    }
    kernel.learn(neighbour(12, [10, 0, 0, 99], REACHABLE));
    kernel.learn(neighbour(10, [10, 0, 0, 1], FAILED));
    let group = Neighbour {
        interface: 10,
        address: IpAddr::from([224, 0, 0, 22]),
        mac: Some([1, 0, 0x5e, 0, 0, 22]),
        state: 0x40,
    };
    kernel.learn(Event::Neighbour(Change::Add, group));
    add(&mut kernel, "10.1.0.0/16", 0, &[hop("10.0.0.40", 10)]);
    let address = |interface, address: [u8; 4]| {
        let of = Address {
            interface,
            address: IpAddr::from(address),
            prefix: 24,
        };
        Event::Address(Change::Add, of)
    };
    kernel.learn(address(1, [127, 0, 0, 1]));
    kernel.learn(address(1, [10, 255, 0, 1]));
    kernel.learn(address(11, [10, 0, 1, 1]));
    kernel.learn(address(12, [192, 0, 2, 2]));
    let (tables, left) = kernel.tables(&empty());
    let first: Vec<u8> = (tables.neighbours[..3].iter())
        .map(|row| row.address.octets()[3])
        .collect();
    assert_eq!(first, [40, 2, 3]);
    assert_eq!(tables.neighbours[0].mac, [2, 0, 0, 0, 1, 40]);
    let expected = Left {
        routes: 0,
        neighbours: 7,
        addresses: 0,
    };
    assert_eq!(left, expected);
    let filter: Vec<String> = (tables.filter[..7].iter())
        .map(ToString::to_string)
        .collect();
    let wanted = [
        "10.0.1.1",
        "224.0.0.5",
        "224.0.0.6",
        "224.0.0.9",
        "10.255.0.1",
        "192.0.2.2",
        "0.0.0.0",
    ];
    assert_eq!(filter, wanted);
    assert_eq!(tables.macs[..2], [[2, 0, 0, 0, 0, 10], [2, 0, 0, 0, 0, 11]]);
    assert_eq!(tables.macs[2..], empty().macs[2..]);
}

#[test]
fn a_restart_forgets_and_equal_metrics_are_in_doubt() {
    let mut kernel = kernel();
    add(&mut kernel, "10.0.0.0/8", 0, &[hop("10.0.0.2", 10)]);
    assert!(!kernel.take_unsettled());
    add(&mut kernel, "10.0.0.0/8", 0, &[hop("10.0.1.2", 11)]);
    assert!(kernel.take_unsettled(), "before or after it?");
    kernel.learn(Event::Restart);
    assert!(!kernel.is_complete());
    assert_eq!(shown(&kernel), [""; 0]);
}

#[test]
fn a_route_that_replaces_another_takes_its_place() {
    let mut kernel = kernel();
    add(&mut kernel, "10.0.0.0/8", 0, &[hop("10.0.0.2", 10)]);
    let mut other = route("10.0.0.0/8", 0, &[hop("10.0.1.2", 11)]);
    other.replaces = true;
    kernel.learn(Event::Route(Change::Add, other));
    assert_eq!(shown(&kernel), ["10.0.0.0 255.0.0.0 10.0.1.2 1"]);
    assert!(!kernel.take_unsettled());
}

/// Where the kernel sends a packet: by the longest prefix.
fn wanted(routes: &[(u8, u8, Way)], address: Ipv4Addr) -> Way {
    let holds = |(bits, second, _): &&(u8, u8, Way)| {
        masked(address, *bits) == masked(Ipv4Addr::new(10, *second, 0, 0), *bits)
    };
    let found = routes.iter().filter(holds).max_by_key(|route| route.0);
    found.map_or(Way::Kernel, |route| route.2)
}

proptest! {
    /// However many routes there are, the card sends a packet where the kernel would, or to it.
    #[test]
    fn the_card_never_sends_what_the_kernel_would_send_elsewhere(
        given in prop::collection::btree_map((7_u8..17, any::<u8>()), 0_usize..3, 0..60),
        asked in prop::collection::vec(any::<u8>(), 20),
    ) {
        let mut kernel = kernel();
        let mut routes = BTreeMap::new();
        for ((bits, second), to) in given {
            let network = masked(Ipv4Addr::new(10, second, 0, 0), bits);
            let interface = 10 + to as u32;
            let way = match to {
                2 => Way::Kernel,
                port => Way::Port(Ipv4Addr::UNSPECIFIED, port),
            };
            if routes.insert((bits, network.octets()[1]), way).is_none() {
                add(&mut kernel, &format!("{network}/{bits}"), 0, &[hop("", interface)]);
            } else {
                routes.insert((bits, network.octets()[1]), way);
                let mut again = route(&format!("{network}/{bits}"), 0, &[hop("", interface)]);
                again.replaces = true;
                kernel.learn(Event::Route(Change::Add, again));
            }
        }
        let flat: Vec<_> = (routes.iter())
            .map(|((bits, second), way)| (*bits, *second, *way))
            .collect();
        let (tables, left) = kernel.tables(&empty());
        for second in asked {
            let address = Ipv4Addr::new(10, second, 1, 1);
            let row = tables.routes.iter().find(|row| address & row.mask == row.network);
            let got = match row {
                Some(row) if row.next_hop != NOWHERE => {
                    Way::Port(row.next_hop, row.queues.trailing_zeros() as usize / 2)
                }
                _ => Way::Kernel,
            };
            let wanted = wanted(&flat, address);
            prop_assert!(got == wanted || (got == Way::Kernel && left.routes > 0), "{}", address);
        }
    }
}
