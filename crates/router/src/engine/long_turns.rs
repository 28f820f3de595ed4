//! Turns that take long: what ends them.
//!
//! Packets that one turn of a task or timer set going are delivered until none is left, which never
//! comes where outputs lead back to inputs. Such a turn ends after a number of steps, or when
//! packets multiply in it; and early where a signal asks the program to end. What is on its way
//! then is dropped.

use super::ids::Target;
use super::{Ctx, ElementId};
use crate::reason::Reason;
use trammel_packet::batch::Batch;

/// SIGINT and SIGTERM, a bit each.
const ENDS: u64 = 1 << 2 | 1 << 15;
/// Batches that a turn may have on their way besides those that it began with and one for each
/// output: with full ones, 130 MB of packets. Where outputs do not lead back, depth first needs no
/// more than the outputs along one way.
const MOST_GROWTH: usize = 2048;

impl Ctx {
    /// Looks whether this turn should end.
    #[cold]
    pub(super) fn look_up(&mut self) {
        let is_called =
            self.world.host.pending_signals() & ENDS & !self.driver.watched_signals() != 0;
        if is_called || self.is_team_halted() {
            self.driver.is_called = true;
            self.turn.steps = 0;
        }
        if self.path.pending.len() > self.turn.began + self.path.wiring.ways.len() + MOST_GROWTH {
            self.turn.steps = 0;
        }
    }

    /// Ends what is on its way when a turn is over.
    #[cold]
    pub(super) fn caught(&mut self, to: Target, mut batch: Batch) {
        self.me = to.element as usize;
        if self.driver.is_called {
            self.drop_all(&mut batch, Reason::Discarded);
        } else {
            self.drop_all(&mut batch, Reason::Loop);
            self.turn.caught.get_or_insert(self.me);
        }
        self.path.spare.push(batch);
    }

    /// Tells where packets went round, the first time.
    #[cold]
    pub(super) fn tell_loop(&mut self) {
        let caught = self.turn.caught.take();
        // It took long: signals and descriptors come first now.
        self.driver.is_called = true;
        if let Some(element) = caught.filter(|_| self.turn.looped.is_none()) {
            self.turn.looped = caught;
            let text = format!(
                "{}: packets that are pushed here come back without end; \
                 they are dropped, which is said once\n",
                self.declaration(element)
            );
            self.world.host.say(&text);
        }
    }

    /// What is wrong with a configuration in which packets were caught going round.
    pub fn loop_fault(&self) -> Option<String> {
        let element = self.declaration(self.turn.looped?);
        Some(format!(
            "packets that are pushed to '{element}' come back to it without end; \
             take a connection out of the loop, or put a Queue with \
             an Unqueue into it"
        ))
    }

    /// An element where packets were caught going round.
    pub fn looped(&self) -> Option<ElementId> {
        self.turn.looped
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::Options;
    use crate::load::testing::{Run, load_as, loaded};
    use crate::memory::MemoryHost;
    use crate::reason::Reason;

    fn ended(run: &Run, reason: Reason) -> u64 {
        let all = 0..run.ctx.elements();
        all.map(|element| run.ctx.counters(element).drops[reason as usize])
            .sum()
    }

    #[test]
    fn packets_that_multiply_are_caught_before_they_fill_the_memory() {
        for config in [
            "q :: Queue; Idle -> q -> Discard; \
             TimedSource(1, LIMIT 1) -> a :: Null -> t :: Tee(2); t[0] -> a; t[1] -> a",
            "TimedSource(1, LIMIT 1) -> t :: Tee(3); t[0] -> q :: Queue -> Discard; \
             t[1] -> u :: Tee(2); t[2] -> u; u[0] -> t; u[1] -> t",
        ] {
            let run = Options {
                most_packets: 1 << 17,
                ..Options::simulated()
            };
            let mut run =
                load_as(&MemoryHost::new(), config, run).unwrap_or_else(|e| panic!("{e}"));
            run.run(2.0);
            assert!(ended(&run, Reason::Loop) > 0);
            assert!(run.ctx.looped().is_some());
            assert_eq!(run.ctx.pool().refused(), 0, "they never came to so many");
            assert_eq!(run.read("q.length"), "0");
            let said = run.host.memory().said.clone();
            assert_eq!(said.matches("come back without end").count(), 1, "{said}");
        }
    }

    #[test]
    fn a_signal_ends_a_turn_that_would_not_end() {
        let mut run = loaded("TimedSource(1, LIMIT 1) -> a :: Null -> b :: Null -> a");
        run.host.memory().signals.push(15);
        assert_eq!(run.run(2.0), crate::engine::driver::Progress::Interrupted);
        assert_eq!(ended(&run, Reason::Loop), 0);
        assert_eq!(
            (ended(&run, Reason::Discarded), run.ctx.pool().in_use()),
            (1, 0)
        );
    }

    #[test]
    fn many_outputs_are_no_loop() {
        let ends: String = (0..3000).map(|n| format!("; t[{n}] -> d")).collect();
        let mut run = loaded(&format!(
            "d :: Discard; TimedSource(1, LIMIT 1) -> t :: Tee(3000){ends}"
        ));
        run.run(2.0);
        assert_eq!(
            (run.read("d.count"), ended(&run, Reason::Loop)),
            ("3000".into(), 0)
        );
    }
}
