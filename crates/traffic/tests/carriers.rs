//! Whatever carries a stream between two hosts, each packet is received and counted once, and is on
//! the wire as it should be.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

use std::net::{IpAddr, SocketAddr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_core::time::Time;
use trammel_io::afpacket::{self, AfPacket};
use trammel_io::clock::monotonic_ns;
use trammel_io::error::Error;
use trammel_io::netns::{Namespace, veth};
use trammel_packet::batch::Packets;
use trammel_packet::device::Device;
use trammel_packet::headers::checksum::Sum;
use trammel_packet::pool::Pool;
use trammel_traffic::pace::Wait;
use trammel_traffic::receive::hub::{Hub, Sink};
use trammel_traffic::receive::{Receiver, Settings};
use trammel_traffic::record::{LoggedFlow, Protocol, Record};
use trammel_traffic::send::frames::{By, Options};
use trammel_traffic::send::session::Session;
use trammel_traffic::send::udp::Mechanism;
use trammel_traffic::send::way::{self, Way};
use trammel_traffic::send::{self, Lane, Sent};
use trammel_traffic::signal::message::{Count, Wish};
use trammel_traffic::stream::{Departure, Late, Limits, Meter, Plan, Source, Stream};

const PACKETS: u64 = 300;
const DS: u8 = 0xb8;
const TTL: u8 = 9;

/// Packets of all lengths from a stamp's to what Ethernet takes, 20 us apart.
#[derive(Debug)]
struct Growing;

impl Source for Growing {
    fn plan(&self, _: u64) -> Plan {
        Box::new((0..PACKETS).map(|at| Departure {
            at: Time::from_us(20 * at),
            bytes: 16 + (at * 1400 / PACKETS) as u32,
        }))
    }
}

fn stream(protocol: Protocol, meter: Meter) -> Stream {
    Stream {
        name: String::new(),
        protocol,
        source: Box::new(Growing),
        start: Time::ZERO,
        limits: Limits::default(),
        seed: 1,
        meter,
        late: Late::Burst,
        ds: Some(DS),
        ttl: Some(TTL),
    }
}

/// What is received is counted by the hub.
struct Nothing;

impl Sink for Nothing {
    fn flow(&mut self, _: &LoggedFlow) {}
    fn record(&mut self, _: &Record) {}
    fn closed(&mut self, _: u32, _: Count, _: Option<Count>) {}
}

/// Two hosts and a wire, or `None` with the reason printed where the machine does not let us make
/// them.
fn wire() -> Option<(Namespace, Namespace)> {
    let made = Namespace::new().and_then(|left| Ok((left, Namespace::new()?)));
    let (left, right) = match made {
        Ok(both) => both,
        Err(Error::NoRight { what, right }) => {
            println!("skipped: no right to {what}: it needs {right}");
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    veth(&left, "a", &right, "b").expect("the pair of devices can be made");
    for (host, name, number) in [(&left, "a", 1), (&right, "b", 2)] {
        host.enable_ipv6().expect("Linux has it");
        for address in [format!("10.0.0.{number}/24"), format!("fd00::{number}/64")] {
            host.add_address(name, &address)
                .expect("the address is free");
        }
    }
    Some((left, right))
}

/// What came of a stream.
struct Came {
    sent: Sent,
    received: Count,
    /// Records of what came back.
    back: Vec<Record>,
    /// Frames on the wire, both ways.
    frames: Vec<Vec<u8>>,
}

/// Has the receiver stop, also where the work beside it panics.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn sent_by(
    (left, right): &(Namespace, Namespace),
    stream: &Stream,
    mechanism: Mechanism,
    is_ipv6: bool,
) -> Result<Came, way::Error> {
    let to: IpAddr = if is_ipv6 { "fd00::2" } else { "10.0.0.2" }
        .parse()
        .expect("the address is well formed");
    let hub = Hub::new(Box::new(Nothing));
    let receiver = right.run(|| Receiver::open((to, 0).into(), Settings::default(), hub));
    let receiver = receiver.expect("the address is there");
    let all = afpacket::Options {
        sees_outgoing: true,
        ring_bytes: Some(8 << 20),
        ..afpacket::Options::default()
    };
    let mut wire = right.run(|| AfPacket::open("b", &all)).expect("it is up");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let running = scope.spawn(|| right.run(|| receiver.run(&stop, &|_, _| ())));
        let ends = Ends(&stop);
        let came = left.run(|| send_to(receiver.address(), stream, mechanism));
        drop(ends);
        running
            .join()
            .expect("the thread does not panic")
            .expect("it runs");
        came.map(|came| Came {
            frames: captured(&mut wire),
            ..came
        })
    })
}

