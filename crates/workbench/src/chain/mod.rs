//! Chains of configurations and lists of operations, estimated as one.
//!
//! The frames that come to a function are those that left the one before it in its short run, and
//! as many of them.

pub mod view;

use super::bench::Bench;
use super::estimate::{Conditions, Error, Sampled, Subject, of_lists};
use super::frames::FCS;
use super::ring::Passed;
use super::traffic::Traffic;
use trammel_cost::chain::{How, Link, joined, stages};
use trammel_cost::estimate::{Estimate, Load, Range, Row, estimate};
use trammel_cost::function::Function;
use trammel_cost::machine::Machine;
use trammel_router::estimate::Undeclared;

/// Bytes by which frames must differ from those of the chain to be other frames.
const OTHER_BYTES: f64 = 0.5;
/// Bytes of headers that a configuration touches first: a line.
const HEADERS: f64 = 64.0;
/// What limits a core.
const CPU: &str = "cpu";

/// A function in its place.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// Of the packets that come to the chain, how many come to it.
    pub share: f64,
    /// Cycles of each packet of the chain where the function runs alone.
    pub alone: f64,
    /// The same in the chain.
    pub cycles: Range,
    /// Packets a second of the chain that a core does, which does nothing else.
    pub pps: f64,
    /// What it costs in the chain, by parts.
    pub rows: Vec<Row>,
}

/// A chain at one frame size.
#[derive(Clone, Debug)]
pub struct Chained {
    /// How it is run.
    pub how: How,
    /// Bytes of the frames that come to it, FCS included.
    pub frame: f64,
    /// Its functions.
    pub stages: Vec<Stage>,
    /// Cores that run it.
    pub cores: f64,
    /// Cycles of each packet over all of them.
    pub cycles: Range,
    /// What limits it, the lowest first, in packets a second.
    pub limits: Vec<(String, f64)>,
    /// Packets a second where the other way to run it has as many cores.
    pub other_pps: f64,
    /// Elements whose own work is not in it, each with its function.
    pub undeclared: Vec<(String, Undeclared)>,
}

/// Estimates the chain of `subjects`.
pub fn chain(
    subjects: &[Subject],
    how: How,
    frame: f64,
    machine: &Machine,
    under: &Conditions,
) -> Result<Chained, Error> {
    let Found { links, undeclared } = links(subjects, frame, under)?;
    let are_lists = subjects.iter().all(|one| matches!(one, Subject::List(_)));
    let load = Load {
        flows: if are_lists {
            of_lists(under)
        } else {
            f64::from(under.traffic.flows)
        },
        ..subjects[0].load(frame, under)
    };
    let cost = |function: &Function, load: &Load| {
        let found = estimate(function, machine, load);
        found.map_err(|error| Error::Other(format!("{}: {error}", function.name)))
    };
    let whole = cost(&joined(&links), &load)?;
    let single = Load {
        cores: 1.0,
        ..load.clone()
    };
    let each = stages(&links);
    let each: Vec<Estimate> = each
        .iter()
        .map(|stage| cost(stage, &single))
        .collect::<Result<_, _>>()?;
    let alone = links.iter().map(|link| {
        let load = Load {
            frame: link.frame.unwrap_or(frame),
            ..single.clone()
        };
        Ok(cost(&link.function, &load)?.cycles.centre * link.share)
    });
    let alone: Vec<f64> = alone.collect::<Result<_, Error>>()?;
    let pps = |cycles: f64| machine.clock_hz / cycles;
    let stage = |(at, link): (usize, &Link)| {
        let (cycles, rows) = match how {
            How::Pipelined => (each[at].cycles, each[at].rows.clone()),
            How::RunToCompletion => {
                let prefix = format!("{}/", at + 1);
                let is_own = |row: &&Row| links.len() == 1 || row.name.starts_with(&prefix);
                let rows: Vec<Row> = whole.rows.iter().filter(is_own).cloned().collect();
                let memory =
                    |of: fn(&Range) -> f64| rows.iter().map(|row| of(&row.memory)).sum::<f64>();
                let core: f64 = rows.iter().map(|row| row.core).sum();
                let waited = Range {
                    low: memory(|range| range.low),
                    centre: memory(|range| range.centre),
                    high: memory(|range| range.high),
                };
                (Range::of(core, 0.0, waited, machine), rows)
            }
        };
        Stage {
            name: link.function.name.clone(),
            share: link.share,
            alone: alone[at],
            pps: pps(cycles.centre),
            cycles,
            rows,
        }
    };
    let stages: Vec<Stage> = links.iter().enumerate().map(stage).collect();
    let pipelined = pipelined(&links, &each, &whole, machine);
    let as_many = Load {
        cores: links.len() as f64,
        ..load.clone()
    };
    let (cycles, limits, other_pps) = match how {
        How::RunToCompletion => {
            let limits = whole.limits.iter();
            let limits = limits.map(|limit| (limit.what.to_owned(), limit.pps));
            (whole.cycles, limits.collect(), pipelined[0].1)
        }
        How::Pipelined => {
            let sum = |of: fn(&Range) -> f64| each.iter().map(|one| of(&one.cycles)).sum();
            let cycles = Range {
                low: sum(|range| range.low),
                centre: sum(|range| range.centre),
                high: sum(|range| range.high),
            };
            let other = cost(&joined(&links), &as_many)?.rate().pps;
            (cycles, pipelined, other)
        }
    };
    let cores = match how {
        How::RunToCompletion => load.cores,
        How::Pipelined => as_many.cores,
    };
    Ok(Chained {
        how,
        frame,
        stages,
        cores,
        cycles,
        limits,
        other_pps,
        undeclared,
    })
}

