//! What came: each frame is one of ours and new, or a copy, late, damaged, another run's, or
//! nobody's.
//!
//! A frame is ours if its signature is right, of this run, of the other port, and of a number that
//! is sent; then its length and every byte of its fill follow from its number. Memory does not grow
//! with the run: a [`Window`] of bits, a number for each flow, a histogram for each stream.

use super::course::{BROADCASTS, Course};
use super::frame::{FCS_BYTES, head_bytes, payload};
use super::observation::{Beside, DirectionSeen, LoadSeen, Outage, StreamSeen, Unevenness};
use super::schedule::Schedule;
use super::signature::{FILL, SIGNATURE_BYTES, Signature, extend, is_damaged};
use super::timing::Tagged;
use super::traffic::Traffic;
use super::window::{Arrival, Window};
use trammel_core::time::{Span, Time};
use trammel_stats::histogram::Histogram;

/// What a frame was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A test frame, or one that was counted as damaged or another's.
    Counted,
    /// A frame of no tester.
    Foreign,
}

/// Counts the frames of a direction.
#[derive(Debug)]
pub(crate) struct Checker {
    course: Course,
    schedule: Schedule,
    /// Run and port that its frames have.
    run: u16,
    port: u8,
    start_ns: i64,
    /// Bytes of headers of each stream's frames.
    heads: Vec<usize>,
    window: Window,
    /// The number above the highest that came, of each flow: RFC 4737's `NextExp`.
    next: Vec<u64>,
    /// The delay of the frame that came last, of each stream.
    delays: Vec<Option<u64>>,
    streams: Vec<StreamSeen>,
    received: Vec<u64>,
    /// When the last test frame came.
    last_ns: Option<i64>,
    outage: Option<(i64, i64, u64)>,
    corrupted: u64,
    strays: u64,
    pub(crate) others: u64,
    too_late: u64,
    broadcasts: u64,
    tags: Option<Tagged>,
    /// Of those that came, number and delay in nanoseconds.
    tagged: Vec<(u64, u64)>,
    /// When the last frame left, once it is known.
    pub(crate) ended_ns: i64,
    came_after: u64,
}

impl Checker {
    /// Checks `traffic` that port `port` sends in run `run` by `schedule`, with tags or without,
    /// from `start_ns` on.
    pub(crate) fn new(
        traffic: &Traffic,
        course: &Course,
        schedule: &Schedule,
        is_tagged: bool,
        run: u16,
        port: u8,
    ) -> Checker {
        let heads = traffic
            .streams
            .iter()
            .map(|one| head_bytes(one.is_ipv6(), is_tagged));
        Checker {
            run,
            port,
            start_ns: 0,
            heads: heads.collect(),
            window: Window::default(),
            next: vec![0; course.flows()],
            delays: vec![None; course.streams()],
            streams: vec![StreamSeen::new(true); course.streams()],
            received: vec![0; schedule.parts().len()],
            last_ns: None,
            outage: None,
            corrupted: 0,
            strays: 0,
            others: 0,
            too_late: 0,
            broadcasts: 0,
            tags: None,
            tagged: Vec::new(),
            ended_ns: i64::MAX,
            came_after: 0,
            course: course.clone(),
            schedule: schedule.clone(),
        }
    }

    /// Has the latencies of these frames told one by one.
    pub(crate) fn tag(&mut self, tags: Tagged) {
        self.tags = Some(tags);
    }

    /// Times are told from `start_ns` on.
    pub(crate) fn start(&mut self, start_ns: i64) {
        self.start_ns = start_ns;
    }

    /// Counts a frame that came at `at_ns` of the monotonic clock.
    #[inline]
    pub(crate) fn check(&mut self, frame: &[u8], at_ns: i64) -> Verdict {
        let Some(payload) = payload(frame) else {
            return Verdict::Foreign;
        };
        let Some(signature) = Signature::read(payload) else {
            if !is_damaged(payload, self.run) {
                return Verdict::Foreign;
            }
            self.corrupted += 1;
            return Verdict::Counted;
        };
        if signature.run != self.run || signature.port != self.port {
            self.strays += 1;
            return Verdict::Counted;
        }
        if signature.stream == BROADCASTS {
            self.broadcasts += 1;
            return Verdict::Counted;
        }
        let number = extend(signature.sequence, self.window.next());
        let number = number.filter(|&number| self.course.place(number) < self.schedule.frames());
        let Some(number) = number else {
            self.strays += 1;
            return Verdict::Counted;
        };
        let expected = self.course.frame(number);
        if expected.stream != signature.stream {
            self.strays += 1;
            return Verdict::Counted;
        }
        let stream = usize::from(expected.stream);
        let bytes = usize::from(expected.size - FCS_BYTES) - self.heads[stream];
        if payload.len() != bytes || payload[SIGNATURE_BYTES..] != FILL[SIGNATURE_BYTES..bytes] {
            self.corrupted += 1;
            return Verdict::Counted;
        }
        self.arrive(
            number,
            expected.flow,
            stream,
            signature.age_ns(at_ns),
            at_ns,
        );
        Verdict::Counted
    }

