//! Watches a network while it runs: queues and windows on a grid of instants, delivered bytes by
//! the second.
//!
//! The run is made in steps, which changes nothing in it, and looked at between two steps. So
//! occupancy percentiles and convergence are known of every run, traced or not, in bounded memory.

use super::look::{FlowLook, Look};
use super::network_of::{Built, BuiltFlow, BuiltLink};
use super::trace_of::{DELIVERIES, EntityTrace, Samples};
use trammel_core::time::{Span, Time};
use trammel_netsim::flow::FlowResult;
use trammel_netsim::ids::{FlowId, LinkId, StreamId};
use trammel_netsim::link::LinkCounters;
use trammel_netsim::network::Network;
use trammel_netsim::trace::Sample;
use trammel_queues::aqm::{Band, Head};
use trammel_stats::histogram::Histogram;
use trammel_tcp::connection::{Bound, Connection};

/// Instants of a run at which queues and windows are looked at, about.
pub(super) const LOOKS: u64 = 2000;
/// Bins of a run at most; a longer run has longer ones.
const MOST_BINS: u64 = 4096;
/// Spans of a curve for the report at most: of each the lowest and the highest look are kept, so
/// that no peak is lost.
pub(super) const CURVE_SAMPLES: u64 = 200;
/// Spans at the beginning of which every look is kept: slow start is short.
const DENSE_SPANS: u64 = 5;

/// The lowest and the highest look of the span that is going on.
#[derive(Clone, Debug)]
struct Extremes<T> {
    ends: Option<[(u32, T); 2]>,
}

impl<T> Default for Extremes<T> {
    fn default() -> Extremes<T> {
        Extremes { ends: None }
    }
}

impl<T: Copy> Extremes<T> {
    /// Takes a look of this `level` in.
    fn take(&mut self, level: u32, look: T) {
        let ends = self.ends.get_or_insert([(level, look); 2]);
        if level < ends[0].0 {
            ends[0] = (level, look);
        }
        if level > ends[1].0 {
            ends[1] = (level, look);
        }
    }

    /// Ends the span: its looks go to `curve` in the order of time.
    fn flush(&mut self, curve: &mut Vec<T>, time: fn(&T) -> Time) {
        let Some([(_, low), (_, high)]) = self.ends.take() else {
            return;
        };
        let (first, second) = if time(&low) <= time(&high) {
            (low, high)
        } else {
            (high, low)
        };
        curve.push(first);
        if time(&first) < time(&second) {
            curve.push(second);
        }
    }
}

/// What was seen of one flow.
#[derive(Clone, Debug, Default)]
pub struct FlowSeen {
    /// Bytes delivered at the end of each bin.
    pub delivered: Vec<u64>,
    /// Sum and number of looks at its window, and the largest.
    pub cwnd: (u64, u64, u32),
    /// The same since the end of the warm-up.
    pub late_cwnd: (u64, u64),
    /// What kept it from sending more at each look.
    pub bounds: Vec<Bound>,
    /// Its result at the end of the warm-up, and its round trips until then.
    pub warm: Option<(FlowResult, Histogram)>,
    pub(super) curve: Vec<Sample>,
}

/// What was seen of one link.
#[derive(Clone, Debug, Default)]
pub struct LinkSeen {
    /// Packets that wait at each look, the one being sent not among them.
    pub queue: Vec<u32>,
    /// Bytes sent by each look, where the rate changes.
    pub sent: Vec<(Time, u64)>,
    /// Of `queue`, looks after the warm-up.
    pub late_looks: usize,
    /// Its counters at the end of the warm-up, what waited then not counted as sent.
    pub warm: LinkCounters,
    /// The same at the end of the run.
    pub now: LinkCounters,
    /// Of each band of its queue.
    pub bands: Vec<BandSeen>,
    /// Packets whose time in the queue is counted, at the end of the warm-up and of the run.
    pub waited: [u64; 2],
    pub(super) curve: Vec<(Time, u32, u64)>,
}

/// What was seen of a band of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BandSeen {
    /// What it had counted at the end of the warm-up.
    pub warm: Band,
    /// And at the end of the run.
    pub now: Band,
    /// Sum of the ages of its oldest packet over looks, us, and their number; looks at which it was
    /// empty add nothing to the sum.
    pub ages_us: (f64, u64),
    /// The same since the end of the warm-up.
    pub late_ages_us: (f64, u64),
    /// Whether what left, was marked and was dropped is not known of it.
    pub is_of_kernel: bool,
}

impl BandSeen {
    /// Takes a look at its oldest packet.
    pub fn look(&mut self, age_us: f64, is_late: bool) {
        self.ages_us = (self.ages_us.0 + age_us, self.ages_us.1 + 1);
        if is_late {
            self.late_ages_us = (self.late_ages_us.0 + age_us, self.late_ages_us.1 + 1);
        }
    }
}

