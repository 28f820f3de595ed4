//! D-ITG's logs as they are read, line by line, and the way between their lines and our entries.
//!
//! A log is recognised by its content ([`Form::of`]). A record that cannot be read is left out and
//! told; the next one is tried, as all of a binary log have one length and those of a text log a
//! line each.
//!
//! A D-ITG log tells neither its date nor the protocol, and its flows are told apart by number
//! *and* ends, as several senders have a flow 1: ours get the number if it is free, else the next
//! one above all others.

use super::binary_log::{self, Order, RECORD};
use super::line::{Days, Error, Line};
use super::text_log;
use crate::log::{Entry, Session};
use crate::record::{Instants, LoggedFlow, MOST_FLOWS, Protocol};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, Read};
use std::net::{Ipv4Addr, SocketAddr};

/// Bytes at the start of a log by which it is recognised.
pub const HEAD: usize = RECORD;
/// The longest line of a text log: D-ITG's own have 190 characters.
const MOST_LINE: u64 = 1024;

/// A form of D-ITG's logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// 144 bytes a packet.
    Binary(Order),
    /// A line a packet.
    Text,
}

impl Form {
    /// The form of a log that begins with `head`, of [`HEAD`] bytes unless it is shorter; none if
    /// it is no log of D-ITG's.
    #[must_use]
    pub fn of(head: &[u8]) -> Option<Form> {
        if head.trim_ascii_start().starts_with(b"Flow>") {
            return Some(Form::Text);
        }
        let first: &[u8; RECORD] = head.first_chunk()?;
        let order = Order::of(first);
        let is_record = binary_log::read(first, order, 1).is_ok();
        is_record.then_some(Form::Binary(order))
    }
}

/// The lines of a log. An error of a record is followed by the next one; an error of reading is the
/// last item.
#[derive(Debug)]
pub struct Lines<R> {
    from: R,
    form: Form,
    record: u64,
    is_over: bool,
    text: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// Reads a log of this form.
    pub fn new(from: R, form: Form) -> Lines<R> {
        Lines {
            from,
            form,
            record: 0,
            is_over: false,
            text: Vec::new(),
        }
    }

    fn binary(&mut self, order: Order) -> io::Result<Option<Result<Line, Error>>> {
        self.text.clear();
        let whole = (&mut self.from)
            .take(RECORD as u64)
            .read_to_end(&mut self.text)?;
        Ok(match self.text.first_chunk() {
            Some(bytes) => Some(binary_log::read(bytes, order, self.record)),
            None if whole == 0 => None,
            None => Some(Err(Error::Cut {
                record: self.record,
                bytes: whole,
                whole: RECORD,
            })),
        })
    }

    fn line(&mut self) -> io::Result<Option<Result<Line, Error>>> {
        self.text.clear();
        let mut most = (&mut self.from).take(MOST_LINE);
        if most.read_until(b'\n', &mut self.text)? == 0 {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&self.text);
        Ok(Some(text_log::read(text.trim(), self.record)))
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = Result<Line, Error>;

    fn next(&mut self) -> Option<Result<Line, Error>> {
        if self.is_over {
            return None;
        }
        self.record += 1;
        let read = match self.form {
            Form::Binary(order) => self.binary(order),
            Form::Text => self.line(),
        };
        let read = read.unwrap_or_else(|error| {
            self.is_over = true;
            Some(Err(Error::Io {
                record: self.record,
                error: error.to_string(),
            }))
        });
        self.is_over |= matches!(read, None | Some(Err(Error::Cut { .. })));
        read
    }
}

/// What tells flows of D-ITG's apart.
type Key = (u32, SocketAddr, SocketAddr);

/// Makes entries of lines.
#[derive(Debug)]
pub struct Entries {
    days: Days,
    numbers: BTreeMap<Key, u32>,
    taken: BTreeSet<u32>,
}

impl Default for Entries {
    fn default() -> Entries {
        Entries {
            // No date is told: the first day there is.
            days: Days::new(0),
            numbers: BTreeMap::new(),
            taken: BTreeSet::new(),
        }
    }
}

impl Entries {
    /// The session that goes before: one-way delays, by clocks of microseconds that are not told.
    #[must_use]
    pub fn session() -> Session {
        Session {
            instants: Instants::SentReceived,
            date_ns: 0,
            host: String::new(),
            clock: String::new(),
            program: "D-ITG".to_owned(),
            seed: 0,
        }
    }

