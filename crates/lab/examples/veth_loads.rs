//! A function between virtual Ethernet devices, simulated and measured, side by side.
//!
//! ```text
//! cargo run --release -p trammel-lab --example veth_loads -- FILE.click [BYTES] [FRAMES]
//! ```
//! Needs the right to make network namespaces and a calibrated `host`. Devices are packet sockets that the
//! router polls. What they cost is learnt first, from a graph that does nothing.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use trammel::forwarding::bench::Bench;
use trammel::forwarding::estimate::Error;
use trammel::forwarding::run::veth::Veth;
use trammel::forwarding::samples;
use trammel::forwarding::traffic::Traffic;
use trammel::machines;

fn main() {
    if let Err(text) = compare() {
        eprintln!("error: {text}");
        std::process::exit(3);
    }
}

fn text(error: Error) -> String {
    match error {
        Error::Other(text) => text,
        Error::Refused(refused) => format!("{refused:?}"),
    }
}

fn compare() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("give a Click file")?;
    let number = |text: Option<String>, usual: u64| match text {
        Some(text) => text.parse().map_err(|_| format!("`{text}` is no number")),
        None => Ok(usual),
    };
    let (frame, frames) = (
        number(arguments.next(), 128)?,
        number(arguments.next(), 20_000)?,
    );
    let config = std::fs::read_to_string(&file).map_err(|why| format!("{file}: {why}"))?;
    let machine = machines::find("host").map_err(|why| format!("{why:#}"))?;
    let traffic = Traffic {
        frame: frame as usize,
        ..Traffic::default()
    };
    let bench = Bench::new(&config, &file, &[], &[samples::plain()]);
    let bench = bench.map_err(|refused| format!("{refused:?}"))?;
    let veth = Veth::learn(frame as usize).map_err(text)?;
    println!("devices: {veth:.0?}");
    let rows = veth
        .compare(&bench, &traffic, &machine, frames)
        .map_err(text)?;
    println!(
        "{:<24} {:>5} {:>10} {:>10} {:>8}",
        "", "", "simulated", "measured", "error"
    );
    for row in rows {
        let shown = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.4}"));
        let error = row
            .simulated
            .zip(row.measured)
            .filter(|(_, measured)| *measured > 0.0);
        let error = error
            .map(|(simulated, measured)| format!("{:+.1} %", 100.0 * (simulated / measured - 1.0)));
        println!(
            "{:<24} {:>5} {:>10} {:>10} {:>8}",
            row.metric,
            row.unit,
            shown(row.simulated),
            shown(row.measured),
            error.unwrap_or_default()
        );
    }
    Ok(())
}
