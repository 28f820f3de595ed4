//! A congestion window that is not used decays (RFC 7661, RFC 2861).

use super::Connection;
use crate::cc::{CaEvent, CaState};

impl Connection {
    /// Remembers whether the window is used in full (RFC 7661 §3), and lets an unused one decay.
    pub(super) fn validate_window(&mut self, limited: bool) {
        let tp = &mut self.tp;
        if !crate::seq::before(tp.snd_una, self.usage.round_end)
            || limited
            || (!tp.cwnd_limited && tp.packets_out > tp.max_packets_out)
        {
            tp.cwnd_limited = limited;
            tp.max_packets_out = tp.packets_out;
            self.usage.round_end = tp.snd_nxt;
        }
        if tp.is_cwnd_limited() {
            self.usage.used = 0;
            self.usage.stamp_us = tp.now_us;
            return;
        }
        self.usage.used = self.usage.used.max(tp.packets_out);
        if self.stack.slow_start_after_idle
            && !self.owns_window
            && self.tp.now_us - self.usage.stamp_us >= self.rto_us()
        {
            self.decay_unused_window();
        }
    }

    /// RFC 2861 §3.1: a window that was not used for a timeout falls half-way to what was. Not
    /// where the application waits for room in the send buffer: it would use more.
    fn decay_unused_window(&mut self) {
        if self.tp.ca_state == CaState::Open && !self.application_waits() {
            let used = self.usage.used.max(self.stack.initial_window);
            if used < self.tp.snd_cwnd {
                let cwnd = self.tp.snd_cwnd;
                self.tp.snd_ssthresh = self.tp.snd_ssthresh.max((cwnd >> 1) + (cwnd >> 2));
                self.tp.snd_cwnd = u32::midpoint(cwnd, used);
            }
            self.usage.used = 0;
        }
        self.usage.stamp_us = self.tp.now_us;
    }

    /// RFC 5681 §4.1: after an idle time the window restarts, halved once for each timeout of it.
    pub(super) fn restart_after_idle(&mut self) {
        if !self.stack.slow_start_after_idle || self.owns_window || self.tp.packets_out > 0 {
            return;
        }
        let mut idle = self.tp.now_us - self.tp.lsndtime_us.min(self.tp.now_us);
        let rto = self.rto_us();
        if self.tp.lsndtime_us == 0 || idle <= rto {
            return;
        }
        self.cc.cwnd_event(&mut self.tp, CaEvent::CwndRestart);
        let cwnd = self.tp.snd_cwnd;
        let floor = self.stack.initial_window.min(cwnd);
        self.tp.snd_ssthresh = self.tp.snd_ssthresh.max((cwnd >> 1) + (cwnd >> 2));
        while idle > rto && self.tp.snd_cwnd > floor {
            idle -= rto;
            self.tp.snd_cwnd >>= 1;
        }
        self.tp.snd_cwnd = self.tp.snd_cwnd.max(floor);
        self.usage.stamp_us = self.tp.now_us;
        self.usage.used = 0;
    }
}
