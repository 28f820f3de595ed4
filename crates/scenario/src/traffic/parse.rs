//! From the tree of a traffic scenario to its model, every fault noted on the way.

use super::keys::{LATE, PROTOCOLS, ROOT};
use super::{Path, Traffic};
use crate::faults::Context;
use crate::keys::ENGINES;
use crate::model::Engine;
use crate::parse::path::line;
use crate::parse::span_of;
use crate::path::Limit;
use crate::reader::Reader;
use crate::traffic::refusals::refusals;
use crate::traffic::words::{self, Words};
use crate::tree::{Entry, Node, Value};
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};
use trammel_core::units::{Dimension, Quantity};
use trammel_traffic::record::Protocol;
use trammel_traffic::stream::{Late, Limits, Meter, Stream};

/// Packets that a queue holds where nothing is said: as an interface of Linux.
const QUEUE_PKTS: u32 = 1000;

/// Reads the whole tree; nothing where a fault was noted.
pub(super) fn scenario(cx: &Context<'_>, root: &Node, seed: Option<u64>) -> Option<Traffic> {
    let r = Reader::new(cx, &ROOT, root);
    r.word("subject");
    let own_seed = r.whole("seed").unwrap_or(1) as u64;
    let seed = seed.unwrap_or(own_seed);
    let repeat = r.whole("repeat").unwrap_or(1) as u32;
    let duration = r.span("duration").unwrap_or_default();
    for key in ["path", "stream"] {
        if r.entry(key).is_none() {
            r.missing(key);
        }
    }
    let path = r.table("path").and_then(|table| path(&table));
    let tables = r.tables("stream");
    if let Some(entry) = r.entry("stream").filter(|_| tables.is_empty()) {
        let help = "write `[[stream]]` with a `rate` or an `app`";
        let span = &entry.node.span;
        cx.fault(span, "there is no stream", "an empty list", help);
    }
    let mut streams: Vec<Stream> = Vec::new();
    for (index, table) in tables.iter().enumerate() {
        let before = streams.len();
        all_alike(table, index, (seed, Time::ZERO + duration), &mut streams);
        within_budget(table, &streams[before..]);
        let mut names = streams[..before].iter().map(|stream| stream.name.as_str());
        let twice = streams[before..]
            .iter()
            .find(|new| names.any(|name| name == new.name));
        if let (Some(twice), Some(entry)) = (twice, table.entry("name")) {
            let what = format!("two streams are called `{}`", twice.name);
            let why = "results are told apart by names";
            cx.fault(&entry.node.span, what, why, "rename one of them");
        }
    }
    let (title, question, engines) = (r.text("title"), r.text("question"), engines(&r));
    cx.problems.borrow().is_empty().then_some(())?;
    let traffic = Traffic {
        title: title.unwrap_or_default(),
        question,
        engines,
        duration,
        seed,
        repeat,
        path: path?,
        streams,
    };
    let engines = match cx.engines {
        [] => traffic.engines.as_deref().unwrap_or_default(),
        asked => asked,
    };
    if engines.contains(&Engine::Measure) {
        for fault in refusals(&traffic) {
            let place: Vec<String> = fault.place.split('.').map(str::to_owned).collect();
            cx.fault(&span_of(root, &place), fault.what, fault.why, fault.help);
        }
    }
    Some(traffic)
}

/// Packets that a stream sends in a run, at most: about an hour of simulation.
const MOST_PACKETS: f64 = 1e10;
/// The same of round trips, which are kept until they come back.
const MOST_RETURNING: f64 = 1e8;

/// Refuses streams that would never end.
fn within_budget(table: &Reader<'_>, streams: &[Stream]) {
    for stream in streams {
        let rate = stream.source.predicted().mean_rate.unwrap_or_default();
        let seconds = stream.limits.duration.map_or(0.0, Span::as_secs_f64);
        let most_asked = stream
            .limits
            .packets
            .map_or(f64::INFINITY, |most| most as f64);
        let packets = (rate * seconds).min(most_asked);
        let most = match stream.meter {
            Meter::RoundTrip => MOST_RETURNING,
            Meter::OneWay => MOST_PACKETS,
        };
        if packets > most {
            let entry = table.entry("gap").or_else(|| table.entry("rate"));
            let span = entry.map_or(&table.span, |entry| &entry.node.span);
            let what = format!("`{}` would send {packets:.0e} packets", stream.name);
            let why = format!("a stream sends at most {most:.0e} in a run");
            let help = "lower the rate, or shorten the run";
            table.cx.fault(span, what, why, help);
            return;
        }
    }
}

