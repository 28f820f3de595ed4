//! The routing update of RFC 2544, §11.3: RIP tells of six networks that no test frame goes to, and
//! alternates between two states of them (RFC 1058).
//!
//! Differs from RFC 2544, appendix C.2.6.2: UDP has a checksum, and the length is that of six
//! networks, 152 bytes, where the text has 238.

use super::frame::{Link, datagram};
use std::net::Ipv4Addr;

/// The port of RIP at both ends.
const RIP_PORT: u16 = 520;
const RESPONSE: u8 = 2;
const VERSION: u8 = 1;
/// The family of addresses: IP.
const FAMILY: u8 = 2;
//= rfc2544 §C.2.3
//# IP-RIP  30 sec
/// From one update to the next, in nanoseconds.
pub(crate) const INTERVAL_NS: i64 = 30_000_000_000;
/// The networks are reached through the tester.
//= rfc2544 §C.2.2.2
//# A series of Class C network addresses from 198.18.65.0 to
//# 198.18.254.0 has been assigned for use as the networks accessible
//# through the phantom routers on the "input" side of DUT.
const NETWORKS: std::ops::Range<u8> = 249..255;
/// Metrics of the two states: that of the text's frame, and one more.
const METRICS: [u8; 2] = [7, 8];

/// Update `number` from a port at `from` to all routers of its network of 24 bits.
//= rfc2544 §11.3
//# The first frame sets the routing table
//# state to "A", the second one changes the state to "B".  The frames
//# MUST be alternated during the trial.
pub(crate) fn frame(link: &Link, from: Ipv4Addr, number: u16) -> Vec<u8> {
    let metric = METRICS[usize::from(number) % METRICS.len()];
    let [first, second, third, _] = from.octets();
    let mut update = vec![RESPONSE, VERSION, 0, 0];
    for network in NETWORKS {
        update.extend([0, FAMILY, 0, 0, first, second, network, 0]);
        update.extend([0; 8]);
        update.extend([0, 0, 0, metric]);
    }
    let to_all = Link {
        to_mac: [0xff; 6],
        ..*link
    };
    let all = [first, second, third, 255].into();
    datagram(&to_all, (from, RIP_PORT), (all, RIP_PORT), &update)
}

#[cfg(test)]
mod tests {
    use super::super::frame::payload;
    use super::*;

    #[test]
    fn states_alternate_and_the_rest_is_as_the_text_has_it() {
        let link = Link {
            from_mac: [2; 6],
            to_mac: [4; 6],
            tag: None,
        };
        let [first, second, third] =
            [0, 1, 2].map(|number| frame(&link, [198, 18, 1, 2].into(), number));
        assert_eq!(first, third);
        assert_ne!(first, second);
        assert_eq!(first[..6], [0xff; 6]);
        assert_eq!(first[30..38], [198, 18, 1, 255, 2, 8, 2, 8]);
        let told = payload(&first).expect("it is a datagram");
        assert_eq!(told.len(), 4 + 6 * 20);
        assert_eq!(told[..4], [2, 1, 0, 0]);
        for (at, entry) in told[4..].chunks(20).enumerate() {
            assert_eq!(entry[..4], [0, 2, 0, 0]);
            assert_eq!(entry[4..8], [198, 18, 249 + at as u8, 0]);
            assert_eq!(entry[8..], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]);
        }
    }
}
