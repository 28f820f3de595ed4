//! The kernel as the forwarder, and the source alone.

use crate::outcome::Outcome;
use crate::rig::Rig;
use crate::{failed, load};
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_io::clock;
use trammel_io::error::Result;
use trammel_io::live::{self, Sink, Source};

/// Has the kernel do it, or with `is_routing` off, drop everything at once: what the source alone
/// costs.
pub(crate) fn forward(rig: &Rig, seconds: f64, is_routing: bool) -> Result<Outcome> {
    let source = rig.source.run(|| Source::open("out", &load::frame(rig)?))?;
    let (passing, dropping) = if is_routing {
        (Some(rig.middle.run(|| live::pass("in0"))?), None)
    } else {
        (None, Some(rig.middle.run(|| Sink::open("in0"))?))
    };
    let before = rig.delivered()?;
    let is_done = AtomicBool::new(false);
    let start = clock::monotonic_ns();
    let offered = std::thread::scope(|scope| {
        let offering = scope.spawn(|| load::most(&source, &is_done));
        let waited = clock::wait(&[], Some((seconds * 1e9) as i64));
        is_done.store(true, Ordering::Relaxed);
        waited
            .and(offering.join().expect("the thread does not panic"))
            .map_err(failed)
    })?;
    let wall_ns = clock::monotonic_ns() - start;
    drop(passing);
    let delivered = match dropping {
        Some(sink) => sink.count()?,
        None => rig.delivered()? - before,
    };
    Ok(Outcome {
        offered,
        delivered,
        wall_ns,
        thread_ns: offered.thread_ns,
    })
}

/// A namespace in the middle that routes.
pub(crate) fn rig() -> Result<Rig> {
    let routing = Rig::new()?;
    routing.middle.add_address("in0", "10.1.0.254/24")?;
    routing.middle.add_address("out0", "10.2.0.254/24")?;
    routing
        .middle
        .add_neighbour("out0", "10.2.0.9", [2, 0, 0, 0, 0, 9])?;
    routing.middle.set_sysctl("ipv4/ip_forward", "1")?;
    Ok(routing)
}
