//! The sender's state that a congestion control reads and writes, and the steps that most variants
//! share.
//!
//! Named after the kernel's `tcp_sock *tp`, as its fields are; public as `cc::Tp`.

use crate::stack::Stack;
use trammel_core::rng::Rng;

/// `snd_ssthresh` before the first loss: no threshold.
pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// The sender's congestion state (`enum tcp_ca_state` in Linux).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaState {
    /// Nothing suspicious.
    #[default]
    Open,
    /// Duplicate ACKs or SACKs were seen; reordering or loss is not decided yet.
    Disorder,
    /// The window is being reduced for a mark of congestion other than loss (ECN).
    Cwr,
    /// Fast recovery.
    Recovery,
    /// A retransmission timeout.
    Loss,
}

/// The sender's state that a congestion control reads and writes, by the kernel's names.
#[derive(Clone, Debug)]
pub struct Tp {
    /// Congestion window, segments; at least 1.
    pub snd_cwnd: u32,
    /// ACKed segments counted towards the next increase.
    pub snd_cwnd_cnt: u32,
    /// Upper bound of the congestion window, segments.
    pub snd_cwnd_clamp: u32,
    /// Slow-start threshold, segments.
    pub snd_ssthresh: u32,
    /// Congestion window before the last reduction began, segments.
    pub prior_cwnd: u32,
    /// Segments sent and not yet cumulatively acknowledged.
    pub packets_out: u32,
    /// Of these, segments SACKed.
    pub sacked_out: u32,
    /// Of these, segments held for lost.
    pub lost_out: u32,
    /// Retransmissions in flight.
    pub retrans_out: u32,
    /// The window, not the application or the receiver, limited the last transmissions.
    pub cwnd_limited: bool,
    /// Most segments outstanding in the last window that was not limited by `snd_cwnd`.
    pub max_packets_out: u32,
    /// State of recovery.
    pub ca_state: CaState,
    /// First unacknowledged sequence number.
    pub snd_una: u32,
    /// Next sequence number to send.
    pub snd_nxt: u32,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Smoothed round-trip time, µs × 8; 0 before the first sample.
    pub srtt_us: u32,
    /// Medium deviation of the round-trip time, µs × 4.
    pub mdev_us: u32,
    /// Smallest round-trip time of the last five minutes, µs; `u32::MAX` before the first sample.
    pub min_rtt_us: u32,
    /// Segments delivered so far, retransmissions' originals counted once.
    pub delivered: u64,
    /// Segments reported as marked: of these, those acknowledged with ECN-Echo; with accurate ECN
    /// all that the peer has counted, ACKs of ours among them.
    pub delivered_ce: u64,
    /// When `delivered` last grew, µs.
    pub delivered_mstamp_us: u64,
    /// When the window's first segment in the current rate sample was sent, µs.
    pub first_tx_mstamp_us: u64,
    /// Segments ever marked lost.
    pub lost: u64,
    /// `delivered` at which the present application-limited phase ends; 0 outside one.
    pub app_limited: u64,
    /// Payload bytes acknowledged so far.
    pub bytes_acked: u64,
    /// When data was last sent, µs; in `TxStart` still the time before the present transmission.
    pub lsndtime_us: u64,
    /// The time of the event being processed, µs.
    pub now_us: u64,
    /// The kernel's clock ticks per second, the grain of `jiffies`.
    pub hz: u32,
    /// An ACK counts as one however many segments it covers, and the window grows by the rules of
    /// Linux 2.6: see [`in_slow_start`](Tp::in_slow_start), [`slow_start`](Tp::slow_start) and
    /// [`cong_avoid_ai`](Tp::cong_avoid_ai).
    pub counts_acks: bool,
    /// Pacing rate in bytes/s; `u64::MAX` without a limit.
    pub pacing_rate: u64,
    /// The controller wants its segments paced.
    pub pacing: bool,
    /// The peer's timestamp value in the ACK being processed, in its clock's ticks; 0 without one.
    pub rcv_tsval: u32,
    /// The timestamp that it echoes, in ms of `now_us`, our own offset taken off; 0 without one.
    pub rcv_tsecr: u32,
    /// ECN was negotiated, classic or accurate.
    pub ecn_ok: bool,
    /// SACK was negotiated, so that more than one loss a round trip is seen.
    pub sack_ok: bool,
    /// Accurate ECN was negotiated (RFC 9768): `delivered_ce` counts marks one by one.
    pub accurate_ecn: bool,
    /// Receiver side: the congestion state to echo on every ACK (DCTCP, RFC 8257 §3.2).
    pub ecn_demand_cwr: bool,
    /// Receiver side: ask for an immediate ACK of what was received before the present segment.
    pub send_ack_now: bool,
    /// The connection's own random stream.
    pub rng: Rng,
}

