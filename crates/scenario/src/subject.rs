//! The subject of a scenario file.

use crate::tree::Node;

/// What a scenario file studies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// TCP flows over paths.
    Transport,
    /// A router or network function on a machine.
    Forwarding,
    /// Generated packet streams.
    Traffic,
    /// Chains of network functions on servers.
    Placement,
    /// Routers with their control software on a topology: forwarding, in a file of other tables.
    Routing,
}

/// A key of these makes a file of forwarding one of routers on a topology.
pub(crate) const OF_ROUTING: [&str; 2] = ["router", "topology"];

impl Subject {
    /// All of them.
    pub const ALL: [Subject; 5] = [
        Subject::Transport,
        Subject::Forwarding,
        Subject::Traffic,
        Subject::Placement,
        Subject::Routing,
    ];

    /// The word of `subject` in a file.
    pub const fn name(self) -> &'static str {
        match self {
            Subject::Transport => "transport",
            Subject::Forwarding | Subject::Routing => "forwarding",
            Subject::Traffic => "traffic",
            Subject::Placement => "placement",
        }
    }

    /// The command that messages name for files of this subject.
    pub(crate) const fn command(self) -> &'static str {
        match self {
            Subject::Placement => "place",
            _ => "run",
        }
    }

    /// The subject of a file's text: the one that it names, or by its tables where it names none;
    /// transport where it is no TOML.
    pub fn of_text(text: &str) -> Subject {
        Node::parse(text).map_or(Subject::Transport, |root| Subject::of(&root))
    }

    /// The subject of a file: the one that it names, or by its tables where it names none. A word
    /// that is no subject is left to the reader of the one that its tables are of, whose keys tell
    /// it as a fault.
    pub(crate) fn of(root: &Node) -> Subject {
        let Some(table) = root.as_table() else {
            return Subject::Transport;
        };
        let word = table.get("subject").and_then(|entry| entry.node.as_text());
        let named = Subject::ALL
            .into_iter()
            .find(|one| word == Some(one.name()));
        let has = |key: &&str| table.get(key).is_some();
        match named {
            Some(Subject::Forwarding) if OF_ROUTING.iter().any(has) => Subject::Routing,
            Some(subject) => subject,
            // A transport file may have a `topology` too.
            None if has(&"router") => Subject::Routing,
            None if ["server", "chain", "function"].iter().any(has) => Subject::Placement,
            None => Subject::Transport,
        }
    }
}
