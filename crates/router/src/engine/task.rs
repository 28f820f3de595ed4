//! Tasks, by stride scheduling: a task with more tickets runs more often.
//!
//! Waldspurger and Weihl 1995, *Stride Scheduling*: each run moves a task's pass on by its stride,
//! which is inverse to its tickets, and the task with the least pass runs next.

use super::ElementId;
use std::collections::{BTreeMap, VecDeque};

/// A task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub(crate) u32);

/// Tickets of a task that was given no others.
pub const DEFAULT_TICKETS: u32 = 1024;
/// The most tickets of a task.
pub const MAX_TICKETS: u32 = 1 << 15;
/// Tickets times stride.
const STRIDE1: u32 = 1 << 16;

/// What is known of a task.
#[derive(Clone, Debug)]
pub struct Task {
    /// Whose it is.
    pub owner: ElementId,
    /// What the owner told it by.
    pub token: u32,
    /// Its share.
    pub tickets: u32,
    /// Whether it waits to be run.
    pub scheduled: bool,
    /// The thread that runs it; -1 for none.
    pub home_thread: i32,
    pass: u32,
    /// How often it was put into the queue: an older entry means nothing.
    entry: u32,
}

/// A task in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Queued {
    task: TaskId,
    pass: u32,
    entry: u32,
}

/// The tasks of one thread. Passes wrap: of two, the one that is less by less than half the range
/// is first.
#[derive(Debug, Default)]
pub struct Tasks {
    all: Vec<Task>,
    /// The first task of each element that has one, and the next of the same element after each
    /// task.
    first: BTreeMap<ElementId, TaskId>,
    next: Vec<Option<TaskId>>,
    /// The scheduled ones, in the order of their passes, and entries of tasks that were unscheduled
    /// since: taking those out at once would cost the length of the queue each time.
    queue: VecDeque<Queued>,
    /// How many are scheduled.
    scheduled: usize,
    /// The pass of the task that ran last.
    pass: u32,
}

/// Entries of unscheduled tasks that the queue may hold whatever its length.
const MOST_STALE: usize = 64;

/// Whether an entry of the queue is that by which its task waits.
fn is_live(all: &[Task], queued: &Queued) -> bool {
    let task = &all[queued.task.0 as usize];
    task.scheduled && task.entry == queued.entry
}

fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

impl Tasks {
    /// A new task, not scheduled, of the thread `home`; a negative one never runs it.
    pub fn add(&mut self, owner: ElementId, token: u32, home: i32) -> TaskId {
        let new = TaskId(self.all.len() as u32);
        self.all.push(Task {
            owner,
            token,
            tickets: DEFAULT_TICKETS,
            scheduled: false,
            home_thread: home,
            pass: 0,
            entry: 0,
        });
        self.next.push(None);
        match self.of(owner).last() {
            Some(last) => self.next[last.0 as usize] = Some(new),
            None => {
                self.first.insert(owner, new);
            }
        }
        new
    }

    /// A task.
    pub fn get(&self, task: TaskId) -> &Task {
        &self.all[task.0 as usize]
    }

    /// Its tickets, from 1 to [`MAX_TICKETS`].
    pub fn set_tickets(&mut self, task: TaskId, tickets: u32) {
        self.all[task.0 as usize].tickets = tickets.clamp(1, MAX_TICKETS);
    }

