//! Calls that are watched: time charged to a simulated core, cycles and bytes counted, followed
//! packets told of.
//!
//! ```text
//! turn of a task ── start ─┬─ pull ── start … spent ──┐
//!                          └──────────────────────────┴─ own = spent − nested
//! ```
//!
//! An element has the cycles of its own calls; what it pulled from has those of the pull.

use super::study::Study;
use super::trace::Step;
use super::{Ctx, Element, ElementId};
use trammel_packet::batch::{Batch, Packets};

/// Ticks from which on a call was interrupted: a third of a millisecond, of which a batch's work
/// takes some hundredths and a scheduler's slice some times as much.
const INTERRUPTED: u64 = 1 << 20;

impl Ctx {
    /// Counts cycles of a call or turn of an element. A simulated core is never interrupted.
    fn spend(&mut self, element: ElementId, own: u64) {
        let is_real = self.clocks.core.is_none();
        let counters = &mut self.path.counters[element];
        if is_real && own >= INTERRUPTED {
            counters.interrupted += 1;
        } else {
            counters.cycles += own;
        }
    }

    /// Cycles so far: the simulated core's, or the machine's.
    fn cycles(&self) -> u64 {
        match &self.clocks.core {
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
        each.map(|packet| self.path.pool[packet].len() as u64).sum()
    }

    /// As a push.
    #[cold]
    pub(super) fn push_observed(&mut self, receiver: &mut dyn Element, port: usize, batch: Batch) {
        let element = self.me;
        self.trace_step(&batch, 0, element, Step::Pushed(port));
        if let Some(study) = self.watch.studies.get_mut(element) {
            receiver.study(&self.path.pool, &batch, study);
        }
        let bytes = self.bytes(&batch, 0);
        let outer = std::mem::take(&mut self.watch.nested);
        let start = self.cycles();
        if let Some(core) = &mut self.clocks.core {
            core.charge_call(element, &self.path.pool, &batch, 0);
        }
        receiver.push(self, port, batch);
        let spent = self.cycles().wrapping_sub(start);
        self.spend(element, spent.saturating_sub(self.watch.nested));
        self.path.counters[element].bytes += bytes;
        self.watch.nested = outer + spent;
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
        let outer = std::mem::take(&mut self.watch.nested);
        let start = self.cycles();
        upstream.pull(self, port, max, into);
        if let Some(core) = &mut self.clocks.core {
            core.charge_call(element, &self.path.pool, into, before);
        }
        let spent = self.cycles().wrapping_sub(start);
        let own = spent.saturating_sub(self.watch.nested);
        self.watch.nested = outer + spent;
        let bytes = self.bytes(into, before);
        self.spend(element, own);
        self.path.counters[element].bytes += bytes;
        self.path.counters[element].asked_bytes += bytes;
        self.path.counters[by].pulled_bytes += bytes;
        if let Some(core) = &mut self.clocks.core {
            core.charge_puller(by, &self.path.pool, into, before);
        }
        self.trace_step(into, before, element, Step::Pulled(port));
    }

    /// What the running element has emitted and was not delivered yet.
    fn emissions(&self) -> super::Started {
        let mut emitted = super::Started::default();
        for waiting in &self.path.pending[self.path.mark..] {
            emitted.packets += waiting.batch.len() as u64;
            emitted.batches += 1;
            emitted.bytes += self.bytes(&waiting.batch, 0);
        }
        emitted
    }

    /// Counts what an element emitted when a descriptor of its own was ready.
    #[cold]
    pub(super) fn ready_observed(&mut self, owner: ElementId) {
        let emitted = self.emissions();
        let own = &mut self.path.counters[owner].started;
        own.packets += emitted.packets;
        own.batches += emitted.batches;
        own.bytes += emitted.bytes;
    }

    /// A turn of a task or a timer. One that moved no packet is no packet's: it is not counted.
    pub(super) fn turn_observed(
        &mut self,
        owner: ElementId,
        token: u32,
        is_timer: bool,
    ) -> Option<bool> {
        let pulled = self.path.counters[owner].pulled;
        self.watch.nested = 0;
        let start = self.cycles();
        let worked = self.run_turn(owner, token, is_timer);
        let own = self
            .cycles()
            .wrapping_sub(start)
            .saturating_sub(self.watch.nested);
        self.watch.nested = 0;
        let emitted = self.emissions();
        let counters = &mut self.path.counters[owner];
        let moved = emitted.packets > 0 || counters.pulled > pulled;
        // A task says itself whether it worked: it may send now what it pulled before.
        if moved || (!is_timer && worked == Some(true)) {
            counters.started.turns += 1;
            counters.started.packets += emitted.packets;
            counters.started.batches += emitted.batches;
            counters.started.bytes += emitted.bytes;
            self.spend(owner, own);
        }
        worked
    }
}

impl Ctx {
    /// Studies what is pushed from now on, anew.
    pub fn study(&mut self) {
        self.watch.studies = vec![Study::default(); self.elements()];
        self.watch.observed = true;
    }

