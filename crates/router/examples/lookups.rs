//! Measures the tables of routes: `cargo run --release -p trammel-router --example lookups [SEED
//! [TABLE [ROUTES]]]`.
//!
//! Columns: core cycles a lookup, one by one and in batches of 32, over uniformly random addresses
//! and (`near`) over addresses within random routes of the table; bytes of the structure;
//! milliseconds to load all routes; thousands of updates a second, alone and with a batch of
//! lookups after each. Core cycles are ticks of the time-stamp counter times a ratio found from a
//! chain of operations of known latency, measured beside each figure. Times are the best of
//! several: other work on the machine only adds.
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]

use std::hint::black_box;
use std::time::Instant;
use trammel_core::rng::Rng;
use trammel_packet::cpu::cycles;
use trammel_router::lookup::direct::Direct;
use trammel_router::lookup::linear::Linear;
use trammel_router::lookup::poptrie::Poptrie;
use trammel_router::lookup::radix::Radix;
use trammel_router::lookup::{BATCH, NextHop, Prefix, Route, Routes, Table};

/// Lengths of prefixes and their weights in tenths of a percent, about as in the Internet's tables.
const LENGTHS: &[(u8, u64)] = &[
    (24, 600),
    (23, 100),
    (22, 110),
    (21, 50),
    (20, 50),
    (19, 30),
    (18, 20),
    (17, 10),
    (16, 20),
    (15, 3),
    (14, 3),
    (13, 2),
    (12, 2),
];

/// The eight routes of the comparison with Click.
const FEW: &[(u32, u8)] = &[
    (0x0a00_0000, 8),
    (0x0a01_0000, 16),
    (0x0a01_0200, 24),
    (0xac10_0000, 12),
    (0xc0a8_0000, 16),
    (0x8000_0000, 1),
    (0x4000_0000, 2),
    (0, 0),
];

fn routes(count: usize, rng: &mut Rng) -> Vec<Route<u32>> {
    let mut seen = std::collections::BTreeSet::new();
    let total = LENGTHS.iter().map(|(_, weight)| weight).sum();
    let mut routes = Vec::new();
    let mut push = |prefix| {
        if seen.insert(prefix) {
            let port = routes.len() as u32 % 4;
            routes.push(Route {
                prefix,
                gateway: 0x0a00_0001 + port,
                port,
            });
        }
        routes.len()
    };
    if count <= FEW.len() {
        for &(addr, len) in FEW {
            push(Prefix::new(addr, len));
        }
        return routes;
    }
    push(Prefix::new(0, 0));
    loop {
        let mut at = rng.below(total);
        let len = LENGTHS.iter().find(|(_, weight)| {
            let here = at < *weight;
            at = at.saturating_sub(*weight);
            here
        });
        let addr = (1 << 24) + rng.below(223 << 24) as u32;
        if push(Prefix::new(addr, len.map_or(24, |(len, _)| *len))) >= count {
            return routes;
        }
    }
}

/// Core cycles a tick, from multiplications that wait for one another: 3 cycles each, and 1 for the
/// or, on every x86-64 core since 2011.
fn cycles_per_tick() -> f64 {
    let count = 20_000_u32;
    let best = (0..20).map(|_| {
        let start = cycles();
        let mut x = black_box(3_u64);
        for _ in 0..count {
            x = x.wrapping_mul(x | 2);
        }
        black_box(x);
        cycles() - start
    });
    f64::from(4 * count) / best.min().unwrap_or(1).max(1) as f64
}

/// Core cycles a lookup: the best of several rounds over all addresses.
fn cost<A>(addrs: &[A], mut round: impl FnMut(&[A])) -> f64 {
    let best = (0..9).map(|_| {
        let start = cycles();
        round(addrs);
        cycles() - start
    });
    best.min().unwrap_or(0) as f64 * cycles_per_tick() / addrs.len() as f64
}

fn measure<T: Table<u32>>(name: &str, new: impl Fn() -> T, routes: &[Route<u32>], rng: &mut Rng) {
    let mut load_ms = f64::MAX;
    let mut table = Routes::new(new());
    for _ in 0..3 {
        table = Routes::new(new());
        let start = Instant::now();
        table.load(routes);
        load_ms = load_ms.min(start.elapsed().as_secs_f64() * 1e3);
    }
    let random: Vec<u32> = (0..1 << 18).map(|_| rng.below(1 << 32) as u32).collect();
    let near: Vec<u32> = random
        .iter()
        .map(|&bits| {
            let prefix = routes[rng.below(routes.len() as u64) as usize].prefix;
            prefix.first() | bits & !prefix.first() & prefix.last()
        })
        .collect();
    let mut cells = Vec::new();
    for addrs in [&random, &near] {
        cells.push(cost(addrs, |addrs| {
            for &addr in addrs {
                black_box(table.table().lookup(addr));
            }
        }));
        let mut out = [None::<NextHop>; BATCH];
        cells.push(cost(addrs, |addrs| {
            for addrs in addrs.chunks(BATCH) {
                table.table().lookup_batch(addrs, &mut out);
                black_box(&out);
            }
        }));
    }
    let bytes = table.table().bytes();
    // Each update removes a route or puts it back; the second pass looks up a batch after each.
    let count = routes.len().min(100_000);
    let mut updates = [0.0; 2];
    for (looking, rate) in updates.iter_mut().enumerate() {
        let mut out = [None::<NextHop>; BATCH];
        let start = Instant::now();
        for (i, route) in routes.iter().take(count).enumerate() {
            table.remove(route.prefix);
            for half in 0..2 {
                if looking == 1 {
                    let at = (2 * i + half) * BATCH % random.len();
                    table
                        .table()
                        .lookup_batch(&random[at..at + BATCH], &mut out);
                    black_box(&out);
                }
                if half == 0 {
                    table.set(*route);
                }
            }
        }
        *rate = 2.0 * count as f64 / start.elapsed().as_secs_f64() / 1e3;
    }
    println!(
        "{:>8} {name:<10} {:>8.1} {:>8.1} {:>8.1} {:>8.1} {bytes:>11} {load_ms:>9.2} {:>9.0} \
         {:>9.0}",
        routes.len(),
        cells[0],
        cells[1],
        cells[2],
        cells[3],
        updates[0],
        updates[1]
    );
}

