//! How long something has taken, by the clock.

use std::time::{Duration, Instant};

/// Begins when it is made.
#[derive(Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    pub(crate) fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// The time since it was made.
    pub(crate) fn elapsed(&mut self) -> Duration {
        self.0.elapsed()
    }

    /// Lets some time go by.
    #[expect(clippy::unused_self, reason = "where there is no clock, it counts")]
    pub(crate) fn wait(&mut self, time: Duration) {
        std::thread::sleep(time);
    }
}
