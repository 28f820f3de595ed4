//! The format of captures in blocks: several interfaces, times to any resolution, comments.
//!
//! ```text
//! block    type 4 · length 4 · body · length 4       the length counts the whole block, a multiple of 4
//! option   code 2 · length 2 · value, padded to 4
//! ```
//! Read are section headers, interfaces, packets (enhanced, simple, obsolete) and their comments;
//! other blocks are skipped. Source: draft-ietf-opsawg-pcapng, §4.

use super::frame::{Error, Frame, RECORD_BYTES_MAX};
use super::link::LinkType;
use super::order::Order;
use super::sink::Sink;
use super::source::Source;
use crate::timestamp::Timestamp;
use std::io::{self, Write};

pub(super) const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const BYTE_ORDER_MAGIC: u32 = 0x1A2B_3C4D;
const INTERFACE: u32 = 1;
const INTERFACE_STATISTICS: u32 = 5;
const PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

const END_OF_OPTIONS: u16 = 0;
const COMMENT: u16 = 1;
const USER_APPLICATION: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const TIME_RESOLUTION: u16 = 9;
const TIME_OFFSET: u16 = 14;
/// Of a packet: how many were dropped between it and the one before.
const DROP_COUNT: u16 = 4;
/// Of an interface's statistics.
const RECEIVED: u16 = 4;
const DROPPED: u16 = 5;

/// More interfaces than a section of any capture has: a file can't make us remember more.
const INTERFACES_MAX: usize = 1 << 16;
/// Type and length in front of the body.
const HEAD: usize = 8;
/// Where options of a section's header begin.
const OPTIONS_OF_SECTION: usize = 24;

#[derive(Clone, Copy, Debug)]
struct Interface {
    link: LinkType,
    snap_len: u32,
    units_per_second: u64,
    offset_s: i64,
}

impl Interface {
    fn time(&self, units: u64) -> Timestamp {
        let ns = u128::from(units) * 1_000_000_000 / u128::from(self.units_per_second);
        let offset = Timestamp(self.offset_s.saturating_mul(1_000_000_000));
        Timestamp(i64::try_from(ns).unwrap_or(i64::MAX)) + offset
    }
}

/// The section that is being read.
#[derive(Debug)]
pub(super) struct Section {
    order: Order,
    interfaces: Vec<Interface>,
    /// What wrote it; empty where it does not say.
    pub(super) application: String,
}

impl Section {
    /// Reads the rest of a section's header, whose type was read.
    pub(super) fn read(source: &mut Source) -> Result<Section, Error> {
        source.more(8)?;
        let head = source.bytes();
        let orders = [Order::Little, Order::Big];
        let order = orders
            .into_iter()
            .find(|order| order.u32_at(head, 8) == Some(BYTE_ORDER_MAGIC));
        let Some(order) = order else {
            return Err(
                source.malformed("a section header without the magic of its order of bytes")
            );
        };
        let length = order.u32_at(head, 4).unwrap_or_default();
        finish_block(source, order, length, 28)?;
        match order.u16_at(source.bytes(), 12) {
            Some(1) => Ok(Section {
                order,
                interfaces: Vec::new(),
                application: application(order, source.bytes()),
            }),
            major => {
                Err(source.malformed(&format!("pcapng of version {}", major.unwrap_or_default())))
            }
        }
    }

    pub(super) fn first_link(&self) -> Option<LinkType> {
        self.interfaces.first().map(|interface| interface.link)
    }

