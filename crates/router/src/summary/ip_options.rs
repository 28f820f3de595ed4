//! IPv4 options as text: `rr{10.0.0.1}+5;ts.ip{1.0.0.1=1,1.0.0.2=2}`.
//!
//! In a route, `^` stands where the pointer is; in a record of a route the entries end there, and
//! `+5` is room for five more. A timestamp with the highest bit set has `!` before it; `++3` is the
//! overflow.

use super::builder::Builder;
use super::row::{Row, Value};
use super::scan::Scan;
use super::text::{address, put};
use super::view::View;
use std::borrow::Cow;
use std::io::Write;
use trammel_packet::headers::ipv4::option::{EOL, LSRR, NOP, RR, SSRR, TS};

/// The most bytes of options that a header has.
const BYTES_MAX: usize = 40;
/// Flags of the timestamp option (RFC 791): each with its address; addresses given beforehand.
const TS_ADDRESS: u8 = 1;
const TS_GIVEN: u8 = 3;

/// Where an option's pointer may stand: 1 is the option's first byte.
fn pointer(out: &[u8], start: usize) -> u8 {
    (out.len() - start + 1).min(255) as u8
}

/// Splits the first option of two bytes or more off; nothing where its length is wrong.
pub(super) fn split(options: &[u8]) -> Option<(&[u8], &[u8])> {
    let len = usize::from(*options.get(1)?);
    (len >= 2).then(|| options.split_at_checked(len))?
}

pub(super) fn print(value: &Value<'_>, _: &View<'_>, out: &mut Vec<u8>) {
    let Value::Bytes(options) = value else { return };
    let start = out.len();
    let mut rest = &options[..];
    while let Some(kind) = rest.first() {
        match *kind {
            EOL => break,
            NOP => rest = &rest[1..],
            _ => {
                let option = split(rest);
                if out.len() > start {
                    out.push(b';');
                }
                if option
                    .and_then(|(option, _)| print_one(option, out))
                    .is_none()
                {
                    out.truncate(start);
                    out.push(b'?');
                    return;
                }
                rest = option.map_or(&[], |(_, after)| after);
            }
        }
    }
    if out.len() == start {
        out.push(b'.');
    }
}

/// Prints an option; nothing where it is not valid.
fn print_one(option: &[u8], out: &mut Vec<u8>) -> Option<()> {
    match option[0] {
        RR => print_route("rr", option, out),
        LSRR => print_route("lsrr", option, out),
        SSRR => print_route("ssrr", option, out),
        TS => print_times(option, out),
        _ => {
            print_unknown(option, out);
            Some(())
        }
    }
}

/// Prints an option by its bytes.
pub(super) fn print_unknown(option: &[u8], out: &mut Vec<u8>) {
    put!(out, "{}", option[0]);
    for (n, byte) in option[2..].iter().enumerate() {
        put!(out, "{}{byte}", if n == 0 { '=' } else { ':' });
    }
}

/// Addresses from the fourth byte on.
fn print_route(name: &str, option: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let at = usize::from(*option.get(2).filter(|pointer| **pointer >= 4)?) - 1;
    let is_record = option[0] == RR;
    put!(out, "{name}{{");
    let (mut here, mut separator) = (3, "");
    while let Some(entry) = option.get(here..here + 4) {
        if here == at {
            if is_record {
                break;
            }
            separator = "^";
        }
        out.extend(separator.as_bytes());
        address(out, entry.try_into().ok()?);
        (here, separator) = (here + 4, ",");
    }
    if here == option.len() && here == at && !is_record {
        out.push(b'^');
    }
    out.push(b'}');
    let room = (option.len() - here) / 4;
    if here == at && is_record && room > 0 {
        put!(out, "+{room}");
    }
    Some(())
}

