//! Routers in virtual time: bounds hold, both data planes agree, the same bytes each time.

use proptest::prelude::*;
use std::path::Path;
use trammel_control::network::{Change, Report, Settings, Topology};
use trammel_core::{Rng, Span, Time};
use trammel_report::kept::Shelf;
use trammel_report::run::{Outcome, Request, Subject};
use trammel_report::run_folder::RunInfo;
use trammel_routing::{predict, simulate};
use trammel_scenario::Reading;
use trammel_scenario::routing::{DataPlane, Routing, RoutingFile};

fn read(text: &str) -> Routing {
    let file = RoutingFile::parse("t.toml", text, Path::new("."), &Reading::default());
    let file = file.unwrap_or_else(|error| panic!("{error}"));
    file.first().clone()
}

fn example(name: &str) -> Routing {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    read(&std::fs::read_to_string(path.join(name)).expect("the example is there"))
}

fn run(scenario: &Routing) -> Report {
    let report = simulate(scenario, &|| false);
    let report = report.unwrap_or_else(|error| panic!("{error:#}"));
    report.expect("nobody stops it")
}

/// Asserts that all that happened is within the bounds, and that every outage ended.
fn assert_within(scenario: &Routing, report: &Report) {
    let predicted = predict(scenario);
    assert_eq!(predicted.len(), report.episodes.len());
    for (bound, episode) in predicted.iter().zip(&report.episodes) {
        assert_eq!(bound.cause, episode.cause);
        assert!(episode.settled <= bound.bound, "{bound:?}\n{report}");
        assert!(episode.black_hole <= bound.bound, "{bound:?}\n{report}");
        assert!(episode.looped <= bound.bound, "{bound:?}\n{report}");
        assert!(episode.restored.is_some(), "{report}");
    }
}

#[test]
fn the_ring_of_devices_heals_within_the_bounds() {
    let scenario = example("routers-ring.toml");
    assert_eq!(scenario.data_plane, DataPlane::Devices);
    let report = run(&scenario);
    assert_within(&scenario, &report);
    let start = &report.episodes[0];
    assert!(start.settled <= Span::from_secs(11), "{report}");
    // Silence is noticed 2 to 3 HELLO intervals later.
    let failure = &report.episodes[1];
    assert!(failure.black_hole >= Span::from_secs(10), "{report}");
    assert!(failure.black_hole <= Span::from_secs(16), "{report}");
    // Two of six probes take the link: both ways between `r0` and `r1`.
    let looks = failure.black_hole.as_ms() / 100;
    assert!(failure.probes.lost.abs_diff(2 * looks) <= 2, "{failure:?}");
    assert_eq!((failure.probes.looped, failure.probes.cut_off), (0, 0));
    for router in &report.routers {
        assert_eq!(
            (router.is_up, router.routes, router.neighbours),
            (true, 6, 2)
        );
    }
    // Frames between devices need ARP; tables do not.
    assert!(report.traffic.others > 0);
}

#[test]
fn the_campus_stays_within_the_bounds() {
    let scenario = example("routers-campus.toml");
    assert_eq!(scenario.data_plane, DataPlane::Tables);
    let report = run(&scenario);
    assert_within(&scenario, &report);
    assert_eq!(report.episodes.len(), 7);
    assert_eq!(report.traffic.others, 0);
}

#[test]
fn a_hundred_routers_stay_within_the_bounds_and_give_the_same_bytes() {
    let scenario = example("routers-random.toml");
    let report = run(&scenario);
    assert_within(&scenario, &report);
    assert_eq!(run(&scenario), report);
    // Each host subnet to each other one, ten times a second, for ten minutes; none from or to a
    // router that is down.
    let sent: u64 = report.episodes.iter().map(|one| one.probes.sent).sum();
    assert!((58_000_000..=100 * 99 * 6_000).contains(&sent), "{sent}");
}

#[test]
fn routers_of_other_intervals_never_become_neighbours() {
    let text = |data_plane: &str| {
        format!(
            "subject = 'forwarding'\nduration = '60 s'\ndata_plane = '{data_plane}'\n\
             [[router]]\nname = 'a'\n[[router]]\nname = 'b'\nhello_interval = '6 s'\n\
             [[link]]\nbetween = ['a', 'b']\n"
        )
    };
    for data_plane in ["tables", "devices"] {
        let report = run(&read(&text(data_plane)));
        let start = &report.episodes[0];
        assert_eq!(start.restored, None, "{report}");
        assert_eq!(start.probes.lost, start.probes.sent);
        assert!(report.routers.iter().all(|router| router.neighbours == 0));
    }
}