    /// The tasks of `owner`.
    pub fn of(&self, owner: ElementId) -> impl Iterator<Item = TaskId> + '_ {
        let first = self.first.get(&owner).copied();
        std::iter::successors(first, |task| self.next[task.0 as usize])
    }

    /// Has it run in its turn. One that is scheduled already stays where it is.
    pub fn schedule(&mut self, task: TaskId) {
        let one = &mut self.all[task.0 as usize];
        if one.scheduled || one.home_thread < 0 {
            return;
        }
        one.scheduled = true;
        one.entry = one.entry.wrapping_add(1);
        let entry = one.entry;
        // One that slept does not get the turns it missed.
        if before(one.pass, self.pass) {
            one.pass = self.pass;
        }
        let pass = one.pass;
        let queued = Queued { task, pass, entry };
        self.enter(queued);
        self.scheduled += 1;
    }

    /// Puts an entry behind those of its pass.
    fn enter(&mut self, queued: Queued) {
        let is_behind = |other: &Queued| !before(queued.pass, other.pass);
        if self.queue.back().is_none_or(is_behind) {
            self.queue.push_back(queued);
        } else {
            let at = self.queue.partition_point(is_behind);
            self.queue.insert(at, queued);
        }
    }

    /// Has it run no more until it is scheduled again.
    pub fn unschedule(&mut self, task: TaskId) {
        let one = &mut self.all[task.0 as usize];
        if one.scheduled {
            one.scheduled = false;
            self.scheduled -= 1;
            if self.queue.len() > 2 * self.scheduled + MOST_STALE {
                self.queue.retain(|queued| is_live(&self.all, queued));
            }
        }
    }

    /// Takes what was unscheduled off the front of the queue.
    fn skip_stale(&mut self) {
        while self
            .queue
            .front()
            .is_some_and(|queued| !is_live(&self.all, queued))
        {
            self.queue.pop_front();
        }
    }

    /// Takes the next task off the queue, and its pass moves on.
    pub fn take_next(&mut self) -> Option<TaskId> {
        self.skip_stale();
        let task = self.queue.pop_front()?.task;
        let one = &mut self.all[task.0 as usize];
        one.scheduled = false;
        self.scheduled -= 1;
        self.pass = one.pass;
        one.pass = one.pass.wrapping_add(STRIDE1 / one.tickets);
        Some(task)
    }

    /// A task that had nothing to do lets the next one pass.
    pub fn did_nothing(&mut self, task: TaskId) {
        if !self.all[task.0 as usize].scheduled || self.scheduled < 2 {
            return;
        }
        self.skip_stale();
        let Some(mut queued) = self.queue.front().copied().filter(|q| q.task == task) else {
            return;
        };
        self.queue.pop_front();
        self.skip_stale();
        queued.pass = self.queue.front().map_or(queued.pass, |next| next.pass);
        self.all[task.0 as usize].pass = queued.pass;
        self.queue.insert(1, queued);
    }

    /// Whether one waits to be run.
    pub fn any_scheduled(&self) -> bool {
        self.scheduled > 0
    }

    /// How many wait.
    pub fn scheduled(&self) -> usize {
        self.scheduled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_follow_the_tickets() {
        let mut tasks = Tasks::default();
        let (a, b) = (tasks.add(0, 0, 0), tasks.add(1, 0, 0));
        tasks.set_tickets(a, 3072);
        let mut runs = [0, 0];
        tasks.schedule(a);
        tasks.schedule(b);
        for _ in 0..400 {
            let next = tasks.take_next().expect("both are scheduled");
            runs[next.0 as usize] += 1;
            tasks.schedule(next);
        }
        assert!((298..=302).contains(&runs[0]), "{runs:?}");
        tasks.unschedule(a);
        tasks.unschedule(b);
        assert!(!tasks.any_scheduled());
        let _ = b;
    }

    #[test]
    fn what_is_unscheduled_leaves_the_queue_whatever_comes_after_it() {
        let mut tasks = Tasks::default();
        let all: Vec<TaskId> = (0..1000).map(|at| tasks.add(at, 0, 0)).collect();
        for task in &all {
            tasks.schedule(*task);
        }
        for (at, task) in all.iter().enumerate().filter(|(at, _)| at % 3 != 0) {
            tasks.unschedule(*task);
            if at % 3 == 1 {
                tasks.schedule(*task);
            }
        }
        assert_eq!(tasks.scheduled(), 667);
        assert!(tasks.queue.len() <= 3 * 667 + MOST_STALE);
        let order: Vec<u32> = std::iter::from_fn(|| tasks.take_next())
            .map(|task| task.0)
            .collect();
        let stayed = (0..1000).filter(|at| at % 3 == 0);
        let again = (0..1000).filter(|at| at % 3 == 1);
        assert_eq!(order, stayed.chain(again).collect::<Vec<u32>>());
        assert!(!tasks.any_scheduled());
    }

    #[test]
    fn an_element_has_its_tasks_in_their_order() {
        let mut tasks = Tasks::default();
        let (a, b, c) = (tasks.add(7, 0, 0), tasks.add(3, 0, 0), tasks.add(7, 1, 0));
        assert_eq!(tasks.of(7).collect::<Vec<_>>(), [a, c]);
        assert_eq!(tasks.of(3).collect::<Vec<_>>(), [b]);
        assert_eq!(tasks.of(5).count(), 0);
    }

    #[test]
    fn one_that_slept_does_not_catch_up() {
        let mut tasks = Tasks::default();
        let (a, b) = (tasks.add(0, 0, 0), tasks.add(1, 0, 0));
        tasks.schedule(a);
        for _ in 0..1000 {
            let next = tasks.take_next().expect("one is scheduled");
            tasks.schedule(next);
        }
        tasks.schedule(b);
        let order: Vec<_> = (0..6)
            .map(|_| {
                let next = tasks.take_next().expect("two are scheduled");
                tasks.schedule(next);
                next
            })
            .collect();
        assert_eq!(order.iter().filter(|t| **t == b).count(), 3, "{order:?}");
    }
}
