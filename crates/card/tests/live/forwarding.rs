//! Frames through the tables, and between ports and host interfaces.

use crate::rig::{MACS, Rig, Wire, checksum, udp};
use trammel_card::live::Method;
use trammel_card::tables::Which;
use trammel_card::{Error, Tables};

/// Frames that are sent.
const COUNT: u8 = 20;

const TABLES: [&str; 3] = [
    "route 0 10.0.1.0/24 port 1",
    "route 5 10.9.0.0/16 via 10.0.1.2 port 1",
    "arp 7 10.0.1.2 2:0:0:0:0:7",
];

fn forwards(method: Method) {
    let Some(rig) = Rig::new() else { return };
    let Some(_card) = rig.run(|options| options.method = method) else {
        return;
    };
    rig.set(&TABLES);
    let [mut left, mut right] = rig.ends.each_ref().map(|end| Wire::open(end, "e"));
    for (number, to) in (0..COUNT).zip([[10, 0, 1, 2], [10, 9, 8, 7]].into_iter().cycle()) {
        let sent = udp(MACS[0], to, number);
        left.send(&sent);
        let got = right.receive(|frame| frame.len() == 80 && frame[19] == number);
        assert_eq!(got[..6], [2, 0, 0, 0, 0, 7], "the next hop's address");
        assert_eq!(got[6..12], MACS[1], "the port's address");
        assert_eq!((got[22], checksum(&got[14..34])), (63, 0));
        assert_eq!(got[12..22], sent[12..22]);
        assert_eq!(got[26..], sent[26..]);
    }
    let forwarded = ("num_pkts_forwarded".to_owned(), u32::from(COUNT));
    assert_eq!(rig.counters(), [forwarded], "and nothing else");
}

#[test]
fn packets_are_forwarded_through_tables_by_packet_sockets() {
    forwards(Method::AfPacket);
}

#[test]
fn packets_are_forwarded_through_tables_by_af_xdp() {
    forwards(Method::AfXdp);
}

#[test]
fn what_is_not_ip_passes_between_a_port_and_its_host_interface_as_it_is() {
    let Some(rig) = Rig::new() else { return };
    let Some(_card) = rig.run(|_| ()) else { return };
    for port in [1, 0] {
        let mut end = Wire::open(&rig.ends[port], "e");
        let mut host = Wire::open(&rig.home, &format!("nf2c{port}"));
        let mut frame: Vec<u8> = (0..90).map(|byte| byte ^ port as u8).collect();
        frame[..6].copy_from_slice(&MACS[port]);
        frame[12..14].copy_from_slice(&[0x88, 0xb5]);
        end.send(&frame);
        assert_eq!(host.receive(|got| got[12] == 0x88), frame);
        frame[..6].fill(0xff);
        host.send(&frame);
        assert_eq!(end.receive(|got| got[12] == 0x88), frame);
    }
    let all = [("num_cpu_pkts_sent", 2), ("num_non_ip_rcvd", 2)];
    let all = all.map(|(name, count)| (name.to_owned(), count));
    assert_eq!(rig.counters(), all);
}

#[test]
fn host_interfaces_have_the_ports_addresses_and_everything_goes_with_the_card() {
    let Some(rig) = Rig::new() else { return };
    let Some(card) = rig.run(|_| ()) else { return };
    let link = rig.home.link("nf2c1").expect("it is there");
    assert_eq!((link.mac, link.is_up), (Some(MACS[1]), true));
    assert!(rig.home.link("nf2c3").is_ok());
    let path = rig.socket("registers");
    assert!(path.exists());
    // Who has the socket has the card.
    let second = rig.start(|_| ()).err().expect("one runs");
    assert!(matches!(second, Error::Lack { .. }), "{second}");
    rig.set(&TABLES);
    drop(card);
    assert!(!path.exists());
    assert!(rig.home.link("nf2c1").is_err());
    // A card that was just started has nothing in its tables.
    let Some(_card) = rig.run(|_| ()) else { return };
    let tables = rig.client().together(|accesses| Tables::read(accesses));
    let text = tables.expect("the card runs").text(Which::Route);
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn what_cannot_be_is_refused_with_what_would_be_right() {
    let Some(rig) = Rig::new() else { return };
    let refused = |ports: &[&str], design: &str| {
        let ports = ports.iter().map(|port| (*port).to_owned()).collect();
        let started = rig.start(|options| {
            options.ports = ports;
            options.design = design.to_owned();
            options.has_mirror = design == "reference-nic";
        });
        started.err().expect("it is refused").to_string()
    };
    let router = "reference-router";
    assert!(refused(&[], router).contains("1 to 4"));
    assert!(refused(&["p0", "p0"], router).contains("name each interface once"));
    assert!(refused(&["p9"], router).contains("no network interface `p9`"));
    assert!(refused(&["p0"], "reference-ruter").contains("reference-router"));
    assert!(refused(&["p0"], "reference-nic").contains("no tables"));
    assert!(!rig.socket("registers").exists());
}
