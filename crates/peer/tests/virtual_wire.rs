//! Two hosts of ours and a wire between them, in virtual time: the driver's loop without a kernel.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::{Arc, Mutex};
use trammel_core::entry::Params;
use trammel_core::time::{Span, Time};
use trammel_packet::batch::Packets;
use trammel_packet::device::{Device, DeviceCounters};
use trammel_packet::pool::Pool;
use trammel_peer::codec::LARGEST_FRAME;
use trammel_peer::drive::{Clock, Driver, Turn};
use trammel_peer::faults::{Counters, Faults, Rates};
use trammel_peer::host::{FlowId, Host, Maker};
use trammel_tcp::cc;
use trammel_tcp::connection::{Failure, State};
use trammel_tcp::segment::{Flags, Segment};
use trammel_tcp::stack::Stack;

const NEAR: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const FAR: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const PORT: u16 = 5001;

fn maker() -> Maker {
    let reno = cc::find("reno").expect("the variant is built in");
    let params = Params::resolve(&reno.about, &[]).expect("the parameters are within their ranges");
    Maker::new(&Stack::linux_6(), move || (reno.build)(&params))
}

/// What lies beyond the device: a host, and the time that both share.
#[derive(Debug)]
struct Beyond {
    host: Host,
    now: Time,
}

/// A device whose other end is a host; a frame arrives when it is sent.
#[derive(Debug)]
struct Wire(Arc<Mutex<Beyond>>);

impl Device for Wire {
    fn name(&self) -> &'static str {
        "wire"
    }

    fn receive(&mut self, pool: &mut Pool, into: &mut Packets) -> io::Result<usize> {
        let mut beyond = self
            .0
            .lock()
            .expect("no thread panics while it holds the lock");
        let now = beyond.now;
        beyond.host.on_timer(now);
        let mut frame = [0; LARGEST_FRAME];
        let before = into.len();
        while !into.is_full()
            && let Some(bytes) = beyond.host.poll_transmit(now, &mut frame)
        {
            into.push(
                pool.alloc_with(&frame[..bytes])
                    .expect("the pool has a free slot"),
            );
        }
        Ok(into.len() - before)
    }

    fn transmit(&mut self, pool: &mut Pool, from: &mut Packets) -> io::Result<usize> {
        let mut beyond = self
            .0
            .lock()
            .expect("no thread panics while it holds the lock");
        let (now, count) = (beyond.now, from.len());
        for packet in from.drain() {
            beyond.host.on_frame(now, pool[&packet].data());
            pool.free(packet);
        }
        Ok(count)
    }

    fn counters(&self) -> DeviceCounters {
        DeviceCounters::default()
    }
}

/// Moves the time on to the next event of either host; a frame takes a millisecond to be answered.
struct VirtualClock(Arc<Mutex<Beyond>>);

impl Clock for VirtualClock {
    fn now(&mut self) -> Time {
        self.0
            .lock()
            .expect("no thread panics while it holds the lock")
            .now
    }

    fn wait(&mut self, _: Option<i32>, until: Time) -> io::Result<()> {
        let mut beyond = self
            .0
            .lock()
            .expect("no thread panics while it holds the lock");
        let answer = beyond.now + Span::from_ms(1);
        beyond.now = until.min(answer).max(beyond.now);
        Ok(())
    }
}

type Bench = (Driver<Wire, VirtualClock>, Arc<Mutex<Beyond>>);

fn bench(seed: u64, rates: Rates) -> Bench {
    let beyond = Arc::new(Mutex::new(Beyond {
        host: Host::new([2, 0, 0, 0, 0, 1], FAR, seed + 1),
        now: Time::ZERO,
    }));
    let faults = ["in", "out"].map(|name| Faults::new(seed, name, &rates));
    let near = Host::new([2, 0, 0, 0, 0, 2], NEAR, seed);
    let (device, clock) = (Wire(beyond.clone()), VirtualClock(beyond.clone()));
    (Driver::new(near, device, clock, faults), beyond)
}

/// Both hosts send `bytes`, over a wire with these faults. What both counted, and when they were
/// done.
fn exchange(seed: u64, bytes: u64, rates: Rates) -> (Time, [Counters; 2], [u64; 2]) {
    let (mut driver, beyond) = bench(seed, rates);
    beyond.lock().unwrap().host.listen(PORT, maker());
    let to = SocketAddrV4::new(FAR, PORT);
    let flow = driver.host.connect(Time::ZERO, to, &maker());
    driver.host.connection(flow).write(bytes);
    driver.host.connection(flow).close_when_written();
    let mut answer: Option<FlowId> = None;
    let is_done = driver.run(Time::from_secs(300), |_, near| {
        let far = &mut beyond.lock().unwrap().host;
        if let Some(new) = far.accept() {
            far.connection(new).write(bytes);
            far.connection(new).close_when_written();
            answer = Some(new);
        }
        let is_over = |host: &Host, flow| {
            let state = host.flow(flow).connection.state();
            matches!(state, State::Closed | State::TimeWait)
        };
        match answer {
            Some(answer) if is_over(near, flow) && is_over(far, answer) => Turn::Done,
            _ => Turn::Until(Time::MAX),
        }
    });
    assert!(
        is_done.unwrap(),
        "seed {seed}: {:?}",
        driver.host.flow(flow).connection
    );
    let end = driver.now();
    let far = &beyond.lock().unwrap().host;
    let flows = [driver.host.flow(flow), far.flow(answer.expect("it came"))];
    for flow in flows {
        assert_eq!(flow.connection.failure(), None);
        assert_eq!(flow.connection.counters().bytes_delivered, bytes);
        assert_eq!(flow.wrong_bytes(), 0);
    }
    assert_eq!(
        (driver.host.counters().damaged, far.counters().damaged),
        (0, 0)
    );
    assert_eq!(flows[0].remote(), flows[1].local());
    let counters = [*driver.inward.counters(), *driver.outward.counters()];
    (
        end,
        counters,
        flows.map(|flow| flow.connection.counters().retransmissions),
    )
}

