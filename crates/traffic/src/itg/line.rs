//! What one record of a D-ITG log tells, and how it becomes a [`Record`].
//!
//! D-ITG writes no date: only the time of the day, in UTC, to the microsecond. The reader of a log
//! gives the day on which it begins, and [`Days`] unwraps midnight: an instant more than half a day
//! before the one in front of it is of the next day, one more than half a day after it of the day
//! before. A log with a gap of half a day or more is therefore misread, and nothing in it could
//! tell.
//!
//! D-ITG numbers packets from 1, ours from 0. With `-p 2` it writes the number 0 for all, which
//! stays 0.

use crate::record::{MOST_BYTES, MOST_FLOWS, Record};
use std::net::SocketAddr;

/// Nanoseconds of a day.
pub const DAY_NS: i64 = 86_400_000_000_000;
/// Microseconds of a day.
pub const DAY_US: u64 = 86_400_000_000;

/// A record of a D-ITG log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The flow's number, from 1.
    pub flow: u32,
    /// The packet's number in the flow, from 1; 0 where the payload had none (`-p 2`).
    pub sequence: u32,
    /// The sender's address and port.
    pub from: SocketAddr,
    /// The receiver's address and port.
    pub to: SocketAddr,
    /// When it was sent: microseconds of the day, below [`DAY_US`].
    pub sent_us: u64,
    /// When it was received, the same way.
    pub received_us: u64,
    /// Bytes of its payload.
    pub bytes: u32,
}

/// Why a record of a log, or one of ours that is to be written, does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A field is not what it should be.
    #[error(
        "record {record}: {field} is `{found}`, not {wants}; the log is damaged or not from D-ITG \
         2.8.1"
    )]
    Field {
        /// Which record, from 1.
        record: u64,
        /// Which field.
        field: &'static str,
        /// What stands there.
        found: String,
        /// What should.
        wants: &'static str,
    },
    /// The log ends within a record.
    #[error("record {record}: the log ends after {bytes} of its {whole} bytes; it is truncated")]
    Cut {
        /// Which record, from 1.
        record: u64,
        /// How much there is of it.
        bytes: usize,
        /// How much there should be.
        whole: usize,
    },
    /// Bytes could not be read or written.
    #[error("record {record}: {error}")]
    Io {
        /// Which record, from 1.
        record: u64,
        /// What the system says.
        error: String,
    },
}

/// Puts the date to the times of a log.
#[derive(Clone, Copy, Debug)]
pub struct Days {
    midnight_ns: i64,
    last_us: Option<u64>,
}

impl Days {
    /// For a log that begins on the day whose midnight (UTC) is `midnight_ns` nanoseconds
    /// after 1970.
    #[must_use]
    pub fn new(midnight_ns: i64) -> Days {
        Days {
            midnight_ns,
            last_us: None,
        }
    }

    /// The record of a line; lines are to come in the order of the log. None if a number is too
    /// large for a record.
    pub fn record(&mut self, line: &Line) -> Option<Record> {
        if let Some(last) = self.last_us {
            self.midnight_ns = self.midnight_ns.checked_add(turn(last, line.received_us))?;
        }
        self.last_us = Some(line.received_us);
        let at = |us: u64| {
            i64::try_from(us)
                .ok()?
                .checked_mul(1000)?
                .checked_add(self.midnight_ns)
        };
        let start = at(line.sent_us)?.checked_add(turn(line.received_us, line.sent_us))?;
        let fits = line.flow < MOST_FLOWS && line.bytes < MOST_BYTES;
        fits.then_some(Record {
            flow: line.flow,
            sequence: u64::from(line.sequence.saturating_sub(1)),
            bytes: line.bytes,
            start_ns: start,
            end_ns: at(line.received_us)?,
        })
    }
}

/// By how many nanoseconds the day changes from one time of the day to one that is less than half a
/// day away.
fn turn(from_us: u64, to_us: u64) -> i64 {
    if from_us > to_us.saturating_add(DAY_US / 2) {
        DAY_NS
    } else if to_us > from_us.saturating_add(DAY_US / 2) {
        -DAY_NS
    } else {
        0
    }
}

impl Line {
    /// A record as D-ITG writes it: times are cut to microseconds, and the date is lost. None if
    /// its number is too large for it.
    #[must_use]
    pub fn new(record: &Record, from: SocketAddr, to: SocketAddr) -> Option<Line> {
        let of_day = |ns: i64| (ns.rem_euclid(DAY_NS) / 1000).unsigned_abs();
        Some(Line {
            flow: record.flow,
            sequence: u32::try_from(record.sequence).ok()?.checked_add(1)?,
            from,
            to,
            sent_us: of_day(record.start_ns),
            received_us: of_day(record.end_ns),
            bytes: record.bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn host() -> SocketAddr {
        SocketAddr::from(([10, 0, 0, 1], 9))
    }

    #[test]
    fn midnight_is_unwrapped_both_ways() {
        let day = 20_000 * DAY_NS;
        let around = [-1_500_i64, -500, 500, -400, 1_500];
        let mut days = Days::new(day);
        for (sequence, at_us) in around.into_iter().enumerate() {
            let record = Record {
                flow: 1,
                sequence: sequence as u64,
                bytes: 100,
                start_ns: day + DAY_NS + (at_us - 700) * 1000,
                end_ns: day + DAY_NS + at_us * 1000,
            };
            let line = Line::new(&record, host(), host()).expect("it fits");
            assert_eq!(days.record(&line), Some(record));
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_what_was(
            start in 0..4_000_000_000_000_000_i64,
            gaps in proptest::collection::vec(0..DAY_NS / 2_000 - 1, 1..20),
            delay in -1_000_000_i64..1_000_000,
        ) {
            let mut at = start;
            let mut days = Days::new(start.div_euclid(DAY_US as i64) * DAY_NS);
            for (sequence, gap) in gaps.into_iter().enumerate() {
                let record = Record {
                    flow: 3,
                    sequence: sequence as u64,
                    bytes: 9,
                    start_ns: (at - delay) * 1000,
                    end_ns: at * 1000,
                };
                at += gap;
                prop_assert_eq!(
                    days.record(&Line::new(&record, host(), host()).unwrap()), Some(record)
                );
            }
        }
    }
}
