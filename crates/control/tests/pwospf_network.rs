//! Networks of routers in virtual time: start, failures, partition, restart.

mod ospf;

use ospf::assert_refused;
use trammel_control::network::{Change, Network, Report, Settings, Topology};
use trammel_control::pwospf::{Counters, Refusal};
use trammel_core::{Span, Time};

const HELLO: Span = Span::from_secs(5);

fn run(topology: Topology, settings: Settings, changes: &[(Time, Change)], end: u64) -> Report {
    let mut network = Network::new(topology, settings, changes);
    network.run_until(Time::from_secs(end));
    network.into_report()
}

fn seconds(tenths: u64) -> Time {
    Time::from_ms(tenths * 100)
}

/// Nothing was refused but copies that went round, which flooding makes.
fn assert_only_copies(counters: &Counters) {
    let copies = [Refusal::Duplicate, Refusal::OwnLsu, Refusal::StaleSequence];
    let expected = copies.map(|reason| (reason, counters.refused(reason)));
    assert_refused(counters, &expected);
}

#[test]
fn ring_of_three_converges_within_two_hello_intervals_and_a_second() {
    for stagger in [0, 1, 300, 1700, 4999, 7300] {
        let settings = Settings {
            stagger: Span::from_ms(stagger),
            ..Settings::default()
        };
        let last = settings.stagger * 2;
        let mut network = Network::new(Topology::ring(3), settings, &[]);
        network.run_until(Time::from_secs(60));
        for router in 0..3 {
            let router = network.router(router).expect("it lives");
            // Six subnets: three of hosts, three links.
            assert_eq!(router.routes().len(), 6);
            assert!(router.routes().iter().all(|route| route.hops <= 1));
            assert_only_copies(router.counters());
        }
        let report = network.into_report();
        let converged = report.episodes[0].settled;
        assert!(
            converged <= last + HELLO * 2 + Span::from_secs(1),
            "{report}"
        );
        assert_eq!(report.episodes[0].looped, Span::ZERO);
    }
}

#[test]
fn dead_neighbour_is_noticed_within_three_hello_intervals_and_a_second() {
    // At several places within a HELLO interval.
    for tenths in [600, 610, 625, 649] {
        let changes = [(seconds(tenths), Change::RouterDown(1))];
        let mut network = Network::new(Topology::ring(3), Settings::default(), &changes);
        network.run_until(seconds(tenths) + HELLO * 3 + Span::from_secs(1));
        for other in [0, 2] {
            let other = network.router(other).expect("it lives");
            assert_eq!(other.neighbours().count(), 1);
            assert_eq!(other.counters().neighbours_lost, 1);
            // The dead router's hosts are gone; its links' subnets are still there.
            assert_eq!(other.routes().len(), 5);
        }
        let report = network.into_report();
        let failure = &report.episodes[1];
        assert!(failure.settled > HELLO * 2 - Span::from_secs(1), "{report}");
        assert!(
            failure.settled <= HELLO * 3 + Span::from_secs(1),
            "{report}"
        );
    }
}

#[test]
fn carrier_loss_is_noticed_at_once() {
    let settings = Settings {
        has_carrier: true,
        ..Settings::default()
    };
    let changes = [
        (seconds(625), Change::SubnetDown(3)),
        (seconds(925), Change::SubnetUp(3)),
    ];
    let report = run(Topology::ring(3), settings, &changes, 120);
    for episode in &report.episodes[1..] {
        assert!(
            episode
                .restored
                .is_some_and(|span| span <= Span::from_ms(1200)),
            "{report}"
        );
    }
}

#[test]
fn campus_survives_each_single_failure_within_the_bound() {
    let topology = Topology::campus();
    let settings = Settings::default();
    let bound = settings.convergence_bound(&topology);
    let links = 8..topology.subnets.len();
    let failures = (links.map(|link| (Change::SubnetDown(link), Change::SubnetUp(link))))
        .chain((1..8).map(|router| (Change::RouterDown(router), Change::RouterUp(router))));
    for (place, (down, up)) in failures.enumerate() {
        // Each at another place within the HELLO interval.
        let at = seconds(600 + 3 * place as u64);
        let changes = [(at, down), (at + Span::from_secs(60), up)];
        let report = run(topology.clone(), settings.clone(), &changes, 240);
        for episode in &report.episodes {
            assert!(episode.restored.is_some(), "{report}");
        }
        assert!(report.longest_outage() <= bound, "{bound}: {report}");
    }
}

#[test]
fn default_route_leads_to_the_gateway_from_everywhere() {
    let mut network = Network::new(Topology::campus(), Settings::default(), &[]);
    network.run_until(Time::from_secs(10));
    for router in 0..8 {
        let router = network.router(router).expect("it lives");
        let last = router.routes().last().expect("routes");
        let is_default = last.mask.is_unspecified();
        let is_gateway = router.config().router_id.octets()[2] == 0;
        assert_eq!(is_default, !is_gateway);
    }
}

/// Two rings that one link joins.
fn barbell() -> Topology {
    let mut topology = Topology::ring(6);
    // Subnets 6 to 11 join i and i + 1. 8 joins 2 and 3, 11 joins 5 and 0.
    topology.subnets[8].routers = vec![0, 2];
    topology.subnets[11].routers = vec![3, 5];
    let bridge = trammel_control::network::Subnet::new(vec![2, 3], Span::from_us(50));
    topology.subnets.push(bridge);
    topology
}

