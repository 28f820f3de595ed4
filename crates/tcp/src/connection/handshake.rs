//! Opening and closing: the state machine of RFC 9293 §3.10, with RFC 5961's caution about resets.

use super::Connection;
use super::parts::output::Reset;
use super::parts::status::Failure;
use super::parts::status::State;
use crate::accecn::reflected;
use crate::cc::CaState;
use crate::receiver::Receiver;
use crate::segment::{Flags, Options, Segment};
use crate::seq::{after, before};
use crate::stack::{BeyondWindow, EcnMode};
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

    pub(super) fn disarm_if_closed(&mut self) {
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
            self.grant_ecn(&mut segment);
        } else {
            self.ask_for_ecn(&mut segment);
        }
        if self.cc.needs_ecn() {
            //= rfc8257 §3.6
            //# Hence, for DCTCP connections, the sender SHOULD set ECT for SYN, SYN-ACK, and RST
            //# packets.
            // A switch may drop all else above its threshold.
            segment.ecn = self.ect();
        }
        self.accurate.syn_sent = segment.ecn;
        self.tp.snd_nxt = self.handshake.iss.wrapping_add(1);
        if self.handshake.syn_sent_us == 0 {
            self.handshake.syn_sent_us = self.tp.now_us;
        }
        self.arm_syn(now);
        segment
    }

    /// The flags by which our SYN asks for ECN.
    fn ask_for_ecn(&self, syn: &mut Segment) {
        //= rfc3168 §6.1.1.1
        //# A host that receives no reply to an ECN-setup SYN within the normal
        //# SYN retransmission timeout interval MAY resend the SYN and any
        //# subsequent SYN retransmissions with CWR and ECE cleared.
        //= rfc9768 §3.1.4.1
        //# an AccECN TCP Client […] it MAY […] attempt to negotiate […] on the first retransmitted
        //SYN
        let (flags, attempts) = match self.ecn_asked() {
            EcnMode::Off => return,
            //= rfc3168 §6.1.1
            //# a host sends an ECN-setup SYN packet
            EcnMode::Classic => (Flags::ECE.with(Flags::CWR), 1),
            EcnMode::Accurate => (Flags::ACE, 2),
        };
        let falls_back = self.stack.ecn_fallback && self.timers.retransmits >= attempts;
        if !falls_back {
            syn.flags = syn.flags.with(flags);
        }
    }

    /// The flags by which our SYN/ACK agrees to ECN.
    fn grant_ecn(&mut self, answer: &mut Segment) {
        if !self.tp.accurate_ecn {
            if self.tp.ecn_ok {
                answer.flags = answer.flags.with(Flags::ECE);
            }
            return;
        }
        //= rfc9768 §3.1.4.2
        //# the TCP Server […] SHOULD retransmit the SYN/ACK, but with no AccECN TCP Option
        match self.timers.retransmits {
            0 => self.put_first_option(answer),
            1 => {}
            // They may have been dropped for their flags.
            _ => {
                self.accurate.is_mangled = true;
                return;
            }
        }
        let ace = reflected(self.accurate.syn_received);
        answer.flags = answer.flags.with_ace(ace);
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
        self.tp.sack_ok = self.handshake.sack;
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
        let stamps = if self.handshake.timestamps { 12 } else { 0 };
        let own_mss = u32::from(self.stack.mss).max(48 + stamps) - stamps;
        self.receiver
            .start(segment.seq.wrapping_add(1), self.tp.mss, own_mss);
        self.peer_window.size = u32::from(segment.window);
        self.peer_window.largest = self.peer_window.size;
        self.peer_window.updated_by = segment.seq;
    }

    /// `segment` acknowledges our SYN.
    fn establish(&mut self, segment: &Segment) {
        self.state = State::Established;
        // Its clock is the instant itself, which the sender's may be beyond.
        self.receiver.established(self.arrivals.at.as_us());
        self.tp.snd_una = self.handshake.iss.wrapping_add(1);
        self.tp.snd_nxt = self.tp.snd_una;
        self.recovery.high_seq = self.tp.snd_una;
        self.usage.round_end = self.tp.snd_una;
        self.app.small_end = self.tp.snd_una;
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
            self.rtt.after_lost_syn(&self.tp, &self.stack);
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
        self.tp.pacing_rate = self.tp.pacing_rate.min(self.stack.max_pacing_rate);
        self.owns_window = self.cc.has_cong_control();
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
            self.take_syn_ecn(segment);
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
            self.take_syn_ack_ecn(segment);
            self.establish(segment);
            self.accurate.reflects = self.tp.accurate_ecn;
            // On its own, as the kernel does it: the application learns of the connection after
            // that.
            self.output.extra_ack = Some(self.pure_ack(now));
            self.output.rare = true;
        } else {
            // Simultaneous open.
            self.take_syn_ecn(segment);
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
                if self.tp.accurate_ecn {
                    self.accurate.syn_received = segment.ecn;
                    self.accurate.is_mangled |= segment.flags.ace() == 0;
                }
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
        let outside = (after(segment.seq, self.receiver.right_edge()) && segment.seq != next)
            || before(end, self.receiver.rcv_wup);
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
            if self.tp.accurate_ecn {
                self.accurate.syn_received = segment.ecn;
                self.accurate.reflects = true;
            }
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
            if self.tp.accurate_ecn {
                self.take_last_ack_ecn(segment);
            }
        }
        if self.tp.accurate_ecn {
            self.count_arrival(segment);
        }
        if !self.on_ack(now, segment) {
            return;
        }
        self.note_reduction(segment);
        self.output.new_data = true;
        self.on_fin_acked(now);
        let mut inside = *segment;
        let room = self.receiver.right_edge();
        let fin = segment.seq.wrapping_add(segment.len);
        if after(fin, room) {
            let is_dropped = match self.stack.beyond_window {
                BeyondWindow::CutOff => {
                    inside.len = room.wrapping_sub(segment.seq);
                    inside.flags = inside.flags.without(Flags::FIN);
                    false
                }
                BeyondWindow::Taken => !after(room, next),
                BeyondWindow::TakenAlone => !after(room, next) || self.receiver.readable() > 0,
            };
            if is_dropped {
                self.receiver
                    .answer_duplicate(segment.seq, end, segment.len > 0);
                return;
            }
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
