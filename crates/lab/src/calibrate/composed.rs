//! How true estimates of this machine are: graphs of several elements, estimated by what was learnt, then timed.
//!
//! No constant is learnt from these graphs. What nine in ten of their estimates do not err by more than is how far the
//! interval of an estimate reaches to either side, where what the constants themselves are good for is less.

use super::reference::Reference;
use super::{Calibration, Error};
use crate::forwarding::bench::Bench;
use crate::forwarding::estimate::{Conditions, Subject};
use crate::forwarding::traffic::{Traffic, field};
use std::rc::Rc;
use toml_edit::{Document, Item, Table};

/// The graphs.
const GRAPHS: &str = include_str!("composed.toml");
/// Sizes of frames, in bytes with the FCS.
const SIZES: [usize; 2] = [64, 1518];
/// Of the estimates so many lie within what is said.
const SHARE: f64 = 0.9;

/// A graph at a size, and its number among those that are timed.
pub(super) struct Plan {
    name: String,
    bench: Rc<Bench>,
    traffic: Traffic,
    at: usize,
}

/// Has the graphs timed.
pub(super) fn plan(reference: &mut Reference) -> Result<Vec<Plan>, Error> {
    let mut plans = Vec::new();
    for (name, text, traffic) in graphs() {
        let bench = reference.bench(&text)?;
        for frame in SIZES {
            let traffic = Traffic {
                frame,
                ..traffic.clone()
            };
            plans.push(Plan {
                name: name.clone(),
                at: reference.add(&bench, &traffic),
                bench: Rc::clone(&bench),
                traffic,
            });
        }
    }
    Ok(plans)
}

/// Estimates the graphs, and tells the calibration what estimates err by.
pub(super) fn check(
    calibration: &mut Calibration,
    reference: &Reference,
    plans: &[Plan],
) -> Result<(), Error> {
    let machine = calibration.machine();
    let (mut errors, mut each) = (Vec::new(), Vec::new());
    for plan in plans {
        let Some(timed) = reference.timed(plan.at) else {
            continue;
        };
        let under = Conditions {
            traffic: plan.traffic.clone(),
            ..Conditions::default()
        };
        let subject = Subject::Configuration(Box::new(Bench::clone(&plan.bench)));
        let estimated = subject.at(plan.traffic.frame as f64, &machine, &under)?;
        let error = estimated.estimate.cycles.centre / timed.cycles - 1.0;
        each.push(format!("{} {:+.0} %", plan.name, 100.0 * error));
        errors.push(error.abs());
    }
    if errors.is_empty() {
        return Ok(());
    }
    errors.sort_by(f64::total_cmp);
    let place = (SHARE * errors.len() as f64).ceil() as usize;
    let (middle, width) = (errors[errors.len() / 2], errors[place.max(1) - 1]);
    calibration.note(format!(
        "Estimates of {} graphs of several elements, at {} and {} bytes, err by {:.0} % (median), {:.0} % (nine in ten), {:.0} % at most.",
        errors.len() / SIZES.len(),
        SIZES[0],
        SIZES[1],
        100.0 * middle,
        100.0 * width,
        100.0 * errors[errors.len() - 1]
    ));
    calibration.note(format!("They are {}.", each.join(", ")));
    calibration.erred(width);
    Ok(())
}

fn graphs() -> Vec<(String, String, Traffic)> {
    let document = Document::parse(GRAPHS).expect("a test reads it");
    let tables = document["graph"].as_array_of_tables();
    let tables = tables.expect("a test reads it").iter();
    tables.map(graph).collect()
}

fn graph(table: &Table) -> (String, String, Traffic) {
    let text = |key: &str| table.get(key).and_then(Item::as_str);
    let own = |key: &str| text(key).unwrap_or_default().to_owned();
    let traffic = Traffic {
        flows: table.get("flows").and_then(Item::as_integer).unwrap_or(1) as u32,
        field: text("vary").map(|name| field(name).expect("a test reads it")),
        ..Traffic::default()
    };
    (own("name"), own("text"), traffic)
}

#[cfg(test)]
mod tests {
    use super::super::reference::bench;
    use super::*;

    #[test]
    fn every_graph_sends_packets_out_and_is_estimated_whole_on_every_machine() {
        for (_, text, traffic) in graphs() {
            let bench = bench(&text).expect(&text);
            let (_, tally) = bench.run(&traffic, 2048).expect(&text);
            assert!(tally.sent > tally.given / 4, "{text}");
            let under = Conditions {
                traffic,
                ..Conditions::default()
            };
            let subject = Subject::Configuration(Box::new(bench));
            for name in trammel_cost::machines::names() {
                let machine = trammel_cost::machines::find(name).expect("it is of the list");
                let at = subject.at(64.0, &machine, &under);
                let at = at.unwrap_or_else(|error| panic!("{}: {error:?}", machine.full_name()));
                assert!(at.undeclared.is_empty(), "{text}");
            }
        }
    }
}
