//! Segmentation offload: a sender that works in super-segments gathers them before it sends.
//!
//! With TSO the stack hands the device up to 64 KB at once, sized to a millisecond of the pacing
//! rate and more on short paths (autosizing). While an ACK is sure to come soon it waits until such
//! a burst fits the window, or a third of the window does. On the wire the packets are the same,
//! only closer together. Where segments are paced it is bursts that are: all of one leaves at once,
//! and the pause after it is that of all of its bytes.
//!
//! Source: Linux `tcp_tso_autosize` and `tcp_tso_should_defer` as documented by their sysctls
//! (`tcp_tso_win_divisor`, `tcp_tso_rtt_log`, `tcp_min_tso_segs`).

use super::Connection;
use crate::cc::CaState;

/// Largest super-segment, bytes.
const MAX_BURST_BYTES: u64 = 65_536;
/// A burst is a 2⁻¹⁰ part of a second of the pacing rate.
const PACING_SHIFT: u32 = 10;
/// Every 2⁹ µs of minimum RTT halves what short paths get on top (`tcp_tso_rtt_log`).
const RTT_LOG: u32 = 9;
/// Part of the window that is always worth sending (`tcp_tso_win_divisor`).
const WINDOW_DIVISOR: u32 = 3;
/// A sender that has been silent for longer does not wait, µs.
const RECENT_US: u64 = 1_000;

impl Connection {
    /// Segments of a full burst.
    pub(super) fn burst_goal(&self) -> u32 {
        let mut bytes = self.pacing_rate().min(1 << 50) >> PACING_SHIFT;
        let halvings = self.tp.min_rtt_us >> RTT_LOG;
        if halvings < 32 {
            bytes += MAX_BURST_BYTES >> halvings;
        }
        let segments = bytes.min(MAX_BURST_BYTES) / u64::from(self.tp.mss);
        (segments as u32).max(self.cc.min_tso_segs(&self.tp))
    }

    /// Whether new data waits for a larger burst. Within a burst that has begun it does not.
    pub(super) fn waits_for_burst(&mut self) -> bool {
        if self.burst.left > 0 {
            self.burst.left -= 1;
            return false;
        }
        let room = self.tp.snd_cwnd - self.tp.packets_in_flight().min(self.tp.snd_cwnd);
        let goal = self.burst_goal();
        let unsent = self.queued();
        let head_age = self.board.front().map_or(u32::MAX, |sent| {
            (self.tp.now_us as u32).wrapping_sub(sent.tx_us)
        });
        let worth_it = room >= goal
            || room >= self.tp.snd_cwnd / WINDOW_DIVISOR
            || u64::from(room) * u64::from(self.tp.mss) >= unsent
            || self.tp.ca_state >= CaState::Recovery
            || self.tp.now_us - self.tp.lsndtime_us > RECENT_US
            // The next ACK is due later than half a round trip from now.
            || head_age < self.tp.srtt_us >> 4;
        if worth_it {
            self.burst.left = room.min(goal).saturating_sub(1);
        }
        !worth_it
    }
}
