//! The way of live frames: a program in the kernel makes them and another counts them.
//!
//! One stream of one size; what came is known as a number, and how many of it came out of order. A
//! change of load costs the 25 ms that a call takes before its first frame, which the lateness
//! shows.

use super::Parties;
use super::course::Course;
use super::end::{self, End};
use super::frame::{FCS_BYTES, FlowTemplate, Link, head_bytes};
use super::observation::{Beside, DirectionSeen, EVEN, LoadSeen, StreamSeen, Unevenness};
use super::port::Port;
use super::schedule::Schedule;
use super::signature::{FILL, HEAD_BYTES, SIGNATURE_BYTES, Signature};
use super::traffic::Traffic;
use std::io;
use std::sync::atomic::{AtomicI64, Ordering};
use trammel_core::time::Span;
use trammel_io::clock::{monotonic_ns, thread_cpu_ns};
use trammel_io::error::{Error, Result};
use trammel_io::live::numbered::{self, Counter, Frames, LATE_NS, Source, Template};
use trammel_packet::headers::checksum::Sum;
use trammel_stats::histogram::Histogram;

/// Refuses what live frames cannot be.
pub(crate) fn check(traffic: &Traffic) -> Result<()> {
    let is_one = traffic.streams.len() == 1 && traffic.streams[0].sizes.len() == 1;
    let is_alone = !traffic.broadcasts && traffic.queries.is_none() && !traffic.updates;
    if is_one && is_alone && traffic.bursts.is_none() {
        return Ok(());
    }
    Err(Error::Invalid(
        "live frames have one stream, one size and even gaps, without modifiers; use AF_XDP"
            .to_owned(),
    ))
}

/// A source and the counter of its frames.
#[derive(Debug)]
pub(crate) struct Live {
    source: Source,
    counter: Counter,
    schedule: Schedule,
    processor: Option<usize>,
    /// Processor time of the thread that sent.
    cpu_ns: AtomicI64,
}

impl Live {
    /// Frames of `traffic` out of the first port, counted at the second.
    pub(crate) fn open(
        [from, to]: [&Port; 2],
        traffic: &Traffic,
        course: &Course,
        schedule: &Schedule,
        link: &Link,
        signature: &Signature,
    ) -> Result<Live> {
        let stream = &traffic.streams[0];
        let size = stream.sizes[0];
        let head = head_bytes(stream.is_ipv6(), link.tag.is_some());
        // What the signature's checksum covers before the mark.
        let sum = Sum::ZERO.bytes(&signature.head()).fold();
        let template = |number| Template {
            head: FlowTemplate::new(link, stream, number, signature).head(size),
            sum,
        };
        let frames = Frames {
            templates: (0..stream.flows).map(template).collect(),
            order: course.order().collect(),
            bytes: usize::from(size - FCS_BYTES),
        };
        let fill = &FILL[SIGNATURE_BYTES..frames.bytes - head];
        let [a, b, c, d, ..] = signature.head();
        let counter =
            to.there(|| Counter::open(&to.interface, head, [a, b, c, d], head + HEAD_BYTES))?;
        Ok(Live {
            counter,
            source: from.there(|| Source::open(&from.interface, &frames, fill))?,
            schedule: schedule.clone(),
            processor: from.processor,
            cpu_ns: AtomicI64::new(0),
        })
    }

    /// Offers the loads one after the other.
    fn send(&self, start_ns: i64, is_over: impl Fn() -> bool) -> io::Result<()> {
        for part in self.schedule.parts() {
            let load = numbered::Load {
                start_ns: start_ns + part.start_ns,
                period_ns: part.period_ns,
                frames: part.end - part.first,
            };
            self.source.send(&load, &is_over)?;
        }
        Ok(())
    }

    /// What was sent and counted.
    pub(crate) fn seen(&self) -> io::Result<DirectionSeen> {
        let (sent, counted) = (self.source.sent()?, self.counter.counted()?);
        let mut lateness = Histogram::of_times();
        let mut unevenness = Unevenness {
            sending: Span::from_ns((sent.last_ns - sent.first_ns).max(0).cast_unsigned()),
            ..Unevenness::default()
        };
        for (&count, units) in sent.late.iter().zip(1_u64..) {
            lateness.record_n(units * LATE_NS * 1000, count);
            let late = Span::from_ns(units * LATE_NS);
            if count > 0 && late > EVEN {
                // Which of them left together, the counts do not tell: it may be all.
                unevenness.bunched += count;
                unevenness.burst += count;
                unevenness.latest = late;
            }
        }
        let gap_ns = self.schedule.gap_ns(sent.frames.saturating_sub(1));
        let effective_ns = sent.last_ns - sent.first_ns + gap_ns;
        let loads = self.schedule.parts().iter().map(|part| LoadSeen {
            intended: part.end - part.first,
            sent: sent.frames.clamp(part.first, part.end) - part.first,
            // Of which load a frame was, the count does not tell.
            received: 0,
        });
        Ok(DirectionSeen {
            intended: self.schedule.frames(),
            streams: vec![StreamSeen {
                sent: sent.frames,
                received: counted.frames.min(sent.frames),
                duplicated: counted.frames.saturating_sub(sent.frames),
                reordered: counted.reordered,
                ..StreamSeen::new(false)
            }],
            loads: loads.collect(),
            effective: if sent.frames == 0 {
                Span::ZERO
            } else {
                Span::from_ns(effective_ns.max(0).cast_unsigned())
            },
            sender_cpu: Span::from_ns(self.cpu_ns.load(Ordering::Relaxed).max(0).cast_unsigned()),
            lateness,
            unevenness,
            corrupted: 0,
            strays: 0,
            others: 0,
            too_late: 0,
            broadcasts: Beside::default(),
            queries: Beside::default(),
            last_lost: None,
            last_arrival: None,
            outage: None,
            tagged: Vec::new(),
            untimed: 0,
            came_after: None,
            receive_drops: 0,
        })
    }
}

/// Sends while the ports answer for their addresses.
pub(crate) fn work(
    ends: &mut [End; 2],
    sources: &[Option<Live>; 2],
    start_ns: i64,
    parties: &Parties<'_>,
) -> io::Result<()> {
    let (shared, calendar) = (parties.shared, parties.calendar);
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (port, source) in sources.iter().enumerate() {
            let Some(source) = source else { continue };
            let end_ns = start_ns.saturating_add(source.schedule.end_ns());
            let given_up_ns = parties
                .stretch_ns
                .map_or(i64::MAX, |stretch| end_ns.saturating_add(stretch));
            threads.push(scope.spawn(move || {
                let is_over = || {
                    shared.stop.load(Ordering::Relaxed)
                        || shared.has_failed.load(Ordering::Relaxed)
                        || monotonic_ns() > given_up_ns
                };
                let cpu_ns = thread_cpu_ns();
                let sent = shared
                    .settle(source.processor)
                    .and_then(|()| source.send(start_ns, is_over));
                let cpu_ns = thread_cpu_ns() - cpu_ns;
                source.cpu_ns.store(cpu_ns, Ordering::Relaxed);
                shared.has_sent(port, monotonic_ns());
                sent
            }));
        }
        for (port, end) in ends.iter_mut().enumerate() {
            threads.push(scope.spawn(move || {
                let worked = end.work(port, None, None, calendar, shared);
                shared
                    .has_failed
                    .fetch_or(worked.is_err(), Ordering::Relaxed);
                worked
            }));
        }
        end::join(threads)
    })
}
