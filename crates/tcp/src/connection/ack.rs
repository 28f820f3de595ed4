//! What an ACK acknowledges: cumulative and selective, round-trip samples, delivery-rate samples.

use super::Connection;
use super::parts::ack_news::AckNews;
use super::parts::status::State;
use crate::cc::{AckFlags, AckSample, CaState, RateSample};
use crate::scoreboard::mark;
use crate::segment::{Flags, Segment};
use crate::seq::{after, before};
use trammel_core::time::Time;

/// Window of the minimum-RTT filter, ms (`tcp_min_rtt_wlen`).
const MIN_RTT_WINDOW_MS: u64 = 300_000;

impl Connection {
    /// Processes the acknowledgement in a segment of an open connection. False where it cannot be
    /// true: then nothing of the segment counts.
    pub(super) fn on_ack(&mut self, now: Time, segment: &Segment) -> bool {
        self.counters.acks_received += 1;
        let ack = segment.ack;
        let una = self.tp.snd_una;
        if !self.is_possible_ack(ack) {
            // RFC 9293 §3.10.7.4 answers an ACK of what was never sent; Linux before 7.1, while the
            // connection is open, drops it in silence.
            let is_dropped = after(ack, self.tp.snd_nxt)
                && self.state == State::Established
                && !self.stack.answers_future_acks;
            if !is_dropped {
                self.challenge();
            }
            return false;
        }
        self.rate.sample.acked_sacked = 0;
        if before(ack, una) {
            // Old: its SACK blocks may still tell something.
            if self.handshake.sack && segment.sack_count > 0 && !self.board.is_empty() {
                self.old_ack(now, segment);
            }
            return true;
        }
        let mut news = AckNews {
            prior_una: una,
            advanced: ack != una,
            ..AckNews::default()
        };
        let window_changed = self.update_window(segment, ack);
        news.not_duplicate = window_changed || segment.len > 0 || segment.flags.has(Flags::FIN);
        if news.advanced {
            self.timers.retransmits = 0;
        }
        self.timers.unanswered_probes = 0;
        if self.board.is_empty() {
            // Nothing was outstanding: at most a probe of a closed window is answered.
            self.tp.snd_una = ack;
            if self.tp.accurate_ecn {
                // Segments without payload may have been marked.
                self.tp.delivered_ce += u64::from(self.marks_reported(segment, &news, 0, 0));
            }
            if segment.sack_count > 0
                && self.handshake.sack
                && self.take_duplicate(segment, &mut news)
            {
                // A reduction may still prove to have been for nothing.
                self.alert(now, &mut news, false);
            }
            self.answer_tail_loss_probe(ack, &news);
            self.window_may_have_opened();
            return true;
        }
        self.tp.snd_una = ack;
        let in_flight = self.tp.packets_in_flight();
        let delivered_before = self.tp.delivered;
        let lost_before = self.tp.lost;
        let highest_before = self.sack.highest;
        self.rate.sample = RateSample {
            prior_in_flight: in_flight,
            delivered: -1,
            interval_us: -1,
            rtt_us: -1,
            ..RateSample::default()
        };

        let echo = self.is_classic_ecn() && segment.flags.has(Flags::ECE);
        news.ece = echo;
        let mut sack_rtt = (-1, -1);
        if segment.sack_count > 0 && self.handshake.sack {
            sack_rtt = self.take_sack(segment, &mut news);
        }
        self.take_cumulative(ack, &mut news, sack_rtt, highest_before);
        self.timers.probes = 0;
        news.delivered = (self.tp.delivered - delivered_before) as u32;
        let mut as_predicted = !echo;
        if self.tp.accurate_ecn {
            let (delivered, bytes) = (news.delivered, news.delivered_bytes);
            let marks = self.marks_reported(segment, &news, delivered, bytes);
            news.ece = marks > 0;
            as_predicted = marks == 0 && !segment.accecn.is_some();
            self.count_marks(marks);
        } else if echo {
            self.count_marks(news.delivered);
        }
        // Linux predicts the whole header of an ACK: another window or any option leads to the slow
        // path.
        let is_predicted = segment.sack_count == 0 && !window_changed && as_predicted;
        let fast_path = news.advanced && is_predicted;
        let flags = AckFlags {
            fast_path,
            window_update: news.not_duplicate,
            ece: news.ece,
        };
        // The variant hears of the ACK when its round trip and its deliveries are known.
        self.cc.in_ack_event(&mut self.tp, flags);
        self.answer_tail_loss_probe(ack, &news);

        let in_order = self.tp.ca_state == CaState::Open
            && !news.sacked
            && !news.ece
            && (news.advanced || news.not_duplicate);
        let mut retransmit = false;
        if !in_order || self.tp.lost_out > 0 {
            let duplicate = !news.advanced && !news.not_duplicate && !self.board.is_empty();
            retransmit = self.alert(now, &mut news, duplicate);
            news.delivered = (self.tp.delivered - delivered_before) as u32;
        }
        if news.set_timer {
            self.set_transmit_timer(now);
        }
        let lost = (self.tp.lost - lost_before) as u32;
        self.finish_rate_sample(news.delivered, lost);
        self.control_window(ack, &news, lost);
        if retransmit {
            self.output.retransmission = true;
        }
        true
    }

