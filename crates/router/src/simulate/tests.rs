//! The simulation against what can be computed by hand.

use super::costs::Costs;
use super::offer::{self, Offer};
use super::port::{Notice, Settings};
use super::{Machine, Report, Simulation};
use crate::engine::core_clock::Cost;
use crate::engine::driver::Progress;
use crate::lang;
use crate::load::BuiltIn;
use proptest::prelude::*;
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;

const PATH: &str = "f :: FromDevice(a) -> c :: Counter -> q :: Queue(1000) -> t :: ToDevice(b)";
/// One cycle is a nanosecond.
const HZ: f64 = 1e9;

fn gbps(rate: u64) -> Rate {
    Rate::from_bps(rate * 1_000_000_000)
}

fn load(config: &str, costs: Costs, ports: Vec<Settings>) -> Simulation {
    let language = lang::Options {
        classes: Some(&BuiltIn),
        ..lang::Options::default()
    };
    let machine = Machine {
        hz: HZ,
        costs,
        look_cycles: 0.0,
        ports,
        files: None,
    };
    Simulation::load(config, "config", &language, machine, 1).unwrap_or_else(|r| panic!("{r}"))
}

fn two_ports() -> Vec<Settings> {
    vec![
        Settings::ideal("a", gbps(100)),
        Settings::ideal("b", gbps(100)),
    ]
}

/// A cost a packet, and one of a poll in vain: a machine that polls every nanosecond is slow to
/// simulate.
fn polling(packet: f64) -> Cost {
    Cost {
        packet,
        empty: 40.0,
        ..Cost::NONE
    }
}

fn frames(count: usize) -> Vec<Vec<u8>> {
    vec![vec![0; 60]; count]
}

/// Each element of the path, and what it costs.
fn path_costs(f: Cost, c: Cost, q: Cost, t: Cost) -> Costs {
    Costs::default()
        .with("f", f)
        .with("c", c)
        .with("q", q)
        .with("t", t)
}

/// Runs the path with so many frames a second for so long, and until nothing is left to do.
fn offered(costs: Costs, ports: Vec<Settings>, per_second: f64, for_ms: u64) -> Report {
    let mut run = load(PATH, costs, ports);
    let arrivals = offer::constant(per_second, Time::ZERO, Time::from_ms(for_ms));
    let arrivals = arrivals.expect("a rate above 0");
    run.offer("a", Offer::new(frames(1), arrivals).expect("a frame"));
    let progress = run.run_until(Time::from_ms(for_ms + 1000));
    assert_eq!(progress, Progress::Idle);
    run.report()
}

#[test]
fn frames_go_through_and_all_are_accounted_for() {
    let report = offered(Costs::uniform(polling(50.0)), two_ports(), 1e6, 10);
    let (a, b) = (report.port("a").unwrap(), report.port("b").unwrap());
    assert_eq!((a.offered, a.lost, b.sent), (10_000, 0, 10_000));
    assert!(report.balance.is_even(), "{:?}", report.balance);
    assert_eq!(b.latency.count(), 10_000);
}

/// Frames that the core forwards in a second where each costs so many cycles and a second has
/// [`HZ`] of them.
fn most_per_second(cycles: f64) -> f64 {
    HZ / cycles
}

#[test]
fn a_lone_frame_takes_the_sum_of_what_its_way_costs() {
    let each = |call, packet| Cost {
        call,
        packet,
        ..Cost::NONE
    };
    // The queue is called twice: to push and to pull.
    let costs = path_costs(
        each(100.0, 1.0),
        each(20.0, 2.0),
        each(30.0, 4.0),
        each(40.0, 8.0),
    );
    let elements = 101 + 22 + 2 * 34 + 48;
    let [mut a, mut b] = <[Settings; 2]>::try_from(two_ports()).expect("two");
    a.notice = Notice::Interrupt(Span::from_us(5));
    (a.receive, b.transmit) = (each(300.0, 16.0), each(500.0, 32.0));
    let drivers = 316 + 532;
    let report = offered(costs, vec![a, b], 1000.0, 100);
    let latency = &report.port("b").unwrap().latency;
    let sum = Span::from_ns(5000 + elements + drivers);
    assert_eq!(latency.count(), 100);
    assert_eq!(
        (latency.min(), latency.max()),
        (Some(sum.as_ps()), Some(sum.as_ps()))
    );
}

