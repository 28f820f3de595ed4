//! What the router's own work and its elements' code cost here, learnt from graphs of one element.
//!
//! `call` and `driver` come from graphs with nothing else in them, at two frame sizes and two
//! batches. Then each class's code is timed in a row of itself and compared with what its
//! operations cost: the ratio is the class's *factor*. A configuration is estimated from these,
//! never from its own counters.

use super::reference::{Reference, SMALL_MEAN, Timed, Watch, in_small_batches, traffic, wrong};
use super::{Calibration, Error, composed, own_work};
use crate::bench::Bench;
use crate::estimate;
use crate::estimate::{Conditions, Subject};
use crate::traffic::{Traffic, field};
use std::rc::Rc;
use std::time::{Duration, Instant};
use toml_edit::{Document, Item, Table};
use trammel_cost::machine::{Factor, Machine};
use trammel_router::elements;

/// The graphs of one element.
const ROWS: &str = include_str!("elements.toml");
/// A factor says no more than this about code.
const FACTORS: std::ops::RangeInclusive<f64> = 0.05..=20.0;
/// Bytes of the long frames by which growth is told, and cycles below which it is none.
const LONG: usize = 1518;
const LEAST_GROWTH: f64 = 1.0;
/// The half-width of a factor at least: code costs more or less beside other code.
pub(super) const LEAST_SPREAD: f64 = 0.05;

/// A graph of one element, and what comes in, or of several that cannot stand alone.
struct Row {
    before: String,
    element: String,
    also: String,
    more: usize,
    without: Option<String>,
    of: Vec<String>,
    r#as: Vec<String>,
    traffic: Traffic,
}

/// Adds what the router itself and its elements cost to a calibration of this machine, in about
/// `budget`; classes for which there was no time stay as their operations say, and a note tells how
/// many.
pub fn learn(
    calibration: &mut Calibration,
    budget: Duration,
    is_over: &dyn Fn() -> bool,
    progress: &dyn Fn(f64),
) -> Result<(), Error> {
    let began = Instant::now();
    let mut reference = Reference::new()?;
    let own = own_work::Plan::new(&mut reference)?;
    let composed = composed::plan(&mut reference)?;
    let rows = rows();
    let plans: Result<Vec<Plan>, Error> =
        rows.iter().map(|row| plan(row, &mut reference)).collect();
    let plans = plans?;
    let watch = Watch { is_over, progress };
    reference.time(budget.saturating_sub(began.elapsed()), &watch)?;
    own_work::learn(calibration, &reference, &own)?;
    factors(calibration, &reference, &rows, &plans)?;
    composed::check(calibration, &reference, &composed)?;
    let (made, slowed) = reference.made();
    if slowed > 0 {
        calibration.note(format!(
            "Of {made} runs of graphs {slowed} were slowed by who shares the processor."
        ));
    }
    Ok(())
}

/// Adds the factors of classes.
fn factors(
    calibration: &mut Calibration,
    reference: &Reference,
    rows: &[Row],
    plans: &[Plan],
) -> Result<(), Error> {
    let mut without_time = 0;
    for (row, plan) in rows.iter().zip(plans) {
        match factor(row, plan, &calibration.machine(), reference)? {
            Found::Factor(factor) => {
                for class in row.of.iter().chain(&row.r#as) {
                    calibration.add_factor(class, factor);
                }
            }
            Found::NoTime => without_time += 1,
            Found::Free => {}
        }
    }
    if without_time > 0 {
        calibration.note(format!(
            "Of {} graphs of elements there was no time for {without_time}; their classes have no \
             factor.",
            rows.len()
        ));
    }
    Ok(())
}

fn rows() -> Vec<Row> {
    let document = Document::parse(ROWS).expect("the built-in file is TOML");
    let tables = document["row"]
        .as_array_of_tables()
        .expect("a test reads it");
    tables.iter().map(row).collect()
}