fn send_to(
    receiver: SocketAddr,
    stream: &Stream,
    mechanism: Mechanism,
) -> Result<Came, way::Error> {
    let go_on = AtomicBool::new(false);
    let mut session = Session::open(receiver, None, &go_on).expect("it listens");
    let wish = Wish {
        protocol: stream.protocol,
        meter: stream.meter,
        port: 0,
        name: String::new(),
    };
    let (number, port) = session
        .open_flow(wish, &go_on)
        .expect("the flow can be opened");
    let to = (receiver.ip(), port).into();
    let way = Way::open(stream, number, to, mechanism)?;
    let (over, back) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let (sent, received) = std::thread::scope(|scope| {
        let ends = Ends(&over);
        if let Some(mut answers) = way.answers {
            let (over, back) = (&over, &back);
            scope.spawn(move || {
                answers.collect(number, over, &mut |record| {
                    back.lock()
                        .expect("no thread panics while it holds the lock")
                        .push(*record);
                })
            });
        }
        let mut lanes = [Lane::new(stream, number, way.carrier, monotonic_ns())];
        send::send(&mut lanes, Wait::Spin, &go_on, &mut |_| {});
        let [lane] = lanes;
        let sent = lane.sent();
        let received = session
            .close_flow(number, sent.count)
            .expect("the flow is open");
        if stream.meter == Meter::RoundTrip {
            let until = monotonic_ns() + 2_000_000_000;
            while back
                .lock()
                .expect("no thread panics while it holds the lock")
                .len()
                < PACKETS as usize
                && monotonic_ns() < until
            {
                std::thread::yield_now();
            }
        }
        drop(ends);
        (sent, received)
    });
    Ok(Came {
        sent,
        received,
        back: back
            .into_inner()
            .expect("no thread panics while it holds the lock"),
        frames: Vec::new(),
    })
}

fn captured(wire: &mut AfPacket) -> Vec<Vec<u8>> {
    let (mut pool, mut batch) = (Pool::new(4096, 4096), Packets::new());
    let mut frames = Vec::new();
    let until = monotonic_ns() + 20_000_000;
    // Blocks of the ring are handed over after a millisecond.
    while monotonic_ns() < until {
        wire.receive(&mut pool, &mut batch).expect("it is there");
        for packet in batch.drain() {
            frames.push(pool[&packet].data().to_vec());
            pool.free(packet);
        }
    }
    assert_eq!(wire.counters().receive_drops, 0, "the capture is not whole");
    frames
}

/// The transport's protocol, header and data of a frame, its TTL and its DS.
fn taken_apart(frame: &[u8]) -> Option<(u8, &[u8], u8, u8)> {
    match ([frame[12], frame[13]], frame[14] >> 4) {
        ([0x08, 0x00], 4) => {
            let length = usize::from(u16::from_be_bytes([frame[16], frame[17]]));
            let data = &frame[34..14 + length];
            Some((frame[23], data, frame[22], frame[15]))
        }
        ([0x86, 0xdd], 6) => {
            let length = usize::from(u16::from_be_bytes([frame[18], frame[19]]));
            let ds = frame[14] << 4 | frame[15] >> 4;
            Some((frame[20], &frame[54..54 + length], frame[21], ds))
        }
        _ => None,
    }
}

/// Frames of the wire that carry this transport, by its first bytes.
fn of<'a>(came: &'a Came, protocol: u8, first: &[u8]) -> Vec<&'a [u8]> {
    let frames = came.frames.iter();
    let frames = frames.filter(|frame| {
        taken_apart(frame).is_some_and(|(of, data, ..)| of == protocol && data.starts_with(first))
    });
    frames.map(Vec::as_slice).collect()
}

