//! What a receiver takes in, by a socket and by AF_XDP: `cargo run --release -p trammel-traffic
//! --example receive_speed`.
//!
//! A session between two namespaces that this program makes, joined by a veth pair: 16-byte
//! payloads at an imposed rate for half a second, by the whole sender and the whole receiver but
//! without a log. Columns: packets a second that left; the share that came; what the receiver says
//! that it lost for want of room; and processor time of its threads for each packet that came. What
//! the kernel does with a frame of veth is paid by the sender's thread. With `real-time` as
//! argument all threads run before those of usual priority.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_core::time::{Span, Time};
use trammel_io::clock::{monotonic_ns, process_cpu_ns, real_time, thread_cpu_ns};
use trammel_io::netns::{Namespace, veth};
use trammel_traffic::pace::Wait;
use trammel_traffic::receive::hub::{Hub, Sink};
use trammel_traffic::receive::{Receiver, Settings};
use trammel_traffic::record::{LoggedFlow, Protocol, Record};
use trammel_traffic::send::frames::{By, Options};
use trammel_traffic::send::session::Session;
use trammel_traffic::send::udp::Mechanism;
use trammel_traffic::send::way::Way;
use trammel_traffic::send::{self, Lane, Sent};
use trammel_traffic::signal::message::{Count, Wish};
use trammel_traffic::stream::{Departure, Late, Limits, Meter, Plan, Source, Stream};

const LASTING: Span = Span::from_ms(500);

/// Packets at equal gaps.
#[derive(Debug)]
struct Regular(u64);

impl Source for Regular {
    fn plan(&self, _: u64) -> Plan {
        let gap_ps = 1_000_000_000_000 / self.0;
        Box::new((0_u64..).map(move |at| Departure {
            at: Time::from_ps(at * gap_ps),
            bytes: 16,
        }))
    }
}

struct Nothing;

impl Sink for Nothing {
    fn flow(&mut self, _: &LoggedFlow) {}
    fn record(&mut self, _: &Record) {}
    fn closed(&mut self, _: u32, _: Count, _: Option<Count>) {}
}

fn stream(rate: u64) -> Stream {
    Stream {
        name: String::new(),
        protocol: Protocol::Udp,
        source: Box::new(Regular(rate)),
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
    }
}

/// What was sent and received, and processor time of the thread that sent, in nanoseconds.
type Came = (Sent, Count, i64);

fn sent(to: SocketAddr, stream: &Stream, mechanism: Mechanism) -> Result<Came, String> {
    let go_on = AtomicBool::new(false);
    let mut session = Session::open(to, None, &go_on).map_err(|why| why.to_string())?;
    let wish = Wish {
        protocol: stream.protocol,
        meter: stream.meter,
        port: 0,
        name: String::new(),
    };
    let opened = session.open_flow(wish, &go_on);
    let (number, port) = opened.map_err(|why| why.to_string())?;
    let way = Way::open(stream, number, (to.ip(), port).into(), mechanism);
    let carrier = way.map_err(|why| why.to_string())?.carrier;
    let mut lanes = [Lane::new(stream, number, carrier, monotonic_ns())];
    let cpu = thread_cpu_ns();
    send::send(&mut lanes, Wait::Spin, &go_on, &mut |_| {});
    let cpu = thread_cpu_ns() - cpu;
    let [lane] = lanes;
    let sent = lane.sent();
    let received = session.close_flow(number, sent.count);
    Ok((sent, received.map_err(|why| why.to_string())?, cpu))
}

fn row(
    (left, right): (&Namespace, &Namespace),
    (name, mechanism): (&str, Mechanism),
    xdp: bool,
    rate: u64,
) -> Result<(), Box<dyn Error>> {
    let hub = Hub::new(Box::new(Nothing));
    let address = "10.0.0.2:0".parse()?;
    let receiver = right.run(|| Receiver::open(address, Settings::default(), hub))?;
    let receiver = if xdp { receiver.by_xdp("b") } else { receiver };
    let (stop, bad) = (AtomicBool::new(false), Mutex::new(None));
    let before = process_cpu_ns();
    let came = std::thread::scope(|scope| {
        scope.spawn(|| {
            right.run(|| {
                receiver.run(&stop, &|_, why| {
                    *bad.lock()
                        .expect("no thread panics while it holds the lock") = Some(why.to_string());
                })
            })
        });
        let came = left.run(|| sent(receiver.address(), &stream(rate), mechanism));
        stop.store(true, Ordering::Relaxed);
        came
    });
    let (sent, received, sender_ns) = came?;
    let receiver_ns = (process_cpu_ns() - before - sender_ns) as f64;
    let secs = (sent.last_ns - sent.first_ns) as f64 / 1e9;
    println!(
        "{name:<12} {:<8} {:>9} {:>12.0} {:>10.5} {:>10} {:>12.0}",
        if xdp { "AF_XDP" } else { "socket" },
        rate,
        sent.count.packets as f64 / secs,
        received.packets as f64 / sent.count.packets as f64,
        received.lost,
        receiver_ns / received.packets as f64
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let (left, right) = (Namespace::new()?, Namespace::new()?);
    veth(&left, "a", &right, "b")?;
    left.add_address("a", "10.0.0.1/24")?;
    right.add_address("b", "10.0.0.2/24")?;
    if std::env::args().any(|word| word == "real-time") {
        real_time(50)?;
    }
    println!(
        "{:<12} {:<8} {:>9} {:>12} {:>10} {:>10} {:>12}",
        "sent by", "taken by", "imposed", "sent, pps", "came", "lost here", "ns a packet"
    );
    let frames = Mechanism::Frames(Options {
        by: By::Xdp,
        interface: None,
        to_mac: None,
    });
    for rate in [100_000, 300_000, 500_000] {
        for way in [
            ("sendmmsg", Mechanism::Calls),
            ("UDP_SEGMENT", Mechanism::Segments),
            ("AF_XDP", frames),
        ] {
            for xdp in [false, true] {
                row((&left, &right), way, xdp, rate)?;
            }
        }
    }
    Ok(())
}
