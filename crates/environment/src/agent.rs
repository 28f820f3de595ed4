//! The congestion control that does what an agent decided, and gathers what it is to know.

use crate::act::Act;
use crate::feature::Known;
use crate::interval::{Interval, hold};
use std::sync::{Arc, Mutex, MutexGuard};
use trammel_core::time::Span;
use trammel_tcp::cc::{CongestionControl, RateSample, Tp};

/// What an agent and its sender share.
#[derive(Debug)]
pub(crate) struct Seat {
    act: Act,
    gathered: Interval,
    /// Window (segments) or pacing rate (Mbit/s); nothing before the connection is open.
    decided: Option<f64>,
    known: Known,
    /// The last rate sample, segments a second.
    sampled_rate: f64,
    /// ACKs since the last decision, and ever.
    pub(crate) acks: u32,
    pub(crate) ever: u64,
}

/// A seat, on both sides. One thread at a time runs an episode, so nobody waits for it.
pub(crate) type Shared = Arc<Mutex<Seat>>;

pub(crate) fn locked(seat: &Shared) -> MutexGuard<'_, Seat> {
    seat.lock().expect("nothing panics while it is held")
}

impl Seat {
    pub(crate) fn new(act: Act, base_rtt: Span) -> Seat {
        Seat {
            act,
            gathered: Interval::new(Span::MAX),
            decided: None,
            known: Known {
                base_rtt_us: base_rtt.as_ps() as f64 / 1e6,
                ..Known::default()
            },
            sampled_rate: 0.0,
            acks: 0,
            ever: 0,
        }
    }

    /// The agent decides; before its connection is open nothing comes of it.
    pub(crate) fn decide(&mut self, action: f64) {
        self.decided = self.decided.map(|now| self.act.decide(now, action));
    }

    /// What the sender learnt in `length` until `now_us`, while the narrowest link had `link_bps`.
    /// Where `is_ack`, the interval is that of one ACK, and the stack's own rate sample says more.
    pub(crate) fn take(&mut self, now_us: u64, length: Span, is_ack: bool, link_bps: f64) -> Known {
        let known = &mut self.known;
        known.summary = self.gathered.take(now_us);
        known.summary.length_us = length.as_us();
        known.link_bps = link_bps;
        if let Some(rtt) = known.summary.rtt_us {
            known.rtt_us = rtt;
        }
        if let Some(least) = known.summary.least_rtt_us {
            let so_far = known.min_rtt_us;
            known.min_rtt_us = if so_far == 0.0 {
                least
            } else {
                so_far.min(least)
            };
        }
        known.rate = if is_ack {
            self.sampled_rate
        } else {
            known.summary.delivery_rate()
        };
        known.most_rate = known.most_rate.max(known.rate);
        self.acks = 0;
        *known
    }

    /// Takes an ACK, and sets what was decided.
    pub(crate) fn hear(&mut self, tp: &mut Tp, rs: &RateSample) {
        self.gathered.hear(tp.now_us, rs);
        if rs.delivered > 0 && rs.interval_us > 0 {
            self.sampled_rate = rs.delivered as f64 * 1e6 / rs.interval_us as f64;
        }
        (self.acks, self.ever) = (self.acks + 1, self.ever + 1);
        self.apply(tp, rs);
    }

    /// The connection of `tp` opens.
    pub(crate) fn open(&mut self, tp: &Tp) {
        let window = f64::from(tp.snd_cwnd);
        self.gathered.begin(tp);
        self.decided = Some(if self.act.paces() {
            // The initial window a round trip.
            let rtt_s = match tp.srtt_us {
                0 => self.known.base_rtt_us / 1e6,
                eighths => f64::from(eighths) / 8e6,
            };
            window * f64::from(tp.mss) * 8.0 / 1e6 / rtt_s.max(1e-6)
        } else {
            window
        });
        self.known.cwnd = window;
        self.known.segment_bits = f64::from(tp.mss) * 8.0;
    }

    /// Sets what was decided.
    fn apply(&mut self, tp: &mut Tp, rs: &RateSample) {
        let segment_bits = f64::from(tp.mss) * 8.0;
        let Some(decided) = self.decided else {
            return;
        };
        if self.act == Act::Nothing {
            if tp.pacing && tp.pacing_rate != u64::MAX {
                self.known.pacing_mbps = tp.pacing_rate as f64 * 8.0 / 1e6;
            }
        } else if self.act.paces() {
            let bytes = decided * 1e6 / 8.0;
            tp.pacing = true;
            tp.pacing_rate = bytes as u64;
            // The rate decides; the window is there for a path that has stopped.
            let srtt_s = f64::from(tp.srtt_us.max(8)) / 8e6;
            let segments = 2.0 * srtt_s * decided * 1e6 / segment_bits;
            hold(
                tp,
                rs,
                segments.clamp(4.0, crate::act::MOST_SEGMENTS) as u32,
            );
            self.known.pacing_mbps = decided;
        } else {
            hold(tp, rs, decided as u32);
        }
        self.known.segment_bits = segment_bits;
        self.known.cwnd = f64::from(tp.snd_cwnd);
        self.known.in_flight = f64::from(tp.packets_in_flight());
    }
}

/// The congestion control of an agent's sender.
#[derive(Debug)]
pub(crate) struct Agent(pub(crate) Shared);

impl CongestionControl for Agent {
    fn init(&mut self, tp: &mut Tp) {
        locked(&self.0).open(tp);
    }

    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        tp.reno_ssthresh()
    }

    fn cong_avoid(&mut self, _tp: &mut Tp, _ack: u32, _acked: u32) {}

    fn undo_cwnd(&mut self, tp: &mut Tp) -> u32 {
        tp.snd_cwnd
    }

    fn has_cong_control(&self) -> bool {
        true
    }

    fn cong_control(&mut self, tp: &mut Tp, rs: &RateSample) {
        locked(&self.0).hear(tp, rs);
    }
}
