//! How a configuration is run.

use super::clock::VIRTUAL_START;
use crate::lang::Libraries;
use trammel_packet::timestamp::Timestamp;

/// How a router runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Virtual time from this moment, rather than the machine's.
    pub virtual_time: Option<Timestamp>,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Whether a new configuration may be written.
    pub reconfigurable: bool,
    /// Whether cycles are counted.
    pub profiled: bool,
    /// Packets that the pool has at first.
    pub packets: usize,
    /// The most packets that it may have.
    pub most_packets: usize,
    /// Batches delivered, jumps of scripts and handlers written late in one turn of a task or
    /// timer: what is under way then is caught in a loop.
    pub most_steps: u64,
    /// Whether a run ends where packets are caught in a loop.
    pub ends_at_loop: bool,
    /// The most packets that a source makes in one turn: the rest of a longer burst follows in the
    /// next ones.
    pub most_burst: usize,
    /// Statements that stand after every configuration, of no source line: servers of the command
    /// line.
    pub additions: String,
    /// Threads asked for.
    pub threads: usize,
    /// The processor that the first thread keeps to; the others keep to those after it.
    pub processor: Option<usize>,
    /// Variables of the command line, for configurations that are written while it runs.
    pub definitions: Vec<(String, String)>,
    /// Where such configurations find libraries.
    pub libraries: Libraries,
    /// Where files lie that control connections may name.
    pub control_folder: Option<String>,
    /// The configuration came by a control connection.
    pub confined: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            virtual_time: None,
            seed: 1,
            reconfigurable: false,
            profiled: false,
            packets: 4096,
            most_packets: 1 << 20,
            // Less than a second; a burst of 65,536 packets through a hundred elements that part
            // them all.
            most_steps: 1 << 23,
            ends_at_loop: false,
            most_burst: 1 << 16,
            additions: String::new(),
            threads: 1,
            processor: None,
            definitions: Vec::new(),
            libraries: Libraries::default(),
            control_folder: None,
            confined: false,
        }
    }
}

impl Options {
    /// For runs that find out what a configuration does, on this machine's time: what would not end
    /// is cut off early.
    pub fn studied() -> Options {
        Options {
            // A batch through thousands of elements that part it.
            most_steps: 1 << 18,
            most_packets: 1 << 17,
            ends_at_loop: true,
            most_burst: 1 << 10,
            ..Options::default()
        }
    }

    /// In virtual time, from Click's usual start.
    pub fn simulated() -> Options {
        Options {
            virtual_time: Some(VIRTUAL_START),
            ..Options::default()
        }
    }
}
