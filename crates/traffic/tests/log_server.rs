//! A log server over loopback: what writers send is kept, and who lies, stalls or disappears ends
//! nothing but his own log.
#![cfg(target_os = "linux")]

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use trammel_traffic::log::remote::Remote;
use trammel_traffic::log::server::{Ended, LogServer, Store};
use trammel_traffic::log::{Ending, Entry, Reader, Session, Writer};
use trammel_traffic::record::{Instants, LoggedFlow, Protocol, Record};
use trammel_traffic::signal::channel::Channel;
use trammel_traffic::signal::greet;
use trammel_traffic::signal::key::Key;
use trammel_traffic::signal::message::{Message, Wish};
use trammel_traffic::stream::Meter;

fn session(host: &str) -> Session {
    Session {
        instants: Instants::SentReceived,
        date_ns: 7,
        host: host.to_owned(),
        clock: "a clock".to_owned(),
        program: "a test".to_owned(),
        seed: 1,
    }
}

fn flow(number: u32) -> LoggedFlow {
    LoggedFlow {
        number,
        protocol: Protocol::Udp,
        from: None,
        to: None,
        name: String::new(),
    }
}

fn record(sequence: u64) -> Record {
    Record {
        flow: 0,
        sequence,
        bytes: 100,
        start_ns: 1000 * sequence as i64,
        end_ns: 1000 * sequence as i64 + 300,
    }
}

/// Logs in memory, by the host that their session names; on some there is no room.
#[derive(Default)]
struct Memory(Mutex<Vec<(String, Kept)>>);

type Kept = Arc<Mutex<Vec<u8>>>;

struct Into(Kept, usize);

impl Write for Into {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut kept = self
            .0
            .lock()
            .expect("no thread panics while it holds the lock");
        if kept.len() + bytes.len() > self.1 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        kept.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Store for Memory {
    fn begin(&self, session: &Session, _: SocketAddr) -> Result<Box<dyn Write>, String> {
        let room = match session.host.as_str() {
            "unwanted" => return Err("not you".to_owned()),
            "small" => 1000,
            _ => usize::MAX,
        };
        let kept = Kept::default();
        let mut all = self
            .0
            .lock()
            .expect("no thread panics while it holds the lock");
        all.push((session.host.clone(), kept.clone()));
        Ok(Box::new(Into(kept, room)))
    }
}

impl Memory {
    /// What is kept of a host's log.
    fn entries(&self, host: &str) -> (Vec<Entry>, Option<Ending>) {
        let all = self
            .0
            .lock()
            .expect("no thread panics while it holds the lock");
        let of: Vec<_> = all.iter().filter(|(name, _)| name == host).collect();
        assert_eq!(of.len(), 1, "one log of {host}");
        let bytes = of[0]
            .1
            .lock()
            .expect("no thread panics while it holds the lock");
        let mut reader = Reader::new(bytes.as_slice());
        let entries = reader.by_ref().map(|entry| entry.expect("it is memory"));
        (entries.collect(), reader.ending())
    }
}

/// Has the server stop, also where the work beside it panics.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` beside a log server; gives what it kept and how logs ended.
fn beside_a_server(
    key: Option<&[u8]>,
    work: impl FnOnce(SocketAddr, &AtomicBool),
) -> (Memory, Vec<Ended>) {
    let key = key.map(|key| Key::new(key).expect("the key is long enough"));
    let server = LogServer::open((Ipv4Addr::LOCALHOST, 0).into(), key).expect("loopback");
    let (stop, go_on) = (AtomicBool::new(false), AtomicBool::new(false));
    let (memory, ended) = (Memory::default(), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            server.run(&memory, &stop, &|_, end| {
                ended
                    .lock()
                    .expect("no thread panics while it holds the lock")
                    .push(end);
            })
        });
        let ends = Ends(&stop);
        work(server.address(), &go_on);
        drop(ends);
        running
            .join()
            .expect("the thread does not panic")
            .expect("it runs");
    });
    (
        memory,
        ended
            .into_inner()
            .expect("no thread panics while it holds the lock"),
    )
}

