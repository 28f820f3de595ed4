//! D-ITG's text log (`ITGDec -l`): a line a packet, in fixed columns.
//!
//! ```text
//! Flow>0001 Seq>      1 Src> (46 wide) 127.0.0.1/43358 Dest> (46 wide) 127.0.0.1/10001 txTime>16:44:24.392343 rxTime>… Size>  101
//! ```
//! `ITGDec -t` reads by columns: without the blanks it makes nonsense of a line, so ours writes
//! them. What ours reads may have any number of blanks.

use super::line::{DAY_US, Error, Line};
use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};

/// Appends a line, with its line feed.
pub fn write(line: &Line, out: &mut String) {
    let time = |us: u64| {
        let (seconds, us) = (us / 1_000_000, us % 1_000_000);
        format!(
            "{}:{}:{}.{us:06}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        )
    };
    let end = |end: SocketAddr| {
        format!(
            "{:>width$}/{}",
            end.ip().to_string(),
            end.port(),
            width = WIDTH
        )
    };
    // Writing to a string does not fail.
    let _ = writeln!(
        out,
        "Flow>{:04} Seq>{:7} Src>{} Dest>{} txTime>{} rxTime>{} Size>{:5}",
        line.flow,
        line.sequence,
        end(line.from),
        end(line.to),
        time(line.sent_us),
        time(line.received_us),
        line.bytes
    );
}

/// How wide an address is written.
const WIDTH: usize = 46;

/// Reads a line; `record` is its number, for the message.
///
/// # Errors
/// If it is not one.
pub fn read(text: &str, record: u64) -> Result<Line, Error> {
    let mut fields = Fields { rest: text, record };
    let line = Line {
        flow: fields.number("Flow>")?,
        sequence: fields.number("Seq>")?,
        from: fields.end("Src>")?,
        to: fields.end("Dest>")?,
        sent_us: fields.time("txTime>")?,
        received_us: fields.time("rxTime>")?,
        bytes: fields.number("Size>")?,
    };
    let rest = fields.rest.trim();
    if rest.is_empty() {
        Ok(line)
    } else {
        Err(fields.wrong("the end", rest, "the end of the line after `Size>`"))
    }
}

struct Fields<'a> {
    rest: &'a str,
    record: u64,
}

impl<'a> Fields<'a> {
    fn wrong(&self, field: &'static str, found: &str, wants: &'static str) -> Error {
        Error::Field {
            record: self.record,
            field,
            found: found.chars().take(60).collect(),
            wants,
        }
    }

    /// The word after `name`.
    fn word(&mut self, name: &'static str) -> Result<&'a str, Error> {
        let rest = self.rest.trim_start();
        let after = rest
            .strip_prefix(name)
            .ok_or_else(|| self.wrong(name, rest, "the next field"))?
            .trim_start();
        let end = after.find(char::is_whitespace).unwrap_or(after.len());
        self.rest = &after[end..];
        Ok(&after[..end])
    }

    fn number(&mut self, name: &'static str) -> Result<u32, Error> {
        let word = self.word(name)?;
        word.parse()
            .map_err(|_| self.wrong(name, word, "a number below 2^32"))
    }

    fn end(&mut self, name: &'static str) -> Result<SocketAddr, Error> {
        let word = self.word(name)?;
        let parsed = word.rsplit_once('/').and_then(|(address, port)| {
            Some(SocketAddr::new(
                address.parse::<IpAddr>().ok()?,
                port.parse().ok()?,
            ))
        });
        parsed.ok_or_else(|| self.wrong(name, word, "an address, a `/` and a port"))
    }

    fn time(&mut self, name: &'static str) -> Result<u64, Error> {
        let word = self.word(name)?;
        time(word).ok_or_else(|| self.wrong(name, word, "a time such as 16:44:24.392343"))
    }
}

fn time(word: &str) -> Option<u64> {
    let (clock, fraction) = word.split_once('.')?;
    let mut parts = clock.split(':').map(|part| part.parse::<u64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    let digits = fraction.len() == 6 && fraction.bytes().all(|digit| digit.is_ascii_digit());
    if parts.next().is_some() || hours >= 24 || minutes >= 60 || seconds >= 60 || !digits {
        return None;
    }
    let us = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + fraction.parse::<u64>().ok()?;
    (us < DAY_US).then_some(us)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // `ITGDec LOG -l FILE` of a run over IPv4, and of one over IPv6.
    const FOUR: &str = "Flow>0001 Seq>      1 Src>                                     \
                        127.0.0.1/43358 Dest>                                     127.0.0.1/10001 \
                        txTime>16:44:24.392343 rxTime>16:44:24.392391 Size>  101\n";
    const SIX: &str = "Flow>0001 Seq>      2 Src>                                           \
                       ::1/60356 Dest>                                           ::1/10001 \
                       txTime>16:44:30.552638 rxTime>16:44:30.552638 Size>  100\n";

    #[test]
    fn lines_are_those_of_itgdec() {
        for text in [FOUR, SIX] {
            let line = read(text, 1).expect("a line");
            let mut out = String::new();
            write(&line, &mut out);
            assert_eq!(out, text);
        }
        let line = read(FOUR, 1).expect("a line");
        assert_eq!(
            (line.flow, line.sequence, line.bytes, line.received_us),
            (1, 1, 101, 60_264_392_391)
        );
        assert_eq!(line.from, SocketAddr::from(([127, 0, 0, 1], 43358)));
    }

    #[test]
    fn blanks_do_not_matter_when_reading() {
        let narrow = "Flow>0002 Seq>1 Src>127.0.0.1/33496 Dest>127.0.0.1/10002 \
                      txTime>19:39:25.628244 rxTime>19:39:25.628274 Size>378";
        let line = read(narrow, 1).expect("a line");
        assert_eq!((line.flow, line.sequence, line.bytes), (2, 1, 378));
    }

    #[test]
    fn the_message_names_the_field() {
        let error =
            read(&FOUR.replace("16:44:24.392391", "16:64:24.392391"), 7).expect_err("64 minutes");
        assert_eq!(
            error.to_string(),
            "record 7: rxTime> is `16:64:24.392391`, not a time such as 16:44:24.392343; the log \
             is damaged or not from D-ITG 2.8.1"
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,200}") {
            let _ = read(&text, 1);
        }

        #[test]
        fn damaged_lines_do_not_make_it_panic(
            at in 0..FOUR.len() - 1, to in proptest::char::any()
        ) {
            let mut text = FOUR.to_owned();
            text.replace_range(at..=at, &to.to_string());
            let _ = read(&text, 1);
        }
    }
}
