//! A field of an IP packet by name or place: `ip src/8`, `tcp[13]`, `transp[0:2] & 0xFF0`,
//! `ip{96-103}`.
//!
//! ```text
//! field    = header [name] [place] ["/" bits] ["&" mask]        a name, a place or both
//! header   = "ip" | "ip proto" number | a protocol's name | "tcpudp" | "transp" | "payload"
//! place    = "[" bytes "]" | "{" bits "}"         of the header, or of the named field
//! bytes    = first | first ":" length | first "-" last
//! ```

use crate::args::names::{Names, Space, number};
use crate::args::numbers::parse_uint;
use trammel_packet::headers::ipv4::{Ipv4, protocol};
use trammel_packet::headers::tcp::Tcp;
use trammel_packet::packet::Packet;

/// Fields of the IP header itself.
pub(crate) const IP: u16 = 0;
/// Fields of TCP's or UDP's header.
const TCP_OR_UDP: u16 = 256;
/// Fields of whatever follows the IP header.
const TRANSPORT: u16 = 258;
/// Fields of what TCP or UDP carry.
const PAYLOAD: u16 = 259;

/// Header, name, first bit and bits of each field that has a name; of two names for one, the first
/// is the one to print.
const NAMED: &[(u16, &str, u32, u32)] = &[
    (IP, "vers", 0, 4),
    (IP, "hl", 4, 4),
    (IP, "tos", 8, 8),
    (IP, "dscp", 8, 6),
    (IP, "ecn", 14, 2),
    (IP, "len", 16, 16),
    (IP, "id", 32, 16),
    (IP, "off", 48, 16),
    (IP, "rf", 48, 1),
    (IP, "df", 49, 1),
    (IP, "mf", 50, 1),
    (IP, "fragoff", 51, 13),
    (IP, "ttl", 64, 8),
    (IP, "proto", 72, 8),
    (IP, "sum", 80, 16),
    (IP, "src", 96, 32),
    (IP, "dst", 128, 32),
    (TCP_OR_UDP, "sport", 0, 16),
    (TCP_OR_UDP, "dport", 16, 16),
    (UDP, "sport", 0, 16),
    (UDP, "dport", 16, 16),
    (UDP, "len", 32, 16),
    (UDP, "sum", 48, 16),
    (TCP, "sport", 0, 16),
    (TCP, "dport", 16, 16),
    (TCP, "seq", 32, 32),
    (TCP, "seqno", 32, 32),
    (TCP, "ackno", 64, 32),
    (TCP, "hl", 96, 4),
    (TCP, "flags", 104, 8),
    (TCP, "urg", 106, 1),
    (TCP, "ack", 107, 1),
    (TCP, "psh", 108, 1),
    (TCP, "push", 108, 1),
    (TCP, "rst", 109, 1),
    (TCP, "syn", 110, 1),
    (TCP, "fin", 111, 1),
    (TCP, "win", 112, 16),
    (TCP, "sum", 128, 16),
    (TCP, "urp", 144, 16),
    (ICMP, "type", 0, 8),
    (ICMP, "code", 8, 8),
    (ICMP, "sum", 16, 16),
];

const TCP: u16 = protocol::TCP as u16;
const UDP: u16 = protocol::UDP as u16;
const ICMP: u16 = protocol::ICMP as u16;

const NO_FIELD: &str = "expected 'HEADER [NAME] [{OFFSET:LENGTH}] [/PREFIX] [& MASK]'";
const BAD_PLACE: &str = "bad offset or length in TCP/IP field";
const BAD_MASK: &str = "bad prefix or mask in TCP/IP field";

/// A field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IpField {
    /// The header that it is of: a protocol's number, 0 for IP itself.
    pub header: u16,
    /// Its first bit there.
    pub first_bit: u32,
    /// Its bits.
    pub bits: u32,
}

/// Text that is read from the front.
struct Reader<'a>(&'a str);

impl<'a> Reader<'a> {
    fn skip_space(&mut self) {
        self.0 = self.0.trim_start();
    }

    /// Reads `text`, after white space.
    fn takes(&mut self, text: char) -> bool {
        self.skip_space();
        let rest = self.0.strip_prefix(text);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn word(&mut self) -> &'a str {
        self.skip_space();
        let inner = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let end = self.0.find(|c| !inner(c)).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        word
    }