impl Tp {
    /// A connection of `stack` that has sent nothing. Its initial sequence number is the first that
    /// `rng` draws below 2³².
    pub(crate) fn of_stack(stack: &Stack, rng: Rng) -> Tp {
        let mut tp = Tp::new(stack.initial_window, u32::from(stack.mss), rng);
        tp.hz = if stack.hz == 0 { 1000 } else { stack.hz };
        tp.snd_cwnd_clamp = stack.cwnd_clamp;
        tp.counts_acks = !stack.byte_counting;
        let iss = tp.rng.below(1 << 32) as u32;
        tp.snd_una = iss;
        tp.snd_nxt = iss;
        tp
    }

    /// A sender in its first window, for tests and for connections to start from.
    pub fn new(initial_cwnd: u32, mss: u32, rng: Rng) -> Tp {
        Tp {
            snd_cwnd: initial_cwnd,
            snd_cwnd_cnt: 0,
            snd_cwnd_clamp: u32::MAX,
            snd_ssthresh: INFINITE_SSTHRESH,
            prior_cwnd: 0,
            packets_out: 0,
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            cwnd_limited: false,
            max_packets_out: 0,
            ca_state: CaState::Open,
            snd_una: 0,
            snd_nxt: 0,
            mss,
            srtt_us: 0,
            mdev_us: 0,
            min_rtt_us: u32::MAX,
            delivered: 0,
            delivered_ce: 0,
            delivered_mstamp_us: 0,
            first_tx_mstamp_us: 0,
            lost: 0,
            app_limited: 0,
            bytes_acked: 0,
            lsndtime_us: 0,
            now_us: 0,
            hz: 1000,
            counts_acks: false,
            pacing_rate: u64::MAX,
            pacing: false,
            rcv_tsval: 0,
            rcv_tsecr: 0,
            ecn_ok: false,
            sack_ok: true,
            accurate_ecn: false,
            ecn_demand_cwr: false,
            send_ack_now: false,
            rng,
        }
    }

    /// Segments believed to be in the network (RFC 6675 §4, "pipe").
    #[inline]
    pub fn packets_in_flight(&self) -> u32 {
        (self.packets_out + self.retrans_out).saturating_sub(self.sacked_out + self.lost_out)
    }

