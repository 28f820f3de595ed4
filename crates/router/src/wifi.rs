//! Frames of IEEE 802.11 as elements see them: the header, and what a driver tells of a frame in its annotations.
//!
//! A frame's first two bytes are its control field: version, type and subtype, then flags. Four addresses at most
//! follow; which is whose depends on the two flags of the distribution system.

use trammel_packet::packet::Packet;

/// Bytes of the header with three addresses.
pub const LEN: usize = 24;
/// Bytes of an address.
const ADDRESS: usize = 6;
/// Bytes of the LLC and SNAP headers, the last two of which are the Ethernet type.
pub const LLC: usize = 8;

/// Where what a driver tells of a frame stands among the annotations, and how it begins.
const EXTRA_AT: usize = 16;
const EXTRA_MAGIC: u32 = 0x0749_2001;

/// A flag of the annotation: the frame was sent by this station and came back.
pub const SENT: u32 = 1;
/// The frame was received with errors.
pub const BAD: u32 = 1 << 3;

/// What elements look at of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    control: [u8; 2],
    /// The three addresses that every data frame has.
    pub addresses: [[u8; ADDRESS]; 3],
    sequence: u16,
}

impl Header {
    /// The header at the front of `data`; none where it is not all there.
    pub fn read(data: &[u8]) -> Option<Header> {
        let data = data.get(..LEN)?;
        let address =
            |at: usize| -> Option<[u8; ADDRESS]> { data[at..at + ADDRESS].try_into().ok() };
        Some(Header {
            control: [data[0], data[1]],
            addresses: [address(4)?, address(10)?, address(16)?],
            sequence: u16::from_le_bytes([data[22], data[23]]),
        })
    }

    /// Whether it is to the distribution system, and whether from it.
    pub fn direction(self) -> (bool, bool) {
        (self.control[1] & 1 != 0, self.control[1] & 2 != 0)
    }

    /// Whether the payload is encrypted.
    pub fn is_protected(self) -> bool {
        self.control[1] & 0x40 != 0
    }

    /// Whether it was sent before.
    pub fn is_retry(self) -> bool {
        self.control[1] & 8 != 0
    }

    /// Whether further fragments follow.
    pub fn has_more(self) -> bool {
        self.control[1] & 4 != 0
    }

    /// Whether it is a control frame or one of a reserved type, which have no sequence numbers.
    pub fn is_control(self) -> bool {
        self.control[0] & 4 != 0
    }

    /// Whether it is data of a service class, whose header has two bytes more.
    pub fn has_service_class(self) -> bool {
        self.control[0] & 0x8c == 0x88
    }

    /// The number of the frame.
    pub fn sequence(self) -> u16 {
        self.sequence >> 4
    }

    /// The number of the fragment.
    pub fn fragment(self) -> u8 {
        (self.sequence & 15) as u8
    }

    /// Bytes of the header: a fourth address between access points, a service class, and what pads it to whole words
    /// where the driver does so.
    pub fn len(self, is_padded: bool) -> usize {
        let fourth = if self.direction() == (true, true) {
            ADDRESS
        } else {
            0
        };
        let class = if self.has_service_class() { 2 } else { 0 };
        let len = LEN + fourth + class;
        if is_padded {
            len.next_multiple_of(4)
        } else {
            len
        }
    }

    /// The destination and the source.
    pub fn ends(self) -> ([u8; ADDRESS], [u8; ADDRESS]) {
        let [one, two, three] = self.addresses;
        match self.direction() {
            (true, false) => (three, two),
            (false, true) => (one, three),
            _ => (one, two),
        }
    }
}

/// The flags that a driver has told of a frame; none where it told nothing.
pub fn told(packet: &Packet) -> u32 {
    extra(packet).map_or(0, |bytes| {
        u32::from_ne_bytes([bytes[4], bytes[5], bytes[6], bytes[7]])
    })
}

/// Whether the driver told that the header is padded.
pub fn is_padded(packet: &Packet) -> bool {
    extra(packet).is_some_and(|bytes| bytes[11] != 0)
}

fn extra(packet: &Packet) -> Option<&[u8]> {
    let bytes = &packet.annotations()[EXTRA_AT..];
    (bytes[..4] == EXTRA_MAGIC.to_ne_bytes()).then_some(bytes)
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// A data frame with these flags, whose addresses are 1, 2 and 3 throughout, and `payload`.
    pub(crate) fn frame(flags: u8, sequence: u16, payload: &[u8]) -> Vec<u8> {
        let mut frame = vec![0x08, flags, 0, 0];
        for address in [2_u8, 4, 6] {
            frame.extend([address; ADDRESS]);
        }
        frame.extend(sequence.to_le_bytes());
        frame.extend(payload);
        frame
    }

    /// Notes what a driver would tell.
    pub(crate) fn tell(packet: &mut Packet, flags: u32) {
        let bytes = &mut packet.annotations_mut()[EXTRA_AT..];
        bytes[..4].copy_from_slice(&EXTRA_MAGIC.to_ne_bytes());
        bytes[4..8].copy_from_slice(&flags.to_ne_bytes());
    }
}
