//! From the tree of a forwarding scenario to its model, every fault noted on the way.

use super::functions::{self, Incoming};
use super::keys::{DISTRIBUTIONS, METRICS, ROOT, TESTS};
use super::{Bench, Forwarding, Metric, Published, Test};
use crate::faults::Context;
use crate::keys::ENGINES;
use crate::model::Engine;
use crate::reader::Reader;
use crate::tree::{Extent, Node, Value};
use std::cell::RefCell;
use std::path::Path;
use trammel_core::units::nearest;
use trammel_ground::Unsupported;
use trammel_workbench::arrivals::Pattern;
use trammel_workbench::machines;

/// Loads of the latency test, where the file says none: far from the limit, halfway, near it.
const LATENCY_AT: [f64; 3] = [0.1, 0.5, 0.9];
/// Loads of the frame-loss test: below the limit, at it, and beyond.
const LOSS_AT: [f64; 4] = [0.9, 1.0, 1.1, 1.5];

/// Reads the whole tree. What it returns is of use only where no fault was noted; `rendered` gets
/// what the router says of wrong Click files.
pub(super) fn scenario(
    cx: &Context<'_>,
    root: &Node,
    seed: Option<u64>,
    rendered: &RefCell<Vec<String>>,
) -> Forwarding {
    let r = Reader::new(cx, &ROOT, root);
    r.word("subject");
    let own_seed = r.whole("seed").unwrap_or(1) as u64;
    let seed = seed.unwrap_or(own_seed);
    if r.entry("stream").is_none() {
        r.missing("stream");
    }
    let device = r.table("device");
    let (machine, profile) = machine(cx, device.as_ref());
    let streams = r.tables("stream");
    if let Some(entry) = r.entry("stream").filter(|_| streams.is_empty()) {
        let help = "write `[[stream]]` and a `size`";
        cx.fault(
            &entry.node.span,
            "there is no stream",
            "an empty list",
            help,
        );
    }
    let sizes = sizes(&r, &streams);
    let pattern = pattern(&r, &streams);
    let incoming: Vec<Incoming> = streams
        .iter()
        .filter_map(|stream| functions::incoming(stream, device.as_ref(), streams.len()))
        .collect();
    let functions = functions::all(
        &r,
        device.as_ref(),
        &functions::Setting {
            profile: &profile,
            incoming: &incoming,
            sizes: &sizes,
            seed,
            rendered,
        },
    );
    let names: Vec<&str> = functions.iter().map(|one| one.name.as_str()).collect();
    let published = r.tables("published");
    let published = published.iter().flat_map(|table| printed(table, &names));
    Forwarding {
        title: r.text("title").unwrap_or_default(),
        question: r.text("question"),
        engines: engines(&r),
        machine,
        rate: device
            .as_ref()
            .and_then(|device| device.number("rate"))
            .unwrap_or(f64::INFINITY),
        ring: device
            .as_ref()
            .and_then(|device| device.whole("ring"))
            .unwrap_or(1024) as usize,
        sizes: sizes.into_iter().map(|(size, _)| size).collect(),
        pattern,
        bench: bench(&r),
        published: published.collect(),
        functions,
        seed,
    }
}

/// The machine's name, and its profile as far as it is known.
fn machine(cx: &Context<'_>, device: Option<&Reader<'_>>) -> (String, String) {
    let name = device.map_or(Some("host".to_owned()), |device| device.text("machine"));
    let name = name.unwrap_or_default();
    let is_path = name
        .split(':')
        .next()
        .is_some_and(|base| Path::new(base).extension().is_some_and(|ext| ext == "toml"));
    let name = if is_path {
        cx.dir.join(&name).display().to_string()
    } else {
        name
    };
    match machines::find(&name) {
        Ok(machine) => (name, machine.profile),
        // That it is not calibrated yet is no fault of the file.
        Err(error) if error.downcast_ref::<Unsupported>().is_some() => (name, String::new()),
        Err(error) => {
            let span = device.map_or(0..0, |device| {
                let entry = device.entry("machine");
                entry.map_or(device.span.clone(), |entry| entry.node.span.clone())
            });
            let help = "`trammel list machines` shows all";
            let what = "`device.machine` cannot be used";
            cx.fault(&span, what, format!("{error:#}"), help);
            (name, String::new())
        }
    }
}

