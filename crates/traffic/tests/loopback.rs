//! Senders and a receiver over loopback: what is sent comes, and who misbehaves ends nothing but
//! his own.
#![cfg(target_os = "linux")]

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use trammel_core::time::{Span, Time};
use trammel_io::clock::monotonic_ns;
use trammel_traffic::pace::Wait;
use trammel_traffic::receive::hub::{Hub, Sink};
use trammel_traffic::receive::{Receiver, Settings};
use trammel_traffic::record::{LoggedFlow, Protocol, Record};
use trammel_traffic::send::session::{Error, Session};
use trammel_traffic::send::tcp::Tcp;
use trammel_traffic::send::udp::{Mechanism, Udp};
use trammel_traffic::send::{self, Carrier, Lane, Note, Packet, Sent};
use trammel_traffic::signal::key::Key;
use trammel_traffic::signal::message::{Count, Wish};
use trammel_traffic::stamp::Stamp;
use trammel_traffic::stream::{Departure, Late, Limits, Meter, Plan, Source, Stream};

/// So many packets of so many bytes, one each so often.
#[derive(Debug)]
struct Regular(u64, u32, Span);

impl Source for Regular {
    fn plan(&self, _: u64) -> Plan {
        let (gap, bytes) = (self.2.as_ps(), self.1);
        Box::new((0..self.0).map(move |at| Departure {
            at: Time::from_ps(at * gap),
            bytes,
        }))
    }
}

fn stream(source: Regular) -> Stream {
    Stream {
        name: "one".to_owned(),
        protocol: Protocol::Udp,
        source: Box::new(source),
        start: Time::ZERO,
        limits: Limits::default(),
        seed: 1,
        meter: Meter::OneWay,
        late: Late::Burst,
        ds: None,
        ttl: None,
    }
}

/// What was received.
#[derive(Debug, Default)]
struct Kept {
    flows: Vec<LoggedFlow>,
    records: Vec<Record>,
    closed: Vec<(u32, Count, Option<Count>)>,
}

#[derive(Clone, Debug, Default)]
struct Keeper(Arc<Mutex<Kept>>);

impl Sink for Keeper {
    fn flow(&mut self, flow: &LoggedFlow) {
        self.0
            .lock()
            .expect("no thread panics while it holds the lock")
            .flows
            .push(flow.clone());
    }

    fn record(&mut self, record: &Record) {
        self.0
            .lock()
            .expect("no thread panics while it holds the lock")
            .records
            .push(*record);
    }

    fn closed(&mut self, flow: u32, received: Count, sent: Option<Count>) {
        let mut kept = self
            .0
            .lock()
            .expect("no thread panics while it holds the lock");
        kept.closed.push((flow, received, sent));
    }
}

/// Has the receiver stop, also where the work beside it panics.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` beside a receiver at loopback; gives what it received and how many sessions ended
/// badly.
fn beside_a_receiver(
    key: Option<&[u8]>,
    work: impl FnOnce(SocketAddr, &AtomicBool),
) -> (Kept, usize) {
    let keeper = Keeper::default();
    let settings = Settings {
        key: key.map(|key| Key::new(key).expect("the key is long enough")),
    };
    let hub = Hub::new(Box::new(keeper.clone()));
    let receiver = Receiver::open((Ipv4Addr::LOCALHOST, 0).into(), settings, hub);
    let receiver = receiver.expect("loopback has ports");
    let (stop, go_on) = (AtomicBool::new(false), AtomicBool::new(false));
    let bad = Mutex::new(0);
    std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            receiver.run(&stop, &|_, _| {
                *bad.lock()
                    .expect("no thread panics while it holds the lock") += 1;
            })
        });
        let ends = Ends(&stop);
        work(receiver.address(), &go_on);
        drop(ends);
        running
            .join()
            .expect("the thread does not panic")
            .expect("it runs");
    });
    drop(receiver);
    let kept = Arc::try_unwrap(keeper.0).expect("the receiver is gone");
    let bad = *bad
        .lock()
        .expect("no thread panics while it holds the lock");
    (
        kept.into_inner()
            .expect("no thread panics while it holds the lock"),
        bad,
    )
}

fn wish(stream: &Stream) -> Wish {
    Wish {
        protocol: stream.protocol,
        meter: stream.meter,
        port: 0,
        name: stream.name.clone(),
    }
}

fn send_lane(lane: Lane, stop: &AtomicBool, note: Note<'_>) -> Sent {
    let mut lanes = [lane];
    send::send(&mut lanes, Wait::Spin, stop, note);
    let [lane] = lanes;
    let sent = lane.sent();
    assert_eq!(sent.fault, None);
    sent
}

