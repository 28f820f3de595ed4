//! Capture files: pcap and pcapng, either byte order, plain or compressed by gzip.
//!
//! [`Reader`] tells by the first bytes what a file is. Lengths that a file claims are bounded before they are
//! believed, and memory grows only as bytes arrive. What is malformed is an error that says at which byte
//! (of the decompressed file) the trouble begins; what stood before has been given out.

pub mod link;
pub mod pcap;
pub mod pcapng;
pub mod source;

use crate::timestamp::Timestamp;
use flate2::Compression;
use flate2::write::GzEncoder;
use link::LinkType;
use source::Source;
use std::io::{self, Read, Write};

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
    /// What someone wrote beside it; several comments one a line, empty where there are none.
    pub comment: &'a str,
}

#[derive(Debug)]
enum Format {
    Pcap(pcap::Header),
    Pcapng(pcapng::Section),
}

/// A capture that is being read.
#[derive(Debug)]
pub struct Reader {
    source: Source,
    format: Format,
    comment: String,
}

impl Reader {
    /// Begins to read a capture; buffer what you give.
    pub fn new(from: impl Read + Send + 'static) -> Result<Reader, Error> {
        let mut source = Source::new(Box::new(from))?;
        let Some(magic) = source.record(4)? else {
            return Err(source.malformed("an empty file is no capture"));
        };
        let magic = [magic[0], magic[1], magic[2], magic[3]];
        let format = if magic == pcapng::SECTION_HEADER.to_be_bytes() {
            Format::Pcapng(pcapng::Section::read(&mut source)?)
        } else if let Some(magic) = pcap::magic(magic) {
            Format::Pcap(pcap::Header::read(&mut source, magic)?)
        } else {
            let what = format!(
                "neither pcap nor pcapng begins with {}",
                magic.escape_ascii()
            );
            return Err(source.malformed(&what));
        };
        Ok(Reader {
            source,
            format,
            comment: String::new(),
        })
    }

    /// The next frame; nothing at the end of the file.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, Error> {
        self.comment.clear();
        match &mut self.format {
            Format::Pcap(header) => header.next(&mut self.source),
            Format::Pcapng(section) => section.next(&mut self.source, &mut self.comment),
        }
    }

    /// The link type of a pcap file, or of the first interface of pcapng where it is known already.
    pub fn link(&self) -> Option<LinkType> {
        match &self.format {
            Format::Pcap(header) => Some(header.link),
            Format::Pcapng(section) => section.first_link(),
        }
    }

    /// Bytes of the (decompressed) file that were read.
    pub fn offset(&self) -> u64 {
        self.source.offset()
    }
}

/// The order of the bytes in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Least significant first.
    #[default]
    Little,
    /// Most significant first.
    Big,
}

impl Order {
    fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Order::Little => u16::from_le_bytes(bytes),
            Order::Big => u16::from_be_bytes(bytes),
        }
    }

    fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Order::Little => u32::from_le_bytes(bytes),
            Order::Big => u32::from_be_bytes(bytes),
        }
    }

    /// The two bytes at `at` of `data`.
    fn u16_at(self, data: &[u8], at: usize) -> Option<u16> {
        Some(self.u16(data.get(at..at + 2)?.try_into().ok()?))
    }

    /// The four bytes at `at` of `data`.
    fn u32_at(self, data: &[u8], at: usize) -> Option<u32> {
        Some(self.u32(data.get(at..at + 4)?.try_into().ok()?))
    }

    fn put_u16(self, value: u16) -> [u8; 2] {
        match self {
            Order::Little => value.to_le_bytes(),
            Order::Big => value.to_be_bytes(),
        }
    }

    fn put_u32(self, value: u32) -> [u8; 4] {
        match self {
            Order::Little => value.to_le_bytes(),
            Order::Big => value.to_be_bytes(),
        }
    }

    fn put_u64(self, value: u64) -> [u8; 8] {
        match self {
            Order::Little => value.to_le_bytes(),
            Order::Big => value.to_be_bytes(),
        }
    }
}

/// Where a capture is written to.
pub struct Sink(Kind);

enum Kind {
    Plain(Box<dyn Write + Send>),
    Gz(GzEncoder<Box<dyn Write + Send>>),
}

impl Sink {
    /// As it is; buffer what you give.
    pub fn plain(to: impl Write + Send + 'static) -> Sink {
        Sink(Kind::Plain(Box::new(to)))
    }

    /// Compressed by gzip.
    pub fn gz(to: impl Write + Send + 'static) -> Sink {
        Sink(Kind::Gz(GzEncoder::new(
            Box::new(to),
            Compression::default(),
        )))
    }

    /// Writes what is still held back.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            Kind::Plain(mut to) => to.flush(),
            Kind::Gz(encoder) => encoder.finish()?.flush(),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Kind::Plain(to) => to.write(data),
            Kind::Gz(encoder) => encoder.write(data),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Kind::Plain(to) => to.flush(),
            Kind::Gz(encoder) => encoder.flush(),
        }
    }
}

impl std::fmt::Debug for Sink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sink").finish_non_exhaustive()
    }
}
