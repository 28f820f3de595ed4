//! The lab: carries frames across links, cuts what fails, sends probes, and takes notes.
//!
//! What becomes of a frame is decided as in `devices`, by the clock instead of in virtual time.

mod frames;

use super::life::{Life, Told, since};
use super::measured::{Measured, Unmeasured};
use super::wires::{Wires, port_name};
use crate::devices::looks::Looks;
use crate::devices::node;
use std::rc::Rc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;
use tempfile::TempDir;
use trammel_card::live::Method;
use trammel_card::{CommandLine, Options};
use trammel_control::network::{
    AtEnd, Change, INTERVAL, Recorder, Report, Settings, Topology, Works,
};
use trammel_core::{EventQueue, Span, Time};
use trammel_io::clock;
use trammel_scenario::routing::Routing;

/// The longest wait, so that an interruption is soon noticed.
const MOST_WAIT: Span = Span::from_ms(50);
/// Intervals between looks that a probe may take: a shared machine runs threads late.
const LATE_LOOKS: usize = 5;
/// How long cards may take to open.
const PATIENCE: Duration = Duration::from_secs(60);

enum Event {
    Change(Change),
    Look,
    Arrival(Arrival),
}

/// Where a frame goes.
#[derive(Clone, Copy)]
enum To {
    /// The router at the end of this number, and how often it had failed.
    End(usize, u32),
    /// The host at this place among the sources of probes.
    Host(usize),
}

/// A frame on a subnet.
struct Arrival {
    to: To,
    frame: Rc<[u8]>,
    /// The subnet, and how often it had failed when the frame was sent.
    subnet: (usize, u32),
}

/// A router: its life, or one that ends.
#[derive(Default)]
struct Router {
    life: Option<Life>,
    ending: Option<Life>,
    incarnation: u32,
}

/// A run that goes on.
pub(super) struct Lab<'a> {
    topology: &'a Topology,
    settings: &'a Settings,
    end: Time,
    // Before the wires: cards close their sockets first.
    routers: Vec<Router>,
    wires: Wires,
    folder: TempDir,
    told: (Sender<Told>, Receiver<Told>),
    works: Works,
    failures: Vec<u32>,
    /// When each end has sent all it was given.
    free: Vec<Time>,
    events: EventQueue<Event>,
    looks: Looks,
    found: Recorder,
    began: Time,
    spf_runs_of_the_dead: u64,
    origin_ns: i64,
    now: Time,
    /// The latest that probes left, and looks that were left out.
    late: Span,
    left_out: u64,
}

