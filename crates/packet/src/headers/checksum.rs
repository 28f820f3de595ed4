//! The Internet checksum: over bytes, over pseudo-headers, and after a change.
//!
//! Sums are of 16-bit words in one's complement (RFC 1071), taken eight bytes at a time. A change
//! is applied by RFC 1624, equation 3: HC' = ~(~HC + ~m + m').
//!
//! A sum in one's complement has two zeros, so that an updated checksum can be `0x0000` where a
//! computed one is `0xFFFF`: only for data that are all zero, which no header with a version is.

/// A sum that is being taken. Each slice but the last must have an even number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum(u64);

impl Sum {
    /// Nothing added.
    pub const ZERO: Sum = Sum(0);

    /// Adds bytes; an odd last one counts as if a zero followed.
    #[inline]
    pub fn bytes(self, data: &[u8]) -> Sum {
        let mut sum = self.0;
        let mut add = |value: u64| {
            let (total, carry) = sum.overflowing_add(value);
            sum = total + u64::from(carry);
        };
        let (words, rest) = data.as_chunks::<8>();
        for word in words {
            add(u64::from_be_bytes(*word));
        }
        let (words, rest) = rest.as_chunks::<2>();
        for word in words {
            add(u64::from(u16::from_be_bytes(*word)));
        }
        if let [last] = rest {
            add(u64::from(*last) << 8);
        }
        Sum(sum)
    }

    /// Adds a word.
    #[inline]
    pub fn u16(self, value: u16) -> Sum {
        self.u32(u32::from(value))
    }

    /// Adds two words.
    #[inline]
    pub fn u32(self, value: u32) -> Sum {
        let (sum, carry) = self.0.overflowing_add(u64::from(value));
        Sum(sum + u64::from(carry))
    }

    /// Adds the pseudo-header of IPv4 (RFC 793, §3.1).
    #[inline]
    pub fn pseudo_v4(self, src: [u8; 4], dst: [u8; 4], protocol: u8, len: u16) -> Sum {
        self.u32(u32::from_be_bytes(src))
            .u32(u32::from_be_bytes(dst))
            .u16(u16::from(protocol))
            .u16(len)
    }

    /// Adds the pseudo-header of IPv6 (RFC 8200, §8.1).
    #[inline]
    pub fn pseudo_v6(self, src: &[u8; 16], dst: &[u8; 16], protocol: u8, len: u32) -> Sum {
        self.bytes(src).bytes(dst).u16(u16::from(protocol)).u32(len)
    }

    /// The sum in 16 bits.
    #[inline]
    pub fn fold(self) -> u16 {
        let mut sum = (self.0 >> 32) + (self.0 & 0xFFFF_FFFF);
        sum = (sum >> 16) + (sum & 0xFFFF);
        sum = (sum >> 16) + (sum & 0xFFFF);
        sum = (sum >> 16) + (sum & 0xFFFF);
        sum as u16
    }

    /// The checksum: the sum's complement.
    #[inline]
    pub fn checksum(self) -> u16 {
        !self.fold()
    }
}

/// The checksum of `data`; 0 where `data` contain a right checksum.
#[inline]
pub fn checksum(data: &[u8]) -> u16 {
    Sum::ZERO.bytes(data).checksum()
}

/// The checksum of UDP, for which 0 means that there is none (RFC 768).
#[inline]
pub fn for_udp(sum: Sum) -> u16 {
    match sum.checksum() {
        0 => 0xFFFF,
        checksum => checksum,
    }
}

/// The checksum after a word that it covers changed.
#[inline]
pub fn update_u16(checksum: u16, old: u16, new: u16) -> u16 {
    Sum::ZERO.u16(!checksum).u16(!old).u16(new).checksum()
}

/// The checksum after four bytes that it covers, from an even place, changed.
#[inline]
pub fn update_u32(checksum: u16, old: u32, new: u32) -> u16 {
    Sum::ZERO.u16(!checksum).u32(!old).u32(new).checksum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Word by word, as RFC 1071 writes it.
    fn by_words(data: &[u8]) -> u16 {
        let words = data
            .chunks(2)
            .map(|w| u32::from(w[0]) << 8 | u32::from(*w.get(1).unwrap_or(&0)));
        let sum = words.fold(0_u32, |sum, word| {
            let sum = sum + word;
            (sum & 0xFFFF) + (sum >> 16)
        });
        !(sum as u16)
    }

    /// The two zeros of one's complement are one number.
    fn same(a: u16, b: u16) -> bool {
        a == b || (a == 0 || a == 0xFFFF) && (b == 0 || b == 0xFFFF)
    }

    #[test]
    fn the_example_of_rfc_1624_gives_zero() {
        assert_eq!(update_u16(0xDD2F, 0x5555, 0x3285), 0x0000);
    }

    proptest! {
        #[test]
        fn eight_bytes_at_a_time_equal_words(data: Vec<u8>) {
            prop_assert_eq!(checksum(&data), by_words(&data));
        }

        #[test]
        fn slices_add_up(data: Vec<u8>, at: prop::sample::Index) {
            let at = at.index(data.len() + 1) & !1;
            let parts = Sum::ZERO.bytes(&data[..at]).bytes(&data[at..]);
            prop_assert_eq!(parts.checksum(), by_words(&data));
        }

        #[test]
        fn an_update_equals_a_recomputation(
            mut data in prop::collection::vec(any::<u8>(), 20..80), new: u32, at in 0_usize..8,
            wide: bool,
        ) {
            // The first word stands for a header's version: never zero.
            data[0] |= 0x40;
            let before = checksum(&data);
            let at = 2 + 2 * at;
            let updated = if wide {
                let old = u32::from_be_bytes(data[at..at + 4].try_into().unwrap());
                data[at..at + 4].copy_from_slice(&new.to_be_bytes());
                update_u32(before, old, new)
            } else {
                let old = u16::from_be_bytes(data[at..at + 2].try_into().unwrap());
                data[at..at + 2].copy_from_slice(&(new as u16).to_be_bytes());
                update_u16(before, old, new as u16)
            };
            prop_assert_eq!(updated, checksum(&data));
        }

        #[test]
        fn an_update_of_any_checksum_is_the_same_number(sum: u16, old: u16, new: u16) {
            let back = update_u16(update_u16(sum, old, new), new, old);
            prop_assert!(same(back, sum), "{:04x} {:04x}", back, sum);
        }
    }
}
