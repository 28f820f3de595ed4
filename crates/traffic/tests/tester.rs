//! The tester on real packets: over a wire, through a kernel's router that a program makes lossy,
//! and beside somebody who meddles.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use trammel_core::time::{Span, Time};
use trammel_io::afpacket::{self, AfPacket};
use trammel_io::bpf::{Attachment, Code, Map, MapKind, Place, Program, Size, verdict};
use trammel_io::clock::{monotonic_ns, wait};
use trammel_io::error::Error;
use trammel_io::live;
use trammel_io::netns::{Namespace, veth};
use trammel_io::route::interface;
use trammel_packet::batch::Packets;
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;
use trammel_traffic::addresses::Side;
use trammel_traffic::tester::observation::{
    Beside, DirectionSeen, Ipdv, LoadSeen, Observation, Stamps,
};
use trammel_traffic::tester::port::{Port, Way};
use trammel_traffic::tester::schedule::Load;
use trammel_traffic::tester::signature::{SIGNATURE_BYTES, Signature};
use trammel_traffic::tester::traffic::{Bursts, Stream, Traffic};
use trammel_traffic::tester::{Direction, Plan, Tester, Threads, ceiling};

/// Where the payload of an untagged frame of IPv4 begins.
const PAYLOAD: usize = 42;
/// How long a test waits for what should happen at once.
const PATIENCE_NS: i64 = 20_000_000_000;

