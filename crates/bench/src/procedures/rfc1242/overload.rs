//! Overload behaviour: forwarding rate at loads above the throughput.
//!
//! # What it does
//! Loads in even steps from the throughput to the rate of the line. A device that keeps its
//! throughput under any load has a level line; where it falls, work is spent on frames that are
//! then lost.
//!
//! # References
//! RFC 1242 §3.12; Linguaglossa, Lombardo, Reforgiato, Schembra, "Performance Comparison between
//! the Click Modular Router and the NetFPGA Router", §5.4.

use super::super::{Bench, Entry, Error, Form, load};
use crate::testbed::Plan;
use trammel_core::entry::{About, Param, Params};
use trammel_stats::table::{CellType, Table};

/// Overload in the table of tests.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "overload",
        aliases: &[],
        summary: "forwarding rate at loads above the throughput",
        references: &[
            "RFC 1242 §3.12",
            "Linguaglossa et al., Click against NetFPGA, §5.4",
        ],
        params: &[
            Param::int(
                "steps",
                1,
                1000,
                "5",
                "",
                "steps from the throughput to the line's rate",
            ),
            Param::time("duration", "60 s", "how long a load is"),
        ],
    },
    quick: &[("duration", "1 s")],
    columns: &[
        ("intended_fps", CellType::Float),
        ("intended_percent", CellType::Float),
        ("offered_fps", CellType::Float),
        ("forwarded_fps", CellType::Float),
        ("of_throughput_percent", CellType::Float),
        ("loss_percent", CellType::Float),
    ],
    form: Form::Graph {
        is_percent: false,
        x: "offered_fps",
        lines: &[("offered_fps", "offered"), ("forwarded_fps", "forwarded")],
    },
    run,
};

fn run(bench: &mut Bench<'_>, params: &Params) -> Result<Table, Error> {
    let steps = params.int("steps");
    bench.each(&ENTRY, |bench, traffic, table| {
        let line = bench.line_fps(traffic);
        let throughput = bench.throughput_fps(traffic)?;
        // A device that bears no load is overloaded by all of them.
        let from = throughput.unwrap_or(0.0);
        for step in 0..=steps {
            let fps = from + (line - from) * step as f64 / steps as f64;
            if fps <= 0.0 {
                continue;
            }
            let plan = Plan::of(&[load(fps, params.time("duration"))?]);
            let outcome = bench.offer(traffic, &plan)?.outcome;
            let forwarded = outcome.forwarding_rate();
            let own = vec![
                fps.into(),
                (100.0 * fps / line).into(),
                outcome.offered_rate().into(),
                forwarded.into(),
                throughput.map(|fps| 100.0 * forwarded / fps).into(),
                (100.0 * outcome.loss_ratio()).into(),
            ];
            bench.push(table, traffic, own);
            if from >= line {
                break;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Device, LINE_FPS, made, search, traffic};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn a_capacity_is_what_is_forwarded_of_every_overload(share in 0.1..0.9_f64) {
            let mut device = Device::of_capacity(share * LINE_FPS);
            let given = [("duration", "2 s")];
            let table = made(&ENTRY, &given, &mut device, &[traffic(64)], search());
            prop_assert_eq!(table.len(), 6);
            for row in table.rows() {
                let (offered, forwarded) = (
                    row.float("offered_fps").unwrap(), row.float("forwarded_fps").unwrap()
                );
                let truth = offered.min(share * LINE_FPS);
                prop_assert!((forwarded / truth - 1.0).abs() < 0.005, "{} {}", forwarded, truth);
            }
        }
    }

    #[test]
    fn what_cannot_be_overloaded_has_one_row_and_what_bears_nothing_has_all() {
        for (capacity, rows) in [(1e9, 1), (1e-3, 5)] {
            let mut device = Device::of_capacity(capacity);
            let given = [("duration", "1 s")];
            let table = made(&ENTRY, &given, &mut device, &[traffic(64)], search());
            assert_eq!(table.len(), rows);
        }
    }
}
