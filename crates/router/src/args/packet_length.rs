//! How long an element may make a packet.

use crate::diagnostic::Diagnostics;

/// The most bytes that an element adds to a packet: what an IP packet can have.
pub(crate) const MOST: usize = 65535;

/// The number of an argument, where it is within [`MOST`].
pub(crate) fn within_most(name: &str, value: u64) -> Result<usize, Diagnostics> {
    match usize::try_from(value) {
        Ok(value) if value <= MOST => Ok(value),
        _ => {
            let mut said = Diagnostics::new();
            said.error(None, format!("{name}: out of range, bound {MOST}"));
            Err(said)
        }
    }
}
