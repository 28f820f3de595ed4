//! Accurate ECN: negotiation, the receiver's counters, and what the sender makes of them.
//!
//! ```text
//!  SYN        AE CWR ECE = 111            asks for it; 011 asks for classic ECN
//!  SYN/ACK    010, 011, 100, 110          agrees, and says that the SYN came Not-ECT, ECT(1),
//!                                         ECT(0), CE; 101 agrees and says nothing; 001 agrees to
//!                                         classic ECN
//!  last ACK   the same four codes         say how the SYN/ACK came
//!  afterwards ACE = 5 + marked packets    modulo 8, on every segment
//! ```
//!
//! ACE wraps after eight marks. Where an ACK covers more segments than that, the sender takes the
//! largest number of marks that fits (RFC 9768 §3.2.2.5), unless the option's count of marked bytes
//! shows that it was the smaller one.
//!
//! Source: RFC 9768 §3 and appendix A; behaviour as in Linux 7.1.

use super::Connection;
use super::parts::accurate::Seen;
use super::parts::ack_news::AckNews;
use super::parts::status::State;
use crate::accecn::{
    AccEcn, FIRST_CEP, FIRST_ECT_BYTES, Form, Order, is_valid_change, of_reflected, reflected,
};
use crate::cc::CaState;
use crate::segment::{Ecn, Flags, Segment};
use crate::stack::{EcnMode, EcnOption};

/// Marks that ACE counts before it wraps.
const WRAP: u32 = 8;
/// Marks that are reported at once when so many have gathered (RFC 9768 §3.2.2.5.1, "n").
const PENDING_MOST: u32 = 6;
/// A counter's growth by so much is reported by the option (RFC 9768 §3.2.3.3).
const REPORT_EVERY: u32 = 1 << 22;
/// Bytes sent without an option from the peer after which none is believed: counters may have
/// wrapped.
const TOO_LATE: u64 = (1 << 23) - 1;
/// Options are sent so many times a round trip (`tcp_ecn_option_beacon`).
const BEACONS: u64 = 3;
/// Most bytes of options in a header.
const OPTION_BYTES: u32 = 40;
/// The mean of segments per ACK: its weight is 1/64, and it has 6 bits of fraction.
const AVERAGE_SHIFT: u32 = 6;
/// Segments that an ACK delivers on average where ACKs are thinned on their way.
const THINNED: u32 = 4;

/// Bytes of the header that SACK blocks take, with what pads them.
#[inline]
fn sack_bytes(blocks: u8) -> u32 {
    match blocks {
        0 => 0,
        _ => 4 + 8 * u32::from(blocks),
    }
}

impl Connection {
    /// What our SYN asks for at most.
    pub(super) fn ecn_asked(&self) -> EcnMode {
        if self.cc.needs_accurate_ecn() {
            EcnMode::Accurate
        } else if self.cc.needs_ecn() {
            self.stack.ecn.max(EcnMode::Classic)
        } else {
            self.stack.ecn
        }
    }

    /// The codepoint that this sender's variant marks its segments with.
    pub(super) fn ect(&self) -> Ecn {
        if self.cc.sends_ect1() {
            Ecn::Ect1
        } else {
            Ecn::Ect0
        }
    }

    /// Whether classic ECN was agreed on: ECE echoes a mark until CWR answers it (RFC 3168).
    #[inline]
    pub(super) fn is_classic_ecn(&self) -> bool {
        self.tp.ecn_ok && !self.tp.accurate_ecn
    }

    fn agree(&mut self, mode: EcnMode) {
        let mode = if mode == EcnMode::Classic && self.cc.needs_accurate_ecn() {
            //= rfc9331 §4.3
            //# a sender that implements a scalable congestion control MUST NOT set ECT(1) […]
            //# until it has established that the receiver supports accurate ECN feedback
            EcnMode::Off
        } else {
            mode
        };
        self.tp.ecn_ok = mode != EcnMode::Off;
        self.tp.accurate_ecn = mode == EcnMode::Accurate;
        if self.tp.accurate_ecn {
            self.arrivals.harmless = Flags::PSH.with(Flags::ACE);
        }
    }

    /// The peer's SYN asks for ECN, or not (RFC 9768 §3.1.2).
    pub(super) fn take_syn_ecn(&mut self, syn: &Segment) {
        let ace = syn.flags.ace();
        self.accurate.syn_received = syn.ecn;
        self.accurate.last = syn.ecn;
        let asked = self.ecn_asked();
        //= rfc9768 §3.1.2
        //# If a TCP Server that implements AccECN receives a SYN with the three TCP header flags
        //(AE,
        //# CWR, and ECE) set to any combination other than 000, 011, or 111, it MUST negotiate the
        //# use of AccECN as if they had been set to 111.
        if ace != 0 && ace != 0b011 && asked == EcnMode::Accurate {
            return self.agree(EcnMode::Accurate);
        }
        let asks = ace & 0b011 == 0b011;
        // A SYN that is ECN-capable is not by RFC 3168: its sender's variant needs a peer of its
        // own kind. AE is of a later kind.
        let is_by_rfc = syn.ecn == Ecn::NotEct || syn.flags.has(Flags::AE);
        let grants = (self.stack.ecn != EcnMode::Off && is_by_rfc) || self.cc.needs_ecn();
        self.agree(if asks && grants {
            EcnMode::Classic
        } else {
            EcnMode::Off
        });
    }

