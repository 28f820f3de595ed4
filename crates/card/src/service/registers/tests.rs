use super::*;
use crate::client::Client;
use crate::protocol::{Answer, MOST_ACCESSES};
use crate::service::buffered::PATIENCE;
use crate::tables::{Row, Tables};
use proptest::prelude::*;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use trammel_netfpga::stages::{Fcs, Queue};
use trammel_netfpga::{Device, design};

/// `ROUTER_OP_LUT_NUM_WRONG_DEST_REG`.
const COUNTER: u32 = 0x200_0020;

struct Rig {
    service: RegisterService,
    card: Device,
    folder: tempfile::TempDir,
}

impl Rig {
    fn new() -> Rig {
        let folder = tempfile::tempdir().unwrap();
        let card = Device::new(design("reference-router").unwrap());
        let path = folder.path().join("registers");
        Rig {
            service: RegisterService::open(Some(&path), &card.design().map()).unwrap(),
            card,
            folder,
        }
    }

    fn connect(&self) -> UnixStream {
        let stream = UnixStream::connect(self.folder.path().join("registers")).unwrap();
        stream.set_nonblocking(true).unwrap();
        stream
    }

    fn poll(&mut self, now: Time) -> bool {
        self.service.poll(now, &mut self.card).unwrap()
    }

    /// The answers that have come to `stream`, with their tags.
    fn answers(stream: &mut UnixStream) -> Vec<(Answer, u32)> {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let mut answers = Vec::new();
        while let Some((answer, tag, length)) = Answer::parse(&bytes).unwrap() {
            bytes.drain(..length);
            answers.push((answer, tag));
        }
        assert!(bytes.is_empty());
        answers
    }

    fn ask(&mut self, stream: &mut UnixStream, request: &Request, now: Time) {
        stream.write_all(&request.bytes(1)).unwrap();
        self.poll(now);
    }
}

fn items(kind: u8, items: &[u32]) -> (Answer, u32) {
    let items = items.to_vec();
    (Answer::Items { kind, items }, 1)
}

#[test]
fn each_request_is_answered() {
    let mut rig = Rig::new();
    let mut stream = rig.connect();
    rig.ask(&mut stream, &Request::Write(vec![(COUNTER, 7)]), Time::ZERO);
    rig.ask(&mut stream, &Request::Read(vec![COUNTER, 4]), Time::ZERO);
    let accesses = vec![(COUNTER | WRITE_BIT, 9), (COUNTER, 0)];
    rig.ask(&mut stream, &Request::Access(accesses), Time::ZERO);
    rig.ask(&mut stream, &Request::Dump, Time::ZERO);
    let mut answers = Rig::answers(&mut stream);
    let Some((
        Answer::Items {
            kind: of,
            items: dump,
        },
        1,
    )) = answers.pop()
    else {
        panic!("no dump");
    };
    assert_eq!(of, kind::DUMP);
    assert_eq!(dump.len(), 2 * rig.card.design().map().all().count());
    let told = dump.chunks(2).find(|pair| pair[0] == COUNTER);
    assert_eq!(told, Some(&[COUNTER, 9][..]));
    let wanted = [
        items(kind::WRITE, &[]),
        items(kind::READ, &[7, 0xdead_beef]),
        items(kind::ACCESS, &[9, 9]),
    ];
    assert_eq!(answers, wanted);
}

#[test]
fn a_watch_tells_what_changed_once_in_its_interval() {
    let mut rig = Rig::new();
    let mut stream = rig.connect();
    let watch = Request::Watch {
        interval_ms: 100,
        addresses: vec![COUNTER, COUNTER + 4],
    };
    let at = Time::from_ms;
    rig.ask(&mut stream, &watch, at(0));
    assert_eq!(
        Rig::answers(&mut stream),
        [items(kind::WATCH, &[COUNTER, 0, COUNTER + 4, 0])]
    );
    assert_eq!(rig.service.next_timeout(), Some(at(100)));
    rig.card.write(COUNTER, 1);
    rig.poll(at(99));
    assert_eq!(Rig::answers(&mut stream), []);
    rig.card.write(COUNTER, 2);
    rig.poll(at(100));
    assert_eq!(
        Rig::answers(&mut stream),
        [items(kind::WATCH, &[COUNTER, 2])]
    );
    rig.poll(at(200));
    assert_eq!(Rig::answers(&mut stream), []);
    let end = Request::Watch {
        interval_ms: 0,
        addresses: vec![],
    };
    rig.ask(&mut stream, &end, at(201));
    assert_eq!(Rig::answers(&mut stream), [items(kind::WATCH, &[])]);
    assert_eq!(rig.service.next_timeout(), None);
}

