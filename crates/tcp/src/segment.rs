//! A TCP segment as a small value: header fields and lengths, no payload bytes.

pub use trammel_core::ecn::Ecn;

use crate::accecn::Form;

/// TCP header flags, the bits as on the wire: the low byte is the 14th of the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u16);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Reset the connection.
    pub const RST: Flags = Flags(0x04);
    /// Push.
    pub const PSH: Flags = Flags(0x08);
    /// The acknowledgement field counts.
    pub const ACK: Flags = Flags(0x10);
    /// ECN-Echo (RFC 3168 §6.1).
    pub const ECE: Flags = Flags(0x40);
    /// Congestion Window Reduced.
    pub const CWR: Flags = Flags(0x80);
    /// Accurate ECN (RFC 9768 §3.1).
    pub const AE: Flags = Flags(0x100);
    /// The three bits of the field ACE (RFC 9768 §3.2.2).
    pub const ACE: Flags = Flags(0x1c0);

    /// Whether all flags of `other` are set.
    #[inline]
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
    /// Whether any flag of `other` is set.
    #[inline]
    pub const fn any(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }
    /// These flags and those of `other`.
    #[inline]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
    /// These flags without those of `other`.
    #[inline]
    pub const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }
    /// The field ACE: AE, CWR and ECE as a number from 0 to 7.
    #[inline]
    pub const fn ace(self) -> u8 {
        (self.0 >> 6) as u8 & 7
    }
    /// These flags with the low three bits of `ace` as the field ACE.
    #[inline]
    pub const fn with_ace(self, ace: u8) -> Flags {
        Flags(self.0 & !Flags::ACE.0 | (ace as u16 & 7) << 6)
    }
}

/// One SACK block: the first sequence number of it and the first after it (RFC 2018 §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// First sequence number of the block.
    pub start: u32,
    /// First sequence number after the block.
    pub end: u32,
}

/// Options that only a SYN carries, and the presence of timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Timestamps are present (RFC 7323 §3).
    pub timestamps: bool,
    /// SACK-permitted (RFC 2018 §2); on a SYN only.
    pub sack_permitted: bool,
    /// Window scale (RFC 7323 §2) plus one; 0 without the option. On a SYN only.
    pub wscale_plus_1: u8,
}

/// A segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first payload byte (or of the SYN).
    pub seq: u32,
    /// Next sequence number expected, where ACK is set.
    pub ack: u32,
    /// Payload bytes.
    pub len: u32,
    /// Timestamp value, where timestamps are present.
    pub ts_val: u32,
    /// Timestamp echo reply.
    pub ts_ecr: u32,
    /// The window field, not scaled.
    pub window: u16,
    /// Maximum segment size option; 0 without it. On a SYN only.
    pub mss: u16,
    /// Header flags.
    pub flags: Flags,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// Number of SACK blocks used.
    pub sack_count: u8,
    /// Other options.
    pub options: Options,
    /// The form of the AccECN option; its counters stand where the other options leave room.
    pub accecn: Form,
    /// SACK blocks; a duplicate one (RFC 2883) comes first.
    pub sack: [SackBlock; 4],
}

impl Segment {
    /// The SACK blocks in use.
    #[inline]
    pub fn sack_blocks(&self) -> &[SackBlock] {
        &self.sack[..usize::from(self.sack_count)]
    }

    /// Sequence numbers that the segment takes: payload, SYN and FIN.
    #[inline]
    pub fn seq_len(&self) -> u32 {
        self.len + u32::from(self.flags.has(Flags::SYN)) + u32::from(self.flags.has(Flags::FIN))
    }

    /// The reset with sequence number `seq`, which acknowledges `ack` where that is given.
    pub fn reset(seq: u32, ack: Option<u32>) -> Segment {
        Segment {
            seq,
            ack: ack.unwrap_or(0),
            flags: match ack {
                Some(_) => Flags::RST.with(Flags::ACK),
                None => Flags::RST,
            },
            ..Segment::default()
        }
    }

    /// What a reset says that answers this segment where there is no connection: its sequence
    /// number and what it acknowledges (RFC 9293 §3.10.7.1). A reset is not answered.
    pub fn refusal(&self) -> Option<(u32, Option<u32>)> {
        if self.flags.has(Flags::RST) {
            None
        } else if self.flags.has(Flags::ACK) {
            Some((self.ack, None))
        } else {
            Some((0, Some(self.seq.wrapping_add(self.seq_len()))))
        }
    }

    /// Bytes of the TCP header with its options, padded to words.
    #[inline]
    pub fn header_bytes(&self) -> u32 {
        if self.flags.has(Flags::SYN) {
            return self.syn_header_bytes();
        }
        // Linux and most others put two NOPs before timestamps, and two before SACK, for alignment.
        let timestamps = 12 * u32::from(self.options.timestamps);
        let blocks = u32::from(self.sack_count);
        let accecn = self.accecn.padded_bytes(blocks > 0);
        20 + timestamps + accecn + 8 * blocks + 4 * u32::from(blocks > 0)
    }

    fn syn_header_bytes(&self) -> u32 {
        let mut options = 0;
        if self.mss != 0 {
            options += 4;
        }
        if self.options.wscale_plus_1 != 0 {
            options += 3;
        }
        if self.options.sack_permitted {
            options += 2;
        }
        if self.options.timestamps {
            options += 10;
        }
        20 + u32::div_ceil(options, 4) * 4 + self.accecn.padded_bytes(false)
    }

    /// Bytes of the IPv4 packet that carries the segment.
    #[inline]
    pub fn ip_bytes(&self) -> u32 {
        20 + self.header_bytes() + self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_one_cache_line() {
        assert!(size_of::<Segment>() <= 64);
    }

    #[test]
    fn header_lengths_are_those_of_linux() {
        let ts = Options {
            timestamps: true,
            ..Options::default()
        };
        let syn = Segment {
            flags: Flags::SYN,
            mss: 1460,
            options: Options {
                timestamps: true,
                sack_permitted: true,
                wscale_plus_1: 8,
            },
            ..Segment::default()
        };
        assert_eq!(syn.header_bytes(), 40);
        let data = Segment {
            flags: Flags::ACK,
            len: 1448,
            options: ts,
            ..Segment::default()
        };
        assert_eq!((data.header_bytes(), data.ip_bytes()), (32, 1500));
        let sack = Segment {
            flags: Flags::ACK,
            options: ts,
            sack_count: 3,
            ..Segment::default()
        };
        assert_eq!(sack.header_bytes(), 60);
    }
}
