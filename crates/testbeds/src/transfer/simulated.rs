//! A file over simulated TCP: two hosts in virtual time, and between them nothing, a simulated
//! router or a fixed delay.
//!
//! ```text
//! server ── line ──> [device] ── line ──> client           segments
//!        <── line ── [device] <── line ──                  ACKs
//! ```
//! Hosts have the preset `linux-6`, and lines the rate of the device's ports and half of the round
//! trip each way. What waits for a host's own line is never dropped, as in Linux, where TCP is told
//! to wait. A router takes each segment and each ACK as a frame ([`RouterBetween`]), so that rings,
//! queues and the core's cycles limit the transfer.

use std::sync::atomic::Ordering;
use trammel_bench::testbed::Unable;
use trammel_bench::transfer::{Across, File, Protocol, Transferred};
use trammel_bench::trial::Failure;
use trammel_core::entry::Params;
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_netsim::flow::{FlowResult, FlowSpec};
use trammel_netsim::link::LinkSpec;
use trammel_netsim::network::Network;
use trammel_netsim::trace::Pace;
use trammel_router::simulate::port::Port;
use trammel_tcp::cc::{self, Entry};
use trammel_tcp::stack::Stack;
use trammel_workbench::middlebox::{LEAST_FRAME, LINK_BYTES, RouterBetween, Way};
use trammel_workbench::simulated::{INTERRUPTED, SimulatedRouter};
use trammel_workbench::{frames, samples};

/// Frames of a full segment and of an ACK, FCS included.
pub const SEGMENT_BYTES: u32 = 1518;
/// See [`SEGMENT_BYTES`].
pub const ACK_BYTES: u32 = 70;
/// Ethernet's header, which is a frame's in memory.
const ETHERNET_BYTES: u32 = 14;
/// The timestamps option, which takes its bytes from each segment (RFC 7323 §3.2).
const TIMESTAMPS_BYTES: u16 = 12;
/// The longest that a transfer may take, in virtual time.
const LONGEST: Span = Span::from_secs(3600);
/// How often it is looked whether the file is there.
const LOOK: Span = Span::from_ms(10);
/// Until when the first frame of a way must be out.
const PROBED: Span = Span::from_secs(2);
/// What the frame that tells a way ends with.
const PROBE: [u8; 4] = *b"way?";

/// What stands between the hosts.
#[derive(Debug)]
pub enum DeviceBetween {
    /// Nothing.
    Wire,
    /// A router, and the ways of segments and, if there is one, of ACKs through it; those without a
    /// way go past it.
    Router(Box<SimulatedRouter>, Way, Option<Way>),
    /// Something that only delays: segments and ACKs.
    Delay(Span, Span),
}

/// What the setting `variant` and `rtt` are of the file; the error is that it is of real hosts.
pub fn of(protocol: &Protocol) -> Result<(&str, Span), Unable> {
    match protocol {
        Protocol::Tcp { variant, rtt } => Ok((variant, *rtt)),
        Protocol::Ftp | Protocol::Http => Err(Unable(
            "servers and clients are not simulated, but their TCP is: files go by `tcp-transfer`"
                .to_owned(),
        )),
    }
}

/// Transfers `file` on lines of `rate` bits a second; across `between`, or past it where the file
/// says so.
pub fn transfer(between: &DeviceBetween, rate: f64, file: &File) -> Result<Transferred, Failure> {
    let (variant, rtt) = of(&file.protocol)?;
    let between = match file.across {
        Across::Device => between,
        Across::Wire => &DeviceBetween::Wire,
    };
    let variant = cc::FAMILY.get(variant)?;
    let stack = Stack::linux_6();
    let (time, flow) = run(between, Lines { rate, rtt }, &stack, variant, file.bytes)?;
    let remark = match between {
        DeviceBetween::Router(.., None) => ", ACKs past the device",
        DeviceBetween::Delay(..) => ", the device a delay",
        DeviceBetween::Wire | DeviceBetween::Router(..) => "",
    };
    Ok(Transferred {
        time,
        retransmissions: flow.sender.retransmissions,
        hosts: format!(
            "{}, {}, first window {} x {} bytes{remark}",
            stack.name,
            variant.about.name,
            stack.initial_window,
            stack.mss - TIMESTAMPS_BYTES,
        ),
    })
}