/// A channel that has said hello.
fn channel(address: SocketAddr, stop: &AtomicBool) -> Channel {
    let stream = TcpStream::connect(address).expect("the other end listens");
    let mut channel = Channel::new(stream).expect("the socket is open");
    greet::ask(&mut channel, None, greet::Opener::Us, stop).expect("it serves");
    channel
}

/// A block of a log of that host that begins it.
fn beginning(host: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    Writer::new(&mut bytes)
        .session(&session(host))
        .expect("it is memory");
    bytes
}

#[test]
fn what_is_written_is_kept_as_a_file_would_have_it() {
    let mut expected = Vec::new();
    let (memory, ended) = beside_a_server(None, |address, stop| {
        std::thread::scope(|scope| {
            for writer in 0..8 {
                scope.spawn(move || {
                    let remote = Remote::open(address, None, stop).expect("it serves");
                    let mut log = Writer::new(remote);
                    let host = format!("host {writer}");
                    log.session(&session(&host)).expect("it goes");
                    log.flow(&flow(0)).expect("it goes");
                    for sequence in 0..20_000 {
                        log.record(&record(sequence)).expect("it goes");
                    }
                    log.flush().expect("it goes");
                    log.get_mut().finish().expect("all is kept");
                });
            }
        });
        let mut log = Writer::new(&mut expected);
        log.session(&session("host 3")).expect("it goes");
        log.flow(&flow(0)).expect("it goes");
        for sequence in 0..20_000 {
            log.record(&record(sequence)).expect("it goes");
        }
    });
    let of: Vec<Entry> = Reader::new(expected.as_slice())
        .map(|entry| entry.expect("it is memory"))
        .collect();
    assert_eq!(memory.entries("host 3"), (of, Some(Ending::Whole)));
    let is_whole =
        |end: &Ended| matches!(end, Ended::Whole { bytes } if *bytes == expected.len() as u64);
    assert!(ended.len() == 8 && ended.iter().all(is_whole), "{ended:?}");
}

#[test]
fn who_lies_stalls_or_disappears_ends_only_his_own_log() {
    let (memory, ended) = beside_a_server(None, |address, stop| {
        let mut honest = Writer::new(Remote::open(address, None, stop).expect("it serves"));
        honest.session(&session("honest")).expect("it goes");
        // One is gone in the middle of a block's message.
        let mut gone = channel(address, stop);
        gone.say(&Message::Block(beginning("gone")))
            .expect("it goes");
        gone.stream()
            .write_all(&[0, 0, 1, 0, 15, 1, 2])
            .expect("the other end reads");
        drop(gone);
        // One does not go on.
        let stalled = TcpStream::connect(address).expect("the other end listens");
        // The others say what is none of a log.
        let mut damaged = beginning("damaged");
        damaged[20] ^= 1;
        let flow_first = {
            let mut bytes = Vec::new();
            Writer::new(&mut bytes)
                .flow(&flow(1))
                .expect("it is memory");
            bytes
        };
        let wish = Wish {
            protocol: Protocol::Udp,
            meter: Meter::OneWay,
            port: 0,
            name: String::new(),
        };
        for (message, said) in [
            (Message::Block(damaged), "checksum"),
            (Message::Block(Vec::new()), "begins with a session"),
            (Message::Block(flow_first), "begins with a session"),
            (Message::Block(vec![9; 90_000]), "no block"),
            (Message::Open(wish), "trammel recv"),
            (Message::Block(beginning("unwanted")), "not you"),
        ] {
            let mut liar = channel(address, stop);
            liar.say(&message).expect("it goes");
            let answer = liar.hear(Some(Duration::from_secs(5)), stop);
            let is_told = matches!(&answer, Ok(Message::Refused(why)) if why.contains(said));
            assert!(is_told, "{message:?}: {answer:?}");
        }
        honest.record(&record(0)).expect("it goes");
        honest.flush().expect("it goes");
        honest.get_mut().finish().expect("all is kept");
        drop(stalled);
    });
    assert_eq!(memory.entries("honest").0.len(), 2);
    // What came of it before is kept, and nothing of what was cut.
    let (entries, ending) = memory.entries("gone");
    assert_eq!((entries.len(), ending), (1, Some(Ending::Whole)));
    let count = |is: fn(&Ended) -> bool| ended.iter().filter(|end| is(end)).count();
    assert_eq!(
        count(|end| matches!(end, Ended::Refused { .. })),
        6,
        "{ended:?}"
    );
    assert_eq!(
        count(|end| matches!(end, Ended::Left { .. })),
        1,
        "{ended:?}"
    );
    assert_eq!(
        count(|end| matches!(end, Ended::Whole { .. })),
        1,
        "{ended:?}"
    );
}

