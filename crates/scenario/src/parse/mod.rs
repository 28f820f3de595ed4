//! From the tree of a file to a scenario, every fault noted on the way. One file a concern.

pub(super) mod path;
mod plugin;
mod schedule;
mod topology;
mod traffic;

use super::check::{self, Fault};
use super::faults::Context;
use super::keys::{ENGINES, MEASURE, ROOT};
use super::model::{
    Engine, Goal, Kernel, Measure, ModelChoice, Pcap, Scenario, Tracing, name_flows,
};
use super::named::kernel;
use super::preset;
use super::reader::Reader;
use super::tree::{Extent, Node, Value};
use crate::registry::Family;
use trammel_core::time::Span;
use trammel_core::units::{Dimension, nearest};
use trammel_tcp::models;

/// Reads the whole tree of one point. What it returns is of use only where no fault was noted.
pub(super) fn scenario(cx: &Context<'_>, root: &Node) -> Scenario {
    let before = cx.problems.borrow().len();
    let root = with_preset(cx, root);
    let r = Reader::new(cx, &ROOT, &root);
    let mut scenario = Scenario {
        title: r.text("title").unwrap_or_default(),
        question: r.text("question"),
        answer: r.word("answer").map(|word| Goal::ALL[word]),
        duration: r.span("duration").unwrap_or(Span::MAX),
        warmup: r.instant("warmup").unwrap_or_default(),
        repeat: r.whole("repeat").unwrap_or(1) as u32,
        seed: r.whole("seed").unwrap_or(1) as u64,
        solo: r.flag("solo").unwrap_or_default(),
        trace: tracing(&r),
        pcap: pcap(&r),
        qlog: r.flag("qlog").unwrap_or_default(),
        measure: measure(&r),
        ..Scenario::default()
    };
    // A log has what every ACK brings, unless the file says how often.
    if scenario.qlog && r.entry("trace").is_none() {
        scenario.trace = Tracing::Ack;
    }
    r.word("subject");
    scenario.engines = engines(&r, scenario.measure.is_some());
    if let Some(predict) = r.table("predict") {
        scenario.models = predict_models(&predict);
    }
    let (flows, origins) = traffic::flows(&r);
    scenario.flows = flows;
    name_flows(&mut scenario.flows);
    scenario.workloads = traffic::workloads(&r);
    scenario.streams = traffic::streams(&r);
    scenario.apps = traffic::apps(&r);
    if let Some(topology) = topology::topology(&r, scenario.flows.len()) {
        scenario.topology = topology;
        // Traffic with a fault of its own is not missed as well.
        let sources = ["flow", "workload", "stream", "app", "matrix"];
        let has_traffic = sources.iter().any(|key| r.entry(key).is_some());
        let note = |fault: Fault| {
            let mut place = in_file(&fault.place, &origins);
            if place[0] == "link" && r.entry("link").is_none() {
                // The links of a preset network are as `[path]` says.
                place.splice(0..2, ["path".to_owned()]);
            }
            let span = span_of(&root, &place);
            cx.fault(&span, fault.what, fault.why, fault.help);
        };
        for fault in check::faults(&scenario) {
            if fault.place.is_empty() && has_traffic {
                continue;
            }
            note(fault);
        }
        // An engine is asked about scenarios that have no other fault.
        if cx.problems.borrow().len() == before {
            let engines = match cx.engines {
                [] => &scenario.engines,
                asked => asked,
            };
            (cx.refusals)(&scenario, engines).into_iter().for_each(note);
        }
    }
    scenario
}

/// The tree with the keys of `path.preset` where the file does not give them.
fn with_preset(cx: &Context<'_>, root: &Node) -> Node {
    let mut root = root.clone();
    let Value::Table(top) = &mut root.value else {
        return root;
    };
    let Some(path) = top.0.iter_mut().find(|entry| entry.key == "path") else {
        return root;
    };
    let Value::Table(path) = &mut path.node.value else {
        return root;
    };
    let Some(chosen) = path.get("preset").map(|entry| entry.node.clone()) else {
        return root;
    };
    // A value that is no text is refused where the key is read.
    let Some(name) = chosen.as_text() else {
        return root;
    };
    let Some(found) = preset::find(name) else {
        let help = match nearest(name, preset::all().iter().map(|preset| preset.name)) {
            Some(name) => format!("did you mean `{name}`?"),
            None => "`trammel list presets` shows all".to_owned(),
        };
        let what = format!("no path preset is called `{name}`");
        cx.fault(&chosen.span, what, "unknown preset", help);
        return root;
    };
    let keys = Node::parse(&found.keys).expect("a test reads every preset");
    for entry in &keys.as_table().expect("a file is a table").0 {
        if path.get(&entry.key).is_none() {
            path.set(&entry.key, placed(&entry.node, &chosen.span));
        }
    }
    root
}

