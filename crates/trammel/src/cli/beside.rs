//! `trammel estimate A.click --beside B.click`: what two functions on two processors do to each
//! other.

use super::estimate::Shown;
use clap::Args as ClapArgs;
use std::process::ExitCode;
use trammel_cost::machine::Machine;
use trammel_ground::progress::Progress;
use trammel_ground::{DONE, FAILED, say};
use trammel_workbench::estimate::{Conditions, Error, Subject};
use trammel_workbench::neighbours;
use trammel_workbench::neighbours::Neighbour;
use trammel_workbench::traffic;

/// Measurements of a pair at most, until one is steady.
const TRIES: usize = 3;

/// What runs on the processor beside.
#[derive(Debug, ClapArgs)]
// Its name is that of the group of the arguments around it.
#[group(skip)]
pub(super) struct Args {
    /// Estimate the mutual slowdown when this configuration runs on the neighbouring processor;
    /// with --measure, run and time both, alternately alone and together
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = [
            "shares", "operations", "what_if", "cores", "rate", "remote", "chain", "refine"
        ]
    )]
    pub(super) beside: Option<String>,
    /// Flows of the configuration beside [default: --flows]
    #[arg(long, value_name = "N", requires = "beside")]
    beside_flows: Option<u32>,
    /// The field in which these flows differ [default: --vary]
    #[arg(long, value_name = "FIELD", requires = "beside")]
    beside_vary: Option<String>,
    /// The two processors [default: 0,1]
    #[arg(
        long,
        value_name = "FIRST,SECOND",
        value_delimiter = ',',
        num_args = 1,
        requires = "beside"
    )]
    processors: Vec<usize>,
}

/// What is asked of a pair.
pub(super) struct Question<'a> {
    /// The two functions.
    pub(super) subjects: [&'a Subject; 2],
    /// What comes to the first.
    pub(super) under: &'a Conditions,
    /// The machine.
    pub(super) machine: &'a Machine,
    /// Bytes of frames, for both.
    pub(super) frames: &'a [u32],
    /// Whether they are measured here too.
    pub(super) is_measured: bool,
    /// Where the answer goes.
    pub(super) shown: &'a Shown<'a>,
}

impl Args {
    /// Shows what two functions do to each other.
    pub(super) fn run(&self, question: &Question<'_>) -> Result<ExitCode, Error> {
        let other = |text: String| Error::Other(text);
        let (first, second) = match self.processors[..] {
            [] => (0, 1),
            [first, second] => (first, second),
            _ => {
                let text = "--processors names two processors, such as 0,1";
                return Err(other(text.to_owned()));
            }
        };
        if first == second {
            return Err(other(format!(
                "--processors {first},{second} is one processor; give two"
            )));
        }
        let processors = [first, second];
        let mut under = question.under.clone();
        if let Some(flows) = self.beside_flows {
            under.traffic.flows = flows;
        }
        if let Some(name) = &self.beside_vary {
            under.traffic.field = Some(traffic::field(name).map_err(other)?);
        }
        if under.traffic.flows > 1 && under.traffic.field.is_none() {
            return Err(other(format!(
                "{} flows need a field in which they differ, for example --beside-vary ip.dst",
                under.traffic.flows
            )));
        }
        let pair = [
            Neighbour {
                subject: question.subjects[0],
                under: question.under,
            },
            Neighbour {
                subject: question.subjects[1],
                under: &under,
            },
        ];
        let is_core_shared = neighbours::share_core(processors, question.machine);
        let (mut pairs, mut is_whole) = (Vec::new(), true);
        // How often a pair is measured is known when it has become steady.
        let progress = Progress::new();
        if question.is_measured {
            progress.expect(question.frames.len() as u64, 0.0);
        }
        for frame in question.frames {
            let mut found = neighbours::predict(pair, *frame, question.machine, is_core_shared)?;
            if question.is_measured {
                found.measured = Some(steady(pair, *frame, processors)?);
                progress.ended(0.0);
            }
            // What is missing is missing at every size.
            for (subject, undeclared) in question.subjects.iter().zip(&found.undeclared) {
                if pairs.is_empty() && !undeclared.is_empty() {
                    is_whole = false;
                    say(&super::estimate::undeclared(subject.name(), undeclared));
                }
            }
            pairs.push(found);
        }
        progress.finish();
        let text = neighbours::shown(&pairs, is_core_shared);
        let tables = vec![("Two functions beside each other", neighbours::table(&pairs))];
        let shown = question.shown.give(&text, tables);
        shown.map_err(|why| other(format!("{why:#}")))?;
        Ok(ExitCode::from(if is_whole { DONE } else { FAILED }))
    }
}

/// The first steady measurement, or the last one.
fn steady(
    pair: [Neighbour<'_>; 2],
    frame: u32,
    processors: [usize; 2],
) -> Result<trammel_workbench::beside::Both, Error> {
    let mut tries = 1;
    loop {
        let both = neighbours::measure(pair, frame, processors)?;
        if both.is_steady() || tries == TRIES {
            return Ok(both);
        }
        tries += 1;
    }
}
