//! The checksum that SetCRC32 appends, CRC-32 with the bits in their written order (CRC-32/MPEG-2),
//! and Ethernet's own.
//!
//! The polynomial is the same; SetCRC32's remainder is neither reflected nor inverted at the end.

/// Ethernet's polynomial, x^32 left out.
const POLYNOMIAL: u32 = 0x04C1_1DB7;

/// The remainder for each first byte.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut rest = (byte as u32) << 24;
        let mut bit = 0;
        while bit < 8 {
            let carry = if rest >> 31 == 1 { POLYNOMIAL } else { 0 };
            rest = rest << 1 ^ carry;
            bit += 1;
        }
        table[byte] = rest;
        byte += 1;
    }
    table
};

/// The checksum of `data`.
pub(crate) fn crc32(data: &[u8]) -> u32 {
    remainder(data.iter().copied())
}

/// The checksum of `data` as in Ethernet's FCS: reflected and inverted (CRC-32/ISO-HDLC).
pub(crate) fn ethernet(data: &[u8]) -> u32 {
    !remainder(data.iter().map(|byte| byte.reverse_bits())).reverse_bits()
}

fn remainder(data: impl Iterator<Item = u8>) -> u32 {
    data.fold(u32::MAX, |rest, byte| {
        rest << 8 ^ TABLE[usize::from((rest >> 24) as u8 ^ byte)]
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_catalogue_s_check_value_comes_out() {
        assert_eq!(super::crc32(b"123456789"), 0x0376_E6E7);
        assert_eq!(super::ethernet(b"123456789"), 0xCBF4_3926);
    }
}
