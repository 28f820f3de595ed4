//! The table of fields: where each is in a packet, how it is written and read.

use super::row::{IP, Row, Value, Width};
use super::text::{
    parse_direction, parse_ecn, parse_ether, parse_ethertype, parse_flags, parse_fragment,
    parse_icmp_code, parse_icmp_type, parse_ip, parse_none, parse_number, parse_protocol,
    parse_quoted, parse_time, print_direction, print_ecn, print_ether, print_ethertype,
    print_flags, print_fragment, print_hex, print_icmp_code, print_icmp_type, print_ip,
    print_letter, print_letters, print_number, print_protocol, print_quoted, print_time,
};
use super::view::{Missing, View};
use super::{ip_options, md5, tcp_options};
use std::borrow::Cow;
use trammel_packet::anno;
use trammel_packet::headers::icmp::{kind, unreachable};
use trammel_packet::headers::ipv4::{self, ecn, protocol};
use trammel_packet::timestamp::Timestamp;

const ANNO: u16 = 100;
const LINK: u16 = 200;
const TRANSPORT: u16 = 400;
const PAYLOAD: u16 = 500;

type Got<'a> = Result<Value<'a>, Missing>;

/// A `Result` as all rows give one.
#[allow(clippy::unnecessary_wraps)]
fn number<'a>(value: impl Into<u64>) -> Got<'a> {
    Ok(Value::Number(value.into()))
}

/// One byte of a header that was asked for with enough bytes.
fn byte<'a>(header: Result<&[u8], Missing>, at: usize) -> Got<'a> {
    number(header?[at])
}

fn word<'a>(header: Result<&[u8], Missing>, at: usize) -> Got<'a> {
    let header = header?;
    number(u16::from_be_bytes([header[at], header[at + 1]]))
}

fn long<'a>(header: Result<&[u8], Missing>, at: usize) -> Got<'a> {
    let bytes = &header?[at..at + 4];
    number(
        bytes
            .iter()
            .fold(0_u32, |word, byte| word << 8 | u32::from(*byte)),
    )
}

fn ether<'a>(view: &View<'_>, at: usize) -> Got<'a> {
    let bytes = &view.ether()?[at..at + 6];
    Ok(Value::Ether(
        bytes.try_into().map_err(|_| Missing::Ethernet)?,
    ))
}

fn bytes(value: Result<&[u8], Missing>) -> Got<'_> {
    value.map(|bytes| Value::Bytes(Cow::Borrowed(bytes)))
}

fn digest<'a>(view: &View<'_>) -> Got<'a> {
    Ok(Value::Bytes(Cow::Owned(
        md5::digest(view.payload()?).to_vec(),
    )))
}

#[allow(clippy::unnecessary_wraps)]
fn time<'a>(view: &View<'_>) -> Got<'a> {
    Ok(Value::Time(view.packet.timestamp()))
}

#[allow(clippy::unnecessary_wraps)]
fn first_time<'a>(view: &View<'_>) -> Got<'a> {
    let ns = i64::from_ne_bytes(view.packet.anno_bytes(anno::FIRST_TIMESTAMP));
    Ok(Value::Time(Timestamp(ns)))
}

fn as_time(value: &Value<'_>) -> Timestamp {
    match value {
        Value::Time(time) => *time,
        _ => Timestamp::ZERO,
    }
}

fn as_ether(value: &Value<'_>) -> [u8; 6] {
    match value {
        Value::Ether(address) => *address,
        _ => [0; 6],
    }
}

fn as_bytes<'a>(value: &'a Value<'_>) -> &'a [u8] {
    match value {
        Value::Bytes(bytes) => bytes,
        _ => &[],
    }
}

fn be16(value: &Value<'_>) -> [u8; 2] {
    (value.number() as u16).to_be_bytes()
}

fn be32(value: &Value<'_>) -> [u8; 4] {
    (value.number() as u32).to_be_bytes()
}

const TCP: &[u8] = &[protocol::TCP];
const UDP: &[u8] = &[protocol::UDP];

/// `name [aliases] order width; get; print; parse; put` a row.
macro_rules! table {
    ($(
        $name:literal [$($alias:literal)*] $order:expr, $width:expr;
        $get:expr; $print:expr; $parse:expr; $put:expr;
    )*) => {
        &[$(Row {
            name: $name,
            aliases: &[$($alias),*],
            order: $order,
            width: $width,
            get: $get,
            print: $print,
            parse: $parse,
            put: $put,
        }),*]
    };
}

