//! Two functions on two processors at once: by how much each is slowed, predicted and measured.

use super::bench::{Bench, Refused};
use super::estimate::{Conditions, Error, Subject};
use super::measure::Clock;
use super::traffic::Traffic;
use crate::beside::{self, Both, Make, Plan};
use std::fmt::Write;
use trammel_cost::estimate::beside::{Slowed, beside};
use trammel_cost::machine::Machine;
use trammel_router::estimate::Undeclared;
use trammel_stats::table::CellType::{Bool, Float, Int, Text};
use trammel_stats::table::{Cell, Table};

/// Packets of a slice: some tens of microseconds.
const SLICE: u64 = 512;

/// A function and what comes to it.
#[derive(Clone, Copy, Debug)]
pub struct Neighbour<'a> {
    /// The function.
    pub subject: &'a Subject,
    /// What comes to it.
    pub under: &'a Conditions,
}

/// What two functions do to each other at a frame size.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Their names.
    pub names: [String; 2],
    /// Bytes of a frame, the FCS included.
    pub frame: u32,
    /// What is predicted of each.
    pub predicted: Vec<Slowed>,
    /// Elements of each whose own work is not in the prediction.
    pub undeclared: [Vec<Undeclared>; 2],
    /// What was measured, in cycles a packet.
    pub measured: Option<Both>,
}

