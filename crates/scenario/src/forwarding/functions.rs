//! What is tested: Click files on the workbench and lists of operations, with what comes into each.

use super::{Implementation, Tested, card as cards};
use crate::faults::{Context, explained};
use crate::reader::Reader;
use crate::tree::Extent;
use std::cell::RefCell;
use std::path::Path;
use trammel_core::units::nearest;
use trammel_cost::function;
use trammel_cost::residency::Locality;
use trammel_router::{BuiltIn, check};
use trammel_router::{diagnostic, lang};
use trammel_workbench::bench;
use trammel_workbench::bench::{Bench, Refused};
use trammel_workbench::estimate::Subject;
use trammel_workbench::frames::Field;
use trammel_workbench::names;
use trammel_workbench::samples;
use trammel_workbench::source::{Files, Source};
use trammel_workbench::traffic;
use trammel_workbench::traffic::Traffic;

/// Flows with which a configuration is tried as its scenario is read: as few as differ.
const FLOWS_OF_A_TRIAL: u32 = 2;

/// A stream as the file gives it.
#[derive(Clone, Debug)]
pub(super) struct Incoming {
    from: Option<(usize, Extent)>,
    to: Option<(usize, Extent)>,
    flows: u32,
    /// Where the number of flows stands, or the stream.
    span: Extent,
    field: Option<Field>,
    /// `vary` was given, but names nothing.
    is_misspelt: bool,
    locality: Locality,
    samples: Option<Vec<Vec<u8>>>,
}

/// What all functions of a point share.
#[derive(Debug)]
pub(super) struct Setting<'a> {
    /// The machine's profile.
    pub(super) profile: &'a str,
    pub(super) incoming: &'a [Incoming],
    pub(super) sizes: &'a [(u32, Extent)],
    pub(super) seed: u64,
    /// What the router says of wrong files.
    pub(super) rendered: &'a RefCell<Vec<String>>,
}

/// Reads one `[[stream]]` of `streams`; nothing after a fault.
pub(super) fn incoming(
    r: &Reader<'_>,
    device: Option<&Reader<'_>>,
    streams: usize,
) -> Option<Incoming> {
    let ports = device.and_then(|device| device.whole("ports"));
    let port = |name: &str| {
        let number = r.whole(name)?;
        let span = r.entry(name)?.node.span.clone();
        if let Some(ports) = ports.filter(|ports| number >= *ports) {
            let what = format!("there is no port {number}");
            let why = format!("the device's ports are 0 to {}", ports - 1);
            r.cx.fault(
                &span,
                what,
                why,
                "raise `device.ports`, or give another port",
            );
        }
        Some((number as usize, span))
    };
    let (from, to) = (port("from"), port("to"));
    if streams > 1 && from.is_none() && r.entry("from").is_none() {
        let what = "this stream says no port";
        let why = format!("there are {streams} streams");
        let help = "give each its own `from`; a single stream without one comes in at every port";
        r.cx.fault(&r.span, what, why, help);
    }
    let locality = match r.entry("locality").map(|entry| &entry.node) {
        Some(node) if node.as_table().is_some() => {
            r.table("locality")?.number("zipf").map(Locality::Zipf)
        }
        Some(node) => r
            .word_of("locality", node, &["uniform"])
            .map(|_| Locality::Uniform),
        None => Some(Locality::Uniform),
    };
    let (field, samples) = (vary(r), samples_of(r));
    Some(Incoming {
        from,
        to,
        flows: r.whole("flows")? as u32,
        span: r
            .entry("flows")
            .map_or(r.span.clone(), |entry| entry.node.span.clone()),
        is_misspelt: field.is_none() && r.entry("vary").is_some(),
        field,
        locality: locality?,
        samples,
    })
}

/// What `vary` names.
fn vary(r: &Reader<'_>) -> Option<Field> {
    let (text, entry) = (r.text("vary")?, r.entry("vary")?);
    match traffic::field(&text) {
        Ok(field) => Some(field),
        Err(why) => {
            let what = format!("`{}` cannot be `{text}`", r.dotted("vary"));
            let help = explained(r.section.key("vary").help);
            r.cx.fault(&entry.node.span, what, why, help);
            None
        }
    }
}