    /// The peer's SYN/ACK agrees to ECN, or not (RFC 9768 §3.1.2, table 2).
    pub(super) fn take_syn_ack_ecn(&mut self, segment: &Segment) {
        let ace = segment.flags.ace();
        self.agree(match (self.ecn_asked(), ace) {
            (EcnMode::Off, _) | (_, 0b000 | 0b111) => EcnMode::Off,
            (_, 0b001) | (EcnMode::Classic, 0b101) => EcnMode::Classic,
            (EcnMode::Classic, _) => EcnMode::Off,
            // 101 is reserved, for what is to come after AccECN.
            (EcnMode::Accurate, _) => EcnMode::Accurate,
        });
        if !self.tp.accurate_ecn {
            return;
        }
        self.accurate.syn_received = segment.ecn;
        self.accurate.last = segment.ecn;
        self.note_option_seen(segment);
        self.accurate.demand = 2;
        let is_valid = self.check_reflected(ace);
        if segment.ecn == Ecn::Ce && is_valid {
            self.accurate.marked += 1;
            self.accurate.pending += 1;
        }
    }

    /// The ACK that ends the handshake, or whatever comes in its place (RFC 9768 §3.2.2.1, table
    /// 4).
    pub(super) fn take_last_ack_ecn(&mut self, segment: &Segment) {
        self.accurate.ends_handshake = true;
        self.accurate.demand = 1;
        self.note_option_seen(segment);
        match segment.flags.ace() {
            0 => self.accurate.is_mangled = true,
            // A count, where the ACK before it was lost.
            _ if segment.seq_len() > 0 || segment.sack_count > 0 => {}
            ace => {
                let told = of_reflected(ace);
                if told.is_some() && self.check_reflected(ace) && told == Some(Ecn::Ce) {
                    self.tp.delivered_ce += 1;
                }
            }
        }
    }

    /// Whether the peer saw our SYN or SYN/ACK as it was sent, or marked.
    fn check_reflected(&mut self, ace: u8) -> bool {
        let told = of_reflected(ace).unwrap_or(self.accurate.syn_sent);
        let is_valid = !self.stack.ecn_fallback || is_valid_change(self.accurate.syn_sent, told);
        //= rfc9768 §3.2.2.3
        //# the AccECN Data Sender […] it SHOULD NOT send ECN-capable packets
        self.accurate.is_mangled |= !is_valid;
        is_valid
    }

    /// Which kind of option the peer sends, until one with counters has come.
    pub(super) fn note_option_seen(&mut self, segment: &Segment) {
        let Some(option) = segment.accecn() else {
            return;
        };
        if self.accurate.seen >= Seen::Counters {
            return;
        }
        //= rfc9768 §3.2.3.2.4
        //# MAY check that the initial value of the EE0B field or the EE1B field is non-zero
        let is_cleared = |(field, counter): (Ecn, u32)| field != Ecn::Ce && counter == 0;
        self.accurate.seen = if option.count == 0 {
            Seen::Empty
        } else if option.fields().any(is_cleared) {
            Seen::Unusable
        } else {
            Seen::Counters
        };
    }

    /// Counts what came by its ECN field, and asks for an ACK where that changes.
    #[inline]
    pub(super) fn count_arrival(&mut self, segment: &Segment) {
        if segment.ecn == Ecn::NotEct && self.accurate.last == Ecn::NotEct {
            return;
        }
        let changed = segment.ecn != self.accurate.last;
        let is_marked = segment.ecn == Ecn::Ce;
        if let Some(bytes) = self.accurate.received.of(segment.ecn) {
            let before = *bytes;
            *bytes = before.wrapping_add(segment.len);
            if segment.len > 0 {
                let place = match segment.ecn {
                    Ecn::NotEct => 0,
                    Ecn::Ect1 => 1,
                    Ecn::Ce => 2,
                    Ecn::Ect0 => 3,
                };
                self.accurate.least = self.accurate.least.max(place);
                if (*bytes ^ before) >= REPORT_EVERY {
                    self.accurate.demand = self.accurate.demand.max(1);
                }
            }
        }
        if is_marked {
            self.accurate.marked = self.accurate.marked.wrapping_add(1);
            self.accurate.pending += 1;
            self.accurate.acks_next |= self.accurate.pending >= PENDING_MOST;
        }
        if changed || is_marked {
            self.accurate.last = segment.ecn;
            //= rfc9768 §3.2.3.3
            //# The receiver SHOULD immediately send an ACK as soon as the next new byte counter is
            //# incremented
            self.accurate.acks_next |= changed;
            self.accurate.demand = 2;
        }
    }

