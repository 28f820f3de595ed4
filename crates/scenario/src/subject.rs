//! The four subjects of a scenario file.

use crate::tree::Node;

/// What a scenario file studies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// TCP flows over paths.
    Transport,
    /// A router or network function.
    Forwarding,
    /// Generated packet streams.
    Traffic,
    /// Chains of network functions on servers.
    Placement,
}

impl Subject {
    /// All of them.
    pub const ALL: [Subject; 4] = [
        Subject::Transport,
        Subject::Forwarding,
        Subject::Traffic,
        Subject::Placement,
    ];

    /// The word of `subject` in a file.
    pub const fn name(self) -> &'static str {
        match self {
            Subject::Transport => "transport",
            Subject::Forwarding => "forwarding",
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
        named.unwrap_or(if ["server", "chain", "function"].iter().any(has) {
            Subject::Placement
        } else {
            Subject::Transport
        })
    }
}
