//! From a dump to packets.

use super::VERSION;
use super::builder::Builder;
pub use super::builder::FlowId;
use super::fields::Fields;
use super::row::{Row, Value, Width};
use super::scan::{Scan, spans, words};
use super::text::protocol_of;
use std::borrow::Cow;
use std::io::{self, BufRead, Read};
use trammel_packet::headers::ipv4::protocol;
use trammel_packet::packet::Packet;
use trammel_packet::pool::{Handle, Pool};
use trammel_packet::timestamp::Timestamp;

/// The longest record or line that is read, in bytes.
const RECORD_BYTES_MAX: u64 = 1 << 24;

/// What a reader has to say of a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The line, or in a binary dump the record, from 1.
    pub number: u64,
    /// Whether `number` counts records.
    pub is_record: bool,
    /// Whether it is an error, not a warning.
    pub is_error: bool,
    /// What is wrong.
    pub text: String,
}

/// How a dump is read.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The protocol of packets whose line does not tell it.
    pub protocol: u8,
    /// Whether checksums are computed, and packets have all bytes of their IP length.
    pub checksum: bool,
}

impl Default for Options {
    /// As FromIPSummaryDump without arguments.
    fn default() -> Options {
        Options {
            protocol: protocol::TCP,
            checksum: false,
        }
    }
}

/// Reads a dump: keeps what its `!` lines say, makes packets of the others.
#[derive(Debug)]
pub struct Reader {
    options: Options,
    fields: Fields,
    /// Places in `fields`, in the order in which they are put into a packet.
    order: Vec<usize>,
    flow: Option<FlowId>,
    minor_version: u32,
    is_binary: bool,
    has_complained: bool,
    number: u64,
    /// The first line, which was read to see whether this is a dump.
    first: Option<Vec<u8>>,
    complaints: Vec<Complaint>,
    builder: Builder,
    line: Vec<u8>,
    /// Where the words of a line are.
    words: Vec<(u32, u32)>,
}

impl Reader {
    /// A reader before the front of a dump.
    pub fn new(options: Options) -> Reader {
        Reader {
            options,
            fields: Fields::default(),
            order: Vec::new(),
            flow: None,
            minor_version: VERSION.1,
            is_binary: false,
            has_complained: false,
            number: 0,
            first: None,
            complaints: Vec::new(),
            builder: Builder::default(),
            line: Vec::new(),
            words: Vec::new(),
        }
    }

    /// Sets the fields of lines until the dump tells them.
    pub fn set_fields(&mut self, names: &str) {
        let (fields, unknown) = Fields::parse(names);
        for name in unknown {
            self.complain(false, format!("unknown content type '{name}'"));
        }
        self.fields = fields;
        for row in &mut self.fields.rows {
            if row.put.is_none() && row.name != super::table::NONE.name {
                let text = format!("unknown content type '{}'", row.name);
                *row = &super::table::NONE;
                self.complaints.push(Complaint {
                    number: self.number,
                    is_record: self.is_binary,
                    is_error: false,
                    text,
                });
            }
        }
        if self.fields.is_empty() {
            self.complain(true, "no contents specified".to_owned());
        }
        self.order = (0..self.fields.len()).collect();
        self.order
            .sort_by_key(|place| self.fields.rows[*place].order);
    }

    /// Sets the addresses and ports of lines that do not tell them: `SRC SPORT DST DPORT [PROTO]`,
    /// `-` for what is not given.
    pub fn set_flow(&mut self, text: &str) {
        let words: Vec<&[u8]> = words(text.as_bytes()).collect();
        let Some(flow) = flow_of(&words) else {
            self.flow = None;
            return self.complain(true, "bad !flowid specification".to_owned());
        };
        self.flow = Some(flow);
        if let Some(word) = words.get(4) {
            self.set_protocol(word, "!flowid");
        }
    }

    fn set_protocol(&mut self, word: &[u8], kind: &str) {
        match protocol_of(word).or_else(|| protocol_named(word)) {
            Some(protocol) => self.options.protocol = protocol,
            None => self.complain(true, format!("bad protocol in {kind}")),
        }
    }

    /// What there is to say since the last call.
    pub fn take_complaints(&mut self) -> Vec<Complaint> {
        std::mem::take(&mut self.complaints)
    }

    /// Whether there is anything to say.
    #[inline]
    pub fn has_complaints(&self) -> bool {
        !self.complaints.is_empty()
    }

    /// Lines or records read so far.
    pub fn number(&self) -> u64 {
        self.number
    }

    fn complain(&mut self, is_error: bool, text: String) {
        let (number, is_record) = (self.number, self.is_binary);
        self.complaints.push(Complaint {
            number,
            is_record,
            is_error,
            text,
        });
    }

