//! One description, of whatever subject: the one reader of scenario files.

use crate::forwarding::ForwardingFile;
use crate::placement::PlacementFile;
use crate::reading::Reading;
use crate::routing::RoutingFile;
use crate::sweep::Swept;
use crate::traffic::TrafficFile;
use crate::{File, ReadError, Subject, source};
use std::path::Path;

/// A scenario file that was read without a fault.
#[derive(Debug)]
pub enum Description {
    /// TCP flows over paths.
    Transport(File),
    /// A router or network function.
    Forwarding(ForwardingFile),
    /// Generated packet streams.
    Traffic(TrafficFile),
    /// Chains of network functions on servers.
    Placement(PlacementFile),
    /// Routers with their control software on a topology.
    Routing(RoutingFile),
}

/// A point of a description: one combination of what is swept.
#[derive(Clone, Copy, Debug)]
pub struct NamedPoint<'a> {
    /// Its name in tables.
    pub id: &'a str,
    /// The swept parameters, in the order of the columns.
    pub swept: &'a [Swept],
    /// A hash of all that decides its numbers; nothing where runs of the subject have none.
    pub hash: Option<&'a str>,
}

impl Description {
    /// Reads the file at `path` as `reading` says. The error has every fault of it.
    pub fn read(path: &Path, reading: &Reading<'_>) -> Result<Description, ReadError> {
        let (name, text, dir) = source::read(path)?;
        Description::parse(&name, &text, dir, reading)
    }

    /// Reads `text`, called `name` in messages; files that it names are relative to `dir`.
    pub fn parse(
        name: &str,
        text: &str,
        dir: &Path,
        reading: &Reading<'_>,
    ) -> Result<Description, ReadError> {
        let root = source::root(name, text, reading)?;
        Ok(match Subject::of(&root) {
            Subject::Transport => {
                Description::Transport(File::of_tree(name, text, dir, &root, reading)?)
            }
            Subject::Forwarding => {
                Description::Forwarding(ForwardingFile::of_tree(name, text, dir, &root, reading)?)
            }
            Subject::Traffic => {
                Description::Traffic(TrafficFile::of_tree(name, text, dir, &root, reading)?)
            }
            Subject::Routing => {
                Description::Routing(RoutingFile::of_tree(name, text, dir, &root, reading)?)
            }
            Subject::Placement => {
                Description::Placement(PlacementFile::of_tree(name, text, dir, root, reading)?)
            }
        })
    }

    /// The file's name, as the user wrote it.
    pub fn name(&self) -> &str {
        match self {
            Description::Transport(file) => &file.name,
            Description::Forwarding(file) => &file.name,
            Description::Traffic(file) => &file.name,
            Description::Placement(file) => &file.name,
            Description::Routing(file) => &file.name,
        }
    }

    /// The points; a placement has none.
    pub fn points(&self) -> Vec<NamedPoint<'_>> {
        let unhashed = |id, swept| NamedPoint {
            id,
            swept,
            hash: None,
        };
        match self {
            Description::Transport(file) => {
                let points = file.points.iter().map(|one| NamedPoint {
                    id: &one.id,
                    swept: &one.swept,
                    hash: Some(&one.hash),
                });
                points.collect()
            }
            Description::Forwarding(file) => {
                let points = file.points.iter();
                points.map(|one| unhashed(&one.id, &one.swept)).collect()
            }
            Description::Traffic(file) => {
                let points = file.points.iter();
                points.map(|one| unhashed(&one.id, &one.swept)).collect()
            }
            Description::Routing(file) => {
                let points = file.points.iter();
                points.map(|one| unhashed(&one.id, &one.swept)).collect()
            }
            Description::Placement(_) => Vec::new(),
        }
    }
}
