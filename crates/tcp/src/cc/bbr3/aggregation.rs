//! By how much ACKs run ahead of the rate, where the network delivers them in lumps.

use super::{BW_UNIT, Tp};
use crate::windowed::Windowed;

/// The kernel begins an epoch anew before its count leaves 20 bits.
const EPOCH_ACKED_MAX: u64 = 1 << 20;

/// Counts what is acknowledged beyond the rate, and keeps the most of a number of rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    interval_start_us: u64,
    delivered: u64,
    /// Draft: the running maximum.
    filter: Windowed,
    /// Dialect `linux`: the maximum of the last and of the present half window.
    halves: [u32; 2],
    half_rounds: u32,
    extra_acked: u32,
}

impl Aggregation {
    /// The estimate, segments.
    pub(super) fn extra_acked(&self) -> u32 {
        self.extra_acked
    }

    /// Begins a new interval.
    pub(super) fn restart(&mut self, now_us: u64) {
        self.interval_start_us = now_us;
        self.delivered = 0;
    }

    /// What `acked` more segments make of the interval: how far they are ahead of `bw`.
    fn excess(&mut self, tp: &Tp, acked: u32, bw: u64, most: u64) -> u32 {
        let acked = u64::from(acked);
        let interval_us = tp
            .delivered_mstamp_us
            .saturating_sub(self.interval_start_us);
        let mut expected =
            ((u128::from(bw) * u128::from(interval_us)) / u128::from(BW_UNIT)) as u64;
        //= draft-ietf-ccwg-bbr §5.5.9
        //# If the ACK rate falls below the expected bandwidth, then the algorithm estimates an
        //# aggregation episode has terminated, and resets the sampling interval
        if self.delivered <= expected || self.delivered + acked >= most {
            self.restart(tp.delivered_mstamp_us);
            expected = 0;
        }
        self.delivered += acked;
        (self.delivered - expected).min(u64::from(tp.snd_cwnd)) as u32
    }

    /// Takes an ACK in, and keeps the maximum of `window` rounds.
    pub(super) fn take(&mut self, tp: &Tp, acked: u32, bw: u64, round: u32, window: u32) {
        let extra = self.excess(tp, acked, bw, u64::MAX);
        let most = self
            .filter
            .max(u64::from(window), u64::from(round), u64::from(extra));
        self.extra_acked = most as u32;
    }

    /// Takes an ACK in, and keeps the maximum of one to two times `half` rounds.
    pub(super) fn take_in_halves(
        &mut self,
        tp: &Tp,
        acked: u32,
        bw: u64,
        is_new_round: bool,
        half: u32,
    ) {
        if is_new_round {
            self.half_rounds += 1;
            if self.half_rounds >= half {
                self.half_rounds = 0;
                self.halves = [self.halves[1], 0];
            }
        }
        let extra = self.excess(tp, acked, bw, EPOCH_ACKED_MAX);
        self.halves[1] = self.halves[1].max(extra);
        self.extra_acked = self.halves[0].max(self.halves[1]);
    }
}