fn row(table: &Table) -> Row {
    let text = |key: &str| table.get(key).and_then(Item::as_str).map(str::to_owned);
    let list = |key: &str| -> Vec<String> {
        let items = table.get(key).and_then(Item::as_array);
        let items = items.into_iter().flat_map(|items| items.iter());
        items
            .filter_map(|item| item.as_str().map(str::to_owned))
            .collect()
    };
    let element = text("element").unwrap_or_default();
    let mut of = list("of");
    if of.is_empty() {
        // `c@ :: Classifier(…)` and `Classifier(…)` are both of the class Classifier.
        let class = element.rsplit(":: ").next().unwrap_or_default();
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let end = class.find(|c| !is_name(c)).unwrap_or(class.len());
        of.push(class[..end].to_owned());
    }
    Row {
        before: text("before").unwrap_or_default(),
        also: text("also").unwrap_or_default(),
        more: table.get("more").and_then(Item::as_integer).unwrap_or(1) as usize,
        without: text("without"),
        of,
        r#as: list("as"),
        traffic: Traffic {
            flows: table.get("flows").and_then(Item::as_integer).unwrap_or(1) as u32,
            field: text("vary").map(|name| field(&name).expect("a test reads it")),
            ..traffic(64, 32)
        },
        element,
    }
}

impl Row {
    /// The two graphs whose difference is the element's, and how many times it is in that.
    fn graphs(&self) -> (String, String, usize) {
        let chain = |element: &str, count: usize| {
            let mut elements = vec!["FromDevice(in)".to_owned()];
            elements.extend((!self.before.is_empty()).then(|| self.before.clone()));
            let mut also = String::new();
            for at in 0..count {
                elements.push(element.replace('@', &at.to_string()));
                if element == self.element {
                    also += &self.also.replace('@', &at.to_string());
                }
            }
            // A way out is an end itself.
            if !element.contains("ToDevice") {
                elements.push("Discard".to_owned());
            }
            format!("{};\n{also}", elements.join(" -> "))
        };
        match &self.without {
            Some(without) => (chain(without, 1), chain(&self.element, 1), 1),
            None => (
                chain(&self.element, 0),
                chain(&self.element, 1 + self.more),
                1 + self.more,
            ),
        }
    }
}

impl From<estimate::Error> for Error {
    fn from(error: estimate::Error) -> Error {
        match error {
            estimate::Error::Refused(refused) => wrong(refused),
            estimate::Error::Other(text) => Error::Unsupported(text),
        }
    }
}

/// The graphs of a row, with and without its elements, and the numbers of those that are timed: in
/// large batches, in small ones and, where the element's work grows with them, with long frames,
/// each without and with.
struct Plan {
    without: Rc<Bench>,
    with: Rc<Bench>,
    times: f64,
    traffic: [Traffic; 3],
    at: [[usize; 2]; 2],
    at_long: Option<[usize; 2]>,
}

/// Has a row's graphs timed.
fn plan(row: &Row, reference: &mut Reference) -> Result<Plan, Error> {
    let (without, with, times) = row.graphs();
    let (without, with) = (reference.bench(&without)?, reference.bench(&with)?);
    let usual = row.traffic.clone();
    let long = Traffic {
        frame: LONG,
        ..usual.clone()
    };
    let small = in_small_batches(&usual);
    let mut add = |traffic| [&without, &with].map(|bench| reference.add(bench, traffic));
    let grows = |class: &String| {
        let ops = elements::find(class).and_then(|entry| entry.ops);
        ops.is_some_and(|ops| ops.contains("frame"))
    };
    Ok(Plan {
        at: [add(&usual), add(&small)],
        at_long: row.of.iter().any(grows).then(|| add(&long)),
        traffic: [usual, small, long],
        times: times as f64,
        without,
        with,
    })
}

/// What timing tells of a row.
enum Found {
    Factor(Factor),
    /// Its operations cost nothing.
    Free,
    /// There was no time for it.
    NoTime,
}

