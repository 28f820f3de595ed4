//! How a block of a log is laid out, byte by byte; everything big-endian, nothing padded.
//!
//! | bytes | of every block |
//! | --- | --- |
//! | 4 | `TLOG` |
//! | 1 | version of the format: 1 |
//! | 1 | kind: 1 session, 2 flow, 3 records, 4 sent |
//! | 2 | how many things: 1 to 4096 records, 1 of everything else |
//! | 4 | bytes of the body |
//! | 4 | CRC-32C of the twelve bytes before and of the body |
//!
//! | bytes | body of a session |
//! | --- | --- |
//! | 1 | instants: 1 due and sent, 2 sent and received, 3 sent and returned, 4 due and left |
//! | 8 | date, signed, nanoseconds since 1970 |
//! | 8 | seed |
//! | 1 + n, three times | host, clock, program: length and UTF-8 |
//!
//! | bytes | body of a flow |
//! | --- | --- |
//! | 3 | number |
//! | 1 | protocol: 1 UDP, 2 TCP, 3 ICMP, 4 SCTP, 5 DCCP, 6 Ethernet, 7 not told |
//! | 1, 7 or 27, twice | from, to: 0 for none · 4, address (4), port (2) · 6, address (16), port (2), flow label (4), scope (4) |
//! | 1 + n | name: length and UTF-8 |
//!
//! | bytes | body of what was sent |
//! | --- | --- |
//! | 3 | number of the flow |
//! | 8 | packets |
//!
//! | bytes | body of records |
//! | --- | --- |
//! | 8, 8 | base of the starts, base of the ends: signed, nanoseconds since 1970, at least 2⁴⁷ from the ends of their range |
//! | 24 each | start (6) and end (6), signed, in nanoseconds from their base; sequence number (5); flow (3); payload bytes (3); flags (1), reserved: 0 |

use super::crc::crc32c;
use super::fields::{Fields, put_address, put_text};
use super::{Entry, Session};
use crate::record::{Instants, LoggedFlow, MOST_FLOWS, Protocol, Record};
use crate::signal::message::MOST_BLOCK_BYTES;

/// What every block begins with.
pub const MAGIC: [u8; 4] = *b"TLOG";
/// The version of the format that is written, and the only one that is read.
pub const VERSION: u8 = 1;
/// Bytes of a block's head.
pub const HEAD_BYTES: usize = 16;
/// Bytes of a record.
pub(crate) const RECORD_BYTES: usize = 24;
/// The most records in a block.
pub(crate) const MOST_RECORDS: usize = 4096;
/// The longest text, in bytes.
pub(crate) const MOST_TEXT_BYTES: usize = 255;
/// Bytes of the two base times of records.
pub(super) const BASES_BYTES: usize = 16;
/// The longest body that is written or read.
pub(crate) const MOST_BODY_BYTES: usize = BASES_BYTES + MOST_RECORDS * RECORD_BYTES;

// A block is one message to a log server.
const _: () = assert!(HEAD_BYTES + MOST_BODY_BYTES == MOST_BLOCK_BYTES);

/// Half the range of an instant's offset from its base.
const HALF_OFFSET: i64 = 1 << 47;

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Session = 1,
    Flow = 2,
    Records = 3,
    Sent = 4,
}

/// A block's head, read and in range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) kind: Kind,
    pub(super) count: usize,
    pub(super) body_bytes: usize,
    checksum: u32,
}

/// Why a head is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoHead {
    /// It does not begin as blocks do.
    Foreign,
    /// It is of another version.
    Version(u8),
    /// A kind, count or length that no writer writes.
    Malformed,
}

/// The head of a block.
pub(super) fn head(kind: Kind, count: usize, body: &[u8]) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..4].copy_from_slice(&MAGIC);
    head[4] = VERSION;
    head[5] = kind as u8;
    head[6..8].copy_from_slice(&(count as u16).to_be_bytes());
    head[8..12].copy_from_slice(&(body.len() as u32).to_be_bytes());
    let checksum = crc32c(&[&head[..12], body]);
    head[12..].copy_from_slice(&checksum.to_be_bytes());
    head
}

