//! Names locks.
//!
//! # What it does
//! It has no ports, and is accepted for configurations of several threads. Nothing is locked here:
//! elements that packets can reach from one another without a queue run on one thread.
//!
//! # Example
//! ```click
//! SpinlockInfo(lock);
//! FromDevice(eth0) -> SpinlockAcquire(lock) -> Counter -> SpinlockRelease(lock) -> Discard
//! ```

use crate::args::{Kind, Need, param};
use crate::elements::Entry;
use crate::engine::Element;

/// The class.
pub static ENTRY: Entry = Entry::new("SpinlockInfo", "names locks", || {
    Box::<SpinlockInfo>::default()
})
.ports("0/0", "a/a")
.params(&[param("LOCK", Need::Rest, Kind::Raw, "", "the lock's name")]);

#[derive(Debug, Default)]
struct SpinlockInfo;

impl Element for SpinlockInfo {}