    /// Segments whose delivery this ACK reports were marked.
    fn count_marks(&mut self, marks: u32) {
        self.tp.delivered_ce += u64::from(marks);
        self.rate.sample.delivered_ce = i64::from(marks);
    }

    //= rfc5961 §5.2
    //# The ACK value is considered acceptable only if it is in the range of
    //# ((SND.UNA - MAX.SND.WND) <= SEG.ACK <= SND.NXT).
    /// Whether the peer may have sent this acknowledgement.
    #[inline]
    pub(super) fn is_possible_ack(&self, ack: u32) -> bool {
        let oldest = self.tp.snd_una.wrapping_sub(self.peer_window.largest);
        !after(ack, self.tp.snd_nxt) && !before(ack, oldest)
    }

    /// RFC 9293 §3.10.7.4: a newer segment's window counts. Returns whether it changed.
    fn update_window(&mut self, segment: &Segment, ack: u32) -> bool {
        let window = u32::from(segment.window) << self.peer_window.scale;
        let newer = after(ack, self.tp.snd_una)
            || after(segment.seq, self.peer_window.updated_by)
            || (segment.seq == self.peer_window.updated_by && window > self.peer_window.size);
        if !newer {
            return false;
        }
        self.peer_window.updated_by = segment.seq;
        let changed = window != self.peer_window.size;
        self.peer_window.size = window;
        self.peer_window.largest = self.peer_window.largest.max(window);
        changed
    }

    /// An ACK below `snd_una`: only its SACK blocks count.
    fn old_ack(&mut self, now: Time, segment: &Segment) {
        let mut news = AckNews {
            prior_una: self.tp.snd_una,
            ..AckNews::default()
        };
        let before = self.tp.delivered;
        self.take_sack(segment, &mut news);
        news.delivered = (self.tp.delivered - before) as u32;
        if self.alert(now, &mut news, false) {
            self.output.retransmission = true;
        }
    }

