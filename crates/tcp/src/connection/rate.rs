//! Delivery-rate samples: each ACK gives the rate at which its segments were delivered.
//!
//! Source: draft-ietf-ccwg-bbr, "Delivery Rate Samples"; Linux `tcp_rate.c`.

use super::Connection;
use crate::scoreboard::{Flight, mark};
use crate::seq::after;

impl Connection {
    /// Segment `index` is delivered: it may end the rate sample (draft-ietf-ccwg-bbr,
    /// "UpdateRateSample").
    #[inline]
    pub(super) fn sample_delivery(&mut self, index: u64) {
        let sent = self.board.get_mut(index);
        if sent.is(mark::SAMPLED) {
            return;
        }
        let newer = self.rate.sample.prior_mstamp_us == 0 || {
            let age = sent.tx_us.wrapping_sub(self.tp.first_tx_mstamp_us as u32) as i32;
            age > 0 || (age == 0 && after(sent.end, self.rate.sample.last_end_seq))
        };
        let was_sacked = sent.is(mark::SACKED);
        if was_sacked {
            sent.marks |= mark::SAMPLED;
        }
        if newer {
            let sent = *sent;
            let now = self.tp.now_us;
            // The 32-bit stamps are of the last hour: put the high half back.
            let widen = |stamp: u32| now - u64::from((now as u32).wrapping_sub(stamp));
            self.rate.sample.prior_delivered = self.tp.delivered
                - u64::from((self.tp.delivered as u32).wrapping_sub(sent.delivered));
            self.rate.sample.prior_mstamp_us = widen(sent.delivered_us);
            self.rate.sample.is_app_limited = sent.is(mark::APP_LIMITED);
            self.rate.sample.is_retrans = sent.is(mark::EVER_RETRANS);
            self.rate.sample.last_end_seq = sent.end;
            self.rate.sample.interval_us = i64::from(sent.tx_us.wrapping_sub(sent.first_tx_us));
            self.tp.first_tx_mstamp_us = widen(sent.tx_us);
            if self.wants_flight {
                self.rate.sent_with = self.board.flight(index);
            }
        }
    }

    /// Completes the rate sample.
    pub(super) fn finish_rate_sample(&mut self, delivered: u32, lost: u32) {
        if self.tp.app_limited > 0 && self.tp.delivered > self.tp.app_limited {
            self.tp.app_limited = 0;
        }
        if delivered > 0 {
            self.tp.delivered_mstamp_us = self.tp.now_us;
        }
        let rate = &mut self.rate.sample;
        rate.acked_sacked = delivered;
        rate.losses = lost;
        if rate.prior_mstamp_us == 0 {
            rate.delivered = -1;
            rate.interval_us = -1;
            return;
        }
        rate.delivered = (self.tp.delivered - rate.prior_delivered) as i64;
        if self.wants_flight {
            rate.tx_in_flight = self.rate.sent_with.segments;
            rate.lost = (self.tp.lost as u32).wrapping_sub(self.rate.sent_with.lost);
            rate.marked = (self.tp.delivered_ce as u32).wrapping_sub(self.rate.sent_with.marked);
        }
        rate.snd_interval_us = rate.interval_us;
        rate.rcv_interval_us = (self.tp.now_us - rate.prior_mstamp_us) as i64;
        rate.interval_us = rate.snd_interval_us.max(rate.rcv_interval_us);
        if rate.interval_us < i64::from(self.tp.min_rtt_us) {
            // Too short to be the time that delivery took.
            rate.interval_us = -1;
            return;
        }
        let (old_delivered, old_us) = self.rate.last_good;
        let (new, us) = (rate.delivered as u64, rate.interval_us as u64);
        if !rate.is_app_limited || new * old_us >= old_delivered * us {
            self.rate.last_good = (new, us);
        }
    }

    /// Segment `index` has left: keeps what is in flight with it.
    #[inline]
    pub(super) fn note_flight(&mut self, index: u64) {
        if self.wants_flight {
            let flight = Flight {
                segments: self.tp.packets_in_flight(),
                lost: self.tp.lost as u32,
                marked: self.tp.delivered_ce as u32,
            };
            self.board.set_flight(index, flight);
        }
    }

    /// Stamps for the delivery-rate sample when nothing was in flight.
    #[inline]
    pub(super) fn rate_on_send(&mut self) {
        if self.tp.packets_out == 0 {
            self.tp.first_tx_mstamp_us = self.tp.now_us;
            self.tp.delivered_mstamp_us = self.tp.now_us;
        }
    }
}
