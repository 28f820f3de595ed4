//! Addresses of test frames: those of RFC 2544, appendix C.2.2, and RFC 5180, §8, at even
//! distances.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Networks of RFC 2544, §12.
pub const NETWORKS: u32 = 256;

/// Addresses at even distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// The first.
    pub first: IpAddr,
    /// From one to the next: 256 from an IPv4 network of 24 bits to the next, 2⁶⁴ between IPv6
    /// networks of 64.
    pub step: u128,
    /// How many, after which it begins again; at least 1.
    pub count: u32,
}

impl Addresses {
    /// One address.
    pub fn one(address: IpAddr) -> Addresses {
        Addresses {
            first: address,
            step: 0,
            count: 1,
        }
    }

    /// Node 2 of `count` networks (1 to 256) of the device's input or output side.
    pub fn nodes(side: Side, is_ipv6: bool, count: u32) -> Addresses {
        // Several networks are those from number 0 on; a single one is number 1, as in RFC 2544's
        // examples.
        let network = u16::from(count == 1);
        let (first, step) = if is_ipv6 {
            let subnet = if side == Side::Input { 0 } else { 0x8000 } | network;
            (
                Ipv6Addr::new(0x2001, 2, 0, subnet, 0, 0, 0, 2).into(),
                1 << 64,
            )
        } else {
            let second = if side == Side::Input { 18 } else { 19 };
            (Ipv4Addr::new(198, second, network as u8, 2).into(), 256)
        };
        Addresses { first, step, count }
    }

    /// The `n`th, again from the first behind the last.
    pub fn nth(&self, n: u32) -> IpAddr {
        let away = self.step.wrapping_mul(u128::from(n % self.count.max(1)));
        match self.first {
            IpAddr::V4(first) => Ipv4Addr::from(u32::from(first).wrapping_add(away as u32)).into(),
            IpAddr::V6(first) => Ipv6Addr::from(u128::from(first).wrapping_add(away)).into(),
        }
    }
}

/// A side of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Where frames go in, in the first direction.
    Input,
    /// Where they come out.
    Output,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_the_rfcs() {
        let text = |of: Addresses, n| of.nth(n).to_string();
        assert_eq!(
            text(Addresses::nodes(Side::Input, false, 1), 5),
            "198.18.1.2"
        );
        let networks = Addresses::nodes(Side::Output, false, NETWORKS);
        assert_eq!(
            (text(networks, 0), text(networks, 255)),
            ("198.19.0.2".into(), "198.19.255.2".into())
        );
        assert_eq!(text(networks, 256), "198.19.0.2");
        assert_eq!(
            text(Addresses::nodes(Side::Input, true, 1), 0),
            "2001:2:0:1::2"
        );
        assert_eq!(
            text(Addresses::nodes(Side::Output, true, NETWORKS), 3),
            "2001:2:0:8003::2"
        );
    }
}
