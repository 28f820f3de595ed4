//! How packets get from one element to the next.

use super::Element;
use super::context::{Ctx, Pending};
use super::element::cast;
use super::ids::{ElementId, Target, Way};
use crate::graph::processing::Mode;
use crate::reason::Reason;
use trammel_packet::batch::{Batch, CAPACITY, Packets};
use trammel_packet::pool::{Handle, Pool};

/// No output.
pub const NOWHERE: u32 = u32::MAX;

/// Steps of a turn between two looks at what would end it.
const STEPS_A_LOOK: u64 = 1024;

/// Outputs that packets of a batch are gathered for one after the other.
const MOST_TURNS: usize = 4;

/// Why a packet ends whose key is `NOWHERE` less the number of a reason; none of one that has an
/// output.
#[inline]
fn ended(key: u32) -> Option<Reason> {
    Reason::ALL.get((NOWHERE - key) as usize).copied()
}

/// The data path.
impl Ctx {
    /// The element that runs.
    #[inline]
    pub fn me(&self) -> ElementId {
        self.me
    }

    /// The packets.
    #[inline]
    pub fn pool(&mut self) -> &mut Pool {
        &mut self.path.pool
    }

    /// The number of this element's outputs.
    #[inline]
    pub fn outputs(&self) -> usize {
        (self.path.wiring.first_output[self.me + 1] - self.path.wiring.first_output[self.me])
            as usize
    }

    /// The number of this element's inputs.
    #[inline]
    pub fn inputs(&self) -> usize {
        (self.path.wiring.first_input[self.me + 1] - self.path.wiring.first_input[self.me]) as usize
    }

    #[inline]
    fn way(&self, output: usize) -> Way {
        let at = self.path.wiring.first_output[self.me] as usize + output;
        if at < self.path.wiring.first_output[self.me + 1] as usize {
            self.path.wiring.ways[at]
        } else {
            Way::NONE
        }
    }

    /// Sends a packet out by `output`. No branch depends on which output it is: packets that go to
    /// several in no order would mispredict it.
    #[inline]
    pub fn emit(&mut self, output: usize, packet: Handle) {
        let way = self.way(output);
        let latest = self.path.latest[way.lane as usize] as usize;
        if latest >= self.path.mark
            && let Some(waiting) = self.path.pending.get_mut(latest)
            && waiting.to == way.to
            && !waiting.batch.is_full()
        {
            waiting.batch.push(packet);
            return;
        }
        self.emit_first(way, packet);
    }

    /// The first packet that goes this way, or the first after a full batch.
    fn emit_first(&mut self, way: Way, packet: Handle) {
        if way.to == Target::NONE {
            self.drop(packet, Reason::NoPort);
            return;
        }
        let mut batch = self.batch();
        batch.push(packet);
        self.send(way, batch);
    }

    #[inline]
    fn send(&mut self, way: Way, batch: Batch) {
        self.path.latest[way.lane as usize] = self.path.pending.len() as u32;
        self.path.pending.push(Pending { to: way.to, batch });
    }

    /// Sends all packets of `batch` out by `output`.
    #[inline]
    pub fn emit_all(&mut self, output: usize, mut batch: Batch) {
        let way = self.way(output);
        if batch.is_empty() {
            self.path.spare.push(batch);
        } else if way.to == Target::NONE {
            self.drop_all(&mut batch, Reason::NoPort);
            self.path.spare.push(batch);
        } else {
            self.send(way, batch);
        }
    }

    /// Sends each packet of `batch` out by its output; those of [`NOWHERE`] or of outputs that are
    /// not there end for `reason`.
    #[inline]
    pub fn part(&mut self, batch: Batch, outputs: &[u32; CAPACITY], reason: Reason) {
        self.part_by(batch, outputs, |_| reason);
    }

