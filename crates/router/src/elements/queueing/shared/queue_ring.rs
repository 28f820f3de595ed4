//! Queues of packets: one ring with its counters and notifiers, of which the classes are variants.
//!
//! ```text
//!   input 0 ──► tail │▓▓▓▓▓▓▓▓▓│ head ──► output 0 (pull)
//!   input 1 ─────────────────────┘        output 1 (push): what found no room
//! ```
//!
//! A variant says what is refused when the ring is full, when the queue tells that it is empty, and
//! whether it tells that it has room. A lazy queue says that it is empty only after ten pulls in
//! vain, so that one that is filled as fast as it is drained does not send its reader to sleep
//! again and again.

use crate::args::kinds::UINT;
use crate::args::{Args, Param, positional};
use crate::diagnostic::Diagnostics;
use crate::engine::element::cast;
use crate::engine::notify::{self, NotifierId, Provided};
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use std::collections::VecDeque;
use trammel_packet::batch::{Batch, Packets};
use trammel_packet::pool::Handle;

/// The argument that all queues have.
pub(crate) const PARAMS: &[Param] = &[positional(
    "CAPACITY",
    UINT,
    "1000",
    "the most packets that wait",
)];

/// Pulls in vain before a lazy queue tells that it is empty.
const PATIENCE: u32 = 10;
/// Room that a queue has from the start; more is made when it is needed.
const FIRST_ROOM: usize = 4096;

/// Which packet is refused where the ring is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refuses {
    /// The one that comes.
    New,
    /// The one that has waited longest.
    Oldest,
}

/// When a queue tells that it is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tells {
    /// Never: its readers poll.
    Never,
    /// After some pulls in vain.
    Lazily,
    /// As its last packet leaves.
    AtOnce,
}

/// What tells the classes of queues apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variant {
    /// Which packet is refused.
    pub refuses: Refuses,
    /// When it tells that it is empty.
    pub empty: Tells,
    /// Whether it tells that it has room.
    pub full: bool,
}

/// A queue.
#[derive(Debug)]
pub(crate) struct Queue {
    variant: Variant,
    capacity: usize,
    packets: VecDeque<Handle>,
    highwater: usize,
    drops: u64,
    /// Pulls in vain since the last packet.
    in_vain: u32,
    empty: Option<NotifierId>,
    full: Option<NotifierId>,
}

impl Queue {
    /// A queue of this variant, as a class makes it.
    pub(crate) fn element(variant: Variant) -> Box<dyn Element> {
        Box::new(Queue {
            variant,
            capacity: 0,
            packets: VecDeque::new(),
            highwater: 0,
            drops: 0,
            in_vain: 0,
            empty: None,
            full: None,
        })
    }

    /// Refuses a packet.
    #[cold]
    fn refuse(&mut self, ctx: &mut Ctx, packet: Handle) {
        self.missed(ctx, 1);
        ctx.reject(1, packet, Reason::Overflow);
    }

    /// Packets for the tail.
    fn append(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        if batch.len() <= self.capacity.saturating_sub(self.packets.len()) {
            self.packets.extend(batch.drain());
            return;
        }
        for packet in batch.drain() {
            if self.packets.len() < self.capacity {
                self.packets.push_back(packet);
                continue;
            }
            let oldest = match self.variant.refuses {
                Refuses::New => None,
                Refuses::Oldest => self.packets.pop_front(),
            };
            let refused = match oldest {
                Some(oldest) => {
                    self.packets.push_back(packet);
                    oldest
                }
                None => packet,
            };
            self.refuse(ctx, refused);
        }
    }

    /// Packets for the head; the last in the queue make room.
    fn prepend(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        for packet in batch.drain() {
            let last = if self.packets.len() < self.capacity {
                None
            } else {
                self.packets.pop_back()
            };
            if self.packets.len() < self.capacity {
                self.packets.push_front(packet);
            } else {
                self.refuse(ctx, packet);
            }
            if let Some(last) = last {
                self.refuse(ctx, last);
            }
        }
    }

