//! The same topology live: cards with their control software in network namespaces, real frames
//! between them.
//!
//! ```text
//! r0: p0, p1 ═ veth ═ r0p0, r0p1 :the lab: r1p0, r1p1 ═ veth ═ p0, p1 :r1
//! ```
//! Each router is a card by packet sockets, with a thread and a namespace of its own. One thread,
//! the lab, has the other ends of all pairs: it carries frames across links with their delay and
//! rate, cuts what fails, is the hosts that send probes, and counts. So probes, outages and control
//! packets are taken as `simulate` takes them. Namespaces and pairs are held by descriptors and end
//! with the process, however it ends.

mod lab;
mod life;
mod limits;
mod measured;
mod wires;

pub(crate) use measured::{Measured, Unmeasured};

use lab::Lab;
use trammel_scenario::routing::Routing;

/// Runs `scenario` on this machine, by the clock; nothing where `stop` says so before the end.
pub(crate) fn measure(
    scenario: &Routing,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Measured>, Unmeasured> {
    if let Some(why) = limits::refusal(scenario) {
        return Err(Unmeasured::Lack(why));
    }
    Lab::new(scenario)?.run(stop)
}

/// Gives a process that is not root's the right to make network namespaces, where the machine
/// allows it. To be called while the process has one thread.
pub(crate) fn prepare() {
    // Where the machine refuses, the run says what is missing.
    let _ = trammel_io::netns::own_user();
}