    /// The same, where the reason is a matter of the output that is not there.
    pub fn part_by(
        &mut self,
        mut batch: Batch,
        outputs: &[u32; CAPACITY],
        reason: impl Fn(u32) -> Reason,
    ) {
        let count = batch.len();
        if outputs[..count]
            .iter()
            .fold(0, |all, output| all | (output ^ outputs[0]))
            == 0
        {
            if (outputs[0] as usize) < self.outputs() {
                self.emit_all(outputs[0] as usize, batch);
            } else {
                self.drop_all(&mut batch, reason(outputs[0]));
                self.path.spare.push(batch);
            }
            return;
        }
        let (first, end) = (
            self.path.wiring.first_output[self.me],
            self.path.wiring.first_output[self.me + 1],
        );
        let ways = &self.path.wiring.ways[first as usize..end as usize];
        let mut keys = [NOWHERE; CAPACITY];
        for (key, output) in keys.iter_mut().zip(&outputs[..count]) {
            // Outputs that lead to one input are one, so that packets keep their order.
            let way = ways.get(*output as usize);
            *key = way.map_or_else(|| NOWHERE - reason(*output) as u32, |way| way.lane - first);
        }
        // An output takes all of its packets in a turn that guesses nothing; many outputs have few
        // packets a turn.
        for _ in 0..MOST_TURNS {
            if batch.is_empty() {
                break;
            }
            let (output, mut taken) = (keys[0], self.batch());
            batch.part(&mut keys, output, &mut taken);
            if let Some(reason) = ended(output) {
                self.drop_all(&mut taken, reason);
                self.path.spare.push(taken);
            } else {
                self.emit_all(output as usize, taken);
            }
        }
        for (packet, output) in batch.drain().zip(keys) {
            match ended(output) {
                Some(reason) => self.drop(packet, reason),
                None => self.emit(output as usize, packet),
            }
        }
        self.path.spare.push(batch);
    }

    /// Sends a packet out by `output` where there is such an output, and drops it otherwise.
    #[inline]
    pub fn reject(&mut self, output: usize, packet: Handle, reason: Reason) {
        if output < self.outputs() {
            self.emit(output, packet);
        } else {
            self.drop(packet, reason);
        }
    }

    /// An empty batch.
    #[inline]
    pub fn batch(&mut self) -> Batch {
        self.path.spare.pop().unwrap_or_default()
    }

    /// Gives an emptied batch back. Packets still in it are dropped.
    #[inline]
    pub fn recycle(&mut self, mut batch: Batch) {
        if !batch.is_empty() {
            self.drop_all(&mut batch, Reason::Discarded);
        }
        self.path.spare.push(batch);
    }

    /// Ends a packet here.
    #[inline]
    pub fn drop(&mut self, packet: Handle, reason: Reason) {
        self.path.counters[self.me].drops[reason as usize] += 1;
        if self.watch.traced.is_some() {
            self.trace_end(&packet, reason);
        }
        self.path.pool.free(packet);
    }

    /// Ends all packets of `batch` here.
    #[inline]
    pub fn drop_all(&mut self, batch: &mut Packets, reason: Reason) {
        self.path.counters[self.me].drops[reason as usize] += batch.len() as u64;
        if self.watch.traced.is_some() {
            for packet in batch.iter() {
                self.trace_end(packet, reason);
            }
        }
        for packet in batch.drain() {
            self.path.pool.free(packet);
        }
    }

    /// Gives packets to a push input of `element` as whoever feeds it would: they are delivered
    /// when the router runs next. Where there is no such input, they end.
    pub fn offer(&mut self, element: ElementId, input: usize, mut batch: Batch) {
        let modes = self
            .config
            .nodes
            .get(element)
            .map(|node| &node.modes.inputs);
        let is_push = modes.is_some_and(|inputs| inputs.get(input) == Some(&Mode::Push));
        if !is_push {
            for packet in batch.drain() {
                self.path.pool.free(packet);
            }
        }
        if batch.is_empty() {
            self.path.spare.push(batch);
            return;
        }
        let to = Target {
            element: element as u32,
            port: input as u32,
        };
        self.path.pending.push(Pending { to, batch });
    }

