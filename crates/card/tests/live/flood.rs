//! HELLOs and updates of ten thousand identities on the live card.
//!
//! The test runs itself in a process of its own, so that memory and processor time are the card's
//! and its own, and not those of other tests.

use crate::bench::Bench as _;
use crate::common::frames::{ethernet, ip};
use crate::common::{CPUHW, host_mac};
use crate::lab::Lab;
use crate::ospf::{self, MASK};
use serde_json::Value;
use std::net::Ipv4Addr;
use std::process::Command;
use trammel_card::CommandLine;
use trammel_control::Config;
use trammel_control::config::cpuhw;
use trammel_io::clock;
use trammel_netfpga::stages::{Fcs, Queue};

/// Identities.
const COUNT: u32 = 10_000;
/// HELLOINT, in seconds.
const HELLO_S: u16 = 5;
/// Neighbours of an interface, and routers of the database, at most (`pwospf::Limits`).
const MOST_NEIGHBOURS: usize = 16;
const MOST_ROUTERS: usize = 1024;
/// Rows of a table that the command line shows.
const MOST_ROWS: usize = 10_000;
/// What the memory of the process may grow by: a database that is full has 120 adverts of each of
/// 1,024 routers.
const MOST_GROWTH_KB: u64 = 64 << 10;
/// Processor time of a frame, on average, at most: sending it, the card, the software.
const MOST_NS_PER_FRAME: i64 = 1_000_000;
/// How long an answer of the command line may take meanwhile.
const MOST_ANSWER_NS: i64 = 5_000_000_000;
/// Set in the process of its own.
const ALONE: &str = "TRAMMEL_FLOOD_ALONE";
const NAME: &str = "flood::hellos_and_updates_of_ten_thousand_identities_are_bounded";

fn identity(number: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(0xac10_0000 + number)
}

/// The frame in which host `host` on port 0 sends `packet` of PW-OSPF to all routers.
fn frame(host: u8, packet: &[u8]) -> Vec<u8> {
    let source = Ipv4Addr::new(10, 0, 0, host);
    let packet = ip(source, Ipv4Addr::new(224, 0, 0, 5), 89, 1, packet);
    ethernet([0xff; 6], host_mac(0), [8, 0], &packet)
}

fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let words = line.and_then(|line| line.split_whitespace().next());
    words.and_then(|kb| kb.parse().ok()).expect("a number")
}

#[test]
fn hellos_and_updates_of_ten_thousand_identities_are_bounded() {
    if std::env::var_os(ALONE).is_some() {
        flood();
        return;
    }
    let program = std::env::current_exe().expect("it runs");
    let output = Command::new(program)
        .args(["--exact", NAME, "--nocapture"])
        .env(ALONE, "1")
        .output()
        .expect("it runs again");
    let said = String::from_utf8_lossy(&output.stdout);
    print!("{said}");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(said.contains("1 passed"), "{said}");
}

/// A reply of the command line, which has to come soon.
fn ask(console: &mut CommandLine, line: &str) -> Value {
    let began = clock::monotonic_ns();
    let (is_ok, text) = console.run(line, true).expect("the card answers");
    assert!(
        is_ok && clock::monotonic_ns() - began < MOST_ANSWER_NS,
        "{text}"
    );
    serde_json::from_str(&text).expect("the reply is JSON")
}

/// Rows of a table of a reply.
fn rows<'a>(reply: &'a Value, table: &str) -> &'a Vec<Value> {
    reply[table].as_array().expect("a table")
}

fn flood() {
    let started = Lab::new(|options, rig| {
        let interfaces = cpuhw::read("cpuhw", CPUHW).expect("it is right");
        options.control = Some(Config::new(interfaces, Vec::new()));
        options.console = Some(rig.socket("console"));
        options.has_hosts = false;
    });
    let Some(mut lab) = started else { return };
    let console = CommandLine::connect(&lab.rig.socket("console"));
    let mut console = console.expect("it listens");
    let (kb, cpu_ns) = (resident_kb(), clock::process_cpu_ns());
    let began = clock::monotonic_ns();

    for number in 0..COUNT {
        let hello = ospf::hello(identity(number), MASK, HELLO_S);
        lab.send(
            Queue::mac(0),
            &frame(2 + (number % 250) as u8, &hello),
            Fcs::Good,
        );
        if number % 1000 == 0 {
            let reply = ask(&mut console, "show pwospf iface");
            assert!(rows(&reply, "pwospf_neighbours").len() <= MOST_NEIGHBOURS);
        }
    }
    // The most adverts that a frame has.
    let advert = |n: u32| (identity(n << 8), MASK, identity(n));
    let adverts: Vec<_> = (0..120).map(advert).collect();
    for number in 0..COUNT {
        let lsu = ospf::lsu(identity(number), 1, 64, &adverts);
        lab.send(Queue::mac(0), &frame(2, &lsu), Fcs::Good);
        if number % 1000 == 0 {
            // A neighbour says so.
            let hello = ospf::hello(identity(0), MASK, HELLO_S);
            lab.send(Queue::mac(0), &frame(2, &hello), Fcs::Good);
            ask(&mut console, "show ip route");
        }
    }
    lab.registers();
    let frames = i64::from(2 * COUNT + COUNT / 1000);

    let reply = ask(&mut console, "show pwospf info");
    let counters = rows(&reply, "pwospf_counters").iter();
    let counted = |name: &str| -> u64 {
        let all = counters.clone();
        let row = |row: &&Value| {
            row["counter"]
                .as_str()
                .is_some_and(|of| of.starts_with(name))
        };
        all.filter(row)
            .map(|row| row["value"].as_u64().expect("a number"))
            .sum()
    };
    // Each was taken or refused; and most were refused, each for its reason.
    let taken = counted("hellos_accepted") + counted("lsus_accepted");
    let refused = counted("refused: ");
    assert_eq!(taken + refused, frames.cast_unsigned());
    assert!(counted("lsus_accepted") <= MOST_ROUTERS as u64);
    // The database is full, and what is shown of it is bounded too.
    let reply = ask(&mut console, "show pwospf router");
    assert_eq!(rows(&reply, "pwospf_database").len(), MOST_ROWS);
    let left = reply["text"].as_str().expect("a line");
    assert!(
        left.ends_with("more rows of `pwospf_database` are not shown"),
        "{left}"
    );
    let grown_kb = resident_kb().saturating_sub(kb);
    let took_ns = (clock::process_cpu_ns() - cpu_ns) / frames;
    println!(
        "{frames} frames in {} ms: {taken} taken, {refused} refused; {took_ns} ns of processor \
         each; {grown_kb} kB more memory",
        (clock::monotonic_ns() - began) / 1_000_000
    );
    assert!(grown_kb <= MOST_GROWTH_KB, "{grown_kb} kB");
    assert!(took_ns <= MOST_NS_PER_FRAME, "{took_ns} ns");
}
