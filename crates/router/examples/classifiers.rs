//! What a packet costs in rule sets of twenty, wherever it matches, and in long lists of
//! overlapping rules.
//!
//! ```text
//! cargo run --release -p trammel-router --example classifiers [-- COUNT…]
//! ```
//! The rule sets are those of the comparison with Click: raw patterns, filters of hosts and ports,
//! a mixed firewall. The time-stamp counter counts at its own rate; how many core cycles a tick is,
//! is measured in the same run by multiplications that wait for one another. A figure is the least
//! of many passes over 32 packets, the same pass without a classifier (`empty`) subtracted; `mixed`
//! are packets in random order that match all rules.
//!
//! The long lists are of COUNT rules (100, 1,000 and 10,000) over addresses, ports and protocols,
//! after the shapes of ClassBench (Taylor and Turner, 2007): `access` names destinations closely
//! and lets sources and ports be; `firewall` has nested prefixes and ranges of ports on both sides.
//! Printed are the seconds to compile, the memory that stays and at most was held, and the cost of
//! a packet; packets are made for rules chosen at random.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use trammel_core::rng::Rng;
use trammel_packet::batch::{CAPACITY, Packets};
use trammel_packet::cpu::cycles;
use trammel_packet::pool::Pool;
use trammel_router::classify::names::Usual;
use trammel_router::classify::{Action, Program};

const RULES: usize = 19;

fn frame(rule: usize) -> [u8; 64] {
    let mut frame = [0; 64];
    frame[12..14].copy_from_slice(&[8, 0]);
    frame[14..34].copy_from_slice(&[
        0x45, 0, 0, 50, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 1, 2, 10, 1, rule as u8, 2,
    ]);
    frame[34..36].copy_from_slice(&1234_u16.to_be_bytes());
    frame[36..38].copy_from_slice(&(1000 + rule as u16).to_be_bytes());
    frame
}

fn patterns() -> Program {
    let mut all: Vec<String> = (0..RULES)
        .map(|i| format!("12/0800 23/11 30/0a01{i:02x}02 36/{:04x}", 1000 + i))
        .collect();
    all.push("-".to_owned());
    Program::classifier(&all).expect("good patterns")
}

fn filters() -> Program {
    let mut all: Vec<(Action, String)> = (0..RULES)
        .map(|i| {
            let filter = format!("udp && dst host 10.1.{i}.2 && dst port {}", 1000 + i);
            (Action::Output(i), filter)
        })
        .collect();
    all.push((Action::Output(RULES), "-".to_owned()));
    Program::ip(&all, &Usual).expect("good filters")
}

fn firewall(allowed: usize) -> Program {
    let mut all: Vec<String> = (0..RULES)
        .map(|i| match i % 3 {
            0 => format!(
                "deny src net 192.168.{i}.0/24 && tcp && dst port {}",
                20 + i
            ),
            1 => format!(
                "deny src net 172.{}.0.0/16 && udp && dst port > {}",
                16 + i,
                2000 + i
            ),
            _ => format!("deny tcp opt syn && dst net 10.9.{i}.0/24 && src port < 1024"),
        })
        .collect();
    all[allowed] = format!(
        "allow udp && dst host 10.1.{allowed}.2 && dst port {}",
        1000 + allowed
    );
    all.push("deny all".to_owned());
    Program::filter(&all, 1, &Usual).expect("good filters")
}

/// What every element does: looks at each packet and says something of it.
#[inline(never)]
fn lengths(pool: &Pool, batch: &Packets, outputs: &mut [u32; CAPACITY]) {
    for (handle, output) in batch.iter().zip(outputs) {
        *output = pool[handle].len() as u32;
    }
}

/// Core cycles a tick of the time-stamp counter.
fn core_cycles_a_tick() -> f64 {
    const ROUNDS: u64 = 100_000;
    let mut least = u64::MAX;
    for _ in 0..200 {
        let start = cycles();
        // A multiplication waits three cycles for the one before.
        let mut product = black_box(3_u64);
        for _ in 0..ROUNDS {
            product = product.wrapping_mul(product | 1);
        }
        black_box(product);
        least = least.min(cycles() - start);
    }
    // `or` takes a cycle and the multiplication three.
    4.0 * ROUNDS as f64 / least as f64
}

/// Ticks a packet of a pass.
fn cost(pool: &Pool, batch: &Packets, mut pass: impl FnMut(&Pool, &Packets)) -> f64 {
    let mut least = u64::MAX;
    for _ in 0..2000 {
        let start = cycles();
        for _ in 0..32 {
            pass(black_box(pool), black_box(batch));
        }
        least = least.min(cycles() - start);
    }
    least as f64 / (32 * CAPACITY) as f64
}