/// The value, or nothing with the reason printed where the machine lacks something.
fn or_skip<T>(result: Result<T, Error>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error @ (Error::NoRight { .. } | Error::Unsupported { .. })) => {
            println!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Two namespaces with a wire between `a` and `b`.
fn wire() -> Option<[Arc<Namespace>; 2]> {
    let (left, right) = (or_skip(Namespace::new())?, or_skip(Namespace::new())?);
    veth(&left, "a", &right, "b").expect("the pair of devices can be made");
    Some([left, right].map(Arc::new))
}

fn ports(
    way: Way,
    [left, right]: [&Arc<Namespace>; 2],
    is_ipv6: bool,
    is_routed: bool,
) -> [Port; 2] {
    [("a", left, Side::Input), ("b", right, Side::Output)].map(|(name, namespace, side)| Port {
        namespace: Some(Arc::clone(namespace)),
        ..Port::of_rfc2544(name, way, side, is_ipv6, is_routed)
    })
}

fn load(frames_per_second: f64, ms: u64) -> Load {
    Load {
        frames_per_second,
        duration: Span::from_ms(ms),
    }
}

fn stream(from: Side, sizes: &[u16]) -> Stream {
    Stream::of_rfc2544(from, false, 1, sizes)
}

fn one_way(traffic: Traffic, loads: &[Load]) -> Plan {
    let direction = Direction {
        traffic,
        loads: loads.to_vec(),
    };
    Plan {
        residual: Span::from_ms(200),
        ..Plan::one_way(direction)
    }
}

fn run(tester: &mut Tester, plan: &Plan) -> Observation {
    let seen = tester
        .run(plan, &AtomicBool::new(false))
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((seen.fault.as_ref(), seen.is_interrupted), (None, false));
    seen
}

fn first(seen: &Observation) -> &DirectionSeen {
    seen.directions[0].as_ref().expect("it was planned")
}

/// The tester, or nothing where the machine lacks something.
fn open(ports: [Port; 2]) -> Option<Tester> {
    let mut tester = or_skip(Tester::open(ports))?;
    let learnt = tester.learn(Span::from_secs(20), &AtomicBool::new(false));
    learnt.unwrap_or_else(|error| panic!("{error}"));
    Some(tester)
}

/// Everything that was sent both ways comes whole, once and in order; a machine that is busy with
/// others may keep a port's thread or the wire's soft interrupt waiting for longer than their rings
/// last, but not in every one of many short trials.
fn nothing_is_lost(way: Way, stamps: Stamps) {
    let Some([left, right]) = wire() else { return };
    let Some(mut tester) = open(ports(way, [&left, &right], false, false)) else {
        return;
    };
    let direction = |from| Direction {
        traffic: Traffic::of(stream(from, &[64, 570, 1518])),
        loads: vec![load(50_000.0, 20), load(20_000.0, 20)],
    };
    let plan = Plan {
        directions: [Some(direction(Side::Input)), Some(direction(Side::Output))],
        ..one_way(direction(Side::Input).traffic, &[])
    };
    for _ in 0..50 {
        let seen = run(&mut tester, &plan);
        assert_eq!(seen.stamps, stamps);
        let both: Vec<&DirectionSeen> = seen.directions.iter().flatten().collect();
        assert_eq!(both.len(), 2);
        for seen in &both {
            assert_eq!((seen.intended, seen.sent()), (1400, 1400));
            assert_eq!((seen.corrupted, seen.strays, seen.too_late), (0, 0, 0));
            assert_eq!((seen.duplicated(), seen.reordered()), (0, 0));
            // From the first frame, which may have been late, to the last, which is not early.
            let late = Span::from_ps(seen.lateness.max().expect("frames were sent"));
            assert!(seen.effective + late >= Span::from_us(39_990), "{late:?}");
            assert_eq!(seen.lateness.count(), 1400);
        }
        if both.iter().any(|seen| seen.lost() > 0) {
            continue;
        }
        for seen in both {
            let loads = [1000, 400].map(|frames| LoadSeen {
                intended: frames,
                sent: frames,
                received: frames,
            });
            assert_eq!(
                (&seen.loads[..], seen.last_lost, seen.outage),
                (&loads[..], None, None)
            );
            let latency = seen.latency().expect("it is measured");
            assert_eq!(latency.count(), 1400);
            // A packet is not there before it is sent, nor after the run.
            assert!(
                latency
                    .max()
                    .is_some_and(|most| (1..1_000_000_000_000).contains(&most))
            );
            assert_eq!(seen.streams[0].ipdv.as_ref().map(Ipdv::count), Some(1399));
        }
        return;
    }
    panic!("fifty trials in turn lost frames on a wire");
}

#[test]
fn nothing_is_lost_on_a_wire_by_packet_sockets() {
    nothing_is_lost(Way::AfPacket, Stamps::Kernel);
}

#[test]
fn nothing_is_lost_on_a_wire_by_af_xdp() {
    nothing_is_lost(Way::AfXdp, Stamps::Reading);
}

#[test]
fn live_frames_are_counted_one_by_one() {
    let Some([left, right]) = wire() else { return };
    let Some(mut tester) = open(ports(Way::Live, [&left, &right], false, false)) else {
        return;
    };
    let traffic = Traffic::of(Stream::of_rfc2544(Side::Input, false, 256, &[128]));
    let seen = run(
        &mut tester,
        &one_way(traffic, &[load(1e6, 100), load(1e5, 100)]),
    );
    let seen = first(&seen);
    assert_eq!(
        (seen.intended, seen.sent(), seen.received()),
        (110_000, 110_000, 110_000)
    );
    assert_eq!((seen.reordered(), seen.lateness.count()), (0, 110_000));
    let mixed = Traffic::of(stream(Side::Input, &[64, 128]));
    let refused = tester.run(&one_way(mixed, &[load(1.0, 1)]), &AtomicBool::new(false));
    assert!(refused.is_err_and(|error| error.to_string().contains("one size")));
}

/// A kernel's router between two wires, in a namespace of its own, whose input drops one of `n`
/// test frames.
struct Lossy {
    outer: [Arc<Namespace>; 2],
    middle: Namespace,
    _program: Attachment,
}

impl Lossy {
    fn new(n: i32, payload: i16, is_ipv6: bool) -> Option<Lossy> {
        let (left, right) = (or_skip(Namespace::new())?, or_skip(Namespace::new())?);
        let middle = or_skip(Namespace::new())?;
        veth(&left, "a", &middle, "in").expect("the pair of devices can be made");
        veth(&right, "b", &middle, "out").expect("the pair of devices can be made");
        if is_ipv6 {
            // Nobody else is on these wires: addresses need not be looked for first.
            for interface in ["all", "default", "in", "out"] {
                middle
                    .set_sysctl(&format!("ipv6/conf/{interface}/accept_dad"), "0")
                    .expect("it may be written");
            }
            middle.enable_ipv6().expect("Linux has it");
        }
        let addresses = if is_ipv6 {
            ["2001:2:0:1::1/64", "2001:2:0:8001::1/64"]
        } else {
            ["198.18.1.1/24", "198.19.1.1/24"]
        };
        for (name, address) in ["in", "out"].into_iter().zip(addresses) {
            middle
                .add_address(name, address)
                .expect("the address is free");
        }
        for variable in ["ipv4/ip_forward", "ipv6/conf/all/forwarding"] {
            middle.set_sysctl(variable, "1").expect("it may be written");
        }
        let program = middle.run(|| dropping(n, payload));
        Some(Lossy {
            outer: [left, right].map(Arc::new),
            middle,
            _program: or_skip(program)?,
        })
    }

    fn ports(&self, way: Way, is_ipv6: bool) -> [Port; 2] {
        let [left, right] = &self.outer;
        ports(way, [left, right], is_ipv6, true)
    }
}

/// Drops one of `n` frames that come to `in` and have a signature at `payload`.
fn dropping(n: i32, payload: i16) -> Result<Attachment, Error> {
    let count = Map::new(MapKind::Array, 8, 1)?;
    let counted = Code::default()
        .load(Size::Double, 1, 0, 0)
        .increase(1, 1)
        .store(Size::Double, 0, 0, 1)
        .modulo(1, n)
        .skip_unless(1, 0, 2)
        .set(0, verdict::DROP)
        .exit();
    let look = Code::default()
        .set(1, 0)
        .store(Size::Word, 10, -4, 1)
        .copy(2, 10)
        .increase(2, -4)
        .map(1, &count)
        .look_up()
        .skip_if_zero(0, counted.len())
        .then(counted);
    let magic = Code::default()
        .load(Size::Half, 1, 7, payload)
        .skip_unless(1, i32::from(u16::from_ne_bytes(*b"TR")), look.len())
        .then(look);
    let code = Code::default()
        .load(Size::Word, 7, 1, 0)
        .load(Size::Word, 8, 1, 4)
        .copy(1, 7)
        .increase(1, i32::from(payload) + 2)
        .skip_if_greater(1, 8, magic.len())
        .then(magic)
        .set(0, verdict::PASS)
        .exit();
    Program::load(&code)?.attach("in", interface("in")?, Place::Driver)
}

fn every_nth_is_missed(way: Way, is_ipv6: bool) {
    let (n, frames) = (7, 4000);
    let payload = if is_ipv6 { 62 } else { PAYLOAD as i16 };
    let Some(lossy) = Lossy::new(n, payload, is_ipv6) else {
        return;
    };
    let Some(mut tester) = open(lossy.ports(way, is_ipv6)) else {
        return;
    };
    let traffic = Traffic::of(Stream::of_rfc2544(Side::Input, is_ipv6, 1, &[84, 1280]));
    let before = lossy
        .middle
        .link("in")
        .expect("it is there")
        .counters
        .received;
    let seen = run(&mut tester, &one_way(traffic, &[load(20_000.0, 200)]));
    let seen = first(&seen);
    let came = lossy
        .middle
        .link("in")
        .expect("it is there")
        .counters
        .received
        - before;
    assert!(came >= frames, "{came} frames came to the device");
    let dropped = frames / n as u64;
    assert_eq!((seen.sent(), seen.lost()), (frames, dropped));
    assert_eq!(
        (
            seen.duplicated(),
            seen.reordered(),
            seen.corrupted,
            seen.strays
        ),
        (0, 0, 0, 0)
    );
    // The program dropped the frames numbered 6, 13, 20 and so on, 50 us apart.
    assert_eq!(seen.last_lost, Some(Time::from_us(50 * (dropped * 7 - 1))));
    assert_eq!(seen.outage.map(|outage| outage.skipped), Some(1));
}

#[test]
fn every_seventh_frame_is_missed_behind_a_router() {
    every_nth_is_missed(Way::AfPacket, false);
}

#[test]
fn every_seventh_frame_is_missed_behind_a_router_of_ipv6() {
    every_nth_is_missed(Way::AfPacket, true);
}

#[test]
fn every_seventh_frame_is_missed_behind_a_router_by_af_xdp() {
    every_nth_is_missed(Way::AfXdp, false);
}

/// A packet socket at each end of the wire beside the tester's.
struct Meddler {
    devices: [AfPacket; 2],
    pool: Pool,
}

impl Meddler {
    fn new([left, right]: [&Namespace; 2]) -> Meddler {
        let open = |namespace: &Namespace, name| {
            let device = namespace.run(|| AfPacket::open(name, &afpacket::Options::default()));
            device.expect("it may be opened")
        };
        Meddler {
            devices: [open(left, "a"), open(right, "b")],
            pool: Pool::new(1024, 1 << 16),
        }
    }

    /// The next test frame that comes over the wire.
    fn next(&mut self) -> Vec<u8> {
        let until = monotonic_ns() + PATIENCE_NS;
        let mut batch = Packets::new();
        loop {
            let device = &mut self.devices[1];
            device
                .receive(&mut self.pool, &mut batch)
                .expect("it is there");
            let mut found = None;
            for packet in batch.drain() {
                let data = self.pool[&packet].data();
                if data.get(PAYLOAD..).and_then(Signature::read).is_some() {
                    found.get_or_insert_with(|| data.to_vec());
                }
                self.pool.free(packet);
            }
            if let Some(found) = found {
                return found;
            }
            assert!(monotonic_ns() < until, "no frame comes");
            wait(
                &device.descriptor().into_iter().collect::<Vec<_>>(),
                Some(5_000_000),
            )
            .expect("it can be waited on");
        }
    }

    fn send(&mut self, frame: &[u8], times: usize) {
        let mut batch = Packets::new();
        for _ in 0..times {
            batch.push(
                self.pool
                    .alloc_with(frame)
                    .expect("the pool has a free slot"),
            );
        }
        let device = &mut self.devices[0];
        while !batch.is_empty() || device.unsent() > 0 {
            device
                .transmit(&mut self.pool, &mut batch)
                .expect("it is there");
            device.flush(&mut self.pool).expect("it is there");
        }
    }
}

#[test]
fn copies_damage_strays_and_strangers_are_told_apart() {
    let Some([left, right]) = wire() else { return };
    let Some(mut tester) = open(ports(Way::AfPacket, [&left, &right], false, false)) else {
        return;
    };
    let traffic = Traffic::of(stream(Side::Input, &[64]));
    let plan = one_way(traffic, &[load(1000.0, 300)]);
    let mut meddler = Meddler::new([&left, &right]);
    run(&mut tester, &plan);
    // A frame of the run before, whose frames all wait for the meddler; those of the next run
    // follow them.
    let old = meddler.next();
    let old_run = Signature::read(&old[PAYLOAD..])
        .expect("the signature is whole")
        .run;
    let seen = std::thread::scope(|scope| {
        scope.spawn(|| {
            let fresh = loop {
                let frame = meddler.next();
                if Signature::read(&frame[PAYLOAD..]).is_some_and(|one| one.run != old_run) {
                    break frame;
                }
            };
            meddler.send(&fresh, 3);
            let mut damaged = fresh.clone();
            damaged[PAYLOAD + 8] ^= 0x10;
            meddler.send(&damaged, 4);
            meddler.send(&old, 5);
            let mut stranger = fresh;
            stranger[PAYLOAD..PAYLOAD + SIGNATURE_BYTES].fill(0xee);
            meddler.send(&stranger, 6);
        });
        run(&mut tester, &plan)
    });
    let seen = first(&seen);
    assert_eq!((seen.sent(), seen.lost(), seen.reordered()), (300, 0, 0));
    assert_eq!(
        (seen.duplicated(), seen.corrupted, seen.strays, seen.others),
        (3, 4, 5, 6)
    );
}

#[test]
fn frames_in_bursts_all_come_and_last_as_long() {
    let Some([left, right]) = wire() else { return };
    for way in [Way::AfPacket, Way::AfXdp] {
        let Some(mut tester) = open(ports(way, [&left, &right], false, false)) else {
            continue;
        };
        let bursts = Bursts {
            frames: 64,
            gap: Span::from_us(1),
        };
        let traffic = Traffic {
            bursts: Some(bursts),
            ..Traffic::of(stream(Side::Input, &[64]))
        };
        let seen = run(&mut tester, &one_way(traffic, &[load(64_000.0, 100)]));
        let seen = first(&seen);
        assert_eq!((seen.sent(), seen.lost(), seen.reordered()), (6400, 0, 0));
        let late = Span::from_ps(seen.lateness.max().expect("frames were sent"));
        assert!(seen.effective + late >= Span::from_us(99_999), "{late:?}");
        assert!(seen.effective <= Span::from_ms(100) + late);
    }
    let Some(mut tester) = open(ports(Way::Live, [&left, &right], false, false)) else {
        return;
    };
    let bursts = Bursts {
        frames: 2,
        gap: Span::ZERO,
    };
    let traffic = Traffic {
        bursts: Some(bursts),
        ..Traffic::of(stream(Side::Input, &[64]))
    };
    let refused = tester.run(
        &one_way(traffic, &[load(100.0, 100)]),
        &AtomicBool::new(false),
    );
    let refused = refused.expect_err("live frames have even gaps").to_string();
    assert!(refused.contains("even gaps"), "{refused}");
}

#[test]
fn broadcasts_queries_and_updates_go_beside_the_test_frames() {
    // Nothing is dropped of so few.
    let Some(device) = Lossy::new(1_000_000, PAYLOAD as i16, false) else {
        return;
    };
    let agent = device
        .middle
        .run(|| UdpSocket::bind("198.18.1.1:161"))
        .expect("the port is free");
    agent
        .set_read_timeout(Some(Duration::from_millis(20)))
        .expect("the time-out is above 0");
    let routed = device
        .middle
        .run(|| UdpSocket::bind("0.0.0.0:520"))
        .expect("the port is free");
    routed.set_nonblocking(true).expect("it is a socket");
    let Some(mut tester) = open(device.ports(Way::AfPacket, false)) else {
        return;
    };
    let traffic = Traffic {
        updates: true,
        broadcasts: true,
        queries: Some([198, 18, 1, 1].into()),
        ..Traffic::of(stream(Side::Input, &[128]))
    };
    let is_done = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        scope.spawn(|| {
            // What an agent makes of a query: a response with an empty counter for each null.
            let mut bytes = [0; 512];
            while !is_done.load(Ordering::Relaxed) {
                let Ok((length, from)) = agent.recv_from(&mut bytes) else {
                    continue;
                };
                let query = &mut bytes[..length];
                let get = query
                    .iter()
                    .position(|&byte| byte == 0xa0)
                    .expect("it asks");
                query[get] = 0xa2;
                for at in 1..length {
                    if query[at - 1..=at] == [5, 0] {
                        query[at - 1] = 0x41;
                    }
                }
                agent
                    .send_to(query, from)
                    .expect("the datagram can be sent");
            }
        });
        let seen = run(&mut tester, &one_way(traffic, &[load(2000.0, 1100)]));
        is_done.store(true, Ordering::Relaxed);
        seen
    });
    let seen = first(&seen);
    assert_eq!((seen.sent(), seen.lost()), (2178, 0));
    let mut bytes = [0; 512];
    let (length, from) = routed.recv_from(&mut bytes).expect("a datagram arrives");
    assert_eq!(
        (length, from.to_string()),
        (124, "198.18.1.2:520".to_owned())
    );
    assert_eq!(bytes[..6], [2, 1, 0, 0, 0, 2]);
    assert!(
        routed.recv_from(&mut bytes).is_err(),
        "one in thirty seconds"
    );
    // A router does not pass them on.
    assert_eq!(
        seen.broadcasts,
        Beside {
            sent: 22,
            received: 0
        }
    );
    assert_eq!(
        seen.queries,
        Beside {
            sent: 2,
            received: 2
        }
    );
}

