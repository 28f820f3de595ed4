//! What left against what the script expected.
//!
//! A kernel hands its device super-segments and cuts them later; ours are those of the wire. A line
//! that expects more bytes than one segment carries is therefore met by consecutive segments of
//! just those bytes, all but the last of them full, each with the header that the line asks for:
//! FIN on the last, CWR on the first, as segmentation leaves them. `--strict_segments` asks for one
//! segment.
//!
//! PSH is not compared: RFC 9293 §3.9.1.2 leaves its setting to the sender, Linux sets it by the
//! size of its super-segments, and our TCP, which carries no payload, does not set it.

use super::host::Sent;
use super::wire::Wire;
use crate::script::{SegmentLine, TcpOption};
use trammel_core::time::{Span, Time};
use trammel_tcp::cc::Tp;
use trammel_tcp::segment::Flags;

/// A clock may be off by this part of the time since the script began.
const DRIFT: u64 = 8;
/// Most bytes of an AccECN option in a header.
const OPTION_BYTES: u32 = 12;

/// When something is to happen, and how far it may be off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) from: Time,
    pub(super) to: Time,
    pub(super) tolerance: Span,
}

impl Due {
    pub(super) fn earliest(self) -> Time {
        self.from.saturating_sub(self.tolerance)
    }
    pub(super) fn latest(self) -> Time {
        self.to.saturating_add(self.tolerance)
    }
    pub(super) fn holds(self, at: Time) -> bool {
        self.earliest() <= at && at <= self.latest()
    }
}

/// How timestamp values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stamps {
    /// Not at all: the script's are names.
    Names,
    /// As a clock of milliseconds, within the tolerance.
    Milliseconds,
}

/// A line that is being met.
#[derive(Clone, Debug)]
pub(super) struct Expected<'a> {
    pub(super) line: &'a SegmentLine,
    /// Payload bytes of it that have come.
    pub(super) met: u32,
    pub(super) stamps: Stamps,
    /// Time of the script so far.
    pub(super) elapsed: Span,
    /// In one segment, or in several.
    pub(super) is_strict: bool,
    pub(super) due: Due,
}

impl Expected<'_> {
    /// Whether the whole line has been met.
    pub(super) fn is_met(&self) -> bool {
        self.met == self.line.len
    }

    /// Compares a segment with the line, and counts its bytes. An error names what differs.
    pub(super) fn meet(
        &mut self,
        sent: &Sent,
        wire: &mut Wire,
        tp: &Tp,
    ) -> Result<(), &'static str> {
        if self.line.flags.has(Flags::SYN) && sent.segment.flags.has(Flags::SYN) {
            wire.name_sequence(self.line.seq);
        }
        let is = wire.outbound(&sent.segment);
        let left = self.line.len - self.met;
        let is_last = self.is_strict || is.len == left;
        let mut flags = self.line.flags.0 & !Flags::PSH.0;
        if !is_last {
            flags &= !Flags::FIN.0;
        }
        // Of accurate ECN the flag is a bit of a count, which all have.
        if self.met > 0 && !tp.accurate_ecn {
            flags &= !Flags::CWR.0;
        }
        if is.flags.0 & !Flags::PSH.0 != flags {
            return Err("flags");
        }
        if is.seq != self.line.seq.wrapping_add(self.met) {
            return Err("sequence number");
        }
        // An AccECN option takes its room from the payload.
        let full = tp.mss - if tp.accurate_ecn { OPTION_BYTES } else { 0 };
        if is.len != left && (is_last || is.len > left || is.len < full) {
            return Err("length");
        }
        if self.line.ack.is_some() && is.ack != self.line.ack {
            return Err("acknowledgement");
        }
        if self.line.window.is_some() && is.window != self.line.window {
            return Err("window");
        }
        if self.line.ecn.is_some_and(|ecn| ecn != sent.segment.ecn) {
            return Err("ECN field");
        }
        if let (Some(expected), Some(is)) = (&self.line.options, &is.options) {
            self.compare_options(expected, is, sent, wire)?;
        }
        if !self.due.holds(sent.at) {
            return Err("time");
        }
        self.met += is.len;
        Ok(())
    }

    fn compare_options(
        &self,
        expected: &[TcpOption],
        is: &[TcpOption],
        sent: &Sent,
        wire: &mut Wire,
    ) -> Result<(), &'static str> {
        if expected.len() != is.len() {
            return Err("options");
        }
        for pair in expected.iter().zip(is) {
            match pair {
                (TcpOption::Timestamps(name, echo), TcpOption::Timestamps(value, echoed)) => {
                    if echo != echoed {
                        return Err("timestamp echo");
                    }
                    let is_first = wire.is_unnamed();
                    let off = u64::from(name.wrapping_sub(*value).min(value.wrapping_sub(*name)));
                    if self.stamps == Stamps::Milliseconds
                        && !is_first
                        && Span::from_ms(off) > self.due.tolerance.max(self.elapsed / DRIFT)
                    {
                        return Err("timestamp");
                    }
                    wire.name_stamp(*name, sent.segment.ts_val);
                }
                (expected, is) if expected != is => return Err("options"),
                _ => {}
            }
        }
        Ok(())
    }
}
