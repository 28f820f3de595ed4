//! What forwarding between two interfaces costs: the router's engine, its devices alone, and the
//! kernel, in one run.
//!
//! ```text
//! source ─ veth ─ forwarder ─ veth ─ sink      cargo run --release -p trammel --example veth_forwarding
//! ```
//! The source is a program in the kernel; the sink is the stack of a namespace, which drops frames
//! to another host at once. The source and the reception at the forwarder run on processor 1; the
//! forwarder and the delivery of what it sends, sink included, on processor 0. The kernel forwards
//! where it receives, so all of it is on processor 1, from which what the source alone costs is
//! subtracted.
//!
//! Rows: `plain` is `FromDevice -> Queue -> ToDevice`, `route` an IP router's path, `bare` a loop
//! over the devices without a router. `Mpps` is what reached the sink in a second of the clock, of
//! the offered load; `ns/p` the forwarder's thread time, soft interrupts that run within it
//! included, for each frame delivered. Rounds in turn: the median, and the least and the most.
//! Arguments: seconds a round (2), rounds (5), then the rows wanted (all).
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod rig;

use rig::Rig;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel::driver::machine::Machine;
use trammel_io::afpacket::{self, AfPacket};
use trammel_io::afxdp::{self, AfXdp};
use trammel_io::clock;
use trammel_io::error::{Error, Result};
use trammel_io::live::{self, Sink, Source};
use trammel_packet::batch::Packets;
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;
use trammel_packet::timestamp::Timestamp;
use trammel_router::engine::{Ctx, Options};
use trammel_router::lang;
use trammel_router::{BuiltIn, load};

/// Frames a call of the source: some two seconds, since nothing is sent in the first 25 ms of each.
const CALL: u32 = 1 << 22;
/// Frames that are gathered before they are handed over.
const GATHER: usize = 128;
/// How long the first frame may take.
const PATIENCE_NS: i64 = 10_000_000_000;

/// What a round measured.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    offered_mpps: f64,
    /// Of a processor, that the source's thread used.
    source_share: f64,
    delivered: u64,
    wall_ns: i64,
    /// Of the thread that forwards; for the kernel, of the source's thread.
    thread_ns: i64,
}

