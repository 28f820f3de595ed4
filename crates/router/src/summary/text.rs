//! How values are printed and parsed: numbers, addresses, times, quoted strings.

use super::builder::Builder;
use super::row::{Row, Value, Width};
use super::scan::Scan;
use super::view::View;
use super::{md5, names};
use std::borrow::Cow;
use std::io::Write;
use trammel_packet::headers::ipv4::{self, ecn, protocol};
use trammel_packet::timestamp::Timestamp;

/// Formats into bytes, which cannot fail.
macro_rules! put {
    ($out:expr, $($format:tt)*) => { write!($out, $($format)*).expect("a vector takes all") };
}
pub(super) use put;

/// The letters of TCP's flags, from the lowest bit.
const FLAGS: &[u8; 9] = b"FSRPAUECN";

/// Appends a number with at least `least` digits.
pub(super) fn digits(out: &mut Vec<u8>, mut number: u64, least: usize) {
    let mut text = [b'0'; 20];
    let mut at = text.len();
    while number > 0 || text.len() - at < least.max(1) {
        at -= 1;
        text[at] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    out.extend_from_slice(&text[at..]);
}

pub(super) fn print_number(value: &Value<'_>, _: &View<'_>, out: &mut Vec<u8>) {
    digits(out, value.number(), 1);
}

/// A number that the field's width can hold.
pub(super) fn parse_number(text: &[u8], row: &Row, _: &Builder) -> Option<Value<'static>> {
    let bytes = match row.width {
        Width::Bytes(bytes) => bytes,
        _ => 4,
    };
    number(text, u64::MAX >> (64 - 8 * bytes)).map(Value::Number)
}

/// A number up to `max` that is all of `text`.
pub(super) fn number(text: &[u8], max: u64) -> Option<u64> {
    let mut scan = Scan(text);
    scan.number()
        .filter(|number| scan.is_done() && *number <= max)
}

pub(super) fn print_ip(value: &Value<'_>, _: &View<'_>, out: &mut Vec<u8>) {
    address(out, (value.number() as u32).to_be_bytes());
}

pub(super) fn address(out: &mut Vec<u8>, [a, b, c, d]: [u8; 4]) {
    for (n, byte) in [a, b, c, d].into_iter().enumerate() {
        if n > 0 {
            out.push(b'.');
        }
        digits(out, u64::from(byte), 1);
    }
}

pub(super) fn parse_ip(text: &[u8], _: &Row, _: &Builder) -> Option<Value<'static>> {
    let mut scan = Scan(text);
    let address = scan.address().filter(|_| scan.is_done())?;
    Some(Value::Number(u64::from(u32::from_be_bytes(address))))
}

/// Six digits after the point where they say all, else nine.
pub(super) fn print_time(value: &Value<'_>, _: &View<'_>, out: &mut Vec<u8>) {
    let Value::Time(time) = value else { return };
    if time.0 < 0 {
        out.push(b'-');
    }
    let ns = time.0.unsigned_abs();
    let (secs, ns) = (ns / 1_000_000_000, ns % 1_000_000_000);
    digits(out, secs, 1);
    out.push(b'.');
    if ns.is_multiple_of(1000) {
        digits(out, ns / 1000, 6);
    } else {
        digits(out, ns, 9);
    }
}

/// Seconds with a fraction; digits beyond the ninth are rounded.
pub(super) fn parse_time(text: &[u8], _: &Row, _: &Builder) -> Option<Value<'static>> {
    let mut scan = Scan(text);
    let secs = if scan.peek() == Some(b'.') {
        0
    } else {
        i64::try_from(scan.decimal()?).ok()?
    };
    let mut ns = 0;
    if scan.eat(b".") {
        let mut unit = 100_000_000;
        for byte in scan.0 {
            let digit = i64::from(char::from(*byte).to_digit(10)?);
            ns += if unit > 0 { digit * unit } else { 0 };
            unit /= 10;
        }
        ns += i64::from(scan.0.get(9).is_some_and(|digit| *digit >= b'5'));
    } else if !scan.is_done() {
        return None;
    }
    let ns = secs.checked_mul(1_000_000_000)?.checked_add(ns)?;
    Some(Value::Time(Timestamp(ns)))
}

