//! Functions between virtual Ethernet devices, simulated and measured, side by side.
//!
//! ```text
//! cargo run --release -p trammel --example veth_loads -- FILE.click… [frame=128] [frames=20000]
//! ```
//! Needs root, for network namespaces and AF_XDP, and a calibrated `host`. What devices cost is
//! learnt anew before each function, from a graph that does nothing.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::collections::BTreeMap;
use trammel::forwarding::over_veth::{Both, Veth};
use trammel::workbench::bench::Bench;
use trammel::workbench::estimate::Error;
use trammel::workbench::machines;
use trammel::workbench::samples;
use trammel::workbench::traffic::Traffic;
use trammel_cost::machine::Machine;

/// Beginnings of metrics, and how far the engines may differ.
const BOUNDS: [(&str, f64); 3] = [
    ("throughput", 0.05),
    ("latency", 0.2),
    ("recovery_delay", 0.2),
];

fn main() {
    if let Err(text) = run() {
        eprintln!("error: {text}");
        std::process::exit(3);
    }
}

#[allow(clippy::needless_pass_by_value)] // for `map_err`
fn text(error: Error) -> String {
    match error {
        Error::Other(text) => text,
        Error::Refused(refused) => format!("{refused:?}"),
    }
}

fn run() -> Result<(), String> {
    let (mut files, mut numbers) = (
        Vec::new(),
        BTreeMap::from([("frame", 128), ("frames", 20_000)]),
    );
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some((name, value)) => {
                let number = numbers.get_mut(name);
                *number.ok_or_else(|| format!("`{name}`: give `frame` or `frames`"))? = value
                    .parse()
                    .map_err(|_| format!("`{argument}` is no number"))?;
            }
            None => files.push(argument),
        }
    }
    if files.is_empty() {
        return Err("give a Click file".to_owned());
    }
    let machine = machines::find("host").map_err(|why| format!("{why:#}"))?;
    println!(
        "{:<24} {:<24} {:>5} {:>10} {:>10} {:>8}",
        "", "", "", "simulated", "measured", "error"
    );
    let mut errors: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for file in &files {
        for row in compare(file, &machine, numbers["frame"], numbers["frames"])? {
            let shown =
                |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.4}"));
            let error = row
                .simulated
                .zip(row.measured)
                .filter(|(_, measured)| *measured > 0.0)
                .map(|(simulated, measured)| simulated / measured - 1.0);
            let kind = BOUNDS.iter().find(|(name, _)| row.metric.starts_with(name));
            if let Some((error, (kind, _))) = error.zip(kind) {
                errors.entry(kind).or_default().push(error.abs());
            }
            println!(
                "{:<24} {:<24} {:>5} {:>10} {:>10} {:>8}",
                file.rsplit('/').next().unwrap_or(file),
                row.metric,
                row.unit,
                shown(row.simulated),
                shown(row.measured),
                error.map_or(String::new(), |error| format!("{:+.1} %", 100.0 * error))
            );
        }
    }
    for (kind, bound) in BOUNDS {
        let Some(all) = errors.get_mut(kind) else {
            continue;
        };
        all.sort_by(f64::total_cmp);
        println!(
            "{kind}: median error {:.1} %, worst {:.1} %; {} of {} within {:.0} %",
            100.0 * all[all.len() / 2],
            100.0 * all[all.len() - 1],
            all.iter().filter(|error| **error <= bound).count(),
            all.len(),
            100.0 * bound
        );
    }
    Ok(())
}

fn compare(file: &str, machine: &Machine, frame: u64, frames: u64) -> Result<Vec<Both>, String> {
    let config = std::fs::read_to_string(file).map_err(|why| format!("{file}: {why}"))?;
    let traffic = Traffic {
        frame: frame as usize,
        ..Traffic::default()
    };
    let bench = Bench::new(&config, file, &[], &[samples::plain()]);
    let bench = bench.map_err(|refused| format!("{refused:?}"))?;
    let veth = Veth::learn(machine, frame as usize).map_err(text)?;
    veth.compare(&bench, &traffic, machine, frames)
        .map_err(text)
}
