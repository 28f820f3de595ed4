//! Two connections, a wire between them, and virtual time.
//!
//! A [`Pair`] moves segments from one end to the other after a one-way delay. A filter sees each
//! segment as it leaves and decides its fate; a log keeps what was sent and when. Nothing happens
//! between events, so a test reads like the diagram in an RFC. After each event the invariants that
//! hold in every state are checked.
#![allow(dead_code, unreachable_pub)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use trammel_core::entry::Params;
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};
use trammel_tcp::cc::{self, CongestionControl};
use trammel_tcp::connection::{Connection, State};
use trammel_tcp::segment::{Ecn, Flags, Segment};
use trammel_tcp::stack::Stack;

/// Index of the end that connects.
pub const CLIENT: usize = 0;
/// Index of the end that listens.
pub const SERVER: usize = 1;

/// Segments that one end may send without any event between: more is an endless loop.
const BURST_MAX: usize = 100_000;

/// A segment that leaves an end.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When.
    pub time: Time,
    /// By whom.
    pub from: usize,
    /// How many segments, and how many with payload or FIN, this end had sent before.
    pub count: usize,
    pub data_count: usize,
    pub segment: Segment,
}

impl Sent {
    /// It carries payload or a FIN.
    pub fn is_data(&self) -> bool {
        self.segment.len > 0 || self.segment.flags.has(Flags::FIN)
    }
    pub fn end(&self) -> u32 {
        self.segment.seq.wrapping_add(self.segment.seq_len())
    }
}

/// What becomes of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives after the path's delay.
    Pass,
    /// It is lost.
    Drop,
    /// It arrives later than others by this much.
    Late(Span),
    /// It arrives in time, and a copy later by this much.
    Twice(Span),
    /// A router marks it, if it is ECN-capable.
    Mark,
    /// It loses its ECN field.
    Bleach,
}

type Filter = Box<dyn FnMut(&Sent) -> Fate>;

/// Two ends and what is between them.
pub struct Pair {
    pub now: Time,
    pub end: [Connection; 2],
    pub log: Vec<Sent>,
    delay: Span,
    filter: Filter,
    wire: BTreeMap<(Time, u64), (usize, Segment)>,
    order: u64,
    counts: [(usize, usize); 2],
}

/// The variant called `name`, with its defaults.
pub fn variant(name: &str) -> Box<dyn CongestionControl> {
    let entry = cc::find(name).expect("the variant is built in");
    let params = Params::resolve(&entry.about, &[]).expect("defaults are valid");
    (entry.build)(&params)
}

/// A random stream whose first number, the initial sequence number, lies within `reach` below the
/// wrap.
pub fn stream_near_the_wrap(reach: u32) -> Rng {
    (0..u64::MAX)
        .map(|seed| Rng::new(seed, "near the wrap"))
        .find(|rng| rng.clone().below(1 << 32) > u64::from(u32::MAX - reach))
        .expect("one in four billion divided by reach")
}

impl Pair {
    /// Two closed ends with the same stack and variant, `one_way_ms` apart.
    pub fn closed(stacks: [&Stack; 2], variants: [&str; 2], one_way_ms: u64) -> Pair {
        let client = Connection::client(stacks[0], variant(variants[0]), Rng::new(1, "client"));
        let server = Connection::server(stacks[1], variant(variants[1]), Rng::new(1, "server"));
        Pair::of([client, server], one_way_ms)
    }

    pub fn of(end: [Connection; 2], one_way_ms: u64) -> Pair {
        Pair {
            // Not the very beginning: nothing may depend on time being zero.
            now: Time::from_ms(1000),
            end,
            log: Vec::new(),
            delay: Span::from_ms(one_way_ms),
            filter: Box::new(|_| Fate::Pass),
            wire: BTreeMap::new(),
            order: 0,
            counts: [(0, 0); 2],
        }
    }

    /// The same stack and Reno at both ends, 20 ms of round trip; the SYN has been sent.
    pub fn connecting(stack: &Stack) -> Pair {
        let mut pair = Pair::closed([stack; 2], ["reno"; 2], 10);
        pair.connect();
        pair
    }

    /// As [`connecting`](Pair::connecting), and the handshake is over.
    pub fn established(stack: &Stack) -> Pair {
        let mut pair = Pair::connecting(stack);
        pair.finish_handshake();
        pair
    }

    pub fn finish_handshake(&mut self) {
        let both = |pair: &Pair| pair.end.iter().all(|end| end.state() == State::Established);
        assert!(
            self.run_while(|pair| !both(pair), Span::from_secs(10)),
            "no handshake"
        );
    }