/// What both hosts are connected by.
#[derive(Clone, Copy, Debug)]
struct Lines {
    /// Bits a second; infinite where lines do not limit.
    rate: f64,
    /// The round trip besides the device.
    rtt: Span,
}

/// After how long the last of so many bytes came, and what the flow was by then.
fn run(
    between: &DeviceBetween,
    lines: Lines,
    stack: &Stack,
    variant: &'static Entry,
    bytes: u64,
) -> Result<(Span, FlowResult), Failure> {
    let mut net = Network::new();
    let (segments, acks) = match between {
        DeviceBetween::Delay(segments, acks) => (*segments, *acks),
        DeviceBetween::Wire | DeviceBetween::Router(..) => (Span::ZERO, Span::ZERO),
    };
    let mut way = |name: &str, extra: Span| {
        let line = LinkSpec {
            rate: Some(Rate::from_bps(lines.rate as u64)).filter(|_| lines.rate.is_finite()),
            ..LinkSpec::wire(&format!("{name}, before"), lines.rtt / 4 + extra)
        };
        let before = net.add_link(line);
        let behind = net.add_link(LinkSpec::wire(&format!("{name}, behind"), lines.rtt / 4));
        [before, behind]
    };
    let (forward, backward) = (way("segments", segments), way("ACKs", acks));
    if let DeviceBetween::Router(router, out, back) = between {
        let ways = [Some(out), back.as_ref()].into_iter().flatten();
        let ways: Vec<Way> = ways.cloned().collect();
        let links = &[forward[1], backward[1]][..ways.len()];
        let router = RouterBetween::new(router.load()?, ways).ok_or("a way has no port")?;
        net.add_middlebox(Box::new(router), links);
    }
    let flow = net.add_flow(FlowSpec {
        name: "file".to_owned(),
        client: stack.clone(),
        server: stack.clone(),
        cc: Box::new(|| (variant.build)(&Params::defaults(&variant.about))),
        start: Time::ZERO,
        stop: Time::MAX,
        bytes: Some(bytes),
        forward: forward.to_vec(),
        backward: backward.to_vec(),
        reader: None,
        overhead_bytes: ETHERNET_BYTES + LINK_BYTES,
        pace: Pace::Off,
        seed: 1,
    });
    let is_interrupted = || match between {
        DeviceBetween::Router(router, ..) => router.interrupted.load(Ordering::SeqCst),
        DeviceBetween::Wire | DeviceBetween::Delay(..) => false,
    };
    while net.now().since_start() < LONGEST {
        if is_interrupted() {
            return Err(INTERRUPTED.into());
        }
        net.run_until(net.now() + LOOK);
        let result = net.flow(flow);
        if let Some(time) = result.completed {
            return Ok((time.since_start(), result.clone()));
        }
    }
    let came = net.flow(flow).bytes_delivered;
    Err(format!("{came} of {bytes} bytes arrived within {LONGEST}").into())
}

