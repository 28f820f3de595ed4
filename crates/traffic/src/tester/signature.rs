//! What a test frame carries at the start of its payload, and what follows it.
//!
//! ```text
//!  0       2      4      5        6          10              16         18 bytes
//!  ┌───────┬──────┬──────┬────────┬──────────┬───────────────┬──────────┬───────────
//!  │ magic │ run  │ port │ stream │ sequence │ sent, ns      │ checksum │ fill …       big-endian
//!  └───────┴──────┴──────┴────────┴──────────┴───────────────┴──────────┴───────────
//! ```
//! - `run` tells a run's frames from those of the run before, `port` by which of the tester's ports
//!   it was sent.
//! - `sequence` counts the test frames of that port, all streams together, in 32 bits; [`extend`]
//!   finds the others. So one window tells losses and duplicates of thousands of flows apart, and
//!   what a frame is follows from its number alone.
//! - `sent` is the lower 48 bits of the monotonic clock: 78 hours.
//! - `checksum` is that of RFC 1071 over the signature. All of it then adds up to nothing, so that
//!   the checksum of UDP around it does not depend on it and is written once a flow.
//! - `fill` is the place of each byte in the payload, modulo 256 (RFC 2544, appendix C.2.6.4), so
//!   that every bit of it can be checked.
//!
//! It takes 18 bytes, which is what a frame of 64 bytes has behind the headers of Ethernet, IPv4
//! and UDP.

use trammel_packet::headers::checksum::Sum;

/// Bytes of a signature.
pub const SIGNATURE_BYTES: usize = 18;
/// The first bytes of all signatures.
pub const MAGIC: [u8; 2] = *b"TR";
/// Bytes before the sequence.
pub const HEAD_BYTES: usize = 6;
/// Times are told apart up to so many nanoseconds.
const TIMES: u64 = 1 << 48;

/// A signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Which run it belongs to.
    pub run: u16,
    /// By which of the tester's ports it was sent.
    pub port: u8,
    /// Which of the port's streams it belongs to.
    pub stream: u8,
    /// The lower bits of its number among the port's test frames, from 0.
    pub sequence: u32,
    /// When it was sent, in nanoseconds of the monotonic clock; 48 bits are kept.
    pub sent_ns: i64,
}

impl Signature {
    /// The bytes before the sequence, which are the same in all frames of a stream.
    pub fn head(&self) -> [u8; HEAD_BYTES] {
        let [run, run_low] = self.run.to_be_bytes();
        [MAGIC[0], MAGIC[1], run, run_low, self.port, self.stream]
    }

    /// Its bytes.
    #[inline]
    pub fn write(&self) -> [u8; SIGNATURE_BYTES] {
        let mut bytes = [0; SIGNATURE_BYTES];
        bytes[..6].copy_from_slice(&self.head());
        bytes[6..10].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[10..16].copy_from_slice(&self.sent_ns.to_be_bytes()[2..]);
        let checksum = Sum::ZERO.bytes(&bytes).checksum();
        bytes[16..].copy_from_slice(&checksum.to_be_bytes());
        bytes
    }

    /// The signature at the start of a payload, if there is one and its checksum is right.
    #[inline]
    pub fn read(payload: &[u8]) -> Option<Signature> {
        let bytes: &[u8; SIGNATURE_BYTES] = payload.first_chunk()?;
        if bytes[..2] != MAGIC || Sum::ZERO.bytes(bytes).checksum() != 0 {
            return None;
        }
        let mut sent = [0; 8];
        sent[2..].copy_from_slice(&bytes[10..16]);
        Some(Signature {
            run: u16::from_be_bytes([bytes[2], bytes[3]]),
            port: bytes[4],
            stream: bytes[5],
            sequence: u32::from_be_bytes([bytes[6], bytes[7], bytes[8], bytes[9]]),
            sent_ns: i64::from_be_bytes(sent),
        })
    }

    /// Nanoseconds from its sending to `now_ns` of the same clock, below 78 hours; 0 where it was
    /// sent after that, as clocks that are read by two processors may have it.
    #[inline]
    pub(crate) fn age_ns(&self, now_ns: i64) -> u64 {
        let age = now_ns.wrapping_sub(self.sent_ns).cast_unsigned() % TIMES;
        if age < TIMES / 2 { age } else { 0 }
    }
}

/// Whether a payload without a right signature was one of run `run`: its magic or its run are left.
pub(crate) fn is_damaged(payload: &[u8], run: u16) -> bool {
    payload
        .first_chunk::<4>()
        .is_some_and(|head| head[..2] == MAGIC || head[2..] == run.to_be_bytes())
}

/// The number whose lower bits are `sequence` and which is closest to `near`; none below 0.
#[inline]
pub fn extend(sequence: u32, near: u64) -> Option<u64> {
    let away = sequence.wrapping_sub(near as u32).cast_signed();
    near.checked_add_signed(i64::from(away))
}

/// What the payload of every test frame is behind its signature, as far as the longest goes.
pub(crate) static FILL: [u8; 1 << 14] = {
    let mut fill = [0; 1 << 14];
    let mut at = 0;
    while at < fill.len() {
        fill[at] = at as u8;
        at += 1;
    }
    fill
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ONE: Signature = Signature {
        run: 0x0102,
        port: 3,
        stream: 4,
        sequence: 0x0506_0708,
        sent_ns: 0x090a_0b0c_0d0e,
    };

    #[test]
    fn its_bytes_are_big_endian_on_every_machine() {
        let bytes = ONE.write();
        assert_eq!(bytes[..2], *b"TR");
        assert_eq!(bytes[2..16].to_vec(), (1..=14).collect::<Vec<u8>>());
        assert_eq!(Signature::read(&bytes), Some(ONE));
        assert_eq!(Signature::read(&bytes[..17]), None);
        assert_eq!(ONE.head(), bytes[..6]);
    }

    #[test]
    fn one_wrong_bit_is_seen_wherever_it_is() {
        for bit in 0..8 * SIGNATURE_BYTES {
            let mut bytes = ONE.write();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Signature::read(&bytes), None);
            assert!(is_damaged(&bytes, ONE.run));
        }
        assert!(!is_damaged(&[0; 18], ONE.run));
    }

    #[test]
    fn a_clock_that_wraps_or_is_behind_gives_no_absurd_age() {
        let late = Signature {
            sent_ns: (1 << 48) - 10,
            ..ONE
        };
        let read = Signature::read(&late.write()).expect("the signature is whole");
        assert_eq!(read.age_ns((5 << 48) + 7), 17);
        assert_eq!(ONE.age_ns(ONE.sent_ns - 5), 0);
    }

    proptest! {
        #[test]
        fn lower_bits_find_the_nearest_number(
            near in 0..u64::MAX / 2, away in -0x7fff_ffff..0x7fff_ffff_i64
        ) {
            if let Some(number) = near.checked_add_signed(away) {
                prop_assert_eq!(extend(number as u32, near), Some(number));
            }
        }

        #[test]
        fn a_signature_adds_up_to_nothing(run: u16, sequence: u32, sent_ns in 0..1_i64 << 48) {
            let one = Signature { run, sequence, sent_ns, ..ONE };
            prop_assert_eq!(Sum::ZERO.bytes(&one.write()).fold(), 0xffff);
            prop_assert_eq!(Signature::read(&one.write()), Some(one));
        }
    }
}