/// What was seen of a workload or a stream.
#[derive(Clone, Debug, Default)]
pub struct TrafficSeen {
    /// Payload bytes delivered until the end of the warm-up, and until the end.
    pub warm_bytes: u64,
    /// The same until the end of the run.
    pub bytes: u64,
    /// Of a workload: segments retransmitted.
    pub retransmissions: u64,
    /// Payload bytes delivered by an instant.
    pub(super) curve: Vec<(Time, u64)>,
}

/// Everything that was seen.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Of each flow.
    pub flows: Vec<FlowSeen>,
    /// Of each link that has a rate.
    pub links: Vec<LinkSeen>,
    /// Of each workload, and of each stream.
    pub workloads: Vec<TrafficSeen>,
    /// See `workloads`.
    pub streams: Vec<TrafficSeen>,
    /// Length of a bin.
    pub bin: Span,
}

/// The length of a bin of a run until `end`: whole seconds.
pub(super) fn bin(run: Span) -> Span {
    Span::from_secs((run.as_ps() / 1_000_000_000_000).div_ceil(MOST_BINS).max(1))
}

/// Steps of the network between two looks at whether to stop: some milliseconds.
const STEPS: u64 = 20_000;

/// Runs the network to `at`; nothing where `stop` says so before.
fn run_until(network: &mut Network, at: Time, stop: &dyn Fn() -> bool) -> Option<()> {
    while !network.run_some(at, STEPS) {
        if stop() {
            return None;
        }
    }
    Some(())
}

/// Watches a network from its start to its end, one look after the other.
#[derive(Debug)]
pub(super) struct Observation {
    seen: Seen,
    /// The end of the warm-up, and of the run.
    times: (Time, Time),
    /// Whether short curves for a report are kept.
    curves: bool,
    /// Looks in a bin, the time between two of them, and how many make a span of a curve.
    looks_a_bin: u64,
    step: Span,
    stride: u64,
    of_flows: Vec<Extremes<Sample>>,
    of_links: Vec<Extremes<(Time, u32, u64)>>,
    /// Looks so far.
    look: u64,
    is_warm: bool,
}

impl Observation {
    /// Begins to watch `built`, which has not run yet, until `end`; metrics after `warmup` are told
    /// apart where it is not zero. Short curves for a report are kept where `curves` is set.
    pub(super) fn new(built: &mut Built, (warmup, end): (Time, Time), curves: bool) -> Observation {
        let bin = bin(end.since_start());
        let bins = end.as_ps().div_ceil(bin.as_ps()).max(1);
        let looks_a_bin = (LOOKS / bins).clamp(1, 1000);
        let mut seen = Seen {
            flows: vec![FlowSeen::default(); built.flows.len()],
            links: vec![LinkSeen::default(); built.links.len()],
            workloads: vec![TrafficSeen::default(); built.workloads.len()],
            streams: vec![TrafficSeen::default(); built.streams.len()],
            bin,
        };
        if warmup > Time::ZERO {
            built.network.set_warmup(warmup);
        }
        for (link, of) in built.links.iter().zip(&mut seen.links) {
            let bands = built.network.link(link.index).bands().len();
            of.bands = vec![BandSeen::default(); bands];
        }
        Observation {
            seen,
            times: (warmup, end),
            curves,
            looks_a_bin,
            step: Span::from_ps((bin.as_ps() / looks_a_bin).max(1)),
            stride: (bins * looks_a_bin).div_ceil(CURVE_SAMPLES),
            of_flows: vec![Extremes::default(); built.flows.len()],
            of_links: vec![Extremes::default(); built.links.len()],
            look: 0,
            is_warm: warmup == Time::ZERO,
        }
    }

    /// Runs the network to the next look and takes it; gives its instant, at which a further call
    /// goes on until that is the end. Nothing where `stop` says so before.
    pub(super) fn next(&mut self, built: &mut Built, stop: &dyn Fn() -> bool) -> Option<Time> {
        let (warmup, end) = self.times;
        self.look += 1;
        let (look, bin) = (self.look, self.seen.bin);
        let bin_ends = look % self.looks_a_bin == 0;
        // Whole bins end at whole seconds whatever the steps between them round to.
        let at = if bin_ends {
            bin * (look / self.looks_a_bin)
        } else {
            bin * (look / self.looks_a_bin) + self.step * (look % self.looks_a_bin)
        };
        let at = (Time::ZERO + at).min(end);
        if !self.is_warm && at >= warmup {
            warm(built, warmup, &mut self.seen, stop)?;
            self.is_warm = true;
        }
        run_until(&mut built.network, at, stop)?;
        if stop() {
            return None;
        }
        let stride = self.stride;
        let ends_span = look % stride == 0 || look < DENSE_SPANS * stride || at == end;
        self.look_at_links(built, at, ends_span);
        self.look_at_flows(built, at, ends_span);
        if bin_ends || at == end {
            for (index, of) in self.seen.flows.iter_mut().enumerate() {
                let flow = built.network.flow(FlowId::new(index));
                of.delivered.push(flow.bytes_delivered);
            }
        }
        if self.curves && look % stride == 0 {
            note_traffic(built, &mut self.seen, |of, bytes| {
                of.curve.push((at, bytes));
            });
        }
        if at == end {
            self.end(built);
        }
        Some(at)
    }

