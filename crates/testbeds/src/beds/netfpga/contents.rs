//! Streams through the whole card in virtual time: frames with contents, tables that decide.
//!
//! The frames are those of RFC 2544 from port to port. A frame counts as received where it leaves
//! by its port, or, by the path of the software, where the host has it. What the tables send
//! elsewhere is not there, as for a tester at the ports.

use super::offered::{Beginning, OfferedFrames, Way, frame, which};
use super::ran::{Ran, StreamCounts};
use crate::beds::nodes;
use crate::devices::netfpga::{ROWS, rows};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::path::Path as File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_bench::testbed::{Traffic, Unable};
use trammel_bench::trial::Failure;
use trammel_card::RegisterDataplane;
use trammel_card::tables::{Row, read_rows};
use trammel_control::dataplane::Dataplane;
use trammel_core::time::{Span, Time};
use trammel_netfpga::card::Departure;
use trammel_netfpga::outcome::Variation;
use trammel_netfpga::params::Params;
use trammel_netfpga::recording::Recording;
use trammel_netfpga::stages::{Fcs, Queue};
use trammel_netfpga::stream::Stream;
use trammel_netfpga::tables::read_mac;
use trammel_netfpga::{Card, design};
use trammel_stats::histogram::Histogram;
use trammel_traffic::addresses::Side;
use trammel_workbench::simulated::INTERRUPTED;

/// The name of the tables that a live card of `--dut netfpga` comes to.
const RFC_2544: &str = "rfc2544";
/// Frames that are offered before the card is advanced.
const BATCH: usize = 256;
/// Frames of a stream that may be inside at once: more than its queues hold.
const MOST_INSIDE: usize = 1 << 16;
/// Bytes before a frame on the line: preamble and start delimiter.
const PREAMBLE_BYTES: u64 = 8;

/// What frames have, and what tables the card has.
#[derive(Clone, Debug)]
pub(super) struct Contents {
    pub(super) rows: Vec<Row>,
    /// TTL of the frames.
    pub(super) ttl: u8,
    /// Frames count that the host has, not those that leave by ports.
    pub(super) is_to_host: bool,
    /// Set when the user interrupts.
    pub(super) interrupted: Arc<AtomicBool>,
}

impl Contents {
    /// The tables of `name`: `rfc2544`, or those of a file. The error is what a person is told.
    pub(super) fn of(name: &str) -> Result<Contents, String> {
        let rows = match name {
            RFC_2544 => read_rows(name, ROWS)?,
            file => rows(File::new(file))?,
        };
        Ok(Contents {
            rows,
            ttl: 64,
            is_to_host: false,
            interrupted: Arc::default(),
        })
    }

    fn card(&self, params: &Params) -> Result<Card, Failure> {
        let mut card = Card::new(design("reference-router")?, params)?;
        for row in &self.rows {
            row.write(&mut card);
        }
        Ok(card)
    }

    /// The frames of a stream: flow by flow in turn.
    fn frames(&self, card: &mut Card, traffic: &Traffic, at: usize, of: &Stream) -> Vec<Vec<u8>> {
        let side = if of.from == 0 {
            Side::Input
        } else {
            Side::Output
        };
        let (from, to) = nodes::nodes(side, traffic);
        let v4 = |address: IpAddr| match address {
            IpAddr::V4(address) => address.octets(),
            // Traffic of IPv6 was refused.
            IpAddr::V6(_) => [0; 4],
        };
        let mac = read_mac(card, of.from);
        let flow = |n| Way {
            mac,
            from: v4(from.nth(n)),
            to: v4(to.nth(n)),
            ttl: self.ttl,
        };
        let flows = 0..nodes::flows(traffic);
        flows.map(|n| frame(&flow(n), at, of.frame_bytes)).collect()
    }

    /// Offers `streams` of `traffic`, and waits until the last frame has left or is lost.
    pub(super) fn run(
        &self,
        params: &Params,
        traffic: &Traffic,
        streams: &[Stream],
        wanted: &Recording,
    ) -> Result<Ran, Failure> {
        if streams.iter().any(|of| of.from.max(of.to) > 1) || streams.len() > 256 {
            return Err(Unable(
                "with contents the frames are those of two networks, between ports 0 and 1: leave \
                 `loaded` out"
                    .to_owned(),
            )
            .into());
        }
        let mut card = self.card(params)?;
        let all: Vec<Vec<Vec<u8>>> = streams
            .iter()
            .enumerate()
            .map(|(at, of)| self.frames(&mut card, traffic, at, of))
            .collect();
        let mut offered = OfferedFrames::new(params, streams, |at, _| all[at].clone());
        let mut seen = Seen::new(params, streams, wanted, self.is_to_host);
        let mut frame = Vec::new();
        let mut is_over = false;
        while !is_over {
            let mut last = card.now();
            for _ in 0..BATCH {
                let Some((beginning, port, bytes)) = offered.next() else {
                    is_over = true;
                    break;
                };
                card.offer(beginning.start, Queue::mac(port), bytes, Fcs::Good);
                last = last.max(beginning.start);
                seen.came(beginning);
            }
            // Another frame may begin at the same instant.
            card.advance(Time::from_ps(last.as_ps().saturating_sub(1)));
            while let Some(departure) = card.take(&mut frame) {
                seen.left(&departure, &frame);
            }
            if self.interrupted.load(Ordering::SeqCst) {
                return Err(INTERRUPTED.into());
            }
        }
        while let Some(next) = card.next_event() {
            card.advance(next);
            while let Some(departure) = card.take(&mut frame) {
                seen.left(&departure, &frame);
            }
        }
        seen.end(&mut card)
    }
}

