//! Tasks, by stride scheduling: a task with more tickets runs more often.
//!
//! Waldspurger and Weihl 1995, *Stride Scheduling*: each run moves a task's pass on by its stride, which is
//! inverse to its tickets, and the task with the least pass runs next.

use super::ElementId;
use std::collections::VecDeque;

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
    alive: bool,
}

/// The tasks of one thread. Passes wrap: of two, the one that is less by less than half the range is first.
#[derive(Debug, Default)]
pub struct Tasks {
    all: Vec<Task>,
    /// The scheduled ones, in the order of their passes.
    queue: VecDeque<TaskId>,
    /// The pass of the task that ran last.
    pass: u32,
}

fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

impl Tasks {
    /// A new task, not scheduled, of the thread `home`; a negative one never runs it.
    pub fn add(&mut self, owner: ElementId, token: u32, home: i32) -> TaskId {
        self.all.push(Task {
            owner,
            token,
            tickets: DEFAULT_TICKETS,
            scheduled: false,
            home_thread: home,
            pass: 0,
            alive: true,
        });
        TaskId(self.all.len() as u32 - 1)
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
        let all = self.all.iter().enumerate();
        all.filter(move |(_, task)| task.owner == owner && task.alive)
            .map(|(at, _)| TaskId(at as u32))
    }

    /// Has it run in its turn. One that is scheduled already stays where it is.
    pub fn schedule(&mut self, task: TaskId) {
        let one = &mut self.all[task.0 as usize];
        if one.scheduled || !one.alive || one.home_thread < 0 {
            return;
        }
        one.scheduled = true;
        // One that slept does not get the turns it missed.
        if before(one.pass, self.pass) {
            one.pass = self.pass;
        }
        let pass = one.pass;
        let mut at = self.queue.len();
        while at > 0 && before(pass, self.all[self.queue[at - 1].0 as usize].pass) {
            at -= 1;
        }
        self.queue.insert(at, task);
    }

    /// Has it run no more until it is scheduled again.
    pub fn unschedule(&mut self, task: TaskId) {
        let one = &mut self.all[task.0 as usize];
        if one.scheduled {
            one.scheduled = false;
            self.queue.retain(|other| *other != task);
        }
    }

    /// Takes the next task off the queue, and its pass moves on.
    pub fn take_next(&mut self) -> Option<TaskId> {
        let task = self.queue.pop_front()?;
        let one = &mut self.all[task.0 as usize];
        one.scheduled = false;
        self.pass = one.pass;
        one.pass = one.pass.wrapping_add(STRIDE1 / one.tickets);
        Some(task)
    }

    /// A task that had nothing to do lets the next one pass.
    pub fn did_nothing(&mut self, task: TaskId) {
        if !self.all[task.0 as usize].scheduled
            || self.queue.front() != Some(&task)
            || self.queue.len() < 2
        {
            return;
        }
        let behind = self.all[self.queue[1].0 as usize].pass;
        self.queue.pop_front();
        self.all[task.0 as usize].pass = behind;
        self.queue.insert(1, task);
    }

    /// Whether one waits to be run.
    pub fn any_scheduled(&self) -> bool {
        !self.queue.is_empty()
    }

    /// How many wait.
    pub fn scheduled(&self) -> usize {
        self.queue.len()
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