/// What limits a chain of which each function has a core: the lowest first.
fn pipelined(
    links: &[Link],
    stages: &[Estimate],
    whole: &Estimate,
    machine: &Machine,
) -> Vec<(String, f64)> {
    let cores = links
        .iter()
        .zip(stages)
        .enumerate()
        .map(|(at, (link, stage))| {
            let name = format!("stage {} ({})", at + 1, link.function.name);
            (name, machine.clock_hz / stage.cycles.centre)
        });
    // Packets come in and go out once however the chain is run; memory has what all stages ask of
    // it.
    let shared = whole
        .limits
        .iter()
        .filter(|limit| ![CPU, "memory"].contains(&limit.what));
    let shared = shared.map(|limit| (limit.what.to_owned(), limit.pps));
    let asked: f64 = stages.iter().map(|stage| stage.memory_accesses).sum();
    let memory = ("memory".to_owned(), machine.memory.accesses_per_s / asked);
    let all = cores.chain(shared).chain([memory]);
    let mut limits: Vec<(String, f64)> = all.filter(|(_, pps)| pps.is_finite()).collect();
    limits.sort_by(|a, b| a.1.total_cmp(&b.1));
    limits
}

/// Functions with what comes to each, and the elements whose own work is not known.
#[derive(Debug, Default)]
struct Found {
    links: Vec<Link>,
    undeclared: Vec<(String, Undeclared)>,
}

fn links(subjects: &[Subject], frame: f64, under: &Conditions) -> Result<Found, Error> {
    let mut found = Found::default();
    let (mut share, mut length) = (1.0, frame);
    let mut frames: Option<Vec<Vec<u8>>> = None;
    for (at, subject) in subjects.iter().enumerate() {
        let differs = (length - frame).abs() > OTHER_BYTES;
        let placed = Link {
            share,
            frame: differs.then_some(length),
            ..match subject {
                Subject::List(function) => Link::of_list(function),
                Subject::Configuration(bench) => {
                    let mut bench = bench.as_ref().clone();
                    if at > 0 {
                        follow(&mut bench, frames.as_deref())?;
                    }
                    let (link, passed, packets) = counted(&bench, length, under, &mut found)?;
                    share *= passed.packets as f64 / packets;
                    if let Some(next) = subjects.get(at + 1) {
                        if passed.packets == 0 {
                            return Err(nothing_left(&bench.name, next.name()));
                        }
                        length = passed.bytes as f64 / passed.packets as f64 + FCS as f64;
                    }
                    frames = Some(passed.frames);
                    link
                }
            }
        };
        found.links.push(placed);
    }
    Ok(found)
}

/// Has the frames that come from the function before come to `bench`.
fn follow(bench: &mut Bench, frames: Option<&[Vec<u8>]>) -> Result<(), Error> {
    if !bench.narrow_to_devices() {
        return Err(Error::Other(format!(
            "{}: it has no FromDevice, so it receives nothing from the previous function; add one",
            bench.name
        )));
    }
    if let Some(frames) = frames {
        bench.feed_devices(frames);
    }
    Ok(())
}

fn nothing_left(name: &str, next: &str) -> Error {
    Error::Other(format!(
        "{name}: none of its packets leaves by a ToDevice, so {next} receives none; give frames \
         that it forwards with --sample"
    ))
}

/// A configuration as a link, what left it, and the packets that came to it.
fn counted(
    bench: &Bench,
    length: f64,
    under: &Conditions,
    found: &mut Found,
) -> Result<(Link, Passed, f64), Error> {
    let traffic = Traffic {
        frame: (length.round() as usize).max(bench.least_frame()),
        ..under.traffic.clone()
    };
    let sampled = Sampled::with_bytes(bench, &traffic)?;
    let values = under.values.iter().cloned().collect();
    let cost = sampled.cost(&bench.name, &values);
    let undeclared = cost.undeclared.into_iter();
    found
        .undeclared
        .extend(undeclared.map(|one| (bench.name.clone(), one)));
    let link = Link {
        function: cost.function,
        ways_in: bench.inlets().into_iter().map(str::to_owned).collect(),
        ways_out: bench.ways_out(),
        headers: HEADERS.into(),
        share: 1.0,
        frame: None,
    };
    Ok((link, sampled.passed, sampled.visits.packets))
}

/// The word for one core that carries all.
pub(crate) const RUN_TO_COMPLETION: &str = "run to completion";
/// The word for a core for each.
pub(crate) const PIPELINED: &str = "pipelined";

impl Chained {
    /// Cycles of each packet where every function runs alone, one after the other.
    pub fn alone(&self) -> f64 {
        self.stages.iter().map(|stage| stage.alone).sum()
    }

    /// How it is run, in words.
    pub fn word(&self) -> &'static str {
        match self.how {
            How::RunToCompletion => RUN_TO_COMPLETION,
            How::Pipelined => PIPELINED,
        }
    }
}
