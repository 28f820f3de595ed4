//! A file through the configuration: which way segments and ACKs go, and what elements cost under
//! both.
//!
//! Segments come by the first way in out of which any comes, ACKs by another one; where a
//! configuration forwards one way only, the ACKs go past it. An element that sees both is charged
//! the mean of what they cost, weighted by how many of each come.

use super::{RING, Simulated};
use crate::beds::configuration::{Offered, failure};
use crate::transfer::simulated::{self, ACK_BYTES, DeviceBetween, SEGMENT_BYTES};
use trammel_bench::testbed::Unable;
use trammel_bench::transfer::{File, Transferred};
use trammel_bench::trial::Failure;
use trammel_core::time::Span;
use trammel_router::engine::core_clock::Cost;
use trammel_router::simulate::port::Notice;
use trammel_workbench::arrivals::Pattern;
use trammel_workbench::bench::Bench as Workbench;
use trammel_workbench::device::{Device, Ports, weighted};
use trammel_workbench::frames::{FCS, least};
use trammel_workbench::middlebox::Way;
use trammel_workbench::simulated::SimulatedRouter;
use trammel_workbench::traffic::Traffic as Frames;

/// Every second segment has an ACK (RFC 5681 §4.2).
const SEGMENTS_SHARE: f64 = 2.0 / 3.0;

/// One direction of a file: its router at rest, and its way through it.
struct Direction {
    router: SimulatedRouter,
    way: Way,
}

pub(super) fn transfer(bed: &Simulated, file: &File) -> Result<Transferred, Failure> {
    let out = direction(bed, false, None)?.ok_or_else(|| {
        Unable(format!(
            "no segment of TCP comes out of {}",
            bed.configuration.name()
        ))
    })?;
    let back = direction(bed, true, Some(&out.way))?;
    let router = Box::new(charged(&out.router, back.as_ref().map(|back| &back.router)));
    let between = DeviceBetween::Router(router, out.way, back.map(|back| back.way));
    simulated::transfer(&between, bed.configuration.rate, file)
}

/// The first direction in which segments, or ACKs, come through; not one that begins or ends as
/// `taken` does.
fn direction(
    bed: &Simulated,
    is_ack: bool,
    taken: Option<&Way>,
) -> Result<Option<Direction>, Failure> {
    let mut bench = bed.configuration.bench.clone();
    bench.feed_devices(&[simulated::segment(is_ack)]);
    for at in bench.active() {
        let from = bench.inlets()[at].to_owned();
        let mut alone = bench.clone();
        alone.narrow(&[at]);
        let router = router(bed, &alone, if is_ack { ACK_BYTES } else { SEGMENT_BYTES })?;
        let Some(frame) = router
            .streams
            .first()
            .and_then(|stream| stream.frames.first())
        else {
            continue;
        };
        let head = &frame[..(least(frame) - FCS).min(frame.len())];
        let way = simulated::way(&router, &from, head)?;
        let is_free =
            |way: &Way| taken.is_none_or(|taken| taken.from != way.from && taken.to != way.to);
        if let Some(way) = way.filter(is_free) {
            return Ok(Some(Direction { router, way }));
        }
    }
    Ok(None)
}

/// `bench` at rest, where frames of one size come.
fn router(bed: &Simulated, bench: &Workbench, bytes: u32) -> Result<SimulatedRouter, Failure> {
    let frames = Frames {
        frame: bytes as usize,
        ..Frames::default()
    };
    let ports = Ports {
        rate: bed.configuration.rate,
        ring: RING,
        pattern: Pattern::Constant,
        seed: frames.seed,
    };
    let offered = Offered {
        bench: bench.clone(),
        frames,
    };
    let under = offered.conditions(bed.configuration.rate);
    let (bench, frames) = (&offered.bench, &offered.frames);
    let device = Device::new(bench, &bed.machine, frames, &under, ports).map_err(failure)?;
    let mut router = device.router().clone();
    // A core that looks for frames all the time is simulated look by look. This one is woken, at
    // once and for nothing, which differs by less than a look.
    for port in &mut router.ports {
        port.notice = Notice::Interrupt(Span::ZERO);
    }
    Ok(router)
}

/// `out` with what elements cost that see segments, ACKs or both.
fn charged(out: &SimulatedRouter, back: Option<&SimulatedRouter>) -> SimulatedRouter {
    let mut router = out.clone();
    let others = back.into_iter().flat_map(|back| &back.costs.names);
    for (name, cost) in others {
        let known = router.costs.names.get(name).copied();
        let both = known.map(|known| {
            let segments = weighted(Cost::NONE, &known, SEGMENTS_SHARE);
            weighted(segments, cost, 1.0 - SEGMENTS_SHARE)
        });
        let charge = both.unwrap_or(*cost);
        router.costs.names.insert(name.clone(), charge);
    }
    router
}
