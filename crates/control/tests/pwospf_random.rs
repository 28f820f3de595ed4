//! Random networks against an oracle that shares no code: breadth-first search over what works.

use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;
use trammel_control::network::{Change, Network, Settings, Topology};
use trammel_core::{Rng, Span, Time};

/// What works at the end.
struct Truth<'a> {
    topology: &'a Topology,
    subnets: Vec<bool>,
    routers: Vec<bool>,
    /// Routers notice that a subnet of theirs does not work.
    has_carrier: bool,
}

impl Truth<'_> {
    /// Hops from `from` to each router.
    fn distances(&self, from: usize) -> Vec<Option<usize>> {
        let mut distances = vec![None; self.routers.len()];
        distances[from] = Some(0);
        let mut open = VecDeque::from([(from, 0)]);
        while let Some((at, hops)) = open.pop_front() {
            for (subnet, works) in self.topology.subnets.iter().zip(&self.subnets) {
                if !works || !subnet.routers.contains(&at) {
                    continue;
                }
                for &next in &subnet.routers {
                    if self.routers[next] && distances[next].is_none() {
                        distances[next] = Some(hops + 1);
                        open.push_back((next, hops + 1));
                    }
                }
            }
        }
        distances
    }

    /// Network and hops of each route that `from` must have. Without carrier, a router has its
    /// subnets whether they work or not.
    fn routes(&self, from: usize) -> BTreeMap<Ipv4Addr, usize> {
        let distances = self.distances(from);
        let mut routes = BTreeMap::new();
        for (number, subnet) in self.topology.subnets.iter().enumerate() {
            if self.has_carrier && !self.subnets[number] {
                continue;
            }
            let hops = subnet
                .routers
                .iter()
                .filter_map(|router| distances[*router])
                .min();
            if let Some(hops) = hops {
                routes.insert(
                    Ipv4Addr::new(10, (number / 256) as u8, number as u8, 0),
                    hops,
                );
            }
        }
        routes
    }
}

/// Asserts the tables of all routers, and that each next hop is one hop nearer.
fn check(network: &Network, truth: &Truth<'_>) -> Result<(), TestCaseError> {
    let topology = truth.topology;
    let works = |router: &usize| truth.routers[*router];
    let expected: Vec<_> = (0..topology.routers.len())
        .map(|r| truth.routes(r))
        .collect();
    for router in (0..topology.routers.len()).filter(works) {
        let table = network.router(router).expect("it works").routes();
        let routes: BTreeMap<_, _> = table.iter().map(|r| (r.network, r.hops)).collect();
        prop_assert_eq!(routes.len(), table.len());
        prop_assert_eq!(&routes, &expected[router], "router {}", router);
        for route in table.iter().filter(|route| route.hops > 0) {
            let subnet = topology.subnets_of(router)[route.interface];
            prop_assert!(truth.subnets[subnet]);
            let next = topology.subnets[subnet].routers.iter().filter(|r| works(r));
            let next = next
                .copied()
                .find(|n| topology.address(subnet, *n) == route.next_hop);
            let next = next.expect("the next hop is a router that works");
            prop_assert_eq!(expected[next][&route.network], route.hops - 1);
        }
    }
    Ok(())
}

