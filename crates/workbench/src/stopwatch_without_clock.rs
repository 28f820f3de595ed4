//! How long something has taken where there is no clock, as in WebAssembly: each question takes a
//! little, so that what waits for a time comes to an end.

use std::time::Duration;

/// What a question takes.
const QUESTION: Duration = Duration::from_micros(100);

/// Begins when it is made.
#[derive(Debug)]
pub(crate) struct Stopwatch(Duration);

impl Stopwatch {
    pub(crate) fn start() -> Stopwatch {
        Stopwatch(Duration::ZERO)
    }

    /// What the questions so far have taken.
    pub(crate) fn elapsed(&mut self) -> Duration {
        self.wait(QUESTION);
        self.0
    }

    /// Lets some time go by.
    pub(crate) fn wait(&mut self, time: Duration) {
        self.0 = self.0.saturating_add(time);
    }
}
