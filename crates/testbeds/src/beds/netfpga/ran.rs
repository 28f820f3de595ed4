//! What came of a run of the model, with contents of frames or without.

use trammel_core::time::{Span, Time};
use trammel_netfpga::outcome::{Counts, Fate, Outcome, Variation};
use trammel_stats::histogram::Histogram;

/// Frames of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StreamCounts {
    /// That came in.
    pub(super) received: u64,
    /// That came out where they should.
    pub(super) came: u64,
}

/// What a trial needs of a run.
#[derive(Debug)]
pub(super) struct Ran {
    /// By stream.
    pub(super) streams: Vec<StreamCounts>,
    /// Of forwarded frames, from the last bit in.
    pub(super) latency: Histogram,
    /// When the last frame that was lost began to come in.
    pub(super) last_lost: Option<Time>,
    /// When the first frame came out.
    pub(super) first_out: Option<Time>,
    /// When the last frame came out before the end of the load.
    pub(super) last_out: Option<Time>,
    /// Frames that came out after it.
    pub(super) after: u64,
    /// Latencies of tagged frames.
    pub(super) tagged: Vec<Span>,
    /// By how much neighbours differ.
    pub(super) variation: Variation,
}

impl Ran {
    /// All streams together.
    pub(super) fn total(&self) -> StreamCounts {
        let add = |sum: StreamCounts, one: &StreamCounts| StreamCounts {
            received: sum.received + one.received,
            came: sum.came + one.came,
        };
        self.streams.iter().fold(StreamCounts::default(), add)
    }
}

impl From<Outcome> for Ran {
    fn from(outcome: Outcome) -> Ran {
        let counts = |of: &Counts| StreamCounts {
            received: of.received,
            came: of.forwarded() + of.of(Fate::Delivered),
        };
        Ran {
            streams: outcome.streams.iter().map(counts).collect(),
            latency: outcome.latency,
            last_lost: outcome.last_lost,
            first_out: outcome.first_out,
            last_out: outcome.last_out,
            after: outcome.after,
            tagged: outcome.tagged,
            variation: outcome.variation.unwrap_or_default(),
        }
    }
}
