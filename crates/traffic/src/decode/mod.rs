//! The decoder: what the records of a log say of flows and of all of them together.
//!
//! It takes entries one by one and keeps no records: of each flow a window of sequence numbers,
//! histograms, and the intervals of its series, about 250 KB with the default [`Options`] and 130
//! KB more where delays lie on both sides of 0. What is beyond the limits of those is counted as
//! such and never silently left out.
//!
//! - A **flow** belongs to a session of the log: the same number in two sessions is two flows.
//! - **Totals** are kept for each kind of instants apart, as lateness, one-way delay and round trip
//!   are not one thing.
//! - **Received** are first copies within the window. Duplicates, and packets later than the
//!   window, count among packets and bytes and nowhere else.

pub mod clock;
mod delay;
mod doubling;
mod filter;
mod flow;
mod jitter;
pub mod live;
mod loss;
pub mod pairs;
mod reorder;
mod series;
mod spread;
#[cfg(test)]
mod tests;
mod window;

pub use delay::{DelayReport, PdvReport};
pub use doubling::Bucket;
pub use filter::Filter;
pub use flow::Summary;
pub use jitter::{IpdvReport, JitterReport};
pub use loss::LossReport;
pub use reorder::{MOST_N, ReorderReport};
pub use series::IntervalReport;
pub use spread::{MOST_CDF_POINTS, Quantiles};

use crate::log::{Entry, Session};
use crate::record::{Instants, LoggedFlow, MOST_SEQUENCE, Record};
use clock::Clock;
use flow::{Counts, FlowCounts, Intervals};
use pairs::Pair;
use series::{Axis, Series};
use std::collections::{BTreeMap, VecDeque};
use trammel_core::time::Span;

/// What is decoded and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The length of a series' intervals, which begin at the first record that is decoded; at least
    /// 1 ns.
    pub interval: Span,
    /// How many sequence numbers of a flow are told apart: a packet that comes after one that is
    /// greater by `window` or more is too late, and lost. Rounded up to a power of two, from 2 to
    /// 2²⁰; it takes 8 bytes a number.
    pub window: usize,
    /// The level of confidence intervals, between 0 and 1.
    pub level: f64,
    /// How far receivers' clocks are from senders', by their hosts: subtracted from the one-way
    /// delays of their flows.
    pub clocks: BTreeMap<Pair, Clock>,
    /// Which records.
    pub filter: Filter,
    /// The most flows, and sessions; records of further ones are only counted.
    pub most_flows: usize,
    /// The most intervals of all flows' series, of about 100 bytes; records beyond them are in no
    /// series.
    pub most_intervals: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            interval: Span::from_secs(1),
            window: 8192,
            level: 0.95,
            clocks: BTreeMap::new(),
            filter: Filter::default(),
            most_flows: 1024,
            most_intervals: 1 << 20,
        }
    }
}

/// A flow of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowReport {
    /// Its session's place in [`Report::sessions`].
    pub session: usize,
    /// Its number.
    pub number: u32,
    /// What the log tells of it; `None` where it has records only.
    pub flow: Option<LoggedFlow>,
    /// Its numbers.
    pub summary: Summary,
    /// The same by intervals.
    pub series: Vec<IntervalReport>,
}

/// All flows whose records hold the same instants.
#[derive(Clone, Debug, PartialEq)]
pub struct TotalReport {
    /// Which.
    pub instants: Instants,
    /// How many flows.
    pub flows: u64,
    /// Their numbers together: means are over packets, losses and reordering within flows, summed
    /// up.
    pub summary: Summary,
    /// The same by intervals.
    pub series: Vec<IntervalReport>,
}

/// What a log says.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The length of the series' intervals, in nanoseconds.
    pub interval_ns: u64,
    /// The sessions, in the order of the log.
    pub sessions: Vec<Session>,
    /// The flows, by session and number.
    pub flows: Vec<FlowReport>,
    /// The totals, by instants.
    pub totals: Vec<TotalReport>,
    /// Records that the filter left out.
    pub filtered_records: u64,
    /// Records that belong to no session, are beyond the most flows or sessions, or have a sequence
    /// number above [`MOST_SEQUENCE`]: they are in no number above.
    pub unaccounted_records: u64,
    /// Records and losses that are in no series, as there were too many intervals.
    pub beyond_series: u64,
    /// Flows that were over first, of more than [`Options::most_flows`]: they are in the totals
    /// only.
    pub flows_in_totals_only: u64,
}

