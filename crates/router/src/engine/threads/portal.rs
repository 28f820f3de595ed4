//! What stands for a queue of another thread.

use super::crossing::Crossing;
use crate::engine::notify::{self, NotifierId, Provided};
use crate::engine::{Ctx, Element};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use trammel_packet::batch::Batch;
use trammel_packet::parcel::Parcel;

/// Stands for a queue of another thread.
#[derive(Debug)]
pub(super) struct Portal {
    crossing: Arc<Crossing>,
    /// Parcels to fill.
    spare: Vec<(u32, Parcel)>,
    filled: Vec<(u32, Parcel)>,
    full: Option<NotifierId>,
}

impl Portal {
    pub(super) fn new(crossing: Arc<Crossing>) -> Portal {
        Portal {
            crossing,
            spare: Vec::new(),
            filled: Vec::new(),
            full: None,
        }
    }

    /// Tells those who ask in this thread whether there is room.
    pub(super) fn look(&mut self, ctx: &mut Ctx) {
        let Some(full) = self.full else { return };
        if self.crossing.has_room() {
            ctx.wake(full);
        } else {
            ctx.sleep(full);
        }
    }
}

impl Element for Portal {
    fn prepare(&mut self, ctx: &mut Ctx) {
        self.full = Some(ctx.new_notifier("full"));
    }

    fn start(&mut self, ctx: &mut Ctx) {
        let asked = |id| !ctx.notifiers().listeners(id).is_empty();
        let is_asked = self.full.is_some_and(asked);
        self.crossing.is_asked.store(is_asked, Ordering::Relaxed);
    }

    fn push(&mut self, ctx: &mut Ctx, port: usize, mut batch: Batch) {
        let waiting = self.crossing.waiting.load(Ordering::Acquire);
        let most = self.crossing.most.load(Ordering::Relaxed);
        let (mut room, mut missed) = (most.saturating_sub(waiting), 0);
        for packet in batch.drain() {
            if room == 0 {
                ctx.pool().free(packet);
                missed += 1;
                continue;
            }
            room -= 1;
            let (_, mut parcel) = self.spare.pop().unwrap_or_default();
            parcel.fill(&ctx.pool()[&packet]);
            ctx.pool().free(packet);
            self.filled.push((port as u32, parcel));
        }
        ctx.recycle(batch);
        if missed > 0 {
            self.crossing.missed.fetch_add(missed, Ordering::Relaxed);
        }
        let mut lists = self.crossing.lists();
        lists.filled.append(&mut self.filled);
        if self.spare.is_empty() {
            std::mem::swap(&mut self.spare, &mut lists.emptied);
        }
        self.crossing
            .waiting
            .store(lists.filled.len(), Ordering::Release);
        drop(lists);
        ctx.notice(self.crossing.home);
        self.look(ctx);
    }

    fn stored(&self) -> Option<usize> {
        let waiting = self.crossing.waiting.load(Ordering::Relaxed);
        Some(self.crossing.stored.load(Ordering::Relaxed) + waiting)
    }

    fn notifier(&self, kind: notify::Kind, _: usize) -> Provided {
        match (kind, self.full) {
            (notify::Kind::Full, Some(full)) => Provided::Stop(full),
            _ => Provided::None,
        }
    }
}
