//! Running all threads until one ends the run, or for a while.

use super::team::Team;
use crate::engine::Ctx;
use crate::engine::driver::Progress;
use crate::engine::handlers::Owner;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use trammel_packet::timestamp::Timestamp;

/// How long a thread that has ended waits before it looks whether others need it.
const PAUSE: Duration = Duration::from_micros(100);

/// Ends the run for all when its thread comes to an end it should not: the others must not wait for
/// it.
struct Guard<'a>(&'a Team);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.halt();
            self.0.arrived.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Ctx {
    /// Runs every thread until one ends the run or until `until`.
    pub(in crate::engine) fn run_team(&mut self, until: Option<Timestamp>) -> Progress {
        let Some(place) = &self.threads.place else {
            return self.run_alone(until);
        };
        let team = place.team.clone();
        let mut others = std::mem::take(&mut self.threads.others);
        team.arrived.store(0, Ordering::SeqCst);
        team.is_halted.store(false, Ordering::SeqCst);
        self.publish_handlers(&team, &others);
        team.is_running.store(true, Ordering::SeqCst);
        let mut all = Vec::new();
        std::thread::scope(|scope| {
            let team = &team;
            let started = others.iter_mut().map(|ctx| {
                let name = format!(
                    "router {}",
                    ctx.threads.place.as_ref().map_or(0, |p| p.thread)
                );
                let thread = std::thread::Builder::new().name(name);
                thread.spawn_scoped(scope, move || ctx.run_member(team, until))
            });
            let started: Vec<_> = started.collect();
            // A thread that cannot be made has no one who would answer for it.
            if started.iter().any(Result::is_err) {
                let missing = started.iter().filter(|one| one.is_err()).count();
                team.arrived.fetch_add(missing, Ordering::SeqCst);
                team.halt();
            }
            all.push(self.run_member(team, until));
            for thread in started.into_iter().flatten() {
                match thread.join() {
                    Ok(progress) => all.push(progress),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
        team.is_running.store(false, Ordering::SeqCst);
        self.threads.others = others;
        let order = [Progress::Interrupted, Progress::Stopped];
        let first = order.into_iter().find(|one| all.contains(one));
        first.unwrap_or(Progress::Running)
    }

    /// Runs one thread's elements, and answers for them until all threads have come to an end.
    fn run_member(&mut self, team: &Arc<Team>, until: Option<Timestamp>) -> Progress {
        let guard = Guard(team);
        if let Some(processor) = self.threads.processor {
            // A processor that is not there, or not allowed, leaves the thread where it is.
            let _ = self.world.host.pin(processor);
        }
        let progress = self.run_alone(until);
        if progress != Progress::Running {
            team.halt();
        }
        team.arrived.fetch_add(1, Ordering::SeqCst);
        while team.arrived.load(Ordering::SeqCst) < team.mailboxes.len() {
            self.read_letters();
            std::thread::sleep(PAUSE);
        }
        // What was sent at the very end has arrived too.
        self.take_arrivals();
        self.deliver();
        drop(guard);
        progress
    }

    /// Makes the handlers of all elements known to all threads.
    fn publish_handlers(&self, team: &Team, others: &[Ctx]) {
        team.handlers.get_or_init(|| {
            let of = |id: usize| {
                let owner = Owner::Element(id);
                match self.home(id) {
                    0 => self.handlers_of(owner),
                    home => others[home - 1].handlers_of(owner),
                }
            };
            (0..self.elements()).map(of).collect()
        });
    }

    /// The contexts of all threads but this first one, at rest.
    pub(in crate::engine) fn others(&mut self) -> &mut [Ctx] {
        &mut self.threads.others
    }
}
