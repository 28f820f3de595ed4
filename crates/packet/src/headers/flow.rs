//! The flow of a packet: addresses, protocol and ports, and which way it goes.
//!
//! Of packets without ports (other protocols, fragments but the first, packets cut short) the ports
//! are 0. ICMP errors are not looked into: their flow is that of the message itself.

use super::ipv4::{Ipv4, protocol};
use super::ipv6::{self, Ipv6};
use std::net::IpAddr;

/// Which of the two ends sent a packet, by the order of the ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the smaller end, or both are the same.
    Forward,
    /// From the larger.
    Backward,
}

/// The five-tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FiveTuple {
    /// From which address.
    pub src: IpAddr,
    /// To which address.
    pub dst: IpAddr,
    /// From which port.
    pub sport: u16,
    /// To which port.
    pub dport: u16,
    /// One of [`protocol`].
    pub protocol: u8,
}

impl FiveTuple {
    /// The flow of the IPv4 or IPv6 packet `data`, which begins with its IP header; nothing where
    /// that is neither or cut short.
    pub fn of(data: &[u8]) -> Option<FiveTuple> {
        match data.first()? >> 4 {
            4 => {
                let ip = Ipv4::read(data)?;
                let len = ip.header_len();
                let rest = data
                    .get(len..)
                    .filter(|_| len >= Ipv4::LEN && ip.is_first_fragment());
                let (sport, dport) = ports(ip.protocol, rest);
                let (src, dst) = (ip.src.into(), ip.dst.into());
                Some(FiveTuple {
                    src,
                    dst,
                    sport,
                    dport,
                    protocol: ip.protocol,
                })
            }
            6 => {
                let ip = Ipv6::read(data)?;
                let (src, dst) = (ip.src.into(), ip.dst.into());
                let upper = ipv6::upper(data);
                let protocol = upper.map_or(ip.next_header, |upper| upper.protocol);
                let rest = upper.filter(|upper| upper.fragment_offset == 0);
                let rest = rest.and_then(|upper| data.get(upper.at..));
                let (sport, dport) = ports(protocol, rest);
                Some(FiveTuple {
                    src,
                    dst,
                    sport,
                    dport,
                    protocol,
                })
            }
            _ => None,
        }
    }

    /// The flow of the answers.
    pub fn reverse(self) -> FiveTuple {
        FiveTuple {
            src: self.dst,
            dst: self.src,
            sport: self.dport,
            dport: self.sport,
            protocol: self.protocol,
        }
    }

    /// Which way it goes.
    pub fn direction(&self) -> Direction {
        if (self.src, self.sport) <= (self.dst, self.dport) {
            Direction::Forward
        } else {
            Direction::Backward
        }
    }

    /// One key for both directions: the flow that goes forward.
    pub fn canonical(self) -> FiveTuple {
        match self.direction() {
            Direction::Forward => self,
            Direction::Backward => self.reverse(),
        }
    }

    /// A hash that is the same for both directions and on every machine.
    pub fn symmetric_hash(&self) -> u64 {
        let a = end(self.src, self.sport);
        let b = end(self.dst, self.dport);
        // Sum and difference of two ends do not change when the ends change places; unlike their
        // exclusive or alone, the pair is not 0 for every flow from an end to itself.
        mix(a.wrapping_add(b) ^ mix(a ^ b) ^ u64::from(self.protocol))
    }
}

fn ports(protocol: u8, rest: Option<&[u8]>) -> (u16, u16) {
    use protocol::{DCCP, SCTP, TCP, UDP, UDPLITE};
    match rest {
        Some([a, b, c, d, ..]) if matches!(protocol, TCP | UDP | DCCP | SCTP | UDPLITE) => {
            (u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d]))
        }
        _ => (0, 0),
    }
}

fn end(address: IpAddr, port: u16) -> u64 {
    let bits = match address {
        IpAddr::V4(v4) => u128::from(v4.to_bits()),
        IpAddr::V6(v6) => v6.to_bits(),
    };
    mix(mix(bits as u64 ^ u64::from(port) << 48) ^ (bits >> 64) as u64)
}

/// The finaliser of splitmix64: every bit of the result depends on every bit given.
fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_directions_have_one_key_and_one_hash(
            src: [u8; 16], dst: [u8; 16], sport: u16, dport: u16, v6: bool
        ) {
            let address = |a: [u8; 16]| if v6 {
                IpAddr::from(a)
            } else {
                IpAddr::from([a[0], a[1], a[2], a[3]])
            };
            let (src, dst) = (address(src), address(dst));
            let flow = FiveTuple { src, dst, sport, dport, protocol: 6 };
            let back = flow.reverse();
            prop_assert_eq!(flow.canonical(), back.canonical());
            prop_assert_eq!(flow.symmetric_hash(), back.symmetric_hash());
            prop_assert_eq!(back.reverse(), flow);
            if flow != back {
                prop_assert_ne!(flow.direction(), back.direction());
            }
        }

        #[test]
        fn any_bytes_are_survived(data: Vec<u8>) {
            FiveTuple::of(&data);
        }
    }

    #[test]
    fn hashes_of_flows_that_differ_by_little_differ() {
        let flows = (0..1000_u16).map(|sport| FiveTuple {
            src: [10, 0, 0, 1].into(),
            dst: [10, 0, 0, 1].into(),
            sport,
            dport: 80,
            protocol: 6,
        });
        let mut hashes: Vec<u64> = flows.map(|flow| flow.symmetric_hash() % 4096).collect();
        hashes.sort_unstable();
        hashes.dedup();
        // 1000 balls into 4096 boxes leave 887 boxes with a ball on average.
        assert!(hashes.len() > 840, "{}", hashes.len());
    }
}
