//! A frame of a capture, and why none can be read.

use super::link::LinkType;
use crate::timestamp::Timestamp;
use std::io;

/// The longest record or block that is read, in bytes: far more than any frame with its comments.
pub const RECORD_BYTES_MAX: u32 = 16 << 20;

/// Why a capture cannot be read on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read, or its compression is broken.
    #[error("at byte {offset}: {error}")]
    Io {
        /// Bytes that were read before.
        offset: u64,
        /// What the system or the decompressor says.
        error: io::Error,
    },
    /// It is not what it should be.
    #[error("at byte {offset}: {what}")]
    Malformed {
        /// Where the record or block begins.
        offset: u64,
        /// What is wrong.
        what: String,
    },
}

/// A frame of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// When it was seen; zero where the capture does not say.
    pub timestamp: Timestamp,
    /// The number of the interface in this file; 0 in pcap.
    pub interface: u32,
    /// What the frame begins with.
    pub link: LinkType,
    /// Bytes it had on the wire.
    pub wire_len: u32,
    /// Bytes that were kept.
    pub data: &'a [u8],
    /// What someone wrote beside it; several comments one a line, empty where there are none. A
    /// line longer than an option, 65535 bytes, is cut when it is written.
    pub comment: &'a str,
}
