//! Rows of the tables of a run, from what was seen of it: the same for simulated flows and for the
//! kernel's.
//!
//! A flow's goodput counts payload once, over the time in which the flow had something to send
//! (`active_s`). Rates over different times are never added: what all flows get together, the share
//! of each and every index of fairness are of the payload that came within one window, which is the
//! whole run, and for `late_…` what follows the warm-up. At the window's start what the receiver
//! holds out of order has come already. Throughput counts IP packets sent. Mean and 95th percentile
//! of occupancy are of looks at a grid of instants.

use super::link_row::link_row;
use super::network_of::{BuiltFlow, BuiltLink};
use super::observe::{FlowSeen, Seen};
use super::run_tables::RunTables;
use super::run_times::{RunTimes, mbps};
use super::trace_of::{EntityTrace, ROUND_TRIPS, Samples};
use trammel_core::time::{Span, Time};
use trammel_netsim::flow::FlowResult;
use trammel_stats::histogram::Histogram;
use trammel_stats::stats::jain;
use trammel_stats::table::{Cell, Table};
use trammel_tcp::connection::Bound;

/// What a run knows of one flow.
struct FlowFacts<'a> {
    flow: &'a BuiltFlow,
    seen: &'a FlowSeen,
    result: FlowResult,
    /// Round trips of the whole run, and those after the warm-up.
    rtt: Histogram,
    late_rtt: Option<Histogram>,
    /// Payload that came in the whole run, and after the warm-up.
    bytes: u64,
    late_bytes: Option<u64>,
    /// For how long it had something to send, of the whole run and after the warm-up.
    active: Span,
    late_active: Span,
    convergence_s: Option<f64>,
}

/// What a run made of a network: its parts, and what was seen of each.
pub(super) struct Ran<'a> {
    pub(super) flows: &'a [BuiltFlow],
    pub(super) links: &'a [BuiltLink],
    /// Of each flow.
    pub(super) results: Vec<FlowResult>,
    /// Round trips of each flow, us: since the warm-up where there is one.
    pub(super) rtts: Vec<Histogram>,
    pub(super) seen: &'a Seen,
    /// Whether recoveries, probes, undone reductions and those for marks were counted.
    pub(super) counts_events: bool,
    /// Whether distributions of round trips are kept for a report.
    pub(super) wants_curves: bool,
}

/// Fills the tables of flows, groups and links.
pub(super) fn fill(run: &mut RunTables, ran: Ran<'_>, times: &RunTimes) {
    let (links, seen, counts_events) = (ran.links, ran.seen, ran.counts_events);
    let wants_curves = ran.wants_curves;
    let flows = flow_facts(ran, times);
    flow_rows(&mut run.flows, &flows, counts_events);
    group_row(&mut run.groups, &flows, times);
    if wants_curves {
        run.traces.extend(flows.iter().filter_map(round_trips));
    }
    for (link, of) in links.iter().zip(&seen.links) {
        link_row(&mut run.links, link, of, times);
    }
}

/// The round trips of a flow after the warm-up, or of the whole run where there is none.
fn round_trips(of: &FlowFacts<'_>) -> Option<EntityTrace> {
    let rtt = of.late_rtt.as_ref().unwrap_or(&of.rtt);
    (!rtt.is_empty()).then(|| EntityTrace {
        entity: format!("{}{ROUND_TRIPS}", of.flow.name),
        samples: Samples::RoundTrips(counted(rtt)),
    })
}

/// The values of a histogram, and how many are at most each, few enough for a curve: the steps of
/// one in 150 that it climbs, and all of the tail.
fn counted(of: &Histogram) -> Vec<(u64, u64)> {
    const STEPS: u64 = 150;
    let all = of.count();
    let (mut seen, mut kept) = (0, Vec::new());
    let mut told = 0;
    for (value, times) in of.contents().counts {
        seen += u64::from(times);
        let is_tail = (all - seen) * 100 < all;
        if kept.is_empty() || (seen - told) * STEPS >= all || is_tail {
            kept.push((
                value.clamp(of.min().unwrap_or(0), of.max().unwrap_or(value)),
                seen,
            ));
            told = seen;
        }
    }
    kept
}

fn flow_facts<'a>(ran: Ran<'a>, times: &RunTimes) -> Vec<FlowFacts<'a>> {
    let seen = ran.seen;
    let converged = convergence(ran.flows, &ran.results, seen, times);
    let known = ran.results.into_iter().zip(ran.rtts).zip(converged);
    let facts = ran.flows.iter().zip(&seen.flows).zip(known);
    let facts = facts.map(|((flow, of), ((result, last), convergence_s))| {
        let (rtt, late_rtt) = match &of.warm {
            Some((_, until)) => {
                let mut whole = until.clone();
                whole.merge(&last);
                (whole, Some(last))
            }
            None => (last, None),
        };
        // What it sent until it stopped may come later.
        let stopped = flow.stop.max(result.last_data);
        let until = result.completed.unwrap_or(stopped).min(times.end);
        let came = |of: &FlowResult| of.bytes_delivered + of.bytes_held;
        let late_bytes = of.warm.as_ref();
        let late_bytes = late_bytes.map(|(warm, _)| came(&result).saturating_sub(came(warm)));
        FlowFacts {
            flow,
            seen: of,
            bytes: result.bytes_delivered,
            late_bytes,
            active: until.saturating_since(flow.start),
            late_active: until.saturating_since(times.warmup.max(flow.start)),
            convergence_s,
            result,
            rtt,
            late_rtt,
        }
    });
    facts.collect()
}

