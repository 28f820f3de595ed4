//! Messages that tell a collector of flows: NetFlow version 9 (RFC 3954) and IPFIX (RFC 7011).
//!
//! Both are a header and sets: a set of templates says which fields a record has, sets of data hold
//! records. A table of fields makes templates and records alike; the two formats differ in header,
//! numbers of sets and the way in which times are told.

use std::net::IpAddr;
use trammel_packet::headers::flow::FiveTuple;
use trammel_packet::timestamp::Timestamp;

/// Why a flow was exported (IPFIX element 136).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum End {
    /// No packet came for the inactive timeout.
    Idle = 1,
    /// It lasted for the active timeout; more may come.
    Active = 2,
    /// TCP closed it.
    Closed = 3,
    /// It was asked for.
    Forced = 4,
    /// Another needed its place.
    NoRoom = 5,
}

/// What is told of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    /// Addresses, protocol, ports.
    pub flow: FiveTuple,
    /// The type of service, or traffic class, of the first packet.
    pub tos: u8,
    /// All of TCP's flags that were seen.
    pub tcp_flags: u8,
    /// Packets.
    pub packets: u64,
    /// Bytes of them, IP headers among them.
    pub bytes: u64,
    /// When the first came.
    pub first: Timestamp,
    /// When the last came.
    pub last: Timestamp,
    /// Why it is told.
    pub end: End,
}

/// The format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Format {
    /// NetFlow version 9.
    NetFlow9,
    /// IPFIX.
    #[default]
    Ipfix,
}

type Write = fn(&Record, Timestamp, &mut Vec<u8>);

/// A field of a record: its number, its bytes, and what writes them, given when the exporter
/// started.
struct Field {
    id: u16,
    len: u16,
    write: Write,
}

const fn field(id: u16, len: u16, write: Write) -> Field {
    Field { id, len, write }
}

fn put_address(address: IpAddr, into: &mut Vec<u8>) {
    match address {
        IpAddr::V4(address) => into.extend(address.octets()),
        IpAddr::V6(address) => into.extend(address.octets()),
    }
}

fn put_source(record: &Record, _: Timestamp, into: &mut Vec<u8>) {
    put_address(record.flow.src, into);
}

fn put_destination(record: &Record, _: Timestamp, into: &mut Vec<u8>) {
    put_address(record.flow.dst, into);
}

const NANOS_IN_MILLI: i64 = 1_000_000;

/// Milliseconds since the start, as a NetFlow record tells times.
fn uptime_ms(at: Timestamp, start: Timestamp) -> u32 {
    ((at.0 - start.0).max(0) / NANOS_IN_MILLI) as u32
}

const ADDRESSES_4: &[Field] = &[field(8, 4, put_source), field(12, 4, put_destination)];
const ADDRESSES_6: &[Field] = &[field(27, 16, put_source), field(28, 16, put_destination)];
/// What records of both formats have behind the addresses.
const COMMON: &[Field] = &[
    field(7, 2, |r, _, v| v.extend(r.flow.sport.to_be_bytes())),
    field(11, 2, |r, _, v| v.extend(r.flow.dport.to_be_bytes())),
    field(4, 1, |r, _, v| v.push(r.flow.protocol)),
    field(5, 1, |r, _, v| v.push(r.tos)),
    field(6, 1, |r, _, v| v.push(r.tcp_flags)),
    field(136, 1, |r, _, v| v.push(r.end as u8)),
    field(2, 8, |r, _, v| v.extend(r.packets.to_be_bytes())),
    field(1, 8, |r, _, v| v.extend(r.bytes.to_be_bytes())),
];
/// FIRST_SWITCHED and LAST_SWITCHED.
const UPTIMES: &[Field] = &[
    field(22, 4, |r, start, v| {
        v.extend(uptime_ms(r.first, start).to_be_bytes());
    }),
    field(21, 4, |r, start, v| {
        v.extend(uptime_ms(r.last, start).to_be_bytes());
    }),
];
/// flowStartMilliseconds and flowEndMilliseconds.
const TIMES: &[Field] = &[
    field(152, 8, |r, _, v| {
        v.extend((r.first.0 / NANOS_IN_MILLI).to_be_bytes());
    }),
    field(153, 8, |r, _, v| {
        v.extend((r.last.0 / NANOS_IN_MILLI).to_be_bytes());
    }),
];

