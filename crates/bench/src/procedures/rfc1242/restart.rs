//! Restart behaviour: distribution of the outage after a restart, over many restarts.
//!
//! # What it does
//! As the test `reset`, at half of the throughput and far oftener, as the paper does: its mean is
//! the paper's figure, and least, median, percentiles and most say how much it varies. Nothing is
//! taken off for the power.
//!
//! # References
//! RFC 1242 §3.14; Linguaglossa, Lombardo, Reforgiato, Schembra, "Performance Comparison between
//! the Click Modular Router and the NetFPGA Router", §5.5.

use super::super::{Bench, Entry, Error, Form};
use crate::resets::{Course, Interruption, caused, tabulate, taxonomy};
use crate::summary::{middle, spread};
use trammel_core::entry::{About, Param, Params};
use trammel_stats::table::{Cell, CellType, Table};

/// Restart in the table of tests.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "restart",
        aliases: &[],
        summary: "variation of the outage after a restart",
        references: &[
            "RFC 1242 §3.14",
            "Linguaglossa et al., Click against NetFPGA, §5.5",
        ],
        params: &[
            Param::float(
                "load",
                0.001,
                1.0,
                "0.5",
                "",
                "the load, as a share of the throughput",
            ),
            Param::time("before", "1 s", "how long it forwards before the restart"),
            Param::time("watch", "10 s", "the longest restart that can be observed"),
            // "Table 1 shows the average time (in milliseconds) of the restart behavior over 1000
            // runs" (the paper).
            Param::int(
                "repeats",
                1,
                100_000,
                "1000",
                "",
                "how often it is restarted",
            ),
        ],
    },
    quick: &[("repeats", "3")],
    columns: &[
        ("reset", CellType::Text),
        ("type", CellType::Text),
        ("rate_fps", CellType::Float),
        ("restart_mean_ms", CellType::Float),
        ("restart_sd_ms", CellType::Float),
        ("restart_min_ms", CellType::Float),
        ("restart_max_ms", CellType::Float),
        ("restart_median_ms", CellType::Float),
        ("restart_p1_ms", CellType::Float),
        ("restart_p99_ms", CellType::Float),
        ("trials", CellType::Int),
        ("unrecovered", CellType::Int),
    ],
    form: Form::Table,
    run,
};

fn run(bench: &mut Bench<'_>, params: &Params) -> Result<Table, Error> {
    tabulate(bench, &ENTRY, |bench, traffic, kind, throughput| {
        let fps = params.float("load") * throughput;
        let course = Course {
            fps,
            before: params.time("before"),
            watch: params.time("watch"),
        };
        let all = caused(bench, params.int("repeats"), traffic, kind, course)?;
        let over = all.iter().filter(|one| one.is_over);
        let times: Vec<f64> = over.map(Interruption::ms).collect();
        let mut own: Vec<Cell> = vec![kind.into(), taxonomy(kind).into(), fps.into()];
        own.extend(spread(&times));
        own.extend(middle(&times));
        own.extend([all.len().into(), (all.len() - times.len()).into()]);
        Ok(own)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Device, LINE_FPS, made, search, traffic};
    use trammel_core::Span;

    #[test]
    fn the_papers_restart_is_found_and_a_device_that_stays_down_is_counted() {
        let mut device = Device {
            outage: Span::from_ms(1990),
            resets: &["software-process: click"],
            ..Device::of_capacity(0.5 * LINE_FPS)
        };
        for (watch, unrecovered) in [("4 s", 0), ("1 s", 5)] {
            let given = [("repeats", "5"), ("before", "0.1 s"), ("watch", watch)];
            let table = made(&ENTRY, &given, &mut device, &[traffic(64)], search());
            let row = table.rows().next().unwrap();
            let counts = (row.int("trials"), row.int("unrecovered"));
            assert_eq!(counts, (Some(5), Some(unrecovered)));
            let mean = row.float("restart_mean_ms");
            assert_eq!(mean.is_some(), unrecovered == 0);
            assert!(
                mean.is_none_or(|mean| (mean - 1990.0).abs() < 1.0),
                "{mean:?}"
            );
        }
    }
}
