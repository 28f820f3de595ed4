//! Elements that check headers: their verdict is what etherparse's reading of the packet says.

use crate::graph::Graph;
use crate::packets::{Damage, damage, is_header_right, is_upper_right, mend, packet, parts};
use etherparse::{Ipv4Header, Ipv6Header};
use proptest::prelude::*;
use std::cell::RefCell;

/// The packet without what follows it, where its header is right.
fn sound(data: &[u8], with_checksum: bool) -> Option<&[u8]> {
    let (header, _) = Ipv4Header::from_slice(data).ok()?;
    let total = usize::from(header.total_len);
    let is_right = header.header_len() <= total
        && total <= data.len()
        && (!with_checksum || is_header_right(data));
    is_right.then(|| &data[..total])
}

/// The same for IPv6.
fn sound6(data: &[u8]) -> Option<&[u8]> {
    let (header, _) = Ipv6Header::from_slice(data).ok()?;
    let total = 40 + usize::from(header.payload_length);
    (total <= data.len() && header.source != [0xFF; 16]).then(|| &data[..total])
}

/// All that goes in comes out of one of two outputs, and by the first if it is sound.
fn verdict(graph: &mut Graph, data: &[u8], sound: Option<&[u8]>) -> Result<(), TestCaseError> {
    let left = graph.send(data);
    let expected = match sound {
        Some(sound) => (0, sound.to_vec()),
        None => (1, data.to_vec()),
    };
    prop_assert_eq!(left, [expected]);
    prop_assert_eq!(graph.held(), 0);
    Ok(())
}

/// Damages headers of IPv4 packets and compares verdicts.
fn ip_headers(class: &str, offset: usize, with_checksum: bool) {
    let text = format!("in -> x :: {class} -> out0; x[1] -> out1");
    let graph = RefCell::new(Graph::new(&text, 2));
    proptest!(|(packet in packet(), damage in damage(), mends: bool)| {
        let mut data = vec![0x11; offset];
        let mut ip = packet.ipv4();
        damage.to(&mut ip, 0);
        if mends && damage_is_in_header(&damage) {
            mend(&mut ip);
        }
        data.extend(&ip);
        let sound = sound(&data[offset..], with_checksum).map(|ip| &data[..offset + ip.len()]);
        verdict(&mut graph.borrow_mut(), &data, sound)?;
    });
}

fn damage_is_in_header(damage: &Damage) -> bool {
    matches!(damage, Damage::Flip(at, _) if *at < 20)
}

#[test]
fn check_ip_header() {
    ip_headers("CheckIPHeader", 0, true);
    ip_headers("CheckIPHeader(14)", 14, true);
    ip_headers("CheckIPHeader(CHECKSUM false)", 0, false);
}

#[test]
fn check_ip_header_2() {
    ip_headers("CheckIPHeader2", 0, false);
}

#[test]
fn mark_ip_header_says_where_the_payload_is() {
    // StripIPHeader believes the mark.
    let graph = RefCell::new(Graph::new(
        "in -> MarkIPHeader(14) -> Strip(14) -> StripIPHeader -> out0",
        1,
    ));
    proptest!(|(packet in packet())| {
        let ip = packet.ipv4();
        let framed = [&[0x11; 14], &ip[..]].concat();
        let (_, payload) = parts(&ip);
        prop_assert_eq!(graph.borrow_mut().pass(&framed), Some(payload.to_vec()));
    });
}

/// Damages what is above IP and compares verdicts.
fn uppers(class: &str, protocol: u8, is_good: fn(&Ipv4Header, &[u8]) -> bool) {
    let text = format!("in -> CheckIPHeader -> x :: {class} -> out0; x[1] -> out1");
    let graph = RefCell::new(Graph::new(&text, 2));
    proptest!(|(packet in packet(), damage in damage(), to_header: bool)| {
        let mut data = packet.ipv4();
        let from = if to_header { 0 } else { 20 + 4 * packet.option_words };
        damage.to(&mut data, from);
        mend(&mut data);
        let Some(whole) = sound(&data, true) else { return Ok(()) };
        let (header, payload) = parts(whole);
        let is_right = header.protocol.0 == protocol && is_good(&header, payload);
        let expected = (usize::from(!is_right), whole.to_vec());
        prop_assert_eq!(graph.borrow_mut().send(&data), [expected]);
    });
}

#[test]
fn check_udp_header() {
    uppers("CheckUDPHeader", 17, is_upper_right);
}

#[test]
fn check_tcp_header() {
    uppers("CheckTCPHeader", 6, is_upper_right);
}

#[test]
fn check_icmp_header() {
    uppers("CheckICMPHeader", 1, |header, message| {
        // Lengths by type are RFC 792's, which etherparse does not look at.
        let has_length = match message.first() {
            Some(3 | 4 | 5 | 11 | 12) => message.len() >= 36,
            Some(13 | 14) => message.len() == 20,
            Some(15 | 16) => message.len() == 8,
            _ => true,
        };
        has_length && is_upper_right(header, message)
    });
}

#[test]
fn check_ip6_header() {
    let graph = RefCell::new(Graph::new(
        "in -> x :: CheckIP6Header -> out0; x[1] -> out1",
        2,
    ));
    proptest!(|(packet in packet(), damage in damage())| {
        let mut data = packet.ipv6();
        damage.to(&mut data, 0);
        verdict(&mut graph.borrow_mut(), &data, sound6(&data))?;
    });
}

#[test]
fn ip_input_combo() {
    let graph = RefCell::new(Graph::new("in -> IPInputCombo(1) -> out0", 1));
    proptest!(|(packet in packet(), damage in damage())| {
        let mut ip = packet.ipv4();
        damage.to(&mut ip, 0);
        let framed = [&[0x11; 14], &ip[..]].concat();
        let expected = sound(&ip, true).map(<[u8]>::to_vec);
        prop_assert_eq!(graph.borrow_mut().pass(&framed), expected);
    });
}
