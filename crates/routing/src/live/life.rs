//! A router that lives: a card with its control software, in a thread of its own.

use super::measured::Unmeasured;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use trammel_card::{Card, Options};
use trammel_control::network::AtEnd;
use trammel_control::pwospf::Pwospf;
use trammel_core::Time;
use trammel_io::clock;
use trammel_io::netns::Namespace;

/// Rounds without anything before the card waits.
const ROUNDS_BEFORE_WAIT: u32 = 8;

/// What a router tells the lab, each with its number.
#[derive(Debug)]
pub(super) enum Told {
    /// Its card is open.
    Open(usize),
    /// Its routes changed at an instant of the run.
    Changed(usize, Time),
    /// It cannot start or go on.
    Failed(usize, Unmeasured),
}

/// A router that lives until it is ended.
#[derive(Debug)]
pub(super) struct Life {
    is_over: Arc<AtomicBool>,
    spf_runs: Arc<AtomicU64>,
    go: Sender<i64>,
    thread: JoinHandle<AtEnd>,
}

impl Life {
    /// Opens a card with `options` in `home`. It is told when it is open, and waits for
    /// [`Life::go`].
    pub(super) fn start(
        router: usize,
        home: &Arc<Namespace>,
        options: Options,
        told: Sender<Told>,
    ) -> Life {
        let (go, goes) = mpsc::channel();
        let (is_over, spf_runs) = <(Arc<AtomicBool>, Arc<AtomicU64>)>::default();
        let home = Arc::clone(home);
        let runner = Runner {
            router,
            told,
            is_over: Arc::clone(&is_over),
            spf_runs: Arc::clone(&spf_runs),
        };
        let thread = std::thread::spawn(move || {
            let ran = home
                .run(|| Card::open(&options))
                .and_then(|card| runner.live(card, &goes));
            ran.unwrap_or_else(|why| {
                runner.tell(Told::Failed(router, why.into()));
                AtEnd::default()
            })
        });
        Life {
            is_over,
            spf_runs,
            go,
            thread,
        }
    }

    /// Lets it run; the run began at `origin_ns` of the kernel's clock.
    pub(super) fn go(&self, origin_ns: i64) {
        // One that failed has told so.
        let _ = self.go.send(origin_ns);
    }

    /// Computations of paths since it started.
    pub(super) fn spf_runs(&self) -> u64 {
        self.spf_runs.load(Ordering::Relaxed)
    }

    /// Has it end soon.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Waits for its end; what there was of it then.
    pub(super) fn join(self) -> Option<AtEnd> {
        self.end();
        drop(self.go);
        self.thread.join().ok()
    }
}

/// What the thread has beside the card.
struct Runner {
    router: usize,
    told: Sender<Told>,
    is_over: Arc<AtomicBool>,
    spf_runs: Arc<AtomicU64>,
}

impl Runner {
    fn tell(&self, what: Told) {
        // Where the lab is gone, nobody needs to know.
        let _ = self.told.send(what);
    }

    /// Runs the card to the end.
    fn live(&self, mut card: Card, goes: &Receiver<i64>) -> Result<AtEnd, trammel_card::Error> {
        self.tell(Told::Open(self.router));
        let Ok(origin_ns) = goes.recv() else {
            return Ok(AtEnd::default());
        };
        let (mut generation, mut idle) = (0, 0);
        while !self.is_over.load(Ordering::Relaxed) {
            let is_busy = card.step()?;
            if let Some(pwospf) = card.control().and_then(|control| control.pwospf()) {
                let runs = pwospf.counters().spf_runs;
                self.spf_runs.store(runs, Ordering::Relaxed);
                if pwospf.generation() != generation {
                    generation = pwospf.generation();
                    self.tell(Told::Changed(self.router, since(origin_ns)));
                }
            }
            idle = if is_busy { 0 } else { idle + 1 };
            if idle >= ROUNDS_BEFORE_WAIT {
                card.wait()?;
            }
        }
        let pwospf = card.control().and_then(|control| control.pwospf());
        Ok(AtEnd {
            is_up: true,
            routes: pwospf.map_or(0, |one| one.routes().len()),
            neighbours: pwospf.map_or(0, |one| Pwospf::neighbours(one).count()),
            spf_runs: pwospf.map_or(0, |one| one.counters().spf_runs),
        })
    }
}

/// The instant of a run that began at `origin_ns`.
pub(super) fn since(origin_ns: i64) -> Time {
    let since = clock::monotonic_ns() - origin_ns;
    Time::from_ns(since.max(0).cast_unsigned())
}
