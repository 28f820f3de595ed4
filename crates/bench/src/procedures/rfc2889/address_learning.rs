//! Address learning rate: rate at which a switch learns addresses without flooding.
//!
//! # What it does
//! A number of addresses that it can keep is taught at a rate and then asked for from another port,
//! while a third hears what is flooded. A binary search over the rate finds the fastest at which
//! all are known, and each step of it has a row.
//!
//! # References
//! RFC 2889 §5.8; RFC 2285 §3.8.2.

use super::super::{Bench, Entry, Error, Form};
use crate::addresses::{self, AGE, COLUMNS, TEST_FPS};
use crate::ports::Learning;
use crate::search::whole::Whole;
use trammel_core::entry::{About, Param, Params};
use trammel_stats::table::Table;

/// Address learning rate in the table of tests.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "address-learning",
        aliases: &[],
        summary: "rate at which a switch learns addresses without flooding",
        references: &["RFC 2889 §5.8", "RFC 2285 §3.8.2"],
        params: &[
            //= rfc2889 §5.8.3
            //# It is recommended to set the number of addresses offered to the DUT/SUT in this test
            //# to the maximum caching capacity.
            Param::int(
                "addresses",
                1,
                16_777_216,
                "1024",
                "",
                "number of addresses to teach; the device must keep them",
            ),
            //= rfc2889 §5.7.2
            //# as low as 50 frames per second or even less
            Param::int(
                "least_fps",
                1,
                100_000_000,
                "50",
                "frames/s",
                "the lowest rate to try",
            ),
            Param::float(
                "width",
                0.0001,
                0.5,
                "0.01",
                "",
                "precision of the rate, as a share of line rate",
            ),
            TEST_FPS,
            AGE,
        ],
    },
    quick: &[("addresses", "64"), ("width", "0.1")],
    columns: COLUMNS,
    form: Form::Table,
    run,
};

fn run(bench: &mut Bench<'_>, params: &Params) -> Result<Table, Error> {
    let line = bench.line_fps(&bench.smallest());
    let least = params.int("least_fps").unsigned_abs();
    let search = Whole {
        least,
        most: (line as u64).max(least),
        step: ((params.float("width") * line) as u64).max(1),
        verifications: 0,
    };
    addresses::search(bench, &ENTRY, &search, |fps| Learning {
        addresses: params.int("addresses").unsigned_abs(),
        learning_fps: fps as f64,
        test_fps: params.int("test_fps") as f64,
        age: params.time("age"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{LINE_FPS, Switch, made, search, traffic};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_rate_of_a_switch_is_found(learns_fps in 60.0..12_000.0_f64) {
            let mut switch = Switch { learns_fps, ..Switch::default() };
            let table = made(&ENTRY, &[("width", "0.001")], &mut switch, &[traffic(64)], search());
            let truth = learns_fps.min(LINE_FPS.floor());
            for row in table.rows() {
                let found = row.float("found").unwrap();
                prop_assert!(
                    found <= truth && truth - found <= 0.001 * LINE_FPS + 1.0, "{} {}", found, truth
                );
                prop_assert_eq!(row.int("addresses"), Some(1024));
            }
        }
    }

    #[test]
    fn a_table_that_is_too_small_is_never_learned() {
        let mut small = Switch {
            addresses: 1000,
            ..Switch::default()
        };
        let table = made(&ENTRY, &[], &mut small, &[traffic(64)], search());
        assert!(table.rows().all(|row| row.float("found").is_none()));
        assert_eq!(table.len(), 2);
    }
}
