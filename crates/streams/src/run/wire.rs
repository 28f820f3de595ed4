//! What a payload takes on the path: headers, lower layers, fragments.

use trammel_scenario::path::Line;

/// Bytes of a header of UDP (RFC 768) or of an echo request (RFC 792).
const UDP: u32 = 8;
/// Bytes of an IPv4 header without options (RFC 791).
const IP: u32 = 20;

/// Bytes that `line` counts for a datagram with so much payload. One that is longer than its MTU
/// travels in fragments, each with a header of its own, whose data is a multiple of 8 bytes.
pub(super) fn bytes(payload: u32, line: &Line) -> u32 {
    let datagram = payload + UDP;
    let room = line.mtu.saturating_sub(IP);
    let fragments = if datagram <= room {
        1
    } else {
        datagram.div_ceil((room / 8 * 8).max(8))
    };
    datagram + fragments * (IP + line.overhead)
}

/// The longest payload that travels in one piece.
pub(super) fn longest_whole(line: &Line) -> u32 {
    line.mtu.saturating_sub(IP + UDP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::units::Rate;

    #[test]
    fn a_datagram_has_one_header_and_each_fragment_its_own() {
        let line = Line::new(Rate::from_bps(1));
        assert_eq!(bytes(500, &line), 500 + 8 + 20 + 14);
        assert_eq!(bytes(longest_whole(&line), &line), 1514);
        assert_eq!(bytes(longest_whole(&line) + 1, &line), 1473 + 8 + 2 * 34);
        // 65,507 + 8 bytes in fragments of 1480.
        assert_eq!(bytes(65_507, &line), 65_515 + 45 * 34);
    }
}