    /// What was learnt of an element; nothing where the run is not studied.
    pub fn studied(&self, element: ElementId) -> Option<&Study> {
        self.watch.studies.get(element)
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::{Ctx, Options, Started};
    use crate::estimate::{Inflow, inflow, visits};
    use crate::lang;
    use crate::load::{BuiltIn, load};
    use crate::memory::MemoryDevice;
    use crate::memory::MemoryHost;

    /// A router that 40 frames of 60 bytes and 10 of 1000 have gone through.
    fn fifty_frames(profiled: bool) -> Ctx {
        let host = MemoryHost::new();
        let frames = (0..50).map(|at| vec![0; if at % 5 == 0 { 1000 } else { 60 }]);
        let ways_in = MemoryDevice::new("a", frames);
        let ways_out = MemoryDevice::new("b", std::iter::empty());
        let devices = [
            ("a".to_owned(), Box::new(ways_in) as _),
            ("b".to_owned(), Box::new(ways_out) as _),
        ];
        host.memory().devices.extend(devices);
        let text = "f :: FromDevice(a) -> l :: CheckLength(500) -> q :: Queue -> t :: ToDevice(b); \
            l[1] -> d :: Discard";
        let options = lang::Options {
            classes: Some(&BuiltIn),
            ..lang::Options::default()
        };
        let run = Options {
            profiled,
            ..Options::simulated()
        };
        let loaded = load(text, "config", &options, Box::new(host), run);
        let (mut ctx, _) = loaded.unwrap_or_else(|refused| panic!("{}", refused.said.click()));
        ctx.run_rounds(None, 20);
        ctx
    }

    #[test]
    fn what_comes_in_is_counted_where_it_begins() {
        let ctx = fifty_frames(true);
        let found = |name| ctx.counters(ctx.find(name, None).expect("it is declared"));
        let began = found("f").started;
        assert_eq!((began.packets, began.bytes), (50, 40 * 60 + 10 * 1000));
        assert!((1..=50).contains(&began.batches), "{began:?}");
        assert_eq!((found("l").bytes, found("d").bytes), (began.bytes, 10_000));
        // It was given nothing and has given nothing on, but it worked.
        assert!(found("t").started.turns > 0);
        assert_eq!(found("t").started.packets, 0);
        let came = inflow(&ctx);
        let expected = Inflow {
            name: "f".to_owned(),
            packets: 50,
            batches: began.batches,
        };
        assert_eq!(came, [expected]);
        let visits = visits(&ctx, &came, 1.0);
        let packets: Vec<f64> = visits.elements.iter().map(|one| one.packets).collect();
        // A queue is visited by those that come and those that leave.
        assert_eq!(
            (visits.packets, packets),
            (50.0, vec![50.0, 50.0, 80.0, 40.0, 10.0])
        );
    }

    #[test]
    fn a_call_in_which_something_else_ran_is_left_out() {
        let mut ctx = fifty_frames(true);
        let before = ctx.counters(0).clone();
        ctx.spend(0, super::INTERRUPTED - 1);
        ctx.spend(0, super::INTERRUPTED);
        let after = ctx.counters(0);
        assert_eq!(after.cycles - before.cycles, super::INTERRUPTED - 1);
        assert_eq!(after.interrupted - before.interrupted, 1);
    }

    #[test]
    fn nothing_is_counted_that_was_not_asked_for() {
        let ctx = fifty_frames(false);
        for element in 0..ctx.elements() {
            let counted = ctx.counters(element);
            assert_eq!((counted.cycles, counted.bytes), (0, 0));
            assert_eq!(counted.started, Started::default());
        }
    }
}
