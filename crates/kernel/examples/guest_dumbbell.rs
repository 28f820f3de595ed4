//! A dumbbell in a guest, by hand: `guest_dumbbell KERNEL GUEST MBIT RTT_MS PACKETS SECONDS
//! VARIANT… [MODULE.ko…]`.
//!
//! KERNEL is one of `trammel kernel build`, or any other User-Mode Linux with the modules that it
//! needs beside: one without virtual time, such as that of Debian's package `user-mode-linux`, runs
//! by the clock on the wall.
#![allow(clippy::print_stdout)]

use std::path::Path;
use std::time::{Duration, Instant};
use trammel_io::qdisc::{Kind, Netem, Tbf};
use trammel_kernel::boot::{Limits, Machine};
use trammel_kernel::job::{GuestFlow, GuestJob, Host, Route, Way, Wire};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (modules, args): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|word| Path::new(word).extension().is_some_and(|end| end == "ko"));
    let number = |n: usize| args[n].parse::<f64>();
    let (mbit, rtt_ms, packets, seconds) = (number(2)?, number(3)?, number(4)?, number(5)?);
    let wire = |ends, ways| Wire {
        ends,
        mtu: 1500,
        offload: false,
        ways,
    };
    let bucket = Way {
        queue: Some(Kind::Tbf(Tbf {
            rate: (mbit * 125_000.0) as u64,
            burst: 3100,
            overhead: 14,
            limit: (packets * 1514.0) as u32,
        })),
        is_watched: true,
        ..Way::default()
    };
    let delay = || Way {
        queue: Some(Kind::Netem(Netem {
            delay_ns: (rtt_ms * 500_000.0) as u64,
            limit: 1_000_000,
            seed: 1,
            ..Netem::default()
        })),
        ..Way::default()
    };
    let buffers = |name: &str, value: &str| (format!("ipv4/{name}"), value.to_owned());
    let host = Host {
        sysctls: vec![
            buffers("tcp_rmem", "4096 67108864 134217728"),
            buffers("tcp_wmem", "4096 131072 134217728"),
            buffers("tcp_no_metrics_save", "1"),
            buffers("tcp_slow_start_after_idle", "0"),
        ],
    };
    let route = |host, to, by| Route {
        host,
        to,
        by,
        metrics: Vec::new(),
    };
    let job = GuestJob {
        seed: 1,
        duration_ns: (seconds * 1e9) as i64,
        sample_ns: 100_000_000,
        queue_ns: 10_000_000,
        warmup_ns: Some((seconds * 1e9 / 3.0) as i64),
        hosts: vec![host.clone(), Host::default(), Host::default(), host],
        wires: vec![
            wire([0, 1], [Way::default(), delay()]),
            wire([1, 2], [bucket, Way::default()]),
            wire([2, 3], [delay(), Way::default()]),
        ],
        routes: vec![
            route(0, 2, 0),
            route(1, 2, 1),
            route(3, 0, 2),
            route(2, 0, 1),
        ],
        flows: args[6..]
            .iter()
            .map(|name| GuestFlow {
                from: 0,
                to: (2, 1),
                congestion: name.clone(),
                stop_ns: i64::MAX,
                ..GuestFlow::default()
            })
            .collect(),
        sysctls: vec![
            (
                "net/ipv4/tcp_mem".to_owned(),
                "2000000 4000000 8000000".to_owned(),
            ),
            ("net/core/rmem_max".to_owned(), "268435456".to_owned()),
            ("net/core/wmem_max".to_owned(), "268435456".to_owned()),
            (
                "net/core/netdev_max_backlog".to_owned(),
                "300000".to_owned(),
            ),
        ],
        ..GuestJob::default()
    };
    let mut machine = Machine::new(Path::new(&args[0]), Path::new(&args[1]))?;
    for module in modules {
        machine.add_module(Path::new(&module))?;
    }
    let started = Instant::now();
    let limits = Limits {
        memory_mib: 3000,
        time: Duration::from_secs(120),
        interrupted: &|| false,
    };
    let answer = machine.run(&job, &limits)?;
    for (flow, name) in answer.flows.iter().zip(&args[6..]) {
        println!(
            "{name}: {:.4} Mbit/s, {} retransmitted, {} samples, last {:?}, {:?}",
            flow.end.delivered as f64 * 8e-6 / seconds,
            flow.end.retransmitted,
            flow.samples.len(),
            flow.samples.last(),
            flow.failure
        );
    }
    for way in &answer.ways {
        println!("{:?} {:?} {} looks", way.at, way.end, way.samples.len());
    }
    println!("{:.3} s", started.elapsed().as_secs_f64());
    Ok(())
}
