//! Tests of `workload`.

use super::*;
use crate::ids::{FlowId, LinkId, WorkloadId};
use crate::link::{LinkSpec, Queue};
use crate::network::Network;
use trammel_core::entry::Value;
use trammel_core::units::Rate;
use trammel_tcp::cc;

fn law(name: &str, given: &[(&str, f64)]) -> Box<dyn Distribution> {
    let entry = dist::find(name).unwrap();
    let given: Vec<_> = given
        .iter()
        .map(|(key, value)| ((*key).to_owned(), Value::Float(*value)))
        .collect();
    (entry.build)(&Params::resolve(&entry.about, &given).unwrap()).unwrap()
}

fn constant(value: f64) -> Box<dyn Distribution> {
    law("constant", &[("value", value)])
}

/// A path of `mbps` Mbit/s both ways and a round trip of `rtt_ms`, with a long queue.
fn network(mbps: u64, rtt_ms: u64) -> Network {
    let mut net = Network::new();
    for name in ["there", "back"] {
        let mut link = LinkSpec::wire(name, Span::from_ms(rtt_ms) / 2);
        link.rate = Some(Rate::from_bps(mbps * 1_000_000));
        link.queue = Queue::DropTail {
            packets: 2000,
            bytes: u64::MAX,
        };
        net.add_link(link);
    }
    net
}

fn workload(plan: Plan, stop: Time) -> WorkloadSpec {
    let cubic = cc::find("cubic").unwrap();
    WorkloadSpec {
        name: "web".into(),
        flow: Template {
            client: Stack::linux_6(),
            server: Stack::linux_6(),
            cc: Box::new(|| (cubic.build)(&Params::defaults(&cubic.about))),
            forward: vec![LinkId::new(0)],
            backward: vec![LinkId::new(1)],
            overhead_bytes: 14,
        },
        plan,
        start: Time::ZERO,
        stop,
        seed: 1,
    }
}

#[test]
fn a_poisson_plan_has_its_rate_and_sizes_of_its_own() {
    let sizes = law("exponential", &[("mean", 10_000.0)]);
    let span = (Time::from_secs(1), Time::from_secs(101));
    let slow = poisson(1, "web", span, 50.0, &*sizes);
    let fast = poisson(1, "web", span, 100.0, &*sizes);
    // Four standard deviations of a Poisson number of mean 10,000 are 400.
    assert!(fast.len().abs_diff(10_000) < 400, "{}", fast.len());
    assert!(fast.iter().all(|(time, _)| (span.0..span.1).contains(time)));
    assert!(slow.iter().zip(&fast).all(|(slow, fast)| slow.1 == fast.1));
    let mean = fast.iter().map(|(_, bytes)| *bytes as f64).sum::<f64>() / fast.len() as f64;
    assert!((mean / 10_000.0 - 1.0).abs() < 0.05, "{mean}");
    assert_eq!(poisson(1, "web", span, 100.0, &*sizes), fast);
    assert!(poisson(1, "web", span, 0.0, &*sizes).is_empty());
}

#[test]
fn a_lone_small_flow_takes_its_ideal_time() {
    let mut net = network(100, 20);
    net.add_workload(workload(
        Plan::Arrivals(vec![(Time::from_ms(3), 10_000)]),
        Time::MAX,
    ));
    net.run_until(Time::from_secs(5));
    let [done] = net.workload(WorkloadId::new(0)).completions() else {
        panic!("one flow")
    };
    assert_eq!((done.start, done.bytes), (Time::from_ms(3), 10_000));
    // Seven segments of 1448 bytes, with 66 bytes of headers each.
    assert_eq!(
        done.ideal,
        Span::from_ms(30) + Span::from_ns(80 * (10_000 + 7 * 66))
    );
    // Beyond the ideal there is the serialisation of the handshake.
    assert!(
        done.time > done.ideal && done.time < done.ideal + Span::from_us(30),
        "{done:?}"
    );
    assert!((1.0..1.001).contains(&done.slowdown()));
    assert!(
        net.connections(FlowId::new(0)).is_none(),
        "both ends are gone"
    );
}

#[test]
fn a_hundred_thousand_flows_complete_in_the_memory_of_a_few() {
    let mut net = network(1000, 10);
    let stop = Time::from_secs(100);
    let sizes = law("uniform", &[("min", 100.0), ("max", 9_900.0)]);
    let plan = poisson(7, "web", (Time::ZERO, stop), 1000.0, &*sizes);
    let offered = plan.len();
    assert!(offered > 98_000);
    net.add_workload(workload(Plan::Arrivals(plan), stop));
    net.run_until(stop + Span::from_secs(20));
    let web = net.workload(WorkloadId::new(0));
    assert_eq!((web.opened(), web.failed()), (offered as u64, 0));
    assert_eq!(web.completions().len(), offered);
    assert!(web.completions().iter().all(|done| done.slowdown() >= 1.0));
    // 1000 a second, each for some round trips and the time in which its index is not used.
    assert!(net.flow_places() < 12_000, "{}", net.flow_places());
}

