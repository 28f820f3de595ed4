//! What the tester has seen of a run: counts, times, and what disturbed it.
//!
//! Times are since the run's start, when the first frame was due. All frames' clocks are one: the
//! monotonic clock of this machine, to which arrivals told by the kernel's wall clock are
//! converted.

use super::traffic::MOST_STREAMS;
use trammel_core::time::{Span, Time};
use trammel_stats::histogram::Histogram;

/// How delays of successive frames of a stream differ (RFC 3393): each from that of the test frame
/// of the stream that came before it.
#[derive(Clone, Debug)]
pub struct Ipdv {
    /// By how much delays were shorter than the one before, in picoseconds.
    pub less: Histogram,
    /// By how much they were longer, or not at all.
    pub more: Histogram,
}

impl Default for Ipdv {
    fn default() -> Ipdv {
        Ipdv {
            less: Histogram::of_times(),
            more: Histogram::of_times(),
        }
    }
}

impl Ipdv {
    /// How many differences.
    pub fn count(&self) -> u64 {
        self.less.count() + self.more.count()
    }

    #[inline]
    pub(crate) fn note(&mut self, difference_ns: i64) {
        let side = if difference_ns < 0 {
            &mut self.less
        } else {
            &mut self.more
        };
        side.record(difference_ns.unsigned_abs() * 1000);
    }
}

/// What became of a stream.
#[derive(Clone, Debug)]
pub struct StreamSeen {
    /// Test frames sent.
    pub sent: u64,
    /// Those of them that came whole, each once.
    pub received: u64,
    /// Further copies of those.
    pub duplicated: u64,
    /// Those received after one of the same flow that was sent later.
    //= rfc4737 §3.3
    //# The value of Type-P-Reordered is defined as TRUE if s < NextExp (the
    //# packet is reordered).
    pub reordered: u64,
    /// From when a frame was handed over to when it was there, in picoseconds, first copies only.
    pub latency: Option<Histogram>,
    /// How that varied, where it was measured.
    pub ipdv: Option<Ipdv>,
}

impl StreamSeen {
    pub(crate) fn new(has_latency: bool) -> StreamSeen {
        StreamSeen {
            sent: 0,
            received: 0,
            duplicated: 0,
            reordered: 0,
            latency: has_latency.then(Histogram::of_times),
            ipdv: has_latency.then(Ipdv::default),
        }
    }

    /// Frames sent that did not come whole.
    pub fn lost(&self) -> u64 {
        self.sent.saturating_sub(self.received)
    }
}

/// What became of the frames of a load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadSeen {
    /// Test frames that were due within it.
    pub intended: u64,
    /// Those handed over.
    pub sent: u64,
    /// Those that came, each once.
    pub received: u64,
}

/// Frames beside the test frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// How many were sent.
    pub sent: u64,
    /// How many came, or were answered.
    pub received: u64,
}

/// The longest time in which no test frame came although some were sent that never came, or came
/// later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// When the last frame before it came.
    pub from: Time,
    /// When the first frame after it came.
    pub to: Time,
    /// Test frames between these two.
    pub skipped: u64,
}

/// From what on frames count as bunched: by so much more than the plan has it may they come
/// together.
pub const EVEN: Span = Span::from_us(50);

/// How unevenly frames left where the plan has them leave evenly: what of it is a burst to the
/// device is the tester's doing.
///
/// A tester that stands still for a while and then makes up for it sends all that was due meanwhile
/// at once. A buffer that holds less than that loses frames, whatever the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unevenness {
    /// By how much the latest frame left after it was due, as read from the clock when it had left.
    pub latest: Span,
    /// Frames that a device would have lost which forwards exactly the load and holds what it
    /// brings in [`EVEN`].
    pub bunched: u64,
    /// The most frames that left together beyond those that the plan has.
    pub burst: u64,
    /// From when the first frame was made until the last had left.
    pub sending: Span,
}

