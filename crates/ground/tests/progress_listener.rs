//! Who listens to the steps of a process: in a process of its own, since it has one listener.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use trammel_ground::progress::{self, Listener, Progress};

static EXPECTED: AtomicU64 = AtomicU64::new(0);
static MADE: AtomicU64 = AtomicU64::new(0);

struct Ear;

impl Listener for Ear {
    fn expects(&self, steps: u64) {
        EXPECTED.fetch_add(steps, Ordering::SeqCst);
    }

    fn made(&self, _took: Option<Duration>) {
        MADE.fetch_add(1, Ordering::SeqCst);
    }

    fn skipped(&self) {
        EXPECTED.fetch_sub(1, Ordering::SeqCst);
    }
}

#[test]
fn what_a_finished_job_did_not_make_is_not_expected() {
    progress::listen(Box::new(Ear));
    let counted = || [&EXPECTED, &MADE].map(|count| count.load(Ordering::SeqCst));
    // A job that finds after a step that the machine lacks something.
    let job = Progress::new();
    job.expect(12, 0.0);
    job.ended(0.0);
    job.skipped(0.0);
    assert_eq!(counted(), [11, 1]);
    job.finish();
    assert_eq!(counted(), [1, 1]);
    // Once is enough: it is finished again when it is dropped.
    drop(job);
    assert_eq!(counted(), [1, 1]);
    // One that is left at an error.
    let job = Progress::new();
    job.expect(3, 0.0);
    drop(job);
    assert_eq!(counted(), [1, 1]);
}
