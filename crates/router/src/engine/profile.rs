//! Calls that are watched: time charged to a simulated core, cycles and bytes counted, followed packets told of.
//!
//! ```text
//! turn of a task ── start ─┬─ pull ── start … spent ──┐
//!                          └──────────────────────────┴─ own = spent − nested
//! ```
//!
//! An element has the cycles of its own calls; what it pulled from has those of the pull.

use super::trace::Step;
use super::{Ctx, ElementId};
use crate::element::Element;
use trammel_packet::batch::{Batch, Packets};

impl Ctx {
    /// Cycles so far: the simulated core's, or the machine's.
    fn cycles(&self) -> u64 {
        match &self.core {
            Some(core) => core.cycles(),
            None => trammel_packet::cpu::cycles(),
        }
    }

    /// Bytes of packets from place `from` on, where they are asked for.
    fn bytes(&self, packets: &Packets, from: usize) -> u64 {
        if !self.options.profiled {
            return 0;
        }
        let each = packets.iter().skip(from);
        each.map(|packet| self.pool[packet].len() as u64).sum()
    }

    /// As a push.
    #[cold]
    pub(super) fn push_observed(&mut self, receiver: &mut dyn Element, port: usize, batch: Batch) {
        let element = self.me;
        self.trace_step(&batch, 0, element, Step::Pushed(port));
        let bytes = self.bytes(&batch, 0);
        let outer = std::mem::take(&mut self.nested);
        let start = self.cycles();
        if let Some(core) = &mut self.core {
            core.charge_call(element, &self.pool, &batch, 0);
        }
        receiver.push(self, port, batch);
        let spent = self.cycles().wrapping_sub(start);
        let counters = &mut self.counters[element];
        counters.cycles += spent.saturating_sub(self.nested);
        counters.bytes += bytes;
        self.nested = outer + spent;
    }

    /// As a pull by the element `by`.
    #[cold]
    pub(super) fn pull_observed(
        &mut self,
        by: ElementId,
        upstream: &mut dyn Element,
        port: usize,
        max: usize,
        into: &mut Packets,
    ) {
        let (element, before) = (self.me, into.len());
        let outer = std::mem::take(&mut self.nested);
        let start = self.cycles();
        upstream.pull(self, port, max, into);
        if let Some(core) = &mut self.core {
            core.charge_call(element, &self.pool, into, before);
        }
        let spent = self.cycles().wrapping_sub(start);
        let own = spent.saturating_sub(self.nested);
        self.nested = outer + spent;
        let bytes = self.bytes(into, before);
        let counters = &mut self.counters[element];
        counters.cycles += own;
        counters.bytes += bytes;
        if let Some(core) = &mut self.core {
            core.charge_puller(by, &self.pool, into, before);
        }
        self.trace_step(into, before, element, Step::Pulled(port));
    }

    /// A turn of a task or a timer. One that moved no packet is no packet's: it is not counted.
    pub(super) fn turn_observed(
        &mut self,
        owner: ElementId,
        token: u32,
        is_timer: bool,
    ) -> Option<bool> {
        let pulled = self.counters[owner].pulled;
        self.nested = 0;
        let start = self.cycles();
        let worked = self.run_turn(owner, token, is_timer);
        let own = self
            .cycles()
            .wrapping_sub(start)
            .saturating_sub(self.nested);
        self.nested = 0;
        let mut emitted = super::Started::default();
        for waiting in &self.pending[self.mark..] {
            emitted.packets += waiting.batch.len() as u64;
            emitted.batches += 1;
            emitted.bytes += self.bytes(&waiting.batch, 0);
        }
        let counters = &mut self.counters[owner];
        let moved = emitted.packets > 0 || counters.pulled > pulled;
        // A task says itself whether it worked: it may send now what it pulled before.
        if moved || (!is_timer && worked == Some(true)) {
            counters.cycles += own;
            counters.started.turns += 1;
            counters.started.packets += emitted.packets;
            counters.started.batches += emitted.batches;
            counters.started.bytes += emitted.bytes;
        }
        worked
    }
}
