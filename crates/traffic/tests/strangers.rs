//! Peers that greet as they should and then say anything, in any order: each role goes on serving
//! others.
#![cfg(target_os = "linux")]

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use trammel_core::rng::Rng;
use trammel_traffic::log::server::{LogServer, Store};
use trammel_traffic::log::{Session, Writer, remote::Remote};
use trammel_traffic::receive::hub::{Hub, Sink};
use trammel_traffic::receive::{Receiver, Settings};
use trammel_traffic::record::{Instants, LoggedFlow, Protocol, Record};
use trammel_traffic::send::ordering::order;
use trammel_traffic::send::orders::{Came, Daemon, Limits, Worker};
use trammel_traffic::send::session::Session as Sending;
use trammel_traffic::signal::channel::Channel;
use trammel_traffic::signal::greet;
use trammel_traffic::signal::message::{Count, Message, Wish};
use trammel_traffic::stream::Meter;

/// Conversations with each role.
const CONVERSATIONS: usize = 150;

struct Nowhere;

impl Sink for Nowhere {
    fn flow(&mut self, _: &LoggedFlow) {}
    fn record(&mut self, _: &Record) {}
    fn closed(&mut self, _: u32, _: Count, _: Option<Count>) {}
}

impl Store for Nowhere {
    fn begin(&self, _: &Session, _: SocketAddr) -> Result<Box<dyn io::Write>, String> {
        Ok(Box::new(io::sink()))
    }
}

impl Worker for Nowhere {
    type Flow = usize;

    fn understand(&self, words: &str, _: usize) -> Result<usize, String> {
        (words.len() < 20)
            .then_some(words.len())
            .ok_or_else(|| "too much".to_owned())
    }

    /// Works for a while, as senders do.
    fn work(&self, flows: Vec<usize>, _: bool, stop: &AtomicBool, sent: &AtomicU64) -> Came {
        for _ in 0..20 {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
            sent.fetch_add(flows.len() as u64, Ordering::Relaxed);
        }
        Came {
            text: "ä\n".repeat(5000),
            code: 0,
            note: String::new(),
        }
    }
}

fn a_block(host: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let session = Session {
        instants: Instants::DueSent,
        date_ns: 0,
        host: host.to_owned(),
        clock: String::new(),
        program: String::new(),
        seed: 0,
    };
    let written = Writer::new(&mut bytes).session(&session);
    written.expect("it is memory");
    bytes
}

fn below(rng: &mut Rng, n: u64) -> u64 {
    rng.below(n)
}

/// Any message, likely ones most of the time.
fn any(rng: &mut Rng) -> Message {
    let number = below(rng, 3) as u32;
    let count = Count {
        packets: below(rng, 5),
        bytes: u64::MAX,
        lost: u64::MAX,
        unattributed: u64::MAX,
        duplicates: 0,
    };
    let wish = Wish {
        protocol: [Protocol::Udp, Protocol::Tcp, Protocol::Dccp][below(rng, 3) as usize],
        meter: Meter::OneWay,
        port: 0,
        name: "stranger".to_owned(),
    };
    let token = [9; 16];
    match below(rng, 18) {
        0 => Message::Hello {
            version: 1,
            nonce: [1; 16],
            proof: None,
        },
        1 => Message::Proof([3; 32]),
        2 => Message::Open(wish),
        3 => Message::Opened { number, port: 1 },
        4 => Message::Refused("no".to_owned()),
        5 => Message::Close {
            number,
            sent: count,
        },
        6 => Message::Closed {
            number,
            received: count,
        },
        7 => Message::Fetch {
            wish,
            port: 1,
            token,
        },
        8 | 9 => Message::Order("x".repeat(below(rng, 30) as usize)),
        10 => Message::Ordered,
        11 => Message::Start { json: true },
        12 => Message::Progress { packets: u64::MAX },
        13 => Message::Part("\n".to_owned()),
        14 => Message::Block(a_block("stranger")),
        15 => Message::Block(vec![below(rng, 256) as u8; below(rng, 40_000) as usize]),
        16 => Message::Over,
        _ => Message::Here,
    }
}

