//! Stands for Click's clock by kernel ticks.
//!
//! # What it does
//! Nothing: elements read the machine's clock once a batch, which costs no call into the kernel.
//!
//! # Example
//! ```click
//! JiffieClock(); RatedSource(RATE 10) -> SetTimestamp -> Discard
//! ```

use crate::args::{Kind, Need, param};
use crate::elements::Entry;
use crate::engine::Element;

/// The class.
pub static ENTRY: Entry = Entry::new("JiffieClock", "stands for Click's clocks", || {
    Box::<JiffieClock>::default()
})
.aliases(&["TSCClock"])
.references(&["Barbette et al. 2015, Fast userspace packet processing"])
.ports("0/0", "a/a")
.params(&[
    param(
        "OTHERS",
        Need::KeywordRest,
        Kind::Raw,
        "",
        "keywords, which have no effect",
    ),
    param(
        "PLACES",
        Need::Rest,
        Kind::Raw,
        "",
        "arguments, which have no effect",
    ),
]);

#[derive(Debug, Default)]
struct JiffieClock;

impl Element for JiffieClock {}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn both_names_are_taken() {
        loaded("JiffieClock(); TSCClock(NOWAIT true); Idle -> Discard");
    }
}