/// The frames of a stream that may be inside: the first is number `first`.
#[derive(Debug, Default)]
struct Inside {
    first: u64,
    /// When each began, and whether it has come.
    frames: VecDeque<(Time, bool)>,
}

/// What a tester sees.
struct Seen<'a> {
    streams: &'a [Stream],
    wanted: &'a Recording,
    is_to_host: bool,
    byte_ps: u64,
    inside: Vec<Inside>,
    previous: Vec<Option<u64>>,
    /// Tagged frames, by stream and number, in the order of their tags.
    tagged: Vec<(usize, u64, Option<u64>)>,
    next_tag: usize,
    ran: Ran,
}

impl<'a> Seen<'a> {
    fn new(
        params: &Params,
        streams: &'a [Stream],
        wanted: &'a Recording,
        is_to_host: bool,
    ) -> Seen<'a> {
        Seen {
            streams,
            wanted,
            is_to_host,
            byte_ps: params.byte_ps(),
            inside: streams.iter().map(|_| Inside::default()).collect(),
            previous: vec![None; streams.len()],
            tagged: Vec::new(),
            next_tag: 0,
            ran: Ran {
                streams: vec![StreamCounts::default(); streams.len()],
                latency: Histogram::of_times(),
                last_lost: None,
                first_out: None,
                last_out: None,
                after: 0,
                tagged: Vec::new(),
                variation: Variation::default(),
            },
        }
    }

    /// A frame begins to come in.
    fn came(&mut self, beginning: Beginning) {
        let Beginning {
            stream,
            number,
            start,
        } = beginning;
        self.ran.streams[stream].received += 1;
        let is_due = |tag: &Time| *tag <= start;
        while self.wanted.tags.get(self.next_tag).is_some_and(is_due) {
            self.tagged.push((stream, number, None));
            self.next_tag += 1;
        }
        self.inside[stream].frames.push_back((start, false));
        while self.inside[stream].frames.len() > MOST_INSIDE {
            self.forget(stream);
        }
    }

    /// The first frame of `stream` that may have been inside is not any more.
    fn forget(&mut self, stream: usize) {
        let inside = &mut self.inside[stream];
        if let Some((start, has_come)) = inside.frames.pop_front() {
            inside.first += 1;
            if !has_come {
                self.ran.last_lost = self.ran.last_lost.max(Some(start));
            }
        }
    }

    /// A frame left the card.
    fn left(&mut self, departure: &Departure, frame: &[u8]) {
        let Some((stream, number)) = which(frame) else {
            return;
        };
        let Some(of) = self.streams.get(stream) else {
            return;
        };
        let is_right = if self.is_to_host {
            departure.queue.is_cpu()
        } else {
            departure.queue == Queue::mac(of.to)
        };
        if !is_right {
            return;
        }
        let inside = &mut self.inside[stream];
        let place = number.checked_sub(inside.first);
        if let Some(place) = place.and_then(|place| inside.frames.get_mut(place as usize)) {
            place.1 = true;
        }
        while self.inside[stream]
            .frames
            .front()
            .is_some_and(|(_, has_come)| *has_come)
        {
            self.forget(stream);
        }
        self.ran.streams[stream].came += 1;
        let end = departure.left;
        self.ran.first_out = Some(self.ran.first_out.map_or(end, |first| first.min(end)));
        if self.wanted.until.is_none_or(|until| end <= until) {
            self.ran.last_out = self.ran.last_out.max(Some(end));
        } else {
            self.ran.after += 1;
        }
        if !self.is_to_host {
            let on_line = self.byte_ps * (of.frame_bytes + PREAMBLE_BYTES);
            let took = end.saturating_since(departure.arrived).as_ps();
            self.took(stream, number, took.saturating_sub(on_line));
        }
    }

    fn took(&mut self, stream: usize, number: u64, latency: u64) {
        self.ran.latency.record(latency);
        if let Some(before) = self.previous[stream].replace(latency) {
            let variation = &mut self.ran.variation;
            let side = if latency < before {
                &mut variation.less
            } else {
                &mut variation.more
            };
            side.record(latency.abs_diff(before));
        }
        for (of, tagged, found) in &mut self.tagged {
            if (*of, *tagged) == (stream, number) {
                *found = Some(latency);
            }
        }
    }

    /// What came of it all; the failure is that no frame came, and why not.
    fn end(mut self, card: &mut Card) -> Result<Ran, Failure> {
        for stream in 0..self.streams.len() {
            while !self.inside[stream].frames.is_empty() {
                self.forget(stream);
            }
        }
        let tagged = self.tagged.iter().filter_map(|(.., latency)| *latency);
        self.ran.tagged = tagged.map(Span::from_ps).collect();
        let total = self.ran.total();
        if total.came > 0 || total.received == 0 {
            return Ok(self.ran);
        }
        let counters = RegisterDataplane::new(card).counters();
        let counters = counters.iter().filter(|(_, count)| *count > 0);
        let counters: Vec<String> = counters
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        let where_to = if self.is_to_host {
            "the host"
        } else {
            "the other port"
        };
        Err(Unable(format!(
            "with these tables no frame comes to {where_to}: of {} the card counts {}",
            total.received,
            counters.join(", ")
        ))
        .into())
    }
}
