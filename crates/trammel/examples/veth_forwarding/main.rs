//! What forwarding between two interfaces costs: a live card, the router's engine, their devices
//! alone, and the kernel, in one run.
//!
//! ```text
//! source ─ veth ─ forwarder ─ veth ─ sink
//!
//! cargo run --release -p trammel --example veth_forwarding                    all rows, as much as can be offered
//! cargo run --release -p trammel --example veth_forwarding 5 3 afxdp-card afxdp-route
//! cargo run --release -p trammel --example veth_forwarding rate=0.3e6 60 1 afxdp-card afxdp-route
//! ```
//! Arguments: `rate=` frames a second (as many as can be), `rt` for real-time priority, seconds a
//! round (2), rounds (5), then the rows wanted (all). Rounds go in turn.
//!
//! The source and the reception at the forwarder run on processor 1; the forwarder and the delivery
//! of what it sends, sink included, on processor 0. The sink is the stack of a namespace, which
//! drops frames to another host at once. Without a rate the source is a program in the kernel; at a
//! rate it sends 32 frames at a time by AF_XDP, and every frame that it sent is waited for. The
//! kernel forwards where it receives, so all of it is on processor 1, from which what the source
//! alone costs is subtracted.
//!
//! Rows: `plain` is `FromDevice -> Queue -> ToDevice`, `route` an IP router's path with 32 routes,
//! `bare` a loop over the devices without a router, `card` the NetFPGA reference router with a full
//! route table. `Mpps` is what reached the sink in a second of the clock (at a rate: what was
//! sent), `ns/p` the forwarder's thread time for each frame delivered, soft interrupts that run
//! within it included, and `1000/ns` millions of frames in a second of that thread's time.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod bare;
mod card;
mod click;
mod kernel;
mod load;
mod outcome;
#[path = "../rig/mod.rs"]
mod rig;

use bare::Bare;
use card::Live;
use click::Router;
use load::Offered;
use outcome::{Outcome, Outcomes};
use rig::Rig;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_card::live::Method;
use trammel_io::clock;
use trammel_io::error::{Error, Result};
use trammel_io::live::{self, Source};

/// How long the first frame may take.
const PATIENCE_NS: i64 = 10_000_000_000;
/// How long a forwarder runs between looks whether it is to end.
const LOOK_NS: i64 = 10_000_000;

const ROWS: [&str; 10] = [
    "source",
    "kernel",
    "afxdp-bare",
    "afxdp-plain",
    "afxdp-route",
    "afxdp-card",
    "afpacket-bare",
    "afpacket-plain",
    "afpacket-route",
    "afpacket-card",
];

fn failed(source: std::io::Error) -> Error {
    Error::Kernel {
        what: "the measurement failed".to_owned(),
        source,
    }
}

fn refused(text: String) -> Error {
    failed(std::io::Error::other(text))
}

/// Something that forwards, in a thread in the middle namespace.
trait Forwarder {
    /// Forwards for `ns`, or less where nothing comes; says whether anything has come.
    fn forward(&mut self, ns: i64) -> Result<bool>;
    /// What is to be said at the end.
    fn end(&mut self) -> Vec<String>;
}

/// What is wanted.
struct Wish {
    /// Frames a second; as many as can be, if none.
    rate: Option<f64>,
    is_real_time: bool,
    seconds: f64,
    rounds: usize,
    rows: Vec<String>,
}

impl Wish {
    fn of(arguments: impl Iterator<Item = String>) -> Result<Wish> {
        let mut wish = Wish {
            rate: None,
            is_real_time: false,
            seconds: 2.0,
            rounds: 5,
            rows: Vec::new(),
        };
        let mut numbers = 0;
        for argument in arguments {
            let invalid = || Error::Invalid(format!("`{argument}` is no row: {ROWS:?}"));
            if let Some(rate) = argument.strip_prefix("rate=") {
                wish.rate = Some(rate.parse().map_err(|_| invalid())?);
            } else if argument == "rt" {
                wish.is_real_time = true;
            } else if let Ok(number) = argument.parse::<f64>() {
                match numbers {
                    0 => wish.seconds = number,
                    _ => wish.rounds = (number as usize).max(1),
                }
                numbers += 1;
            } else if ROWS.contains(&argument.as_str()) {
                wish.rows.push(argument);
            } else {
                return Err(invalid());
            }
        }
        if wish.rows.is_empty() {
            // The kernel forwards in the source's own thread.
            let of_a_rate = wish.rate.map_or(0, |_| 2);
            wish.rows = ROWS[of_a_rate..].iter().map(ToString::to_string).collect();
        }
        Ok(wish)
    }