#[test]
fn a_slow_line_delays_and_a_partition_cuts_off() {
    let text = |data_plane: &str| {
        format!(
            "subject = 'forwarding'\nduration = '120 s'\ndata_plane = '{data_plane}'\n\
             rate = '64 kbit/s'\ndelay = '20 ms'\n\
             [[router]]\nname = 'a'\nkind = 'gateway'\n[[router]]\nname = 'b'\n\
             [[link]]\nbetween = ['a', 'b']\n\
             [[event]]\nat = '60 s'\nlink = 'a-b'\nlasts = '40 s'\n"
        )
    };
    for data_plane in ["tables", "devices"] {
        let scenario = read(&text(data_plane));
        let report = run(&scenario);
        let start = &report.episodes[0];
        assert!(start.settled >= Span::from_ms(20), "{report}");
        assert!(start.restored.is_some(), "{report}");
        let cut = &report.episodes[1];
        assert_eq!(cut.probes.lost, 0, "{report}");
        assert!(cut.probes.cut_off > 0);
        assert!(report.episodes[2].restored.is_some(), "{report}");
    }
}

#[test]
fn carrier_is_noticed_at_once_by_both_data_planes() {
    for data_plane in [DataPlane::Tables, DataPlane::Devices] {
        let mut scenario = example("routers-ring.toml");
        (scenario.settings.has_carrier, scenario.data_plane) = (true, data_plane);
        let report = run(&scenario);
        assert_within(&scenario, &report);
        assert!(
            report.episodes[1].black_hole <= Span::from_ms(1300),
            "{report}"
        );
    }
}

#[test]
fn a_bound_that_does_not_hold_is_a_warning_and_the_tables_say_so() {
    let carried = |text: &str| {
        let file = RoutingFile::parse("t.toml", text, Path::new("."), &Reading::default());
        let job = trammel_routing::Routing {
            file: file.unwrap_or_else(|error| panic!("{error}")),
            engines: Vec::new(),
        };
        let outcome = job.carry_out(&Request::default(), &Shelf::default(), None);
        let outcome = outcome.unwrap_or_else(|error| panic!("{error:#}"));
        let tables = outcome.tables().into_iter();
        let tables: Vec<String> = tables.map(|table| table.name().to_owned()).collect();
        (outcome.status().warnings.clone(), tables, outcome.to_text())
    };
    let ring = "subject = 'forwarding'\ntopology = 'ring'\nduration = '20 s'\n";
    let (warnings, tables, text) = carried(ring);
    assert_eq!(warnings, [""; 0]);
    let all = ["events", "bounds", "comparison", "routers", "networks"];
    assert_eq!(tables, all);
    assert!(text.contains("data plane: devices"), "{text}");
    // Areas differ, so the routers never find each other.
    let (warnings, ..) = carried(&format!("{ring}[[router]]\nname = 'r1'\narea = 2\n"));
    assert!(warnings[0].contains("black hole takes"), "{warnings:?}");
    let (warnings, tables, _) = carried(&format!("{ring}engines = ['predict']\n"));
    assert_eq!(warnings, [""; 0]);
    assert_eq!(tables, ["bounds", "networks"]);
}

#[test]
fn one_engine_alone_has_no_section_that_compares() {
    let headings = |engines: &str| {
        let text = format!(
            "subject = 'forwarding'\ntopology = 'ring'\nduration = '5 s'\nengines = [{engines}]\n"
        );
        let file = RoutingFile::parse("t.toml", &text, Path::new("."), &Reading::default());
        let job = trammel_routing::Routing {
            file: file.unwrap_or_else(|error| panic!("{error}")),
            engines: Vec::new(),
        };
        let outcome = job.carry_out(&Request::default(), &Shelf::default(), None);
        let outcome = outcome.unwrap_or_else(|error| panic!("{error:#}"));
        let sections = outcome.report(&RunInfo::default()).sections;
        let headings = sections.into_iter().map(|section| section.heading);
        headings.collect::<Vec<_>>()
    };
    assert_eq!(headings("'simulate'"), ["The network", "Tables"]);
    let all = ["The network", "After each event", "Tables"];
    assert_eq!(headings("'predict', 'simulate'"), all);
}

