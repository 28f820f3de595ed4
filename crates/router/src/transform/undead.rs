//! Removes what no packet can pass: dead code, and elements that decide nothing.
//!
//! An element lives if a packet that something makes can reach it and can go on from it to
//! something that ends packets. Before that is asked, switches that always choose the same port and
//! `Null`s are joined over; afterwards schedulers and tees lose ports that lead nowhere, and
//! themselves where one is left. Ports of living elements that are left open go to one `Idle`.

use super::facts::{self, Role};
use super::work::{Ends, Side, Work, made_by, port};
use crate::args::numbers::parse_int;
use crate::args::text::{join_args, split_args, uncomment};
use crate::diagnostic::Diagnostics;
use crate::graph::flow::FlowCode;
use crate::lang::{Flat, Port};
use std::collections::{BTreeMap, BTreeSet};

/// Two sides, as the walk goes.
const SIDES: [Side; 2] = [Side::Input, Side::Output];

fn opposite(side: Side) -> Side {
    match side {
        Side::Input => Side::Output,
        Side::Output => Side::Input,
    }
}

/// Schedulers (their inputs shrink) and tees (their outputs do).
struct Fan {
    class: &'static str,
    /// The side with many ports.
    many: Side,
    /// The configuration has an argument for each port.
    by_argument: bool,
    /// The configuration is the number of ports.
    by_number: bool,
    /// The first port stays whatever it leads to.
    keeps_first: bool,
}

const FANS: &[Fan] = &[
    Fan {
        class: "RoundRobinSched",
        many: Side::Input,
        by_argument: false,
        by_number: false,
        keeps_first: false,
    },
    Fan {
        class: "PrioSched",
        many: Side::Input,
        by_argument: false,
        by_number: false,
        keeps_first: false,
    },
    Fan {
        class: "StrideSched",
        many: Side::Input,
        by_argument: true,
        by_number: false,
        keeps_first: false,
    },
    Fan {
        class: "Tee",
        many: Side::Output,
        by_argument: false,
        by_number: true,
        keeps_first: false,
    },
    Fan {
        class: "PullTee",
        many: Side::Output,
        by_argument: false,
        by_number: true,
        keeps_first: true,
    },
];

/// Gives `flat` without what is dead, and what was strange about it.
pub fn undead(flat: Flat) -> (Flat, Diagnostics) {
    let mut said = Diagnostics::new();
    let mut work = Work::from(flat);
    let mut counts: BTreeMap<usize, [usize; 2]> = BTreeMap::new();
    for (at, _) in work.live() {
        counts.insert(at, SIDES.map(|side| work.count(side, at)));
    }
    for (class, side) in [
        ("StaticSwitch", Side::Output),
        ("StaticPullSwitch", Side::Input),
    ] {
        for at in work.of_class(class) {
            join_switch(&mut work, at, side, &mut said);
        }
    }
    for at in work.of_class("Null") {
        join_null(&mut work, at, &mut said);
    }
    work.prune();
    let had_elements = work.live().next().is_some();
    let lives = living(&work);
    if had_elements && !lives.contains(&true) {
        said.error(None, "no live elements in configuration");
        return (Flat::default(), said);
    }
    for (at, is_alive) in lives.into_iter().enumerate() {
        if !is_alive {
            work.remove(at);
        }
    }
    work.prune();
    loop {
        let mut is_changed = false;
        for fan in FANS {
            for at in work.of_class(fan.class) {
                is_changed |= shrink(&mut work, at, fan, &mut counts, &mut said);
            }
        }
        if !is_changed {
            break;
        }
    }
    close_ports(&mut work, &counts);
    (work.finish(), said)
}

/// Replaces a switch, whose `side` it chooses among, by connections to the port that it always
/// chooses.
fn join_switch(work: &mut Work, at: usize, side: Side, said: &mut Diagnostics) {
    let Some(element) = work.elements[at].clone() else {
        return;
    };
    let chosen = parse_int(&uncomment(&element.config), i64::MIN, i64::MAX).ok();
    if chosen.is_none() {
        let text = format!(
            "{}: bad configuration '{}({})'",
            element.name, element.class, element.config
        );
        said.error(Some(&element.landmark), text);
    }
    let chosen = chosen.and_then(|chosen| usize::try_from(chosen).ok());
    let idle = work.add_anonymous("Idle", made_by("click-undead"));
    let mut there = 0;
    let beyond = chosen.and_then(|chosen| {
        let only = work.at(side, port(at, chosen));
        Some(work.connections[*only.first()?].end(opposite(side)))
    });
    let beyond = beyond.unwrap_or(port(idle, 0));
    for number in 0..work.count(side, at) {
        if Some(number) != chosen {
            work.redirect(side, port(at, number), port(idle, there));
            there += 1;
        }
    }
    work.redirect(opposite(side), port(at, 0), beyond);
    work.remove(at);
}

