//! Frames of a capture in little memory: of each, what differs from a guess.
//!
//! A guest keeps what it captures until its flows are over: whatever it wrote meanwhile would wait
//! for its reader, and two runs would not be the same. A minute of 1 Gbit/s is seven million frames
//! at an end, so each is kept as its difference from the one before it of the same ports and
//! direction, whose identification, sequence number and checksum of IP are moved on as those of a
//! next packet are. That leaves about a dozen bytes of sixty.
//!
//! ```text
//! frame: kind (slot of the one before, direction, whether it is as long), [length],
//!        time since the frame before, which groups of eight bytes differ;
//!        of each such group: which bytes differ, those bytes
//! ```
//! Times and sets of groups are numbers of seven bits a byte, the last with a clear top bit.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Headers that are remembered to guess from.
const SLOTS: usize = 32;
const SLOT_BITS: u8 = 0x1f;
const OUTGOING: u8 = 0x20;
const AS_LONG: u8 = 0x40;
/// Bytes of a frame that are kept at most, in whole groups.
const MOST: usize = 128;
const GROUP: usize = 8;
/// Bytes of a chunk: three of them become four letters, so none is split.
const CHUNK: usize = 3 << 18;
/// IPv4's header without options.
const IP_BYTES: usize = 20;

/// A packet that was captured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// When, in nanoseconds from the start.
    pub at_ns: i64,
    /// Whether the host sent it.
    pub is_outgoing: bool,
    /// Its first bytes from the IP header on, TCP's whole header among them.
    pub header: Vec<u8>,
}

/// Frames in their order, packed. In JSON it is text in base64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frames {
    chunks: Vec<Vec<u8>>,
}

impl Frames {
    /// The frames.
    pub fn iter(&self) -> impl Iterator<Item = Frame> + '_ {
        Unpacking {
            bytes: self.chunks.iter().flatten().copied(),
            memory: Memory::default(),
        }
    }

    /// Bytes that they take.
    fn packed_bytes(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }

    fn push(&mut self, byte: u8) {
        match self.chunks.last_mut() {
            Some(last) if last.len() < CHUNK => last.push(byte),
            _ => {
                // Not by doubling: what a guest has once used stays taken on the host.
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push(byte);
                self.chunks.push(chunk);
            }
        }
    }
}

impl FromIterator<Frame> for Frames {
    fn from_iter<T: IntoIterator<Item = Frame>>(all: T) -> Frames {
        let mut packer = Packer::default();
        for one in all {
            packer.push(one.at_ns, one.is_outgoing, &one.header);
        }
        packer.finish()
    }
}

/// What packing and unpacking remember alike.
#[derive(Clone, Debug)]
struct Memory {
    last_ns: i64,
    headers: [([u8; MOST], usize); SLOTS],
}

impl Default for Memory {
    fn default() -> Memory {
        Memory {
            last_ns: 0,
            headers: [([0; MOST], 0); SLOTS],
        }
    }
}

/// Packs frames as they come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packer {
    frames: Frames,
    memory: Memory,
}

impl Packer {
    /// Adds a frame; of its header the first 128 bytes are kept.
    pub(crate) fn push(&mut self, at_ns: i64, is_outgoing: bool, header: &[u8]) {
        let header = &header[..header.len().min(MOST)];
        let slot = slot(is_outgoing, header);
        let (guess, length) = self.memory.guess(slot);
        let is_as_long = header.len() == length;
        let direction = if is_outgoing { OUTGOING } else { 0 };
        let long = if is_as_long { AS_LONG } else { 0 };
        self.frames.push(slot as u8 | direction | long);
        if !is_as_long {
            self.frames.push(header.len() as u8);
        }
        let since = at_ns.wrapping_sub(self.memory.last_ns);
        self.number(((since << 1) ^ (since >> 63)).cast_unsigned());
        let mut whole = [0; MOST];
        whole[..header.len()].copy_from_slice(header);
        let groups = || whole.chunks(GROUP).zip(guess.chunks(GROUP));
        let count = header.len().div_ceil(GROUP);
        let differing = groups()
            .take(count)
            .enumerate()
            .filter(|(_, (one, guess))| one != guess)
            .fold(0, |set, (at, _)| set | 1 << at);
        self.number(differing);
        for (at, (one, guess)) in groups().take(count).enumerate() {
            if differing & 1 << at == 0 {
                continue;
            }
            let bytes = || one.iter().zip(guess).enumerate();
            let set = bytes()
                .filter(|(_, (one, guess))| one != guess)
                .fold(0, |set, (at, _)| set | 1_u8 << at);
            self.frames.push(set);
            for (_, (byte, guess)) in bytes() {
                if byte != guess {
                    self.frames.push(*byte);
                }
            }
        }
        self.memory.last_ns = at_ns;
        self.memory.headers[slot] = (whole, header.len());
    }