#[test]
fn a_run_that_is_stopped_tells_what_it_saw() {
    let Some([left, right]) = wire() else { return };
    let Some(mut tester) = open(ports(Way::AfPacket, [&left, &right], false, false)) else {
        return;
    };
    let mut meddler = Meddler::new([&left, &right]);
    let stop = AtomicBool::new(false);
    let plan = one_way(
        Traffic::of(stream(Side::Input, &[64])),
        &[load(1000.0, 3_600_000)],
    );
    let seen = std::thread::scope(|scope| {
        scope.spawn(|| {
            meddler.next();
            stop.store(true, Ordering::Relaxed);
        });
        tester.run(&plan, &stop).expect("the run succeeds")
    });
    assert!(seen.is_interrupted && seen.fault.is_none());
    assert!((1..3_000_000).contains(&first(&seen).sent()));
}

#[test]
fn a_port_that_vanishes_is_a_fault_and_what_was_seen_is_kept() {
    let Some([left, right]) = wire() else { return };
    let Some(mut tester) = open(ports(Way::AfPacket, [&left, &right], false, false)) else {
        return;
    };
    let mut meddler = Meddler::new([&left, &right]);
    let plan = one_way(
        Traffic::of(stream(Side::Input, &[64])),
        &[load(1000.0, 3_600_000)],
    );
    let seen = std::thread::scope(|scope| {
        scope.spawn(|| {
            meddler.next();
            right.delete_link("b").expect("it is there");
        });
        tester
            .run(&plan, &AtomicBool::new(false))
            .expect("the run succeeds")
    });
    assert!(seen.fault.is_some(), "{seen:?}");
    assert!(first(&seen).sent() >= 1);
}

