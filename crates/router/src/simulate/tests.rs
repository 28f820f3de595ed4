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
use trammel_core::time::Time;
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
    let report = offered(Costs::uniform(Cost::per_packet(50.0)), two_ports(), 1e6, 10);
    let (a, b) = (report.port("a").unwrap(), report.port("b").unwrap());
    assert_eq!((a.offered, a.lost, b.sent), (10_000, 0, 10_000));
    assert!(report.balance.is_even(), "{:?}", report.balance);
    assert_eq!(b.latency.count(), 10_000);
}
