//! One run of the kernel's own TCP in virtual time: a scenario and a repeat in, the rows of the
//! simulator's tables out.
//!
//! What a guest tells of a flow is what `TCP_INFO` has of it. Round trips are the smoothed ones of
//! its samples, each as often as segments were acknowledged since the sample before; the least is
//! the kernel's own. Queueing delays follow from the mean occupancy by Little's law.

use super::captures_of_kernel::Taps;
use super::guest;
use super::job_of::{JobLink, JobWorkload, ScenarioJob, job_of};
use super::network_of::{BuiltFlow, BuiltLink};
use super::observe::{BandSeen, CURVE_SAMPLES, FlowSeen, LinkSeen, Seen, TrafficSeen, bin};
use super::rows::{self, Ran};
use super::run_tables::RunTables;
use super::run_times::RunTimes;
use super::trace_of::{EntityTrace, Samples};
use super::workloads;
use anyhow::bail;
use std::path::Path;
use std::time::Duration;
use trammel_core::time::{Span, Time};
use trammel_kernel::boot::{Limits, Machine};
use trammel_kernel::job::{self, Answer, Counts, QueueCounts, WaySeen};
use trammel_netsim::flow::FlowResult;
use trammel_netsim::link::LinkCounters;
use trammel_netsim::trace::Sample;
use trammel_netsim::workload::{Completed, Completion};
use trammel_queues::aqm::Band;
use trammel_report::decimate::min_max;
use trammel_scenario::check::{Fault, told};
use trammel_scenario::model::{Scenario, Tracing};
use trammel_stats::histogram::Histogram;
use trammel_tcp::cc::{PathModel, Phase};
use trammel_tcp::connection::Counters;

/// Memory of a guest beside what its packets take.
const MEMORY_MIB: u64 = 512;
/// Memory of a place that is captured, and for what is captured at all of them until it is
/// answered.
const PLACE_MIB: u64 = 16;
const CAPTURES_MIB: u64 = 400;
/// The most that a guest may take.
const MOST_MEMORY_MIB: u64 = 4096;
/// Bytes of memory that a packet takes on its way, its copy at the sender and what the kernel keeps
/// of it included.
const PACKET_BYTES: u64 = 6144;
/// How long a guest may take: beside this, so long for every packet that its links could carry.
const LEAST_TIME: Duration = Duration::from_secs(300);
const PACKET_TIME: Duration = Duration::from_micros(200);
/// The longest round trip that is told apart, us.
const LONGEST_RTT_US: u64 = 1_000_000_000;

/// What stands against measuring `scenario` in a guest; nothing where it can be.
pub fn refusals(scenario: &Scenario) -> Vec<Fault> {
    job_of(scenario, scenario.seed).err().unwrap_or_default()
}

/// Where the kernel is not quite what `scenario` says; `job` is the scenario's.
pub fn notes(scenario: &Scenario, job: &ScenarioJob) -> Vec<String> {
    let laws = scenario.other_laws().into_iter().map(|(name, ours, theirs)| {
        format!(
            "`{name}`: the simulator runs `{ours}` and the kernel `{theirs}`, which are different \
             algorithms: their numbers are shown without an error"
        )
    });
    job.notes.iter().cloned().chain(laws).collect()
}

/// Runs `scenario` once with `seed` in a guest of `machine`; it ends early where `interrupted` says
/// so. What it asks to be captured goes into the folder given with the names of its files; the text
/// says what of it is missing.
pub fn measure(
    machine: &Machine,
    scenario: &Scenario,
    seed: u64,
    curves: bool,
    captures: Option<(&Path, &str)>,
    interrupted: &(dyn Fn() -> bool + Sync),
) -> anyhow::Result<(RunTables, Option<String>)> {
    let mut job = job(scenario, seed)?;
    let captures = captures.map(|place| (Taps::of(&job, scenario), place));
    if let Some((taps, _)) = &captures {
        job.job.captures = taps.places().into_iter().collect();
    }
    let answer = ask(machine, scenario, &job, interrupted)?;
    let missed = match captures {
        Some((taps, (folder, name))) => taps.write(&job, &answer, folder, name)?,
        None => None,
    };
    Ok((tables(scenario, &job, &answer, curves)?, missed))
}