impl<'a> Lab<'a> {
    /// Builds namespaces and wires for `scenario`.
    pub(super) fn new(scenario: &'a Routing) -> Result<Lab<'a>, Unmeasured> {
        let (topology, settings) = (&scenario.topology, &scenario.settings);
        let mut events = EventQueue::new();
        for (at, change) in &scenario.changes {
            events.push(*at, Event::Change(*change));
        }
        events.push(Time::ZERO + INTERVAL, Event::Look);
        let looks = Looks::new(topology);
        let wires = Wires::new(topology)?;
        let folder = tempfile::tempdir();
        let why = |why| Unmeasured::Failed(format!("cannot make a temporary folder: {why}"));
        Ok(Lab {
            topology,
            settings,
            end: scenario.end(),
            routers: topology.routers.iter().map(|_| Router::default()).collect(),
            free: vec![Time::ZERO; wires.ends.len()],
            wires,
            folder: folder.map_err(why)?,
            told: mpsc::channel(),
            works: Works::subnets_of(topology),
            failures: vec![0; topology.subnets.len()],
            events,
            found: Recorder::new(looks.pairs()),
            looks,
            began: Time::ZERO,
            spf_runs_of_the_dead: 0,
            origin_ns: 0,
            now: Time::ZERO,
            late: Span::ZERO,
            left_out: 0,
        })
    }

    /// Runs to the end; nothing where `stop` says so before.
    pub(super) fn run(mut self, stop: &dyn Fn() -> bool) -> Result<Option<Measured>, Unmeasured> {
        clock::wake_on_time();
        for router in 0..self.routers.len() {
            self.start(router);
        }
        for _ in 0..self.routers.len() {
            match self.told.1.recv_timeout(PATIENCE) {
                Ok(Told::Failed(router, why)) => return Err(self.failed(router, why)),
                Ok(_) => {}
                Err(_) => return Err(Unmeasured::Failed("the cards do not open".to_owned())),
            }
        }
        self.origin_ns = clock::monotonic_ns();
        for router in &self.routers {
            if let Some(life) = &router.life {
                life.go(self.origin_ns);
            }
        }
        let failed = |why| Unmeasured::Failed(format!("a wire fails: {why}"));
        loop {
            self.now = since(self.origin_ns);
            if stop() {
                return Ok(None);
            }
            self.listen()?;
            while let Some((at, event)) = self.events.pop_until(self.now.min(self.end)) {
                self.happen(at, event)?;
            }
            if self.now >= self.end {
                return self.finish().map(Some);
            }
            for end in 0..self.wires.ends.len() {
                for frame in self.wires.receive(end).map_err(failed)? {
                    self.leave(end, &frame.into());
                }
            }
            let next = self.events.peek_time().unwrap_or(self.end).min(self.end);
            let left = next.saturating_since(since(self.origin_ns));
            self.wires.wait(left.min(MOST_WAIT)).map_err(failed)?;
        }
    }

    fn failed(&self, router: usize, why: Unmeasured) -> Unmeasured {
        let name = &self.topology.routers[router];
        match why {
            Unmeasured::Failed(why) => Unmeasured::Failed(format!("router `{name}`: {why}")),
            lack @ Unmeasured::Lack(_) => lack,
        }
    }

    /// Opens the card of a router that does not live.
    fn start(&mut self, router: usize) {
        if self.routers[router].life.is_some() {
            return;
        }
        if let Some(ending) = self.routers[router].ending.take() {
            ending.join();
        }
        let ports = self.topology.subnets_of(router).len();
        let names: Vec<String> = (0..ports).map(port_name).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let options = Options {
            method: Method::AfPacket,
            has_hosts: false,
            control: Some(node::config_of(self.topology, self.settings, router)),
            console: self
                .settings
                .has_carrier
                .then(|| self.folder.path().join(router.to_string())),
            ..Options::new(&names)
        };
        let life = Life::start(
            router,
            &self.wires.homes[router],
            options,
            self.told.0.clone(),
        );
        self.routers[router].life = Some(life);
        self.works.routers[router] = true;
    }

    /// What routers have told.
    fn listen(&mut self) -> Result<(), Unmeasured> {
        while let Ok(told) = self.told.1.try_recv() {
            match told {
                Told::Changed(router, at) if self.works.routers[router] && at >= self.began => {
                    self.found.table_changed(at);
                }
                Told::Open(router) if self.settings.has_carrier => {
                    for subnet in self.topology.subnets_of(router) {
                        if !self.works.subnets[subnet] {
                            self.tell(router, subnet, false)?;
                        }
                    }
                }
                Told::Changed(..) | Told::Open(_) => {}
                Told::Failed(router, why) => return Err(self.failed(router, why)),
            }
        }
        Ok(())
    }

    fn happen(&mut self, at: Time, event: Event) -> Result<(), Unmeasured> {
        match event {
            Event::Change(change) => self.change(change),
            Event::Look => {
                self.late = self.late.max(self.now.saturating_since(at));
                self.look();
                let mut next = at + INTERVAL;
                while next < self.now {
                    next += INTERVAL;
                    self.left_out += 1;
                }
                self.events.push(next, Event::Look);
                Ok(())
            }
            Event::Arrival(arrival) => self.arrive(&arrival),
        }
    }

    fn change(&mut self, change: Change) -> Result<(), Unmeasured> {
        self.looks.end(0, &mut self.found);
        let (cause, runs) = (change.words(self.topology), self.spf_runs());
        self.began = self.now;
        self.found.begin(self.now, change, cause, runs);
        match change {
            Change::SubnetDown(subnet) => {
                self.failures[subnet] += 1;
                self.set_subnet(subnet, false)?;
            }
            Change::SubnetUp(subnet) => self.set_subnet(subnet, true)?,
            Change::RouterDown(router) => {
                self.works.routers[router] = false;
                let one = &mut self.routers[router];
                one.incarnation += 1;
                if let Some(life) = one.life.take() {
                    life.end();
                    self.spf_runs_of_the_dead += life.spf_runs();
                    one.ending = Some(life);
                }
            }
            Change::RouterUp(router) => {
                self.start(router);
                if let Some(life) = &self.routers[router].life {
                    life.go(self.origin_ns);
                }
            }
        }
        Ok(())
    }

    fn set_subnet(&mut self, subnet: usize, works: bool) -> Result<(), Unmeasured> {
        self.works.subnets[subnet] = works;
        if !self.settings.has_carrier {
            return Ok(());
        }
        self.wires.set_carrier(subnet, works)?;
        for router in &self.topology.subnets[subnet].routers {
            if self.works.routers[*router] {
                self.tell(*router, subnet, works)?;
            }
        }
        Ok(())
    }

    /// Tells the software of `router` that the link at its port on `subnet` fails or works.
    fn tell(&self, router: usize, subnet: usize, works: bool) -> Result<(), Unmeasured> {
        let mut ends = self.wires.ends.iter();
        let end = ends.find(|end| end.router == router && end.subnet == subnet);
        let port = end.expect("a router on a subnet has a port there").port;
        let word = if works { "up" } else { "down" };
        let line = format!("ip interface {} {word}", node::name_of(port));
        let mut console = CommandLine::connect(&self.folder.path().join(router.to_string()))?;
        console.run(&line, false)?;
        Ok(())
    }

    fn spf_runs(&self) -> u64 {
        let living = self
            .routers
            .iter()
            .filter_map(|router| router.life.as_ref());
        living.map(Life::spf_runs).sum::<u64>() + self.spf_runs_of_the_dead
    }

    /// Ends all routers. Probes that are on their way are left out.
    fn finish(mut self) -> Result<Measured, Unmeasured> {
        self.routers
            .iter()
            .filter_map(|router| router.life.as_ref())
            .for_each(Life::end);
        let spf_runs = self.spf_runs();
        let mut at_end = Vec::new();
        for (number, router) in self.routers.iter_mut().enumerate() {
            at_end.push(match router.life.take() {
                None => AtEnd::default(),
                Some(life) => life.join().ok_or_else(|| {
                    let name = &self.topology.routers[number];
                    Unmeasured::Failed(format!("router `{name}` ended by a fault of its own"))
                })?,
            });
        }
        self.looks.end(1, &mut self.found);
        let mut remarks = vec![format!(
            "measured: probes left at most {:.1} ms late, {} of the 100 ms steps were left out; a \
             probe that takes more than {} counts as lost",
            self.late.as_secs_f64() * 1e3,
            self.left_out,
            INTERVAL * LATE_LOOKS as u64
        )];
        let lost = self.wires.lost();
        if lost > 0 {
            remarks.push(format!(
                "measured: the kernel lost {lost} frames before they were read, which counts as \
                 loss of the network"
            ));
        }
        let report: Report = self.found.finish(self.now, spf_runs, at_end);
        Ok(Measured { report, remarks })
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        for life in self.life.take().into_iter().chain(self.ending.take()) {
            life.join();
        }
    }
}