    /// Bytes that all take so far.
    pub(crate) fn packed_bytes(&self) -> usize {
        self.frames.packed_bytes()
    }

    /// All that was packed.
    pub(crate) fn finish(self) -> Frames {
        self.frames
    }

    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.frames.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.frames.push(value as u8);
    }
}

impl Memory {
    /// What the next header of a slot is likely to be, and its length.
    fn guess(&self, slot: usize) -> ([u8; MOST], usize) {
        let (last, length) = &self.headers[slot];
        let mut next = *last;
        let word = |at: usize| u16::from_be_bytes([last[at], last[at + 1]]);
        let head = usize::from(last[0] & 0x0f) * 4;
        if last[0] >> 4 != 4 || head != IP_BYTES || *length < 2 * IP_BYTES {
            return (next, *length);
        }
        next[4..6].copy_from_slice(&word(4).wrapping_add(1).to_be_bytes());
        let headers = head + usize::from(last[head + 12] >> 4) * 4;
        let payload = u32::from(word(2)).saturating_sub(headers as u32);
        // SYN and FIN take a number each.
        let flags = u32::from(last[head + 13] & 1) + u32::from(last[head + 13] >> 1 & 1);
        let sequence = &mut next[head + 4..head + 8];
        let moved = sequence
            .iter()
            .fold(0_u32, |number, byte| number << 8 | u32::from(*byte))
            .wrapping_add(payload + flags);
        sequence.copy_from_slice(&moved.to_be_bytes());
        next[10..12].fill(0);
        let words = next[..IP_BYTES].chunks_exact(2);
        let mut sum: u32 = words
            .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])))
            .sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        next[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
        (next, *length)
    }
}

/// Where the headers of a direction of a connection are remembered: by its ports.
fn slot(is_outgoing: bool, header: &[u8]) -> usize {
    let ports = header.get(IP_BYTES..IP_BYTES + 4).unwrap_or_default();
    let sum = ports.iter().fold(usize::from(is_outgoing), |sum, byte| {
        sum + usize::from(*byte)
    });
    sum % SLOTS
}

/// Frames as they are unpacked; they end where bytes are missing.
struct Unpacking<B> {
    bytes: B,
    memory: Memory,
}

impl<B: Iterator<Item = u8>> Unpacking<B> {
    fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.bytes.next()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

impl<B: Iterator<Item = u8>> Iterator for Unpacking<B> {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        let kind = self.bytes.next()?;
        let slot = usize::from(kind & SLOT_BITS);
        let (mut whole, mut length) = self.memory.guess(slot);
        if kind & AS_LONG == 0 {
            length = usize::from(self.bytes.next()?).min(MOST);
        }
        let since = self.number()?;
        let since = (since >> 1).cast_signed() ^ -(since & 1).cast_signed();
        let differing = self.number()?;
        for at in 0..length.div_ceil(GROUP) {
            if differing & 1 << at == 0 {
                continue;
            }
            let set = self.bytes.next()?;
            for (bit, byte) in whole[at * GROUP..][..GROUP].iter_mut().enumerate() {
                if set & 1 << bit != 0 {
                    *byte = self.bytes.next()?;
                }
            }
        }
        // As it was remembered: zeros behind the end.
        whole[length..].fill(0);
        let at_ns = self.memory.last_ns.wrapping_add(since);
        self.memory.last_ns = at_ns;
        self.memory.headers[slot] = (whole, length);
        Some(Frame {
            at_ns,
            is_outgoing: kind & OUTGOING != 0,
            header: whole[..length].to_vec(),
        })
    }
}