fn print_times(option: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let at = usize::from(*option.get(2).filter(|pointer| **pointer >= 5)?) - 1;
    let (flag, overflow) = (option.get(3)? & 15, option[3] >> 4);
    let has_address = flag != 0;
    let size = if has_address { 8 } else { 4 };
    match flag {
        0 => put!(out, "ts{{"),
        TS_ADDRESS => put!(out, "ts.ip{{"),
        TS_GIVEN => put!(out, "ts.preip{{"),
        _ => put!(out, "ts.{flag}{{"),
    }
    let (mut here, mut separator) = (4, "");
    while let Some(entry) = option.get(here..here + size) {
        if here == at {
            if flag != TS_GIVEN {
                break;
            }
            separator = "^";
        }
        out.extend(separator.as_bytes());
        if has_address {
            address(out, entry[..4].try_into().ok()?);
        }
        // Beyond the pointer only the address was given.
        if flag != TS_GIVEN || here + 4 <= at {
            let time = u32::from_be_bytes(entry[size - 4..].try_into().ok()?);
            let equals = if has_address { "=" } else { "" };
            let mark = if time >> 31 != 0 { "!" } else { "" };
            put!(out, "{equals}{mark}{}", time & 0x7FFF_FFFF);
        }
        (here, separator) = (here + size, ",");
    }
    if here == option.len() && here == at {
        out.push(b'^');
    }
    out.push(b'}');
    let room = (option.len() - here) / size;
    if here == at && room > 0 {
        put!(out, "+{room}");
    }
    if overflow > 0 {
        put!(out, "++{overflow}");
    }
    Some(())
}

pub(super) fn parse(text: &[u8], _: &Row, _: &Builder) -> Option<Value<'static>> {
    list(text, true, parse_one).map(|options| Value::Bytes(Cow::Owned(options)))
}

/// Parses options separated by `;` or `,`, `nop` and `eol` among them where padding is wanted.
/// Options that are too long are none, but for NOPs at the front.
pub(super) fn list(
    text: &[u8],
    with_padding: bool,
    one: impl Fn(&mut Scan<'_>, &mut Vec<u8>) -> Option<()>,
) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    if text == b"." {
        return Some(out);
    }
    let mut scan = Scan(text);
    loop {
        if with_padding && scan.eat(b"nop") {
            out.push(NOP);
        } else if with_padding && scan.eat(b"eol") {
            out.push(EOL);
        } else {
            one(&mut scan, &mut out)?;
        }
        if scan.is_done() {
            break;
        }
        if !scan.eat(b";") && !scan.eat(b",") {
            return None;
        }
    }
    while out.len() > BYTES_MAX && out[0] == NOP {
        out.remove(0);
    }
    (out.len() <= BYTES_MAX).then_some(out)
}

fn parse_one(scan: &mut Scan<'_>, out: &mut Vec<u8>) -> Option<()> {
    for (name, kind) in [(&b"rr{"[..], RR), (b"ssrr{", SSRR), (b"lsrr{", LSRR)] {
        if scan.eat(name) {
            return parse_route(kind, scan, out);
        }
    }
    if scan.eat(b"ts") {
        return parse_times(scan, out);
    }
    parse_unknown(scan, out)
}

/// `99` or `99=0:5:10`.
pub(super) fn parse_unknown(scan: &mut Scan<'_>, out: &mut Vec<u8>) -> Option<()> {
    let start = out.len();
    out.push(u8::try_from(scan.number()?).ok()?);
    let mut separator: &[u8] = b"=";
    while scan.eat_before_digit(separator) {
        if separator == b"=" {
            out.push(0);
        }
        out.push(u8::try_from(scan.number()?).ok()?);
        separator = b":";
    }
    if out.len() > start + 1 {
        out[start + 1] = u8::try_from(out.len() - start).ok()?;
    }
    Some(())
}

/// Sets length and pointer of the option that begins at `start`.
fn close(out: &mut [u8], start: usize, pointer: u8) -> Option<()> {
    out[start + 1] = u8::try_from(out.len() - start).ok()?;
    out[start + 2] = pointer;
    Some(())
}