#[test]
fn two_hosts_exchange_streams() {
    let (_, faults, retransmissions) = exchange(1, 300_000, Rates::default());
    assert!(
        faults
            .iter()
            .all(|faults| faults.lost + faults.held + faults.duplicated == 0)
    );
    assert_eq!(retransmissions, [0, 0]);
}

#[test]
fn two_hosts_exchange_streams_over_a_bad_wire_and_the_same_again() {
    let rates = Rates {
        loss: 0.05,
        duplication: 0.05,
        reordering: 0.05,
        hold: Span::from_ms(3),
        ..Rates::default()
    };
    for seed in 1..20 {
        let (end, faults, retransmissions) = exchange(seed, 300_000, rates);
        for fault in &faults {
            let frames = fault.frames as f64;
            for count in [fault.lost, fault.duplicated, fault.held] {
                // Six standard deviations of a binomial distribution with 5 %.
                let spread = 6.0 * (frames * 0.05 * 0.95).sqrt();
                assert!(
                    (count as f64 - frames * 0.05).abs() < spread,
                    "seed {seed}: {fault:?}"
                );
            }
        }
        assert_eq!(
            exchange(seed, 300_000, rates),
            (end, faults, retransmissions),
            "seed {seed}"
        );
    }
}

#[test]
fn a_port_where_nobody_listens_is_refused_and_strays_are_answered() {
    let (mut driver, beyond) = bench(1, Rates::default());
    let to = SocketAddrV4::new(FAR, PORT);
    let flow = driver.host.connect(Time::ZERO, to, &maker());
    let is_done = driver.run(Time::from_secs(10), |_, near| {
        match near.flow(flow).connection.failure() {
            Some(_) => Turn::Done,
            None => Turn::Until(Time::MAX),
        }
    });
    assert!(is_done.unwrap());
    assert_eq!(
        driver.host.flow(flow).connection.failure(),
        Some(Failure::Refused)
    );
    assert_eq!(beyond.lock().unwrap().host.counters().strays, 1);
}

#[test]
fn a_deadline_ends_a_run_that_waits_in_vain() {
    let (mut driver, _) = bench(
        1,
        Rates {
            loss: 1.0,
            ..Rates::default()
        },
    );
    let to = SocketAddrV4::new(FAR, PORT);
    driver.host.connect(Time::ZERO, to, &maker());
    let deadline = Time::from_secs(5);
    assert!(!driver.run(deadline, |_, _| Turn::Until(Time::MAX)).unwrap());
    assert_eq!(driver.now(), deadline);
    // The neighbour is asked for at once and then every second, also at the deadline.
    assert_eq!(driver.outward.counters().lost, 6);
}

#[test]
fn marks_are_put_on_capable_packets_alone_and_leave_their_checksums_right() {
    use trammel_packet::headers::ether::Ether;
    use trammel_peer::codec::{Route, decode, encode};
    use trammel_tcp::segment::Ecn;
    let route = Route {
        from_mac: [2; 6],
        to_mac: [4; 6],
        from: SocketAddrV4::new(NEAR, 1),
        to: SocketAddrV4::new(FAR, 2),
    };
    let mut faults = Faults::new(
        1,
        "out",
        &Rates {
            marking: 1.0,
            ..Rates::default()
        },
    );
    for (sent, came) in [
        (Ecn::NotEct, Ecn::NotEct),
        (Ecn::Ect0, Ecn::Ce),
        (Ecn::Ect1, Ecn::Ce),
        (Ecn::Ce, Ecn::Ce),
    ] {
        let segment = Segment {
            flags: Flags::ACK,
            ecn: sent,
            ..Segment::default()
        };
        let mut frame = [0; LARGEST_FRAME];
        let bytes = encode(&route, &segment, 1, &mut frame, |_| {});
        assert_eq!(faults.pass(Time::ZERO, &mut frame[..bytes]), 1);
        let arrival = decode(&frame[Ether::LEN..bytes]).unwrap();
        assert_eq!(arrival.segment.ecn, came);
    }
    assert_eq!(faults.counters().marked, 3);
}
