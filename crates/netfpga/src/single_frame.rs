//! A single frame: what an idle router adds, in closed form, and the same from the model.
//!
//! ```text
//! L = 8 (S + 8) ns + 2 w cycles + 70 cycles      w = ceil((S - 4) / 8) + 1 words
//! ```
//!
//! The frame is received at the line's rate, written to the memory and read from it a word a cycle,
//! and 70 cycles are for everything else: the one number that was fitted to measurements of the
//! design's own hardware description. Input arbiter and reader look at one queue a cycle, so the
//! instant at which a frame comes moves its latency by some cycles; the model has them, the formula
//! does not.

use crate::error::Error;
use crate::params::{PREAMBLE_BYTES, Params};
use crate::router::Router;
use crate::stream::Stream;
use trammel_core::time::{Span, Time};

/// Cycles of the formula that do not depend on the frame; fitted.
pub(crate) const FIXED_CYCLES: u64 = 70;

/// First bit in to first bit out of a lone frame of `frame_bytes`, by the formula; *predicted*.
pub fn formula(params: &Params, frame_bytes: u64) -> Span {
    let received = params.byte_ps() * (frame_bytes + PREAMBLE_BYTES);
    let cycles = 2 * params.words(frame_bytes) + FIXED_CYCLES;
    Span::from_ps(received + cycles * params.clock_ps)
}

/// First bit in to first bit out of a lone frame of `frame_bytes` from port 0 to port 1 that comes
/// at `start`, by the model; *modelled*.
pub fn latency(params: &Params, frame_bytes: u64, start: Time) -> Result<Span, Error> {
    let lone = Stream {
        from: 0,
        to: 1,
        frame_bytes,
        gap: Span::from_secs(1),
        burst: 1,
        start,
        frames: 1,
        exceptions_per_million: 0,
    };
    let outcome = Router::new(params)?.run(&[lone])?;
    let latency = outcome.latency.max();
    Ok(Span::from_ps(
        latency.expect("an idle router forwards a lone frame"),
    ))
}
