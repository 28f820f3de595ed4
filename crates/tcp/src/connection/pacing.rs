//! Pacing: segments leave at a rate rather than as fast as windows allow.

use super::Connection;
use trammel_core::time::Time;

/// Segments that leave before pacing begins: the first window goes out as it is.
const UNPACED_SEGMENTS: u64 = 10;

impl Connection {
    /// Whether pacing holds the next segment back; if so its timer is set.
    #[inline]
    pub(super) fn is_paced_out(&mut self, now: Time) -> bool {
        if !self.tp.pacing || self.pacing.until_ns <= now.as_ns() {
            return false;
        }
        self.pacing.timer = Time::from_ns(self.pacing.until_ns);
        true
    }

    /// A segment of `bytes` payload leaves: moves the pacing clock. Returns the instant it is
    /// stamped with.
    #[inline]
    pub(super) fn pace(&mut self, now: Time, bytes: u32) -> u32 {
        if !self.tp.pacing {
            return self.tp.now_us as u32;
        }
        let now_ns = now.as_ns();
        let prior = self.pacing.until_ns;
        let start = prior.max(now_ns);
        self.pacing.until_ns = start;
        let rate = self.pacing_rate();
        if rate != u64::MAX && rate > 0 && self.counters.data_segments_sent >= UNPACED_SEGMENTS {
            let mut gap = u64::from(bytes) * 1_000_000_000 / rate;
            // A late timer is made good, by half of the gap at most.
            gap -= (gap / 2).min(start - prior);
            self.pacing.until_ns += gap;
        }
        // What leaves ahead of its turn, a probe or after a timeout, is stamped with the time all
        // the same.
        self.tp.now_us as u32
    }

    /// Pacing rate in bytes/s: the variant's own, or the one that the kernel derives from the
    /// window (twice the rate of the window in slow start, 1.2 times afterwards) and shows without
    /// using it; neither is above `SO_MAX_PACING_RATE`.
    pub fn pacing_rate(&self) -> u64 {
        let (tp, most) = (&self.tp, self.stack.max_pacing_rate);
        if self.owns_window || tp.srtt_us == 0 {
            return tp.pacing_rate.min(most);
        }
        let percent = if tp.snd_cwnd < tp.snd_ssthresh / 2 {
            200
        } else {
            120
        };
        let window = u64::from(tp.snd_cwnd.max(tp.packets_out)) * u64::from(tp.mss);
        // A control of a user's may set any window.
        (window.saturating_mul(percent * 80_000) / u64::from(tp.srtt_us)).min(most)
    }
}
