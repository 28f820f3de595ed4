//! Stands where a lock is taken.
//!
//! # What it does
//! Packets pass as they are. Nothing is locked here: elements that packets can reach from one
//! another without a queue run on one thread.
//!
//! # Example
//! ```click
//! SpinlockInfo(lock);
//! FromDevice(eth0) -> SpinlockAcquire(lock) -> Counter -> SpinlockRelease(lock) -> Discard
//! ```

use crate::args::{Kind, positional};
use crate::elements::Entry;
use crate::engine::Element;

/// The class.
pub static ENTRY: Entry = Entry::new("SpinlockAcquire", "passes packets unchanged", || {
    Box::<SpinlockAcquire>::default()
})
.params(&[positional("LOCK", Kind::Word, "", "the lock's name")])
.ops("work(0)");

#[derive(Debug, Default)]
struct SpinlockAcquire;

impl Element for SpinlockAcquire {}
