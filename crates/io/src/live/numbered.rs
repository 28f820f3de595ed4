//! Live frames that tell their number and when they left, by a schedule; and a program that counts
//! them.
//!
//! ```text
//! template of the frame's flow, up to `mark_at`      number   time, ns   checksum
//! ├──────────────────────────────────────────────────┼────────┼──────────┼────────┤
//!                                                    4 bytes  6 bytes    2 bytes      big-endian
//! ```
//! The time is the lower 48 bits of the monotonic clock. The checksum is that of RFC 1071 over
//! number, time and what the template's words before them add up to. Which frame is of which flow a
//! table says that is gone through again and again.
//!
//! The kernel runs the program without pause. While no frame is due the program drops what it is
//! given, which costs some 50 ns: so it waits, exact to that. A frame that is late leaves at once,
//! and by how much it was late is counted. A call takes some 25 ms before its first frame. Source:
//! Linux's `bpf_prog_run.rst`, RFC 1071.

use crate::bpf::{Attachment, Code, Map, MapKind, Place, Program, Size, verdict};
use crate::clock::monotonic_ns;
use crate::error::{Error, Result};
use crate::sys;
use std::io;

const RIGHT: &str = "CAP_BPF in the initial user namespace";
/// Bytes that are written behind a template: number, time and checksum.
pub(crate) const MARK_BYTES: usize = 12;
/// Bits behind the point of times in the schedule: at ten million frames a second for an hour they
/// are wrong by 0.3 ms at most.
const FRACTION: i32 = 16;
/// Frames that the program is given a call, at most: one to two seconds.
const CALL: u32 = 1 << 24;
/// What a turn takes in which nothing is due, about.
const TURN_NS: u64 = 40;
/// Frames that are handed over together.
const BATCH: u32 = 64;
/// What is told apart of how late frames leave: 1.024 µs.
const LATE_BITS: i32 = 10;
/// Frames that are later than this many times that are counted together.
const LATE_BUCKETS: usize = 1024;

/// The words of eight bytes that the source's state has, in this order.
#[derive(Clone, Copy)]
enum State {
    Start,
    Period,
    Next,
    Left,
    Number,
    First,
    Last,
    /// The first of [`LATE_BUCKETS`] counts.
    Late,
}

impl State {
    const BYTES: usize = (State::Late as usize + LATE_BUCKETS) * 8;

    fn at(self) -> i16 {
        self as i16 * 8
    }
}

/// A flow's frames.
#[derive(Clone, Debug)]
pub struct Template {
    /// The frame up to its mark.
    pub head: Vec<u8>,
    /// The sum in one's complement (RFC 1071) of what the checksum covers of it.
    pub sum: u16,
}

/// What is sent.
#[derive(Clone, Debug)]
pub struct Frames {
    /// The flows' templates, all of one length, which is where the mark is.
    pub templates: Vec<Template>,
    /// The flow of each frame, again from the start at its end.
    pub order: Vec<u32>,
    /// Bytes of each frame, without its check sequence.
    pub bytes: usize,
}

/// So many frames at even distances.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// When the first is due, by the monotonic clock.
    pub start_ns: i64,
    /// From one to the next; at least 1 ns.
    pub period_ns: f64,
    /// How many.
    pub frames: u64,
}

/// What was sent since the source was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Frames; the next one's number.
    pub frames: u64,
    /// When the first left, by the monotonic clock; 0 where none did.
    pub first_ns: i64,
    /// When the last left.
    pub last_ns: i64,
    /// Frames by how late they were, in units of [`LATE_NS`]; the last counts all that were later.
    pub late: Vec<u64>,
}

/// The width of [`Sent::late`], in nanoseconds.
pub const LATE_NS: u64 = 1 << LATE_BITS;

/// Sends numbered frames.
#[derive(Debug)]
pub struct Source {
    program: Program,
    state: Map,
    frame: Vec<u8>,
    /// The program holds them; kept for clarity about who is alive.
    _maps: [Map; 3],
}

