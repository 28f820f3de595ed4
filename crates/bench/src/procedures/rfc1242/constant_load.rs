//! Constant load: steadiness of a device at loads below its throughput.
//!
//! # What it does
//! Frames of one size at even gaps, at several shares of the throughput. A load is *steady* where
//! every frame came once, in order and with the bytes that it was sent with.
//!
//! # References
//! RFC 1242 §3.4; Linguaglossa, Lombardo, Reforgiato, Schembra, "Performance Comparison between the
//! Click Modular Router and the NetFPGA Router", §5.1.

use super::super::{Bench, Entry, Error, Form, load, shares};
use crate::summary::latencies;
use crate::testbed::{Faults, Plan};
use trammel_core::entry::{About, Kind, Param, Params};
use trammel_stats::table::{Cell, CellType, Table};

/// Constant load in the table of tests.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "constant-load",
        aliases: &[],
        summary: "steadiness of a device at loads below its throughput",
        references: &[
            "RFC 1242 §3.4",
            "Linguaglossa et al., Click against NetFPGA, §5.1",
        ],
        params: &[
            // "to send a certain number of packets at a fixed rate for two minutes" (the paper).
            Param::time("duration", "120 s", "how long a load is"),
            // "The maximum rate at which packets were sent was just below the threshold of the
            // throughput" (the paper).
            Param {
                name: "loads",
                kind: Kind::Floats,
                default: "0.25, 0.5, 0.75, 0.95",
                unit: "",
                help: "the loads, as shares of the throughput",
            },
        ],
    },
    quick: &[("duration", "1 s")],
    columns: &[
        ("of_throughput_percent", CellType::Float),
        ("offered_fps", CellType::Float),
        ("forwarded_fps", CellType::Float),
        ("offered", CellType::Int),
        ("lost", CellType::Int),
        ("duplicated", CellType::Int),
        ("reordered", CellType::Int),
        //= rfc1242 §3.4
        //# When there is a checksum in the frame, it must be verified.
        ("corrupted", CellType::Int),
        ("latency_least_us", CellType::Float),
        ("latency_median_us", CellType::Float),
        ("latency_p99_us", CellType::Float),
        ("latency_p999_us", CellType::Float),
        ("latency_most_us", CellType::Float),
        ("is_steady", CellType::Bool),
    ],
    form: Form::Table,
    run,
};

fn run(bench: &mut Bench<'_>, params: &Params) -> Result<Table, Error> {
    let loads = shares(params, "loads")?;
    bench.each(&ENTRY, |bench, traffic, table| {
        let throughput = bench.throughput_fps(traffic)?;
        for share in loads {
            let Some(fps) = throughput.map(|fps| share * fps) else {
                bench.push(table, traffic, vec![Cell::Empty; ENTRY.columns.len()]);
                break;
            };
            let plan = Plan::of(&[load(fps, params.time("duration"))?]);
            let observed = bench.offer(traffic, &plan)?;
            let (outcome, faults) = (&observed.outcome, &observed.faults);
            let Faults {
                duplicated,
                reordered,
                corrupted,
                stray: _,
            } = *faults;
            let mut own: Vec<Cell> = vec![
                (100.0 * share).into(),
                outcome.offered_rate().into(),
                outcome.forwarding_rate().into(),
                outcome.offered.into(),
                outcome.lost().into(),
                duplicated.into(),
                reordered.into(),
                corrupted.into(),
            ];
            own.extend(match &outcome.latency {
                Some(latency) => latencies(latency),
                None => [const { Cell::Empty }; 5],
            });
            let is_steady = [outcome.lost(), duplicated, reordered, corrupted] == [0; 4];
            own.push(is_steady.into());
            bench.push(table, traffic, own);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Device, LINE_FPS, made, refused, search, traffic};
    use crate::procedures::Search;
    use trammel_core::Span;

    #[test]
    fn a_capacity_is_steady_below_its_throughput() {
        let mut device = Device::of_capacity(0.5 * LINE_FPS);
        let given = [("duration", "1 s"), ("loads", "0.25, 1")];
        let table = made(&ENTRY, &given, &mut device, &[traffic(64)], search());
        assert_eq!(table.len(), 2);
        assert!(
            table
                .rows()
                .all(|row| row.get("is_steady") == Some(&Cell::Bool(true)))
        );
        let rates = table.floats("offered_fps").unwrap();
        assert!(
            (rates[0] / (0.125 * LINE_FPS) - 1.0).abs() < 0.01,
            "{rates:?}"
        );
    }

    #[test]
    fn losses_that_a_search_allowed_are_seen() {
        let mut device = Device::of_capacity(0.5 * LINE_FPS);
        let lax = Search {
            loss_ratio: 0.1,
            final_duration: Span::from_secs(2),
            ..search()
        };
        let given = [("duration", "1 s"), ("loads", "1")];
        let table = made(&ENTRY, &given, &mut device, &[traffic(64)], lax);
        let row = table.rows().next().unwrap();
        assert_eq!(row.get("is_steady"), Some(&Cell::Bool(false)));
        assert!(row.int("lost").unwrap() > 0);
    }

    #[test]
    fn a_load_above_the_throughput_is_refused() {
        let said = refused(
            &ENTRY,
            &[("loads", "0.5, 1.5")],
            &mut Device::of_capacity(1.0),
        );
        assert_eq!(
            said,
            "`loads` has 1.5; each of its numbers is a share, above 0 and at most 1"
        );
    }
}
