//! What each packet is as it comes: for who tells of a stream while it runs.

use super::jitter::Jitter;
use super::window::{Arrival, Window};

/// Sequence numbers that are told apart.
const WINDOW: usize = 8192;

/// What an arrival is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrived {
    /// The first copy of its packet.
    First {
        /// Whether one that was sent later had come.
        is_reordered: bool,
    },
    /// A further copy, or one so late that nobody can tell.
    Again,
}

/// A stream as it comes.
#[derive(Debug)]
pub struct Live {
    window: Window,
    jitter: Jitter,
    expected: u64,
}

impl Default for Live {
    fn default() -> Live {
        Live {
            window: Window::new(WINDOW, true),
            jitter: Jitter::default(),
            expected: 0,
        }
    }
}

impl Live {
    /// Takes in the packet `sequence`, which came at `at_ns` after `delay_ns`.
    pub fn arrive(&mut self, sequence: u64, delay_ns: i64, at_ns: i64) -> Arrived {
        match self.window.arrive(sequence, delay_ns, at_ns, &mut |_| {}) {
            Arrival::First { behind, .. } => {
                self.expected = self.expected.max(sequence.saturating_add(1));
                self.jitter.push(delay_ns);
                Arrived::First {
                    is_reordered: behind.is_some(),
                }
            }
            Arrival::Duplicate | Arrival::TooLate => Arrived::Again,
        }
    }

    /// How many were sent at least: up to the greatest number that came.
    pub fn expected(&self) -> u64 {
        self.expected
    }

    /// The jitter of RFC 3550 §6.4.1 by now, in nanoseconds.
    pub fn jitter_ns(&self) -> u64 {
        let smoothed = self.jitter.report().rfc3550_last_ns;
        smoothed.unwrap_or(0.0) as u64
    }
}
