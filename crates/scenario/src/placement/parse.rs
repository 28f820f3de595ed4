//! From the tree of a placement file to its problem, every fault noted on the way.

use super::PlacementFile;
use super::estimator::Estimator;
use super::functions::{self, Function, Setting};
use super::keys::ROOT;
use crate::faults::Context;
use crate::reader::Reader;
use crate::tree::{Extent, Node};
use trammel_core::units::nearest;
use trammel_cost::place::model::{Arrivals, Cache, Chain, Kind, Node as Numa, Problem, Work};

/// Bytes of a page, in the order of the words of `huge_pages`; tables on common pages take whole
/// bytes.
const PAGE_BYTES: [u64; 3] = [0, 2 << 20, 1 << 30];

/// A kind of server and what the model does not know of it.
struct Server {
    kind: Kind,
    machine: Option<String>,
    page_bytes: u64,
}

/// Reads the whole tree. What it returns is of use only where no fault was noted.
pub(super) fn file(cx: &Context<'_>, root: &Node, estimator: &dyn Estimator) -> PlacementFile {
    let r = Reader::new(cx, &ROOT, root);
    r.word("subject");
    let cache = [Cache::Shared, Cache::Reserved, Cache::Ignored];
    let cache = r.word("cache").map_or(Cache::Shared, |n| cache[n]);
    for name in ["server", "function", "chain"] {
        if r.entry(name).is_none() {
            r.missing(name);
        }
    }
    let servers: Vec<Server> = r.tables("server").iter().filter_map(server).collect();
    let functions = functions(&r);
    let tables = r.tables("chain");
    let names: Vec<Option<String>> = tables.iter().map(|chain| chain.text("name")).collect();
    let chains: Vec<(Chain, Vec<String>)> = tables
        .iter()
        .zip(&names)
        .filter_map(|(table, name)| {
            chain(table, name.clone(), &names, &servers, &functions, estimator)
        })
        .collect();
    let (chains, functions) = chains.into_iter().unzip();
    PlacementFile {
        name: String::new(),
        title: r.text("title").unwrap_or_default(),
        seed: r.whole("seed").unwrap_or(1) as u64,
        validated: r.text("contention_validated"),
        huge_page_bytes: servers.iter().map(|server| server.page_bytes).collect(),
        functions,
        problem: Problem {
            kinds: servers.into_iter().map(|server| server.kind).collect(),
            chains,
            cache,
        },
        text: String::new(),
        root: root.clone(),
    }
}

fn server(r: &Reader<'_>) -> Option<Server> {
    let count = r.whole("nodes").map(|n| n as usize);
    let (name, clock, cores) = (r.text("name"), r.number("clock"), r.whole("cores"));
    let (servers, latency) = (r.whole("count"), r.number("dram_latency"));
    let (llc, dram, memory) = (
        r.number("llc"),
        r.number("dram_accesses_per_s"),
        r.number("memory"),
    );
    let (misses, overhead) = (r.number("parallel_misses"), r.number("pcie_overhead"));
    let (pages, machine) = (r.word("huge_pages"), r.text("machine"));
    if r.entry("port").is_none() {
        r.missing("port");
    }
    let mut ports = Vec::new();
    for port in r.tables("port") {
        let at = port.whole("node").map(|n| n as usize);
        let (several, rate, pcie) = (
            port.whole("count"),
            port.number("rate"),
            port.number("pcie"),
        );
        if let (Some(at), Some(nodes)) = (at, count)
            && at >= nodes
        {
            let span = port
                .entry("node")
                .map_or(port.span.clone(), |entry| entry.node.span.clone());
            let what = format!("there is no node {at}");
            let why = format!("the server's nodes are 0 to {}", nodes - 1);
            r.cx.fault(&span, what, why, "raise `nodes`, or give another `node`");
            continue;
        }
        ports.push((at?, several? as f64, rate?, pcie?));
    }
    let one = Numa {
        cores: cores? as u32,
        llc_bytes: llc?,
        dram_per_s: dram?,
        memory_bytes: memory?,
        link_bps: 0.0,
        pcie_bps: 0.0,
    };
    let mut nodes = vec![one; count?];
    for (at, several, rate, pcie) in ports {
        nodes[at].link_bps += several * rate;
        nodes[at].pcie_bps += several * pcie;
    }
    Some(Server {
        kind: Kind {
            name: name?,
            count: servers? as u32,
            clock_hz: clock?,
            dram_latency_s: latency?,
            parallel_misses: misses?,
            pcie_overhead_bytes: overhead?,
            nodes,
        },
        machine,
        page_bytes: PAGE_BYTES[pages?],
    })
}

