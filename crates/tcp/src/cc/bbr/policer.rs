//! Detection of a policer: two intervals of like rate, both with heavy losses.
//!
//! An interval lasts 4 to 16 rounds and ends with a loss. Where at least a fifth of it was lost and
//! its rate is within an eighth of the interval before, the mean of both is taken for the policer's
//! rate and used for 48 rounds.

use super::{BW_UNIT, GAIN_SCALE, RateSample, Tp, UNIT};

/// The thresholds; shares in 256ths.
#[derive(Clone, Debug)]
pub(super) struct Config {
    /// Rounds that an interval lasts at least; four times as many at most.
    pub(super) min_rounds: u32,
    /// Losses per delivered segment.
    pub(super) loss_thresh: u64,
    /// Relative difference of two like rates.
    pub(super) bw_ratio: u64,
    /// Absolute difference of two like rates, bytes/s.
    pub(super) bw_diff: u64,
    /// Rounds for which the rate found is used.
    pub(super) max_rounds: u32,
}

/// What a step led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing new.
    Unchanged,
    /// A policer was found: cruise at its rate.
    Found,
    /// Its rate was used long enough: probe again.
    Expired,
}

/// The interval in hand and the rate found.
#[derive(Clone, Debug, Default)]
pub(super) struct Policer {
    sampling: bool,
    rounds: u32,
    /// The rate of the last interval, or the policer's; 0 for none.
    bw: u64,
    in_use: bool,
    last_delivered: u64,
    last_stamp_ms: u64,
    last_lost: u64,
}

impl Policer {
    /// The policer's rate, where one was found.
    pub(super) fn rate(&self) -> Option<u64> {
        self.in_use.then_some(self.bw)
    }

    /// Forgets everything.
    pub(super) fn reset(&mut self, tp: &Tp) {
        self.bw = 0;
        self.in_use = false;
        self.sampling = false;
        self.start_interval(tp);
    }

    fn start_interval(&mut self, tp: &Tp) {
        self.last_stamp_ms = tp.delivered_mstamp_us / 1000;
        self.last_delivered = tp.delivered;
        self.last_lost = tp.lost;
        self.rounds = 0;
    }

    /// Takes in the ACK of `rs`. `probing` tells whether the mode is PROBE_BW, `to_bytes` converts
    /// a rate to bytes/s.
    pub(super) fn update(
        &mut self,
        config: &Config,
        tp: &Tp,
        rs: &RateSample,
        round_start: bool,
        probing: bool,
        to_bytes: impl Fn(u64) -> u64,
    ) -> Verdict {
        if self.in_use {
            if probing && round_start {
                self.rounds += 1;
                if self.rounds >= config.max_rounds {
                    self.reset(tp);
                    return Verdict::Expired;
                }
            }
            return Verdict::Unchanged;
        }
        // The first loss means that the policer's tokens, if it is one, have just run out.
        if !self.sampling {
            if rs.losses == 0 {
                return Verdict::Unchanged;
            }
            self.start_interval(tp);
            self.sampling = true;
        }
        if rs.is_app_limited {
            self.reset(tp);
            return Verdict::Unchanged;
        }
        self.rounds += u32::from(round_start);
        if self.rounds < config.min_rounds {
            return Verdict::Unchanged;
        }
        if self.rounds > 4 * config.min_rounds {
            self.reset(tp);
            return Verdict::Unchanged;
        }
        // Ends with a loss, lest a token refill be taken into the rate.
        if rs.losses == 0 {
            return Verdict::Unchanged;
        }
        let lost = tp.lost - self.last_lost;
        let delivered = tp.delivered - self.last_delivered;
        if delivered == 0 || lost << GAIN_SCALE < config.loss_thresh * delivered {
            return Verdict::Unchanged;
        }
        let elapsed_ms = (tp.delivered_mstamp_us / 1000).saturating_sub(self.last_stamp_ms);
        if elapsed_ms == 0 {
            return Verdict::Unchanged;
        }
        if elapsed_ms >= u64::from(u32::MAX / 1000) {
            self.reset(tp);
            return Verdict::Unchanged;
        }
        self.end_interval(
            config,
            tp,
            delivered * BW_UNIT / (elapsed_ms * 1000),
            to_bytes,
        )
    }

    fn end_interval(
        &mut self,
        config: &Config,
        tp: &Tp,
        bw: u64,
        to_bytes: impl Fn(u64) -> u64,
    ) -> Verdict {
        if self.bw > 0 {
            let diff = bw.abs_diff(self.bw);
            if diff * UNIT <= config.bw_ratio * self.bw || to_bytes(diff) <= config.bw_diff {
                self.bw = u64::midpoint(bw, self.bw);
                self.in_use = true;
                self.rounds = 0;
                return Verdict::Found;
            }
        }
        self.bw = bw;
        self.start_interval(tp);
        Verdict::Unchanged
    }
}
