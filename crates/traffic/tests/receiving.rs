//! A receiver of slow connections, of more than it has room for, and of strangers that want its
//! key.
#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};
use trammel_traffic::receive::hub::{Hub, Sink};
use trammel_traffic::receive::{Receiver, Settings};
use trammel_traffic::record::{LoggedFlow, Protocol, Record};
use trammel_traffic::send::session::Session;
use trammel_traffic::send::tcp::Tcp;
use trammel_traffic::send::waiting::Waiting;
use trammel_traffic::send::{Carrier, Packet};
use trammel_traffic::signal::channel::Channel;
use trammel_traffic::signal::key::Key;
use trammel_traffic::signal::message::{Count, Message, Wish};
use trammel_traffic::stamp::Stamp;
use trammel_traffic::stream::Meter;

/// A sink that holds up whoever gives to it while it is shut.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    fn shut(&self, is_shut: bool) {
        *self
            .0
            .0
            .lock()
            .expect("no thread panics while it holds the lock") = is_shut;
        self.0.1.notify_all();
    }
}

impl Sink for Gate {
    fn flow(&mut self, _: &LoggedFlow) {}

    fn record(&mut self, _: &Record) {
        let shut = self
            .0
            .0
            .lock()
            .expect("no thread panics while it holds the lock");
        drop(self.0.1.wait_while(shut, |shut| *shut));
    }

    fn closed(&mut self, _: u32, _: Count, _: Option<Count>) {}
}

/// Has the other side stop, also where the work beside it panics.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn loopback() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

/// Runs `work` beside a receiver at loopback.
fn beside_a_receiver(
    key: Option<Key>,
    sink: impl Sink + 'static,
    work: impl FnOnce(SocketAddr, &AtomicBool),
) {
    let hub = Hub::new(Box::new(sink));
    let receiver = Receiver::open(loopback(), Settings { key }, hub).expect("loopback has ports");
    let (stop, go_on) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let running = scope.spawn(|| receiver.run(&stop, &|_, _| {}));
        let ends = Ends(&stop);
        work(receiver.address(), &go_on);
        drop(ends);
        running
            .join()
            .expect("the thread does not panic")
            .expect("it runs");
    });
}

fn open(session: &mut Session, protocol: Protocol, stop: &AtomicBool) -> (u32, SocketAddr) {
    let wish = Wish {
        protocol,
        meter: Meter::OneWay,
        port: 0,
        name: String::new(),
    };
    let (number, port) = session
        .open_flow(wish, stop)
        .expect("the flow can be opened");
    (number, (Ipv4Addr::LOCALHOST, port).into())
}

fn stamp(flow: u32, sequence: u64) -> Stamp {
    Stamp {
        flow,
        sequence,
        sent_ns: 0,
    }
}

/// Sends so many messages of 1000 bytes of a flow by a connection to `to`, and closes it.
fn send_messages(to: SocketAddr, number: u32, count: u64, stop: &AtomicBool) -> Count {
    let mut tcp = Tcp::new(
        TcpStream::connect(to).expect("the other end listens"),
        number,
    )
    .expect("it goes");
    let packets: Vec<_> = (0..count)
        .map(|sequence| Packet {
            stamp: stamp(number, sequence),
            bytes: 1000,
        })
        .collect();
    tcp.hand_over(&packets, stop).expect("it goes");
    Count {
        packets: count,
        bytes: 1000 * count,
        ..Count::default()
    }
}

