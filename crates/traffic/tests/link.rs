//! Tests of a path, both ends in one process over loopback.
#![cfg(target_os = "linux")]

use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use trammel_traffic::link::ask::Test;
use trammel_traffic::link::{Direction, Ended, Moment, Told, Wish};
use trammel_traffic::receive::hub::{Hub, Sink};
use trammel_traffic::receive::{Receiver, Settings};
use trammel_traffic::record::{LoggedFlow, Protocol, Record};
use trammel_traffic::signal::channel::Channel;
use trammel_traffic::signal::key::Key;
use trammel_traffic::signal::link::said::Said;
use trammel_traffic::signal::message::{Count, Message};

#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl Sink for Heard {
    fn flow(&mut self, _: &LoggedFlow) {}
    fn record(&mut self, _: &Record) {}
    fn closed(&mut self, _: u32, _: Count, _: Option<Count>) {}
    fn tested(&mut self, _: SocketAddr, what: &str) {
        let mut heard = self
            .0
            .lock()
            .expect("no thread panics while it holds the lock");
        heard.push(what.to_owned());
    }
}

/// Runs `client` beside a receiver, which `client` may stop.
fn beside<T>(
    key: Option<Key>,
    client: impl FnOnce(SocketAddr, &AtomicBool) -> T,
) -> (T, Vec<String>) {
    let heard = Heard::default();
    let hub = Hub::new(Box::new(heard.clone()));
    let at = "127.0.0.1:0".parse().expect("the address is well formed");
    let receiver = Receiver::open(at, Settings { key }, hub).expect("loopback has ports");
    let stop = AtomicBool::new(false);
    let done = std::thread::scope(|scope| {
        let address = receiver.address();
        let runs = scope.spawn(|| receiver.run(&stop, &|_, _| {}));
        let done = client(address, &stop);
        stop.store(true, Ordering::SeqCst);
        runs.join()
            .expect("the thread does not panic")
            .expect("it listens");
        done
    });
    let heard = heard
        .0
        .lock()
        .expect("no thread panics while it holds the lock")
        .clone();
    (done, heard)
}

fn wish(protocol: Protocol, direction: Direction) -> Wish {
    Wish {
        protocol,
        direction,
        streams: 2,
        duration: Duration::from_millis(700),
        interval: Duration::from_millis(200),
        omit: Duration::ZERO,
        bytes: 0,
        tos: 0,
        rate_bps: 4_000_000,
        datagram_bytes: 500,
        congestion: String::new(),
    }
}

fn run(at: SocketAddr, wish: &Wish, stop: &AtomicBool) -> (Ended, Vec<Moment>) {
    let go_on = AtomicBool::new(false);
    let test = Test::open(&[at], None, wish, &go_on).expect("it serves");
    let mut moments = Vec::new();
    let ended = test.run(stop, &mut |moment| moments.push(moment.clone()));
    (ended.expect("it runs"), moments)
}

#[test]
fn both_ends_count_the_same_each_way_by_both_protocols() {
    for protocol in [Protocol::Tcp, Protocol::Udp] {
        for direction in [Direction::Forward, Direction::Reverse, Direction::Both] {
            let wish = wish(protocol, direction);
            let go_on = AtomicBool::new(false);
            let ((ended, moments), heard) = beside(None, |at, _| run(at, &wish, &go_on));
            let what = format!("{protocol:?} {direction:?} {ended:?}");
            assert_eq!(ended.fault, None, "{what}");
            // 200, 400, 600 and 700 ms.
            assert_eq!(moments.len(), 4, "{what}");
            assert!(ended.after >= wish.duration, "{what}");
            for (at, is_out) in wish.ways().iter().enumerate() {
                let theirs = ended.theirs[at].expect("it has told");
                let (sent, came) = if *is_out {
                    (ended.own[at], theirs)
                } else {
                    (theirs, ended.own[at])
                };
                assert_eq!((sent.broken, came.broken), (0, 0), "{what}");
                // The two ends look at two moments that are nearly one.
                let most = sent.bytes + sent.bytes / 10;
                assert!(came.bytes > 0 && came.bytes <= most, "{what}");
                if protocol == Protocol::Udp {
                    // A busy machine has time for fewer.
                    assert!((1..=700).contains(&sent.packets), "{what}");
                    assert_eq!(came.packets + came.lost, sent.packets, "{what}");
                    assert_eq!(came.delays, came.packets, "{what}");
                } else {
                    assert!(sent.cwnd_bytes > 0 && sent.rtt_us > 0, "{what}");
                    // 4 Mbit/s, and no more than what a busy machine lets through.
                    assert!(sent.bytes <= 352_000, "{what}");
                }
                let last = moments.last().expect("there are four");
                assert!(last.own[at].bytes <= ended.own[at].bytes, "{what}");
            }
            assert_eq!(heard.len(), 1, "{heard:?}");
            assert!(!heard[0].contains("early"), "{heard:?}");
        }
    }
}

