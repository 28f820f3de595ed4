//! A segment's TCP header as bytes, and back (RFC 9293 §3.1).
//!
//! What is written has its options in the order and with the padding of Linux; what is read may
//! have them in any order. Ports, checksum and payload are the business of whoever has the packet
//! around the header: of a capture of a simulated link, and of a host on a real one. Payload is a
//! count here as everywhere.
//!
//! Source: RFC 9293 §3.1 and §3.2, RFC 7323 §2.2 and §3.2, RFC 2018 §2 and §3, RFC 3168 §6.1,
//! RFC 9768 §3.2.3.

use crate::accecn::{AccEcn, Order};
use crate::segment::{Flags, SackBlock, Segment};

/// Bytes of the longest header: 15 words.
pub const LONGEST_HEADER: usize = 60;
/// Bytes of a header without options.
const SHORTEST_HEADER: usize = 20;
/// The largest shift of windows (RFC 7323 §2.3).
const LARGEST_SHIFT: u8 = 14;

const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
const ACCECN0: u8 = 172;
const ACCECN1: u8 = 174;

/// Why bytes are no TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// Fewer bytes than a header has, or than it says that it has.
    #[error("the header is cut short")]
    Short,
    /// The header says that it is shorter than 20 bytes.
    #[error("the header's length is {0} bytes, less than 20")]
    Length(u8),
    /// An option's length is not one that its kind has, or goes beyond the header.
    #[error("option {kind} has a length of {length}")]
    Option {
        /// The option's kind.
        kind: u8,
        /// The length that it says; 0 where the header ends before it.
        length: u8,
    },
}

/// Writes the header of `segment` into `header`, which is [`Segment::header_bytes`] long and begins
/// with its ports; these and the checksum are left as they are. Options that only a SYN carries are
/// written on a SYN.
///
/// # Panics
/// Where `header` has another length, or more SACK blocks are given than have room: four, three
/// with timestamps.
pub fn write_header(segment: &Segment, header: &mut [u8]) {
    let bytes = segment.header_bytes() as usize;
    assert!(
        header.len() == bytes && bytes <= LONGEST_HEADER,
        "a header of {bytes} bytes"
    );
    header[4..8].copy_from_slice(&segment.seq.to_be_bytes());
    let ack = if segment.flags.has(Flags::ACK) {
        segment.ack
    } else {
        0
    };
    header[8..12].copy_from_slice(&ack.to_be_bytes());
    [header[12], header[13]] = ((bytes as u16 / 4) << 12 | segment.flags.0).to_be_bytes();
    header[14..16].copy_from_slice(&segment.window.to_be_bytes());
    header[18..20].fill(0); // There is never urgent data.
    let is_syn = segment.flags.has(Flags::SYN);
    let mut at = SHORTEST_HEADER;
    let mut put = |bytes: &[u8]| {
        header[at..at + bytes.len()].copy_from_slice(bytes);
        at += bytes.len();
    };
    if is_syn && segment.mss != 0 {
        let [high, low] = segment.mss.to_be_bytes();
        put(&[MSS, 4, high, low]);
    }
    if is_syn && segment.options.sack_permitted {
        put(&[SACK_PERMITTED, 2]);
    }
    if segment.options.timestamps {
        if !is_syn {
            put(&[NOP, NOP]);
        }
        put(&[TIMESTAMPS, 10]);
        put(&segment.ts_val.to_be_bytes());
        put(&segment.ts_ecr.to_be_bytes());
    }
    let accecn = segment.accecn();
    if let Some(option) = accecn {
        put(&[kind_of(option.order), 2 + 3 * option.count]);
        for (_, counter) in option.fields() {
            put(&counter.to_be_bytes()[1..]);
        }
        // The NOPs before SACK blocks make room for its end.
        let used = 2 + 3 * usize::from(option.count);
        let reached = if is_syn || segment.sack_count == 0 {
            used.next_multiple_of(4)
        } else {
            (used + 2).next_multiple_of(4) - 2
        };
        put(&[NOP; 3][..reached - used]);
    }
    if is_syn && segment.options.wscale_plus_1 != 0 {
        put(&[WINDOW_SCALE, 3, segment.options.wscale_plus_1 - 1]);
    }
    if !is_syn && segment.sack_count > 0 {
        if accecn.is_none() {
            put(&[NOP, NOP]);
        }
        put(&[SACK, 2 + 8 * segment.sack_count]);
        for block in segment.sack_blocks() {
            put(&block.start.to_be_bytes());
            put(&block.end.to_be_bytes());
        }
    }
    // What is left of the last word are NOPs.
    header[at..].fill(NOP);
}

