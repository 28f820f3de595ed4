//! What forwarding between two interfaces costs: AF_XDP, AF_PACKET, and the kernel itself, in one run.
//!
//! ```text
//! source ─ veth ─ forwarder ─ veth ─ sink        cargo run --release -p trammel-io --example forward
//! ```
//! The source is a program in the kernel; the sink is the stack of a namespace, which drops frames to another
//! host at once. The source and the reception at the forwarder run on processor
//! 1; the forwarder and the delivery of what it sends, sink included, on processor 0. The kernel forwards where
//! it receives, so all of it is on processor 1, from which what the source alone costs is subtracted.
//!
//! Thread time is that of the thread and of the soft interrupts that run within it. Three rounds in turn; the
//! median of each. Arguments: seconds a round (1), rounds (3).
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_io::afpacket::{self, AfPacket};
use trammel_io::afxdp::{self, AfXdp};
use trammel_io::clock;
use trammel_io::error::{Error, Result};
use trammel_io::live::{self, Sink, Source};
use trammel_io::netns::{Namespace, veth};
use trammel_io::ring;
use trammel_packet::batch::Packets;
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;

/// Frames a call of the source: some 0.3 s, since nothing is sent in the first 25 ms of each.
const CALL: u32 = 1 << 20;
/// Frames that are gathered before they are handed over.
const GATHER: usize = 64;

/// What a round measured.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    offered: u64,
    offering_ns: i64,
    delivered: u64,
    wall_ns: i64,
    /// Of the thread that forwards; for the kernel, of the source's thread.
    thread_ns: i64,
}

struct Rig {
    source: Namespace,
    middle: Namespace,
    sink: Namespace,
}

impl Rig {
    fn new() -> Result<Rig> {
        let rig = Rig {
            source: Namespace::new()?,
            middle: Namespace::new()?,
            sink: Namespace::new()?,
        };
        veth(&rig.source, "out", &rig.middle, "in0")?;
        veth(&rig.middle, "out0", &rig.sink, "in")?;
        for (namespace, name) in [
            (&rig.source, "out"),
            (&rig.middle, "in0"),
            (&rig.middle, "out0"),
            (&rig.sink, "in"),
        ] {
            namespace.set_offloads(name, false)?;
        }
        Ok(rig)
    }

    /// A UDP frame of 60 bytes to 10.2.0.9, which lies behind the forwarder.
    fn frame(&self) -> Result<Vec<u8>> {
        let mut frame = vec![0; 60];
        frame[..6].copy_from_slice(&self.middle.link("in0")?.mac.unwrap_or_default());
        frame[6..12].copy_from_slice(&self.source.link("out")?.mac.unwrap_or_default());
        frame[12..14].copy_from_slice(&[8, 0]);
        let header = [
            0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 1, 0, 1, 10, 2, 0, 9,
        ];
        frame[14..34].copy_from_slice(&header);
        let sum: u32 = header
            .chunks(2)
            .map(|w| u32::from(w[0]) << 8 | u32::from(w[1]))
            .sum();
        let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
        frame[24..26].copy_from_slice(&sum.to_be_bytes());
        frame[34..42].copy_from_slice(&[0, 9, 0, 9, 0, 26, 0, 0]);
        Ok(frame)
    }
}

/// Sends until told to stop; says how many frames, and how long it took and cost the thread.
fn offer(source: &Source, is_done: &AtomicBool) -> std::io::Result<(u64, i64, i64)> {
    clock::pin(1)?;
    let (wall, start) = (clock::monotonic_ns(), clock::thread_cpu_ns());
    let mut offered = 0;
    while !is_done.load(Ordering::Relaxed) {
        source.send(CALL)?;
        offered += u64::from(CALL);
    }
    Ok((
        offered,
        clock::monotonic_ns() - wall,
        clock::thread_cpu_ns() - start,
    ))
}

