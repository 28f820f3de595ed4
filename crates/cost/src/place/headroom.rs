//! How full a core may be: the utilisation that bursts and the receive ring leave.
//!
//! A polling core with a ring of K descriptors and arrivals in bursts of B loses packets before it
//! is full. The largest utilisation with a loss of at most half of [`LOSS_TARGET`] depends on K/B
//! nearly alone; [`BY_RATIO`] lists it as `polling` finds it (a test repeats the search). A core is
//! sized at the *high* end of its cost, so the utilisation at the centre is at most u/(1 + e), e
//! being the relative half-width of the estimate.

use super::model::Arrivals;

/// The part of the packets that a core may lose.
pub const LOSS_TARGET: f64 = 1e-3;

/// The largest utilisation that is ever planned: clocks drift and interrupts come.
pub const MOST: f64 = 0.95;

/// (Descriptors of the ring over packets of a burst, largest utilisation), by falling ratio.
pub const BY_RATIO: &[(f64, f64)] = &[
    (64.0, 0.95),
    (32.0, 0.90),
    (16.0, 0.80),
    (8.0, 0.60),
    (4.0, 0.30),
];

/// The largest utilisation of a core whose ring has `ring` descriptors, or nothing where no
/// utilisation keeps the loss below the target.
pub fn utilisation(arrivals: Arrivals, ring: u32) -> Option<f64> {
    let burst = match arrivals {
        Arrivals::Smooth => return (ring > 0).then_some(MOST),
        Arrivals::Bursts(burst) => burst,
    };
    let ratio = f64::from(ring) / f64::from(burst.max(1));
    let found = BY_RATIO.iter().find(|(least, _)| ratio >= *least);
    found.map(|(_, utilisation)| *utilisation)
}

/// The smallest ring that takes bursts of `burst` packets at some utilisation.
pub(crate) fn least_ring(burst: u32) -> u32 {
    let (least, _) = BY_RATIO[BY_RATIO.len() - 1];
    (least * f64::from(burst)).ceil() as u32
}