    /// Reads the first line, and warns where it is not a dump's; whether there is one.
    pub fn begin(&mut self, from: &mut impl BufRead) -> io::Result<bool> {
        if !self.read_line(from)? {
            return Ok(false);
        }
        let line = std::mem::take(&mut self.line);
        if let Some(rest) = line.strip_prefix(b"!IPSummaryDump") {
            let mut scan = Scan(rest.trim_ascii_start());
            let major = scan.decimal();
            let minor = if scan.eat(b".") { scan.decimal() } else { None };
            if let (Some(major), Some(minor)) = (major, minor) {
                let is_known = major == u64::from(VERSION.0) && minor <= u64::from(VERSION.1);
                if is_known {
                    self.minor_version = minor as u32;
                } else {
                    let text = format!("unexpected IPSummaryDump version {major}.{minor}");
                    self.complain(false, text);
                }
            }
            return Ok(true);
        }
        let words: [&[u8]; 5] = [b"!creator", b"!data", b"!contents", b"!proto", b"!flowid"];
        let is_dump = words.iter().any(|word| line.starts_with(word));
        if !is_dump && self.fields.is_empty() {
            self.complain(
                false,
                "missing banner line; is this an IP summary dump?".to_owned(),
            );
        }
        self.first = Some(line);
        Ok(true)
    }

    /// The next packet; nothing at the end of the dump. A full pool is an error, `OutOfMemory`.
    pub fn next(&mut self, from: &mut impl BufRead, pool: &mut Pool) -> io::Result<Option<Handle>> {
        while let Some(is_packet) = self.read_record(from)? {
            let line = std::mem::take(&mut self.line);
            let is_made = if is_packet {
                self.binary(&line)
            } else {
                self.text(&line)
            };
            self.line = line;
            if is_made {
                // The packet is lost; the next call goes on with the next line.
                let handle = pool.alloc().ok_or(io::ErrorKind::OutOfMemory)?;
                self.builder
                    .finish(&mut pool[&handle], self.options.checksum);
                return Ok(Some(handle));
            }
        }
        Ok(None)
    }

    /// Takes a line of text: `true` where it tells of a packet, which is then in `packet`.
    pub fn read_line_into(&mut self, line: &[u8], packet: &mut Packet) -> bool {
        self.number += 1;
        let is_made = self.text(line);
        if is_made {
            self.builder.finish(packet, self.options.checksum);
        }
        is_made
    }

    /// Reads a line into `line`, without its end.
    fn read_line(&mut self, from: &mut impl BufRead) -> io::Result<bool> {
        if let Some(first) = self.first.take() {
            self.line = first;
            return Ok(true);
        }
        self.line.clear();
        let read = from
            .by_ref()
            .take(RECORD_BYTES_MAX)
            .read_until(b'\n', &mut self.line)?;
        self.number += u64::from(read > 0);
        while matches!(self.line.last(), Some(b'\n' | b'\r')) {
            self.line.pop();
        }
        Ok(read > 0)
    }

    /// Reads a line or record: whether it is a record of a packet; nothing at the end.
    fn read_record(&mut self, from: &mut impl BufRead) -> io::Result<Option<bool>> {
        if !self.is_binary {
            return Ok(self.read_line(from)?.then_some(false));
        }
        self.line.clear();
        from.by_ref().take(4).read_to_end(&mut self.line)?;
        let Ok(head) = <[u8; 4]>::try_from(&self.line[..]) else {
            return Ok(None);
        };
        self.number += 1;
        let head = u32::from_be_bytes(head);
        let (is_packet, len) = (head >> 31 == 0, u64::from(head & 0x7FFF_FFFF));
        if len < 4 {
            self.complain(true, "binary record too short".to_owned());
            return Ok(None);
        }
        self.line.clear();
        from.by_ref()
            .take((len - 4).min(RECORD_BYTES_MAX))
            .read_to_end(&mut self.line)?;
        if (self.line.len() as u64) < len - 4 {
            return Ok(None);
        }
        if !is_packet {
            while matches!(self.line.last(), Some(b'\n' | b'\r' | 0)) {
                self.line.pop();
            }
        }
        Ok(Some(is_packet))
    }

    /// Takes a line: whether it made a packet.
    fn text(&mut self, line: &[u8]) -> bool {
        match line.first() {
            None | Some(b'#') => return false,
            Some(b'!') => {
                self.command(line);
                return false;
            }
            _ => {}
        }
        self.builder
            .begin(self.options.protocol, self.flow, self.minor_version);
        spans(line, self.fields.len(), &mut self.words);
        let mut put = 0;
        for place in &self.order {
            let row = self.fields.rows[*place];
            let Some((from, to)) = self.words.get(*place) else {
                continue;
            };
            let text = &line[*from as usize..*to as usize];
            if text == b"-" {
                continue;
            }
            put += usize::from(put_text(row, text, &mut self.builder));
        }
        self.has_any(put, line.trim_ascii().is_empty())
    }