/// Predicts what they do to each other on `machine`.
pub fn predict(
    pair: [Neighbour<'_>; 2],
    frame: u32,
    machine: &Machine,
    is_core_shared: bool,
) -> Result<Pair, Error> {
    let size = f64::from(frame);
    let (mut parts, mut undeclared) = (Vec::new(), [Vec::new(), Vec::new()]);
    for (Neighbour { subject, under }, missing) in pair.iter().zip(&mut undeclared) {
        let (function, without) = subject.function(size, under)?;
        *missing = without;
        parts.push((function, subject.load(size, under)));
    }
    let parts: Vec<_> = parts.iter().map(|(one, load)| (one, load)).collect();
    let names = pair.map(|one| one.subject.name().to_owned());
    let predicted = beside(&parts, machine, is_core_shared)
        .map_err(|error| Error::Other(format!("{}: {error}", names.join(" beside "))))?;
    Ok(Pair {
        names,
        frame,
        predicted,
        undeclared,
        measured: None,
    })
}

/// Measures what they do to each other on two processors of this machine.
pub fn measure(
    pair: [Neighbour<'_>; 2],
    frame: u32,
    processors: [usize; 2],
) -> Result<Both, Error> {
    let clock = Clock::measure();
    let of = |one: &Neighbour<'_>| -> Result<(Bench, Traffic), Error> {
        let Subject::Configuration(bench) = one.subject else {
            let text = "a list of operations cannot be measured; give a Click configuration";
            return Err(Error::Other(text.to_owned()));
        };
        let traffic = Traffic {
            frame: frame as usize,
            ..one.under.traffic.clone()
        };
        Ok(((**bench).clone(), traffic))
    };
    let (first, second) = (of(&pair[0])?, of(&pair[1])?);
    let make_first = || first.0.work(&first.1, SLICE);
    let make_second = || second.0.work(&second.1, SLICE);
    let makes: [Make<'_, Refused>; 2] = [&make_first, &make_second];
    let both = beside::measure(processors, makes, Plan::FUNCTIONS, clock.ticks_per_s);
    let mut both = both.map_err(|error| match error {
        beside::Error::Work(refused) => Error::Refused(refused),
        beside::Error::Other(text) => Error::Other(text),
    })?;
    for one in &mut both.each {
        one.alone *= clock.cycles_a_tick;
        one.together *= clock.cycles_a_tick;
        one.ends = one.ends.map(|ticks| ticks * clock.cycles_a_tick);
    }
    Ok(both)
}

/// Whether two processors of this machine are threads of one core. Where the kernel says so of
/// none, as in many virtual machines, what the machine's calibration found counts.
pub fn share_core(processors: [usize; 2], machine: &Machine) -> bool {
    let list = |processor: usize| {
        let folder =
            format!("/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list");
        std::fs::read_to_string(folder).unwrap_or_default()
    };
    let [first, second] = processors.map(list);
    let is_alone = |text: &str| text.trim().parse::<usize>().is_ok() || text.is_empty();
    if is_alone(&first) && is_alone(&second) {
        return machine.siblings.is_some();
    }
    first == second
}

/// The table `neighbours`: a row for each of two functions beside the other.
pub fn table(pairs: &[Pair]) -> Table {
    let mut table = Table::with(
        "neighbours",
        &[
            ("function", Text),
            ("beside", Text),
            ("frame_bytes", Int),
            ("predicted_alone_cycles", Float),
            ("predicted_slowdown", Float),
            ("measured_alone_cycles", Float),
            ("measured_slowdown", Float),
            ("measured_lower_quartile", Float),
            ("measured_upper_quartile", Float),
            ("first_alone_cycles", Float),
            ("last_alone_cycles", Float),
            ("rounds", Int),
            ("counted_rounds", Int),
            ("is_steady", Bool),
        ],
    );
    for pair in pairs {
        for (at, predicted) in pair.predicted.iter().enumerate() {
            let mut cells = vec![
                Cell::from(pair.names[at].as_str()),
                Cell::from(pair.names[1 - at].as_str()),
                Cell::Int(i128::from(pair.frame)),
                Cell::Float(predicted.alone.cycles.centre),
                Cell::Float(predicted.slowdown()),
            ];
            match &pair.measured {
                None => cells.extend(vec![Cell::Empty; 9]),
                Some(both) => {
                    let one = &both.each[at];
                    cells.extend([
                        Cell::Float(one.alone),
                        Cell::Float(one.slowdown),
                        Cell::Float(one.quartiles[0]),
                        Cell::Float(one.quartiles[1]),
                        Cell::Float(one.ends[0]),
                        Cell::Float(one.ends[1]),
                        Cell::from(both.rounds as u64),
                        Cell::from(both.counted as u64),
                        Cell::Bool(both.is_steady()),
                    ]);
                }
            }
            table
                .push(cells)
                .expect("the row has a cell for each column");
        }
    }
    table
}

/// The same for a person.
pub fn shown(pairs: &[Pair], is_core_shared: bool) -> String {
    let place = if is_core_shared {
        "two threads of one core"
    } else {
        "two cores"
    };
    let mut text = format!(
        "beside each other on {place}, both as fast as they can\n\
         {:>6} {:>9} {:>9} {:>9} {:>9} {:>13} {:>7}  function\n",
        "frame", "alone", "slowdown", "measured", "slowdown", "quartiles", "rounds"
    );
    for pair in pairs {
        for (at, predicted) in pair.predicted.iter().enumerate() {
            let _ = write!(
                text,
                "{:>6} {:>9.1} {:>9.3} ",
                pair.frame,
                predicted.alone.cycles.centre,
                predicted.slowdown()
            );
            let measured = pair.measured.as_ref().map_or_else(
                || format!("{:>9} {:>9} {:>13} {:>7}", "", "", "", ""),
                |both| {
                    let one = &both.each[at];
                    format!(
                        "{:>9.1} {:>9.3} {:>13} {:>7}",
                        one.alone,
                        one.slowdown,
                        format!("{:.3}-{:.3}", one.quartiles[0], one.quartiles[1]),
                        format!("{}/{}", both.counted, both.rounds)
                    )
                },
            );
            let _ = writeln!(text, "{measured}  {}", pair.names[at]);
        }
        if pair.measured.as_ref().is_some_and(|both| !both.is_steady()) {
            let _ = writeln!(
                text,
                "       not steady: other programs ran, or what they take alone changed by more \
                 than {:.0} % within a round, in most rounds",
                100.0 * beside::STEADY
            );
        }
    }
    text
}