/// What became of the frames of a direction.
#[derive(Clone, Debug)]
pub struct DirectionSeen {
    /// Test frames that were due.
    pub intended: u64,
    /// Of each stream.
    pub streams: Vec<StreamSeen>,
    /// Of each load.
    pub loads: Vec<LoadSeen>,
    /// From the first frame's departure to the last's, and the gap that belongs to it: frames sent
    /// by this are the offered rate.
    pub effective: Span,
    /// Processor time of the thread that sent, system calls and what the kernel did within them
    /// included, until the last frame had left.
    pub sender_cpu: Span,
    /// By how much frames were handed over after they were due, in picoseconds.
    pub lateness: Histogram,
    /// How unevenly they left.
    pub unevenness: Unevenness,
    /// Frames of this run that came damaged: signature, length or fill. They are lost too.
    pub corrupted: u64,
    /// Frames of other runs, of another port, or of numbers that no frame has.
    pub strays: u64,
    /// Frames of no tester, which no port asked for.
    pub others: u64,
    /// Frames that came so late that they cannot be told from copies. They are lost too.
    pub too_late: u64,
    /// Frames to all stations: §11.1 of RFC 2544.
    pub broadcasts: Beside,
    /// Management queries: §11.2.
    pub queries: Beside,
    /// When the last of the frames that never came was due.
    pub last_lost: Option<Time>,
    /// When the last test frame came.
    pub last_arrival: Option<Time>,
    /// The longest outage.
    pub outage: Option<Outage>,
    /// The latencies of the tagged frames that came, in the order of their numbers; none without
    /// tags.
    pub tagged: Vec<Span>,
    /// Tagged frames that came and whose times were not told by what is to time them.
    pub untimed: usize,
    /// Test frames that came after the last one of the direction had left, where that was seen.
    pub came_after: Option<u64>,
    /// Frames that the receiving port lost before the tester could read them: then the tester is
    /// what limits.
    pub receive_drops: u64,
}

impl DirectionSeen {
    fn total(&self, of: impl Fn(&StreamSeen) -> u64) -> u64 {
        self.streams.iter().map(of).sum()
    }

    /// Test frames sent.
    pub fn sent(&self) -> u64 {
        self.total(|stream| stream.sent)
    }

    /// Test frames that came whole, each once.
    pub fn received(&self) -> u64 {
        self.total(|stream| stream.received)
    }

    /// Test frames sent that did not come whole.
    pub fn lost(&self) -> u64 {
        self.total(StreamSeen::lost)
    }

    /// Further copies.
    pub fn duplicated(&self) -> u64 {
        self.total(|stream| stream.duplicated)
    }

    /// Frames out of order.
    pub fn reordered(&self) -> u64 {
        self.total(|stream| stream.reordered)
    }

    /// Frames sent a second, over the effective duration; 0 of none.
    pub fn offered_fps(&self) -> f64 {
        let seconds = self.effective.as_secs_f64();
        if seconds > 0.0 {
            self.sent() as f64 / seconds
        } else {
            0.0
        }
    }

    /// The latency of all streams; none where it was not measured.
    pub fn latency(&self) -> Option<Histogram> {
        let mut all: Option<Histogram> = None;
        for latency in self
            .streams
            .iter()
            .take(MOST_STREAMS)
            .filter_map(|one| one.latency.as_ref())
        {
            match &mut all {
                Some(all) => all.merge(latency),
                None => all = Some(latency.clone()),
            }
        }
        all
    }
}

/// By what arrivals were timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamps {
    /// By the kernel, as each frame came.
    Kernel,
    /// When a batch of frames was read.
    Reading,
    /// Not at all.
    None,
}

/// What was seen of a run.
#[derive(Clone, Debug)]
pub struct Observation {
    /// From the first port to the second, and back.
    pub directions: [Option<DirectionSeen>; 2],
    /// By what arrivals were timed.
    pub stamps: Stamps,
    /// By how much the wall clock was set while the run lasted; more than a microsecond spoils the
    /// kernel's times.
    pub clock_step: Span,
    /// Whether it was stopped before its end.
    pub is_interrupted: bool,
    /// What ended it before its end, where something did.
    pub fault: Option<String>,
    /// What was asked for and not got.
    pub remarks: Vec<String>,
}