/// The frames of `sample` or `frames`.
fn samples_of(r: &Reader<'_>) -> Option<Vec<Vec<u8>>> {
    if let (Some(_), Some(second)) = (r.entry("sample"), r.entry("frames")) {
        let what = format!("`{}` has both `frames` and `sample`", r.section.name);
        r.cx.fault(
            &second.span,
            what,
            "`sample` and `frames`",
            "keep one of the two",
        );
        return None;
    }
    if let Some(entry) = r.entry("sample") {
        let path = r.cx.dir.join(r.text("sample")?).display().to_string();
        return match samples::of_capture(&path) {
            Ok(frames) => Some(frames),
            Err(why) => {
                let what = format!("`{}` cannot be read", r.dotted("sample"));
                let help = "give a capture, pcap or pcapng, beside this file";
                r.cx.fault(&entry.node.span, what, why, help);
                None
            }
        };
    }
    r.entry("frames")?;
    let mut frames = Vec::new();
    for (text, node) in r.names("frames") {
        match hexadecimal(text) {
            Some(frame) if frame.len() >= 14 => frames.push(frame),
            Some(frame) => {
                let what = format!("a frame of {} bytes cannot be", frame.len());
                let why = "an Ethernet header takes 14";
                r.cx.fault(&node.span, what, why, "give the whole frame");
            }
            None => {
                let what = "this is no frame in hexadecimal";
                let why = "two digits a byte, blanks between as you like";
                r.cx.fault(&node.span, what, why, "write it as \"0200 0000 0001 …\"");
            }
        }
    }
    (!frames.is_empty()).then_some(frames)
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16).map(|digit| digit as u8))
        .collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    let pairs = digits.chunks_exact(2);
    Some(pairs.map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// Every function of the file.
pub(super) fn all(
    r: &Reader<'_>,
    device: Option<&Reader<'_>>,
    setting: &Setting<'_>,
) -> Vec<Tested> {
    let tables = r.tables("function");
    let of_device = device.filter(|d| d.entry("file").is_some() || d.entry("list").is_some());
    if let (Some(device), false) = (of_device, tables.is_empty()) {
        let what = "`device` names a function, and `[[function]]` tables others";
        let help = "move it to a `[[function]]` of its own";
        r.cx.fault(&device.span, what, "either one or several", help);
    }
    if of_device.is_none() && tables.is_empty() {
        let what = "nothing forwards";
        let why = "no Click file and no list of operations";
        let help = "give `file` in `[device]`, or `[[function]]` tables";
        let span = device.map_or(r.span.clone(), |device| device.span.clone());
        r.cx.fault(&span, what, why, help);
    }
    let mut functions: Vec<Tested> = Vec::new();
    for table in of_device.into_iter().chain(&tables) {
        for one in read(table, setting) {
            if functions.iter().any(|other| other.name == one.name) {
                let what = format!("two functions are called `{}`", one.name);
                let help = "give one of them another `name`";
                r.cx.fault(&table.span, what, "tables name them apart", help);
            }
            functions.push(one);
        }
    }
    functions
}

/// The functions of one table: one of a Click file, any number of a file of lists.
fn read(r: &Reader<'_>, setting: &Setting<'_>) -> Vec<Tested> {
    // `[device]` has no name of its own.
    let has_name = r.section.keys.iter().any(|key| key.name == "name");
    let name = if has_name { r.text("name") } else { None };
    if has_name && let Some(entry) = r.entry("design") {
        let others = ["file", "list"];
        if others.iter().any(|other| r.entry(other).is_some()) {
            let what = "a function is a design, or a file";
            let help = "keep one of `design`, `file` and `list`";
            r.cx.fault(&entry.node.span, what, "both are given", help);
            return Vec::new();
        }
        return card(r, name, setting).into_iter().collect();
    }
    if has_name {
        cards::refuse_own_keys(r);
    }
    match (r.entry("file"), r.entry("list")) {
        (Some(_), Some(second)) => {
            let what = "a function is either a Click file or a list";
            r.cx.fault(
                &second.span,
                what,
                "both are given",
                "keep one of `file` and `list`",
            );
            Vec::new()
        }
        (Some(entry), None) => {
            let span = entry.node.span.clone();
            let file = r.text("file");
            let one = file.and_then(|file| click(r, name, &file, &span, setting));
            one.into_iter().collect()
        }
        (None, Some(entry)) => {
            let span = entry.node.span.clone();
            let list = r.text("list");
            list.map_or(Vec::new(), |list| {
                lists(r, name.as_deref(), &list, &span, setting)
            })
        }
        (None, None) => {
            let what = format!("this `{}` does not say what it runs", r.section.name);
            let (why, help) = if has_name {
                (
                    "neither `file` nor `list` nor `design`",
                    "give `file`, a Click file, `list`, operations, or `design`, a NetFPGA design",
                )
            } else {
                (
                    "neither `file` nor `list`",
                    "give `file`, a Click file, or `list`, operations",
                )
            };
            r.cx.fault(&r.span, what, why, help);
            Vec::new()
        }
    }
}

/// A card with what comes into it.
fn card(r: &Reader<'_>, name: Option<String>, setting: &Setting<'_>) -> Option<Tested> {
    let streams = setting.incoming.iter();
    let froms = streams.map(|one| one.from.as_ref().map(|(port, span)| (*port, span)));
    let (card, receiving) = cards::card(r, froms)?;
    let flows = setting.incoming.iter().map(|one| one.flows).max();
    Some(Tested {
        name: name.unwrap_or_else(|| card.design.clone()),
        implementation: Implementation::Card(card),
        traffic: Traffic {
            flows: flows.unwrap_or(1),
            seed: setting.seed,
            ..Traffic::default()
        },
        receiving,
        leaves_by: Vec::new(),
    })
}

/// Functions of a file of lists.
fn lists(
    r: &Reader<'_>,
    name: Option<&str>,
    list: &str,
    span: &Extent,
    setting: &Setting<'_>,
) -> Vec<Tested> {
    let (file, wanted) = match list.split_once('#') {
        Some((file, wanted)) => (file, Some(wanted)),
        None => (list, None),
    };
    let Some(text) = text_of(r.cx, file, span) else {
        return Vec::new();
    };
    let mut functions = match function::read(&text, setting.profile) {
        Ok(functions) => functions,
        Err(faults) => {
            for fault in faults {
                let what = format!("`{file}`: {fault}");
                r.cx.fault(span, what, "a list of operations", "");
            }
            return Vec::new();
        }
    };
    if let Some(wanted) = wanted {
        let names: Vec<String> = functions.iter().map(|one| one.name.clone()).collect();
        functions.retain(|one| one.name == wanted);
        if functions.is_empty() {
            let help = match nearest(wanted, names.iter().map(String::as_str)) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("there are `{}`", names.join("`, `")),
            };
            let what = format!("`{file}` has no function `{wanted}`");
            r.cx.fault(span, what, "unknown name", help);
        }
    }
    let is_one = functions.len() == 1;
    let flows = setting.incoming.iter().max_by_key(|one| one.flows);
    let tested = |function: function::Function| Tested {
        name: name.filter(|_| is_one).unwrap_or(&function.name).to_owned(),
        implementation: Implementation::Program(Subject::List(function)),
        traffic: Traffic {
            flows: flows.map_or(1, |one| one.flows),
            locality: flows.map_or(Locality::Uniform, |one| one.locality),
            seed: setting.seed,
            ..Traffic::default()
        },
        receiving: setting.incoming.len().max(1),
        leaves_by: Vec::new(),
    };
    functions.into_iter().map(tested).collect()
}

