//! Back-to-back frames: the longest burst at minimum gap without loss, and the buffer that it
//! implies.
//!
//! # What it does
//! Only where the throughput is below what the media carry is there a burst that overflows a
//! buffer: other sizes have a row that says so. Elsewhere a binary search with loss verification
//! over the length of the burst is made anew for each repetition. Of a device that is a buffer
//! before a processor, the burst is longer than the buffer, since frames leave it meanwhile; the
//! *corrected* time takes them out. A burst that was as long as was tried, or that the tester made
//! slower than the line, filled no buffer: none is implied then.
//!
//! ```text
//! implied   = mean burst / line rate
//! corrected = implied − implied · throughput / line rate
//! ```
//!
//! # References
//! RFC 9004, which updates RFC 2544 §26.4; RFC 1242 §3.1.

use super::super::{Bench, Entry, Error, Form, burst};
use crate::search::Verdict;
use crate::search::whole::Whole;
use crate::summary::spread;
use crate::testbed::{Observation, Plan, Traffic};
use trammel_core::entry::{About, Param, Params};
use trammel_core::time::Span;
use trammel_stats::stats::Moments;
use trammel_stats::table::{Cell, CellType, Table};

/// Back-to-back frames in the table of tests.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "back-to-back",
        aliases: &[],
        summary: "the longest burst at minimum gap without loss, and the buffer that it implies",
        references: &["RFC 9004", "RFC 2544 §26.4", "RFC 1242 §3.1"],
        params: &[
            //= rfc9004 §6.2
            //# The upper search limit for the time to send each burst MUST be configurable to
            //# values as high as 30 seconds
            Param::time("longest", "2 s", "the longest burst to try"),
            //= rfc9004 §6.2
            //# The tester usually imposes a (configurable) minimum step size for burst length, and
            //# the step size MUST be reported with the results
            Param::int(
                "step",
                1,
                1_000_000,
                "1",
                "frames",
                "precision of the burst length",
            ),
            Param::int(
                "verifications",
                0,
                10,
                "2",
                "",
                "how often to repeat a lossy burst",
            ),
            //= rfc2544 §26.4
            //# The trial length MUST be at least 2 seconds and SHOULD be repeated at least 50 times
            //# with the average of the recorded values being reported.
            Param::int(
                "repeats",
                1,
                10_000,
                "50",
                "",
                "how often the search is made",
            ),
        ],
    },
    quick: &[
        ("longest", "0.2 s"),
        ("step", "16"),
        ("verifications", "1"),
        ("repeats", "3"),
    ],
    columns: &[
        ("burst_mean_frames", CellType::Float),
        ("burst_sd_frames", CellType::Float),
        ("burst_min_frames", CellType::Float),
        ("burst_max_frames", CellType::Float),
        ("implied_buffer_us", CellType::Float),
        ("corrected_buffer_us", CellType::Float),
        ("throughput_fps", CellType::Float),
        ("line_fps", CellType::Float),
        ("repeats", CellType::Int),
        ("step_frames", CellType::Int),
        ("verifications", CellType::Int),
        ("longest_frames", CellType::Int),
        ("verdict", CellType::Text),
    ],
    form: Form::Table,
    run,
};

/// By what factor a burst may last longer than the line's rate has it.
const SLOW: f64 = 1.05;
/// The shortest burst whose length can be told: of a shorter one, when its thread had its turn is
/// the most of it.
const LEAST_TOLD: Span = Span::from_us(200);
/// Where all bursts of a traffic pass.
const INFINITE: &str = "throughput is the line's rate: no burst overflows a buffer";
/// Where the longest burst passed in a repetition.
const AT_LONGEST: &str = "invalid: the longest burst passed; raise `longest`";
/// Where the tester is slower than the line.
const TESTERS: &str = "limited by the tester: its bursts are slower than the line's rate";
/// Where a single frame was lost in a repetition.
const NONE: &str = "a single frame is lost";

