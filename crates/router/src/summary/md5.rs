//! MD5 (RFC 1321): summaries tell payloads apart by it. Not for security.

const SHIFTS: [[u32; 4]; 4] = [
    [7, 12, 17, 22],
    [5, 9, 14, 20],
    [4, 11, 16, 23],
    [6, 10, 15, 21],
];

/// The digest of `data`.
pub(super) fn digest(data: &[u8]) -> [u8; 16] {
    // RFC 1321, §3.4: the integer part of 2³² |sin i|.
    let constants: [u32; 64] =
        std::array::from_fn(|i| ((i as f64 + 1.0).sin().abs() * 4_294_967_296.0) as u32);
    let mut state: [u32; 4] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476];
    let (blocks, rest) = data.as_chunks::<64>();
    for block in blocks {
        compress(&mut state, block, &constants);
    }
    let mut tail = [0; 128];
    tail[..rest.len()].copy_from_slice(rest);
    tail[rest.len()] = 0x80;
    let end = if rest.len() < 56 { 64 } else { 128 };
    tail[end - 8..end].copy_from_slice(&(data.len() as u64).wrapping_mul(8).to_le_bytes());
    for block in tail[..end].as_chunks::<64>().0 {
        compress(&mut state, block, &constants);
    }
    let mut digest = [0; 16];
    for (bytes, word) in digest.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    digest
}

fn compress(state: &mut [u32; 4], block: &[u8; 64], constants: &[u32; 64]) {
    let words = block.as_chunks::<4>().0;
    let [mut a, mut b, mut c, mut d] = *state;
    for i in 0..64 {
        let (mix, at) = match i / 16 {
            0 => ((b & c) | (!b & d), i),
            1 => ((d & b) | (!d & c), (5 * i + 1) % 16),
            2 => (b ^ c ^ d, (3 * i + 5) % 16),
            _ => (c ^ (b | !d), (7 * i) % 16),
        };
        let sum = a
            .wrapping_add(mix)
            .wrapping_add(constants[i])
            .wrapping_add(u32::from_le_bytes(words[at]));
        (a, d, c) = (d, c, b);
        b = b.wrapping_add(sum.rotate_left(SHIFTS[i / 16][i % 4]));
    }
    for (old, new) in state.iter_mut().zip([a, b, c, d]) {
        *old = old.wrapping_add(new);
    }
}

/// A digest in 22 characters: six bits each, the least significant first.
pub(super) fn in_letters(digest: &[u8; 16]) -> [u8; 22] {
    const LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@";
    let number = u128::from_le_bytes(*digest);
    std::array::from_fn(|n| LETTERS[(number >> (6 * n)) as usize & 63])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(data: &[u8]) -> String {
        format!("{:032x}", u128::from_be_bytes(digest(data)))
    }

    /// RFC 1321, appendix A.5.
    #[test]
    fn the_test_suite_of_rfc_1321() {
        assert_eq!(hex(b""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(hex(b"abc"), "900150983cd24fb0d6963f7d28e17f72");
        let digits = "1234567890".repeat(8);
        assert_eq!(hex(digits.as_bytes()), "57edf4a22be3c955ac49da2e2107b67a");
        let letters: Vec<u8> = (b'A'..=b'Z')
            .chain(b'a'..=b'z')
            .chain(b'0'..=b'9')
            .collect();
        assert_eq!(hex(&letters), "d174ab98d277d9f5a5611c2c9f419d9f");
    }
}
