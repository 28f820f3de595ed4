//! Ethernet: addresses, the type, the frame check sequence, the limits of a frame's length.

/// The least frame without its FCS (IEEE 802.3 §3.2.8).
pub(crate) const LEAST_BYTES: usize = 60;
/// The greatest frame that a receive queue takes, with its FCS.
const MOST_BYTES: usize = 2048;
/// The greatest frame of IEEE 802.3 with its FCS.
const MOST_STANDARD_BYTES: usize = 1518;
/// The frame check sequence.
const FCS_BYTES: usize = 4;
/// The type of IPv4 (RFC 894).
pub(crate) const IPV4: u16 = 0x0800;

/// What is known of a frame's check sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fcs {
    /// Who received it found it right and took it off. A frame of less than 60 bytes is padded with
    /// zeros, as its sender would have done.
    Good,
    /// Who received it found it wrong and took it off.
    Bad,
    /// The last four bytes of the frame, to be checked here.
    Present,
}

/// The bytes of `frame` that go on if its length is legal and its FCS right; `is_checked` tells
/// whether that is looked at, `has_jumbo` whether frames of more than 1518 bytes are legal.
pub(crate) fn accepted(frame: &[u8], fcs: Fcs, is_checked: bool, has_jumbo: bool) -> Option<&[u8]> {
    let most = if has_jumbo {
        MOST_BYTES
    } else {
        MOST_STANDARD_BYTES
    };
    let (body, is_right) = match fcs {
        Fcs::Good => (frame, true),
        Fcs::Bad => (frame, false),
        Fcs::Present => {
            let (body, sum) = frame.split_at_checked(frame.len().checked_sub(FCS_BYTES)?)?;
            let is_long_enough = body.len() >= LEAST_BYTES;
            (
                body,
                is_long_enough && (!is_checked || crc32(body).to_le_bytes() == *sum),
            )
        }
    };
    let is_legal = (HEADER_BYTES..=most - FCS_BYTES).contains(&body.len());
    (is_legal && (is_right || (fcs == Fcs::Bad && !is_checked))).then_some(body)
}

/// Two addresses and the type.
const HEADER_BYTES: usize = 14;

/// The frame check sequence of `bytes` (IEEE 802.3 §3.2.9), sent with its lowest byte first.
pub fn crc32(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        let index = (sum ^ u32::from(*byte)) & 0xff;
        sum >> 8 ^ TABLE[index as usize]
    };
    !bytes.iter().fold(u32::MAX, step)
}

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let (mut value, mut bit) = (index as u32, 0);
        while bit < 8 {
            let is_odd = value & 1 == 1;
            value >>= 1;
            if is_odd {
                value ^= 0xedb8_8320;
            }
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
};

/// Six bytes of `frame` from `at` as a number; a frame on the data path has its whole header.
fn mac_at(frame: &[u8], at: usize) -> u64 {
    let bytes = frame[at..].first_chunk().expect("a header follows");
    u64::from_be_bytes(*bytes) >> 16
}

/// The destination address.
pub(crate) fn destination(frame: &[u8]) -> u64 {
    mac_at(frame, 0)
}

/// The source address.
pub(crate) fn source(frame: &[u8]) -> u64 {
    mac_at(frame, 6)
}

/// Whether an address is a group's; broadcast is one.
pub(crate) fn is_group(mac: u64) -> bool {
    mac >> 40 & 1 == 1
}

/// The type.
pub(crate) fn ethertype(frame: &[u8]) -> u16 {
    u16::from_be_bytes([frame[12], frame[13]])
}

/// Writes both addresses.
pub(crate) fn readdress(frame: &mut [u8], destination: u64, source: u64) {
    frame[..6].copy_from_slice(&destination.to_be_bytes()[2..]);
    frame[6..12].copy_from_slice(&source.to_be_bytes()[2..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_sequence_is_that_of_the_standard() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn frames_are_taken_by_length_and_check_sequence() {
        let body = vec![7; 60];
        let mut whole = body.clone();
        whole.extend(crc32(&body).to_le_bytes());
        assert_eq!(accepted(&whole, Fcs::Present, true, true), Some(&body[..]));
        whole[3] ^= 1;
        assert_eq!(accepted(&whole, Fcs::Present, true, true), None);
        assert!(accepted(&whole, Fcs::Present, false, true).is_some());
        assert!(accepted(&[1, 2], Fcs::Present, true, true).is_none());
        let of = |bytes, fcs| accepted(&vec![0; bytes], fcs, true, true).is_some();
        let takes = [13, 14, 59, 2044, 2045].map(|bytes| of(bytes, Fcs::Good));
        assert_eq!(takes, [false, true, true, true, false]);
        assert!(!of(60, Fcs::Bad));
        let standard = |bytes| accepted(&vec![0; bytes], Fcs::Good, true, false).is_some();
        assert_eq!([1514, 1515].map(standard), [true, false]);
    }
}
