//! Which frame is the n-th: its flow and its size, from the number alone.
//!
//! Flows come by a list that is gone through again and again, made from the streams' shares, and by
//! a seed where flows are drawn. So the sender, the checker and a program in the kernel agree on
//! every frame without telling each other, and what was lost has a time.

use super::frame::{FCS_BYTES, FlowTemplate, Link, head_bytes};
use super::signature::{FILL, SIGNATURE_BYTES, Signature};
use super::traffic::Traffic;
use trammel_core::rng::Rng;
use trammel_packet::headers::ether::BROADCAST;

/// The longest list.
const MOST_SLOTS: usize = 1 << 20;
/// The shortest list of flows that are drawn, and how often each is in it on average.
const DRAWN_SLOTS: usize = 4096;
const DRAWS: usize = 4;
/// The stream of broadcast frames, which no stream of a plan has.
pub(crate) const BROADCASTS: u8 = 255;
/// Of so many frames the last is a broadcast.
const PER_BROADCAST: u64 = 100;

/// A place in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    flow: u32,
    stream: u8,
    /// Frames of the stream before it in the list.
    before: u32,
}

/// A frame of the course.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) flow: u32,
    pub(crate) stream: u8,
    /// Bytes with the check sequence.
    pub(crate) size: u16,
}

/// What leaves at a place of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Departure {
    /// A test frame with its number.
    Test(u64),
    /// A broadcast with its number.
    Broadcast(u64),
}

/// The frames of a direction.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    slots: Vec<Slot>,
    /// Of each stream: its sizes, and its frames in a list.
    streams: Vec<(Vec<u16>, u32)>,
    flows: usize,
    broadcasts: bool,
}

impl Course {
    /// The course of `traffic`, which was checked.
    pub(crate) fn new(traffic: &Traffic) -> Course {
        let shares: Vec<usize> = traffic
            .streams
            .iter()
            .map(|one| one.share as usize)
            .collect();
        let order = turn_of(&shares);
        let turn = order.len();
        let turns = match traffic.drawn {
            Some(_) => {
                let flows = traffic
                    .streams
                    .iter()
                    .map(|one| one.flows as usize)
                    .sum::<usize>();
                (DRAWS * flows).max(DRAWN_SLOTS).div_ceil(turn)
            }
            // After so many turns every stream is at its first flow again.
            None => traffic.streams.iter().fold(1, |turns, one| {
                let own = one.flows as usize / gcd(one.flows as usize, one.share as usize);
                (turns / gcd(turns, own)).saturating_mul(own)
            }),
        };
        let turns = turns.clamp(1, (MOST_SLOTS / turn).max(1));
        let firsts: Vec<u32> = traffic
            .streams
            .iter()
            .scan(0, |at, one| Some(std::mem::replace(at, *at + one.flows)))
            .collect();
        let mut draws: Vec<Option<Rng>> = (0..shares.len())
            .map(|stream| Some(Rng::new(traffic.drawn?, &format!("tester:stream:{stream}"))))
            .collect();
        let mut counts = vec![0_u32; shares.len()];
        let mut slots = Vec::with_capacity(turn * turns);
        for stream in order.iter().copied().cycle().take(turn * turns) {
            let flows = traffic.streams[stream].flows;
            let nth = match &mut draws[stream] {
                Some(rng) => rng.below(u64::from(flows)) as u32,
                None => counts[stream] % flows,
            };
            slots.push(Slot {
                flow: firsts[stream] + nth,
                stream: stream as u8,
                before: counts[stream],
            });
            counts[stream] += 1;
        }
        let sizes = traffic.streams.iter().map(|one| one.sizes.clone());
        Course {
            slots,
            streams: sizes.zip(counts).collect(),
            flows: traffic.streams.iter().map(|one| one.flows as usize).sum(),
            broadcasts: traffic.broadcasts,
        }
    }

    /// Test frame `number`.
    #[inline]
    pub(crate) fn frame(&self, number: u64) -> Frame {
        let slots = self.slots.len() as u64;
        let slot = self.slots[(number % slots) as usize];
        let (sizes, per_list) = &self.streams[usize::from(slot.stream)];
        let size = match sizes[..] {
            [size] => size,
            _ => {
                let of_stream = number / slots * u64::from(*per_list) + u64::from(slot.before);
                sizes[(of_stream % sizes.len() as u64) as usize]
            }
        };
        Frame {
            flow: slot.flow,
            stream: slot.stream,
            size,
        }
    }

    /// What leaves at `place` of the schedule.
    #[inline]
    pub(crate) fn departure(&self, place: u64) -> Departure {
        if !self.broadcasts {
            return Departure::Test(place);
        }
        let before = place / PER_BROADCAST;
        if place % PER_BROADCAST == PER_BROADCAST - 1 {
            Departure::Broadcast(before)
        } else {
            Departure::Test(place - before)
        }
    }

