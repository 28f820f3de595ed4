//! The control software on the CPU queues of a card.

use crate::rig::{PATIENCE_NS, Rig, ping, said};
use std::io::{Read, Write};
use std::time::Duration;
use trammel_card::{CommandLine, Options};
use trammel_control::Config;
use trammel_control::config::cpuhw;

const CPUHW: &str =
    "eth0 10.0.0.1 255.255.255.0 2:0:0:0:1:0\neth1 10.0.1.1 255.255.255.0 2:0:0:0:1:1\n";

fn with_software(options: &mut Options, rig: &Rig) {
    let interfaces = cpuhw::read("cpuhw", CPUHW).expect("it is right");
    options.control = Some(Config::new(interfaces, Vec::new()));
    options.console = Some(rig.socket("console"));
    options.has_hosts = false;
}

#[test]
fn a_ping_passes_a_card_with_control_software() {
    let Some(rig) = Rig::new() else { return };
    let Some(_card) = rig.run(|options| with_software(options, &rig)) else {
        return;
    };
    // The router itself, then through it.
    for to in ["10.0.0.1", "10.0.1.2"] {
        let output = ping(&rig.ends[0], to);
        assert!(output.status.success(), "{to}: {}", said(&output));
    }
    // Each side's ARP entries stand in the registers: the second and third go through the tables.
    let counters = rig.counters();
    let forwarded = counters
        .iter()
        .find(|(name, _)| name == "num_pkts_forwarded");
    assert!(
        forwarded.is_some_and(|(_, count)| *count >= 4),
        "{counters:?}"
    );

    let mut console = CommandLine::connect(&rig.socket("console")).expect("it listens");
    let mut run = |line: &str, in_json| console.run(line, in_json).expect("the card answers");
    let (is_ok, text) = run("show ip arp", false);
    assert!(is_ok && text.contains("10.0.1.2"), "{text}");
    let (is_ok, text) = run("hw info", true);
    assert!(is_ok && text.starts_with('{'), "{text}");
    let (is_ok, text) = run("no such thing", false);
    assert!(!is_ok, "{text}");
    // A command that waits for the network.
    let (is_ok, text) = run("sping 10.0.1.2", false);
    assert!(is_ok && text.contains("10.0.1.2"), "{text}");
    run("ip interface eth1 down", false);
    let control = rig
        .client()
        .map()
        .find("MAC_GRP_1_CONTROL")
        .expect("it is there");
    let value = rig
        .client()
        .read_many([control.address])
        .expect("the card runs");
    assert_eq!(value, [0b1_1011]);
}

#[test]
fn telnet_has_a_prompt_and_listens_only_where_it_is_told() {
    let Some(rig) = Rig::new() else { return };
    let started = rig.run(|options| {
        with_software(options, &rig);
        options.telnet = Some(([127, 0, 0, 1], 2323).into());
    });
    let Some(_card) = started else { return };
    rig.home.run(|| {
        let address = ([127, 0, 0, 1], 2323);
        let mut stream =
            std::net::TcpStream::connect(std::net::SocketAddr::from(address)).expect("it listens");
        let patience = Duration::from_nanos(PATIENCE_NS as u64);
        stream.set_read_timeout(Some(patience)).expect("above 0");
        // A client of telnet negotiates first.
        stream
            .write_all(b"\xff\xfd\x01show ip interface\r\nquit\r\n")
            .expect("the card reads");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("the card answers");
        assert!(text.starts_with("router> "), "{text}");
        assert!(text.contains("eth0") && text.contains("\r\n"), "{text}");
    });
}
