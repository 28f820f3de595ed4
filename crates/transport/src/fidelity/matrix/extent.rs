//! What cells are drawn from, and how many.

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Cells.
    pub cells: usize,
    /// Runs of each by each engine, with other starts and losses.
    pub phases: u32,
    /// Packets that a full bottleneck carries in a run: at least, and at most where that is long
    /// enough for its round trip.
    pub packets: (u64, u64),
}

impl Extent {
    /// A minute on two cores.
    pub const QUICK: Extent = Extent {
        cells: 16,
        phases: 3,
        packets: (60_000, 200_000),
    };
    /// Up to three hours on two cores. Flows that compete differ so much from phase to phase that
    /// three of them leave more chance in a mean than the simulator's error.
    pub const FULL: Extent = Extent {
        cells: 400,
        phases: 5,
        packets: (400_000, 3_000_000),
    };
}

/// What the paths of cells do during a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paths {
    /// They stay as they are.
    #[default]
    Steady,
    /// They change: delay steps, outages, handovers, reordering jitter.
    Changing,
}

/// What cells are drawn from, where it is not everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Disciplines of the queues, one in every cell; with none, drop-tail in most and the usual
    /// ones in the rest.
    pub queues: Vec<&'static str>,
    /// Variants of the first flow; with none, any.
    pub variants: Vec<&'static str>,
}

/// From what cells are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Draw<'a> {
    /// How many there are.
    pub extent: Extent,
    /// Whether their paths change.
    pub paths: Paths,
    /// The seed.
    pub seed: u64,
    /// The kernel's source tree; none for the package's.
    pub source: Option<&'a str>,
}