/// The job of `scenario`, whose refusals are an error.
pub(crate) fn job(scenario: &Scenario, seed: u64) -> anyhow::Result<ScenarioJob> {
    match job_of(scenario, seed) {
        Ok(job) => Ok(job),
        Err(faults) => bail!(told(&faults)),
    }
}

/// Has a guest of `machine` do the job of `scenario`.
pub(crate) fn ask(
    machine: &Machine,
    scenario: &Scenario,
    job: &ScenarioJob,
    interrupted: &(dyn Fn() -> bool + Sync),
) -> anyhow::Result<Answer> {
    let answer = machine
        .run(&job.job, &limits(scenario, job, interrupted))
        .map_err(guest::unable)?;
    for (flow, seen) in scenario.flows.iter().zip(&answer.flows) {
        if flow.needs_bbr3() && seen.bbr_version < 3 && seen.end.sent > 0 {
            bail!(
                "`{}`: the kernel's `bbr` is not version 3; name a source tree that has google's \
                 BBR version 3 as `measure.source`",
                flow.name
            );
        }
    }
    Ok(answer)
}

/// What a guest may take of memory and time: what its links can hold and carry.
fn limits<'a>(
    scenario: &Scenario,
    job: &ScenarioJob,
    interrupted: &'a (dyn Fn() -> bool + Sync),
) -> Limits<'a> {
    let longest = job
        .flows
        .iter()
        .map(|flow| flow.rtt)
        .max()
        .unwrap_or_default();
    let limits = scenario
        .queue_packets()
        .into_iter()
        .map(u64::from)
        .sum::<u64>();
    let bits = |link: &JobLink, span: Span| {
        let end = Time::ZERO + span;
        link.link.capacity_bits(Time::ZERO, end)
    };
    let packets = |span: Span| {
        job.links
            .iter()
            .map(|link| bits(link, span) / 12_000.0)
            .sum::<f64>()
    };
    // A path holds what a round trip carries, a receiver's hole as much again; what an access link
    // could hold never comes to wait.
    let held = (2.0 * packets(longest)) as u64 + limits.min(4_000_000);
    let captures = match job.job.captures.len() as u64 {
        0 => 0,
        places => CAPTURES_MIB + PLACE_MIB * places,
    };
    let memory_mib = MEMORY_MIB + captures + ((2 * held * PACKET_BYTES) >> 20);
    let wire = PACKET_TIME.as_secs_f64() * packets(scenario.duration).min(1e9);
    Limits {
        memory_mib: memory_mib.min(MOST_MEMORY_MIB),
        time: LEAST_TIME + Duration::from_secs_f64(wire),
        interrupted,
    }
}

/// The tables of a run from what was answered.
pub(super) fn tables(
    scenario: &Scenario,
    job: &ScenarioJob,
    answer: &Answer,
    curves: bool,
) -> anyhow::Result<RunTables> {
    for (flow, seen) in job.flows.iter().zip(&answer.flows) {
        if let Some(why) = &seen.failure {
            bail!("flow `{}`: {why}", flow.name);
        }
    }
    let times = RunTimes {
        warmup: scenario.warmup,
        end: scenario.end(),
    };
    let flows = job.flows.iter().zip(&answer.flows);
    let known: Vec<_> = flows
        .map(|(flow, seen)| flow_seen(flow, seen, &times))
        .collect();
    let way = |at: Option<(usize, usize)>| answer.ways.iter().find(|way| Some(way.at) == at);
    let links = job
        .links
        .iter()
        .map(|link| link_seen(link, way(Some(link.queue)), way(link.spoil), &times));
    let mut seen = Seen {
        flows: Vec::with_capacity(known.len()),
        links: links.collect(),
        workloads: Vec::new(),
        streams: Vec::new(),
        bin: bin(scenario.duration),
    };
    let (mut results, mut rtts) = (Vec::new(), Vec::new());
    for known in known {
        seen.flows.push(known.seen);
        results.push(known.result);
        rtts.push(known.rtt);
    }
    let links: Vec<BuiltLink> = job.links.iter().map(|link| link.link.clone()).collect();
    let mut run = RunTables::empty();
    let wants_curves = curves || scenario.trace != Tracing::Off;
    if wants_curves {
        run.traces = traces(scenario, job, &seen, answer);
    }
    let ran = Ran {
        flows: &job.flows,
        links: &links,
        results,
        rtts,
        seen: &seen,
        counts_events: false,
        wants_curves,
    };
    rows::fill(&mut run, ran, &times);
    let completed: Vec<_> = job
        .workloads
        .iter()
        .map(|of| completed(of, answer))
        .collect();
    let workloads = || job.workloads.iter().map(|of| &of.built).zip(&completed);
    for (of, job) in workloads().zip(&job.workloads) {
        let carried = workloads::Carried::of(&through(job, answer), &times);
        workloads::rows(&mut run.workloads, of, carried, scenario.warmup);
    }
    if wants_curves {
        run.traces
            .extend(workloads::traces(workloads(), scenario.warmup));
    }
    Ok(run)
}

