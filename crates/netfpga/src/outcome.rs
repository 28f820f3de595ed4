//! What became of the frames: counts, latencies, instants of loss, passages.
//!
//! Every frame has exactly one fate: `received = forwarded + delivered + dropped`, for each stream
//! and in sum.

use trammel_core::time::{Span, Time};
use trammel_stats::histogram::Histogram;

/// How a frame's way ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It left by its port.
    Forwarded,
    /// The software got it.
    Delivered,
    /// The receive FIFO of its port was too full when it began.
    DroppedAtReceive,
    /// Its output queue was full.
    DroppedAtQueue,
    /// The software had too much before it.
    DroppedAtHost,
}

/// Every fate, in the order of [`Counts`].
pub const FATES: [Fate; 5] = [
    Fate::Forwarded,
    Fate::Delivered,
    Fate::DroppedAtReceive,
    Fate::DroppedAtQueue,
    Fate::DroppedAtHost,
];

impl Fate {
    /// The word that tables use.
    pub fn name(self) -> &'static str {
        match self {
            Fate::Forwarded => "forwarded",
            Fate::Delivered => "delivered",
            Fate::DroppedAtReceive => "dropped_at_receive",
            Fate::DroppedAtQueue => "dropped_at_queue",
            Fate::DroppedAtHost => "dropped_at_host",
        }
    }

    /// Whether the frame was lost.
    pub(crate) fn is_loss(self) -> bool {
        !matches!(self, Fate::Forwarded | Fate::Delivered)
    }
}

/// Frames by fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames that came in.
    pub received: u64,
    fates: [u64; FATES.len()],
}

impl Counts {
    /// How many frames had this fate.
    pub fn of(&self, fate: Fate) -> u64 {
        self.fates[fate as usize]
    }

    /// Frames that left by their port.
    pub fn forwarded(&self) -> u64 {
        self.of(Fate::Forwarded)
    }

    /// Frames that were lost, wherever.
    pub fn dropped(&self) -> u64 {
        let losses = FATES.iter().filter(|fate| fate.is_loss());
        losses.map(|fate| self.of(*fate)).sum()
    }

    /// Frames that were handed to the software, whether it could take them or not.
    pub fn to_cpu(&self) -> u64 {
        self.of(Fate::Delivered) + self.of(Fate::DroppedAtHost)
    }

    pub(crate) fn add(&mut self, fate: Fate, times: u64) {
        self.fates[fate as usize] += times;
    }

    pub(crate) fn include(&mut self, other: &Counts) {
        self.received += other.received;
        for (mine, theirs) in self.fates.iter_mut().zip(&other.fates) {
            *mine += theirs;
        }
    }
}

/// One frame's way through the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Of which stream.
    pub stream: usize,
    /// When the first bit of its preamble came in.
    pub start: Time,
    /// When the first bit of its preamble left, or the software had done with it; `None` where it
    /// was lost.
    pub end: Option<Time>,
    /// How its way ended.
    pub fate: Fate,
}

/// By how much the latencies of forwarded frames of one stream differ from those of the frames
/// before them.
#[derive(Clone, Debug)]
pub struct Variation {
    /// How much shorter, in picoseconds.
    pub less: Histogram,
    /// How much longer, in picoseconds; frames that took as long are here.
    pub more: Histogram,
}

impl Default for Variation {
    fn default() -> Variation {
        Variation {
            less: Histogram::of_times(),
            more: Histogram::of_times(),
        }
    }
}

/// What became of the frames of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Of each stream, in their order.
    pub streams: Vec<Counts>,
    /// Of forwarded frames, in picoseconds: from first bit in to first bit out, or from the last
    /// bit in where [`Recording::is_from_last_bit`](crate::recording::Recording::is_from_last_bit).
    pub latency: Histogram,
    /// When the first frame that was lost began to come in.
    pub first_lost: Option<Time>,
    /// When the last frame that was lost began to come in.
    pub last_lost: Option<Time>,
    /// The first frames whose way ended, as many as were asked for.
    pub passages: Vec<Passage>,
    /// When the first frame came out, forwarded or delivered.
    pub first_out: Option<Time>,
    /// When the last frame came out by [`Recording::until`](crate::recording::Recording::until).
    pub last_out: Option<Time>,
    /// Frames that came out later than that.
    pub after: u64,
    /// The latencies of tagged frames, in their order; those that were lost have none.
    pub tagged: Vec<Span>,
    /// Where it was asked for.
    pub variation: Option<Variation>,
    /// Frames that were simulated one by one. The others repeat a state that had come before,
    /// exactly.
    pub simulated: u64,
}

impl Outcome {
    /// All streams together.
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        for counts in &self.streams {
            total.include(counts);
        }
        total
    }
}