#[test]
fn a_server_without_room_says_so_once_and_what_it_had_room_for_is_whole() {
    let (memory, ended) = beside_a_server(None, |address, stop| {
        let mut log = Writer::new(Remote::open(address, None, stop).expect("it serves"));
        log.session(&session("small")).expect("it goes");
        let mut failed = None;
        for sequence in 0..100 {
            if let Err(why) = log.record(&record(sequence)).and_then(|()| log.flush()) {
                failed = Some(why.to_string());
                break;
            }
        }
        // Told while it was written, or at the end.
        let told = failed.or(log.get_mut().finish().err().map(|why| why.to_string()));
        let told = told.expect("there is no room for a hundred");
        assert!(told.contains("cannot write"), "{told}");
    });
    assert_eq!(memory.entries("small").1, Some(Ending::Whole));
    let is_told =
        |end: &Ended| matches!(end, Ended::Refused { why, .. } if why.contains("cannot write"));
    assert!(ended.len() == 1 && ended.iter().all(is_told), "{ended:?}");
}

#[test]
fn a_server_that_disappears_or_stalls_is_not_waited_for_by_who_logs() {
    let stop = AtomicBool::new(false);
    for stalls in [false, true] {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        std::thread::scope(|scope| {
            let served = scope.spawn(|| {
                let (stream, _) = listener.accept().expect("a client connects");
                let mut channel = Channel::new(stream).expect("the socket is open");
                greet::answer(&mut channel, None, greet::Opener::Them, &stop).expect("it is right");
                stalls.then_some(channel)
            });
            let mut log = Writer::new(Remote::open(address, None, &stop).expect("it serves"));
            let kept = served.join().expect("the thread does not panic");
            let (started, mut longest) = (Instant::now(), Duration::ZERO);
            let mut ends = || {
                for sequence in 0..100_000_000 {
                    let before = Instant::now();
                    log.record(&record(sequence))?;
                    longest = longest.max(before.elapsed());
                }
                Ok::<(), trammel_traffic::log::Error>(())
            };
            let why = ends().expect_err("nobody takes it").to_string();
            let said = if stalls {
                "too slow"
            } else {
                "accepts no more"
            };
            assert!(why.contains(said), "{why}");
            assert!(
                started.elapsed() < Duration::from_secs(9),
                "it was waited for"
            );
            assert!(longest < Duration::from_secs(1), "{longest:?}");
            drop(kept);
        });
    }
}

#[test]
fn only_who_holds_the_key_writes() {
    let (right, wrong): (&[u8], &[u8]) = (b"the key of this test", b"another key of nobody");
    let (memory, _) = beside_a_server(Some(right), |address, stop| {
        let wrong = Key::new(wrong).expect("the key is long enough");
        let refused = Remote::open(address, Some(&wrong), stop);
        assert!(matches!(refused, Err(greet::Error::Stranger)));
        let refused = Remote::open(address, None, stop);
        assert!(refused.is_err_and(|why| why.to_string().contains("--key")));
        let key = Key::new(right).expect("the key is long enough");
        let mut log = Writer::new(Remote::open(address, Some(&key), stop).expect("it is right"));
        log.session(&session("right")).expect("it is taken");
        log.get_mut().finish().expect("it is kept");
    });
    assert_eq!(
        memory
            .0
            .lock()
            .expect("no thread panics while it holds the lock")
            .len(),
        1
    );
    assert_eq!(memory.entries("right").0.len(), 1);
}
