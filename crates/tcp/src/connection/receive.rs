//! What arrives: the fast path, timestamps, data, the clock.

use super::Connection;
use super::parts::status::State;
use crate::cc::CaEvent;
use crate::segment::{Ecn, Flags, Segment};
use crate::seq::{after, before};
use trammel_core::time::Time;

impl Connection {
    /// For a segment that comes. Those of one instant, as a token bucket lets them through, are
    /// taken in a microsecond apart, as by any processor: else what answers the second would seem
    /// to RACK to have left with what answers the first.
    #[inline]
    fn read_clock_anew(&mut self, now: Time) {
        self.arrivals.before = if now == self.arrivals.at {
            self.arrivals.before + 1
        } else {
            0
        };
        self.arrivals.at = now;
        self.tp.now_us = self.tp.now_us.max(now.as_us() + self.arrivals.before);
    }

    /// Takes in a segment at `now`. Time must not run backwards from call to call.
    #[inline]
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        self.take(now, segment);
        #[cfg(debug_assertions)]
        self.check_sometimes();
    }

    #[inline]
    pub(super) fn take(&mut self, now: Time, segment: &Segment) {
        self.read_clock_anew(now);
        if self.state != State::Established || !self.is_expected(segment) {
            return self.on_segment_slowly(now, segment);
        }
        if self.handshake.timestamps {
            self.note_timestamp(segment);
        }
        if self.tp.accurate_ecn {
            self.count_arrival(segment);
        }
        // A receiver of bulk data has nothing outstanding: the ACK in each segment says nothing
        // new.
        let bulk = segment.len > 0
            && segment.sack_count == 0
            && segment.ack == self.tp.snd_una
            && u32::from(segment.window) << self.peer_window.scale == self.peer_window.size
            && self.board.is_empty()
            && self.unsent() == 0;
        if !bulk {
            if !self.on_ack(now, segment) {
                return;
            }
            self.output.new_data = true;
        }
        if segment.len > 0 {
            self.on_data(now, segment);
            self.on_fin_in_order(now);
        }
    }

    /// Whether a segment needs no more than its ACK and its data looked at: an ACK without other
    /// flags, in the window, with the options agreed on.
    #[inline]
    fn is_expected(&self, segment: &Segment) -> bool {
        segment.flags.without(self.arrivals.harmless) == Flags::ACK
            && segment.options.timestamps == self.handshake.timestamps
            && !before(segment.seq, self.receiver.rcv_nxt)
            && !after(
                segment.seq.wrapping_add(segment.len),
                self.receiver.right_edge(),
            )
            && (!self.handshake.timestamps || !before(segment.ts_val, self.receiver.ts_recent))
    }

    #[inline]
    pub(super) fn note_timestamp(&mut self, segment: &Segment) {
        self.arrivals.is_newer = after(segment.ts_val, self.receiver.ts_recent);
        // RFC 7323 §4.3: only a segment that touches what was last acknowledged is echoed; and none
        // whose ACK cannot be true, of which nothing counts. One that came late does not set the
        // clock back.
        if !after(segment.seq, self.receiver.rcv_wup)
            && !before(segment.ts_val, self.receiver.ts_recent)
            && self.is_possible_ack(segment.ack)
        {
            self.receiver.ts_recent = segment.ts_val;
        }
        self.tp.rcv_tsval = segment.ts_val;
        self.tp.rcv_tsecr = if segment.ts_ecr == 0 {
            0
        } else {
            self.sent_at_ms(segment.ts_ecr)
        };
    }

    pub(super) fn on_data(&mut self, now: Time, segment: &Segment) {
        self.counters.data_segments_received += 1;
        self.note_congestion_mark(now, segment);
        let before = self.receiver.rcv_nxt;
        if self.handshake.timestamps && segment.ts_ecr != self.receiver.last_echo {
            self.receiver.last_echo = segment.ts_ecr;
            let ms = self.timestamp(now).wrapping_sub(segment.ts_ecr);
            if ms > 0 && self.receiver.is_full(segment.len) {
                self.receiver.rtt_sample(u64::from(ms) * 1000);
            }
        }
        if self.tp.accurate_ecn {
            if std::mem::take(&mut self.accurate.acks_next) {
                self.receiver.now = true;
            }
            self.note_repetition(segment.seq);
        }
        if self.receiver.must_flush(segment) {
            self.output.extra_ack = Some(self.pure_ack(now));
            self.output.rare = true;
            self.receiver.flushed();
        }
        self.receiver.on_data(now, segment, self.app.auto_read);
        self.counters.bytes_delivered += u64::from(self.receiver.rcv_nxt.wrapping_sub(before));
        if self.tp.send_ack_now {
            self.tp.send_ack_now = false;
            self.receiver.now = true;
        }
    }

    /// The sender says that it has reduced its window (RFC 3168 §6.1.3). It may be so small that
    /// the sender waits for each ACK.
    pub(super) fn note_reduction(&mut self, segment: &Segment) {
        if self.is_classic_ecn() && segment.flags.has(Flags::CWR) {
            self.tp.ecn_demand_cwr = false;
            self.receiver.now |= segment.len > 0;
        }
    }

    /// Congestion marks on a segment that came (RFC 3168 §6.1.3; RFC 8257 §3.2 through the
    /// variant).
    #[inline]
    pub(super) fn note_congestion_mark(&mut self, now: Time, segment: &Segment) {
        if !self.tp.ecn_ok {
            return;
        }
        // What has come before says nothing of the path now.
        let end = segment.seq.wrapping_add(segment.len);
        if !after(end, self.receiver.rcv_nxt) {
            return;
        }
        match segment.ecn {
            Ecn::Ce => {
                self.counters.ce_received += 1;
                self.cc.cwnd_event(&mut self.tp, CaEvent::EcnIsCe);
                if !self.tp.accurate_ecn {
                    // A variant that echoes by itself has asked for an ACK where one is needed.
                    if !self.tp.ecn_demand_cwr {
                        self.receiver.hurry();
                    }
                    self.tp.ecn_demand_cwr = true;
                }
                self.arrivals.ecn_seen = true;
            }
            Ecn::Ect0 | Ecn::Ect1 => {
                self.cc.cwnd_event(&mut self.tp, CaEvent::EcnNoCe);
                self.arrivals.ecn_seen = true;
            }
            // Of a sender whose data is ECN-capable it is a retransmission.
            Ecn::NotEct if self.arrivals.ecn_seen => self.receiver.hurry(),
            Ecn::NotEct => {}
        }
        if self.tp.send_ack_now && self.receiver.owed && self.receiver.delayed != Time::MAX {
            // What came before this segment is acknowledged with the mark that belonged to it, even
            // where the segment itself says that the sender has heard of it.
            let new = self.tp.ecn_demand_cwr;
            self.tp.ecn_demand_cwr = !new;
            self.output.extra_ack = Some(self.pure_ack(now));
            self.output.rare = true;
            self.tp.ecn_demand_cwr = new;
        }
    }

    /// RFC 5961: an unexpected SYN or RST is answered, and the true peer would reset.
    pub(super) fn challenge(&mut self) {
        self.receiver.owed = true;
        self.receiver.now = true;
    }
}