pub(super) fn print_ether(value: &Value<'_>, _: &View<'_>, out: &mut Vec<u8>) {
    let Value::Ether([a, b, c, d, e, f]) = value else {
        return;
    };
    put!(out, "{a:02X}-{b:02X}-{c:02X}-{d:02X}-{e:02X}-{f:02X}");
}

/// Six pairs of digits, all separated by `-` or all by `:`.
pub(super) fn parse_ether(text: &[u8], _: &Row, _: &Builder) -> Option<Value<'static>> {
    let separator = *text.iter().find(|byte| matches!(byte, b'-' | b':'))?;
    let mut address = [0; 6];
    let mut parts = text.split(|byte| *byte == separator);
    for byte in &mut address {
        let part = std::str::from_utf8(parts.next()?).ok()?;
        let is_hex = part.bytes().all(|digit| digit.is_ascii_hexdigit());
        *byte = u8::from_str_radix(part, 16)
            .ok()
            .filter(|_| is_hex && part.len() <= 2)?;
    }
    parts.next().is_none().then_some(Value::Ether(address))
}

pub(super) fn print_ethertype(value: &Value<'_>, _: &View<'_>, out: &mut Vec<u8>) {
    put!(out, "{:04X}", value.number());
}

pub(super) fn parse_ethertype(text: &[u8], _: &Row, _: &Builder) -> Option<Value<'static>> {
    let text = std::str::from_utf8(text).ok()?;
    let text = text.strip_prefix("0x").unwrap_or(text);
    let is_hex = text.bytes().all(|digit| digit.is_ascii_hexdigit());
    let number = u16::from_str_radix(text, 16).ok().filter(|_| is_hex)?;
    Some(Value::Number(u64::from(number)))
}

pub(super) fn print_direction(value: &Value<'_>, _: &View<'_>, out: &mut Vec<u8>) {
    match value.number() {
        0 => out.push(b'>'),
        1 => out.push(b'<'),
        paint => put!(out, "{paint}"),
    }
}

pub(super) fn parse_direction(text: &[u8], _: &Row, _: &Builder) -> Option<Value<'static>> {
    let paint = match text {
        b">" | b"L" => 0,
        b"<" | b"R" | b"X" => 1,
        _ => number(text, u64::from(u32::MAX))?,
    };
    Some(Value::Number(paint))
}

pub(super) fn print_protocol(value: &Value<'_>, _: &View<'_>, out: &mut Vec<u8>) {
    match value.number() as u8 {
        protocol::TCP => out.push(b'T'),
        protocol::UDP => out.push(b'U'),
        protocol::ICMP => out.push(b'I'),
        other => put!(out, "{other}"),
    }
}

/// The protocol of a letter.
pub(super) fn protocol_of(text: &[u8]) -> Option<u8> {
    match text {
        b"T" => Some(protocol::TCP),
        b"U" => Some(protocol::UDP),
        b"I" => Some(protocol::ICMP),
        _ => number(text, 255).map(|number| number as u8),
    }
}

pub(super) fn parse_protocol(text: &[u8], _: &Row, _: &Builder) -> Option<Value<'static>> {
    Some(Value::Number(u64::from(protocol_of(text)?)))
}

pub(super) fn print_ecn(value: &Value<'_>, _: &View<'_>, out: &mut Vec<u8>) {
    let name: &[u8] = match value.number() as u8 & ecn::MASK {
        ecn::NOT_ECT => b"no",
        ecn::ECT1 => b"ect1",
        ecn::ECT0 => b"ect2",
        _ => b"ce",
    };
    out.extend(name);
}

pub(super) fn parse_ecn(text: &[u8], _: &Row, _: &Builder) -> Option<Value<'static>> {
    let value = match text {
        b"no" | b"0" => ecn::NOT_ECT,
        b"ect1" | b"ECT(1)" | b"1" => ecn::ECT1,
        b"ect2" | b"ECT(0)" | b"2" => ecn::ECT0,
        b"ce" | b"CE" | b"3" => ecn::CE,
        _ => return None,
    };
    Some(Value::Number(u64::from(value)))
}

/// The value is the letter.
pub(super) fn print_letter(value: &Value<'_>, _: &View<'_>, out: &mut Vec<u8>) {
    out.push(value.number() as u8);
}