/// A flow that is known: by its description, by records, or by both.
#[derive(Debug, Default)]
struct Known {
    flow: Option<LoggedFlow>,
    clock: Option<Clock>,
    sent: Option<u64>,
    counts: Option<Box<FlowCounts>>,
}

/// Takes in entries and makes a [`Report`] of them.
#[derive(Debug)]
pub struct Decoder {
    options: Options,
    sessions: Vec<Session>,
    /// The current session's place; none before the first and beyond the most.
    session: Option<usize>,
    /// By session and number, the place in `known`.
    places: BTreeMap<(usize, u32), usize>,
    known: Vec<Known>,
    /// The flow of the record before: mostly that of the next one, too.
    recent: Option<((usize, u32), usize)>,
    /// Places of flows that are over.
    free: Vec<usize>,
    totals: BTreeMap<Instants, Counts>,
    /// Flows that are over, and how many of them are no more here.
    over: VecDeque<FlowReport>,
    let_go: u64,
    /// How many flows are over of each total, and their series together.
    settled: BTreeMap<Instants, (u64, Series)>,
    axis: Option<Axis>,
    intervals_left: usize,
    filtered: u64,
    unaccounted: u64,
    beyond: u64,
}

impl Decoder {
    /// Nothing taken in yet.
    pub fn new(options: Options) -> Decoder {
        Decoder {
            intervals_left: options.most_intervals,
            options,
            sessions: Vec::new(),
            session: None,
            places: BTreeMap::new(),
            known: Vec::new(),
            recent: None,
            free: Vec::new(),
            totals: BTreeMap::new(),
            over: VecDeque::new(),
            let_go: 0,
            settled: BTreeMap::new(),
            axis: None,
            filtered: 0,
            unaccounted: 0,
            beyond: 0,
        }
    }

    /// Takes in an entry of a log.
    pub fn entry(&mut self, entry: Entry) {
        match entry {
            Entry::Session(session) => self.session(session),
            Entry::Flow(flow) => self.flow(flow),
            Entry::Sent { flow, packets } => self.sent(flow, packets),
            Entry::Record(record) => self.record(&record),
        }
    }

    /// What comes now is of `session`.
    pub fn session(&mut self, session: Session) {
        self.session = (self.sessions.len() < self.options.most_flows).then(|| {
            self.sessions.push(session);
            self.sessions.len() - 1
        });
    }

    /// A flow of the current session. Without one, and beyond the most flows, it is not kept.
    pub fn flow(&mut self, flow: LoggedFlow) {
        let Some(session) = self.session else { return };
        let is_wanted = self.options.filter.has_flow(flow.number, Some(&flow));
        if let Some(place) = self.place((session, flow.number), is_wanted) {
            let pair = pairs::pair(&flow);
            self.known[place].clock = pair.and_then(|pair| self.options.clocks.get(&pair).copied());
            self.known[place].flow = Some(flow);
        }
    }

    /// So many packets of the current session's flow `number` were sent, as the sender tells: those
    /// after the last that came are lost too, unless the filter ends before them.
    pub fn sent(&mut self, number: u32, packets: u64) {
        let Some(session) = self.session else { return };
        // What was sent within a part of the time, nobody tells.
        if self.options.filter.is_of_time() {
            return;
        }
        let is_wanted = self.options.filter.has_flow(number, None);
        if let Some(place) = self.place((session, number), is_wanted) {
            self.known[place].sent = Some(packets);
        }
    }

    /// A packet of the current session.
    pub fn record(&mut self, record: &Record) {
        let in_range = record.sequence < MOST_SEQUENCE;
        let Some(session) = self.session.filter(|_| in_range) else {
            self.unaccounted += 1;
            return;
        };
        let key = (session, record.flow);
        let place = match self.recent {
            Some((recent, place)) if recent == key => Some(place),
            _ => {
                let is_wanted = self.options.filter.has_flow(record.flow, None);
                let place = self.place(key, is_wanted);
                self.recent = place.map(|place| (key, place));
                if place.is_none() {
                    *(if is_wanted {
                        &mut self.unaccounted
                    } else {
                        &mut self.filtered
                    }) += 1;
                    return;
                }
                place
            }
        };
        let Some(place) = place else { return };
        let options = &self.options;
        if !options.filter.has_time(record) {
            self.filtered += 1;
            return;
        }
        let instants = self.sessions[session].instants;
        let mut delay_ns = record.end_ns.saturating_sub(record.start_ns);
        if let (Some(clock), Instants::SentReceived) = (&self.known[place].clock, instants) {
            delay_ns = delay_ns.saturating_sub(clock.offset_ns_at(record.start_ns));
        }
        let axis = *self.axis.get_or_insert(Axis {
            origin_ns: record.end_ns,
            interval_ns: options.interval.as_ns().max(1),
        });
        let mut intervals = Intervals {
            axis,
            left: &mut self.intervals_left,
            beyond: &mut self.beyond,
        };
        let from_zero = options.filter.from_ns.is_none();
        let counts = self.known[place]
            .counts
            .get_or_insert_with(|| Box::new(FlowCounts::new(options.window, from_zero)));
        let total = self.totals.entry(instants).or_insert_with(Counts::new);
        counts.arrive(record, delay_ns, &mut intervals, total);
    }

