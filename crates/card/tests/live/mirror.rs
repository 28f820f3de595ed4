//! Router Kit's tests: what the kernel has appears in the registers.

use crate::rig::{Rig, has, ping, said};
use std::net::Ipv4Addr;
use trammel_card::tables::Which;
use trammel_card::{Client, Tables};
use trammel_io::clock;
use trammel_io::rtnetlink::{Change, Hop};

/// How long a change may take, in nanoseconds, for 99 of 100.
const LATENCY_NS: i64 = 100_000_000;

/// A card that mirrors, whose host interfaces have addresses.
pub(crate) fn rig() -> Option<(Rig, crate::rig::Running)> {
    if !has("ip") {
        return None;
    }
    let rig = Rig::new()?;
    let card = rig.run(|options| options.has_mirror = true)?;
    for port in 0..2 {
        let address = format!("10.0.{port}.1/24");
        let added = rig.home.add_address(&format!("nf2c{port}"), &address);
        added.expect("the address is free");
    }
    Some((rig, card))
}

fn ip(rig: &Rig, words: &str) {
    let words: Vec<&str> = words.split(' ').collect();
    rig.home.command("ip", &words).expect("`ip` does it");
}

fn tables(client: &mut Client) -> Tables {
    let read = client.together(|accesses| Tables::read(accesses));
    read.expect("the card runs")
}