#[test]
fn connections_are_few_and_an_idle_one_stays() {
    let mut rig = Rig::new();
    let mut streams: Vec<UnixStream> = (0..MOST_CONNECTIONS).map(|_| rig.connect()).collect();
    rig.poll(Time::ZERO);
    let mut refused = rig.connect();
    rig.poll(Time::ZERO);
    let answers = Rig::answers(&mut refused);
    let [(Answer::Refused(text), 0)] = &answers[..] else {
        panic!("{answers:?}");
    };
    assert!(text.contains("too many connections"), "{text}");
    rig.poll(Time::from_secs(1000));
    assert_eq!(rig.service.connections.len(), MOST_CONNECTIONS);
    streams.pop();
    rig.poll(Time::from_secs(1000));
    assert_eq!(rig.service.connections.len(), MOST_CONNECTIONS - 1);
}

#[test]
fn an_unfinished_request_and_an_unread_answer_are_not_waited_for_long() {
    let mut rig = Rig::new();
    let mut unfinished = rig.connect();
    unfinished.write_all(&[1, 1, 0]).unwrap();
    let mut unread = rig.connect();
    let dump = Request::Dump.bytes(1).repeat(1000);
    unread.write_all(&dump).unwrap();
    for _ in 0..100 {
        rig.poll(Time::ZERO);
    }
    assert_eq!(rig.service.connections.len(), 2);
    // However many are asked for, few answers wait.
    let output = rig.service.connections[1].buffered.waiting_bytes();
    assert!((1..256 << 10).contains(&output), "{output}");
    rig.poll(Time::ZERO.saturating_add(PATIENCE));
    assert_eq!(rig.service.connections.len(), 0);
}

#[test]
fn what_is_no_request_ends_the_connection_with_the_reason() {
    let mut rig = Rig::new();
    for (bytes, says) in [
        (&b"GET / HTTP/1.1\r\n"[..], "version 1"),
        (&[1, 99, 0, 0, 0, 0, 0, 1], "unknown request"),
        (&[1, 1, 0xff, 0xff, 0, 0, 0, 1], "too many items"),
    ] {
        let mut stream = rig.connect();
        stream.write_all(bytes).unwrap();
        rig.poll(Time::ZERO);
        let answers = Rig::answers(&mut stream);
        let [(Answer::Refused(text), _)] = &answers[..] else {
            panic!("{answers:?}");
        };
        assert!(text.contains(says), "{text}");
        assert_eq!(rig.service.connections.len(), 0);
    }
}

/// Runs `client` while a card serves it.
fn served<T: Send>(client: impl FnOnce(&mut Client) -> T + Send) -> T {
    let mut rig = Rig::new();
    let path = rig.folder.path().join("registers");
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let got = client(&mut Client::connect(&path).unwrap());
            is_done.store(true, Ordering::Relaxed);
            got
        });
        while !is_done.load(Ordering::Relaxed) && !asking.is_finished() {
            rig.poll(Time::ZERO);
        }
        asking.join().unwrap()
    })
}

#[test]
fn a_client_has_the_registers_of_the_card() {
    served(|client| {
        assert_eq!(client.design().name, "reference-router");
        client.write(COUNTER, 5);
        assert_eq!(client.read(COUNTER), 5);
        assert!(client.take_error().is_none());
        let row = Row::parse(&["arp", "3", "10.0.0.2", "2:0:0:0:0:2"]).unwrap();
        client.together(|accesses| row.write(accesses)).unwrap();
        let tables = client.together(|accesses| Tables::read(accesses)).unwrap();
        assert_eq!(tables.neighbours[3].mac, [2, 0, 0, 0, 0, 2]);
        let many =
            client.together(|accesses| (0..=MOST_ACCESSES).map(|_| accesses.read(0)).sum::<u32>());
        assert!(many.unwrap_err().to_string().contains("4096"));
        let all = client.read_many(std::iter::repeat_n(COUNTER, MOST_ACCESSES + 1));
        assert_eq!(all.unwrap(), vec![5; MOST_ACCESSES + 1]);
        let mut seen = Vec::new();
        let interval = Duration::from_millis(10);
        let watched = client.watch(&[COUNTER], interval, |changed| {
            seen.extend_from_slice(changed);
            false
        });
        watched.unwrap();
        assert_eq!(seen, [(COUNTER, 5)]);
        assert_eq!(client.read(COUNTER), 5);
        let refused = client.watch(&[COUNTER], Duration::ZERO, |_| true);
        assert!(refused.unwrap_err().to_string().contains("10 to 60000 ms"));
    });
}

