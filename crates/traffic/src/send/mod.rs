//! Sending streams: each packet at its time, and what became of the schedule.

pub mod answers;
mod carrier;
pub mod choice;
pub mod departures;
pub mod frames;
pub mod icmp;
mod lane;
pub mod ordering;
pub mod orders;
mod patience;
mod schedule;
pub mod session;
pub mod tcp;
pub mod udp;
pub mod waiting;
pub mod way;

pub use carrier::{Carrier, Packet};
pub use lane::Lane;

use self::choice::Chosen;
use crate::pace::{Calendar, Pace, Wait};
use crate::record::Record;
use crate::signal::message::Count;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_stats::histogram::Histogram;

/// What became of a stream.
#[derive(Clone, Debug)]
pub struct Sent {
    /// What was sent; lost are packets that were left out because they were late.
    pub count: Count,
    /// When the first and the last were sent, in nanoseconds since 1970; 0 where none was.
    pub first_ns: i64,
    /// See `first_ns`.
    pub last_ns: i64,
    /// Calls that failed: nobody there, no buffers. Their packets count as sent.
    pub errors: u64,
    /// Packets of which the payload was not as long as planned: shorter than a stamp, or longer
    /// than the carrier takes.
    pub resized: u64,
    /// Packets that were handed over after the one that follows was due: where there are any, the
    /// sender was the limit.
    pub overdue: u64,
    /// Packets of the plan that were not sent since the stream's time was over.
    pub unsent: u64,
    /// Whether there were more than those.
    pub unsent_more: bool,
    /// By how much the plan was put off at the end, in nanoseconds.
    pub shift_ns: i64,
    /// How long after it was due each packet was handed to the kernel. It is not when it left.
    pub lateness: Histogram,
    /// Why it ended before its plan did, where that was not wanted.
    pub fault: Option<String>,
    /// How it was sent, where there was a choice.
    pub chosen: Option<Chosen>,
}

/// Takes what is known of each packet.
pub type Note<'a> = &'a mut (dyn FnMut(&Record) + Send);

/// Sends the streams of `lanes`, each packet at its time of the monotonic clock. Ends with the last
/// stream, or when `stop` is set. A stream that cannot go on ends by itself and says why
/// ([`Sent::fault`]).
pub fn send(lanes: &mut [Lane], wait: Wait, stop: &AtomicBool, note: Note<'_>) {
    let calendar = Calendar::now();
    let mut pace = Pace::new(wait);
    let mut next: BinaryHeap<_> = (0..lanes.len())
        .filter_map(|at| Some(Reverse((lanes[at].next_ns()?, at))))
        .collect();
    while let Some(mut first) = next.peek_mut()
        && !stop.load(Ordering::Relaxed)
    {
        let Reverse((due_ns, at)) = *first;
        let now_ns = pace.until(due_ns, stop);
        lanes[at].step(now_ns, calendar, stop, note);
        match lanes[at].next_ns() {
            Some(due_ns) => first.0.0 = due_ns,
            None => {
                std::collections::binary_heap::PeekMut::pop(first);
            }
        }
    }
}