/// A topology whose routers have at most four interfaces, hosts included.
fn small(n: usize, more: usize, seed: u64) -> Topology {
    let mut topology = Topology::random(n, n - 1, seed);
    let mut rng = Rng::new(seed, "small");
    let mut degree = vec![0; n];
    let links = topology.subnets.split_off(n);
    let extra = (0..more).map(|_| {
        let (a, b) = (rng.below(n as u64) as usize, rng.below(n as u64) as usize);
        vec![a, b]
    });
    let all: Vec<Vec<usize>> = links.into_iter().map(|l| l.routers).chain(extra).collect();
    for routers in all {
        let is_new = topology
            .subnets
            .iter()
            .all(|other| other.routers != routers);
        if routers[0] != routers[1] && is_new && routers.iter().all(|r| degree[*r] < 3) {
            for router in &routers {
                degree[*router] += 1;
            }
            let subnet = trammel_control::network::Subnet::new(routers, Span::from_us(50));
            topology.subnets.push(subnet);
        }
    }
    topology
}

/// A failure and its repair on a random topology.
#[derive(Debug, Clone, Copy)]
struct Case {
    n: usize,
    more: usize,
    seed: u64,
    has_carrier: bool,
    which: usize,
    is_router: bool,
    /// When it fails, in tenths of a second, and for how many seconds.
    tenths: u64,
    lasts: u64,
}

/// Asserts that both data planes find the same in `case`, with outages that differ by at most two
/// looks and `waits` of the intervals for which a router may hold back another's update.
fn assert_planes_agree(case: Case, waits: u64) {
    let Case { n, seed, which, .. } = case;
    let topology = small(n, case.more, seed);
    let (down, up) = if case.is_router {
        (Change::RouterDown(which % n), Change::RouterUp(which % n))
    } else {
        let subnet = which % topology.subnets.len();
        (Change::SubnetDown(subnet), Change::SubnetUp(subnet))
    };
    let at = Time::from_ms(case.tenths * 100 + 50);
    let settings = Settings {
        has_carrier: case.has_carrier,
        ..Settings::default()
    };
    let held_back = settings.config_of(0).min_lsu_interval.as_ms() / 2 * waits;
    let scenario = |data_plane| Routing {
        title: String::new(),
        question: None,
        engines: None,
        duration: Span::from_secs(220),
        seed,
        data_plane,
        links: topology.subnets.iter().map(|_| String::new()).collect(),
        topology: topology.clone(),
        settings: settings.clone(),
        changes: vec![(at, down), (at + Span::from_secs(case.lasts), up)],
    };
    let tables = run(&scenario(DataPlane::Tables));
    let devices = run(&scenario(DataPlane::Devices));
    let both = format!("{case:?}\n{tables}\n{devices}");
    assert_eq!(tables.episodes.len(), devices.episodes.len(), "{both}");
    let near =
        |a: Span, b: Span, looks: u64| a.as_ms().abs_diff(b.as_ms()) <= 100 * looks + held_back;
    for (one, other) in tables.episodes.iter().zip(&devices.episodes) {
        assert_eq!(one.restored.is_some(), other.restored.is_some(), "{both}");
        assert!(near(one.settled, other.settled, 1), "{both}");
        assert!(near(one.black_hole, other.black_hole, 2), "{both}");
        assert!(near(one.looped, other.looped, 2), "{both}");
        let off = one.probes.cut_off.abs_diff(other.probes.cut_off);
        assert!(off <= (n * n) as u64, "{both}");
    }
    for (one, other) in tables.routers.iter().zip(&devices.routers) {
        assert_eq!(one.is_up, other.is_up, "{both}");
        assert_eq!(one.routes, other.routes, "{both}");
        assert_eq!(one.neighbours, other.neighbours, "{both}");
    }
}

#[test]
fn both_data_planes_agree_within_two_looks() {
    for seed in 1..13 {
        let case = Case {
            n: 2 + seed as usize % 5,
            more: seed as usize % 6,
            seed,
            has_carrier: seed % 2 == 0,
            which: seed as usize,
            is_router: seed % 3 == 0,
            tenths: 300 + 7 * seed,
            lasts: 20 + 8 * seed,
        };
        assert_planes_agree(case, 0);
    }
}

/// Of two updates that arrive at one instant the planes may take either first, and the second may
/// then be held back at each router on its way.
#[test]
fn updates_of_one_instant_may_be_taken_in_either_order() {
    let case = Case {
        n: 5,
        more: 2,
        seed: 16_320_971_809_835_082_287,
        has_carrier: false,
        which: 10,
        is_router: true,
        tenths: 330,
        lasts: 24,
    };
    assert_planes_agree(case, 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn both_data_planes_agree(
        n in 2_usize..7,
        more in 0_usize..6,
        seed: u64,
        has_carrier: bool,
        which in 0_usize..100,
        is_router: bool,
        tenths in 300_u64..400,
        lasts in 20_u64..120,
    ) {
        let case = Case { n, more, seed, has_carrier, which, is_router, tenths, lasts };
        assert_planes_agree(case, n as u64 - 1);
    }
}
