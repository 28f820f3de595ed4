//! How long to wait for what comes before it is looked whether to stop.

use std::time::Duration;

/// The shortest wait, while things come.
const LEAST: Duration = Duration::from_millis(50);
/// The longest: whoever stops waits so long for an idle thread, which wakes four times a second.
const MOST: Duration = Duration::from_millis(250);

/// A wait that doubles while nothing comes, so that nobody waits longer for a thread than that
/// thread has been idle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Idle(Duration);

impl Idle {
    pub(crate) const fn new() -> Idle {
        Idle(LEAST)
    }

    /// The next wait.
    pub(crate) fn wait(&mut self) -> Duration {
        let wait = self.0;
        self.0 = (2 * wait).min(MOST);
        wait
    }

    /// The same in nanoseconds.
    pub(crate) fn wait_ns(&mut self) -> i64 {
        self.wait().as_nanos() as i64
    }

    /// Something came. Says whether waits had grown.
    pub(crate) fn over(&mut self) -> bool {
        std::mem::replace(&mut self.0, LEAST) > LEAST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_while_nothing_comes_and_begin_anew() {
        let mut idle = Idle::new();
        let waits: Vec<u128> = (0..5).map(|_| idle.wait().as_millis()).collect();
        assert_eq!(waits, [50, 100, 200, 250, 250]);
        assert!(idle.over() && !idle.over());
        assert_eq!(idle.wait_ns(), 50_000_000);
    }
}
