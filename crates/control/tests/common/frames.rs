//! Frames that tests send, and those that they receive, taken apart.

use super::{host, host_mac, own_mac};
use std::net::Ipv4Addr;
use trammel_control::dataplane::Mac;
use trammel_packet::headers::checksum::{Sum, checksum};
use trammel_packet::headers::ipv4::set_checksum;

pub const ALL: Mac = [0xff; 6];

/// A frame by its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub to: Mac,
    pub from: Mac,
    pub body: Body,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    Arp {
        op: u16,
        sender: (Mac, Ipv4Addr),
        target: (Mac, Ipv4Addr),
    },
    Ip(Packet),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    pub tos: u8,
    pub ttl: u8,
    pub protocol: u8,
    pub source: Ipv4Addr,
    pub destination: Ipv4Addr,
    pub payload: Vec<u8>,
}

impl Frame {
    /// Takes a frame apart and asserts that its checksums are right.
    pub fn parse(frame: &[u8]) -> Frame {
        assert!(frame.len() >= 60 && frame.len() <= 1514, "{}", frame.len());
        let mac = |at: usize| -> Mac { frame[at..at + 6].try_into().unwrap() };
        let address = |at: usize| -> Ipv4Addr {
            let octets: [u8; 4] = frame[at..at + 4].try_into().unwrap();
            octets.into()
        };
        let body = match frame[12..14] {
            [8, 6] => {
                assert_eq!(frame[14..20], [0, 1, 8, 0, 6, 4]);
                Body::Arp {
                    op: u16::from_be_bytes([frame[20], frame[21]]),
                    sender: (mac(22), address(28)),
                    target: (mac(32), address(38)),
                }
            }
            [8, 0] => {
                assert_eq!(frame[14], 0x45);
                assert_eq!(checksum(&frame[14..34]), 0);
                let total = usize::from(u16::from_be_bytes([frame[16], frame[17]]));
                let payload = frame[34..14 + total].to_vec();
                if frame[23] == 1 {
                    assert_eq!(checksum(&payload), 0);
                }
                Body::Ip(Packet {
                    tos: frame[15],
                    ttl: frame[22],
                    protocol: frame[23],
                    source: address(26),
                    destination: address(30),
                    payload,
                })
            }
            ref other => panic!("type {other:?}"),
        };
        Frame {
            to: mac(0),
            from: mac(6),
            body,
        }
    }

    pub fn packet(&self) -> &Packet {
        match &self.body {
            Body::Ip(packet) => packet,
            Body::Arp { .. } => panic!("{self:?}"),
        }
    }

    pub fn is_arp(&self) -> bool {
        matches!(self.body, Body::Arp { .. })
    }
}

pub fn ethernet(to: Mac, from: Mac, ethertype: [u8; 2], payload: &[u8]) -> Vec<u8> {
    let mut frame = [&to[..], &from, &ethertype, payload].concat();
    frame.resize(frame.len().max(60), 0);
    frame
}

pub fn arp(to: Mac, op: u8, sender: (Mac, Ipv4Addr), target: (Mac, Ipv4Addr)) -> Vec<u8> {
    let mut payload = vec![0, 1, 8, 0, 6, 4, 0, op];
    for (mac, address) in [sender, target] {
        payload.extend(mac);
        payload.extend(address.octets());
    }
    ethernet(to, sender.0, [8, 6], &payload)
}

/// A packet by its bytes.
pub fn ip(source: Ipv4Addr, destination: Ipv4Addr, protocol: u8, ttl: u8, data: &[u8]) -> Vec<u8> {
    let total = (20 + data.len()) as u16;
    let mut packet = vec![0x45, 0, 0, 0, 0, 9, 0, 0, ttl, protocol, 0, 0];
    packet[2..4].copy_from_slice(&total.to_be_bytes());
    packet.extend(source.octets());
    packet.extend(destination.octets());
    packet.extend(data);
    set_checksum(&mut packet);
    packet
}

/// The frame in which the host on `port` sends `packet` to the router.
pub fn from_host(port: usize, packet: &[u8]) -> Vec<u8> {
    ethernet(own_mac(port), host_mac(port), [8, 0], packet)
}

/// A datagram of UDP without checksum from the host on `port`.
pub fn udp(port: usize, destination: Ipv4Addr, ttl: u8) -> Vec<u8> {
    let data = [0x30, 0x39, 0x82, 0x9a, 0, 16, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
    from_host(port, &ip(host(port), destination, 17, ttl, &data))
}

/// A message of ICMP with its checksum.
pub fn icmp(kind: u8, code: u8, rest: &[u8]) -> Vec<u8> {
    let mut message = [&[kind, code, 0, 0], rest].concat();
    let sum = checksum(&message);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    message
}

/// An echo request from the host on `port`.
pub fn echo(port: usize, destination: Ipv4Addr, ttl: u8) -> Vec<u8> {
    let message = icmp(8, 0, &[0, 7, 0, 1, 9, 8, 7, 6, 5]);
    from_host(port, &ip(host(port), destination, 1, ttl, &message))
}

/// A segment of TCP without data from the host on `port`, of sequence 5 and acknowledgement 6.
pub fn tcp(port: usize, destination: Ipv4Addr, to: u16, flags: u8) -> Vec<u8> {
    let mut segment = vec![0x30, 0x39, 0, 0, 0, 0, 0, 5, 0, 0, 0, 6, 5 << 4, flags];
    segment.extend([0x20, 0, 0, 0, 0, 0]);
    segment[2..4].copy_from_slice(&to.to_be_bytes());
    let (source, target) = (host(port).octets(), destination.octets());
    let sum = Sum::ZERO
        .pseudo_v4(source, target, 6, 20)
        .bytes(&segment)
        .checksum();
    segment[16..18].copy_from_slice(&sum.to_be_bytes());
    from_host(port, &ip(host(port), destination, 6, 64, &segment))
}
