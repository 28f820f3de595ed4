//! Which threads shall run which elements, as elements ask for it.

use crate::engine::ids::ElementId;
use std::collections::BTreeMap;

/// A wish for one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// Its thread; none runs it where it is negative.
    pub home: i32,
    /// It was named itself, rather than a compound that it is in.
    pub is_named: bool,
}

/// What elements such as `StaticThreadSched` ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// How many threads there are.
    pub threads: usize,
    /// The last wish for each element.
    pub fixed: BTreeMap<ElementId, Wish>,
    /// Regions without a wish go to the thread that has the fewest elements, rather than to the
    /// first.
    pub is_balanced: bool,
}
