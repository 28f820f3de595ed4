//! Frames of IEEE 802.11 as elements see them: the header, and what a driver tells of a frame in
//! its annotations.
//!
//! A frame's first two bytes are its control field: version, type and subtype, then flags. Four
//! addresses at most follow; which is whose depends on the two flags of the distribution system.

use trammel_packet::packet::Packet;

/// Bytes of the header with three addresses.
pub(crate) const LEN: usize = 24;
/// Bytes of an address.
const ADDRESS: usize = 6;
/// Bytes of the LLC and SNAP headers, the last two of which are the Ethernet type.
pub(crate) const LLC: usize = 8;

/// Where what a driver tells of a frame, or is told, stands among the annotations, and how it
/// begins.
const EXTRA_AT: usize = 16;
const EXTRA_MAGIC: u32 = 0x0749_2001;
/// Its bytes.
pub(crate) const EXTRA_LEN: usize = 24;

/// A flag of the annotation: the frame was sent by this station and came back.
pub(crate) const SENT: u32 = 1;
/// It was sent, and nobody acknowledged it.
pub(crate) const FAILED: u32 = 1 << 1;
/// It was sent at one of the further rates.
pub(crate) const OTHER_RATE: u32 = 1 << 2;
/// The frame was received with errors.
pub(crate) const BAD: u32 = 1 << 3;
/// The first part of a frame whose rest follows.
pub(crate) const MORE: u32 = 1 << 4;
/// The driver shall leave the sequence number as it is.
pub(crate) const HAS_SEQUENCE: u32 = 1 << 5;
/// The medium shall be asked for before it is sent (RTS and CTS).
pub(crate) const ASKS_FIRST: u32 = 1 << 7;
/// Nobody shall acknowledge it.
pub(crate) const UNACKNOWLEDGED: u32 = 1 << 9;

/// A byte of the annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// The strength of the signal.
    Signal = 8,
    /// That of the noise.
    Noise = 9,
    /// The power to send with.
    Power = 10,
    /// Whether the header is padded.
    Padded = 11,
    /// The rate, in units of 500 kbit/s.
    Rate = 12,
    /// How often it is tried.
    Tries = 16,
    /// How often it was sent again.
    Retries = 21,
}

/// What elements look at of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    control: [u8; 2],
    /// The three addresses that every data frame has.
    pub addresses: [[u8; ADDRESS]; 3],
    sequence: u16,
}