    fn number(&mut self) -> Option<u32> {
        self.skip_space();
        let end = self.0.find(|c: char| !c.is_ascii_alphanumeric());
        let (digits, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        let number = parse_uint(digits, u64::from(u32::MAX)).ok()?;
        self.0 = rest;
        Some(number as u32)
    }

    /// `first`, `first:length` or `first-last`, up to `end`; first and length.
    fn range(&mut self, end: char) -> Option<(u32, u32)> {
        let first = self.number()?;
        let length = if self.takes(':') {
            self.number()?
        } else if self.takes('-') {
            self.number()?.checked_sub(first)?.checked_add(1)?
        } else {
            1
        };
        (self.takes(end) && length > 0).then_some((first, length))
    }
}

/// The header that the text begins with.
fn header(reader: &mut Reader, names: &dyn Names) -> Option<u16> {
    let word = reader.word();
    if word != "ip" {
        let found = number(names, Space::Protocol, word)?;
        return u16::try_from(found).ok().filter(|_| !word.is_empty());
    }
    let before = reader.0;
    if reader.word() == "proto" {
        let after = reader.0;
        if let Some(number) = reader.number() {
            return u16::try_from(number).ok();
        }
        reader.0 = after;
    }
    reader.0 = before;
    Some(IP)
}

impl IpField {
    /// Reads the whole of `text`.
    pub(crate) fn parse(text: &str, names: &dyn Names) -> Result<IpField, String> {
        let reader = &mut Reader(text);
        // Ports alone are TCP's or UDP's.
        let header = match reader.0.trim_start() {
            rest if rest.starts_with("sport") || rest.starts_with("dport") => TCP_OR_UDP,
            _ => header(reader, names).ok_or(NO_FIELD)?,
        };
        let before = reader.0;
        let name = reader.word();
        let named = NAMED
            .iter()
            .find(|(of, other, ..)| *of == header && *other == name);
        if named.is_none() {
            reader.0 = before;
        }
        let named = named.map(|(_, _, first_bit, bits)| (*first_bit, *bits));
        let place = if reader.takes('[') {
            let (first, length) = reader.range(']').ok_or(BAD_PLACE)?;
            Some((
                first.checked_mul(8).ok_or(BAD_PLACE)?,
                length.checked_mul(8).ok_or(BAD_PLACE)?,
            ))
        } else if reader.takes('{') {
            Some(reader.range('}').ok_or(BAD_PLACE)?)
        } else {
            None
        };
        let (mut first_bit, mut bits) = match (named, place) {
            (None, None) => return Err(NO_FIELD.to_owned()),
            (Some(named), None) => named,
            (None, Some(place)) => place,
            (Some((start, all)), Some((first, bits))) => {
                let fits = first.checked_add(bits).is_some_and(|end| end <= all);
                if !fits {
                    return Err(BAD_PLACE.to_owned());
                }
                (start + first, bits)
            }
        };
        if first_bit.checked_add(bits).is_none_or(|end| end > 1 << 19) {
            return Err(BAD_PLACE.to_owned());
        }
        if reader.takes('/') {
            bits = reader
                .number()
                .filter(|n| *n > 0 && *n <= bits)
                .ok_or(BAD_MASK)?;
        }
        if reader.takes('&') {
            let mask = reader.number().filter(|mask| *mask > 0).ok_or(BAD_MASK)?;
            let (low, ones) = (mask.trailing_zeros(), mask.count_ones());
            let in_one_run = u64::from(mask) >> low == (1 << ones) - 1;
            if !in_one_run || low + ones > bits {
                return Err(BAD_MASK.to_owned());
            }
            (first_bit, bits) = (first_bit + bits - (low + ones), ones);
        }
        reader.skip_space();
        if !reader.0.is_empty() {
            return Err("garbage after field specification".to_owned());
        }
        Ok(IpField {
            header,
            first_bit,
            bits,
        })
    }

    /// Its header's name: `ip`, `tcp`, `ip proto 99`.
    pub(crate) fn header_name(&self) -> String {
        if self.header == IP {
            return "ip".to_owned();
        }
        let name = crate::args::well_known::name(Space::Protocol, u32::from(self.header));
        name.map_or_else(|| format!("ip proto {}", self.header), str::to_owned)
    }

