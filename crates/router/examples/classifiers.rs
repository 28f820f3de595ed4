//! What a packet costs in rule sets of twenty, wherever it matches.
//!
//! ```text
//! cargo run --release -p trammel-router --example classifiers
//! ```
//! The rule sets are those of the comparison with Click: raw patterns, filters of hosts and ports, a mixed
//! firewall. The time-stamp counter counts at its own rate; how many core cycles a tick is, is measured in
//! the same run by multiplications that wait for one another. A figure is the least of many passes
//! over 32 packets, the same pass without a classifier (`empty`) subtracted; `mixed` are packets in random
//! order that match all rules.
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

fn main() {
    let factor = core_cycles_a_tick();
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
