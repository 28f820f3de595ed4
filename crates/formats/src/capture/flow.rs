//! One direction of a connection: its data, and the acknowledgements that answer it.
//!
//! Everything is counted twice over, as far as the point of capture can see: what lies between it
//! and the receiver (data until its acknowledgement, *beyond*), and what lies between it and the
//! sender (an acknowledgement until data that echoes its timestamp, *before*). At the sender the
//! first is the round trip, at the receiver the second, between them their sum.

use super::echoes::{Echoes, Heard};
use super::numbers::Numbers;
use super::pacing::Pacing;
use super::packet::Seen;
use super::round_trips::RoundTrips;
use super::scoreboard::Scoreboard;
use super::sequence::Positions;
use super::window::Window;
use trammel_tcp::segment::{Ecn, Flags};

/// Without timestamps, what fills a hole sooner than this was overtaken, and not sent again.
const REORDERED_NS: i64 = 3_000_000;
/// The least retransmission timeout of common stacks: silence before a retransmission that is no
/// fast one.
const TIMEOUT_NS: i64 = 200_000_000;
/// Timeouts after which everything is held for lost; more are counted only, since each walks
/// through all that is on its way.
const MOST_TIMEOUTS: u64 = 1000;
/// Without a handshake, the payload of a full segment on Ethernet with timestamps.
const USUAL_PAYLOAD: u32 = 1448;
/// From which evenness on a sender spaces its data.
const EVEN: f64 = 0.5;
/// Segments with data for each one without, in an end that sends data.
const MANY: u64 = 20;
/// The largest payload that is taken for one segment where no MSS is known (jumbo frames).
const LARGEST_PAYLOAD: u32 = 9000;

/// Payloads of a full segment on Ethernet, by their options; a larger packet that one of them
/// divides is several segments.
const FULL_PAYLOADS: [u32; 4] = [1448, 1460, 1440, 1428];
const ETHERNET_PAYLOAD: u32 = 1460;

/// The payload of each segment in a packet that is larger than one on Ethernet.
fn payload_of_each(large: u32) -> Option<u32> {
    let each = FULL_PAYLOADS.into_iter();
    let mut dividing = each.filter(|each| large.is_multiple_of(*each));
    dividing.next().filter(|_| large > ETHERNET_PAYLOAD)
}

/// A look at a flow, at an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) at_ns: i64,
    pub(super) acked_bytes: u64,
    pub(super) flight: u64,
    pub(super) far_flight: Option<u64>,
    pub(super) window: Option<u64>,
    pub(super) far_window: Option<u64>,
    pub(super) beyond: (Option<f64>, Option<f64>),
    pub(super) around: (Option<f64>, Option<f64>),
    pub(super) retransmissions: u64,
    pub(super) receive_window: u64,
}

/// Counts of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) sent_pkts: u64,
    pub(super) ip_bytes: u64,
    pub(super) again_pkts: u64,
    pub(super) again_bytes: u64,
    pub(super) filled_pkts: u64,
    pub(super) reordered_pkts: u64,
    pub(super) spurious_pkts: u64,
    pub(super) duplicate_acks: u64,
    pub(super) sacks: u64,
    pub(super) marks_pkts: u64,
    pub(super) ecn_capable_pkts: u64,
    pub(super) ecn_echoes: u64,
    pub(super) timeouts: u64,
    pub(super) acks: u64,
    /// Acknowledgements with news of data.
    pub(super) news: u64,
    /// Segments without data that this end sent.
    pub(super) empty_pkts: u64,
}