    /// Takes the fields of a binary record: whether they made a packet.
    fn binary(&mut self, record: &[u8]) -> bool {
        self.builder
            .begin(self.options.protocol, self.flow, self.minor_version);
        let mut rest = record;
        let mut values = Vec::with_capacity(self.fields.len());
        for row in &self.fields.rows {
            values.push(binary_value(row, &mut rest));
        }
        let mut put = 0;
        for place in &self.order {
            if let (Some(value), Some(set)) = (&values[*place], self.fields.rows[*place].put) {
                set(&mut self.builder, value);
                put += 1;
            }
        }
        self.has_any(put, false)
    }

    /// Complains of the first line without a value.
    fn has_any(&mut self, put: usize, is_blank: bool) -> bool {
        if put == 0 && !is_blank && !self.has_complained {
            self.has_complained = true;
            let what = if self.fields.is_empty() {
                "no '!data' provided"
            } else {
                "packet parse error"
            };
            self.complain(true, what.to_owned());
        }
        put > 0
    }

    /// Obeys a line that begins with `!`; others than these are comments.
    fn command(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let (command, rest) = text
            .split_once(|byte: char| byte.is_ascii_whitespace())
            .unwrap_or((&text, ""));
        match command {
            "!data" | "!contents" => self.set_fields(rest),
            "!flowid" => self.set_flow(rest),
            "!proto" => {
                let mut words = words(rest.as_bytes());
                match (words.next(), words.next()) {
                    (Some(word), None) => self.set_protocol(word, "!proto"),
                    _ => self.complain(true, "bad !proto".to_owned()),
                }
            }
            "!binary" => {
                if !rest.trim().is_empty() {
                    self.complain(true, "bad !binary specification".to_owned());
                }
                self.is_binary = true;
                self.number = 0;
            }
            _ => {}
        }
    }
}

fn put_text(row: &'static Row, text: &[u8], builder: &mut Builder) -> bool {
    match ((row.parse)(text, row, builder), row.put) {
        (Some(value), Some(put)) => {
            put(builder, &value);
            true
        }
        _ => false,
    }
}

/// Takes a value from the front of `rest`.
fn binary_value(row: &Row, rest: &mut &[u8]) -> Option<Value<'static>> {
    let len = match row.width {
        Width::Bytes(len) => len,
        Width::TimeMicro | Width::TimeNano => 8,
        Width::Counted => {
            let (len, after) = rest.split_first()?;
            *rest = after;
            usize::from(*len)
        }
        Width::Never => rest.len(),
    };
    let Some((bytes, after)) = rest.split_at_checked(len) else {
        // What follows in a record that is cut short cannot be known.
        *rest = &[];
        return None;
    };
    *rest = after;
    let number = |bytes: &[u8]| {
        bytes
            .iter()
            .fold(0_u64, |number, byte| number << 8 | u64::from(*byte))
    };
    Some(match row.width {
        Width::Never | Width::Bytes(0) => return None,
        Width::Counted => Value::Bytes(Cow::Owned(bytes.to_vec())),
        Width::TimeMicro | Width::TimeNano => {
            let (first, second) = bytes.split_at(4);
            let (first, second) = (number(first) as i64, number(second) as i64);
            Value::Time(match row.width {
                Width::TimeMicro => Timestamp::new(first, second * 1000),
                _ => Timestamp::new(second, first),
            })
        }
        Width::Bytes(6) => Value::Ether(bytes.try_into().ok()?),
        Width::Bytes(_) if row.name == "ip_frag" => {
            let builder = Builder::default();
            return (row.parse)(bytes, row, &builder);
        }
        Width::Bytes(_) => Value::Number(number(bytes)),
    })
}

fn flow_of(words: &[&[u8]]) -> Option<FlowId> {
    let [src, sport, dst, dport, ..] = words else {
        return None;
    };
    let address = |word: &[u8]| {
        let mut scan = Scan(word);
        if word == b"-" {
            Some([0; 4])
        } else {
            scan.address().filter(|_| scan.is_done())
        }
    };
    let port = |word: &[u8]| {
        let mut scan = Scan(word);
        let number = if word == b"-" {
            0
        } else {
            scan.number().filter(|_| scan.is_done())?
        };
        u16::try_from(number).ok()
    };
    Some(FlowId {
        src: address(src)?,
        sport: port(sport)?,
        dst: address(dst)?,
        dport: port(dport)?,
    })
}

fn protocol_named(word: &[u8]) -> Option<u8> {
    Some(match word {
        b"icmp" => protocol::ICMP,
        b"igmp" => protocol::IGMP,
        b"ipip" => protocol::IPIP,
        b"tcp" => protocol::TCP,
        b"udp" => protocol::UDP,
        b"dccp" => protocol::DCCP,
        b"gre" => protocol::GRE,
        b"esp" => protocol::ESP,
        b"ah" => protocol::AH,
        b"sctp" => protocol::SCTP,
        b"udplite" => protocol::UDPLITE,
        _ => return None,
    })
}