#[test]
fn elements_count_the_cycles_of_the_simulated_core() {
    let mut run = load(PATH, Costs::uniform(polling(50.0)), two_ports());
    let arrivals = offer::constant(1e6, Time::ZERO, Time::from_us(100)).expect("a rate");
    run.offer("a", Offer::new(frames(1), arrivals).expect("a frame"));
    run.run_until(Time::from_ms(1));
    let router = run.router();
    let counter = router.find("c", None).expect("it is declared");
    assert_eq!(router.counters(counter).cycles, 100 * 50);
}

#[test]
fn cycles_of_what_was_pulled_from_are_its_own() {
    let path = "FromDevice(a) -> q :: Queue(1000) -> c :: Counter -> ToDevice(b)";
    let costs = Costs::default()
        .with("q", polling(70.0))
        .with("c", polling(50.0));
    let mut run = load(path, costs, two_ports());
    let arrivals = offer::constant(1e6, Time::ZERO, Time::from_us(100)).expect("a rate");
    run.offer("a", Offer::new(frames(1), arrivals).expect("a frame"));
    run.run_until(Time::from_ms(1));
    let router = run.router();
    let found = |name| router.counters(router.find(name, None).expect("it is declared"));
    let [queue, counter] = ["q", "c"].map(found);
    // Calls that found nothing cost 40 each.
    let in_vain = |pulls: u64| pulls - 100;
    let calls = |one: &crate::engine::Counters| in_vain(one.batches) * 40;
    assert_eq!(counter.cycles, 100 * 50 + calls(counter));
    assert!(queue.cycles >= 100 * 70, "{queue:?}");
}

#[test]
fn bytes_and_buses_take_their_time() {
    let costs = path_costs(
        Cost::NONE,
        Cost {
            byte: 2.0,
            ..Cost::NONE
        },
        Cost::NONE,
        Cost::NONE,
    );
    let [mut a, mut b] = <[Settings; 2]>::try_from(two_ports()).expect("two");
    a.notice = Notice::Interrupt(Span::ZERO);
    // 60 bytes are 120 ns at 4 Gbit/s and 240 ns at 2.
    (a.bus, b.bus) = (Some(gbps(4)), Some(gbps(2)));
    let report = offered(costs, vec![a, b], 1000.0, 10);
    let latency = &report.port("b").unwrap().latency;
    // The least that a task takes: what receives a frame is done a nanosecond after it began.
    let sum = Span::from_ns(120 + 1 + 120 + 240);
    assert_eq!(
        (latency.min(), latency.max()),
        (Some(sum.as_ps()), Some(sum.as_ps()))
    );
}

#[test]
fn a_polled_frame_waits_for_the_next_poll_and_no_longer() {
    let poll = 70;
    let receive = Cost {
        packet: 100.0,
        empty: poll as f64,
        ..Cost::NONE
    };
    let mut ports = two_ports();
    ports[0].receive = receive;
    // Gaps and polls have no common measure, so frames come in every phase; some gaps leap over
    // polls.
    for per_second in [1e4 * std::f64::consts::SQRT_2, 1e6 / std::f64::consts::PI] {
        let report = offered(Costs::uniform(Cost::NONE), ports.clone(), per_second, 100);
        let latency = &report.port("b").unwrap().latency;
        let (min, max) = (latency.min().unwrap(), latency.max().unwrap());
        assert!(
            min >= 100_000 && max <= (100 + poll + 2) * 1000,
            "{min} {max}"
        );
        let mean = latency.mean().unwrap() / 1000.0;
        assert!((mean - 100.0 - poll as f64 / 2.0).abs() < 3.0, "{mean}");
    }
}

