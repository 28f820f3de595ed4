//! The input arbiter's registers: how many frames passed, and how the last one began.

use crate::registers::table::input_arbiter as word;
use crate::registers::{File, place};
use crate::stages::queue::Queue;

/// The control byte of a module header.
const MODULE_HEADER: u32 = 0xff;

/// The stage.
#[derive(Clone, Debug)]
pub(crate) struct Arbiter {
    file: File,
    /// The two words that the last frame began with: module header, first 8 bytes.
    last: (u64, [u8; 8]),
}

impl Arbiter {
    pub(crate) fn new() -> Arbiter {
        Arbiter {
            file: File::new(&word::BLOCK),
            last: (0, [0; 8]),
        }
    }

    /// `frame`, of at least 8 bytes, passes from the queue `from`.
    pub(crate) fn pass(&mut self, from: Queue, frame: &[u8]) {
        self.file.count(word::NUM_PKTS_SENT);
        let bytes = frame.len() as u64;
        let header = bytes.div_ceil(8) << 32 | (from.number() as u64) << 16 | bytes;
        self.last = (header, *frame.first_chunk().unwrap_or(&[0; 8]));
    }

    pub(crate) fn read(&self, address: u32) -> Option<u32> {
        let (_, at) = place(&word::BLOCK, address)?;
        let (header, first) = self.last;
        let first = u64::from_be_bytes(first);
        Some(match at {
            word::LAST_PKT_WORD_0_HI => (header >> 32) as u32,
            word::LAST_PKT_WORD_0_LO => header as u32,
            word::LAST_PKT_CTRL_0 if header != 0 => MODULE_HEADER,
            word::LAST_PKT_WORD_1_HI => (first >> 32) as u32,
            word::LAST_PKT_WORD_1_LO => first as u32,
            _ => self.file.get(at),
        })
    }

    pub(crate) fn write(&mut self, address: u32, value: u32) -> bool {
        let place = place(&word::BLOCK, address);
        if let Some((_, at)) = place {
            self.file.write(at, value);
        }
        place.is_some()
    }
}
