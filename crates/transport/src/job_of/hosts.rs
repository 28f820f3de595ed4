//! The hosts at the ends of flows: a pair for all flows of one way whose stacks are alike, set by
//! the kernel's own variables and metrics of routes.

use super::layout::{Layout, Party, Row, parties};
use super::nanoseconds::ns;
use super::refusal::refused;
use crate::network_of::{Described, Ways, describe, rmem_max};
use std::collections::BTreeMap;
use trammel_core::time::Span;
use trammel_io::qdisc::Kind;
use trammel_kernel::job::{self, Host, Way};
use trammel_netsim::network::write_interval;
use trammel_scenario::flow::{Buffers, DelayedAck, Flow, SenderQueue, Stack as Preset};
use trammel_scenario::model::Scenario;
use trammel_scenario::topology::Topology;
use trammel_tcp::stack::{EcnMode, LossDetection, Stack};

/// `RTAX_…` of `linux/rtnetlink.h`.
const LOCK: u16 = 1;
const CWND: u16 = 7;
const INITCWND: u16 = 11;
const RTO_MIN: u16 = 13;
const QUICKACK: u16 = 15;
/// The largest send buffer that an application may set: any.
const WMEM_MAX: &str = "268435456";
/// `tcp_wmem` where memory of sockets never binds. A packet takes 2 kB of it, SACKed ones too:
/// enough at 1 Gbit/s and a second of round trip.
const UNLIMITED_WMEM: &str = "4096 131072 1073741824";
/// What the kernel begins with, segments and time.
const INITIAL_WINDOW: u32 = 10;
const MIN_RTO: Span = Span::from_ms(200);

/// `fq` as Linux has it.
const FQ: Kind = Kind::Fq {
    limit: 10_000,
    flow_limit: 100,
    quantum: 0,
    initial_quantum: 0,
};

/// What flows have in common that share hosts: the row of routers between, the kernel's variables
/// at both ends, metrics of both routes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    row: Row,
    sysctls: [Vec<(String, String)>; 2],
    metrics: [Vec<(u16, u32)>; 2],
    /// The sender's queue is `fq`.
    has_fq: bool,
}

/// A party with its hosts.
#[derive(Debug)]
pub(super) struct Attached {
    pub(super) described: Described,
    /// The sending host.
    from: usize,
    /// The wire at whose second end the receiving one is.
    to: usize,
}

/// Adds the hosts of all parties; `rows` are the routers of each.
pub(super) fn attach(layout: &mut Layout<'_>, rows: &[Row]) -> Vec<Attached> {
    let scenario = layout.scenario;
    let wanted = &scenario.measure;
    let mut pairs: BTreeMap<Pair, (usize, usize)> = BTreeMap::new();
    let mut attached = Vec::with_capacity(rows.len());
    for (party, row) in parties(scenario).zip(rows) {
        let ways = ways(scenario, party.flow, layout, row);
        let described = match describe(scenario, party.flow, &ways, layout.seed) {
            Ok(described) => described,
            Err(why) => {
                let what = format!("`{}` cannot be measured", party.name);
                let fault = refused(&party.place, &what, &why.to_string());
                layout.faults.push(fault);
                continue;
            }
        };
        refuse(layout, &party, &described);
        let mut pair = pair(party.flow, row, &described);
        for end in &mut pair.sysctls {
            end.extend(wanted.iter().flat_map(|measure| measure.sysctls.clone()));
        }
        let (from, to) = match pairs.get(&pair) {
            Some(known) => *known,
            None => *pairs
                .entry(pair.clone())
                .or_insert(add(layout, &pair, ways.mtu)),
        };
        attached.push(Attached {
            described,
            from,
            to,
        });
    }
    attached
}

