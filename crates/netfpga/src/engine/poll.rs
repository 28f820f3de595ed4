//! A pointer that looks at one queue a cycle, in turn, until it finds one to serve.
//!
//! Where it stands when a frame comes is what makes the latency of a lone frame vary by some
//! cycles.

use crate::engine::frame::{Shift, Timed};

/// The queue that is looked at in a cycle; those after it follow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Poll {
    /// The cycle of the look.
    pub(crate) cycle: u64,
    /// The queue that is looked at then.
    pub(crate) queue: u64,
}

impl Poll {
    /// The first cycle in which `queue`, one of `queues`, is looked at from the cycle `ready` on.
    pub(crate) fn finds(self, queue: u64, queues: u64, ready: u64) -> u64 {
        let mut distance = queue + queues - self.queue;
        if distance >= queues {
            distance -= queues;
        }
        let first = self.cycle + distance;
        if ready <= first {
            return first;
        }
        let late = ready - first;
        // Designs have powers of two; a division here is felt in the length of a run.
        let over = if queues.is_power_of_two() {
            late & (queues - 1)
        } else {
            late % queues
        };
        ready + if over == 0 { 0 } else { queues - over }
    }

    /// The pointer in `cycle`, when it goes on behind `queue`.
    pub(crate) fn behind(queue: u64, queues: u64, cycle: u64) -> Poll {
        let next = queue + 1;
        let queue = if next == queues { 0 } else { next };
        Poll { cycle, queue }
    }
}

impl Timed for Poll {
    fn repeats(&self, earlier: &Poll, shift: Shift) -> bool {
        self.queue == earlier.queue && self.cycle == earlier.cycle + shift.cycles
    }

    fn advance(&mut self, shift: Shift) {
        self.cycle += shift.cycles;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_found_when_the_pointer_comes_by_and_it_is_ready() {
        let poll = Poll {
            cycle: 100,
            queue: 6,
        };
        assert_eq!(poll.finds(6, 8, 0), 100);
        assert_eq!(poll.finds(0, 8, 0), 102);
        assert_eq!(poll.finds(5, 8, 0), 107);
        assert_eq!(poll.finds(0, 8, 102), 102);
        assert_eq!(poll.finds(0, 8, 103), 110);
        assert_eq!(poll.finds(0, 8, 119), 126);
        assert_eq!(Poll::behind(7, 8, 9).queue, 0);
        let six = Poll {
            cycle: 100,
            queue: 5,
        };
        assert_eq!(
            [0, 101, 102, 107, 108].map(|ready| six.finds(0, 6, ready)),
            [101, 101, 107, 107, 113]
        );
    }
}