/// Templates for flows of IPv4 and IPv6; lesser numbers are not of data.
const TEMPLATES: [u16; 2] = [256, 257];
/// Bytes of the header of a set.
const SET_HEADER: usize = 4;
/// Sets end at whole words.
const WORD: usize = 4;

/// The fields of the records of a template.
fn fields(format: Format, template: u16) -> impl Iterator<Item = &'static Field> {
    let addresses = if template == TEMPLATES[0] {
        ADDRESSES_4
    } else {
        ADDRESSES_6
    };
    let times = match format {
        Format::NetFlow9 => UPTIMES,
        Format::Ipfix => TIMES,
    };
    addresses.iter().chain(COMMON).chain(times)
}

/// Makes the messages of one exporter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exporter {
    /// The format.
    pub format: Format,
    /// The number by which a collector knows it.
    pub domain: u32,
    /// The most bytes of a message.
    pub most: usize,
    /// When it started.
    pub start: Timestamp,
    sequence: u32,
    message: Vec<u8>,
}

impl Exporter {
    fn put_u16(&mut self, value: u16) {
        self.message.extend(value.to_be_bytes());
    }

    fn put_u32(&mut self, value: u32) {
        self.message.extend(value.to_be_bytes());
    }

    /// Begins a set; gives where.
    fn open(&mut self, id: u16) -> usize {
        let at = self.message.len();
        self.put_u16(id);
        self.put_u16(0);
        at
    }

    /// Ends the set that began at `at`.
    fn close(&mut self, at: usize) {
        let padded = self.message.len().next_multiple_of(WORD);
        self.message.resize(padded, 0);
        let len = (padded - at) as u16;
        self.message[at + 2..at + 4].copy_from_slice(&len.to_be_bytes());
    }

    fn put_templates(&mut self) {
        let set = self.open(match self.format {
            Format::NetFlow9 => 0,
            Format::Ipfix => 2,
        });
        for template in TEMPLATES {
            self.put_u16(template);
            self.put_u16(fields(self.format, template).count() as u16);
            for field in fields(self.format, template) {
                self.put_u16(field.id);
                self.put_u16(field.len);
            }
        }
        self.close(set);
    }

    /// Makes a message of as many of the `records` from the first on as it has room for, at least
    /// one, and of the templates if asked. Gives how many, and the message.
    pub(crate) fn make(
        &mut self,
        now: Timestamp,
        records: &[Record],
        templates: bool,
    ) -> (usize, &[u8]) {
        self.message.clear();
        let header = match self.format {
            Format::NetFlow9 => 20,
            Format::Ipfix => 16,
        };
        self.message.resize(header, 0);
        if templates {
            self.put_templates();
        }
        let (mut count, mut open): (usize, Option<(u16, usize)>) = (0, None);
        for record in records {
            let template = TEMPLATES[usize::from(record.flow.src.is_ipv6())];
            let len: usize = fields(self.format, template)
                .map(|field| usize::from(field.len))
                .sum();
            let is_new = open.is_none_or(|(id, _)| id != template);
            let head = if is_new { SET_HEADER } else { 0 };
            // The set before, and this one at last, may end with a word that is not whole.
            if count > 0 && self.message.len() + head + len + 2 * WORD > self.most {
                break;
            }
            if is_new {
                if let Some((_, at)) = open {
                    self.close(at);
                }
                open = Some((template, self.open(template)));
            }
            let start = self.start;
            for field in fields(self.format, template) {
                (field.write)(record, start, &mut self.message);
            }
            count += 1;
        }
        if let Some((_, at)) = open {
            self.close(at);
        }
        self.put_header(now, count, templates);
        (count, &self.message)
    }