/// Joins over an element that does nothing.
fn join_null(work: &mut Work, at: usize, said: &mut Diagnostics) {
    let (before, after) = (
        work.at(Side::Input, port(at, 0)),
        work.at(Side::Output, port(at, 0)),
    );
    let is_plain = SIDES.iter().all(|side| work.count(*side, at) == 1);
    if !is_plain || (before.len() > 1 && after.len() > 1) {
        if let Some(element) = &work.elements[at] {
            let text = format!("odd connections to '{} :: {}'", element.name, element.class);
            said.warning(Some(&element.landmark), text);
        }
        if !is_plain {
            return;
        }
    } else if before.len() == 1 {
        let from = work.connections[before[0]].from;
        work.redirect(Side::Output, port(at, 0), from);
    } else {
        let to = work.connections[after[0]].to;
        work.redirect(Side::Input, port(at, 0), to);
    }
    work.remove(at);
}

/// Whether each element lives.
fn living(work: &Work) -> Vec<bool> {
    let roles: Vec<Option<Role>> = (0..work.elements.len())
        .map(|at| {
            let element = work.elements[at].as_ref()?;
            let (inputs, outputs) = (work.count(Side::Input, at), work.count(Side::Output, at));
            Some(facts::role_of(&element.class, inputs, outputs))
        })
        .collect();
    let makes = |role| matches!(role, Some(Role::Makes | Role::MakesAndEnds));
    let ends = |role| matches!(role, Some(Role::Ends | Role::MakesAndEnds));
    let fed = reach(
        work,
        Side::Input,
        &roles.iter().map(|r| makes(*r)).collect::<Vec<_>>(),
    );
    let drained = reach(
        work,
        Side::Output,
        &roles.iter().map(|r| ends(*r)).collect::<Vec<_>>(),
    );
    fed.iter().zip(drained).map(|(a, b)| *a && b).collect()
}

/// The elements that a walk from `starts` comes to: along packets to their inputs, or against them.
fn reach(work: &Work, side: Side, starts: &[bool]) -> Vec<bool> {
    let mut reached = starts.to_vec();
    let mut seen: BTreeSet<Port> = BTreeSet::new();
    let far = opposite(side);
    let mut leaving: Vec<Port> = Vec::new();
    for (at, _) in work.live().filter(|(at, _)| starts[*at]) {
        leaving.extend((0..work.count(far, at)).map(|number| port(at, number)));
    }
    while let Some(from) = leaving.pop() {
        for at in work.at(far, from) {
            let here = work.connections[at].end(side);
            if !seen.insert(here) {
                continue;
            }
            let Some(element) = &work.elements[here.element] else {
                continue;
            };
            // What is idle leads nowhere.
            if element.class == "Idle" {
                continue;
            }
            reached[here.element] = true;
            let flow = FlowCode::parse(facts::liveness(&element.class));
            let passes = |other: &usize| match side {
                Side::Input => flow.passes(here.port, *other),
                Side::Output => flow.passes(*other, here.port),
            };
            let onward = (0..work.count(far, here.element)).filter(passes);
            leaving.extend(onward.map(|number| port(here.element, number)));
        }
    }
    reached
}

