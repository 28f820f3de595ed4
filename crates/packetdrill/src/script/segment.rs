//! The parser of segments: flags, sequence numbers, acknowledgement, window, options.

use super::cursor::Cursor;
use super::{ReadError, SegmentLine, TcpOption};
use trammel_tcp::accecn::{AccEcn, Order};
use trammel_tcp::segment::{Ecn, Flags};

/// Letters of the flags and what they stand for, in the order in which they are printed.
pub(super) const FLAGS: &[(char, Flags)] = &[
    ('S', Flags::SYN),
    ('F', Flags::FIN),
    ('R', Flags::RST),
    ('E', Flags::ECE),
    ('W', Flags::CWR),
    ('A', Flags::AE),
    ('P', Flags::PSH),
    ('.', Flags::ACK),
];

/// Words for the ECN field.
pub(super) const ECN: &[(&str, Ecn)] = &[
    ("noecn", Ecn::NotEct),
    ("ect0", Ecn::Ect0),
    ("ect1", Ecn::Ect1),
    ("ce", Ecn::Ce),
];

/// Words that begin what no TCP of ours is asked to send.
const OTHERS: &[&str] = &["udp", "icmp", "gre", "mpls", "ipv4", "ipv6", "raw"];

/// A segment after its `<` or `>`.
pub(super) fn line(cursor: &mut Cursor<'_>) -> Result<SegmentLine, ReadError> {
    let ecn = ip_info(cursor)?;
    let flags = flags(cursor)?;
    cursor.skip_space();
    let place = cursor.clone();
    let seq = cursor.number("the sequence number", u32::MAX)?;
    cursor.demand(":")?;
    let end = cursor.number("the end of the sequence numbers", u32::MAX)?;
    cursor.demand("(")?;
    let len = cursor.number("the length of the payload", u32::MAX >> 1)?;
    cursor.demand(")")?;
    let span = end.wrapping_sub(seq);
    if span != len {
        return Err(place.malformed(format!(
            "`{seq}:{end}` is {span} bytes long and `({len})` says otherwise; SYN and FIN do not \
             count"
        )));
    }
    let mut line = SegmentLine {
        ecn,
        flags,
        seq,
        len,
        ack: None,
        window: None,
        options: Some(Vec::new()),
    };
    if cursor.eat_word("ack") {
        line.ack = Some(cursor.number("the acknowledgement number", u32::MAX)?);
    }
    if line.ack.is_some() && !flags.has(Flags::ACK) {
        return Err(
            place.malformed("an `ack` without the flag `.`; add one or take the other away")
        );
    }
    if cursor.eat_word("win") {
        line.window = Some(cursor.number("the window", 65_535)? as u16);
    }
    if cursor.eat_word("urg") {
        return Err(cursor.out_of_scope("urgent data"));
    }
    if cursor.eat("<") {
        line.options = options(cursor)?;
    }
    Ok(line)
}

/// `[ect0]` and the like.
fn ip_info(cursor: &mut Cursor<'_>) -> Result<Option<Ecn>, ReadError> {
    let close = if cursor.eat("[") {
        "]"
    } else if cursor.eat("(") {
        ")"
    } else {
        return Ok(None);
    };
    let Some(word) = cursor.word() else {
        return Err(cursor.expected("`noecn`, `ect0`, `ect1` or `ce`"));
    };
    let Some((_, ecn)) = ECN.iter().find(|(name, _)| *name == word) else {
        return Err(cursor.out_of_scope(format!("`{word}` of the IP header")));
    };
    cursor.demand(close)?;
    Ok(Some(*ecn))
}

