//! IPv4 (RFC 791).

use super::checksum;
use super::{U16, header};

/// Protocols: what an IPv4 packet carries (IANA's numbers, IPv6's included).
pub mod protocol {
    /// Hop-by-hop options of IPv6.
    pub const HOPOPTS: u8 = 0;
    /// ICMP.
    pub const ICMP: u8 = 1;
    /// IGMP.
    pub const IGMP: u8 = 2;
    /// IPv4 within IP.
    pub const IPIP: u8 = 4;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// DCCP.
    pub const DCCP: u8 = 33;
    /// IPv6 within IP.
    pub const IPV6: u8 = 41;
    /// The routing header of IPv6.
    pub const ROUTING: u8 = 43;
    /// The fragment header of IPv6.
    pub const FRAGMENT: u8 = 44;
    /// GRE.
    pub const GRE: u8 = 47;
    /// Encapsulating security payload.
    pub const ESP: u8 = 50;
    /// Authentication header.
    pub const AH: u8 = 51;
    /// ICMPv6.
    pub const ICMP6: u8 = 58;
    /// No next header.
    pub const NONE: u8 = 59;
    /// Destination options of IPv6.
    pub const DSTOPTS: u8 = 60;
    /// SCTP.
    pub const SCTP: u8 = 132;
    /// UDP-Lite.
    pub const UDPLITE: u8 = 136;
}

/// `flags_fragment`: reserved.
pub const RF: u16 = 0x8000;
/// `flags_fragment`: don't fragment.
pub const DF: u16 = 0x4000;
/// `flags_fragment`: more fragments.
pub const MF: u16 = 0x2000;
/// `flags_fragment`: the offset, in units of 8 bytes.
pub const OFFSET_MASK: u16 = 0x1FFF;

/// Options (RFC 791, 2113).
pub mod option {
    /// End of the options.
    pub const EOL: u8 = 0;
    /// One byte of nothing.
    pub const NOP: u8 = 1;
    /// Record route.
    pub const RR: u8 = 7;
    /// Timestamp.
    pub const TS: u8 = 68;
    /// Security.
    pub const SECURITY: u8 = 130;
    /// Loose source route.
    pub const LSRR: u8 = 131;
    /// Stream identifier.
    pub const SATID: u8 = 136;
    /// Strict source route.
    pub const SSRR: u8 = 137;
    /// Router alert.
    pub const RA: u8 = 148;
}

/// Explicit congestion notification (RFC 3168) in the lowest bits of `tos`.
pub mod ecn {
    /// Where it stands in `tos`.
    pub const MASK: u8 = 3;
    /// Not able.
    pub const NOT_ECT: u8 = 0;
    /// Able, codepoint 1.
    pub const ECT1: u8 = 1;
    /// Able, codepoint 0.
    pub const ECT0: u8 = 2;
    /// Congestion experienced.
    pub const CE: u8 = 3;
}

header! {
    /// The header without options.
    pub struct Ipv4 {
        /// Version in the upper four bits, header length in words of 4 bytes in the lower.
        pub version_ihl: u8,
        /// Type of service: DSCP and ECN.
        pub tos: u8,
        /// Bytes of the packet, header included.
        pub total_length: U16,
        /// To tell apart the packets whose fragments these are.
        pub identification: U16,
        /// [`RF`], [`DF`], [`MF`] and the offset.
        pub flags_fragment: U16,
        /// Time to live.
        pub ttl: u8,
        /// One of [`protocol`].
        pub protocol: u8,
        /// The header's checksum.
        pub checksum: U16,
        /// From whom.
        pub src: [u8; 4],
        /// To whom.
        pub dst: [u8; 4],
    }
}

impl Ipv4 {
    /// The version; 4 where this is IPv4.
    pub fn version(&self) -> u8 {
        self.version_ihl >> 4
    }

    /// Bytes of the header as it says, options included: 0 to 60.
    pub fn header_len(&self) -> usize {
        usize::from(self.version_ihl & 15) * 4
    }

    /// Where this fragment begins, in units of 8 bytes.
    pub fn fragment_offset(&self) -> u16 {
        self.flags_fragment.get() & OFFSET_MASK
    }

    /// Whether this is a fragment.
    pub fn is_fragment(&self) -> bool {
        self.flags_fragment.get() & (MF | OFFSET_MASK) != 0
    }

    /// Whether the transport header would be in this packet: whole, or the first fragment.
    pub fn is_first_fragment(&self) -> bool {
        self.fragment_offset() == 0
    }

    /// Differentiated services code point.
    pub fn dscp(&self) -> u8 {
        self.tos >> 2
    }

    /// Explicit congestion notification.
    pub fn ecn(&self) -> u8 {
        self.tos & ecn::MASK
    }
}

/// Where the packet `data` goes in the end: its destination, or the last address of a source route
/// that is not used up. That address is in the pseudo-header of its transport (RFC 1122, §4.2.3.8).
pub fn final_destination(data: &[u8]) -> Option<[u8; 4]> {
    let ip = Ipv4::read(data)?;
    let mut options = data.get(Ipv4::LEN..ip.header_len()).unwrap_or_default();
    while let Some(kind) = options.first() {
        match *kind {
            option::EOL => break,
            option::NOP => options = &options[1..],
            kind => {
                let len = usize::from(*options.get(1)?).max(2);
                let this = options.get(..len)?;
                if let option::LSRR | option::SSRR = kind {
                    let is_used_up = usize::from(*this.get(2)?) >= len;
                    return if is_used_up || len < 7 {
                        Some(ip.dst)
                    } else {
                        this[len - 4..].try_into().ok()
                    };
                }
                options = &options[len..];
            }
        }
    }
    Some(ip.dst)
}

/// Writes the checksum of the header at the front of `data`, options included. Nothing is written
/// where the header says a length that is less than 20 or more than there is.
pub fn set_checksum(data: &mut [u8]) {
    let Some(len) = Ipv4::read(data).map(Ipv4::header_len) else {
        return;
    };
    let Some(header) = data.get_mut(..len).filter(|_| len >= Ipv4::LEN) else {
        return;
    };
    header[10..12].fill(0);
    let sum = checksum::checksum(header);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
}