/// The rows of a table that are in use, without their numbers.
fn rows(client: &mut Client, which: Which) -> Vec<String> {
    let text = tables(client).text(which);
    let lines = text.lines().skip(1);
    lines
        .map(|line| {
            line.split_whitespace()
                .skip(1)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect()
}

fn texts(all: &[&str]) -> Vec<String> {
    all.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn test_ipdstfilter() {
    let Some((rig, _card)) = rig() else { return };
    let mut client = rig.client();
    let groups = ["224.0.0.5", "224.0.0.6", "224.0.0.9"];
    let all = texts(&[&["10.0.0.1", "10.0.1.1"][..], &groups].concat());
    Rig::until(&all, || rows(&mut client, Which::Filter));
    ip(&rig, "address add 10.7.0.1/16 dev nf2c2");
    ip(&rig, "address del 10.0.0.1/24 dev nf2c0");
    let all = texts(&[&["10.0.1.1", "10.7.0.1"][..], &groups].concat());
    Rig::until(&all, || rows(&mut client, Which::Filter));
}

#[test]
fn test_routetable() {
    let Some((rig, _card)) = rig() else { return };
    let mut client = rig.client();
    ip(&rig, "route add 10.5.0.0/16 via 10.0.1.2");
    ip(&rig, "route add default via 10.0.0.2");
    let with = |more: &[&str]| {
        let connected = [
            "10.0.0.0 255.255.255.0 0.0.0.0 0",
            "10.0.1.0 255.255.255.0 0.0.0.0 1",
        ];
        texts(&[&connected[..], more].concat())
    };
    let default = "0.0.0.0 0.0.0.0 10.0.0.2 0";
    let all = with(&["10.5.0.0 255.255.0.0 10.0.1.2 1", default]);
    Rig::until(&all, || rows(&mut client, Which::Route));
    ip(&rig, "route replace 10.5.0.0/16 via 10.0.0.9");
    let all = with(&["10.5.0.0 255.255.0.0 10.0.0.9 0", default]);
    Rig::until(&all, || rows(&mut client, Which::Route));
    // Routes that go with their interface go without a notice.
    ip(&rig, "link set nf2c0 down");
    let all = texts(&["10.0.1.0 255.255.255.0 0.0.0.0 1"]);
    Rig::until(&all, || rows(&mut client, Which::Route));
}

#[test]
fn test_arptable() {
    let Some((rig, _card)) = rig() else { return };
    let mut client = rig.client();
    ip(
        &rig,
        "neigh add 10.0.0.9 lladdr 02:00:00:00:00:09 dev nf2c0",
    );
    let all = texts(&["10.0.0.9 02:00:00:00:00:09"]);
    Rig::until(&all, || rows(&mut client, Which::Arp));
    ip(
        &rig,
        "neigh replace 10.0.0.9 lladdr 02:00:00:00:00:0a dev nf2c0",
    );
    let all = texts(&["10.0.0.9 02:00:00:00:00:0a"]);
    Rig::until(&all, || rows(&mut client, Which::Arp));
    ip(&rig, "neigh del 10.0.0.9 dev nf2c0");
    Rig::until(&texts(&[]), || rows(&mut client, Which::Arp));
}

#[test]
fn test_ippackets() {
    let Some((rig, _card)) = rig() else { return };
    rig.home
        .set_sysctl("ipv4/ip_forward", "1")
        .expect("Linux has it");
    let mut client = rig.client();
    let all = texts(&[
        "10.0.0.0 255.255.255.0 0.0.0.0 0",
        "10.0.1.0 255.255.255.0 0.0.0.0 1",
    ]);
    Rig::until(&all, || rows(&mut client, Which::Route));
    // The first packet goes through the kernel, which resolves the neighbour.
    let output = ping(&rig.ends[0], "10.0.1.2");
    assert!(output.status.success(), "{}", said(&output));
    // From then on they go through the tables.
    let macs = rig.ends.each_ref().map(|end| {
        let mac = end.link("e").expect("it is there").mac.expect("it has one");
        mac.map(|byte| format!("{byte:02x}")).join(":")
    });
    let all = macs.iter().enumerate();
    let all: Vec<String> = all
        .map(|(port, mac)| format!("10.0.{port}.2 {mac}"))
        .collect();
    Rig::until(&all, || rows(&mut client, Which::Arp));
    let forwarded = client.map().find("ROUTER_OP_LUT_NUM_PKTS_FORWARDED");
    let forwarded = forwarded.expect("it is there").address;
    let before = client.read_many([forwarded]).expect("the card runs")[0];
    let output = ping(&rig.ends[0], "10.0.1.2");
    assert!(output.status.success(), "{}", said(&output));
    let after = client.read_many([forwarded]).expect("the card runs")[0];
    let counters = rig.counters();
    assert_eq!(after - before, 6, "three each way: {counters:?}");
}

fn change(rig: &Rig, change: Change, to: [u8; 4], last: u8) -> std::io::Result<()> {
    let hop = Hop {
        gateway: Some(Ipv4Addr::new(10, 0, 1, last).into()),
        interface: rig.home.link("nf2c1").expect("it is there").index,
        is_dead: false,
    };
    rig.home
        .netlink()
        .change_route(change, Ipv4Addr::from(to).into(), 32, &hop)
}

#[test]
fn a_change_stands_in_the_registers_within_a_tenth_of_a_second() {
    const CHANGES: usize = 1000;
    let Some((rig, _card)) = rig() else { return };
    let mut client = rig.client();
    // The only route of 32 bits is in the first row.
    Rig::until(&2, || rows(&mut client, Which::Route).len());
    let mut all = Vec::with_capacity(CHANGES);
    for number in 0..CHANGES {
        let to = [10, 9, (number >> 8) as u8, number as u8];
        let began = clock::monotonic_ns();
        change(&rig, Change::Add, to, 2).expect("it is new");
        Rig::until(&Ipv4Addr::from(to), || {
            let row = client.together(|accesses| trammel_netfpga::tables::read_route(accesses, 0));
            row.expect("the card runs").network
        });
        all.push(clock::monotonic_ns() - began);
        change(&rig, Change::Del, to, 2).expect("it is there");
    }
    all.sort_unstable();
    let at = |percent: usize| all[(CHANGES * percent / 100).min(CHANGES - 1)];
    let [half, most, last] = [50, 99, 100].map(|percent| at(percent) / 1000);
    println!("a change stands after {half} us (median), {most} us (p99), {last} us (all)");
    assert!(at(99) <= LATENCY_NS, "p99 {most} us");
}

#[test]
fn a_burst_of_ten_thousand_changes_loses_none() {
    let Some((rig, _card)) = rig() else { return };
    let mut client = rig.client();
    let network = |number: usize| [10, 9, (number >> 8) as u8, number as u8];
    let mut script = String::new();
    for number in 0..5000 {
        let to = Ipv4Addr::from(network(number));
        script += &format!("route add {to}/32 via 10.0.1.2\n");
    }
    // What stays is what was added last.
    for number in 0..4990 {
        let to = Ipv4Addr::from(network(number));
        script += &format!("route del {to}/32 via 10.0.1.2\n");
    }
    for last in 10..20 {
        let to = Ipv4Addr::from(network(4990 + last - 10));
        script += &format!("route replace {to}/32 via 10.0.1.{last}\n");
    }
    let path = rig.socket("script");
    std::fs::write(&path, script).expect("the file can be written");
    let began = clock::monotonic_ns();
    ip(&rig, &format!("-batch {}", path.display()));
    let done = clock::monotonic_ns();
    let mut all: Vec<String> = (0..10)
        .map(|at| {
            let to = Ipv4Addr::from(network(4990 + at));
            format!("{to} 255.255.255.255 10.0.1.{} 1", 10 + at)
        })
        .collect();
    all.push("10.0.0.0 255.255.255.0 0.0.0.0 0".to_owned());
    all.push("10.0.1.0 255.255.255.0 0.0.0.0 1".to_owned());
    Rig::until(&all, || rows(&mut client, Which::Route));
    let (took, after) = (done - began, clock::monotonic_ns() - done);
    println!(
        "10,000 changes in {} ms; they stood {} us later",
        took / 1_000_000,
        after / 1000
    );
}
