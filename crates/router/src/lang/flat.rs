//! The flat graph of elements that a configuration means.

use crate::diagnostic::Landmark;

/// An element as declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The whole name, compounds included: `router/q1`.
    pub name: String,
    /// The class.
    pub class: String,
    /// The text between the parentheses, variables substituted.
    pub config: String,
    /// Where it was declared.
    pub landmark: Landmark,
}

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port {
    /// The element's place in [`Flat::elements`].
    pub element: usize,
    /// The number of the port.
    pub port: usize,
}

/// A connection from an output to an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The output.
    pub from: Port,
    /// The input.
    pub to: Port,
    /// Where it was made.
    pub landmark: Landmark,
}

/// A configuration without compounds, groups or variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flat {
    /// The elements, in the order of Click's numbering.
    pub elements: Vec<Declared>,
    /// The connections; no two are alike. For a router they are sorted by input, then output.
    pub connections: Vec<Connection>,
    /// What `require(…)` asked for: the kind (`package`, `library`, …) and the name.
    pub requirements: Vec<(String, String)>,
    /// Variables of the file that tools keep for whoever reads their output.
    pub definitions: Vec<(String, String)>,
}

/// The inside of a compound class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compound {
    /// The name of the class.
    pub name: String,
    /// Its elements. The first two are its `input`, of class `input`, and its `output`.
    pub flat: Flat,
}
