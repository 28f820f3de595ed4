//! One connection: its handshake, both directions, and where it was captured.

use super::copies::Copies;
use super::flow::{Flow, Room};
use super::packet::{End, Seen};
use super::round_trips::RoundTrips;
use trammel_tcp::segment::Flags;

/// How much longer the way to one end must be than to the other for the capture to be at that
/// other.
const FAR: f64 = 8.0;

/// A way that is long enough to tell where the capture is, microseconds.
const LONG_US: f64 = 1000.0;
/// Samples that tell it as well.
const FEW: u64 = 8;

/// Where the packets of a direction were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// At the end that sends the data, or so near that it makes no difference.
    Sender,
    /// At the end that receives them.
    Receiver,
    /// Somewhere between, or nobody can tell.
    Between,
}

impl Place {
    pub(super) fn name(self) -> &'static str {
        match self {
            Place::Sender => "sender",
            Place::Receiver => "receiver",
            Place::Between => "between",
        }
    }
}

/// A connection; `ends[0]` is the one that opened it, or was seen first.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub(super) ends: [End; 2],
    /// The data of each end.
    pub(super) flows: [Flow; 2],
    pub(super) start_ns: i64,
    pub(super) last_ns: i64,
    /// When SYN, SYN-ACK and the ACK after it were seen; the first two only if sent once.
    syn_ns: Option<i64>,
    syn_ack_ns: Option<i64>,
    ack_ns: Option<i64>,
    syns: u32,
    syn_acks: u32,
    first_number: Option<u32>,
    /// The shift of the windows of each end, told in its SYN; windows scale where both told one.
    pub(super) scales: [Option<u8>; 2],
    pub(super) has_sack: [bool; 2],
    pub(super) is_ecn: bool,
    pub(super) copies: Copies,
}

impl Connection {
    pub(super) fn new(seen: &Seen) -> Connection {
        let is_answer = seen.segment.flags.has(Flags::SYN.with(Flags::ACK));
        let ends = if is_answer {
            [seen.to, seen.from]
        } else {
            [seen.from, seen.to]
        };
        Connection {
            ends,
            flows: [Flow::default(), Flow::default()],
            start_ns: seen.at_ns,
            last_ns: seen.at_ns,
            syn_ns: None,
            syn_ack_ns: None,
            ack_ns: None,
            syns: 0,
            syn_acks: 0,
            first_number: None,
            scales: [None; 2],
            has_sack: [false; 2],
            is_ecn: false,
            copies: Copies::default(),
        }
    }

    /// Whether `seen` opens another connection between the same ends.
    pub(super) fn is_another(&self, seen: &Seen) -> bool {
        let flags = seen.segment.flags;
        flags.has(Flags::SYN)
            && !flags.has(Flags::ACK)
            && self.first_number != Some(seen.segment.seq)
            && (self.first_number.is_some() || self.flows.iter().any(|flow| flow.counts.acks > 0))
    }

    pub(super) fn take(&mut self, seen: &Seen, room: Room) {
        let from = usize::from(seen.from != self.ends[0]);
        self.last_ns = self.last_ns.max(seen.at_ns);
        self.handshake(seen, from);
        let scales = match self.scales {
            [Some(_), Some(_)] => self.scales,
            _ => [None; 2],
        };
        // What it acknowledges was sent before what it carries.
        self.flows[1 - from].acknowledged(seen, scales[from], room);
        self.flows[from].data(seen, room);
    }

    fn handshake(&mut self, seen: &Seen, from: usize) {
        let segment = &seen.segment;
        if segment.flags.has(Flags::SYN) {
            // Its MSS bounds what the other end sends.
            if segment.mss > 0 {
                self.flows[1 - from].mss = Some(segment.mss);
            }
            self.scales[from] = segment.options.wscale_plus_1.checked_sub(1);
            self.has_sack[from] = segment.options.sack_permitted;
            if segment.flags.has(Flags::ACK) {
                self.syn_acks += 1;
                self.syn_ack_ns = Some(seen.at_ns);
                self.is_ecn = segment.flags.any(Flags::ACE);
            } else {
                self.syns += 1;
                self.first_number = Some(segment.seq);
                self.syn_ns = Some(seen.at_ns);
            }
        } else if from == 0 && self.syn_ack_ns.is_some() && self.ack_ns.is_none() {
            self.ack_ns = Some(seen.at_ns);
        }
    }

    /// From the point of capture to the end that was called and back, and to the caller and back,
    /// microseconds.
    fn ways(&self) -> Option<(f64, f64)> {
        let (syn, syn_ack, ack) = (self.syn_ns?, self.syn_ack_ns?, self.ack_ns?);
        let us = |from: i64, to: i64| to.saturating_sub(from).max(0) as f64 / 1e3;
        (self.syns == 1 && self.syn_acks == 1).then(|| (us(syn, syn_ack), us(syn_ack, ack)))
    }

    /// The round trip of the handshake, microseconds.
    pub(super) fn handshake_us(&self) -> Option<f64> {
        self.ways().map(|(there, back)| there + back)
    }

    /// Where the data of the end `from` were seen.
    pub(super) fn place(&self, from: usize) -> Place {
        let flow = &self.flows[from];
        let by_handshake = self.ways().map(|(called, caller)| match from {
            0 => (caller, called),
            _ => (called, caller),
        });
        // Half of the acknowledgements are answered at once by a sender that has more to send.
        let half = |of: &RoundTrips| of.quantile_us(0.5).filter(|_| of.count() >= FEW);
        let by_data = half(&flow.before).zip(half(&flow.beyond));
        let judge = |(to_sender, to_receiver): (f64, f64)| {
            if to_receiver > FAR * to_sender {
                Place::Sender
            } else if to_sender > FAR * to_receiver {
                Place::Receiver
            } else {
                Place::Between
            }
        };
        // A path without delay but in its queue shows none in its handshake.
        let is_long = |(here, there): &(f64, f64)| here.max(*there) >= LONG_US;
        match by_handshake.filter(is_long).or(by_data).or(by_handshake) {
            Some(ways) => judge(ways),
            None => Place::Between,
        }
    }
}
