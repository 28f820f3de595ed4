//! Routes that change while packets are forwarded: what it costs the packets.
//!
//! ```text
//! cargo run --release -p trammel-router --example updates [ROUTES [UPDATES_A_SECOND [SECONDS]]]
//! ```
//! Packets to random addresses pass a lookup as fast as they can; between two turns of the driver,
//! routes are removed and set again by the handlers of the element, as a control connection does,
//! at the rate asked for. Printed: the rates of both, packets made and not counted behind the
//! lookup, how long forwarding paused for updates, and the wait that this adds to a packet that
//! comes at any moment.
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]

use std::fmt::Write;
use std::io;
use std::time::Instant;
use trammel_core::rng::Rng;
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;
use trammel_packet::timestamp::Timestamp;
use trammel_router::engine::Ctx;
use trammel_router::engine::Options;
use trammel_router::host::{DeviceRequest, Host, Refusal, Socket, SocketRequest};
use trammel_router::lang;
use trammel_router::{BuiltIn, load};

/// The time, and nothing else.
#[derive(Debug)]
struct Bare(Instant);

impl Host for Bare {
    fn now(&mut self) -> Timestamp {
        Timestamp(self.0.elapsed().as_nanos() as i64)
    }
    fn wait(&mut self, _: &[i32], _: &[i32], _: Option<u64>, _: &mut Vec<i32>) -> io::Result<()> {
        Ok(())
    }
    fn open(&mut self, _: &str) -> io::Result<Box<dyn io::Read + Send>> {
        Err(io::ErrorKind::Unsupported.into())
    }
    fn create(&mut self, _: &str, _: bool) -> io::Result<Box<dyn io::Write + Send>> {
        Err(io::ErrorKind::Unsupported.into())
    }
    fn print(&mut self, _: &str) {}
    fn say(&mut self, _: &str) {}
    fn device(&mut self, wish: &DeviceRequest, _: &mut Pool) -> Result<Box<dyn Device>, Refusal> {
        Err(Refusal {
            text: format!("no device {}", wish.name),
            mend: None,
            is_lack: true,
        })
    }
    fn socket(&mut self, _: &SocketRequest) -> io::Result<Box<dyn Socket>> {
        Err(io::ErrorKind::Unsupported.into())
    }
    fn watch_signal(&mut self, _: i32) -> io::Result<()> {
        Ok(())
    }
    fn signals(&mut self) -> Vec<i32> {
        Vec::new()
    }
    fn kill(&mut self, _: i32, _: i32) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Different prefixes of 16 to 24 bits.
fn prefixes(count: usize, rng: &mut Rng) -> Vec<String> {
    let mut seen = std::collections::BTreeSet::new();
    while seen.len() < count {
        let len = [16, 20, 22, 23, 24, 24, 24, 24][rng.below(8) as usize];
        let address = (1 << 24) + rng.below(223 << 24) as u32;
        seen.insert((address & (u32::MAX << (32 - len)), len));
    }
    let text = |(address, len)| format!("{}/{len}", std::net::Ipv4Addr::from(address));
    seen.into_iter().map(text).collect()
}

fn write(ctx: &mut Ctx, handler: &str, value: &str) {
    let of = ctx.find_handler(handler, None).expect("it exists");
    ctx.write_handler(&of, value).expect("it is right");
}

fn count(ctx: &mut Ctx, handler: &str) -> u64 {
    let of = ctx.find_handler(handler, None).expect("it exists");
    let text = ctx.read_handler(&of, "").expect("it can be read");
    text.trim().parse().expect("a number")
}

fn measure(class: &str, prefixes: &[String], rate: f64, seconds: f64) {
    let mut table = "0.0.0.0/0 0".to_owned();
    for (at, prefix) in prefixes.iter().enumerate() {
        write!(table, ", {prefix} {}", at % 4).expect("a string takes any text");
    }
    let text = format!(
        "InfiniteSource(BURST 32, LIMIT -1) -> SetRandIPAddress(0.0.0.0/0) -> made :: Counter
           -> rt :: {class}({table}); rt[0], rt[1], rt[2], rt[3] => Null, Null, Null, Null
           -> out :: Counter -> Discard;"
    );
    let options = lang::Options {
        classes: Some(&BuiltIn),
        ..lang::Options::default()
    };
    let host = Box::new(Bare(Instant::now()));
    let loaded = load(&text, "updates", &options, host, Options::default());
    let (mut ctx, _) = loaded.unwrap_or_else(|refused| panic!("{}", refused.said.click()));
    let start = Instant::now();
    let (mut done, mut pauses) = (0_u64, Vec::new());
    while start.elapsed().as_secs_f64() < seconds {
        let now = ctx.now();
        ctx.run_until(Some(now));
        let owed = (start.elapsed().as_secs_f64() * rate) as u64;
        let pause = Instant::now();
        // What a read of a control connection brings at most.
        for _ in 0..owed.saturating_sub(done).min(512) {
            let at = (done / 2) as usize % prefixes.len();
            let prefix = &prefixes[at];
            if done.is_multiple_of(2) {
                write(&mut ctx, "rt.remove", prefix);
            } else {
                write(&mut ctx, "rt.set", &format!("{prefix} {}", at % 4));
            }
            done += 1;
        }
        pauses.push(pause.elapsed().as_secs_f64() * 1e6);
    }
    let spent = start.elapsed().as_secs_f64();
    let (made, out) = (count(&mut ctx, "made.count"), count(&mut ctx, "out.count"));
    // A packet that comes at any moment waits for what is left of the pause that it meets.
    let mut rng = Rng::new(1, "arrivals");
    let mut ends = Vec::new();
    let mut total = 0.0;
    for pause in &pauses {
        total += pause;
        ends.push(total);
    }
    let mut waits: Vec<f64> = (0..100_000)
        .map(|_| {
            let at = rng.below(1 << 52) as f64 / (1_u64 << 52) as f64 * spent * 1e6;
            if at >= total {
                return 0.0;
            }
            ends[ends.partition_point(|end| *end <= at)] - at
        })
        .collect();
    waits.sort_by(f64::total_cmp);
    pauses.sort_by(f64::total_cmp);
    let at = |all: &[f64], share: f64| all[(share * (all.len() - 1) as f64) as usize];
    println!(
        "{:>9} {class:<16} {:>9.0} {:>8.2} {:>6} {:>9.1} {:>9.1} {:>9.1} {:>9.1} {:>9.1}",
        prefixes.len(),
        done as f64 / spent,
        out as f64 / spent / 1e6,
        made - out,
        at(&pauses, 0.5),
        at(&pauses, 0.99),
        at(&pauses, 1.0),
        at(&waits, 0.5),
        at(&waits, 0.99),
    );
}

fn main() {
    let number = |at: usize, usual: f64| {
        let word = std::env::args().nth(at);
        word.and_then(|word| word.parse().ok()).unwrap_or(usual)
    };
    let (routes, rate, seconds) = (number(1, 1e6), number(2, 1e5), number(3, 2.0));
    let prefixes = prefixes(routes as usize, &mut Rng::new(1, "updates"));
    println!(
        "{:>9} {:<16} {:>9} {:>8} {:>6} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "routes",
        "class",
        "updates/s",
        "Mpps",
        "lost",
        "pause p50",
        "p99",
        "max",
        "wait p50",
        "wait p99"
    );
    for class in ["RadixIPLookup", "DirectIPLookup"] {
        for rate in [0.0, rate] {
            measure(class, &prefixes, rate, seconds);
        }
    }
    println!("pauses and waits in microseconds of this machine's clock");
}