    fn look_at_links(&mut self, built: &mut Built, at: Time, ends_span: bool) {
        let is_late = at > self.times.0;
        let links = built.links.iter().zip(&mut self.seen.links);
        for ((link, of), extremes) in links.zip(&mut self.of_links) {
            let (packets, bytes) = built.network.waiting(link.index);
            of.queue.push(packets);
            of.late_looks += usize::from(is_late);
            let bands = built.network.link(link.index).bands();
            for (of, band) in of.bands.iter_mut().zip(bands) {
                match band.head {
                    Head::Unknown => {}
                    Head::None => of.look(0.0, is_late),
                    Head::Came(came) => {
                        of.look(at.saturating_since(came).as_secs_f64() * 1e6, is_late);
                    }
                }
            }
            if link.schedule.is_some() {
                let sent = built.network.link(link.index).counters().sent_bytes;
                of.sent.push((at, sent));
            }
            if self.curves {
                extremes.take(packets, (at, packets, bytes));
                if ends_span {
                    extremes.flush(&mut of.curve, |look| look.0);
                }
            }
        }
    }

    fn look_at_flows(&mut self, built: &Built, at: Time, ends_span: bool) {
        let is_late = at > self.times.0;
        for (index, of) in self.seen.flows.iter_mut().enumerate() {
            let stop = built.flows[index].stop;
            let Some((sender, _)) = built.network.connections(FlowId::new(index)) else {
                continue;
            };
            if is_over(sender, stop, at) {
                continue;
            }
            let tp = sender.tp();
            of.cwnd.0 += u64::from(tp.snd_cwnd);
            of.cwnd.1 += 1;
            of.cwnd.2 = of.cwnd.2.max(tp.snd_cwnd);
            of.bounds.push(bound(sender));
            if is_late {
                of.late_cwnd.0 += u64::from(tp.snd_cwnd);
                of.late_cwnd.1 += 1;
            }
            if self.curves {
                self.of_flows[index].take(tp.snd_cwnd, Sample::of(sender, at));
                if ends_span {
                    self.of_flows[index].flush(&mut of.curve, |sample| sample.time);
                }
            }
        }
    }

    /// Notes the counters at the end of the run.
    fn end(&mut self, built: &mut Built) {
        let seen = &mut self.seen;
        note_traffic(built, seen, |of, bytes| of.bytes = bytes);
        let passed = built.network.workloads_passed();
        for (of, passed) in seen.workloads.iter_mut().zip(passed) {
            of.retransmissions = passed.retransmissions;
        }
        for (link, of) in built.links.iter().zip(&mut seen.links) {
            of.waited[1] = built.network.link(link.index).counters().sent_pkts;
            of.now = counters(&mut built.network, link.index);
            let bands = built.network.link(link.index).bands();
            for (of, band) in of.bands.iter_mut().zip(bands) {
                of.now = *band;
            }
        }
    }

    /// What was just seen, at `at`.
    pub(super) fn look<'a>(&self, built: &'a mut Built, at: Time) -> Look<'a> {
        let Built {
            flows,
            links,
            network,
            ..
        } = built;
        let flows = flows.iter().enumerate().map(|(index, flow)| {
            let id = FlowId::new(index);
            let connection = network.connections(id);
            let live = connection.filter(|(sender, _)| !is_over(sender, flow.stop, at));
            FlowLook {
                name: &flow.name,
                cwnd: live.map(|(sender, _)| sender.tp().snd_cwnd),
                delivered_bytes: network.flow(id).bytes_delivered,
            }
        });
        let links = links.iter().zip(&self.seen.links);
        let links = links.filter(|(link, _)| link.is_forward);
        let queues = links.map(|(link, of)| {
            let packets = of.queue.last().copied().unwrap_or_default();
            (link.name.as_str(), packets)
        });
        Look {
            at,
            end: self.times.1,
            flows: flows.collect(),
            queues: queues.collect(),
        }
    }

    /// Everything that was seen.
    pub(super) fn into_seen(self) -> Seen {
        self.seen
    }
}