/// The data of one end.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    positions: Positions,
    board: Scoreboard,
    /// Where the payload begins, and ends where a FIN said so.
    first: Option<u64>,
    fin: Option<u64>,
    /// The largest payload that the peer takes, by its SYN.
    pub(super) mss: Option<u16>,
    has_timestamps: bool,
    largest_payload: u32,
    /// The payload of a full segment, inferred where no SYN told of one.
    pub(super) inferred_payload: Option<u32>,
    /// When data began, was last acknowledged anew, and was last seen.
    pub(super) first_data_ns: Option<i64>,
    pub(super) last_news_ns: Option<i64>,
    pub(super) last_data_ns: Option<i64>,
    last_event_ns: Option<i64>,
    watched_ns: Option<i64>,
    /// The largest timestamp of this end, for reordering.
    latest_ts: Option<u32>,
    /// When a hole was last made.
    hole_ns: Option<i64>,
    pub(super) beyond: RoundTrips,
    pub(super) around: RoundTrips,
    /// The part between sender and point of capture alone.
    pub(super) before: RoundTrips,
    echoes: Echoes,
    numbers: Numbers,
    pacing: Pacing,
    pub(super) near: Window,
    pub(super) far: Window,
    far_flight: Option<u64>,
    /// The receiver's window, bytes; its last raw value tells a window update from a duplicate.
    receive_window: Option<u64>,
    raw_window: u16,
    /// Time in which the receiver's window was full, and all time, seconds.
    limited_s: f64,
    watched_s: f64,
    pub(super) counts: Counts,
    pub(super) samples: Vec<Sample>,
    stride: u64,
    looks: u64,
}

/// How much a flow may remember, by how many flows there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) ranges: usize,
    pub(super) samples: usize,
}

impl Flow {
    /// Payload bytes of a full segment.
    pub(super) fn segment_bytes(&self) -> u64 {
        let options = if self.has_timestamps { 12 } else { 0 };
        let told = self.mss.map(|mss| u32::from(mss).saturating_sub(options));
        let seen = match self.largest_payload {
            0 => USUAL_PAYLOAD,
            large if large > LARGEST_PAYLOAD => USUAL_PAYLOAD,
            seen => seen,
        };
        let bytes = match told {
            // A sender may know of a smaller path than its peer.
            Some(told) if self.largest_payload >= told => told,
            Some(told) => seen.min(told),
            None => self.inferred_payload.unwrap_or(seen),
        };
        u64::from(bytes.max(1))
    }