/// What the path tells a flow.
fn ways(scenario: &Scenario, flow: &Flow, layout: &Layout<'_>, row: &Row) -> Ways {
    let overhead = match &scenario.topology {
        Topology::Path(path) => path.line.overhead,
        Topology::Graph(graph) => graph
            .links
            .iter()
            .map(|link| link.line.overhead)
            .max()
            .unwrap_or_default(),
    };
    let wires = row.wires.iter().map(|wire| layout.job.wires[*wire].mtu);
    Ways {
        rtt: scenario.rtt_of(flow).unwrap_or_default(),
        mtu: wires.min().unwrap_or(1500),
        overhead_bytes: overhead,
        ..Ways::default()
    }
}

/// What of a flow no host is.
fn refuse(layout: &mut Layout<'_>, party: &Party<'_>, described: &Described) {
    let (name, flow) = (party.name, party.flow);
    let mut add = |key: &str, what: &str, why: &str| {
        let what = format!("`{name}`: {what} cannot be measured");
        let place = format!("{}.{key}", party.place);
        layout.faults.push(refused(&place, &what, why));
    };
    if matches!(flow.delayed_ack, DelayedAck::Segments(2..)) {
        let why = "the kernel delays ACKs by its own rule, or not at all";
        add("delayed_ack", "a number of segments to an ACK", why);
    }
    if flow.pacing == Some(false) && matches!(described.built.variant.as_str(), "bbr" | "bbr3") {
        add(
            "pacing",
            "BBR without pacing",
            "the kernel's BBR always paces",
        );
    }
    if flow.offload != layout.offload {
        let why = "a guest's interfaces have it all or none";
        add("offload", "offload of some flows only", why);
    }
    if flow.stack != Preset::Linux6 {
        let note = format!(
            "stack `{}` is approximated by sysctls of today's kernel (no RACK, tail loss probes or \
             F-RTO, initial window {}); windows still grow by segments and not by ACKs, the \
             variants are today's, and PRR and undo stay",
            flow.stack.name(),
            described.stacks.0.initial_window
        );
        if !layout.notes.contains(&note) {
            layout.notes.push(note);
        }
    }
}

fn pair(flow: &Flow, row: &Row, described: &Described) -> Pair {
    let (client, server) = &described.stacks;
    let mut metrics = [Vec::new(), Vec::new()];
    if client.cwnd_clamp != u32::MAX {
        metrics[0].extend([(LOCK, 1 << CWND), (CWND, client.cwnd_clamp)]);
    }
    if client.initial_window != INITIAL_WINDOW {
        metrics[0].push((INITCWND, client.initial_window));
    }
    if client.min_rto != MIN_RTO {
        let ms = (client.min_rto.as_ps() / 1_000_000_000).max(1);
        metrics[0].push((RTO_MIN, u32::try_from(ms).unwrap_or(u32::MAX)));
    }
    if matches!(flow.delayed_ack, DelayedAck::Off | DelayedAck::Segments(1)) {
        metrics[1].push((QUICKACK, 1));
    }
    Pair {
        row: row.clone(),
        sysctls: [variables(client), variables(server)],
        metrics,
        has_fq: flow.sender_queue == SenderQueue::Fq,
    }
}

/// The variables of a host below `/proc/sys/net` that make it speak as `stack` does.
fn variables(stack: &Stack) -> Vec<(String, String)> {
    let flag = |on: bool, value: u32| if on { value } else { 0 }.to_string();
    let bytes = |bytes: u64| bytes.min(i32::MAX as u64);
    let (usual, most) = (bytes(stack.receive_buffer), bytes(stack.max_receive_buffer));
    let receive = format!("4096 {usual} {}", most.max(usual));
    // What an application sets itself needs no variable.
    let send = match (stack.send_buffer, stack.max_send_buffer) {
        (first, most) if first < most => format!("4096 {first} {most}"),
        _ => UNLIMITED_WMEM.to_owned(),
    };
    [
        ("tcp_sack", flag(stack.sack, 1)),
        ("tcp_dsack", flag(stack.dsack, 1)),
        // 2: without an offset that is drawn for each connection, by which LP's arithmetic of
        // delays stands or falls.
        (
            "tcp_timestamps",
            flag(
                stack.timestamps,
                if stack.random_timestamps { 1 } else { 2 },
            ),
        ),
        ("tcp_window_scaling", flag(stack.window_scaling, 1)),
        (
            "tcp_ecn",
            match stack.ecn {
                EcnMode::Off => "0",
                EcnMode::Classic => "1",
                EcnMode::Accurate => "3",
            }
            .to_owned(),
        ),
        ("tcp_ecn_fallback", flag(stack.ecn_fallback, 1)),
        (
            "tcp_recovery",
            flag(stack.detection == LossDetection::Rack, 1),
        ),
        ("tcp_early_retrans", flag(stack.tail_loss_probe, 3)),
        ("tcp_frto", flag(stack.frto, 2)),
        ("tcp_comp_sack_nr", flag(stack.compress_sack, 44)),
        (
            "tcp_slow_start_after_idle",
            flag(stack.slow_start_after_idle, 1),
        ),
        ("tcp_reordering", stack.reordering.to_string()),
        // One flow is not to learn from another.
        ("tcp_no_metrics_save", "1".to_owned()),
        ("tcp_rmem", receive),
        ("tcp_wmem", send),
    ]
    .map(|(name, value)| (format!("ipv4/{name}"), value))
    .to_vec()
}

