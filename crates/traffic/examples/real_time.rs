//! How late packets are whose sender runs before all programs of usual priority, where gaps are too
//! short to sleep in: `cargo run --release -p trammel-traffic --example real_time`.
//!
//! A stream of 16-byte payloads at equal gaps over a veth pair, 3 s each, without and with a share
//! of the time given away in short pieces, in turn, with as many programs beside it as there are
//! processors, which take all the time they get, and without. Linux takes 50 ms of each second at
//! once from who never gives any. Needs root.
#![allow(clippy::print_stdout, reason = "an example tells what it found")]

use std::error::Error;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_core::time::{Span, Time};
use trammel_io::clock::{monotonic_ns, real_time};
use trammel_io::netns::{Namespace, veth};
use trammel_stats::histogram::Histogram;
use trammel_traffic::pace::Wait;
use trammel_traffic::record::Protocol;
use trammel_traffic::send::udp::Mechanism;
use trammel_traffic::send::way::Way;
use trammel_traffic::send::{self, Lane};
use trammel_traffic::stream::{Departure, Late, Limits, Meter, Plan, Source, Stream};

const LASTING: Span = Span::from_secs(3);
const ROUNDS: usize = 3;

/// Packets at equal gaps.
#[derive(Debug)]
struct Every(Span);

impl Source for Every {
    fn plan(&self, _: u64) -> Plan {
        let gap = self.0;
        Box::new((0..).map(move |at| Departure {
            at: Time::ZERO + gap * at,
            bytes: 16,
        }))
    }
}

/// What became of a stream with such gaps.
fn sent(
    left: &Namespace,
    to: &UdpSocket,
    gap: Span,
    wait: Wait,
) -> Result<Histogram, Box<dyn Error>> {
    let stream = Stream {
        name: String::new(),
        protocol: Protocol::Udp,
        source: Box::new(Every(gap)),
        start: Time::ZERO,
        limits: Limits {
            duration: Some(LASTING),
            ..Limits::default()
        },
        seed: 1,
        meter: Meter::OneWay,
        late: Late::Burst,
        ds: None,
        ttl: None,
    };
    let to = to.local_addr()?;
    let way = left.run(|| Way::open(&stream, 0, to, Mechanism::Calls))?;
    let lane = Lane::new(&stream, 0, way.carrier, monotonic_ns() + 1_000_000);
    let sender = std::thread::spawn(move || {
        let mut lanes = [lane];
        real_time(50).map(|()| {
            send::send(&mut lanes, wait, &AtomicBool::new(false), &mut |_| {});
            let [lane] = lanes;
            lane.sent()
        })
    });
    Ok(sender.join().expect("the thread does not panic")?.lateness)
}

fn main() -> Result<(), Box<dyn Error>> {
    let (left, right) = (Namespace::new()?, Namespace::new()?);
    veth(&left, "a", &right, "b")?;
    left.add_address("a", "10.0.0.1/24")?;
    right.add_address("b", "10.0.0.2/24")?;
    let sink = right.run(|| UdpSocket::bind("10.0.0.2:0"))?;
    println!("packets/s  beside it  gives      late p50, us       p99     p99.9       most");
    for pps in [20_000, 100_000] {
        for neighbours in [0, std::thread::available_parallelism()?.get()] {
            for (gives, wait) in [("nothing", Wait::Spin), ("pieces", Wait::Give)].repeat(ROUNDS) {
                let over = AtomicBool::new(false);
                let late = std::thread::scope(|scope| {
                    for _ in 0..neighbours {
                        scope.spawn(|| {
                            while !over.load(Ordering::Relaxed) {
                                std::hint::spin_loop();
                            }
                        });
                    }
                    let late = sent(&left, &sink, Span::from_secs(1) / pps, wait);
                    over.store(true, Ordering::Relaxed);
                    late
                })?;
                let us = |share| late.quantile_time(share).map_or(0.0, Span::as_secs_f64) * 1e6;
                println!(
                    "{pps:9} {neighbours:10}  {gives:7} {:15.3} {:9.1} {:9.1} {:10.1}",
                    us(0.5),
                    us(0.99),
                    us(0.999),
                    us(1.0)
                );
            }
        }
    }
    Ok(())
}
