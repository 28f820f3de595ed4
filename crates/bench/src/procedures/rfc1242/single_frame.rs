//! Single-frame behaviour: whether a frame that comes alone is forwarded, and how much longer it
//! takes than one of many.
//!
//! # What it does
//! One frame, again and again, each after the device has been at rest; then a steady stream for
//! comparison. Caches, sleeping processors and interrupts that wait for more frames show as the
//! difference of the two.
//!
//! # References
//! RFC 1242 §3.16; Linguaglossa, Lombardo, Reforgiato, Schembra, "Performance Comparison between
//! the Click Modular Router and the NetFPGA Router", §5.6 and figure 7.

use super::super::{Bench, Entry, Error, Form, burst, load};
use crate::summary::{latencies, us};
use crate::testbed::{Observation, Plan, Tags};
use trammel_core::entry::{About, Param, Params};
use trammel_core::time::Time;
use trammel_stats::histogram::Histogram;
use trammel_stats::table::{Cell, CellType, Table};

/// Single-frame behaviour in the table of tests.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "single-frame",
        aliases: &[],
        summary: "latency of a frame on an idle device, compared with a steady stream",
        references: &[
            "RFC 1242 §3.16",
            "Linguaglossa et al., Click against NetFPGA, §5.6",
        ],
        params: &[
            // "for each frame size we repeated the test over 1000 runs" (the paper).
            Param::int(
                "repeats",
                1,
                100_000,
                "1000",
                "",
                "how often a frame is sent",
            ),
            Param::float(
                "steady",
                0.001,
                1.0,
                "0.5",
                "",
                "load of the stream for comparison, as a share of the throughput",
            ),
            Param::time("steady_duration", "10 s", "how long that stream is"),
        ],
    },
    quick: &[("repeats", "10"), ("steady_duration", "1 s")],
    columns: &[
        ("latency_mean_us", CellType::Float),
        ("latency_least_us", CellType::Float),
        ("latency_median_us", CellType::Float),
        ("latency_p99_us", CellType::Float),
        ("latency_p999_us", CellType::Float),
        ("latency_most_us", CellType::Float),
        ("steady_median_us", CellType::Float),
        ("trials", CellType::Int),
        ("lost", CellType::Int),
        ("latency_of", CellType::Text),
    ],
    form: Form::Graph {
        is_percent: false,
        x: "frame_bytes",
        lines: &[
            ("latency_mean_us", "single frame"),
            ("steady_median_us", "steady stream"),
        ],
    },
    run,
};

/// Frames of the steady stream whose latencies are told.
const STEADY_TAGS: u32 = 1000;

fn tags(frames: u32) -> Tags {
    Tags {
        from: Time::ZERO,
        frames,
    }
}

/// The latencies of the tagged frames, or of all where the testbed tags none: both are then timed
/// by the same.
fn timed(observed: &Observation) -> Option<Histogram> {
    if observed.tagged.is_empty() {
        return observed.outcome.latency.clone();
    }
    let mut latency = Histogram::of_times();
    for one in &observed.tagged {
        latency.record_time(*one);
    }
    Some(latency)
}

fn run(bench: &mut Bench<'_>, params: &Params) -> Result<Table, Error> {
    bench.each(&ENTRY, |bench, traffic, table| {
        let plan = Plan {
            tags: Some(tags(1)),
            ..Plan::of(&[burst(1, bench.line_fps(traffic))?])
        };
        let (mut latency, mut lost) = (Histogram::of_times(), 0);
        let each = |observed: &Observation| {
            lost += observed.outcome.lost();
            if let Some(one) = timed(observed) {
                latency.merge(&one);
            }
        };
        let trials = bench.repeat(params.int("repeats"), traffic, &plan, each)?;
        let steady = match bench.throughput_fps(traffic)? {
            Some(fps) => {
                let stream = load(params.float("steady") * fps, params.time("steady_duration"))?;
                let plan = Plan {
                    tags: Some(tags(STEADY_TAGS)),
                    ..Plan::of(&[stream])
                };
                timed(&bench.offer(traffic, &plan)?).and_then(|all| all.quantile_time(0.5))
            }
            None => None,
        };
        let mut own: Vec<Cell> = vec![latency.mean().map(|ps| ps / 1e6).into()];
        own.extend(latencies(&latency));
        own.extend([
            steady.map(us).into(),
            trials.len().into(),
            lost.into(),
            bench.bed().latency_of().name().into(),
        ]);
        bench.push(table, traffic, own);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Device, made, search, traffic};
    use trammel_core::Span;

    #[test]
    fn what_a_first_frame_takes_is_told_from_what_a_stream_takes() {
        let mut device = Device {
            delay: Span::from_us(20),
            first: Span::from_us(500),
            ..Device::of_capacity(1e3)
        };
        let given = [("repeats", "30"), ("steady_duration", "1 s")];
        let table = made(
            &ENTRY,
            &given,
            &mut device,
            &[traffic(64), traffic(1518)],
            search(),
        );
        for row in table.rows() {
            assert_eq!((row.int("trials"), row.int("lost")), (Some(30), Some(0)));
            assert_eq!(row.float("latency_mean_us"), Some(520.0));
            let steady = row.float("steady_median_us").unwrap();
            assert!((steady - 20.0).abs() < 0.1, "{steady}");
        }
        // One that gives up the first frame, to ask where it should go.
        device.capacity_fps = 1e-9;
        device.is_deaf = true;
        let table = made(&ENTRY, &given, &mut device, &[traffic(64)], search());
        let row = table.rows().next().unwrap();
        assert_eq!(
            (row.int("lost"), row.float("latency_mean_us")),
            (Some(30), None)
        );
    }
}
