//! Reset: outage after a reset, for each kind of reset that the testbed can cause.
//!
//! # What it does
//! A stream of the smallest frames at the throughput rate; 15 s on, a reset. Its length is told by
//! the frames that were lost and by the time stamps of the frames before and after it, each the
//! mean of the repetitions. The seconds for which the power is off do not count: 15 s are taken
//! from the time of a power interruption.
//!
//! # References
//! RFC 6201, which updates RFC 2544 §26.6.

use super::super::{Bench, Entry, Error, Form};
use crate::resets::{Course, Interruption, caused, tabulate, taxonomy};
use crate::summary::spread;
use trammel_core::entry::{About, Param, Params};
use trammel_stats::stats::Moments;
use trammel_stats::table::{Cell, CellType, Table};

/// Reset in the table of tests.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "reset",
        aliases: &[],
        summary: "outage after a reset",
        references: &["RFC 6201", "RFC 2544 §26.6"],
        params: &[
            //= rfc6201 §4.1.1.1
            //# ensure that the DUT is able to forward the traffic for at least 15 seconds before
            //# any test activities are performed.
            Param::time("before", "15 s", "how long it forwards before the reset"),
            Param::time("watch", "180 s", "the longest reset that can be observed"),
            //= rfc6201 §1.4
            //# It is RECOMMENDED to perform multiple trials and report average results.
            Param::int("repeats", 1, 10_000, "5", "", "repetitions of each reset"),
        ],
    },
    quick: &[("before", "1 s"), ("watch", "30 s"), ("repeats", "1")],
    columns: &[
        ("reset", CellType::Text),
        ("type", CellType::Text),
        ("throughput_fps", CellType::Float),
        ("throughput_mbps", CellType::Float),
        ("loss_mean_frames", CellType::Float),
        ("reset_time_by_loss_ms", CellType::Float),
        ("reset_time_ms", CellType::Float),
        ("reset_time_sd_ms", CellType::Float),
        ("reset_time_min_ms", CellType::Float),
        ("reset_time_max_ms", CellType::Float),
        ("trials", CellType::Int),
        ("unrecovered", CellType::Int),
        ("result", CellType::Text),
    ],
    //= rfc6201 §1.4
    //# All reset results are reported in a simple statement including the frame loss (if measured)
    //# and reset times.
    form: Form::Statements,
    run,
};

/// For how long the power is off, ms.
//= rfc6201 §4.3.1
//# For easier comparison with other testing, 15 seconds are removed from the reported reset time.
const POWER_OFF_MS: f64 = 15e3;

fn run(bench: &mut Bench<'_>, params: &Params) -> Result<Table, Error> {
    tabulate(bench, &ENTRY, |bench, traffic, kind, fps| {
        let course = Course {
            fps,
            before: params.time("before"),
            watch: params.time("watch"),
        };
        let all = caused(bench, params.int("repeats"), traffic, kind, course)?;
        let off = if taxonomy(kind).starts_with("power") {
            POWER_OFF_MS
        } else {
            0.0
        };
        let over: Vec<&Interruption> = all.iter().filter(|one| one.is_over).collect();
        let each = |of: fn(&Interruption) -> f64| -> Vec<f64> {
            over.iter().map(|one| (of(one) - off).max(0.0)).collect()
        };
        let lost: Moments = over.iter().map(|one| one.lost as f64).collect();
        let by_loss: Moments = each(|one| one.by_loss_ms).into_iter().collect();
        let result = match over.len() {
            0 => "it does not forward again while it is observed",
            //= rfc6201 §3
            //# In this case, only "no loss" is reported.
            _ if all.iter().all(|one| one.lost == 0) => "no loss",
            _ => "it forwards again",
        };
        let mut own: Vec<Cell> = vec![
            kind.into(),
            taxonomy(kind).into(),
            fps.into(),
            (fps * traffic.sizes.mean() * 8.0 / 1e6).into(),
            lost.mean().into(),
            by_loss.mean().into(),
        ];
        own.extend(spread(&each(Interruption::ms)));
        own.extend([
            all.len().into(),
            (all.len() - over.len()).into(),
            result.into(),
        ]);
        Ok(own)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Device, LINE_FPS, made, refused, search, traffic};
    use proptest::prelude::*;
    use trammel_core::Span;

    const GIVEN: [(&str, &str); 3] = [("before", "0.5 s"), ("watch", "2 s"), ("repeats", "2")];

    fn device(outage: Span, resets: &'static [&'static str]) -> Device {
        Device {
            outage,
            resets,
            ..Device::of_capacity(0.5 * LINE_FPS)
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn both_methods_find_the_outage(outage_ms in 1..1900_u64) {
            let mut device = device(Span::from_ms(outage_ms), &["software-os", "button"]);
            let table = made(&ENTRY, &GIVEN, &mut device, &[traffic(512), traffic(64)], search());
            prop_assert_eq!(table.len(), 2);
            for row in table.rows() {
                // The smallest frames only; one frame is lost for each gap, and stamps lie a gap
                // apart.
                prop_assert_eq!(row.text("frame"), "64");
                let gap_ms = 1e3 / row.float("throughput_fps").unwrap();
                for method in ["reset_time_ms", "reset_time_by_loss_ms"] {
                    let found = row.float(method).unwrap();
                    prop_assert!(
                        (found - outage_ms as f64).abs() <= 2.0 * gap_ms, "{} {}", method, found
                    );
                }
                prop_assert_eq!(
                    (row.text("result"), row.int("trials")), ("it forwards again", Some(2))
                );
            }
        }
    }

    #[test]
    fn no_loss_no_return_and_power_are_told_apart() {
        let result = |outage, resets| {
            let table = made(
                &ENTRY,
                &GIVEN,
                &mut device(outage, resets),
                &[traffic(64)],
                search(),
            );
            let row = table.rows().next().unwrap();
            (
                row.text("result").to_owned(),
                row.float("reset_time_ms"),
                row.int("unrecovered"),
            )
        };
        let of = |text: &str, time, unrecovered| (text.to_owned(), time, Some(unrecovered));
        assert_eq!(
            result(Span::ZERO, &["hardware-lc"]),
            of("no loss", Some(0.0), 0)
        );
        let never = of("it does not forward again while it is observed", None, 2);
        assert_eq!(result(Span::from_secs(60), &["hardware-lc"]), never);
        let given = [("before", "0.5 s"), ("watch", "20 s"), ("repeats", "1")];
        let mut power = device(Span::from_secs(17), &["power"]);
        let table = made(&ENTRY, &given, &mut power, &[traffic(64)], search());
        let time = table.rows().next().unwrap().float("reset_time_ms").unwrap();
        assert!((time - 2000.0).abs() < 1.0, "{time}");
        let said = refused(&ENTRY, &[], &mut device(Span::ZERO, &[]));
        assert_eq!(said, "this testbed cannot reset the device");
    }
}
