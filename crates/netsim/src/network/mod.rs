//! The engine: links, flows and streams, and the loop that moves them through virtual time.

mod assembly;
mod audit;
mod gather;
mod hosts;
mod inspect;
pub mod middlebox;
pub(crate) mod reader;
mod seldom;
mod stretch;
mod transit;
mod watch;

use crate::flow::Flow;
use crate::link::Link;
use crate::pcapng::Capture;
use crate::stream::Stream;
use crate::trace::Thinning;
use crate::wifi::Medium;
use crate::workload::Workload;
use gather::{Gather, Timer};
use reader::Sink;
use std::collections::VecDeque;
use std::sync::LazyLock;
use stretch::Routes;
use trammel_core::events::EventQueue;
use trammel_core::slots::Slots;
use trammel_core::time::Time;
use trammel_stats::histogram::Histogram;
pub use watch::Passed;

/// Things that happen seldom: everything but packets and the timers of connections.
#[derive(Clone, Copy, Debug)]
enum Event {
    Start(u32),
    Stop(u32),
    Read(u32),
    Slack(u32),
    Sample(u32),
    Emit(u32),
    Open(u32),
    Turn(u32),
    Warm,
    Queues,
}

/// The round trips of a flow that has had none.
static NO_RTT: LazyLock<Histogram> = LazyLock::new(|| Histogram::of_counts(2));

/// How long the index of a workload's connection that is over is not used again; by then none of its
/// packets are on their way.
const QUARANTINE: Time = Time::from_secs(10);

/// Links of the longest route.
pub const MAX_HOPS: usize = 8;

/// The queue of a link over time.
#[derive(Clone, Debug, Default)]
pub struct QueueTrace {
    /// When, packets, bytes.
    pub samples: Vec<(Time, u32, u64)>,
    thinning: Thinning,
}

/// A medium and the links that are its two directions.
#[derive(Debug)]
struct SharedMedium {
    medium: Medium,
    links: [usize; 2],
}

/// A network in virtual time.
#[derive(Debug)]
pub struct Network {
    now: Time,
    links: Vec<Link>,
    mediums: Vec<SharedMedium>,
    /// Devices between links.
    betweens: Vec<middlebox::Between>,
    flows: Vec<Flow>,
    /// The applications that read in intervals.
    sinks: Vec<Sink>,
    streams: Vec<Stream>,
    workloads: Vec<Workload>,
    /// Flows of workloads that are over, and since when.
    retired: VecDeque<(Time, u32)>,
    routes: Routes,
    /// Links that run ahead of time, each with the one that feeds it.
    ahead: Vec<(usize, usize)>,
    /// Links that gather what access links bring, and where each link's timer is.
    gathers: Vec<Gather>,
    timers: Vec<Timer>,
    /// One timer a link, one a medium, one a device between links, that of the events, then two a flow with open connections.
    slots: Slots,
    /// The slot of the events.
    event_slot: usize,
    /// Whom the slots of connections belong to.
    owners: Vec<u32>,
    free_slots: Vec<usize>,
    events: EventQueue<Event>,
    started: bool,
    queue_interval: Option<Time>,
    queues: Vec<QueueTrace>,
    captures: Vec<Capture>,
    is_capturing: bool,
    watched: Option<Box<watch::Watched>>,
    /// Packets handed to a host.
    delivered: u64,
    standstill: audit::Standstill,
}

impl Default for Network {
    fn default() -> Network {
        Network::new()
    }
}

impl Network {
    /// An empty network at time zero.
    pub fn new() -> Network {
        Network {
            now: Time::ZERO,
            links: Vec::new(),
            mediums: Vec::new(),
            betweens: Vec::new(),
            flows: Vec::new(),
            sinks: Vec::new(),
            streams: Vec::new(),
            workloads: Vec::new(),
            retired: VecDeque::new(),
            routes: Routes::default(),
            ahead: Vec::new(),
            gathers: Vec::new(),
            timers: Vec::new(),
            slots: Slots::new(2),
            event_slot: 0,
            owners: Vec::new(),
            free_slots: Vec::new(),
            events: EventQueue::new(),
            started: false,
            queue_interval: None,
            queues: Vec::new(),
            captures: Vec::new(),
            is_capturing: false,
            watched: None,
            delivered: 0,
            standstill: audit::Standstill::default(),
        }
    }

    fn start(&mut self) {
        self.started = true;
        self.find_stretches();
        self.event_slot = self.links.len() + self.mediums.len() + self.betweens.len();
        self.slots = Slots::new(self.event_slot + 1);
        for (number, shared) in self.mediums.iter().enumerate() {
            self.slots
                .set(self.links.len() + number, shared.medium.next());
        }
        self.start_middleboxes();
        if self.queue_interval.is_some() {
            self.queues = vec![QueueTrace::default(); self.links.len()];
        }
        self.note_events();
    }

    fn note_events(&mut self) {
        let next = self.events.peek_time().unwrap_or(Time::MAX);
        self.slots.set(self.event_slot, next);
    }

    /// Runs until everything up to and including `end` has happened.
    pub fn run_until(&mut self, end: Time) {
        self.run_some(end, u64::MAX);
    }

    /// The same, but at most `steps` steps; says whether `end` is reached. Where it is not, the next call goes on.
    pub fn run_some(&mut self, end: Time, mut steps: u64) -> bool {
        if !self.started {
            self.start();
        }
        self.note_events();
        loop {
            let (slot, time) = self.slots.earliest();
            if time > end {
                break;
            }
            if steps == 0 {
                return false;
            }
            steps -= 1;
            debug_assert!(time >= self.now, "time never goes back");
            if cfg!(debug_assertions) {
                self.standstill.note(time);
            }
            self.now = time;
            if slot < self.links.len() {
                self.on_link(slot);
            } else if slot > self.event_slot {
                self.on_connection_timer(slot);
            } else if slot == self.event_slot {
                self.on_event();
            } else {
                let number = slot - self.links.len();
                match number.checked_sub(self.mediums.len()) {
                    None => self.on_medium(number),
                    Some(number) => self.on_middlebox(number),
                }
            }
        }
        self.now = self.now.max(end);
        self.settle();
        true
    }

    fn on_event(&mut self) {
        let now = self.now;
        while let Some((_, event)) = self.events.pop_until(now) {
            match event {
                Event::Start(flow) => self.start_flow(flow as usize),
                Event::Stop(flow) => self.stop_flow(flow as usize),
                Event::Read(sink) => self.on_read(sink as usize),
                Event::Slack(sink) => self.on_slack(sink as usize),
                Event::Sample(flow) => self.sample(flow as usize),
                Event::Emit(stream) => self.emit(stream as usize),
                Event::Open(workload) => self.open(workload as usize),
                Event::Turn(flow) => self.turn(flow as usize),
                Event::Warm => self.warm(),
                Event::Queues => self.sample_queues(),
            }
        }
        self.note_events();
    }
}