fn run(bench: &mut Bench<'_>, params: &Params) -> Result<Table, Error> {
    bench.each(&ENTRY, |bench, traffic, table| {
        let found = bench.throughput(traffic)?;
        let line = bench.line_fps(traffic);
        let longest = (params.time("longest").as_secs_f64() * line)
            .floor()
            .max(1.0) as u64;
        let step = params.int("step").unsigned_abs();
        let verifications = params.int("verifications").unsigned_abs();
        //= rfc9004 §6.1
        //# select the subset of frame sizes whose Measured Throughput (during prerequisite testing)
        //# was less than the Max Theoretical Frame Rate of the DUT/test setup.
        let (bursts, verdict) = if found.verdict == Verdict::PassedAtMost {
            (Vec::new(), INFINITE)
        } else if found.verdict == Verdict::Tester {
            // A burst at the pace of the tester fills no buffer, however long it is.
            (Vec::new(), TESTERS)
        } else {
            let search = Whole {
                least: 1,
                most: longest,
                step,
                verifications,
            };
            repeated(bench, traffic, params.int("repeats"), &search)?
        };
        let mean: Option<f64> = bursts.iter().copied().collect::<Moments>().mean();
        //= rfc9004 §6.4
        //# Implied DUT buffer time = Average num of Back-to-back Frames / Max Theoretical Frame
        //# Rate
        // A burst that was not the longest to pass, or was none at the line's rate, implies none.
        let is_burst = ![AT_LONGEST, TESTERS].contains(&verdict);
        let implied = mean.filter(|_| is_burst).map(|frames| frames / line);
        let corrected = implied
            .zip(found.lower)
            .map(|(time, fps)| time - time * fps / line);
        let in_us = |time: Option<f64>| Cell::from(time.map(|s| s * 1e6));
        let mut own = Vec::from(spread(&bursts));
        own.extend([
            in_us(implied),
            in_us(corrected),
            found.lower.into(),
            line.into(),
            bursts.len().into(),
            step.into(),
            verifications.into(),
            longest.into(),
            verdict.into(),
        ]);
        bench.push(table, traffic, own);
        Ok(())
    })
}

/// The longest burst of each repetition, and what is to be said of them.
fn repeated(
    bench: &mut Bench<'_>,
    traffic: &Traffic,
    repeats: i64,
    search: &Whole,
) -> Result<(Vec<f64>, &'static str), Error> {
    let line = bench.line_fps(traffic);
    let (mut bursts, mut verdict) = (Vec::new(), "found");
    for _ in 0..repeats {
        //= rfc9004 §6.3
        //# Each of the repeated tests completes an independent search process.
        // The longest that passed, and whether it was slower than the line.
        let mut longest = (0, false);
        let found = search.search(|frames| {
            let plan = Plan::of(&[burst(frames, line)?]);
            let observed = bench.offer(traffic, &plan)?;
            let has_passed = observed.outcome.lost() == 0;
            if has_passed && frames >= longest.0 {
                longest = (frames, is_slow(&plan, &observed));
            }
            Ok::<_, Error>(has_passed)
        })?;
        // A burst of none is what is left where not even a single frame passes.
        bursts.push(found.passed.unwrap_or(0) as f64);
        if longest.1 {
            verdict = TESTERS;
        } else if found.failed.is_none() {
            verdict = AT_LONGEST;
        } else if found.passed.is_none() {
            verdict = NONE;
        }
    }
    Ok((bursts, verdict))
}

