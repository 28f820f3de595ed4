//! Reads `[[flow]]`, `[[workload]]`, `[[stream]]` and `[[app]]`.

use super::plugin;
use crate::app::App;
use crate::flow::{Buffers, DelayedAck, Ecn, Flow, SenderQueue, Stack};
use crate::keys::{DSCPS, WORKLOADS};
use crate::plugin::Random;
use crate::reader::Reader;
use crate::tree::Value;
use crate::workload::{Arrivals, Stream, Workload, WorkloadKind, web_sizes};
use trammel_netsim::apps::{self, Carrier};

const STACKS: [Stack; 3] = [Stack::Linux6, Stack::Linux26, Stack::Rfc];
const ECN: [Ecn; 2] = [Ecn::Classic, Ecn::Accurate];
const SENDER_QUEUES: [SenderQueue; 2] = [SenderQueue::None, SenderQueue::Fq];
const BUFFERS: [Buffers; 2] = [Buffers::Unlimited, Buffers::Linux];

/// The flows, copies made, and for each the index of its table in the file.
pub(super) fn flows(r: &Reader<'_>) -> (Vec<Flow>, Vec<usize>) {
    let mut flows = Vec::new();
    let mut origins = Vec::new();
    for (index, table) in r.tables("flow").iter().enumerate() {
        let count = table.whole("count").unwrap_or(1);
        let flow = flow(table);
        for copy in 1..=count {
            let mut flow = flow.clone();
            if count > 1 && !flow.name.is_empty() {
                flow.name = format!("{}-{copy}", flow.name);
            }
            flows.push(flow);
            origins.push(index);
        }
    }
    (flows, origins)
}

fn flow(r: &Reader<'_>) -> Flow {
    let variant = plugin::variant(r).unwrap_or_else(|| "reno".into());
    let mut flow = Flow::new(&variant.name);
    flow.variant = variant;
    flow.name = r.text("name").unwrap_or_default();
    flow.start = r.instant("start");
    flow.stop = r.instant("stop");
    flow.duration = r.span("duration");
    flow.bytes = r.bytes("bytes");
    flow.rate = r.rate("rate");
    flow.from = r.text("from");
    flow.to = r.text("to");
    flow.rtt = r.span("rtt");
    flow.ecn = r.flag_or_word("ecn").map(|given| match given {
        Ok(on) => Ecn::from(on),
        Err(word) => ECN[word],
    });
    flow.dscp = dscp(r);
    flow.buffers = r.word("buffers").map_or(flow.buffers, |n| BUFFERS[n]);
    flow.socket_buffer = r.bytes("socket_buffer");
    flow.receive_buffer = r.bytes("receive_buffer");
    flow.reader = r.span("reader");
    flow.initial_window = r.whole("initial_window").map(|n| n as u32);
    flow.min_rto = r.span("min_rto");
    flow.cwnd_clamp = r.whole("cwnd_clamp").map(|n| n as u32);
    flow.timestamps = r.flag("timestamps");
    flow.nagle = r.flag("nagle");
    flow.pacing = r.flag("pacing");
    flow.pacing_rate = r.rate("pacing_rate");
    flow.sender_queue = r
        .word("sender_queue")
        .map_or(flow.sender_queue, |n| SENDER_QUEUES[n]);
    flow.offload = r.flag("offload").unwrap_or_default();
    flow.kernel_variant = r.text("kernel_variant");
    // What the variant implies yields to what is given.
    if r.entry("stack").is_some() {
        flow.stack = r.word("stack").map_or(flow.stack, |n| STACKS[n]);
    }
    if r.entry("sack").is_some() {
        flow.sack = r.flag("sack").unwrap_or_default();
    }
    if let Some(entry) = r.entry("delayed_ack") {
        flow.delayed_ack = match entry.node.value {
            Value::Bool(true) => DelayedAck::Stack,
            Value::Bool(false) | Value::Int(1) => DelayedAck::Off,
            _ => {
                let segments = r.whole_of("delayed_ack", &entry.node).unwrap_or(2);
                DelayedAck::Segments(segments as u32)
            }
        };
    }
    flow
}

/// The codepoint of `dscp`.
fn dscp(r: &Reader<'_>) -> u8 {
    r.word("dscp").map_or(0, |n| DSCPS[n].1)
}

/// The workloads.
pub(super) fn workloads(r: &Reader<'_>) -> Vec<Workload> {
    let tables = r.tables("workload");
    tables.iter().filter_map(workload).collect()
}

