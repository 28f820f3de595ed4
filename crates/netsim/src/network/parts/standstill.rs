//! Notices that time does not go on.

use trammel_core::time::Time;

/// Things that may happen at one instant before time is held to stand still: more than any scenario
/// has connections, each with a window to send.
const MOST_AT_ONCE: u32 = 20_000_000;

/// Notices, where debug assertions are on, that virtual time does not advance.
#[derive(Debug, Default)]
pub(crate) struct Standstill {
    at: Time,
    turns: u32,
}

impl Standstill {
    /// Something happens at `now`.
    pub(crate) fn note(&mut self, now: Time) {
        if self.at == now {
            self.turns += 1;
            assert!(self.turns < MOST_AT_ONCE, "time stands still at {now}");
        } else {
            *self = Standstill { at: now, turns: 0 };
        }
    }
}
