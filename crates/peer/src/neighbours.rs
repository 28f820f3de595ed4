//! Ethernet addresses of IPv4 addresses: ARP, asked and answered (RFC 826).
//!
//! Everyone whom the host speaks to is on its wire: there are no routers here.

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;
use trammel_core::time::{Span, Time};
use trammel_packet::headers::arp::{self, Arp};
use trammel_packet::headers::ether::{BROADCAST, Ether, ethertype};

/// Between two questions for one address (RFC 1122 §2.3.2.1: at most one a second).
const ASK_AGAIN: Span = Span::from_secs(1);
/// Bytes of a frame with a packet of ARP; drivers pad it.
pub const FRAME_BYTES: usize = Ether::LEN + Arp::LEN;

/// The host's own addresses and what it knows of others'.
#[derive(Debug)]
pub struct Neighbours {
    mac: [u8; 6],
    ip: Ipv4Addr,
    known: BTreeMap<Ipv4Addr, [u8; 6]>,
    /// Addresses that were asked for, and when they are next.
    wanted: BTreeMap<Ipv4Addr, Time>,
    outgoing: VecDeque<[u8; FRAME_BYTES]>,
}

impl Neighbours {
    /// Those of a host with these addresses: nobody yet.
    pub fn new(mac: [u8; 6], ip: Ipv4Addr) -> Neighbours {
        Neighbours {
            mac,
            ip,
            known: BTreeMap::new(),
            wanted: BTreeMap::new(),
            outgoing: VecDeque::new(),
        }
    }

    /// The host's Ethernet address.
    pub fn mac(&self) -> [u8; 6] {
        self.mac
    }

    /// The host's IPv4 address.
    pub fn ip(&self) -> Ipv4Addr {
        self.ip
    }

    /// The Ethernet address of `ip`. Where it is not known the wire is asked, now and every second
    /// until someone answers.
    pub fn find(&mut self, now: Time, ip: Ipv4Addr) -> Option<[u8; 6]> {
        let found = self.known.get(&ip).copied();
        if found.is_none() && !self.wanted.contains_key(&ip) {
            self.wanted.insert(ip, now);
            self.on_timer(now);
        }
        found
    }

    /// Takes in a packet of ARP.
    pub(crate) fn on_packet(&mut self, packet: &[u8]) {
        let Some(arp) = Arp::read(packet).filter(|arp| arp.is_ethernet_ipv4()) else {
            return;
        };
        let sender = Ipv4Addr::from(arp.spa);
        let is_for_us = Ipv4Addr::from(arp.tpa) == self.ip;
        // RFC 826, "Packet Reception": who is known is updated, who speaks to us is remembered.
        if is_for_us || self.known.contains_key(&sender) {
            self.known.insert(sender, arp.sha);
            self.wanted.remove(&sender);
        }
        if is_for_us && arp.op.get() == arp::OP_REQUEST {
            let (sha, spa) = (arp.sha, arp.spa);
            self.say(arp::OP_REPLY, sha, sha, spa);
        }
    }

    /// When [`Neighbours::on_timer`] is due; [`Time::MAX`] for never.
    pub fn next_timer(&self) -> Time {
        self.wanted.values().copied().min().unwrap_or(Time::MAX)
    }

    /// Asks again for those who have not answered.
    pub fn on_timer(&mut self, now: Time) {
        let mut asked = Vec::new();
        for (ip, due) in &mut self.wanted {
            if *due <= now {
                *due = now + ASK_AGAIN;
                asked.push(ip.octets());
            }
        }
        for ip in asked {
            self.say(arp::OP_REQUEST, BROADCAST, [0; 6], ip);
        }
    }

    /// The next frame to send.
    pub fn poll_transmit(&mut self) -> Option<[u8; FRAME_BYTES]> {
        self.outgoing.pop_front()
    }

    fn say(&mut self, op: u16, to: [u8; 6], tha: [u8; 6], tpa: [u8; 4]) {
        let ether = Ether {
            dst: to,
            src: self.mac,
            ethertype: ethertype::ARP.into(),
        };
        let arp = Arp {
            hrd: arp::HRD_ETHERNET.into(),
            pro: ethertype::IP.into(),
            hln: 6,
            pln: 4,
            op: op.into(),
            sha: self.mac,
            spa: self.ip.octets(),
            tha,
            tpa,
        };
        let mut frame = [0; FRAME_BYTES];
        frame[..Ether::LEN].copy_from_slice(ether.bytes());
        frame[Ether::LEN..].copy_from_slice(arp.bytes());
        self.outgoing.push_back(frame);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_hosts_find_each_other_and_the_asked_one_need_not_ask() {
        let ips = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];
        let macs = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];
        let [mut a, mut b] = [0, 1].map(|n| Neighbours::new(macs[n], ips[n]));
        assert_eq!(a.find(Time::ZERO, ips[1]), None);
        let lost = a.poll_transmit().unwrap();
        assert_eq!((&lost[..6], a.poll_transmit()), (&[0xff; 6][..], None));
        assert_eq!(a.find(Time::from_ms(1), ips[1]), None);
        assert_eq!(a.poll_transmit(), None, "one question a second");
        assert_eq!(a.next_timer(), Time::from_secs(1));
        a.on_timer(a.next_timer());
        b.on_packet(&a.poll_transmit().unwrap()[Ether::LEN..]);
        a.on_packet(&b.poll_transmit().unwrap()[Ether::LEN..]);
        assert_eq!(a.find(Time::from_secs(1), ips[1]), Some(macs[1]));
        assert_eq!(b.find(Time::from_secs(1), ips[0]), Some(macs[0]));
        assert_eq!((a.next_timer(), b.next_timer()), (Time::MAX, Time::MAX));
        assert_eq!((a.poll_transmit(), b.poll_transmit()), (None, None));
    }

    #[test]
    fn questions_for_others_and_what_is_no_arp_stay_unanswered() {
        let mut host = Neighbours::new([2; 6], Ipv4Addr::new(10, 0, 0, 1));
        let mut other = Neighbours::new([4; 6], Ipv4Addr::new(10, 0, 0, 2));
        other.find(Time::ZERO, Ipv4Addr::new(10, 0, 0, 3));
        let question = other.poll_transmit().unwrap();
        host.on_packet(&question[Ether::LEN..]);
        host.on_packet(&question[..20]);
        host.on_packet(&[]);
        assert_eq!(host.poll_transmit(), None);
    }
}