/// What stands for a name that is not known.
pub(super) static NONE: Row = Row {
    name: "none",
    aliases: &[],
    order: ANNO,
    width: Width::Bytes(0),
    get: |_| Err(Missing::NotOfIt),
    print: print_number,
    parse: parse_none,
    put: None,
};

#[rustfmt::skip]
pub(super) static FIELDS: &[Row] = table! {
    "timestamp" ["ts" "utimestamp"] ANNO, Width::TimeMicro;
        |v| time(v); print_time; parse_time; Some(|b, v| b.notes.timestamp = as_time(v));
    "ntimestamp" [] ANNO, Width::TimeNano;
        |v| time(v); print_time; parse_time; Some(|b, v| b.notes.timestamp = as_time(v));
    "ts_sec" ["sec"] ANNO, Width::Bytes(4);
        |v| number(v.packet.timestamp().secs() as u32); print_number; parse_number;
        Some(|b, v| {
            b.notes.timestamp = Timestamp::new(v.number() as i64, b.notes.timestamp.subsec_ns());
        });
    "ts_usec" ["usec"] ANNO, Width::Bytes(4);
        |v| number(v.packet.timestamp().subsec_ns() as u64 / 1000); print_number; parse_number;
        Some(|b, v| {
            b.notes.timestamp = Timestamp::new(b.notes.timestamp.secs(), v.number() as i64 * 1000);
        });
    "ts_usec1" ["usec1"] ANNO, Width::Bytes(8);
        |v| number((v.packet.timestamp().0 / 1000) as u64); print_number; parse_number;
        Some(|b, v| b.notes.timestamp = Timestamp((v.number() as i64).saturating_mul(1000)));
    "first_timestamp" ["first_ts" "first_utimestamp"] ANNO, Width::TimeMicro;
        |v| first_time(v); print_time; parse_time;
        Some(|b, v| b.notes.first_timestamp = Some(as_time(v)));
    "first_ntimestamp" [] ANNO, Width::TimeNano;
        |v| first_time(v); print_time; parse_time;
        Some(|b, v| b.notes.first_timestamp = Some(as_time(v)));
    "count" ["pkt_count" "packet_count"] ANNO, Width::Bytes(4);
        |v| number(v.packet.anno_u32(anno::EXTRA_PACKETS).wrapping_add(1));
        print_number; parse_number;
        Some(|b, v| b.notes.extra_packets = Some((v.number() as u32).saturating_sub(1)));
    "link" [] ANNO, Width::Bytes(1);
        |v| number(v.packet.anno_u8(anno::PAINT)); print_number; parse_direction;
        Some(|b, v| b.notes.paint = Some(v.number() as u8));
    "paint" [] ANNO, Width::Bytes(1);
        |v| number(v.packet.anno_u8(anno::PAINT)); print_number; parse_direction;
        Some(|b, v| b.notes.paint = Some(v.number() as u8));
    "direction" [] ANNO, Width::Bytes(1);
        |v| number(v.packet.anno_u8(anno::PAINT)); print_direction; parse_direction;
        Some(|b, v| b.notes.paint = Some(v.number() as u8));
    "aggregate" ["agg"] ANNO, Width::Bytes(4);
        |v| number(v.packet.anno_u32(anno::AGGREGATE)); print_number; parse_number;
        Some(|b, v| b.notes.aggregate = Some(v.number() as u32));
    "wire_len" ["wire_length"] ANNO, Width::Bytes(4);
        |v| number(v.packet.len() as u32); print_number; parse_number;
        Some(|b, v| b.want_len = v.number() as usize);

    "eth_src" ["ether_src"] LINK, Width::Bytes(6);
        |v| ether(v, 6); print_ether; parse_ether;
        Some(|b, v| if let Some(ether) = b.ether() { ether.src = as_ether(v); });
    "eth_dst" ["ether_dst"] LINK, Width::Bytes(6);
        |v| ether(v, 0); print_ether; parse_ether;
        Some(|b, v| if let Some(ether) = b.ether() { ether.dst = as_ether(v); });
    "eth_type" ["ether_type"] LINK, Width::Bytes(2);
        |v| word(v.ether(), 12); print_ethertype; parse_ethertype;
        Some(|b, v| b.set_ethertype(v.number() as u16));

    "ip_src" [] IP, Width::Bytes(4);
        |v| long(v.ip(16), 12); print_ip; parse_ip; Some(|b, v| b.put_ip(12, &be32(v)));
    "ip_dst" [] IP, Width::Bytes(4);
        |v| long(v.ip(20), 16); print_ip; parse_ip; Some(|b, v| b.put_ip(16, &be32(v)));
    "ip_tos" [] IP, Width::Bytes(1);
        |v| byte(v.ip(2), 1); print_number; parse_number;
        Some(|b, v| b.put_tos(0xFF, v.number() as u8));
    "ip_dscp" [] IP, Width::Bytes(1);
        |v| number(v.ip(2)?[1] >> 2); print_number; parse_number;
        Some(|b, v| b.put_tos(!ecn::MASK, (v.number() as u8) << 2));
    "ip_ecn" [] IP, Width::Bytes(1);
        |v| number(v.ip(2)?[1] & ecn::MASK); print_ecn; parse_ecn;
        Some(|b, v| b.put_tos(ecn::MASK, v.number() as u8));
    "ip_ttl" [] IP, Width::Bytes(1);
        |v| byte(v.ip(9), 8); print_number; parse_number;
        Some(|b, v| b.put_ip(8, &[v.number() as u8]));
    "ip_frag" [] IP - 2, Width::Bytes(1);
        |v| number(fragment_letter(v.ip(8)?)); print_letter; parse_fragment;
        Some(|b, v| b.put_ip(6, &be16(v)));
    "ip_fragoff" [] IP - 1, Width::Bytes(2);
        |v| word(v.ip(8), 6); print_fragment; parse_fragment; Some(|b, v| b.put_ip(6, &be16(v)));
    "ip_id" [] IP, Width::Bytes(2);
        |v| word(v.ip(6), 4); print_number; parse_number; Some(|b, v| b.put_ip(4, &be16(v)));
    "ip_sum" [] IP + 2, Width::Bytes(2);
        |v| word(v.ip(12), 10); print_number; parse_number; Some(|b, v| b.put_ip(10, &be16(v)));
    "ip_proto" ["ip_p"] IP, Width::Bytes(1);
        |v| byte(v.ip(10), 9); print_protocol; parse_protocol;
        Some(|b, v| b.put_ip(9, &[v.number() as u8]));
    "ip_hl" [] IP - 1, Width::Bytes(1);
        |v| number((v.ip(1)?[0] & 15) * 4); print_number; parse_number;
        Some(|b, v| b.put_ip_header_len(v.number()));
    "ip_len" ["length"] IP + 1, Width::Bytes(4);
        |v| number(v.ip_len()); print_number; parse_number; Some(|b, v| b.put_ip_len(v.number()));
    // What was captured follows from the other fields: it is read and not used.
    "ip_capture_len" [] PAYLOAD + 2, Width::Bytes(4);
        |v| number(v.capture_len()); print_number; parse_number; Some(|b, _| b.put_ip(0, &[]));
    "ip_opt" [] IP, Width::Counted;
        |v| bytes(v.ip_options()); ip_options::print; ip_options::parse;
        Some(|b, v| b.put_ip_options(as_bytes(v)));
    "sport" [] TRANSPORT, Width::Bytes(2);
        |v| word(v.ports(2), 0); print_number; parse_number;
        Some(|b, v| b.put_port(0, v.number() as u16));
    "dport" [] TRANSPORT, Width::Bytes(2);
        |v| word(v.ports(4), 2); print_number; parse_number;
        Some(|b, v| b.put_port(2, v.number() as u16));

    "tcp_seq" ["tcp_seqno"] TRANSPORT, Width::Bytes(4);
        |v| long(v.upper(TCP, 8), 4); print_number; parse_number;
        Some(|b, v| b.put_tcp(4, &be32(v)));
    "tcp_ack" ["tcp_ackno"] TRANSPORT, Width::Bytes(4);
        |v| long(v.upper(TCP, 12), 8); print_number; parse_number;
        Some(|b, v| b.put_tcp(8, &be32(v)));
    "tcp_off" [] TRANSPORT - 1, Width::Bytes(1);
        |v| number((v.upper(TCP, 13)?[12] >> 4) * 4); print_number; parse_number;
        Some(|b, v| b.put_tcp_header_len(v.number()));
    // In a binary record the ninth flag is lost.
    "tcp_flags" [] TRANSPORT, Width::Bytes(1);
        |v| {
            let header = v.upper(TCP, 14)?;
            number(u16::from_be_bytes([header[12] & 15, header[13]]))
        };
        print_flags; parse_flags; Some(|b, v| b.put_tcp_flags(v.number() as u16));
    "tcp_window" ["tcp_win"] TRANSPORT, Width::Bytes(2);
        |v| word(v.upper(TCP, 16), 14); print_number; parse_number;
        Some(|b, v| b.put_tcp(14, &be16(v)));
    "tcp_urp" [] TRANSPORT, Width::Bytes(2);
        |v| word(v.upper(TCP, 20), 18); print_number; parse_number;
        Some(|b, v| b.put_tcp(18, &be16(v)));
    "tcp_opt" [] TRANSPORT + 3, Width::Counted;
        |v| bytes(v.tcp_options()); tcp_options::print; tcp_options::parse;
        Some(|b, v| b.put_tcp_options(as_bytes(v)));
    "tcp_ntopt" [] TRANSPORT + 2, Width::Counted;
        |v| bytes(v.tcp_options()); tcp_options::print_not_time; tcp_options::parse;
        Some(|b, v| b.put_tcp_options(as_bytes(v)));
    "tcp_sack" [] TRANSPORT + 1, Width::Counted;
        |v| bytes(v.tcp_options()); tcp_options::print_sack; tcp_options::parse;
        Some(|b, v| b.put_tcp_options(as_bytes(v)));

    "udp_len" [] TRANSPORT, Width::Bytes(4);
        |v| word(v.upper(UDP, 6), 4); print_number; parse_number;
        Some(|b, v| b.put_udp_len(v.number() as u16));

    "icmp_type" [] TRANSPORT, Width::Bytes(1);
        |v| byte(v.icmp(1), 0); print_number; parse_icmp_type;
        Some(|b, v| b.put_icmp_type(v.number() as u8));
    "icmp_code" [] TRANSPORT + 1, Width::Bytes(1);
        |v| byte(v.icmp(2), 1); print_number; parse_icmp_code;
        Some(|b, v| b.put_icmp_code(v.number() as u8));
    "icmp_type_name" [] TRANSPORT, Width::Bytes(1);
        |v| byte(v.icmp(1), 0); print_icmp_type; parse_icmp_type;
        Some(|b, v| b.put_icmp_type(v.number() as u8));
    "icmp_code_name" [] TRANSPORT + 1, Width::Bytes(1);
        |v| byte(v.icmp(2), 1); print_icmp_code; parse_icmp_code;
        Some(|b, v| b.put_icmp_code(v.number() as u8));
    "icmp_flowid" [] TRANSPORT + 2, Width::Bytes(2);
        |v| word(v.icmp_sequenced(6), 4); print_number; parse_number;
        Some(|b, v| b.put_icmp_flow(4, v.number() as u16));
    "icmp_seq" [] TRANSPORT + 2, Width::Bytes(2);
        |v| word(v.icmp_sequenced(8), 6); print_number; parse_number;
        Some(|b, v| b.put_icmp_flow(6, v.number() as u16));
    "icmp_nextmtu" [] TRANSPORT + 2, Width::Bytes(2);
        |v| word(next_mtu(v), 6); print_number; parse_number;
        Some(|b, v| b.put_icmp_next_mtu(v.number() as u16));

    "payload_len" ["payload_length"] PAYLOAD + 1, Width::Bytes(4);
        |v| number(v.payload_len()?); print_number; parse_number;
        Some(|b, v| b.put_payload_len(v.number()));
    "payload" [] PAYLOAD, Width::Never;
        |v| bytes(v.payload()); print_quoted; parse_quoted; Some(|b, v| b.put_payload(as_bytes(v)));
    "payload_md5" [] PAYLOAD, Width::Bytes(16);
        |v| digest(v); print_letters; parse_none; None;
    "payload_md5_hex" [] PAYLOAD, Width::Bytes(16);
        |v| digest(v); print_hex; parse_none; None;
};

/// `F` the first fragment, `f` a later one, `!` must not be fragmented, `.` whole.
fn fragment_letter(header: &[u8]) -> u8 {
    let field = u16::from_be_bytes([header[6], header[7]]);
    if field & ipv4::OFFSET_MASK != 0 {
        b'f'
    } else if field & ipv4::MF != 0 {
        b'F'
    } else if field & ipv4::DF != 0 {
        b'!'
    } else {
        b'.'
    }
}

fn next_mtu<'a>(view: &'a View<'_>) -> Result<&'a [u8], Missing> {
    let message = view.icmp(2)?;
    if (message[0], message[1]) != (kind::UNREACHABLE, unreachable::NEEDFRAG) {
        return Err(Missing::NotOfIt);
    }
    view.icmp(8)
}