impl Head {
    /// Reads a head.
    pub(super) fn parse(bytes: &[u8; HEAD_BYTES]) -> Result<Head, NoHead> {
        let mut fields = Fields(bytes);
        let mut read = || {
            let magic: [u8; 4] = fields.array()?;
            let [version, kind] = fields.array()?;
            let count = u16::from_be_bytes(fields.array()?);
            let length = u32::from_be_bytes(fields.array()?);
            Some((magic, version, kind, count, length, fields.array()?))
        };
        let (magic, version, kind, count, length, checksum) =
            read().expect("the head has as many bytes");
        if magic != MAGIC {
            return Err(NoHead::Foreign);
        }
        if version != VERSION {
            return Err(NoHead::Version(version));
        }
        let head = Head {
            kind: match kind {
                1 => Kind::Session,
                2 => Kind::Flow,
                3 => Kind::Records,
                4 => Kind::Sent,
                _ => return Err(NoHead::Malformed),
            },
            count: usize::from(count),
            body_bytes: length as usize,
            checksum: u32::from_be_bytes(checksum),
        };
        let fits = match head.kind {
            Kind::Session | Kind::Flow | Kind::Sent => {
                head.count == 1 && head.body_bytes <= MOST_BODY_BYTES
            }
            Kind::Records => {
                (1..=MOST_RECORDS).contains(&head.count)
                    && head.body_bytes == BASES_BYTES + head.count * RECORD_BYTES
            }
        };
        if fits {
            Ok(head)
        } else {
            Err(NoHead::Malformed)
        }
    }

    /// Whether the block is as it was written.
    pub(super) fn is_whole(&self, head: &[u8; HEAD_BYTES], body: &[u8]) -> bool {
        crc32c(&[&head[..12], body]) == self.checksum
    }
}

pub(super) fn put_session(body: &mut Vec<u8>, session: &Session) {
    body.push(match session.instants {
        Instants::DueSent => 1,
        Instants::SentReceived => 2,
        Instants::SentReturned => 3,
        Instants::DueLeft => 4,
    });
    body.extend(session.date_ns.to_be_bytes());
    body.extend(session.seed.to_be_bytes());
    for text in [&session.host, &session.clock, &session.program] {
        put_text(body, text);
    }
}

pub(super) fn session(body: &[u8]) -> Option<Entry> {
    let mut fields = Fields(body);
    let instants = match fields.array()? {
        [1] => Instants::DueSent,
        [2] => Instants::SentReceived,
        [3] => Instants::SentReturned,
        [4] => Instants::DueLeft,
        _ => return None,
    };
    let session = Session {
        instants,
        date_ns: i64::from_be_bytes(fields.array()?),
        seed: u64::from_be_bytes(fields.array()?),
        host: fields.text()?,
        clock: fields.text()?,
        program: fields.text()?,
    };
    fields.is_empty().then_some(Entry::Session(session))
}

const PROTOCOLS: [Protocol; 7] = [
    Protocol::Udp,
    Protocol::Tcp,
    Protocol::Icmp,
    Protocol::Sctp,
    Protocol::Dccp,
    Protocol::Ethernet,
    Protocol::Unknown,
];

pub(super) fn put_flow(body: &mut Vec<u8>, flow: &LoggedFlow) {
    debug_assert!(flow.number < MOST_FLOWS);
    body.extend(&flow.number.to_be_bytes()[1..]);
    let place = PROTOCOLS.iter().position(|one| *one == flow.protocol);
    body.push(place.expect("all protocols are listed") as u8 + 1);
    put_address(body, flow.from);
    put_address(body, flow.to);
    put_text(body, &flow.name);
}