/// Whether the tester took longer for a burst than the line: where so short a time can be told.
fn is_slow(plan: &Plan, observed: &Observation) -> bool {
    let due = plan.duration();
    let took = observed.sending.unwrap_or(due);
    due >= LEAST_TOLD && took.as_secs_f64() > due.as_secs_f64() * SLOW
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Device, LINE_FPS, made, search, traffic};
    use crate::procedures::Search;
    use crate::testbed::Testbed;
    use crate::trial::Failure;
    use proptest::prelude::*;
    use trammel_core::label::Label;

    const GIVEN: [(&str, &str); 2] = [("repeats", "2"), ("longest", "3 s")];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10))]
        #[test]
        fn the_corrected_time_is_that_of_the_buffer(
            share in 0.2..0.8_f64, buffer in 10..300_usize
        ) {
            let mut device = Device { buffer, ..Device::of_capacity(share * LINE_FPS) };
            let exact = Search {
                width: 1e-4, duration: Span::from_secs(10), final_duration: Span::from_secs(10),
                ..search()
            };
            let table = made(&ENTRY, &GIVEN, &mut device, &[traffic(64)], exact);
            let row = table.rows().next().unwrap();
            let float = |name: &str| row.float(name).unwrap();
            // The frame that is in service is kept too.
            let kept = (buffer + 1) as f64;
            let truth = kept / (1.0 - share);
            prop_assert!(
                (float("burst_mean_frames") - truth).abs() <= 1.0 + 1.0 / (1.0 - share), "{} {}",
                float("burst_mean_frames"), truth
            );
            let corrected = float("corrected_buffer_us") * LINE_FPS / 1e6;
            prop_assert!((corrected / kept - 1.0).abs() < 0.12, "{} {}", corrected, kept);
            prop_assert_eq!(row.text("verdict"), "found");
        }
    }

    #[test]
    fn sizes_that_the_device_keeps_up_with_are_left_out_and_endless_bursts_are_invalid() {
        let mut fast = Device::of_capacity(1e9);
        let table = made(&ENTRY, &GIVEN, &mut fast, &[traffic(64)], search());
        let row = table.rows().next().unwrap();
        assert_eq!(
            (row.text("verdict"), row.int("repeats")),
            (INFINITE, Some(0))
        );
        // It keeps more than the longest burst has and is slow all the same.
        let mut deep = Device {
            buffer: 40_000,
            ..Device::of_capacity(0.5 * LINE_FPS)
        };
        let long = Search {
            duration: Span::from_secs(60),
            ..search()
        };
        let table = made(&ENTRY, &GIVEN, &mut deep, &[traffic(64)], long);
        let row = table.rows().next().unwrap();
        assert_eq!(row.text("verdict"), AT_LONGEST);
        assert_eq!(row.float("burst_mean_frames"), Some(3.0 * LINE_FPS));
        assert_eq!(row.float("implied_buffer_us"), None);
    }

    /// A device behind a tester that needs so much longer for a burst than the line.
    #[derive(Debug)]
    struct Slow(Device, f64);

    impl Testbed for Slow {
        fn label(&self) -> Label {
            self.0.label()
        }
        fn device(&self) -> String {
            self.0.device()
        }
        fn line_fps(&self, traffic: &Traffic) -> f64 {
            self.0.line_fps(traffic)
        }
        fn offer(&mut self, traffic: &Traffic, plan: &Plan) -> Result<Observation, Failure> {
            let took = Span::from_secs_f64(plan.duration().as_secs_f64() * self.1);
            Ok(Observation {
                sending: Some(took),
                ..self.0.offer(traffic, plan)?
            })
        }
    }

    #[test]
    fn a_burst_that_the_tester_makes_slower_than_the_line_implies_no_buffer() {
        let device = Device {
            buffer: 300,
            ..Device::of_capacity(0.5 * LINE_FPS)
        };
        for (factor, verdict) in [(1.0, "found"), (1.5, TESTERS)] {
            let mut slow = Slow(device.clone(), factor);
            let table = made(&ENTRY, &GIVEN, &mut slow, &[traffic(64)], search());
            let row = table.rows().next().unwrap();
            assert_eq!(row.text("verdict"), verdict);
            let is_told = row.float("implied_buffer_us").is_some();
            assert_eq!(is_told, factor == 1.0);
        }
    }
}
