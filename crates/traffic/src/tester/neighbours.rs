//! Who is behind an address: the tester answers for its own, and asks for the device's (ARP, RFC
//! 826; RFC 4861).
//!
//! A port answers for every address of its network but the device's: for the hosts that test frames
//! come from and go to, and for the phantom routers of RFC 2544, appendix C.2.2.2.

use super::frame::{Link, unwrap};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use trammel_packet::headers::arp::{self, Arp};
use trammel_packet::headers::checksum::Sum;
use trammel_packet::headers::ether::{BROADCAST, ethertype};
use trammel_packet::headers::icmp6::{Neighbor, flag, kind, link_address_option, option};
use trammel_packet::headers::ipv4::protocol;
use trammel_packet::headers::ipv6::Ipv6;

/// Bytes of a solicitation or advertisement with its option.
const MESSAGE_BYTES: usize = Neighbor::LEN + 8;
/// What shows that a message comes from the link itself (RFC 4861, §7.1).
const ALL_HOPS: u8 = 255;

/// A port's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Host {
    pub(crate) mac: [u8; 6],
    pub(crate) tag: Option<u16>,
    pub(crate) address: IpAddr,
    /// Bits of its network.
    pub(crate) prefix: u8,
    /// The device's address in it, whose Ethernet address frames go to.
    pub(crate) device: Option<IpAddr>,
}

/// What a frame was to a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// No message about neighbours.
    Nothing,
    /// One that is not for the port.
    Idle,
    /// One that wants this answer.
    Asked(Vec<u8>),
    /// The device's Ethernet address.
    Told([u8; 6]),
}

impl Host {
    fn link_to(&self, to_mac: [u8; 6]) -> Link {
        Link {
            from_mac: self.mac,
            to_mac,
            tag: self.tag,
        }
    }

