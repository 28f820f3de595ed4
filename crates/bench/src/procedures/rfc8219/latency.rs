//! Typical and worst-case latency: the median and the 99.9th percentile of a stream's latencies,
//! over many streams.
//!
//! # What it does
//! A stream at the throughput rate; 500 frames of its second half are tagged. Of their latencies
//! the median is the *typical* one and the 99.9th percentile the *worst-case* one. Both are
//! reported as the median of the repetitions, with the 1st and 99th percentile. Where the testbed
//! tags no frames, all frames of a stream are in place of them, and `value_of` says so.
//!
//! # References
//! RFC 8219 §7.2; RFC 1242 §3.8.

use super::super::{Bench, Entry, Error, Form, load};
use crate::summary::{middle, us};
use crate::testbed::{Observation, Plan, Tags, Unable};
use trammel_core::Time;
use trammel_core::entry::{About, Param, Params};
use trammel_stats::stats::percentiles;
use trammel_stats::table::{Cell, CellType, Table};

/// Typical and worst-case latency in the table of tests.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "latency-rfc8219",
        aliases: &["typical-latency"],
        summary: "typical and worst-case latency: median and 99.9th percentile of streams at the \
                  throughput",
        references: &["RFC 8219 §7.2", "RFC 1242 §3.8"],
        params: &[
            //= rfc8219 §7.2
            //# The stream SHOULD be at least 120 seconds in duration.
            Param::time("duration", "120 s", "how long a stream is"),
            //= rfc8219 §7.2
            //# Identifying tags SHOULD be included in at least 500 frames after 60 seconds.
            Param::time("tag_after", "60 s", "time before frames are tagged"),
            Param::int(
                "tags",
                1,
                1_000_000,
                "500",
                "",
                "how many frames are tagged",
            ),
            //= rfc8219 §7.2
            //# The test MUST be repeated at least 20 times with the reported value being the median
            //# of the recorded values for TL and WCL.
            Param::int("repeats", 1, 10_000, "20", "", "how often the test is made"),
        ],
    },
    quick: &[
        ("duration", "1 s"),
        ("tag_after", "0.5 s"),
        ("repeats", "3"),
    ],
    columns: &[
        ("rate_fps", CellType::Float),
        ("typical_us", CellType::Float),
        ("typical_p1_us", CellType::Float),
        ("typical_p99_us", CellType::Float),
        ("worst_case_us", CellType::Float),
        ("worst_case_p1_us", CellType::Float),
        ("worst_case_p99_us", CellType::Float),
        ("repeats", CellType::Int),
        ("value_of", CellType::Text),
        ("latency_of", CellType::Text),
    ],
    form: Form::Table,
    run,
};

fn run(bench: &mut Bench<'_>, params: &Params) -> Result<Table, Error> {
    let tags = Tags {
        from: Time::ZERO + params.time("tag_after"),
        frames: u32::try_from(params.int("tags")).expect("the range of `tags` is that of a u32"),
    };
    bench.at_throughput(&ENTRY, |bench, traffic, fps| {
        let plan = Plan {
            tags: Some(tags),
            ..Plan::of(&[load(fps, params.time("duration"))?])
        };
        let mut is_tagged = true;
        let value = |observed: &Observation| {
            is_tagged &= !observed.tagged.is_empty();
            typical_and_worst(observed)
        };
        let values = bench.repeat(params.int("repeats"), traffic, &plan, value)?;
        let values: Vec<_> = values.into_iter().flatten().collect();
        if values.is_empty() {
            return Err(Unable("this testbed does not measure latencies".to_owned()).into());
        }
        let (typical, worst): (Vec<f64>, Vec<f64>) = values.into_iter().unzip();
        let mut own: Vec<Cell> = vec![fps.into()];
        own.extend(middle(&typical));
        own.extend(middle(&worst));
        let value_of = if is_tagged {
            "tagged frames"
        } else {
            "all frames"
        };
        own.extend([
            typical.len().into(),
            value_of.into(),
            bench.bed().latency_of().name().into(),
        ]);
        Ok(own)
    })
}

/// Median and 99.9th percentile of a stream, us.
//= rfc8219 §7.2
//# TL = Median(Li)
fn typical_and_worst(observed: &Observation) -> Option<(f64, f64)> {
    let tagged: Vec<f64> = observed.tagged.iter().map(|time| us(*time)).collect();
    let found = percentiles(&tagged, &[50.0, 99.9]).map(|found| (found[0], found[1]));
    let all = observed.outcome.latency.as_ref();
    let of_all = |fraction| Some(us(all?.quantile_time(fraction)?));
    found.or_else(|| of_all(0.5).zip(of_all(0.999)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Device, made, search, traffic};
    use trammel_core::Span;

    #[test]
    fn the_median_and_the_worst_of_a_known_delay_are_found() {
        // Every other frame takes 40 us more, and the median is the mean of the two in the middle.
        let mut device = Device {
            delay: Span::from_us(250),
            slower: Span::from_us(40),
            buffer: 0,
            ..Device::of_capacity(5e3)
        };
        let given = [
            ("duration", "1 s"),
            ("tag_after", "0.5 s"),
            ("repeats", "5"),
            ("tags", "499"),
        ];
        for (tags, value_of) in [(true, "tagged frames"), (false, "all frames")] {
            device.tags = tags;
            let table = made(&ENTRY, &given, &mut device, &[traffic(64)], search());
            let row = table.rows().next().unwrap();
            assert_eq!(
                (row.text("value_of"), row.int("repeats")),
                (value_of, Some(5))
            );
            let near = |name: &str, low: f64, high: f64| {
                let found = row.float(name).unwrap();
                assert!((low..=high).contains(&found), "{name} {found}");
            };
            near("typical_us", 249.9, 290.1);
            near("worst_case_us", 289.9, 290.1);
            assert_eq!(row.float("worst_case_us"), row.float("worst_case_p99_us"));
        }
    }
}
