//! Bounds and units of arguments.

/// The longest list of flows that a script may hold.
pub const MOST_FLOWS: usize = 65_536;

/// Bytes in one of D-ITG's kilobytes (`-k 1` at 100 bytes a packet sends 11 packets).
pub(crate) const KILOBYTE: u64 = 1024;
