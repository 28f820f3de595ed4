//! System recovery: time until losses end after an overload.
//!
//! # What it does
//! A stream above the throughput, then, without a pause, half of that. The recovery time is from
//! the fall of the load to the last frame that was lost, and none where no frame was lost after it.
//! Timestamp B is the later one: the RFC's sentence subtracts them the other way round.
//!
//! # References
//! RFC 2544 §26.5.

use super::super::{Bench, Entry, Error, Form, load};
use crate::summary::{ms, spread};
use crate::testbed::{Observation, Plan, Unable};
use trammel_core::entry::{About, Param, Params};
use trammel_core::time::{Span, Time};
use trammel_stats::table::{CellType, Table};

/// System recovery in the table of tests.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "system-recovery",
        aliases: &["recovery"],
        summary: "time until losses end after an overload",
        references: &["RFC 2544 §26.5"],
        params: &[
            //= rfc2544 §26.5
            //# Send a stream of frames at a rate 110% of the recorded throughput rate or the
            //# maximum rate for the media, whichever is lower, for at least 60 seconds.
            Param::float(
                "overload",
                1.0,
                10.0,
                "1.1",
                "",
                "the overload, as a share of the throughput",
            ),
            Param::time("duration", "60 s", "how long it is overloaded"),
            Param::time(
                "watch",
                "30 s",
                "how long to observe it at half of that load",
            ),
            //= rfc2544 §26.5
            //# The test SHOULD be repeated a number of times and the average of the recorded values
            //# being reported.
            Param::int("repeats", 1, 10_000, "10", "", "how often the test is made"),
        ],
    },
    quick: &[("duration", "1 s"), ("watch", "1 s"), ("repeats", "3")],
    columns: &[
        ("throughput_fps", CellType::Float),
        ("overload_fps", CellType::Float),
        ("recovery_mean_ms", CellType::Float),
        ("recovery_sd_ms", CellType::Float),
        ("recovery_min_ms", CellType::Float),
        ("recovery_max_ms", CellType::Float),
        ("repeats", CellType::Int),
        ("lossless", CellType::Int),
        ("unrecovered", CellType::Int),
    ],
    form: Form::Table,
    run,
};

/// How a trial ended.
enum Ending {
    /// Nothing was lost: there was no overload.
    Lossless,
    /// Frames were lost to the end.
    Unrecovered,
    /// It recovered after so long, ms.
    After(f64),
}

fn run(bench: &mut Bench<'_>, params: &Params) -> Result<Table, Error> {
    let (overloaded, watch) = (params.time("duration"), params.time("watch"));
    bench.at_throughput(&ENTRY, |bench, traffic, fps| {
        let high = (params.float("overload") * fps).min(bench.line_fps(traffic));
        //= rfc2544 §26.5
        //# At Timestamp A reduce the frame rate to 50% of the above rate and record the time of the
        //# last frame lost (Timestamp B).
        let half = load(high / 2.0, watch)?;
        let plan = Plan::of(&[load(high, overloaded)?, half]);
        // Losses in the last hundredth, or within ten frames of the end, have not ended.
        let rest = (watch / 100).max(Span::from_secs_f64(10.0 / half.frames_per_second()));
        let limit = Time::ZERO + plan.duration().saturating_sub(rest);
        let overloaded = Time::ZERO + overloaded;
        let ending = |observed: &Observation| match observed.last_lost {
            _ if observed.outcome.lost() == 0 => Ok(Ending::Lossless),
            None => Err(Unable(
                "this testbed does not report when frames were lost".to_owned(),
            )),
            Some(at) if at >= limit => Ok(Ending::Unrecovered),
            Some(at) => Ok(Ending::After(ms(at.saturating_since(overloaded)))),
        };
        let repeats = params.int("repeats");
        let (mut lossless, mut unrecovered, mut times) = (0_u64, 0_u64, Vec::new());
        for ending in bench.repeat(repeats, traffic, &plan, ending)? {
            match ending? {
                Ending::Lossless => lossless += 1,
                Ending::Unrecovered => unrecovered += 1,
                Ending::After(time) => times.push(time),
            }
        }
        let mut own = vec![fps.into(), high.into()];
        own.extend(spread(&times));
        own.extend([repeats.into(), lossless.into(), unrecovered.into()]);
        Ok(own)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Device, LINE_FPS, made, search, traffic};
    use proptest::prelude::*;

    const GIVEN: [(&str, &str); 3] = [("duration", "2 s"), ("watch", "2 s"), ("repeats", "2")];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn the_time_that_a_device_takes_is_found(
            share in 0.3..0.85_f64, hangover_ms in 0..1500_u64
        ) {
            let mut device = Device {
                hangover: Span::from_ms(hangover_ms), ..Device::of_capacity(share * LINE_FPS)
            };
            let table = made(&ENTRY, &GIVEN, &mut device, &[traffic(64)], search());
            let row = table.rows().next().unwrap();
            let half = row.float("overload_fps").unwrap() / 2.0;
            let found = row.float("recovery_mean_ms").unwrap();
            // It loses each second frame meanwhile.
            prop_assert!(
                (found - hangover_ms as f64).abs() <= 2e3 / half + 1.0, "{} {}", found, hangover_ms
            );
            prop_assert_eq!((row.int("lossless"), row.int("unrecovered")), (Some(0), Some(0)));
        }
    }

    #[test]
    fn what_never_recovers_and_what_is_never_overloaded_have_no_time() {
        let endless = Device {
            hangover: Span::from_secs(60),
            ..Device::of_capacity(0.5 * LINE_FPS)
        };
        let fast = Device::of_capacity(1e9);
        for (mut device, lossless, unrecovered) in [(endless, 0, 2), (fast, 2, 0)] {
            let table = made(&ENTRY, &GIVEN, &mut device, &[traffic(64)], search());
            let row = table.rows().next().unwrap();
            assert_eq!(row.float("recovery_mean_ms"), None);
            let counts = (row.int("lossless"), row.int("unrecovered"));
            assert_eq!(counts, (Some(lossless), Some(unrecovered)));
        }
    }
}
