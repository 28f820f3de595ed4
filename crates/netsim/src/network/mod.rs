//! The engine: links, flows and streams, and the loop that moves them through virtual time.
//!
//! | file | concern |
//! | --- | --- |
//! | `parts/` | the state, in named parts |
//! | `apps` | applications: what they are told, and what they do |
//! | `assembly` | adding links, flows, streams, workloads, captures |
//! | `inspect` | what may be asked of a network |
//! | `transit` | packets from link to link, and to the ends of their routes |
//! | `hosts` | segments that arrive at connections, and what these send |
//! | `lifecycle` | flow start, stop and sampling |
//! | `reading` | applications that read in intervals |
//! | `writing` | applications that write at a rate |
//! | `middleboxes` | devices between links |
//! | `lookahead` | chains of links that a packet crosses at once |
//! | `observe` | watching one sender |
//! | `audit` | whether the books balance |

mod apps;
mod assembly;
mod audit;
mod hosts;
mod inspect;
mod lifecycle;
mod lookahead;
mod middleboxes;
mod observe;
mod parts;
mod reading;
mod transit;
mod writing;

use crate::ids::{LinkId, MediumId, MiddleboxId, Table};
use crate::link::Link;
pub use apps::AppSpec;
use parts::agenda::{Agenda, Slot};
pub(crate) use parts::apps::AppConnection;
use parts::devices::{PlacedMiddlebox, SharedMedium};
use parts::event::Event;
use parts::lookahead::Lookahead;
use parts::observers::Observers;
pub use parts::observers::{Passed, QueueTrace};
pub use parts::routes::MAX_HOPS;
use parts::routes::Routes;
use parts::standstill::Standstill;
use parts::traffic::Traffic;
use trammel_core::events::EventQueue;
use trammel_core::time::Time;
pub(crate) use writing::Writer;
pub use writing::write_interval;

/// A network in virtual time.
#[derive(Debug)]
pub struct Network {
    now: Time,
    started: bool,
    links: Table<LinkId, Link>,
    mediums: Table<MediumId, SharedMedium>,
    middleboxes: Table<MiddleboxId, PlacedMiddlebox>,
    routes: Routes,
    lookahead: Lookahead,
    traffic: Traffic,
    agenda: Agenda,
    events: EventQueue<Event>,
    observers: Observers,
    /// Packets handed to a host.
    delivered: u64,
    standstill: Standstill,
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
            started: false,
            links: Table::new(),
            mediums: Table::new(),
            middleboxes: Table::new(),
            routes: Routes::default(),
            lookahead: Lookahead::default(),
            traffic: Traffic::default(),
            agenda: Agenda::new(0, 0, 0),
            events: EventQueue::new(),
            observers: Observers::default(),
            delivered: 0,
            standstill: Standstill::default(),
        }
    }

    fn start(&mut self) {
        self.started = true;
        self.find_chains();
        let (links, mediums) = (self.links.len(), self.mediums.len());
        self.agenda = Agenda::new(links, mediums, self.middleboxes.len());
        for (number, shared) in self.mediums.entries() {
            self.agenda.set_medium(number, shared.medium.next());
        }
        self.start_middleboxes();
        if self.observers.queue_interval.is_some() {
            self.observers.queues = Table::of(vec![QueueTrace::default(); links]);
        }
        self.note_events();
    }

    fn note_events(&mut self) {
        let next = self.events.peek_time().unwrap_or(Time::MAX);
        self.agenda.set_events(next);
    }

    /// Runs until everything up to and including `end` has happened.
    pub fn run_until(&mut self, end: Time) {
        self.run_some(end, u64::MAX);
    }

    /// The same, but at most `steps` steps; says whether `end` is reached. Where it is not, the
    /// next call goes on.
    pub fn run_some(&mut self, end: Time, mut steps: u64) -> bool {
        if !self.started {
            self.start();
        }
        self.note_events();
        loop {
            let (slot, time) = self.agenda.earliest();
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
            match self.agenda.slot(slot) {
                Slot::Link(link) => self.on_link(link),
                Slot::Timer(timer) => self.on_connection_timer(timer),
                Slot::Events => self.on_event(),
                Slot::Medium(medium) => self.on_medium(medium),
                Slot::Middlebox(middlebox) => self.on_middlebox(middlebox),
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
                Event::Start(flow) => self.start_flow(flow),
                Event::Stop(flow) => self.stop_flow(flow),
                Event::Read(app) => self.on_read(app),
                Event::Slack(app) => self.on_slack(app),
                Event::Write(flow) => self.on_write(flow),
                Event::Sample(flow) => self.sample(flow),
                Event::Emit(stream) => self.emit(stream),
                Event::Open(workload) => self.open(workload),
                Event::Turn(flow) => self.turn(flow),
                Event::User(user) => self.on_user(user),
                Event::Warm => self.warm(),
                Event::Queues => self.sample_queues(),
            }
        }
        self.note_events();
    }
}