#[test]
fn all_of_the_time_is_accounted_for() {
    let empty = Cost {
        call: 10.0,
        packet: 25.0,
        byte: 0.5,
        empty: 15.0,
    };
    for per_second in [1e3, 1e5, 3e6, 2e7] {
        let mut ports = two_ports();
        (ports[0].receive, ports[1].transmit) = (empty, empty);
        let report = offered(Costs::uniform(empty), ports, per_second, 20);
        let sum = |of: &[Span]| of.iter().map(|time| time.as_ps()).sum::<u64>();
        let core = &report.core;
        let drivers = (report.ports.iter()).map(|(_, c)| c.driver.as_ps() + c.polling.as_ps());
        let known = sum(&core.worked) + sum(&core.in_vain) + drivers.sum::<u64>();
        let known = known + core.looked.as_ps() + core.leapt.as_ps();
        // A polled router never sleeps.
        assert!(
            known.abs_diff(report.now.as_ps()) <= 1000,
            "{known} {:?}",
            report.now
        );
    }
}

#[test]
fn the_core_forwards_what_it_has_cycles_for() {
    let costs = || Costs::uniform(polling(60.0));
    let most = most_per_second(300.0);
    // The ring and the queue can hold what comes in a moment, so trials are long beside that.
    let below = offered(costs(), two_ports(), most * 0.99, 200);
    assert_eq!((below.balance.lost, below.balance.dropped_frames()), (0, 0));
    let above = offered(costs(), two_ports(), most * 1.2, 200);
    let held = 512 + 1000;
    let lost = above.balance.lost + above.balance.dropped_frames();
    let expected = above.balance.offered as f64 * (1.0 - 1.0 / 1.2);
    assert!(
        (lost as f64 - expected).abs() < held as f64 + 0.001 * expected,
        "{lost} {expected}"
    );
    assert!(above.balance.is_even());
}

#[test]
fn batches_grow_with_the_load() {
    let costs = Costs::uniform(Cost {
        call: 200.0,
        packet: 10.0,
        ..Cost::NONE
    });
    let batch = |per_second| {
        let report = offered(costs.clone(), two_ports(), per_second, 50);
        report.port("a").unwrap().mean_batch().unwrap()
    };
    let batches: Vec<f64> = [1e5, 1e6, 4e6, 8e6, 1.2e7].map(batch).to_vec();
    assert!(batches.is_sorted(), "{batches:?}");
    assert!(batches[0] < 1.01 && batches[4] > 8.0, "{batches:?}");
}

#[test]
fn after_an_overload_nothing_more_is_lost() {
    let costs = Costs::uniform(polling(50.0));
    let most = most_per_second(250.0);
    let mut run = load(PATH, costs, two_ports());
    let offer_at = |rate: f64, from, to| {
        let (from, to) = (Time::from_ms(from), Time::from_ms(to));
        let arrivals = offer::constant(rate, from, to).expect("a rate");
        Offer::new(frames(1), arrivals).expect("a frame")
    };
    run.offer("a", offer_at(most * 1.5, 0, 100));
    run.offer("a", offer_at(most * 0.9, 100, 300));
    run.run_until(Time::from_ms(101));
    let during = run.report().balance;
    assert!(during.lost > 0);
    // What rings and queue hold is worked off at a tenth of the rate.
    run.run_until(Time::from_ms(150));
    let before = run.report();
    run.run_until(Time::from_ms(290));
    let after = run.report();
    let drops = |r: &Report| r.balance.lost + r.balance.dropped_frames();
    assert_eq!(drops(&before), drops(&after));
    let sent = after.balance.sent - before.balance.sent;
    let expected = most * 0.9 * 0.14;
    assert!(
        (sent as f64 / expected - 1.0).abs() < 0.01,
        "{sent} {expected}"
    );
}

