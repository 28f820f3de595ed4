//! The window on the memory of the output queues: 512 Ki words, 16 bytes of addresses each.
//!
//! | offset | holds |
//! | --- | --- |
//! | 0 | nothing |
//! | 4 | the 8 control bits: 0xff at a module header, at a frame's last word one bit for its valid bytes, else 0 |
//! | 8, 12 | the upper and the lower half of the 64 data bits |
//!
//! A frame in a queue is a module header and then its bytes, the first in the highest bits. The
//! header has output queues one-hot, words, source and bytes, 16 bits each.

/// The address of the first word.
const BASE: u32 = 0x100_0000;
/// Words of the memory.
const WORDS: u32 = 1 << 19;
/// Addresses from one word to the next.
const STRIDE: u32 = 16;
/// Control bits of a module header.
const HEADER: u8 = 0xff;

/// The word of an address and which quarter of it, where the window has it.
pub(crate) fn place(address: u32) -> Option<(u32, u32)> {
    let distance = address.checked_sub(BASE)?;
    let is_there = distance < WORDS * STRIDE && distance.is_multiple_of(4);
    is_there.then_some((distance / STRIDE, distance % STRIDE / 4))
}

/// A word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    ctrl: u8,
    data: u64,
}

impl Word {
    /// Quarter `quarter` of its addresses.
    pub(crate) fn read(self, quarter: u32) -> u32 {
        match quarter {
            1 => u32::from(self.ctrl),
            2 => (self.data >> 32) as u32,
            3 => self.data as u32,
            _ => 0,
        }
    }

    /// The word with another quarter.
    pub(crate) fn with(mut self, quarter: u32, value: u32) -> Word {
        match quarter {
            1 => self.ctrl = value as u8,
            2 => self.data = u64::from(value) << 32 | self.data & 0xffff_ffff,
            3 => self.data = self.data >> 32 << 32 | u64::from(value),
            _ => {}
        }
        self
    }

    /// Word `word` of `frame` in queue number `queue`. Where the frame came from is not kept.
    pub(crate) fn of(frame: &[u8], queue: usize, word: usize) -> Word {
        let Some(first) = word.checked_sub(1).map(|word| 8 * word) else {
            let (bytes, words) = (frame.len() as u64, frame.len().div_ceil(8) as u64);
            return Word {
                ctrl: HEADER,
                data: 1 << queue << 48 | words << 32 | bytes,
            };
        };
        let rest = frame.get(first..).unwrap_or_default();
        let valid = rest.len().min(8);
        let mut bytes = [0; 8];
        bytes[..valid].copy_from_slice(&rest[..valid]);
        Word {
            ctrl: if rest.len() <= 8 {
                0x100_u16.wrapping_shr(valid as u32) as u8
            } else {
                0
            },
            data: u64::from_be_bytes(bytes),
        }
    }

    /// Makes the data those of word `word` of `frame`, as far as it has bytes there. Its module
    /// header and control bits stay: they are made of the frame.
    pub(crate) fn put(self, frame: &mut [u8], word: usize) {
        let first = word.checked_sub(1).map(|word| 8 * word);
        let rest = first.and_then(|first| frame.get_mut(first..));
        for (byte, new) in rest.into_iter().flatten().zip(self.data.to_be_bytes()) {
            *byte = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_has_four_addresses_for_each_word() {
        assert_eq!(place(0x100_0000), Some((0, 0)));
        assert_eq!(place(0x100_001c), Some((1, 3)));
        assert_eq!(place(0x17f_fffc), Some((0x7_ffff, 3)));
        for outside in [0x0ff_fffc, 0x180_0000, 0x100_0002] {
            assert_eq!(place(outside), None);
        }
    }

    #[test]
    fn a_frame_is_a_header_and_its_bytes() {
        let mut frame: Vec<u8> = (1..=11).collect();
        let word = |frame: &[u8], at| {
            let word = Word::of(frame, 2, at);
            [0, 1, 2, 3].map(|quarter| word.read(quarter))
        };
        assert_eq!(word(&frame, 0), [0, 0xff, 0x0004_0002, 11]);
        assert_eq!(word(&frame, 1), [0, 0, 0x0102_0304, 0x0506_0708]);
        // Three valid bytes.
        assert_eq!(word(&frame, 2), [0, 0x20, 0x090a_0b00, 0]);
        assert_eq!(Word::of(&frame[..8], 2, 1).read(1), 0x01);
        assert_eq!(Word::of(&frame[..9], 2, 2).read(1), 0x80);
        Word::of(&frame, 2, 2)
            .with(2, 0xaabb_ccdd)
            .put(&mut frame, 2);
        assert_eq!(frame[8..], [0xaa, 0xbb, 0xcc]);
        Word::default().put(&mut frame, 0);
        Word::default().put(&mut frame, 9);
        assert_eq!(frame[0], 1);
        let word = Word::default().with(0, 9).with(1, 0x1ff).with(3, 7);
        assert_eq!(
            word,
            Word {
                ctrl: 0xff,
                data: 7
            }
        );
    }
}