/// Reads a header and the payload that follows it as a segment, and says how many bytes the header
/// has. The ECN field is the IP header's: the segment says [`NotEct`](crate::segment::Ecn::NotEct).
///
/// Options that have no meaning where they stand (an MSS without SYN, SACK blocks with it) are
/// passed over, as are unknown ones; an option whose length is impossible makes the whole segment
/// one that is refused.
pub fn read_header(bytes: &[u8]) -> Result<(Segment, usize), Damage> {
    let Some((fixed, _)) = bytes.split_first_chunk::<SHORTEST_HEADER>() else {
        return Err(Damage::Short);
    };
    let length = usize::from(fixed[12] >> 4) * 4;
    if length < SHORTEST_HEADER {
        return Err(Damage::Length(length as u8));
    }
    let options = bytes.get(SHORTEST_HEADER..length).ok_or(Damage::Short)?;
    let flags = Flags(u16::from_be_bytes([fixed[12] & 1, fixed[13]]));
    let mut segment = Segment {
        seq: word(&fixed[4..8]),
        len: (bytes.len() - length) as u32,
        flags,
        window: u16::from_be_bytes([fixed[14], fixed[15]]),
        ..Segment::default()
    };
    if flags.has(Flags::ACK) {
        segment.ack = word(&fixed[8..12]);
    }
    read_options(options, &mut segment)?;
    Ok((segment, length))
}

/// The option's kind by the order of its fields (RFC 9768 §3.2.3).
fn kind_of(order: Order) -> u8 {
    match order {
        Order::Ect0First => ACCECN0,
        Order::Ect1First => ACCECN1,
    }
}

/// Reads up to four bytes.
fn word(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .fold(0, |word, byte| word << 8 | u32::from(*byte))
}

fn read_options(mut left: &[u8], segment: &mut Segment) -> Result<(), Damage> {
    let is_syn = segment.flags.has(Flags::SYN);
    let mut accecn = None;
    while let [kind, rest @ ..] = left {
        match *kind {
            END => break,
            NOP => {
                left = rest;
                continue;
            }
            _ => {}
        }
        let length = rest.first().copied().unwrap_or(0);
        let damage = Damage::Option {
            kind: *kind,
            length,
        };
        //= rfc9293 §3.1
        //# TCP implementations MUST be prepared to handle an illegal option length (e.g., zero)
        let value = left.get(2..usize::from(length)).ok_or(damage)?;
        match (*kind, value.len()) {
            (MSS, 2) if is_syn => segment.mss = u16::from_be_bytes([value[0], value[1]]),
            (WINDOW_SCALE, 1) if is_syn => {
                //= rfc7323 §2.3
                //# value larger than 14, the TCP SHOULD log the error but MUST use 14 instead
                segment.options.wscale_plus_1 = value[0].min(LARGEST_SHIFT) + 1;
            }
            (SACK_PERMITTED, 0) if is_syn => segment.options.sack_permitted = true,
            (TIMESTAMPS, 8) => {
                segment.options.timestamps = true;
                segment.ts_val = word(&value[..4]);
                segment.ts_ecr = word(&value[4..]);
            }
            (SACK, 8 | 16 | 24 | 32) if !is_syn => {
                segment.sack_count = (value.len() / 8) as u8;
                for (block, bytes) in segment.sack.iter_mut().zip(value.chunks_exact(8)) {
                    *block = SackBlock {
                        start: word(&bytes[..4]),
                        end: word(&bytes[4..]),
                    };
                }
            }
            //= rfc9768 §3.2.3
            //# A Data Sender MUST be able to read in AccECN TCP Options of any of the above
            //lengths.
            (ACCECN0 | ACCECN1, bytes) if bytes.is_multiple_of(3) && bytes <= 9 => {
                let order = if *kind == ACCECN0 {
                    Order::Ect0First
                } else {
                    Order::Ect1First
                };
                let mut counters = [0; 3];
                for (counter, bytes) in counters.iter_mut().zip(value.chunks_exact(3)) {
                    *counter = word(bytes);
                }
                accecn = Some(AccEcn::new(order, &counters[..bytes / 3]));
            }
            // In a place where they mean nothing.
            (MSS, 2) | (WINDOW_SCALE, 1) | (SACK_PERMITTED, 0) | (SACK, 8 | 16 | 24 | 32) => {}
            (MSS | WINDOW_SCALE | SACK_PERMITTED | SACK | TIMESTAMPS, _) => return Err(damage),
            _ => {}
        }
        left = &left[usize::from(length)..];
    }
    // Its counters stand where the other options leave room, so these have to be known.
    if let Some(option) = accecn {
        segment.set_accecn(option);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