    pub fn connect(&mut self) {
        self.end[CLIENT].connect(self.now);
        self.pump(CLIENT);
    }

    /// Lets `filter` decide the fate of segments that leave from now on.
    pub fn filter(&mut self, filter: impl FnMut(&Sent) -> Fate + 'static) {
        self.filter = Box::new(filter);
    }

    /// Drops the data segments of `from` with these numbers, counted from now on.
    pub fn drop_data(&mut self, from: usize, numbers: &'static [usize]) {
        let start = self.counts[from].1;
        self.filter(move |sent| {
            let hit = sent.from == from
                && sent.is_data()
                && numbers.contains(&(sent.data_count.wrapping_sub(start)));
            if hit { Fate::Drop } else { Fate::Pass }
        });
    }

    /// Nothing more happens to segments.
    pub fn heal(&mut self) {
        self.filter(|_| Fate::Pass);
    }

    pub fn write(&mut self, who: usize, bytes: u64) {
        self.end[who].write(bytes);
        self.pump(who);
    }

    pub fn close(&mut self, who: usize) {
        self.end[who].close();
        self.pump(who);
    }

    pub fn abort(&mut self, who: usize) {
        self.end[who].abort();
        self.pump(who);
    }

    pub fn read(&mut self, who: usize, most: u32) -> u32 {
        let bytes = self.end[who].read(self.now, most);
        self.pump(who);
        bytes
    }

    /// Hands a made-up segment to an end, now.
    pub fn inject(&mut self, to: usize, segment: Segment) {
        self.end[to].on_segment(self.now, &segment);
        self.check(to);
        self.pump(to);
    }

    /// A segment as `from` would send it, to be altered and injected.
    pub fn forge(&self, from: usize) -> Segment {
        let last = self
            .log
            .iter()
            .rev()
            .find(|sent| sent.from == from)
            .expect("has sent");
        let mut segment = last.segment;
        segment.seq = self.end[from].tp().snd_nxt;
        segment.len = 0;
        segment.flags = Flags::ACK;
        segment.sack_count = 0;
        if segment.options.timestamps {
            segment.options.wscale_plus_1 = 0;
            segment.options.sack_permitted = false;
        }
        segment
    }

    /// Sends what `who` has to send.
    pub fn pump(&mut self, who: usize) {
        for sent in 0.. {
            assert!(
                sent < BURST_MAX,
                "end {who} never stops sending at {}",
                self.now
            );
            let Some(segment) = self.end[who].poll_transmit(self.now) else {
                break;
            };
            self.carry(who, segment);
        }
        self.check(who);
    }

    fn carry(&mut self, from: usize, segment: Segment) {
        let (count, data_count) = self.counts[from];
        let sent = Sent {
            time: self.now,
            from,
            count,
            data_count,
            segment,
        };
        let [a, b] = [0, 1].map(|who| u32::from(self.end[who].stack().mss));
        assert!(
            segment.len == 0 || segment.header_bytes() + segment.len <= 20 + a.min(b),
            "end {from}: larger than the MSS allows: {segment:?}"
        );
        self.counts[from].0 += 1;
        self.counts[from].1 += usize::from(sent.is_data());
        self.log.push(sent);
        let arrival = self.now + self.delay;
        match (self.filter)(&sent) {
            Fate::Pass => self.put(arrival, 1 - from, segment),
            Fate::Drop => {}
            Fate::Late(more) => self.put(arrival + more, 1 - from, segment),
            Fate::Twice(more) => {
                self.put(arrival, 1 - from, segment);
                self.put(arrival + more, 1 - from, segment);
            }
            Fate::Bleach => {
                let mut segment = segment;
                segment.ecn = Ecn::NotEct;
                self.put(arrival, 1 - from, segment);
            }
            Fate::Mark => {
                let mut segment = segment;
                if segment.ecn != Ecn::NotEct {
                    segment.ecn = Ecn::Ce;
                }
                self.put(arrival, 1 - from, segment);
            }
        }
    }

    fn put(&mut self, at: Time, to: usize, segment: Segment) {
        self.order += 1;
        self.wire.insert((at, self.order), (to, segment));
    }

    /// When the next event is.
    pub fn next_event(&self) -> Time {
        let wire = self
            .wire
            .first_key_value()
            .map_or(Time::MAX, |((at, _), _)| *at);
        wire.min(self.end[0].next_timer())
            .min(self.end[1].next_timer())
    }

