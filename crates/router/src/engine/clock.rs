//! The two clocks: the machine's, and virtual time that jumps to what happens next.

use trammel_packet::timestamp::Timestamp;

/// Which clock runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clock {
    /// The machine's, read from the host.
    Wall,
    /// Virtual time.
    Virtual(Timestamp),
}

/// Where virtual time starts unless told otherwise.
pub const VIRTUAL_START: Timestamp = Timestamp::from_secs(1_000_000_000);