    /// Takes what `ack` covers off the board.
    fn take_cumulative(
        &mut self,
        ack: u32,
        news: &mut AckNews,
        sack_rtt: (i64, i64),
        highest_before: u64,
    ) {
        let now = self.tp.now_us as u32;
        let mut segments = 0_u32;
        let mut first_sent: Option<u32> = None;
        let mut last_sent = 0;
        let mut reordered: Option<u32> = None;
        if self.board.head() >= highest_before {
            let clean = self.board.clean_until(ack);
            if clean > 0 {
                // The common case: sent once, in order, never in doubt. Only the first and the last
                // count.
                let first = self.board.head();
                let last = first + clean - 1;
                let newest = *self.board.get(last);
                first_sent = Some(self.board.get(first).tx_us);
                last_sent = newest.tx_us;
                segments = clean as u32;
                if !after(self.board.get(first).end, self.recovery.high_seq) {
                    news.original_acked = true;
                }
                self.tp.delivered += clean;
                news.delivered_bytes += newest.end.wrapping_sub(self.board.get(first).seq);
                if self.detection_is_rack() {
                    let (tx_us, end) = (newest.tx_us, newest.end);
                    self.rack
                        .delivered(now, self.tp.min_rtt_us, tx_us, end, false);
                }
                self.sample_delivery(last);
                self.board.pop_many(clean);
            }
        }
        while let Some(sent) = self.board.front().copied() {
            if after(sent.end, ack) {
                if after(ack, sent.seq) {
                    // Part of a segment: what is left of it begins later.
                    self.board
                        .front_mut()
                        .expect("the front was copied above")
                        .seq = ack;
                }
                break;
            }
            segments += 1;
            if sent.marks & !(mark::APP_LIMITED | mark::SAMPLED | mark::FIN) == 0 {
                // The common case: sent once, never in doubt.
                first_sent.get_or_insert(sent.tx_us);
                last_sent = sent.tx_us;
                if !after(sent.end, self.recovery.high_seq) {
                    news.original_acked = true;
                }
                if self.board.head() < highest_before {
                    reordered.get_or_insert(sent.seq);
                }
                self.tp.delivered += 1;
                news.delivered_bytes += sent.end.wrapping_sub(sent.seq);
            } else {
                self.take_marked(&sent, news, &mut first_sent, &mut last_sent, &mut reordered);
            }
            if self.detection_is_rack()
                && !sent.is(mark::SACKED)
                && !(sent.is(mark::EVER_RETRANS) && self.echo_is_before(sent.tx_us))
            {
                self.rack.delivered(
                    now,
                    self.tp.min_rtt_us,
                    sent.tx_us,
                    sent.end,
                    sent.is(mark::EVER_RETRANS),
                );
            }
            self.sample_delivery(self.board.head());
            self.board.pop();
        }
        if segments > 0 {
            self.tp.packets_out -= segments;
            news.acked = true;
            news.set_timer = true;
        }
        if !self.handshake.sack {
            self.take_duplicates_back(segments, news);
        }
        let advanced = ack.wrapping_sub(news.prior_una);
        // The FIN takes a number and is no byte.
        let fin = u32::from(self.app.fin_sent && advanced > 0 && ack == self.tp.snd_nxt);
        self.tp.bytes_acked += u64::from(advanced - fin);
        if self.board.is_empty() {
            self.sack.highest = self.board.head();
            self.sack.forget();
        }
        let mut rtt = -1_i64;
        let mut newest = -1_i64;
        if let Some(first) = first_sent
            && !news.retransmitted_acked
        {
            rtt = i64::from(now.wrapping_sub(first));
            newest = i64::from(now.wrapping_sub(last_sent));
        }
        if sack_rtt.0 >= 0 {
            if newest < 0 || sack_rtt.1 < newest {
                newest = sack_rtt.1;
            }
            if rtt < 0 {
                rtt = sack_rtt.0;
            }
        }
        self.take_rtt(rtt, newest, news);
        if segments > 0 {
            if let Some(low) = reordered
                && self.handshake.sack
            {
                self.note_reordering_below(low, highest_before);
            }
        } else if sack_rtt.0 >= 0 {
            // Data sent after the head was last sent has arrived: the timer need not run from the
            // head.
            if let Some(head) = self.board.front()
                && sack_rtt.0 > i64::from(now.wrapping_sub(head.tx_us))
            {
                news.set_timer = true;
            }
        }
        self.rate.sample.is_ack_delayed = segments == 1 && advanced < self.tp.mss && sack_rtt.0 < 0;
        let sample = AckSample {
            pkts_acked: segments,
            rtt_us: self.rate.sample.rtt_us as i32,
            // With the pipe full, what was delivered since a segment was sent is what flew with it.
            in_flight: (self.tp.delivered - self.rate.sample.prior_delivered) as u32,
        };
        self.cc.pkts_acked(&mut self.tp, &sample);
    }

    /// An acknowledged segment that had been SACKed, lost or retransmitted.
    #[cold]
    fn take_marked(
        &mut self,
        sent: &crate::scoreboard::Sent,
        news: &mut AckNews,
        first_sent: &mut Option<u32>,
        last_sent: &mut u32,
        reordered: &mut Option<u32>,
    ) {
        if sent.is(mark::EVER_RETRANS) {
            if sent.is(mark::RETRANS) {
                self.tp.retrans_out -= 1;
            }
            news.retransmitted_acked = true;
        } else if !sent.is(mark::SACKED) {
            first_sent.get_or_insert(sent.tx_us);
            *last_sent = sent.tx_us;
            if !after(sent.end, self.recovery.high_seq) {
                news.original_acked = true;
            }
            reordered.get_or_insert(sent.seq);
        }
        if sent.is(mark::SACKED) {
            self.tp.sacked_out -= 1;
        } else {
            self.tp.delivered += 1;
            news.delivered_bytes += sent.end.wrapping_sub(sent.seq);
        }
        if sent.is(mark::LOST) {
            self.tp.lost_out -= 1;
        }
    }

