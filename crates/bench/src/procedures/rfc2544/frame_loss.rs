//! Frame loss rate: loss ratio at every load from line rate down.
//!
//! # What it does
//! One trial at the rate of the line, then one at each step below it, until two in succession lose
//! nothing. The report's graph has both axes from 0 to 100 %, as the RFC demands, and the load that
//! was offered: a tester that sends less than was intended has tried that load and no other.
//!
//! # References
//! RFC 2544 §26.3; RFC 1242 §3.6.

use super::super::{Bench, Entry, Error, Form, load};
use crate::testbed::Plan;
use trammel_core::entry::{About, Param, Params};
use trammel_stats::table::{CellType, Table};

/// Frame loss in the table of tests.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "frame-loss",
        aliases: &[],
        summary: "loss ratio at every load from line rate down",
        references: &["RFC 2544 §26.3", "RFC 1242 §3.6"],
        params: &[
            //= rfc2544 §26.3
            //# The maximum granularity of the trials MUST be 10% of the maximum rate, a finer
            //# granularity is encouraged.
            Param::float(
                "step",
                0.001,
                0.1,
                "0.1",
                "",
                "step between loads, as a share of line rate",
            ),
            //= rfc2544 §24
            //# The duration of the test portion of each trial SHOULD be at least 60 seconds.
            Param::time("duration", "60 s", "how long a trial is"),
        ],
    },
    quick: &[("duration", "1 s")],
    columns: &[
        ("intended_percent", CellType::Float),
        ("intended_fps", CellType::Float),
        ("offered_percent", CellType::Float),
        ("offered_fps", CellType::Float),
        ("forwarded_fps", CellType::Float),
        ("offered", CellType::Int),
        ("lost", CellType::Int),
        ("loss_percent", CellType::Float),
    ],
    //= rfc2544 §26.3
    //# the X axis MUST be the input frame rate as a percent of the theoretical rate for the media
    //# at the specific frame size. The Y axis MUST be the percent loss at the particular input
    //# rate.
    form: Form::Graph {
        is_percent: true,
        x: "offered_percent",
        lines: &[("loss_percent", "frame loss")],
    },
    run,
};

fn run(bench: &mut Bench<'_>, params: &Params) -> Result<Table, Error> {
    let step = params.float("step");
    bench.each(&ENTRY, |bench, traffic, table| {
        let line = bench.line_fps(traffic);
        let mut lossless = 0;
        for taken in 0..steps(step) {
            let share = 1.0 - f64::from(taken) * step;
            let plan = Plan::of(&[load(share * line, params.time("duration"))?]);
            let outcome = bench.offer(traffic, &plan)?.outcome;
            let offered = outcome.offered_rate();
            let own = vec![
                (100.0 * share).into(),
                (share * line).into(),
                (100.0 * offered / line).into(),
                offered.into(),
                outcome.forwarding_rate().into(),
                outcome.offered.into(),
                outcome.lost().into(),
                (100.0 * outcome.loss_ratio()).into(),
            ];
            bench.push(table, traffic, own);
            //= rfc2544 §26.3
            //# This sequence SHOULD be continued (at reducing 10% intervals) until there are two
            //# successive trials in which no frames are lost.
            lossless = if outcome.lost() == 0 { lossless + 1 } else { 0 };
            if lossless == 2 {
                break;
            }
        }
        Ok(())
    })
}

/// Loads above nothing; a rest that is no more than an error of rounding is nothing.
fn steps(step: f64) -> u32 {
    (1.0 / step - 1e-6).ceil() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Device, LINE_FPS, made, search, traffic};
    use proptest::prelude::*;

    #[test]
    fn a_device_that_forwards_nothing_is_tried_at_every_load_and_a_line_twice() {
        for (capacity, rows) in [(1e-3, 10), (1e9, 2)] {
            let mut device = Device::of_capacity(capacity);
            let given = [("duration", "0.5 s")];
            let table = made(&ENTRY, &given, &mut device, &[traffic(64)], search());
            assert_eq!(table.len(), rows);
            assert_eq!(table.floats("intended_percent").unwrap()[0], 100.0);
        }
        assert_eq!([0.1, 0.05, 0.03, 0.001].map(steps), [10, 20, 34, 1000]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn the_loss_at_each_load_is_what_the_capacity_leaves(share in 0.05..0.95_f64) {
            let mut device = Device::of_capacity(share * LINE_FPS);
            let given = [("duration", "2 s")];
            let table = made(&ENTRY, &given, &mut device, &[traffic(64)], search());
            let mut lossless = 0;
            for row in table.rows() {
                let at = row.float("intended_percent").unwrap() / 100.0;
                let truth = 100.0 * (1.0 - share / at).max(0.0);
                prop_assert!(
                    (row.float("loss_percent").unwrap() - truth).abs() < 0.2, "{} {}", at, truth
                );
                lossless += usize::from(row.int("lost") == Some(0));
            }
            // Those below a twentieth end before two are lossless.
            prop_assert!(lossless == 2 || share < 0.2);
        }
    }
}