    /// Drops what is beyond the capacity, from the end at which this variant refuses.
    fn cut(&mut self, ctx: &mut Ctx) {
        while self.packets.len() > self.capacity {
            let surplus = match self.variant.refuses {
                Refuses::New => self.packets.pop_back(),
                Refuses::Oldest => self.packets.pop_front(),
            };
            if let Some(packet) = surplus {
                ctx.drop(packet, Reason::Overflow);
            }
        }
    }

    /// Tells that there is room, or that there is none.
    fn tell_room(&self, ctx: &mut Ctx) {
        if let Some(full) = self.full {
            if self.packets.len() < self.capacity {
                ctx.wake(full);
            } else {
                ctx.sleep(full);
            }
        }
    }
}

impl Element for Queue {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.capacity = args.uint("CAPACITY") as usize;
        self.packets.reserve(self.capacity.min(FIRST_ROOM));
        Ok(())
    }

    fn prepare(&mut self, ctx: &mut Ctx) {
        if self.variant.empty != Tells::Never {
            self.empty = Some(ctx.new_notifier("empty"));
        }
        if self.variant.full {
            self.full = Some(ctx.new_notifier("full"));
        }
    }

    fn reconfigured(&mut self, ctx: &mut Ctx) {
        self.cut(ctx);
        if self.packets.len() < self.capacity
            && let Some(full) = self.full
        {
            ctx.wake(full);
        }
    }

    fn push(&mut self, ctx: &mut Ctx, port: usize, mut batch: Batch) {
        if port == 0 {
            self.append(ctx, &mut batch);
        } else {
            self.prepend(ctx, &mut batch);
        }
        ctx.recycle(batch);
        let length = self.packets.len();
        self.highwater = self.highwater.max(length);
        if length > 0
            && let Some(empty) = self.empty
        {
            ctx.wake(empty);
        }
        if length >= self.capacity
            && let Some(full) = self.full
        {
            ctx.sleep(full);
        }
    }

    fn pull(&mut self, ctx: &mut Ctx, _: usize, max: usize, into: &mut Packets) {
        let count = max.min(self.packets.len());
        for packet in self.packets.drain(..count) {
            into.push(packet);
        }
        if count > 0 {
            self.in_vain = 0;
            if let Some(full) = self.full {
                ctx.wake(full);
            }
        }
        let sleeps = match self.variant.empty {
            Tells::Never => false,
            Tells::AtOnce => self.packets.is_empty(),
            Tells::Lazily => {
                self.in_vain += u32::from(count < max);
                self.in_vain >= PATIENCE
            }
        };
        if sleeps && let Some(empty) = self.empty {
            self.in_vain = PATIENCE;
            ctx.sleep(empty);
        }
    }

    fn notifier(&self, kind: notify::Kind, _: usize) -> Provided {
        let id = match kind {
            notify::Kind::Empty => self.empty,
            notify::Kind::Full => self.full,
        };
        id.map_or(Provided::None, Provided::Stop)
    }

    fn stored(&self) -> Option<usize> {
        Some(self.packets.len())
    }

    fn room(&self) -> Option<usize> {
        Some(self.capacity.saturating_sub(self.packets.len()))
    }

    fn missed(&mut self, ctx: &mut Ctx, packets: u64) {
        if self.drops == 0 && self.capacity > 0 {
            let text = format!("{}: overflow\n", ctx.declaration(ctx.me()));
            ctx.host().say(&text);
        }
        self.drops += packets;
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("length", "r"),
            Handler::new("highwater_length", "r"),
            Handler::new("capacity", "rw.").of_argument(0, "CAPACITY"),
            Handler::new("drops", "r"),
            Handler::new("reset_counts", "wb"),
            Handler::new("reset", "wb"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "length" => self.packets.len().to_string(),
            "highwater_length" => self.highwater.to_string(),
            "capacity" => self.capacity.to_string(),
            _ => self.drops.to_string(),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, _: &str) -> Result<(), String> {
        if name == "reset_counts" {
            (self.drops, self.highwater) = (0, self.packets.len());
            return Ok(());
        }
        while let Some(packet) = self.packets.pop_front() {
            ctx.reject(1, packet, Reason::Discarded);
        }
        self.tell_room(ctx);
        Ok(())
    }

    fn take_state(&mut self, ctx: &mut Ctx, old: &mut dyn Element) {
        let Some(old) = cast::<Queue>(old) else {
            return;
        };
        let before = old.packets.len();
        // What came in the meantime is behind what has waited.
        old.packets.append(&mut self.packets);
        self.packets = std::mem::take(&mut old.packets);
        self.cut(ctx);
        self.highwater = self.packets.len();
        if before > self.capacity {
            let text = format!(
                "{}: some packets lost (old length {before}, new capacity {})\n",
                ctx.declaration(ctx.me()),
                self.capacity
            );
            ctx.host().say(&text);
        }
        self.tell_room(ctx);
    }

    fn cleanup(&mut self, ctx: &mut Ctx) {
        for packet in self.packets.drain(..) {
            ctx.pool().free(packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn a_full_queue_refuses_what_comes_and_says_so_once() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 50, BURST 50, STOP true) -> q :: SimpleQueue(20) -> Idle;
             q[1] -> c :: Counter -> Discard;",
        );
        run.run(1.0);
        assert_eq!(
            (run.read("q.length"), run.read("q.drops")),
            ("20".into(), "30".into())
        );
        assert_eq!(run.read("c.count"), "30");
        assert_eq!(run.ctx.pool().in_use(), 20);
        run.write("q.reset_counts", "").unwrap();
        run.write("q.reset", "").unwrap();
        assert_eq!(run.read("q.highwater_length"), "20");
        assert_eq!(
            (run.read("q.length"), run.read("q.drops")),
            ("0".into(), "0".into())
        );
    }

    #[test]
    fn a_smaller_capacity_drops_the_surplus_and_a_larger_one_wakes_the_source() {
        let mut run = loaded("i :: InfiniteSource -> q :: Queue -> Idle;");
        run.run(0.02);
        assert_eq!(run.read("i.count"), "1000");
        run.write("q.capacity", "10").unwrap();
        assert_eq!(
            (run.read("q.config"), run.read("q.length")),
            ("CAPACITY 10".into(), "10".into())
        );
        run.run(0.02);
        assert_eq!(
            (run.read("i.count"), run.read("i.scheduled")),
            ("1000".into(), "false".into())
        );
        run.write("q.capacity", "1000").unwrap();
        run.run(0.02);
        assert_eq!(
            (run.read("i.count"), run.read("q.drops")),
            ("1990".into(), "0".into())
        );
        assert_eq!(
            run.write("q.capacity", "x"),
            Err("CAPACITY: invalid number".into())
        );
        assert_eq!(run.read("q.config"), "CAPACITY 1000");
    }

    #[test]
    fn a_queue_without_notice_of_room_is_overrun() {
        for (class, count) in [
            ("NotifierQueue", "15"),
            ("Queue", "5"),
            ("FullNoteQueue", "5"),
        ] {
            let config =
                format!("i :: InfiniteSource(LIMIT 15) -> c :: Counter -> {class}(5) -> Idle;");
            let mut run = loaded(&config);
            run.run(0.1);
            assert_eq!(run.read("c.count"), count, "{class}");
        }
    }

    #[test]
    fn a_lazy_queue_sleeps_after_ten_pulls_in_vain_and_wakes_with_a_packet() {
        let mut run = loaded(
            "i :: InfiniteSource(LIMIT 5, ACTIVE false) -> q :: Queue -> u :: Unqueue
             -> c :: Counter -> Discard;",
        );
        run.run(0.1);
        assert_eq!(run.read("u.scheduled"), "false");
        run.write("i.active", "true").unwrap();
        run.run(0.1);
        assert_eq!(
            (run.read("c.count"), run.read("u.scheduled")),
            ("5".into(), "false".into())
        );
    }

    #[test]
    fn arguments_are_checked() {
        assert_eq!(
            errors("Idle -> q :: Queue(-1) -> Discard"),
            "config:1: While configuring 'q :: Queue':\n  CAPACITY: invalid number\n\
             Router could not be initialized!\n"
        );
    }
}