pub(super) fn print_fragment(value: &Value<'_>, _: &View<'_>, out: &mut Vec<u8>) {
    let field = value.number() as u16;
    put!(out, "{}", (field & ipv4::OFFSET_MASK) << 3);
    if field & ipv4::MF != 0 {
        out.push(b'+');
    }
    if field & ipv4::DF != 0 {
        out.push(b'!');
    }
}

/// A letter of `ip_frag`, or an offset with `+` and `!`. Offsets count bytes, but 8-byte units in
/// version 1.0.
pub(super) fn parse_fragment(text: &[u8], _: &Row, builder: &Builder) -> Option<Value<'static>> {
    let field = match text {
        b"." => 0,
        b"!" => ipv4::DF,
        b"F" => ipv4::MF,
        // Any offset but 0 makes it a later fragment.
        b"f" => 100,
        _ => {
            let mut scan = Scan(text);
            let offset = scan.number().unwrap_or(0);
            let offset = if builder.minor_version > 0 {
                offset >> 3
            } else {
                offset
            };
            let flags = scan.0.iter().try_fold(0, |flags, byte| match byte {
                b'+' => Some(flags | ipv4::MF),
                b'!' => Some(flags | ipv4::DF),
                _ => None,
            })?;
            offset as u16 | flags
        }
    };
    Some(Value::Number(u64::from(field)))
}

pub(super) fn print_flags(value: &Value<'_>, _: &View<'_>, out: &mut Vec<u8>) {
    let flags = value.number();
    // The two sets that most packets have are written in the order that people are used to.
    match flags {
        0 => out.push(b'.'),
        0x18 => out.extend(b"PA"),
        _ => out.extend(
            FLAGS
                .iter()
                .enumerate()
                .filter(|(bit, _)| flags >> bit & 1 != 0)
                .map(|(_, letter)| letter),
        ),
    }
}

pub(super) fn parse_flags(text: &[u8], _: &Row, _: &Builder) -> Option<Value<'static>> {
    if text == b"." {
        return Some(Value::Number(0));
    }
    if text.first()?.is_ascii_digit() {
        return number(text, 0xFFF).map(Value::Number);
    }
    let flags = text.iter().try_fold(0, |flags, byte| {
        let bit = match byte {
            // Letters of older versions.
            b'W' | b'Y' => 7,
            b'X' => 6,
            _ => FLAGS.iter().position(|letter| letter == byte)?,
        };
        Some(flags | 1 << bit)
    })?;
    Some(Value::Number(flags))
}

pub(super) fn print_icmp_type(value: &Value<'_>, _: &View<'_>, out: &mut Vec<u8>) {
    match names::type_name(value.number() as u8) {
        Some(name) => out.extend(name.as_bytes()),
        None => put!(out, "{}", value.number()),
    }
}

pub(super) fn parse_icmp_type(text: &[u8], _: &Row, _: &Builder) -> Option<Value<'static>> {
    let value = names::type_of(text)
        .map(u64::from)
        .or_else(|| number(text, 255))?;
    Some(Value::Number(value))
}

pub(super) fn print_icmp_code(value: &Value<'_>, view: &View<'_>, out: &mut Vec<u8>) {
    let name = view
        .icmp_type()
        .and_then(|of| names::code_name(of, value.number() as u8));
    match name {
        Some(name) => out.extend(name.as_bytes()),
        None => put!(out, "{}", value.number()),
    }
}

pub(super) fn parse_icmp_code(text: &[u8], _: &Row, builder: &Builder) -> Option<Value<'static>> {
    let named = builder.icmp_type().and_then(|of| names::code_of(of, text));
    let value = named.map(u64::from).or_else(|| number(text, 255))?;
    Some(Value::Number(value))
}

fn bytes<'a>(value: &'a Value<'_>) -> &'a [u8] {
    match value {
        Value::Bytes(bytes) => bytes,
        _ => &[],
    }
}

pub(super) fn print_quoted(value: &Value<'_>, _: &View<'_>, out: &mut Vec<u8>) {
    quote(out, bytes(value));
}