    /// Whether the window grows by slow start; Linux 2.6 goes one segment beyond `ssthresh`.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.snd_cwnd < self.snd_ssthresh
            || (self.counts_acks && self.snd_cwnd == self.snd_ssthresh)
    }

    /// Whether the flow uses its window, so that it may grow (RFC 7661 §3; in slow start a flow
    /// that used half of it may still double).
    #[inline]
    pub fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited || (self.in_slow_start() && self.snd_cwnd < 2 * self.max_packets_out)
    }

    /// Clock ticks since the start of the run.
    #[inline]
    pub fn jiffies(&self) -> u64 {
        self.now_us * u64::from(self.hz) / 1_000_000
    }

    /// Clock ticks in `us` microseconds, rounded up as the kernel rounds durations.
    #[inline]
    pub fn us_to_jiffies(&self, us: u64) -> u64 {
        (us * u64::from(self.hz)).div_ceil(1_000_000)
    }

    /// Milliseconds of `jiffies` clock ticks.
    #[inline]
    pub fn jiffies_to_ms(&self, jiffies: u64) -> u64 {
        jiffies * 1000 / u64::from(self.hz)
    }

    /// Slow start over `acked` segments: one segment for each, up to `ssthresh`. Returns the
    /// segments that are left for congestion avoidance. In Linux 2.6 an ACK serves one or the
    /// other.
    #[inline]
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        if self.counts_acks {
            self.snd_cwnd = (self.snd_cwnd + acked).min(self.snd_cwnd_clamp);
            return 0;
        }
        let cwnd = (self.snd_cwnd + acked).min(self.snd_ssthresh);
        let left = acked - (cwnd - self.snd_cwnd);
        self.snd_cwnd = cwnd.min(self.snd_cwnd_clamp);
        left
    }

    /// How most variants begin to grow: the segments of `acked` that are left for congestion
    /// avoidance once slow start has had its part. Nothing where it takes all, or where the flow
    /// does not use its window.
    #[inline]
    pub fn left_after_slow_start(&mut self, acked: u32) -> Option<u32> {
        if !self.is_cwnd_limited() {
            return None;
        }
        if !self.in_slow_start() {
            return Some(acked);
        }
        Some(self.slow_start(acked)).filter(|left| *left > 0)
    }

    /// Additive increase: one segment for every `w` of the `acked` segments, the remainder kept. In
    /// Linux 2.6 the ACK that grants the segment is not counted itself: one for every `w` + 1 ACKs.
    #[inline]
    pub fn cong_avoid_ai(&mut self, w: u32, acked: u32) {
        if self.counts_acks {
            if self.snd_cwnd_cnt >= w {
                self.snd_cwnd = (self.snd_cwnd + 1).min(self.snd_cwnd_clamp);
                self.snd_cwnd_cnt = 0;
            } else {
                self.snd_cwnd_cnt += acked;
            }
            return;
        }
        // Credit gathered under a larger `w` buys one segment at once.
        if self.snd_cwnd_cnt >= w {
            self.snd_cwnd_cnt = 0;
            self.snd_cwnd += 1;
        }
        self.snd_cwnd_cnt += acked;
        if self.snd_cwnd_cnt >= w {
            let delta = self.snd_cwnd_cnt / w;
            self.snd_cwnd_cnt -= delta * w;
            self.snd_cwnd += delta;
        }
        self.snd_cwnd = self.snd_cwnd.min(self.snd_cwnd_clamp);
    }

    /// Reno's growth, which most variants fall back on: slow start, then one segment a window.
    #[inline]
    pub fn reno_cong_avoid(&mut self, acked: u32) {
        if let Some(left) = self.left_after_slow_start(acked) {
            self.cong_avoid_ai(self.snd_cwnd, left);
        }
    }

    /// Half the window, at least two segments (RFC 5681 §3.1).
    #[inline]
    pub fn reno_ssthresh(&self) -> u32 {
        (self.snd_cwnd / 2).max(2)
    }

    /// The window before a reduction that proved to be spurious.
    #[inline]
    pub fn reno_undo_cwnd(&self) -> u32 {
        self.snd_cwnd.max(self.prior_cwnd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_acks_are_counted_growth_is_that_of_linux_2_6() {
        let mut tp = Tp::new(10, 1448, Rng::new(1, "acks"));
        tp.snd_ssthresh = 10;
        assert!(!tp.in_slow_start());
        tp.counts_acks = true;
        // Slow start goes one segment beyond the threshold, and its ACK does not count twice.
        assert!(tp.in_slow_start());
        assert_eq!((tp.slow_start(1), tp.snd_cwnd), (0, 11));
        assert!(!tp.in_slow_start());
        // Eleven ACKs are counted, the twelfth grants the segment.
        for _ in 0..11 {
            tp.cong_avoid_ai(11, 1);
        }
        assert_eq!(tp.snd_cwnd, 11);
        tp.cong_avoid_ai(11, 1);
        assert_eq!((tp.snd_cwnd, tp.snd_cwnd_cnt), (12, 0));
    }
}