    pub(super) fn next<'a>(
        &mut self,
        source: &'a mut Source,
        comment: &'a mut String,
    ) -> Result<Option<Frame<'a>>, Error> {
        loop {
            let Some(kind) = source.record(4)? else {
                return Ok(None);
            };
            let kind = [kind[0], kind[1], kind[2], kind[3]];
            if kind == SECTION_HEADER.to_be_bytes() {
                *self = Section::read(source)?;
                continue;
            }
            source.more(4)?;
            let length = self.order.u32_at(source.bytes(), 4).unwrap_or_default();
            finish_block(source, self.order, length, 12)?;
            let kind = self.order.u32(kind);
            let malformed = |source: &Source, what| Err(source.malformed(what));
            match kind {
                INTERFACE => match self.interface(source.bytes()) {
                    _ if self.interfaces.len() >= INTERFACES_MAX => {
                        return malformed(source, "too many interfaces");
                    }
                    Some(interface) => self.interfaces.push(interface),
                    None => return malformed(source, "an interface that cannot be understood"),
                },
                PACKET | SIMPLE_PACKET | ENHANCED_PACKET => {
                    let Some(place) = self.place(kind, source.bytes(), comment) else {
                        return malformed(
                            source,
                            "a packet that does not fit its block or lacks its interface",
                        );
                    };
                    let link = self.interfaces[place.interface as usize].link;
                    return Ok(Some(Frame {
                        timestamp: place.timestamp,
                        interface: place.interface,
                        link,
                        wire_len: place.wire_len,
                        data: &source.bytes()[place.at..place.at + place.kept],
                        comment,
                    }));
                }
                _ => {}
            }
        }
    }

    fn interface(&self, block: &[u8]) -> Option<Interface> {
        let order = self.order;
        let mut interface = Interface {
            link: LinkType::in_file(order.u16_at(block, HEAD)?),
            snap_len: order.u32_at(block, HEAD + 4)?,
            units_per_second: 1_000_000,
            offset_s: 0,
        };
        for (code, value) in options(order, block, HEAD + 8) {
            match (code, value) {
                (TIME_RESOLUTION, [exponent]) => {
                    let base: u64 = if exponent & 0x80 == 0 { 10 } else { 2 };
                    interface.units_per_second = base.checked_pow(u32::from(exponent & 0x7F))?;
                }
                (TIME_OFFSET, value) => {
                    let value: [u8; 8] = value.try_into().ok()?;
                    interface.offset_s = match order {
                        Order::Little => i64::from_le_bytes(value),
                        Order::Big => i64::from_be_bytes(value),
                    };
                }
                _ => {}
            }
        }
        Some(interface)
    }

    /// Where in its block the packet is.
    fn place(&self, kind: u32, block: &[u8], comment: &mut String) -> Option<Place> {
        let word = |at| self.order.u32_at(block, HEAD + at);
        if kind == SIMPLE_PACKET {
            let snap_len = self.interfaces.first()?.snap_len;
            let wire_len = word(0)?;
            let room = block.len().saturating_sub(HEAD + 8) as u32;
            let snap_len = if snap_len == 0 { u32::MAX } else { snap_len };
            // Without a length of its own, the packet fills the block but the padding.
            let kept = wire_len.min(snap_len);
            return (kept <= room).then_some(Place {
                timestamp: Timestamp::ZERO,
                interface: 0,
                wire_len,
                at: HEAD + 4,
                kept: kept as usize,
            });
        }
        let interface = match kind {
            ENHANCED_PACKET => word(0)?,
            // The obsolete block has the count of drops in the same word.
            _ => u32::from(self.order.u16_at(block, HEAD)?),
        };
        let described = self.interfaces.get(interface as usize)?;
        let units = u64::from(word(4)?) << 32 | u64::from(word(8)?);
        let (kept, wire_len) = (word(12)?, word(16)?);
        // Fewer than were kept is a lie that arithmetic would stumble over.
        let (kept, wire_len) = (kept as usize, wire_len.max(kept));
        let at = HEAD + 20;
        if kept > block.len().saturating_sub(at + 4) {
            return None;
        }
        let after = at + kept.next_multiple_of(4);
        let options = options(self.order, block, after);
        let comments = options.filter(|(code, _)| *code == COMMENT);
        for (n, (_, value)) in comments.enumerate() {
            if n > 0 {
                comment.push('\n');
            }
            comment.push_str(&String::from_utf8_lossy(value));
        }
        Some(Place {
            timestamp: described.time(units),
            interface,
            wire_len,
            at,
            kept,
        })
    }
}

struct Place {
    timestamp: Timestamp,
    interface: u32,
    wire_len: u32,
    at: usize,
    kept: usize,
}

/// Reads what is left of a block of `length` bytes, and compares the length at its end.
fn finish_block(source: &mut Source, order: Order, length: u32, min: u32) -> Result<(), Error> {
    if length < min || !length.is_multiple_of(4) || length > RECORD_BYTES_MAX {
        return Err(source.malformed(&format!("a block that claims {length} bytes")));
    }
    let rest = length - source.bytes().len() as u32;
    source.more(rest)?;
    let end = order.u32_at(source.bytes(), length as usize - 4);
    if end == Some(length) {
        return Ok(());
    }
    let end = end.unwrap_or_default();
    Err(source.malformed(&format!(
        "a block that claims {length} bytes at its front and {end} at its end"
    )))
}

/// The options of `block` from `at` on, as far as they are whole.
fn options(order: Order, block: &[u8], at: usize) -> impl Iterator<Item = (u16, &[u8])> {
    let end = block.len().saturating_sub(4);
    let mut rest = block.get(at..end).unwrap_or_default();
    std::iter::from_fn(move || {
        let code = order
            .u16_at(rest, 0)
            .filter(|code| *code != END_OF_OPTIONS)?;
        let len = usize::from(order.u16_at(rest, 2)?);
        let value = rest.get(4..4 + len)?;
        rest = rest.get(4 + len.next_multiple_of(4)..).unwrap_or_default();
        Some((code, value))
    })
}

/// The application that a section's header names.
fn application(order: Order, block: &[u8]) -> String {
    let mut all = options(order, block, OPTIONS_OF_SECTION);
    let found = all.find(|(code, _)| *code == USER_APPLICATION);
    found.map_or_else(String::new, |(_, name)| {
        String::from_utf8_lossy(name).into_owned()
    })
}