/// The text of a file that the scenario names.
fn text_of(cx: &Context<'_>, file: &str, span: &Extent) -> Option<String> {
    let path = cx.dir.join(file);
    match std::fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) => {
            let why = match error.kind() {
                std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
                _ => error.to_string(),
            };
            let help = format!("files are looked for beside this one: `{}`", path.display());
            cx.fault(span, format!("`{file}` cannot be read"), why, help);
            None
        }
    }
}

/// A Click file on the workbench, with what comes into it.
fn click(
    r: &Reader<'_>,
    name: Option<String>,
    file: &str,
    span: &Extent,
    setting: &Setting<'_>,
) -> Option<Tested> {
    let cx = r.cx;
    let own_field = vary(r);
    let own_samples = samples_of(r);
    let definitions = definitions(r);
    text_of(cx, file, span)?;
    let path = cx.dir.join(file).display().to_string();
    let source = match Source::read(&path) {
        Ok(source) => source,
        Err(why) => {
            let help = "give a Click configuration";
            cx.fault(span, format!("`{file}` cannot be read"), why, help);
            return None;
        }
    };
    let wrong = |said: &str| {
        let what = format!("`{file}` cannot run");
        let (why, help) = ("what the router says is below", "mend it there");
        cx.fault(span, what, why, help);
        setting.rendered.borrow_mut().push(said.to_owned());
    };
    let refuse = |refused: Refused| match refused {
        Refused::Configuration(said) => wrong(&diagnostic::render(&said)),
        Refused::Other(why) => {
            let help = "`frames` or `sample` say what comes in by devices";
            cx.fault(span, format!("`{file}` cannot be tested"), why, help);
        }
    };
    let files = Files::new(None);
    let options = lang::Options {
        loader: &files,
        classes: Some(&BuiltIn),
        definitions: &definitions,
        expand_definitions: true,
    };
    let said = check(&source.text, &source.name, &options, names::here());
    if said.has_errors() {
        wrong(&diagnostic::render(&said));
        return None;
    }
    let common = own_samples.unwrap_or_else(|| vec![samples::plain()]);
    let mut bench = Bench::new(&source.text, &source.name, &definitions, &common)
        .map_err(refuse)
        .ok()?;
    let mut trial = bench.clone();
    feed(cx, file, &mut trial, own_field, setting, FLOWS_OF_A_TRIAL)?;
    let leaves_by = feed(cx, file, &mut bench, own_field, setting, u32::MAX)?;
    let most = setting.incoming.iter().max_by_key(|one| one.flows);
    let traffic = Traffic {
        flows: most.map_or(1, |one| one.flows),
        field: own_field.or_else(|| most.and_then(|one| one.field)),
        locality: most.map_or(Locality::Uniform, |one| one.locality),
        seed: setting.seed,
        ..Traffic::default()
    };
    let least = bench.least_frame();
    let mut is_small = false;
    for (size, span) in setting.sizes {
        if (*size as usize) < least {
            is_small = true;
            let what = format!("frames of {size} bytes are too small for `{file}`");
            let why = format!("the headers of its samples take {least} bytes with the FCS");
            cx.fault(span, what, why, "give a larger size");
        }
    }
    if is_small {
        return None;
    }
    if let Some((size, _)) = setting.sizes.first() {
        let first = Traffic {
            frame: *size as usize,
            ..traffic.clone()
        };
        trial.router(&first, 0).map_err(refuse).ok()?;
    }
    let stem = Path::new(file).file_stem().unwrap_or_default();
    Some(Tested {
        name: name.unwrap_or_else(|| stem.to_string_lossy().into_owned()),
        receiving: bench.active().len(),
        implementation: Implementation::Program(Subject::Configuration(Box::new(bench))),
        traffic,
        leaves_by,
    })
}