/// The mean time that a frame waits for a server, against Pollaczek and Khinchine's for constant
/// service. With 60,000 frames at half load the standard error is 2 %; exponential service would
/// double the mean.
fn waits_as_m_d_1(mut ports: Vec<Settings>, load: f64, service_ns: f64, beside_ns: f64) {
    ports[0].notice = Notice::Interrupt(Span::ZERO);
    let per_second = load / service_ns * 1e9;
    let mut run = self::load(PATH, Costs::default(), ports);
    let end = Time::from_secs_f64(6e4 / per_second);
    let arrivals = offer::poisson(per_second, Time::ZERO, end, 1, "m/d/1").expect("a rate");
    run.offer("a", Offer::new(frames(1), arrivals).expect("a frame"));
    run.run_until(end + Span::from_secs(1));
    let report = run.report();
    assert!(report.balance.is_even() && report.balance.lost == 0);
    let expected = load * service_ns / (2.0 * (1.0 - load));
    let latency_ns = report.port("b").unwrap().latency.mean().unwrap() / 1e3;
    let found = latency_ns - beside_ns;
    assert!(
        (found / expected - 1.0).abs() < 0.05,
        "{load}: {found} {expected}"
    );
}

#[test]
fn frames_wait_for_a_link_as_in_m_d_1() {
    // 84 bytes are 6720 ns at 100 Mbit/s. They come by a link so fast that it keeps a Poisson
    // process one.
    let mut slow = Settings::ideal("b", gbps(1));
    slow.rate = Rate::from_bps(100_000_000);
    let ports = vec![Settings::ideal("a", gbps(10_000)), slow];
    // Besides the link, a frame takes the nanosecond of the task that receives it.
    waits_as_m_d_1(ports, 0.5, 6720.0, 1.0);
}

#[test]
fn frames_wait_for_the_core_as_in_m_d_1() {
    let mut ports = vec![
        Settings::ideal("a", gbps(10_000)),
        Settings::ideal("b", gbps(10_000)),
    ];
    ports[0].receive_ring = 100_000;
    (ports[0].batch, ports[0].receive) = (1, Cost::per_packet(10_000.0));
    waits_as_m_d_1(ports, 0.5, 10_000.0, 10_000.0);
}

/// Everything that a run tells.
fn told(report: &Report) -> String {
    let mut text = format!("{:?} {:?} {:?}", report.now, report.balance, report.core);
    for (name, counts) in &report.ports {
        let latency: Vec<_> = counts.latency.cdf_points().collect();
        text += &format!("{name} {counts:?} {latency:?}");
    }
    text
}