/// A UDP frame of 60 bytes to 10.2.0.9, which lies behind the forwarder.
fn frame(rig: &Rig) -> Result<Vec<u8>> {
    let mut frame = vec![0; 60];
    frame[..6].copy_from_slice(&rig.middle.link("in0")?.mac.unwrap_or_default());
    frame[6..12].copy_from_slice(&rig.source.link("out")?.mac.unwrap_or_default());
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

fn failed(source: std::io::Error) -> Error {
    Error::Kernel {
        what: "the measurement failed".to_owned(),
        source,
    }
}

fn refused(text: String) -> Error {
    failed(std::io::Error::other(text))
}

/// What the source did: how many frames in which time, and what its thread used.
struct Offered {
    frames: u64,
    wall_ns: i64,
    thread_ns: i64,
}

/// Sends until told to stop.
fn offer(source: &Source, is_done: &AtomicBool) -> std::io::Result<Offered> {
    clock::pin(1)?;
    let (wall, start) = (clock::monotonic_ns(), clock::thread_cpu_ns());
    let mut frames = 0;
    while !is_done.load(Ordering::Relaxed) {
        source.send(CALL)?;
        frames += u64::from(CALL);
    }
    Ok(Offered {
        frames,
        wall_ns: clock::monotonic_ns() - wall,
        thread_ns: clock::thread_cpu_ns() - start,
    })
}

/// Something that forwards, in a thread in the middle namespace.
trait Forwarder {
    /// Forwards for `ns`, or less where nothing comes; says whether anything has come.
    fn forward(&mut self, ns: i64) -> Result<bool>;
    /// What is to be said at the end.
    fn end(&mut self) -> Vec<String>;
}

/// Forwards for `seconds` by what `open` makes.
fn by_forwarder<F: Forwarder>(
    rig: &Rig,
    seconds: f64,
    open: impl FnOnce() -> Result<F> + Send,
) -> Result<(Outcome, Vec<String>)> {
    let is_done = AtomicBool::new(false);
    let (is_open, opened) = std::sync::mpsc::channel();
    let (forwarded, offered) = std::thread::scope(|scope| {
        let is_done = &is_done;
        let forwarding = scope.spawn(move || {
            let worked = rig.middle.run(|| -> Result<_> {
                clock::pin(0).map_err(failed)?;
                let mut forwarder = open()?;
                let _ = is_open.send(());
                let patience = clock::monotonic_ns() + PATIENCE_NS;
                while !forwarder.forward(1_000_000)? {
                    if clock::monotonic_ns() > patience {
                        return Err(refused("nothing comes from the source".to_owned()));
                    }
                }
                let before = rig.delivered()?;
                let (wall, thread) = (clock::monotonic_ns(), clock::thread_cpu_ns());
                forwarder.forward((seconds * 1e9) as i64)?;
                let times = (
                    clock::monotonic_ns() - wall,
                    clock::thread_cpu_ns() - thread,
                );
                let delivered = rig.delivered()? - before;
                Ok((times, delivered, forwarder.end()))
            });
            is_done.store(true, Ordering::Relaxed);
            worked
        });
        // The source's peer has to be ready before frames are sent, or they are lost.
        let offered = if opened.recv().is_ok() {
            let source = frame(rig).and_then(|f| rig.source.run(|| Source::open("out", &f)));
            source.and_then(|source| {
                let offering = scope.spawn(move || offer(&source, is_done).map_err(failed));
                offering.join().expect("the thread does not panic")
            })
        } else {
            Err(refused("the forwarder could not be opened".to_owned()))
        };
        (
            forwarding.join().expect("the forwarder does not panic"),
            offered,
        )
    });
    let ((wall_ns, thread_ns), delivered, remarks) = forwarded?;
    Ok((outcome(&offered?, delivered, wall_ns, thread_ns), remarks))
}

fn outcome(offered: &Offered, delivered: u64, wall_ns: i64, thread_ns: i64) -> Outcome {
    Outcome {
        offered_mpps: offered.frames as f64 / offered.wall_ns as f64 * 1e3,
        source_share: offered.thread_ns as f64 / offered.wall_ns as f64,
        delivered,
        wall_ns,
        thread_ns,
    }
}

/// A loop over two devices without a router.
struct Bare {
    pool: Pool,
    from: Box<dyn Device>,
    to: Box<dyn Device>,
}

impl Forwarder for Bare {
    fn forward(&mut self, ns: i64) -> Result<bool> {
        let until = clock::monotonic_ns() + ns;
        let (mut gathered, mut has_come) = (0, false);
        let mut batch = Packets::new();
        while clock::monotonic_ns() < until {
            let came = self
                .from
                .receive(&mut self.pool, &mut batch)
                .map_err(failed)?;
            has_come |= came > 0;
            gathered += self
                .to
                .transmit(&mut self.pool, &mut batch)
                .map_err(failed)?;
            if gathered >= GATHER || came == 0 && gathered > 0 {
                self.to.flush(&mut self.pool).map_err(failed)?;
                gathered = 0;
            }
            if came == 0
                && let Some(descriptor) = self.from.descriptor()
            {
                clock::wait(&[descriptor], Some(1_000_000)).map_err(failed)?;
            }
        }
        self.to.flush(&mut self.pool).map_err(failed)?;
        batch.drain().for_each(|packet| self.pool.free(packet));
        Ok(has_come)
    }

    fn end(&mut self) -> Vec<String> {
        let counters = format!(
            "in {:?}, out {:?}",
            self.from.counters(),
            self.to.counters()
        );
        let mut remarks = self.to.remarks();
        remarks.push(counters);
        self.from.close(&mut self.pool);
        self.to.close(&mut self.pool);
        remarks
    }
}

fn bare(open: impl Fn(&str, &mut Pool) -> Result<Box<dyn Device>>) -> Result<Bare> {
    let mut pool = Pool::new(8192, 8192);
    let (from, to) = (open("in0", &mut pool)?, open("out0", &mut pool)?);
    Ok(Bare { pool, from, to })
}

/// The router's engine with a configuration.
struct Router(Option<Ctx>);

impl Router {
    fn new(config: &str) -> Result<Router> {
        let options = lang::Options {
            classes: Some(&BuiltIn),
            ..lang::Options::default()
        };
        let machine = Box::new(Machine::new().map_err(failed)?);
        let run = Options::default();
        let loaded = load(config, "config", &options, machine, run);
        let (ctx, _) = loaded.map_err(|refusal| refused(refusal.said.click()))?;
        Ok(Router(Some(ctx)))
    }

    fn read(&mut self, handler: &str) -> String {
        let Some(ctx) = &mut self.0 else {
            return String::new();
        };
        let Ok(found) = ctx.find_handler(handler, None) else {
            return String::new();
        };
        ctx.read_handler(&found, "").unwrap_or_default()
    }
}

impl Forwarder for Router {
    fn forward(&mut self, ns: i64) -> Result<bool> {
        if let Some(ctx) = &mut self.0 {
            let until = ctx.now() + Timestamp(ns);
            ctx.run_until(Some(until));
        }
        Ok(self.read("from.count") != "0")
    }

    fn end(&mut self) -> Vec<String> {
        let counts = [
            "from.count",
            "from.kernel_drops",
            "q.drops",
            "q.highwater_length",
        ]
        .map(|handler| format!("{handler} {}", self.read(handler)));
        if let Some(mut ctx) = self.0.take() {
            ctx.cleanup();
        }
        vec![counts.join(", ")]
    }
}

fn plain(method: &str) -> String {
    format!(
        "from :: FromDevice(in0, true, METHOD {method}) -> q :: Queue(2000) \
         -> ToDevice(out0, METHOD {method});"
    )
}

fn route(method: &str) -> String {
    format!(
        "from :: FromDevice(in0, true, METHOD {method}) -> c :: Classifier(12/0800, -); c[1] -> \
         Discard; c -> Strip(14) -> CheckIPHeader -> rt :: RadixIPLookup(10.1.0.0/16 1, \
         10.2.0.0/16 0, 0.0.0.0/0 1); rt[1] -> Discard; rt[0] -> DropBroadcasts -> ttl :: DecIPTTL \
         -> fr :: IPFragmenter(1500) -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:2) -> q :: \
         Queue(2000) -> ToDevice(out0, METHOD {method});"
    )
}

/// Has the kernel do it, or with `is_routing` off, drop everything at once: what the source alone
/// costs.
fn by_kernel(rig: &Rig, seconds: f64, is_routing: bool) -> Result<Outcome> {
    let source = rig.source.run(|| Source::open("out", &frame(rig)?))?;
    let (passing, dropping) = if is_routing {
        (Some(rig.middle.run(|| live::pass("in0"))?), None)
    } else {
        (None, Some(rig.middle.run(|| Sink::open("in0"))?))
    };
    let before = rig.delivered()?;
    let is_done = AtomicBool::new(false);
    let start = clock::monotonic_ns();
    let offered = std::thread::scope(|scope| {
        let offering = scope.spawn(|| offer(&source, &is_done));
        let waited = clock::wait(&[], Some((seconds * 1e9) as i64));
        is_done.store(true, Ordering::Relaxed);
        waited
            .and(offering.join().expect("the thread does not panic"))
            .map_err(failed)
    })?;
    let wall_ns = clock::monotonic_ns() - start;
    drop(passing);
    let delivered = match dropping {
        Some(sink) => sink.count()?,
        None => rig.delivered()? - before,
    };
    Ok(outcome(&offered, delivered, wall_ns, offered.thread_ns))
}

/// A namespace in the middle that routes.
fn routing() -> Result<Rig> {
    let routing = Rig::new()?;
    routing.middle.add_address("in0", "10.1.0.254/24")?;
    routing.middle.add_address("out0", "10.2.0.254/24")?;
    routing
        .middle
        .add_neighbour("out0", "10.2.0.9", [2, 0, 0, 0, 0, 9])?;
    routing.middle.set_sysctl("ipv4/ip_forward", "1")?;
    Ok(routing)
}

const ROWS: [&str; 8] = [
    "source",
    "kernel",
    "afxdp-bare",
    "afxdp-plain",
    "afxdp-route",
    "afpacket-bare",
    "afpacket-plain",
    "afpacket-route",
];

fn row(name: &str, seconds: f64) -> Result<(Outcome, Vec<String>)> {
    let rig = if name == "kernel" {
        routing()?
    } else {
        Rig::new()?
    };
    // Frames of the source go only to an interface with a program.
    let _passing = (name.starts_with("afpacket"))
        .then(|| rig.middle.run(|| live::pass("in0")))
        .transpose()?;
    match name {
        "source" | "kernel" => Ok((by_kernel(&rig, seconds, name == "kernel")?, Vec::new())),
        "afxdp-bare" => by_forwarder(&rig, seconds, || {
            bare(|name, pool| {
                let options = afxdp::Options::default();
                Ok(Box::new(AfXdp::open(name, &options, pool)?))
            })
        }),
        "afpacket-bare" => by_forwarder(&rig, seconds, || {
            bare(|name, _| {
                let options = afpacket::Options::default();
                Ok(Box::new(AfPacket::open(name, &options)?))
            })
        }),
        _ => {
            let Some((method, kind)) = name.split_once('-') else {
                return Err(Error::Invalid(format!(
                    "there is no row `{name}`: {ROWS:?}"
                )));
            };
            let config = if kind == "route" {
                route(method)
            } else {
                plain(method)
            };
            by_forwarder(&rig, seconds, || Router::new(&config))
        }
    }
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

/// The median of values, their least and their most.
fn spread(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    [
        values[values.len() / 2],
        values[0],
        values[values.len() - 1],
    ]
}

fn measure() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let seconds: f64 = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(2.0);
    let rounds: usize = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(5);
    let mut rows: Vec<String> = arguments.collect();
    if rows.is_empty() {
        rows = ROWS.map(str::to_owned).to_vec();
    }
    let mut all: BTreeMap<&str, Vec<Outcome>> = BTreeMap::new();
    let mut remarks: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for _ in 0..rounds.max(1) {
        for name in &rows {
            let (outcome, said) = row(name, seconds)?;
            all.entry(name).or_default().push(outcome);
            remarks.insert(name, said);
        }
    }
    println!(
        "{:15} {:>6} {:>13} {:>8} {:>6} {:>7} {:>6} {:>13} {:>9}",
        "", "Mpps", "(least-most)", "offered", "lost", "source", "ns/p", "(least-most)", "/kernel"
    );
    let thread = |o: &Outcome| o.thread_ns as f64 / o.delivered.max(1) as f64;
    let speed = |o: &Outcome| o.delivered as f64 / o.wall_ns as f64 * 1e3;
    let of_source = all
        .get("source")
        .map_or(0.0, |o| spread(o.iter().map(thread))[0]);
    let of_kernel = all.get("kernel").map(|o| spread(o.iter().map(speed))[0]);
    for name in &rows {
        let outcomes = &all[name.as_str()];
        let [mpps, slowest, fastest] = spread(outcomes.iter().map(speed));
        let offered = spread(outcomes.iter().map(|o| o.offered_mpps))[0];
        let share = spread(outcomes.iter().map(|o| o.source_share))[0];
        // What the kernel forwards costs the source's own thread.
        let own = if name == "kernel" { of_source } else { 0.0 };
        let [ns, least, most] = spread(outcomes.iter().map(thread)).map(|ns| ns - own);
        println!(
            "{name:15} {mpps:6.3} ({slowest:.3}-{fastest:.3}) {offered:8.3} {:5.1}% {:6.0}% \
             {ns:6.0} {:>13} {:>9}",
            (1.0 - mpps / offered).max(0.0) * 100.0,
            share * 100.0,
            format!("({least:.0}-{most:.0})"),
            of_kernel.map_or_else(String::new, |kernel| format!("{:.2}", mpps / kernel)),
        );
    }
    for (name, said) in remarks {
        for remark in said {
            println!("{name}: {remark}");
        }
    }
    Ok(())
}