impl Source {
    /// Will send `frames` out of interface `name` of the calling thread's namespace, whose peer has
    /// to run an XDP program; of a frame longer than templates and mark the rest is that of `fill`.
    pub fn open(name: &str, frames: &Frames, fill: &[u8]) -> Result<Source> {
        let of = |what| Error::of(what, name, RIGHT);
        let index = sys::interface_index(name)?;
        let head_bytes = head_bytes(frames)?;
        let devices = Map::new(MapKind::Devices, 4, 1)?;
        devices
            .set(0, &index.to_ne_bytes())
            .map_err(of("send out of the interface"))?;
        let (templates, order) = tables(frames, head_bytes).map_err(of("write the frames"))??;
        let state = Map::new(MapKind::Array, State::BYTES, 1)?;
        let tables = [&state, &order, &templates, &devices];
        let code = source_code(tables, frames.order.len(), head_bytes);
        let mut frame = frames.templates[0].head.clone();
        frame.resize(head_bytes + MARK_BYTES, 0);
        frame.extend(fill);
        frame.resize(frames.bytes, 0);
        Ok(Source {
            program: Program::load(&code)?,
            state,
            frame,
            _maps: [devices, templates, order],
        })
    }

    /// Sends what `load` says, until `is_over` says so, which is asked between calls to the kernel.
    /// Those of an earlier load that did not leave are forgotten.
    pub fn send(&self, load: &Load, is_over: impl Fn() -> bool) -> io::Result<()> {
        let mut state = self.state.get(0)?;
        let one = f64::from(1 << FRACTION);
        let set = [
            (State::Start, load.start_ns as u64),
            (
                State::Period,
                (load.period_ns.max(1.0) * one).round() as u64,
            ),
            (State::Next, 0),
            (State::Left, load.frames),
        ];
        for (word, value) in set {
            state[word.at() as usize..][..8].copy_from_slice(&value.to_ne_bytes());
        }
        self.state.set(0, &state)?;
        loop {
            let left = word(&self.state.get(0)?, State::Left);
            if left == 0 || is_over() {
                return Ok(());
            }
            // As many turns as the frames that are late take, and waiting for the others.
            let end_ns = load
                .start_ns
                .saturating_add((load.period_ns * load.frames as f64) as i64);
            let waiting_ns = end_ns.saturating_sub(monotonic_ns()).max(0).cast_unsigned();
            let turns = left
                .saturating_add(waiting_ns / TURN_NS)
                .clamp(1 << 12, u64::from(CALL));
            self.program.run_live(&self.frame, turns as u32, BATCH)?;
        }
    }

    /// What was sent since it was opened.
    pub fn sent(&self) -> io::Result<Sent> {
        let state = self.state.get(0)?;
        let late = state[State::Late.at() as usize..].as_chunks::<8>().0;
        Ok(Sent {
            frames: word(&state, State::Number),
            first_ns: word(&state, State::First) as i64,
            last_ns: word(&state, State::Last) as i64,
            late: late
                .iter()
                .map(|&count| u64::from_ne_bytes(count))
                .collect(),
        })
    }
}

fn word(state: &[u8], which: State) -> u64 {
    let bytes = state[which.at() as usize..].first_chunk();
    bytes.map_or(0, |&bytes| u64::from_ne_bytes(bytes))
}

/// The length of all templates.
fn head_bytes(frames: &Frames) -> Result<usize> {
    let Some(first) = frames.templates.first() else {
        return Err(Error::Invalid("no flow to send".to_owned()));
    };
    let bytes = first.head.len();
    let is_right = bytes.is_multiple_of(2)
        && (16..=128).contains(&bytes)
        && frames.templates.iter().all(|one| one.head.len() == bytes)
        && !frames.order.is_empty()
        && frames.order.len() < i32::MAX as usize
        && frames.bytes >= bytes + MARK_BYTES;
    is_right.then_some(bytes).ok_or_else(|| {
        Error::Invalid(format!(
            "frames of {} bytes whose mark is at {bytes}: headers of 16 to 128 bytes, an even \
             number, and then {MARK_BYTES}",
            frames.bytes
        ))
    })
}

/// Where in a template's table its sum stands.
fn sum_at(head_bytes: usize) -> usize {
    head_bytes.next_multiple_of(8)
}

/// The tables of templates and of the order of flows.
fn tables(frames: &Frames, head_bytes: usize) -> io::Result<Result<(Map, Map)>> {
    let make = || {
        let value_bytes = sum_at(head_bytes) + 8;
        let templates = Map::new(MapKind::Array, value_bytes, frames.templates.len() as u32)?;
        let order = Map::new(MapKind::Array, 4, frames.order.len() as u32)?;
        Ok((templates, order))
    };
    let (templates, order) = match make() {
        Ok(made) => made,
        Err(error) => return Ok(Err(error)),
    };
    for (key, template) in (0..).zip(&frames.templates) {
        let mut value = template.head.clone();
        value.resize(sum_at(head_bytes), 0);
        // As the program adds words up: in the order that this machine loads them.
        let sum = u64::from(u16::from_ne_bytes(template.sum.to_be_bytes()));
        value.extend(sum.to_ne_bytes());
        templates.set(key, &value)?;
    }
    for (key, flow) in (0..).zip(&frames.order) {
        order.set(key, &flow.to_ne_bytes())?;
    }
    Ok(Ok((templates, order)))
}

