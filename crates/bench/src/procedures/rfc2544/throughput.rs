//! Throughput: the highest rate without frame loss.
//!
//! # What it does
//! A search finds the interval between a rate that passed and one that did not; the rate that is
//! reported passed a trial of the full length. Both ends of the interval are told, since the
//! device's own lies between them. Of the three searches, `binary` is what the text has in mind,
//! `mlr` needs a third of its time for the same final trials (RFC 9971 §4.10.2 says that its result
//! complies), and `incremental` stops at the first loss.
//!
//! A real device is searched `searches` times: the result is the search in the middle, and what all
//! of them found is told beside it. Frames that were lost while the tester sent too many at once
//! say nothing of the device: such a trial is repeated, and where each time is one its load is a
//! limit of the tester.
//!
//! # References
//! RFC 2544 §26.1, §24; RFC 1242 §3.17.

use super::super::{Bench, Entry, Error, Form, verdict};
use crate::search::throughput::{MISMATCHES, SEARCHES};
use trammel_core::entry::{About, Kind, Param, Params};
use trammel_stats::table::{Cell, CellType, Table};

/// Throughput in the table of tests.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "throughput",
        aliases: &[],
        summary: "the highest rate without frame loss",
        references: &["RFC 2544 §26.1", "RFC 1242 §3.17"],
        params: &[
            Param {
                name: "loss_ratio",
                kind: Kind::Float(0.0, 0.5),
                default: "0",
                unit: "",
                help: "accepted loss ratio; RFC 2544 allows none",
            },
            Param {
                name: "width",
                kind: Kind::Float(1e-6, 0.5),
                default: "0.005",
                unit: "",
                help: "width of the final interval, as a share of its upper end",
            },
            Param {
                name: "duration",
                kind: Kind::Time,
                default: "10 s",
                unit: "s",
                help: "duration of the search's trials",
            },
            //= rfc2544 §24
            //# The duration of the test portion of each trial SHOULD be at least 60 seconds.
            Param {
                name: "final_duration",
                kind: Kind::Time,
                default: "60 s",
                unit: "s",
                help: "duration of the deciding trial",
            },
            Param {
                name: "least",
                kind: Kind::Float(1e-9, 1.0),
                default: "0.001",
                unit: "",
                help: "the lowest load to try, as a share of line rate",
            },
            Param {
                name: "search",
                kind: Kind::Choice(SEARCHES),
                default: "binary",
                unit: "",
                help: "the search",
            },
            Param::float(
                "step",
                1e-6,
                1.0,
                "0.01",
                "",
                "step of an incremental search, as a share of line rate",
            ),
            Param::float(
                "tolerance",
                0.0,
                0.5,
                "0.001",
                "",
                "accepted shortfall of load and excess of duration of a trial, as a share",
            ),
            Param::int(
                "repeats",
                0,
                100,
                "2",
                "",
                "repetitions of a trial that fell short",
            ),
            Param::int(
                "doubts",
                0,
                100,
                "5",
                "",
                "repetitions of a trial that lost no more frames than the tester sent too close \
                 together",
            ),
            Param::int(
                "verifications",
                0,
                10,
                "1",
                "",
                "repetitions of a lossy trial, unless in virtual time: its load is lossy if all \
                 lost (ETSI GS NFV-TST 009)",
            ),
            Param::int(
                "searches",
                1,
                100,
                "3",
                "",
                "number of searches, unless in virtual time",
            ),
            Param {
                name: "mismatch",
                kind: Kind::Choice(MISMATCHES),
                default: "invalid",
                unit: "",
                help: "what it counts as after that: a limit of the tester, or loss (RFC 9971 \
                       §4.9.1)",
            },
            Param::time(
                "ramp_up",
                "0 s",
                "how long to offer the highest load before the first trial, without counting",
            ),
        ],
    },
    quick: &[("duration", "0.5 s"), ("final_duration", "1 s")],
    columns: &[
        ("throughput_fps", CellType::Float),
        ("upper_fps", CellType::Float),
        ("line_fps", CellType::Float),
        ("of_line_percent", CellType::Float),
        ("throughput_mbps", CellType::Float),
        ("line_side_mbps", CellType::Float),
        ("verdict", CellType::Text),
        ("searches", CellType::Int),
        ("searches_min_fps", CellType::Float),
        ("searches_max_fps", CellType::Float),
        ("trials", CellType::Int),
        ("trial_time_s", CellType::Float),
    ],
    form: Form::Graph {
        is_percent: false,
        x: "frame_bytes",
        lines: &[
            ("line_fps", "theoretical"),
            ("throughput_fps", "throughput"),
        ],
    },
    run,
};

fn run(bench: &mut Bench<'_>, _params: &Params) -> Result<Table, Error> {
    bench.each(&ENTRY, |bench, traffic, table| {
        let found = bench.throughput(traffic)?;
        let line = bench.line_fps(traffic);
        let bits = |per_frame: f64| found.lower.map(|fps| fps * per_frame * 8.0 / 1e6);
        let time = found.trials.iter().map(|t| t.load.duration().as_secs_f64());
        // What is the same as the result is not told once more.
        let each = Some(&found.each).filter(|each| each.len() > 1);
        let ends = each.map(|each| {
            let each = each.iter().map(|lower| lower.unwrap_or(0.0));
            let (low, high) = (f64::INFINITY, f64::NEG_INFINITY);
            each.fold((low, high), |(low, high), fps| {
                (low.min(fps), high.max(fps))
            })
        });
        let own = vec![
            found.lower.into(),
            found.upper.into(),
            line.into(),
            found.lower.map(|fps| 100.0 * fps / line).into(),
            bits(traffic.sizes.mean()).into(),
            bits(traffic.sizes.mean() + crate::frames::GAP_AND_PREAMBLE).into(),
            verdict(found.verdict).into(),
            each.map_or(Cell::Empty, |each| each.len().into()),
            ends.map(|(low, _)| low).into(),
            ends.map(|(_, high)| high).into(),
            (found.trials.len() as i64).into(),
            time.sum::<f64>().into(),
        ];
        bench.push(table, traffic, own);
        Ok(())
    })
}