/// Takes from a scheduler or tee the ports that lead nowhere, and joins over it where one is left.
fn shrink(
    work: &mut Work,
    at: usize,
    fan: &Fan,
    counts: &mut BTreeMap<usize, [usize; 2]>,
    said: &mut Diagnostics,
) -> bool {
    let Some(element) = work.elements[at].clone() else {
        return false;
    };
    let (one, side) = (opposite(fan.many), usize::from(fan.many == Side::Output));
    if work.count(one, at) != 1 {
        let text = format!("odd connections to '{} :: {}'", element.name, element.class);
        said.warning(Some(&element.landmark), text);
        return false;
    }
    let total = work.count(fan.many, at);
    let mut arguments = split_args(&element.config);
    if fan.by_argument && arguments.len() != total {
        return false;
    }
    let leads = |work: &Work, number: usize| {
        work.at(fan.many, port(at, number)).iter().any(|c| {
            let beyond = work.connections[*c].end(one).element;
            !work.is_class(beyond, "Idle")
        })
    };
    let kept: Vec<usize> = (0..total)
        .filter(|number| (fan.keeps_first && *number == 0) || leads(work, *number))
        .collect();
    let is_kept = |number: usize| kept.binary_search(&number);
    work.connections.retain_mut(|connection| {
        let end = connection.end_mut(fan.many);
        if end.element != at {
            return true;
        }
        match is_kept(end.port) {
            Ok(place) => end.port = place,
            Err(_) => return false,
        }
        true
    });
    if fan.by_argument {
        arguments = kept
            .iter()
            .map(|number| arguments[*number].clone())
            .collect();
    }
    if let Some(element) = work.elements[at].as_mut() {
        if fan.by_argument && kept.len() != total {
            element.config = join_args(&arguments);
        } else if fan.by_number {
            element.config = kept.len().to_string();
        }
    }
    counts.entry(at).or_default()[side] = kept.len();
    if kept.len() != 1 {
        return false;
    }
    // Of a pull tee's output all who ask are joined to whom it asks.
    let only = work.at(fan.many, port(at, 0));
    let (near, beyond) = if fan.keeps_first {
        let asked = work.at(one, port(at, 0));
        (
            fan.many,
            asked.first().map(|c| work.connections[*c].end(fan.many)),
        )
    } else {
        (one, only.first().map(|c| work.connections[*c].end(one)))
    };
    if let Some(beyond) = beyond {
        work.redirect(near, port(at, 0), beyond);
    }
    work.remove(at);
    work.prune();
    true
}

/// Connects ports of living elements that lost what they were connected to.
fn close_ports(work: &mut Work, counts: &BTreeMap<usize, [usize; 2]>) {
    let landmark = made_by("click-undead");
    let mut open = Vec::new();
    for (at, _) in work.live() {
        let Some(count) = counts.get(&at) else {
            continue;
        };
        for (side, count) in SIDES.into_iter().zip(count) {
            let ports = (0..*count).map(|number| port(at, number));
            let unused = ports.filter(|end| work.at(side, *end).is_empty());
            open.extend(unused.map(|end| (side, end)));
        }
    }
    if open.is_empty() {
        return;
    }
    let idle = work.add_anonymous("Idle", landmark.clone());
    let (mut inputs, mut outputs) = (0, 0);
    for (side, end) in open {
        if side == Side::Input {
            work.connect(port(idle, outputs), end, &landmark);
            outputs += 1;
        } else {
            work.connect(end, port(idle, inputs), &landmark);
            inputs += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::{Options, flatten, parse};

    fn of(text: &str) -> String {
        let (flat, said) = parse(text, "config", &Options::default());
        assert!(!said.has_errors(), "{}", said.click());
        flatten::router(&undead(flat).0)
    }

    #[test]
    fn what_has_no_source_or_no_end_goes() {
        assert_eq!(
            of(
                "s :: InfiniteSource -> c :: Counter -> d :: Discard; Idle -> e :: Counter \
                 -> Discard;"
            ),
            "s :: InfiniteSource;\nc :: Counter;\nd :: Discard;\n\ns -> c\n    -> d;\n"
        );
    }

    #[test]
    fn switches_nulls_and_tees_are_joined_over() {
        assert_eq!(
            of(
                "s :: InfiniteSource -> w :: StaticSwitch(0); w [0] -> Null -> t :: Tee; w [1] \
                 -> Discard;
                t [0] -> d :: Discard; t [1] -> Idle;"
            ),
            "s :: InfiniteSource;\nd :: Discard;\n\ns -> d;\n"
        );
    }

    #[test]
    fn a_port_that_loses_its_neighbour_becomes_idle() {
        let out = of(
            "s :: InfiniteSource -> c :: Classifier(a, -) -> d :: Discard; c [1] -> Queue -> Idle;",
        );
        assert!(out.contains("c [1] -> Idle@"), "{out}");
    }
}
