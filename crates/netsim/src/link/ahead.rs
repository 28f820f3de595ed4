//! What an observer sees of a queue that packets are led through ahead of time.
//!
//! A link that a single other link feeds learns of a packet when that one does (`network::stretch`). The
//! queue that decides about it then lives in the future. A second queue, the same from the start, follows in
//! the present: what came is put down in a log, and taken in when its time has come. It is the second that
//! counts and that is looked at, so nobody sees a packet before it is there.

use super::express::Express;
use crate::ring::Ring;
use trammel_core::time::Time;

/// The queue in the present, and what is still to come to it.
#[derive(Debug)]
pub(super) struct Ahead {
    /// The queue as it is seen.
    pub(super) seen: Express,
    /// Packets lost behind it.
    pub(super) lost_pkts: u64,
    log: Ring<Coming>,
    /// Packets in the log that will reach the other end.
    through_pkts: usize,
    /// Packets taken in that the feeding link has not been told of.
    landed: u64,
}

/// A packet that comes.
#[derive(Clone, Copy, Debug, Default)]
struct Coming {
    at: Time,
    bytes: u32,
    end: End,
}

/// What becomes of a packet that crosses a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum End {
    #[default]
    Through,
    Dropped,
    Lost,
}

impl Ahead {
    pub(super) fn of(queue: &Express) -> Ahead {
        Ahead {
            seen: queue.clone(),
            lost_pkts: 0,
            log: Ring::new(),
            through_pkts: 0,
            landed: 0,
        }
    }

    /// A packet will come at `at`. The log is kept short without looking at it for each packet.
    #[inline]
    pub(super) fn note(&mut self, now: Time, at: Time, bytes: u32, end: End) {
        if self.log.is_full() {
            self.settle(now);
        }
        self.log.push(Coming { at, bytes, end });
        self.through_pkts += usize::from(end == End::Through);
    }

    /// Takes in what has come by `now`.
    pub(super) fn settle(&mut self, now: Time) {
        while let Some(coming) = self.log.front().filter(|coming| coming.at <= now) {
            self.seen.admit(coming.at, coming.bytes);
            self.lost_pkts += u64::from(coming.end == End::Lost);
            self.through_pkts -= usize::from(coming.end == End::Through);
            self.landed += 1;
            self.log.pop();
        }
    }

    /// Packets that are still to come and will reach the other end.
    pub(super) fn through(&self) -> usize {
        self.through_pkts
    }

    /// Packets that have come since this was asked last, and those that are still to come.
    pub(super) fn landed(&mut self) -> (u64, usize) {
        (std::mem::take(&mut self.landed), self.log.len())
    }
}
