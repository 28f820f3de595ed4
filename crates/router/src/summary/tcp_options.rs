//! TCP options as text: `mss1400;wscale10;sackok;sack95-98;ts669063908:38382731`.

use super::builder::Builder;
use super::ip_options::{list, parse_unknown, print_unknown, split};
use super::row::{Row, Value};
use super::scan::Scan;
use super::text::put;
use super::view::View;
use std::borrow::Cow;
use std::io::Write;
use trammel_packet::headers::tcp::option::{
    EOL, MSS, NOP, SACK, SACK_PERMITTED, TIMESTAMP, WSCALE,
};

fn is_sack(kind: u8) -> bool {
    matches!(kind, SACK | SACK_PERMITTED)
}

fn is_not_time(kind: u8) -> bool {
    kind != TIMESTAMP
}

pub(super) fn print(value: &Value<'_>, _: &View<'_>, out: &mut Vec<u8>) {
    print_some(value, |_| true, out);
}

pub(super) fn print_not_time(value: &Value<'_>, _: &View<'_>, out: &mut Vec<u8>) {
    print_some(value, is_not_time, out);
}

pub(super) fn print_sack(value: &Value<'_>, _: &View<'_>, out: &mut Vec<u8>) {
    print_some(value, is_sack, out);
}

fn print_some(value: &Value<'_>, wanted: fn(u8) -> bool, out: &mut Vec<u8>) {
    let Value::Bytes(options) = value else { return };
    let start = out.len();
    let mut rest = &options[..];
    while let Some(kind) = rest.first() {
        match *kind {
            EOL => break,
            NOP => rest = &rest[1..],
            kind => {
                let Some((option, after)) = split(rest).filter(|(option, _)| has_length(option))
                else {
                    out.truncate(start);
                    out.push(b'?');
                    return;
                };
                if wanted(kind) {
                    print_one(option, start, out);
                }
                rest = after;
            }
        }
    }
    if out.len() == start {
        out.push(b'.');
    }
}

/// Whether the option is as long as one of its kind.
fn has_length(option: &[u8]) -> bool {
    match option[0] {
        MSS => option.len() == 4,
        WSCALE => option.len() == 3,
        SACK_PERMITTED => option.len() == 2,
        SACK => option.len() % 8 == 2,
        TIMESTAMP => option.len() == 10,
        _ => true,
    }
}

fn print_one(option: &[u8], start: usize, out: &mut Vec<u8>) {
    let word = |at: usize| {
        option[at..at + 4]
            .iter()
            .fold(0_u32, |word, byte| word << 8 | u32::from(*byte))
    };
    let separate = |out: &mut Vec<u8>| {
        if out.len() > start {
            out.push(b';');
        }
    };
    if option[0] == SACK {
        for at in (2..option.len()).step_by(8) {
            separate(out);
            put!(out, "sack{}-{}", word(at), word(at + 4));
        }
        return;
    }
    separate(out);
    match option[0] {
        MSS => put!(out, "mss{}", u16::from_be_bytes([option[2], option[3]])),
        WSCALE => put!(out, "wscale{}", option[2]),
        SACK_PERMITTED => put!(out, "sackok"),
        TIMESTAMP => put!(out, "ts{}:{}", word(2), word(6)),
        _ => print_unknown(option, out),
    }
}

/// The options in binary: those that are wanted, up to the first that is not valid, and all padding
/// where all are wanted.
pub(super) fn filter(options: &[u8], wanted: fn(u8) -> bool) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = options;
    while let Some(kind) = rest.first() {
        match *kind {
            EOL => break,
            NOP => rest = &rest[1..],
            kind => {
                let Some((option, after)) = split(rest) else {
                    break;
                };
                if wanted(kind) {
                    out.extend(option);
                }
                rest = after;
            }
        }
    }
    out
}

/// Those that `tcp_ntopt` keeps.
pub(super) fn not_time(options: &[u8]) -> Vec<u8> {
    filter(options, is_not_time)
}

/// Those that `tcp_sack` keeps.
pub(super) fn sack(options: &[u8]) -> Vec<u8> {
    filter(options, is_sack)
}

pub(super) fn parse(text: &[u8], row: &Row, _: &Builder) -> Option<Value<'static>> {
    let (wanted, with_padding): (fn(u8) -> bool, _) = match row.name {
        "tcp_sack" => (is_sack, false),
        "tcp_ntopt" => (is_not_time, false),
        _ => (|_| true, true),
    };
    let options = list(text, with_padding, |scan, out| parse_one(scan, out, wanted))?;
    Some(Value::Bytes(Cow::Owned(options)))
}

fn parse_one(scan: &mut Scan<'_>, out: &mut Vec<u8>, wanted: fn(u8) -> bool) -> Option<()> {
    let word = |scan: &mut Scan<'_>| u32::try_from(scan.number()?).ok();
    if wanted(MSS) && scan.eat(b"mss") {
        let mss = u16::try_from(scan.number()?).ok()?.to_be_bytes();
        out.extend([MSS, 4, mss[0], mss[1]]);
    } else if wanted(WSCALE) && scan.eat(b"wscale") {
        out.extend([WSCALE, 3, u8::try_from(scan.number()?).ok()?]);
    } else if wanted(SACK) && scan.eat(b"sackok") {
        out.extend([SACK_PERMITTED, 2]);
    } else if wanted(SACK) && scan.eat(b"sack") {
        let start = out.len();
        out.extend([SACK, 0]);
        loop {
            out.extend(word(scan)?.to_be_bytes());
            if !scan.eat(b"-") && !scan.eat(b":") {
                return None;
            }
            out.extend(word(scan)?.to_be_bytes());
            // A comma joins blocks into one option, a semicolon begins another.
            if !scan.eat_before_digit(b",sack") {
                break;
            }
        }
        out[start + 1] = u8::try_from(out.len() - start).ok()?;
    } else if wanted(TIMESTAMP) && scan.eat(b"ts") {
        let value = word(scan)?;
        if !scan.eat(b":") {
            return None;
        }
        let echo = word(scan)?;
        if out.is_empty() {
            // As senders align it (RFC 7323, appendix A).
            out.extend([NOP, NOP]);
        }
        out.extend([TIMESTAMP, 10]);
        out.extend(value.to_be_bytes());
        out.extend(echo.to_be_bytes());
    } else {
        // What other kinds are wanted is told by the least of them.
        return wanted(SACK + 1).then(|| parse_unknown(scan, out))?;
    }
    Some(())
}