fn path(r: &Reader<'_>) -> Option<Path> {
    let (delay, line) = (r.span("delay"), line(r, None));
    let mut line = line?;
    let has_limit = r
        .table("queue")
        .is_some_and(|queue| queue.entry("limit").is_some());
    if !has_limit && matches!(line.queue.limit, Limit::Bdp(_)) {
        line.queue.limit = Limit::Packets(QUEUE_PKTS);
    }
    Some(Path {
        line,
        delay: delay?,
    })
}

fn engines(r: &Reader<'_>) -> Option<Vec<Engine>> {
    r.entry("engines")?;
    let names = r.names("engines");
    let words = names
        .iter()
        .filter_map(|(_, node)| r.word_of("engines", node, ENGINES));
    let mut engines: Vec<Engine> = words
        .filter_map(|n| Engine::from_name(ENGINES[n]))
        .collect();
    engines.sort_unstable();
    engines.dedup();
    (!engines.is_empty()).then_some(engines)
}

/// The streams of a table, one or several.
fn all_alike(r: &Reader<'_>, index: usize, (file_seed, end): (u64, Time), into: &mut Vec<Stream>) {
    let count = r.whole("count").unwrap_or(1) as u64;
    let name = r.text("name");
    let name = name.unwrap_or_else(|| format!("stream-{}", index + 1));
    let own_seed = r.whole("seed").map(|seed| seed as u64);
    let is_whole = |key| r.entry(key).and_then(|_| r.whole(key)).map(|n| n as u64);
    let start = r.instant("start").unwrap_or_default();
    if start >= end
        && let Some(entry) = r.entry("start")
    {
        let why = format!("the run ends at {end}");
        let help = "start it earlier, or lengthen the file's `duration`";
        let what = format!("`{name}` never starts");
        r.cx.fault(&entry.node.span, what, why, help);
    }
    let left = end.saturating_since(start);
    let limits = Limits {
        duration: Some(r.span("duration").map_or(left, |own| own.min(left))),
        packets: is_whole("packets"),
        bytes: r.bytes("bytes"),
    };
    let protocol = match r.word("protocol").map(|n| PROTOCOLS[n]) {
        Some("tcp") => Protocol::Tcp,
        Some("icmp") => Protocol::Icmp,
        _ => Protocol::Udp,
    };
    let late = match r.word("late").map(|n| LATE[n]) {
        Some("skip") => Late::Skip,
        Some("stretch") => Late::Stretch,
        _ => Late::Burst,
    };
    let is_round = r.flag("round_trip") == Some(true);
    let (ds, ttl) = (is_whole("ds"), is_whole("ttl"));
    let Some(words) = words_of(r) else { return };
    for copy in 0..count {
        let source = match words::source(&words) {
            Ok(source) => source,
            Err(why) => return refuse(r, &words, &why),
        };
        let name = if count > 1 {
            format!("{name}-{}", copy + 1)
        } else {
            name.clone()
        };
        let drawn = || Rng::new(file_seed, &format!("stream:{name}")).below(1 << 32);
        into.push(Stream {
            protocol,
            source,
            start,
            limits,
            seed: own_seed.map_or_else(drawn, |seed| seed.wrapping_add(copy)),
            meter: if is_round {
                Meter::RoundTrip
            } else {
                Meter::OneWay
            },
            late,
            ds: ds.map(|ds| ds as u8),
            ttl: ttl.map(|ttl| ttl as u8),
            name,
        });
    }
}