/// Writes base64, chunk by chunk.
impl fmt::Display for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for chunk in &self.chunks {
            for part in chunk.chunks(3 << 10) {
                text.clear();
                STANDARD.encode_string(part, &mut text);
                f.write_str(&text)?;
            }
        }
        Ok(())
    }
}

impl Serialize for Frames {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Frames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Frames, D::Error> {
        struct Text;
        impl serde::de::Visitor<'_> for Text {
            type Value = Frames;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("frames in base64")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Frames, E> {
                read(text.as_bytes()).ok_or_else(|| E::custom("frames are not base64"))
            }
        }
        deserializer.deserialize_str(Text).map_err(D::Error::custom)
    }
}

/// The bytes of base64; nothing where it is none. Read in parts: whole, they would be there twice.
fn read(text: &[u8]) -> Option<Frames> {
    let mut frames = Frames::default();
    for part in text.chunks(4 << 10) {
        for byte in STANDARD.decode(part).ok()? {
            frames.push(byte);
        }
    }
    Some(frames)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A segment of 1448 bytes with timestamps, the `n`th of a connection.
    fn segment(n: u32, is_outgoing: bool) -> Frame {
        let mut header = vec![0_u8; 52];
        header[..4].copy_from_slice(&[0x45, 0, 0x05, 0xdc]);
        header[4..6].copy_from_slice(&(n as u16).to_be_bytes());
        header[6..10].copy_from_slice(&[0x40, 0, 64, 6]);
        header[20..24].copy_from_slice(&[0x9c, 0x40, 0x13, 0x88]);
        header[24..28].copy_from_slice(&(n * 1448).to_be_bytes());
        header[32..34].copy_from_slice(&[0x80, 0x10]);
        header[44..48].copy_from_slice(&(n / 3).to_be_bytes());
        let sum: u32 = header[..20]
            .chunks(2)
            .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])))
            .sum();
        let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
        header[10..12].copy_from_slice(&sum.to_be_bytes());
        Frame {
            at_ns: i64::from(n) * 12_000,
            is_outgoing,
            header,
        }
    }

    #[test]
    fn segments_of_a_connection_take_a_dozen_bytes() {
        let frames: Vec<Frame> = (1..3000).map(|n| segment(n, n % 3 > 0)).collect();
        let packed: Frames = frames.iter().cloned().collect();
        assert!(packed.iter().eq(frames.iter().cloned()));
        let each = packed.packed_bytes() / frames.len();
        assert!(each <= 12, "{each}");
        // It travels as text, whose last letters may stand for less than three bytes.
        for keep in 2990..2999 {
            let packed: Frames = frames.iter().take(keep).cloned().collect();
            let text = serde_json::to_string(&packed).unwrap();
            let read: Frames = serde_json::from_str(&text).unwrap();
            assert_eq!(read, packed);
        }
    }

    #[test]
    fn what_is_no_text_of_frames_is_refused() {
        assert!(serde_json::from_str::<Frames>("\"a*==\"").is_err());
        assert!(serde_json::from_str::<Frames>("7").is_err());
        // One that is cut ends early.
        let cut = read(b"AAAA").unwrap();
        assert_eq!(cut.iter().count(), 0);
    }

    proptest! {
        #[test]
        fn whatever_is_packed_comes_out(frames in prop::collection::vec(
            (any::<i64>(), any::<bool>(), prop::collection::vec(any::<u8>(), 0..140)), 0..40
        )) {
            let frames: Vec<Frame> = frames
                .into_iter()
                .map(|(at_ns, is_outgoing, header)| Frame { at_ns, is_outgoing, header })
                .collect();
            let packed: Frames = frames.iter().cloned().collect();
            let text = serde_json::to_string(&packed).unwrap();
            let read: Frames = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&read, &packed);
            let kept = frames.into_iter().map(|mut frame| {
                frame.header.truncate(MOST);
                frame
            });
            prop_assert!(read.iter().eq(kept));
        }

        #[test]
        fn whatever_is_read_is_unpacked_without_a_panic(bytes in prop::collection::vec(
            any::<u8>(), 0..300
        )) {
            let mut frames = Frames::default();
            for byte in bytes {
                frames.push(byte);
            }
            prop_assert!(frames.iter().count() <= 300);
        }
    }
}