/// `r0` = the value of `table` at the key of four bytes that stands in the stack at `key`.
fn look_up(code: Code, table: &Map, key: i16) -> Code {
    code.copy(2, 10)
        .increase(2, i32::from(key))
        .map(1, table)
        .look_up()
}

/// The program that sends. `r6` is the state, `r7` the frame, `r8` its end, `r9` the time.
fn source_code([state, order, templates, devices]: [&Map; 4], cycle: usize, head: usize) -> Code {
    let (key, number) = (-4, -16);
    // A frame that is due and has a template in `r0`: its bytes.
    let mut write = Code::default();
    for at in (0..(head & !7) as i16).step_by(8) {
        write = write
            .load(Size::Double, 1, 0, at)
            .store(Size::Double, 7, at, 1);
    }
    for at in ((head & !7) as i16..head as i16).step_by(2) {
        write = write.load(Size::Half, 1, 0, at).store(Size::Half, 7, at, 1);
    }
    // r1 = the number, r2 = the time and two zeroes, as they will lie in memory; r3 adds up
    write = write
        .load(Size::Double, 3, 0, sum_at(head) as i16)
        .load(Size::Double, 1, 10, number)
        .big_endian(1, 32)
        .store(Size::Word, 7, head as i16, 1)
        .copy(2, 9)
        .shift_left(2, 16)
        .big_endian(2, 64);
    for (word, words) in [(1, 2), (2, 4)] {
        for part in 0..words {
            write = write
                .copy(4, word)
                .shift_right(4, 16 * part)
                .mask(4, 0xffff)
                .sum(3, 4);
        }
    }
    for _ in 0..2 {
        write = write
            .copy(4, 3)
            .shift_right(4, 16)
            .mask(3, 0xffff)
            .sum(3, 4);
    }
    // The checksum lies behind the time, where a word of this machine has its last two bytes.
    let checksum_shift = if cfg!(target_endian = "little") {
        48
    } else {
        0
    };
    let write = write
        .flip(3, 0xffff)
        .mask(3, 0xffff)
        .shift_left(3, checksum_shift)
        .join(2, 3)
        .store(Size::Double, 7, head as i16 + 4, 2)
        .map(1, devices)
        .set(2, 0)
        .set(3, verdict::DROP)
        .redirect()
        .exit();
    // Each check is built before what it guards, so that a jump over the rest is as long as the
    // rest: all lead to the end, where the frame is dropped. What a check finds missing never is;
    // the verifier wants it.
    let unless_missing = |code: Code, rest: Code| code.skip_if_zero(0, rest.len()).then(rest);
    let rest = unless_missing(look_up(Code::default(), templates, key), write);
    let rest = Code::default()
        .load(Size::Word, 1, 0, 0)
        .store(Size::Word, 10, key, 1)
        .then(rest);
    let rest = unless_missing(look_up(account(cycle, key, number), order, key), rest);
    let rest = Code::default()
        .load(Size::Double, 4, 6, State::Left.at())
        .skip_if_zero(4, rest.len())
        .then(rest);
    // r1 = since the start, r3 = when the next is due
    let rest = Code::default()
        .copy(2, 9)
        .subtract(2, 1)
        .copy(1, 2)
        .shift_left(1, FRACTION)
        .load(Size::Double, 3, 6, State::Next.at())
        .skip_if_greater(3, 1, rest.len())
        .then(rest);
    let rest = Code::default()
        .copy(6, 0)
        .monotonic_ns()
        .copy(9, 0)
        .load(Size::Double, 1, 6, State::Start.at())
        .skip_if_greater(1, 9, rest.len())
        .then(rest);
    let begun = Code::default().set(1, 0).store(Size::Word, 10, key, 1);
    let rest = unless_missing(look_up(begun, state, key), rest);
    Code::default()
        .load(Size::Word, 7, 1, 0)
        .load(Size::Word, 8, 1, 4)
        .copy(1, 7)
        .increase(1, (head + MARK_BYTES) as i32)
        .skip_if_greater(1, 8, rest.len())
        .then(rest)
        .set(0, verdict::DROP)
        .exit()
}

