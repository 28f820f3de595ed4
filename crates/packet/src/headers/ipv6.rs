//! IPv6 (RFC 8200).

use super::ipv4::protocol;
use super::{U16, U32, header};

header! {
    /// The header.
    pub struct Ipv6 {
        /// Version, traffic class, flow label.
        pub version_class_flow: U32,
        /// Bytes after this header.
        pub payload_length: U16,
        /// One of [`protocol`].
        pub next_header: u8,
        /// Hops to live.
        pub hop_limit: u8,
        /// From whom.
        pub src: [u8; 16],
        /// To whom.
        pub dst: [u8; 16],
    }
}

impl Ipv6 {
    /// The version; 6 where this is IPv6.
    pub fn version(&self) -> u8 {
        (self.version_class_flow.get() >> 28) as u8
    }

    /// Traffic class: DSCP and ECN.
    pub fn traffic_class(&self) -> u8 {
        (self.version_class_flow.get() >> 20) as u8
    }

    /// The flow label.
    pub fn flow_label(&self) -> u32 {
        self.version_class_flow.get() & 0xF_FFFF
    }
}

header! {
    /// The fragment header, extension 44.
    pub struct Fragment {
        /// What follows.
        pub next_header: u8,
        /// Zero.
        pub reserved: u8,
        /// The offset in units of 8 bytes in the upper 13 bits; more fragments in the lowest.
        pub offset_more: U16,
        /// To tell apart the packets whose fragments these are.
        pub identification: U32,
    }
}

/// What follows the extension headers of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upper {
    /// One of [`protocol`].
    pub protocol: u8,
    /// Where its header begins, from the front of the packet.
    pub at: usize,
    /// Where the fragment begins, in units of 8 bytes; 0 for the first and for whole packets.
    pub fragment_offset: u16,
    /// Whether the packet has a fragment header.
    pub is_fragment: bool,
}

/// Follows the extension headers of the IPv6 packet `data`. Answers nothing where one is cut short.
/// An encrypted payload, and what lies behind a fragment other than the first, is not looked into.
pub fn upper(data: &[u8]) -> Option<Upper> {
    let mut found = Upper {
        protocol: Ipv6::read(data)?.next_header,
        at: Ipv6::LEN,
        fragment_offset: 0,
        is_fragment: false,
    };
    loop {
        let rest = data.get(found.at..)?;
        let len = match found.protocol {
            protocol::HOPOPTS | protocol::ROUTING | protocol::DSTOPTS => {
                (usize::from(*rest.get(1)?) + 1) * 8
            }
            protocol::AH => (usize::from(*rest.get(1)?) + 2) * 4,
            protocol::FRAGMENT => {
                found.fragment_offset = Fragment::read(rest)?.offset_more.get() >> 3;
                found.is_fragment = true;
                Fragment::LEN
            }
            _ => return Some(found),
        };
        found.protocol = *rest.first()?;
        found.at += len;
        if found.at > data.len() {
            return None;
        }
        if found.fragment_offset != 0 {
            return Some(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extension_headers_are_followed_to_the_transport_header() {
        let mut data = vec![0; Ipv6::LEN];
        Ipv6::read_mut(&mut data)
            .expect("the buffer holds a whole header")
            .next_header = protocol::HOPOPTS;
        data.extend([protocol::FRAGMENT, 0, 1, 4, 0, 0, 0, 0]);
        data.extend([protocol::UDP, 0, 0, 1, 0, 0, 0, 9]);
        assert_eq!(
            upper(&data),
            Some(Upper {
                protocol: protocol::UDP,
                at: 56,
                fragment_offset: 0,
                is_fragment: true
            })
        );
        assert_eq!(upper(&data[..55]), None);
        data[41] = 255;
        assert_eq!(upper(&data), None);
    }
}