impl Header {
    /// The header at the front of `data`; none where it is not all there.
    pub(crate) fn read(data: &[u8]) -> Option<Header> {
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
    pub(crate) fn direction(self) -> (bool, bool) {
        (self.control[1] & 1 != 0, self.control[1] & 2 != 0)
    }

    /// Whether the payload is encrypted.
    pub(crate) fn is_protected(self) -> bool {
        self.control[1] & 0x40 != 0
    }

    /// Whether it was sent before.
    pub(crate) fn is_retry(self) -> bool {
        self.control[1] & 8 != 0
    }

    /// Whether further fragments follow.
    pub(crate) fn has_more(self) -> bool {
        self.control[1] & 4 != 0
    }

    /// Whether it is a control frame or one of a reserved type, which have no sequence numbers.
    pub(crate) fn is_control(self) -> bool {
        self.control[0] & 4 != 0
    }

    /// Whether it is data of a service class, whose header has two bytes more.
    pub(crate) fn has_service_class(self) -> bool {
        self.control[0] & 0x8c == 0x88
    }

    /// The number of the frame.
    pub(crate) fn sequence(self) -> u16 {
        self.sequence >> 4
    }

    /// The number of the fragment.
    pub(crate) fn fragment(self) -> u8 {
        (self.sequence & 15) as u8
    }

    /// Bytes of the header: a fourth address between access points, a service class, and what pads
    /// it to whole words where the driver does so.
    pub(crate) fn len(self, is_padded: bool) -> usize {
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
    pub(crate) fn ends(self) -> ([u8; ADDRESS], [u8; ADDRESS]) {
        let [one, two, three] = self.addresses;
        match self.direction() {
            (true, false) => (three, two),
            (false, true) => (one, three),
            _ => (one, two),
        }
    }
}

/// A byte of the annotation, whoever wrote it.
pub(crate) fn field(packet: &Packet, field: Field) -> u8 {
    packet.annotations()[EXTRA_AT + field as usize]
}

/// Writes a byte of the annotation.
pub(crate) fn set_field(packet: &mut Packet, field: Field, value: u8) {
    packet.annotations_mut()[EXTRA_AT + field as usize] = value;
}

/// The flags of the annotation, whoever wrote them.
pub(crate) fn flags(packet: &Packet) -> u32 {
    let bytes = &packet.annotations()[EXTRA_AT..];
    u32::from_ne_bytes([bytes[4], bytes[5], bytes[6], bytes[7]])
}

/// Writes the flags of the annotation.
pub(crate) fn set_flags(packet: &mut Packet, flags: u32) {
    packet.annotations_mut()[EXTRA_AT + 4..][..4].copy_from_slice(&flags.to_ne_bytes());
}

/// Marks the annotation as one that tells of a frame.
pub(crate) fn mark(packet: &mut Packet) {
    packet.annotations_mut()[EXTRA_AT..][..4].copy_from_slice(&EXTRA_MAGIC.to_ne_bytes());
}

/// The annotation as the header that drivers exchange, which tells of a frame whatever stood there.
pub(crate) fn header_of_driver(packet: &Packet) -> [u8; EXTRA_LEN] {
    let mut header = [0; EXTRA_LEN];
    header.copy_from_slice(&packet.annotations()[EXTRA_AT..][..EXTRA_LEN]);
    header[..4].copy_from_slice(&EXTRA_MAGIC.to_ne_bytes());
    header
}

/// That header at the front of `data`, where one is there.
pub(crate) fn driver_header(data: &[u8]) -> Option<[u8; EXTRA_LEN]> {
    let header: [u8; EXTRA_LEN] = data.get(..EXTRA_LEN)?.try_into().ok()?;
    (header[..4] == EXTRA_MAGIC.to_ne_bytes()).then_some(header)
}

/// The flags of such a header.
pub(crate) fn flags_of(header: &[u8; EXTRA_LEN]) -> u32 {
    u32::from_ne_bytes([header[4], header[5], header[6], header[7]])
}

/// Writes the whole annotation.
pub(crate) fn set_extra(packet: &mut Packet, header: [u8; EXTRA_LEN]) {
    packet.annotations_mut()[EXTRA_AT..][..EXTRA_LEN].copy_from_slice(&header);
}

/// The flags that a driver has told of a frame; none where it told nothing.
pub(crate) fn told(packet: &Packet) -> u32 {
    extra(packet).map_or(0, |_| flags(packet))
}

/// Whether the driver told that the header is padded.
pub(crate) fn is_padded(packet: &Packet) -> bool {
    extra(packet).is_some_and(|bytes| bytes[Field::Padded as usize] != 0)
}

fn extra(packet: &Packet) -> Option<&[u8]> {
    let bytes = &packet.annotations()[EXTRA_AT..];
    (bytes[..4] == EXTRA_MAGIC.to_ne_bytes()).then_some(bytes)
}

/// The header that Prism II monitors put before frames: numbers as the machine has them.
pub(crate) mod prism {
    /// Its bytes.
    pub(crate) const LEN: usize = 144;
    /// How it begins.
    pub(crate) const MESSAGE: u32 = 0x44;

    /// The time of the host.
    pub(crate) const HOST_TIME: usize = 0;
    /// The time of the network.
    pub(crate) const TIME: usize = 1;
    /// The channel.
    pub(crate) const CHANNEL: usize = 2;
    /// The strength of the signal above the noise.
    pub(crate) const RSSI: usize = 3;
    /// The strength of the signal.
    pub(crate) const SIGNAL: usize = 5;
    /// That of the noise.
    pub(crate) const NOISE: usize = 6;
    /// The rate, in units of 500 kbit/s.
    pub(crate) const RATE: usize = 7;
    /// Whether the frame was sent.
    pub(crate) const IS_SENT: usize = 8;
    /// The bytes of the frame.
    pub(crate) const FRAME_LEN: usize = 9;

    /// Where an item begins: its number, two bytes of state, two of length, its value.
    pub(crate) fn at(item: usize) -> usize {
        24 + 12 * item
    }
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