    /// Asks for up to `max` packets at `input` and appends them to `into`; says how many came.
    #[inline]
    pub fn pull(&mut self, input: usize, max: usize, into: &mut Packets) -> usize {
        let max = max.min(into.room());
        let from = match self
            .path
            .wiring
            .sources
            .get(self.path.wiring.first_input[self.me] as usize + input)
        {
            Some(from) if *from != Target::NONE && max > 0 => *from,
            _ => return 0,
        };
        let element = from.element as usize;
        // An element that is running already is upstream of itself: it has nothing to give.
        let Some(mut upstream) = self.slots[element].take() else {
            return 0;
        };
        let (me, before) = (std::mem::replace(&mut self.me, element), into.len());
        if self.watch.observed {
            self.pull_observed(me, upstream.as_mut(), from.port as usize, max, into);
        } else {
            upstream.pull(self, from.port as usize, max, into);
        }
        self.slots[element] = Some(upstream);
        self.me = me;
        let count = into.len() - before;
        let counters = &mut self.path.counters[element];
        counters.packets += count as u64;
        counters.asked += count as u64;
        counters.batches += 1;
        let counters = &mut self.path.counters[me];
        counters.pulled += count as u64;
        counters.pulls += 1;
        count
    }

    /// Pulls at input 0 and gives what came to `process` before it joins `into`.
    #[inline]
    pub fn pull_through(
        &mut self,
        max: usize,
        into: &mut Packets,
        process: impl FnOnce(&mut Ctx, &mut Packets),
    ) {
        if into.is_empty() {
            self.pull(0, max, into);
            process(self, into);
            return;
        }
        let mut batch = self.batch();
        self.pull(0, max.min(into.room()), &mut batch);
        process(self, &mut batch);
        for packet in batch.drain() {
            into.push(packet);
        }
        self.path.spare.push(batch);
    }

    /// Asks for packets at `input` while `stand_in` answers for this element: what is upstream may
    /// pull at another of its outputs. Gives the stand-in back.
    pub fn pull_past(
        &mut self,
        stand_in: Box<dyn Element>,
        input: usize,
        max: usize,
        into: &mut Packets,
    ) -> Option<Box<dyn Element>> {
        let me = self.me;
        self.slots[me] = Some(stand_in);
        self.pull(input, max, into);
        self.slots[me].take()
    }

    /// Asks for one packet at `input`.
    pub fn pull_one(&mut self, input: usize) -> Option<Handle> {
        let mut batch = self.batch();
        self.pull(input, 1, &mut batch);
        let packet = batch.pop();
        self.path.spare.push(batch);
        packet
    }

    /// Delivers what waits, until nothing does.
    pub(crate) fn deliver(&mut self) {
        debug_assert_eq!(self.path.mark, 0);
        self.turn.began = self.path.pending.len();
        loop {
            self.path.pending.reverse();
            while let Some(Pending { to, batch }) = self.path.pending.pop() {
                if self.step() {
                    self.deliver_one(to, batch);
                } else {
                    self.caught(to, batch);
                }
            }
            self.path.mark = 0;
            if self.calls.postponed.is_empty() {
                break;
            }
            self.postponed();
        }
        self.turn.steps = self.options.most_steps;
        if self.turn.caught.is_some() {
            self.tell_loop();
        }
    }

    /// Counts a step of this turn, of which there are so many: what goes round without end comes to
    /// one.
    #[inline]
    pub fn step(&mut self) -> bool {
        if self.turn.steps % STEPS_A_LOOK == 1 {
            self.look_up();
        }
        let is_left = self.turn.steps > 0;
        self.turn.steps -= u64::from(is_left);
        is_left
    }

