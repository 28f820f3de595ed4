//! What to send next: resets and SYNs, retransmissions, new data, probes, ACKs, in this order.

use super::Connection;
use super::parts::output::Reset;
use super::parts::status::State;
use super::parts::timers::Pending;
use super::parts::usage::Bound;
use crate::cc::{CaEvent, CaState};
use crate::scoreboard::{Sent, mark};
use crate::segment::{Ecn, Flags, Options, Segment};
use crate::seq::after;
use trammel_core::time::Time;

/// Bytes of a SACK option without its blocks, padded to a word, and of a block (RFC 2018 §3).
const SACK_OPTION_BYTES: u32 = 4;
const SACK_BLOCK_BYTES: u32 = 8;

impl Connection {
    /// The next segment to send at `now`, or nothing more for the present.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        let mut segment = Segment::default();
        self.poll_transmit_into(now, &mut segment)
            .then_some(segment)
    }

    /// Whether there may be something to send: without it,
    /// [`poll_transmit`](Connection::poll_transmit) gives nothing.
    #[inline]
    pub fn wants_to_transmit(&self) -> bool {
        self.output.new_data || self.output.retransmission || self.receiver.now || self.output.rare
    }

    /// As [`poll_transmit`](Connection::poll_transmit), into a segment of the caller's; false where
    /// there is nothing more to send.
    #[inline]
    pub fn poll_transmit_into(&mut self, now: Time, out: &mut Segment) -> bool {
        if !self.wants_to_transmit() {
            return false;
        }
        self.read_clock(now);
        if self.output.rare && self.transmit_other(now, out) {
            return true;
        }
        if self.output.retransmission {
            if self.retransmission(now, out) {
                return true;
            }
            self.output.retransmission = false;
        }
        while self.output.new_data {
            if self.new_data(now, out) {
                return true;
            }
            (self.app.has_more, self.app.pushes) = (false, false);
            self.end_burst(now);
            self.output.new_data = self.send_buffer.is_limited() && self.make_space();
        }
        if self.receiver.now {
            self.counters.acks_sent += 1;
            self.header(now, self.acceptable_seq(), 0, out);
            return true;
        }
        false
    }

    /// What is seldom sent: resets, SYNs, probes, and the ACK before a change of marking.
    #[cold]
    fn transmit_other(&mut self, now: Time, out: &mut Segment) -> bool {
        if let Some(reset) = self.output.reset.take() {
            *out = self.reset(now, reset);
            return true;
        }
        if self.output.syn {
            self.output.syn = false;
            *out = self.syn(now);
            return true;
        }
        if !self.is_synchronised() {
            self.output.new_data = false;
            self.output.retransmission = false;
            // A connection that is not open yet comes back here until it is.
            self.output.rare = self.state != State::Closed;
            self.receiver.now = false;
            return false;
        }
        if let Some(ack) = self.output.extra_ack.take() {
            *out = ack;
            return true;
        }
        if std::mem::take(&mut self.output.probe) {
            self.probe(now, out);
            return true;
        }
        self.output.rare = false;
        false
    }

    fn reset(&mut self, now: Time, reset: Reset) -> Segment {
        let mut segment = Segment::reset(reset.seq, reset.ack);
        //= rfc7323 §5.2
        //# If an <RST> is being generated because of a user abort, […] the Timestamps option SHOULD
        //# be included
        if reset.is_ours && self.handshake.timestamps {
            segment.options.timestamps = true;
            segment.ts_val = self.timestamp(now);
            segment.ts_ecr = self.receiver.ts_recent;
        }
        if reset.is_ours {
            self.mark_ecn(&mut segment, None);
        }
        segment
    }

    /// What ECN has a segment without new payload say: the echo of a mark. Such a segment is not
    /// ECN-capable, except of a variant that needs ECN (RFC 3168 §6.1.5 and §6.1.4; RFC 8257 §3.4).
    #[inline]
    fn mark_ecn(&mut self, segment: &mut Segment, dsack: Option<u32>) {
        if self.tp.accurate_ecn {
            self.mark_accurately(segment, dsack);
        } else if self.tp.ecn_ok {
            if self.tp.ecn_demand_cwr {
                segment.flags = segment.flags.with(Flags::ECE);
            }
            if self.cc.needs_ecn() {
                segment.ecn = Ecn::Ect0;
            }
        }
    }

    pub(super) fn is_synchronised(&self) -> bool {
        !matches!(
            self.state,
            State::Closed | State::Listen | State::SynSent | State::SynReceived
        )
    }

    /// Whether a FIN follows what the socket holds.
    fn wants_fin(&self) -> bool {
        self.app.closed && !self.app.fin_sent && self.app.written == self.app.offered
    }

    fn may_send_data(&self) -> bool {
        matches!(
            self.state,
            State::Established
                | State::CloseWait
                | State::FinWait1
                | State::Closing
                | State::LastAck
        )
    }

    /// First sequence number beyond the peer's window.
    #[inline]
    pub(super) fn window_end(&self) -> u32 {
        self.tp.snd_una.wrapping_add(self.peer_window.size)
    }

    /// Sequence number of a segment without payload: the next one, or where the peer has taken back
    /// window that it had offered, the end of what is left. Beyond that a peer takes nothing,
    /// neither data nor what an ACK says.
    #[inline]
    pub(super) fn acceptable_seq(&self) -> u32 {
        //= rfc9293 §3.8.6
        //# a sending TCP peer MUST be robust against window shrinking
        // By less than a unit of the window's scale it was rounded, not taken back (RFC 7323 §2.4).
        let beyond = self.tp.snd_nxt.wrapping_sub(self.window_end()) as i32;
        if beyond < 1 << self.peer_window.scale {
            self.tp.snd_nxt
        } else {
            self.window_end()
        }
    }

    /// SACK blocks that a header with `len` bytes of payload has room for.
    #[inline]
    fn sack_room(&self, len: u32) -> usize {
        let most = if self.handshake.timestamps { 3 } else { 4 };
        most.min(self.tp.mss.saturating_sub(len + SACK_OPTION_BYTES) / SACK_BLOCK_BYTES) as usize
    }

    /// Payload of a full segment: the MSS, less what SACK blocks and counters of ECN take of the
    /// header.
    #[inline]
    fn full_payload(&self) -> u32 {
        let has_sack = self.handshake.sack && self.receiver.has_sack();
        if has_sack || self.tp.accurate_ecn {
            self.payload_beside_options(has_sack)
        } else {
            self.tp.mss
        }
    }

    // Seldom called, and kept out of the path of each segment.
    #[inline(never)]
    fn payload_beside_options(&self, has_sack: bool) -> u32 {
        //= rfc9293 §3.7.1
        //# if there are any IP or TCP Options to be sent in a packet, then the sender must decrease
        //# the size of the TCP data accordingly
        let blocks = if has_sack {
            self.receiver.sack_count(self.sack_room(0)) as u8
        } else {
            0
        };
        self.tp.mss - self.option_bytes(blocks)
    }

    /// Payload of the next new segment: `full` bytes or all there is. A smaller part only where it
    /// is half of the largest window that the peer ever offered (RFC 9293 §3.8.6.2.1).
    #[inline]
    fn sendable(&self, unsent: u64, full: u32) -> Option<u32> {
        let len = unsent.min(u64::from(full)) as u32;
        if !after(self.tp.snd_nxt.wrapping_add(len), self.window_end()) {
            return Some(len);
        }
        let room = self.window_room();
        (room > 0 && room >= self.peer_window.largest / 2).then_some(room)
    }

    /// Bytes that the peer's window has room for.
    fn window_room(&self) -> u32 {
        if after(self.window_end(), self.tp.snd_nxt) {
            self.window_end().wrapping_sub(self.tp.snd_nxt)
        } else {
            0
        }
    }

    /// The header that every segment of the open connection carries, with `len` bytes of payload.
    #[inline]
    fn header(&mut self, now: Time, seq: u32, len: u32, segment: &mut Segment) {
        *segment = Segment {
            seq,
            ack: self.receiver.rcv_nxt,
            len,
            flags: Flags::ACK,
            window: self.receiver.advertise(),
            ..Segment::default()
        };
        if self.handshake.timestamps {
            segment.options = Options {
                timestamps: true,
                ..Options::default()
            };
            segment.ts_val = self.timestamp(now);
            segment.ts_ecr = self.receiver.ts_recent;
        }
        let mut acknowledges = true;
        let dsack = self.receiver.duplicate();
        if self.handshake.sack && self.receiver.has_sack() {
            let room = self.sack_room(len);
            segment.sack_count = self.receiver.sack_blocks(room, &mut segment.sack);
            // What goes again goes as it was cut. Where that leaves no room, an ACK that is due
            // follows.
            acknowledges = room > 0;
        }
        self.mark_ecn(segment, dsack);
        if acknowledges {
            self.receiver.acknowledged();
        }
    }

    pub(super) fn pure_ack(&mut self, now: Time) -> Segment {
        let mut segment = Segment::default();
        self.header(now, self.acceptable_seq(), 0, &mut segment);
        segment
    }

    /// Payload of sent segment `index` again. A probe does not count as a retransmission in flight:
    /// the segment is not held for lost.
    fn resend(&mut self, now: Time, index: u64, is_probe: bool, segment: &mut Segment) {
        let sent = *self.board.get(index);
        let fin = u32::from(sent.is(mark::FIN));
        let len = sent.end.wrapping_sub(sent.seq) - fin;
        let tx_us = self.pace(now, len);
        if self.tp.packets_in_flight() == 0 {
            self.cc.cwnd_event(&mut self.tp, CaEvent::TxStart);
        }
        self.tp.lsndtime_us = self.tp.now_us;
        self.rate_on_send();
        let (first_tx_us, delivered_us) = (
            self.tp.first_tx_mstamp_us as u32,
            self.tp.delivered_mstamp_us as u32,
        );
        let app_limited = if self.tp.app_limited > 0 {
            mark::APP_LIMITED
        } else {
            0
        };
        let record = self.board.get_mut(index);
        record.marks &= !(mark::APP_LIMITED | mark::SAMPLED);
        record.marks |= mark::EVER_RETRANS | app_limited;
        if !is_probe {
            record.marks |= mark::RETRANS;
        }
        record.tx_us = tx_us;
        record.first_tx_us = first_tx_us;
        record.delivered_us = delivered_us;
        record.delivered = self.tp.delivered as u32;
        self.counters.retransmissions += 1;
        self.counters.bytes_retransmitted += u64::from(len);
        self.counters.data_segments_sent += u64::from(len > 0);
        if !is_probe {
            self.tp.retrans_out += 1;
            if self.recovery.retrans_stamp_us == 0 {
                self.recovery.retrans_stamp_us = tx_us.max(1);
            }
            self.recovery.undo.retrans = self.recovery.undo.retrans.max(0) + 1;
        }
        self.note_flight(index);
        if self.detection() != crate::stack::LossDetection::DupThresh {
            self.rack.retransmission(index, tx_us);
        }
        self.header(now, sent.seq, len, segment);
        if fin > 0 {
            segment.flags = segment.flags.with(Flags::FIN);
        }
    }

    /// The next lost segment, where window and pacing let it go.
    fn retransmission(&mut self, now: Time, out: &mut Segment) -> bool {
        // After a timeout, and where RFC 5681 §3.2 demands it, the first goes whatever is in
        // flight.
        if !std::mem::take(&mut self.output.first_lost_at_once)
            && (self.tp.retrans_out >= self.tp.lost_out
                || self.tp.packets_in_flight() >= self.tp.snd_cwnd
                || self.is_paced_out(now))
        {
            return false;
        }
        let mut index = self.recovery.retransmit_hint.max(self.board.head());
        while index < self.board.tail() {
            let sent = self.board.get(index);
            if sent.is(mark::LOST) && !sent.is(mark::RETRANS | mark::SACKED) {
                break;
            }
            index += 1;
        }
        self.recovery.retransmit_hint = index;
        if index == self.board.tail() {
            return false;
        }
        self.recovery.retransmit_hint += 1;
        if matches!(self.tp.ca_state, CaState::Cwr | CaState::Recovery) {
            self.recovery.reduction.prr_out += 1;
        }
        let is_head = index == self.board.head();
        self.resend(now, index, false, out);
        if is_head && self.timers.pending != Pending::Reordering && !self.timer_is_held() {
            self.rearm_retransmission(now);
        }
        true
    }

    /// The next new segment, where windows, pacing and Nagle's rule let it go.
    #[inline]
    fn new_data(&mut self, now: Time, out: &mut Segment) -> bool {
        if self.tp.packets_in_flight() >= self.tp.snd_cwnd {
            self.burst.is_window_limited = true;
            self.usage.bound = if self.tp.snd_cwnd >= self.tp.snd_cwnd_clamp {
                Bound::Clamp
            } else {
                Bound::Window
            };
            return false;
        }
        if !self.may_send_data() {
            return false;
        }
        let unsent = self.queued();
        let wants_fin = self.wants_fin();
        // A super-segment is paced as a whole: what is left of one goes at once.
        if unsent == 0 && !wants_fin {
            self.usage.bound = if self.application_waits() {
                Bound::SendBuffer
            } else {
                Bound::Application
            };
            return false;
        }
        if self.burst.left == 0 && self.is_paced_out(now) {
            self.usage.bound = Bound::Pacing;
            return false;
        }
        let (next, is_whole) = self.app.in_record(unsent);
        let full = self.full_payload();
        let Some(len) = self.sendable(next, full) else {
            self.usage.bound = Bound::PeerWindow;
            if self.board.is_empty() && self.timers.pending != Pending::Persist {
                self.arm_persist(now);
            }
            return false;
        };
        let fin = wants_fin && u64::from(len) == unsent;
        if len < full {
            let is_record = is_whole && u64::from(len) == next;
            if !fin && !is_record && self.holds_back_partial(now) {
                return false;
            }
            self.app.small_end = self.tp.snd_nxt.wrapping_add(len);
        }
        if self.stack.offload && self.waits_for_burst() {
            self.burst.is_window_limited = true;
            return false;
        }
        self.send_new(now, len, fin, out);
        true
    }

    /// Whether a segment that is not full has to wait: for more to be written, or by Nagle's
    /// algorithm for what is outstanding to be acknowledged.
    fn holds_back_partial(&mut self, now: Time) -> bool {
        let nothing_out = self.board.is_empty();
        if (self.app.is_corked || self.app.has_more) && !self.app.pushes {
            // Not for ever: where no ACK will come, the persist timer sends it.
            if nothing_out && self.timers.pending != Pending::Persist {
                self.arm_persist(now);
            }
            return true;
        }
        if !self.stack.nagle || nothing_out {
            return false;
        }
        //= rfc9293 §3.7.4
        //# If there is unacknowledged data (i.e., SND.NXT > SND.UNA), then the sending TCP endpoint
        //# buffers all user data (regardless of the PSH bit) until the outstanding data has been
        //# acknowledged or until the TCP endpoint can send a full-sized segment
        // Minshall's modification, which Linux has: until the small segment that is outstanding has
        // been acknowledged.
        !self.stack.minshall || after(self.app.small_end, self.tp.snd_una)
    }

    fn send_new(&mut self, now: Time, len: u32, fin: bool, segment: &mut Segment) {
        let nothing_out = self.board.is_empty();
        if self.tp.packets_in_flight() == 0 {
            self.restart_after_idle();
            self.cc.cwnd_event(&mut self.tp, CaEvent::TxStart);
        }
        let tx_us = self.pace(now, len);
        self.rate_on_send();
        let seq = self.tp.snd_nxt;
        let end = seq.wrapping_add(len + u32::from(fin));
        let mut marks = if self.tp.app_limited > 0 {
            mark::APP_LIMITED
        } else {
            0
        };
        if fin {
            marks |= mark::FIN;
            self.app.fin_sent = true;
            self.on_fin_sent();
        }
        self.board.push(Sent {
            seq,
            end,
            tx_us,
            first_tx_us: self.tp.first_tx_mstamp_us as u32,
            delivered_us: self.tp.delivered_mstamp_us as u32,
            delivered: self.tp.delivered as u32,
            marks,
        });
        self.tp.packets_out += 1;
        self.note_flight(self.board.tail() - 1);
        self.tp.snd_nxt = end;
        self.app.sent += u64::from(len);
        self.counters.bytes_sent += u64::from(len);
        self.counters.data_segments_sent += u64::from(len > 0);
        self.tp.lsndtime_us = self.tp.now_us;
        self.burst.sent += 1;
        if nothing_out || self.timers.pending == Pending::TailLossProbe {
            self.rearm_retransmission(now);
        }
        self.header(now, seq, len, segment);
        if fin {
            segment.flags = segment.flags.with(Flags::FIN);
        }
        // Not a FIN alone.
        if self.is_classic_ecn() && len > 0 {
            segment.ecn = Ecn::Ect0;
            if self.recovery.reduction.cwr_pending {
                self.recovery.reduction.cwr_pending = false;
                segment.flags = segment.flags.with(Flags::CWR);
            }
        }
    }

    /// Nothing more can be sent now: what limited the burst, and a probe for its tail.
    #[inline]
    fn end_burst(&mut self, now: Time) {
        let limited =
            self.burst.is_window_limited || self.tp.packets_in_flight() >= self.tp.snd_cwnd;
        let sent = std::mem::take(&mut self.burst.sent);
        self.burst.is_window_limited = false;
        // What was not sent at once with a super-segment is no part of it.
        self.burst.left = 0;
        if sent > 0 || limited {
            self.validate_window(limited);
        }
        if sent > 0 {
            if matches!(self.tp.ca_state, CaState::Cwr | CaState::Recovery) {
                self.recovery.reduction.prr_out += sent;
            }
            self.schedule_probe(now, false);
        }
        if self.queued() == 0 && !limited && self.tp.lost_out <= self.tp.retrans_out {
            let end = self.tp.delivered + u64::from(self.tp.packets_in_flight());
            self.tp.app_limited = end.max(1);
        }
    }

    /// A probe: for a closed window, or for a lost tail.
    fn probe(&mut self, now: Time, out: &mut Segment) {
        if self.board.is_empty() {
            // RFC 9293 §3.8.6.1: what little the window takes, however small.
            let room = self.window_room().min(self.full_payload());
            self.counters.window_probes += 1;
            let unsent = self.queued();
            let len = u64::from(room).min(self.app.in_record(unsent).0) as u32;
            if len > 0 && self.may_send_data() {
                return self.send_new(now, len, false, out);
            }
            // An empty segment below the window makes the peer answer.
            let seq = self.tp.snd_una.wrapping_sub(1);
            return self.header(now, seq, 0, out);
        }
        self.counters.tail_loss_probes += 1;
        let unsent = self.queued();
        let (next, _) = self.app.in_record(unsent);
        let len = next.min(u64::from(self.full_payload())) as u32;
        let end = self.tp.snd_nxt.wrapping_add(len);
        let fin = self.wants_fin() && u64::from(len) == unsent;
        if (len > 0 || fin) && self.may_send_data() && !after(end, self.window_end()) {
            self.send_new(now, len, fin, out);
            self.burst.sent = 0;
        } else {
            self.probe.is_retransmission = true;
            let last = self.board.tail() - 1;
            self.resend(now, last, true, out);
        }
        self.probe.end = Some(self.tp.snd_nxt);
        self.rearm_retransmission(now);
    }

    /// The peer's window may have opened while nothing was outstanding.
    pub(super) fn window_may_have_opened(&mut self) {
        // While it stays closed the probes go on, ever more slowly.
        if self.timers.pending == Pending::Persist
            && self.sendable(self.queued(), self.full_payload()).is_some()
        {
            self.timers.disarm();
            self.timers.probes = 0;
        }
        self.output.new_data = true;
    }
}