/// Forwards by two devices for `seconds`.
fn by_devices(
    rig: &Rig,
    seconds: f64,
    open: impl Fn(&str, &mut Pool) -> Result<Box<dyn Device>> + Sync,
) -> Result<(Outcome, Vec<String>)> {
    let kernel = |source| Error::Kernel {
        what: "the measurement failed".to_owned(),
        source,
    };
    let mut pool = Pool::new(8192, 8192);
    let mut devices = rig
        .middle
        .run(|| -> Result<_> { Ok([open("in0", &mut pool)?, open("out0", &mut pool)?]) })?;
    let source = rig.source.run(|| Source::open("out", &rig.frame()?))?;
    let before = rig.sink.link("in")?.counters.received;
    let is_done = AtomicBool::new(false);
    let (offered, forwarded) = std::thread::scope(|scope| {
        let offering = scope.spawn(|| offer(&source, &is_done));
        let named = std::thread::Builder::new().name("forwarder".to_owned());
        let forwarding = named.spawn_scoped(scope, || -> std::io::Result<(i64, i64)> {
            clock::pin(0)?;
            let [from, to] = &mut devices;
            let mut batch = Packets::new();
            let patience = clock::monotonic_ns() + 10_000_000_000;
            while from.receive(&mut pool, &mut batch)? == 0 {
                if clock::monotonic_ns() > patience {
                    is_done.store(true, Ordering::Relaxed);
                    return Err(std::io::Error::other("nothing comes from the source"));
                }
            }
            let start = clock::monotonic_ns();
            let until = start + (seconds * 1e9) as i64;
            let mut gathered = 0;
            // The thread's time while frames come; what it spins between the source's calls is not work.
            let (mut busy_ns, mut busy_since) = (0, Some(clock::thread_cpu_ns()));
            while clock::monotonic_ns() < until {
                let came = from.receive(&mut pool, &mut batch)?;
                match busy_since {
                    Some(since) if came == 0 && gathered == 0 => {
                        busy_ns += clock::thread_cpu_ns() - since;
                        busy_since = None;
                    }
                    None if came > 0 => busy_since = Some(clock::thread_cpu_ns()),
                    _ => {}
                }
                gathered += to.transmit(&mut pool, &mut batch)?;
                if gathered >= GATHER || came == 0 && gathered > 0 {
                    to.flush(&mut pool)?;
                    gathered = 0;
                }
            }
            to.flush(&mut pool)?;
            busy_ns += busy_since.map_or(0, |since| clock::thread_cpu_ns() - since);
            let times = (clock::monotonic_ns() - start, busy_ns);
            is_done.store(true, Ordering::Relaxed);
            batch.drain().for_each(|packet| pool.free(packet));
            Ok(times)
        });
        let forwarding = forwarding.expect("a thread can be started");
        let forwarded = forwarding.join().expect("the forwarder does not panic");
        is_done.store(true, Ordering::Relaxed);
        (
            offering.join().expect("the source does not panic"),
            forwarded,
        )
    });
    let (offered, offering_ns, _) = offered.map_err(kernel)?;
    let (wall_ns, thread_ns) = forwarded.map_err(kernel)?;
    let delivered = rig.sink.link("in")?.counters.received - before;
    let mut remarks = devices[1].remarks();
    let (input, output) = (devices[0].counters(), devices[1].counters());
    if output.sent != delivered {
        remarks.push(format!("sent {} and delivered {delivered}", output.sent));
    }
    if input.received + input.receive_drops > offered {
        remarks.push(format!("offered {offered}, and yet {input:?}"));
    }
    for device in &mut devices {
        device.close(&mut pool);
    }
    Ok((
        Outcome {
            offered,
            offering_ns,
            delivered,
            wall_ns,
            thread_ns,
        },
        remarks,
    ))
}

/// Has the kernel do it, or with `is_routing` off, drop everything at once: what the source alone costs.
fn by_kernel(rig: &Rig, seconds: f64, is_routing: bool) -> Result<Outcome> {
    let kernel = |source| Error::Kernel {
        what: "the measurement failed".to_owned(),
        source,
    };
    let source = rig.source.run(|| Source::open("out", &rig.frame()?))?;
    let (passing, dropping) = if is_routing {
        (Some(rig.middle.run(|| live::pass("in0"))?), None)
    } else {
        (None, Some(rig.middle.run(|| Sink::open("in0"))?))
    };
    let before = rig.sink.link("in")?.counters.received;
    let is_done = AtomicBool::new(false);
    let start = clock::monotonic_ns();
    let (offered, offering_ns, thread_ns) = std::thread::scope(|scope| {
        let offering = scope.spawn(|| offer(&source, &is_done));
        let waited = clock::wait(&[], Some((seconds * 1e9) as i64));
        is_done.store(true, Ordering::Relaxed);
        waited
            .and(offering.join().expect("the source does not panic"))
            .map_err(kernel)
    })?;
    let wall_ns = clock::monotonic_ns() - start;
    drop(passing);
    let delivered = match dropping {
        Some(sink) => sink.count()?,
        None => rig.sink.link("in")?.counters.received - before,
    };
    Ok(Outcome {
        offered,
        offering_ns,
        delivered,
        wall_ns,
        thread_ns,
    })
}