/// Lengths of prefixes, each with its weight.
type Lengths<'a> = &'a [(u64, u32)];

/// A prefix out of a few nested ones.
fn prefix(rng: &mut Rng, lengths: Lengths<'_>, sites: u64) -> (u32, u32) {
    let total = lengths.iter().map(|(weight, _)| weight).sum();
    let mut at = rng.below(total);
    let mut length = 0;
    for &(weight, one) in lengths {
        length = one;
        if at < weight {
            break;
        }
        at -= weight;
    }
    let site = rng.below(sites) as u32;
    let address = 10 << 24 | site.wrapping_mul(0x9e37) << 8 & 0x00ff_ff00 | rng.below(16) as u32;
    (
        address & u32::MAX.checked_shl(32 - length).unwrap_or(0),
        length,
    )
}

fn dotted((address, length): (u32, u32)) -> String {
    let [a, b, c, d] = address.to_be_bytes();
    format!("{a}.{b}.{c}.{d}/{length}")
}

const PORTS: [u16; 12] = [22, 25, 53, 80, 110, 123, 143, 161, 443, 993, 3306, 8080];

/// The first and last port.
fn ports(rng: &mut Rng, any: u64, exact: u64) -> (u16, u16) {
    match rng.below(100) {
        at if at < any => (0, u16::MAX),
        at if at < any + exact => {
            let port = PORTS[rng.below(12) as usize];
            (port, port)
        }
        at if at % 2 == 0 => (1024, u16::MAX),
        _ => {
            let low = rng.below(60_000) as u16;
            (low, low + 1 + rng.below(5_000) as u16)
        }
    }
}

/// A rule, and a frame that it matches.
fn long_rule(rng: &mut Rng, is_access: bool, count: usize) -> (String, [u8; 64]) {
    let sites = 4 + count as u64 / 4;
    let (sources, destinations): (Lengths<'_>, Lengths<'_>) = if is_access {
        (
            &[(50, 0), (10, 8), (15, 16), (15, 24), (10, 32)],
            &[(5, 0), (10, 16), (15, 20), (40, 24), (30, 32)],
        )
    } else {
        (
            &[(25, 0), (10, 8), (20, 16), (20, 20), (15, 24), (10, 32)],
            &[(25, 0), (10, 8), (20, 16), (20, 20), (15, 24), (10, 32)],
        )
    };
    let (source, destination) = (
        prefix(rng, sources, sites),
        prefix(rng, destinations, sites),
    );
    let protocol = [6, 6, 6, 6, 6, 17, 17, 17, 1, 0][rng.below(10) as usize];
    let mut text = if rng.chance(0.5) { "allow " } else { "deny " }.to_owned();
    text += match protocol {
        6 => "tcp",
        17 => "udp",
        1 => "icmp",
        _ => "ip proto != 89",
    };
    for (end, net) in [("src", source), ("dst", destination)] {
        if net.1 > 0 {
            text += &format!(" && {end} net {}", dotted(net));
        }
    }
    let mut given = [0_u16; 2];
    let (any, exact) = if is_access {
        ([90, 30], [0, 60])
    } else {
        ([50, 30], [20, 40])
    };
    for (at, end) in ["src", "dst"].into_iter().enumerate() {
        let (low, high) = ports(rng, any[at], exact[at]);
        given[at] = low + rng.below(u64::from(high - low) + 1) as u16;
        if !matches!(protocol, 6 | 17) || (low, high) == (0, u16::MAX) {
            continue;
        }
        text += &match (low, high) {
            (low, high) if low == high => format!(" && {end} port {low}"),
            (low, u16::MAX) => format!(" && {end} port >= {low}"),
            _ => format!(" && {end} port >= {low} && {end} port <= {high}"),
        };
    }
    let mut frame = frame(0);
    frame[23] = if protocol == 0 { 47 } else { protocol };
    for (at, (address, length)) in [(26, source), (30, destination)] {
        let free = u32::MAX.checked_shr(length).unwrap_or(0);
        let address = address | rng.below(1 << 32) as u32 & free;
        frame[at..at + 4].copy_from_slice(&address.to_be_bytes());
    }
    frame[34..36].copy_from_slice(&given[0].to_be_bytes());
    frame[36..38].copy_from_slice(&given[1].to_be_bytes());
    (text, frame)
}