fn parse_route(kind: u8, scan: &mut Scan<'_>, out: &mut Vec<u8>) -> Option<()> {
    let start = out.len();
    out.extend([kind, 0, 0]);
    let mut marked = None;
    loop {
        if marked.is_none() && scan.eat(b"^") {
            marked = Some(pointer(out, start));
        }
        if !scan.is_digit() {
            break;
        }
        out.extend(scan.address()?);
        scan.eat(b",");
    }
    if !scan.eat(b"}") {
        return None;
    }
    let marked = marked.unwrap_or(pointer(out, start));
    if scan.eat_before_digit(b"+") {
        fill(out, scan.decimal()?, 4);
    }
    close(out, start, marked)
}

/// Room for `count` entries; a count that no option has room for is left out.
fn fill(out: &mut Vec<u8>, count: u64, size: usize) {
    if count < 64 {
        out.resize(out.len() + count as usize * size, 0);
    }
}

/// What an entry of a timestamp option has.
#[derive(Clone, Copy, PartialEq)]
enum Entries {
    /// The first entry will tell.
    Open,
    /// Addresses; a pointer will tell whether they were given beforehand.
    Addresses,
    Flag(u8),
}

impl Entries {
    fn has_address(self) -> bool {
        matches!(
            self,
            Entries::Addresses | Entries::Flag(TS_ADDRESS | TS_GIVEN)
        )
    }
}

fn parse_times(scan: &mut Scan<'_>, out: &mut Vec<u8>) -> Option<()> {
    let start = out.len();
    out.extend([TS, 0, 0, 0]);
    let mut entries = Entries::Open;
    if scan.eat(b".ip") {
        entries = Entries::Flag(TS_ADDRESS);
    } else if scan.eat(b".preip") {
        entries = Entries::Flag(TS_GIVEN);
    } else if scan.eat(b".") {
        entries = Entries::Flag(scan.number().filter(|flag| *flag < 16)? as u8);
    }
    if !scan.eat(b"{") {
        return None;
    }
    let mut marked = None;
    loop {
        if marked.is_none() && scan.eat(b"^") {
            marked = Some(pointer(out, start));
        }
        if !scan.is_digit() && scan.peek() != Some(b'!') {
            break;
        }
        if entries == Entries::Open {
            let mut ahead = *scan;
            let is_address = ahead.address().is_some();
            entries = if is_address {
                Entries::Addresses
            } else {
                Entries::Flag(0)
            };
        }
        if entries == Entries::Addresses && marked.is_some() {
            entries = Entries::Flag(TS_GIVEN);
        }
        parse_entry(scan, out, entries.has_address(), marked.is_some())?;
        scan.eat(b",");
    }
    if !scan.eat(b"}") {
        return None;
    }
    let marked = marked.unwrap_or(pointer(out, start));
    let flag = match entries {
        Entries::Open => 0,
        Entries::Addresses => TS_ADDRESS,
        Entries::Flag(flag) => flag,
    };
    if scan.eat_before_digit(b"+") {
        fill(
            out,
            scan.number()?,
            if entries.has_address() { 8 } else { 4 },
        );
    }
    let mut overflow = 0;
    if scan.eat_before_digit(b"++") {
        overflow = scan.number().filter(|overflow| *overflow < 16)? as u8;
    }
    out[start + 3] = overflow << 4 | flag;
    close(out, start, marked)
}

/// `1.0.0.1=5`, or `5`; beyond the pointer also `1.0.0.1` and `1.0.0.1=?`.
fn parse_entry(
    scan: &mut Scan<'_>,
    out: &mut Vec<u8>,
    has_address: bool,
    is_beyond: bool,
) -> Option<()> {
    if has_address {
        out.extend(scan.address()?);
        let has_value = scan.eat(b"=");
        if is_beyond && (!has_value || scan.eat(b"?")) {
            out.extend([0; 4]);
            return Some(());
        }
        if !has_value {
            return None;
        }
    }
    let mark = if scan.eat(b"!") { 1 << 31 } else { 0 };
    let time = u32::try_from(scan.number()?).ok()? | mark;
    out.extend(time.to_be_bytes());
    Some(())
}
