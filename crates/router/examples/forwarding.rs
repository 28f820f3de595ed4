//! Cycles a packet of small configurations, on one thread, without devices.
//!
//! `cargo run --release -p trammel-router --example forwarding [FILE.click …]`; a file gets its
//! packets from sources of its own, and the packets that reach the element `sum`, else `c`, are
//! counted.

#![allow(clippy::print_stdout, reason = "it prints its result")]

use trammel_packet::cpu::cycles;
use trammel_router::MemoryHost;
use trammel_router::engine::Options;
use trammel_router::{BuiltIn, load};

const PACKETS: u64 = 4_000_000;
const ROUNDS: usize = 7;

/// A frame of 64 bytes from 10.0.1.2 to 10.0.2.2, its checksum right.
const FRAME: &str = "\\<000000000201 000000000202 0800 45000032 00010000 4011 63b7 0a000102 \
    0a000202 04d2162e001e0000 00000000000000000000000000000000000000000000>";

/// Runs `text` to its end and gives the cycles it took and the packets counted.
fn once(text: &str) -> (u64, u64) {
    let options = trammel_router::lang::Options {
        classes: Some(&BuiltIn),
        ..Default::default()
    };
    let host = Box::new(MemoryHost::new());
    let (mut ctx, _) =
        load(text, "bench", &options, host, Options::default()).expect("a good configuration");
    let start = cycles();
    ctx.run_until(None);
    let spent = cycles() - start;
    let counter = ["sum.count", "c.count"];
    let of = counter
        .iter()
        .find_map(|name| ctx.find_handler(name, None).ok());
    let count = of.and_then(|of| ctx.read_handler(&of, "").ok());
    (spent, count.and_then(|n| n.parse().ok()).unwrap_or(PACKETS))
}

fn main() {
    let source = format!(
        "s :: InfiniteSource(DATA {FRAME}, LIMIT {PACKETS}, BURST 32, STOP true, TIMESTAMP false)"
    );
    let check = "-> Strip(14) -> CheckIPHeader";
    let rest = "rt[1] -> Discard; rt[0] -> dt :: DecIPTTL \
        -> EtherEncap(0x0800, 0:0:0:0:2:1, 0:0:0:0:2:2) -> c :: Counter -> Discard; dt[1] \
        -> Discard;";
    let routes = "10.0.2.0/24 0, 0.0.0.0/0 1";
    let end = "-> c :: Counter -> Discard";
    let mut cases = vec![
        (
            "source, counter, discard".to_owned(),
            format!("{source} {end}"),
        ),
        ("+ Strip".to_owned(), format!("{source} -> Strip(14) {end}")),
        (
            "+ CheckIPHeader".to_owned(),
            format!("{source} {check} {end}"),
        ),
    ];
    for table in ["Radix", "Direct", "Range", "Linear", "Static"] {
        let text = format!("{source} {check} -> rt :: {table}IPLookup({routes}); {rest}");
        cases.push((format!("forwarding, {table}IPLookup"), text));
    }
    for file in std::env::args().skip(1) {
        match std::fs::read_to_string(&file) {
            Ok(text) => cases.push((file, text)),
            Err(why) => println!("{file}: {why}"),
        }
    }
    for (name, text) in cases {
        let rounds = (0..ROUNDS).map(|_| once(&text));
        let best = rounds.map(|(spent, count)| spent as f64 / count as f64);
        let best = best.fold(f64::INFINITY, f64::min);
        println!("{best:8.1} cycles a packet  {name}");
    }
}