/// What the command line's words would be.
fn words_of(r: &Reader<'_>) -> Option<Words> {
    let app = r.text("app");
    let [rate, gap, size] = ["rate", "gap", "size"].map(|key| r.entry(key));
    if app.is_some() {
        if let Some(other) = rate.or(gap).or(size) {
            let what = format!("`{}` and `app` exclude each other", other.key);
            let why = "an application says when packets leave and how long they are";
            r.cx.fault(&other.span, what, why, "keep one of the two");
            return None;
        }
    } else if rate.is_none() && gap.is_none() {
        let what = "`stream` does not say when packets leave";
        let why = "`rate`, `gap` or `app` is missing";
        let help = "give `rate = 1000`, `gap = \"exponential:mean=0.001\"` or `app = \"voip\"`";
        r.cx.fault(&r.span, what, why, help);
        return None;
    }
    let mut words = Words {
        rate: None,
        gap: "constant".to_owned(),
        size: "512".to_owned(),
        app,
    };
    if let Some(entry) = rate {
        r.number("rate")?;
        words.rate = Some(entry.node.brief());
    }
    if let Some(entry) = gap {
        let (law, per_second) = law(r, entry, Dimension::Time)?;
        words.gap = law;
        if let (Some(twice), Some(_)) = (&per_second, rate) {
            let why = "each says how many packets leave";
            let what = "`rate` is given twice";
            r.cx.fault(&twice.span, what, why, "keep one of the two");
            return None;
        }
        words.rate = words.rate.or(per_second.map(|node| node.brief()));
    }
    if let Some(entry) = size {
        words.size = law(r, entry, Dimension::Bytes)?.0;
    }
    Some(words)
}

/// A law in the words of the command line, and the `rate` in a table of gaps.
fn law(r: &Reader<'_>, entry: &Entry, base: Dimension) -> Option<(String, Option<Node>)> {
    let (key, node) = (entry.key.as_str(), &entry.node);
    let in_base = |text: &str| {
        let quantity = Quantity::parse_as(text, &[base]);
        quantity.map(|quantity| quantity.value)
    };
    match &node.value {
        // A plain value is always that value.
        Value::Text(text) => match in_base(text) {
            Ok(secs) if base == Dimension::Time => Some((format!("constant:value={secs}"), None)),
            _ => Some((text.clone(), None)),
        },
        Value::Int(_) | Value::Float(_) if base == Dimension::Bytes => Some((node.brief(), None)),
        Value::Table(table) => {
            let name = table
                .get("distribution")
                .and_then(|entry| entry.node.as_text());
            let Some(name) = name else {
                let what = format!("`{}` needs `distribution`", r.dotted(key));
                let help = "add `distribution`, a name of `trammel list distributions`";
                r.cx.fault(&node.span, what, "its law is missing", help);
                return None;
            };
            let (mut params, mut rate) = (Vec::new(), None);
            for param in table.0.iter().filter(|param| param.key != "distribution") {
                if base == Dimension::Time && param.key == "rate" {
                    rate = Some(param.node.clone());
                    continue;
                }
                let value = match &param.node.value {
                    Value::Text(text) => in_base(text).map_or(text.clone(), |v| v.to_string()),
                    Value::Int(_) | Value::Float(_) | Value::Bool(_) => param.node.brief(),
                    _ => {
                        let what = format!("`{}` takes no such value", param.key);
                        let why = format!("this is {}", param.node.noun());
                        let help = "give a number or a text";
                        r.cx.fault(&param.node.span, what, why, help);
                        return None;
                    }
                };
                params.push(format!("{}={value}", param.key));
            }
            let colon = if params.is_empty() { "" } else { ":" };
            Some((format!("{name}{colon}{}", params.join(",")), rate))
        }
        _ => {
            r.wrong(key, node);
            None
        }
    }
}

/// Notes why the words make no source, at the key that is to blame.
fn refuse(r: &Reader<'_>, words: &Words, why: &anyhow::Error) {
    let of_sizes = words::source(&Words {
        size: "512".to_owned(),
        ..words.clone()
    });
    let is_of_gaps = of_sizes.is_err();
    let keys: &[&str] = match (&words.app, is_of_gaps) {
        (Some(_), _) => &["app"],
        (None, true) => &["gap", "rate"],
        (None, false) => &["size"],
    };
    let entry = keys.iter().find_map(|key| r.entry(key));
    let span = entry.map_or(&r.span, |entry| &entry.node.span);
    // The words are those of a command line, and so is what is said of them.
    let why = format!("{why:#}").replace("`--", "`");
    let what = format!("the stream's {} cannot be used", keys[0]);
    r.cx.fault(span, what, why, "");
}
