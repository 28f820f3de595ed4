//! A flow of a scenario as the simulator's: stacks at both ends, when it sends and how much.

use super::built::BuiltFlow;
use super::ways::Ways;
use crate::pacing::Paced;
use anyhow::{anyhow, bail};
use trammel_core::entry::Params;
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};
use trammel_netsim::flow::{FlowSpec, MakeCc, Reader};
use trammel_netsim::trace::Pace;
use trammel_scenario::flow::{Buffers, DelayedAck, Ecn, Flow};
use trammel_scenario::model::Scenario;
use trammel_tcp::cc::{self, CongestionControl};
use trammel_tcp::stack::{AckPolicy, EcnMode, EcnOption, LINUX_RMEM_MAX, Stack};

/// Bytes of IP and TCP headers without options, and of the timestamp option with its padding.
const HEADERS: u32 = 40;
const TIMESTAMP: u32 = 12;
/// Bytes of the AccECN option with three counters, padded.
const ACCECN: u32 = 12;
/// The kernel's timers wake a sleeping reader up to this late.
const READER_SLACK: Span = Span::from_us(50);
/// A receiver that acknowledges every so many segments waits this long for the last of them (RFC
/// 5681 §4.2 allows 500 ms; the BSDs wait 100 ms).
const DELAYED_ACK: Span = Span::from_ms(100);
/// A window field scaled by the largest factor tells at most this (RFC 7323 §2.3); half a buffer is
/// offered.
const LARGEST_BUFFER: u64 = 2 << 30;
/// What an application may set where memory of sockets is never what binds.
const SOCKET_BYTES: u64 = 256 << 20;

/// What both a simulated flow and a measured one are made of.
#[derive(Debug)]
pub(crate) struct Described {
    pub(crate) built: BuiltFlow,
    pub(crate) entry: &'static cc::Entry,
    pub(crate) params: Params,
    /// The stacks of sender and receiver.
    pub(crate) stacks: (Stack, Stack),
}

/// Describes `flow` over `ways` in the run with `seed`.
pub(crate) fn describe(
    scenario: &Scenario,
    flow: &Flow,
    ways: &Ways,
    seed: u64,
) -> anyhow::Result<Described> {
    let (entry, params) = flow.congestion_control().map_err(|why| anyhow!(why))?;
    let needed = ecn_of(&*(entry.build)(&params));
    let (client, server) = stacks(scenario, flow, ways, needed)?;
    let start = flow
        .start
        .unwrap_or_else(|| drawn_start(seed, flow, ways.rtt));
    let stop = flow
        .duration
        .map(|length| start.saturating_add(length))
        .or(flow.stop);
    let has_option = client.ecn == EcnMode::Accurate && client.ecn_option == EcnOption::Full;
    let timestamps = if client.timestamps { TIMESTAMP } else { 0 };
    let header_bytes = HEADERS + timestamps + if has_option { ACCECN } else { 0 };
    let built = BuiltFlow {
        name: flow.name.clone(),
        variant: entry.about.name.to_owned(),
        start,
        stop: stop.unwrap_or(Time::MAX),
        rtt: ways.rtt,
        payload_bytes: ways.mtu.saturating_sub(header_bytes),
        header_bytes,
        overhead_bytes: ways.overhead_bytes,
    };
    Ok(Described {
        built,
        entry,
        params,
        stacks: (client, server),
    })
}

pub(super) fn flow_of(
    scenario: &Scenario,
    flow: &Flow,
    ways: &Ways,
    seed: u64,
    pace: Pace,
) -> anyhow::Result<(FlowSpec, BuiltFlow)> {
    let Described {
        built,
        entry,
        params,
        stacks: (client, server),
    } = describe(scenario, flow, ways, seed)?;
    let spec = FlowSpec {
        name: flow.name.clone(),
        client,
        server,
        cc: controller(entry, params, flow),
        start: built.start,
        stop: built.stop,
        bytes: flow.bytes,
        forward: ways.forward.clone(),
        backward: ways.backward.clone(),
        reader: flow
            .reader
            .map(|interval| Reader::every(interval, READER_SLACK)),
        overhead_bytes: ways.overhead_bytes,
        pace,
        seed,
    };
    Ok((spec, built))
}

/// A start within the first round trip or second, whichever is longer: a single phase is not a
/// result. It is drawn by what a sweep over variants leaves as it is: a flow's own name, else its
/// place.
fn drawn_start(seed: u64, flow: &Flow, rtt: Span) -> Time {
    let mut rng = match flow.place {
        Some(place) => Rng::new(seed, &format!("flow:#{place}:start")),
        None => Rng::new(seed, &format!("flow:{}:start", flow.name)),
    };
    let within = rtt.max(Span::from_secs(1));
    Time::from_ps(rng.below(within.as_ps()))
}

/// Makes controllers of a variant, with pacing switched on or off where the scenario says so.
pub(super) fn controller(entry: &'static cc::Entry, params: Params, flow: &Flow) -> MakeCc {
    let (pacing, most) = (flow.is_paced(), flow.most_paced());
    Box::new(move || match pacing {
        Some(on) => Box::new(Paced::new((entry.build)(&params), on, most)),
        None => (entry.build)(&params),
    })
}

