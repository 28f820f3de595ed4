//! One run in virtual time: a scenario and a repeat in, rows of tables out. A pure function.
//!
//! The queueing delay is exact, over all packets, without their own time on the wire.

use super::apps;
use super::capture;
use super::look::Eye;
use super::network_of::{Built, BuiltDevice, network_of};
use super::observe::{Observation, Seen};
use super::rows::{self, Ran};
use super::run_tables::RunTables;
use super::run_times::RunTimes;
use super::trace_of::{EntityTrace, Samples};
use super::workloads;
use anyhow::Context;
use std::path::Path;
use trammel_netsim::ids::{AppId, FlowId, StreamId, WorkloadId};
use trammel_netsim::network::Passed;
use trammel_netsim::trace::{Pace, Sample};
use trammel_scenario::model::{Scenario, Tracing};
use trammel_stats::table::{Cell, Table};

/// Runs `scenario` once with `seed`. Where it traces nothing and `curves` is set, short curves are
/// kept for a report.
pub fn simulate(scenario: &Scenario, seed: u64, curves: bool) -> anyhow::Result<RunTables> {
    simulate_and_capture(scenario, seed, curves, None, &|| false, None)
}

/// As [`simulate`]; what the scenario asks to be captured goes into the folder given with the
/// point's name. It ends early, with an error, where `stop` says so; `eye` sees it go on.
pub(crate) fn simulate_and_capture(
    scenario: &Scenario,
    seed: u64,
    curves: bool,
    captures: Option<(&Path, &str)>,
    stop: &dyn Fn() -> bool,
    eye: Option<Eye<'_>>,
) -> anyhow::Result<RunTables> {
    let mut built = build(scenario, seed)?;
    if let Some((folder, point)) = captures {
        capture::begin(&mut built, &scenario.pcap, folder, point)?;
        if scenario.qlog {
            (0..built.flows.len()).for_each(|flow| built.network.watch_sender(FlowId::new(flow)));
        }
    }
    let mut observation = observation(scenario, &mut built, curves);
    loop {
        let at = observation.next(&mut built, stop);
        let at = at.context("the run was interrupted")?;
        if let Some(eye) = eye {
            eye(&observation.look(&mut built, at));
        }
        if at == scenario.end() {
            break;
        }
    }
    built.network.finish_captures()?;
    if let Some((folder, point)) = captures.filter(|_| scenario.qlog) {
        capture::logs(&mut built, folder, point)?;
    }
    Ok(tables(scenario, built, &observation.into_seen(), curves))
}

/// The network of `scenario`, which traces what the scenario says.
pub(super) fn build(scenario: &Scenario, seed: u64) -> anyhow::Result<Built> {
    let pace = match scenario.trace {
        Tracing::Off => Pace::Off,
        Tracing::Ack => Pace::EveryAck,
        Tracing::Every(interval) => Pace::Interval(interval),
    };
    let mut built = network_of(scenario, seed, pace)?;
    if let Tracing::Every(interval) = scenario.trace {
        built.network.trace_queues(interval);
    }
    Ok(built)
}

/// What watches the network of `scenario`, from [`build`], to its end.
pub(super) fn observation(scenario: &Scenario, built: &mut Built, curves: bool) -> Observation {
    let times = (scenario.warmup, scenario.end());
    Observation::new(built, times, wants_curves(scenario, curves))
}

fn wants_curves(scenario: &Scenario, curves: bool) -> bool {
    curves || scenario.trace != Tracing::Off
}

/// The rows of a network that has run to the end of `scenario`, and of which this was seen.
pub(super) fn tables(
    scenario: &Scenario,
    mut built: Built,
    seen: &Seen,
    curves: bool,
) -> RunTables {
    debug_assert_eq!(built.network.audit(), Ok(()), "the books balance");
    let (warmup, end) = (scenario.warmup, scenario.end());
    let mut run = RunTables::empty();
    let results =
        (0..built.flows.len()).map(|index| built.network.flow(FlowId::new(index)).clone());
    let results = results.collect();
    let rtts =
        (0..built.flows.len()).map(|index| built.network.flow_rtt(FlowId::new(index)).clone());
    let ran = Ran {
        flows: &built.flows,
        links: &built.links,
        results,
        rtts: rtts.collect(),
        seen,
        counts_events: true,
        wants_curves: wants_curves(scenario, curves),
    };
    rows::fill(&mut run, ran, &RunTimes { warmup, end });
    let completed = |(index, workload)| {
        (
            workload,
            built.network.workload(WorkloadId::new(index)).completed(),
        )
    };
    let workloads = || built.workloads.iter().enumerate().map(completed);
    let times = RunTimes { warmup, end };
    for (of, seen) in workloads().zip(&seen.workloads) {
        let carried = workloads::Carried::of(seen, &times);
        workloads::rows(&mut run.workloads, of, carried, warmup);
    }
    for device in &built.devices {
        device_rows(&mut run.devices, device);
    }
    for (index, seen) in seen.streams.iter().enumerate() {
        let stream = built.network.stream(StreamId::new(index));
        let carried = workloads::Carried::of(seen, &times);
        stream_row(&mut run.streams, stream, scenario, index, carried);
    }
    for (index, app) in built.apps.iter().enumerate() {
        let got = built.network.experience(AppId::new(index));
        apps::row(&mut run.apps, app, &got);
    }
    if wants_curves(scenario, curves) {
        let round_trips = std::mem::take(&mut run.traces);
        run.traces = traces(&built, seen, scenario.trace);
        run.traces.extend(round_trips);
        let names = built.workloads.iter().map(|one| one.name.as_str());
        let names = names.chain(built.streams.iter().map(String::as_str));
        run.traces.extend(seen.traffic(names));
        run.traces.extend(workloads::traces(workloads(), warmup));
    }
    run
}