/// What the flows of a workload got through.
fn through(workload: &JobWorkload, answer: &Answer) -> TrafficSeen {
    let mut seen = TrafficSeen::default();
    for flow in &answer.flows[workload.flows.clone()] {
        seen.bytes += flow.end.delivered;
        seen.warm_bytes += flow.warm.as_ref().map_or(0, |warm| warm.delivered);
        seen.retransmissions += u64::from(flow.end.retransmitted);
    }
    seen
}

/// What a workload has begun until the end, and what of it is complete.
fn completed(workload: &JobWorkload, answer: &Answer) -> Completed {
    let mut of = Completed::default();
    let flows = answer.flows[workload.flows.clone()].iter();
    for (seen, (start, bytes, ideal)) in flows.zip(&workload.begun) {
        of.begun.push((*start, *bytes));
        of.completions
            .extend(seen.completed_ns.map(|at| Completion {
                start: *start,
                time: time(at).saturating_since(*start),
                ideal: *ideal,
                bytes: *bytes,
            }));
    }
    // In the order of completion, as the simulator tells them.
    of.completions
        .sort_by_key(|one| (one.start.saturating_add(one.time), one.start));
    of
}

/// A flow as the tables want it.
struct Known {
    seen: FlowSeen,
    result: FlowResult,
    /// Since the warm-up, where there is one.
    rtt: Histogram,
}

fn flow_seen(flow: &BuiltFlow, of: &job::FlowSeen, times: &RunTimes) -> Known {
    let has_warm = times.warmup > Time::ZERO;
    let mut seen = FlowSeen::default();
    let [mut until, mut since] = [0, 1].map(|_| Histogram::of_counts(LONGEST_RTT_US));
    let bin = bin(times.end.since_start());
    let mut acked = 0;
    for sample in live(&of.samples, flow.stop) {
        let at = time(sample.at_ns);
        let is_late = at > times.warmup;
        let count = |sums: &mut (u64, u64)| {
            sums.0 += u64::from(sample.cwnd);
            sums.1 += 1;
        };
        let mut whole = (seen.cwnd.0, seen.cwnd.1);
        count(&mut whole);
        seen.cwnd = (whole.0, whole.1, seen.cwnd.2.max(sample.cwnd));
        if is_late {
            count(&mut seen.late_cwnd);
        }
        let segments = (sample.acked - acked).div_ceil(u64::from(flow.payload_bytes.max(1)));
        acked = sample.acked;
        let rtt = if has_warm && !is_late {
            &mut until
        } else {
            &mut since
        };
        if sample.srtt_us > 0 {
            rtt.record_n(sample.srtt_us.into(), segments);
        }
        // Bins that end by now have what came until the sample before, or this one where it is at
        // their end.
        let next_bin_ends = |seen: &FlowSeen| Time::ZERO + bin * (seen.delivered.len() as u64 + 1);
        while next_bin_ends(&seen) < at {
            seen.delivered
                .push(seen.delivered.last().copied().unwrap_or_default());
        }
        if next_bin_ends(&seen) == at {
            seen.delivered.push(sample.acked);
        }
    }
    if of.end.min_rtt_us > 0 && of.end.min_rtt_us < u32::MAX {
        if has_warm { &mut until } else { &mut since }.record(of.end.min_rtt_us.into());
    }
    let bins = (times.end.as_ps() / bin.as_ps()) as usize;
    let last = of
        .end
        .delivered
        .max(seen.delivered.last().copied().unwrap_or_default());
    seen.delivered.resize(bins.max(seen.delivered.len()), last);
    let completed = of.completed_ns.map(time);
    let last_data = last_data(&of.samples);
    let result = |counts: &Counts| FlowResult {
        last_data,
        ..result(counts, completed)
    };
    seen.warm = has_warm.then(|| {
        (
            of.warm.as_ref().map_or_else(FlowResult::default, result),
            until,
        )
    });
    seen.curve = thinned(live(&of.samples, flow.stop), |one| one.cwnd)
        .map(sample)
        .collect();
    Known {
        seen,
        result: result(&of.end),
        rtt: since,
    }
}