    #[inline]
    fn deliver_one(&mut self, to: Target, batch: Batch) {
        let element = to.element as usize;
        let counters = &mut self.path.counters[element];
        counters.packets += batch.len() as u64;
        counters.batches += 1;
        let Some(mut receiver) = self.slots[element].take() else {
            debug_assert!(false, "nothing runs while packets are delivered");
            return;
        };
        self.me = element;
        self.path.mark = self.path.pending.len();
        if self.watch.observed {
            self.push_observed(receiver.as_mut(), to.port as usize, batch);
        } else {
            receiver.push(self, to.port as usize, batch);
        }
        self.slots[element] = Some(receiver);
        if self.path.pending.len() > self.path.mark + 1 {
            self.path.pending[self.path.mark..].reverse();
        }
    }

    /// Pushes packets into an element and gives what it emits, each with its output.
    #[cfg(test)]
    pub(crate) fn pass(
        &mut self,
        element: ElementId,
        packets: Vec<Handle>,
    ) -> Vec<(usize, Handle)> {
        self.pass_to(element, 0, packets)
    }

    /// The same at an input of choice.
    #[cfg(test)]
    pub(crate) fn pass_to(
        &mut self,
        element: ElementId,
        input: usize,
        packets: Vec<Handle>,
    ) -> Vec<(usize, Handle)> {
        let mut batch = self.batch();
        for packet in packets {
            batch.push(packet);
        }
        let mut one = self.slots[element].take().expect("no element is running");
        (self.me, self.path.mark) = (element, self.path.pending.len());
        if self.watch.observed {
            self.push_observed(one.as_mut(), input, batch);
        } else {
            one.push(self, input, batch);
        }
        self.slots[element] = Some(one);
        let mut left = Vec::new();
        for Pending { to, mut batch } in self.path.pending.split_off(self.path.mark) {
            let port = (0..self.outputs()).find(|port| self.way(*port).to == to);
            let port = port.expect("it was emitted by an output");
            left.extend(batch.drain().map(|packet| (port, packet)));
            self.path.spare.push(batch);
        }
        self.path.mark = 0;
        left
    }

    /// Runs `work` with the element out of its slot. Nothing where it is running already.
    pub(crate) fn with<R>(
        &mut self,
        element: ElementId,
        work: impl FnOnce(&mut dyn Element, &mut Ctx) -> R,
    ) -> Option<R> {
        let mut one = self.slots.get_mut(element)?.take()?;
        let me = std::mem::replace(&mut self.me, element);
        let result = work(one.as_mut(), self);
        self.me = me;
        self.slots[element] = Some(one);
        Some(result)
    }

    /// How many packets an element stores, where it is one that stores packets and is not running.
    pub fn stored(&self, element: ElementId) -> Option<usize> {
        self.slots.get(element)?.as_deref()?.stored()
    }

    /// How many more packets an element takes, where it is one that has such a bound and is not
    /// running.
    pub fn room(&self, element: ElementId) -> Option<usize> {
        self.slots.get(element)?.as_deref()?.room()
    }

    /// The number of an element's inputs.
    pub fn inputs_of(&self, element: ElementId) -> usize {
        self.config
            .nodes
            .get(element)
            .map_or(0, |node| node.modes.inputs.len())
    }

    /// The element whose aggregates `element` listens to.
    pub fn listens_to(&self, element: ElementId) -> Option<ElementId> {
        self.slots.get(element)?.as_deref()?.aggregates_of()
    }

    /// Tells `element` that an aggregate is over. What it emits goes before what the running
    /// element emits next.
    pub fn tell_aggregate_ended(&mut self, element: ElementId, aggregate: u32) {
        self.with(element, |one, ctx| one.aggregate_ended(ctx, aggregate));
    }

    /// Another element, where it is a `T` and is not running.
    pub fn get<T: Element>(&mut self, element: ElementId) -> Option<&mut T> {
        cast(self.slots.get_mut(element)?.as_deref_mut()?)
    }

    /// Runs `work` on another element that is a `T`, with the context at its disposal.
    pub fn with_element<T: Element, R>(
        &mut self,
        element: ElementId,
        work: impl FnOnce(&mut T, &mut Ctx) -> R,
    ) -> Option<R> {
        self.with(element, |one, ctx| cast(one).map(|one| work(one, ctx)))?
    }
}
