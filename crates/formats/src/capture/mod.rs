//! Captures of TCP: what the packets of each flow say of its round trips, losses and windows.
//!
//! Each direction with payload is a flow. Of each, everything is told as seen at the point of
//! capture and is called *measured*; what only the sender knows, and follows from packets, is
//! *inferred*: its window always, its round trip unless the capture was taken beside it.
//!
//! Source: RFC 6298 (Karn's rule, smoothing), RFC 7323 §4.1, RFC 2018, RFC 2883, RFC 6675.

mod connection;
mod copies;
mod echoes;
mod flow;
mod numbers;
mod pacing;
mod packet;
mod round_trips;
mod scoreboard;
mod sequence;
mod tables;
mod window;

use crate::error::ImportError;
use crate::format::Format;
use crate::imported::{Imported, Run};
use crate::origin::Origin;
use connection::Connection;
use flow::{Flow, Room};
use packet::{End, Kind, Seen};
use std::collections::BTreeMap;
use std::io::Read;
use trammel_core::label::Label;
use trammel_packet::Reader;
use trammel_packet::capture::Error;

/// Connections that are followed; packets of more are counted and passed over.
const MOST_CONNECTIONS: usize = 1 << 14;
/// Samples, and ranges of bytes on their way, that all flows together may remember.
const SAMPLES: usize = 1 << 18;
const RANGES: usize = 1 << 20;
/// The same of one flow, at most.
const SAMPLES_OF_ONE: usize = 4096;
const RANGES_OF_ONE: usize = 1 << 16;

/// What was seen of a capture.
#[derive(Debug, Default)]
struct Capture {
    /// By the two ends, the lesser first: the place of their newest connection.
    places: BTreeMap<(End, End), usize>,
    connections: Vec<Connection>,
    frames: u64,
    damaged: u64,
    beyond: u64,
    first_ns: Option<i64>,
    last_ns: i64,
    backwards: u64,
    copies: u64,
}

impl Capture {
    fn take(&mut self, seen: &Seen) {
        let key = if seen.from <= seen.to {
            (seen.from, seen.to)
        } else {
            (seen.to, seen.from)
        };
        self.first_ns.get_or_insert(seen.at_ns);
        if seen.at_ns < self.last_ns {
            self.backwards += 1;
        }
        self.last_ns = self.last_ns.max(seen.at_ns);
        let known = self.places.get(&key).copied();
        let known = known.filter(|at| !self.connections[*at].is_another(seen));
        let at = match known {
            Some(at) => at,
            None if self.connections.len() >= MOST_CONNECTIONS => {
                self.beyond += 1;
                return;
            }
            None => {
                self.connections.push(Connection::new(seen));
                self.places.insert(key, self.connections.len() - 1);
                self.connections.len() - 1
            }
        };
        let flows = self.connections.len();
        let room = Room {
            ranges: (RANGES / flows).clamp(64, RANGES_OF_ONE),
            samples: (SAMPLES / flows).clamp(16, SAMPLES_OF_ONE),
        };
        if self.connections[at].copies.is_copy(seen) {
            self.copies += 1;
            return;
        }
        self.connections[at].take(seen, room);
    }
}

const OTHER_CAPTURE: &str =
    "give a capture in which the first 100 bytes of each packet are kept (`tcpdump -s 100`)";

/// Reads a capture.
pub(crate) fn read(input: Box<dyn Read + Send>) -> Result<Imported, ImportError> {
    let mut notes = Vec::new();
    let damaged = |why: &Error| match why {
        Error::Malformed { offset, what } => (format!("at byte {offset}"), what.clone()),
        Error::Io { offset, error } => (format!("at byte {offset}"), error.to_string()),
        other => ("the file".to_owned(), other.to_string()),
    };
    let mut reader = Reader::new(input).map_err(|why| {
        let (place, what) = damaged(&why);
        ImportError::damaged(place, what, "give a capture that `tcpdump -r` reads")
    })?;
    let mut capture = Capture::default();
    loop {
        let frame = match reader.next_frame() {
            Ok(Some(frame)) => frame,
            Ok(None) => break,
            // A capture that was stopped ends within a record.
            Err(why) if capture.frames > 0 => {
                let (place, what) = damaged(&why);
                let frames = capture.frames;
                notes.push(format!(
                    "The capture is damaged {place} ({what}); the {frames} frames before count."
                ));
                break;
            }
            Err(why) => {
                let (place, what) = damaged(&why);
                return Err(ImportError::damaged(
                    place,
                    what,
                    "give a capture that `tcpdump -r` reads",
                ));
            }
        };
        capture.frames += 1;
        match packet::kind(&frame) {
            Kind::Tcp(seen) => capture.take(&seen),
            Kind::Damaged => capture.damaged += 1,
            Kind::Other => {}
        }
    }
    if capture.connections.is_empty() {
        let what = format!("none of its {} frames is TCP over IP", capture.frames);
        return Err(ImportError::nothing(what, OTHER_CAPTURE));
    }
    let count = |number: u64, what: &str| (number > 0).then(|| format!("{number} {what}"));
    notes.extend(
        [
            count(
                capture.damaged,
                "TCP segments have damaged or cut headers, and are passed over.",
            ),
            count(
                capture.copies,
                "packets were captured more than once (the same identification, numbers and \
                 timestamps within moments) and count once: capture on one interface, in one \
                 direction.",
            ),
            count(
                capture.beyond,
                "segments belong to more connections than the 16384 that are followed.",
            ),
            count(
                capture.backwards,
                "packets have an earlier time than the one before them: round trips are uncertain.",
            ),
        ]
        .into_iter()
        .flatten(),
    );
    for connection in &mut capture.connections {
        connection.flows.iter_mut().for_each(Flow::finish);
    }
    let mut run = Run::default();
    let by = tables::fill(&mut run, &mut notes, &capture)?;
    let own = Origin::of_capture(reader.application(), &mut notes)?;
    Ok(Imported {
        format: Format::Capture,
        by: match &own {
            Some(own) => format!("{by}, by {}", own.by),
            None => by,
        },
        label: own.map_or(Label::Measured, |own| own.label),
        runs: vec![run],
        notes,
    })
}
