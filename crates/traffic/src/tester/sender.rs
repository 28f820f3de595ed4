//! Hands frames over when they are due: open loop, from the plan, never from the present.
//!
//! A frame that is late goes at once, and by how much it was late is counted. Only what is due together leaves together.

use super::course::{Course, Departure, Writer};
use super::end::End;
use super::frame::Link;
use super::query;
use super::schedule::Schedule;
use super::signature::Signature;
use super::traffic::Traffic;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use trammel_core::histogram::Histogram;
use trammel_core::time::Time;
use trammel_io::clock::monotonic_ns;
use trammel_packet::batch::CAPACITY;

/// Batches of frames that one call hands over, at most.
const BATCHES: usize = 2;
/// From one management query to the next.
const SECOND_NS: i64 = 1_000_000_000;
/// So long may an interface take nothing before the run ends.
const PATIENCE_NS: i64 = 1_000_000_000;

/// The queries beside the test frames.
#[derive(Debug)]
struct Queries {
    link: Link,
    asker: Ipv4Addr,
    agent: Ipv4Addr,
    sent: u16,
    next_ns: i64,
}

/// Sends the frames of a direction.
#[derive(Debug)]
pub(crate) struct Sender {
    course: Course,
    schedule: Schedule,
    writer: Writer,
    start_ns: i64,
    /// Places of the schedule that were handed over.
    place: u64,
    /// When the next is due.
    due_ns: i64,
    first_ns: Option<i64>,
    last_ns: i64,
    lateness: Histogram,
    queries: Option<Queries>,
    stuck_since: Option<i64>,
    /// How long after the schedule's end sending is given up, where it is.
    pub(crate) stretch_ns: Option<i64>,
    /// Processor time that its thread had until all was sent.
    pub(crate) cpu_ns: i64,
}

impl Sender {
    /// Will send `traffic`, whose course and schedule are these, over `link`; `asker` asks for counters.
    pub(crate) fn new(
        traffic: &Traffic,
        course: &Course,
        schedule: &Schedule,
        link: Link,
        signature: Signature,
        asker: IpAddr,
    ) -> Sender {
        let queries = match (traffic.queries, asker) {
            (Some(agent), IpAddr::V4(asker)) => Some(Queries {
                link,
                asker,
                agent,
                sent: 0,
                next_ns: 0,
            }),
            _ => None,
        };
        Sender {
            course: course.clone(),
            writer: Writer::new(traffic, &link, signature),
            start_ns: 0,
            place: 0,
            due_ns: i64::MAX,
            first_ns: None,
            last_ns: 0,
            lateness: Histogram::of_times(),
            queries,
            stuck_since: None,
            stretch_ns: None,
            cpu_ns: 0,
            schedule: schedule.clone(),
        }
    }

    /// The first frame is due at `start_ns`.
    pub(crate) fn start(&mut self, start_ns: i64) {
        self.start_ns = start_ns;
        self.due_ns = self.due(0);
    }

    fn due(&self, place: u64) -> i64 {
        self.schedule.due_ns(place).saturating_add(self.start_ns)
    }

    /// When the next frame is due; never, behind the last.
    pub(crate) fn due_ns(&self) -> i64 {
        self.due_ns
    }

    /// Whether every frame was handed over.
    pub(crate) fn is_done(&self, end: &End) -> bool {
        self.due_ns == i64::MAX && end.unsent() == 0
    }

    /// Hands over what is due at `now_ns`, so much at most as a call takes.
    pub(crate) fn step(&mut self, end: &mut End, now_ns: i64) -> io::Result<()> {
        let mut now_ns = now_ns;
        if self.is_given_up(now_ns) {
            self.due_ns = i64::MAX;
        }
        let before = (self.place, end.unsent());
        for batch in 0..BATCHES {
            if self.due_ns > now_ns || end.has_waiting() {
                break;
            }
            if batch > 0 {
                now_ns = monotonic_ns();
            }
            self.fill(end, now_ns);
            end.transmit()?;
        }
        end.flush()?;
        let has_moved = self.place > before.0 || end.unsent() < before.1 || end.unsent() == 0;
        if has_moved {
            self.stuck_since = None;
            return Ok(());
        }
        let since = *self.stuck_since.get_or_insert(now_ns);
        if now_ns - since > PATIENCE_NS {
            let why = format!("`{}` takes no frames; is it up?", end.name());
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
        Ok(())
    }

    fn is_given_up(&self, now_ns: i64) -> bool {
        let end_ns = self.start_ns.saturating_add(self.schedule.end_ns());
        self.stretch_ns
            .is_some_and(|stretch| now_ns > end_ns.saturating_add(stretch))
    }

    /// Makes a batch of what is due.
    fn fill(&mut self, end: &mut End, now_ns: i64) {
        for _ in 0..CAPACITY {
            if self.due_ns > now_ns {
                return;
            }
            if let Some(queries) = &mut self.queries
                && self.due_ns - self.start_ns >= queries.next_ns
            {
                let frame = query::frame(&queries.link, queries.asker, queries.agent, queries.sent);
                if end.enqueue(&frame) {
                    queries.sent += 1;
                }
                queries.next_ns += SECOND_NS;
                if end.is_full() {
                    return;
                }
            }
            let frame = match self.course.departure(self.place) {
                Departure::Test(number) => {
                    let frame = self.course.frame(number);
                    self.writer.test(number, frame, now_ns)
                }
                Departure::Broadcast(number) => {
                    let size = self.course.frame(0).size;
                    self.writer.broadcast(number, size, now_ns)
                }
            };
            // All slots wait for an interface that takes none of them.
            if !end.enqueue(frame) {
                return;
            }
            self.lateness
                .record((now_ns - self.due_ns).cast_unsigned() * 1000);
            self.first_ns.get_or_insert(now_ns);
            self.last_ns = now_ns;
            self.place += 1;
            self.due_ns = self.due(self.place);
        }
    }

    /// Places of the schedule that were handed over, and queries.
    pub(crate) fn sent(&self) -> (u64, u64) {
        (
            self.place,
            self.queries
                .as_ref()
                .map_or(0, |queries| u64::from(queries.sent)),
        )
    }

    /// When the last frame was handed over.
    pub(crate) fn last_ns(&self) -> i64 {
        self.last_ns
    }

    /// From the first frame to the last, with the gap behind it.
    pub(crate) fn effective(&self) -> Time {
        let Some(first) = self.first_ns else {
            return Time::ZERO;
        };
        let gap = self.schedule.period_ns(self.place.saturating_sub(1));
        Time::from_ps(((self.last_ns - first) as f64 * 1e3 + gap * 1e3) as u64)
    }

    /// By how much frames were handed over late.
    pub(crate) fn lateness(&mut self) -> Histogram {
        std::mem::replace(&mut self.lateness, Histogram::of_times())
    }
}
