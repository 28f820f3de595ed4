//! What is offered to the router: frames of one size at a constant rate, from a port to a port.

use crate::error::Error;
use crate::params::Params;
use trammel_core::time::{Span, Time};

/// A stream of equal frames. Streams of one port share its line: a frame that is due while another
/// is on the line follows at the least gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The port where they come in.
    pub from: usize,
    /// The port where they leave.
    pub to: usize,
    /// Bytes of a frame with its FCS; 64 to 2048.
    pub frame_bytes: u64,
    /// From the start of a frame to that of the next, on average; what a frame takes on the line,
    /// or more.
    pub gap: Span,
    /// Frames that come with the least gap between them, before a pause that keeps the average; 1
    /// to 65,536, 1 being an even flow.
    pub burst: u64,
    /// When the first bit of the first preamble comes in.
    pub start: Time,
    /// How many come.
    pub frames: u64,
    /// How many of a million frames the hardware hands to the software, evenly spread: wrong TTL,
    /// options, no route.
    pub exceptions_per_million: u32,
}

impl Stream {
    /// Frames at the share `load` of the line's rate, 1 being all of it, for as long as `duration`.
    /// The gap is rounded to whole picoseconds.
    pub fn of_line(
        params: &Params,
        (from, to): (usize, usize),
        frame_bytes: u64,
        load: f64,
        duration: Span,
    ) -> Stream {
        Stream::at_rate(
            (from, to),
            frame_bytes,
            load * params.line_fps(frame_bytes),
            duration,
        )
    }

    /// `frames_per_second` frames, above 0, for as long as `duration`. The gap is rounded to whole
    /// picoseconds.
    pub fn at_rate(
        (from, to): (usize, usize),
        frame_bytes: u64,
        frames_per_second: f64,
        duration: Span,
    ) -> Stream {
        let gap = Span::from_secs_f64(1.0 / frames_per_second).max(Span::from_ps(1));
        Stream {
            from,
            to,
            frame_bytes,
            gap,
            burst: 1,
            start: Time::ZERO,
            frames: duration.as_ps() / gap.as_ps(),
            exceptions_per_million: 0,
        }
    }

    /// The same from `start` on.
    pub fn starting(mut self, start: Time) -> Stream {
        self.start = start;
        self
    }

    /// The same with bursts of `frames`.
    pub fn in_bursts(mut self, frames: u64) -> Stream {
        self.burst = frames;
        self
    }

    /// The same with `per_million` of a million frames to the software.
    pub fn with_exceptions(mut self, per_million: u32) -> Stream {
        self.exceptions_per_million = per_million;
        self
    }

    /// When its frame `n`, from 0, is due on a line of `params`.
    pub fn due(&self, n: u64, params: &Params) -> Time {
        let burst = self.burst.max(1);
        let of_bursts = self.gap.as_ps().saturating_mul(n / burst * burst);
        let within = (n % burst) * params.line_ps(self.frame_bytes);
        self.start
            .saturating_add(Span::from_ps(of_bursts.saturating_add(within)))
    }

    /// How many of its frames are due before `at`, to whole bursts: of one that has begun all, of
    /// the next none.
    pub fn frames_before(&self, at: Time) -> u64 {
        let burst = self.burst.max(1);
        let since = at.saturating_since(self.start).as_ps();
        let bursts = since.div_ceil((self.gap.as_ps() * burst).max(1));
        (bursts * burst).min(self.frames)
    }

    /// The first `frames` of its frames, and the others.
    pub fn split(&self, frames: u64, params: &Params) -> (Stream, Stream) {
        let first = Stream {
            frames: frames.min(self.frames),
            ..self.clone()
        };
        let rest = Stream {
            start: self.due(first.frames, params),
            frames: self.frames - first.frames,
            ..self.clone()
        };
        (first, rest)
    }

    /// When its last frame is due, or would be in an even flow; its start where it has none.
    pub fn last_start(&self) -> Time {
        let later = self
            .gap
            .as_ps()
            .saturating_mul(self.frames.saturating_sub(1));
        self.start.saturating_add(Span::from_ps(later))
    }

    /// Refuses what no tester can send or the design cannot take; `stream` is its number.
    pub(crate) fn check(&self, stream: usize, params: &Params) -> Result<(), Error> {
        for port in [self.from, self.to] {
            if port as u64 >= params.ports {
                let ports = params.ports;
                return Err(Error::Port {
                    stream,
                    port,
                    ports,
                });
            }
        }
        let bytes = self.frame_bytes;
        if !(64..=2048).contains(&bytes) {
            return Err(Error::FrameBytes { stream, bytes });
        }
        let least = Span::from_ps(params.line_ps(bytes));
        if self.gap < least {
            let gap = self.gap;
            return Err(Error::Gap { stream, gap, least });
        }
        if !(1..=65_536).contains(&self.burst) {
            let burst = self.burst;
            return Err(Error::Burst { stream, burst });
        }
        if self.exceptions_per_million > 1_000_000 {
            let share = self.exceptions_per_million;
            return Err(Error::Exceptions { stream, share });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_split_where_its_frames_are_due() {
        let params = Params::REFERENCE_1G;
        let even = Stream::of_line(&params, (0, 1), 64, 0.5, Span::from_ms(1));
        let at = Time::from_us(500);
        let before = even.frames_before(at);
        assert!(even.due(before - 1, &params) < at && even.due(before, &params) >= at);
        let (first, rest) = even.split(before, &params);
        assert_eq!(first.frames + rest.frames, even.frames);
        assert_eq!(rest.start, even.due(before, &params));
        assert_eq!(rest.due(3, &params), even.due(before + 3, &params));
        assert_eq!(even.frames_before(Time::ZERO), 0);
        assert_eq!(even.frames_before(Time::from_secs(1)), even.frames);
        // Bursts stay whole.
        let bursts = even.in_bursts(16);
        assert_eq!(bursts.frames_before(at) % 16, 0);
        let gap = bursts.gap * 16;
        assert_eq!(bursts.due(16, &params), bursts.start + gap);
        assert_eq!(bursts.due(1, &params), Time::from_ns(672));
    }
}
