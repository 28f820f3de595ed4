//! A receiver behind a translator of addresses comes to its sender: what is sent comes, and who
//! lies, stalls or disappears ends nothing but his own.
#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::Scope;
use std::time::{Duration, Instant};
use trammel_core::time::Time;
use trammel_io::clock::monotonic_ns;
use trammel_traffic::pace::Wait;
use trammel_traffic::receive::Settings;
use trammel_traffic::receive::hub::{Hub, Sink};
use trammel_traffic::receive::visit::Visitor;
use trammel_traffic::record::{LoggedFlow, Protocol, Record};
use trammel_traffic::send::session::{Error, Session};
use trammel_traffic::send::udp::Mechanism;
use trammel_traffic::send::waiting::Waiting;
use trammel_traffic::send::way::Way;
use trammel_traffic::send::{self, Lane};
use trammel_traffic::signal::channel::{Channel, ReceiveError};
use trammel_traffic::signal::greet;
use trammel_traffic::signal::key::Key;
use trammel_traffic::signal::message::{Count, Message, Wish};
use trammel_traffic::stream::{Departure, Late, Limits, Meter, Plan, Source, Stream};

/// So many packets of 100 bytes, one each millisecond.
#[derive(Debug)]
struct Regular(u64);

impl Source for Regular {
    fn plan(&self, _: u64) -> Plan {
        Box::new((0..self.0).map(move |at| Departure {
            at: Time::from_ms(at),
            bytes: 100,
        }))
    }
}

fn stream(protocol: Protocol, meter: Meter) -> Stream {
    Stream {
        name: "one".to_owned(),
        protocol,
        source: Box::new(Regular(200)),
        start: Time::ZERO,
        limits: Limits::default(),
        seed: 1,
        meter,
        late: Late::Burst,
        ds: None,
        ttl: None,
    }
}

fn wish(stream: &Stream) -> Wish {
    Wish {
        protocol: stream.protocol,
        meter: stream.meter,
        port: 0,
        name: stream.name.clone(),
    }
}

/// How many packets came, and how many flows were opened and closed.
#[derive(Debug, Default)]
struct Kept {
    records: usize,
    opened: usize,
    closed: usize,
}

#[derive(Clone, Debug, Default)]
struct Keeper(Arc<Mutex<Kept>>);

impl Sink for Keeper {
    fn flow(&mut self, _: &LoggedFlow) {
        self.0
            .lock()
            .expect("no thread panics while it holds the lock")
            .opened += 1;
    }

    fn record(&mut self, _: &Record) {
        self.0
            .lock()
            .expect("no thread panics while it holds the lock")
            .records += 1;
    }

    fn closed(&mut self, _: u32, _: Count, _: Option<Count>) {
        self.0
            .lock()
            .expect("no thread panics while it holds the lock")
            .closed += 1;
    }
}

/// Has others stop, also where the work beside them panics.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sends a stream to a receiver that has come: the packets that it received, and those of which it
/// sent the stamp back.
fn send_one(session: &mut Session, stream: &Stream, stop: &AtomicBool) -> (u64, u64) {
    let fetched = Way::fetch(stream, wish(stream), Mechanism::Calls, session, stop);
    let (number, way) = fetched.expect("it makes the way");
    let (over, returned) = (AtomicBool::new(false), Mutex::new(0));
    let received = std::thread::scope(|scope| {
        if let Some(mut answers) = way.answers {
            let (over, returned) = (&over, &returned);
            scope.spawn(move || {
                let note = &mut |_: &Record| {
                    *returned
                        .lock()
                        .expect("no thread panics while it holds the lock") += 1;
                };
                answers.collect(number, over, note).expect("they come");
            });
        }
        let mut lanes = [Lane::new(stream, number, way.carrier, monotonic_ns())];
        send::send(&mut lanes, Wait::Sleep, stop, &mut |_| {});
        let [lane] = lanes;
        let sent = lane.sent().count;
        assert_eq!(sent.packets, 200);
        let received = session.close_flow(number, sent).expect("the flow is open");
        let until = Instant::now() + Duration::from_secs(5);
        let comes_back = stream.meter == Meter::RoundTrip;
        while comes_back
            && *returned
                .lock()
                .expect("no thread panics while it holds the lock")
                < received.packets
            && Instant::now() < until
        {
            std::thread::sleep(Duration::from_millis(2));
        }
        over.store(true, Ordering::Relaxed);
        received.packets
    });
    let returned = *returned
        .lock()
        .expect("no thread panics while it holds the lock");
    (received, returned)
}

