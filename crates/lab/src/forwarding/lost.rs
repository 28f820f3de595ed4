//! Which frames count as lost: those that a faster machine would have forwarded.

use trammel_router::engine::Ctx;
use trammel_router::reason::Reason;

/// Why packets end in elements that a faster machine would have forwarded; whatever else ends them is the function's own work.
pub const LOST: [Reason; 3] = [Reason::Overflow, Reason::PoolFull, Reason::SendFailed];

/// Packets that the elements of `router` have lost so far.
pub fn in_elements(router: &Ctx) -> u64 {
    let of = |element| {
        let drops = &router.counters(element).drops;
        LOST.iter()
            .map(|reason| drops[*reason as usize])
            .sum::<u64>()
    };
    (0..router.elements()).map(of).sum()
}