/// `node` as if it stood at `span`.
fn placed(node: &Node, span: &Extent) -> Node {
    let value = match &node.value {
        Value::Table(table) => {
            let mut table = table.clone();
            for entry in &mut table.0 {
                entry.span = span.clone();
                entry.node = placed(&entry.node, span);
            }
            Value::Table(table)
        }
        Value::List(items) => Value::List(items.iter().map(|n| placed(n, span)).collect()),
        other => other.clone(),
    };
    Node {
        span: span.clone(),
        value,
    }
}

fn tracing(r: &Reader<'_>) -> Tracing {
    let Some(entry) = r.entry("trace") else {
        return Tracing::Off;
    };
    match entry.node.as_text() {
        Some("off") => Tracing::Off,
        Some("ack") => Tracing::Ack,
        _ => match r.measured("trace", &entry.node, &[Dimension::Time]) {
            Some(interval) if interval.value > 0.0 => {
                Tracing::Every(Span::from_secs_f64(interval.value))
            }
            Some(_) => {
                r.wrong("trace", &entry.node);
                Tracing::Off
            }
            None => Tracing::Off,
        },
    }
}

fn pcap(r: &Reader<'_>) -> Pcap {
    match r.entry("pcap").map(|entry| &entry.node.value) {
        None | Some(Value::Bool(false)) => Pcap::Off,
        Some(Value::Bool(true)) => Pcap::All,
        Some(_) => {
            let names = r.names("pcap");
            Pcap::Links(names.iter().map(|(name, _)| (*name).to_owned()).collect())
        }
    }
}

fn measure(r: &Reader<'_>) -> Option<Measure> {
    let table = r.table("measure")?;
    let kernel = table.word("kernel")?;
    let (source, mut patches) = source(&table);
    for (name, node) in table.names("patches") {
        patches.push(file_near(&table, name, &node.span));
    }
    let measure = Measure {
        kernel: [Kernel::Linux, Kernel::Host][kernel],
        source,
        patches,
        module: near(&table, "module"),
        sysctls: settings(&table, "sysctls", variable),
        parameters: settings(&table, "parameters", |name| {
            name.split_once('.').is_some().then(|| name.to_owned())
        }),
    };
    if measure.kernel == Kernel::Host {
        for key in ["source", "patches", "module", "parameters"] {
            if let Some(entry) = table.entry(key) {
                let what = format!("`{key}` is for `kernel = \"linux\"`");
                let help = "leave it out: this host's kernel is as it is";
                r.cx.fault(
                    &entry.node.span,
                    what,
                    "the host's own stack is measured",
                    help,
                );
            }
        }
    }
    Some(measure)
}

/// The tree of the kernel that measures, nothing where it is the packaged one, and the patches
/// over it: `TREE`, `TREE+x.patch+y.patch`, `packaged+x.patch`.
fn source(table: &Reader<'_>) -> (Option<String>, Vec<String>) {
    let Some((text, entry)) = table.text("source").zip(table.entry("source")) else {
        return (None, Vec::new());
    };
    let span = &entry.node.span;
    let (source, patches) = kernel(&text, table.cx.dir);
    let near = |name| file_near(table, name, span);
    (source.map(near), patches.into_iter().map(near).collect())
}

/// A file or folder that exists, named from the scenario's own folder.
fn near(r: &Reader<'_>, key: &str) -> Option<String> {
    Some(file_near(r, &r.text(key)?, &r.entry(key)?.node.span))
}

