//! What the router's own work and its elements' code cost here, learnt from graphs of one element.
//!
//! `call` and `driver` come from graphs with nothing else in them, at two frame sizes and two batches. Then each class's code is
//! timed in a row of itself and compared with what its operations cost: the ratio is the class's *factor*. A
//! configuration is estimated from these, never from its own counters.

use super::{Calibration, Error, composed};
use crate::forwarding::arrivals::Pattern;
use crate::forwarding::bench::{Bench, Refused};
use crate::forwarding::estimate::{self, Conditions, Subject};
use crate::forwarding::measure::{Clock, least_ticks};
use crate::forwarding::paced::{Bed, UnderLoad};
use crate::forwarding::samples;
use crate::forwarding::traffic::{Traffic, field};
use std::time::{Duration, Instant};
use toml_edit::{Document, Item, Table};
use trammel_bench::trial::{Failure, Load};
use trammel_core::time::Time;
use trammel_cost::machine::{Factor, Machine};

/// The graphs of one element.
const ROWS: &str = include_str!("elements.toml");
/// Packets of a run: some slices.
const PACKETS: u64 = 1 << 16;
/// Runs of each graph, in turn.
const RUNS: usize = 5;
/// Runs of the graph that does nothing, at first.
const REFERENCES: usize = 20;
/// A factor says no more than this about code.
const FACTORS: std::ops::RangeInclusive<f64> = 0.05..=20.0;
/// Windows in which nothing comes, their length, and frames of the ring that is asked.
const IDLE_WINDOWS: usize = 50;
const IDLE: Time = Time::from_us(500);
const IDLE_RING: usize = 64;
/// Frames of a window by which pacing is timed, and of its ring.
const PACE_FRAMES: f64 = 32_768.0;
const PACE_RING: usize = 1024;
/// The half-width of a factor at least: code costs more or less beside other code.
const LEAST_SPREAD: f64 = 0.05;

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

/// A cost in cycles a packet and how much runs of it differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timed {
    pub(super) cycles: f64,
    spread: f64,
}

/// What a poll in vain costs, on a ring that paces its frames: `poll`.
fn idle(calibration: &mut Calibration, reference: &Reference) -> Result<(), Error> {
    let bare = &reference.bench;
    let bed = Bed::new(bare, &reference.traffic, Pattern::Constant, IDLE_RING).map_err(wrong);
    let mut bed = bed?;
    let each: Result<Vec<f64>, Error> = (0..IDLE_WINDOWS)
        .map(|_| bed.idle(IDLE).map_err(lacks))
        .collect();
    let mut each = each?;
    each.sort_by(f64::total_cmp);
    let (least, middle) = (each[0], each[each.len() / 2]);
    calibration.add("poll", &[("empty", least)], middle / least - 1.0);
    Ok(())
}

/// What pacing and stamping cost: `pace`. The same graph is run as fast as it can on rings that do either and on rings that do
/// not, with many packets in a batch and with one.
fn pace(calibration: &mut Calibration, reference: &Reference) -> Result<(), Error> {
    let through = bench("FromDevice(in) -> ToDevice(out);")?;
    let cycles_a_second = reference.clock.cycles_a_tick * reference.clock.ticks_per_s;
    let more = |burst: usize| -> Result<Timed, Error> {
        let traffic = traffic(64, burst);
        let plain = reference.time(&[(&through, traffic.clone())])?[0];
        let bed = Bed::new(&through, &traffic, Pattern::Constant, PACE_RING).map_err(wrong);
        let mut bed = bed?;
        // Twice what it does without: more than it can do with.
        let pps = 2.0 * cycles_a_second / plain.cycles;
        let load = Load::new(pps, Time::from_secs_f64(PACE_FRAMES / pps));
        let load = load.ok_or_else(|| Error::Lacks("a graph takes no time".to_owned()))?;
        let mut all = Vec::new();
        for _ in 0..IDLE_WINDOWS {
            let window = bed.offer(&[load]).map_err(lacks)?;
            all.push(cycles_a_second / window.taken_per_s);
        }
        all.sort_by(f64::total_cmp);
        Ok(Timed {
            cycles: (all[0] - plain.cycles).max(0.0),
            spread: (all[all.len() / 2] - all[0]) / all[0],
        })
    };
    let (many, one) = (more(32)?, more(1)?);
    let call = ((one.cycles - many.cycles) / (1.0 - 1.0 / Factor::BATCH)).max(0.0);
    let packet = (many.cycles - call / Factor::BATCH).max(0.0);
    let spread = many.spread.max(one.spread).max(LEAST_SPREAD);
    calibration.add("pace", &[("packet", packet), ("call", call)], spread);
    Ok(())
}

