//! The router's interfaces: one on each port of the data plane.

use crate::address::{broadcast, is_host, is_station, network, prefix_length, show_mac};
use crate::dataplane::Mac;
use core::net::Ipv4Addr;

/// Characters of an interface's name, at most; Linux has the same limit.
const LONGEST_NAME: usize = 15;

/// An interface. Its place in a list, from 0, is its port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// What commands and files call it, for example `eth0`.
    pub name: String,
    /// The router's address on it.
    pub address: Ipv4Addr,
    /// The mask of the network it is connected to.
    pub mask: Ipv4Addr,
    /// Its MAC address.
    pub mac: Mac,
}

impl Interface {
    /// The network it is connected to.
    pub(crate) fn network(&self) -> Ipv4Addr {
        network(self.address, self.mask)
    }

    /// Whether `address` is on the connected network.
    pub(crate) fn reaches(&self, address: Ipv4Addr) -> bool {
        network(address, self.mask) == self.network()
    }

    /// Whether `address` means all hosts of the connected network.
    pub(crate) fn is_broadcast(&self, address: Ipv4Addr) -> bool {
        broadcast(self.address, self.mask) == Some(address)
    }

    /// What is wrong with it by itself, with what to do.
    pub(crate) fn fault(&self) -> Option<String> {
        let is_word = |c: u8| c.is_ascii_alphanumeric() || b"._-".contains(&c);
        if self.name.is_empty() || self.name.len() > LONGEST_NAME || !self.name.bytes().all(is_word)
        {
            return Some(format!(
                "`{}` is no name of an interface: give 1 to {LONGEST_NAME} letters, digits, `.`, \
                 `_` or `-`",
                self.name.escape_default()
            ));
        }
        if !is_station(self.mac) {
            return Some(format!(
                "{} is no station's MAC address: give one whose first byte is even, not all zeros",
                show_mac(self.mac)
            ));
        }
        address_fault(self.address, self.mask)
    }
}

/// What is wrong with an interface's address and mask, with what to do.
pub(crate) fn address_fault(address: Ipv4Addr, mask: Ipv4Addr) -> Option<String> {
    if !is_host(address) {
        return Some(format!(
            "{address} is no host's address: give one of 1.0.0.0 to 223.255.255.255, not of \
             network 127"
        ));
    }
    let Some(length) = prefix_length(mask).filter(|length| *length > 0) else {
        return Some(format!(
            "{mask} is no mask of a connected network: give ones before zeros, for example \
             255.255.255.0"
        ));
    };
    let is_network = length < 31 && network(address, mask) == address;
    if is_network || broadcast(address, mask) == Some(address) {
        return Some(format!(
            "{address} names all hosts of its network under mask {mask}: give a host of it"
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(address: [u8; 4], mask: [u8; 4]) -> Interface {
        Interface {
            name: "eth0".to_owned(),
            address: address.into(),
            mask: mask.into(),
            mac: [2, 0, 0, 0, 0, 1],
        }
    }

    #[test]
    fn each_fault_has_its_message() {
        assert_eq!(interface([10, 0, 0, 1], [255, 255, 255, 0]).fault(), None);
        assert_eq!(interface([10, 0, 0, 0], [255, 255, 255, 254]).fault(), None);
        let cases = [
            (
                interface([224, 0, 0, 5], [255, 0, 0, 0]),
                "no host's address",
            ),
            (interface([10, 0, 0, 1], [255, 0, 255, 0]), "no mask"),
            (interface([10, 0, 0, 1], [0, 0, 0, 0]), "no mask"),
            (interface([10, 0, 0, 0], [255, 255, 255, 0]), "all hosts"),
            (interface([10, 0, 0, 255], [255, 255, 255, 0]), "all hosts"),
        ];
        for (interface, says) in cases {
            let fault = interface.fault().expect("a fault");
            assert!(fault.contains(says), "{fault}");
        }
        let mut bad = interface([10, 0, 0, 1], [255, 255, 255, 0]);
        bad.mac[0] = 1;
        assert!(bad.fault().is_some_and(|fault| fault.contains("MAC")));
        bad.name = "eth 0".to_owned();
        assert!(bad.fault().is_some_and(|fault| fault.contains("name")));
    }
}
