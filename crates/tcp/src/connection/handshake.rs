//! Opening and closing: the state machine of RFC 9293 §3.10, with RFC 5961's caution about resets.

use super::Connection;
use super::parts::output::Reset;
use super::parts::status::Failure;
use super::parts::status::State;
use crate::cc::CaState;
use crate::receiver::Receiver;
use crate::segment::{Ecn, Flags, Options, Segment};
use crate::seq::{after, before};
use trammel_core::time::Time;

impl Connection {
    /// Opens the connection: a SYN will be sent.
    pub fn connect(&mut self, now: Time) {
        debug_assert_eq!(self.state, State::Closed);
        self.read_clock(now);
        self.state = State::SynSent;
        self.output.syn = true;
        self.output.rare = true;
    }

    /// The application has written all it has: a FIN follows the last byte.
    pub fn close(&mut self) {
        match self.state {
            State::Listen | State::SynSent => self.state = State::Closed,
            State::Closed => {}
            _ => {
                self.app.closed = true;
                self.output.new_data = true;
            }
        }
        self.disarm_if_closed();
    }

    /// The application gives up: the peer is told by a reset.
    pub fn abort(&mut self) {
        if self.is_synchronised() || self.state == State::SynReceived {
            self.output.reset = Some(Reset {
                seq: self.acceptable_seq(),
                ack: Some(self.receiver.rcv_nxt),
                is_ours: true,
            });
            self.output.rare = true;
        }
        self.state = State::Closed;
        self.disarm_if_closed();
    }

    fn disarm_if_closed(&mut self) {
        if self.state == State::Closed {
            self.timers.disarm();
            self.pacing.timer = Time::MAX;
            self.receiver.acknowledged();
        }
    }

    pub(super) fn fail(&mut self, failure: Failure) {
        self.failure = Some(failure);
        self.state = State::Closed;
        self.output.new_data = false;
        self.output.retransmission = false;
        self.disarm_if_closed();
    }

    /// Our SYN, or our SYN in answer to the peer's.
    pub(super) fn syn(&mut self, now: Time) -> Segment {
        let answer = self.state == State::SynReceived;
        let wscale = if self.stack.window_scaling && (!answer || self.handshake.scaling) {
            self.receiver.wscale + 1
        } else {
            0
        };
        let mut segment = Segment {
            seq: self.handshake.iss,
            flags: Flags::SYN,
            mss: self.stack.mss,
            window: self.receiver.advertise_unscaled(),
            options: Options {
                timestamps: self.stack.timestamps && (!answer || self.handshake.timestamps),
                sack_permitted: self.stack.sack && (!answer || self.handshake.sack),
                wscale_plus_1: wscale,
            },
            ..Segment::default()
        };
        if segment.options.timestamps {
            segment.ts_val = self.timestamp(now);
        }
        if answer {
            segment.flags = Flags::SYN.with(Flags::ACK);
            segment.ack = self.receiver.rcv_nxt;
            segment.ts_ecr = self.receiver.ts_recent;
            if self.tp.ecn_ok {
                segment.flags = segment.flags.with(Flags::ECE);
            }
        } else if self.asks_for_ecn() {
            //= rfc3168 §6.1.1
            //# a host sends an ECN-setup SYN packet
            segment.flags = segment.flags.with(Flags::ECE).with(Flags::CWR);
        }
        if self.cc.needs_ecn() {
            //= rfc8257 §3.6
            //# Hence, for DCTCP connections, the sender SHOULD set ECT for SYN, SYN-ACK, and RST
            //# packets.
            // A switch may drop all else above its threshold.
            segment.ecn = Ecn::Ect0;
        }
        self.tp.snd_nxt = self.handshake.iss.wrapping_add(1);
        if self.handshake.syn_sent_us == 0 {
            self.handshake.syn_sent_us = self.tp.now_us;
        }
        self.arm_syn(now);
        segment
    }

