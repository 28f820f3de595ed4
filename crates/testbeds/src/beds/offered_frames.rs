//! The frames that the tester sends for a kind of traffic.

use super::nodes;
use trammel_bench::testbed::{Modifier, Traffic, Unable};
use trammel_core::time::Span;
use trammel_traffic::addresses::Side;
use trammel_traffic::tester::port::Port;
use trammel_traffic::tester::traffic::{Bursts, Stream, Traffic as Frames};

/// The frames from one side, on a line of `line_bps` bits a second; the error is why they cannot be
/// sent.
pub(super) fn frames_from(
    from: Side,
    traffic: &Traffic,
    ports: &[Port; 2],
    line_bps: f64,
) -> Result<Frames, Unable> {
    let is_ipv6 = ports[0].address.is_ipv6();
    let sizes = traffic.sizes.bytes().iter();
    let sizes: Vec<u16> = sizes.map(|bytes| *bytes as u16).collect();
    let (sources, destinations) = nodes::nodes(from, traffic);
    let stream = Stream {
        flows: nodes::flows(traffic),
        from: sources,
        to: destinations,
        ..Stream::of_rfc2544(from, is_ipv6, 1, &sizes)
    };
    let queries = match (
        traffic.modifier,
        ports[usize::from(from == Side::Output)].gateway,
    ) {
        (Some(Modifier::Management), Some(std::net::IpAddr::V4(agent))) => Some(agent),
        (Some(Modifier::Management), _) => {
            return Err(Unable(
                "management queries need a router with an IPv4 address; this device has none"
                    .to_owned(),
            ));
        }
        _ => None,
    };
    let updates = traffic.modifier == Some(Modifier::RoutingUpdates);
    if updates && is_ipv6 {
        return Err(Unable(
            "routing updates are RIP, which is for IPv4".to_owned(),
        ));
    }
    let frames = Frames {
        bursts: (traffic.burst > 1).then(|| Bursts {
            frames: traffic.burst,
            gap: Span::from_secs_f64(1.0 / traffic.sizes.line_fps(line_bps)),
        }),
        updates,
        drawn: (traffic.networks > 1).then_some(traffic.seed),
        broadcasts: traffic.modifier == Some(Modifier::Broadcast),
        queries,
        ..Frames::of(stream)
    };
    match frames.check(false) {
        Ok(()) => Ok(frames),
        Err(why) => Err(Unable(why.to_string())),
    }
}
