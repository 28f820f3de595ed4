//! Traffic scenarios: streams over one path; from text to points, with every fault shown at once.
//!
//! ```text
//! text → tree → sweep edits the tree → parse reads each point → streams as `trammel send` has them
//! ```

pub mod keys;
mod parse;

use super::diagnose::Problems;
use super::faults::Context;
use super::model::Engine;
use super::path::Line;
use super::sweep::{self, Swept};
use super::{ReadError, tree_of, unreadable};
use std::cell::RefCell;
use std::path::Path as FilePath;
use trammel_core::time::Time;
use trammel_traffic::stream::Stream;

/// The word of `subject`.
pub const SUBJECT: &str = "traffic";

/// The path of all streams.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// How it treats packets.
    pub line: Line,
    /// Its one-way delay.
    pub delay: Time,
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
    /// When the last stream ends, at the latest.
    pub duration: Time,
    /// The seed.
    pub seed: u64,
    /// The path.
    pub path: Path,
    /// The streams, copies made.
    pub streams: Vec<Stream>,
}

/// A scenario at one point of its sweep.
#[derive(Debug)]
pub struct Point {
    /// Its name.
    pub id: String,
    /// The swept parameters, in the order of the columns.
    pub swept: Vec<Swept>,
    /// The scenario there.
    pub scenario: Traffic,
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
}

impl TrafficFile {
    /// Reads the file at `path`, with another seed than its own where one is given.
    pub fn read(path: &FilePath, seed: Option<u64>) -> Result<TrafficFile, ReadError> {
        let name = path.display().to_string();
        let text =
            std::fs::read_to_string(path).map_err(|error| unreadable(&name, path, &error))?;
        let dir = path.parent().unwrap_or(FilePath::new("."));
        TrafficFile::parse(&name, &text, dir, seed)
    }

    /// Reads `text`, called `name` in messages; files that it names are relative to `dir`.
    pub fn parse(
        name: &str,
        text: &str,
        dir: &FilePath,
        seed: Option<u64>,
    ) -> Result<TrafficFile, ReadError> {
        let refuse = |list| ReadError::Faults(Box::new(Problems::new(name, text, list)));
        let root = tree_of(text).map_err(|fault| refuse(vec![fault]))?;
        let cx = Context {
            problems: RefCell::new(Vec::new()),
            dir,
            root: &keys::ROOT,
        };
        let points = sweep::expand_with(&cx, &root, |root| parse::scenario(&cx, root, seed));
        let list = cx.problems.into_inner();
        if !list.is_empty() {
            return Err(refuse(list));
        }
        // Two points of one name are told apart by their number.
        let numbers: Vec<String> = (0..points.len()).map(|n| format!("{n:08}")).collect();
        let swept = points.iter().map(|(swept, _)| swept.as_slice());
        let ids = sweep::ids(swept.zip(numbers.iter().map(String::as_str)));
        let named = points.into_iter().zip(ids);
        let point = |((swept, scenario), id)| {
            // Without a fault there is a scenario.
            Some(Point {
                id,
                swept,
                scenario: scenario?,
            })
        };
        Ok(TrafficFile {
            name: name.to_owned(),
            text: text.to_owned(),
            points: named.filter_map(point).collect(),
        })
    }

    /// The scenario of the first point: for what is the same in all.
    pub fn first(&self) -> &Traffic {
        &self.points[0].scenario
    }
}

#[cfg(test)]
mod tests;
