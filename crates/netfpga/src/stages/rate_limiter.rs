//! Rate limiters: a port sends no faster than its tokens allow.
//!
//! A frame that begins to leave holds the next one back for as long as its tokens take, so a queue
//! behind a limiter fills as if the line were slower.

use crate::registers::{File, block, place};
use crate::stages::queue::PORTS;
use trammel_core::time::Span;

block! {
    rate_limit, "RATE_LIMIT" at 0x2000400, 4 of 0x10,
    "The rate limiter of a port: TOKEN_INC bytes each TOKEN_INTERVAL times 8 ns";
    CTRL, 0x00, 1, 1, ReadWrite, "1: the port is limited";
    TOKEN_INTERVAL, 0x04, 1, 20, ReadWrite, "from one grant of tokens to the next, in 8 ns";
    TOKEN_INC, 0x08, 1, 16, ReadWrite, "bytes of a grant; frames count with FCS";
}
use rate_limit as word;

/// The unit of [`word::TOKEN_INTERVAL`].
const TICK_PS: u64 = 8_000;
/// The frame check sequence.
const FCS_BYTES: u64 = 4;

/// The four limiters.
#[derive(Debug)]
pub(crate) struct RateLimiters {
    files: [File; PORTS],
}

impl RateLimiters {
    pub(crate) fn new() -> RateLimiters {
        RateLimiters {
            files: std::array::from_fn(|_| File::new(&word::BLOCK)),
        }
    }

    /// From the start of a frame of `bytes` without FCS to that of the next on `port`, at least.
    pub(crate) fn spacing(&self, port: usize, bytes: usize) -> Span {
        let file = &self.files[port];
        let grant = u64::from(file.get(word::TOKEN_INC));
        if file.get(word::CTRL) == 0 || grant == 0 {
            return Span::ZERO;
        }
        let interval = u64::from(file.get(word::TOKEN_INTERVAL)) * TICK_PS;
        Span::from_ps((bytes as u64 + FCS_BYTES) * interval / grant)
    }

    pub(crate) fn read(&self, address: u32) -> Option<u32> {
        let (port, at) = place(&word::BLOCK, address)?;
        Some(self.files[port].get(at))
    }

    pub(crate) fn write(&mut self, address: u32, value: u32) -> bool {
        let place = place(&word::BLOCK, address);
        if let Some((port, at)) = place {
            self.files[port].write(at, value);
        }
        place.is_some()
    }
}
