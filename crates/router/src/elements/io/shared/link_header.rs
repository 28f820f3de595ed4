//! What lies behind a link header: where an IP header begins in a frame.

use trammel_packet::packet::Packet;

const ETHER_BYTES: usize = 14;
const TAG_BYTES: usize = 4;

/// Where the IP header begins in a frame, with VLAN tags passed by; `has_link` says whether there
/// is an Ethernet header before it. Nothing where it holds no IP packet.
pub(crate) fn ip_offset(frame: &[u8], has_link: bool) -> Option<usize> {
    let mut at = 0;
    if has_link {
        at = ETHER_BYTES;
        loop {
            match frame.get(at - 2..at)? {
                [0x81, 0x00] | [0x88, 0xa8] => at += TAG_BYTES,
                [0x08, 0x00] | [0x86, 0xdd] => break,
                _ => return None,
            }
        }
    }
    let first = frame.get(at)?;
    let (least, header) = match first >> 4 {
        4 => (20, usize::from(first & 15) * 4),
        6 => (40, 40),
        _ => return None,
    };
    (header >= least && frame.len() >= at + header).then_some(at)
}

/// Marks the IP header of a frame and says whether there is one.
pub(crate) fn mark_ip(packet: &mut Packet, has_link: bool) -> bool {
    let Some(at) = ip_offset(packet.data(), has_link) else {
        return false;
    };
    let header = match packet.data()[at] >> 4 {
        4 => usize::from(packet.data()[at] & 15) * 4,
        _ => 40,
    };
    if has_link {
        packet.set_mac_header(0);
    }
    packet.set_network_header(at as isize);
    packet.set_transport_header((at + header) as isize);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_passed_by_and_lies_are_refused() {
        let mut frame = vec![0; 60];
        frame[12..14].copy_from_slice(&[8, 0]);
        frame[14] = 0x45;
        assert_eq!(ip_offset(&frame, true), Some(14));
        frame[14] = 0x44;
        assert_eq!(ip_offset(&frame, true), None, "a header of 16 bytes");
        frame[12..20].copy_from_slice(&[0x81, 0, 0, 5, 0x86, 0xdd, 0x60, 0]);
        assert_eq!(ip_offset(&frame, true), Some(18));
        assert_eq!(ip_offset(&frame[..40], true), None, "cut");
        assert_eq!(ip_offset(&[0x81; 14], true), None);
        assert_eq!(ip_offset(&[], false), None);
    }
}