/// As much of a text as an option holds, in whole characters.
fn within_an_option(text: &str) -> &str {
    let mut end = text.len().min(usize::from(u16::MAX));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A pcapng file that is being written: one section, times in nanoseconds.
#[derive(Debug)]
pub struct Writer {
    out: Sink,
    order: Order,
    interfaces: u32,
    body: Vec<u8>,
}

impl Writer {
    /// Begins a file.
    pub fn new(out: Sink, order: Order) -> io::Result<Writer> {
        Writer::by("Trammel", out, order)
    }

    /// The same, with a text of its own on what writes it, of at most 65,535 bytes.
    pub fn by(application: &str, out: Sink, order: Order) -> io::Result<Writer> {
        let mut writer = Writer {
            out,
            order,
            interfaces: 0,
            body: Vec::new(),
        };
        writer.u32(BYTE_ORDER_MAGIC);
        writer.u16(1);
        writer.u16(0);
        // The length of the section is not known beforehand.
        writer.body.extend([0xFF; 8]);
        let application = within_an_option(application);
        writer.option(USER_APPLICATION, application.as_bytes());
        writer.u32(0);
        writer.block(SECTION_HEADER)?;
        Ok(writer)
    }

    /// Adds an interface; returns its number. A snap length of 0 is none.
    pub fn interface(&mut self, name: &str, link: LinkType, snap_len: u32) -> io::Result<u32> {
        self.u16(link.0);
        self.u16(0);
        self.u32(snap_len);
        self.option(INTERFACE_NAME, name.as_bytes());
        self.option(TIME_RESOLUTION, &[9]);
        self.u32(0);
        self.block(INTERFACE)?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Writes a frame. Times before 1970 are written as 1970.
    ///
    /// # Panics
    /// Where the interface was not added.
    pub fn write(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        self.write_after_drops(frame, 0)
    }

    /// As [`write`](Self::write), with the number of packets that its interface dropped since the
    /// frame before, where there were any.
    ///
    /// # Panics
    /// Where the interface was not added.
    pub fn write_after_drops(&mut self, frame: &Frame<'_>, dropped: u64) -> io::Result<()> {
        assert!(
            frame.interface < self.interfaces,
            "interface {} was not added",
            frame.interface
        );
        let wire_len = frame.wire_len.max(frame.data.len() as u32);
        self.u32(frame.interface);
        self.time(frame.timestamp);
        self.u32(frame.data.len() as u32);
        self.u32(wire_len);
        self.body.extend(frame.data);
        self.pad();
        if !frame.comment.is_empty() {
            for line in frame.comment.split('\n') {
                self.option(COMMENT, within_an_option(line).as_bytes());
            }
        }
        if dropped > 0 {
            let dropped = self.order.put_u64(dropped);
            self.option(DROP_COUNT, &dropped);
        }
        if dropped > 0 || !frame.comment.is_empty() {
            self.u32(0);
        }
        self.block(ENHANCED_PACKET)
    }

    /// Writes what `interface` had received and dropped at an instant, from the start of the file.
    pub fn statistics(
        &mut self,
        interface: u32,
        at: Timestamp,
        received: u64,
        dropped: u64,
    ) -> io::Result<()> {
        self.u32(interface);
        self.time(at);
        for (code, count) in [(RECEIVED, received), (DROPPED, dropped)] {
            let count = self.order.put_u64(count);
            self.option(code, &count);
        }
        self.u32(0);
        self.block(INTERFACE_STATISTICS)
    }

    /// Writes what is held back, so that a reader sees it.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Ends the file.
    pub fn finish(self) -> io::Result<()> {
        self.out.finish()
    }

    fn u16(&mut self, value: u16) {
        self.body.extend(self.order.put_u16(value));
    }

    fn u32(&mut self, value: u32) {
        self.body.extend(self.order.put_u32(value));
    }

    fn time(&mut self, at: Timestamp) {
        let ns = at.0.max(0) as u64;
        self.u32((ns >> 32) as u32);
        self.u32(ns as u32);
    }

    fn pad(&mut self) {
        self.body.resize(self.body.len().next_multiple_of(4), 0);
    }

    /// Appends an option; a value of more than 65,535 bytes is cut off there.
    fn option(&mut self, code: u16, value: &[u8]) {
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        self.u16(code);
        self.u16(value.len() as u16);
        self.body.extend(value);
        self.pad();
    }

    fn block(&mut self, kind: u32) -> io::Result<()> {
        let length = self.order.put_u32(self.body.len() as u32 + 12);
        self.out.write_all(&self.order.put_u32(kind))?;
        self.out.write_all(&length)?;
        self.out.write_all(&self.body)?;
        self.out.write_all(&length)?;
        self.body.clear();
        Ok(())
    }
}
