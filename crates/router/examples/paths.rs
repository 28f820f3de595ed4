//! What a packet costs on whole paths: cycles of a configuration, start-up subtracted.
//!
//! ```text
//! cargo run --release -p trammel-router --example paths -- FILE.click… flows=512
//! ```
//! `flows=N` is a path of its own: frames to N addresses in random order, an exact route for each,
//! new Ethernet addresses, the time to live less one and the checksum with it; and the same without
//! what is measured, to be subtracted. Each file has a variable `$N`, the packets of each source,
//! as the comparison with Click has it. It is run with N and N/8 packets in turn, five times each;
//! the least of each count, and the difference divided by the packets between them. The processor's
//! time-stamp counter counts at its own rate; how many core cycles a tick is, is measured in the
//! same run by multiplications that wait for one another.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::io::{self, Read, Write};
use trammel_packet::cpu::cycles;
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;
use trammel_packet::timestamp::Timestamp;
use trammel_router::engine::Options;
use trammel_router::host::{DeviceRequest, Host, Refusal, Socket, SocketRequest};
use trammel_router::lang;
use trammel_router::{BuiltIn, load};

/// Just enough of a machine: files to read, and the time.
#[derive(Debug)]
struct Bare {
    directory: std::path::PathBuf,
    started: std::time::Instant,
}

impl Host for Bare {
    fn now(&mut self) -> Timestamp {
        Timestamp(self.started.elapsed().as_nanos() as i64)
    }
    fn wait(&mut self, _: &[i32], _: &[i32], _: Option<u64>, _: &mut Vec<i32>) -> io::Result<()> {
        Ok(())
    }
    fn open(&mut self, path: &str) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(std::fs::File::open(self.directory.join(path))?))
    }
    fn create(&mut self, _: &str, _: bool) -> io::Result<Box<dyn Write + Send>> {
        Ok(Box::new(io::sink()))
    }
    fn print(&mut self, _: &str) {}
    fn say(&mut self, text: &str) {
        println!("{}", text.trim_end());
    }
    fn device(
        &mut self,
        request: &DeviceRequest,
        _: &mut Pool,
    ) -> Result<Box<dyn Device>, Refusal> {
        Err(Refusal {
            text: format!("no device {}", request.name),
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

/// Core cycles of one tick of the counter.
fn core_cycles_a_tick() -> f64 {
    const STEPS: u64 = 20_000_000;
    let best = (0..5)
        .map(|_| {
            let start = cycles();
            let mut x = black_box(3_u64);
            for _ in 0..STEPS {
                // Three cycles and one each on every processor of the last ten years.
                x = x.wrapping_mul(x) | 1;
            }
            black_box(x);
            cycles() - start
        })
        .min()
        .unwrap_or(1);
    (4 * STEPS) as f64 / best as f64
}

/// Frames of 64 bytes to `flows` addresses, and what is done to them where `is_whole`.
fn flows(flows: u32, is_whole: bool) -> String {
    let bits = 32 - flows.next_power_of_two().trailing_zeros();
    let route = |n: u32| format!("{}/32 0", std::net::Ipv4Addr::from(0x0a00_0000 + n));
    let routes: Vec<String> = (0..flows).map(route).collect();
    let work = if is_whole {
        format!(
            "-> rt :: RadixIPLookup({}); rt -> DecIPTTL \
             -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:2)",
            routes.join(", ")
        )
    } else {
        String::new()
    };
    format!(
        "InfiniteSource(DATA \\<4500002e 00000000 40110000 c0a80001 0a000000 {}>, LIMIT $N, \
         BURST 32, STOP true)
         -> MarkIPHeader -> SetRandIPAddress(10.0.0.0/{bits}, {flows}) -> StoreIPAddress(16) \
         -> SetIPChecksum
         {work} -> Discard",
        "00".repeat(30)
    )
}

/// A configuration's text by the name of its file, or of a path of this program's own.
fn text_of(name: &str) -> Result<String, String> {
    let own = name.strip_prefix("flows=").and_then(|n| n.parse().ok());
    let own_base = name
        .strip_prefix("base-of-flows=")
        .and_then(|n| n.parse().ok());
    match (own, own_base) {
        (Some(n), _) => Ok(flows(n, true)),
        (_, Some(n)) => Ok(flows(n, false)),
        _ => std::fs::read_to_string(name).map_err(|e| e.to_string()),
    }
}

/// Ticks of a run with `n` packets a source, and packets counted on the way, or what is wrong.
fn run(file: &str, n: u64) -> Result<u64, String> {
    let text = text_of(file)?;
    let definitions = [("N".to_owned(), n.to_string())];
    let options = lang::Options {
        definitions: &definitions,
        classes: Some(&BuiltIn),
        ..lang::Options::default()
    };
    let host = Box::new(Bare {
        directory: std::path::Path::new(file)
            .parent()
            .map(Into::into)
            .unwrap_or_default(),
        started: std::time::Instant::now(),
    });
    let loaded = load(&text, file, &options, host, Options::default());
    let (mut ctx, _) = loaded.map_err(|refused| refused.said.click())?;
    let start = cycles();
    ctx.run_until(None);
    Ok(cycles() - start)
}

fn main() {
    let tick = core_cycles_a_tick();
    println!("{tick:.2} core cycles a tick; cycles a packet");
    let wished = std::env::args().skip(1).flat_map(|name| {
        let base = name
            .starts_with("flows=")
            .then(|| format!("base-of-{name}"));
        base.into_iter().chain([name])
    });
    for file in wished {
        let text = text_of(&file).unwrap_or_default();
        let sources = text.matches("InfiniteSource(").count() as u64;
        let n = 1_600_000;
        let mut least = [u64::MAX; 2];
        let mut fault = None;
        for _ in 0..5 {
            for (at, n) in [n / 8, n].into_iter().enumerate() {
                match run(&file, n) {
                    Ok(ticks) => least[at] = least[at].min(ticks),
                    Err(why) => fault = Some(why),
                }
            }
        }
        let name = std::path::Path::new(&file)
            .file_stem()
            .map(|s| s.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        if let Some(why) = fault {
            println!("{name}: {}", why.lines().next().unwrap_or_default());
            continue;
        }
        let packets = (n - n / 8) * sources;
        let ticks = least[1].saturating_sub(least[0]) as f64 / packets as f64;
        println!("{name}: {:.1}", ticks * tick);
    }
}
