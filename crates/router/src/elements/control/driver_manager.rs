//! Controls what happens when the driver stops.
//!
//! # What it does
//! A `Script` of type `DRIVER`: each stop event lets it pass one `pause` (or `wait_stop`), and when
//! it comes to its end the driver stops.
//!
//! # Handlers
//! - `run`: runs the script; its arguments are `$1` and so on, and what it returns is the answer
//! - `step`: lets a script that waits pass so many instructions
//! - `goto`: has the script go on at a label
//! - `get`: the value of a variable
//! - `shift`: takes the first word off a variable and gives it
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 100, STOP true) -> c :: Counter -> Discard;
//! DriverManager(wait_stop, print c.count, wait 1s, stop)
//! ```

use crate::elements::Entry;
use crate::script::Script;
use crate::script::machine::element::PARAMS;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "DriverManager",
    "controls what happens when the driver stops",
    || Box::<Script>::default(),
)
.ports("-/-", "ah/ah")
.params(PARAMS);

#[cfg(test)]
mod tests {
    use crate::engine::driver::Progress;
    use crate::load::testing::loaded;

    #[test]
    fn each_stop_event_is_one_step() {
        let mut run = loaded(
            "s :: InfiniteSource(LIMIT 2, STOP true) -> c :: Counter -> Discard; \
             DriverManager(wait_stop, print c.count, write s.reset, wait_stop, print c.count)",
        );
        assert_eq!(run.run(1.0), Progress::Stopped);
        assert_eq!(run.host.memory().printed, "2\n4\n");
    }

    #[test]
    fn a_stop_event_ends_a_wait() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 2, STOP true) -> Discard; \
             DriverManager(wait 100, print \"early\", wait 1s, print now)",
        );
        let before = run.ctx.now();
        run.run(50.0);
        let after = run.ctx.now();
        assert!((after - before).secs() < 3);
        assert!(run.host.memory().printed.starts_with("early\n"));
    }

    #[test]
    fn without_instructions_the_first_stop_event_ends_the_run() {
        let mut run = loaded("InfiniteSource(LIMIT 2, STOP true) -> Discard; DriverManager");
        assert_eq!(run.run(1.0), Progress::Stopped);
    }
}