/// The samples of a flow that stops at `stop`, until nothing of it is on its way any more.
fn live(samples: &[job::Sample], stop: Time) -> &[job::Sample] {
    let is_over = |sample: &job::Sample| time(sample.at_ns) > stop && sample.in_flight == 0;
    let end = samples
        .iter()
        .position(is_over)
        .map_or(samples.len(), |at| at + 1);
    &samples[..end]
}

/// When the last payload was acknowledged, as far as samples tell.
fn last_data(samples: &[job::Sample]) -> Time {
    let acked = samples.last().map_or(0, |last| last.acked);
    let first = samples.iter().find(|sample| sample.acked == acked);
    first.map_or(Time::ZERO, |sample| time(sample.at_ns))
}

/// What was counted of a flow, as the simulator counts it.
fn result(counts: &Counts, completed: Option<Time>) -> FlowResult {
    // The kernel counts both together; a SYN that is sent again has no bytes.
    let again = u64::from(counts.retransmitted) * u64::from(counts.mss);
    let again = again.min(counts.sent_bytes);
    FlowResult {
        completed,
        bytes_delivered: counts.delivered,
        bytes_held: counts.held,
        sender: Counters {
            data_segments_sent: counts.sent.into(),
            bytes_sent: counts.sent_bytes - again,
            bytes_retransmitted: again,
            retransmissions: counts.retransmitted.into(),
            timeouts: counts.timeouts.into(),
            ..Counters::default()
        },
        min_rtt_us: counts.min_rtt_us,
        ..FlowResult::default()
    }
}

