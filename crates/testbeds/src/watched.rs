//! A testbed that is watched: each trial moves the bar and is kept, and none begins once the user
//! has interrupted.

use super::journal::Journal;
use indicatif::ProgressBar;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_bench::layer::Layer;
use trammel_bench::ports::{Learned, Learning, PortFlow};
use trammel_bench::testbed::{Observation, Plan, Testbed, Traffic};
use trammel_bench::transfer::{File, Transferred};
use trammel_bench::trial::Failure;
use trammel_ground::{progress, say};

/// Whether the user has interrupted.
pub(super) fn is_set(interrupted: &AtomicBool) -> bool {
    interrupted.load(Ordering::SeqCst)
}

/// A testbed with someone who looks on.
#[derive(Debug)]
pub(super) struct Watched<'a> {
    bed: &'a mut dyn Testbed,
    interrupted: &'a AtomicBool,
    bar: &'a ProgressBar,
    journal: &'a mut Option<Journal>,
}

impl<'a> Watched<'a> {
    pub(super) fn new(
        bed: &'a mut dyn Testbed,
        interrupted: &'a AtomicBool,
        bar: &'a ProgressBar,
        journal: &'a mut Option<Journal>,
    ) -> Watched<'a> {
        Watched {
            bed,
            interrupted,
            bar,
            journal,
        }
    }
}

impl Layer for Watched<'_> {
    fn bed(&self) -> &dyn Testbed {
        self.bed
    }

    fn bed_mut(&mut self) -> &mut dyn Testbed {
        self.bed
    }

    fn on_offer(&mut self, traffic: &Traffic, plan: &Plan) -> Result<Observation, Failure> {
        if is_set(self.interrupted) {
            return Err("interrupted".into());
        }
        let device = self.bed.device();
        if let Some(observed) = self.known(&device, traffic, plan) {
            progress::step(self.bar);
            return Ok(observed);
        }
        let observed = self.watch(|bed| bed.offer(traffic, plan))?;
        if let Some(journal) = self.journal {
            let added = journal.add(&device, traffic, plan, &observed);
            self.lose_on(added);
        }
        Ok(observed)
    }

    // What is done with several ports, or is no trial, is not kept: a run that goes on makes it
    // again.
    fn on_offer_together(&mut self, flows: &[PortFlow]) -> Result<Vec<Observation>, Failure> {
        self.watch(|bed| bed.offer_together(flows))
    }

    fn on_learn(&mut self, traffic: &Traffic, learning: &Learning) -> Result<Learned, Failure> {
        self.watch(|bed| bed.learn(traffic, learning))
    }

    fn on_transfer(&mut self, file: &File) -> Result<Transferred, Failure> {
        self.watch(|bed| bed.transfer(file))
    }
}

impl Watched<'_> {
    /// Makes a trial, which is none where it was cut short.
    fn watch<T>(
        &mut self,
        trial: impl FnOnce(&mut dyn Testbed) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if is_set(self.interrupted) {
            return Err("interrupted".into());
        }
        let made = trial(self.bed)?;
        if is_set(self.interrupted) {
            return Err("interrupted".into());
        }
        progress::step(self.bar);
        Ok(made)
    }

    /// What came of the trial before an interruption.
    fn known(&mut self, device: &str, traffic: &Traffic, plan: &Plan) -> Option<Observation> {
        match self.journal.as_mut()?.answer(device, traffic, plan) {
            Ok(known) => known,
            error => {
                self.lose_on(error.map(|_| ()));
                None
            }
        }
    }

    /// A disk that is full loses the resume, not the run.
    fn lose_on(&mut self, done: std::io::Result<()>) {
        if let Err(why) = done {
            say(&format!(
                "warning: trials are no longer kept, so an interrupted run cannot be resumed: {why}"
            ));
            *self.journal = None;
        }
    }
}