    /// Whether our SYN is an ECN-setup SYN.
    fn asks_for_ecn(&self) -> bool {
        //= rfc3168 §6.1.1.1
        //# A host that receives no reply to an ECN-setup SYN within the normal
        //# SYN retransmission timeout interval MAY resend the SYN and any
        //# subsequent SYN retransmissions with CWR and ECE cleared.
        let falls_back = self.stack.ecn_fallback && self.timers.retransmits > 0;
        (self.stack.ecn || self.cc.needs_ecn()) && !falls_back
    }

    /// Our SYN, or our answer to the peer's, leaves once more.
    pub(super) fn send_syn_again(&mut self) {
        self.counters.retransmissions += 1;
        self.output.syn = true;
        self.output.rare = true;
    }

    /// What the peer's SYN offers.
    fn take_syn_options(&mut self, segment: &Segment) {
        self.handshake.timestamps = self.stack.timestamps && segment.options.timestamps;
        self.handshake.sack = self.stack.sack && segment.options.sack_permitted;
        self.handshake.scaling = segment.options.wscale_plus_1 > 0 && self.stack.window_scaling;
        if self.handshake.scaling {
            self.peer_window.scale = (segment.options.wscale_plus_1 - 1).min(14);
        } else {
            self.receiver.wscale = 0;
        }
        // RFC 9293 §3.7.1: 536 without the option.
        let offered = if segment.mss == 0 { 536 } else { segment.mss };
        let mss = u32::from(offered.min(self.stack.mss)).max(48);
        self.tp.mss = mss - if self.handshake.timestamps { 12 } else { 0 };
        if self.handshake.timestamps {
            self.receiver.ts_recent = segment.ts_val;
        }
        self.receiver
            .start(segment.seq.wrapping_add(1), self.tp.mss);
        self.peer_window.size = u32::from(segment.window);
        self.peer_window.largest = self.peer_window.size;
        self.peer_window.updated_by = segment.seq;
    }

    /// `segment` acknowledges our SYN.
    fn establish(&mut self, segment: &Segment) {
        self.state = State::Established;
        self.receiver.established(self.tp.now_us);
        self.tp.snd_una = self.handshake.iss.wrapping_add(1);
        self.tp.snd_nxt = self.tp.snd_una;
        self.recovery.high_seq = self.tp.snd_una;
        self.usage.round_end = self.tp.snd_una;
        self.usage.stamp_us = self.tp.now_us;
        // The SYN counts as a delivery, as it does in the kernel.
        self.tp.delivered = 1;
        self.tp.delivered_mstamp_us = self.tp.now_us;
        self.tp.first_tx_mstamp_us = self.tp.now_us;
        let echo = (self.handshake.timestamps && segment.ts_ecr != 0)
            .then(|| self.sent_at_ms(segment.ts_ecr));
        let first_ms = (self.handshake.syn_sent_us / 1000) as u32;
        let rtt_us = if self.timers.retransmits == 0 {
            Some(self.tp.now_us - self.handshake.syn_sent_us)
        } else {
            // RFC 7323 §4.1: with timestamps even a retransmission gives a sample.
            let now_ms = (self.tp.now_us / 1000) as u32;
            echo.map(|sent_ms| 1000 * u64::from(now_ms.wrapping_sub(sent_ms).max(1)))
        };
        if let Some(rtt_us) = rtt_us {
            let rtt_us = rtt_us.clamp(1, u64::from(u32::MAX));
            self.rtt.min.reset(self.tp.now_us / 1000, rtt_us);
            self.tp.min_rtt_us = rtt_us as u32;
            self.sample_rtt(rtt_us as u32);
        }
        if self.timers.retransmits > 0 {
            self.rtt.after_lost_syn(&self.stack);
        }
        //= rfc5681 §3.1
        //# if the SYN or SYN/ACK is lost, the initial window used by a sender after a correctly
        //# transmitted SYN MUST be one segment consisting of at most SMSS bytes.
        // Where the first one is what is answered, none was lost.
        if self.timers.retransmits > self.stack.spare_syns && echo != Some(first_ms) {
            self.tp.snd_cwnd = 1;
        }
        self.timers.retransmits = 0;
        self.timers.backoff = 0;
        self.timers.disarm();
        self.cc.init(&mut self.tp);
        self.tp.pacing |= self.stack.pacing;
        self.open_send_buffer();
        self.output.new_data = true;
    }

