//! Remembers in which order tasks had their turns.
//!
//! # What it does
//! It has no ports and does nothing but ask for another turn. All elements of the class write their
//! `ID` into one list.
//!
//! # Handlers
//! - `order`: the list
//!
//! # Example
//! ```click
//! // The second has two turns for one of the first.
//! a :: SchedOrderTest(1, SIZE 30, STOP true); b :: SchedOrderTest(2); ScheduleInfo(a 1, b 2);
//! DriverManager(wait_stop, print a.order, stop)
//! ```

use crate::args::kinds::{INT, UINT};
use crate::args::{Args, flag, keyword, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::task::TaskId;
use crate::engine::{Ctx, Element, Handler};
use std::sync::{Arc, Mutex, PoisonError};

/// The class.
pub static ENTRY: Entry = Entry::new("SchedOrderTest", "remembers the order of tasks", || {
    Box::<SchedOrderTest>::default()
})
.ports("0/0", "a/a")
.params(&[
    mandatory("ID", INT, "what it writes"),
    keyword(
        "SIZE",
        UINT,
        "1024",
        "turns that are remembered; the greatest of all elements counts",
    ),
    keyword("LIMIT", UINT, "0", "turns that it asks for; 0 is no limit"),
    flag(
        "STOP",
        "false",
        "whether it stops the driver once the list is full",
    ),
]);

/// Turns that are remembered at most, whatever is asked for.
const MOST: usize = 1 << 20;

#[derive(Debug, Default)]
struct Turns {
    ids: Vec<i64>,
    size: usize,
}

#[derive(Debug, Default)]
struct SchedOrderTest {
    id: i64,
    size: usize,
    limit: u64,
    count: u64,
    stops: bool,
    turns: Arc<Mutex<Turns>>,
    task: Option<TaskId>,
}

impl Element for SchedOrderTest {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.id = args.int("ID");
        self.size = (args.uint("SIZE") as usize).min(MOST);
        self.limit = args.uint("LIMIT");
        self.stops = args.bool("STOP");
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let first = (0..ctx.me()).find_map(|id| Some(ctx.get::<SchedOrderTest>(id)?.turns.clone()));
        if let Some(turns) = first {
            self.turns = turns;
        }
        {
            let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            turns.size = turns.size.max(self.size);
        }
        let task = ctx.new_task(0);
        ctx.schedule(task);
        self.task = Some(task);
        Ok(())
    }

    fn run_task(&mut self, ctx: &mut Ctx, _: u32) -> bool {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        if turns.ids.len() < turns.size {
            turns.ids.push(self.id);
        } else if self.stops {
            ctx.stop();
        }
        self.count += 1;
        if let Some(task) = self.task
            && (self.limit == 0 || self.count < self.limit)
        {
            ctx.schedule(task);
        }
        true
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("order", "r")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        let turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let ids: Vec<String> = turns.ids.iter().map(i64::to_string).collect();
        Ok(ids.join(" ") + "\n")
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::driver::Progress;
    use crate::load::testing::loaded;

    #[test]
    fn turns_are_as_many_as_tickets() {
        let mut run = loaded(
            "a :: SchedOrderTest(1, SIZE 60, STOP true); b :: SchedOrderTest(2, SIZE 10); \
             c :: SchedOrderTest(3, LIMIT 4); ScheduleInfo(a 1, b 2)",
        );
        assert_eq!(run.run(1.0), Progress::Stopped);
        let order = run.read("b.order");
        let count = |id: &str| order.split_whitespace().filter(|one| *one == id).count();
        assert_eq!(order.split_whitespace().count(), 1024);
        assert_eq!(count("3"), 4);
        assert!(count("2").abs_diff(2 * count("1")) < 5, "{order}");
        assert_eq!(run.read("a.order"), order);
    }
}