/// Keeps the account of a frame that leaves, `r1` after the start and due at `r3`, and writes its
/// number and its place in the order of flows to the stack.
fn account(cycle: usize, key: i16, number: i16) -> Code {
    Code::default()
        .load(Size::Double, 4, 6, State::Left.at())
        .increase(4, -1)
        .store(Size::Double, 6, State::Left.at(), 4)
        .subtract(1, 3)
        .load(Size::Double, 4, 6, State::Period.at())
        .sum(3, 4)
        .store(Size::Double, 6, State::Next.at(), 3)
        .shift_right(1, FRACTION + LATE_BITS)
        .set(2, LATE_BUCKETS as i32 - 1)
        .skip_if_greater(2, 1, 1)
        .copy(1, 2)
        .shift_left(1, 3)
        .sum(1, 6)
        .load(Size::Double, 2, 1, State::Late.at())
        .increase(2, 1)
        .store(Size::Double, 1, State::Late.at(), 2)
        .store(Size::Double, 6, State::Last.at(), 9)
        .load(Size::Double, 2, 6, State::First.at())
        .skip_unless(2, 0, 1)
        .store(Size::Double, 6, State::First.at(), 9)
        .load(Size::Double, 5, 6, State::Number.at())
        .store(Size::Double, 10, number, 5)
        .copy(1, 5)
        .increase(1, 1)
        .store(Size::Double, 6, State::Number.at(), 1)
        .modulo(5, cycle as i32)
        .store(Size::Word, 10, key, 5)
}

/// What a [`Counter`] has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Frames with the key.
    pub frames: u64,
    /// Those of them whose number was below one that had come before (RFC 4737, §3.3), of all flows
    /// together.
    pub reordered: u64,
}

/// Counts and drops the numbered frames that come, and leaves all others to the kernel.
#[derive(Debug)]
pub struct Counter {
    counts: Map,
    _attachment: Attachment,
}

impl Counter {
    /// Counts frames at interface `name` of the calling thread's namespace that have `key` at
    /// `key_at` and the mark at `mark_at`.
    pub fn open(name: &str, key_at: usize, key: [u8; 4], mark_at: usize) -> Result<Counter> {
        // Frames, those out of order, and the number that comes next.
        let counts = Map::new(MapKind::Array, 24, 1)?;
        let least = (key_at + 4).max(mark_at + 4);
        let count = Code::default()
            .set(1, 1)
            .add_to_memory(0, 0, 1)
            .load(Size::Double, 2, 0, 16)
            .skip_if_greater(2, 6, 3)
            .increase(6, 1)
            .store(Size::Double, 0, 16, 6)
            .skip(1)
            .add_to_memory(0, 8, 1)
            .set(0, verdict::DROP)
            .exit();
        let begun = Code::default()
            .load(Size::Word, 6, 7, mark_at as i16)
            .big_endian(6, 32)
            .set(1, 0)
            .store(Size::Word, 10, -4, 1);
        let ours = look_up(begun, &counts, -4)
            .skip_if_zero(0, count.len())
            .then(count);
        let [a, b, c, d] = key;
        let mut code = Code::default()
            .load(Size::Word, 7, 1, 0)
            .load(Size::Word, 8, 1, 4)
            .copy(1, 7)
            .increase(1, least as i32)
            .skip_if_greater(1, 8, ours.len() + 4);
        // By halves: a whole word would be compared with its sign.
        code = code
            .load(Size::Half, 1, 7, key_at as i16)
            .skip_unless(1, i32::from(u16::from_ne_bytes([a, b])), ours.len() + 2)
            .load(Size::Half, 1, 7, key_at as i16 + 2)
            .skip_unless(1, i32::from(u16::from_ne_bytes([c, d])), ours.len())
            .then(ours)
            .set(0, verdict::PASS)
            .exit();
        let program = Program::load(&code)?;
        let attachment = program.attach(name, sys::interface_index(name)?, Place::Driver)?;
        Ok(Counter {
            counts,
            _attachment: attachment,
        })
    }

