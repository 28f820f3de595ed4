//! Latency of frames at the throughput.
//!
//! # What it does
//! A stream at the throughput rate; one frame is tagged when half of it has been sent, and its
//! latency is the trial's value. The value that is reported is the mean of the repetitions. Where
//! the testbed tags no frames, the mean of all frames of a trial is its value, and `value_of` says
//! so. Least, median, percentiles and most are of all frames of all trials. `latency_of` says which
//! definition of RFC 1242 the times follow.
//!
//! A rate that lost nothing may still be more than the device bears for long, as long as its buffer
//! fills: then latencies grow through a trial and say how long that was. Further tagged frames tell
//! it, and `delays` says so.
//!
//! # References
//! RFC 2544 §26.2; RFC 1242 §3.8.

use super::super::{Bench, Entry, Error, Form, load};
use crate::summary::{latencies, spread, us};
use crate::testbed::{Observation, Plan, Tags, Unable};
use trammel_core::entry::{About, Param, Params};
use trammel_core::time::{Span, Time};
use trammel_stats::histogram::Histogram;
use trammel_stats::table::{Cell, CellType, Table};

/// Latency in the table of tests.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "latency",
        aliases: &[],
        summary: "latency of frames at the throughput",
        references: &["RFC 2544 §26.2", "RFC 1242 §3.8"],
        params: &[
            //= rfc2544 §26.2
            //# The stream SHOULD be at least 120 seconds in duration.
            Param::time("duration", "120 s", "how long the stream is"),
            //= rfc2544 §26.2
            //# An identifying tag SHOULD be included in one frame after 60 seconds
            Param::time("tag_after", "60 s", "time before a frame is tagged"),
            //= rfc2544 §26.2
            //# The test MUST be repeated at least 20 times with the reported value being the
            //# average of the recorded values.
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
        ("latency_mean_us", CellType::Float),
        ("latency_sd_us", CellType::Float),
        ("latency_min_us", CellType::Float),
        ("latency_max_us", CellType::Float),
        ("repeats", CellType::Int),
        ("value_of", CellType::Text),
        ("latency_of", CellType::Text),
        ("delays", CellType::Text),
        ("all_least_us", CellType::Float),
        ("all_median_us", CellType::Float),
        ("all_p99_us", CellType::Float),
        ("all_p999_us", CellType::Float),
        ("all_most_us", CellType::Float),
    ],
    form: Form::Table,
    run,
};

/// Frames that are tagged: the first is the text's, by the others it is seen whether delays grow.
const TAGS: u32 = 5;
/// By what factor the last takes longer than the first where they do: from the middle of a trial to
/// nine tenths of it, delays that grow evenly become 1.8 times as long.
const GROWTH: f64 = 1.3;
/// What is said then.
const GROWING: &str =
    "grow through the trial: the rate is above what the device bears for long, and a buffer fills";

/// Whether each tagged frame took longer than the one before it, and the last by [`GROWTH`].
fn is_growing(tagged: &[Span]) -> bool {
    let is_rising = tagged.windows(2).all(|pair| pair[0] < pair[1]);
    let ends = tagged.first().zip(tagged.last());
    let ends = ends.filter(|_| tagged.len() == TAGS as usize && is_rising);
    ends.is_some_and(|(first, last)| last.as_secs_f64() > GROWTH * first.as_secs_f64())
}

