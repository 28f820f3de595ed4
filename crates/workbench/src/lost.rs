//! Which frames count as lost: those that a faster machine would have forwarded.

use trammel_router::Reason;
use trammel_router::engine::Ctx;
use trammel_router::simulate::Balance;

/// Why packets end in elements that a faster machine would have forwarded; whatever else ends them
/// is the function's own work.
pub const LOST: [Reason; 3] = [Reason::Overflow, Reason::PoolFull, Reason::SendFailed];

/// Frames that rings, queues and buffers of a simulated router had no room for so far.
pub fn of_balance(balance: &Balance) -> u64 {
    let ended = balance.dropped.iter();
    let ended = ended.filter(|(reason, _)| LOST.contains(reason));
    balance.lost + ended.map(|(_, count)| count).sum::<u64>()
}

/// Frames that have come to a simulated router and not out of it.
pub fn waiting(balance: &Balance) -> u64 {
    balance.in_receive_rings + balance.in_transmit_rings + balance.inside
}

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