/// What the row's code costs against its operations.
///
/// What else differs between the two graphs is taken at what was learnt of it before, so rows stand
/// after those that they need.
fn factor(
    row: &Row,
    plan: &Plan,
    machine: &Machine,
    reference: &Reference,
) -> Result<Found, Error> {
    let mut plain = machine.clone();
    for class in &row.of {
        plain.factors.remove(class);
    }
    // What the row's own classes cost by their operations, and all others as they are known; and
    // how often a packet comes to the own ones.
    let split = |bench: &Bench, traffic: &Traffic| -> Result<Split, Error> {
        let subject = Subject::Configuration(Box::new(bench.clone()));
        let under = Conditions {
            traffic: traffic.clone(),
            ..Conditions::default()
        };
        let at = subject.at(traffic.frame as f64, &plain, &under);
        let mut sums = Split::default();
        for one in &at.map_err(Error::from)?.estimate.rows {
            if row.of.contains(&one.class) {
                sums.own += one.core;
                sums.memory += one.memory.centre;
                sums.visits += one.visits;
            } else {
                sums.others += one.core + one.memory.centre;
            }
        }
        Ok(sums)
    };
    let times = plan.times;
    let beside = |traffic: &Traffic| -> Result<Split, Error> {
        let (more, less) = (split(&plan.with, traffic)?, split(&plan.without, traffic)?);
        Ok(Split {
            own: (more.own - less.own) / times,
            memory: (more.memory - less.memory) / times,
            others: (more.others - less.others) / times,
            visits: (more.visits - less.visits) / times,
        })
    };
    let [usual, small, long] = &plan.traffic;
    let in_batches = beside(usual)?;
    if in_batches.own <= 0.0 {
        return Ok(Found::Free);
    }
    let few = beside(small)?;
    let in_long = beside(long)?;
    let timed = |[without, with]: [usize; 2]| -> Option<[Timed; 2]> {
        Some([reference.timed(without)?, reference.timed(with)?])
    };
    let [Some(at_usual), Some(at_small)] = plan.at.map(timed) else {
        return Ok(Found::NoTime);
    };
    let is_grown = in_long.own - in_batches.own > LEAST_GROWTH;
    let at_long = plan.at_long.filter(|_| is_grown).and_then(timed);
    let cycles =
        |[without, with]: [Timed; 2], others: f64| (with.cycles - without.cycles) / times - others;
    let measured = cycles(at_usual, in_batches.others + in_batches.memory);
    let ratio = (measured / in_batches.own).clamp(*FACTORS.start(), *FACTORS.end());
    // By how much more a packet among few costs than the ratio says, over the calls that it has
    // more.
    let more =
        cycles(at_small, few.others + few.memory) - measured - ratio * (few.own - in_batches.own);
    let calls = few.visits * (1.0 / SMALL_MEAN - 1.0 / Factor::BATCH);
    let call = if calls > 0.0 { more / calls } else { 0.0 };
    let grown = at_long.map_or(1.0, |at_long| {
        let added = cycles(at_long, in_long.others + in_long.memory) - measured;
        (added / (in_long.own - in_batches.own)).clamp(0.0, *FACTORS.end())
    });
    let noise = (at_usual[0].spread + at_usual[1].spread) / times;
    Ok(Found::Factor(Factor {
        ratio,
        grown,
        spread: (noise / measured.abs().max(1.0)).clamp(LEAST_SPREAD, 1.0),
        call: (call * 10.0).round() / 10.0,
    }))
}

/// An estimate by whose it is: cycles a packet, and visits of a packet to the own classes.
#[derive(Clone, Copy, Debug, Default)]
struct Split {
    /// The own classes' operations.
    own: f64,
    /// What these wait for.
    memory: f64,
    others: f64,
    visits: f64,
}

#[cfg(test)]
mod tests {
    use super::super::reference::bench;
    use super::*;

    /// What is wrong with a graph.
    fn fault(text: &str, frame: usize) -> Option<String> {
        let ran = bench(text).and_then(|bench| bench.run(&traffic(frame, 32), 256).map_err(wrong));
        let (ctx, tally) = match ran {
            Ok(ran) => ran,
            Err(error) => return Some(format!("{text}{error}")),
        };
        // Every packet comes to the end: what is dropped on the way costs less than it should.
        let last = (0..ctx.elements()).filter(|e| ctx.class(*e) == "Discard");
        let ended: u64 = last.map(|e| ctx.counters(e).packets).sum();
        let is_whole = ended + tally.sent >= tally.given;
        (!is_whole).then(|| format!("{text}{ended} of {} came to the end", tally.given))
    }

    #[test]
    fn every_row_is_a_graph_that_runs_and_its_classes_exist() {
        let mut faults = Vec::new();
        for row in rows() {
            for class in row.of.iter().chain(&row.r#as) {
                if elements::find(class).is_none() {
                    faults.push(format!("no class `{class}`"));
                }
            }
            let (without, with, _) = row.graphs();
            for frame in [64, LONG] {
                faults.extend(
                    [&without, &with]
                        .iter()
                        .filter_map(|text| fault(text, frame)),
                );
            }
        }
        assert_eq!(faults, Vec::<String>::new());
    }
}
