//! What an observer sees of a link that packets cross ahead of time.
//!
//! A link that a single other link feeds learns of a packet when that one does
//! (`network::stretch`). The queue that decides about it then lives in the future. What it decided
//! is put down in a log and counted when the packet's time has come, so nobody sees a packet before
//! it is there.

use super::express::Tally;
use crate::ring::Ring;
use trammel_core::time::Time;

/// Packets that have come and not left, and those that are still to come.
#[derive(Debug)]
pub(super) struct Ahead {
    /// What has been counted.
    pub(super) tally: Tally,
    /// Packets lost behind the queue.
    pub(super) lost_pkts: u64,
    /// In the order of coming; the first `present` of them have come.
    log: Ring<Coming>,
    present: u64,
    /// Of these, packets and bytes that have not left.
    waiting_pkts: u64,
    waiting_bytes: u64,
    /// Packets still to come that will reach the other end.
    through_pkts: usize,
    /// Packets counted that the feeding link has not been told of.
    landed: u64,
}

/// A packet that comes.
#[derive(Clone, Copy, Debug, Default)]
struct Coming {
    at: Time,
    /// When it leaves the queue; as it comes, where it finds no room.
    departs: Time,
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
    pub(super) fn new() -> Ahead {
        Ahead {
            tally: Tally::default(),
            lost_pkts: 0,
            log: Ring::new(),
            present: 0,
            waiting_pkts: 0,
            waiting_bytes: 0,
            through_pkts: 0,
            landed: 0,
        }
    }

    /// A packet will come at `at` and leave at `departs`. The log is kept short without looking at
    /// it for each packet.
    #[inline]
    pub(super) fn note(&mut self, now: Time, at: Time, departs: Time, bytes: u32, end: End) {
        if self.log.is_full() {
            self.settle(now);
        }
        self.through_pkts += usize::from(end == End::Through);
        self.log.push(Coming {
            at,
            departs,
            bytes,
            end,
        });
    }

    /// Counts what has come by `now`, and forgets what has left.
    pub(super) fn settle(&mut self, now: Time) {
        while let Some(&coming) = self.log.get(self.present).filter(|coming| coming.at <= now) {
            self.expire(coming.at);
            self.present += 1;
            self.landed += 1;
            self.through_pkts -= usize::from(coming.end == End::Through);
            self.lost_pkts += u64::from(coming.end == End::Lost);
            let (tally, bytes) = (&mut self.tally, u64::from(coming.bytes));
            tally.arrived_pkts += 1;
            tally.arrived_bytes += bytes;
            if coming.end == End::Dropped {
                tally.overflow_pkts += 1;
                tally.overflow_bytes += bytes;
            } else if coming.departs > coming.at {
                tally.wait_ns += (coming.departs - coming.at).as_ns();
                self.waiting_pkts += 1;
                self.waiting_bytes += bytes;
                tally.peak_pkts = tally.peak_pkts.max(self.waiting_pkts);
            }
        }
        self.expire(now);
    }

    /// Forgets those that have come and left by `now`.
    #[inline]
    fn expire(&mut self, now: Time) {
        while self.log.removed() < self.present
            && let Some(coming) = self.log.front().filter(|coming| coming.departs <= now)
        {
            if coming.departs > coming.at {
                self.waiting_pkts -= 1;
                self.waiting_bytes -= u64::from(coming.bytes);
            }
            self.log.pop();
        }
    }

    /// Packets and bytes in the queue at `now`.
    pub(super) fn backlog(&mut self, now: Time) -> (u32, u64) {
        self.settle(now);
        (self.waiting_pkts as u32, self.waiting_bytes)
    }

    /// Bytes of the first packet that has come and not left, as of the last look.
    pub(super) fn first(&self) -> Option<u32> {
        let waits = |coming: &&Coming| coming.departs > coming.at;
        let present = (self.log.removed()..self.present).filter_map(|at| self.log.get(at));
        present.into_iter().find(waits).map(|coming| coming.bytes)
    }

    /// Packets that are still to come and will reach the other end.
    pub(super) fn through(&self) -> usize {
        self.through_pkts
    }

    /// Packets that have come since this was asked last, and those that are still to come.
    pub(super) fn landed(&mut self) -> (u64, usize) {
        let coming = self.log.removed() + self.log.len() as u64 - self.present;
        (std::mem::take(&mut self.landed), coming as usize)
    }
}
