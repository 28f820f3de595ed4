//! What one run may cost: events, samples and memory, worked out before it begins.
//!
//! The bounds are of counts and not of any machine: what passes them runs within a few gigabytes
//! and ends within a day; what does not would fill memory or never end, and is refused with the key
//! that is at fault.

use super::app::App;
use super::check::Fault;
use super::model::{Scenario, Tracing};
use super::path::Line;
use super::plugin::Random;
use super::topology::Topology;
use super::workload::{Workload, WorkloadKind};
use crate::registry::Family;
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_netsim::apps;
use trammel_netsim::trace::MAX_SAMPLES;

/// Packets that links carry in a run, and datagrams that a stream sends.
const MOST_PACKETS: f64 = 1e11;
/// Things other than packets that happen in a run, of one kind.
const MOST_EVENTS: f64 = 1e9;
/// Samples that a run keeps.
const MOST_SAMPLES: f64 = 2e7;
/// Packets in queues and on the way at once.
const MOST_HELD: f64 = 2e7;
/// Flows of workloads in a run, and those of them that are open at once.
const MOST_SHORT_FLOWS: f64 = 2e7;
const MOST_OPEN: f64 = 2e5;
/// Named flows.
const MOST_FLOWS: usize = 20_000;

/// What of `scenario` costs too much.
pub(super) fn faults(scenario: &Scenario) -> Vec<Fault> {
    let mut all = Vec::new();
    flows(scenario, &mut all);
    samples(scenario, &mut all);
    for (place, line, rtt) in lines(scenario) {
        on_line(scenario, &place, line, rtt, &mut all);
    }
    for (n, stream) in scenario.streams.iter().enumerate() {
        let active = active(scenario, stream.start, stream.stop);
        let datagrams = draws(active, mean(&stream.gap));
        if datagrams > MOST_PACKETS {
            let place = format!("stream.{n}.gap");
            let what = format!(
                "`{}` would send {} datagrams",
                stream.name,
                about(datagrams)
            );
            all.push(refused(
                place,
                what,
                MOST_PACKETS,
                "lengthen the gap, or shorten the run",
            ));
        }
    }
    for (n, workload) in scenario.workloads.iter().enumerate() {
        on_workload(scenario, n, workload, &mut all);
    }
    for (n, app) in scenario.apps.iter().enumerate() {
        on_app(scenario, n, app, &mut all);
    }
    all
}

fn refused(place: String, what: String, most: f64, help: &str) -> Fault {
    Fault {
        place,
        what,
        why: format!("a run has at most {}", about(most)),
        help: help.to_owned(),
    }
}