fn lacks(failure: Failure) -> Error {
    Error::Lacks(failure.to_string())
}

/// Adds what the router itself and its elements cost to a calibration of this machine, in about `budget`; classes for which
/// there was no time stay as their operations say, and a note tells how many.
pub fn learn(
    calibration: &mut Calibration,
    budget: Duration,
    is_over: &dyn Fn() -> bool,
    progress: &dyn Fn(f64),
) -> Result<(), Error> {
    let rows = rows();
    let steps = rows.len() + 2;
    let started = Instant::now();
    let reference = Reference::new(4 * rows.len() + composed::TIMED, budget)?;
    own_work(calibration, &reference)?;
    idle(calibration, &reference)?;
    pace(calibration, &reference)?;
    for (at, row) in rows.iter().enumerate() {
        if is_over() {
            return Err(Error::Interrupted);
        }
        if started.elapsed() > 2 * budget {
            calibration.note(format!(
                "Of {} graphs of elements there was time for {at}; the classes of the others have no factor.",
                rows.len()
            ));
            break;
        }
        progress((at + 1) as f64 / steps as f64);
        let Some(factor) = factor(row, &calibration.machine(), &reference)? else {
            continue;
        };
        for class in row.of.iter().chain(&row.r#as) {
            calibration.add_factor(class, factor);
        }
    }
    composed::check(calibration, &reference, is_over)
}

fn rows() -> Vec<Row> {
    let document = Document::parse(ROWS).expect("a test reads it");
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
                chain(&self.element, 1),
                chain(&self.element, 1 + self.more),
                self.more,
            ),
        }
    }
}

pub(super) fn bench(text: &str) -> Result<Bench, Error> {
    Bench::new(text, "calibration", &[], &[samples::plain()]).map_err(wrong)
}

fn wrong(refused: Refused) -> Error {
    Error::Lacks(match refused {
        Refused::Configuration(said) => said.click(),
        Refused::Other(text) => text,
    })
}

impl From<estimate::Error> for Error {
    fn from(error: estimate::Error) -> Error {
        match error {
            estimate::Error::Refused(refused) => wrong(refused),
            estimate::Error::Other(text) => Error::Lacks(text),
        }
    }
}

fn traffic(frame: usize, burst: usize) -> Traffic {
    Traffic {
        frame,
        burst,
        ..Traffic::default()
    }
}

/// A graph that does nothing, by which it is seen how fast the machine is at the moment: who shares a processor's core
/// slows everything alike.
pub(super) struct Reference {
    bench: Bench,
    traffic: Traffic,
    /// Cycles a packet when nothing slowed it.
    least: f64,
    clock: Clock,
    /// Runs of each graph.
    runs: usize,
}

impl Reference {
    /// As many runs of each graph, up to `RUNS`, as fit `graphs` of them into `budget`.
    fn new(graphs: usize, budget: Duration) -> Result<Reference, Error> {
        let mut reference = Reference {
            bench: bench("FromDevice(in) -> Discard;")?,
            traffic: traffic(64, 32),
            least: f64::INFINITY,
            clock: Clock::measure(),
            runs: 1,
        };
        let started = Instant::now();
        let mut made = 0;
        while made < REFERENCES && started.elapsed() < budget / 10 || made == 0 {
            let found = reference.cycles(&reference.bench, &reference.traffic)?;
            reference.least = reference.least.min(found);
            made += 1;
        }
        let each = started.elapsed().as_secs_f64() / made as f64;
        // Between graphs the one that does nothing is run.
        let fit = budget.as_secs_f64() / (each * 2.0 * graphs as f64);
        reference.runs = (fit as usize).clamp(1, RUNS);
        Ok(reference)
    }