/// All segments at the sender of flow number `flow` of `scenario`, and its state at each ACK.
pub fn sender(
    scenario: &Scenario,
    seed: u64,
    flow: FlowId,
) -> anyhow::Result<(Vec<Passed>, Vec<Sample>)> {
    let mut built = network_of(scenario, seed, Pace::EveryAck)?;
    built.network.watch_sender(flow);
    built.network.run_until(scenario.end());
    let samples = built.network.flow_trace(flow).samples.clone();
    Ok((built.network.take_passed(flow), samples))
}

/// A row for each port that has a link.
fn device_rows(table: &mut Table, device: &BuiltDevice) {
    for (port, link) in device.links.iter().enumerate() {
        let counts = device.card.counts(port);
        let (sum, longest) = counts.transit;
        let sent = counts.sent > 0;
        let row = vec![
            Cell::from(format!("{}:{port}", device.name)),
            link.as_str().into(),
            counts.received.into(),
            counts.dropped_at_receipt.into(),
            counts.to_cpu.into(),
            counts.dropped_to_cpu.into(),
            counts.sent.into(),
            counts.dropped_in_queue.into(),
            counts.queued.into(),
            sent.then(|| sum as f64 / 1e6 / counts.sent as f64).into(),
            sent.then(|| longest.as_ps() as f64 / 1e6).into(),
        ];
        let pushed = table.push(row);
        pushed.expect("the row has the columns of `DEVICES`");
    }
}

fn stream_row(
    table: &mut Table,
    stream: &trammel_netsim::stream::Stream,
    scenario: &Scenario,
    index: usize,
    carried: workloads::Carried,
) {
    let of = &scenario.streams[index];
    // What was sent until it stopped may come later.
    let stop = of.stop.unwrap_or(scenario.end()).max(stream.last_arrival);
    let active = stop.min(scenario.end()).saturating_since(of.start);
    let us = |ps: Option<u64>| ps.map(|ps| ps as f64 / 1e6);
    let lost = stream.sent_pkts - stream.received_pkts;
    let seconds = active.as_secs_f64();
    let row = vec![
        Cell::from(stream.name()),
        stream.sent_pkts.into(),
        stream.received_pkts.into(),
        lost.into(),
        (stream.sent_pkts > 0)
            .then(|| lost as f64 / stream.sent_pkts as f64)
            .into(),
        stream.reordered_pkts.into(),
        (seconds > 0.0)
            .then(|| stream.received_bytes as f64 * 8e-6 / seconds)
            .into(),
        us(stream.delay.min()).into(),
        stream.delay.mean().map(|ps| ps / 1e6).into(),
        us(stream.delay.quantile(0.5)).into(),
        us(stream.delay.quantile(0.95)).into(),
        us(stream.delay.quantile(0.99)).into(),
        (stream.received_pkts > 1)
            .then_some(stream.jitter_ps / 1e6)
            .into(),
        carried.late_goodput_mbps.into(),
    ];
    table
        .push(row)
        .expect("the row has the columns of `STREAMS`");
}

/// What the scenario asked to trace, or short curves of everything.
fn traces(built: &Built, seen: &Seen, tracing: Tracing) -> Vec<EntityTrace> {
    let mut traces = seen.curves(&built.flows, &built.links);
    if tracing == Tracing::Off {
        return traces;
    }
    let flows = built.flows.len();
    for (index, trace) in traces.iter_mut().take(flows).enumerate() {
        trace.samples = Samples::Flow(built.network.flow_trace(FlowId::new(index)).samples.clone());
    }
    let links = built.links.iter().filter(|link| link.is_forward);
    for (link, trace) in links.zip(traces.iter_mut().skip(flows)) {
        if let Some(queue) = built.network.queue_trace(link.index) {
            trace.samples = Samples::Queue(queue.samples.clone());
        }
    }
    traces
}
