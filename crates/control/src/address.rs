//! IPv4 and MAC addresses: which are hosts, what a mask is, how they are read and shown.

use crate::dataplane::Mac;
use core::net::Ipv4Addr;

/// Whether `address` may be one host's: not of network 0 or 127, no group, not class E (RFC 1812
/// §5.3.7).
pub(crate) fn is_host(address: Ipv4Addr) -> bool {
    let first = address.octets()[0];
    first != 0 && first != 127 && first < 224
}

/// The number of ones of `mask`, or nothing where a one follows a zero.
pub(crate) fn prefix_length(mask: Ipv4Addr) -> Option<u32> {
    let ones = mask.to_bits().leading_ones();
    (ones == mask.to_bits().count_ones()).then_some(ones)
}

/// The network of `address` under `mask`.
pub(crate) fn network(address: Ipv4Addr, mask: Ipv4Addr) -> Ipv4Addr {
    Ipv4Addr::from_bits(address.to_bits() & mask.to_bits())
}

/// The address of all hosts of the network; networks of one and two addresses have none (RFC 3021).
pub(crate) fn broadcast(address: Ipv4Addr, mask: Ipv4Addr) -> Option<Ipv4Addr> {
    let hosts = !mask.to_bits();
    (hosts > 1).then(|| Ipv4Addr::from_bits(address.to_bits() | hosts))
}

/// Reads six bytes in hexadecimal with colons between them.
pub(crate) fn read_mac(text: &str) -> Option<Mac> {
    let mut mac = Mac::default();
    let mut parts = text.split(':');
    for byte in &mut mac {
        let part = parts.next()?;
        let is_hex = part.bytes().all(|digit| digit.is_ascii_hexdigit());
        if !is_hex || part.is_empty() || part.len() > 2 {
            return None;
        }
        *byte = u8::from_str_radix(part, 16).ok()?;
    }
    parts.next().is_none().then_some(mac)
}

/// Whether `mac` may be one station's.
pub(crate) fn is_station(mac: Mac) -> bool {
    mac[0] & 1 == 0 && mac != Mac::default()
}

/// A MAC address as it is written.
pub(crate) fn show_mac(mac: Mac) -> String {
    mac.map(|byte| format!("{byte:02x}")).join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_has_its_ones_before_its_zeros() {
        assert_eq!(prefix_length(Ipv4Addr::new(255, 255, 255, 0)), Some(24));
        assert_eq!(prefix_length(Ipv4Addr::UNSPECIFIED), Some(0));
        assert_eq!(prefix_length(Ipv4Addr::BROADCAST), Some(32));
        assert_eq!(prefix_length(Ipv4Addr::new(255, 255, 255, 225)), None);
    }

    #[test]
    fn a_mac_is_read_as_it_is_shown() {
        let mac = [0xca, 0xfe, 0xf0, 0x0d, 0, 1];
        assert_eq!(read_mac(&show_mac(mac)), Some(mac));
        assert_eq!(read_mac("0:1:2:3:4:5"), Some([0, 1, 2, 3, 4, 5]));
        for bad in [
            "",
            "0:1:2:3:4",
            "0:1:2:3:4:5:6",
            "+1:1:2:3:4:5",
            "100:1:2:3:4:5",
        ] {
            assert_eq!(read_mac(bad), None, "{bad}");
        }
    }

    #[test]
    fn networks_of_two_addresses_have_no_broadcast() {
        let address = Ipv4Addr::new(10, 0, 0, 1);
        let short = Ipv4Addr::new(255, 255, 255, 0);
        assert_eq!(
            broadcast(address, short),
            Some(Ipv4Addr::new(10, 0, 0, 255))
        );
        assert_eq!(broadcast(address, Ipv4Addr::from_bits(!1)), None);
        assert_eq!(broadcast(address, Ipv4Addr::BROADCAST), None);
    }
}