#[test]
fn partition_is_noticed_and_heals() {
    // Shorter than the life of an entry, about as long, longer.
    for away in [20, 80, 200] {
        let heal = Time::from_secs(62 + away);
        let changes = [
            (Time::from_secs(62), Change::SubnetDown(12)),
            (heal, Change::SubnetUp(12)),
        ];
        let mut network = Network::new(barbell(), Settings::default(), &changes);
        network.run_until(heal);
        for router in 0..6 {
            let routes = network.router(router).expect("it lives").routes();
            // Three subnets of hosts, three links, and the bridge's subnet, which both ends have.
            assert_eq!(routes.len(), 7, "{router}");
        }
        network.run_until(heal + Span::from_secs(60));
        for router in 0..6 {
            let router = network.router(router).expect("it lives");
            assert_eq!(router.routes().len(), 13);
            assert_only_copies(router.counters());
        }
        let report = network.into_report();
        let healed = report.episodes[2].restored.expect("it heals");
        assert!(healed <= HELLO + Span::from_ms(1300), "{report}");
        assert_eq!(report.episodes[1].looped, Span::ZERO);
    }
}

#[test]
fn restarts_at_any_moment_are_survived() {
    for away in [1, 40, 130, 250, 700, 1000] {
        let back = seconds(613 + away);
        let changes = [
            (seconds(613), Change::RouterDown(2)),
            (back, Change::RouterUp(2)),
        ];
        let mut network = Network::new(Topology::campus(), Settings::default(), &changes);
        network.run_until(back + Span::from_secs(100));
        for router in 0..8 {
            let router = network.router(router).expect("it lives");
            // All 18 subnets; the default route at all but the gateway.
            assert!(router.routes().len() >= 18, "{away}");
            assert_eq!(router.database(back).count(), 8);
        }
        let report = network.into_report();
        let restored = report.episodes[2].restored.expect("it comes back");
        // It hears its neighbours within a HELLO interval, and each update waits a second.
        assert!(restored <= HELLO + Span::from_ms(2500), "{away}: {report}");
    }
}

/// The second life begins with the same sequence numbers as the first, and says the same. The
/// absence is noticed or not, and is shorter than the life of an entry.
#[test]
fn restarts_soon_after_the_start_are_survived() {
    let cases = (2..=5).flat_map(|n| [15, 40, 90, 200, 557].map(|away| (n, away)));
    for (n, away) in cases {
        for first_life in [5, 25, 90, 203] {
            let down = seconds(first_life);
            let back = seconds(first_life + away);
            let changes = [(down, Change::RouterDown(1)), (back, Change::RouterUp(1))];
            let mut network = Network::new(Topology::ring(n), Settings::default(), &changes);
            network.run_until(back + Span::from_secs(60));
            let report = network.into_report();
            let restored = report.episodes[2].restored.expect("it comes back");
            assert!(restored <= HELLO + Span::from_ms(2500), "{report}");
        }
    }
}

#[test]
fn updates_travel_as_far_as_their_ttl() {
    for (ttl, known) in [(64, 129), (100, 150)] {
        let mut settings = Settings::default();
        settings.config.lsu_ttl = ttl;
        let mut network = Network::new(Topology::ring(150), settings, &[]);
        network.run_until(Time::from_secs(20));
        for router in [0, 70, 149] {
            let router = network.router(router).expect("it lives");
            assert_eq!(router.database(Time::from_secs(20)).count(), known);
        }
    }
}

#[test]
#[ignore = "long: half a minute of processor time"]
fn thousand_routers_converge_and_survive_failures() {
    let topology = Topology::random(1000, 1500, 3);
    let settings = Settings::default();
    let bound = settings.convergence_bound(&topology);
    let changes = [
        (seconds(123), Change::RouterDown(0)),
        (seconds(445), Change::SubnetDown(1001)),
    ];
    let mut network = Network::new(topology, settings, &changes);
    network.run_until(Time::from_secs(70));
    for router in 1..1000 {
        let router = network.router(router).expect("it lives");
        assert_eq!(router.database(Time::from_secs(70)).count(), 1000);
        assert_only_copies(router.counters());
    }
    let report = network.into_report();
    let restored = report.episodes.iter().all(|e| e.restored.is_some());
    assert!(restored && report.longest_outage() <= bound, "{report}");
}

#[test]
fn equal_inputs_give_equal_bytes() {
    let changes = [
        (seconds(617), Change::SubnetDown(41)),
        (seconds(900), Change::RouterDown(4)),
        (seconds(1300), Change::RouterUp(4)),
    ];
    let once = || {
        let topology = Topology::random(40, 90, 7);
        let mut network = Network::new(topology, Settings::default(), &changes);
        network.run_until(Time::from_secs(200));
        let routers = (0..40).filter_map(|router| network.router(router));
        let tables: Vec<_> = routers.map(|router| format!("{router:?}")).collect();
        (tables, network.into_report().to_string())
    };
    let (first, second) = (once(), once());
    assert_eq!(first.1, second.1);
    assert!(first == second, "states differ");
}
