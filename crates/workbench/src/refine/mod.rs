//! An estimate corrected by what a live router counted, and what each correction changed.
//!
//! The estimate rests on the [`Visits`] of a run of some thousand packets. A live run has counted
//! the same numbers, so it is corrected by replacing them one kind after the other: each kind's
//! share of the change is then a difference of two estimates.
//!
//! ```text
//! assumed ─ frame lengths ─ visits ─ packets a call ─ tables, lengths at elements ─ cycles ─> corrected
//! ```

pub mod file;
pub mod view;

use super::bench::Bench;
use super::estimate::{At, Conditions, Error, Sampled, Subject};
use super::frames::FCS;
use super::traffic::Traffic;
use file::Counted;
use trammel_cost::estimate::Row;
use trammel_cost::machine::Machine;
use trammel_router::estimate::{Visited, Visits, cost_of};

/// The least and the longest frame, FCS included.
const FRAMES: [f64; 2] = [64.0, 9216.0];
/// Bytes by which frames at an element must differ from those that come in to be other frames.
const OTHER_BYTES: f64 = 0.5;
/// Entries from which on a table tells how many flows came.
const OF_FLOWS: f64 = 256.0;
/// Elements that options of `trammel router` add.
const ADDED: &str = "click_driver@@";

/// One kind of correction.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Which.
    pub what: &'static str,
    /// What was assumed and what was counted, where that is one number.
    pub values: Option<(f64, f64)>,
    /// By how much it changes the cycles a packet.
    pub change: f64,
}

/// An element before and after.
#[derive(Clone, Debug)]
pub struct Change {
    /// Its name.
    pub name: String,
    /// Its class.
    pub class: String,
    /// Visits a packet.
    pub visits: [f64; 2],
    /// Packets a call.
    pub batch: [f64; 2],
    /// Cycles a packet of the function's.
    pub cycles: [f64; 2],
    /// Whether the second of these were counted.
    pub is_counted: bool,
}

/// A corrected estimate.
#[derive(Clone, Debug)]
pub struct Refined {
    /// What was assumed.
    pub before: At,
    /// What it comes to.
    pub after: At,
    /// The corrections, in their order.
    pub stages: Vec<Stage>,
    /// Elements that packets come to in either.
    pub elements: Vec<Change>,
    /// Remarks, a line each.
    pub notes: Vec<String>,
}

/// Corrects the estimate of `bench` at `frame` bytes by a run, called `name` in messages.
pub fn refine(
    bench: &Bench,
    counted: &Counted,
    name: &str,
    frame: f64,
    machine: &Machine,
    under: &Conditions,
) -> Result<Refined, Error> {
    is_of(bench, counted, name).map_err(Error::Other)?;
    let subject = Subject::Configuration(Box::new(bench.clone()));
    let mut under = under.clone();
    let estimate = |visits: &Visits, frame: f64, under: &Conditions| {
        let values = under.values.iter().cloned().collect();
        let cost = cost_of(&bench.name, visits, &values);
        subject.cost(&cost.function, cost.undeclared, frame, machine, under)
    };
    let traffic = |frame: f64, under: &Conditions| Traffic {
        frame: frame.round() as usize,
        ..under.traffic.clone()
    };
    let assumed = Sampled::of(bench, &traffic(frame, &under))?.visits;
    let before = estimate(&assumed, frame, &under)?;
    let (mut stages, mut last) = (Vec::new(), before.clone());
    let mut stage = |what, values, at: At| {
        let change = at.estimate.cycles.centre - last.estimate.cycles.centre;
        stages.push(Stage {
            what,
            values,
            change,
        });
        last = at;
    };

    let least = (bench.least_frame() as f64).max(FRAMES[0]);
    let length = (counted.bytes + FCS as f64).clamp(least, FRAMES[1].max(least));
    let mut now = Sampled::with_bytes(bench, &traffic(length, &under))?.visits;
    let at = estimate(&now, length, &under)?;
    stage("frame bytes", Some((frame, length)), at);

    let share = now.packets / counted.visits.packets;
    each(&mut now, counted, |own, run| {
        let calls = match own.packets {
            0.0 => run.calls_a_packet(),
            _ => own.calls_a_packet(),
        };
        own.packets = run.packets * share;
        own.calls = own.packets * calls;
        // Of an element that no packet of the sample came to, nothing else is known.
        own.outputs = own.outputs.max(run.outputs);
    });
    stage("visits", None, estimate(&now, length, &under)?);

    each(&mut now, counted, |own, run| {
        own.calls = own.packets * run.calls_a_packet();
    });
    stage("packets a call", None, estimate(&now, length, &under)?);

    let flows = f64::from(under.traffic.flows);
    let mut seen = flows;
    each(&mut now, counted, |own, run| {
        if own.class != run.class || run.packets == 0.0 {
            return;
        }
        own.quantities.clone_from(&run.quantities);
        let learnt = run.quantities.iter().filter(|(name, _)| name == "entries");
        let learnt = learnt.map(|(_, value)| *value).filter(|n| *n >= OF_FLOWS);
        seen = learnt.fold(seen, f64::max);
        // The sample had frames of the run's mean length, so what differs is which frames come
        // here.
        if own.bytes > 0.0 && run.bytes > 0.0 && own.packets > 0.0 {
            let longer = run.bytes / run.packets - own.bytes / own.packets;
            let own_length = (length + longer).clamp(FRAMES[0], FRAMES[1]);
            own.frame = (longer.abs() > OTHER_BYTES).then_some(own_length);
        }
    });
    under.traffic.flows = seen as u32;
    let values = (seen > flows).then_some((flows, seen));
    let what = match values {
        Some(_) => "flows, of which tables are full",
        None => "tables, and which frames come where",
    };
    let at = estimate(&now, length, &under)?;
    stage(what, values, at);

    let mut notes = Vec::new();
    let has_cycles = counted
        .visits
        .elements
        .iter()
        .any(|one| one.cycles.is_some());
    if has_cycles && machine.title == counted.processor {
        each(&mut now, counted, |own, run| {
            if own.class == run.class && run.packets > 0.0 {
                let one = run.cycles.map(|cycles| cycles / run.packets);
                own.cycles = one.map(|one| one * own.packets);
            }
        });
        stage("cycles in elements", None, estimate(&now, length, &under)?);
    } else if has_cycles {
        notes.push(format!(
            "cycles were counted on {} and do not apply to {}: its constants stay",
            counted.processor, machine.title
        ));
    }
    let after = last;
    notes.extend(smaller_batches(&assumed, counted));
    notes.extend(replaced(bench, counted));
    let elements = changes(&assumed, &now, &before, &after);
    Ok(Refined {
        before,
        after,
        stages,
        elements,
        notes,
    })
}

