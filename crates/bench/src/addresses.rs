//! What the two tests of learned addresses have in common: the search, its settings and its table.
//!
//! Each trial is a row: what was taught and asked for, what came back and what was flooded. What
//! the search found, the largest number that passed, stands in all of them.
//!
//! RFC 2889 §5.7, §5.8.

use crate::ports::{Learned, Learning};
use crate::procedures::{Bench, Entry, Error};
use crate::search::whole::Whole;
use trammel_core::entry::Param;
use trammel_stats::table::{Cell, CellType, Table};

/// How fast addresses are asked for.
pub(crate) const TEST_FPS: Param = Param::int(
    "test_fps",
    1,
    100_000_000,
    "1000",
    "frames/s",
    "rate of frames to the addresses, not above the forwarding rate",
);

/// The age of an address.
//= rfc2889 §5.7.3
//# The aging time of the DUT/SUT MUST be known.
pub(crate) const AGE: Param =
    Param::time("age", "300 s", "how long the device keeps a silent address");

/// The columns of both tests.
//= rfc2889 §5.7.5
//# results for each iteration SHOULD be displayed in a table
pub const COLUMNS: &[(&str, CellType)] = &[
    ("addresses", CellType::Int),
    ("learning_fps", CellType::Float),
    ("test_frames", CellType::Int),
    ("flooded_test", CellType::Int),
    ("forwarded_learning", CellType::Int),
    ("flooded_learning", CellType::Int),
    ("flooded_monitor", CellType::Int),
    ("passed", CellType::Bool),
    ("found", CellType::Float),
];

/// Searches for the largest number that passes; what is taught for a number, `learning` says.
pub fn search(
    bench: &mut Bench<'_>,
    entry: &Entry,
    search: &Whole,
    learning: impl Fn(u64) -> Learning,
) -> Result<Table, Error> {
    // The most addresses, or the slowest rate, take longest.
    for number in [search.least, search.most] {
        check(&learning(number))?;
    }
    // Tables of addresses know no sizes of frames.
    let smallest = [bench.smallest()];
    bench.of(entry, &smallest, |bench, traffic, table| {
        let mut trials = Vec::new();
        let found = search.search(|number| {
            let of = learning(number);
            let learned = bench.learn(traffic, &of)?;
            trials.push((of, learned));
            Ok::<_, Error>(learned.is_all())
        })?;
        let found = found.passed.map(|number| number as f64);
        for (of, learned) in trials {
            bench.push(table, traffic, row(&of, &learned, found));
        }
        Ok(())
    })
}

fn row(of: &Learning, learned: &Learned, found: Option<f64>) -> Vec<Cell> {
    vec![
        of.addresses.into(),
        of.learning_fps.into(),
        learned.offered.into(),
        learned.flooded_test.into(),
        learned.forwarded.into(),
        learned.flooded_learning.into(),
        learned.flooded_monitor.into(),
        learned.is_all().into(),
        found.into(),
    ]
}

//= rfc2889 §5.7.3
//# The aging time MUST be longer than the time necessary to produce frames at the specified rate.
fn check(of: &Learning) -> Result<(), Error> {
    if of.duration() < of.age {
        return Ok(());
    }
    let seconds = |fps: f64| of.addresses as f64 / fps;
    Err(Error::Setting(format!(
        "{} addresses take {:.0} s to teach and {:.0} s to check, and the first would be forgotten \
         after `age`, {}; teach them faster, or fewer, or let the device keep them longer",
        of.addresses,
        seconds(of.learning_fps),
        seconds(of.test_fps),
        of.age,
    )))
}
