//! Overload by a burst into the software's path: paper 000, section 5.4.
//!
//! The paper sends 85,674 bytes and receives 82,464, some of them after the burst has ended. No
//! output queue of 512 KiB overflows by that; it can only be the way over PCI, and then the backlog
//! of the software is where frames are lost. The numbers of that way are *fitted*, and so is the
//! result. The two byte counts have no common divisor above 6, so no whole number of equal frames
//! gives both; the model takes 786 frames of 109 bytes and comes within one of them.

use crate::error::Error;
use crate::outcome::Fate;
use crate::params::Params;
use crate::recording::Recording;
use crate::router::Router;
use crate::stream::Stream;
use trammel_core::time::{Span, Time};

/// What a burst became.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overload {
    /// How long the burst lasted.
    pub burst: Span,
    /// Bytes that came in.
    pub sent_bytes: u64,
    /// Bytes that the software had while the burst lasted.
    pub during_bytes: u64,
    /// Bytes that it had in the end.
    pub received_bytes: u64,
    /// When it had the last of them.
    pub drained: Time,
}

/// The frame size that divides the paper's burst, and how many of them it is.
pub const PAPER_FRAMES: (u64, u64) = (109, 786);

/// What the software gets of a burst of `frames` frames of `frame_bytes` at line rate into port 0;
/// *fitted*.
pub fn burst(params: &Params, (frame_bytes, frames): (u64, u64)) -> Result<Overload, Error> {
    let line = Stream::of_line(params, (0, 1), frame_bytes, 1.0, Span::from_secs(1));
    let stream = Stream { frames, ..line }.with_exceptions(1_000_000);
    let burst_end = stream.last_start() + stream.gap;
    let outcome =
        Router::new(params)?.run_recording(&[stream], &Recording::of_passages(frames as usize))?;
    let delivered = outcome
        .passages
        .iter()
        .filter(|passage| passage.fate == Fate::Delivered);
    let ends: Vec<_> = delivered.filter_map(|passage| passage.end).collect();
    let during = ends.iter().filter(|end| **end <= burst_end).count() as u64;
    Ok(Overload {
        burst: burst_end.since_start(),
        sent_bytes: frames * frame_bytes,
        during_bytes: during * frame_bytes,
        received_bytes: ends.len() as u64 * frame_bytes,
        drained: ends.last().copied().unwrap_or(Time::ZERO),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_burst_loses_what_the_paper_says_within_a_frame() {
        let params = Params::REFERENCE_1G;
        let overload = burst(&params, PAPER_FRAMES).unwrap();
        assert_eq!(overload.sent_bytes, 85_674);
        let off = overload.received_bytes.abs_diff(82_464);
        assert!(off <= PAPER_FRAMES.0, "{overload:?}");
        // As in the paper's figure 6: most of it comes when the burst is over.
        assert!(
            overload.during_bytes < overload.received_bytes / 2,
            "{overload:?}"
        );
        assert!(
            overload.drained.since_start() > overload.burst,
            "{overload:?}"
        );
    }

    #[test]
    fn a_burst_that_the_backlog_holds_loses_nothing() {
        let params = Params::REFERENCE_1G;
        let overload = burst(&params, (109, params.host_frames)).unwrap();
        assert_eq!(overload.received_bytes, overload.sent_bytes);
    }
}