/// Sends a stream by a session; gives what was sent and received.
fn send_one(
    session: &mut Session,
    stream: &Stream,
    mechanism: Mechanism,
    stop: &AtomicBool,
) -> (Sent, Count) {
    let (number, port) = session
        .open_flow(wish(stream), stop)
        .expect("the flow can be opened");
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
    socket
        .connect((Ipv4Addr::LOCALHOST, port))
        .expect("it is there");
    let carrier = Udp::new(socket, stream, mechanism).expect("Linux has it");
    let lane = Lane::new(stream, number, Box::new(carrier), monotonic_ns());
    let mut notes = Vec::new();
    let sent = send_lane(lane, stop, &mut |record: &Record| notes.push(*record));
    // Due by the plan, and none before.
    let plan: Vec<i64> = stream.plan().map(|next| next.at.as_ns() as i64).collect();
    let first = notes[0].start_ns;
    assert!(
        notes
            .iter()
            .zip(plan)
            .all(|(one, at)| one.start_ns - first == at)
    );
    assert!(notes.iter().all(|one| one.end_ns >= one.start_ns));
    let received = session
        .close_flow(number, sent.count)
        .expect("the flow is open");
    (sent, received)
}

#[test]
fn what_is_sent_is_received_and_told() {
    let (kept, bad) = beside_a_receiver(None, |address, stop| {
        let mut session = Session::open(address, None, stop).expect("it is there");
        let slow = stream(Regular(500, 100, Span::from_us(20)));
        let (sent, received) = send_one(&mut session, &slow, Mechanism::Calls, stop);
        assert_eq!((sent.count.packets, sent.count.bytes), (500, 50_000));
        assert_eq!((received.packets, received.bytes), (500, 50_000));
        assert_eq!((sent.errors, sent.lateness.count()), (0, 500));
        let burst = stream(Regular(1000, 64, Span::ZERO));
        let (sent, received) = send_one(&mut session, &burst, Mechanism::Segments, stop);
        assert_eq!((sent.count.packets, received.packets), (1000, 1000));
        assert!(sent.overdue > 900);
    });
    assert_eq!(bad, 0);
    let names: Vec<_> = kept
        .flows
        .iter()
        .map(|flow| (flow.number, flow.name.as_str()))
        .collect();
    assert_eq!(names, [(0, "one"), (1, "one")]);
    for (flow, packets, bytes) in [(0, 500, 100), (1, 1000, 64)] {
        let of: Vec<_> = kept.records.iter().filter(|one| one.flow == flow).collect();
        let sequence: Vec<u64> = of.iter().map(|one| one.sequence).collect();
        assert_eq!(sequence, (0..packets).collect::<Vec<u64>>());
        assert!(
            of.iter()
                .all(|one| one.bytes == bytes && one.end_ns > one.start_ns)
        );
    }
    assert!(
        kept.closed.iter().all(|(_, received, sent)| {
            sent.is_some_and(|sent| sent.packets == received.packets)
        })
    );
}

#[test]
fn messages_of_tcp_come_whole_and_a_connection_of_nobodys_flow_is_closed() {
    let (kept, bad) = beside_a_receiver(None, |address, stop| {
        let mut session = Session::open(address, None, stop).expect("it is there");
        let tcp = Stream {
            protocol: Protocol::Tcp,
            ..stream(Regular(400, 5000, Span::from_us(5)))
        };
        let (number, port) = session
            .open_flow(wish(&tcp), stop)
            .expect("the flow can be opened");
        let connect =
            || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("the other end listens");
        // One names a flow that is not open, sends a message, and is hung up on, before it has sent
        // that or after.
        let mut stray = connect();
        let mut nobody = Tcp::new(connect(), number + 1).expect("it goes");
        stray.write_all(&[0xff; 40]).expect("the other end reads");
        let packet = Packet {
            stamp: Stamp {
                flow: number + 1,
                sequence: 0,
                sent_ns: 0,
            },
            bytes: 16,
        };
        if let Err(error) = nobody.hand_over(&[packet], stop) {
            let is_hung_up = [ErrorKind::BrokenPipe, ErrorKind::ConnectionReset];
            assert!(is_hung_up.contains(&error.kind()), "{error}");
        }
        let carrier = Tcp::new(connect(), number).expect("it goes");
        let lane = Lane::new(&tcp, number, Box::new(carrier), monotonic_ns());
        let sent = send_lane(lane, stop, &mut |_| {});
        let received = session
            .close_flow(number, sent.count)
            .expect("the flow is open");
        assert_eq!((sent.count.packets, sent.count.bytes), (400, 2_000_000));
        assert_eq!(received, sent.count);
    });
    assert_eq!(bad, 0);
    let sequence: Vec<u64> = kept.records.iter().map(|one| one.sequence).collect();
    assert_eq!(sequence, (0..400).collect::<Vec<u64>>());
    assert!(kept.records.iter().all(|one| one.bytes == 5000));
}