    /// Lets the next event happen; false where there is none.
    pub fn step(&mut self) -> bool {
        let next = self.next_event();
        if next == Time::MAX {
            return false;
        }
        assert!(
            next >= self.now,
            "an event at {next} lies before {}",
            self.now
        );
        self.now = next;
        if let Some(first) = self
            .wire
            .first_entry()
            .filter(|first| first.key().0 == next)
        {
            let (to, segment) = first.remove();
            self.end[to].on_segment(self.now, &segment);
            self.check(to);
            self.pump(to);
            return true;
        }
        for who in [CLIENT, SERVER] {
            if self.end[who].next_timer() <= self.now {
                self.end[who].on_timer(self.now);
                self.check(who);
                self.pump(who);
                let timer = self.end[who].next_timer();
                assert!(
                    timer > self.now,
                    "end {who}: timer at {timer} is past at {}",
                    self.now
                );
            }
        }
        true
    }

    /// Runs until `deadline`, and the clock with it.
    pub fn run_until(&mut self, deadline: Time) {
        while self.next_event() <= deadline {
            self.step();
        }
        self.now = deadline;
    }

    pub fn run_for(&mut self, span: Span) {
        self.run_until(self.now + span);
    }

    pub fn run_ms(&mut self, ms: u64) {
        self.run_for(Span::from_ms(ms));
    }

    /// Runs while `busy`, for `limit` at most; whether it ended for being no longer busy.
    pub fn run_while(&mut self, busy: impl Fn(&Pair) -> bool, limit: Span) -> bool {
        let deadline = self.now + limit;
        while busy(self) {
            if self.next_event() > deadline || !self.step() {
                return false;
            }
        }
        true
    }

    /// Runs until everything written was acknowledged.
    pub fn run_until_acked(&mut self, limit: Span) {
        let busy = |pair: &Pair| !pair.end.iter().all(Connection::all_acked);
        assert!(
            self.run_while(busy, limit),
            "not all acknowledged within {limit}"
        );
    }

    /// Invariants of every state.
    fn check(&self, who: usize) {
        let tp = self.end[who].tp();
        assert!(tp.snd_cwnd >= 1, "window of nothing");
        assert!(
            tp.sacked_out + tp.lost_out <= tp.packets_out + tp.retrans_out,
            "end {who}: {} sacked and {} lost of {} out and {} again",
            tp.sacked_out,
            tp.lost_out,
            tp.packets_out,
            tp.retrans_out
        );
        assert!(tp.retrans_out <= tp.packets_out);
    }

    /// Segments that `from` sent since the log's `mark`.
    pub fn sent_since(&self, mark: usize, from: usize) -> Vec<Sent> {
        self.log[mark..]
            .iter()
            .filter(|sent| sent.from == from)
            .copied()
            .collect()
    }

    /// Data segments that `from` sent since the log's `mark`.
    pub fn data_since(&self, mark: usize, from: usize) -> Vec<Sent> {
        let mut sent = self.sent_since(mark, from);
        sent.retain(Sent::is_data);
        sent
    }

    /// The last segments of the log and the state of both ends, for the message of a failed test.
    pub fn story(&self, lines: usize) -> String {
        let mut story = String::new();
        for sent in &self.log[self.log.len().saturating_sub(lines)..] {
            let Segment {
                seq,
                ack,
                len,
                window,
                flags,
                ..
            } = sent.segment;
            let arrow = if sent.from == CLIENT { "-->" } else { "<--" };
            let blocks = sent.segment.sack_blocks();
            let (time, flags) = (sent.time, flags.0);
            let _ = writeln!(
                story,
                "{time} {arrow} {seq}+{len} ack {ack} window {window} flags {flags:#x} {blocks:?}"
            );
        }
        for end in &self.end {
            let tp = end.tp();
            let _ = writeln!(
                story,
                "{:?} {:?} una {} nxt {} cwnd {} out {} sacked {} lost {} again {} {:?} window {} \
                 unsent {} timer {}",
                end.state(),
                end.failure(),
                tp.snd_una,
                tp.snd_nxt,
                tp.snd_cwnd,
                tp.packets_out,
                tp.sacked_out,
                tp.lost_out,
                tp.retrans_out,
                tp.ca_state,
                end.peer_window(),
                end.unsent(),
                end.next_timer(),
            );
        }
        story
    }

    pub fn mark(&self) -> usize {
        self.log.len()
    }

    pub fn delivered(&self, at: usize) -> u64 {
        self.end[at].counters().bytes_delivered
    }

    pub fn cwnd(&self) -> u32 {
        self.end[CLIENT].tp().snd_cwnd
    }
}
