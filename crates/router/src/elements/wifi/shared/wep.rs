//! WEP, as 802.11 had it first: RC4 over the payload and its checksum. It protects nobody; old
//! networks use it.
//!
//! A frame's header is followed by three bytes that change from frame to frame, which come before
//! the secret key, and by the key's number.

use super::wifi::LEN;
use crate::headers::crc32;
use trammel_packet::packet::Packet;

/// Bytes between the header and what is encrypted, and at the end.
const FRONT: usize = 4;
const SUM: usize = 4;
/// The longest secret key.
pub(crate) const MOST_KEY: usize = 16;

/// A stream of bytes that depends on `key` alone, added to `data`.
fn rc4(key: &[u8], data: &mut [u8]) {
    let mut state: [u8; 256] = std::array::from_fn(|at| at as u8);
    let mut other = 0_u8;
    for at in 0..256 {
        other = other
            .wrapping_add(state[at])
            .wrapping_add(key[at % key.len()]);
        state.swap(at, usize::from(other));
    }
    let (mut one, mut other) = (0_u8, 0_u8);
    for byte in data {
        one = one.wrapping_add(1);
        other = other.wrapping_add(state[usize::from(one)]);
        state.swap(usize::from(one), usize::from(other));
        let sum = state[usize::from(one)].wrapping_add(state[usize::from(other)]);
        *byte ^= state[usize::from(sum)];
    }
}

/// The checksum that is encrypted with the payload.
fn checksum(data: &[u8]) -> [u8; SUM] {
    crc32::ethernet(data).to_le_bytes()
}

/// Whether a frame is of those that are encrypted: data, and the frames of authentication.
pub(crate) fn is_encrypted_kind(data: &[u8]) -> bool {
    data.len() >= LEN && (data[0] & 0x0C == 8 || data[0] & 0xFC == 0xB0)
}

/// Encrypts the frame.
pub(crate) fn encrypt(packet: &mut Packet, key: &[u8], number: u8, changing: [u8; 3]) {
    let sum = checksum(&packet.data()[LEN..]);
    packet.push(FRONT);
    packet.put(SUM).copy_from_slice(&sum);
    let data = packet.data_mut();
    data.copy_within(FRONT..FRONT + LEN, 0);
    data[1] |= 0x40;
    data[LEN..LEN + 3].copy_from_slice(&changing);
    data[LEN + 3] = number;
    rc4(&[&changing[..], key].concat(), &mut data[LEN + FRONT..]);
}

/// Decrypts the frame where it is encrypted with the key of this number; says whether its checksum
/// was right.
pub(crate) fn decrypt(packet: &mut Packet, key: &[u8], number: u8) -> Option<bool> {
    let data = packet.data();
    let is_ours = data.len() >= LEN + FRONT + SUM && data[1] & 0x40 != 0 && data[LEN + 3] == number;
    if !is_ours {
        return None;
    }
    let mut payload = data[LEN + FRONT..].to_vec();
    rc4(&[&data[LEN..LEN + 3], key].concat(), &mut payload);
    let (plain, sum) = payload.split_at(payload.len() - SUM);
    if checksum(plain) != *sum {
        return Some(false);
    }
    let data = packet.data_mut();
    data[1] &= !0x40;
    data.copy_within(..LEN, FRONT);
    data[LEN + FRONT..].copy_from_slice(&payload);
    packet.pull(FRONT);
    packet.take(SUM);
    Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_streams_come_out() {
        let mut data = *b"Plaintext";
        rc4(b"Key", &mut data);
        assert_eq!(data, [0xBB, 0xF3, 0x16, 0xE8, 0xD9, 0x40, 0xAF, 0x0A, 0xD3]);
        let mut data = *b"pedia";
        rc4(b"Wiki", &mut data);
        assert_eq!(data, [0x10, 0x21, 0xBF, 0x04, 0x20]);
        assert_eq!(u32::from_le_bytes(checksum(b"123456789")), 0xCBF4_3926);
    }
}
