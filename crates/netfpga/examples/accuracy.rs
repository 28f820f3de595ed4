//! How near the model comes to the RTL simulation of the original, and how long a throughput test
//! of full length takes.
//!
//! The numbers of the original are of a cycle-accurate simulation of its hardware description with
//! behavioural models of the vendor's memories, not of the card. The tables are those of
//! `docs/netfpga.md`.
//!
//! ```text
//! cargo run --release -p trammel-netfpga --example accuracy
//! ```
#![allow(clippy::print_stdout)]

use std::time::Instant;
use trammel_core::time::{Span, Time};
use trammel_netfpga::error::Error;
use trammel_netfpga::outcome::Outcome;
use trammel_netfpga::overload;
use trammel_netfpga::params::Params;
use trammel_netfpga::restart;
use trammel_netfpga::router::Router;
use trammel_netfpga::single_frame;
use trammel_netfpga::stream::Stream;

/// Frame size, and the RTL simulation's latency of a lone frame from first bit to first bit; ns.
const LONE: [(u64, u64); 7] = [
    (64, 1_280),
    (128, 1_920),
    (256, 3_200),
    (512, 5_760),
    (1024, 10_880),
    (1280, 13_440),
    (1518, 15_856),
];

/// Frame size, the RTL simulation's mean and greatest latency at 90 % of four ports; us.
const LOADED: [(u64, f64, f64); 3] = [(64, 1.63, 1.75), (512, 8.53, 9.06), (1518, 23.6, 25.5)];

fn main() -> Result<(), Error> {
    let params = Params::REFERENCE_1G;
    println!(
        "| frame | RTL simulation | formula | model | its phases |\n\
         | ---: | ---: | ---: | ---: | --- |"
    );
    for (size, rtl) in LONE {
        let phases =
            (0..8).map(|phase| single_frame::latency(&params, size, Time::from_ns(8 * phase)));
        let phases = phases.collect::<Result<Vec<_>, _>>()?;
        println!(
            "| {size} | {rtl} ns | {} ns | {} ns | {} to {} |",
            single_frame::formula(&params, size).as_ns(),
            phases[4].as_ns(),
            phases.iter().min().map_or(0, |time| time.as_ns()),
            phases.iter().max().map_or(0, |time| time.as_ns()),
        );
    }
    println!(
        "\n| frame | RTL simulation: mean | model | RTL simulation: maximum | model |\n\
         | ---: | ---: | ---: | ---: | ---: |"
    );
    for (size, mean, greatest) in LOADED {
        let latency = four_ports(&params, size, 0.9, Span::from_us(2_500))?.latency;
        println!(
            "| {size} | {mean} us | {:.2} us | {greatest} us | {:.2} us |",
            latency.mean().unwrap_or(0.0) / 1e6,
            latency.max().unwrap_or(0) as f64 / 1e6,
        );
    }
    println!(
        "\n| frame | four ports without loss | frames of 10 trials of 60 s | simulated |\n\
         | ---: | ---: | ---: | ---: |"
    );
    let (begin, mut frames) = (Instant::now(), 0);
    for (size, _) in LONE {
        let (holds, offered, simulated) = throughput(&params, size)?;
        frames += offered;
        println!(
            "| {size} | {:.2} % | {offered} | {simulated} |",
            100.0 * holds
        );
    }
    println!(
        "\n{frames} frames in {:.1} s",
        begin.elapsed().as_secs_f64()
    );
    let burst = overload::burst(&params, overload::PAPER_FRAMES)?;
    println!(
        "\noverload: {} of {} bytes received, {} of them during the burst of {}; restart: {}",
        burst.received_bytes,
        burst.sent_bytes,
        burst.during_bytes,
        burst.burst,
        restart::outage(&params),
    );
    Ok(())
}

fn four_ports(params: &Params, size: u64, load: f64, duration: Span) -> Result<Outcome, Error> {
    let ends = (0..4).map(|port| (port, (port + 1) % 4));
    let streams = ends.map(|ends| Stream::of_line(params, ends, size, load, duration));
    Router::new(params)?.run(&streams.collect::<Vec<_>>())
}

/// A binary search of ten trials of 60 s: the highest load without loss, frames offered, frames
/// simulated.
fn throughput(params: &Params, size: u64) -> Result<(f64, u64, u64), Error> {
    let (mut holds, mut fails, mut load) = (0.0, 1.0, 1.0);
    let (mut offered, mut simulated) = (0, 0);
    for _ in 0..10 {
        let outcome = four_ports(params, size, load, Span::from_secs(60))?;
        offered += outcome.total().received;
        simulated += outcome.simulated;
        if outcome.total().dropped() == 0 {
            holds = load;
        } else {
            fails = load;
        }
        load = f64::midpoint(holds, fails);
    }
    Ok((holds, offered, simulated))
}