    fn packets(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.segment_bytes())
    }

    /// Payload bytes that were acknowledged, or without acknowledgements were seen.
    pub(super) fn delivered_bytes(&self) -> u64 {
        let Some(first) = self.first else { return 0 };
        let until = match self.counts.acks {
            0 => self.board.next(),
            _ => self.board.acked(),
        };
        until
            .min(self.fin.unwrap_or(u64::MAX))
            .saturating_sub(first)
    }

    /// Whether the end said that it had sent everything, and that was acknowledged.
    pub(super) fn is_complete(&self) -> bool {
        self.fin.is_some_and(|fin| self.board.acked() >= fin)
    }

    /// The part of the time in which the receiver's window was full.
    pub(super) fn limited(&self) -> Option<f64> {
        let is_known = self.watched_s > 0.0 && self.receive_window.is_some();
        is_known.then(|| self.limited_s / self.watched_s)
    }

    /// A segment of this end.
    pub(super) fn data(&mut self, seen: &Seen, room: Room) {
        let segment = &seen.segment;
        let is_syn = segment.flags.has(Flags::SYN);
        let start = self.positions.of(segment.seq) + u64::from(is_syn);
        let end = start + u64::from(segment.len);
        self.has_timestamps = segment.options.timestamps;
        if is_syn {
            self.board.begin(start);
            self.first = Some(start);
        }
        if segment.flags.has(Flags::FIN) && !segment.flags.has(Flags::RST) {
            self.fin = Some(end);
        }
        let echo = segment.options.timestamps.then_some(segment.ts_ecr);
        if segment.len == 0 || segment.flags.has(Flags::RST) {
            if !is_syn && !segment.flags.has(Flags::RST) {
                self.counts.empty_pkts += 1;
                self.numbers.take(seen.id, 1, false);
            }
            return;
        }
        // A probe that the peer is alive repeats a byte that it has.
        let is_probe = segment.len == 1 && end <= self.board.acked();
        if is_probe {
            return;
        }
        self.watch(seen.at_ns);
        self.first.get_or_insert(start);
        self.board.begin(start);
        self.before_data(seen.at_ns, echo);
        self.largest_payload = self.largest_payload.max(segment.len);
        let carried = self.packets(u64::from(segment.len));
        self.numbers
            .take(seen.id, carried, start == self.board.next());
        if let Some(echo) = echo.filter(|_| start >= self.board.next()) {
            self.pacing.data(segment.ts_val, echo);
        }
        if self.mss.is_none() && self.inferred_payload.is_none() {
            self.inferred_payload = payload_of_each(segment.len);
        }
        self.detect_timeout(seen.at_ns, start);
        let next = self.board.next();
        let ts_val = segment.ts_val;
        let was = self.board.send(start, end, seen.at_ns, ts_val, room.ranges);
        if start > next {
            self.hole_ns = Some(seen.at_ns);
        }
        let packets = self.packets(u64::from(segment.len));
        self.counts.sent_pkts += packets;
        // Each segment of a large packet has headers of its own on the wire.
        let more = u64::from(seen.header_bytes) * packets.saturating_sub(1);
        self.counts.ip_bytes += u64::from(seen.ip_bytes) + more;
        self.counts.again_pkts += self.packets(was.again);
        self.counts.again_bytes += was.again;
        if was.filled > 0 {
            self.fill(seen.at_ns, segment.options.timestamps, ts_val, was.filled);
        }
        let is_later = |latest: u32| ts_val.wrapping_sub(latest) as i32 > 0;
        if segment.options.timestamps && self.latest_ts.is_none_or(is_later) {
            self.latest_ts = Some(ts_val);
        }
        match segment.ecn {
            Ecn::Ce => {
                self.counts.marks_pkts += packets;
                self.counts.ecn_capable_pkts += packets;
            }
            Ecn::NotEct => {}
            _ => self.counts.ecn_capable_pkts += packets,
        }
        self.first_data_ns.get_or_insert(seen.at_ns);
        self.last_data_ns = Some(seen.at_ns);
        self.last_event_ns = Some(seen.at_ns);
        self.near.set(seen.at_ns, self.board.flight());
        if self.far_flight.is_none() {
            // Nothing was heard yet: all that was sent is in flight.
            let out = self
                .board
                .next()
                .saturating_sub(self.first.unwrap_or(start));
            self.far.set(seen.at_ns, out);
        }
    }

    /// No more packets come. What was acknowledged last was heard a round trip later, by a sender
    /// that had nothing more to send.
    pub(super) fn finish(&mut self) {
        let Some(round_trip) = self.around.smoothed_us().filter(|_| self.is_complete()) else {
            return;
        };
        for (at_ns, heard) in std::mem::take(&mut self.echoes).unheard() {
            let at_ns = at_ns.saturating_add((round_trip * 1e3) as i64);
            let out = self.board.next().saturating_sub(heard.acked);
            self.far.set(at_ns, out.saturating_sub(heard.sacked));
            self.far.acknowledge(false);
        }
    }

    /// Bytes that fill a hole were overtaken, or are the first copy that got this far of bytes that
    /// were lost.
    fn fill(&mut self, at_ns: i64, has_timestamp: bool, ts_val: u32, bytes: u64) {
        let is_older = |latest: u32| (ts_val.wrapping_sub(latest) as i32) < 0;
        let is_soon = self
            .hole_ns
            .is_some_and(|hole| at_ns.saturating_sub(hole) < REORDERED_NS);
        let by_time = || match (has_timestamp, self.latest_ts) {
            (true, Some(latest)) => is_older(latest) || (is_soon && ts_val == latest),
            _ => is_soon,
        };
        let is_overtaken = self.numbers.is_overtaken().unwrap_or_else(by_time);
        let packets = self.packets(bytes);
        if is_overtaken {
            self.counts.reordered_pkts += packets;
        } else {
            self.counts.filled_pkts += packets;
        }
    }

    /// Whether the first unacknowledged bytes are sent again after so long a silence that a timer
    /// has fired.
    fn detect_timeout(&mut self, at_ns: i64, start: u64) {
        let Some(last) = self.last_event_ns else {
            return;
        };
        let is_first = start == self.board.acked() && start < self.board.next();
        let silence = at_ns.saturating_sub(last);
        let round_trip = self.around.smoothed_us().or(self.beyond.smoothed_us());
        let least = round_trip.map_or(0, |us| (us * 1e3) as i64).max(TIMEOUT_NS);
        if is_first && silence >= least {
            self.counts.timeouts += 1;
            if self.counts.timeouts <= MOST_TIMEOUTS {
                self.board.lose_all();
            }
        }
    }

    /// What data say of the way between sender and point of capture.
    fn before_data(&mut self, at_ns: i64, echo: Option<u32>) {
        let Some(found) = echo.and_then(|echo| self.echoes.data(at_ns, echo)) else {
            return;
        };
        if let Some(ns) = found.since_ns {
            self.before.push_ns(ns);
            // Until data were acknowledged, one half of the way is not known.
            if let Some(beyond) = self.beyond.last_us() {
                let own = ns.saturating_sub(self.waited_ns(at_ns)).max(0);
                self.around
                    .push_ns(own.saturating_add((beyond * 1e3) as i64));
            }
        }
        // All that the sender sent before it heard more: what was in flight from there.
        if let Some(heard) = found.heard {
            let Heard { acked, sacked, .. } = heard;
            let out = self.board.next().saturating_sub(acked);
            let lost = if sacked > 0 {
                self.board.unseen_below(heard.lost_below)
            } else {
                0
            };
            let flight = out.saturating_sub(sacked + lost);
            // That was the most, when the last of them had left: a sender that spaces them had
            // less in flight after each acknowledgement.
            let less = self.pacing.evenness() * self.bytes_of_ack() / 2.0;
            let usual = flight.saturating_sub(less as u64);
            self.far_flight = Some(usual);
            self.far.set_most(at_ns, flight, usual);
            self.far.acknowledge(sacked > 0);
        }
    }

    /// How long data that are the first to echo an acknowledgement waited at a sender that spaces
    /// them, on the mean: half the time from one segment to the next where the sender looks at
    /// nothing else, and none where it also waits for its window. Nobody can tell these apart here,
    /// so half of it.
    fn waited_ns(&self, at_ns: i64) -> i64 {
        let last = self.last_data_ns.unwrap_or(at_ns);
        let gap = at_ns.saturating_sub(last).max(0) as f64;
        (self.pacing.evenness() * gap / 4.0) as i64
    }

    /// Bytes that an acknowledgement is of, on the mean.
    fn bytes_of_ack(&self) -> f64 {
        let acked = self.board.acked().saturating_sub(self.first.unwrap_or(0));
        acked as f64 / self.counts.news.max(1) as f64
    }

    /// Whether the sender spaces its data, so that its window may allow more than it used.
    pub(super) fn is_paced(&self) -> bool {
        self.pacing.evenness() >= EVEN
    }

    /// Packets that were sent and lost before the point of capture.
    pub(super) fn lost_before(&self) -> u64 {
        let filled = self.counts.filled_pkts;
        // A number that is missing may be that of an acknowledgement, where this end sends many.
        let is_of_data = self.counts.empty_pkts.saturating_mul(MANY) <= self.counts.sent_pkts;
        let missing = self.numbers.missing().filter(|_| is_of_data);
        missing.map_or(filled, |missing| missing.max(filled))
    }

    /// Packets that carried bytes which an earlier one had carried.
    pub(super) fn retransmissions(&self) -> u64 {
        self.counts.again_pkts + self.lost_before()
    }

    /// A segment of the other end, which acknowledges.
    pub(super) fn acknowledged(&mut self, seen: &Seen, scale: Option<u8>, room: Room) {
        let segment = &seen.segment;
        if !segment.flags.has(Flags::ACK) || segment.flags.has(Flags::RST) {
            return;
        }
        let ack = self.positions.of(segment.ack);
        let is_syn = segment.flags.has(Flags::SYN);
        if self.first.is_none() {
            // Acknowledgements of data that was never seen tell nothing.
            return;
        }
        self.watch(seen.at_ns);
        let shift = if is_syn { 0 } else { scale.unwrap_or(0) };
        let window = u64::from(segment.window) << shift;
        let mut blocks = [(0, 0); 4];
        let count = segment.sack_blocks().len().min(4);
        for (to, block) in blocks.iter_mut().zip(segment.sack_blocks()) {
            let of = |number| {
                let mut apart = self.positions;
                apart.of(number)
            };
            *to = (of(block.start), of(block.end));
        }
        let blocks = &blocks[..count];
        let is_duplicate_block = blocks.first().is_some_and(|first| {
            let is_inside = |outer: &(u64, u64)| outer.0 <= first.0 && first.1 <= outer.1;
            first.1 <= ack || blocks.get(1).is_some_and(is_inside)
        });
        if is_duplicate_block && let Some((start, end)) = blocks.first() {
            self.counts.spurious_pkts += self.packets(end.saturating_sub(*start));
        }
        let is_outstanding = !self.board.is_empty();
        let is_duplicate = segment.len == 0
            && !segment.flags.any(Flags::SYN.with(Flags::FIN))
            && ack == self.board.acked()
            && is_outstanding
            && segment.window == self.raw_window;
        self.raw_window = segment.window;
        self.counts.acks += 1;
        self.counts.duplicate_acks += u64::from(is_duplicate);
        self.counts.sacks += u64::from(count > 0);
        if segment.flags.has(Flags::ECE) && !is_syn {
            self.counts.ecn_echoes += 1;
        }
        let ts_ecr = segment.options.timestamps.then_some(segment.ts_ecr);
        let full = self.segment_bytes();
        let before = self.board.acked();
        let acked = self
            .board
            .acknowledge(ack, blocks, seen.at_ns, ts_ecr, full);
        if let Some(ns) = acked.round_trip_ns {
            self.beyond.push_ns(ns);
        }
        if segment.options.timestamps {
            let heard = Heard {
                acked: self.board.acked(),
                sacked: self.board.sacked(),
                lost_below: self.board.lost_below(full),
            };
            self.echoes.ack(seen.at_ns, segment.ts_val, heard);
        }
        if acked.is_news {
            self.counts.news += 1;
            self.last_event_ns = Some(seen.at_ns);
            if self.board.acked() > before && self.first_data_ns.is_some() {
                self.last_news_ns = Some(seen.at_ns);
            }
        }
        self.receive_window = Some(window);
        self.near.set(seen.at_ns, self.board.flight());
        self.near.acknowledge(self.board.sacked() > 0);
        if self.first_data_ns.is_some() && (acked.is_news || is_outstanding) {
            self.look(seen.at_ns, window, room);
        }
    }

    /// Counts the time since the last event for what it was.
    fn watch(&mut self, at_ns: i64) {
        if let (Some(last), Some(window)) = (self.watched_ns, self.receive_window) {
            let seconds = at_ns.saturating_sub(last).max(0) as f64 / 1e9;
            let out = self.board.next().saturating_sub(self.board.acked());
            self.watched_s += seconds;
            if out + self.segment_bytes() > window && out > 0 {
                self.limited_s += seconds;
            }
        }
        self.watched_ns = Some(at_ns);
    }

    fn look(&mut self, at_ns: i64, receive_window: u64, room: Room) {
        self.looks += 1;
        if self.stride > 0 && !self.looks.is_multiple_of(self.stride + 1) {
            return;
        }
        if self.samples.len() >= room.samples {
            let mut n = 0_usize;
            self.samples.retain(|_| {
                n += 1;
                n % 2 == 1
            });
            self.stride = self.stride * 2 + 1;
        }
        let before = self.samples.last().map_or(0, |last| last.retransmissions);
        self.samples.push(Sample {
            at_ns,
            acked_bytes: self.delivered_bytes(),
            flight: self.board.flight(),
            far_flight: self.far_flight,
            window: self.near.now(),
            far_window: self.far.now(),
            beyond: (self.beyond.last_us(), self.beyond.smoothed_us()),
            around: (self.around.last_us(), self.around.smoothed_us()),
            // What is missing may only be late.
            retransmissions: self.retransmissions().max(before),
            receive_window,
        });
    }
}
