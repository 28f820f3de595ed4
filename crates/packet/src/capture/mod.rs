//! Capture files: pcap and pcapng, either byte order, plain or compressed by gzip.
//!
//! [`Reader`] tells by the first bytes what a file is. Lengths that a file claims are bounded
//! before they are believed, and memory grows only as bytes arrive. What is malformed is an error
//! that says at which byte (of the decompressed file) the trouble begins; what stood before has
//! been given out.

mod frame;
pub mod link;
mod order;
pub mod pcap;
pub mod pcapng;
mod sink;
pub mod source;

pub use frame::{Error, Frame, RECORD_BYTES_MAX};
pub use order::Order;
pub use sink::Sink;

use link::LinkType;
use source::Source;
use std::io::Read;

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

    /// What wrote the section of a pcapng file that is being read; empty where it does not say.
    pub fn application(&self) -> &str {
        match &self.format {
            Format::Pcap(_) => "",
            Format::Pcapng(section) => &section.application,
        }
    }

    /// Bytes of the (decompressed) file that were read.
    pub fn offset(&self) -> u64 {
        self.source.offset()
    }
}