    /// For people, so that it reads back as the same.
    pub(crate) fn unparse(&self) -> String {
        let (first, bits) = (self.first_bit, self.bits);
        let header = self.header_name();
        let find = |first, bits| {
            let mut all = NAMED.iter();
            let found = all.find(|(of, _, at, n)| (*of, *at, *n) == (self.header, first, bits));
            found.map(|(_, name, ..)| *name)
        };
        if let Some(name) = find(first, bits) {
            return format!("{header} {name}");
        }
        // Bits of a named field of 8, 16 or 32.
        for whole in [8, 16, 32] {
            let start = first / whole * whole;
            if start != (first + bits - 1) / whole * whole {
                continue;
            }
            if let Some(name) = find(start, whole) {
                let name = format!("{header} {name}");
                return match first - start {
                    0 => format!("{name}/{bits}"),
                    first => format!("{name}{}", place(first, bits)),
                };
            }
        }
        format!("{header}{}", place(first, bits))
    }

    /// Where the header lies in a packet whose network header is marked; none where the packet has
    /// none.
    pub(crate) fn offset(&self, packet: &Packet) -> Option<usize> {
        let network = usize::try_from(packet.network_header_at()?).ok()?;
        if self.header == IP {
            return Some(network);
        }
        let ip = Ipv4::read(packet.network_header())?;
        let is_port_protocol = ip.protocol == protocol::TCP || ip.protocol == protocol::UDP;
        let transport = usize::try_from(packet.transport_header_at()?).ok()?;
        let fits = match self.header {
            TRANSPORT => true,
            TCP_OR_UDP | PAYLOAD => is_port_protocol,
            header => header == u16::from(ip.protocol),
        };
        if !fits || !ip.is_first_fragment() {
            return None;
        }
        match (self.header, ip.protocol) {
            (PAYLOAD, protocol::TCP) => {
                let tcp = Tcp::read(packet.transport_header())?;
                Some(transport + tcp.header_len())
            }
            (PAYLOAD, _) => Some(transport + 8),
            _ => Some(transport),
        }
    }
}

fn place(first: u32, bits: u32) -> String {
    match (first % 8, bits) {
        (0, 8) => format!("[{}]", first / 8),
        (0, bits) if bits % 8 == 0 => format!("[{}:{}]", first / 8, bits / 8),
        (_, 1) => format!("{{{first}}}"),
        _ => format!("{{{first}:{bits}}}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::names::BuiltIn;

    fn read(text: &str) -> Result<(u16, u32, u32), String> {
        IpField::parse(text, &BuiltIn).map(|field| (field.header, field.first_bit, field.bits))
    }

    #[test]
    fn one_field_has_many_descriptions() {
        for text in [
            "ip src/8",
            "ip src & 0xFF000000",
            "ip[12]",
            "ip[12:1]",
            "ip{96:8}",
            "ip{96-103}",
            " ip [ 12 - 12 ]",
            "ip src[0]",
        ] {
            assert_eq!(read(text), Ok((0, 96, 8)), "{text}");
        }
        assert_eq!(read("sport"), Ok((256, 0, 16)));
        assert_eq!(read("tcp flags & 0x12"), Err(BAD_MASK.into()));
        assert_eq!(read("tcp flags & 2"), Ok((6, 110, 1)));
        assert_eq!(read("ip proto 99 [4:2]"), Ok((99, 32, 16)));
        assert_eq!(read("ip proto"), Ok((0, 72, 8)));
        assert_eq!(read("payload[0-3]"), Ok((259, 0, 32)));
    }

    #[test]
    fn what_is_no_field_is_refused() {
        for text in [
            "",
            "ip",
            "nonsense",
            "ip[",
            "ip[4:0]",
            "ip[4-3]",
            "ip src[4]",
            "ip src/33",
            "ip src/0",
            "ip src & 0",
            "ip id x",
            "ip[4294967295:4294967295]",
            "ip{4294967295}",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_printed_reads_back() {
        let all = [
            "ip src/8",
            "ip src{4:3}",
            "tcp syn",
            "ip[20:2]",
            "udp{3:4}",
            "ip proto 99[4]",
            "transp{5}",
            "tcp seq",
            "icmp type/3",
        ];
        for text in all {
            let field = IpField::parse(text, &BuiltIn).expect(text);
            assert_eq!(
                IpField::parse(&field.unparse(), &BuiltIn),
                Ok(field),
                "{text} as {}",
                field.unparse()
            );
        }
        assert_eq!(
            IpField::parse("ip[12]", &BuiltIn).map(|f| f.unparse()),
            Ok("ip src/8".into())
        );
        assert_eq!(
            IpField::parse("tcp{110}", &BuiltIn).map(|f| f.unparse()),
            Ok("tcp syn".into())
        );
    }
}