    /// The place of test frame `number` in the schedule.
    #[inline]
    pub(crate) fn place(&self, number: u64) -> u64 {
        if self.broadcasts {
            number + number / (PER_BROADCAST - 1)
        } else {
            number
        }
    }

    /// Test frames among the first `places` of the schedule.
    pub(crate) fn tests(&self, places: u64) -> u64 {
        places
            - if self.broadcasts {
                places / PER_BROADCAST
            } else {
                0
            }
    }

    /// How many of the first `count` test frames are of each stream.
    pub(crate) fn of_streams(&self, count: u64) -> Vec<u64> {
        let slots = self.slots.len() as u64;
        let lists = count / slots;
        let mut of: Vec<u64> = self
            .streams
            .iter()
            .map(|one| lists * u64::from(one.1))
            .collect();
        for slot in &self.slots[..(count % slots) as usize] {
            of[usize::from(slot.stream)] += 1;
        }
        of
    }

    /// How many flows there are.
    pub(crate) fn flows(&self) -> usize {
        self.flows
    }

    /// How many streams.
    pub(crate) fn streams(&self) -> usize {
        self.streams.len()
    }

    /// The flow of each place in the list.
    pub(crate) fn order(&self) -> impl Iterator<Item = u32> + '_ {
        self.slots.iter().map(|slot| slot.flow)
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The streams of a turn, each as often as its share says and spread evenly.
fn turn_of(shares: &[usize]) -> Vec<usize> {
    let turn: usize = shares.iter().sum();
    let mut credits = vec![0_isize; shares.len()];
    let next = |_| {
        let mut chosen = 0;
        for (stream, share) in shares.iter().enumerate() {
            credits[stream] += share.cast_signed();
            if credits[stream] > credits[chosen] {
                chosen = stream;
            }
        }
        credits[chosen] -= turn.cast_signed();
        chosen
    };
    (0..turn).map(next).collect()
}

/// Writes the frames of a course.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    flows: Vec<FlowTemplate>,
    broadcast: FlowTemplate,
    signature: Signature,
    /// Frames whose fill is written, by the bytes of their headers.
    buffers: Vec<(usize, Box<[u8]>)>,
    /// Which of them is a stream's.
    buffer_of: Vec<usize>,
}

impl Writer {
    /// Frames of `traffic` from a port with `link`, with signatures of run and port as in
    /// `signature`.
    pub(crate) fn new(traffic: &Traffic, link: &Link, signature: Signature) -> Writer {
        let (mut flows, mut buffers) = (Vec::new(), Vec::new());
        let mut buffer_of = Vec::new();
        for (stream, one) in (0..).zip(&traffic.streams) {
            let signature = Signature {
                stream,
                ..signature
            };
            flows.extend((0..one.flows).map(|flow| FlowTemplate::new(link, one, flow, &signature)));
            let head = head_bytes(one.is_ipv6(), link.tag.is_some());
            let known = buffers.iter().position(|(known, _)| *known == head);
            buffer_of.push(known.unwrap_or_else(|| {
                buffers.push((head, [&vec![0; head], &FILL[..]].concat().into()));
                buffers.len() - 1
            }));
        }
        let to_all = Link {
            to_mac: BROADCAST,
            ..*link
        };
        let of_broadcasts = Signature {
            stream: BROADCASTS,
            ..signature
        };
        Writer {
            flows,
            broadcast: FlowTemplate::new(&to_all, &traffic.streams[0], 0, &of_broadcasts),
            signature,
            buffers,
            buffer_of,
        }
    }

    /// The bytes of test frame `number`, which is `frame`, sent at `now_ns`.
    #[inline]
    pub(crate) fn test(&mut self, number: u64, frame: Frame, now_ns: i64) -> &[u8] {
        let signature = Signature {
            stream: frame.stream,
            sequence: number as u32,
            sent_ns: now_ns,
            ..self.signature
        };
        self.write(Some(frame.flow), frame.size, &signature)
    }

    /// The bytes of broadcast `number`, as long as the first stream's first frames.
    pub(crate) fn broadcast(&mut self, number: u64, size: u16, now_ns: i64) -> &[u8] {
        let signature = Signature {
            stream: BROADCASTS,
            sequence: number as u32,
            sent_ns: now_ns,
            ..self.signature
        };
        self.write(None, size, &signature)
    }

