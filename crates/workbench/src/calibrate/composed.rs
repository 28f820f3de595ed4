//! How true estimates of this machine are: graphs of several elements, estimated by what was
//! learnt, then timed.
//!
//! No constant is learnt from these graphs. How far the interval of an estimate reaches to either
//! side is what the estimate of another graph does not err by more than, nine times in ten: as far
//! as n graphs tell that, their error of rank ⌈0.9·(n + 1)⌉ (split conformal prediction; Lei et al.
//! 2018, §2.2). Of a graph its worse size counts, for the two err alike.

use super::reference::Reference;
use super::{Calibration, Error};
use crate::bench::Bench;
use crate::estimate::{Conditions, Subject};
use crate::traffic::{Traffic, field};
use std::collections::BTreeMap;
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
    let mut worst: BTreeMap<&str, f64> = BTreeMap::new();
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
        let of_graph = worst.entry(&plan.name).or_default();
        *of_graph = of_graph.max(error.abs());
    }
    if errors.is_empty() {
        return Ok(());
    }
    let width = reach(&worst);
    errors.sort_by(f64::total_cmp);
    calibration.note(format!(
        "Estimates of {} graphs of several elements, at {} and {} bytes, err by {:.0} % (median), \
         {:.0} % at most.",
        worst.len(),
        SIZES[0],
        SIZES[1],
        100.0 * errors[errors.len() / 2],
        100.0 * errors[errors.len() - 1]
    ));
    calibration.note(format!("They are {}.", each.join(", ")));
    calibration.erred(width);
    Ok(())
}

/// What the estimate of one more graph does not err by more than, as often as [`SHARE`] says, by
/// what some erred by.
fn reach(worst: &BTreeMap<&str, f64>) -> f64 {
    let mut errors: Vec<f64> = worst.values().copied().collect();
    errors.sort_by(f64::total_cmp);
    let rank = (SHARE * (errors.len() + 1) as f64).ceil() as usize;
    errors[rank.clamp(1, errors.len()) - 1]
}

fn graphs() -> Vec<(String, String, Traffic)> {
    let document = Document::parse(GRAPHS).expect("the built-in file is TOML");
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
    fn of_ten_graphs_the_one_that_errs_most_tells_how_far_estimates_reach() {
        let names: Vec<String> = (0..19).map(|at| at.to_string()).collect();
        let of = |count: usize| -> BTreeMap<&str, f64> {
            let named = names[..count].iter().enumerate();
            named.map(|(at, name)| (name.as_str(), at as f64)).collect()
        };
        assert_eq!(reach(&of(1)), 0.0);
        assert_eq!(reach(&of(10)), 9.0);
        assert_eq!(reach(&of(19)), 17.0);
    }

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
                let machine = trammel_cost::machines::find(name).expect("the machine is built in");
                let at = subject.at(64.0, &machine, &under);
                let at = at.unwrap_or_else(|error| panic!("{}: {error:?}", machine.full_name()));
                assert!(at.undeclared.is_empty(), "{text}");
            }
        }
    }
}
