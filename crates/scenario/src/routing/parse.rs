//! From the tree of a routing scenario to its model, every fault noted on the way.

use super::events::{changes, unknown};
use super::keys::{DATA_PLANES, MOST_ROUTERS, ROOT, TOPOLOGIES};
use super::plan::{End, Plan};
use super::routers::{Line, hosts, routers, set};
use super::{DataPlane, FEW, Routing};
use crate::faults::Context;
use crate::keys::ENGINES;
use crate::model::Engine;
use crate::reader::Reader;
use crate::tree::{Extent, Node, Value};
use std::collections::BTreeMap;
use trammel_control::network::{Settings, Subnet, Topology};
use trammel_core::time::{Span, Time};

/// Interfaces of a router, at most: the adverts of an update in an Ethernet frame.
const MOST_INTERFACES: usize = 120;
/// Link-state updates that a run may send: about ten minutes of processor time.
const MOST_UPDATES: f64 = 1e9;

/// Reads the whole tree; nothing after some faults. What it returns is of use only where no fault
/// was noted.
pub(super) fn scenario(cx: &Context<'_>, root: &Node, seed: Option<u64>) -> Option<Routing> {
    let r = Reader::new(cx, &ROOT, root);
    r.word("subject");
    let own_seed = r.whole("seed").unwrap_or(1) as u64;
    let seed = seed.unwrap_or(own_seed);
    let line = Line {
        delay: r.span("delay").unwrap_or(Span::ZERO),
        rate: r.rate("rate"),
    };
    let duration = r.span("duration");
    let mut settings = Settings {
        has_carrier: r.flag("carrier").unwrap_or(false),
        ..Settings::default()
    };
    set(&r, &mut settings.config);
    let engines = engines(&r);
    let word = r.word("data_plane").map(|n| DATA_PLANES[n]);
    let mut topology = made(&r, seed)?;
    for subnet in &mut topology.subnets {
        (subnet.delay, subnet.rate) = (line.delay, line.rate);
    }
    let mut plan = Plan::of(topology);
    let tables = r.tables("router");
    if r.entry("topology").is_none() && tables.is_empty() {
        let help = "add `[[router]]`s and `[[link]]`s, or `topology = \"ring\"`";
        let what = "the file describes no router";
        cx.fault(&r.span, what, "there is nothing to run", help);
        return None;
    }
    let made_routers = plan.topology.routers.len();
    let names = routers(&tables, &mut plan, &mut settings);
    let links: Vec<_> = r
        .tables("link")
        .iter()
        .map(|l| link(l, &mut plan))
        .collect();
    for (table, router) in tables.iter().zip(&names) {
        hosts(table, *router, made_routers, line, &mut plan);
    }
    for (table, ends) in r.tables("link").iter().zip(links) {
        if let Some((ends, name)) = ends {
            let routers = ends.iter().map(|end| end.router).collect();
            let mut subnet = Subnet::new(routers, table.span("delay").unwrap_or(line.delay));
            subnet.rate = table.rate("rate").or(line.rate);
            check_name(table, name.as_ref(), &plan);
            plan.join(cx, &ends, subnet, name);
        }
    }
    plan.check_addresses(cx);
    let end = duration.map(|duration| Time::ZERO + duration)?;
    let changes = changes(&r, &plan, end);
    check_size(&r, &plan.topology, &settings, duration?, changes.len());
    let data_plane = data_plane(&r, word?, &plan.topology)?;
    Some(Routing {
        title: r.text("title").unwrap_or_default(),
        question: r.text("question"),
        engines,
        duration: duration?,
        seed,
        data_plane,
        topology: plan.topology,
        links: plan.links,
        settings,
        changes,
    })
}