    /// Forwards by what `open` makes.
    fn by<F: Forwarder>(
        &self,
        rig: &Rig,
        open: impl FnOnce() -> Result<F> + Send,
    ) -> Result<(Outcome, Vec<String>)> {
        let is_done = AtomicBool::new(false);
        let (is_open, opened) = std::sync::mpsc::channel();
        let (forwarded, offered) = std::thread::scope(|scope| {
            let is_done = &is_done;
            let forwarding = scope.spawn(move || {
                let worked = rig.middle.run(|| {
                    clock::pin(0).map_err(failed)?;
                    self.hurry()?;
                    let mut forwarder = open()?;
                    let _ = is_open.send(());
                    self.forward(rig, &mut forwarder, is_done)
                });
                is_done.store(true, Ordering::Relaxed);
                worked
            });
            // The source's peer has to be ready before frames are sent, or they are lost.
            let offered = if opened.recv().is_ok() {
                let offering = scope.spawn(move || self.offer(rig, is_done));
                offering.join().expect("the thread does not panic")
            } else {
                Err(refused("the forwarder could not be opened".to_owned()))
            };
            is_done.store(true, Ordering::Relaxed);
            (
                forwarding.join().expect("the forwarder does not panic"),
                offered,
            )
        });
        let (delivered, [wall_ns, thread_ns], remarks) = forwarded?;
        let outcome = Outcome {
            offered: offered?,
            delivered,
            wall_ns,
            thread_ns,
        };
        Ok((outcome, remarks))
    }

    fn hurry(&self) -> Result<()> {
        if self.is_real_time {
            clock::real_time(1).map_err(failed)?;
        }
        Ok(())
    }

    fn offer(&self, rig: &Rig, is_done: &AtomicBool) -> Result<Offered> {
        let frame = load::frame(rig)?;
        rig.source.run(|| {
            self.hurry()?;
            match self.rate {
                Some(rate) => load::paced(&frame, rate, self.seconds),
                None => load::most(&Source::open("out", &frame)?, is_done).map_err(failed),
            }
        })
    }

    /// Frames delivered, time by the clock and of the thread, remarks.
    fn forward(
        &self,
        rig: &Rig,
        forwarder: &mut impl Forwarder,
        is_done: &AtomicBool,
    ) -> Result<(u64, [i64; 2], Vec<String>)> {
        let begin = clock::monotonic_ns();
        if self.rate.is_none() {
            while !forwarder.forward(LOOK_NS / 10)? {
                if clock::monotonic_ns() > begin + PATIENCE_NS {
                    return Err(refused("nothing comes from the source".to_owned()));
                }
            }
        }
        let before = rig.delivered()?;
        let (wall, thread) = (clock::monotonic_ns(), clock::thread_cpu_ns());
        if self.rate.is_none() {
            forwarder.forward((self.seconds * 1e9) as i64)?;
        } else {
            while !is_done.load(Ordering::Relaxed) {
                forwarder.forward(LOOK_NS)?;
            }
        }
        let times = [
            clock::monotonic_ns() - wall,
            clock::thread_cpu_ns() - thread,
        ];
        Ok((rig.delivered()? - before, times, forwarder.end()))
    }

    fn row(&self, name: &str) -> Result<(Outcome, Vec<String>)> {
        if self.rate.is_none() && (name == "source" || name == "kernel") {
            let is_routing = name == "kernel";
            let rig = if is_routing {
                kernel::rig()
            } else {
                Rig::new()
            };
            let outcome = kernel::forward(&rig?, self.seconds, is_routing)?;
            return Ok((outcome, Vec::new()));
        }
        let rig = Rig::new()?;
        // Frames of the source go only to an interface with a program.
        let _passing = (name.starts_with("afpacket"))
            .then(|| rig.middle.run(|| live::pass("in0")))
            .transpose()?;
        match name.split_once('-') {
            Some(("afxdp", "bare")) => self.by(&rig, Bare::by_xdp),
            Some(("afpacket", "bare")) => self.by(&rig, Bare::by_packet_socket),
            Some(("afxdp", "card")) => self.by(&rig, || Live::open(Method::AfXdp)),
            Some(("afpacket", "card")) => self.by(&rig, || Live::open(Method::AfPacket)),
            Some((method, "plain")) => self.by(&rig, || Router::new(&click::plain(method))),
            Some((method, "route")) => self.by(&rig, || Router::new(&click::route(method))),
            _ => Err(Error::Invalid(format!("`{name}` has no rate"))),
        }
    }
}

fn measure() -> Result<()> {
    let wish = Wish::of(std::env::args().skip(1))?;
    let priority = if wish.is_real_time { ", real-time" } else { "" };
    let load = wish.rate.map_or_else(
        || "as many as the source can make".to_owned(),
        |rate| format!("{} million a second by AF_XDP, 32 at a time", rate / 1e6),
    );
    outcome::heading(&format!(
        "frames of 64 bytes, {load}; {} rounds of {} s in turn; forwarder on processor 0, source \
         on processor 1{priority}",
        wish.rounds, wish.seconds,
    ));
    let mut all = Outcomes::new();
    let mut remarks = std::collections::BTreeMap::new();
    for _ in 0..wish.rounds {
        for name in &wish.rows {
            let (outcome, said) = wish.row(name)?;
            all.entry(name.clone()).or_default().push(outcome);
            remarks.insert(name, said);
        }
    }
    match wish.rate {
        Some(_) => outcome::paced(&wish.rows, &all),
        None => outcome::most(&wish.rows, &all),
    }
    for (name, said) in remarks {
        for remark in said {
            println!("{name}: {remark}");
        }
    }
    Ok(())
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
