//! What can be wrong with what the model is given.

use trammel_core::time::Span;

/// Why the model does not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such parameter.
    #[error(
        "`{name}` is no parameter of the model{}",
        nearest.as_ref().map(|n| format!("; did you mean `{n}`?")).unwrap_or_default()
    )]
    Parameter {
        /// What was written.
        name: String,
        /// What may have been meant.
        nearest: Option<String>,
    },
    /// A parameter makes no sense.
    #[error(
        "`{name}` = {value} is out of range; give {least} to {most}{}{unit}",
        if unit.is_empty() { "" } else { " " }
    )]
    OutOfRange {
        /// The parameter.
        name: &'static str,
        /// What was given.
        value: u64,
        /// The least that makes sense.
        least: u64,
        /// The greatest that makes sense.
        most: u64,
        /// Of these numbers.
        unit: &'static str,
    },
    /// There is no such design.
    #[error("`{name}` is no design; there are {known}")]
    Preset {
        /// What was written.
        name: String,
        /// All there are.
        known: String,
    },
    /// A stream uses a port that the design does not have.
    #[error("stream {stream}: port {port} does not exist; the design has ports 0 to {}", ports - 1)]
    Port {
        /// Which stream, from 0.
        stream: usize,
        /// The port.
        port: usize,
        /// How many there are.
        ports: u64,
    },
    /// A stream's frames are no Ethernet frames that the design takes.
    #[error("stream {stream}: frames of {bytes} bytes; the design takes 64 to 2048 with the FCS")]
    FrameBytes {
        /// Which stream, from 0.
        stream: usize,
        /// Their size.
        bytes: u64,
    },
    /// A stream is faster than its line.
    #[error(
        "stream {stream}: a frame each {gap}, but the line needs {least} for one; make the gap \
         longer or the frames smaller"
    )]
    Gap {
        /// Which stream, from 0.
        stream: usize,
        /// From frame to frame.
        gap: Span,
        /// What a frame, its preamble and the least gap take.
        least: Span,
    },
    /// No burst, or too long a one.
    #[error("stream {stream}: bursts of {burst} frames; give 1 to 65536")]
    Burst {
        /// Which stream, from 0.
        stream: usize,
        /// What was given.
        burst: u64,
    },
    /// A share that is none.
    #[error("stream {stream}: {share} exceptions in a million frames; give 0 to 1000000")]
    Exceptions {
        /// Which stream, from 0.
        stream: usize,
        /// What was given.
        share: u32,
    },
    /// More streams than the model tells apart, or an end beyond the range of time.
    #[error("{streams} streams; the model takes up to 256 that end within 200 days")]
    TooMuch {
        /// How many there are.
        streams: usize,
    },
}