/// Runs `work` with a sender that waits, beside a receiver that comes to `at` of where that is;
/// gives what it received.
fn beside_a_visitor(
    (key, refused): (Option<&[u8]>, bool),
    at: impl FnOnce(SocketAddr) -> SocketAddr,
    work: impl FnOnce(&Waiting, &AtomicBool),
) -> Kept {
    let waiting = Waiting::open((Ipv4Addr::LOCALHOST, 0).into()).expect("loopback");
    let keeper = Keeper::default();
    let settings = Settings {
        key: key.map(|key| Key::new(key).expect("the key is long enough")),
    };
    let hub = Hub::new(Box::new(keeper.clone()));
    let visitor = Visitor::new(vec![at(waiting.address())], settings, hub);
    let (stop, go_on) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let running = scope.spawn(|| visitor.run(&stop, &|_, _| {}));
        let ends = Ends(&stop);
        work(&waiting, &go_on);
        drop(ends);
        let ran = running.join().expect("the thread does not panic");
        assert_eq!(ran.is_err(), refused, "{ran:?}");
    });
    drop(visitor);
    let kept = Arc::try_unwrap(keeper.0).expect("the receiver is gone");
    kept.into_inner()
        .expect("no thread panics while it holds the lock")
}

#[test]
fn what_is_sent_to_who_came_is_received_and_comes_back() {
    let key: &[u8] = b"the key of this test";
    let kept = beside_a_visitor(
        (Some(key), false),
        |at| at,
        |waiting, stop| {
            let key = Key::new(key).expect("the key is long enough");
            for _ in 0..2 {
                let mut session = waiting.session(Some(&key), stop).expect("it comes");
                for protocol in [Protocol::Udp, Protocol::Tcp] {
                    let one_way = stream(protocol, Meter::OneWay);
                    assert_eq!(send_one(&mut session, &one_way, stop), (200, 0));
                    let there_and_back = stream(protocol, Meter::RoundTrip);
                    assert_eq!(send_one(&mut session, &there_and_back, stop), (200, 200));
                }
            }
        },
    );
    assert_eq!((kept.records, kept.opened, kept.closed), (1600, 8, 8));
}

#[test]
fn who_comes_without_the_key_is_told_and_comes_no_more() {
    for key in [None, Some(&b"another key of nobody"[..])] {
        let kept = beside_a_visitor(
            (key, true),
            |at| at,
            |waiting, stop| {
                let key = Key::new(b"the key of this test").expect("the key is long enough");
                std::thread::scope(|scope| {
                    let session = scope.spawn(|| waiting.session(Some(&key), stop));
                    std::thread::sleep(Duration::from_millis(300));
                    stop.store(true, Ordering::Relaxed);
                    let session = session.join().expect("the thread does not panic");
                    assert!(session.is_err(), "a stranger is a receiver");
                });
            },
        );
        assert_eq!(kept.opened, 0);
    }
}