    #[inline]
    fn write(&mut self, flow: Option<u32>, size: u16, signature: &Signature) -> &[u8] {
        // Broadcasts are of the first stream, whose buffer is the first.
        let buffer = self
            .buffer_of
            .get(usize::from(signature.stream))
            .copied()
            .unwrap_or(0);
        let (head, buffer) = &mut self.buffers[buffer];
        let flow = flow.map_or(&self.broadcast, |flow| &self.flows[flow as usize]);
        flow.write(buffer, size);
        buffer[*head..*head + SIGNATURE_BYTES].copy_from_slice(&signature.write());
        &buffer[..usize::from(size - FCS_BYTES)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::frame::payload;
    use super::super::traffic::Stream;
    use super::*;
    use crate::addresses::{Addresses, Side};

    fn traffic(shares: &[u32], flows: u32) -> Traffic {
        let stream = |&share| Stream {
            share,
            flows,
            ..Stream::of_rfc2544(Side::Input, false, 256, &[64, 570, 1518])
        };
        Traffic {
            streams: shares.iter().map(stream).collect(),
            drawn: None,
            ..Traffic::of(stream(&1))
        }
    }

    #[test]
    fn shares_flows_and_sizes_come_in_turn() {
        let course = Course::new(&traffic(&[2, 1], 4));
        let frames: Vec<Frame> = (0..36).map(|number| course.frame(number)).collect();
        let of = |stream| frames.iter().filter(move |one| one.stream == stream);
        assert_eq!((of(0).count(), of(1).count()), (24, 12));
        assert!(
            of(0)
                .zip((0..4).cycle())
                .all(|(one, flow)| one.flow == flow)
        );
        assert!(
            of(1)
                .zip((4..8).cycle())
                .all(|(one, flow)| one.flow == flow)
        );
        for stream in [0, 1] {
            let sizes = [64, 570, 1518].into_iter().cycle();
            assert!(of(stream).zip(sizes).all(|(one, size)| one.size == size));
        }
        for count in [0, 1, 2, 3, 11, 36] {
            let of_streams = course.of_streams(count);
            let first = (0..count)
                .filter(|&number| course.frame(number).stream == 0)
                .count();
            assert_eq!(of_streams, [first as u64, count - first as u64]);
        }
    }

    #[test]
    fn drawn_flows_are_uniform_and_the_same_by_the_same_seed() {
        let drawn = |seed| {
            Course::new(&Traffic {
                drawn: Some(seed),
                ..traffic(&[1], 256)
            })
        };
        let flows = |course: &Course| {
            (0..4096)
                .map(|number| course.frame(number).flow)
                .collect::<Vec<_>>()
        };
        let one = flows(&drawn(1));
        assert_eq!(one, flows(&drawn(1)));
        assert_ne!(one, flows(&drawn(2)));
        let mut counts = [0_u32; 256];
        for &flow in &one {
            counts[flow as usize] += 1;
        }
        // 16 each on average; five standard deviations are 20.
        assert!(
            counts.iter().all(|&count| (1..36).contains(&count)),
            "{counts:?}"
        );
    }

    #[test]
    fn one_of_a_hundred_departures_is_a_broadcast() {
        let course = Course::new(&Traffic {
            broadcasts: true,
            ..traffic(&[1], 1)
        });
        assert_eq!(course.departure(98), Departure::Test(98));
        assert_eq!(course.departure(99), Departure::Broadcast(0));
        assert_eq!(course.departure(100), Departure::Test(99));
        assert_eq!(course.tests(200), 198);
        for place in 0..1000 {
            if let Departure::Test(number) = course.departure(place) {
                assert_eq!((course.place(number), course.tests(place)), (place, number));
            }
        }
    }

    #[test]
    fn every_byte_of_a_mixed_course_is_right() {
        let mut mixed = traffic(&[1], 1);
        let ipv6 = Addresses::nodes(Side::Output, true, 1);
        mixed.streams.push(Stream {
            sizes: vec![84, 1518],
            from: Addresses::nodes(Side::Input, true, 1),
            to: ipv6,
            ..mixed.streams[0].clone()
        });
        let link = Link {
            from_mac: [2; 6],
            to_mac: [4; 6],
            tag: Some(100),
        };
        mixed.streams[0].sizes = vec![68, 9018];
        assert!(
            mixed.check(true).is_err(),
            "84 bytes leave no room for a tag"
        );
        mixed.streams[1].sizes = vec![88, 1518];
        mixed.check(true).expect("it can be sent");
        let signature = Signature {
            run: 7,
            port: 1,
            stream: 0,
            sequence: 0,
            sent_ns: 0,
        };
        let (course, mut writer) = (Course::new(&mixed), Writer::new(&mixed, &link, signature));
        for number in 0..8 {
            let frame = course.frame(number);
            let bytes = writer.test(number, frame, 55);
            assert_eq!(bytes.len(), usize::from(frame.size - FCS_BYTES));
            let payload = payload(bytes).expect("it is whole");
            let read = Signature::read(payload).expect("the signature is whole");
            assert_eq!(
                (read.sequence, read.sent_ns, read.stream),
                (number as u32, 55, frame.stream)
            );
            assert!(payload[SIGNATURE_BYTES..] == FILL[SIGNATURE_BYTES..payload.len()]);
        }
        let broadcast = writer.broadcast(3, 68, 0);
        assert_eq!(broadcast[..6], BROADCAST);
        let read = payload(broadcast)
            .and_then(Signature::read)
            .expect("it is whole");
        assert_eq!((read.stream, read.sequence), (BROADCASTS, 3));
    }
}