/// The sizes of the first stream, each with its place; the others must have the same.
fn sizes(r: &Reader<'_>, streams: &[Reader<'_>]) -> Vec<(u32, Extent)> {
    let mut common: Option<Vec<(u32, Extent)>> = None;
    for stream in streams {
        let read = stream.numbers("size");
        let mut own: Vec<(u32, Extent)> = Vec::new();
        for (size, span) in read {
            if size.fract() != 0.0 {
                let what = format!("a frame of {size} bytes cannot be");
                r.cx.fault(&span, what, "bytes are whole", "round it");
            } else if own.iter().any(|(other, _)| f64::from(*other) == size) {
                let what = format!("the size {size} is there twice");
                r.cx.fault(&span, what, "each is tested once", "leave one out");
            } else {
                own.push((size as u32, span));
            }
        }
        let values = |all: &[(u32, Extent)]| all.iter().map(|(v, _)| *v).collect::<Vec<_>>();
        match &common {
            None => common = Some(own),
            Some(first) if !own.is_empty() && values(first) != values(&own) => {
                let span = stream
                    .entry("size")
                    .map_or(stream.span.clone(), |entry| entry.node.span.clone());
                let help = "give both the same; a mix of sizes is not simulated yet";
                let what = "streams differ in `size`";
                r.cx.fault(&span, what, "all have that of the first", help);
            }
            Some(_) => {}
        }
    }
    common.unwrap_or_default()
}

/// How frames come; the streams must agree.
fn pattern(r: &Reader<'_>, streams: &[Reader<'_>]) -> Pattern {
    let mut common = None;
    for stream in streams {
        let own = stream.table("gap").map_or(Some(Pattern::Constant), |gap| {
            gap.word("rate");
            let burst = gap.whole("burst")? as u32;
            Some(match DISTRIBUTIONS[gap.word("distribution")?] {
                "exponential" => Pattern::Poisson,
                "bursts" => Pattern::Bursts(burst),
                _ => Pattern::Constant,
            })
        });
        let own = own.unwrap_or(Pattern::Constant);
        if *common.get_or_insert(own) != own {
            let span = stream
                .entry("gap")
                .map_or(stream.span.clone(), |entry| entry.node.span.clone());
            let what = "streams differ in `gap`";
            let help = "give both the same";
            r.cx.fault(&span, what, "all have that of the first", help);
        }
    }
    common.unwrap_or(Pattern::Constant)
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

fn bench(r: &Reader<'_>) -> Bench {
    let bench = r.table("bench");
    let tests = bench.as_ref().map_or(Vec::new(), |bench| {
        let names = bench.names("tests");
        let words = names
            .iter()
            .filter_map(|(_, node)| bench.word_of("tests", node, TESTS));
        words.map(|n| Test::ALL[n]).collect()
    });
    let loads = |name: &str, default: &[f64]| {
        let given = bench.as_ref().filter(|bench| bench.entry(name).is_some());
        given.map_or(default.to_vec(), |bench| {
            let all = bench.numbers(name);
            all.into_iter().map(|(load, _)| load).collect()
        })
    };
    Bench {
        latency_at: loads("latency_at", &LATENCY_AT),
        loss_at: loads("loss_at", &LOSS_AT),
        frames: bench
            .as_ref()
            .and_then(|b| b.whole("frames"))
            .unwrap_or(100_000) as u64,
        resolution: bench
            .as_ref()
            .and_then(|b| b.number("resolution"))
            .unwrap_or(0.005),
        tests,
    }
}

/// The rows of one `[[published]]`: one for each of its sizes.
fn printed(r: &Reader<'_>, functions: &[&str]) -> Vec<Published> {
    let (sizes, metric) = (r.numbers("size"), r.word("metric"));
    let (function, value, source) = (r.text("function"), r.number("value"), r.text("source"));
    if r.entry("size").is_none() {
        // A required list that is missing was noted as it was read.
        return Vec::new();
    }
    if let (Some(name), Some(entry)) = (&function, r.entry("function"))
        && !functions.is_empty()
        && !functions.contains(&name.as_str())
    {
        let help = match nearest(name, functions.iter().copied()) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("there are `{}`", functions.join("`, `")),
        };
        let what = format!("no function is called `{name}`");
        r.cx.fault(&entry.node.span, what, "unknown name", help);
    }
    let (Some(metric), Some(value), Some(source)) = (metric, value, source) else {
        return Vec::new();
    };
    let row = |(size, _): (f64, Extent)| Published {
        function: function.clone(),
        frame: size as u32,
        metric: match METRICS[metric] {
            "cycles" => Metric::Cycles,
            _ => Metric::Throughput,
        },
        value,
        source: source.clone(),
    };
    sizes.into_iter().map(row).collect()
}