/// `200,000,000`, or `1e297` where nobody counts the noughts.
fn about(count: f64) -> String {
    if count >= 1e12 {
        return format!("{count:.0e}");
    }
    let digits = format!("{count:.0}");
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn active(scenario: &Scenario, start: Time, stop: Option<Time>) -> f64 {
    let stop = stop.unwrap_or(scenario.end()).min(scenario.end());
    stop.saturating_since(start).as_secs_f64()
}

/// The mean of a law, where it is known and finite.
fn mean(law: &Random) -> Option<f64> {
    law.is_known()
        .then(|| law.mean())
        .flatten()
        .filter(|mean| mean.is_finite())
}

/// How often spans of `mean` seconds follow each other in `seconds`.
fn draws(seconds: f64, mean: Option<f64>) -> f64 {
    // What is shorter than the clock's step takes a step at most, or no time at all.
    mean.map_or(0.0, |mean| seconds / mean.max(f64::MIN_POSITIVE))
}

fn flows(scenario: &Scenario, all: &mut Vec<Fault>) {
    let count = scenario.flows.len();
    if count > MOST_FLOWS {
        let what = format!("the scenario has {} flows", about(count as f64));
        let help = "use fewer, or a `[[workload]]` of flows that start and end";
        all.push(refused("flow".to_owned(), what, MOST_FLOWS as f64, help));
    }
    let end = scenario.duration.as_secs_f64();
    for (n, flow) in scenario.flows.iter().enumerate() {
        let reads = flow
            .reader
            .map_or(0.0, |every| draws(end, Some(every.as_secs_f64())));
        let writes = flow.rate.map_or(0.0, |_| draws(end, Some(1e-3)));
        if writes * count as f64 > MOST_EVENTS {
            let what = format!("the application would write {} times", about(writes));
            let place = format!("flow.{n}.rate");
            all.push(refused(place, what, MOST_EVENTS, "shorten the run"));
        }
        if reads > MOST_EVENTS {
            let what = format!("the receiver would read {} times", about(reads));
            let place = format!("flow.{n}.reader");
            all.push(refused(place, what, MOST_EVENTS, "lengthen the interval"));
        }
    }
}

/// Traces: a flow's is thinned beyond its bound, but what is thinned is sampled all the same.
fn samples(scenario: &Scenario, all: &mut Vec<Fault>) {
    let links = match &scenario.topology {
        Topology::Path(_) => 2,
        Topology::Graph(graph) => 2 * graph.links.len(),
    };
    let end = scenario.duration.as_secs_f64();
    let (of_each, entities) = match scenario.trace {
        Tracing::Off => return,
        Tracing::Ack => (MAX_SAMPLES as f64, scenario.flows.len()),
        Tracing::Every(interval) => (
            draws(end, Some(interval.as_secs_f64())),
            scenario.flows.len() + links,
        ),
    };
    let taken = of_each * entities as f64;
    let kept = of_each.min(MAX_SAMPLES as f64) * entities as f64;
    let (taken, kept) = match scenario.trace {
        // Of all flows together there are no more ACKs than packets.
        Tracing::Ack => {
            let lines = lines(scenario).into_iter();
            let acks: f64 = lines.map(|(_, line, _)| packets(line, end)).sum();
            (taken.min(acks), kept.min(acks))
        }
        _ => (taken, kept),
    };
    let (count, most, word) = if taken > MOST_EVENTS {
        (taken, MOST_EVENTS, "take")
    } else if kept > MOST_SAMPLES {
        (kept, MOST_SAMPLES, "keep")
    } else {
        return;
    };
    let what = format!("the trace would {word} {} samples", about(count));
    let longest = end * entities as f64 / most.min(MOST_SAMPLES);
    let help = match scenario.trace {
        Tracing::Every(_) if word == "take" => {
            format!(
                "lengthen the interval, to {:.0e} s or more",
                longest.max(1e-9)
            )
        }
        _ => "trace fewer flows".to_owned(),
    };
    all.push(refused("trace".to_owned(), what, most, &help));
}

/// Every line with its place and the round trip whose packets it may hold.
fn lines(scenario: &Scenario) -> Vec<(String, &Line, Span)> {
    match &scenario.topology {
        Topology::Path(path) => {
            let flows = scenario.flows.iter().filter_map(|flow| flow.rtt);
            let longest = flows.chain([path.rtt]).max().unwrap_or(path.rtt);
            vec![("path".to_owned(), &path.line, longest)]
        }
        Topology::Graph(graph) => {
            let links = graph.links.iter().enumerate();
            links
                .map(|(n, link)| (format!("link.{n}"), &link.line, link.delay * 2))
                .collect()
        }
    }
}

/// Full packets that a line can carry in so many seconds.
fn packets(line: &Line, seconds: f64) -> f64 {
    let bytes = f64::from(line.mtu + line.overhead);
    line.fastest().as_bps() as f64 * seconds / 8.0 / bytes
}

fn on_line(scenario: &Scenario, place: &str, line: &Line, rtt: Span, all: &mut Vec<Fault>) {
    let end = scenario.duration.as_secs_f64();
    let packets = |seconds: f64| packets(line, seconds);
    let carried = packets(end);
    if carried > MOST_PACKETS {
        let what = format!("the link could carry {} packets", about(carried));
        let help = "shorten `duration`, or lower the rate";
        all.push(refused(format!("{place}.rate"), what, MOST_PACKETS, help));
    }
    let held = packets(rtt.as_secs_f64()) + f64::from(line.queue_packets(rtt));
    let held = held.min(2.0 * carried);
    if held > MOST_HELD {
        let what = format!("the link and its queue could hold {} packets", about(held));
        let help = "shorten the round trip or the queue, or lower the rate";
        all.push(refused(format!("{place}.rate"), what, MOST_HELD, help));
    }
    if let Some(period) = line.schedule_period {
        let changes = draws(end, Some(period.as_secs_f64())) * line.schedule.len() as f64;
        if changes > MOST_EVENTS {
            let what = format!("the rate would change {} times", about(changes));
            let place = format!("{place}.schedule_period");
            all.push(refused(place, what, MOST_EVENTS, "lengthen the period"));
        }
    }
}

/// The least rate of any line: that of the bottleneck.
fn bottleneck(scenario: &Scenario) -> Option<f64> {
    let rates = lines(scenario).into_iter();
    rates
        .map(|(_, line, _)| line.rate.as_bps() as f64)
        .reduce(f64::min)
}

fn on_workload(scenario: &Scenario, n: usize, workload: &Workload, all: &mut Vec<Fault>) {
    let seconds = active(scenario, workload.start, workload.stop);
    let place = |key: &str| format!("workload.{n}.{key}");
    let name = &workload.name;
    match &workload.kind {
        WorkloadKind::Poisson { arrivals, size } | WorkloadKind::Background { arrivals, size } => {
            let (Some(rate), size) = (bottleneck(scenario), mean(size)) else {
                return;
            };
            let (key, bytes) = match arrivals {
                super::workload::Arrivals::PerSecond(_) => ("arrivals", size.unwrap_or(1.0)),
                super::workload::Arrivals::Load(_) => ("load", size.unwrap_or(1e5)),
                super::workload::Arrivals::Rate(_) => ("rate", size.unwrap_or(1e5)),
            };
            let per_second = arrivals.per_second(bytes, Rate::from_bps(rate as u64));
            let come = per_second * seconds;
            if come > MOST_SHORT_FLOWS {
                let what = format!("{} flows of `{name}` would come", about(come));
                let help = "offer less, make the flows longer, or shorten the run";
                all.push(refused(place(key), what, MOST_SHORT_FLOWS, help));
                return;
            }
            // What is offered beyond the link's rate stays open, or beyond what its flows can carry
            // at once.
            let load = size.map_or(0.0, |bytes| per_second * bytes * 8.0 / rate);
            let open = come * (1.0 - 1.0 / load.max(1.0));
            if open > MOST_OPEN {
                let what = format!("{} flows of `{name}` would be open at once", about(open));
                let help = "offer less than the link carries, or shorten the run";
                all.push(refused(place(key), what, MOST_OPEN, help));
            }
        }
        WorkloadKind::OnOff {
            on,
            off,
            rate,
            connections,
        } => {
            let cycle = mean(on).unwrap_or(0.0) + mean(off).unwrap_or(0.0);
            let turns = draws(seconds, Some(cycle)) * f64::from(*connections);
            if cycle > 0.0 && turns > MOST_EVENTS {
                let what = format!("`{name}` would have {} bursts", about(turns));
                all.push(refused(
                    place("on"),
                    what,
                    MOST_EVENTS,
                    "lengthen bursts or pauses",
                ));
            }
            let writes = rate.map_or(0.0, |rate| rate.as_bps() as f64 / 8.0 / 1448.0 * seconds);
            let writes = writes * f64::from(*connections);
            if writes > MOST_EVENTS {
                let what = format!("`{name}` would write {} segments", about(writes));
                let help = "lower the rate, leave it out to send as fast as TCP allows, or shorten \
                            the run";
                all.push(refused(place("rate"), what, MOST_EVENTS, help));
            }
        }
        WorkloadKind::RequestResponse { .. } => {}
    }
}

fn on_app(scenario: &Scenario, n: usize, app: &App, all: &mut Vec<Fault>) {
    let (Ok(params), Some(entry)) = (app.kind.params(Family::App), apps::find(&app.kind.name))
    else {
        return;
    };
    let (users, name) = (f64::from(app.users), &app.name);
    let events = users * (entry.pace)(&params) * active(scenario, app.start, app.stop);
    let place = format!("app.{n}.users");
    if events > MOST_EVENTS {
        let what = format!("the users of `{name}` would do {} things", about(events));
        let help = "have fewer users that do less, or shorten the run";
        all.push(refused(place, what, MOST_EVENTS, help));
        return;
    }
    let open = users * (entry.connections)(&params) as f64;
    if open > MOST_OPEN {
        let what = format!("`{name}` would have {} connections open", about(open));
        all.push(refused(place, what, MOST_OPEN, "have fewer users"));
    }
}

#[cfg(test)]
mod tests {
    use super::about;
    use crate::{File, ReadError};

    /// The faults of a file, as a person reads them.
    fn refused(text: &str) -> String {
        match File::parse("t.toml", text, std::path::Path::new(".")) {
            Err(ReadError::Faults(problems)) => problems.render(false),
            Err(error) => error.to_string(),
            Ok(_) => String::new(),
        }
    }

    const PATH: &str = "[path]\nrate = '1 Gbit/s'\nrtt = '10 ms'\n";
    const FLOW: &str = "[[flow]]\nvariant = 'reno'\n";

    #[test]
    fn what_never_ends_or_fills_memory_is_refused_with_its_key() {
        for (text, key, what) in [
            (
                format!(
                    "duration = '1 ms'\n{PATH}[[stream]]\n\
                         gap = {{ distribution = 'exponential', mean = 1e-300 }}\n"
                ),
                "gap",
                "datagrams",
            ),
            (
                format!("duration = '10 s'\ntrace = '1 ns'\n{PATH}{FLOW}"),
                "trace",
                "samples",
            ),
            (
                format!(
                    "{PATH}[[workload]]\nkind = 'poisson'\nrate = '100 Gbit/s'\nsize = '100 B'\n"
                ),
                "rate",
                "flows of `poisson`",
            ),
            (
                format!(
                    "duration = '30 s'\n{PATH}[[workload]]\nkind = 'poisson'\nload = '300 %'\n\
                         size = '1 kB'\n"
                ),
                "load",
                "open at once",
            ),
            (
                "duration = '1000 s'\n[path]\nrate = '100 Tbit/s'\nrtt = '10 ms'\n[[flow]]\n\
                 variant = 'reno'\n"
                    .to_owned(),
                "rate",
                "packets",
            ),
            (
                format!("{PATH}[[workload]]\nkind = 'on-off'\non = '1 ps'\noff = '1 ps'\n"),
                "on",
                "bursts",
            ),
            (
                format!("duration = '100 s'\n{PATH}[[flow]]\nvariant = 'reno'\nreader = '1 ns'\n"),
                "reader",
                "read",
            ),
            (
                format!("{PATH}[[app]]\nkind = 'rpc'\nusers = 10000\nrate = 1e6\n"),
                "users",
                "things",
            ),
            (
                format!("{PATH}[[app]]\nkind = 'web'\nusers = 10000\nconnections = 64\n"),
                "users",
                "connections open",
            ),
        ] {
            let said = refused(&text);
            assert!(said.contains(what) && said.contains(key), "{text}\n{said}");
        }
    }

    #[test]
    fn what_people_run_is_not_refused() {
        for text in [
            format!("duration = '1000 s'\ntrace = '1 ms'\n{PATH}{FLOW}"),
            format!("trace = 'ack'\n{PATH}{FLOW}"),
            "duration = '100 s'\n[path]\nrate = '400 Gbit/s'\nrtt = '100 ms'\n[[flow]]\n\
             variant = 'reno'\n"
                .to_owned(),
            format!(
                "duration = '1000 s'\n{PATH}[[workload]]\nkind = 'poisson'\nload = '90 %'\n\
                     size = '100 kB'\n"
            ),
        ] {
            assert_eq!(refused(&text), "", "{text}");
        }
    }

    #[test]
    fn counts_are_written_as_people_read_them() {
        assert_eq!(about(20_000.0), "20,000");
        assert_eq!(about(1e9), "1,000,000,000");
        assert_eq!(about(1e297), "1e297");
    }
}