fn is_whole(came: &Came) {
    assert_eq!(came.sent.fault, None);
    assert_eq!((came.sent.count.packets, came.sent.errors), (PACKETS, 0));
    assert_eq!(came.received, came.sent.count);
}

#[test]
fn echo_requests_are_counted_once_and_answered_by_the_kernel() {
    let Some(wire) = wire() else { return };
    for (is_ipv6, protocol, request, reply) in [(false, 1, 8, 0), (true, 58, 128, 129)] {
        for meter in [Meter::OneWay, Meter::RoundTrip] {
            let stream = stream(Protocol::Icmp, meter);
            let came = sent_by(&wire, &stream, Mechanism::Calls, is_ipv6).expect("there is a way");
            is_whole(&came);
            let there = of(&came, protocol, &[request]);
            // Kernels answer as many a second as they like; what they do answer comes back.
            let back = of(&came, protocol, &[reply]);
            assert_eq!(
                (there.len(), back.len()),
                (PACKETS as usize, PACKETS as usize)
            );
            let is_marked = |frame: &&[u8]| {
                taken_apart(frame).is_some_and(|(.., ttl, ds)| (ttl, ds) == (TTL, DS))
            };
            assert!(there.iter().all(is_marked));
            let is_measured = meter == Meter::RoundTrip;
            assert_eq!(came.back.len(), if is_measured { back.len() } else { 0 });
            assert!(came.back.iter().all(|one| one.end_ns >= one.start_ns));
            let bytes: u64 = came.back.iter().map(|one| u64::from(one.bytes)).sum();
            assert!(!is_measured || bytes == came.sent.count.bytes);
        }
    }
}

#[test]
fn frames_past_the_stack_are_received_as_if_a_socket_had_sent_them() {
    let Some(wire) = wire() else { return };
    let a = wire.0.link("a").expect("it is there");
    let b = wire.1.link("b").expect("it is there");
    for by in [By::Packet, By::Xdp] {
        for is_ipv6 in [false, true] {
            for (meter, interface) in [(Meter::OneWay, None), (Meter::RoundTrip, Some(a.index))] {
                let options = Options {
                    by,
                    interface,
                    to_mac: None,
                };
                let stream = stream(Protocol::Udp, meter);
                let came = sent_by(&wire, &stream, Mechanism::Frames(options), is_ipv6);
                let came = match came {
                    Err(way::Error::Unsupported(lack @ Error::Unsupported { .. })) => {
                        println!("skipped: {lack}");
                        continue;
                    }
                    other => other.expect("there is a way"),
                };
                is_whole(&came);
                let is_measured = meter == Meter::RoundTrip;
                assert_eq!(
                    came.back.len() as u64,
                    if is_measured { PACKETS } else { 0 }
                );
                let ours: Vec<_> = of(&came, 17, &[])
                    .into_iter()
                    .filter(|frame| frame[6..12] == a.mac.expect("it has one"))
                    .collect();
                assert_eq!(ours.len() as u64, PACKETS);
                for frame in ours {
                    assert_eq!(frame[..6], b.mac.expect("it has one"));
                    let (_, udp, ttl, ds) = taken_apart(frame).expect("it is of UDP");
                    assert_eq!((ttl, ds), (TTL, DS));
                    // Addresses, protocol and length, and what they stand before.
                    let addresses = if is_ipv6 {
                        &frame[22..54]
                    } else {
                        &frame[26..34]
                    };
                    let sum = Sum::ZERO.bytes(addresses).u16(17).u16(udp.len() as u16);
                    assert_eq!(sum.bytes(udp).checksum(), 0);
                }
            }
        }
    }
}

/// Datagrams that sockets of a host took in, of IPv4 and IPv6.
fn taken_by_sockets(host: &Namespace) -> (String, String) {
    let of = |file: &str, name: &str, field: usize| {
        let text = host
            .run(|| std::fs::read_to_string(file))
            .expect("Linux has it");
        let mut lines = text.lines().filter(|line| line.starts_with(name));
        let line = lines.next_back().expect("it is there");
        let mut fields = line.split_whitespace();
        fields.nth(field).expect("it has a value").to_owned()
    };
    let v4 = of("/proc/thread-self/net/snmp", "Udp: ", 1);
    (v4, of("/proc/thread-self/net/snmp6", "Udp6InDatagrams", 1))
}

