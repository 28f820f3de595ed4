//! Traffic scenarios: streams over one path; from text to points, with every fault shown at once.
//!
//! ```text
//! text → tree → sweep edits the tree → parse reads each point → streams as `trammel send` has them
//! ```

pub mod keys;
mod parse;
pub mod refusals;
pub mod words;

use super::diagnose::Problems;
use super::faults::Context;
use super::model::Engine;
use super::path::Line;
use super::reading::Reading;
use super::sweep::{self, Swept};
use super::tree::Node;
use super::{ReadError, Subject, hash, source};
use std::path::{Path as FilePath, PathBuf};
use trammel_core::time::{Span, Time};
use trammel_traffic::stream::Stream;

/// The word of `subject`.
pub const SUBJECT: &str = Subject::Traffic.name();

/// The path of all streams.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// How it treats packets.
    pub line: Line,
    /// Its one-way delay.
    pub delay: Span,
}

impl Path {
    /// Packets that its queue holds.
    pub fn queue_packets(&self) -> u32 {
        self.line.queue_packets(self.delay * 2)
    }
}

/// A traffic scenario at one point.
#[derive(Debug)]
pub struct Traffic {
    /// What it shows.
    pub title: String,
    /// The question, for the report.
    pub question: Option<String>,
    /// Which engines, where the file says so.
    pub engines: Option<Vec<Engine>>,
    /// Length of a run, by whose end the last stream ends.
    pub duration: Span,
    /// The seed.
    pub seed: u64,
    /// Runs, with seeds from `seed` on.
    pub repeat: u32,
    /// The path.
    pub path: Path,
    /// The streams, copies made.
    pub streams: Vec<Stream>,
}

impl Traffic {
    /// When a run ends.
    pub fn end(&self) -> Time {
        Time::ZERO + self.duration
    }

    /// The name by which its run is known: a hash of all that decides its numbers.
    pub fn key(&self) -> String {
        let Traffic {
            title: _,
            question: _,
            engines: _,
            repeat: _,
            duration,
            seed,
            path,
            streams,
        } = self;
        hash::digest(&(SUBJECT, duration, seed, path, streams))
    }
}

/// A scenario at one point of its sweep.
#[derive(Debug)]
pub struct Point {
    /// Its name.
    pub id: String,
    /// The swept parameters, in the order of the columns.
    pub swept: Vec<Swept>,
    /// The scenario there, in its first run.
    pub scenario: Traffic,
    /// What it is read from: streams are not copied, so each repeat is read anew.
    tree: Node,
}

impl Point {
    /// The seeds of its runs, in their order.
    pub fn seeds(&self) -> impl Iterator<Item = u64> + use<> {
        let first = self.scenario.seed;
        (0..self.scenario.repeat).map(move |repeat| first.wrapping_add(u64::from(repeat)))
    }
}

/// A traffic file that was read without a fault.
#[derive(Debug)]
pub struct TrafficFile {
    /// Its name, as the user wrote it.
    pub name: String,
    /// Its text, for the run folder.
    pub text: String,
    /// Its points; one where it sweeps nothing.
    pub points: Vec<Point>,
    /// What files that it names are relative to.
    dir: PathBuf,
    /// The engines that it was read for; none for its own.
    engines: Vec<Engine>,
}

impl TrafficFile {
    /// Reads the file at `path` as `reading` says.
    pub fn read(path: &FilePath, reading: &Reading<'_>) -> Result<TrafficFile, ReadError> {
        let (name, text, dir) = source::read(path)?;
        TrafficFile::parse(&name, &text, dir, reading)
    }

    /// Reads `text`, called `name` in messages; files that it names are relative to `dir`.
    pub fn parse(
        name: &str,
        text: &str,
        dir: &FilePath,
        reading: &Reading<'_>,
    ) -> Result<TrafficFile, ReadError> {
        let root = source::root(name, text, reading)?;
        TrafficFile::of_tree(name, text, dir, &root, reading)
    }

    /// The file of the tree `root` of `text`.
    pub(crate) fn of_tree(
        name: &str,
        text: &str,
        dir: &FilePath,
        root: &Node,
        reading: &Reading<'_>,
    ) -> Result<TrafficFile, ReadError> {
        let cx = Context::new(dir, reading, &keys::ROOT);
        let points = sweep::expand_with(&cx, root, |root| {
            (root.clone(), parse::scenario(&cx, root, reading.seed))
        });
        let list = cx.problems.into_inner();
        if !list.is_empty() {
            let problems = Problems::new(name, text, list);
            return Err(ReadError::Faults(Box::new(problems)));
        }
        // Two points of one name are told apart by their number.
        let numbers: Vec<String> = (0..points.len()).map(|n| format!("{n:08}")).collect();
        let swept = points.iter().map(|(swept, _)| swept.as_slice());
        let ids = sweep::ids(swept.zip(numbers.iter().map(String::as_str)));
        let named = points.into_iter().zip(ids);
        let point = |((swept, (tree, scenario)), id)| {
            // Without a fault there is a scenario.
            Some(Point {
                id,
                swept,
                scenario: scenario?,
                tree,
            })
        };
        Ok(TrafficFile {
            name: name.to_owned(),
            text: text.to_owned(),
            points: named.filter_map(point).collect(),
            dir: dir.to_owned(),
            engines: reading.engines.to_vec(),
        })
    }

    /// Does `work` with the scenario at `point` in its run with `seed`. A file that the scenario
    /// names may have gone since it was read.
    pub fn with_seed<T>(
        &self,
        point: &Point,
        seed: u64,
        work: impl FnOnce(&Traffic) -> T,
    ) -> Result<T, ReadError> {
        if seed == point.scenario.seed {
            return Ok(work(&point.scenario));
        }
        let reading = Reading {
            engines: &self.engines,
            ..Reading::default()
        };
        let cx = Context::new(&self.dir, &reading, &keys::ROOT);
        match parse::scenario(&cx, &point.tree, Some(seed)) {
            Some(scenario) => Ok(work(&scenario)),
            None => {
                let list = cx.problems.into_inner();
                let problems = Problems::new(&self.name, &self.text, list);
                Err(ReadError::Faults(Box::new(problems)))
            }
        }
    }

    /// The scenario of the first point: for what is the same in all.
    pub fn first(&self) -> &Traffic {
        &self.points[0].scenario
    }
}

#[cfg(test)]
mod tests;