    /// What has come.
    pub fn counted(&self) -> io::Result<Counted> {
        let words = self.counts.get(0)?;
        let words = words.as_chunks::<8>().0;
        Ok(Counted {
            frames: u64::from_ne_bytes(words[0]),
            reordered: u64::from_ne_bytes(words[1]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::afpacket::{self, AfPacket};
    use crate::live;
    use crate::netns::{Namespace, veth};
    use crate::{clock, error};
    use trammel_packet::batch::Packets;
    use trammel_packet::device::Device;
    use trammel_packet::headers::checksum::checksum;
    use trammel_packet::pool::Pool;

    const HEAD: usize = 48;

    fn frames(flows: u8) -> Frames {
        let template = |flow: u8| {
            let mut head = vec![0; HEAD];
            head[..6].fill(0xff);
            head[12..14].copy_from_slice(&[0x88, 0xb5]);
            head[42..48].copy_from_slice(&[b'T', b'R', 0, 7, 0, flow]);
            let sum = !checksum(&head[42..]);
            Template { head, sum }
        };
        Frames {
            templates: (0..flows).map(template).collect(),
            order: (0..u32::from(flows)).chain([0]).collect(),
            bytes: 64,
        }
    }

    fn pair() -> Option<(Namespace, Namespace)> {
        match Namespace::new().and_then(|left| Ok((left, Namespace::new()?))) {
            Ok((left, right)) => {
                veth(&left, "a", &right, "b").expect("the pair of devices can be made");
                Some((left, right))
            }
            Err(error @ error::Error::NoRight { .. }) => {
                eprintln!("skipped: {error}");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn frames_tell_their_flow_and_number_and_leave_when_they_are_due() {
        let Some((left, right)) = pair() else { return };
        let (passing, mut device) = right.run(|| {
            let passing = live::pass("b").expect("it may be loaded");
            let device = AfPacket::open("b", &afpacket::Options::default());
            (passing, device.expect("it may be opened"))
        });
        let fill: Vec<u8> = (0..4).collect();
        let source = left.run(|| Source::open("a", &frames(2), &fill));
        let source = source.unwrap_or_else(|error| panic!("{error}"));
        let start_ns = clock::monotonic_ns() + 100_000_000;
        let load = Load {
            start_ns,
            period_ns: 20_000.0,
            frames: 300,
        };
        source.send(&load, || false).expect("it is sent");
        source
            .send(&Load { frames: 0, ..load }, || false)
            .expect("nothing is");
        let sent = source.sent().expect("it can be read");
        assert_eq!((sent.frames, sent.late.iter().sum::<u64>()), (300, 300));
        assert!(sent.first_ns >= start_ns);
        assert!(sent.last_ns - sent.first_ns >= 299 * 20_000 - (sent.first_ns - start_ns));
        let (mut pool, mut batch) = (Pool::new(64, 64), Packets::new());
        let mut came = 0_u32;
        while came < 300 {
            device.receive(&mut pool, &mut batch).expect("it is there");
            for packet in batch.drain() {
                let data = pool[&packet].data();
                assert_eq!(data.len(), 64);
                assert_eq!(data[42..48], [b'T', b'R', 0, 7, 0, u8::from(came % 3 == 1)]);
                assert_eq!(data[48..52], came.to_be_bytes());
                let mut time = [0; 8];
                time[2..].copy_from_slice(&data[52..58]);
                let due = start_ns + i64::from(came) * 20_000;
                assert!(i64::from_be_bytes(time) >= due & ((1 << 48) - 1));
                assert_eq!((checksum(&data[42..60]), &data[60..]), (0, &fill[..]));
                pool.free(packet);
                came += 1;
            }
            clock::wait(
                &[device.descriptor().expect("the device has one")],
                Some(5_000_000),
            )
            .expect("the clock can be waited for");
        }
        device.close(&mut pool);
        drop(passing);
    }

    #[test]
    fn a_counter_counts_what_has_its_key() {
        let Some((left, right)) = pair() else { return };
        let open = |key| {
            right
                .run(|| Counter::open("b", 42, key, 48))
                .expect("it may be loaded")
        };
        let source = left
            .run(|| Source::open("a", &frames(3), &[]))
            .expect("it may be loaded");
        let load = Load {
            start_ns: 0,
            period_ns: 1.0,
            frames: 100_000,
        };
        let counter = open([b'T', b'R', 0, 7]);
        source.send(&load, || false).expect("it is sent");
        let all = Counted {
            frames: 100_000,
            reordered: 0,
        };
        assert_eq!(counter.counted().expect("it can be read"), all);
        drop(counter);
        let other = open([b'T', b'R', 0, 8]);
        source.send(&load, || false).expect("it is sent");
        assert_eq!(other.counted().expect("it can be read").frames, 0);
    }

    #[test]
    fn frames_that_no_mark_fits_into_are_refused() {
        let short = Frames {
            bytes: HEAD + MARK_BYTES - 1,
            ..frames(1)
        };
        let odd = Frames {
            order: Vec::new(),
            ..frames(1)
        };
        for frames in [short, odd] {
            let refused = head_bytes(&frames).expect_err("it does not fit");
            assert!(matches!(refused, Error::Invalid(_)), "{refused}");
        }
    }
}