fn link_seen(
    link: &JobLink,
    queue: Option<&WaySeen>,
    spoil: Option<&WaySeen>,
    times: &RunTimes,
) -> LinkSeen {
    let Some(queue) = queue else {
        return LinkSeen::default();
    };
    let is_late = |sample: &&(i64, u32, u32)| time(sample.0) > times.warmup;
    let looks = || queue.samples.iter();
    let mean = |looks: &[u32]| {
        looks.iter().map(|one| f64::from(*one)).sum::<f64>() / looks.len().max(1) as f64
    };
    let peak = looks().map(|sample| sample.1).max().unwrap_or_default();
    let counters = |counts: QueueCounts, lost: QueueCounts, wait_ns: u64| LinkCounters {
        arrived_pkts: counts.sent + counts.drops,
        arrived_bytes: counts.sent_bytes,
        sent_pkts: counts.sent,
        sent_bytes: counts.sent_bytes,
        overflow_pkts: if link.is_fifo { counts.drops } else { 0 },
        early_pkts: if link.is_fifo { 0 } else { counts.drops },
        lost_pkts: lost.drops,
        marked_pkts: counts.marks,
        wait_ns,
        peak_pkts: peak,
        busy_ns: 0,
        delivered_pkts: counts.sent - lost.drops.min(counts.sent),
    };
    let all: Vec<u32> = looks().map(|sample| sample.1).collect();
    let late_looks = looks().filter(is_late).count();
    let (early, late) = all.split_at(all.len() - late_looks);
    let lost = |at: fn(&WaySeen) -> QueueCounts| spoil.map(at).unwrap_or_default();
    let warm_counts = queue.warm.unwrap_or_default();
    let (warm_bytes, all_bytes) = (warm_counts.sent_bytes, queue.end.sent_bytes);
    let warm_ns = wait_ns(link, (Time::ZERO, times.warmup), warm_bytes, mean(early));
    let late_bytes = all_bytes.saturating_sub(warm_bytes);
    let late_ns = wait_ns(link, (times.warmup, times.end), late_bytes, mean(late));
    LinkSeen {
        warm: counters(
            warm_counts,
            lost(|way| way.warm.unwrap_or_default()),
            warm_ns,
        ),
        now: counters(queue.end, lost(|way| way.end), warm_ns + late_ns),
        waited: [warm_counts.sent, queue.end.sent],
        curve: thinned(&queue.samples, |one| one.1)
            .map(|sample| (time(sample.0), sample.1, sample.2.into()))
            .collect(),
        late_looks,
        queue: all,
        // A guest's queue is looked at for what waits, not for what it has sent.
        sent: Vec::new(),
        bands: bands_seen(queue, is_late),
    }
}

/// What was seen of the two queues of a DualPI2.
fn bands_seen(queue: &WaySeen, is_late: impl Fn(&&(i64, u32, u32)) -> bool) -> Vec<BandSeen> {
    let Some(now) = queue.end.sides else {
        return Vec::new();
    };
    let warm = queue
        .warm
        .and_then(|counts| counts.sides)
        .unwrap_or_default();
    let band = |(side, name): (usize, &'static str)| {
        let counted = |came: [u32; 2]| Band {
            name,
            sent_pkts: came[side].into(),
            ..Band::default()
        };
        let mut seen = BandSeen {
            warm: counted(warm),
            now: counted(now),
            is_of_kernel: true,
            ..BandSeen::default()
        };
        for (sample, ages) in queue.samples.iter().zip(&queue.ages_us) {
            seen.look(ages[side].into(), is_late(&sample));
        }
        seen
    };
    ["l4s", "classic"]
        .into_iter()
        .enumerate()
        .map(band)
        .collect()
}

/// What all packets together waited within a window in which so many bytes left: mean occupancy
/// times time (Little 1961). Where the scenario has a wire, they were on it too: the kernel's
/// bucket lets a packet go at once while it has tokens, so that is added for packets that found
/// nothing before them, which are as many as the link was idle.
fn wait_ns(link: &JobLink, (from, until): (Time, Time), sent_bytes: u64, occupancy: f64) -> u64 {
    let bits = link.link.capacity_bits(from, until);
    let ns = until.saturating_since(from).as_ps() as f64 / 1e3;
    if bits <= 0.0 {
        return 0;
    }
    let busy = (sent_bytes as f64 * 8.0 / bits).min(1.0);
    let on_wire = if link.link.burst_bytes.is_some() {
        0.0
    } else {
        (1.0 - busy) * busy
    };
    ((occupancy + on_wire) * ns) as u64
}