/// Every `[[function]]`, by its name; nothing in place of a faulty one, so that its name is known.
fn functions(r: &Reader<'_>) -> Vec<(String, Option<Function>)> {
    let mut all: Vec<(String, Option<Function>)> = Vec::new();
    for table in r.tables("function") {
        let function = functions::read(&table);
        let Some(entry) = table.entry("name") else {
            continue;
        };
        let Some(name) = entry.node.as_text() else {
            continue;
        };
        if all.iter().any(|(other, _)| other == name) {
            let what = format!("two functions are called `{name}`");
            r.cx.fault(
                &entry.node.span,
                what,
                "the second",
                "give each a name of its own",
            );
        }
        all.push((name.to_owned(), function));
    }
    all
}

fn chain(
    r: &Reader<'_>,
    name: Option<String>,
    names: &[Option<String>],
    servers: &[Server],
    functions: &[(String, Option<Function>)],
    estimator: &dyn Estimator,
) -> Option<(Chain, Vec<String>)> {
    let (demand, frame) = (r.number("demand"), r.bytes("frame"));
    let arrivals = arrivals(r);
    let (ring, utilisation) = (r.whole("ring"), r.number("utilisation"));
    let (split, most, same) = (
        r.flag("split"),
        r.whole("max_replicas"),
        r.flag("same_socket_as_port"),
    );
    if r.entry("functions").is_none() {
        r.missing("functions");
    }
    let used = r.names("functions");
    if let Some(entry) = r
        .entry("functions")
        .filter(|entry| is_empty_list(&entry.node))
    {
        let what = format!(
            "chain `{}` has no functions",
            name.as_deref().unwrap_or_default()
        );
        r.cx.fault(
            &entry.node.span,
            what,
            "there is nothing to do",
            "name at least one",
        );
    }
    let known = functions.iter().map(|(name, _)| name.as_str());
    let found = used.iter().map(|(wanted, node)| {
        let found = functions.iter().find(|(name, _)| name == wanted);
        if found.is_none() {
            unknown(r, "function", wanted, &node.span, known.clone());
        }
        found?.1.as_ref()
    });
    let found: Option<Vec<&Function>> = found.collect::<Vec<_>>().into_iter().collect();
    let chains = || names.iter().flatten().map(String::as_str);
    let apart = r.names("apart").into_iter().map(|(wanted, node)| {
        let at = names
            .iter()
            .position(|name| name.as_deref() == Some(wanted));
        if at.is_none() {
            unknown(r, "chain", wanted, &node.span, chains());
        }
        at
    });
    let apart: Option<Vec<usize>> = apart.collect::<Vec<_>>().into_iter().collect();
    let (found, frame_bytes) = (found?, frame? as u32);
    let work: Option<Vec<Work>> = servers
        .iter()
        .map(|server| {
            let setting = Setting {
                frame_bytes,
                machine: server.machine.as_deref(),
                clock_hz: server.kind.clock_hz,
            };
            let works = found
                .iter()
                .map(|function| function.work(r.cx, setting, estimator));
            let works: Option<Vec<Work>> = works.collect();
            let mut work = works?.iter().fold(Work::default(), Work::plus);
            work.memory_bytes = whole_pages(work.memory_bytes, server.page_bytes);
            Some(work)
        })
        .collect();
    let chain = Chain {
        name: name?,
        demand_pps: demand?,
        frame_bytes,
        arrivals: arrivals?,
        ring: ring? as u32,
        utilisation,
        max_replicas: if split? { most? as u32 } else { 1 },
        same_node_as_port: same?,
        apart: apart?,
        work: work?,
    };
    Some((
        chain,
        used.iter().map(|(name, _)| (*name).to_owned()).collect(),
    ))
}

fn arrivals(r: &Reader<'_>) -> Option<Arrivals> {
    let (word, burst) = (r.word("arrivals"), r.whole("burst"));
    if let (Some(entry), Some(0 | 1)) = (r.entry("burst"), word) {
        let what = "`burst` is for packets that come in bursts";
        let help = "set `arrivals = \"bursts\"`, or leave `burst` out";
        r.cx.fault(&entry.span, what, "these come one by one", help);
    }
    Some(match word? {
        0 => Arrivals::Smooth,
        1 => Arrivals::Bursts(1),
        _ => Arrivals::Bursts(burst? as u32),
    })
}

fn is_empty_list(node: &Node) -> bool {
    matches!(&node.value, crate::tree::Value::List(items) if items.is_empty())
}

fn unknown<'a>(
    r: &Reader<'_>,
    noun: &str,
    wanted: &str,
    span: &Extent,
    known: impl Iterator<Item = &'a str> + Clone,
) {
    let help = match nearest(wanted, known.clone()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => {
            let all: Vec<_> = known.map(|name| format!("`{name}`")).collect();
            format!("the file has {}", all.join(", "))
        }
    };
    r.cx.fault(
        span,
        format!("no {noun} is called `{wanted}`"),
        format!("unknown {noun}"),
        help,
    );
}

/// `bytes` in whole pages.
fn whole_pages(bytes: f64, page_bytes: u64) -> f64 {
    if page_bytes == 0 {
        return bytes;
    }
    (bytes / page_bytes as f64).ceil() * page_bytes as f64
}