    #[inline]
    fn arrive(&mut self, number: u64, flow: u32, stream: usize, age_ns: u64, at_ns: i64) {
        let skipped = number.saturating_sub(self.window.next());
        let seen = &mut self.streams[stream];
        match self.window.note(number) {
            Arrival::New => {}
            Arrival::Again => {
                seen.duplicated += 1;
                return;
            }
            Arrival::TooLate => {
                self.too_late += 1;
                return;
            }
        }
        seen.received += 1;
        //= rfc4737 §3.3
        //# The value of Type-P-Reordered is defined as FALSE if s >= NextExp
        //# (the packet is in-order).  In this case, NextExp is set to s+1 for
        //# comparison with the next packet to arrive.
        let next = &mut self.next[flow as usize];
        if number < *next {
            seen.reordered += 1;
        } else {
            *next = number + 1;
        }
        if let Some(latency) = &mut seen.latency {
            latency.record(age_ns * 1000);
        }
        if let (Some(before), Some(ipdv)) = (self.delays[stream].replace(age_ns), &mut seen.ipdv) {
            ipdv.note(age_ns.cast_signed() - before.cast_signed());
        }
        if self.tags.is_some_and(|tags| tags.has(number)) {
            self.tagged.push((number, age_ns));
        }
        self.came_after += u64::from(at_ns > self.ended_ns);
        self.received[self.schedule.load_of(self.course.place(number))] += 1;
        let last = self.last_ns.replace(at_ns).unwrap_or(self.start_ns);
        let longest = self.outage.map_or(0, |(from, to, _)| to - from);
        if skipped > 0 && at_ns - last > longest {
            self.outage = Some((last, at_ns, skipped));
        }
    }

    fn tagged(&mut self) -> Vec<Span> {
        let mut came = std::mem::take(&mut self.tagged);
        came.sort_unstable();
        came.into_iter()
            .map(|(_, age_ns)| Span::from_ns(age_ns))
            .collect()
    }

