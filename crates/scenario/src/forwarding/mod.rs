//! Forwarding scenarios: functions, streams, tests; from text to points, with every fault shown at
//! once.
//!
//! ```text
//! text → tree → sweep edits the tree → parse reads each point → functions on the workbench
//! ```
//! Click files are parsed and loaded here once, so that what is wrong with them is told before
//! anything runs.

mod card;
mod functions;
pub mod keys;
mod parse;

pub use card::CardUnderTest;

use super::diagnose::Problems;
use super::faults::Context;
use super::model::Engine;
use super::reading::Reading;
use super::sweep::{self, Swept};
use super::tree::Node;
use super::{ReadError, source};
use std::cell::RefCell;
use std::path::Path;
use trammel_workbench::arrivals::Pattern;
use trammel_workbench::estimate::Subject;
use trammel_workbench::traffic::Traffic;

/// The word of `subject`.
pub const SUBJECT: &str = crate::Subject::Forwarding.name();

/// What forwards.
#[derive(Clone, Debug)]
pub enum Implementation {
    /// A program of this machine: what is estimated and run.
    Program(Subject),
    /// A card: a model of it, and this program in its place on this machine.
    Card(CardUnderTest),
}

/// A function that is tested.
#[derive(Clone, Debug)]
pub struct Tested {
    /// Its name in tables.
    pub name: String,
    /// What forwards.
    pub implementation: Implementation,
    /// The largest of its streams; frame sizes come later.
    pub traffic: Traffic,
    /// Ports at which frames come in.
    pub receiving: usize,
    /// Where frames of each stream are to leave, as a place among the outlets.
    pub leaves_by: Vec<usize>,
}

impl Tested {
    /// The program that it is, if it is one.
    pub fn program(&self) -> Option<&Subject> {
        match &self.implementation {
            Implementation::Program(subject) => Some(subject),
            Implementation::Card(_) => None,
        }
    }

    /// The card that it is, if it is one.
    pub fn card(&self) -> Option<&CardUnderTest> {
        match &self.implementation {
            Implementation::Program(_) => None,
            Implementation::Card(card) => Some(card),
        }
    }
}

/// A test of the simulated device, or of this machine on rings in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Test {
    /// The most that it forwards without loss (RFC 2544 §26.1).
    Throughput,
    /// How long frames take at shares of that (§26.2).
    Latency,
    /// What it loses at shares of that (§26.3).
    FrameLoss,
    /// How long it takes to recover from more than that (§26.5).
    Recovery,
}

impl Test {
    /// All of them.
    pub const ALL: [Test; 4] = [
        Test::Throughput,
        Test::Latency,
        Test::FrameLoss,
        Test::Recovery,
    ];
}

/// What the device is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Bench {
    /// Which tests.
    pub tests: Vec<Test>,
    /// Loads of the latency test, as shares of the throughput.
    pub latency_at: Vec<f64>,
    /// Loads of the frame-loss test.
    pub loss_at: Vec<f64>,
    /// Frames of a trial.
    pub frames: u64,
    /// How narrow the search ends, as a share of the rate.
    pub resolution: f64,
}

/// A metric that may be printed somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Packets a second, in Mpps.
    Throughput,
    /// Cycles a packet.
    Cycles,
}

/// A number that was printed somewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// The function; any where none is named.
    pub function: Option<String>,
    /// Frame size, bytes.
    pub frame: u32,
    /// What it is.
    pub metric: Metric,
    /// The number, in the metric's unit.
    pub value: f64,
    /// Where it was printed.
    pub source: String,
}

/// A forwarding scenario at one point.
#[derive(Clone, Debug)]
pub struct Forwarding {
    /// What it shows.
    pub title: String,
    /// The question, for the report.
    pub question: Option<String>,
    /// Which engines, where the file says so.
    pub engines: Option<Vec<Engine>>,
    /// The machine's name, as `machines::find` takes it.
    pub machine: String,
    /// Bits a second of each port; infinite where links do not limit.
    pub rate: f64,
    /// Frames of a port's ring.
    pub ring: usize,
    /// What is tested.
    pub functions: Vec<Tested>,
    /// Frame sizes, bytes with the FCS.
    pub sizes: Vec<u32>,
    /// How frames come under a load.
    pub pattern: Pattern,
    /// What it is asked.
    pub bench: Bench,
    /// What was printed.
    pub published: Vec<Published>,
    /// The seed.
    pub seed: u64,
}

/// A scenario at one point of its sweep.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its name.
    pub id: String,
    /// The swept parameters, in the order of the columns.
    pub swept: Vec<Swept>,
    /// The scenario there.
    pub scenario: Forwarding,
}

/// A forwarding file that was read without a fault.
#[derive(Clone, Debug)]
pub struct ForwardingFile {
    /// Its name, as the user wrote it.
    pub name: String,
    /// Its text, for the run folder.
    pub text: String,
    /// Its points; one where it sweeps nothing.
    pub points: Vec<Point>,
}

impl ForwardingFile {
    /// Reads `text`, called `name` in messages; files that it names are relative to `dir`.
    pub fn parse(
        name: &str,
        text: &str,
        dir: &Path,
        reading: &Reading<'_>,
    ) -> Result<ForwardingFile, ReadError> {
        let root = source::root(name, text, reading)?;
        ForwardingFile::of_tree(name, text, dir, &root, reading)
    }

    /// The file of the tree `root` of `text`.
    pub(crate) fn of_tree(
        name: &str,
        text: &str,
        dir: &Path,
        root: &Node,
        reading: &Reading<'_>,
    ) -> Result<ForwardingFile, ReadError> {
        let cx = Context::new(dir, reading, &keys::ROOT);
        let rendered = RefCell::new(Vec::new());
        let points = sweep::expand_with(&cx, root, |root| {
            parse::scenario(&cx, root, reading.seed, &rendered)
        });
        let list = cx.problems.into_inner();
        if !list.is_empty() {
            let mut rendered = rendered.into_inner();
            rendered.dedup();
            let mut problems = Problems::new(name, text, list);
            problems.beside = rendered;
            return Err(ReadError::Faults(Box::new(problems)));
        }
        // Two points of one name are told apart by their number.
        let numbers: Vec<String> = (0..points.len()).map(|n| format!("{n:08}")).collect();
        let swept = points.iter().map(|(swept, _)| swept.as_slice());
        let ids = sweep::ids(swept.zip(numbers.iter().map(String::as_str)));
        let named = points.into_iter().zip(ids);
        let point = |((swept, scenario), id)| Point {
            id,
            swept,
            scenario,
        };
        Ok(ForwardingFile {
            name: name.to_owned(),
            text: text.to_owned(),
            points: named.map(point).collect(),
        })
    }

    /// The scenario of the first point: for what is the same in all.
    pub fn first(&self) -> &Forwarding {
        &self.points[0].scenario
    }
}