    /// Whether the port answers for `address`.
    fn is_ours(&self, address: IpAddr) -> bool {
        let is_near = match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(it)) => {
                let differing = u32::from(own) ^ u32::from(it);
                differing.leading_zeros() >= u32::from(self.prefix)
            }
            (IpAddr::V6(own), IpAddr::V6(it)) => {
                let differing = u128::from(own) ^ u128::from(it);
                differing.leading_zeros() >= u32::from(self.prefix)
            }
            _ => false,
        };
        is_near && Some(address) != self.device
    }

    /// The learning frame: it asks for the device's address, or, where there is none, tells bridges
    /// where the port is.
    //= rfc2544 §C.2.4.1
    //# This request should be
    //# seen as coming from the immediate destination of the test frame
    //# stream.
    pub(crate) fn learning_frame(&self) -> Vec<u8> {
        match (self.address, self.device.unwrap_or(self.address)) {
            (IpAddr::V4(own), IpAddr::V4(target)) => {
                self.arp(arp::OP_REQUEST, BROADCAST, [0; 6], own, target)
            }
            (IpAddr::V6(own), IpAddr::V6(target)) => {
                // The group of all whose address ends like the target's (RFC 4291, §2.7.1).
                let [.., a, b, c] = target.octets();
                let low = u16::from(b) << 8 | u16::from(c);
                let group = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00 | u16::from(a), low);
                let message = Neighbor {
                    kind: kind::NEIGHBOR_SOLICITATION,
                    target: target.octets(),
                    ..Neighbor::default()
                };
                let to_mac = [0x33, 0x33, 0xff, a, b, c];
                self.discovery(to_mac, own, group, message, option::SOURCE_LINK_ADDRESS)
            }
            // Two versions of IP were refused.
            _ => Vec::new(),
        }
    }

    fn arp(&self, op: u16, to: [u8; 6], tha: [u8; 6], spa: Ipv4Addr, tpa: Ipv4Addr) -> Vec<u8> {
        let message = Arp {
            hrd: arp::HRD_ETHERNET.into(),
            pro: ethertype::IP.into(),
            hln: 6,
            pln: 4,
            op: op.into(),
            sha: self.mac,
            spa: spa.octets(),
            tha,
            tpa: tpa.octets(),
        };
        let mut frame = self.link_to(to).header(ethertype::ARP);
        frame.extend(message.bytes());
        frame.resize(frame.len().max(crate::frame::LEAST_BYTES), 0);
        frame
    }

    fn discovery(
        &self,
        to_mac: [u8; 6],
        from: Ipv6Addr,
        to: Ipv6Addr,
        message: Neighbor,
        option: u8,
    ) -> Vec<u8> {
        let option = link_address_option(option, self.mac);
        let ip = Ipv6 {
            version_class_flow: (6 << 28).into(),
            payload_length: (MESSAGE_BYTES as u16).into(),
            next_header: protocol::ICMP6,
            hop_limit: ALL_HOPS,
            src: from.octets(),
            dst: to.octets(),
        };
        let sum = Sum::ZERO.pseudo_v6(&ip.src, &ip.dst, protocol::ICMP6, MESSAGE_BYTES as u32);
        let message = Neighbor {
            checksum: sum.bytes(message.bytes()).bytes(&option).checksum().into(),
            ..message
        };
        let link = self.link_to(to_mac).header(ethertype::IP6);
        [&link, ip.bytes(), message.bytes(), &option].concat()
    }

    /// What a frame says about neighbours.
    pub(crate) fn hear(&self, frame: &[u8]) -> Heard {
        let found = unwrap(frame).and_then(|(kind, at)| Some((kind, frame.get(at..)?)));
        let heard = match found {
            Some((ethertype::ARP, packet)) => Arp::read(packet).map(|arp| self.hear_arp(arp)),
            Some((ethertype::IP6, packet)) => self.hear_discovery(packet),
            _ => None,
        };
        heard.unwrap_or(Heard::Nothing)
    }

    fn hear_arp(&self, arp: &Arp) -> Heard {
        let (from, target) = (Ipv4Addr::from(arp.spa), Ipv4Addr::from(arp.tpa));
        if !arp.is_ethernet_ipv4() {
            return Heard::Idle;
        }
        match arp.op.get() {
            // Who asks for what it tells announces itself.
            arp::OP_REQUEST if self.is_ours(target.into()) && from != target => {
                Heard::Asked(self.arp(arp::OP_REPLY, arp.sha, arp.sha, target, from))
            }
            arp::OP_REPLY if self.device == Some(from.into()) => Heard::Told(arp.sha),
            _ => Heard::Idle,
        }
    }

    fn hear_discovery(&self, packet: &[u8]) -> Option<Heard> {
        let ip = Ipv6::read(packet).filter(|ip| ip.next_header == protocol::ICMP6)?;
        let end = Ipv6::LEN + usize::from(ip.payload_length.get());
        let bytes = packet.get(Ipv6::LEN..end)?;
        let message = Neighbor::read(bytes)?;
        let sum = Sum::ZERO.pseudo_v6(&ip.src, &ip.dst, protocol::ICMP6, bytes.len() as u32);
        let is_right = ip.hop_limit == ALL_HOPS && sum.bytes(bytes).checksum() == 0;
        let target = Ipv6Addr::from(message.target);
        let link_address = |wanted: u8| {
            let options = bytes[Neighbor::LEN..].as_chunks::<8>().0;
            let found = options.iter().find(|one| one[..2] == [wanted, 1])?;
            found.last_chunk::<6>().copied()
        };
        match message.kind {
            kind::NEIGHBOR_SOLICITATION if is_right && self.is_ours(target.into()) => {
                // Who has no address yet is not answered: it looks whether somebody has the one it
                // would like.
                let from = Ipv6Addr::from(ip.src);
                let Some(to_mac) = link_address(option::SOURCE_LINK_ADDRESS) else {
                    return Some(Heard::Idle);
                };
                let answer = Neighbor {
                    kind: kind::NEIGHBOR_ADVERTISEMENT,
                    flags: (flag::SOLICITED | flag::OVERRIDE).into(),
                    target: message.target,
                    ..Neighbor::default()
                };
                let option = option::TARGET_LINK_ADDRESS;
                Some(Heard::Asked(
                    self.discovery(to_mac, target, from, answer, option),
                ))
            }
            kind::NEIGHBOR_ADVERTISEMENT if is_right && self.device == Some(target.into()) => {
                let told = link_address(option::TARGET_LINK_ADDRESS);
                Some(told.map_or(Heard::Idle, Heard::Told))
            }
            kind::ROUTER_SOLICITATION..=kind::REDIRECT => Some(Heard::Idle),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(number: u8, address: &str, device: &str, prefix: u8) -> Host {
        Host {
            mac: [2, 0, 0, 0, 0, number],
            tag: None,
            address: address.parse().expect("the address is well formed"),
            prefix,
            device: Some(device.parse().expect("the address is well formed")),
        }
    }

    fn pairs() -> [[Host; 2]; 2] {
        [
            ("198.18.1.2", "198.18.1.1", 24),
            ("2001:2:0:1::2", "2001:2:0:1::1", 64),
        ]
        .map(|(own, device, prefix)| {
            // The device is a host whose device is the tester.
            [host(1, own, device, prefix), host(2, device, own, prefix)]
        })
    }

    #[test]
    fn two_hosts_learn_of_each_other() {
        for [tester, mut device] in pairs() {
            for tag in [None, Some(7)] {
                let tester = Host { tag, ..tester };
                device.tag = tag;
                // It answers for itself, since its device is another one.
                device.device = None;
                let asked = tester.learning_frame();
                let Heard::Asked(answer) = device.hear(&asked) else {
                    panic!("not understood: {asked:02x?}");
                };
                assert_eq!(tester.hear(&answer), Heard::Told(device.mac));
                assert_eq!(answer[..6], tester.mac);
                assert!(asked.len() >= 60 && answer.len() >= 60);
            }
        }
    }

    #[test]
    fn it_answers_for_its_network_but_not_for_the_device() {
        let [[tester, device], _] = pairs();
        let ask = |address: &str| {
            let asking = Host {
                device: Some(address.parse().expect("the address is well formed")),
                ..device
            };
            tester.hear(&asking.learning_frame())
        };
        assert!(matches!(ask("198.18.1.10"), Heard::Asked(_)));
        assert_eq!(ask("198.18.2.2"), Heard::Idle);
        assert_eq!(ask("198.18.1.1"), Heard::Idle);
    }

    #[test]
    fn what_is_cut_or_damaged_or_of_others_tells_nothing() {
        for [tester, device] in pairs() {
            let asked = Host {
                device: Some(tester.address),
                ..device
            }
            .learning_frame();
            assert!(matches!(tester.hear(&asked), Heard::Asked(_)));
            for end in 0..asked.len().min(42) {
                assert!(!matches!(
                    tester.hear(&asked[..end]),
                    Heard::Asked(_) | Heard::Told(_)
                ));
            }
        }
        let [_, [tester, device]] = pairs();
        let mut damaged = Host {
            device: Some(tester.address),
            ..device
        }
        .learning_frame();
        damaged[70] ^= 1;
        assert_eq!(tester.hear(&damaged), Heard::Idle);
        assert_eq!(tester.hear(&[0; 60]), Heard::Nothing);
    }
}
