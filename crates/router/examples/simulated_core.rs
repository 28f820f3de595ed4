//! A second of a device at ten million frames a second, simulated; how long that takes is for
//! `time` to say.
//!
//! `time target/release/examples/simulated_core [FRAMES_A_SECOND]`

#![allow(clippy::print_stdout)]

use trammel_core::time::Time;
use trammel_core::units::Rate;
use trammel_router::BuiltIn;
use trammel_router::engine::core_clock::Cost;
use trammel_router::lang;
use trammel_router::simulate::costs::Costs;
use trammel_router::simulate::offer::{self, Offer};
use trammel_router::simulate::port::{Counts, Settings};
use trammel_router::simulate::{Machine, Simulation};

const CONFIG: &str = "FromDevice(a) -> Counter -> Queue(1000) -> ToDevice(b);";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let per_second: f64 = std::env::args()
        .nth(1)
        .map_or(Ok(1e7), |text| text.parse())?;
    let language = lang::Options {
        classes: Some(&BuiltIn),
        ..lang::Options::default()
    };
    let rate = Rate::from_bps(10_000_000_000);
    let driver = Cost {
        call: 100.0,
        packet: 20.0,
        byte: 0.0,
        empty: 60.0,
    };
    let port = |name| Settings {
        receive: driver,
        transmit: driver,
        ..Settings::ideal(name, rate)
    };
    let machine = Machine {
        hz: 3e9,
        costs: Costs::uniform(Cost {
            call: 20.0,
            packet: 20.0,
            byte: 0.0,
            empty: 20.0,
        }),
        look_cycles: 0.0,
        ports: vec![port("a"), port("b")],
        files: None,
    };
    let mut simulation = Simulation::load(CONFIG, "config", &language, machine, 1)?;
    let arrivals = offer::constant(per_second, Time::ZERO, Time::from_secs(1));
    let arrivals = arrivals.ok_or("the rate must be above 0")?;
    let offer = Offer::new(vec![vec![0; 60]], arrivals).ok_or("a frame")?;
    simulation.offer("a", offer);
    simulation.run_until(Time::from_secs(2));
    let report = simulation.report();
    let at = |fraction| -> String {
        let port = report.port("b");
        let quantile = port.and_then(|port| port.latency.quantile_time(fraction));
        quantile.map_or_else(|| "none".to_owned(), |time| time.to_string())
    };
    println!(
        "{:?}\nbusy {} of {}, batches of {:.1} frames, latency p50 {}, p99 {}",
        report.balance,
        report.busy(),
        report.now,
        report.port("a").and_then(Counts::mean_batch).unwrap_or(0.0),
        at(0.5),
        at(0.99)
    );
    Ok(())
}
