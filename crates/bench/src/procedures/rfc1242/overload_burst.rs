//! Overload by a burst: shares forwarded while it is sent, after it, and never.
//!
//! # What it does
//! A burst with the least gap, again and again, each from rest. What comes after the last frame had
//! been sent was kept in a buffer: a device that has none forwards only while frames come.
//!
//! # References
//! Linguaglossa, Lombardo, Reforgiato, Schembra, "Performance Comparison between the Click Modular
//! Router and the NetFPGA Router", §5.4 and figure 6; RFC 1242 §3.12.

use super::super::{Bench, Entry, Error, Form, burst};
use crate::summary::spread;
use crate::testbed::{Observation, Plan};
use trammel_core::entry::{About, Kind, Param, Params};
use trammel_stats::stats::Moments;
use trammel_stats::table::{Cell, CellType, Table};

/// The burst in the table of tests.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "overload-burst",
        aliases: &[],
        summary: "shares of a burst that are forwarded while it is sent, after it, and never",
        references: &[
            "Linguaglossa et al., Click against NetFPGA, §5.4",
            "RFC 1242 §3.12",
        ],
        params: &[
            // "85674 bytes are sent between the interval time [t1, t2]" (the paper).
            Param {
                name: "burst",
                kind: Kind::Bytes,
                default: "85674 B",
                unit: "B",
                help: "how many bytes of frames are sent, rounded to whole frames",
            },
            Param::int(
                "repeats",
                1,
                100_000,
                "50",
                "",
                "how often the burst is sent",
            ),
        ],
    },
    quick: &[("repeats", "3")],
    columns: &[
        ("sent_bytes", CellType::Float),
        ("came_mean_bytes", CellType::Float),
        ("came_sd_bytes", CellType::Float),
        ("came_min_bytes", CellType::Float),
        ("came_max_bytes", CellType::Float),
        ("came_while_sent_bytes", CellType::Float),
        ("came_after_bytes", CellType::Float),
        ("lost_percent", CellType::Float),
        ("repeats", CellType::Int),
    ],
    form: Form::Table,
    run,
};

fn run(bench: &mut Bench<'_>, params: &Params) -> Result<Table, Error> {
    bench.each(&ENTRY, |bench, traffic, table| {
        let size = traffic.sizes.mean();
        let frames = (params.bytes("burst") as f64 / size).round().max(1.0);
        let plan = Plan::of(&[burst(frames as u64, bench.line_fps(traffic))?]);
        let count = |observed: &Observation| {
            let came = observed.outcome.forwarded as f64;
            (came, observed.came_after.map(|after| after as f64))
        };
        let repeats = params.int("repeats");
        let counts = bench.repeat(repeats, traffic, &plan, count)?;
        let came: Vec<f64> = counts.iter().map(|(came, _)| came * size).collect();
        let all: Moments = came.iter().copied().collect();
        let after: Moments = counts.iter().filter_map(|(_, after)| *after).collect();
        let after = after.mean().map(|frames| frames * size);
        let sent = frames * size;
        let mut own: Vec<Cell> = vec![sent.into()];
        own.extend(spread(&came));
        own.extend([
            all.mean().zip(after).map(|(all, after)| all - after).into(),
            after.into(),
            all.mean().map(|came| 100.0 * (1.0 - came / sent)).into(),
            repeats.into(),
        ]);
        bench.push(table, traffic, own);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Device, LINE_FPS, made, search, traffic};

    #[test]
    fn a_buffer_gives_after_the_burst_what_it_kept_and_none_gives_nothing() {
        for (buffer, after) in [(200, 201.0), (0, 1.0)] {
            let mut device = Device {
                buffer,
                ..Device::of_capacity(0.5 * LINE_FPS)
            };
            let given = [("repeats", "2"), ("burst", "64000 B")];
            let table = made(&ENTRY, &given, &mut device, &[traffic(64)], search());
            let row = table.rows().next().unwrap();
            let frames = |name: &str| row.float(name).unwrap() / 64.0;
            assert_eq!(frames("sent_bytes"), 1000.0);
            // Half of the thousand frames while they come; then what waits and the one in service.
            assert!(
                (frames("came_while_sent_bytes") - 500.0).abs() <= 1.0,
                "{row:?}"
            );
            assert!((frames("came_after_bytes") - after).abs() <= 1.0, "{row:?}");
            let lost = row.float("lost_percent").unwrap();
            assert!((lost - (50.0 - after / 10.0)).abs() <= 0.2, "{lost}");
        }
    }
}
