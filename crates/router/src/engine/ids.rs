//! Numbers of elements, and where ports lead.

/// The number of an element: its place in the flat configuration.
pub type ElementId = usize;

/// Where an output leads, or where an input is fed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) element: u32,
    pub(super) port: u32,
}

impl Target {
    pub(super) const NONE: Target = Target {
        element: u32::MAX,
        port: 0,
    };
}

/// An output: where it leads, and which place of `latest` tells of the batch that goes there;
/// outputs of an element that lead to one input share it, so that packets keep their order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub(super) to: Target,
    pub(super) lane: u32,
}

impl Way {
    /// An output that is not there; the first lane, with which it shares its number, is never that
    /// of such a target.
    pub(super) const NONE: Way = Way {
        to: Target::NONE,
        lane: 0,
    };
}