#[test]
fn a_number_of_bytes_ends_it_at_both_ends_when_all_have_come() {
    const BYTES: u64 = 100_000;
    for protocol in [Protocol::Tcp, Protocol::Udp] {
        for direction in [Direction::Forward, Direction::Reverse] {
            for omit in [Duration::ZERO, Duration::from_millis(300)] {
                let wish = Wish {
                    duration: Duration::from_secs(3600),
                    bytes: BYTES,
                    omit,
                    ..wish(protocol, direction)
                };
                let go_on = AtomicBool::new(false);
                let ((ended, moments), _) = beside(None, |at, _| run(at, &wish, &go_on));
                let what = format!("{protocol:?} {direction:?} {omit:?} {ended:?}");
                assert_eq!(ended.fault, None, "{what}");
                let theirs: Vec<_> = ended.theirs.iter().flatten().copied().collect();
                let (sent, came) = match direction {
                    Direction::Forward => (&ended.own, &theirs),
                    _ => (&theirs, &ended.own),
                };
                let bytes = |of: &[Told]| of.iter().map(|told| told.bytes).sum::<u64>();
                let lost: u64 = came.iter().map(|told| told.lost * 500).sum();
                assert_eq!(bytes(came) + lost, bytes(sent), "{what}");
                assert!(
                    sent.iter().chain(came).all(|told| told.broken == 0),
                    "{what}"
                );
                if omit.is_zero() {
                    assert_eq!(bytes(sent), BYTES, "{what}");
                } else {
                    // What came before it counted is not of them.
                    assert!(bytes(sent) > BYTES && ended.after > omit, "{what}");
                    assert_eq!(moments[1].at.min(omit), omit, "{what}");
                }
            }
        }
    }
}

#[test]
fn who_stops_it_ends_it_at_both_ends_and_another_may_follow() {
    let long = Wish {
        duration: Duration::from_secs(3600),
        ..wish(Protocol::Tcp, Direction::Both)
    };
    let ((), heard) = beside(None, |at, _| {
        let stop = AtomicBool::new(false);
        let begun = Instant::now();
        let (ended, moments) = std::thread::scope(|scope| {
            let running = scope.spawn(|| run(at, &long, &stop));
            // Not before it runs.
            while TcpStream::connect(at).is_ok() && begun.elapsed() < Duration::from_millis(500) {
                std::thread::yield_now();
            }
            stop.store(true, Ordering::SeqCst);
            running.join().expect("the thread does not panic")
        });
        assert_eq!(ended.fault, None);
        assert!(!moments.is_empty() && begun.elapsed() < Duration::from_secs(60));
        let (again, _) = run(
            at,
            &wish(Protocol::Udp, Direction::Forward),
            &AtomicBool::new(false),
        );
        assert_eq!(again.fault, None);
    });
    assert_eq!(heard.len(), 2, "{heard:?}");
    assert!(heard[0].contains("early"), "{heard:?}");
}

#[test]
fn a_receiver_that_goes_ends_the_test_and_what_came_by_then_is_kept() {
    let long = Wish {
        duration: Duration::from_secs(3600),
        ..wish(Protocol::Tcp, Direction::Forward)
    };
    let (ended, _) = beside(None, |at, receivers_stop| {
        let (go_on, seen) = (AtomicBool::new(false), AtomicU64::new(0));
        let test = Test::open(&[at], None, &long, &go_on).expect("it serves");
        let ended = test.run(&go_on, &mut |_| {
            seen.fetch_add(1, Ordering::SeqCst);
            receivers_stop.store(true, Ordering::SeqCst);
        });
        (ended.expect("it has begun"), seen.into_inner())
    });
    let (ended, seen) = ended;
    assert!(seen >= 1);
    assert!(ended.fault.is_some(), "{ended:?}");
    assert!(
        ended.theirs.iter().flatten().any(|told| told.bytes > 0),
        "{ended:?}"
    );
}

#[test]
fn one_test_runs_at_a_time_and_strangers_carry_nothing() {
    let ((), _) = beside(None, |at, _| {
        let go_on = AtomicBool::new(false);
        let one = wish(Protocol::Tcp, Direction::Forward);
        let first = Test::open(&[at], None, &one, &go_on).expect("it serves");
        let second = Test::open(&[at], None, &one, &go_on).expect_err("it is busy");
        assert!(second.to_string().contains("another test"), "{second}");
        // A connection that no test waits for.
        let stream = TcpStream::connect(at).expect("the other end listens");
        let mut channel = Channel::new(stream).expect("the socket is open");
        let attach = Message::Link(Said::Attach {
            token: [7; 16],
            stream: 0,
        });
        channel.say(&attach).expect("it is open");
        let heard = channel.hear(Some(Duration::from_secs(10)), &go_on);
        assert!(matches!(heard, Ok(Message::Refused(_))), "{heard:?}");
        assert_eq!(
            first
                .run(&go_on, &mut |_| {})
                .expect("the run succeeds")
                .fault,
            None
        );
        let wrong = Wish { streams: 0, ..one };
        assert!(Test::open(&[at], None, &wrong, &go_on).is_err());
    });
    let key = Key::new(b"a key of sixteen.").expect("the key is long enough");
    let ((), heard) = beside(Some(key.clone()), |at, _| {
        let go_on = AtomicBool::new(false);
        let one = wish(Protocol::Tcp, Direction::Reverse);
        assert!(Test::open(&[at], None, &one, &go_on).is_err());
        let test = Test::open(&[at], Some(&key), &one, &go_on).expect("it has the key");
        assert_eq!(
            test.run(&go_on, &mut |_| {})
                .expect("the run succeeds")
                .fault,
            None
        );
    });
    assert_eq!(heard.len(), 1, "{heard:?}");
}
