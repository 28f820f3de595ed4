//! The tests of SCONE, the reference router's software, by their names, for whatever is a bench.
//! Each looks at every counter of software and card: those it does not name are 0.

mod arp;
mod errors;
mod tables;

pub use arp::*;
pub use errors::*;
pub use tables::*;

use super::frames::{ALL, Body, Frame, arp};
use super::{host, host_mac, own, own_mac};
use std::net::Ipv4Addr;
use trammel_control::dataplane::Mac;
use trammel_control::{Neighbour, Route};
use trammel_core::{Span, Time};

/// A router that is tested: the software on a card, with a host at each port.
pub trait Bench {
    /// A frame arrives at a port.
    fn arrive(&mut self, port: usize, frame: &[u8]);
    /// A frame reaches the software past the card; whether the bench can do that.
    fn punt(&mut self, port: usize, frame: &[u8]) -> bool;
    /// What left since the last call, in the order of each port.
    fn take(&mut self) -> Vec<(usize, Frame)>;
    /// Waits until a frame leaves: when that was at the latest, its port, itself.
    fn next(&mut self) -> (Time, usize, Frame);
    fn now(&self) -> Time;
    /// Lets time pass.
    fn advance(&mut self, span: Span);
    /// Asserts that something that is due at an instant happened then, as far as the bench is
    /// exact: never before.
    fn assert_at(&self, at: Time, due: Time);
    /// Between two requests of ARP.
    fn arp_interval(&self) -> Span;
    /// Runs a command: whether it was carried out, and the text of the reply.
    fn cli(&mut self, line: &str) -> (bool, String);
    /// Gives a command that is answered later.
    fn ask(&mut self, line: &str);
    /// The text of the reply to the command of [`Bench::ask`].
    fn answer(&mut self) -> String;
    fn own_addresses(&mut self) -> Vec<Ipv4Addr>;
    fn routes(&mut self) -> Vec<Route>;
    fn neighbours(&mut self) -> Vec<Neighbour>;
    fn mac(&mut self, port: usize) -> Mac;
    fn is_up(&mut self, port: usize) -> bool;
    /// Names and values of the software's counters.
    fn software(&mut self) -> Vec<(String, u64)>;
    /// Asserts that these counters of the card have these values, that ports refused so many frames
    /// because they were off, and that all other counters are 0.
    fn assert_card_and_ports(&mut self, expected: &[(&str, u64)], refused: &[(usize, u64)]);

    /// Asserts that these counters of the card have these values and all others are 0.
    fn assert_card(&mut self, expected: &[(&str, u64)]) {
        self.assert_card_and_ports(expected, &[]);
    }

    /// Asserts that these counters of the software have these values and all others are 0, and that
    /// each received frame had one fate.
    fn assert_software(&mut self, expected: &[(&str, u64)]) {
        super::assert_software(&self.software(), expected);
    }

    /// The one frame that left since the last call.
    fn take_one(&mut self) -> (usize, Frame) {
        let mut all = self.take();
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }

    /// Makes the hosts of all ports known.
    fn know_hosts(&mut self) {
        for port in 0..4 {
            let (address, mac) = (host(port), host_mac(port));
            let mac = mac.map(|byte| format!("{byte:02x}")).join(":");
            let (is_ok, text) = self.cli(&format!("ip arp add {address} {mac}"));
            assert!(is_ok, "{text}");
        }
    }
}

/// Behind the gateway of `rtable`, on port 1.
const FAR: Ipv4Addr = Ipv4Addr::new(20, 1, 2, 3);
/// No route leads there.
const NOWHERE: Ipv4Addr = Ipv4Addr::new(30, 0, 0, 1);
const NOBODY: Mac = [0; 6];

fn request(port: usize, of: Ipv4Addr) -> (usize, Frame) {
    let body = Body::Arp {
        op: 1,
        sender: (own_mac(port), own(port)),
        target: (NOBODY, of),
    };
    let (to, from) = (ALL, own_mac(port));
    (port, Frame { to, from, body })
}

/// The host on `port` answers the router's request.
fn answer(port: usize) -> Vec<u8> {
    let (host, own) = ((host_mac(port), host(port)), (own_mac(port), own(port)));
    arp(own.0, 2, host, own)
}

/// Asserts that `sent` is an ICMP error to the host on `port` that quotes the packet of `frame`.
fn assert_error(sent: &(usize, Frame), port: usize, (kind, code): (u8, u8), frame: &[u8]) {
    let (left, of) = sent;
    assert_eq!(
        (*left, of.to, of.from),
        (port, host_mac(port), own_mac(port))
    );
    let packet = of.packet();
    assert_eq!((packet.source, packet.destination), (own(port), host(port)));
    assert_eq!((packet.protocol, packet.ttl, packet.tos), (1, 64, 0xc0));
    assert_eq!(packet.payload[..2], [kind, code]);
    assert_eq!(packet.payload[4..8], [0; 4]);
    let total = usize::from(u16::from_be_bytes([frame[16], frame[17]]));
    let (mut quoted, mut original) = (packet.payload[8..].to_vec(), frame[14..14 + total].to_vec());
    // A packet that waited for ARP was a hop further: time to live and checksum differ.
    for at in [8, 10, 11] {
        (quoted[at], original[at]) = (0, 0);
    }
    assert_eq!(quoted, original);
}

/// Gives the names of all tests to the macro `$each`.
macro_rules! every_scone {
    ($each:ident) => {
        $each! {
            arp_req arp_rpl arp_norpl arp_quepkt icmp_echo icmp_notecho ttl_expired ip_rtablemiss
            ip_intfc udp_packet unknown_ip ip_error ip_checksum ip_rtableadd disabled_interfaces
            interface_downtoup noniparp_ethtype tcp_port send_receive ip_set mac_set rtable_set
        }
    };
}

pub(crate) use every_scone;