/// A relay of one connection to `to` that hands on `each` bytes every tenth of a second, so many
/// times, and then hangs up.
fn relay(to: SocketAddr, each: usize, times: usize) -> SocketAddr {
    let listener = TcpListener::bind(loopback()).expect("loopback has a free port");
    let at = listener
        .local_addr()
        .expect("a bound socket has an address");
    std::thread::spawn(move || {
        let (mut inner, _) = listener.accept().expect("a client connects");
        let mut outer = TcpStream::connect(to).expect("the other end listens");
        outer.set_nodelay(true).expect("it is one of TCP");
        let mut bytes = Vec::new();
        inner.read_to_end(&mut bytes).expect("it comes");
        for part in bytes.chunks(each).take(times) {
            outer.write_all(part).expect("the other end reads");
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    at
}

#[test]
fn a_slow_connection_is_read_to_its_end_and_one_that_ends_is_not_waited_for() {
    beside_a_receiver(None, Gate::default(), |address, stop| {
        let mut session = Session::open(address, None, stop).expect("it serves");
        // 100 kB that take 7 s after their sender is done.
        let (number, to) = open(&mut session, Protocol::Tcp, stop);
        let sent = send_messages(relay(to, 1430, usize::MAX), number, 100, stop);
        let started = Instant::now();
        let received = session.close_flow(number, sent).expect("the flow is open");
        assert_eq!(received, sent, "after {:?}", started.elapsed());
        assert!(started.elapsed() > Duration::from_secs(5), "it was no test");
        // The other end of this one goes away in the middle of the second message.
        let (number, to) = open(&mut session, Protocol::Tcp, stop);
        let sent = send_messages(relay(to, 1600, 1), number, 100, stop);
        let started = Instant::now();
        let received = session.close_flow(number, sent).expect("the flow is open");
        assert_eq!(received.packets, 1);
        assert!(
            started.elapsed() < Duration::from_secs(4),
            "it was waited for"
        );
    });
}

/// Sends datagrams of a flow until its receiver has no room for more.
fn overflow(number: u32, to: SocketAddr) -> Count {
    let socket = UdpSocket::bind(loopback()).expect("loopback has a free port");
    let mut bytes = vec![0; 60_000];
    let mut count = Count::default();
    // More than the largest buffer of a receiver.
    for sequence in 0..1500 {
        bytes[..16].copy_from_slice(&stamp(number, sequence).write());
        socket
            .send_to(&bytes, to)
            .expect("the datagram can be sent");
        count.packets += 1;
        count.bytes += bytes.len() as u64;
    }
    count
}

#[test]
fn what_there_was_no_room_for_is_told_of_the_flow_whose_it_is() {
    let gate = Gate::default();
    beside_a_receiver(None, gate.clone(), |address, stop| {
        let mut session = Session::open(address, None, stop).expect("it serves");
        let (first, to) = open(&mut session, Protocol::Udp, stop);
        gate.shut(true);
        let sent = overflow(first, to);
        gate.shut(false);
        let came = session.close_flow(first, sent).expect("the flow is open");
        assert!(came.lost > 0, "it had room for all: it was no test");
        assert_eq!(came.packets + came.lost, sent.packets);
        assert_eq!(came.unattributed, 0);
        // The next one on the same socket has lost nothing.
        let (next, to) = open(&mut session, Protocol::Udp, stop);
        let socket = UdpSocket::bind(loopback()).expect("loopback has a free port");
        let one = stamp(next, 0).write();
        socket.send_to(&one, to).expect("the datagram can be sent");
        let sent = Count {
            packets: 1,
            bytes: 16,
            ..Count::default()
        };
        let came = session.close_flow(next, sent).expect("the flow is open");
        assert_eq!(came, sent);
        // Of two at once nobody can tell whose it was.
        let (one, to) = open(&mut session, Protocol::Udp, stop);
        let (other, also) = open(&mut session, Protocol::Udp, stop);
        assert_eq!(to, also);
        gate.shut(true);
        let sent = overflow(one, to);
        gate.shut(false);
        let came = session.close_flow(one, sent).expect("the flow is open");
        assert_eq!(came.lost, 0);
        assert_eq!(came.packets + came.unattributed, sent.packets);
        let none = session.close_flow(other, Count::default());
        let none = none.expect("it closes");
        assert_eq!((none.lost, none.unattributed), (0, came.unattributed));
    });
}

/// What an end that listens says to one that greets as if it held the key, and proves with nonsense
/// or not at all.
fn said_to_a_stranger(address: SocketAddr, begins: Option<Message>, proves: bool) -> Vec<Message> {
    let go_on = AtomicBool::new(false);
    let mut channel = Channel::new(TcpStream::connect(address).expect("the other end listens"))
        .expect("the socket is open");
    if let Some(first) = begins {
        channel.say(&first).expect("it goes");
    }
    let hello = Message::Hello {
        version: trammel_traffic::signal::VERSION,
        nonce: [1; 16],
        proof: Some([0; 32]),
    };
    channel.say(&hello).expect("it goes");
    if proves {
        channel.say(&Message::Proof([2; 32])).expect("it goes");
    }
    let mut said = Vec::new();
    // Long enough for all that it says without being asked.
    while let Ok(message) = channel.hear(Some(Duration::from_secs(1)), &go_on) {
        said.push(message);
    }
    said
}

fn has_a_code(said: &[Message]) -> bool {
    said.iter().any(|message| match message {
        Message::Hello { proof, .. } => proof.is_some_and(|proof| proof != [0; 32]),
        Message::Proof(_) => true,
        _ => false,
    })
}

#[test]
fn who_listens_gives_no_code_of_its_key_to_who_has_not_proven_first() {
    let key = Key::new(b"the key of this test").expect("the key is long enough");
    beside_a_receiver(Some(key.clone()), Gate::default(), |address, stop| {
        for proves in [false, true] {
            let said = said_to_a_stranger(address, None, proves);
            assert!(matches!(said[0], Message::Hello { .. }), "{said:?}");
            assert!(!has_a_code(&said), "{said:?}");
        }
        Session::open(address, Some(&key), stop).expect("it is the key");
    });
    // A sender that waits is one that listens, too.
    let waiting = Waiting::open(loopback()).expect("loopback has ports");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let ends = Ends(&stop);
        scope.spawn(|| waiting.session(Some(&key), &stop));
        for proves in [false, true] {
            let said = said_to_a_stranger(waiting.address(), Some(Message::Here), proves);
            assert!(matches!(said[0], Message::Hello { .. }), "{said:?}");
            assert!(!has_a_code(&said), "{said:?}");
        }
        drop(ends);
    });
}