fn workload(r: &Reader<'_>) -> Option<Workload> {
    let variant = plugin::variant(r);
    let (start, stop) = (r.instant("start"), r.instant("stop"));
    let (from, to, stack) = (r.text("from"), r.text("to"), r.word("stack"));
    let buffers = r.word("buffers");
    let name = r.text("name");
    let word = WORKLOADS[r.word("kind")?];
    refuse_keys_of_other_kinds(r, word);
    let connections = r.whole("connections").unwrap_or(1) as u32;
    let kind = match word {
        "poisson" => {
            if r.entry("size").is_none() {
                r.missing("size");
            }
            let (arrivals, size) = (arrivals(r), plugin::random(r, "size"));
            WorkloadKind::Poisson {
                arrivals: arrivals?,
                size: size?,
            }
        }
        "background" => {
            let arrivals = arrivals(r);
            let size = match r.entry("size") {
                Some(_) => plugin::random(r, "size"),
                None => Some(web_sizes()),
            };
            WorkloadKind::Background {
                arrivals: arrivals?,
                size: size?,
            }
        }
        "request-response" => {
            let [request, response, think] =
                ["request", "response", "think"].map(|key| plugin::random(r, key));
            WorkloadKind::RequestResponse {
                request: request?,
                response: response?,
                think: think?,
                connections,
            }
        }
        _ => {
            let [on, off]: [Option<Random>; 2] = ["on", "off"].map(|key| plugin::random(r, key));
            let rate = r.rate("rate");
            WorkloadKind::OnOff {
                on: on?,
                off: off?,
                rate,
                connections,
            }
        }
    };
    let variant = variant?;
    let mut flow = Flow::new(&variant.name);
    flow.variant = variant;
    flow.from = from;
    flow.to = to;
    if r.entry("stack").is_some() {
        flow.stack = STACKS[stack?];
    }
    flow.buffers = buffers.map_or(flow.buffers, |n| BUFFERS[n]);
    let name = name.unwrap_or_else(|| word.to_owned());
    Some(Workload {
        name,
        kind,
        flow,
        start: start?,
        stop,
    })
}

/// Notes keys that mean nothing for a workload of kind `word`.
fn refuse_keys_of_other_kinds(r: &Reader<'_>, word: &str) {
    const OF_KINDS: &[(&str, &[&str])] = &[
        ("load", &["poisson", "background"]),
        ("arrivals", &["poisson", "background"]),
        ("size", &["poisson", "background"]),
        ("rate", &["poisson", "background", "on-off"]),
        ("request", &["request-response"]),
        ("response", &["request-response"]),
        ("think", &["request-response"]),
        ("connections", &["request-response", "on-off"]),
        ("on", &["on-off"]),
        ("off", &["on-off"]),
    ];
    for (key, kinds) in OF_KINDS {
        if let Some(entry) = r.entry(key).filter(|_| !kinds.contains(&word)) {
            let what = format!("`{key}` has no meaning for a workload of kind `{word}`");
            let why = format!("for {} only", kinds.join(", "));
            r.cx.fault(
                &entry.span,
                what,
                why,
                format!("remove `{key}`, or change `kind`"),
            );
        }
    }
}

/// Exactly one of `load`, `rate` and `arrivals`.
fn arrivals(r: &Reader<'_>) -> Option<Arrivals> {
    let keys = ["load", "rate", "arrivals"];
    let given: Vec<_> = keys.iter().filter_map(|key| r.entry(key)).collect();
    let help = "give `load = 0.5`, `rate = \"10 Mbit/s\"` or `arrivals = 20`";
    if given.is_empty() {
        let what = "the workload does not say how many flows come";
        r.cx.fault(
            &r.span,
            what,
            "`load`, `rate` or `arrivals` is missing",
            help,
        );
    } else if let Some(second) = given.get(1) {
        let what = format!("`{}` and `{}` exclude each other", given[0].key, second.key);
        r.cx.fault(&second.span, what, "each says how many flows come", help);
    }
    let load = r.number("load").map(Arrivals::Load);
    let rate = r.rate("rate").map(Arrivals::Rate);
    load.or(rate)
        .or(r.number("arrivals").map(Arrivals::PerSecond))
}

/// The streams of datagrams.
pub(super) fn streams(r: &Reader<'_>) -> Vec<Stream> {
    let tables = r.tables("stream");
    let streams = tables.iter().enumerate().filter_map(|(index, r)| {
        r.word("protocol");
        let (size, gap) = (plugin::random(r, "size"), plugin::random(r, "gap"));
        let (from, to) = (r.text("from"), r.text("to"));
        let (start, stop) = (r.instant("start"), r.instant("stop"));
        let name = r
            .text("name")
            .unwrap_or_else(|| format!("stream-{}", index + 1));
        Some(Stream {
            name,
            size: size?,
            gap: gap?,
            dscp: dscp(r),
            from,
            to,
            start: start?,
            stop,
        })
    });
    streams.collect()
}

/// The applications.
pub(super) fn apps(r: &Reader<'_>) -> Vec<App> {
    r.tables("app").iter().filter_map(app).collect()
}

fn app(r: &Reader<'_>) -> Option<App> {
    let (kind, variant) = (plugin::beside(r, "kind", None), plugin::variant(r));
    let (start, stop, users) = (r.instant("start"), r.instant("stop"), r.whole("users"));
    let (name, from, to) = (r.text("name"), r.text("from"), r.text("to"));
    let (stack, dscp) = (r.word("stack"), dscp(r));
    let kind = kind?;
    let is_datagrams = |kind: &apps::Entry| kind.carrier == Carrier::Datagrams;
    if apps::find(&kind.name).is_some_and(is_datagrams) {
        for key in ["variant", "params", "stack"] {
            if let Some(entry) = r.entry(key) {
                let what = format!("`{key}` has no meaning for `{}`", kind.name);
                let why = "datagrams carry it, not TCP";
                r.cx.fault(&entry.span, what, why, format!("remove `{key}`"));
            }
        }
    }
    let variant = variant?;
    let mut flow = Flow::new(&variant.name);
    flow.variant = variant;
    (flow.from, flow.to, flow.dscp) = (from, to, dscp);
    if r.entry("stack").is_some() {
        flow.stack = STACKS[stack?];
    }
    Some(App {
        name: name.unwrap_or_else(|| kind.name.clone()),
        kind,
        flow,
        users: users.unwrap_or(1) as u32,
        start: start?,
        stop,
    })
}