/// A TCP segment from the plain frame's source to its destination, or an ACK the other way.
pub fn segment(is_ack: bool) -> Vec<u8> {
    let mut frame = samples::plain();
    frame.truncate(34);
    // The protocol of IP.
    frame[23] = 6;
    if is_ack {
        let (source, destination) = (26..30, 30..34);
        let addresses = [&frame[destination], &frame[source]].concat();
        frame[26..34].copy_from_slice(&addresses);
    }
    // HTTP's port and one of the client's, numbers, a header without options, ACK, a window.
    let (server, client) = ([0, 80], [0xc0, 0]);
    let (from, to) = if is_ack {
        (client, server)
    } else {
        (server, client)
    };
    frame.extend(from);
    frame.extend(to);
    frame.extend([0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
    frames::mend(&mut frame);
    frame
}

/// Out of which port comes what goes into `from`: none where nothing does.
pub fn way(router: &SimulatedRouter, from: &str, head: &[u8]) -> Result<Option<Way>, Failure> {
    let mut simulation = router.load()?;
    let others = router.ports.iter().map(|port| port.name.clone());
    simulation.ports().iter().for_each(Port::open);
    let mut probe = head.to_vec();
    probe.resize(head.len().max(LEAST_FRAME - PROBE.len()), 0);
    probe.extend(PROBE);
    frames::mend(&mut probe);
    let port = simulation.port(from).ok_or("a way has no port")?;
    port.give(Time::ZERO, probe);
    simulation.run_until(Time::ZERO + PROBED);
    let mut others = others.filter(|name| {
        let left = simulation.port(name).map(Port::departures);
        let left = left.into_iter().flatten();
        left.into_iter().any(|one| one.frame.ends_with(&PROBE))
    });
    Ok(others.next().map(|to| Way {
        from: from.to_owned(),
        to,
        head: head.to_vec(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use trammel_router::MemoryHost;
    use trammel_router::engine::core_clock::Cost;
    use trammel_router::simulate::costs::Costs;
    use trammel_router::simulate::port::{Notice, Settings};

    const BYTES: u64 = 2_896_000;
    /// Segments of 1448 bytes.
    const SEGMENTS: f64 = 2000.0;
    const LINE: f64 = 100e6;
    /// A full segment on the line: 1448 and 52 of TCP and IP, 38 of Ethernet.
    const SEGMENT_S: f64 = 1538.0 * 8.0 / LINE;

    fn file(variant: &str, rtt: Span) -> File {
        File {
            bytes: BYTES,
            protocol: Protocol::Tcp {
                variant: variant.to_owned(),
                rtt,
            },
            across: Across::Device,
        }
    }

    fn seconds(between: &DeviceBetween, rtt: Span) -> f64 {
        let transferred = transfer(between, LINE, &file("reno", rtt)).unwrap();
        assert_eq!(transferred.retransmissions, 0);
        assert_eq!(
            transferred.hosts.split(", ").take(3).collect::<Vec<_>>(),
            ["linux-6", "reno", "first window 10 x 1448 bytes"]
        );
        transferred.time.as_secs_f64()
    }

    /// A router where a packet costs so many microseconds, both ways or one way.
    fn router(packet_us: f64, is_both: bool) -> DeviceBetween {
        let port = |name: &str| Settings {
            notice: Notice::Interrupt(Span::ZERO),
            // As long as the file, so that nothing is lost.
            receive_ring: SEGMENTS as usize,
            ..Settings::ideal(name, Rate::from_bps(LINE as u64))
        };
        let one = "FromDevice(a) -> Counter -> Queue(1000) -> ToDevice(b);";
        let other = "FromDevice(b) -> Counter -> Queue(1000) -> ToDevice(a);";
        let router = SimulatedRouter {
            interrupted: Arc::default(),
            config: if is_both {
                [one, other].concat()
            } else {
                one.to_owned()
            },
            name: "config".to_owned(),
            hz: 1e9,
            costs: Costs {
                classes: [("Counter".to_owned(), Cost::per_packet(1e3 * packet_us))].into(),
                ..Costs::default()
            },
            look_cycles: 0.0,
            ports: vec![port("a"), port("b")],
            streams: Vec::new(),
            files: MemoryHost::new(),
            seed: 1,
            last: None,
        };
        let out = way(&router, "a", &segment(false)).unwrap().unwrap();
        assert_eq!((out.from.as_str(), out.to.as_str()), ("a", "b"));
        let back = is_both.then(|| way(&router, "b", &segment(true)).unwrap().unwrap());
        DeviceBetween::Router(Box::new(router), out, back)
    }

    #[test]
    fn on_a_short_wire_the_line_is_full_from_the_first_window_on() {
        // Ten segments take 1.23 ms, more than the round trip. One round trip for the handshake,
        // and half of one for the last.
        let rtt = 1e-3;
        let expected = 1.5 * rtt + SEGMENTS * SEGMENT_S;
        let found = seconds(&DeviceBetween::Wire, Span::from_ms(1));
        assert!((found / expected - 1.0).abs() < 1e-3, "{found} {expected}");
    }

    #[test]
    fn on_a_long_wire_the_window_doubles_each_round_trip_until_the_line_is_full() {
        // 81 segments fill it: windows of 10, 20, 40 and 80 have a round trip each, besides the
        // handshake; from then on the line is the limit, and the last segment takes half a round
        // trip.
        let rtt = 10e-3;
        let expected = rtt + 3.0 * rtt + (SEGMENTS - 70.0) * SEGMENT_S + rtt / 2.0;
        let found = seconds(&DeviceBetween::Wire, Span::from_ms(10));
        assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
    }

    #[test]
    fn a_router_whose_core_is_the_limit_gives_each_packet_its_time() {
        // The line would take 123 us for a segment. Besides, the handshake and half a round trip
        // for the last one.
        let (packet_s, start) = (200e-6, 1.5e-3);
        let found = seconds(&router(200.0, false), Span::from_ms(1));
        let expected = start + SEGMENTS * packet_s;
        assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
        // ACKs through the same core: of every second segment at least, and more of the first ones.
        let lines = Lines {
            rate: LINE,
            rtt: Span::from_ms(1),
        };
        let reno = cc::find("reno").unwrap();
        let between = router(200.0, true);
        let (time, flow) = run(&between, lines, &Stack::linux_6(), reno, BYTES).unwrap();
        let acks = flow.sender.acks_received as f64;
        assert!((0.5..0.7).contains(&(acks / SEGMENTS)), "{acks}");
        let expected = start + (SEGMENTS + acks) * packet_s;
        let found = time.as_secs_f64();
        assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
    }

    #[test]
    fn a_router_that_is_faster_than_the_line_adds_its_own_time_only() {
        // A segment is on two lines, one after the other, and 2 us in between.
        let expected = 1.5e-3 + SEGMENTS * SEGMENT_S + SEGMENT_S + 2e-6;
        let found = seconds(&router(2.0, true), Span::from_ms(1));
        assert!((found / expected - 1.0).abs() < 2e-3, "{found} {expected}");
        let delay = DeviceBetween::Delay(Span::from_us(400), Span::from_us(100));
        let found = seconds(&delay, Span::from_ms(1));
        // The round trip is half a millisecond longer, and ten segments still take 1.2 of its 1.5
        // ms: the first windows wait.
        let expected = 1.5e-3 + 0.9e-3 + SEGMENTS * SEGMENT_S;
        assert!((found - expected).abs() < 1e-3, "{found} {expected}");
    }

    #[test]
    fn what_cannot_be_transferred_says_why() {
        let real = File {
            protocol: Protocol::Ftp,
            ..file("reno", Span::from_ms(1))
        };
        let said = transfer(&DeviceBetween::Wire, LINE, &real).unwrap_err();
        assert!(
            said.is::<Unable>() && said.to_string().contains("`tcp-transfer`"),
            "{said}"
        );
        let said =
            transfer(&DeviceBetween::Wire, LINE, &file("rneo", Span::from_ms(1))).unwrap_err();
        assert!(said.to_string().contains("rneo"), "{said}");
        let DeviceBetween::Router(mut router, ..) = router(1.0, true) else {
            unreachable!("it is one")
        };
        router.config = "FromDevice(a) -> Discard; Idle -> ToDevice(b);".to_owned();
        assert!(way(&router, "a", &segment(false)).unwrap().is_none());
    }
}