/// The same by its name.
fn file_near(r: &Reader<'_>, name: &str, span: &Extent) -> String {
    let path = r.cx.dir.join(name);
    if name.is_empty() || !path.exists() {
        let what = format!("`{}` does not exist", path.display());
        r.cx.fault(
            span,
            what,
            "the kernel is built from it",
            "name it from the scenario's own folder",
        );
    }
    path.display().to_string()
}

/// The texts `name=value` of a list, each name as `named` has it.
fn settings(r: &Reader<'_>, key: &str, named: fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (text, node) in r.names(key) {
        let setting = text
            .split_once('=')
            .map(|(name, value)| (name.trim(), value.trim()));
        match setting.and_then(|(name, value)| Some((named(name)?, value))) {
            Some((name, value)) => all.push((name, value.to_owned())),
            None => {
                let what = format!("`{text}` is no setting");
                let help = MEASURE.key(key).help;
                r.cx.fault(&node.span, what, "it has no name and value", help);
            }
        }
    }
    all
}

/// A variable below `/proc/sys/net`, of a name as `sysctl` has it or as a path.
fn variable(name: &str) -> Option<String> {
    let path = name.replace('.', "/");
    let path = path.strip_prefix("net/").unwrap_or(&path);
    let is_plain = path
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'/' | b'-'));
    (is_plain && path.contains('/')).then(|| path.to_owned())
}

fn engines(r: &Reader<'_>, measured: bool) -> Vec<Engine> {
    let mut engines = vec![Engine::Predict, Engine::Simulate];
    if measured {
        engines.push(Engine::Measure);
    }
    let Some(entry) = r.entry("engines") else {
        return engines;
    };
    let names = r.names("engines");
    let words = names
        .iter()
        .filter_map(|(_, node)| r.word_of("engines", node, ENGINES));
    engines = words
        .filter_map(|n| Engine::from_name(ENGINES[n]))
        .collect();
    engines.sort_unstable();
    engines.dedup();
    if names.is_empty() && matches!(&entry.node.value, Value::List(_)) {
        let help = format!("name at least one: {}", ROOT.key("engines").kind.describe());
        r.cx.fault(
            &entry.node.span,
            "`engines` is empty",
            "no engine would run",
            help,
        );
    }
    engines
}

fn predict_models(r: &Reader<'_>) -> Vec<ModelChoice> {
    let mut choices = Vec::new();
    for (text, node) in r.names("models") {
        let (name, dialect) = match text.split_once(':') {
            Some((name, dialect)) => (name, Some(dialect.to_owned())),
            None => (text, None),
        };
        let entry = match models::FAMILY.get(name) {
            Ok(entry) => entry,
            Err(unknown) => {
                plugin::unknown(r.cx, Family::Model, &unknown, &node.span);
                continue;
            }
        };
        if let Some(dialect) = &dialect {
            let known = entry.dialects.iter().map(|(name, _)| *name);
            if !known.clone().any(|name| name == dialect) {
                let what = format!("model `{name}` has no form `{dialect}`");
                let help = match nearest(dialect, known) {
                    Some(nearest) => format!("did you mean `{name}:{nearest}`?"),
                    None => format!("`trammel doc model {name}` shows its forms"),
                };
                r.cx.fault(&node.span, what, "unknown form", help);
            }
        }
        choices.push(ModelChoice {
            name: entry.about.name.to_owned(),
            dialect,
        });
    }
    choices
}

/// A place of the model as a place of the file: copies of a flow share one table.
fn in_file(place: &str, origins: &[usize]) -> Vec<String> {
    let mut parts: Vec<String> = place.split('.').map(str::to_owned).collect();
    if parts[0] == "flow"
        && let Some(index) = parts.get(1).and_then(|n| n.parse::<usize>().ok())
    {
        parts[1] = origins[index].to_string();
    }
    parts
}

/// Where `place` stands: the value of its last part, or of the deepest part that is in the file.
pub(super) fn span_of(root: &Node, place: &[String]) -> Extent {
    let mut at = root;
    for part in place {
        let next = match &at.value {
            Value::Table(table) => table.get(part).map(|entry| &entry.node),
            Value::List(items) => part.parse().ok().and_then(|n: usize| items.get(n)),
            // `[flow]` in place of `[[flow]]` is the only one.
            _ => None,
        };
        match next {
            Some(next) => at = next,
            None if part == "0" => {}
            None => break,
        }
    }
    at.span.clone()
}