/// A translator between a receiver at 127.0.0.1 and the sender at the same: the receiver knows it
/// at 127.0.0.2, the sender sees a port of its own in place of the receiver's, and nothing comes
/// through to a port that has not sent anything first.
fn translator<'scope>(
    sender: SocketAddr,
    scope: &'scope Scope<'scope, '_>,
    stop: &'scope AtomicBool,
) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.2", 0)).expect("loopback has a free port");
    let address = listener
        .local_addr()
        .expect("a bound socket has an address");
    scope.spawn(move || {
        let (inside, _) = listener.accept().expect("a client connects");
        let outside = TcpStream::connect(sender).expect("the other end listens");
        let other = (
            inside.try_clone().expect("it is open"),
            outside.try_clone().expect("it is open"),
        );
        scope.spawn(move || copy(other.0, other.1, stop, |_| {}));
        // What the sender says tells which of its ports is gone to.
        let mut said = Vec::new();
        copy(outside, inside, stop, |bytes| {
            said.extend_from_slice(bytes);
            while let Ok(Some((message, length))) = Message::read(&said) {
                said.drain(..length);
                if let Message::Fetch { port, .. } = message {
                    let inner =
                        UdpSocket::bind(("127.0.0.2", port)).expect("loopback has a free port");
                    scope.spawn(move || translate(&inner, port, stop));
                }
            }
        });
    });
    address
}

