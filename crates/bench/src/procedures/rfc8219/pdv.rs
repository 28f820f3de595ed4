//! Packet delay variation: the 99.9th percentile of delays above the minimum, over many streams.
//!
//! # What it does
//! Streams at the throughput rate, of which every frame's delay is measured. Reported is the median
//! of the repetitions, with the 1st and 99th percentile.
//!
//! # References
//! RFC 8219 §7.3.1; RFC 5481.

use super::super::{Bench, Entry, Error, Form, load};
use crate::summary::{middle, ms};
use crate::testbed::{Observation, Plan, Unable};
use trammel_core::entry::{About, Param, Params};
use trammel_stats::table::{Cell, CellType, Table};

/// PDV in the table of tests.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "pdv",
        aliases: &[],
        summary: "packet delay variation: the 99.9th percentile of delays above the minimum",
        references: &["RFC 8219 §7.3.1", "RFC 5481"],
        params: &[
            //= rfc8219 §7.3.1
            //# The stream SHOULD be at least 60 seconds in duration.
            Param::time("duration", "60 s", "how long a stream is"),
            //= rfc8219 §7.3.1
            //# the test MUST be repeated at least 20 times with the reported value being the median
            //# of the recorded values.
            Param::int("repeats", 1, 10_000, "20", "", "how often the test is made"),
        ],
    },
    quick: &[("duration", "1 s"), ("repeats", "3")],
    columns: &[
        ("rate_fps", CellType::Float),
        ("pdv_ms", CellType::Float),
        ("pdv_p1_ms", CellType::Float),
        ("pdv_p99_ms", CellType::Float),
        ("repeats", CellType::Int),
    ],
    form: Form::Table,
    run,
};

fn run(bench: &mut Bench<'_>, params: &Params) -> Result<Table, Error> {
    bench.at_throughput(&ENTRY, |bench, traffic, fps| {
        let plan = Plan::of(&[load(fps, params.time("duration"))?]);
        //= rfc8219 §7.3.1
        //# PDV = D99.9thPercentile - Dmin
        let pdv = |observed: &Observation| {
            let delays = observed.outcome.latency.as_ref()?;
            let (least, most) = (delays.quantile_time(0.0)?, delays.quantile_time(0.999)?);
            Some(ms(most.saturating_sub(least)))
        };
        let values = bench.repeat(params.int("repeats"), traffic, &plan, pdv)?;
        let values: Vec<f64> = values.into_iter().flatten().collect();
        if values.is_empty() {
            return Err(Unable("this testbed does not measure latencies".to_owned()).into());
        }
        let mut own: Vec<Cell> = vec![fps.into()];
        own.extend(middle(&values));
        own.push(values.len().into());
        Ok(own)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Device, made, search, traffic};
    use proptest::prelude::*;
    use trammel_core::Span;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn a_known_variation_is_found(delay_us in 10..1000_u64, slower_us in 0..500_u64) {
            let mut device = Device {
                delay: Span::from_us(delay_us),
                slower: Span::from_us(slower_us),
                buffer: 0,
                ..Device::of_capacity(5e3)
            };
            let given = [("duration", "0.5 s"), ("repeats", "3")];
            let table = made(&ENTRY, &given, &mut device, &[traffic(64)], search());
            let row = table.rows().next().unwrap();
            // Histograms have three digits.
            let slower_ms = slower_us as f64 / 1e3;
            let margin = 2e-6 * (delay_us + slower_us) as f64;
            let near = |found: f64| (found - slower_ms).abs() <= margin;
            prop_assert!(near(row.float("pdv_ms").unwrap()), "{:?}", row);
            prop_assert_eq!(
                (row.float("pdv_p99_ms"), row.int("repeats")), (row.float("pdv_ms"), Some(3))
            );
        }
    }
}