/// Changes each element by what was counted at the one of its name.
fn each(visits: &mut Visits, counted: &Counted, mut change: impl FnMut(&mut Visited, &Visited)) {
    for own in &mut visits.elements {
        let all = counted.visits.elements.iter();
        if let Some(run) = all.into_iter().find(|run| run.name == own.name) {
            change(own, run);
        }
    }
}

/// Whether the run was of this configuration; the error is a line.
fn is_of(bench: &Bench, counted: &Counted, name: &str) -> Result<(), String> {
    let what_to_do = "count a run of this configuration";
    let run = &counted.visits.elements;
    for (element, class) in bench.declared() {
        match run.iter().find(|one| one.name == *element) {
            Some(one) if one.class == *class => {}
            Some(one) => {
                return Err(format!(
                    "{name}: '{element}' was of class {}, and is of {class} in {}; {what_to_do}",
                    one.class, bench.name
                ));
            }
            None => {
                return Err(format!(
                    "{name}: it has no '{element} :: {class}', which {} has; {what_to_do}",
                    bench.name
                ));
            }
        }
    }
    let is_known = |one: &&Visited| bench.declared().iter().any(|(name, _)| *name == one.name);
    let other = run.iter().filter(|one| !one.name.starts_with(ADDED));
    match other.into_iter().find(|one| !is_known(one)) {
        None => Ok(()),
        Some(one) => Err(format!(
            "{name}: it has '{} :: {}', which {} has not; {what_to_do}",
            one.name, one.class, bench.name
        )),
    }
}

/// What small batches mean for the rate.
fn smaller_batches(assumed: &Visits, counted: &Counted) -> Option<String> {
    let mean = |visits: &Visits| {
        let all = visits.elements.iter();
        let (packets, calls) = all.fold((0.0, 0.0), |(packets, calls), one| {
            (packets + one.packets, calls + one.calls)
        });
        packets / f64::max(calls, 1.0)
    };
    let (full, seen) = (mean(assumed), mean(&counted.visits));
    (seen < full / 2.0).then(|| {
        format!(
            "the run had {seen:.1} packets a call, a router that is fully loaded {full:.1}: the \
             corrected cycles are those at the run's load, and fall as it grows"
        )
    })
}

/// Sources that the estimate takes for devices.
fn replaced(bench: &Bench, counted: &Counted) -> Option<String> {
    let inlets = bench.inlets();
    let all = counted.visits.elements.iter();
    let is_source = |one: &&Visited| {
        inlets.contains(&one.name.as_str()) && one.class != "FromDevice" && one.packets > 0.0
    };
    let names: Vec<String> = all
        .filter(is_source)
        .map(|one| format!("'{} :: {}'", one.name, one.class))
        .collect();
    (!names.is_empty()).then(|| {
        format!(
            "in the estimate a device stands for {}: of what was counted there, packets and calls \
             are used",
            names.join(", ")
        )
    })
}

fn changes(assumed: &Visits, now: &Visits, before: &At, after: &At) -> Vec<Change> {
    let rows = [&before.estimate.rows, &after.estimate.rows];
    let cost = |rows: &[Row], name: &str| {
        let row = rows.iter().find(|row| row.name == name);
        row.map_or(0.0, |row| row.core + row.memory.centre)
    };
    let pairs = assumed.elements.iter().zip(&now.elements);
    let came = pairs.filter(|(old, new)| old.packets + new.packets > 0.0);
    came.map(|(old, new)| Change {
        name: new.name.clone(),
        class: new.class.clone(),
        visits: [old.packets / assumed.packets, new.packets / now.packets],
        batch: [old, new].map(|one| one.packets / one.calls.max(1.0)),
        cycles: rows.map(|rows| cost(rows, &new.name)),
        is_counted: new.cycles.is_some(),
    })
    .collect()
}