fn copy(mut from: TcpStream, mut to: TcpStream, stop: &AtomicBool, mut see: impl FnMut(&[u8])) {
    let slice = Some(Duration::from_millis(20));
    from.set_read_timeout(slice)
        .expect("the time-out is above 0");
    let mut part = [0; 4096];
    while !stop.load(Ordering::Relaxed) {
        match from.read(&mut part) {
            Ok(0) => break,
            Ok(count) => {
                see(&part[..count]);
                if to.write_all(&part[..count]).is_err() {
                    break;
                }
            }
            Err(_) => {}
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Write);
}

/// Datagrams from inside leave by a port of the translator's, and what comes back to that from
/// where they went goes inside.
fn translate(inner: &UdpSocket, port: u16, stop: &AtomicBool) {
    let outer = UdpSocket::bind(("127.0.0.3", 0)).expect("loopback has a free port");
    outer.connect(("127.0.0.1", port)).expect("it is there");
    inner.set_nonblocking(true).expect("it is open");
    outer.set_nonblocking(true).expect("it is open");
    let (mut part, mut inside) = ([0; 2048], None);
    while !stop.load(Ordering::Relaxed) {
        while let Ok((bytes, from)) = inner.recv_from(&mut part) {
            inside = Some(from);
            outer.send(&part[..bytes]).expect("it goes");
        }
        while let Ok(bytes) = outer.recv(&mut part) {
            let to = inside.expect("it has sent before");
            inner
                .send_to(&part[..bytes], to)
                .expect("the datagram can be sent");
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

#[test]
fn packets_find_the_way_through_a_translator_of_addresses() {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let ends = Ends(&stop);
        let kept = beside_a_visitor(
            (None, false),
            |sender| translator(sender, scope, &stop),
            |waiting, go_on| {
                let mut session = waiting.session(None, go_on).expect("it comes");
                let one_way = stream(Protocol::Udp, Meter::OneWay);
                assert_eq!(send_one(&mut session, &one_way, go_on), (200, 0));
                let there_and_back = stream(Protocol::Udp, Meter::RoundTrip);
                assert_eq!(send_one(&mut session, &there_and_back, go_on), (200, 200));
            },
        );
        assert_eq!((kept.records, kept.closed), (400, 2));
        drop(ends);
    });
}

/// Comes to a sender as a receiver does, and answers its greeting.
fn come(at: SocketAddr, stop: &AtomicBool) -> Channel {
    let mut channel = Channel::new(TcpStream::connect(at).expect("the other end listens"))
        .expect("the socket is open");
    channel.say(&Message::Here).expect("it goes");
    assert!(greet::answer(&mut channel, None, greet::Opener::Us, stop).expect("it greets"));
    channel
}

#[test]
fn who_comes_and_lies_stalls_or_leaves_is_not_waited_for() {
    let stop = AtomicBool::new(false);
    let waiting = Waiting::open((Ipv4Addr::LOCALHOST, 0).into()).expect("loopback");
    let at = waiting.address();
    std::thread::scope(|scope| {
        // Before any receiver: one is silent, one speaks something else, one is a sender, one is
        // gone at once.
        let silent = TcpStream::connect(at).expect("the other end listens");
        let mut noise = TcpStream::connect(at).expect("the other end listens");
        noise.write_all(&[0xff; 64]).expect("the other end reads");
        drop(TcpStream::connect(at).expect("the other end listens"));
        let sender = scope.spawn(|| Session::open(at, None, &stop));
        scope.spawn(|| {
            let refused = sender.join().expect("the thread does not panic");
            let is_told = matches!(&refused, Err(Error::Refused(why)) if why.contains("--connect"));
            assert!(is_told, "{refused:?}");
            let mut channel = come(at, &stop);
            // It says that it has opened the flow, and does not come to its port; a stranger does.
            let Ok(Message::Fetch { port, .. }) = channel.hear(None, &stop) else {
                panic!("the sender wants a flow");
            };
            let opened = Message::Opened { number: 0, port: 0 };
            channel.say(&opened).expect("it goes");
            let stranger =
                UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
            for bytes in [0, 16, 24, 25, 2000] {
                let sent = stranger.send_to(&vec![0xff; bytes], (Ipv4Addr::LOCALHOST, port));
                sent.expect("it goes");
            }
            std::thread::sleep(Duration::from_millis(300));
            stop.store(true, Ordering::Relaxed);
        });
        let mut session = waiting.session(None, &stop).expect("one comes");
        let udp = stream(Protocol::Udp, Meter::OneWay);
        let refused = Way::fetch(&udp, wish(&udp), Mechanism::Calls, &mut session, &stop);
        let is_stopped = matches!(refused, Err(Error::Channel(ReceiveError::Stopped)));
        assert!(is_stopped, "a stranger had the packets sent to him");
        drop(silent);
    });
}

#[test]
fn a_sender_that_lies_or_leaves_ends_only_its_own_flows() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
    let at = listener
        .local_addr()
        .expect("a bound socket has an address");
    let keeper = Keeper::default();
    let hub = Hub::new(Box::new(keeper.clone()));
    let visitor = Visitor::new(vec![at], Settings::default(), hub);
    let (stop, go_on) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| visitor.run(&stop, &|_, _| {}));
        let ends = Ends(&stop);
        let greeted = || {
            let (stream, _) = listener.accept().expect("a client connects");
            let mut channel = Channel::new(stream).expect("the socket is open");
            let here = channel.hear(None, &go_on).expect("it says so");
            assert_eq!(here, Message::Here);
            greet::ask(&mut channel, None, greet::Opener::Them, &go_on).expect("it answers");
            channel
        };
        // One leaves in the middle of its greeting, one with flows open to ports where nobody is,
        // one speaks something else.
        drop(listener.accept().expect("a client connects"));
        let mut channel = greeted();
        for (protocol, is_taken) in [
            (Protocol::Udp, true),
            (Protocol::Tcp, true),
            (Protocol::Dccp, false),
        ] {
            let fetch = Message::Fetch {
                wish: wish(&stream(protocol, Meter::OneWay)),
                port: 1,
                token: [7; 16],
            };
            channel.say(&fetch).expect("it goes");
            let answer = channel.hear(None, &go_on).expect("it answers");
            let is_opened = matches!(answer, Message::Opened { .. });
            assert_eq!(is_opened, is_taken, "{answer:?}");
        }
        drop(channel);
        let channel = greeted();
        channel
            .stream()
            .write_all(&[0xee; 300])
            .expect("the other end reads");
        drop(channel);
        // It comes again, and serves.
        let mut channel = greeted();
        let open = Message::Open(wish(&stream(Protocol::Udp, Meter::OneWay)));
        channel.say(&open).expect("it goes");
        let answer = channel.hear(None, &go_on).expect("it answers");
        assert!(matches!(answer, Message::Opened { .. }), "{answer:?}");
        drop(ends);
    });
    let kept = keeper
        .0
        .lock()
        .expect("no thread panics while it holds the lock");
    assert_eq!((kept.opened, kept.closed), (3, 3));
}