/// An `Option` as all rows give one.
#[allow(clippy::unnecessary_wraps)]
pub(super) fn parse_quoted(text: &[u8], _: &Row, _: &Builder) -> Option<Value<'static>> {
    Some(Value::Bytes(Cow::Owned(unquote(text))))
}

pub(super) fn print_letters(value: &Value<'_>, _: &View<'_>, out: &mut Vec<u8>) {
    if let Ok(digest) = bytes(value).try_into() {
        out.extend(md5::in_letters(digest));
    }
}

pub(super) fn print_hex(value: &Value<'_>, _: &View<'_>, out: &mut Vec<u8>) {
    for byte in bytes(value) {
        put!(out, "{byte:02x}");
    }
}

/// What cannot be parsed.
pub(super) fn parse_none(_: &[u8], _: &Row, _: &Builder) -> Option<Value<'static>> {
    None
}

/// Writes `text` in double quotes; what does not print is escaped.
pub(super) fn quote(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    for byte in text {
        match byte {
            b'\\' | b'"' | b'$' => out.extend([b'\\', *byte]),
            b'\t' => out.extend(b"\\t"),
            b'\r' => out.extend(b"\\r"),
            b'\n' => out.extend(b"\\n"),
            32..127 => out.push(*byte),
            _ => put!(out, "\\{byte:03o}"),
        }
    }
    out.push(b'"');
}

/// Removes quotes, and resolves escapes within double quotes and `\<hex>` everywhere but in single
/// ones.
pub(super) fn unquote(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut quote = None;
    let mut scan = Scan(text);
    while let Some(byte) = scan.peek() {
        let is_hex = scan.0.starts_with(b"\\<") && quote != Some(b'\'');
        if byte == b'\\' && scan.0.len() > 1 && (is_hex || quote == Some(b'"')) {
            escape(&mut scan, &mut out);
            continue;
        }
        scan.0 = &scan.0[1..];
        match (byte, quote) {
            (b'"' | b'\'', None) => quote = Some(byte),
            _ if quote == Some(byte) => quote = None,
            _ => out.push(byte),
        }
    }
    out
}

/// Resolves the escape at the front of `scan`, which has at least two bytes.
fn escape(scan: &mut Scan<'_>, out: &mut Vec<u8>) {
    let kind = scan.0[1];
    if kind.is_ascii_digit() && kind < b'8' {
        let digits = scan.0[1..]
            .iter()
            .take(3)
            .take_while(|byte| (b'0'..b'8').contains(byte))
            .count();
        let value = scan.0[1..=digits]
            .iter()
            .fold(0_u32, |value, byte| value * 8 + u32::from(byte - b'0'));
        out.push(value as u8);
        scan.0 = &scan.0[1 + digits..];
        return;
    }
    scan.0 = &scan.0[2..];
    let hex = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
    match kind {
        b'a' => out.push(7),
        b'b' => out.push(8),
        b't' => out.push(b'\t'),
        b'n' => out.push(b'\n'),
        b'v' => out.push(11),
        b'f' => out.push(12),
        b'r' => out.push(b'\r'),
        b'\n' => {}
        b'x' => {
            let mut value = 0_u8;
            while let Some(digit) = scan.0.first().and_then(hex) {
                value = value << 4 | digit;
                scan.0 = &scan.0[1..];
            }
            out.push(value);
        }
        b'<' => {
            let end = scan
                .0
                .iter()
                .position(|byte| *byte == b'>')
                .unwrap_or(scan.0.len());
            let digits: Vec<u8> = scan.0[..end].iter().filter_map(hex).collect();
            out.extend(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]));
            scan.0 = scan.0.get(end + 1..).unwrap_or_default();
        }
        other => out.push(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_quoted_is_unquoted(text: Vec<u8>) {
            let mut quoted = Vec::new();
            quote(&mut quoted, &text);
            prop_assert!(quoted.is_ascii());
            prop_assert_eq!(unquote(&quoted), text);
        }

        #[test]
        fn any_text_is_unquoted(text: Vec<u8>) {
            unquote(&text);
        }
    }

    #[test]
    fn escapes() {
        assert_eq!(
            unquote(b"\"\\x41\\102\\n\\q\"'\\n'\\<44 4 5>"),
            b"AB\nq\\nDE"
        );
    }
}