    /// Cycles a packet of the least slice of a run.
    fn cycles(&self, bench: &Bench, traffic: &Traffic) -> Result<f64, Error> {
        let ticks = least_ticks(bench, traffic, PACKETS).map_err(wrong)?;
        Ok(ticks * self.clock.cycles_a_tick)
    }

    /// Times graphs in turn, each as if nothing had slowed the machine.
    pub(super) fn time(&self, benches: &[(&Bench, Traffic)]) -> Result<Vec<Timed>, Error> {
        self.time_often(self.runs, benches)
    }

    /// The same, in so many runs of each.
    pub(super) fn time_often(
        &self,
        runs: usize,
        benches: &[(&Bench, Traffic)],
    ) -> Result<Vec<Timed>, Error> {
        let mut all = vec![Vec::new(); benches.len()];
        let mut before = self.cycles(&self.bench, &self.traffic)?;
        for _ in 0..runs {
            for ((bench, traffic), all) in benches.iter().zip(&mut all) {
                let found = self.cycles(bench, traffic)?;
                let after = self.cycles(&self.bench, &self.traffic)?;
                all.push(found * self.least / f64::midpoint(before, after));
                before = after;
            }
        }
        // The middle one: a change of pace between two runs errs to either side.
        let timed = |mut all: Vec<f64>| {
            all.sort_by(f64::total_cmp);
            Timed {
                cycles: all[all.len() / 2],
                spread: (all[all.len() - 1] - all[0]) / 2.0,
            }
        };
        Ok(all.into_iter().map(timed).collect())
    }
}

/// `call` and `driver`.
fn own_work(calibration: &mut Calibration, reference: &Reference) -> Result<(), Error> {
    const NULLS: usize = 8;
    // One packet is the batch in which a call shows most, and that of a router with little to do.
    let (small, large, few, many) = (64, 1518, 1, 32);
    let bare = bench("FromDevice(in) -> Discard;")?;
    let nulls = bench(&format!(
        "FromDevice(in) -> {} -> Discard;",
        ["Null"; NULLS].join(" -> ")
    ))?;
    let timed = reference.time_often(
        RUNS,
        &[
            (&bare, traffic(small, many)),
            (&bare, traffic(large, many)),
            (&bare, traffic(small, few)),
            (&nulls, traffic(small, many)),
            (&nulls, traffic(small, few)),
        ],
    )?;
    let cost = |at: usize| timed[at].cycles;
    // Two batches tell what is a packet's and what is a batch's.
    let split = |at_many: f64, at_few: f64| {
        let batch = (at_few - at_many) / (1.0 / (few as f64) - 1.0 / (many as f64));
        let batch = batch.max(0.0);
        ((at_many - batch / (many as f64)).max(0.0), batch)
    };
    let null = |with: usize, without: usize| (cost(with) - cost(without)) / NULLS as f64;
    let (packet, batch) = split(null(3, 0), null(4, 2));
    let spread = |at: &[usize]| {
        let all: f64 = at.iter().map(|at| timed[*at].spread).sum();
        let cycles: f64 = at.iter().map(|at| timed[*at].cycles).sum();
        (all / cycles).max(LEAST_SPREAD)
    };
    calibration.add(
        "call",
        &[("packet", packet), ("call", batch)],
        spread(&[3, 4]),
    );
    // Half a driver is what receives; the sink is a call, and what it does is the class's.
    let machine = calibration.machine();
    let work = machine
        .constants
        .get("work")
        .and_then(|c| c.get("instruction"));
    let sink = 4.0 * work.copied().unwrap_or(0.0) + packet;
    let lines = |frame: f64| (frame / 64.0).ceil();
    let line = (cost(1) - cost(0)) / (lines(large as f64) - lines(small as f64));
    let line = line.max(0.0);
    let (own, own_batch) = split(cost(0), cost(2));
    // FromDevice is called for none, so both of its calls are the driver's.
    let own = own - line * lines(small as f64) - sink - packet;
    let call = (own_batch - 2.0 * batch).max(0.0);
    calibration.add(
        "driver",
        &[
            ("packet", 2.0 * own.max(0.0)),
            ("call", 2.0 * call),
            ("line", 2.0 * line),
        ],
        spread(&[0, 1, 2]),
    );
    Ok(())
}

