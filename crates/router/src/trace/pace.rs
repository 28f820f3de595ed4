//! How the packets of a file leave: when they are due, by push or pull, and what happens at its
//! end.

use crate::engine::Ctx;
use crate::engine::notify::{self, NotifierId, Provided};
use crate::engine::task::TaskId;
use crate::engine::timer::TimerId;
use trammel_packet::timestamp::Timestamp;

/// What drives an element that reads a file.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// Whether packets leave at all.
    pub active: bool,
    /// Whether it pushes.
    pub pushes: bool,
    task: Option<TaskId>,
    timer: Option<TimerId>,
    notifier: Option<NotifierId>,
    /// From the times of the packets to those at which they leave.
    shift: Option<Timestamp>,
}

impl Pace {
    /// Makes the notifier of one that is pulled.
    pub(crate) fn prepare(&mut self, ctx: &mut Ctx) {
        if !self.pushes {
            self.notifier = Some(ctx.new_notifier("empty"));
        }
    }

    /// Makes task and timer, and begins.
    pub(crate) fn initialize(&mut self, ctx: &mut Ctx) {
        self.timer = Some(ctx.new_timer(0));
        if self.pushes {
            self.task = Some(ctx.new_task(0));
        }
        if self.active {
            self.go_on(ctx);
        }
    }

    /// Has the task run again, or those who pull.
    #[inline]
    pub(crate) fn go_on(&self, ctx: &mut Ctx) {
        if let Some(task) = self.task {
            ctx.schedule(task);
        }
        if let Some(notifier) = self.notifier {
            ctx.wake(notifier);
        }
    }

    /// There is nothing to pull.
    pub(crate) fn rest(&self, ctx: &mut Ctx) {
        if let Some(notifier) = self.notifier {
            ctx.sleep(notifier);
        }
    }

    /// Turns it on or off.
    pub(crate) fn set_active(&mut self, ctx: &mut Ctx, active: bool) {
        self.active = active;
        if active {
            self.go_on(ctx);
        } else {
            self.rest(ctx);
        }
    }

    /// Whether a packet of this time is due; if not, the timer is set. The first packet is.
    pub(crate) fn is_due(&mut self, ctx: &mut Ctx, time: Timestamp) -> bool {
        let now = ctx.now();
        let at = time + *self.shift.get_or_insert(now - time);
        if now >= at {
            return true;
        }
        if let Some(timer) = self.timer {
            ctx.set_timer(timer, at);
        }
        self.rest(ctx);
        false
    }

    /// The next packet is due at once, as the first was.
    pub(crate) fn reset(&mut self) {
        self.shift = None;
    }

    /// The timer fired.
    pub(crate) fn timer(&self, ctx: &mut Ctx) {
        if self.active {
            self.go_on(ctx);
        }
    }

    /// What searches find.
    pub(crate) fn provided(&self, kind: notify::Kind) -> Provided {
        match (kind, self.notifier) {
            (notify::Kind::Empty, Some(id)) => Provided::Stop(id),
            _ => Provided::None,
        }
    }
}
