//! Neither sends nor accepts packets.
//!
//! # What it does
//! Never pushes a packet, never has one to pull, and ends every packet that reaches it.
//!
//! # Example
//! ```click
//! // An input that must be connected and gets nothing.
//! q :: ARPQuerier(10.0.0.1, 2:0:0:0:0:1) -> Queue -> ToDevice(eth0); Idle -> q; Idle -> [1] q
//! ```

use crate::elements::Entry;
use crate::engine::notify::{self, NotifierId, Provided};
use crate::engine::{Ctx, Element};
use crate::reason::Reason;
use trammel_packet::batch::{Batch, Packets};

/// The class.
pub static ENTRY: Entry = Entry::new("Idle", "neither sends nor accepts packets", || {
    Box::<Idle>::default()
})
.aliases(&["SimpleIdle"])
.ports("-/-", "a/a")
.flow("x/y")
.ops("work(10)");

#[derive(Debug, Default)]
struct Idle {
    never: Option<NotifierId>,
}

impl Element for Idle {
    fn prepare(&mut self, ctx: &mut Ctx) {
        let never = ctx.new_notifier("empty");
        ctx.sleep(never);
        self.never = Some(never);
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        ctx.drop_all(&mut batch, Reason::Discarded);
        ctx.recycle(batch);
    }

    fn pull(&mut self, _: &mut Ctx, _: usize, _: usize, _: &mut Packets) {}

    fn notifier(&self, _: notify::Kind, _: usize) -> Provided {
        self.never.map_or(Provided::None, Provided::Stop)
    }
}
