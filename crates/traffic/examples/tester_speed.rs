//! What the tester's checks cost: `cargo run --release -p trammel-traffic --example tester_speed`.
//!
//! Frames of 64 bytes over a veth pair between two namespaces that this program makes, one
//! processor sending and one receiving. By each way the tester in full (schedule, signatures, check
//! of every byte) and, in turn with it, the bare loop over the same device that sends one frame
//! again and again and counts what comes. Live frames are sent and counted in the kernel; their
//! bare loop neither numbers nor times them. `a CPU s`: frames that were sent a second of processor
//! time of the thread that sends, which tells what is done for a frame, also where the machine is
//! busy with others. Arguments: rounds (7), then `real-time` for threads before all of usual
//! priority.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use trammel_core::time::Span;
use trammel_io::afpacket::{self, AfPacket};
use trammel_io::afxdp::{self, AfXdp};
use trammel_io::clock::{monotonic_ns, pin, real_time, thread_cpu_ns, wait};
use trammel_io::live::{Sink, Source};
use trammel_io::netns::{Namespace, veth};
use trammel_packet::batch::Packets;
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;
use trammel_traffic::addresses::Side;
use trammel_traffic::tester::ceiling;
use trammel_traffic::tester::port::{Port, Way};
use trammel_traffic::tester::schedule::Load;
use trammel_traffic::tester::traffic::{Stream, Traffic};
use trammel_traffic::tester::{Direction, Plan, Tester, Threads};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Frames of a round: about a second of AF_XDP, and of live frames.
const FRAMES: u64 = 700_000;
const LIVE_FRAMES: u64 = 8_000_000;
const PRIORITY: u8 = 50;
/// So long after a frame came the bare loop does not sleep, as the tester does not.
const POLL_NS: i64 = 50_000;

fn traffic() -> Traffic {
    Traffic::of(Stream::of_rfc2544(Side::Input, false, 1, &[64]))
}

/// Each end has a processor of its own.
fn threads(priority: Option<u8>) -> Threads {
    Threads {
        priority,
        poll: true,
    }
}

/// Sent and received a second, and sent a second of processor time of the thread that sends.
type Rates = [f64; 3];

/// A frame of IPv4 to nobody, which the peer's stack drops at once, as it does the tester's.
const PLAIN: [u8; 60] = {
    let mut frame = [0x55; 60];
    (frame[0], frame[12], frame[13]) = (2, 8, 0);
    frame
};

fn rates(sent: u64, received: u64, seconds: f64, cpu_seconds: f64) -> Rates {
    [
        sent as f64 / seconds,
        received as f64 / seconds,
        sent as f64 / cpu_seconds,
    ]
}

fn ports(way: Way, left: &Arc<Namespace>, right: &Arc<Namespace>) -> [Port; 2] {
    [("a", left, Side::Input, 0), ("b", right, Side::Output, 1)].map(
        |(name, namespace, side, processor)| Port {
            namespace: Some(Arc::clone(namespace)),
            processor: Some(processor),
            ..Port::of_rfc2544(name, way, side, false, false)
        },
    )
}

fn full(
    way: Way,
    frames: u64,
    priority: Option<u8>,
    left: &Arc<Namespace>,
    right: &Arc<Namespace>,
) -> Outcome<Rates> {
    let mut tester = Tester::open(ports(way, left, right))?;
    // All frames are due within a fraction of the time that they take.
    let load = Load {
        frames_per_second: 1e8,
        duration: Span::from_secs_f64(frames as f64 / 1e8),
    };
    let direction = Direction {
        traffic: traffic(),
        loads: vec![load],
    };
    let plan = Plan {
        residual: Span::from_ms(100),
        threads: threads(priority),
        ..Plan::one_way(direction)
    };
    let seen = tester.run(&plan, &AtomicBool::new(false))?;
    if let Some(fault) = seen.fault {
        return Err(fault.into());
    }
    let seen = seen.directions[0]
        .as_ref()
        .ok_or("a direction was planned")?;
    let (seconds, cpu) = (seen.effective.as_secs_f64(), seen.sender_cpu.as_secs_f64());
    Ok(rates(seen.sent(), seen.received(), seconds, cpu))
}

fn open(way: Way, name: &str, pool: &mut Pool) -> Outcome<Box<dyn Device>> {
    Ok(match way {
        Way::AfXdp => {
            let options = afxdp::Options {
                ring: 2048,
                ..afxdp::Options::default()
            };
            Box::new(AfXdp::open(name, &options, pool)?)
        }
        _ => {
            let options = afpacket::Options {
                ring_bytes: Some(16 << 20),
                ..afpacket::Options::default()
            };
            Box::new(AfPacket::open(name, &options)?)
        }
    })
}

/// A thread's processor and priority, as the tester's have them.
fn settle(processor: usize, priority: Option<u8>) -> Outcome<()> {
    pin(processor)?;
    priority.map_or(Ok(()), real_time)?;
    Ok(())
}

