//! What is counted by sequence number, and streams that end in time.
#![cfg(target_os = "linux")]

use std::io::Read;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use trammel_core::time::{Span, Time};
use trammel_io::clock::monotonic_ns;
use trammel_traffic::pace::Wait;
use trammel_traffic::receive::hub::{Hub, Sink};
use trammel_traffic::receive::{Receiver, Settings};
use trammel_traffic::record::{LoggedFlow, Protocol, Record};
use trammel_traffic::send::session::Session;
use trammel_traffic::send::tcp::Tcp;
use trammel_traffic::send::udp::{Mechanism, Udp};
use trammel_traffic::send::{self, Carrier, Lane, Sent};
use trammel_traffic::signal::message::{Count, Wish};
use trammel_traffic::stamp::Stamp;
use trammel_traffic::stream::{Departure, Late, Limits, Meter, Plan, Source, Stream};

struct Nobody;

impl Sink for Nobody {
    fn flow(&mut self, _: &LoggedFlow) {}
    fn record(&mut self, _: &Record) {}
    fn closed(&mut self, _: u32, _: Count, _: Option<Count>) {}
}

/// A path that drops every tenth packet and doubles every tenth one.
#[test]
fn losses_and_copies_do_not_make_up_for_each_other() {
    let at = "127.0.0.1:0".parse().expect("the address is well formed");
    let receiver = Receiver::open(at, Settings::default(), Hub::new(Box::new(Nobody)));
    let receiver = receiver.expect("loopback has ports");
    let (stop, go_on) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let runs = scope.spawn(|| receiver.run(&stop, &|_, _| {}));
        let mut session = Session::open(receiver.address(), None, &go_on).expect("it is there");
        let wish = Wish {
            protocol: Protocol::Udp,
            meter: Meter::OneWay,
            port: 0,
            name: String::new(),
        };
        let (number, port) = session
            .open_flow(wish, &go_on)
            .expect("the flow can be opened");
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback has a free port");
        let packet = |sequence| {
            let stamp = Stamp {
                flow: number,
                sequence,
                sent_ns: 1,
            };
            let to = ("127.0.0.1", port);
            socket
                .send_to(&stamp.write(), to)
                .expect("the datagram can be sent");
        };
        for sequence in 0..2000 {
            match sequence % 10 {
                3 => {}
                7 => [sequence; 2].into_iter().for_each(packet),
                _ => packet(sequence),
            }
        }
        let sent = Count {
            packets: 2000,
            bytes: 32_000,
            ..Count::default()
        };
        let came = session.close_flow(number, sent).expect("it tells");
        assert_eq!((came.packets, came.bytes), (1800, 28_800));
        assert_eq!((came.duplicates, came.lost), (200, 0));
        stop.store(true, Ordering::SeqCst);
        runs.join()
            .expect("the thread does not panic")
            .expect("it listens");
    });
}

#[derive(Debug)]
struct Every {
    gap: Span,
    bytes: u32,
}

impl Source for Every {
    fn plan(&self, _: u64) -> Plan {
        let (gap, bytes) = (self.gap.as_ps(), self.bytes);
        Box::new((0_u64..).map(move |at| Departure {
            at: Time::from_ps(at * gap),
            bytes,
        }))
    }
}

fn stream(protocol: Protocol, gap: Span, bytes: u32, duration: Span) -> Stream {
    Stream {
        name: String::new(),
        protocol,
        source: Box::new(Every { gap, bytes }),
        start: Time::ZERO,
        limits: Limits {
            duration: Some(duration),
            ..Limits::default()
        },
        seed: 1,
        meter: Meter::OneWay,
        late: Late::Burst,
        ds: None,
        ttl: None,
    }
}

fn sent(stream: &Stream, carrier: Box<dyn Carrier>) -> (Sent, Duration) {
    let begun = Instant::now();
    let mut lanes = [Lane::new(stream, 1, carrier, monotonic_ns())];
    send::send(
        &mut lanes,
        Wait::Sleep,
        &AtomicBool::new(false),
        &mut |_| {},
    );
    let took = begun.elapsed();
    let [lane] = lanes;
    (lane.sent(), took)
}

#[test]
fn who_cannot_send_all_stops_in_time_and_says_what_was_not_sent() {
    // A hundred million packets a second, for a fifth of one.
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback has a free port");
    let own = socket.local_addr().expect("a bound socket has an address");
    socket.connect(own).expect("it is there");
    let fast = stream(Protocol::Udp, Span::from_ns(10), 16, Span::from_ms(200));
    let udp = Udp::new(socket, &fast, Mechanism::Calls).expect("it is a socket");
    let (count, took) = sent(&fast, Box::new(udp));
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert!(count.fault.is_none() && count.count.packets > 0);
    assert!(count.unsent_more || count.unsent + count.count.packets == 20_000_000);
    assert!(count.unsent > 0);

    // A receiver that reads nothing but the beginning.
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let at = listener
        .local_addr()
        .expect("a bound socket has an address");
    let connection = TcpStream::connect(at).expect("the other end listens");
    let (mut held, _) = listener.accept().expect("a client connects");
    let full = stream(
        Protocol::Tcp,
        Span::from_us(10),
        100_000,
        Span::from_ms(300),
    );
    let tcp = Tcp::new(connection, 1).expect("it is open");
    let (count, took) = sent(&full, Box::new(tcp));
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert!(count.fault.is_none());
    assert_eq!(count.unsent + count.count.packets, 30_000);
    // What was counted is what can be read whole.
    let mut bytes = Vec::new();
    held.read_to_end(&mut bytes).expect("it was closed");
    let whole = (bytes.len() as u64 - 16) / 100_000;
    assert_eq!(count.count.packets, whole);
}
