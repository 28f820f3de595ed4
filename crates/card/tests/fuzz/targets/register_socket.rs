//! Whatever a client of the register socket sends, and in whatever pieces: each request is answered
//! once and in its order, what is none ends the connection with the reason, and the card goes on.
//!
//! The first byte chooses the design; then come steps.

use super::client::{Client, steps};
use trammel_card::service::registers::RegisterService;
use trammel_core::{Span, Time};
use trammel_netfpga::stages::{Fcs, Queue};
use trammel_netfpga::{Device, design};

const DESIGNS: [&str; 5] = [
    "reference-router",
    "reference-nic",
    "reference-switch",
    "buffer-sizing",
    "packet-generator",
];

/// The protocol as `docs/netfpga-registers.md` has it; no code is shared with the crate.
const READ: u8 = 1;
const WRITE: u8 = 2;
const DUMP: u8 = 3;
const WATCH: u8 = 4;
const ACCESS: u8 = 5;
const REFUSED: u8 = 0x80;
const BAD_INTERVAL: u8 = 0x85;
/// Rounds of the card until it has nothing to do, at most.
const MOST_ROUNDS: usize = 10_000;
/// Frames that are taken from each queue in a round, at most.
const MOST_FRAMES: usize = 256;

/// An answer: kind, tag and number of items; of a refusal's text the length is not told.
type Answer = (u8, u32, usize);

fn word(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(bytes.try_into().expect("four bytes"))
}

/// The answers to `sent` but those of watches, and whether the last ends the connection.
fn expected(mut sent: &[u8], registers: usize) -> (Vec<Answer>, bool) {
    let mut answers = Vec::new();
    loop {
        if sent.first().is_some_and(|version| *version != 1) {
            answers.push((REFUSED | 1, 0, 0));
            return (answers, true);
        }
        let [_, kind, high, low, a, b, c, d, items @ ..] = sent else {
            return (answers, false);
        };
        let tag = u32::from_be_bytes([*a, *b, *c, *d]);
        let count = usize::from(u16::from_be_bytes([*high, *low]));
        let (bytes, most) = match *kind {
            READ => (4, 4096),
            WRITE | ACCESS => (8, 4096),
            DUMP => (0, 0),
            WATCH => (4, 1025),
            _ => {
                answers.push((REFUSED | 2, tag, 0));
                return (answers, true);
            }
        };
        if count > most {
            answers.push((REFUSED | 3, tag, 0));
            return (answers, true);
        }
        let Some((items, rest)) = items.split_at_checked(bytes * count) else {
            return (answers, false);
        };
        sent = rest;
        match *kind {
            READ | ACCESS => answers.push((*kind, tag, count)),
            WRITE => answers.push((WRITE, tag, 0)),
            DUMP => answers.push((DUMP, tag, registers)),
            _ if count > 1 && !(10..=60_000).contains(&word(&items[..4])) => {
                answers.push((BAD_INTERVAL, tag, 0));
            }
            _ => {}
        }
    }
}

/// The answers in `got` but those of watches.
fn answers(mut got: &[u8]) -> Vec<Answer> {
    let mut answers = Vec::new();
    while let [version, kind, high, low, a, b, c, d, items @ ..] = got {
        assert_eq!(*version, 1);
        let tag = u32::from_be_bytes([*a, *b, *c, *d]);
        let count = usize::from(u16::from_be_bytes([*high, *low]));
        let length = match *kind {
            READ | WRITE | ACCESS => 4 * count,
            DUMP | WATCH => 8 * count,
            _ => count,
        };
        let Some((items, rest)) = items.split_at_checked(length) else {
            return answers;
        };
        got = rest;
        match *kind {
            WATCH => assert!(count <= 1024),
            READ..=ACCESS => answers.push((*kind, tag, count)),
            _ => {
                let text = std::str::from_utf8(items).expect("a reason is text");
                assert!(!text.is_empty() && *kind > REFUSED && *kind <= BAD_INTERVAL);
                answers.push((*kind, tag, 0));
            }
        }
    }
    answers
}

/// A card with its socket.
struct Rig {
    device: Device,
    service: RegisterService,
    now: Time,
    frame: Vec<u8>,
}

impl Rig {
    /// Rounds until there is nothing to do for `client`.
    fn serve(&mut self, client: &mut Client) {
        for _ in 0..MOST_ROUNDS {
            self.device.set_time(self.now);
            let polled = self.service.poll(self.now, &mut self.device);
            let before = client.got.len();
            client.read();
            for queue in Queue::ALL {
                for _ in 0..MOST_FRAMES {
                    if !self.device.transmit(queue, &mut self.frame) {
                        break;
                    }
                }
            }
            if !polled.expect("it has no listener") && client.got.len() == before {
                return;
            }
        }
        panic!("there is always something to do");
    }
}

pub(crate) fn run(bytes: &[u8]) {
    let [first, bytes @ ..] = bytes else {
        return;
    };
    let name = DESIGNS[usize::from(*first) % DESIGNS.len()];
    let device = Device::new(design(name).expect("there is such a design"));
    let map = device.design().map();
    let registers = map.all().count();
    let mut rig = Rig {
        service: RegisterService::open(None, &map).expect("it needs nothing"),
        device,
        now: Time::ZERO,
        frame: Vec::new(),
    };
    let (mut client, theirs) = Client::pair();
    rig.service.serve(theirs);
    let mut sent = Vec::new();
    for (mut piece, wait_ms) in steps(bytes) {
        // What the registers say is done to something.
        for queue in Queue::ALL {
            rig.device.receive(queue, &[0xff; 60], Fcs::Good);
        }
        while !piece.is_empty() && !client.is_over {
            let count = client.send(piece);
            sent.extend_from_slice(&piece[..count]);
            piece = &piece[count..];
            rig.serve(&mut client);
        }
        rig.now += Span::from_ms(wait_ms);
        rig.serve(&mut client);
    }
    let (expected, ends) = expected(&sent, registers);
    let got = answers(&client.got);
    // A request that stays unfinished for ten seconds ends the connection too.
    let may_be_late = rig.now >= Time::from_secs(10);
    if client.is_over && may_be_late {
        assert!(expected.starts_with(&got), "{got:?}, not {expected:?}");
    } else {
        assert_eq!(got, expected);
        assert_eq!(client.is_over, ends);
    }
    goes_on(&mut rig);
}

/// Whatever was written to its registers, the card takes frames and answers others.
fn goes_on(rig: &mut Rig) {
    for queue in Queue::ALL {
        rig.device.receive(queue, &[0xff; 60], Fcs::Good);
        rig.device.transmit(queue, &mut rig.frame);
    }
    let (mut other, theirs) = Client::pair();
    rig.service.serve(theirs);
    other.send(&[1, READ, 0, 1, 0, 0, 0, 7, 0, 0, 0, 4]);
    rig.serve(&mut other);
    assert_eq!(other.got[..8], [1, READ, 0, 1, 0, 0, 0, 7]);
    assert_eq!(other.got[8..], 0xdead_beef_u32.to_be_bytes());
}