fn bare(
    way: Way,
    frames: u64,
    priority: Option<u8>,
    left: &Arc<Namespace>,
    right: &Arc<Namespace>,
) -> Outcome<Rates> {
    let (mut pools, done) = (
        [(); 2].map(|()| Pool::new(8192, 8192)),
        AtomicBool::new(false),
    );
    let [pool_a, pool_b] = &mut pools;
    let mut a = left.run(|| open(way, "a", pool_a))?;
    let mut b = right.run(|| open(way, "b", pool_b))?;
    let came = AtomicU64::new(0);
    let [ns, cpu_ns] = std::thread::scope(|scope| -> Outcome<[i64; 2]> {
        let receiving = scope.spawn(|| -> Outcome<()> {
            settle(1, priority)?;
            let mut batch = Packets::new();
            let descriptor = b.descriptor().ok_or("it has one")?;
            let mut came_ns = 0;
            while !done.load(Ordering::Relaxed) {
                let count = b.receive(pool_b, &mut batch)?;
                came.fetch_add(count as u64, Ordering::Relaxed);
                batch.drain().for_each(|packet| pool_b.free(packet));
                let now = monotonic_ns();
                if count > 0 {
                    came_ns = now;
                } else if now - came_ns > POLL_NS {
                    wait(&[descriptor], Some(10_000_000))?;
                }
            }
            Ok(())
        });
        let sending = scope.spawn(|| -> Outcome<[i64; 2]> {
            settle(0, priority)?;
            let mut batch = Packets::new();
            let (start, cpu, mut sent) = (monotonic_ns(), thread_cpu_ns(), 0);
            while sent < frames {
                for _ in 0..2 {
                    while !batch.is_full()
                        && let Some(packet) = pool_a.alloc_with(&PLAIN)
                    {
                        batch.push(packet);
                    }
                    sent += a.transmit(pool_a, &mut batch)? as u64;
                }
                a.flush(pool_a)?;
            }
            batch.drain().for_each(|packet| pool_a.free(packet));
            let ns = [monotonic_ns() - start, thread_cpu_ns() - cpu];
            wait(&[], Some(100_000_000))?;
            done.store(true, Ordering::Relaxed);
            Ok(ns)
        });
        let sent = sending.join().expect("the thread does not panic");
        done.store(true, Ordering::Relaxed);
        receiving.join().expect("the receiver does not panic")?;
        sent
    })?;
    a.close(&mut pools[0]);
    b.close(&mut pools[1]);
    let came = came.load(Ordering::Relaxed);
    Ok(rates(frames, came, ns as f64 / 1e9, cpu_ns as f64 / 1e9))
}

/// Copies of a frame, counted; a call costs some 25 ms before the first, which a call of one batch
/// tells.
fn bare_live(
    frames: u64,
    priority: Option<u8>,
    left: &Arc<Namespace>,
    right: &Arc<Namespace>,
) -> Outcome<Rates> {
    let sink = right.run(|| Sink::open("b"))?;
    let source = left.run(|| Source::open("a", &PLAIN))?;
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| -> Outcome<Rates> {
            settle(0, priority)?;
            let started = monotonic_ns();
            source.send(64)?;
            let (begun, before, cpu) = (monotonic_ns(), sink.count()?, thread_cpu_ns());
            source.send(frames as u32)?;
            let ns = monotonic_ns() - begun - (begun - started);
            let cpu_ns = thread_cpu_ns() - cpu;
            let came = sink.count()? - before;
            Ok(rates(frames, came, ns as f64 / 1e9, cpu_ns as f64 / 1e9))
        });
        sending.join().expect("the thread does not panic")
    })
}

fn spread(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [
        values[values.len() / 2],
        values[0],
        values[values.len() - 1],
    ]
}

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let rounds = words.iter().find_map(|word| word.parse().ok()).unwrap_or(7);
    let priority = words
        .iter()
        .any(|word| word == "real-time")
        .then_some(PRIORITY);
    let (left, right) = (Arc::new(Namespace::new()?), Arc::new(Namespace::new()?));
    veth(&left, "a", &right, "b")?;
    let rows = [
        ("AF_XDP", Way::AfXdp),
        ("AF_PACKET", Way::AfPacket),
        ("live", Way::Live),
    ];
    let mut turns = vec![Vec::new(); rows.len()];
    for _ in 0..rounds {
        for (turns, (_, way)) in turns.iter_mut().zip(rows) {
            let without = if way == Way::Live {
                bare_live(LIVE_FRAMES, priority, &left, &right)?
            } else {
                bare(way, FRAMES, priority, &left, &right)?
            };
            let frames = if way == Way::Live {
                LIVE_FRAMES
            } else {
                FRAMES
            };
            turns.push((without, full(way, frames, priority, &left, &right)?));
        }
    }
    println!("{rounds} rounds in turn; kframes/s: median (least to most)");
    println!(
        "{:<10} {:<9} {:>24} {:>24} {:>22}",
        "way", "frames", "bare loop", "tester", "ratio"
    );
    for ((name, _), turns) in rows.iter().zip(&turns) {
        for (at, what) in ["sent", "received", "a CPU s"].into_iter().enumerate() {
            let show = |of: &dyn Fn(&(Rates, Rates)) -> f64, digits| {
                let [median, least, most] = spread(turns.iter().map(of).collect());
                format!("{median:.digits$} ({least:.digits$} to {most:.digits$})")
            };
            println!(
                "{name:<10} {what:<9} {:>24} {:>24} {:>22}",
                show(&|turn| turn.0[at] / 1e3, 0),
                show(&|turn| turn.1[at] / 1e3, 0),
                show(&|turn| turn.1[at] / turn.0[at], 3)
            );
        }
    }
    for (name, way) in rows {
        let mut tester = Tester::open(ports(way, &left, &right))?;
        let trial = Span::from_ms(300);
        if let Some(found) = ceiling::measure(
            &mut tester,
            &traffic(),
            trial,
            threads(priority),
            &|| (),
            &AtomicBool::new(false),
        )? {
            println!("{name}: {found:?}");
        }
    }
    Ok(())
}