    /// The flow's place: one more where it `is_wanted` and there is room.
    fn place(&mut self, key: (usize, u32), is_wanted: bool) -> Option<usize> {
        if let Some(place) = self.places.get(&key) {
            return Some(*place);
        }
        (is_wanted && self.places.len() < self.options.most_flows).then(|| {
            let place = self.free.pop().unwrap_or_else(|| {
                self.known.push(Known::default());
                self.known.len() - 1
            });
            self.places.insert(key, place);
            place
        })
    }

    fn axis(&self) -> Axis {
        self.axis.unwrap_or(Axis {
            origin_ns: 0,
            interval_ns: self.options.interval.as_ns().max(1),
        })
    }

    /// Flow `number` of the current session is over: its numbers are settled, and what they were
    /// made of is given up. Of more than [`Options::most_flows`] that are over, those that were
    /// first stay in the totals only.
    pub fn close(&mut self, number: u32) {
        let Some(session) = self.session else { return };
        let Some(place) = self.places.remove(&(session, number)) else {
            return;
        };
        self.recent = None;
        self.settle((session, number), place);
        self.free.push(place);
        while self.over.len() > self.options.most_flows {
            let Some(first) = self.over.pop_front() else {
                break;
            };
            self.intervals_left += first.series.len();
            self.let_go += 1;
        }
    }

    /// Settles the flow at `place`, whose key this is.
    fn settle(&mut self, (session, number): (usize, u32), place: usize) {
        let axis = self.axis();
        let may_have_ended = self.options.filter.until_ns.is_none();
        let known = std::mem::take(&mut self.known[place]);
        // A flow of which nothing came is small, and there may be thousands: nothing is kept for it
        // before.
        let mut counts = known
            .counts
            .unwrap_or_else(|| Box::new(FlowCounts::new(2, true)));
        let mut intervals = Intervals {
            axis,
            left: &mut self.intervals_left,
            beyond: &mut self.beyond,
        };
        counts.finish(known.sent.filter(|_| may_have_ended), &mut intervals);
        let instants = self.sessions[session].instants;
        let total = self.totals.entry(instants).or_insert_with(Counts::new);
        total.merge_finished(&counts.counts);
        self.over.push_back(FlowReport {
            session,
            number,
            flow: known.flow,
            summary: counts.counts.report(&counts.series, self.options.level),
            series: counts.series.report(axis),
        });
        let (flows, series) = self.settled.entry(instants).or_default();
        *flows += 1;
        series.merge(&counts.series);
    }

    /// What it all says.
    pub fn finish(mut self) -> Report {
        let axis = self.axis();
        for (key, place) in std::mem::take(&mut self.places) {
            self.settle(key, place);
        }
        let mut flows: Vec<FlowReport> = self.over.into();
        flows.sort_by_key(|flow| (flow.session, flow.number));
        let total = |(instants, counts): (Instants, Counts)| {
            let (flows, merged) = self.settled.remove(&instants).unwrap_or_default();
            TotalReport {
                instants,
                flows,
                summary: counts.report(&merged, self.options.level),
                series: merged.report(axis),
            }
        };
        Report {
            interval_ns: axis.interval_ns,
            totals: self.totals.into_iter().map(total).collect(),
            sessions: self.sessions,
            flows,
            flows_in_totals_only: self.let_go,
            filtered_records: self.filtered,
            unaccounted_records: self.unaccounted,
            beyond_series: self.beyond,
        }
    }
}

/// Decodes all of `entries`; an error of theirs ends it.
pub fn decode<E>(
    entries: impl IntoIterator<Item = Result<Entry, E>>,
    options: Options,
) -> Result<Report, E> {
    let mut decoder = Decoder::new(options);
    for entry in entries {
        decoder.entry(entry?);
    }
    Ok(decoder.finish())
}
