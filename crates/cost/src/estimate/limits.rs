//! What is used up first: processor, links, bus or memory.

use super::load::Load;
use crate::machine::Machine;

/// Bytes between frames on a link: preamble, start and gap (IEEE 802.3).
pub(super) const GAP: f64 = 20.0;
/// Bytes of a transaction's headers and of descriptors, a frame, on the bus. A usual figure, not of
/// one device.
const BUS_OVERHEAD: f64 = 32.0;

pub(super) const CPU: &str = "cpu";

/// A rate at which something is used up.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// What: `cpu`, `link`, `bus` or `memory`.
    pub what: &'static str,
    /// Packets a second.
    pub pps: f64,
}

/// The limits of a function, the lowest first; those that are infinite are left out.
pub(super) fn limits(cycles: f64, accesses: f64, machine: &Machine, load: &Load) -> Vec<Limit> {
    let per = |capacity: f64, each: f64| {
        if each > 0.0 {
            capacity / each
        } else {
            f64::INFINITY
        }
    };
    let link = load.ports.count * load.ports.bits_per_s;
    let all = [
        (CPU, per(machine.clock_hz * load.cores, cycles)),
        ("link", per(link, (load.frame + GAP) * 8.0)),
        (
            "bus",
            per(machine.pcie_bytes_per_s, load.frame + BUS_OVERHEAD),
        ),
        ("memory", per(machine.memory.accesses_per_s, accesses)),
    ];
    let mut limits: Vec<Limit> = all
        .into_iter()
        .filter(|(what, pps)| pps.is_finite() || *what == CPU)
        .map(|(what, pps)| Limit { what, pps })
        .collect();
    limits.sort_by(|a, b| a.pps.total_cmp(&b.pps));
    limits
}