/// Gives `note` each workload and each stream with its payload bytes delivered so far.
fn note_traffic(built: &Built, seen: &mut Seen, note: impl Fn(&mut TrafficSeen, u64)) {
    let passed = built.network.workloads_passed();
    for (of, passed) in seen.workloads.iter_mut().zip(passed) {
        note(of, passed.delivered_bytes);
    }
    for (index, of) in seen.streams.iter_mut().enumerate() {
        note(
            of,
            built.network.stream(StreamId::new(index)).received_bytes,
        );
    }
}

/// What keeps a flow from sending more. A paced one waits for its pace most of the time, also where
/// that follows from a window of the peer's that is full.
fn bound(sender: &Connection) -> Bound {
    const FULL: f64 = 0.8;
    let tp = sender.tp();
    let outstanding = f64::from(tp.snd_nxt.wrapping_sub(tp.snd_una));
    match sender.bound() {
        Bound::Pacing if outstanding >= FULL * f64::from(sender.peer_window()) => Bound::PeerWindow,
        bound => bound,
    }
}

/// Whether a flow that stops at `stop` is over at `at`: nothing of it is on its way any more.
fn is_over(sender: &Connection, stop: Time, at: Time) -> bool {
    at > stop && sender.tp().packets_out == 0
}

/// Notes what was until the end of the warm-up, at which the network begins to count anew.
fn warm(built: &mut Built, warmup: Time, seen: &mut Seen, stop: &dyn Fn() -> bool) -> Option<()> {
    let before = warmup.saturating_sub(Span::from_ps(1));
    run_until(&mut built.network, before, stop)?;
    let until: Vec<_> = (0..seen.flows.len())
        .map(|index| built.network.flow_rtt(FlowId::new(index)).clone())
        .collect();
    built.network.run_until(warmup);
    for (index, (of, rtt)) in seen.flows.iter_mut().zip(until).enumerate() {
        of.warm = Some((built.network.flow(FlowId::new(index)).clone(), rtt));
    }
    note_traffic(built, seen, |of, bytes| of.warm_bytes = bytes);
    for (link, of) in built.links.iter().zip(&mut seen.links) {
        of.waited[0] = built.network.link(link.index).counters().sent_pkts;
        of.warm = counters(&mut built.network, link.index);
        let bands = built.network.link(link.index).bands();
        for (of, band) in of.bands.iter_mut().zip(bands) {
            of.warm = *band;
        }
    }
    Some(())
}

/// The counters of a link. A link at a fixed rate counts a packet as sent when it comes, since it
/// knows then when it will leave: what still waits is taken off.
fn counters(network: &mut Network, index: LinkId) -> LinkCounters {
    let (packets, bytes) = network.backlog(index);
    let mut counters = network.link(index).counters();
    let dropped = counters.overflow_pkts + counters.early_pkts;
    if counters.sent_pkts + dropped == counters.arrived_pkts {
        counters.sent_pkts -= u64::from(packets);
        counters.sent_bytes -= bytes;
    }
    counters
}

impl Seen {
    /// What workloads and streams delivered over time; `names` are those of the workloads, then of
    /// the streams.
    pub fn traffic<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<EntityTrace> {
        let all = self.workloads.iter().chain(&self.streams);
        let traces = all.zip(names).map(|(of, name)| EntityTrace {
            entity: format!("{name}{DELIVERIES}"),
            samples: Samples::Delivered(of.curve.clone()),
        });
        traces.collect()
    }

    /// The curves of the flows, and of the queues that ever held a packet.
    pub fn curves(&self, flows: &[BuiltFlow], links: &[BuiltLink]) -> Vec<EntityTrace> {
        let flows = self.flows.iter().zip(flows).map(|(of, flow)| EntityTrace {
            entity: flow.name.clone(),
            samples: Samples::Flow(of.curve.clone()),
        });
        let links = self
            .links
            .iter()
            .zip(links)
            .filter(|(_, link)| link.is_forward);
        let links = links.map(|(of, link)| EntityTrace {
            entity: link.name.clone(),
            samples: Samples::Queue(of.curve.clone()),
        });
        flows.chain(links).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_span_are_kept_in_the_order_of_time() {
        let (mut extremes, mut curve) = (Extremes::default(), Vec::new());
        for (ms, level) in [(1, 5), (2, 9), (3, 4), (4, 6)] {
            extremes.take(level, Time::from_ms(ms));
        }
        extremes.flush(&mut curve, |time| *time);
        assert_eq!(curve, [Time::from_ms(2), Time::from_ms(3)]);
        extremes.take(7, Time::from_ms(5));
        extremes.flush(&mut curve, |time| *time);
        extremes.flush(&mut curve, |time| *time);
        assert_eq!(
            curve.len(),
            3,
            "an even span has one look, an empty one none"
        );
    }
}