fn run(bench: &mut Bench<'_>, params: &Params) -> Result<Table, Error> {
    let tags = Tags {
        from: Time::ZERO + params.time("tag_after"),
        frames: TAGS,
    };
    bench.at_throughput(&ENTRY, |bench, traffic, fps| {
        let plan = Plan {
            tags: Some(tags),
            ..Plan::of(&[load(fps, params.time("duration"))?])
        };
        let mut all = Histogram::of_times();
        let (mut is_tagged, mut is_rising) = (true, true);
        let value = |observed: &Observation| {
            let latency = observed.outcome.latency.as_ref();
            if let Some(latency) = latency {
                all.merge(latency);
            }
            is_tagged &= !observed.tagged.is_empty();
            is_rising &= is_growing(&observed.tagged);
            let tagged = observed.tagged.first().map(|time| us(*time));
            tagged.or_else(|| Some(latency?.mean()? / 1e6))
        };
        let values = bench.repeat(params.int("repeats"), traffic, &plan, value)?;
        let values: Vec<f64> = values.into_iter().flatten().collect();
        if values.is_empty() {
            return Err(Unable("this testbed does not measure latencies".to_owned()).into());
        }
        let mut own = vec![fps.into()];
        own.extend(spread(&values));
        let value_of = if is_tagged {
            "tagged frame"
        } else {
            "all frames"
        };
        own.extend([
            values.len().into(),
            value_of.into(),
            bench.bed().latency_of().name().into(),
            if is_rising {
                GROWING.into()
            } else {
                Cell::Empty
            },
        ]);
        own.extend(latencies(&all));
        Ok(own)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Device, made, search, traffic};

    #[test]
    fn a_fixed_delay_is_found_and_the_tagged_frame_is_told_from_the_others() {
        let delay = Span::from_us(250);
        let mut device = Device {
            delay,
            // Each second frame takes longer; the tagged one, the hundredth, does not.
            slower: Span::from_us(40),
            buffer: 0,
            ..Device::of_capacity(1e3)
        };
        let given = [
            ("duration", "0.2 s"),
            ("tag_after", "0.1 s"),
            ("repeats", "20"),
        ];
        let table = made(&ENTRY, &given, &mut device, &[traffic(64)], search());
        let row = table.rows().next().unwrap();
        let float = |name: &str| row.float(name).unwrap();
        assert_eq!(
            (float("latency_mean_us"), float("latency_sd_us")),
            (250.0, 0.0)
        );
        assert_eq!(
            (float("all_least_us"), float("all_most_us")),
            (250.0, 290.0)
        );
        assert_eq!(
            (row.int("repeats"), row.text("value_of")),
            (Some(20), "tagged frame")
        );
        assert_eq!(row.text("latency_of"), "sender's stamp to receiver's");
        // Without tags it is the mean of all.
        device.tags = false;
        let table = made(&ENTRY, &given, &mut device, &[traffic(64)], search());
        let row = table.rows().next().unwrap();
        assert!((row.float("latency_mean_us").unwrap() - 270.0).abs() < 0.2);
        assert_eq!(row.text("value_of"), "all frames");
    }

    #[test]
    fn delays_that_grow_because_a_buffer_fills_are_told() {
        // Short trials do not fill the buffer, so that more than the capacity seems to pass.
        for (buffer, says) in [(50_000, true), (0, false)] {
            let mut device = Device {
                buffer,
                ..Device::of_capacity(1e3)
            };
            let given = [
                ("duration", "1 s"),
                ("tag_after", "0.5 s"),
                ("repeats", "2"),
            ];
            let table = made(&ENTRY, &given, &mut device, &[traffic(64)], search());
            let row = table.rows().next().unwrap();
            assert_eq!(
                row.text("delays") == GROWING,
                says,
                "{}",
                row.text("delays")
            );
        }
        let of = |us: [u64; 5]| is_growing(&us.map(Span::from_us));
        assert!(of([500, 600, 700, 800, 900]));
        // A rise that is none, and one that is too little.
        assert!(!of([500, 600, 590, 800, 900]) && !of([500, 501, 502, 503, 504]));
        assert!(!is_growing(&[Span::from_us(1)]));
    }

    #[test]
    fn without_a_throughput_there_is_no_latency() {
        let mut dead = Device::of_capacity(0.1);
        let table = made(
            &ENTRY,
            &[("duration", "1 s")],
            &mut dead,
            &[traffic(64)],
            search(),
        );
        let row = table.rows().next().unwrap();
        assert_eq!((row.float("rate_fps"), row.text("frame")), (None, "64"));
    }
}
