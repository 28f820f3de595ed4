//! CRC-32C (Castagnoli), by which a log's blocks are known to be whole (RFC 3720 §12.1).

/// The CRC-32C of the `parts`, one after the other.
pub fn crc32c(parts: &[&[u8]]) -> u32 {
    parts
        .iter()
        .fold(0, |crc, part| ::crc32c::crc32c_append(crc, part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_the_published_check_values() {
        assert_eq!(crc32c(&[b"123456789"]), 0xe306_9283);
        // RFC 3720, appendix B.4.
        assert_eq!(crc32c(&[&[0; 32]]), 0x8a91_36aa);
        assert_eq!(crc32c(&[&[0xff; 32]]), 0x62a8_ab43);
        let rising: Vec<u8> = (0..32).collect();
        assert_eq!(crc32c(&[&rising]), 0x46dd_794e);
    }

    #[test]
    fn parts_count_as_one() {
        let bytes: Vec<u8> = (0..100).collect();
        for cut in 0..100 {
            assert_eq!(crc32c(&[&bytes[..cut], &bytes[cut..]]), crc32c(&[&bytes]));
        }
    }
}