/// Sends and receives over a wire in memory, in one thread: what such a device costs a router.
fn by_ring(seconds: f64) -> Result<Outcome> {
    let kernel = |source| Error::Kernel {
        what: "the measurement failed".to_owned(),
        source,
    };
    let mut pool = Pool::new(1024, 1024);
    let (mut a, mut b) = ring::pair("ring", 1024);
    let mut batch = Packets::new();
    while !batch.is_full() {
        batch.push(
            pool.alloc_with(&[0; 60])
                .expect("the pool is larger than a batch"),
        );
    }
    let (start, thread) = (clock::monotonic_ns(), clock::thread_cpu_ns());
    while clock::monotonic_ns() - start < (seconds * 1e9) as i64 {
        for _ in 0..1000 {
            a.transmit(&mut pool, &mut batch).map_err(kernel)?;
            b.receive(&mut pool, &mut batch).map_err(kernel)?;
        }
    }
    let wall_ns = clock::monotonic_ns() - start;
    Ok(Outcome {
        offered: a.counters().sent,
        offering_ns: wall_ns,
        delivered: b.counters().received,
        wall_ns,
        thread_ns: clock::thread_cpu_ns() - thread,
    })
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    if let Err(error) = measure() {
        eprintln!("{error}");
        if let Some(mend) = error.mend() {
            eprintln!("try: {mend}");
        }
        std::process::exit(3);
    }
}

fn measure() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let seconds: f64 = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(1.0);
    let rounds: usize = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(3);
    let rig = Rig::new()?;
    // For the kernel's own forwarding; no device below is disturbed by it, since none has an address.
    let mut all: BTreeMap<&str, Vec<Outcome>> = BTreeMap::new();
    let mut remarks: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for _ in 0..rounds {
        let (outcome, said) = by_devices(&rig, seconds, |name, pool| {
            Ok(Box::new(AfXdp::open(
                name,
                &afxdp::Options::default(),
                pool,
            )?))
        })?;
        all.entry("afxdp").or_default().push(outcome);
        remarks.insert("afxdp", said);
        let passing = rig.middle.run(|| live::pass("in0"))?;
        let (outcome, said) = by_devices(&rig, seconds, |name, _| {
            Ok(Box::new(AfPacket::open(
                name,
                &afpacket::Options::default(),
            )?))
        })?;
        drop(passing);
        all.entry("afpacket").or_default().push(outcome);
        remarks.insert("afpacket", said);
        all.entry("(source alone)")
            .or_default()
            .push(by_kernel(&rig, seconds, false)?);
        all.entry("(ring)").or_default().push(by_ring(seconds)?);
        let routing = Rig::new()?;
        routing.middle.add_address("in0", "10.1.0.254/24")?;
        routing.middle.add_address("out0", "10.2.0.254/24")?;
        routing
            .middle
            .add_neighbour("out0", "10.2.0.9", [2, 0, 0, 0, 0, 9])?;
        routing.middle.set_sysctl("ipv4/ip_forward", "1")?;
        all.entry("kernel")
            .or_default()
            .push(by_kernel(&routing, seconds, true)?);
    }
    println!(
        "{:15} {:>9} {:>9} {:>12} {:>14}",
        "", "Mpps", "offered", "thread ns/p", "Mpps of a core"
    );
    let mut source_ns = 0.0;
    for (name, outcomes) in &all {
        let of = |value: &dyn Fn(&Outcome) -> f64| {
            median(&mut outcomes.iter().map(value).collect::<Vec<_>>())
        };
        let mpps = of(&|o| o.delivered as f64 / o.wall_ns as f64 * 1e3);
        let offered = of(&|o| o.offered as f64 / o.offering_ns as f64 * 1e3);
        let mut thread_ns = of(&|o| o.thread_ns as f64 / o.delivered.max(1) as f64);
        if *name == "(source alone)" {
            source_ns = thread_ns;
        } else if *name == "kernel" {
            thread_ns -= source_ns;
        }
        println!(
            "{name:15} {mpps:9.3} {offered:9.3} {thread_ns:12.0} {:14.3}",
            1e3 / thread_ns
        );
    }
    for (name, said) in remarks {
        for remark in said {
            println!("{name}: {remark}");
        }
    }
    Ok(())
}
