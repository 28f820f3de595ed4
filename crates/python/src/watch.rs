//! What the thread of the engines tells the caller's thread, and how it is told to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use trammel_transport::points::{Failure, Watch};
use trammel_transport::run_tables::RunTables;

/// A piece of news.
#[derive(Clone, Copy, Debug)]
pub(crate) enum News {
    /// So many runs begin.
    Begin(usize),
    /// They weigh so much.
    Expect(f64),
    /// A run is done.
    Done,
    /// A run has failed.
    Failed,
    /// A run of this weight has ended.
    Ended(f64),
}

/// How far a run is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// Runs that are to be made.
    pub(crate) runs: usize,
    /// Runs that were made.
    pub(crate) done: usize,
    /// Runs that failed.
    pub(crate) failed: usize,
    expected: f64,
    ended: f64,
}

impl Progress {
    pub(crate) fn take(&mut self, news: News) {
        match news {
            News::Begin(runs) => self.runs += runs,
            News::Expect(work) => self.expected += work,
            News::Done => self.done += 1,
            News::Failed => self.failed += 1,
            News::Ended(work) => self.ended += work,
        }
    }

    /// The part of the work that is done, from 0 to 1.
    pub(crate) fn fraction(&self) -> f64 {
        if self.expected > 0.0 {
            (self.ended / self.expected).min(1.0)
        } else {
            0.0
        }
    }
}

/// Watches from the threads of the engines.
pub(crate) struct Messenger {
    pub(crate) news: Sender<News>,
    pub(crate) is_stopped: Arc<AtomicBool>,
}

impl Messenger {
    fn tell(&self, news: News) {
        // Nobody hears it where the caller has left after a second interrupt.
        _ = self.news.send(news);
    }
}

impl Watch for Messenger {
    fn begin(&self, runs: usize) {
        self.tell(News::Begin(runs));
    }
    fn expect(&self, work: f64) {
        self.tell(News::Expect(work));
    }
    fn done(&self, _key: &str, _run: &RunTables) {
        self.tell(News::Done);
    }
    fn failed(&self, _failure: &Failure) {
        self.tell(News::Failed);
    }
    fn ended(&self, work: f64) {
        self.tell(News::Ended(work));
    }
    fn is_interrupted(&self) -> bool {
        self.is_stopped.load(Ordering::SeqCst)
    }
}