    /// A segment that the fast path does not take.
    pub(super) fn on_segment_slowly(&mut self, now: Time, segment: &Segment) {
        match self.state {
            State::Closed => self.refuse(segment),
            State::Listen => self.on_segment_listening(segment),
            State::SynSent => self.on_segment_syn_sent(now, segment),
            _ => self.on_segment_open(now, segment),
        }
    }

    /// RFC 9293 §3.10.7.1: whatever comes where there is no connection is answered by a reset.
    fn refuse(&mut self, segment: &Segment) {
        if let Some((seq, ack)) = segment.refusal() {
            self.output.reset = Some(Reset {
                seq,
                ack,
                is_ours: false,
            });
            self.output.rare = true;
        }
    }

    fn on_segment_listening(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::RST) || segment.flags.has(Flags::ACK) {
            return self.refuse(segment);
        }
        if segment.flags.has(Flags::SYN) {
            let asks = segment.flags.has(Flags::ECE) && segment.flags.has(Flags::CWR);
            // A SYN that is ECN-capable is not by RFC 3168: its sender's variant needs a peer of
            // its own kind.
            let is_by_rfc = segment.ecn == Ecn::NotEct;
            self.tp.ecn_ok = asks && ((self.stack.ecn && is_by_rfc) || self.cc.needs_ecn());
            self.take_syn_options(segment);
            self.state = State::SynReceived;
            self.output.syn = true;
            self.output.rare = true;
        }
    }

    fn on_segment_syn_sent(&mut self, now: Time, segment: &Segment) {
        let acks = segment.flags.has(Flags::ACK);
        if acks && segment.ack != self.handshake.iss.wrapping_add(1) {
            return self.refuse(segment);
        }
        if segment.flags.has(Flags::RST) {
            if acks {
                self.fail(Failure::Refused);
            }
            return;
        }
        if !segment.flags.has(Flags::SYN) {
            return;
        }
        self.take_syn_options(segment);
        if acks {
            let agrees = segment.flags.has(Flags::ECE) && !segment.flags.has(Flags::CWR);
            self.tp.ecn_ok = agrees && (self.stack.ecn || self.cc.needs_ecn());
            self.establish(segment);
            // On its own, as the kernel does it: the application learns of the connection after
            // that.
            self.output.extra_ack = Some(self.pure_ack(now));
            self.output.rare = true;
        } else {
            // Simultaneous open.
            self.state = State::SynReceived;
            self.output.syn = true;
            self.output.rare = true;
        }
    }

    /// RFC 9293 §3.10.7.4, for the states from SYN-RECEIVED on.
    fn on_segment_open(&mut self, now: Time, segment: &Segment) {
        let next = self.receiver.rcv_nxt;
        let end = segment.seq.wrapping_add(segment.seq_len());

        if self.state == State::SynReceived
            && segment.flags.has(Flags::SYN)
            && segment.seq == next.wrapping_sub(1)
        {
            if segment.flags.has(Flags::ACK) && segment.ack == self.handshake.iss.wrapping_add(1) {
                // Simultaneous open (RFC 9293 §3.5, figure 7); the window of a SYN is not scaled.
                self.establish(segment);
                self.peer_window.size = u32::from(segment.window);
            } else {
                // A repeated SYN is answered as the first one was, and ours may be lost.
                self.timers.retransmits = self.timers.retransmits.max(1);
                self.send_syn_again();
            }
            return;
        }
        //= rfc7323 §5.3
        //# If there is a Timestamps option in the arriving segment, SEG.TSval < TS.Recent, […] drop
        let stale = self.handshake.timestamps
            && segment.options.timestamps
            && before(
                segment.ts_val.wrapping_add(self.stack.paws_window),
                self.receiver.ts_recent,
            )
            && !segment.flags.has(Flags::RST);
        let outside =
            after(segment.seq, self.receiver.right_edge()) || before(end, self.receiver.rcv_wup);
        if stale || outside {
            if !segment.flags.has(Flags::RST) {
                self.receiver
                    .answer_duplicate(segment.seq, end, segment.len > 0);
            }
            return;
        }
        if segment.flags.has(Flags::RST) {
            //= rfc5961 §3.2
            //# If the RST bit is set and the sequence number exactly matches the next expected
            if segment.seq == next {
                self.on_reset();
            } else {
                self.challenge();
            }
            return;
        }
        if segment.flags.has(Flags::SYN) {
            self.challenge();
            return;
        }
        if !segment.flags.has(Flags::ACK) {
            return;
        }
        if self.handshake.timestamps && segment.options.timestamps {
            self.note_timestamp(segment);
        }
        if self.state == State::SynReceived {
            if segment.ack != self.handshake.iss.wrapping_add(1) {
                return self.refuse(segment);
            }
            self.establish(segment);
            self.peer_window.size = u32::from(segment.window) << self.peer_window.scale;
            self.peer_window.updated_by = segment.seq;
        }
        if !self.on_ack(now, segment) {
            return;
        }
        self.note_reduction(segment);
        self.output.new_data = true;
        self.on_fin_acked(now);
        // What lies beyond the window is cut off.
        let mut inside = *segment;
        let room = self.receiver.right_edge();
        let fin = segment.seq.wrapping_add(segment.len);
        if after(fin, room) {
            inside.len = room.wrapping_sub(segment.seq);
            inside.flags.0 &= !Flags::FIN.0;
        }
        let has_fin = inside.flags.has(Flags::FIN);
        if has_fin && before(fin, next) {
            // Our ACK of it was lost; TIME-WAIT starts anew (RFC 9293 §3.10.7.4).
            self.receiver
                .answer_duplicate(segment.seq, end, segment.len > 0);
            if self.state == State::TimeWait {
                self.arm_time_wait(now);
            }
            return;
        }
        if has_fin {
            self.receiver.fin = Some(fin);
        }
        if inside.len > 0 || (has_fin && after(fin, next)) {
            self.on_data(now, &inside);
        }
        self.on_fin_in_order(now);
    }

    /// The peer's reset is genuine.
    fn on_reset(&mut self) {
        match self.state {
            State::SynReceived if self.handshake.is_passive => {
                // RFC 9293 §3.10.7.4: back to waiting, as if nothing had come.
                self.state = State::Listen;
                self.receiver = Receiver::new(&self.stack);
                self.tp.snd_nxt = self.handshake.iss;
                self.handshake.syn_sent_us = 0;
                self.timers.retransmits = 0;
                self.timers.disarm();
            }
            State::SynReceived => self.fail(Failure::Refused),
            State::Closing | State::LastAck | State::TimeWait => {
                // All data had come and gone.
                self.state = State::Closed;
                self.disarm_if_closed();
            }
            _ => self.fail(Failure::Reset),
        }
    }

    pub(super) fn on_fin_sent(&mut self) {
        self.state = match self.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            other => other,
        };
    }

    fn on_fin_acked(&mut self, now: Time) {
        if !self.fin_acked() {
            return;
        }
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => {
                self.state = State::TimeWait;
                self.arm_time_wait(now);
            }
            State::LastAck => {
                self.state = State::Closed;
                self.disarm_if_closed();
            }
            _ => {}
        }
    }

    /// Everything before the peer's FIN has come.
    #[inline]
    pub(super) fn on_fin_in_order(&mut self, now: Time) {
        if self.receiver.fin != Some(self.receiver.rcv_nxt) {
            return;
        }
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => {
                self.state = State::TimeWait;
                self.arm_time_wait(now);
            }
            _ => return,
        }
        self.receiver.take_fin();
        self.receiver.owed = true;
        self.receiver.now = true;
    }

    /// A tail loss probe repaired a loss: the window is reduced as for any other.
    pub(super) fn lost_tail(&mut self) {
        if self.tp.ca_state < CaState::Cwr {
            self.begin_cwr_for_probe();
        }
        self.probe.end = None;
    }
}
