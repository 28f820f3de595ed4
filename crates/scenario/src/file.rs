//! A file of the subject *transport*, read without a fault.

use crate::diagnose::Problems;
use crate::faults::Context;
use crate::model::{Pcap, Scenario};
use crate::reading::Reading;
use crate::sweep::{self, Point};
use crate::tree::Node;
use crate::{ReadError, Subject, hash, keys, source};
use std::collections::BTreeSet;
use std::path::Path;

/// A scenario file that was read without a fault.
#[derive(Clone, Debug)]
pub struct File {
    /// Its name, as the user wrote it.
    pub name: String,
    /// Its text, for the run folder.
    pub text: String,
    /// Its points, in the order of its sweep; one where it sweeps nothing.
    pub points: Vec<Point>,
}

impl File {
    /// Reads the scenario file at `path`, whatever engines would refuse of it.
    pub fn read(path: &Path) -> Result<File, ReadError> {
        File::read_with(path, &Reading::default())
    }

    /// Reads the scenario file at `path` as `reading` says.
    pub fn read_with(path: &Path, reading: &Reading<'_>) -> Result<File, ReadError> {
        let (name, text, dir) = source::read(path)?;
        File::parse_with(&name, &text, dir, reading)
    }

    /// Reads `text`, called `name` in messages; files that it names are relative to `dir`.
    pub fn parse(name: &str, text: &str, dir: &Path) -> Result<File, ReadError> {
        File::parse_with(name, text, dir, &Reading::default())
    }

    /// As [`File::parse`], as `reading` says.
    pub fn parse_with(
        name: &str,
        text: &str,
        dir: &Path,
        reading: &Reading<'_>,
    ) -> Result<File, ReadError> {
        let root = source::root(name, text, reading)?;
        ReadError::unless(Subject::Transport, name, &root)?;
        File::of_tree(name, text, dir, &root, reading)
    }

    /// The file of the tree `root` of `text`.
    pub(crate) fn of_tree(
        name: &str,
        text: &str,
        dir: &Path,
        root: &Node,
        reading: &Reading<'_>,
    ) -> Result<File, ReadError> {
        let cx = Context::new(dir, reading, &keys::ROOT);
        let points = sweep::expand(&cx, root);
        let problems = cx.problems.into_inner();
        if !problems.is_empty() {
            let problems = Problems::new(name, text, problems);
            return Err(ReadError::Faults(Box::new(problems)));
        }
        let mut file = File {
            name: name.to_owned(),
            text: text.to_owned(),
            points,
        };
        if let Some(seed) = reading.seed {
            file.reseed(seed);
        }
        Ok(file)
    }

    /// The columns of the swept parameters, in order.
    pub fn columns(&self) -> Vec<&str> {
        let first = self.points.first().map_or(&[][..], |point| &point.swept);
        first.iter().map(|swept| swept.column.as_str()).collect()
    }

    /// Starts the seeds of every point at `seed`.
    pub fn reseed(&mut self, seed: u64) {
        for point in &mut self.points {
            point.scenario.seed = seed;
            point.hash = hash::of(&point.scenario);
        }
    }
}

impl File {
    /// Whether any point asks for captures or logs.
    pub fn captures_packets(&self) -> bool {
        let mut points = self.points.iter();
        points.any(|point| point.scenario.pcap != Pcap::Off || point.scenario.qlog)
    }

    /// The seeds of all runs.
    pub fn seeds(&self) -> BTreeSet<u64> {
        let scenarios = self.points.iter().map(|point| &point.scenario);
        scenarios
            .flat_map(|one| (0..one.repeat).map(|repeat| one.seed_of(repeat)))
            .collect()
    }

    /// A file of one point, for a scenario that was built from Rust.
    pub fn of(scenario: Scenario) -> anyhow::Result<File> {
        scenario.check().map_err(|faults| {
            let faults = faults.into_iter().map(|fault| {
                let parts = [fault.place, fault.what, fault.why, fault.help];
                let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                parts.join(": ")
            });
            anyhow::anyhow!(faults.collect::<Vec<_>>().join("\n"))
        })?;
        let point = Point {
            id: "base".to_owned(),
            swept: Vec::new(),
            hash: hash::of(&scenario),
            scenario,
        };
        Ok(File {
            name: "scenario".to_owned(),
            text: String::new(),
            points: vec![point],
        })
    }
}