fn engines(r: &Reader<'_>) -> Option<Vec<Engine>> {
    let entry = r.entry("engines")?;
    let names = r.names("engines");
    let words = names
        .iter()
        .filter_map(|(_, node)| r.word_of("engines", node, ENGINES));
    let mut engines: Vec<Engine> = words
        .filter_map(|n| Engine::from_name(ENGINES[n]))
        .collect();
    engines.sort_unstable();
    engines.dedup();
    if names.is_empty() && matches!(&entry.node.value, Value::List(_)) {
        let help = format!("name at least one: {}", ROOT.key("engines").kind.describe());
        let (what, why) = ("`engines` is empty", "no engine would run");
        r.cx.fault(&entry.node.span, what, why, help);
    }
    Some(engines)
}

/// The topology that is made; an empty one where none is asked for, nothing after a fault.
fn made(r: &Reader<'_>, seed: u64) -> Option<Topology> {
    let Some(entry) = r.entry("topology") else {
        return Some(Topology::default());
    };
    if let Value::Table(_) = entry.node.value {
        let table = r.table("topology")?;
        let (kind, routers, links) = (
            table.word("kind"),
            table.whole("routers"),
            table.whole("links"),
        );
        let own_seed = table.whole("seed").map(|seed| seed as u64);
        let word = TOPOLOGIES[kind?];
        for key in ["routers", "links", "seed"] {
            let is_used = word == "random" || (word == "ring" && key == "routers");
            if let Some(entry) = table.entry(key).filter(|_| !is_used) {
                let what = format!("`topology.{key}` has no meaning for a {word}");
                let help = format!("leave `{key}` out");
                r.cx.fault(&entry.span, what, "it is always the same", help);
            }
        }
        if let (Some(n), "ring") = (routers.filter(|n| *n < 3), word) {
            let entry = table.entry("routers")?;
            let what = format!("{n} routers make no ring");
            let help = "make it 3 or more, or join routers by `[[link]]`";
            r.cx.fault(&entry.node.span, what, "a ring has at least 3", help);
            return None;
        }
        let routers = routers.map(|n| n as usize);
        let links = links.map(|n| n as usize);
        return Some(of_kind(word, routers, links, own_seed.unwrap_or(seed)));
    }
    let word = r.word_of("topology", &entry.node, TOPOLOGIES)?;
    Some(of_kind(TOPOLOGIES[word], None, None, seed))
}

fn of_kind(kind: &str, routers: Option<usize>, links: Option<usize>, seed: u64) -> Topology {
    match kind {
        "campus" => Topology::campus(),
        "random" => {
            let routers = routers.unwrap_or(100);
            Topology::random(routers, links.unwrap_or(3 * routers), seed)
        }
        _ => Topology::ring(routers.unwrap_or(3)),
    }
}

/// Notes a link whose given name another one has.
fn check_name(r: &Reader<'_>, name: Option<&String>, plan: &Plan) {
    if let (Some(entry), Some(name)) = (r.entry("name"), name)
        && plan.links.contains(name)
    {
        let what = format!("two links are called `{name}`");
        let help = "give each a name of its own, or leave `name` out";
        r.cx.fault(&entry.node.span, what, "the second", help);
    }
}

/// The ends and the name of one `[[link]]`.
fn link(r: &Reader<'_>, plan: &mut Plan) -> Option<(Vec<End>, Option<String>)> {
    let name = r.text("name");
    if r.entry("between").is_none() {
        r.missing("between");
    }
    let between = r.names("between");
    let ends: Vec<Option<End>> = between
        .iter()
        .map(|(text, node)| end(r, text, &node.span, plan))
        .collect();
    let ends: Vec<End> = ends.into_iter().collect::<Option<_>>()?;
    let entry = r.entry("between")?;
    if ends.is_empty() || ends.len() > 254 {
        let help = "name two routers, or one for its hosts";
        let what = "a link is between routers";
        let why = format!("this names {}", ends.len());
        r.cx.fault(&entry.node.span, what, why, help);
        return None;
    }
    let is_again = |n: usize| ends[..n].iter().any(|one| one.router == ends[n].router);
    if let Some(n) = (0..ends.len()).find(|n| is_again(*n)) {
        let router = &plan.topology.routers[ends[n].router];
        let what = format!("the link has `{router}` twice");
        let help = "name another router";
        r.cx.fault(&between[n].1.span, what, "the second", help);
        return None;
    }
    Some((ends, name))
}

