//! Files through a device: how fast a transfer is, and what share of that without the device.
//!
//! ```text
//! server ── device ── client        and, by turns with it,        server ──────── client
//! ```
//! Both are transferred in turn, so that what changes of the machine meanwhile changes both.
//!
//! Linguaglossa, Lombardo, Reforgiato, Schembra, "Performance Comparison between the Click Modular
//! Router and the NetFPGA Router", §5.7: "show how fast a file transfer is".

use crate::frames::Sizes;
use crate::testbed::Traffic;
use trammel_core::time::Span;

/// Frames of a file are as long as Ethernet has them, but the last.
const FRAME_BYTES: u32 = 1518;

/// What a file is on the line.
pub fn frames() -> Traffic {
    Traffic::of(Sizes::of(FRAME_BYTES).expect("the size is within bounds"))
}

/// By what a file is transferred.
#[derive(Clone, Debug, PartialEq)]
pub enum Protocol {
    /// RFC 959, passive: a real server and a real client.
    Ftp,
    /// RFC 9112: a real server and a real client.
    Http,
    /// The file alone over one connection of simulated hosts.
    Tcp {
        /// The congestion control.
        variant: String,
        /// The round trip that the lines have besides the device.
        rtt: Span,
    },
}

impl Protocol {
    /// Its name in tables and commands.
    pub fn name(&self) -> &'static str {
        match self {
            Protocol::Ftp => "ftp",
            Protocol::Http => "http",
            Protocol::Tcp { .. } => "tcp",
        }
    }
}

/// What lies between server and client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Across {
    /// The device.
    Device,
    /// Nothing: a wire of the same rate.
    Wire,
}

/// A file to be transferred.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// Its length; at least 1.
    pub bytes: u64,
    /// By what.
    pub protocol: Protocol,
    /// Across what.
    pub across: Across,
}

/// What a transfer came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Transferred {
    /// From the client's first word to the last byte; above 0.
    pub time: Span,
    /// Segments that were sent again.
    pub retransmissions: u64,
    /// Who served and who fetched, in a line for reports.
    pub hosts: String,
}