/// A million routes that keep changing: how the memory grows, and the longest times of updates.
fn churn<T: Table<u32>>(name: &str, table: T, rng: &mut Rng) {
    let all = routes(1_500_000, rng);
    let (mut inside, mut outside): (Vec<_>, Vec<_>) =
        (all[..1_000_000].to_vec(), all[1_000_000..].to_vec());
    let mut table = Routes::new(table);
    table.load(&inside);
    let fresh = table.table().bytes();
    let mut micros = Vec::new();
    for _ in 0..1_000_000 {
        let (i, o) = (rng.below(1_000_000) as usize, rng.below(500_000) as usize);
        let start = Instant::now();
        table.remove(inside[i].prefix);
        table.set(outside[o]);
        micros.push(start.elapsed().as_secs_f64() * 1e6 / 2.0);
        std::mem::swap(&mut inside[i], &mut outside[o]);
    }
    micros.sort_by(f64::total_cmp);
    let at = |share: f64| micros[(share * (micros.len() - 1) as f64) as usize];
    println!(
        "{name}: 2 M changes among 1 M routes: {fresh} bytes became {}; microseconds an update: \
         median {:.2}, p99 {:.2}, p99.99 {:.2}",
        table.table().bytes(),
        at(0.5),
        at(0.99),
        at(0.9999),
    );
    for len in [0, 8, 9, 12, 16] {
        let route = Route {
            prefix: Prefix::new(0x6400_0000, len),
            gateway: 77,
            port: 1,
        };
        let start = Instant::now();
        for _ in 0..10 {
            if let Some(old) = table.set(route) {
                table.set(old);
            } else {
                table.remove(route.prefix);
            }
        }
        let micros = start.elapsed().as_secs_f64() * 1e6 / 20.0;
        println!("{name}: a route of {len} bits among them: {micros:.1} microseconds an update");
    }
}

/// Routes of IPv6, mostly of 32 to 48 bits within 2000::/3.
fn wide(count: usize, rng: &mut Rng) {
    let mut all = Vec::new();
    for i in 0..count {
        // Networks of 32 bits are given out densely.
        let block = (0x2001_0000 + rng.below(count as u64 / 8 + 1) as u32) as u128;
        let rest = u128::from(rng.below(u64::MAX)) << 32;
        let len = [32, 36, 40, 44, 48, 48, 48, 64][rng.below(8) as usize];
        let gateway = u128::from(i as u32 % 4);
        all.push(Route {
            prefix: Prefix::new(block << 96 | rest, len),
            gateway,
            port: 0,
        });
    }
    let mut table = Routes::new(Poptrie::<u128>::new(18));
    let start = Instant::now();
    table.load(&all);
    let load_ms = start.elapsed().as_secs_f64() * 1e3;
    let near: Vec<u128> = (0..1 << 18)
        .map(|_| all[rng.below(all.len() as u64) as usize].prefix.first() | 1)
        .collect();
    let mut out = [None::<NextHop>; BATCH];
    let single = cost(&near, |addrs| {
        for &addr in addrs {
            black_box(table.table().lookup(addr));
        }
    });
    let batch = cost(&near, |addrs| {
        for addrs in addrs.chunks(BATCH) {
            table.table().lookup_batch(addrs, &mut out);
            black_box(&out);
        }
    });
    println!(
        "IPv6, {} routes: {single:.1} cycles a lookup one by one, {batch:.1} in batches, {} bytes, \
         loaded in {load_ms:.2} ms",
        table.table().len(),
        table.table().bytes()
    );
}

fn main() {
    let seed = std::env::args()
        .nth(1)
        .and_then(|word| word.parse().ok())
        .unwrap_or(1);
    let only = std::env::args().nth(2).unwrap_or_default();
    let routes_wanted: Option<usize> = std::env::args().nth(3).and_then(|word| word.parse().ok());
    let mut rng = Rng::new(seed, "lookups");
    println!(
        "{:>8} {:<10} {:>8} {:>8} {:>8} {:>8} {:>11} {:>9} {:>9} {:>9}",
        "routes",
        "table",
        "single",
        "batch",
        "near 1",
        "near 32",
        "bytes",
        "load ms",
        "k upd/s",
        "looking"
    );
    for count in [8, 1_000, 10_000, 100_000, 1_000_000] {
        if routes_wanted.is_some_and(|wanted| wanted != count) {
            continue;
        }
        let routes = routes(count, &mut rng);
        let wanted = |name: &str| name.contains(&only);
        if wanted("radix") {
            measure("radix", Radix::new, &routes, &mut rng);
        }
        for width in [16, 18, 20, 22] {
            let name = format!("poptrie{width}");
            if wanted(&name) {
                measure(&name, || Poptrie::new(width), &routes, &mut rng);
            }
        }
        if wanted("direct") {
            measure("direct", Direct::new, &routes, &mut rng);
        }
        if wanted("linear") && count <= 1_000 {
            measure("linear", Linear::new, &routes, &mut rng);
        }
    }
    if routes_wanted.is_none() && only.is_empty() {
        for count in [1_000, 200_000] {
            wide(count, &mut rng);
        }
        churn("radix", Radix::new(), &mut rng);
        churn("direct", Direct::new(), &mut rng);
    }
}
