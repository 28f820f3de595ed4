//! Sending streams: each packet at its time, and what became of the schedule.

mod schedule;
pub mod session;
pub mod udp;

use crate::pace::Wait;
use crate::record::Record;
use crate::signal::message::Count;
use trammel_core::histogram::Histogram;

/// How packets are handed to the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mechanism {
    /// What is due by then in one call: each packet by itself as long as the sender keeps up, many in a call where it does not.
    #[default]
    Calls,
    /// Packets that are due together as one that the kernel cuts: bursts without gaps.
    Segments,
}

/// How to send.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// How to wait for packets' times.
    pub wait: Wait,
    /// How packets are handed over.
    pub mechanism: Mechanism,
}

/// What became of a stream.
#[derive(Clone, Debug)]
pub struct Sent {
    /// What was sent; lost are packets that were left out because they were late.
    pub count: Count,
    /// When the first and the last were sent, in nanoseconds since 1970; 0 where none was.
    pub first_ns: i64,
    /// See `first_ns`.
    pub last_ns: i64,
    /// Errors of calls: nobody there, no buffers. Such packets count as sent.
    pub errors: u64,
    /// Packets that were handed over after the one that follows was due: where there are any, the sender was the limit.
    pub overdue: u64,
    /// By how much the plan was put off at the end, in nanoseconds.
    pub shift_ns: i64,
    /// How long after it was due each packet was handed to the kernel. It is not when it left.
    pub lateness: Histogram,
}

impl Sent {
    fn nothing() -> Sent {
        Sent {
            count: Count::default(),
            first_ns: 0,
            last_ns: 0,
            errors: 0,
            overdue: 0,
            shift_ns: 0,
            lateness: Histogram::of_times(),
        }
    }
}

/// Takes what is known of each packet.
pub type Note<'a> = &'a mut (dyn FnMut(&Record) + Send);