/// What the row's code costs against its operations; nothing where they cost nothing.
///
/// What else differs between the two graphs is taken at what was learnt of it before, so rows stand after those that they need.
fn factor(row: &Row, machine: &Machine, reference: &Reference) -> Result<Option<Factor>, Error> {
    let (without, with, times) = row.graphs();
    let (without, with) = (bench(&without)?, bench(&with)?);
    let usual = row.traffic.clone();
    let single = Traffic {
        burst: 1,
        ..usual.clone()
    };
    let timed = reference.time(&[
        (&without, usual.clone()),
        (&with, usual.clone()),
        (&without, single.clone()),
        (&with, single.clone()),
    ])?;
    let mut plain = machine.clone();
    for class in &row.of {
        plain.factors.remove(class);
    }
    // What the row's own classes cost by their operations, and all others as they are known; and how often a packet comes
    // to the own ones.
    let split = |bench: &Bench, traffic: &Traffic| -> Result<Split, Error> {
        let subject = Subject::Configuration(Box::new(bench.clone()));
        let under = Conditions {
            traffic: traffic.clone(),
            ..Conditions::default()
        };
        let at = subject.at(64.0, &plain, &under).map_err(Error::from)?;
        let mut sums = Split::default();
        for one in &at.estimate.rows {
            let cycles = one.core + one.memory.centre;
            if row.of.contains(&one.class) {
                sums.own += cycles;
                sums.visits += one.visits;
            } else {
                sums.others += cycles;
            }
        }
        Ok(sums)
    };
    let times = times as f64;
    let beside = |traffic: &Traffic| -> Result<Split, Error> {
        let (more, less) = (split(&with, traffic)?, split(&without, traffic)?);
        Ok(Split {
            own: (more.own - less.own) / times,
            others: (more.others - less.others) / times,
            visits: (more.visits - less.visits) / times,
        })
    };
    let in_batches = beside(&usual)?;
    if in_batches.own <= 0.0 {
        return Ok(None);
    }
    let cycles = |without: usize, others: f64| {
        (timed[without + 1].cycles - timed[without].cycles) / times - others
    };
    let measured = cycles(0, in_batches.others);
    let ratio = (measured / in_batches.own).clamp(*FACTORS.start(), *FACTORS.end());
    let alone = beside(&single)?;
    // By how much more a packet that is alone costs than the ratio says, over the calls that it has more.
    let more = cycles(2, alone.others) - measured - ratio * (alone.own - in_batches.own);
    let calls = alone.visits * (1.0 - 1.0 / Factor::BATCH);
    let call = if calls > 0.0 { more / calls } else { 0.0 };
    let noise = (timed[0].spread + timed[1].spread) / times;
    Ok(Some(Factor {
        ratio,
        spread: (noise / measured.abs().max(1.0)).clamp(LEAST_SPREAD, 1.0),
        call: (call * 10.0).round() / 10.0,
    }))
}

/// An estimate by whose it is: cycles a packet, and visits of a packet to the own classes.
#[derive(Clone, Copy, Debug, Default)]
struct Split {
    own: f64,
    others: f64,
    visits: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_router::elements;

    /// What is wrong with a graph.
    fn fault(text: &str) -> Option<String> {
        let ran = bench(text).and_then(|bench| bench.run(&traffic(64, 32), 256).map_err(wrong));
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
            faults.extend([without, with].iter().filter_map(|text| fault(text)));
        }
        assert_eq!(faults, Vec::<String>::new());
    }
}