    /// Gives the entries of a line: its flow's where it is new, and its record. Says whether the
    /// record fits: numbers of flows and bytes are of 24 bits in ours.
    pub fn line(&mut self, line: &Line, give: &mut dyn FnMut(Entry)) -> bool {
        let Some(mut record) = self.days.record(line) else {
            return false;
        };
        let key = (line.flow, line.from, line.to);
        let number = match self.numbers.get(&key) {
            Some(number) => *number,
            None => {
                let above = || self.taken.last().map_or(0, |last| last + 1);
                let number = if self.taken.contains(&line.flow) {
                    above()
                } else {
                    line.flow
                };
                if number >= MOST_FLOWS {
                    return false;
                }
                self.taken.insert(number);
                self.numbers.insert(key, number);
                give(Entry::Flow(LoggedFlow {
                    number,
                    protocol: Protocol::Unknown,
                    from: Some(line.from),
                    to: Some(line.to),
                    name: String::new(),
                }));
                number
            }
        };
        record.flow = number;
        give(Entry::Record(record));
        true
    }
}

/// Makes lines of entries: flows get their number plus one, as D-ITG's begin with 1, and 0.0.0.0
/// where no end is told.
#[derive(Debug, Default)]
pub struct Away {
    ends: BTreeMap<u32, (SocketAddr, SocketAddr)>,
}

impl Away {
    /// The line of an entry, if it is a record. An error tells of a sequence number that D-ITG's 32
    /// bits cannot hold.
    pub fn entry(&mut self, entry: &Entry) -> Result<Option<Line>, u64> {
        let nowhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        match entry {
            Entry::Session(_) => self.ends.clear(),
            Entry::Sent { .. } => {}
            Entry::Flow(flow) => {
                let end = |end: Option<SocketAddr>| {
                    let end = end.unwrap_or(nowhere);
                    SocketAddr::new(end.ip().to_canonical(), end.port())
                };
                self.ends
                    .insert(flow.number, (end(flow.from), end(flow.to)));
            }
            Entry::Record(record) => {
                let ends = self.ends.get(&record.flow);
                let (from, to) = ends.copied().unwrap_or((nowhere, nowhere));
                let mut line = Line::new(record, from, to).ok_or(record.sequence)?;
                line.flow += 1;
                return Ok(Some(line));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Record;
    use proptest::prelude::*;

    fn line(flow: u32, sequence: u32, port: u16) -> Line {
        Line {
            flow,
            sequence,
            from: SocketAddr::from(([10, 0, 0, 1], port)),
            to: SocketAddr::from(([10, 0, 0, 2], 8999)),
            sent_us: 1_000_000 + u64::from(sequence),
            received_us: 1_000_100 + u64::from(sequence),
            bytes: 512,
        }
    }

    #[test]
    fn each_form_is_recognised_and_read() {
        let lines: Vec<Line> = (1..=20).map(|sequence| line(1, sequence, 4000)).collect();
        let (mut little, mut big, mut text) = (Vec::new(), Vec::new(), String::new());
        for one in &lines {
            binary_log::write(one, Order::Little, &mut little);
            binary_log::write(one, Order::Big, &mut big);
            text_log::write(one, &mut text);
        }
        for (bytes, form) in [
            (little, Form::Binary(Order::Little)),
            (big, Form::Binary(Order::Big)),
            (text.into_bytes(), Form::Text),
        ] {
            assert_eq!(Form::of(&bytes[..HEAD]), Some(form));
            let read: Result<Vec<_>, _> = Lines::new(&bytes[..], form).collect();
            assert_eq!(read.as_ref(), Ok(&lines));
        }
        for foreign in [
            &b""[..],
            b"TLOG",
            b"this is no log",
            &[0; HEAD],
            &[0xff; HEAD],
        ] {
            assert_eq!(Form::of(foreign), None, "{foreign:?}");
        }
    }

    #[test]
    fn what_is_damaged_is_told_and_the_rest_is_read() {
        let mut bytes = Vec::new();
        for sequence in 1..=5 {
            binary_log::write(&line(1, sequence, 4000), Order::Little, &mut bytes);
        }
        bytes[RECORD + 36] = b'x';
        bytes.truncate(4 * RECORD + 50);
        let read: Vec<_> = Lines::new(&bytes[..], Form::Binary(Order::Little)).collect();
        let good: Vec<_> = read
            .iter()
            .map(|one| one.as_ref().map(|line| line.sequence).ok())
            .collect();
        assert_eq!(good, [Some(1), None, Some(3), Some(4), None]);
        assert!(matches!(
            read[4],
            Err(Error::Cut {
                record: 5,
                bytes: 50,
                ..
            })
        ));
    }

    #[test]
    fn a_number_that_two_senders_use_is_two_flows() {
        let mut entries = Entries::default();
        let mut given = Vec::new();
        for one in [
            line(1, 1, 4000),
            line(1, 1, 4001),
            line(2, 1, 4000),
            line(1, 2, 4001),
        ] {
            assert!(entries.line(&one, &mut |entry| given.push(entry)));
        }
        assert!(!entries.line(&line(1 << 24, 1, 4000), &mut |_| {}));
        let numbers = given.iter().filter_map(|entry| match entry {
            Entry::Record(record) => Some((record.flow, record.sequence)),
            _ => None,
        });
        let numbers: Vec<_> = numbers.collect();
        assert_eq!(numbers, [(1, 0), (2, 0), (3, 0), (2, 1)]);
        assert_eq!(given.len(), 7, "three flows");
    }

    #[test]
    fn a_record_of_ours_is_a_line_of_theirs() {
        let mut away = Away::default();
        let flow = LoggedFlow {
            number: 0,
            protocol: Protocol::Udp,
            from: Some("[::ffff:10.0.0.1]:4000".parse().unwrap()),
            to: Some("10.0.0.2:8999".parse().unwrap()),
            name: "any".into(),
        };
        let record = |flow, sequence| Record {
            flow,
            sequence,
            bytes: 512,
            start_ns: 1_000_001_999,
            end_ns: 1_000_101_000,
        };
        assert_eq!(away.entry(&Entry::Flow(flow)), Ok(None));
        assert_eq!(
            away.entry(&Entry::Record(record(0, 0))),
            Ok(Some(line(1, 1, 4000)))
        );
        let untold = away.entry(&Entry::Record(record(5, 0))).unwrap().unwrap();
        assert_eq!((untold.flow, untold.from.port()), (6, 0));
        let large = 1 << 32;
        assert_eq!(away.entry(&Entry::Record(record(0, large))), Err(large));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..600), is_text: bool
        ) {
            let form = Form::of(&bytes).unwrap_or(if is_text {
                Form::Text
            } else {
                Form::Binary(Order::Big)
            });
            let mut entries = Entries::default();
            for line in Lines::new(&bytes[..], form).flatten() {
                entries.line(&line, &mut |_| {});
            }
        }
    }
}
