//! What `trammel run` and `trammel sweep` count.

use super::Counts;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use trammel_ground::progress::{self, Listener};
use trammel_openmetrics::buckets::{Buckets, WORK_NS};
use trammel_openmetrics::page::Page;

/// Of all engines.
#[derive(Debug)]
pub(in crate::cli) struct RunCounts {
    expected: AtomicU64,
    made: AtomicU64,
    took: Buckets,
}

impl RunCounts {
    pub(in crate::cli) fn new() -> RunCounts {
        RunCounts {
            expected: AtomicU64::new(0),
            made: AtomicU64::new(0),
            took: Buckets::of_ns(WORK_NS),
        }
    }

    /// Has these count what the process does from now on.
    pub(in crate::cli) fn listen(self: &Arc<Self>) {
        progress::listen(Box::new(Ear(Arc::clone(self))));
    }
}

/// What hears of runs.
struct Ear(Arc<RunCounts>);

impl Listener for Ear {
    fn expects(&self, steps: u64) {
        self.0.expected.fetch_add(steps, Ordering::Relaxed);
    }

    fn made(&self, took: Option<Duration>) {
        self.0.made.fetch_add(1, Ordering::Relaxed);
        if let Some(took) = took {
            let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
            self.0.took.add(ns);
        }
    }

    fn skipped(&self) {
        let less = |all: u64| all.checked_sub(1);
        // More than were thought of, say: the number of those to be made stays.
        let _ = self
            .0
            .expected
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }
}

impl Counts for RunCounts {
    fn write(&self, page: &mut Page) {
        let of = |count: &AtomicU64| [(String::new(), count.load(Ordering::Relaxed))];
        page.gauge(
            "trammel_runs_expected",
            "Runs that are to be made in all; those that were kept, or that cannot be made, are \
             not among them.",
            of(&self.expected),
        );
        page.counter(
            "trammel_runs",
            "Runs that were made, well or not.",
            of(&self.made),
        );
        page.histogram(
            "trammel_run_duration_seconds",
            "How long a run took by the clock on the wall.",
            [(String::new(), &self.took)],
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::metrics::{page, tests::serves};

    #[test]
    fn runs_that_are_kept_are_not_expected() {
        let counts = Arc::new(RunCounts::new());
        let ear = Ear(Arc::clone(&counts));
        ear.expects(3);
        ear.skipped();
        ear.made(Some(Duration::from_millis(70)));
        serves("sweep", counts.as_ref());
        let page = page(counts.as_ref());
        for line in [
            "trammel_runs_expected 2",
            "trammel_runs_total 1",
            "trammel_run_duration_seconds_bucket{le=\"0.1\"} 1",
        ] {
            assert!(page.contains(line), "{line}: {page}");
        }
    }
}