fn flags(cursor: &mut Cursor<'_>) -> Result<Flags, ReadError> {
    cursor.skip_space();
    let place = cursor.clone();
    if cursor.eat("-") {
        return Ok(Flags::default());
    }
    let word = cursor.word().unwrap_or("");
    if OTHERS.contains(&word) {
        return Err(place.out_of_scope(format!("`{word}` packets")));
    }
    let mut flags = Flags::default();
    // A digit is the field ACE as a number, before or after the dot.
    let mut ace = None;
    for letter in word.chars() {
        if let Some(digit) = letter.to_digit(8).filter(|_| ace.is_none()) {
            ace = Some(digit as u8);
            continue;
        }
        let Some((_, flag)) = FLAGS.iter().find(|(name, _)| *name == letter) else {
            return Err(if letter == 'U' {
                place.out_of_scope("urgent data")
            } else {
                place.malformed(format!(
                    "`{letter}` is no flag; flags are `S F R E W A P`, `.` for ACK, a digit from \
                     0 to 7 for the field ACE and `-` for none"
                ))
            });
        };
        flags = flags.with(*flag);
    }
    let dot = if word.is_empty() {
        cursor.eat(".")
    } else {
        cursor.eat_adjacent(".")
    };
    if dot {
        flags = flags.with(Flags::ACK);
        let digit = cursor.peek().and_then(|c| c.to_digit(8));
        if let Some(digit) = digit.filter(|_| ace.is_none()) {
            let text = ["0", "1", "2", "3", "4", "5", "6", "7"][digit as usize];
            cursor.eat_adjacent(text);
            ace = Some(digit as u8);
        }
    }
    if let Some(ace) = ace {
        if flags.any(Flags::ACE) {
            let what = "the field ACE twice, as letters of `A W E` and as a digit; take one away";
            return Err(place.malformed(what));
        }
        flags = flags.with_ace(ace);
    }
    if flags == Flags::default() {
        if cursor.peek().is_some_and(|c| c.is_ascii_digit()) {
            return Err(place.out_of_scope("ports of its own"));
        }
        return Err(cursor.expected("flags, as `S.`, `P.` or `.`"));
    }
    Ok(flags)
}

/// Options after their `<`; `None` for `<...>`.
fn options(cursor: &mut Cursor<'_>) -> Result<Option<Vec<TcpOption>>, ReadError> {
    if cursor.eat("...") {
        cursor.demand(">")?;
        return Ok(None);
    }
    let mut options = Vec::new();
    loop {
        options.push(option(cursor)?);
        if cursor.eat(">") {
            return Ok(Some(options));
        }
        cursor.demand(",")?;
    }
}

fn option(cursor: &mut Cursor<'_>) -> Result<TcpOption, ReadError> {
    cursor.skip_space();
    let place = cursor.clone();
    let Some(word) = cursor.word() else {
        return Err(cursor.expected("a TCP option"));
    };
    Ok(match word {
        "nop" => TcpOption::Nop,
        "eol" => TcpOption::Eol,
        "mss" => TcpOption::Mss(cursor.number("the maximum segment size", 65_535)? as u16),
        "wscale" => TcpOption::WindowScale(cursor.number("the window scale", 255)? as u8),
        "sackOK" => TcpOption::SackPermitted,
        "sack" => {
            let mut blocks = Vec::new();
            while cursor.peek_number() {
                let start = cursor.number("the start of a SACK block", u32::MAX)?;
                cursor.demand(":")?;
                blocks.push((start, cursor.number("the end of a SACK block", u32::MAX)?));
            }
            if blocks.is_empty() || blocks.len() > 4 {
                return Err(place.malformed("a `sack` has one to four blocks, as `sack 1:1001`"));
            }
            TcpOption::Sack(blocks)
        }
        "TS" => {
            cursor.demand("val")?;
            let value = cursor.number("the timestamp's value", u32::MAX)?;
            cursor.demand("ecr")?;
            TcpOption::Timestamps(value, cursor.number("the timestamp's echo", u32::MAX)?)
        }
        "ECN" => TcpOption::AccEcn(accecn(cursor)?),
        "FO" | "FOEXP" => return Err(place.out_of_scope("fast open")),
        "md5" => return Err(place.out_of_scope("MD5 signatures")),
        _ => return Err(place.out_of_scope(format!("the TCP option `{word}`"))),
    })
}

/// Counters of the AccECN option after `ECN`, each after its name; the first says which order it
/// is.
fn accecn(cursor: &mut Cursor<'_>) -> Result<AccEcn, ReadError> {
    let mut counters = Vec::new();
    let mut order = Order::default();
    loop {
        cursor.skip_space();
        let place = cursor.clone();
        let Some(name) = cursor.word() else {
            break;
        };
        let field = match name {
            "e0b" => Ecn::Ect0,
            "ceb" => Ecn::Ce,
            "e1b" => Ecn::Ect1,
            _ => {
                return Err(place.malformed(format!(
                    "`{name}` is no counter of the option; they are `e0b`, `ceb` and `e1b`"
                )));
            }
        };
        if counters.is_empty() && field == Ecn::Ect0 {
            order = Order::Ect0First;
        }
        if order.fields().get(counters.len()) != Some(&field) {
            return Err(place.malformed(
                "counters in another order than `e0b ceb e1b` or `e1b ceb e0b`; only those at the \
                 end may be left out",
            ));
        }
        counters.push(cursor.number("the counter of bytes", 0xff_ffff)?);
    }
    Ok(AccEcn::new(order, &counters))
}