    /// What a header of ours says: ECN field and ACE, and the option where one is due.
    /// It reports the duplicate that begins at `dsack`.
    pub(super) fn mark_accurately(&mut self, segment: &mut Segment, dsack: Option<u32>) {
        if !self.accurate.is_mangled {
            segment.ecn = self.ect();
        }
        let ace = if std::mem::take(&mut self.accurate.reflects) {
            reflected(self.accurate.syn_received)
        } else if self.state == State::TimeWait {
            // Linux forgets the count with the socket.
            0
        } else {
            self.accurate.pending = 0;
            self.accurate.marked.wrapping_add(FIRST_CEP) as u8 & 7
        };
        segment.flags = segment.flags.with_ace(ace);
        if segment.flags.has(Flags::RST) {
            return;
        }
        self.accurate.option_beside_dsack = None;
        if let Some((count, blocks)) = self.fit_option(segment.sack_count, segment.len) {
            segment.sack_count = blocks;
            self.put_option(segment, count);
            self.accurate.option_beside_dsack = dsack;
        }
    }

    /// Whether an option is due.
    fn wants_option(&self) -> bool {
        let accurate = &self.accurate;
        if accurate.seen == Seen::None || accurate.option_is_dropped {
            return false;
        }
        match self.stack.ecn_option {
            EcnOption::Never => false,
            EcnOption::Full => true,
            EcnOption::Minimum => {
                let age = self.tp.now_us - accurate.option_us;
                accurate.demand > 0 || age * BEACONS >= u64::from(self.tp.srtt_us >> 3)
            }
        }
    }

    /// How many counters an option has beside `blocks` SACK blocks and `len` bytes of payload, and
    /// how many of the blocks are left: more than two yield to it.
    #[inline]
    fn fit_option(&self, mut blocks: u8, len: u32) -> Option<(u8, u8)> {
        if !self.wants_option() {
            return None;
        }
        let timestamps = if self.handshake.timestamps { 12 } else { 0 };
        let most = (OPTION_BYTES - timestamps).min(self.tp.mss.saturating_sub(len));
        let least = self.accurate.least;
        loop {
            let room = most.saturating_sub(sack_bytes(blocks));
            let fits = |count: &u8| Form::bytes_of(*count, blocks > 0) <= room;
            if let Some(count) = (least..=3).rev().find(fits) {
                return Some((count, blocks));
            }
            if blocks <= 2 || least == 0 {
                return None;
            }
            blocks -= 1;
        }
    }

    fn put_option(&mut self, segment: &mut Segment, count: u8) {
        let order = Order::Ect1First;
        let received = self.accurate.received;
        let counters = order.fields().map(|field| {
            let first = if field == Ecn::Ce { 0 } else { FIRST_ECT_BYTES };
            received.get(field).wrapping_add(first)
        });
        segment.set_accecn(AccEcn::new(order, &counters[..usize::from(count)]));
        self.accurate.least = 0;
        self.accurate.demand = self.accurate.demand.saturating_sub(1);
        self.accurate.option_us = self.tp.now_us;
    }

    /// The option of a SYN/ACK: nothing has been counted yet.
    pub(super) fn put_first_option(&self, segment: &mut Segment) {
        if self.stack.ecn_option != EcnOption::Never {
            let first = [FIRST_ECT_BYTES, 0, FIRST_ECT_BYTES];
            segment.set_accecn(AccEcn::new(Order::Ect1First, &first));
        }
    }

    /// Bytes of a header that SACK blocks and the option of the next segment take, where `blocks`
    /// blocks are to be reported.
    #[inline]
    pub(super) fn option_bytes(&self, blocks: u8) -> u32 {
        if !self.tp.accurate_ecn {
            return sack_bytes(blocks);
        }
        match self.fit_option(blocks, 0) {
            Some((count, blocks)) => Form::bytes_of(count, blocks > 0) + sack_bytes(blocks),
            None => sack_bytes(blocks),
        }
    }

    /// Payload has come again from `start` on. Where the ACK before it reported just that, it seems
    /// to have been lost for its option.
    pub(super) fn note_repetition(&mut self, start: u32) {
        if self.accurate.option_beside_dsack == Some(start) {
            self.accurate.option_is_dropped = true;
        }
    }