    /// What was seen, of which `places` of the schedule left and `errors` of them did not leave
    /// after all.
    pub(crate) fn finish(&mut self, places: u64, mut errors: u64) -> DirectionSeen {
        let sent = self.course.tests(places);
        let (_, last_lost) = self.window.finish(sent);
        let mut streams = std::mem::take(&mut self.streams);
        for (stream, sent) in streams.iter_mut().zip(self.course.of_streams(sent)) {
            stream.sent = sent;
        }
        // Which frames a device refused it does not tell, but they are among those that did not
        // come.
        for stream in &mut streams {
            let refused = errors.min(stream.lost());
            stream.sent -= refused;
            errors -= refused;
        }
        let since = |ns: i64| Time::from_ns((ns - self.start_ns).max(0).cast_unsigned());
        let due = |number| {
            Time::from_ns(
                self.schedule
                    .due_ns(self.course.place(number))
                    .cast_unsigned(),
            )
        };
        let parts = self.schedule.parts().iter().zip(&self.received);
        DirectionSeen {
            intended: self.course.tests(self.schedule.frames()),
            streams,
            loads: parts
                .map(|(part, &received)| {
                    let tests = |end: u64| self.course.tests(end) - self.course.tests(part.first);
                    LoadSeen {
                        intended: tests(part.end),
                        sent: tests(places.clamp(part.first, part.end)),
                        received,
                    }
                })
                .collect(),
            effective: Span::ZERO,
            sender_cpu: Span::ZERO,
            lateness: Histogram::of_times(),
            unevenness: Unevenness::default(),
            corrupted: self.corrupted,
            strays: self.strays,
            others: self.others,
            too_late: self.too_late,
            broadcasts: Beside {
                sent: places - sent,
                received: self.broadcasts,
            },
            queries: Beside::default(),
            last_lost: last_lost.map(due),
            last_arrival: self.last_ns.map(since),
            outage: self.outage.map(|(from, to, skipped)| Outage {
                from: since(from),
                to: since(to),
                skipped,
            }),
            tagged: self.tagged(),
            untimed: 0,
            came_after: (self.ended_ns != i64::MAX).then_some(self.came_after),
            receive_drops: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::course::Writer;
    use super::super::frame::Link;
    use super::super::schedule::Load;
    use super::super::traffic::Stream;
    use super::*;
    use crate::addresses::Side;
    use proptest::prelude::*;
    use trammel_core::rng::Rng;

    const LINK: Link = Link {
        from_mac: [2; 6],
        to_mac: [4; 6],
        tag: None,
    };

    struct Bench {
        checker: Checker,
        writer: Writer,
        course: Course,
    }

    fn bench(traffic: &Traffic, loads: &[Load]) -> Bench {
        let (course, schedule) = (
            Course::new(traffic),
            Schedule::new(loads, None).expect("the stream has a rate"),
        );
        let signature = Signature {
            run: 7,
            port: 0,
            stream: 0,
            sequence: 0,
            sent_ns: 0,
        };
        Bench {
            checker: Checker::new(traffic, &course, &schedule, false, 7, 0),
            writer: Writer::new(traffic, &LINK, signature),
            course,
        }
    }

    impl Bench {
        fn bytes(&mut self, number: u64, sent_ns: i64) -> Vec<u8> {
            let frame = self.course.frame(number);
            self.writer.test(number, frame, sent_ns).to_vec()
        }

        fn arrives(&mut self, number: u64, sent_ns: i64, at_ns: i64) {
            let bytes = self.bytes(number, sent_ns);
            assert_eq!(self.checker.check(&bytes, at_ns), Verdict::Counted);
        }
    }

    fn load(frames: u64) -> Load {
        Load {
            frames_per_second: 1e6,
            duration: Span::from_us(frames),
        }
    }

    fn plain(sizes: &[u16]) -> Traffic {
        Traffic::of(Stream::of_rfc2544(Side::Input, false, 1, sizes))
    }

    #[test]
    fn every_fate_is_told_apart() {
        let mut bench = bench(&plain(&[64, 128]), &[load(6), load(4)]);
        // 0 1 3 2 3 5, of which 3 comes twice and 2 late; 4 and 6 to 9 never.
        for number in [0, 1, 3, 2, 3, 5] {
            bench.arrives(number, number as i64 * 1000, number as i64 * 1000 + 500);
        }
        let whole = bench.bytes(4, 0);
        for (at, mask) in [(42, 1), (50, 0x80), (58, 2)] {
            let mut damaged = whole.clone();
            damaged[at] ^= mask;
            assert_eq!(bench.checker.check(&damaged, 0), Verdict::Counted);
        }
        // Of 128 bytes, the last bit of the fill, and then its last byte.
        let mut long = bench.bytes(9, 0);
        *long.last_mut().expect("it is long") ^= 1;
        bench.checker.check(&long, 0);
        long.truncate(100);
        assert_eq!(bench.checker.check(&long, 0), Verdict::Counted);
        let other = Signature {
            run: 6,
            port: 0,
            stream: 0,
            sequence: 4,
            sent_ns: 0,
        };
        for stray in [
            other,
            Signature {
                run: 7,
                port: 1,
                ..other
            },
            Signature {
                run: 7,
                sequence: 10,
                ..other
            },
        ] {
            let mut bytes = whole.clone();
            bytes[42..60].copy_from_slice(&stray.write());
            assert_eq!(bench.checker.check(&bytes, 0), Verdict::Counted);
        }
        assert_eq!(bench.checker.check(&[0; 60], 0), Verdict::Foreign);
        let seen = bench.checker.finish(9, 0);
        assert_eq!((seen.sent(), seen.received(), seen.lost()), (9, 5, 4));
        assert_eq!((seen.duplicated(), seen.reordered()), (1, 1));
        assert_eq!((seen.corrupted, seen.strays, seen.too_late), (5, 3, 0));
        assert_eq!(seen.last_lost, Some(Time::from_us(8)));
        let loads: Vec<(u64, u64, u64)> = seen
            .loads
            .iter()
            .map(|one| (one.intended, one.sent, one.received))
            .collect();
        assert_eq!(loads, [(6, 6, 5), (4, 3, 0)]);
        let latency = seen.latency().expect("it was measured");
        assert_eq!(
            (latency.count(), latency.min(), latency.max()),
            (5, Some(500_000), Some(500_000))
        );
    }

    #[test]
    fn the_longest_outage_has_its_ends_and_its_frames() {
        let mut bench = bench(&plain(&[64]), &[load(1000)]);
        bench.checker.start(10_000);
        for number in (0..100).chain(150..200).chain(900..1000) {
            bench.arrives(number, 0, 10_000 + number as i64 * 1000);
        }
        let seen = bench.checker.finish(1000, 0);
        let expected = Outage {
            from: Time::from_us(199),
            to: Time::from_us(900),
            skipped: 700,
        };
        assert_eq!(
            (seen.outage, seen.last_arrival),
            (Some(expected), Some(Time::from_us(999)))
        );
        assert_eq!(
            (seen.lost(), seen.last_lost),
            (750, Some(Time::from_us(899)))
        );
    }

    #[test]
    fn delays_of_successive_frames_differ_by_what_they_do() {
        let mut bench = bench(&plain(&[64]), &[load(4)]);
        for (number, delay) in [(0, 100), (1, 130), (2, 90), (3, 90)] {
            bench.arrives(number, 0, delay);
        }
        let seen = bench.checker.finish(4, 0);
        let ipdv = seen.streams[0].ipdv.as_ref().expect("it was measured");
        assert_eq!((ipdv.less.count(), ipdv.less.max()), (1, Some(40_000)));
        assert_eq!((ipdv.more.count(), ipdv.more.max()), (2, Some(30_000)));
        assert_eq!((ipdv.more.min(), ipdv.count()), (Some(0), 3));
    }

    #[test]
    fn tagged_frames_are_spread_over_what_is_left() {
        let mut bench = bench(&plain(&[64]), &[load(100), load(100)]);
        bench.checker.tag(Tagged::of(3, 50, 150));
        // 50, 100 and 150 of 200; number 100 never comes, the others in the wrong order.
        for number in (0..200).rev().filter(|number| *number != 100) {
            bench.arrives(number, 0, number as i64);
        }
        let tagged = bench.checker.finish(200, 0).tagged;
        assert_eq!(tagged, [50, 150].map(Span::from_ns));
    }

    #[test]
    fn what_comes_after_the_last_was_sent_is_told() {
        for (ended_ns, came_after) in [(i64::MAX, None), (10, Some(2))] {
            let mut bench = bench(&plain(&[64]), &[load(4)]);
            bench.arrives(0, 0, 5);
            bench.checker.ended_ns = ended_ns;
            for (number, at_ns) in [(1, 10), (2, 11), (3, 12)] {
                bench.arrives(number, 0, at_ns);
            }
            assert_eq!(bench.checker.finish(4, 0).came_after, came_after);
        }
    }

    #[test]
    fn order_is_that_of_a_flow_and_not_of_all() {
        let two = Stream {
            flows: 2,
            ..Stream::of_rfc2544(Side::Input, false, 2, &[64])
        };
        let mut bench = bench(
            &Traffic {
                drawn: None,
                ..Traffic::of(two)
            },
            &[load(4)],
        );
        // Flow 0 has 0 and 2, flow 1 has 1 and 3.
        for number in [1, 3, 0, 2] {
            bench.arrives(number, 0, 0);
        }
        assert_eq!(bench.checker.finish(4, 0).reordered(), 0);
    }

    #[test]
    fn frames_that_a_device_refused_were_not_offered() {
        let mut bench = bench(&plain(&[64]), &[load(10)]);
        (0..7).for_each(|number| bench.arrives(number, 0, 0));
        let seen = bench.checker.finish(10, 2);
        assert_eq!((seen.sent(), seen.lost()), (8, 1));
    }

    proptest! {
        #[test]
        fn counts_add_up_whatever_a_device_does(seed: u64, drawn: Option<u64>, flows in 1..20_u32) {
            let stream = Stream {
                flows, ..Stream::of_rfc2544(Side::Input, false, 8, &[64, 90, 200])
            };
            let mut bench = bench(&Traffic { drawn, ..Traffic::of(stream) }, &[load(2000)]);
            let mut rng = Rng::new(seed, "device");
            let mut numbers: Vec<u64> = (0..2000).filter(|_| !rng.chance(0.1)).collect();
            let lost = 2000 - numbers.len() as u64;
            let copies: Vec<u64> = numbers.iter().copied().filter(|_| rng.chance(0.05)).collect();
            numbers.extend(&copies);
            for at in 0..numbers.len() {
                let other = (at + rng.below(20) as usize).min(numbers.len() - 1);
                numbers.swap(at, other);
            }
            let (mut reordered, mut next) = (0, vec![0; flows as usize]);
            let mut came = std::collections::BTreeSet::new();
            for &number in &numbers {
                bench.arrives(number, 0, 0);
                let flow = bench.course.frame(number).flow as usize;
                if came.insert(number) {
                    reordered += u64::from(number < next[flow]);
                    next[flow] = next[flow].max(number + 1);
                }
            }
            let seen = bench.checker.finish(2000, 0);
            prop_assert_eq!(
                (seen.lost(), seen.duplicated(), seen.reordered()),
                (lost, copies.len() as u64, reordered)
            );
            prop_assert_eq!(
                seen.last_lost,
                (0..2000).rev().find(|number| !came.contains(number)).map(Time::from_us)
            );
        }
    }
}