fn definitions(r: &Reader<'_>) -> Vec<(String, String)> {
    let pair = |(text, node): (&str, &crate::tree::Node)| {
        let pair = text.split_once('=');
        if pair.is_none() {
            let what = format!("`{text}` defines nothing");
            let why = "a variable and its value";
            r.cx.fault(&node.span, what, why, "write it as `NAME=VALUE`");
        }
        pair.map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    r.names("define").into_iter().filter_map(pair).collect()
}

/// Has each stream come in where it says, with so many flows at most; gives where streams are to
/// leave.
fn feed(
    cx: &Context<'_>,
    file: &str,
    bench: &mut Bench,
    own_field: Option<Field>,
    setting: &Setting<'_>,
    most_flows: u32,
) -> Option<Vec<usize>> {
    let (ways_in, ways_out) = (bench.inlets().len(), bench.outlets().len());
    let mut leaves_by = Vec::new();
    let mut is_right = true;
    let none = |span: &Extent, port: usize, ways: usize, what: &str| {
        let text = format!("`{file}` has no port {port} {what}");
        let why = match ways {
            0 => format!("there is none {what}"),
            1 => "there is port 0 only".to_owned(),
            n => format!("there are 0 to {}", n - 1),
        };
        let help = "ports are counted in the order of the Click file";
        cx.fault(span, text, why, help);
    };
    for one in setting.incoming {
        let field = own_field.or(one.field);
        if one.flows > 1 && field.is_none() && !one.is_misspelt {
            is_right = false;
            let what = format!("{} flows differ in nothing", one.flows);
            let why = format!("`{file}` gets the same frame again and again");
            let help = "add `vary`, for example `vary = \"ip.dst\"`";
            cx.fault(&one.span, what, why, help);
        }
        if let Some((port, span)) = &one.to {
            // What ends in the file leaves by no device.
            if ways_out > 0 && *port >= ways_out {
                is_right = false;
                none(span, *port, ways_out, "by which packets leave");
            } else if ways_out > 0 {
                leaves_by.push(*port);
            }
        }
        let flows = bench::Flows {
            count: one.flows.min(most_flows),
            field,
            locality: one.locality,
        };
        match &one.from {
            Some((port, span)) if *port >= ways_in => {
                is_right = false;
                none(span, *port, ways_in, "by which packets come in");
            }
            Some((port, _)) => bench.feed(*port, flows, one.samples.as_deref()),
            None => {
                (0..ways_in).for_each(|port| bench.feed(port, flows, one.samples.as_deref()));
            }
        }
    }
    let named = setting.incoming.iter().filter_map(|one| one.from.as_ref());
    let named: Vec<usize> = named.map(|(port, _)| *port).collect();
    if !named.is_empty() {
        bench.narrow(&named);
    }
    is_right.then_some(leaves_by)
}
