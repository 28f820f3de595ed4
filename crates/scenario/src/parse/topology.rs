//! Reads where flows run: `[path]`, `[topology]`, or `[[host]]` and `[[link]]`.

use super::path;
use crate::keys::{DEVICES, HOST, TOPOLOGIES};
use crate::path::{Line, Path};
use crate::reader::Reader;
use crate::topology::{Device, Graph, Link, Topology};
use trammel_core::time::Span;
use trammel_core::units::Rate;

/// The topology; nothing after a fault.
pub(super) fn topology(r: &Reader<'_>, flows: usize) -> Option<Topology> {
    let explicit = r.entry("link").or_else(|| r.entry("host"));
    let preset = r.table("topology");
    if let Some(entry) = explicit {
        for other in ["path", "topology"] {
            if r.entry(other).is_some() {
                let what = format!("`{other}` and `{}` exclude each other", entry.key);
                let why = format!("`{other}` describes a network too");
                let help = format!("keep `{other}`, or `[[host]]` and `[[link]]`");
                r.cx.fault(&entry.span, what, why, help);
            }
        }
        return Some(Topology::Graph(graph(r)));
    }
    let Some(path) = r.table("path") else {
        let what = "the file describes no path";
        let help = "add `[path]` with `rate` and `rtt`, or `[[host]]` and `[[link]]`";
        r.cx.fault(&r.span, what, "flows need something to cross", help);
        return None;
    };
    let path = path::path(&path);
    let Some(preset) = preset else {
        return path.map(Topology::Path);
    };
    let (shape, pairs, hops) = (
        preset.word("preset"),
        preset.whole("pairs"),
        preset.whole("hops"),
    );
    let (path, shape) = (path?, TOPOLOGIES[shape?]);
    means_something(r, &path, shape);
    Some(Topology::Graph(match shape {
        "parking-lot" => Graph::parking_lot(&path, hops.unwrap_or(1) as usize),
        "four-host" => Graph::dumbbell(&path, 2),
        _ => Graph::dumbbell(&path, pairs.unwrap_or(flows.max(1) as i64) as usize),
    }))
}

/// Notes keys of `[path]` that a network of the shape would not follow.
fn means_something(r: &Reader<'_>, path: &Path, shape: &str) {
    let Some(table) = r.table("path") else { return };
    if let (Some(entry), Some(_)) = (table.entry("wifi").or(table.entry("preset")), &path.wifi) {
        let what = "`wifi` has no meaning in a `[topology]`";
        let why = "its links are wires";
        let help = "remove `[topology]`, or give the path a `rate` in place of `wifi`";
        r.cx.fault(&entry.span, what, why, help);
    }
    let access = path.access.map_or(Span::ZERO, |access| access.delay * 4);
    if let Some(entry) = table.entry("access").filter(|_| path.rtt < access) {
        let what = format!("the access links of a `{shape}` alone take {access} of a round trip");
        let why = format!("`rtt` is {} and holds their four crossings", path.rtt);
        r.cx.fault(
            &entry.span,
            what,
            why,
            "shorten their `delay`, or lengthen `path.rtt`",
        );
    }
}

fn graph(r: &Reader<'_>) -> Graph {
    let hosts = r.tables("host");
    let links = r.tables("link");
    Graph {
        hosts: hosts.iter().filter_map(|host| host.text("name")).collect(),
        // A link with a fault keeps its ends, so that routes are not missed as well.
        links: links.iter().map(link).collect(),
        devices: hosts.iter().filter_map(device).collect(),
    }
}

fn device(r: &Reader<'_>) -> Option<Device> {
    if r.entry("device").is_none() {
        if let Some(entry) = r.entry("registers") {
            let what = "`registers` are those of a `device`";
            let why = "this host is none";
            r.cx.fault(&entry.span, what, why, "add `device`, or leave them out");
        }
        return None;
    }
    let written = r.names("registers").into_iter().filter_map(|(text, node)| {
        let number = |text: &str| match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        };
        let parts = text.split_once('=');
        let read =
            parts.and_then(|(name, value)| Some((name.trim().to_owned(), number(value.trim())?)));
        if read.is_none() {
            let what = format!("`{text}` writes no register");
            let why = "it is not `NAME=NUMBER` of 32 bits";
            r.cx.fault(&node.span, what, why, HOST.key("registers").help);
        }
        read
    });
    let registers = written.collect();
    Some(Device {
        host: r.text("name")?,
        preset: DEVICES[r.word("device")?].to_owned(),
        registers,
    })
}

fn link(r: &Reader<'_>) -> Link {
    let from = r.text("from").unwrap_or_default();
    let to = r.text("to").unwrap_or_default();
    let line = path::line(r, None).unwrap_or_else(|| Line::new(Rate::from_bps(1)));
    let mut link = Link::new(&from, &to, r.span("delay").unwrap_or_default(), line);
    if let Some(name) = r.text("name") {
        link.name = name;
    }
    link
}
