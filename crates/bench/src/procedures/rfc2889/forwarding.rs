//! Forwarding rates: at the maximum offered load, and the highest at any load.
//!
//! # What it does
//! Loads in steps from the throughput to the rate of the line. The forwarding rate of the last is
//! FRMOL, the highest of all the maximum forwarding rate (MFR); where the throughput is the line's
//! rate, both are that. Frames go from one port to another, as §5.6.3 asks at the least; fully
//! meshed traffic (§5.1) is not offered.
//!
//! # References
//! RFC 2889 §5.1.4, §5.6; RFC 2285 §3.6.

use super::super::{Bench, Entry, Error, Form, load};
use crate::testbed::Plan;
use trammel_core::entry::{About, Param, Params};
use trammel_stats::table::{CellType, Table};

/// Forwarding rates in the table of tests.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "forwarding",
        aliases: &["frmol", "mfr"],
        summary: "forwarding rate at the maximum offered load, and the highest at any load",
        references: &["RFC 2889 §5.6", "RFC 2889 §5.1.4", "RFC 2285 §3.6"],
        params: &[
            //= rfc2889 §5.6.2
            //# Step Size - The minimum incremental resolution that the Iload will be incremented in
            //# frames per second.
            Param::float(
                "step",
                0.0001,
                1.0,
                "0.02",
                "",
                "step between loads, as a share of line rate",
            ),
            //= rfc2889 §5.6.2
            //# The recommended Trial Duration is 30 seconds. Trial duration SHOULD be adjustable
            //# between 1 and 300 seconds.
            Param::time("duration", "30 s", "how long a trial is"),
        ],
    },
    quick: &[("duration", "1 s"), ("step", "0.1")],
    columns: &[
        ("throughput_fps", CellType::Float),
        ("line_fps", CellType::Float),
        ("mol_fps", CellType::Float),
        ("frmol_fps", CellType::Float),
        ("mfr_fps", CellType::Float),
        ("mfr_intended_fps", CellType::Float),
        ("mfr_offered_fps", CellType::Float),
        ("trials", CellType::Int),
    ],
    //= rfc2889 §5.1.5
    //# There SHOULD be at least two lines on the graph, one plotting the theoretical and one
    //# plotting the test results.
    form: Form::Graph {
        is_percent: false,
        x: "frame_bytes",
        lines: &[
            ("line_fps", "theoretical"),
            ("throughput_fps", "throughput"),
            ("frmol_fps", "at the maximum offered load"),
            ("mfr_fps", "maximum forwarding rate"),
        ],
    },
    run,
};

/// A trial: intended, offered and forwarded frames a second.
#[derive(Clone, Copy, Debug, Default)]
struct Rates {
    intended: f64,
    offered: f64,
    forwarded: f64,
}

fn run(bench: &mut Bench<'_>, params: &Params) -> Result<Table, Error> {
    bench.each(&ENTRY, |bench, traffic, table| {
        let line = bench.line_fps(traffic);
        let throughput = bench.throughput_fps(traffic)?;
        let step = params.float("step") * line;
        let mut fps = throughput.unwrap_or(step.min(line));
        let (mut trials, mut best) = (0_u64, Rates::default());
        //= rfc2889 §5.6.3.1
        //# WHILE (ILOAD < MOL); {ILOAD has reached the MOL value}
        let at_most = loop {
            let plan = Plan::of(&[load(fps, params.time("duration"))?]);
            let outcome = bench.offer(traffic, &plan)?.outcome;
            trials += 1;
            let rates = Rates {
                intended: fps,
                offered: outcome.offered_rate(),
                forwarded: outcome.forwarding_rate(),
            };
            //= rfc2889 §5.6.5
            //# MFR MUST be reported as the highest forwarding rate of a DUT/SUT taken from an
            //# iterative set of forwarding rate measurements.
            if rates.forwarded > best.forwarded {
                best = rates;
            }
            if fps >= line {
                break rates;
            }
            fps = (fps + step).min(line);
        };
        let own = vec![
            throughput.into(),
            line.into(),
            at_most.offered.into(),
            at_most.forwarded.into(),
            best.forwarded.into(),
            best.intended.into(),
            best.offered.into(),
            trials.into(),
        ];
        bench.push(table, traffic, own);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Device, LINE_FPS, made, search, traffic};
    use proptest::prelude::*;

    const GIVEN: [(&str, &str); 2] = [("duration", "2 s"), ("step", "0.05")];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn a_device_that_falls_under_overload_has_its_most_before_it(
            share in 0.3..0.7_f64,
            fall in 0.0..0.9_f64,
        ) {
            // Beyond four fifths of the line it forwards a share of what it could.
            let mut device = Device {
                collapse: Some((0.8 * LINE_FPS, fall)), ..Device::of_capacity(share * LINE_FPS)
            };
            let table = made(&ENTRY, &GIVEN, &mut device, &[traffic(64)], search());
            let row = table.rows().next().unwrap();
            let near = |name: &str, truth: f64| {
                let found = row.float(name).unwrap();
                prop_assert!(
                    (found - truth).abs() < 0.006 * LINE_FPS, "{} {} {}", name, found, truth
                );
                Ok(())
            };
            near("mfr_fps", share * LINE_FPS)?;
            near("frmol_fps", fall * share * LINE_FPS)?;
            near("mol_fps", LINE_FPS)?;
            prop_assert!(row.float("mfr_intended_fps").unwrap() <= 0.8 * LINE_FPS + 1.0);
        }
    }

    #[test]
    fn a_device_as_fast_as_the_line_needs_one_trial() {
        let mut fast = Device::of_capacity(1e9);
        let table = made(&ENTRY, &GIVEN, &mut fast, &[traffic(64)], search());
        let row = table.rows().next().unwrap();
        assert_eq!(
            (row.int("trials"), row.float("frmol_fps")),
            (Some(1), row.float("mfr_fps"))
        );
    }
}