/// A random network, some of whose links have several routers.
fn topology(n: usize, links: usize, seed: u64) -> Topology {
    let mut topology = Topology::random(n, links, seed);
    let mut rng = Rng::new(seed, "lans");
    for subnet in &mut topology.subnets[n..] {
        let router = rng.below(n as u64) as usize;
        if rng.chance(0.2) && !subnet.routers.contains(&router) {
            subnet.routers.push(router);
        }
    }
    topology
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn tables_are_those_of_a_search_over_what_works(
        n in 2_usize..40,
        more in 0_usize..60,
        seed: u64,
        stagger in 0_u64..2000,
        has_carrier: bool,
        failing in prop::collection::vec((0_usize..1000, any::<bool>(), any::<bool>()), 0..6),
    ) {
        let topology = topology(n, n - 1 + more, seed);
        let mut subnets = vec![true; topology.subnets.len()];
        let mut routers = vec![true; n];
        let mut changes = Vec::new();
        let start = Span::from_ms(stagger) * n as u64;
        // Failures begin when all have started, 7.3 s apart, some before the last one is noticed.
        let mut at = Time::ZERO + start + Span::from_secs(20);
        for (which, is_router, comes_back) in failing {
            let (down, up) = if is_router {
                routers[which % n] = comes_back;
                (Change::RouterDown(which % n), Change::RouterUp(which % n))
            } else {
                let subnet = which % subnets.len();
                subnets[subnet] = comes_back;
                (Change::SubnetDown(subnet), Change::SubnetUp(subnet))
            };
            changes.push((at, down));
            if comes_back {
                changes.push((at + Span::from_ms(5100), up));
            }
            at += Span::from_ms(7300);
        }
        let settings = Settings {
            has_carrier,
            stagger: Span::from_ms(stagger),
            ..Settings::default()
        };
        let mut network = Network::new(topology.clone(), settings, &changes);
        // The life of an entry, and an LSUINT for updates that were lost on failing links.
        network.run_until(at + Span::from_secs(120));
        let truth = Truth { topology: &topology, subnets, routers, has_carrier };
        check(&network, &truth)?;
        let report = network.into_report();
        prop_assert!(report.episodes.last().is_some_and(|e| e.restored.is_some()), "{}", report);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn outages_of_one_failure_and_its_repair_keep_the_bound(
        n in 2_usize..30,
        more in 0_usize..40,
        seed: u64,
        which in 0_usize..1000,
        is_router: bool,
        // Soon after the start or later; back before or after it is noticed.
        at_ms in 200_u64..70_000,
        away in prop_oneof![100_u64..15_000, 15_000_u64..120_000],
    ) {
        let topology = topology(n, n - 1 + more, seed);
        let links = topology.subnets.len() - n;
        let (down, up) = if is_router {
            (Change::RouterDown(which % n), Change::RouterUp(which % n))
        } else {
            let subnet = n + which % links;
            (Change::SubnetDown(subnet), Change::SubnetUp(subnet))
        };
        let at = Time::from_ms(at_ms);
        let back = at + Span::from_ms(away);
        let settings = Settings::default();
        let bound = settings.convergence_bound(&topology);
        let changes = [(at, down), (back, up)];
        let mut network = Network::new(topology, settings, &changes);
        network.run_until(back + Span::from_secs(100));
        let report = network.into_report();
        prop_assert!(report.longest_outage() <= bound, "{}: {}", bound, report);
        prop_assert!(report.episodes[2].restored.is_some(), "{}", report);
    }
}

#[test]
fn hundred_routers_and_three_hundred_links_keep_the_bound() {
    let topology = Topology::random(100, 300, 1);
    let settings = Settings::default();
    let bound = settings.convergence_bound(&topology);
    let s = Time::from_ms;
    let changes = [
        (s(121_300), Change::SubnetDown(100)),
        (s(242_600), Change::SubnetUp(100)),
        (s(363_900), Change::RouterDown(7)),
        (s(480_100), Change::RouterUp(7)),
    ];
    let mut network = Network::new(topology.clone(), settings, &changes);
    network.run_until(Time::from_secs(600));
    let truth = Truth {
        subnets: vec![true; topology.subnets.len()],
        routers: vec![true; 100],
        has_carrier: false,
        topology: &topology,
    };
    check(&network, &truth).expect("the tables are right");
    let report = network.into_report();
    assert!(
        report
            .episodes
            .iter()
            .all(|episode| episode.restored.is_some()),
        "{report}"
    );
    assert!(report.longest_outage() <= bound, "{bound}: {report}");
}