fn flow_rows(table: &mut Table, flows: &[FlowFacts<'_>], counts_events: bool) {
    let total: u64 = flows.iter().map(|one| one.bytes).sum();
    let late_total: u64 = flows.iter().filter_map(|one| one.late_bytes).sum();
    let event = |count: u64| counts_events.then_some(count);
    let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    for one in flows {
        let (flow, result, sender) = (one.flow, &one.result, &one.result.sender);
        let warm = one.seen.warm.as_ref().map(|(warm, _)| warm);
        let sent = |result: &FlowResult| {
            let sender = &result.sender;
            sender.bytes_sent
                + sender.bytes_retransmitted
                + sender.data_segments_sent * u64::from(flow.header_bytes)
        };
        let quantile = |rtt: &Histogram, fraction| rtt.quantile(fraction).map(|us| us as f64);
        let mean = |(sum, looks): (u64, u64)| (looks > 0).then(|| sum as f64 / looks as f64);
        let (sum, looks, largest) = one.seen.cwnd;
        let late_rtt = one.late_rtt.as_ref();
        let limited = |bound| {
            let at = one.seen.bounds.iter().filter(|one| **one == bound).count();
            let all = one.seen.bounds.len();
            (all > 0).then(|| at as f64 / all as f64)
        };
        let row = vec![
            Cell::from(flow.name.as_str()),
            flow.variant.as_str().into(),
            flow.start.as_secs_f64().into(),
            one.active.as_secs_f64().into(),
            mbps(one.bytes, one.active).into(),
            mbps(sent(result), one.active).into(),
            share(one.bytes, total).into(),
            sender.retransmissions.into(),
            sender.timeouts.into(),
            event(sender.recoveries).into(),
            event(sender.tail_loss_probes).into(),
            event(sender.undos).into(),
            event(sender.ecn_reductions).into(),
            sender.data_segments_sent.into(),
            result.bytes_delivered.into(),
            one.rtt.min().map(|us| us as f64).into(),
            one.rtt.mean().into(),
            quantile(&one.rtt, 0.05).into(),
            quantile(&one.rtt, 0.5).into(),
            quantile(&one.rtt, 0.95).into(),
            quantile(&one.rtt, 0.99).into(),
            mean((sum, looks)).into(),
            (looks > 0).then_some(largest).into(),
            result
                .completed
                .map(|at| (at - flow.start).as_secs_f64())
                .into(),
            one.convergence_s.into(),
            // Known only where the flow also ran alone.
            Cell::Empty,
            limited(Bound::PeerWindow).into(),
            limited(Bound::SendBuffer).into(),
            limited(Bound::Clamp).into(),
            one.late_bytes
                .and_then(|bytes| mbps(bytes, one.late_active))
                .into(),
            warm.and_then(|warm| mbps(sent(result) - sent(warm), one.late_active))
                .into(),
            one.late_bytes
                .and_then(|bytes| share(bytes, late_total))
                .into(),
            warm.map(|warm| sender.retransmissions - warm.sender.retransmissions)
                .into(),
            warm.map(|warm| sender.timeouts - warm.sender.timeouts)
                .into(),
            late_rtt.and_then(Histogram::mean).into(),
            late_rtt.and_then(|rtt| quantile(rtt, 0.5)).into(),
            late_rtt.and_then(|rtt| quantile(rtt, 0.95)).into(),
            warm.and_then(|_| mean(one.seen.late_cwnd)).into(),
        ];
        table.push(row).expect("the row has the columns of `FLOWS`");
    }
}

/// When each flow's goodput came within a fifth of its fair share to stay there for five seconds,
/// counted from its start. The fair share of a bin is that part of what the flows got which each
/// one that had something to send during the whole of it would have by equal parts.
fn convergence(
    flows: &[BuiltFlow],
    results: &[FlowResult],
    seen: &Seen,
    times: &RunTimes,
) -> Vec<Option<f64>> {
    const WITHIN: f64 = 0.2;
    const STAYS: Span = Span::from_secs(5);
    let needed = (STAYS.as_ps() / seen.bin.as_ps()).max(1) as usize;
    let bins = (times.end.as_ps() / seen.bin.as_ps()) as usize;
    let active = |index: usize, bin: usize| {
        let from = Time::ZERO + seen.bin * bin as u64;
        let to = from + seen.bin;
        let end = results[index].completed.unwrap_or(flows[index].stop);
        flows[index].start <= from && end >= to
    };
    let got = |index: usize, bin: usize| {
        let delivered = &seen.flows[index].delivered;
        delivered[bin] - if bin > 0 { delivered[bin - 1] } else { 0 }
    };
    // By bin: what the active flows got in all, and how many they were.
    let totals: Vec<(u64, u64)> = (0..bins)
        .map(|bin| {
            let active = (0..flows.len()).filter(|index| active(*index, bin));
            active.fold((0, 0), |(bytes, n), index| (bytes + got(index, bin), n + 1))
        })
        .collect();
    (0..flows.len())
        .map(|index| {
            let mut run = 0;
            for (bin, (bytes, n)) in totals.iter().enumerate() {
                let fair = *bytes as f64 / *n as f64;
                let is_near = *n > 1
                    && *bytes > 0
                    && active(index, bin)
                    && (got(index, bin) as f64 - fair).abs() <= WITHIN * fair;
                run = if is_near { run + 1 } else { 0 };
                if run == needed {
                    let first = Time::ZERO + seen.bin * (bin + 1 - needed) as u64;
                    return Some(first.saturating_since(flows[index].start).as_secs_f64());
                }
            }
            None
        })
        .collect()
}

fn group_row(table: &mut Table, flows: &[FlowFacts<'_>], times: &RunTimes) {
    if flows.is_empty() {
        return;
    }
    let bytes: Vec<u64> = flows.iter().map(|one| one.bytes).collect();
    let late: Option<Vec<u64>> = flows.iter().map(|one| one.late_bytes).collect();
    let mut rtt = flows[0].rtt.clone();
    flows[1..].iter().for_each(|one| rtt.merge(&one.rtt));
    let unloaded = unloaded_us(flows);
    let several = flows.len() > 1;
    let slowest = flows
        .iter()
        .map(|one| one.convergence_s)
        .collect::<Option<Vec<f64>>>();
    let slowest = slowest.and_then(|all| all.into_iter().reduce(f64::max));
    let fairness = |bytes: &[u64]| {
        let shares: Vec<f64> = bytes.iter().map(|bytes| *bytes as f64).collect();
        jain(&shares).filter(|_| several)
    };
    let late_window = times.end - times.warmup.min(times.end);
    let row = vec![
        Cell::from(flows.len()),
        mbps(bytes.iter().sum(), times.end.since_start()).into(),
        fairness(&bytes).into(),
        friendliness(flows, &bytes).into(),
        slowest.into(),
        unloaded.into(),
        rtt.mean().into(),
        rtt.quantile(0.95).map(|us| us as f64).into(),
        // Samples are of whole microseconds, the unloaded round trip is known better.
        rtt.mean().map(|mean| (mean - unloaded).max(0.0)).into(),
        late.as_deref()
            .and_then(|late| mbps(late.iter().sum(), late_window))
            .into(),
        late.as_deref().and_then(fairness).into(),
        late.as_deref()
            .and_then(|late| friendliness(flows, late))
            .into(),
    ];
    table
        .push(row)
        .expect("the row has the columns of `GROUPS`");
}

/// The unloaded round trip of all flows, of which their samples are: each counts with as many as it
/// has, so that samples of flows over ways of different lengths are compared with the like of them.
/// Without samples, all count alike.
fn unloaded_us(flows: &[FlowFacts<'_>]) -> f64 {
    let mean = |weight: &dyn Fn(&FlowFacts<'_>) -> f64| {
        let sums = flows.iter().fold((0.0, 0.0), |(sum, all), one| {
            let weight = weight(one);
            (
                sum + weight * one.flow.rtt.as_secs_f64() * 1e6,
                all + weight,
            )
        });
        (sums.1 > 0.0).then(|| sums.0 / sums.1)
    };
    let first = flows[0].flow.rtt;
    // Of one length, that length to the digit.
    if flows.iter().all(|one| one.flow.rtt == first) {
        return first.as_secs_f64() * 1e6;
    }
    mean(&|one| one.rtt.count() as f64)
        .or_else(|| mean(&|_| 1.0))
        .expect("there are flows")
}

/// What a flow of the second variant got in the mean over what one of the first got; nothing unless
/// there are exactly two variants (of two alike flows, the second over the first).
fn friendliness(flows: &[FlowFacts<'_>], bytes: &[u64]) -> Option<f64> {
    let first = &flows[0].flow.variant;
    let others: Vec<&String> = flows
        .iter()
        .map(|one| &one.flow.variant)
        .filter(|variant| *variant != first)
        .collect();
    let ratio = |a: f64, b: f64| (b > 0.0).then(|| a / b);
    if others.is_empty() {
        return (flows.len() == 2)
            .then(|| ratio(bytes[1] as f64, bytes[0] as f64))
            .flatten();
    }
    if others.iter().any(|variant| *variant != others[0]) {
        return None;
    }
    let mean = |is_first: bool| {
        let pairs = flows.iter().zip(bytes);
        let of: Vec<f64> = pairs
            .filter(|(one, _)| (one.flow.variant == *first) == is_first)
            .map(|(_, bytes)| *bytes as f64)
            .collect();
        of.iter().sum::<f64>() / of.len() as f64
    };
    ratio(mean(false), mean(true))
}