#[test]
fn slowdown_grows_with_load_and_is_reported_by_size() {
    let p99 = |load: f64| {
        let mut net = network(10, 20);
        let stop = Time::from_secs(60);
        let sizes = law("pareto", &[("shape", 1.5), ("scale", 10_000.0)]);
        let per_second = load * 10e6 / 8.0 / 30_000.0;
        let plan = poisson(3, "web", (Time::ZERO, stop), per_second, &*sizes);
        let offered = plan.len();
        net.add_workload(workload(Plan::Arrivals(plan), stop));
        net.run_until(stop + Span::from_secs(200));
        let buckets = net
            .workload(WorkloadId::new(0))
            .completed()
            .by_size(&[20_000, 100_000], Time::ZERO);
        assert_eq!(buckets.len(), 3);
        assert_eq!(
            buckets.iter().map(|bucket| bucket.count).sum::<usize>(),
            offered
        );
        for bucket in &buckets {
            let spread = bucket.slowdown;
            assert!(spread.p50 >= 1.0 && spread.p50 <= spread.p95 && spread.p95 <= spread.p99);
            assert!(bucket.time_s.mean > 0.0);
        }
        assert_eq!(
            net.workload(WorkloadId::new(0))
                .completed()
                .by_size(&[], stop)[0]
                .count,
            0
        );
        let all = net
            .workload(WorkloadId::new(0))
            .completed()
            .by_size(&[], Time::ZERO)[0];
        let opened = net.workload(WorkloadId::new(0)).opened();
        assert_eq!((all.count + all.unfinished) as u64, opened);
        buckets[0].slowdown.p95
    };
    let (light, heavy) = (p99(0.1), p99(0.8));
    assert!(heavy > 1.5 * light, "{light} {heavy}");
}

#[test]
fn requests_are_answered_and_thought_about() {
    let mut net = network(100, 20);
    let plan = Plan::Exchanges {
        connections: 3,
        request: constant(500.0),
        response: constant(20_000.0),
        think: Spans::seconds(constant(0.5)),
    };
    net.add_workload(workload(plan, Time::from_secs(10)));
    net.run_until(Time::from_secs(20));
    let web = net.workload(WorkloadId::new(0));
    assert_eq!((web.opened(), web.failed()), (3, 0));
    // A request each 0.52 s or a little more on each connection.
    assert!(
        (51..=58).contains(&web.completions().len()),
        "{}",
        web.completions().len()
    );
    for done in web.completions() {
        assert_eq!(done.bytes, 20_000);
        assert!(done.time >= done.ideal, "{done:?}");
    }
    let firsts = web
        .completions()
        .iter()
        .filter(|done| done.ideal > Span::from_ms(40))
        .count();
    assert_eq!(
        firsts, 3,
        "only the first exchange of a connection waits for the handshake"
    );
    // Thinking takes longer than a timeout, so that the window falls back to ten segments: 14 are
    // two rounds.
    assert!(web.completions().iter().all(|done| done.slowdown() < 2.1));
    for index in 0..3 {
        assert!(
            net.connections(FlowId::new(index)).is_none(),
            "connection {index} is closed"
        );
    }
}

#[test]
fn bursts_come_and_go() {
    let mut net = network(10, 20);
    let bursts = |bytes_per_s| Plan::Bursts {
        connections: 1,
        on: Spans::seconds(constant(0.2)),
        off: Spans::seconds(constant(0.8)),
        bytes_per_s,
    };
    net.add_workload(workload(bursts(Some(125_000.0)), Time::from_secs(20)));
    net.trace_queues(Span::from_ms(10));
    net.run_until(Time::from_secs(30));
    // A fifth of the time at 1 Mbit/s of payload, 20 s long.
    let bytes = net.link(LinkId::new(0)).counters().sent_bytes as f64;
    assert!((bytes / 500_000.0 - 1.0).abs() < 0.15, "{bytes}");
    assert!(net.connections(FlowId::new(0)).is_none());

    let mut net = network(10, 20);
    net.add_workload(workload(bursts(None), Time::from_secs(20)));
    net.run_until(Time::from_secs(30));
    let bytes = net.link(LinkId::new(0)).counters().sent_bytes as f64;
    // As fast as TCP sends in a fifth of the time: at most the rate, at least half of it.
    assert!((2_500_000.0..6_500_000.0).contains(&bytes), "{bytes}");
    assert!(net.connections(FlowId::new(0)).is_none());
}

#[test]
fn a_workload_over_a_broken_path_gives_up() {
    let mut net = Network::new();
    let mut link = LinkSpec::wire("there", Span::from_ms(1));
    let entry = trammel_queues::loss::find("bernoulli").unwrap();
    let all = [("probability".to_owned(), Value::Float(1.0))];
    link.loss = Some((entry.build)(&Params::resolve(&entry.about, &all).unwrap()).unwrap());
    net.add_link(link);
    net.add_link(LinkSpec::wire("back", Span::from_ms(1)));
    net.add_workload(workload(
        Plan::Arrivals(vec![(Time::ZERO, 1000); 3]),
        Time::MAX,
    ));
    net.run_until(Time::from_secs(300));
    let web = net.workload(WorkloadId::new(0));
    assert_eq!(
        (web.opened(), web.failed(), web.completions().len()),
        (3, 3, 0)
    );
}

#[test]
fn one_seed_gives_one_outcome() {
    let run = |seed: u64| {
        let mut net = network(10, 20);
        let sizes = law("exponential", &[("mean", 20_000.0)]);
        let stop = Time::from_secs(10);
        let plan = poisson(seed, "web", (Time::ZERO, stop), 40.0, &*sizes);
        net.add_workload(workload(Plan::Arrivals(plan), stop));
        net.run_until(stop);
        net.workload(WorkloadId::new(0)).completions().to_vec()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn a_percentile_is_a_value_that_occurred() {
    let spread = Spread::of((1..=200).rev().map(f64::from).collect());
    assert_eq!((spread.p50, spread.p95, spread.p99), (100.0, 190.0, 198.0));
    assert_eq!(spread.mean, 100.5);
    assert_eq!(Spread::of(Vec::new()), Spread::default());
    assert_eq!(Spread::of(vec![3.0]).p99, 3.0);
}