#[test]
fn what_af_xdp_takes_in_is_counted_once_beside_what_it_leaves() {
    let Some((left, right)) = wire() else { return };
    for (is_ipv6, meter) in [(false, Meter::OneWay), (true, Meter::RoundTrip)] {
        for mechanism in [Mechanism::Calls, Mechanism::Segments] {
            let to: IpAddr = if is_ipv6 { "fd00::2" } else { "10.0.0.2" }
                .parse()
                .expect("the address is well formed");
            let hub = Hub::new(Box::new(Nothing));
            let receiver = right.run(|| Receiver::open((to, 0).into(), Settings::default(), hub));
            let receiver = receiver.expect("the address is there").by_xdp("b");
            let stop = AtomicBool::new(false);
            let stream = stream(Protocol::Udp, meter);
            let before = taken_by_sockets(&right);
            let came = std::thread::scope(|scope| {
                let running = scope.spawn(|| right.run(|| receiver.run(&stop, &|_, _| ())));
                let ends = Ends(&stop);
                let came = left.run(|| send_to(receiver.address(), &stream, mechanism));
                drop(ends);
                running
                    .join()
                    .expect("the thread does not panic")
                    .expect("it runs");
                came.expect("there is a way")
            });
            is_whole(&came);
            assert_eq!(receiver.hub().foreign(), 0);
            if meter == Meter::RoundTrip {
                assert_eq!(came.back.len() as u64, PACKETS);
            }
            // None of them went through the kernel's stack.
            assert_eq!(taken_by_sockets(&right), before);
        }
    }
}

#[test]
fn connections_are_marked() {
    let Some(wire) = wire() else { return };
    for is_ipv6 in [false, true] {
        let stream = stream(Protocol::Tcp, Meter::OneWay);
        let came = sent_by(&wire, &stream, Mechanism::Calls, is_ipv6).expect("there is a way");
        is_whole(&came);
        let marked: usize = of(&came, 6, &[])
            .iter()
            .filter_map(|frame| taken_apart(frame))
            // TCP keeps the two bits of congestion notification to itself.
            .filter(|(.., ttl, ds)| (*ttl, *ds & !3) == (TTL, DS & !3))
            .map(|(_, segment, ..)| segment.len() - 4 * usize::from(segment[12] >> 4))
            .sum();
        // All messages, and the stamp that opens the connection; more only where some went twice.
        assert!(marked as u64 >= came.sent.count.bytes + 16, "{marked}");
    }
}

#[test]
fn what_cannot_be_carried_is_told_in_one_line() {
    let Some((left, _right)) = wire() else { return };
    let open = |protocol, mechanism, to: &str| {
        let to = to.parse().expect("the address is well formed");
        let stream = stream(protocol, Meter::OneWay);
        let opened = left.run(|| Way::open(&stream, 0, to, mechanism).map(drop));
        opened.expect_err("it cannot be carried").to_string()
    };
    let frames = |by| {
        Mechanism::Frames(Options {
            by,
            interface: None,
            to_mac: None,
        })
    };
    for (protocol, mechanism, to, said) in [
        // Either the kernel has no such sockets, or we do not use them.
        (Protocol::Sctp, Mechanism::Calls, "10.0.0.2:9", "SCTP"),
        (Protocol::Dccp, Mechanism::Calls, "10.0.0.2:9", "DCCP"),
        (
            Protocol::Udp,
            frames(By::Packet),
            "10.0.0.9:9",
            "`--to-mac`",
        ),
        (
            Protocol::Udp,
            frames(By::Xdp),
            "10.0.0.1:9",
            "`lo` is not an Ethernet interface",
        ),
        (
            Protocol::Udp,
            frames(By::Xdp),
            "192.0.2.1:9",
            "no route to 192.0.2.1",
        ),
    ] {
        let error = open(protocol, mechanism, to);
        let is_said = error.to_lowercase().contains(&said.to_lowercase());
        assert!(is_said && error.lines().count() == 1, "{error}");
    }
}