    #[inline]
    fn detection_is_rack(&self) -> bool {
        self.stack.detection == crate::stack::LossDetection::Rack && self.handshake.sack
    }

    fn note_reordering_below(&mut self, low: u32, highest_before: u64) {
        if highest_before > self.board.head() {
            self.note_reordering(low);
        } else if highest_before == self.board.head() && highest_before > 0 {
            // All that was SACKed is acknowledged as well; the hole lay below it.
            let metric = self.tp.snd_una.wrapping_sub(low);
            if metric > self.recovery.reordering.saturating_mul(self.tp.mss) {
                self.recovery.reordering = metric.div_ceil(self.tp.mss).min(300);
            }
            self.rack.reordering_seen = true;
        }
    }

    /// Feeds the estimators: `rtt` from the oldest segment acknowledged, `newest` from the latest.
    fn take_rtt(&mut self, rtt: i64, newest: i64, news: &AckNews) {
        let mut rtt = rtt;
        let mut newest = newest;
        if rtt < 0 && self.handshake.timestamps && self.tp.rcv_tsecr != 0 && news.acked {
            // RFC 7323 §4.1: with timestamps even a retransmission gives a sample.
            let now_ms = (self.tp.now_us / 1000) as u32;
            let ms = now_ms.wrapping_sub(self.tp.rcv_tsecr);
            if ms < 1 << 20 {
                rtt = i64::from(ms.max(1)) * 1000;
                newest = rtt;
            }
        }
        self.rate.sample.rtt_us = newest;
        if rtt < 0 {
            return;
        }
        let us = newest.max(1) as u64;
        if self.tp.min_rtt_us == u32::MAX {
            self.rtt.min.reset(self.tp.now_us / 1000, us);
        } else {
            self.rtt
                .min
                .min(MIN_RTT_WINDOW_MS, self.tp.now_us / 1000, us);
        }
        self.tp.min_rtt_us = self.rtt.min.get() as u32;
        self.sample_rtt(rtt as u32);
        self.timers.backoff = 0;
    }

    /// Feeds the estimator of the timeout, and tells the receiver, whose delayed ACKs follow it.
    pub(super) fn sample_rtt(&mut self, rtt_us: u32) {
        self.rtt.sample(&mut self.tp, &self.stack, rtt_us);
        self.receiver
            .learn_path(u64::from(self.tp.srtt_us >> 3), self.rtt.rto_us);
    }

    /// Grows, reduces or leaves the window, as the state demands.
    fn control_window(&mut self, ack: u32, news: &AckNews, lost: u32) {
        if self.owns_window {
            self.cc.cong_control(&mut self.tp, &self.rate.sample);
            // As Linux stores it: the size of bursts follows from what is left.
            self.tp.pacing_rate = self.tp.pacing_rate.min(self.stack.max_pacing_rate);
            return;
        }
        if matches!(self.tp.ca_state, CaState::Cwr | CaState::Recovery) {
            self.reduce_window(news, lost);
            return;
        }
        // Where reordering is known, SACKs count as progress too.
        let reorders = self.recovery.reordering > self.stack.reordering;
        if news.acked || (reorders && news.sacked) {
            let acked = if !self.stack.byte_counting {
                1
            } else if self.tp.in_slow_start() {
                //= rfc5681 §3.1
                //# cwnd += min (N, SMSS)
                news.delivered.min(self.stack.slow_start_per_ack)
            } else {
                news.delivered
            };
            self.cc.cong_avoid(&mut self.tp, ack, acked);
            if self.tp.ca_state == CaState::Cwr {
                // The variant itself has begun a reduction (CDG's delay gradient).
                self.adopt_reduction();
            }
        }
    }
}
