//! Address caching capacity: number of addresses that a switch keeps without flooding.
//!
//! # What it does
//! N addresses are taught on one port and then asked for from another; a third port hears what is
//! flooded. A binary search over N finds the most that are all known, and each step of it has a
//! row.
//!
//! # References
//! RFC 2889 §5.7; RFC 2285 §3.8.1.

use super::super::{Bench, Entry, Error, Form};
use crate::addresses::{self, AGE, COLUMNS, TEST_FPS};
use crate::ports::Learning;
use crate::search::whole::Whole;
use trammel_core::entry::{About, Param, Params};
use trammel_stats::table::Table;

/// Address caching capacity in the table of tests.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "address-caching",
        aliases: &[],
        summary: "number of addresses that a switch keeps without flooding",
        references: &["RFC 2889 §5.7", "RFC 2285 §3.8.1"],
        params: &[
            Param::int(
                "most",
                1,
                16_777_216,
                "16384",
                "",
                "the largest number of addresses to try",
            ),
            //= rfc2889 §5.7.2
            //# The rate at which address learning frames are offered may have to be adjusted to be
            //# as low as 50 frames per second or even less, to guarantee successful learning.
            Param::int(
                "learning_fps",
                1,
                100_000_000,
                "1000",
                "frames/s",
                "rate of teaching addresses",
            ),
            TEST_FPS,
            AGE,
        ],
    },
    quick: &[("most", "1024")],
    columns: COLUMNS,
    form: Form::Table,
    run,
};

fn run(bench: &mut Bench<'_>, params: &Params) -> Result<Table, Error> {
    let learning_fps = params.int("learning_fps") as f64;
    let search = Whole {
        least: 1,
        most: params.int("most").unsigned_abs(),
        step: 1,
        verifications: 0,
    };
    addresses::search(bench, &ENTRY, &search, |addresses| Learning {
        addresses,
        learning_fps,
        test_fps: params.int("test_fps") as f64,
        age: params.time("age"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Switch, Wire, made, refused, search, traffic};
    use proptest::prelude::*;
    use trammel_stats::table::Cell;

    proptest! {
        #[test]
        fn the_table_of_a_switch_is_found(table_of in 0..20_000_u64) {
            let mut switch = Switch { addresses: table_of, ..Switch::default() };
            let table = made(&ENTRY, &[], &mut switch, &[traffic(64)], search());
            let truth = (table_of > 0).then_some(table_of.min(16_384) as f64);
            for row in table.rows() {
                prop_assert_eq!(row.float("found"), truth);
                let flooded = row.float("addresses").unwrap() - table_of as f64;
                prop_assert_eq!(row.float("flooded_monitor"), Some(flooded.max(0.0)));
                prop_assert_eq!(row.get("passed"), Some(&Cell::Bool(flooded <= 0.0)));
            }
        }
    }

    #[test]
    fn what_would_age_before_it_is_asked_for_is_refused_and_so_is_a_bed_of_two_ports() {
        let given = [("age", "10 s"), ("most", "20000"), ("learning_fps", "1000")];
        let said = refused(&ENTRY, &given, &mut Switch::default());
        assert_eq!(
            said,
            "20000 addresses take 20 s to teach and 20 s to check, and the first would be \
             forgotten after `age`, 10 s; teach them faster, or fewer, or let the device keep them \
             longer"
        );
        let said = refused(&ENTRY, &[], &mut Wire);
        assert_eq!(
            said,
            "this testbed has no third port to observe flooded frames"
        );
    }
}