pub(super) fn flow(body: &[u8]) -> Option<Entry> {
    let mut fields = Fields(body);
    let flow = LoggedFlow {
        number: fields.number(3)? as u32,
        protocol: *PROTOCOLS.get(usize::from(fields.array::<1>()?[0]).checked_sub(1)?)?,
        from: fields.address()?,
        to: fields.address()?,
        name: fields.text()?,
    };
    fields.is_empty().then_some(Entry::Flow(flow))
}

pub(super) fn put_sent(body: &mut Vec<u8>, flow: u32, packets: u64) {
    debug_assert!(flow < MOST_FLOWS);
    body.extend(&flow.to_be_bytes()[1..]);
    body.extend(packets.to_be_bytes());
}

pub(super) fn sent(body: &[u8]) -> Option<Entry> {
    let mut fields = Fields(body);
    let (flow, packets) = (fields.number(3)? as u32, fields.number(8)?);
    fields.is_empty().then_some(Entry::Sent { flow, packets })
}

/// The two times that a block's records count from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bases {
    start_ns: i64,
    end_ns: i64,
}

impl Bases {
    /// Those by which `first` fits.
    pub(super) fn of(first: &Record) -> Bases {
        let bring_in = |ns: i64| ns.clamp(i64::MIN + HALF_OFFSET, i64::MAX - HALF_OFFSET + 1);
        Bases {
            start_ns: bring_in(first.start_ns),
            end_ns: bring_in(first.end_ns),
        }
    }

    pub(super) fn put(self, body: &mut Vec<u8>) {
        body.extend(self.start_ns.to_be_bytes());
        body.extend(self.end_ns.to_be_bytes());
    }

    /// Those of a body; none where a record could overflow.
    pub(super) fn read(body: &[u8]) -> Option<Bases> {
        let mut fields = Fields(body);
        let mut one = || {
            let ns = i64::from_be_bytes(fields.array()?);
            let range = i64::MIN + HALF_OFFSET..=i64::MAX - HALF_OFFSET + 1;
            range.contains(&ns).then_some(ns)
        };
        Some(Bases {
            start_ns: one()?,
            end_ns: one()?,
        })
    }

    /// The record's bytes; none where an instant is too far from its base.
    pub(super) fn encode(self, record: &Record) -> Option<[u8; RECORD_BYTES]> {
        let offset = |ns: i64, base: i64| {
            let offset = ns.checked_sub(base)?;
            (-HALF_OFFSET..HALF_OFFSET)
                .contains(&offset)
                .then(|| offset.to_be_bytes())
        };
        let mut bytes = [0; RECORD_BYTES];
        bytes[..6].copy_from_slice(&offset(record.start_ns, self.start_ns)?[2..]);
        bytes[6..12].copy_from_slice(&offset(record.end_ns, self.end_ns)?[2..]);
        bytes[12..17].copy_from_slice(&record.sequence.to_be_bytes()[3..]);
        bytes[17..20].copy_from_slice(&record.flow.to_be_bytes()[1..]);
        bytes[20..23].copy_from_slice(&record.bytes.to_be_bytes()[1..]);
        Some(bytes)
    }

    /// The record of these bytes, whatever its flags.
    pub(super) fn decode(self, bytes: &[u8; RECORD_BYTES]) -> Option<Record> {
        let mut fields = Fields(bytes);
        let mut offset = || fields.number(6).map(|raw| (raw << 16) as i64 >> 16);
        let (start, end) = (offset()?, offset()?);
        Some(Record {
            start_ns: self.start_ns + start,
            end_ns: self.end_ns + end,
            sequence: fields.number(5)?,
            flow: fields.number(3)? as u32,
            bytes: fields.number(3)? as u32,
        })
    }
}

/// Whether the record's flags are those of this version: none.
pub(super) fn has_no_flags(record: &[u8; RECORD_BYTES]) -> bool {
    record[RECORD_BYTES - 1] == 0
}