#[test]
fn a_device_that_is_not_there_is_named() {
    let Some([left, right]) = wire() else { return };
    let routed = ports(Way::AfPacket, [&left, &right], false, true);
    let mut tester = Tester::open(routed).expect("it may be opened");
    let stop = AtomicBool::new(false);
    let error = tester
        .learn(Span::from_ms(300), &stop)
        .expect_err("nobody answers")
        .to_string();
    assert!(
        error.contains("`a` does not answer for 198.18.1.1"),
        "{error}"
    );
    let plan = one_way(Traffic::of(stream(Side::Input, &[64])), &[load(1.0, 1)]);
    assert!(
        tester
            .run(&plan, &stop)
            .is_err_and(|error| error.to_string().contains("learn first"))
    );
    let long = one_way(Traffic::of(stream(Side::Input, &[1519])), &[load(1.0, 1)]);
    let error = tester
        .run(&long, &stop)
        .expect_err("it is too long")
        .to_string();
    assert!(error.contains("1518 at most"), "{error}");
}

#[test]
fn the_ceiling_of_a_wire_is_what_it_takes_without_loss() {
    let Some([left, right]) = wire() else { return };
    let Some(mut tester) = open(ports(Way::Live, [&left, &right], false, false)) else {
        return;
    };
    // Frames reach the counter within the call that sends them, so only time limits.
    let _ = or_skip(left.run(|| live::pass("a")));
    let traffic = Traffic::of(stream(Side::Input, &[64]));
    let measured = ceiling::measure(
        &mut tester,
        &traffic,
        Span::from_ms(20),
        Threads::default(),
        &|| (),
        &AtomicBool::new(false),
    );
    let ceiling = measured.expect("it was right").expect("nobody stopped it");
    assert!(ceiling.flood_fps > 100_000.0, "{ceiling:?}");
    assert!(
        ceiling.frames_per_second <= ceiling.flood_fps * 1.1,
        "{ceiling:?}"
    );
    assert_eq!(
        (ceiling.least_latency, ceiling.stamps),
        (None, Stamps::None)
    );
    let stopped = ceiling::measure(
        &mut tester,
        &traffic,
        Span::from_ms(20),
        Threads::default(),
        &|| (),
        &AtomicBool::new(true),
    );
    assert_eq!(stopped.expect("it was right"), None);
}
