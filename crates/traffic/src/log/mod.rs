//! Trammel's own log of packets: 24 bytes each, in blocks that each stand alone.
//!
//! A file is a sequence of blocks, as [`block`] lays them out: a *session* says who wrote what
//! follows and which two instants its records hold, a *flow* what a number stands for, *sent* how
//! many packets its sender says that it sent, *records* tell of up to 4096 packets. Every block has
//! its own checksum, so that a file is readable up to its last whole block however its writer
//! ended; what a crash loses is the block that was not yet [flushed](Writer::flush). Logs are
//! appended to by one more session; the numbers of flows belong to their session.
//!
//! To append, [`survey`] the file first: where it does not end [`Whole`](Ending::Whole), what is
//! behind `good_bytes` has to be cut off with the user's consent, or nobody will read what is
//! appended.

pub mod block;
pub mod crc;
mod fields;
pub mod quota;
mod reader;
#[cfg(target_os = "linux")]
pub mod remote;
#[cfg(target_os = "linux")]
pub mod server;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::{Ending, Reader, Survey, survey};
pub use writer::{Error, Writer};

use crate::record::{Instants, LoggedFlow, Record};

/// Who wrote a log, and what its records hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Which two instants the records hold.
    pub instants: Instants,
    /// When the session began, in nanoseconds since 1970.
    pub date_ns: i64,
    /// The host that wrote it; at most 255 bytes, as the other texts.
    pub host: String,
    /// The clock that the instants were read from.
    pub clock: String,
    /// The program and its version.
    pub program: String,
    /// The seed of the run.
    pub seed: u64,
}

/// What a log holds, in the order it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// What follows is of this session.
    Session(Session),
    /// A flow of the session.
    Flow(LoggedFlow),
    /// How many packets of a flow its sender says that it sent: what came after the last that came
    /// is lost as well.
    Sent {
        /// The flow's number.
        flow: u32,
        /// How many.
        packets: u64,
    },
    /// A packet of a flow; the flow itself may be told later, or never.
    Record(Record),
}
