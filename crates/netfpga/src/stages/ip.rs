//! The checks of an IPv4 header of 20 bytes, and what forwarding changes in it.

/// Where the header begins in a frame.
const AT: usize = 14;
/// Version 4 and five words: no options.
const VERSION_AND_LENGTH: u8 = 0x45;

/// What the lookup wants to know of a header. A frame on the data path is long enough for one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    /// Whether the sum over 20 bytes is right, however long the header says it is.
    pub(crate) has_checksum: bool,
    /// The time to live.
    pub(crate) ttl: u8,
    /// Version 4 without options.
    pub(crate) is_plain: bool,
    /// The destination.
    pub(crate) destination: u32,
}

impl Header {
    pub(crate) fn of(frame: &[u8]) -> Header {
        let header = &frame[AT..AT + 20];
        let (words, _) = header.as_chunks::<4>();
        let sum: u64 = words
            .iter()
            .map(|word| u64::from(u32::from_be_bytes(*word)))
            .sum();
        Header {
            // In one's complement a sum modulo 2³² − 1 is one modulo 2¹⁶ − 1 (RFC 1071, §2).
            has_checksum: sum != 0 && sum.is_multiple_of(0xffff),
            ttl: header[8],
            is_plain: header[0] == VERSION_AND_LENGTH,
            destination: u32::from_be_bytes([header[16], header[17], header[18], header[19]]),
        }
    }
}

/// A header of 20 bytes for a packet of `bytes`, from and to `addresses`.
pub(crate) fn header(bytes: u16, ttl: u8, protocol: u8, addresses: [u32; 2]) -> [u8; 20] {
    let mut header = [0; 20];
    header[0] = VERSION_AND_LENGTH;
    header[2..4].copy_from_slice(&bytes.to_be_bytes());
    (header[8], header[9]) = (ttl, protocol);
    header[12..16].copy_from_slice(&addresses[0].to_be_bytes());
    header[16..].copy_from_slice(&addresses[1].to_be_bytes());
    let words = header.as_chunks::<2>().0.iter();
    let sum: u32 = words.map(|word| u32::from(u16::from_be_bytes(*word))).sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    header
}

/// Takes one from the TTL, which is not 0, and corrects the checksum by RFC 1141.
pub(crate) fn decrement_ttl(frame: &mut [u8]) {
    frame[AT + 8] -= 1;
    let checksum = u16::from_be_bytes([frame[AT + 10], frame[AT + 11]]);
    //= rfc1141
    //# sum = ipptr->Sum + 0x100;  /* increment checksum high byte*/
    let (sum, carry) = checksum.overflowing_add(0x100);
    let sum = sum + u16::from(carry);
    frame[AT + 10..AT + 12].copy_from_slice(&sum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The sum of 16-bit words in one's complement, word by word.
    fn sum(header: &[u8]) -> u16 {
        let mut sum = 0_u32;
        for pair in header.chunks(2) {
            sum += u32::from(u16::from_be_bytes([pair[0], pair[1]]));
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }

    proptest! {
        #[test]
        fn the_checksum_is_that_of_rfc_791(mut frame in prop::collection::vec(any::<u8>(), 60)) {
            prop_assert_eq!(Header::of(&frame).has_checksum, sum(&frame[14..34]) == 0xffff);
            frame[24..26].fill(0);
            let right = !sum(&frame[14..34]);
            frame[24..26].copy_from_slice(&right.to_be_bytes());
            prop_assert!(Header::of(&frame).has_checksum);
            frame[22] = frame[22].max(1);
            frame[24..26].fill(0);
            let right = !sum(&frame[14..34]);
            frame[24..26].copy_from_slice(&right.to_be_bytes());
            decrement_ttl(&mut frame);
            prop_assert_eq!(sum(&frame[14..34]), 0xffff);
        }
    }
}