#[test]
fn one_seed_gives_one_run() {
    let config = "FromDevice(a) -> RandomSample(0.7) -> RED(5, 50, 0.2) -> Queue -> ToDevice(b)";
    let run = |seed| {
        let mut run = load(config, Costs::uniform(polling(40.0)), two_ports());
        let end = Time::from_ms(20);
        let arrivals = offer::poisson(4e6, Time::ZERO, end, seed, "arrivals").expect("a rate");
        run.offer("a", Offer::new(frames(3), arrivals).expect("frames"));
        run.run_until(Time::from_ms(30));
        told(&run.report())
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn a_shaper_sends_on_time_though_it_is_only_asked() {
    let config = "FromDevice(a) -> Queue(1000) -> Shaper(1000) -> ToDevice(b)";
    let mut run = load(config, Costs::uniform(polling(10.0)), two_ports());
    let arrivals = offer::constant(1e6, Time::ZERO, Time::from_us(50)).expect("a rate");
    run.offer("a", Offer::new(frames(1), arrivals).expect("a frame"));
    run.run_until(Time::from_ms(20));
    let report = run.report();
    let sent = report.balance.sent;
    assert!((19..=22).contains(&sent), "{sent}");
    assert!(report.balance.is_even());
}

#[test]
fn what_cannot_be_is_told() {
    let refused = |machine: Machine| {
        let language = lang::Options {
            classes: Some(&BuiltIn),
            ..lang::Options::default()
        };
        match Simulation::load(PATH, "config", &language, machine, 1) {
            Ok(_) => panic!("it is right"),
            Err(refusal) => refusal.to_string(),
        }
    };
    let machine = |hz, costs, ports| Machine {
        hz,
        costs,
        look_cycles: 0.0,
        ports,
        files: None,
    };
    let free = Costs::default;
    assert!(refused(machine(0.0, free(), two_ports())).contains("a core of 0 Hz"));
    assert!(refused(machine(HZ, free().with("x", Cost::NONE), two_ports())).contains("`x`"));
    let wrong = free().with("c", Cost::per_packet(-1.0));
    assert!(refused(machine(HZ, wrong, two_ports())).contains("`c`: the cost `packet` is -1"));
    let mut ports = two_ports();
    ports[1].transmit_ring = 0;
    assert!(refused(machine(HZ, free(), ports)).contains("port `b`: a ring of 0 frames"));
    let one = vec![Settings::ideal("a", gbps(1))];
    let said = refused(machine(HZ, free(), one));
    assert!(said.contains("no port `b`, only `a`"), "{said}");
}

prop_compose! {
    fn any_port(name: &'static str)(
        rate in 1..100_u64,
        receive_ring in 1..600_usize,
        transmit_ring in 1..600_usize,
        batch in 1..64_usize,
        interrupt_us in prop::option::of(0..50_u64),
        bus in prop::option::of(1..64_u64),
        packet in 0.0..200.0_f64,
        call in 0.0..500.0_f64,
        gathers: bool,
    ) -> Settings {
        Settings {
            rate: gbps(rate),
            receive_ring,
            transmit_ring,
            batch,
            notice: interrupt_us.map_or(Notice::Polled, |us| Notice::Interrupt(Span::from_us(us))),
            bus: bus.map(gbps),
            receive: Cost { call, packet, byte: 0.0, empty: call },
            transmit: Cost { call, packet, byte: 0.1, empty: call },
            flush: Cost {
                call,
                ..Cost::NONE
            },
            gathers,
            ..Settings::ideal(name, gbps(1))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_frame_is_accounted_for_at_every_time(
        a in any_port("a"),
        b in any_port("b"),
        packet in 0.0..300.0_f64,
        queue in 1..200_u32,
        per_second in 1e3..3e7_f64,
        burst in 1..100_u32,
        length in 14..1500_usize,
        stop_us in 0..3000_u64,
    ) {
        let config = format!(
            "FromDevice(a) -> Queue({queue}) -> RandomSample(0.9) -> ToDevice(b)"
        );
        let mut run = load(&config, Costs::uniform(polling(packet)), vec![a, b]);
        let end = Time::from_ms(2);
        let gap = Span::from_ps((0.5e12 / per_second) as u64);
        let arrivals = offer::bursts(burst, gap, per_second, Time::ZERO, end).expect("no overlap");
        run.offer("a", Offer::new(vec![vec![0; length], vec![0; 60]], arrivals).expect("frames"));
        run.run_until(Time::from_us(stop_us));
        let first = run.report();
        prop_assert!(first.balance.is_even(), "{:?}", first.balance);
        run.run_until(Time::from_secs(1));
        let last = run.report();
        prop_assert!(last.balance.is_even(), "{:?}", last.balance);
        // All that came is out again.
        let balance = last.balance;
        prop_assert_eq!(balance.in_receive_rings + balance.inside + balance.in_transmit_rings, 0);
    }

    #[test]
    fn the_rate_under_overload_is_one_over_the_sum(
        costs in prop::array::uniform4(0.0..200.0_f64),
        calls in prop::array::uniform4(0.0..200.0_f64),
    ) {
        let cost = |at: usize| Cost { call: calls[at], packet: costs[at], ..Cost::NONE };
        let all = path_costs(cost(0), cost(1), cost(2), cost(3));
        let sum = costs.iter().sum::<f64>() + costs[2];
        let calls = calls.iter().sum::<f64>() + calls[2];
        // Under overload batches are full: 32.
        let cycles = (sum + calls / 32.0).max(40.0);
        // Frames of 84 bytes at 100 Gbit/s are 7 ns apart: the links are no limit.
        let spare = (cycles - sum - calls / 32.0).max(0.0);
        let mut ports = two_ports();
        ports[0].receive = Cost::per_packet(spare);
        let mut run = load(PATH, all, ports);
        let rate = 1.5 * most_per_second(cycles);
        let arrivals = offer::constant(rate, Time::ZERO, Time::from_secs(1));
        let offer = Offer::new(frames(1), arrivals.expect("a rate")).expect("a frame");
        run.offer("a", offer);
        run.run_until(Time::from_ms(50));
        let report = run.report();
        let rate = report.port("b").expect("it exists").sent as f64 / report.now.as_secs_f64();
        let expected = most_per_second(cycles);
        prop_assert!((rate / expected - 1.0).abs() < 0.01, "{} {}", rate, expected);
    }
}

#[test]
fn a_run_in_steps_comes_to_an_end_and_to_the_same() {
    let cost = Cost {
        call: 100.0,
        packet: 300.0,
        byte: 0.3,
        empty: 40.0,
    };
    for latency in [None, Some(Span::from_us(7))] {
        let run = |in_steps| {
            let mut ports = two_ports();
            ports[0].notice = latency.map_or(Notice::Polled, Notice::Interrupt);
            let mut run = load(PATH, Costs::uniform(cost), ports);
            let arrivals = offer::poisson(1e5, Time::ZERO, Time::from_ms(5), 1, "steps");
            let arrivals = arrivals.expect("a rate");
            run.offer("a", Offer::new(frames(1), arrivals).expect("a frame"));
            let mut steps = 0;
            while let Some(at) = run.next_at().filter(|_| in_steps) {
                run.run_until(at);
                steps += 1;
                assert!(steps < 1_000_000, "time stands still at {at}");
            }
            run.run_until(Time::from_ms(10));
            let balance = run.report().balance;
            assert!(balance.is_even());
            (balance.offered, balance.sent)
        };
        assert_eq!(run(true), run(false));
    }
}

#[test]
fn a_run_that_is_watched_comes_to_the_same_and_ends_when_it_is_told() {
    let start = || {
        let costs = path_costs(polling(40.0), polling(30.0), Cost::NONE, polling(50.0));
        let run = load(PATH, costs, two_ports());
        let arrivals = offer::constant(3e6, Time::ZERO, Time::from_ms(20)).unwrap();
        assert!(run.offer("a", Offer::new(frames(7), arrivals).unwrap()));
        run
    };
    let (mut whole, mut watched, mut ended) = (start(), start(), start());
    let until = Time::from_ms(30);
    let mut asked = 0;
    let progress = watched.run_while(until, || {
        asked += 1;
        true
    });
    assert_eq!(progress, Some(whole.run_until(until)));
    assert!(asked > 10, "{asked}");
    assert_eq!(watched.now(), whole.now());
    assert_eq!(watched.report().balance, whole.report().balance);
    let mut left = 5;
    let ended_at = ended.run_while(until, || {
        left -= 1;
        left > 0
    });
    assert_eq!(ended_at, None);
    assert!(ended.now() < until);
}

#[test]
fn comings_are_noted_with_their_flows_whether_or_not_there_is_room() {
    let mut ports = two_ports();
    ports[0].receive_ring = 2;
    let mut run = load(PATH, Costs::default(), ports);
    run.ports()
        .iter()
        .for_each(super::port::Port::note_passages);
    let arrivals = (1..=6).map(|_| Time::from_us(1));
    let offer = Offer::new(frames(3), Box::new(arrivals)).unwrap();
    assert!(run.offer("a", offer.of_flow(4).with_others(3, 9)));
    run.run_until(Time::from_ms(1));
    let counts = run.report().ports[0].1.clone();
    let comings = run.ports()[0].comings();
    assert_eq!(counts.offered, 6);
    assert_eq!(comings.len(), 6);
    let flows: Vec<u16> = comings.iter().map(|one| one.flow).collect();
    assert_eq!(flows, [4, 4, 9, 4, 4, 9]);
    assert!(comings.windows(2).all(|two| two[0].at < two[1].at));
    let passed = run.ports()[1].passages();
    assert_eq!(passed.len() as u64, counts.received);
    let of_comings = |one: &super::port::Passage| {
        comings
            .iter()
            .any(|coming| (coming.at, coming.flow) == (one.came, one.flow))
    };
    assert!(passed.iter().all(of_comings));
    assert!(run.ports()[0].comings().is_empty());
}