/// `r1`, or `r1:eth0`.
fn end(r: &Reader<'_>, text: &str, span: &Extent, plan: &mut Plan) -> Option<End> {
    let (name, interface) = match text.split_once(':') {
        Some((name, interface)) => (name, Some(interface)),
        None => (text, None),
    };
    let names = &plan.topology.routers;
    let Some(router) = names.iter().position(|one| one == name) else {
        unknown(r, span, "router", name, names);
        return None;
    };
    let Some(wanted) = interface else {
        return Some(End {
            router,
            interface: None,
        });
    };
    let all = plan.interfaces.entry(router).or_default();
    let Some(number) = all.iter().position(|one| one.name == wanted) else {
        let names: Vec<String> = all.iter().map(|one| one.name.clone()).collect();
        unknown(r, span, "interface", wanted, &names);
        return None;
    };
    if std::mem::replace(&mut all[number].is_linked, true) {
        let what = format!("two links are at `{text}`");
        let help = "name another interface";
        r.cx.fault(span, what, "an interface is at one link", help);
    }
    Some(End {
        router,
        interface: Some(number),
    })
}

/// Notes what is too large to run.
fn check_size(
    r: &Reader<'_>,
    topology: &Topology,
    settings: &Settings,
    duration: Span,
    events: usize,
) {
    let span = |key: &str| {
        let entry = r.entry(key);
        entry.map_or(r.span.clone(), |entry| entry.span.clone())
    };
    let mut interfaces: BTreeMap<usize, usize> = BTreeMap::new();
    for router in topology.subnets.iter().flat_map(|subnet| &subnet.routers) {
        *interfaces.entry(*router).or_default() += 1;
    }
    let widest = interfaces.iter().max_by_key(|(_, count)| **count);
    if let Some((router, count)) = widest.filter(|(_, count)| **count > MOST_INTERFACES) {
        let name = &topology.routers[*router];
        let what = format!("router `{name}` has {count} interfaces");
        let why = format!("an update tells of at most {MOST_INTERFACES}");
        r.cx.fault(&span("link"), what, why, "use fewer links");
    }
    let routers = topology.routers.len();
    if routers as i64 > MOST_ROUTERS {
        let what = format!("there are {routers} routers");
        let why = format!("at most {MOST_ROUTERS} are run");
        r.cx.fault(&span("router"), what, why, "use fewer");
    }
    let ends: usize = topology.subnets.iter().map(|s| s.routers.len()).sum();
    let shortest = settings.own.values().map(|config| config.lsu_interval);
    let shortest = shortest.chain([settings.config.lsu_interval]).min();
    let shortest = shortest.map_or(1.0, |span| span.as_secs_f64().max(1e-3));
    let rounds = duration.as_secs_f64() / shortest + 3.0 * (events as f64 + 1.0);
    let updates = routers as f64 * ends as f64 * rounds;
    if updates > MOST_UPDATES {
        let what = "the run would take too long";
        let why = format!("about {updates:.0e} updates would be sent");
        let help = "make `duration` shorter, `lsu_interval` longer, or the topology smaller";
        r.cx.fault(&span("duration"), what, why, help);
    }
}

/// How packets are forwarded; nothing where cards are asked for that cannot do it.
fn data_plane(r: &Reader<'_>, word: &str, topology: &Topology) -> Option<DataPlane> {
    let misfit = Routing::misfit(topology);
    match (word, misfit) {
        ("tables", _) => Some(DataPlane::Tables),
        ("devices", Some(why)) => {
            let entry = r.entry("data_plane");
            let span = entry.map_or(r.span.clone(), |entry| entry.node.span.clone());
            let what = "`data_plane` cannot be `devices`";
            r.cx.fault(&span, what, why, "use `tables`");
            None
        }
        ("auto", misfit) if misfit.is_some() || topology.routers.len() > FEW => {
            Some(DataPlane::Tables)
        }
        _ => Some(DataPlane::Devices),
    }
}