/// The ECN that a variant cannot do without.
pub(super) fn ecn_of(control: &dyn CongestionControl) -> EcnMode {
    if control.needs_accurate_ecn() {
        EcnMode::Accurate
    } else if control.needs_ecn() {
        EcnMode::Classic
    } else {
        EcnMode::Off
    }
}

/// The stacks of sender and receiver.
pub(super) fn stacks(
    scenario: &Scenario,
    flow: &Flow,
    ways: &Ways,
    needed: EcnMode,
) -> anyhow::Result<(Stack, Stack)> {
    let name = flow.stack.name();
    let mut stack = Stack::preset(name).ok_or_else(|| anyhow!("no stack is called `{name}`"))?;
    if ways.mtu <= HEADERS + TIMESTAMP {
        bail!(
            "flow `{}`: an MTU of {} bytes leaves no room for payload",
            flow.name,
            ways.mtu
        );
    }
    stack.mss = (ways.mtu - HEADERS) as u16;
    stack.sack &= flow.sack;
    stack.dsack &= flow.sack;
    stack.ecn = flow.ecn.map_or(needed, |ecn| match ecn {
        Ecn::Off => EcnMode::Off,
        Ecn::Classic => EcnMode::Classic,
        Ecn::Accurate => EcnMode::Accurate,
    });
    stack.offload = flow.offload;
    if let Some(timestamps) = flow.timestamps {
        stack.timestamps = timestamps;
    }
    if let Some(nagle) = flow.nagle {
        stack.nagle = nagle;
    }
    if let Some(least) = flow.min_rto {
        stack.min_rto = least;
    }
    if let Some(clamp) = flow.cwnd_clamp {
        stack.cwnd_clamp = clamp;
    }
    stack.max_pacing_rate = flow.most_paced();
    if let Some(segments) = flow.initial_window {
        stack.initial_window = segments;
    }
    stack.ack_policy = match flow.delayed_ack {
        DelayedAck::Stack => stack.ack_policy,
        DelayedAck::Off | DelayedAck::Segments(1) => AckPolicy::EverySegment,
        DelayedAck::Segments(2) => AckPolicy::Delayed(DELAYED_ACK),
        DelayedAck::Segments(n) => AckPolicy::Stretched(n, DELAYED_ACK),
    };
    stack.rmem_max = rmem_max(scenario);
    let (client, mut server) = with_buffers(stack, flow);
    if flow.buffers == Buffers::Unlimited && !server.is_receive_buffer_set {
        let needed = (8 * in_flight_bytes(scenario, ways)).min(LARGEST_BUFFER);
        // All of it at once: auto-tuning follows the rhythm of the reader, which is no part of a
        // path.
        let most = server.receive_buffer.max(server.max_receive_buffer);
        server.receive_buffer = most.max(needed);
        server.max_receive_buffer = server.receive_buffer;
    }
    Ok((client, server))
}

/// The stacks of sender and receiver, alike but for the buffers that `flow` sets.
pub(crate) fn with_buffers(stack: Stack, flow: &Flow) -> (Stack, Stack) {
    let rmem_max = stack.rmem_max;
    let stack = match flow.buffers {
        Buffers::Unlimited => stack,
        Buffers::Linux => Stack {
            rmem_max,
            ..stack.with_linux_buffers()
        },
    };
    let (mut client, mut server) = (stack.clone(), stack);
    if let Some(bytes) = flow.socket_buffer {
        client.set_send_buffer(bytes);
    }
    if let Some(bytes) = flow.receive_buffer.or(flow.socket_buffer) {
        server.set_receive_buffer(bytes.min(LARGEST_BUFFER / 2));
    }
    (client, server)
}

/// The largest receive buffer that an application may set: enough for all that do; where Linux's
/// own buffers are asked for, no more than that and Linux's.
pub(crate) fn rmem_max(scenario: &Scenario) -> u64 {
    let workloads = scenario.workloads.iter().map(|workload| &workload.flow);
    let flows = || scenario.flows.iter().chain(workloads.clone());
    let set = flows().filter_map(|flow| flow.receive_buffer.or(flow.socket_buffer));
    let least = if flows().any(|flow| flow.buffers == Buffers::Linux) {
        LINUX_RMEM_MAX
    } else {
        SOCKET_BYTES
    };
    set.max().unwrap_or_default().max(least)
}

/// Bytes that the fastest line holds for a round trip, with as much again in a queue of its limit.
fn in_flight_bytes(scenario: &Scenario, ways: &Ways) -> u64 {
    let limits = scenario.queue_packets();
    let most = scenario.topology.lines().zip(limits).map(|(line, limit)| {
        // A delay may grow in both directions.
        let delays = line.schedule.iter().filter_map(|change| change.delay);
        let rtt = ways
            .rtt
            .saturating_add(delays.max().unwrap_or(Span::ZERO) * 2);
        let bdp = line.fastest().as_bps() as f64 * rtt.as_secs_f64() / 8.0;
        bdp as u64 + u64::from(limit) * u64::from(line.mtu)
    });
    most.max().unwrap_or_default()
}
