//! Hands frames over when they are due: open loop, from the plan, never from the present.
//!
//! A frame that is late goes at once, and by how much it was late is counted. Only what is due
//! together leaves together; what left together and should not have, [`super::unevenness`] counts.

use super::course::{Course, Departure, Writer};
use super::end::End;
use super::frame::Link;
use super::observation::Unevenness;
use super::schedule::Schedule;
use super::signature::Signature;
use super::timing::Tagged;
use super::traffic::Traffic;
use super::unevenness::Watch;
use super::{query, update};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use trammel_core::time::Span;
use trammel_io::clock::monotonic_ns;
use trammel_packet::batch::CAPACITY;
use trammel_stats::histogram::Histogram;

/// Batches of frames that one call hands over, at most.
const BATCHES: usize = 2;
/// From one management query to the next.
const SECOND_NS: i64 = 1_000_000_000;
/// So long may an interface take nothing before the run ends.
const PATIENCE_NS: i64 = 1_000_000_000;

/// What a frame beside the test frames is.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A management query to an agent.
    Query(Ipv4Addr),
    /// A routing update.
    Update,
}

/// Frames beside the test frames, the first of them before the first of these.
#[derive(Debug)]
struct Beside {
    kind: Kind,
    link: Link,
    from: Ipv4Addr,
    sent: u16,
    /// When the next is due, from the start.
    next_ns: i64,
}

impl Beside {
    fn frame(&self) -> Vec<u8> {
        match self.kind {
            Kind::Query(agent) => query::frame(&self.link, self.from, agent, self.sent),
            Kind::Update => update::frame(&self.link, self.from, self.sent),
        }
    }

    fn interval_ns(&self) -> i64 {
        match self.kind {
            Kind::Query(_) => SECOND_NS,
            Kind::Update => update::INTERVAL_NS,
        }
    }
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
    watch: Watch,
    besides: Vec<Beside>,
    stuck_since: Option<i64>,
    /// Frames that the port's stamper sends, each by itself.
    pub(crate) timed: Option<Tagged>,
    /// How long after the schedule's end sending is given up, where it is.
    pub(crate) stretch_ns: Option<i64>,
    /// Processor time that its thread had until all was sent.
    pub(crate) cpu_ns: i64,
}

impl Sender {
    /// Will send `traffic`, whose course and schedule are these, over `link`; what is beside it
    /// comes from `own`.
    pub(crate) fn new(
        traffic: &Traffic,
        course: &Course,
        schedule: &Schedule,
        link: Link,
        signature: Signature,
        own: IpAddr,
    ) -> Sender {
        let mut besides = Vec::new();
        if let IpAddr::V4(from) = own {
            let updates = traffic.updates.then_some(Kind::Update);
            let kinds = updates.into_iter().chain(traffic.queries.map(Kind::Query));
            besides.extend(kinds.map(|kind| Beside {
                kind,
                link,
                from,
                sent: 0,
                next_ns: 0,
            }));
        }
        Sender {
            course: course.clone(),
            writer: Writer::new(traffic, &link, signature),
            start_ns: 0,
            place: 0,
            due_ns: i64::MAX,
            first_ns: None,
            last_ns: 0,
            lateness: Histogram::of_times(),
            watch: Watch::default(),
            besides,
            stuck_since: None,
            timed: None,
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
            self.fill(end, now_ns)?;
            end.transmit()?;
            self.note(end);
        }
        end.flush()?;
        self.note(end);
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

    /// Notes what has left by now: the clock is read once the call that hands frames over is back.
    fn note(&mut self, end: &End) {
        let left = self.place.saturating_sub(end.unsent() as u64);
        if left > self.watch.left() {
            let at_ns = monotonic_ns() - self.start_ns;
            self.watch.note(&self.schedule, left, at_ns);
        }
    }

    fn is_given_up(&self, now_ns: i64) -> bool {
        let end_ns = self.start_ns.saturating_add(self.schedule.end_ns());
        self.stretch_ns
            .is_some_and(|stretch| now_ns > end_ns.saturating_add(stretch))
    }

    /// Makes a batch of what is due.
    fn fill(&mut self, end: &mut End, now_ns: i64) -> io::Result<()> {
        for _ in 0..CAPACITY {
            if self.due_ns > now_ns {
                break;
            }
            for beside in &mut self.besides {
                if self.due_ns - self.start_ns < beside.next_ns {
                    continue;
                }
                if end.enqueue(&beside.frame()) {
                    beside.sent = beside.sent.wrapping_add(1);
                }
                beside.next_ns += beside.interval_ns();
                if end.is_full() {
                    return Ok(());
                }
            }
            let mut is_timed = false;
            let frame = match self.course.departure(self.place) {
                Departure::Test(number) => {
                    is_timed = self.timed.is_some_and(|timed| timed.has(number));
                    let frame = self.course.frame(number);
                    self.writer.test(number, frame, now_ns)
                }
                Departure::Broadcast(number) => {
                    let size = self.course.frame(0).size;
                    self.writer.broadcast(number, size, now_ns)
                }
            };
            let is_sent = if is_timed {
                // It leaves behind those before it.
                end.unsent() == 0 && end.send_timed(frame)?
            } else {
                end.enqueue(frame)
            };
            // All slots wait for an interface that takes none of them, or for the frames before
            // this one to be gone.
            if !is_sent {
                break;
            }
            self.lateness
                .record((now_ns - self.due_ns).cast_unsigned() * 1000);
            self.first_ns.get_or_insert(now_ns);
            self.last_ns = now_ns;
            self.place += 1;
            self.due_ns = self.due(self.place);
        }
        Ok(())
    }

    /// Places of the schedule that were handed over, and queries.
    pub(crate) fn sent(&self) -> (u64, u64) {
        let queries = |beside: &&Beside| matches!(beside.kind, Kind::Query(_));
        let queries = self.besides.iter().find(queries);
        (self.place, queries.map_or(0, |asked| asked.sent.into()))
    }

    /// When the last frame was handed over.
    pub(crate) fn last_ns(&self) -> i64 {
        self.last_ns
    }

    /// From the first frame to the last, with the gap behind it.
    pub(crate) fn effective(&self) -> Span {
        let Some(first) = self.first_ns else {
            return Span::ZERO;
        };
        let gap_ns = self.schedule.gap_ns(self.place.saturating_sub(1));
        Span::from_ns((self.last_ns - first + gap_ns).cast_unsigned())
    }

    /// How unevenly frames left.
    pub(crate) fn unevenness(&self) -> Unevenness {
        let first_ns = self.first_ns.unwrap_or(self.start_ns) - self.start_ns;
        Unevenness {
            sending: Span::from_ns((self.watch.at_ns - first_ns).max(0).cast_unsigned()),
            ..self.watch.seen()
        }
    }

    /// By how much frames were handed over late.
    pub(crate) fn lateness(&mut self) -> Histogram {
        std::mem::replace(&mut self.lateness, Histogram::of_times())
    }
}