#[test]
fn a_client_of_a_card_that_ended_says_so() {
    let mut client = served(|client| {
        let place = std::path::PathBuf::from(client.place());
        Client::connect(&place).unwrap()
    });
    assert_eq!(client.read(COUNTER), 0xdead_0000);
    let why = client.take_error().expect("an error").to_string();
    assert!(why.contains("the card ended"), "{why}");
}

/// A request, or any bytes; and perhaps one byte of it that is another.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    // Registers of the tables, the queues and the MACs, and addresses of nothing.
    let address = prop_oneof![
        (0_u32..0x100).prop_map(|at| 0x200_0000 + 4 * at),
        (0_u32..0x400).prop_map(|at| 0x200_1000 + 4 * at),
        (0_u32..0x10).prop_map(|at| 0x60_0000 + 4 * at),
        any::<u32>(),
    ];
    let addresses = prop::collection::vec(address, 0..12);
    let accesses = prop::collection::vec((any::<bool>(), any::<u32>()), 12);
    let request = (0_u8..6, addresses, accesses, 0_u32..120).prop_map(
        |(kind, addresses, accesses, interval_ms)| {
            let pairs = || addresses.iter().zip(&accesses);
            let request = match kind {
                0 => Request::Read(addresses),
                1 => Request::Write(pairs().map(|(at, (_, value))| (*at, *value)).collect()),
                2 => Request::Dump,
                3 => Request::Watch {
                    interval_ms,
                    addresses,
                },
                _ => {
                    let access = |(at, (is_write, value)): (&u32, &(bool, u32))| {
                        let bit = if *is_write { WRITE_BIT } else { 0 };
                        (at & !WRITE_BIT | bit, *value)
                    };
                    Request::Access(pairs().map(access).collect())
                }
            };
            request.bytes(9)
        },
    );
    let bytes = prop_oneof![
        8 => request,
        1 => prop::collection::vec(any::<u8>(), 0..40),
    ];
    (bytes, any::<prop::sample::Index>(), any::<u8>(), 0_u8..8).prop_map(
        |(mut bytes, at, byte, is_mutated)| {
            if is_mutated == 0 && !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            bytes
        },
    )
}

proptest! {
    /// Whatever comes, in whatever pieces, the service goes on and its memory is bounded.
    #[test]
    fn any_bytes_leave_the_service_in_order(
        pieces in prop::collection::vec((pieces(), 0..200_u64), 0..12),
        frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..4),
    ) {
        let mut rig = Rig::new();
        let mut stream = rig.connect();
        let mut now = Time::ZERO;
        for (piece, after_ms) in pieces {
            now = now.saturating_add(Span::from_ms(after_ms));
            let half = piece.len() / 2;
            for part in [&piece[..half], &piece[half..]] {
                let _ = stream.write_all(part);
                rig.poll(now);
            }
            for connection in &rig.service.connections {
                prop_assert!(connection.buffered.waiting_bytes() < 256 << 10);
            }
        }
        // Whatever was written to its registers, the card goes on too.
        let mut out = Vec::new();
        for frame in frames {
            rig.card.receive(Queue::mac(0), &frame, Fcs::Good);
            for queue in Queue::ALL {
                rig.card.transmit(queue, &mut out);
            }
        }
        let mut other = rig.connect();
        rig.ask(&mut other, &Request::Read(vec![4]), now);
        prop_assert_eq!(Rig::answers(&mut other), [items(kind::READ, &[0xdead_beef])]);
    }
}