    fn put_header(&mut self, now: Timestamp, records: usize, templates: bool) {
        let seconds = (now.0 / 1_000_000_000) as u32;
        let (len, mut body) = (self.message.len(), std::mem::take(&mut self.message));
        match self.format {
            Format::NetFlow9 => {
                let all = records + if templates { TEMPLATES.len() } else { 0 };
                self.put_u16(9);
                self.put_u16(all as u16);
                self.put_u32(uptime_ms(now, self.start));
            }
            Format::Ipfix => {
                self.put_u16(10);
                self.put_u16(len as u16);
            }
        }
        self.put_u32(seconds);
        self.put_u32(self.sequence);
        self.put_u32(self.domain);
        body[..self.message.len()].copy_from_slice(&self.message);
        self.message = body;
        // NetFlow counts messages, IPFIX records.
        let counted = match self.format {
            Format::NetFlow9 => 1,
            Format::Ipfix => records as u32,
        };
        self.sequence = self.sequence.wrapping_add(counted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(src: &str, dst: &str) -> Record {
        Record {
            flow: FiveTuple {
                src: src.parse().expect("an address"),
                dst: dst.parse().expect("an address"),
                sport: 1000,
                dport: 2000,
                protocol: 6,
            },
            tos: 0xB8,
            tcp_flags: 0x13,
            packets: 3,
            bytes: 500,
            first: Timestamp(5_002_000_000),
            last: Timestamp(7_000_000_000),
            end: End::Closed,
        }
    }

    fn exporter(format: Format) -> Exporter {
        Exporter {
            format,
            domain: 42,
            most: 400,
            start: Timestamp(5_000_000_000),
            ..Exporter::default()
        }
    }

    /// The sets of a message: number and content.
    fn sets(mut rest: &[u8]) -> Vec<(u16, Vec<u8>)> {
        let mut all = Vec::new();
        while let [a, b, c, d, ..] = *rest {
            let len = usize::from(u16::from_be_bytes([c, d]));
            assert_eq!(len % 4, 0);
            all.push((u16::from_be_bytes([a, b]), rest[4..len].to_vec()));
            rest = &rest[len..];
        }
        all
    }

    #[test]
    fn an_ipfix_message_has_templates_and_records() {
        let mut exporter = exporter(Format::Ipfix);
        let records = [record("10.0.0.1", "10.0.0.2"), record("::1", "::2")];
        let (count, message) = exporter.make(Timestamp(9_000_000_000), &records, true);
        assert_eq!((count, usize::from(message[3])), (2, message.len() & 0xFF));
        assert_eq!(message[..2], [0, 10]);
        assert_eq!(message[4..16], [0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 42]);
        let sets = sets(&message[16..]);
        let numbers: Vec<u16> = sets.iter().map(|(id, _)| *id).collect();
        assert_eq!(numbers, [2, 256, 257]);
        assert_eq!(sets[0].1[..12], [1, 0, 0, 12, 0, 8, 0, 4, 0, 12, 0, 4]);
        // The record is as long as its template says.
        let lens = sets[0].1[4..4 + 12 * 4]
            .chunks(4)
            .map(|field| usize::from(field[3]));
        let len: usize = lens.sum();
        assert_eq!(len, 48);
        let data = &sets[1].1;
        assert_eq!(
            data[..16],
            [10, 0, 0, 1, 10, 0, 0, 2, 3, 232, 7, 208, 6, 0xB8, 0x13, 3]
        );
        assert_eq!(
            data[16..32],
            [0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 1, 244]
        );
        assert_eq!(data[32..40], 5002_u64.to_be_bytes());
        assert_eq!(data[40..48], 7000_u64.to_be_bytes());
        assert_eq!((data.len(), sets[2].1.len()), (48, 72));
        // Records count, templates do not.
        let (_, message) = exporter.make(Timestamp(9_000_000_000), &records[..1], false);
        assert_eq!(message[8..12], [0, 0, 0, 2]);
    }

    #[test]
    fn a_netflow_message_counts_what_is_in_it_and_tells_times_since_the_start() {
        let mut exporter = exporter(Format::NetFlow9);
        let records = [record("10.0.0.1", "10.0.0.2")];
        for (round, templates) in [(0, true), (1, false)] {
            let (_, message) = exporter.make(Timestamp(9_000_000_000), &records, templates);
            let head = [
                0,
                9,
                0,
                3 - 2 * round,
                0,
                0,
                0x0F,
                0xA0,
                0,
                0,
                0,
                9,
                0,
                0,
                0,
                round,
            ];
            assert_eq!(message[..16], head);
            let sets = sets(&message[20..]);
            assert_eq!(sets[0].0, if templates { 0 } else { 256 });
            let data = &sets.last().expect("data").1;
            assert_eq!(data[32..40], [0, 0, 0, 2, 0, 0, 7, 0xD0]);
        }
    }

    #[test]
    fn a_message_is_no_longer_than_it_may_be() {
        let mut exporter = exporter(Format::Ipfix);
        let records = [record("10.0.0.1", "10.0.0.2"), record("::1", "::2")].repeat(20);
        let (mut done, mut messages) = (0, 0);
        while done < records.len() {
            let (count, message) = exporter.make(Timestamp(0), &records[done..], false);
            assert!(count > 0 && message.len() <= 400);
            (done, messages) = (done + count, messages + 1);
        }
        assert_eq!((done, messages), (40, 8));
    }
}
