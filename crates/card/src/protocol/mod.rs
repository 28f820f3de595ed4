//! The protocol of the register socket, version 1: requests and answers as bytes.
//!
//! A message is a header of eight bytes and items of 32 bits, all in network byte order:
//!
//! ```text
//! version 8 | kind 8 | count 16 | tag 32 | items
//! ```
//! An answer has the tag of its request. All accesses of one request are done with nothing in
//! between. `docs/netfpga-registers.md` describes each kind.

mod answer;
mod request;

pub(crate) use answer::{Answer, Refusal, pairs, values};
pub(crate) use request::{Request, WRITE_BIT};

/// The version that this program speaks.
pub(crate) const VERSION: u8 = 1;
/// Bytes of a header.
pub(crate) const HEADER_BYTES: usize = 8;
/// Accesses of one request, at most.
pub(crate) const MOST_ACCESSES: usize = 4096;
/// Registers that a connection watches, at most.
pub(crate) const MOST_WATCHED: usize = 1024;
/// Limits of the interval between two answers to a watch, in milliseconds.
pub(crate) const INTERVAL_MS: std::ops::RangeInclusive<u32> = 10..=60_000;
/// Bytes of the longest request.
pub(crate) const LONGEST_REQUEST: usize = HEADER_BYTES + 8 * MOST_ACCESSES;

/// Kinds of requests, and of the answers to them.
pub(crate) mod kind {
    pub(crate) const READ: u8 = 1;
    pub(crate) const WRITE: u8 = 2;
    pub(crate) const DUMP: u8 = 3;
    pub(crate) const WATCH: u8 = 4;
    pub(crate) const ACCESS: u8 = 5;
    /// Answers from this number on refuse a request.
    pub(crate) const REFUSED: u8 = 0x80;
}

/// A header.
fn header(kind: u8, count: usize, tag: u32) -> [u8; HEADER_BYTES] {
    let [count_hi, count_lo] = (count as u16).to_be_bytes();
    let [a, b, c, d] = tag.to_be_bytes();
    [VERSION, kind, count_hi, count_lo, a, b, c, d]
}

/// Kind, count and tag of a header, if all of it is there; `version` is not looked at.
fn read_header(bytes: &[u8]) -> Option<(u8, usize, u32)> {
    let [_, kind, count_hi, count_lo, a, b, c, d] = *bytes.first_chunk()?;
    let count = u16::from_be_bytes([count_hi, count_lo]) as usize;
    Some((kind, count, u32::from_be_bytes([a, b, c, d])))
}

/// The 32-bit numbers of `bytes`.
fn words(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| u32::from_be_bytes(*word))
}