/// What the scenario asks to trace, or short curves of everything.
fn traces(
    scenario: &Scenario,
    job: &ScenarioJob,
    seen: &Seen,
    answer: &Answer,
) -> Vec<EntityTrace> {
    let links: Vec<BuiltLink> = job.links.iter().map(|link| link.link.clone()).collect();
    let mut traces = seen.curves(&job.flows, &links);
    if scenario.trace == Tracing::Off {
        return traces;
    }
    // Looks were taken more often where queues and windows need them; what is told is what was
    // asked for.
    let is_asked = |at_ns: i64| match scenario.trace {
        Tracing::Every(interval) => time(at_ns).as_ps().is_multiple_of(interval.as_ps().max(1)),
        Tracing::Off | Tracing::Ack => true,
    };
    let flows = answer.flows.iter().zip(&job.flows);
    for (trace, (seen, flow)) in traces.iter_mut().zip(flows) {
        let asked = live(&seen.samples, flow.stop).iter();
        let asked = asked.filter(|sample| is_asked(sample.at_ns));
        trace.samples = Samples::Flow(asked.map(sample).collect());
    }
    let forward = job.links.iter().filter(|link| link.link.is_forward);
    for (trace, link) in traces.iter_mut().skip(job.flows.len()).zip(forward) {
        if let Some(way) = answer.ways.iter().find(|way| way.at == link.queue) {
            let asked = way.samples.iter().filter(|(at, ..)| is_asked(*at));
            let samples =
                asked.map(|(at, packets, bytes)| (time(*at), *packets, u64::from(*bytes)));
            trace.samples = Samples::Queue(samples.collect());
        }
    }
    traces
}

/// The lowest and the highest of each span of `all`, for a curve, as the simulator keeps them.
fn thinned<T>(all: &[T], level: fn(&T) -> u32) -> impl Iterator<Item = &T> {
    let levels: Vec<f64> = all.iter().map(|one| f64::from(level(one))).collect();
    let kept = min_max(&levels, 2 * CURVE_SAMPLES as usize);
    kept.into_iter().map(|at| &all[at])
}

/// A sample as the simulator's.
fn sample(of: &job::Sample) -> Sample {
    Sample {
        time: time(of.at_ns),
        cwnd: of.cwnd,
        ssthresh: of.ssthresh,
        srtt_us: of.srtt_us,
        min_rtt_us: of.min_rtt_us,
        in_flight: of.in_flight,
        state: of.ca_state,
        retransmissions: of.retransmitted.into(),
        bytes_acked: of.acked,
        pacing_bytes_per_s: of.pacing,
        delivery_bytes_per_s: of.delivery,
        model: PathModel {
            phase: Phase::ALL
                .get(usize::from(of.model.phase))
                .copied()
                .unwrap_or_default(),
            bw: of.model.bw,
            inflight_hi: of.model.inflight_hi,
            inflight_lo: of.model.inflight_lo,
            alpha: 0,
            bw_hi: of.model.bw_hi,
            bw_lo: of.model.bw_lo,
            pacing_gain: u16::try_from(of.model.gains.0).unwrap_or(u16::MAX),
            cwnd_gain: u16::try_from(of.model.gains.1).unwrap_or(u16::MAX),
            extra_acked: of.model.extra_acked,
        },
    }
}

/// An instant of a guest.
fn time(ns: i64) -> Time {
    Time::from_ps(ns.max(0).cast_unsigned().saturating_mul(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_do_not_wait_less_in_all_than_in_the_warm_up() {
        // Half busy until the warm-up, with packets on the wire; full and without a queue after it.
        let scenario = Scenario::dumbbell()
            .duration(Span::from_secs(10))
            .warmup(Time::from_secs(5));
        let job = job_of(&scenario, 1).unwrap();
        let link = job.links.first().expect("a bottleneck");
        let times = RunTimes {
            warmup: scenario.warmup,
            end: scenario.end(),
        };
        let bytes = |seconds: f64| (link.link.rate.as_bps() as f64 / 8.0 * seconds) as u64;
        let counts = |sent_bytes: u64| QueueCounts {
            sent: sent_bytes / 1500,
            sent_bytes,
            ..QueueCounts::default()
        };
        let way = WaySeen {
            at: link.queue,
            warm: Some(counts(bytes(2.5))),
            end: counts(bytes(7.5)),
            samples: (1..=100).map(|tenth| (tenth * 100_000_000, 0, 0)).collect(),
            ages_us: Vec::new(),
        };
        let seen = link_seen(link, Some(&way), None, &times);
        // Little: half of five seconds, times the half that finds nothing before it.
        assert_eq!(seen.warm.wait_ns, 1_250_000_000);
        assert_eq!(seen.now.wait_ns, seen.warm.wait_ns);
    }
}