/// Variables of the whole machine: its memory and backlogs are never what binds.
pub(super) fn of_all(scenario: &Scenario) -> Vec<(String, String)> {
    let rmem_max = rmem_max(scenario).to_string();
    [
        ("net/ipv4/tcp_mem", "2000000 4000000 8000000"),
        ("net/core/rmem_max", &rmem_max),
        ("net/core/wmem_max", WMEM_MAX),
        ("net/core/netdev_max_backlog", "300000"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec()
}

/// Adds a pair of hosts; the sender, and the wire at whose second end the receiver is.
fn add(layout: &mut Layout<'_>, pair: &Pair, mtu: u32) -> (usize, usize) {
    let [from, to] = [0, 1].map(|at| {
        layout.host(Host {
            sysctls: pair.sysctls[at].clone(),
        })
    });
    let (Some(first), Some(last)) = (pair.row.hosts.first(), pair.row.hosts.last()) else {
        return (from, 0);
    };
    let plain = Way::default;
    let leaving = Way {
        queue: pair.has_fq.then_some(FQ),
        ..Way::default()
    };
    let mut row = layout.wire([from, *first], mtu, [leaving, plain()]);
    let out = layout.wire([*last, to], mtu, [plain(), plain()]);
    row.join(&pair.row);
    row.join(&out);
    layout.route(&row, [&pair.metrics[0], &pair.metrics[1]]);
    (from, out.wires[0])
}

impl Attached {
    /// A flow between the hosts, of as many bytes as `flow` says.
    pub(super) fn flow(&self, flow: &Flow) -> job::GuestFlow {
        let bytes = |bytes: u64| i32::try_from(bytes).unwrap_or(i32::MAX);
        let built = &self.described.built;
        job::GuestFlow {
            from: self.from,
            to: (self.to, 1),
            congestion: flow.kernel_name().to_owned(),
            start_ns: ns(built.start.since_start()),
            stop_ns: ns(built.stop.since_start()),
            bytes: flow.bytes,
            writes: flow.rate.map(|rate| {
                let segment = u64::from(built.payload_bytes.max(1));
                job::Writes {
                    bps: rate.as_bps(),
                    segment,
                    every_ns: ns(write_interval(rate, segment)),
                }
            }),
            send_buffer: flow.socket_buffer.map(bytes),
            receive_buffer: flow.receive_buffer.or(flow.socket_buffer).map(bytes),
            read_ns: flow.reader.map(ns),
            // Auto-tuning follows what is read.
            is_read_at_once: flow.buffers == Buffers::Linux,
            dscp: flow.dscp,
            no_delay: !self.described.stacks.0.nagle,
            // Any limit has the kernel pace; the largest is none.
            max_pacing_rate: match flow.most_paced() {
                u64::MAX => (flow.pacing == Some(true)).then_some(u64::MAX - 1),
                most => Some(most),
            },
            is_brief: false,
        }
    }
}