#[test]
fn only_who_holds_the_key_is_served() {
    let (right, wrong): (&[u8], &[u8]) = (b"the key of this test", b"another key of nobody");
    let (kept, _) = beside_a_receiver(Some(right), |address, stop| {
        let key = Key::new(right).expect("the key is long enough");
        let mut session = Session::open(address, Some(&key), stop).expect("it is the key");
        send_one(
            &mut session,
            &stream(Regular(3, 16, Span::ZERO)),
            Mechanism::Calls,
            stop,
        );
        let other = Key::new(wrong).expect("the key is long enough");
        let refused = Session::open(address, Some(&other), stop);
        assert!(matches!(refused, Err(Error::Stranger)), "{refused:?}");
        let refused = Session::open(address, None, stop);
        assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
    });
    assert_eq!((kept.flows.len(), kept.records.len()), (1, 3));
    // A sender with a key does not send to who cannot prove that it holds the same.
    beside_a_receiver(None, |address, stop| {
        let key = Key::new(right).expect("the key is long enough");
        let refused = Session::open(address, Some(&key), stop);
        assert!(matches!(refused, Err(Error::Stranger)), "{refused:?}");
    });
}

#[test]
fn who_lies_or_disappears_ends_only_his_own_flows() {
    let (kept, bad) = beside_a_receiver(None, |address, stop| {
        let mut honest = Session::open(address, None, stop).expect("it is there");
        let short = stream(Regular(10, 50, Span::from_us(10)));
        // One opens a flow and is gone.
        let mut gone = Session::open(address, None, stop).expect("it is there");
        gone.open_flow(wish(&short), stop)
            .expect("the flow can be opened");
        drop(gone);
        // One speaks something else; one says nothing.
        let mut noise = TcpStream::connect(address).expect("the other end listens");
        noise.write_all(&[0xff; 64]).expect("the other end reads");
        // It is hung up on, at once.
        assert_eq!(noise.read(&mut [0]).unwrap_or(0), 0);
        let silent = TcpStream::connect(address).expect("the other end listens");
        // Packets of nobody's.
        let (_, port) = honest
            .open_flow(wish(&short), stop)
            .expect("the flow can be opened");
        let stray = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
        for bytes in [0, 5, 16, 1000] {
            let to = (Ipv4Addr::LOCALHOST, port);
            stray
                .send_to(&vec![0xee; bytes], to)
                .expect("the datagram can be sent");
        }
        let (_, received) = send_one(&mut honest, &short, Mechanism::Calls, stop);
        assert_eq!(received.packets, 10);
        drop(silent);
        // What it does not have open, it does not close.
        let refused = honest.close_flow(77, Count::default());
        assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
        let tcp = Wish {
            protocol: Protocol::Dccp,
            ..wish(&short)
        };
        let refused = honest.open_flow(tcp, stop);
        assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
    });
    assert_eq!(kept.records.len(), 10);
    // Every flow that was opened was closed, with or without its sender's word.
    assert_eq!((kept.flows.len(), kept.closed.len()), (3, 3));
    assert_eq!(
        kept.closed
            .iter()
            .filter(|(.., sent)| sent.is_none())
            .count(),
        2
    );
    assert_eq!(bad, 1);
}

#[test]
fn nobody_there_is_told_at_once() {
    let address = {
        let taken = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .expect("loopback has a free port");
        taken.local_addr().expect("a bound socket has an address")
    };
    let nobody = Session::open(address, None, &AtomicBool::new(false));
    assert!(matches!(nobody, Err(Error::Nobody(..))), "{nobody:?}");
}

/// Takes packets and does nothing, or stops after some.
struct Void(usize);

impl Carrier for Void {
    fn most(&self) -> (usize, u32) {
        (64, 9000)
    }

    fn hand_over(&mut self, packets: &[Packet], _: &AtomicBool) -> std::io::Result<u64> {
        self.0 = self
            .0
            .checked_sub(packets.len())
            .ok_or(std::io::ErrorKind::BrokenPipe)?;
        Ok(0)
    }
}

#[test]
fn a_thousand_streams_on_one_thread_keep_their_times_and_one_that_fails_ends_alone() {
    let stop = AtomicBool::new(false);
    let origin = monotonic_ns();
    let mut lanes: Vec<Lane> = (0..1000_u32)
        .map(|at| {
            let own = Stream {
                start: Time::from_us(u64::from(at)),
                ..stream(Regular(20, 64, Span::from_ms(2)))
            };
            let room = if at == 500 { 5 } else { usize::MAX };
            Lane::new(&own, at, Box::new(Void(room)), origin)
        })
        .collect();
    let mut last = 0;
    let mut are_in_order = true;
    send::send(&mut lanes, Wait::Spin, &stop, &mut |record| {
        are_in_order &= record.end_ns >= last && record.end_ns >= record.start_ns;
        last = record.end_ns;
    });
    assert!(are_in_order);
    for lane in lanes {
        let flow = lane.flow();
        let sent = lane.sent();
        if flow == 500 {
            assert!(sent.count.packets <= 5 && sent.fault.is_some());
        } else {
            assert_eq!((sent.count.packets, sent.fault), (20, None));
        }
    }
}
