//! Who sends to whom in a trial: addresses of RFC 2544, appendix C.2.2, and RFC 5180, §8, on all
//! devices alike.

use trammel_bench::testbed::{Protocol, Traffic};
use trammel_traffic::addresses::{Addresses, Side};

/// Hosts of a network of 24 bits from node 2 on; two numbers without a common divisor, so that
/// pairs of them differ.
const SOURCES: u32 = 253;
const DESTINATIONS: u32 = 251;

/// The other side of a device.
pub(super) fn other(side: Side) -> Side {
    match side {
        Side::Input => Side::Output,
        Side::Output => Side::Input,
    }
}

/// The sources and the destinations of `traffic` from one side of a device: flow `n` goes from the
/// `n`th of the one to the `n`th of the other. Streams differ in hosts of one network at each side,
/// and networks are behind the side to which frames go.
pub(super) fn nodes(from: Side, traffic: &Traffic) -> (Addresses, Addresses) {
    let is_ipv6 = traffic.protocol == Protocol::Ip6;
    let hosts = |side, most: u32| Addresses {
        step: 1,
        count: traffic.streams.min(most),
        ..Addresses::nodes(side, is_ipv6, 1)
    };
    let to = other(from);
    let destinations = match traffic.networks {
        1 => hosts(to, DESTINATIONS),
        networks => Addresses::nodes(to, is_ipv6, networks),
    };
    (hosts(from, SOURCES), destinations)
}

/// How many flows there are in a direction of `traffic`.
pub(super) fn flows(traffic: &Traffic) -> u32 {
    traffic.streams.max(traffic.networks)
}