/// Megabytes of memory, now and at most.
fn megabytes() -> (f64, f64) {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let of = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let kilobytes = line.and_then(|line| line.split_whitespace().next());
        kilobytes.and_then(|k| k.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
    };
    (of("VmRSS:"), of("VmHWM:"))
}

/// Long lists.
fn long(counts: &[usize], factor: f64) {
    println!(
        "\nlong lists: seconds to compile, megabytes that stay and at most, core cycles a packet"
    );
    for &count in counts {
        for name in ["access", "firewall"] {
            let mut rng = Rng::new(7, name);
            let (mut rules, frames): (Vec<_>, Vec<_>) = (0..count)
                .map(|_| long_rule(&mut rng, name == "access", count))
                .unzip();
            rules.push("deny all".to_owned());
            let before = megabytes().0;
            let start = std::time::Instant::now();
            let program = Program::filter(&rules, 1, &Usual).expect("good rules");
            let seconds = start.elapsed().as_secs_f64();
            let (after, most) = megabytes();
            // Many packets, so that no branch of one is foreseen from the pass before.
            let mut pool = Pool::new(64 * CAPACITY, 64 * CAPACITY);
            let mut batches: Vec<Packets> = Vec::new();
            for _ in 0..64 {
                let mut batch = Packets::new();
                for _ in 0..CAPACITY {
                    let frame = &frames[rng.below(count as u64) as usize];
                    let handle = pool.alloc_with(frame).expect("a slot for each");
                    pool[&handle].set_network_header(14);
                    pool[&handle].set_transport_header(34);
                    batch.push(handle);
                }
                batches.push(batch);
            }
            let (mut least, mut outputs) = (u64::MAX, [0; CAPACITY]);
            for _ in 0..50 {
                let start = cycles();
                for batch in &batches {
                    program.classify_batch(&pool, batch, &mut outputs);
                    black_box(&mut outputs);
                }
                least = least.min(cycles() - start);
            }
            let a_packet = least as f64 / (64 * CAPACITY) as f64 * factor;
            println!(
                "{name:<12}{count:>8}{seconds:>10.3} s{:>8.1}{most:>8.1} MB{a_packet:>10.1}",
                after - before
            );
            for mut batch in batches {
                batch.drain().for_each(|handle| pool.free(handle));
            }
        }
    }
}

fn main() {
    let factor = core_cycles_a_tick();
    short(factor);
    let counts: Vec<usize> = std::env::args()
        .skip(1)
        .flat_map(|text| text.parse())
        .collect();
    long(
        if counts.is_empty() {
            &[100, 1_000, 10_000]
        } else {
            &counts
        },
        factor,
    );
}

/// Sets of twenty.
fn short(factor: f64) {
    println!("core cycles a packet (time-stamp ticks × {factor:.2}), over the empty pass");
    println!(
        "{:<12}{:>8}{:>8}{:>8}{:>8}{:>8}",
        "rules", "first", "mid", "last", "mixed", "empty"
    );
    for name in ["patterns", "filters", "firewall"] {
        print!("{name:<12}");
        let mut last_empty = 0.0;
        for rule in [Some(0), Some(9), Some(RULES - 1), None] {
            let program = match name {
                "patterns" => patterns(),
                "filters" => filters(),
                _ => firewall(rule.unwrap_or(9)),
            };
            let mut rng = Rng::new(1, "packets");
            let mut pool = Pool::new(CAPACITY, CAPACITY);
            let mut batch = Packets::new();
            for _ in 0..CAPACITY {
                let rule = rule.unwrap_or_else(|| rng.below(RULES as u64) as usize);
                let handle = pool.alloc_with(&frame(rule)).expect("a slot for each");
                pool[&handle].set_network_header(14);
                pool[&handle].set_transport_header(34);
                batch.push(handle);
            }
            let mut outputs = [0; CAPACITY];
            let empty = cost(&pool, &batch, |pool, batch| {
                lengths(pool, batch, &mut outputs);
                black_box(&mut outputs);
            });
            let full = cost(&pool, &batch, |pool, batch| {
                program.classify_batch(pool, batch, &mut outputs);
                black_box(&mut outputs);
            });
            let expected = |output: u32| match (name, rule) {
                ("firewall", Some(_)) => output == 0,
                (_, Some(rule)) => output == rule as u32,
                (_, None) => true,
            };
            assert!(
                outputs.iter().all(|&output| expected(output)),
                "{name} {rule:?}: {outputs:?}"
            );
            print!("{:>8.1}", (full - empty) * factor);
            last_empty = empty * factor;
            for handle in batch.drain() {
                pool.free(handle);
            }
        }
        println!("{last_empty:>8.1}");
    }
}
