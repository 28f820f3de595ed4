//! Routing scenarios: routers with their control software on a topology, and what fails when; from
//! text to points, with every fault shown at once.
//!
//! ```text
//! text → tree → sweep edits the tree → parse reads each point → topology, settings, changes
//! ```

mod address;
mod events;
pub mod keys;
mod parse;
mod plan;
mod routers;
#[cfg(test)]
mod tests;

use super::diagnose::Problems;
use super::faults::Context;
use super::model::Engine;
use super::reading::Reading;
use super::sweep::{self, Swept};
use super::tree::Node;
use super::{ReadError, hash, source};
use std::path::Path;
use trammel_control::network::{Change, Settings, Topology};
use trammel_core::time::{Span, Time};

/// What these files are called where `subject` does not say it.
pub const NAME: &str = "routing";

/// Ports of a card.
const PORTS: usize = 4;
/// Rows of each of its tables.
const ROWS: usize = 32;
/// Routers that `auto` gives devices, at most.
const FEW: usize = 8;

/// How packets are forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataPlane {
    /// Along the routes, hop by hop and in no time.
    Tables,
    /// By a functional reference router each, as frames.
    Devices,
}

impl DataPlane {
    /// Its word in results.
    pub const fn name(self) -> &'static str {
        match self {
            DataPlane::Tables => "tables",
            DataPlane::Devices => "devices",
        }
    }
}

/// A routing scenario at one point.
#[derive(Clone, Debug)]
pub struct Routing {
    /// What it shows.
    pub title: String,
    /// The question, for the report.
    pub question: Option<String>,
    /// Which engines, where the file says so.
    pub engines: Option<Vec<Engine>>,
    /// Length of a run.
    pub duration: Span,
    /// The seed.
    pub seed: u64,
    /// How packets are forwarded.
    pub data_plane: DataPlane,
    /// The routers and what joins them.
    pub topology: Topology,
    /// The subnets' names, in the order of the topology.
    pub links: Vec<String>,
    /// How the routers are set.
    pub settings: Settings,
    /// What happens when, in order.
    pub changes: Vec<(Time, Change)>,
}

impl Routing {
    /// When a run ends.
    pub fn end(&self) -> Time {
        Time::ZERO + self.duration
    }

    /// The name by which its run is known: a hash of all that decides its numbers.
    pub fn key(&self) -> String {
        let Routing {
            title: _,
            question: _,
            engines: _,
            seed: _,
            duration,
            data_plane,
            topology,
            links,
            settings,
            changes,
        } = self;
        hash::digest(&(
            (NAME, duration, data_plane),
            (topology, links, settings, changes),
        ))
    }

    /// Why a card with the reference router cannot stand for one of the routers, if so.
    pub fn misfit(topology: &Topology) -> Option<String> {
        let all = topology.routers.iter().enumerate();
        let wide = all.map(|(router, name)| (topology.subnets_of(router).len(), name));
        if let Some((ports, name)) = wide.into_iter().find(|(ports, _)| *ports > PORTS) {
            return Some(format!(
                "router `{name}` has {ports} interfaces, and a card has {PORTS} ports"
            ));
        }
        if let Some(gateway) = topology.gateway
            && topology.host_subnets().all(|(_, router)| router != gateway)
        {
            let name = &topology.routers[gateway];
            return Some(format!(
                "gateway `{name}` has no hosts, and the world outside is behind one"
            ));
        }
        let routes = topology.subnets.len() + usize::from(topology.gateway.is_some());
        (routes > ROWS)
            .then(|| format!("there are {routes} routes, and a card has room for {ROWS}"))
    }
}

/// A scenario at one point of its sweep.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its name.
    pub id: String,
    /// The swept parameters, in the order of the columns.
    pub swept: Vec<Swept>,
    /// The scenario there.
    pub scenario: Routing,
}

/// A routing file that was read without a fault.
#[derive(Clone, Debug)]
pub struct RoutingFile {
    /// Its name, as the user wrote it.
    pub name: String,
    /// Its text, for the run folder.
    pub text: String,
    /// Its points; one where it sweeps nothing.
    pub points: Vec<Point>,
}

impl RoutingFile {
    /// Reads `text`, called `name` in messages.
    pub fn parse(
        name: &str,
        text: &str,
        dir: &Path,
        reading: &Reading<'_>,
    ) -> Result<RoutingFile, ReadError> {
        let root = source::root(name, text, reading)?;
        RoutingFile::of_tree(name, text, dir, &root, reading)
    }

    /// The file of the tree `root` of `text`.
    pub(crate) fn of_tree(
        name: &str,
        text: &str,
        dir: &Path,
        root: &Node,
        reading: &Reading<'_>,
    ) -> Result<RoutingFile, ReadError> {
        let cx = Context::new(dir, reading, &keys::ROOT);
        let points = sweep::expand_with(&cx, root, |root| parse::scenario(&cx, root, reading.seed));
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
        let point = |((swept, scenario), id)| {
            // Without a fault there is a scenario.
            Some(Point {
                id,
                swept,
                scenario: scenario?,
            })
        };
        Ok(RoutingFile {
            name: name.to_owned(),
            text: text.to_owned(),
            points: named.filter_map(point).collect(),
        })
    }

    /// The scenario of the first point: for what is the same in all.
    pub fn first(&self) -> &Routing {
        &self.points[0].scenario
    }
}
