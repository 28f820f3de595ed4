//! Inter-packet delay variation: differences between delays of successive frames, over many
//! streams.
//!
//! # What it does
//! Streams at the throughput rate, of which least, median and most of the differences are taken. Of
//! each of the three the median of the repetitions is reported. A testbed must measure the
//! differences itself: they are not in the distribution of the delays.
//!
//! # References
//! RFC 8219 §7.3.2; RFC 5481; RFC 3393.

use super::super::{Bench, Entry, Error, Form, load};
use crate::summary::{middle, ms};
use crate::testbed::{Observation, Plan, Unable, Variation};
use trammel_core::entry::{About, Param, Params};
use trammel_stats::table::{Cell, CellType, Table};

/// IPDV in the table of tests.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "ipdv",
        aliases: &[],
        summary: "inter-packet delay variation: differences between delays of successive frames",
        references: &["RFC 8219 §7.3.2", "RFC 5481", "RFC 3393"],
        params: &[
            //= rfc8219 §7.3.2
            //# The stream SHOULD be at least 60 seconds in duration.
            Param::time("duration", "60 s", "how long a stream is"),
            //= rfc8219 §7.3.2
            //# The test MUST be repeated at least 20 times.
            Param::int("repeats", 1, 10_000, "20", "", "how often the test is made"),
        ],
    },
    quick: &[("duration", "1 s"), ("repeats", "3")],
    columns: &[
        ("rate_fps", CellType::Float),
        ("ipdv_min_ms", CellType::Float),
        ("ipdv_median_ms", CellType::Float),
        ("ipdv_max_ms", CellType::Float),
        ("repeats", CellType::Int),
    ],
    form: Form::Table,
    run,
};

fn run(bench: &mut Bench<'_>, params: &Params) -> Result<Table, Error> {
    bench.at_throughput(&ENTRY, |bench, traffic, fps| {
        let plan = Plan::of(&[load(fps, params.time("duration"))?]);
        let ends = |observed: &Observation| match &observed.variation {
            Some(variation) => Ok([0.0, 0.5, 1.0].map(|fraction| at(variation, fraction))),
            None => Err(Unable(
                "this testbed does not measure differences between delays of successive frames"
                    .to_owned(),
            )),
        };
        let values = bench.repeat(params.int("repeats"), traffic, &plan, ends)?;
        let values: Vec<_> = values.into_iter().collect::<Result<_, _>>()?;
        //= rfc8219 §7.3.2
        //# for each of the three (Dmin, Dmed, and Dmax), the median value SHOULD be reported.
        let median = |which: usize| -> Cell {
            let each: Vec<f64> = values.iter().filter_map(|ends| ends[which]).collect();
            let [median, ..] = middle(&each);
            median
        };
        Ok(vec![
            fps.into(),
            median(0),
            median(1),
            median(2),
            values.len().into(),
        ])
    })
}

/// The difference that the share `fraction` of all do not exceed, ms; none of no differences.
fn at(variation: &Variation, fraction: f64) -> Option<f64> {
    let Variation { less, more } = variation;
    let (negative, positive) = (less.count() as f64, more.count() as f64);
    let rank = fraction * (negative + positive);
    // The histogram of what is less runs the other way: its largest is the least difference.
    let of_less = |rank: f64| less.quantile_time(1.0 - (rank / negative).clamp(0.0, 1.0));
    let of_more = |rank: f64| more.quantile_time((rank / positive).clamp(0.0, 1.0));
    if rank < negative || positive == 0.0 {
        return Some(-ms(of_less(rank)?));
    }
    Some(ms(of_more(rank - negative)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Device, made, refused, search, traffic};
    use proptest::prelude::*;
    use trammel_core::Span;
    use trammel_stats::histogram::Histogram;

    #[test]
    fn every_other_frame_later_is_as_much_more_as_less() {
        let mut device = Device {
            delay: Span::from_us(250),
            slower: Span::from_us(40),
            buffer: 0,
            ..Device::of_capacity(5e3)
        };
        let given = [("duration", "0.5 s"), ("repeats", "3")];
        let table = made(&ENTRY, &given, &mut device, &[traffic(64)], search());
        let row = table.rows().next().unwrap();
        let near = |name: &str, truth: f64| {
            let found = row.float(name).unwrap();
            assert!((found - truth).abs() < 1e-4, "{name} {found}");
        };
        near("ipdv_min_ms", -0.04);
        near("ipdv_max_ms", 0.04);
        assert_eq!(row.float("ipdv_median_ms").unwrap().abs(), 0.04);
        device.varies = false;
        let said = refused(&ENTRY, &[("duration", "0.5 s")], &mut device);
        assert_eq!(
            said,
            "this testbed does not measure differences between delays of successive frames"
        );
    }

    proptest! {
        #[test]
        fn quantiles_over_both_signs_are_those_of_the_numbers(
            mut differences in prop::collection::vec(-100_000..100_000_i64, 1..60),
        ) {
            let mut variation = Variation {
                less: Histogram::of_times(), more: Histogram::of_times()
            };
            for us in &differences {
                let side = if *us < 0 { &mut variation.less } else { &mut variation.more };
                side.record_time(Span::from_us(us.unsigned_abs()));
            }
            differences.sort_unstable();
            for (fraction, index) in [(0.0, 0), (1.0, differences.len() - 1)] {
                let found = at(&variation, fraction).unwrap();
                let truth = differences[index] as f64 / 1e3;
                prop_assert!((found - truth).abs() <= 1e-3 * truth.abs(), "{} {}", found, truth);
            }
            // In the middle, one of the two neighbours, to three digits or to the nanosecond from
            // which histograms tell times apart.
            let found = at(&variation, 0.5).unwrap();
            let middle = differences.len() / 2;
            let is_near = |at: usize| {
                let truth = differences[at] as f64 / 1e3;
                (found - truth).abs() <= 1e-3 * truth.abs() + 1e-6
            };
            prop_assert!(
                is_near(middle) || is_near(middle.saturating_sub(1)), "{} {:?}", found, differences
            );
        }
    }
}
