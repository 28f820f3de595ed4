//! The classic format of captures.
//!
//! ```text
//! file    magic 4 · version 2+2 · zone 4 · accuracy 4 · snap length 4 · link type 4
//! record  seconds 4 · fraction 4 · kept 4 · on the wire 4 · bytes
//! ```
//! The magic tells the order of bytes and whether fractions are µs or ns; or that each record's
//! head has eight bytes more, of the interface and the kind of packet, which are skipped
//! (`modified` captures of old Linux systems). Source: draft-ietf-opsawg-pcap.

use super::frame::{Error, Frame};
use super::link::LinkType;
use super::order::Order;
use super::sink::Sink;
use super::source::Source;
use crate::timestamp::Timestamp;
use std::io::{self, Write};

const MAGIC_US: u32 = 0xA1B2_C3D4;
const MAGIC_NS: u32 = 0xA1B2_3C4D;
const MAGIC_MODIFIED: u32 = 0xA1B2_CD34;
const FILE_HEADER: u32 = 24;
const RECORD_HEADER: usize = 16;
const MODIFIED_RECORD_HEADER: usize = 24;

/// What the magic at the front of a file says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Magic {
    order: Order,
    ns_per_unit: u32,
    /// Bytes of a record's head.
    record_header: usize,
}

/// What `bytes` at the front of a file announce.
pub(super) fn magic(bytes: [u8; 4]) -> Option<Magic> {
    [Order::Little, Order::Big].into_iter().find_map(|order| {
        let (ns_per_unit, record_header) = match order.u32(bytes) {
            MAGIC_US => (1000, RECORD_HEADER),
            MAGIC_NS => (1, RECORD_HEADER),
            MAGIC_MODIFIED => (1000, MODIFIED_RECORD_HEADER),
            _ => return None,
        };
        Some(Magic {
            order,
            ns_per_unit,
            record_header,
        })
    })
}

/// What the head of a file says.
#[derive(Debug)]
pub(super) struct Header {
    magic: Magic,
    pub(super) link: LinkType,
}

impl Header {
    /// Reads the rest of the file's head, whose magic was read.
    pub(super) fn read(source: &mut Source, magic: Magic) -> Result<Header, Error> {
        let order = magic.order;
        source.more(FILE_HEADER - 4)?;
        let head = source.bytes();
        let major = order.u16_at(head, 4);
        if major != Some(2) {
            return Err(source.malformed(&format!("pcap of version {}", major.unwrap_or_default())));
        }
        // The upper bits tell of check sequences, not of the link type.
        let link = order.u32_at(head, 20).unwrap_or_default() & 0xFFFF;
        Ok(Header {
            magic,
            link: LinkType::in_file(link as u16),
        })
    }

    pub(super) fn next<'a>(&self, source: &'a mut Source) -> Result<Option<Frame<'a>>, Error> {
        let length = self.magic.record_header;
        let Some(head) = source.record(length as u32)? else {
            return Ok(None);
        };
        let field = |at| self.magic.order.u32_at(head, at).unwrap_or_default();
        let (secs, fraction, kept, wire_len) = (field(0), field(4), field(8), field(12));
        source.more(kept)?;
        let ns = i64::from(fraction) * i64::from(self.magic.ns_per_unit);
        Ok(Some(Frame {
            timestamp: Timestamp::new(i64::from(secs), ns),
            interface: 0,
            link: self.link,
            // Fewer than were kept is a lie that arithmetic would stumble over.
            wire_len: wire_len.max(kept),
            data: &source.bytes()[length..],
            comment: "",
        }))
    }
}

/// What a file that is written looks like.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What frames begin with.
    pub link: LinkType,
    /// Bytes kept of a frame at most.
    pub snap_len: u32,
    /// The order of bytes.
    pub order: Order,
    /// Whether times have nanoseconds, not microseconds.
    pub is_nanosecond: bool,
}

impl Default for Options {
    /// Ethernet, whole frames, nanoseconds.
    fn default() -> Options {
        Options {
            link: LinkType::EN10MB,
            snap_len: 262_144,
            order: Order::Little,
            is_nanosecond: true,
        }
    }
}

/// A pcap file that is being written.
#[derive(Debug)]
pub struct Writer {
    out: Sink,
    options: Options,
}

impl Writer {
    /// Begins a file.
    pub fn new(mut out: Sink, options: Options) -> io::Result<Writer> {
        let order = options.order;
        let magic = if options.is_nanosecond {
            MAGIC_NS
        } else {
            MAGIC_US
        };
        out.write_all(&order.put_u32(magic))?;
        out.write_all(&order.put_u16(2))?;
        out.write_all(&order.put_u16(4))?;
        for word in [0, 0, options.snap_len, u32::from(options.link.0)] {
            out.write_all(&order.put_u32(word))?;
        }
        Ok(Writer { out, options })
    }

    /// Writes a frame that had `wire_len` bytes. Times are kept modulo 2³² s, as the format has
    /// them.
    pub fn write(&mut self, at: Timestamp, wire_len: u32, data: &[u8]) -> io::Result<()> {
        let kept = &data[..data.len().min(self.options.snap_len as usize)];
        let unit = if self.options.is_nanosecond { 1 } else { 1000 };
        let fraction = (at.subsec_ns() / unit) as u32;
        let wire_len = wire_len.max(data.len() as u32);
        for word in [at.secs() as u32, fraction, kept.len() as u32, wire_len] {
            self.out.write_all(&self.options.order.put_u32(word))?;
        }
        self.out.write_all(kept)
    }

    /// Writes what is held back, so that a reader sees it.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Ends the file.
    pub fn finish(self) -> io::Result<()> {
        self.out.finish()
    }
}