    /// How many marked segments an ACK reports. `delivered` segments of `bytes` payload arrived
    /// newly by it.
    pub(super) fn marks_reported(
        &mut self,
        segment: &Segment,
        news: &AckNews,
        delivered: u32,
        bytes: u32,
    ) -> u32 {
        let ends_handshake = std::mem::take(&mut self.accurate.ends_handshake);
        let is_newer = self.handshake.timestamps && self.arrivals.is_newer;
        // An ACK that shows no progress may have been overtaken by one with larger counters.
        if !news.acked && !news.sacked && !is_newer {
            return 0;
        }
        let marked_before = self.accurate.delivered.get(Ecn::Ce);
        let counters_hold = self.take_option(segment, bytes);
        let marked_bytes = self
            .accurate
            .delivered
            .get(Ecn::Ce)
            .wrapping_sub(marked_before);
        self.average_delivered(delivered);
        if ends_handshake {
            return 0;
        }
        let ace = u32::from(segment.flags.ace());
        let least = ace
            .wrapping_sub(FIRST_CEP)
            .wrapping_sub(self.tp.delivered_ce as u32)
            % WRAP;
        if delivered < WRAP {
            return least;
        }
        //= rfc9768 §3.2.2.5
        //# the AccECN Data Sender SHOULD conservatively assume that the counter did cycle
        let most = delivered - (delivered - least) % WRAP;
        if !counters_hold {
            // Where ACKs are thinned on the way a large one is nothing unusual.
            let thinned = self.accurate.delivered_average > THINNED << AVERAGE_SHIFT;
            return if thinned { least } else { most };
        }
        self.between(least, most, delivered, bytes, marked_bytes)
    }

    /// The number of marks between `least` and `most` that fits `marked_bytes` best (RFC 9768
    /// §A.2.1).
    fn between(&self, least: u32, most: u32, delivered: u32, bytes: u32, marked_bytes: u32) -> u32 {
        if marked_bytes == 0 {
            return least;
        }
        let is_settled =
            self.handshake.sack || matches!(self.tp.ca_state, CaState::Open | CaState::Cwr);
        if delivered >= 2 * WRAP && is_settled {
            if bytes <= marked_bytes {
                return most;
            }
            let share = u64::from(marked_bytes) * u64::from(delivered);
            let estimate = share.div_ceil(u64::from(bytes)) as u32;
            return most.min(least + estimate / WRAP * WRAP);
        }
        let mss = u64::from(self.tp.mss);
        let marked_bytes = u64::from(marked_bytes);
        if marked_bytes > u64::from(least) * mss {
            most
        } else if marked_bytes < u64::from(most) * mss / 2 {
            least
        } else {
            most
        }
    }

    fn average_delivered(&mut self, delivered: u32) {
        if delivered == 0 {
            return;
        }
        let new = delivered << AVERAGE_SHIFT;
        let old = self.accurate.delivered_average;
        let average = if old == 0 {
            new
        } else {
            ((old << AVERAGE_SHIFT) - old + new) >> AVERAGE_SHIFT
        };
        self.accurate.delivered_average = average.min(0xffff);
    }

    /// The peer's counters of bytes. True where they can be relied on for this ACK.
    fn take_option(&mut self, segment: &Segment, bytes: u32) -> bool {
        if self.accurate.seen == Seen::Unusable {
            return false;
        }
        let Some(option) = segment.accecn() else {
            if self.accurate.seen == Seen::None {
                if self.counters.bytes_sent >= TOO_LATE {
                    self.accurate.seen = Seen::Unusable;
                }
                return false;
            }
            let Some(field) = self.accurate.estimated else {
                return false;
            };
            if let Some(counter) = self.accurate.delivered.of(field) {
                *counter = counter.wrapping_add(bytes);
            }
            return true;
        };
        self.note_option_seen(segment);
        let estimated = self.accurate.estimated;
        let mut holds = estimated.is_some();
        let (mut moved, mut is_ambiguous) = (None, false);
        for (field, counter) in option.fields() {
            let Some(known) = self.accurate.delivered.of(field) else {
                continue;
            };
            let first = if field == Ecn::Ce { 0 } else { FIRST_ECT_BYTES };
            // By how much it moved, as a number of 24 bits with its sign.
            let by = counter.wrapping_sub(first).wrapping_sub(*known) << 8;
            let by = by as i32 >> 8;
            *known = known.wrapping_add(by as u32);
            if by == 0 {
                continue;
            }
            if by < 0 {
                is_ambiguous = true;
            }
            if Some(field) != estimated {
                is_ambiguous |= moved.is_some();
                moved.get_or_insert(field);
            }
        }
        if moved.is_some() {
            self.accurate.estimated = moved;
        }
        if is_ambiguous {
            self.accurate.estimated = None;
            holds = false;
        }
        holds
    }
}
