//! What the bytes of a stream are, so that both ends can check them: a function of their place in
//! it.
//!
//! Places count modulo 2³², as sequence numbers do, so that a segment's payload is told from its
//! sequence number alone. Eight bytes at a time are the place of the first, mixed (the finaliser of
//! SplitMix64): no shift of the stream by less than 4 GiB looks like the stream.

/// Bytes that are made at a time.
const WORD: u32 = 8;

fn word(number: u32) -> [u8; WORD as usize] {
    let mut mixed = u64::from(number).wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)).to_le_bytes()
}

/// Calls `each` with parts of `count` bytes of the stream from place `at` on, in order: whole
/// words, or what is wanted of one.
fn parts(at: u32, count: usize, mut each: impl FnMut(usize, &[u8])) {
    let mut done = 0;
    while done < count {
        let place = at.wrapping_add(done as u32);
        let skip = (place % WORD) as usize;
        let bytes = word(place / WORD);
        let part = &bytes[skip..bytes.len().min(skip + count - done)];
        each(done, part);
        done += part.len();
    }
}

/// Fills `bytes` with the stream from place `at` on.
pub fn fill(at: u32, bytes: &mut [u8]) {
    let count = bytes.len();
    parts(at, count, |done, part| {
        bytes[done..done + part.len()].copy_from_slice(part);
    });
}

/// How many of `bytes` are not those of the stream from place `at` on.
pub fn wrong_bytes(at: u32, bytes: &[u8]) -> u64 {
    let mut wrong = 0;
    parts(at, bytes.len(), |done, part| {
        let came = &bytes[done..done + part.len()];
        if came != part {
            wrong += came.iter().zip(part).filter(|(a, b)| a != b).count() as u64;
        }
    });
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_stream_is_the_same_however_it_is_cut(
            at: u32, count in 0..200_usize, cut in 0..200_usize
        ) {
            let cut = cut.min(count);
            let mut whole = vec![0; count];
            fill(at, &mut whole);
            let mut parts = vec![0; count];
            let (first, second) = parts.split_at_mut(cut);
            fill(at, first);
            fill(at.wrapping_add(cut as u32), second);
            prop_assert_eq!(&whole, &parts);
            prop_assert_eq!(wrong_bytes(at, &whole), 0);
        }
    }

    #[test]
    fn a_shifted_or_changed_stream_is_noticed() {
        let mut bytes = [0; 4096];
        fill(u32::MAX - 100, &mut bytes);
        for shift in [1, 8, 1448, 65_536] {
            let wrong = wrong_bytes((u32::MAX - 100_u32).wrapping_add(shift), &bytes);
            assert!(wrong > 4000, "{shift}: {wrong}");
        }
        bytes[77] ^= 4;
        assert_eq!(wrong_bytes(u32::MAX - 100, &bytes), 1);
    }
}
