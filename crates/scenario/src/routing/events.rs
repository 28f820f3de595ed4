//! Reads the `[[event]]`s: what fails or is repaired, and when.

use super::keys::ACTIONS;
use super::plan::Plan;
use crate::reader::Reader;
use trammel_control::network::Change;
use trammel_core::time::Time;
use trammel_core::units::nearest;

/// What an event happens to.
#[derive(Clone, Copy)]
enum Part {
    Link(usize),
    Router(usize),
}

/// All changes, in the order of their instants.
pub(super) fn changes(r: &Reader<'_>, plan: &Plan, end: Time) -> Vec<(Time, Change)> {
    let mut all: Vec<(Time, Change)> = Vec::new();
    for event in r.tables("event") {
        all.extend(event_of(&event, plan, end).into_iter().flatten());
    }
    all.sort_by_key(|(at, _)| *at);
    all
}

fn event_of(r: &Reader<'_>, plan: &Plan, end: Time) -> Option<Vec<(Time, Change)>> {
    let (at, action, lasts) = (r.instant("at"), r.word("action"), r.span("lasts"));
    let part = part(r, plan);
    let is_repair = ACTIONS[action?] == "repair";
    if let (true, Some(entry)) = (is_repair, r.entry("lasts")) {
        let help = "leave `lasts` out";
        r.cx.fault(
            &entry.span,
            "a repair does not end",
            "`lasts` is for failures",
            help,
        );
    }
    let (at, part) = (at?, part?);
    if at >= end {
        let span = r
            .entry("at")
            .map_or(r.span.clone(), |entry| entry.node.span.clone());
        let why = format!("the run ends at {end}");
        let help = "make `duration` longer";
        r.cx.fault(&span, "the event comes after the end", why, help);
    }
    let mut all = vec![(at, change(part, is_repair))];
    let repaired = lasts.map(|lasts| at + lasts).filter(|at| *at < end);
    all.extend(repaired.map(|at| (at, change(part, true))));
    Some(all)
}

fn change(part: Part, is_repair: bool) -> Change {
    match (part, is_repair) {
        (Part::Link(subnet), false) => Change::SubnetDown(subnet),
        (Part::Link(subnet), true) => Change::SubnetUp(subnet),
        (Part::Router(router), false) => Change::RouterDown(router),
        (Part::Router(router), true) => Change::RouterUp(router),
    }
}

/// The link or the router that the event names.
fn part(r: &Reader<'_>, plan: &Plan) -> Option<Part> {
    let (link, router) = (r.text("link"), r.text("router"));
    let (names, name, key) = match (&link, &router) {
        (Some(name), None) => (&plan.links, name, "link"),
        (None, Some(name)) => (&plan.topology.routers, name, "router"),
        (both, _) => {
            let what = "an event is of one `link` or one `router`";
            let why = match both {
                Some(_) => "this has both",
                None => "this has neither",
            };
            r.cx.fault(&r.span, what, why, "give one of them");
            return None;
        }
    };
    let Some(number) = names.iter().position(|one| one == name) else {
        let span = r
            .entry(key)
            .map_or(r.span.clone(), |entry| entry.node.span.clone());
        unknown(r, &span, key, name, names);
        return None;
    };
    Some(match key {
        "link" => Part::Link(number),
        _ => Part::Router(number),
    })
}

/// Notes a name that nothing has.
pub(super) fn unknown(
    r: &Reader<'_>,
    span: &crate::tree::Extent,
    noun: &str,
    name: &str,
    names: &[String],
) {
    const SHOWN: usize = 12;
    let all = names.iter().map(String::as_str);
    let help = match nearest(name, all.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let first: Vec<&str> = all.take(SHOWN).collect();
            let more = if names.len() > SHOWN { ", …" } else { "" };
            format!("there are `{}`{more}", first.join("`, `"))
        }
    };
    let what = format!("no {noun} is called `{name}`");
    r.cx.fault(span, what, "unknown name", help);
}