/// Talks to who serves at `address` as a stranger does.
fn talk(address: SocketAddr, rng: &mut Rng, stop: &AtomicBool) {
    let mut channel = Channel::new(TcpStream::connect(address).expect("the other end listens"))
        .expect("the socket is open");
    if below(rng, 8) > 0 {
        greet::ask(&mut channel, None, greet::Opener::Us, stop).expect("it greets");
    }
    for _ in 0..below(rng, 12) {
        // It may have hung up, and rightly.
        if channel.say(&any(rng)).is_err() {
            return;
        }
        if below(rng, 4) == 0 {
            let _ = channel.hear(Some(Duration::from_millis(20)), stop);
        }
    }
    if below(rng, 4) == 0 {
        let noise: Vec<u8> = (0..40).map(|_| below(rng, 256) as u8).collect();
        let _ = io::Write::write_all(&mut channel.stream(), &noise);
    }
}

/// Has strangers talk to who serves at `address`, ten at a time.
fn strangers(address: SocketAddr, stop: &AtomicBool) {
    std::thread::scope(|scope| {
        for stranger in 0..10 {
            scope.spawn(move || {
                let mut rng = Rng::new(stranger, "strangers");
                for _ in 0..CONVERSATIONS / 10 {
                    talk(address, &mut rng, stop);
                }
            });
        }
    });
}

/// Has the other side stop, also where the work beside it panics.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Serves by `serve` while `work` goes on.
fn beside(
    serve: impl FnOnce(&AtomicBool) -> io::Result<()> + Send,
    work: impl FnOnce(&AtomicBool),
) {
    let (stop, go_on) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let running = scope.spawn(|| serve(&stop));
        let ends = Ends(&stop);
        work(&go_on);
        drop(ends);
        running
            .join()
            .expect("the thread does not panic")
            .expect("it runs");
    });
}

fn loopback() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

#[test]
fn a_receiver_goes_on() {
    let hub = Hub::new(Box::new(Nowhere));
    let receiver = Receiver::open(loopback(), Settings::default(), hub).expect("loopback");
    beside(
        |stop| receiver.run(stop, &|_, _| {}),
        |go_on| {
            strangers(receiver.address(), go_on);
            let mut session = Sending::open(receiver.address(), None, go_on).expect("it serves");
            let wish = Wish {
                protocol: Protocol::Udp,
                meter: Meter::OneWay,
                port: 0,
                name: String::new(),
            };
            let (number, _) = session
                .open_flow(wish, go_on)
                .expect("the flow can be opened");
            session
                .close_flow(number, Count::default())
                .expect("the flow is open");
        },
    );
}

#[test]
fn a_log_server_goes_on() {
    let server = LogServer::open(loopback(), None).expect("loopback");
    beside(
        |stop| server.run(&Nowhere, stop, &|_, _| {}),
        |go_on| {
            strangers(server.address(), go_on);
            let mut log = Remote::open(server.address(), None, go_on).expect("it serves");
            io::Write::write_all(&mut log, &a_block("honest")).expect("it goes");
            log.finish().expect("it is kept");
        },
    );
}

#[test]
fn a_sender_under_orders_goes_on_and_has_room_again() {
    let limits = Limits {
        flows: 5,
        time: Duration::from_secs(5),
    };
    let daemon = Daemon::open(loopback(), None, limits).expect("loopback");
    beside(
        |stop| daemon.run(&Nowhere, stop, &|_, _| {}),
        |go_on| {
            strangers(daemon.address(), go_on);
            // What strangers had ordered ends soon after they have left.
            std::thread::sleep(Duration::from_millis(500));
            let lines = vec!["five".to_owned(); 5];
            let at = (daemon.address(), None);
            let came = order(at, &lines, false, go_on, &mut |_| {}).expect("it does so");
            assert_eq!((came.text.len(), came.code), (15_000, 0));
            let lines = vec!["six".to_owned(); 6];
            let refused = order(at, &lines, false, go_on, &mut |_| {});
            let why = refused.expect_err("there is no room").to_string();
            assert!(why.contains("5 flows"), "{why}");
        },
    );
}

#[test]
fn what_takes_too_long_is_ended() {
    let limits = Limits {
        flows: 5,
        time: Duration::from_millis(1),
    };
    let daemon = Daemon::open(loopback(), None, limits).expect("loopback");
    beside(
        |stop| daemon.run(&Nowhere, stop, &|_, _| {}),
        |go_on| {
            let lines = vec!["one".to_owned()];
            let came = order((daemon.address(), None), &lines, false, go_on, &mut |_| {});
            let came = came.expect("it does so");
            assert!(came.note.contains("longest sending time"), "{}", came.note);
        },
    );
}
