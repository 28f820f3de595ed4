//! How many packets a second leave by each mechanism: `cargo run --release -p trammel-traffic
//! --example frames_speed`.
//!
//! A stream of 16-byte payloads, all of which are due at once, by the whole sender (plan, stamps,
//! account), on one thread, for 0.3 s; five rounds of all rows in turn, of which the median is
//! shown. With `real-time` as argument the thread runs before all of usual priority: on a machine
//! that is busy with others the clock tells little otherwise. Over loopback, and over a veth pair
//! between two namespaces that this program makes; on veth the sending thread also pays for what
//! the peer does with a frame. Packets go to a socket that nobody reads, or to an Ethernet address
//! of nobody's, so that the peer drops them at once. The last column is what the interface counted
//! as sent, in packets of the stream: of segments, each super-packet counts as one there.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::io;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use trammel_core::time::Time;
use trammel_io::clock::{monotonic_ns, real_time, thread_cpu_ns};
use trammel_io::datagrams;
use trammel_io::netns::{Namespace, veth};
use trammel_traffic::pace::Wait;
use trammel_traffic::record::Protocol;
use trammel_traffic::send::frames::{By, Options};
use trammel_traffic::send::udp::Mechanism;
use trammel_traffic::send::way::Way;
use trammel_traffic::send::{self, Carrier, Lane, Packet};
use trammel_traffic::stream::{Departure, Late, Limits, Meter, Plan, Source, Stream};

const ROUNDS: usize = 5;
const LASTING: Duration = Duration::from_millis(300);
const NOBODY: [u8; 6] = [2, 0, 0, 0, 0, 0x99];

/// Packets without end, all due at the start.
#[derive(Debug)]
struct AtOnce;

impl Source for AtOnce {
    fn plan(&self, _: u64) -> Plan {
        let one = Departure {
            at: Time::ZERO,
            bytes: 16,
        };
        Box::new(std::iter::repeat(one))
    }
}

/// Hands over one packet a call.
struct One(Box<dyn Carrier>);

impl Carrier for One {
    fn most(&self) -> (usize, u32) {
        (1, self.0.most().1)
    }

    fn hand_over(&mut self, packets: &[Packet], stop: &AtomicBool) -> io::Result<u64> {
        self.0.hand_over(packets, stop)
    }
}

struct Row {
    name: &'static str,
    path: &'static str,
    mechanism: Mechanism,
    is_single: bool,
    /// Packets, nanoseconds by the clock and of processor time, and packets of the interface, of
    /// each round.
    rounds: Vec<[f64; 4]>,
}

fn frames(by: By, to_mac: Option<[u8; 6]>) -> Mechanism {
    Mechanism::Frames(Options {
        by,
        interface: None,
        to_mac,
    })
}

fn rows() -> Vec<Row> {
    let row = |name, path, mechanism| Row {
        name,
        path,
        mechanism,
        is_single: name == "a call each",
        rounds: Vec::new(),
    };
    vec![
        row("a call each", "loopback, to a socket", Mechanism::Calls),
        row("sendmmsg", "loopback, to a socket", Mechanism::Calls),
        row("UDP_SEGMENT", "loopback, to a socket", Mechanism::Segments),
        row("a call each", "veth, to a socket", Mechanism::Calls),
        row("sendmmsg", "veth, to a socket", Mechanism::Calls),
        row("UDP_SEGMENT", "veth, to a socket", Mechanism::Segments),
        row("AF_PACKET", "veth, to a socket", frames(By::Packet, None)),
        row("AF_XDP", "veth, to a socket", frames(By::Xdp, None)),
        row(
            "AF_PACKET",
            "veth, dropped by the peer",
            frames(By::Packet, Some(NOBODY)),
        ),
        row(
            "AF_XDP",
            "veth, dropped by the peer",
            frames(By::Xdp, Some(NOBODY)),
        ),
    ]
}

fn measure(row: &mut Row, left: &Namespace, right: &Namespace) -> Result<(), Box<dyn Error>> {
    let stream = Stream {
        name: String::new(),
        protocol: Protocol::Udp,
        source: Box::new(AtOnce),
        start: Time::ZERO,
        limits: Limits::default(),
        seed: 1,
        meter: Meter::OneWay,
        late: Late::Burst,
        ds: None,
        ttl: None,
    };
    let (place, address, interface) = if row.path.starts_with("veth") {
        (right, "10.0.0.2:0", "a")
    } else {
        (left, "127.0.0.1:0", "lo")
    };
    let sink = place.run(|| UdpSocket::bind(address))?;
    // As a receiver of ours would have it: super-packets are not cut for it.
    let gathers = datagrams::Options {
        gathers: true,
        ..datagrams::Options::default()
    };
    datagrams::configure(&sink, &gathers)?;
    let to = sink.local_addr()?;
    let way = left.run(|| Way::open(&stream, 0, to, row.mechanism))?;
    let carrier = if row.is_single {
        Box::new(One(way.carrier))
    } else {
        way.carrier
    };
    let mut lanes = [Lane::new(&stream, 0, carrier, monotonic_ns())];
    let stop = AtomicBool::new(false);
    let before = left.link(interface)?.counters.sent;
    let (wall, cpu) = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(LASTING);
            stop.store(true, Ordering::Relaxed);
        });
        let (wall, cpu) = (monotonic_ns(), thread_cpu_ns());
        send::send(&mut lanes, Wait::Spin, &stop, &mut |_| {});
        (monotonic_ns() - wall, thread_cpu_ns() - cpu)
    });
    let left_by = left.link(interface)?.counters.sent - before;
    let [lane] = lanes;
    let sent = lane.sent();
    if let Some(fault) = sent.fault {
        return Err(fault.into());
    }
    let packets = sent.count.packets;
    row.rounds
        .push([packets as f64, wall as f64, cpu as f64, left_by as f64]);
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> Result<(), Box<dyn Error>> {
    let (left, right) = (Namespace::new()?, Namespace::new()?);
    veth(&left, "a", &right, "b")?;
    left.add_address("a", "10.0.0.1/24")?;
    right.add_address("b", "10.0.0.2/24")?;
    let mac = right.link("b")?.mac.ok_or("veth has an address")?;
    left.add_neighbour("a", "10.0.0.2", mac)?;
    if std::env::args().any(|word| word == "real-time") {
        real_time(50)?;
    }
    let mut rows = rows();
    for _ in 0..ROUNDS {
        for row in &mut rows {
            measure(row, &left, &right)?;
        }
    }
    println!(
        "{:<12} {:<26} {:>14} {:>8} {:>8} {:>16} {:>8}",
        "by", "over", "packets/s", "least", "most", "a CPU second", "counted"
    );
    for row in &rows {
        let of =
            |value: &dyn Fn(&[f64; 4]) -> f64| row.rounds.iter().map(value).collect::<Vec<_>>();
        let by_wall = of(&|one| one[0] / one[1] * 1e6);
        let by_cpu = of(&|one| one[0] / one[2] * 1e6);
        let counted = of(&|one| one[3] / one[0]);
        let least = by_wall.iter().copied().fold(f64::INFINITY, f64::min);
        let most = by_wall.iter().copied().fold(0.0, f64::max);
        println!(
            "{:<12} {:<26} {:>13.1}k {:>7.0}k {:>7.0}k {:>15.1}k {:>8.4}",
            row.name,
            row.path,
            median(by_wall),
            least,
            most,
            median(by_cpu),
            median(counted)
        );
    }
    Ok(())
}
