//! What no single key can tell: whether a scenario makes sense as a whole.
//!
//! The checks see the model only, so a scenario built from Rust passes the same ones as a file.

mod devices;

use super::budget;
use super::flow::Flow;
use super::model::{Pcap, Scenario};
use super::named::{plugins, refused_apps, refused_disciplines};
use super::path::{Change, Direction, Jitter, Line, Path, Queue};
use super::registry::Family;
use super::topology::{Graph, Topology};
use super::workload::{Arrivals, WorkloadKind};
use std::collections::BTreeSet;
use trammel_core::entry::Value;
use trammel_core::time::{Span, Time};
use trammel_core::units::{Rate, nearest};
use trammel_netsim::network::MAX_HOPS;

/// One fault, at a dotted place such as `flow.1.stop`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where it is.
    pub place: String,
    /// What is wrong.
    pub what: String,
    /// Why.
    pub why: String,
    /// What to do.
    pub help: String,
}

/// Faults as a message, for scenarios that are of no file.
pub fn told(faults: &[Fault]) -> String {
    let lines = faults.iter().map(|fault| {
        format!(
            "{}: {}: {}; {}",
            fault.place, fault.what, fault.why, fault.help
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    pub(crate) fn add(
        &mut self,
        place: impl Into<String>,
        what: impl Into<String>,
        why: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.0.push(Fault {
            place: place.into(),
            what: what.into(),
            why: why.into(),
            help: help.into(),
        });
    }
}

impl Scenario {
    /// Every fault of a scenario that was built from Rust; the engines refuse one that has any.
    pub fn check(&self) -> Result<(), Vec<Fault>> {
        let mut all = Faults(faults(self));
        for (place, plugin, family) in plugins(self) {
            if let Err(error) = plugin.params(family) {
                all.add(place, error, "", "");
            }
        }
        if all.0.is_empty() { Ok(()) } else { Err(all.0) }
    }
}

/// Every fault but unknown plug-ins and their parameters, which a file's reader underlines itself.
pub(super) fn faults(scenario: &Scenario) -> Vec<Fault> {
    let mut all = Faults::default();
    let has_flows = !scenario.flows.is_empty() || !scenario.workloads.is_empty();
    if !has_flows && scenario.streams.is_empty() && scenario.apps.is_empty() {
        let help = "add `[[flow]]`, `[[workload]]`, `[[stream]]` or `[[app]]`";
        all.add(
            "",
            "the scenario has no traffic",
            "nothing would happen",
            help,
        );
    }
    if scenario.warmup >= scenario.end() {
        let why = format!("the run ends at {}", scenario.duration);
        all.add(
            "warmup",
            "`warmup` leaves nothing to measure",
            why,
            "shorten it",
        );
    }
    times(scenario, &mut all);
    laws(scenario, &mut all);
    names(scenario, &mut all);
    match &scenario.topology {
        Topology::Path(path) => on_path(scenario, path, &mut all),
        Topology::Graph(graph) => on_graph(scenario, graph, &mut all),
    }
    for (place, error) in refused_disciplines(scenario) {
        all.add(place, error, "this combination is impossible", "");
    }
    for (place, error) in refused_apps(scenario) {
        all.add(place, error, "this combination is impossible", "");
    }
    if all.0.is_empty() {
        // Of what makes no sense nobody knows what it would cost.
        all.0 = budget::faults(scenario);
    }
    all.0
}

fn times(scenario: &Scenario, all: &mut Faults) {
    let end = scenario.end();
    let mut one = |place: String, start: Option<Time>, stop: Option<Time>| {
        if let Some(start) = start.filter(|start| *start >= end) {
            let what = format!("it would start at {start}, after the end of the run");
            let help = "start earlier, or lengthen `duration`";
            all.add(
                format!("{place}.start"),
                what,
                format!("the run ends at {end}"),
                help,
            );
        }
        if let (Some(start), Some(stop)) = (start, stop)
            && stop <= start
        {
            let what = format!("it would stop at {stop}, before it starts");
            let why = format!("it starts at {start}");
            all.add(
                format!("{place}.stop"),
                what,
                why,
                "stop later, or start earlier",
            );
        }
    };
    for (n, flow) in scenario.flows.iter().enumerate() {
        one(format!("flow.{n}"), flow.start, flow.stop);
    }
    for (n, workload) in scenario.workloads.iter().enumerate() {
        one(format!("workload.{n}"), Some(workload.start), workload.stop);
    }
    for (n, stream) in scenario.streams.iter().enumerate() {
        one(format!("stream.{n}"), Some(stream.start), stream.stop);
    }
    for (n, app) in scenario.apps.iter().enumerate() {
        one(format!("app.{n}"), Some(app.start), app.stop);
    }
    for (n, flow) in scenario.flows.iter().enumerate() {
        if flow.pacing == Some(false) && flow.is_paced() == Some(true) {
            let (key, what) = if flow.pacing_rate.is_some() {
                ("pacing_rate", "`pacing_rate` paces, and `pacing` is false")
            } else {
                ("sender_queue", "`fq` paces, and `pacing` is false")
            };
            let why = "Linux paces a flow with either";
            let help = format!("leave `pacing` or `{key}` out");
            all.add(format!("flow.{n}.{key}"), what, why, &help);
        }
        if flow.stop.is_some() && flow.duration.is_some() {
            let place = format!("flow.{n}.duration");
            let what = "`stop` and `duration` exclude each other";
            all.add(
                place,
                what,
                "each says when the flow ends",
                "keep one of them",
            );
        }
    }
}

/// Laws of chance that are possible but not where they stand.
fn laws(scenario: &Scenario, all: &mut Faults) {
    let why = "almost every draw is 0, so that time would not advance";
    for (n, stream) in scenario.streams.iter().enumerate() {
        if stream.gap.stands_still() {
            let what = format!("the gap of `{}` is never above 0", stream.name);
            let help = "make gaps longer than 0";
            all.add(format!("stream.{n}.gap"), what, why, help);
        }
    }
    for (n, workload) in scenario.workloads.iter().enumerate() {
        match &workload.kind {
            WorkloadKind::OnOff { on, off, .. } if on.stands_still() && off.stands_still() => {
                let what = "bursts and pauses are both without length";
                let help = "make `on` longer than 0";
                all.add(format!("workload.{n}.on"), what, why, help);
            }
            WorkloadKind::Poisson { arrivals, size }
            | WorkloadKind::Background { arrivals, size }
                if !matches!(arrivals, Arrivals::PerSecond(_))
                    && size.is_known()
                    && size
                        .mean()
                        .is_none_or(|mean| !mean.is_finite() || mean <= 0.0) =>
            {
                let what = "sizes without a mean do not define a load";
                let why = "flows a second are the load over the mean size";
                let help = "give `arrivals` instead of `load` or `rate`, or bound the sizes";
                all.add(format!("workload.{n}.size"), what, why, help);
            }
            _ => {}
        }
    }
}

fn names(scenario: &Scenario, all: &mut Faults) {
    let mut once = |family: &str, names: Vec<&str>| {
        let mut seen = BTreeSet::new();
        for (n, name) in names.iter().enumerate() {
            if !seen.insert(name) {
                let what = format!("two of `{family}` are called `{name}`");
                let why = "results tell them apart by name";
                all.add(
                    format!("{family}.{n}.name"),
                    what,
                    why,
                    "give it another name",
                );
            }
        }
    };
    once(
        "flow",
        scenario
            .flows
            .iter()
            .map(|flow| flow.name.as_str())
            .collect(),
    );
    once(
        "workload",
        scenario.workloads.iter().map(|w| w.name.as_str()).collect(),
    );
    once(
        "stream",
        scenario.streams.iter().map(|s| s.name.as_str()).collect(),
    );
    once(
        "app",
        scenario.apps.iter().map(|app| app.name.as_str()).collect(),
    );
    if let Topology::Graph(graph) = &scenario.topology {
        once("host", graph.hosts.iter().map(String::as_str).collect());
        once(
            "link",
            graph.links.iter().map(|link| link.name.as_str()).collect(),
        );
    }
    let links: Vec<&str> = match &scenario.topology {
        Topology::Path(_) => vec!["bottleneck"],
        Topology::Graph(graph) => graph.links.iter().map(|link| link.name.as_str()).collect(),
    };
    if let Pcap::Links(wanted) = &scenario.pcap {
        for (n, name) in wanted.iter().enumerate() {
            if !links.contains(&name.as_str()) {
                let what = format!("no link is called `{name}`");
                all.add(
                    format!("pcap.{n}"),
                    what,
                    "unknown link",
                    suggest(name, &links),
                );
            }
        }
    }
}

fn suggest(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("there are `{}`", known.join("`, `")),
    }
}

/// Whether a queue sends at a rate of its own.
fn has_own_rate(queue: &Queue) -> bool {
    let discipline = &queue.discipline;
    let Ok(params) = discipline.params(Family::Discipline) else {
        return false;
    };
    params
        .iter()
        .any(|(key, value)| key == "bandwidth" && *value != Value::Rate(Rate::from_bps(0)))
}

fn on_path(scenario: &Scenario, path: &Path, all: &mut Faults) {
    on_line("path", &path.line, all);
    if path.wifi.is_some() && has_own_rate(&path.line.queue) {
        all.add(
            "path.queue.bandwidth",
            "a cell excludes a queue with a rate of its own",
            "the medium takes what waits whenever it is free",
            "remove `bandwidth`",
        );
    }
    let line = &path.line;
    let sets_rate = line.trace.is_some() || line.ack_trace.is_some() || !line.schedule.is_empty();
    if path.wifi.is_some() && sets_rate {
        let why = "a wireless cell sets its rate itself";
        all.add(
            "path.wifi",
            "`wifi` excludes `trace` and `schedule`",
            why,
            "keep one of them",
        );
    }
    let one_way = path.access.map_or(Span::ZERO, |access| access.delay * 2);
    let delays = line.schedule.iter().enumerate();
    let too_short = |change: &Change| change.delay.is_some_and(|delay| delay < one_way);
    if let Some((n, change)) = delays.into_iter().find(|(_, change)| too_short(change)) {
        let what = format!("the access links alone take {one_way}");
        let why = format!("this delay is {}", change.delay.unwrap_or_default());
        all.add(format!("path.schedule.{n}.delay"), what, why, "lengthen it");
    }
    let access = path.access.map_or(Span::ZERO, |access| access.delay * 4);
    let too_short = |rtt: Span| rtt < access;
    if too_short(path.rtt) {
        let what = format!("the access links alone take {access} of a round trip");
        let why = format!("`rtt` is {} and holds their four crossings", path.rtt);
        all.add(
            "path.access.delay",
            what,
            why,
            "shorten it, or lengthen `path.rtt`",
        );
    }
    for (n, flow) in scenario.flows.iter().enumerate() {
        if flow.rtt.is_some_and(too_short) && !too_short(path.rtt) {
            let why = format!("the access links alone take {access}");
            all.add(
                format!("flow.{n}.rtt"),
                "the flow's round trip is too short",
                why,
                "",
            );
        }
    }
    for (place, from, to) in ends(scenario) {
        for (key, host) in [("from", from), ("to", to)] {
            if host.is_some() {
                let what = format!("`{key}` has no meaning on a path");
                let why = "all flows share one path";
                let help = format!("remove `{key}`, or describe `[topology]` or `[[link]]`");
                all.add(format!("{place}.{key}"), what, why, help);
            }
        }
    }
}

/// Where each entity that sends goes from and to.
fn ends(scenario: &Scenario) -> Vec<(String, Option<&str>, Option<&str>)> {
    fn pair(flow: &Flow) -> (Option<&str>, Option<&str>) {
        (flow.from.as_deref(), flow.to.as_deref())
    }
    let flows = scenario.flows.iter().map(pair).enumerate();
    let flows = flows.map(|(n, (from, to))| (format!("flow.{n}"), from, to));
    let workloads = scenario.workloads.iter().map(|w| pair(&w.flow)).enumerate();
    let workloads = workloads.map(|(n, (from, to))| (format!("workload.{n}"), from, to));
    let streams = scenario.streams.iter().enumerate();
    let streams = streams.map(|(n, s)| (format!("stream.{n}"), s.from.as_deref(), s.to.as_deref()));
    let apps = scenario.apps.iter().map(|app| pair(&app.flow)).enumerate();
    let apps = apps.map(|(n, (from, to))| (format!("app.{n}"), from, to));
    flows.chain(workloads).chain(streams).chain(apps).collect()
}

fn on_graph(scenario: &Scenario, graph: &Graph, all: &mut Faults) {
    devices::check(scenario, graph, all);
    let hosts: Vec<&str> = graph.hosts.iter().map(String::as_str).collect();
    for (n, link) in graph.links.iter().enumerate() {
        on_line(&format!("link.{n}"), &link.line, all);
        for (key, host) in [("from", link.from.as_str()), ("to", link.to.as_str())] {
            if !host.is_empty() && !hosts.contains(&host) {
                let what = format!("no host is called `{host}`");
                all.add(
                    format!("link.{n}.{key}"),
                    what,
                    "unknown host",
                    suggest(host, &hosts),
                );
            }
        }
        if link.from == link.to && !link.from.is_empty() {
            let what = format!("the link leads from `{}` to itself", link.from);
            all.add(
                format!("link.{n}.to"),
                what,
                "both ends are the same host",
                "",
            );
        }
    }
    for (n, flow) in scenario.flows.iter().enumerate() {
        if flow.rtt.is_some() {
            let why = "the links on its route give its round trip";
            all.add(
                format!("flow.{n}.rtt"),
                "`rtt` has no meaning in a network",
                why,
                "remove it",
            );
        }
    }
    for (place, from, to) in ends(scenario) {
        let mut known = true;
        for (key, host) in [("from", from), ("to", to)] {
            let place = format!("{place}.{key}");
            match host {
                None => {
                    let help = format!("add `{key}`, one of `{}`", hosts.join("`, `"));
                    all.add(
                        place,
                        format!("`{key}` is missing"),
                        "in a network, each needs its hosts",
                        help,
                    );
                    known = false;
                }
                Some(host) if !hosts.contains(&host) => {
                    let what = format!("no host is called `{host}`");
                    all.add(place, what, "unknown host", suggest(host, &hosts));
                    known = false;
                }
                Some(_) => {}
            }
        }
        let (Some(from), Some(to)) = (from, to) else {
            continue;
        };
        if known && from == to {
            let what = format!("it would send from `{from}` to itself");
            all.add(
                format!("{place}.to"),
                what,
                "both ends are the same host",
                "name another",
            );
        }
        if !known || from == to {
            continue;
        }
        match graph.route(from, to).map(|route| route.len()) {
            None => {
                let what = format!("no route leads from `{from}` to `{to}`");
                let help = "add a `[[link]]` between the parts of the network";
                all.add(format!("{place}.to"), what, "no links connect them", help);
            }
            Some(links) if links > MAX_HOPS => {
                let what = format!("the route from `{from}` to `{to}` crosses {links} links");
                let why = format!("at most {MAX_HOPS} are simulated");
                all.add(format!("{place}.to"), what, why, "take fewer hops");
            }
            Some(_) => {}
        }
    }
}

fn on_line(place: &str, line: &Line, all: &mut Faults) {
    for (n, pair) in line.schedule.windows(2).enumerate() {
        let is_same = pair[1].at == pair[0].at && pair[1].is_of(pair[0].direction);
        if pair[1].at < pair[0].at || (is_same && pair[1].overlaps(&pair[0])) {
            let why = format!("the change before is at {}", pair[0].at);
            let place = format!("{place}.schedule.{}.at", n + 1);
            all.add(
                place,
                "the schedule goes back in time",
                why,
                "put changes in order of time",
            );
        }
    }
    let last = line.schedule.last().map(|change| change.at);
    if let Some(period) = line.schedule_period {
        let place = format!("{place}.schedule_period");
        match last {
            None => {
                let help = "add `schedule`, or remove it";
                all.add(
                    place,
                    "there is no schedule to repeat",
                    "`schedule` is missing",
                    help,
                );
            }
            Some(last) if period <= last.since_start() => {
                let why = format!("the last change is at {last}");
                all.add(
                    place,
                    "the schedule does not fit its period",
                    why,
                    "lengthen the period",
                );
            }
            Some(_) => {}
        }
    }
    let ways = [
        ("trace", &line.trace, Direction::Data),
        ("ack_trace", &line.ack_trace, Direction::Ack),
    ];
    for (key, trace, way) in ways {
        if trace.is_some() && line.changes_rate(way) {
            let place = format!("{place}.schedule");
            let what = format!("`{key}` and `schedule` exclude each other");
            all.add(place, what, "each sets the rate", "");
        }
    }
    let losses = line
        .schedule
        .iter()
        .position(|change| change.loss.is_some());
    if let (Some(n), Some(loss)) = (losses, &line.loss)
        && !["bernoulli", "netem"].contains(&&*loss.model.name)
    {
        let what = format!(
            "the schedule cannot change losses of model `{}`",
            loss.model.name
        );
        let why = "it has no single probability";
        let help = "use `bernoulli` or `netem`, or remove `loss` from the schedule";
        all.add(format!("{place}.schedule.{n}.loss"), what, why, help);
    }
    let jitters = line
        .schedule
        .iter()
        .position(|change| change.jitter.is_some());
    if let (Some(n), Some(Jitter::Drawn(law))) = (jitters, &line.jitter) {
        let what = format!("the schedule cannot change jitter of law `{}`", law.name);
        let help = "give `jitter` as a time, or remove it from the schedule";
        all.add(
            format!("{place}.schedule.{n}.jitter"),
            what,
            "its jitter is uniform",
            help,
        );
    }
    if line.grants.is_some() && (line.overtakes || line.reorder.is_some()) {
        let why = "a grant lets packets go in their order";
        let help = "keep one of them";
        all.add(
            format!("{place}.grants"),
            "`grants` and `reorder` exclude each other",
            why,
            help,
        );
    }
}
