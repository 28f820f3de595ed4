//! The engine: what elements stand on while they run.
//!
//! A [`Ctx`] owns the elements, the packets in flight and the clock. An element that runs is taken out of
//! its slot, so it and the context are borrowed side by side and the engine needs no unsafe code.
//!
//! What an element emits is not delivered at once but waits on a stack until the element has returned, in
//! the order in which it was emitted and depth first: the order of calls is the one that direct calls would
//! give, the stack never grows with the length of the graph, and a loop of elements cannot enter one twice.
//! A pull is a direct call, as the packets are its result.

pub mod build;
pub mod classic_random;
pub mod clock;
mod configure;
pub mod core_clock;
pub mod devices;
pub mod driver;
pub mod files;
pub mod handlers;
pub mod hotswap;
pub mod long_turns;
pub mod notify;
mod places;
mod profile;
pub mod search;
mod services;
pub mod setup;
pub mod simulated_core;
pub mod study;
pub mod task;
pub mod threads;
pub mod timer;
pub mod trace;

use crate::args::definitions::Definitions;
use crate::element::{Element, cast};
use crate::elements::Entry;
use crate::engine::classic_random::ClassicRandom;
use crate::graph::index::Index;
use crate::graph::processing::{Mode, Modes};
use crate::host::Host;
use crate::lang::Flat;
use crate::reason::{self, Reason};
use clock::{Clock, Warp};
use devices::DeviceId;
use notify::Notifiers;
use simulated_core::SimulatedCore;
use std::collections::BTreeSet;
use std::sync::Arc;
use task::Tasks;
use timer::Timers;
use trace::Trace;
use trammel_core::rng::Rng;
use trammel_packet::batch::{Batch, CAPACITY, Packets};
use trammel_packet::pool::{Handle, Pool};

/// No output.
pub const NOWHERE: u32 = u32::MAX;
/// Steps of a turn between two looks at what would end it.
const STEPS_A_LOOK: u64 = 1024;
/// Outputs that packets of a batch are gathered for one after the other.
const MOST_TURNS: usize = 4;

/// Why a packet ends whose key is `NOWHERE` less the number of a reason; none of one that has an output.
#[inline]
fn ended(key: u32) -> Option<Reason> {
    reason::ALL.get((NOWHERE - key) as usize).copied()
}

/// The number of an element: its place in the flat configuration.
pub type ElementId = usize;

/// Where an output leads, or where an input is fed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Target {
    element: u32,
    port: u32,
}

impl Target {
    const NONE: Target = Target {
        element: u32::MAX,
        port: 0,
    };
}

/// An output: where it leads, and which place of `latest` tells of the batch that goes there; outputs of an element
/// that lead to one input share it, so that packets keep their order.
#[derive(Clone, Copy, Debug)]
struct Way {
    to: Target,
    lane: u32,
}

impl Way {
    /// An output that is not there; the first lane, with which it shares its number, is never that of such a target.
    const NONE: Way = Way {
        to: Target::NONE,
        lane: 0,
    };
}

/// Packets on their way to an input.
#[derive(Debug)]
struct Pending {
    to: Target,
    batch: Batch,
}

/// What was counted around an element's calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Packets given to it or asked of it.
    pub packets: u64,
    /// Of these, packets that others asked it for and got.
    pub asked: u64,
    /// Calls that brought or fetched packets.
    pub batches: u64,
    /// Packets that it asked others for and got.
    pub pulled: u64,
    /// Times that it asked.
    pub pulls: u64,
    /// Cycles spent in it, those in what it pulled from left out; 0 unless asked for. Of its tasks and timers
    /// those turns count that moved a packet.
    pub cycles: u64,
    /// Calls and turns that took so long that something else had the processor meanwhile: their cycles are left out.
    pub interrupted: u64,
    /// Bytes of the packets that were given to it or asked of it; 0 unless asked for.
    pub bytes: u64,
    /// Of these, those of packets that others asked it for and got.
    pub asked_bytes: u64,
    /// Bytes of the packets that it asked others for; 0 unless asked for.
    pub pulled_bytes: u64,
    /// What its tasks and timers emitted; nothing unless asked for.
    pub started: Started,
    /// Packets that ended here, by reason.
    pub drops: [u64; reason::COUNT],
}

impl Counters {
    /// Packets and bytes that came to an element, each once, pushed to it or pulled by it; of one without inputs, what it made. Those
    /// of a turn of its own, and bytes, are known only where the run counts them.
    pub fn handled(&self, has_inputs: bool) -> (u64, u64) {
        if has_inputs {
            let packets = self.packets - self.asked + self.pulled;
            (packets, self.bytes - self.asked_bytes + self.pulled_bytes)
        } else {
            let own = &self.started;
            (own.packets + self.asked, own.bytes + self.asked_bytes)
        }
    }
}

/// Packets that an element emitted in turns of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Started {
    /// How many.
    pub packets: u64,
    /// Batches that they left in.
    pub batches: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Turns that moved a packet, pulled ones included.
    pub turns: u64,
}

impl Default for Counters {
    fn default() -> Counters {
        Counters {
            packets: 0,
            asked: 0,
            batches: 0,
            pulled: 0,
            pulls: 0,
            cycles: 0,
            interrupted: 0,
            bytes: 0,
            asked_bytes: 0,
            pulled_bytes: 0,
            started: Started::default(),
            drops: [0; reason::COUNT],
        }
    }
}

/// What is known of an element besides itself.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its class.
    pub entry: &'static Entry,
    /// Its configuration, as it stands now.
    pub config: String,
    /// Its ports.
    pub modes: Modes,
}

/// Everything that runs, and what elements ask of it.
pub struct Ctx {
    /// The element that runs.
    me: ElementId,
    slots: Vec<Option<Box<dyn Element>>>,
    pool: Pool,
    /// The first output and input of each element in `ways` and `sources`.
    first_output: Vec<u32>,
    first_input: Vec<u32>,
    ways: Vec<Way>,
    /// For each lane of `ways` where in `pending` its last batch was put, which may have gone since.
    latest: Vec<u32>,
    sources: Vec<Target>,
    pending: Vec<Pending>,
    /// Where the emissions of the running element begin in `pending`.
    mark: usize,
    /// Empty batches to use again.
    spare: Vec<Batch>,
    counters: Vec<Counters>,
    /// Whether calls are watched: cycles counted, packets followed, a core's time charged.
    observed: bool,
    /// What was learnt of each element; empty where the run is not studied.
    studies: Vec<study::Study>,
    /// Cycles of calls that the running element made, since it began.
    nested: u64,
    /// The trace in progress.
    traced: Option<Trace>,
    nodes: Vec<Node>,
    flat: Flat,
    /// The configuration as it was given.
    source: String,
    tasks: Tasks,
    timers: Timers,
    notifiers: Notifiers,
    definitions: Definitions,
    /// Finds elements by name and connections by port.
    index: Arc<Index>,
    clock: Clock,
    /// The core whose time virtual time is, where calls cost time.
    core: Option<Box<SimulatedCore>>,
    warp: Warp,
    host: Box<dyn Host>,
    rng: Vec<Rng>,
    /// What all elements draw from once a seed was set.
    classic: Option<ClassicRandom>,
    /// How often elements asked for random numbers.
    draws: u64,
    driver: driver::State,
    /// Descriptors that elements wait on: descriptor, element, to write.
    watched: Vec<(i32, ElementId, bool)>,
    options: build::Options,
    /// What runs was asked for by somebody outside of this program.
    is_asked_outside: bool,
    /// Something was refused since the machine lacks it.
    lacks: bool,
    /// Open devices; a router that replaces another uses those of the other.
    devices: devices::Devices,
    /// Those that this router's elements asked for, and those that they opened.
    wanted: Vec<DeviceId>,
    opened: Vec<DeviceId>,
    /// For each element, whether it replaces one that runs yet.
    predecessors: Vec<bool>,
    /// What handlers said besides their results.
    remarks: Vec<String>,
    /// Handlers to be written when the element they belong to has returned.
    postponed: Vec<(handlers::HandlerRef, String)>,
    /// The thread of each element; empty where there is one thread.
    homes: Vec<usize>,
    /// Elements whose tasks shall not run.
    quiet: BTreeSet<ElementId>,
    /// Where this stands among several threads.
    place: Option<Box<threads::Place>>,
    /// The processor that its thread keeps to.
    processor: Option<usize>,
    /// Steps that are left of this turn.
    steps: u64,
    /// How much of `pending` there was when this turn began.
    began: usize,
    /// Where packets were caught going round in this turn.
    caught: Option<ElementId>,
    /// Where they were first.
    looped: Option<ElementId>,
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
        &mut self.pool
    }

    /// The number of this element's outputs.
    #[inline]
    pub fn outputs(&self) -> usize {
        (self.first_output[self.me + 1] - self.first_output[self.me]) as usize
    }

    /// The number of this element's inputs.
    #[inline]
    pub fn inputs(&self) -> usize {
        (self.first_input[self.me + 1] - self.first_input[self.me]) as usize
    }

    #[inline]
    fn way(&self, output: usize) -> Way {
        let at = self.first_output[self.me] as usize + output;
        if at < self.first_output[self.me + 1] as usize {
            self.ways[at]
        } else {
            Way::NONE
        }
    }

    /// Sends a packet out by `output`. No branch depends on which output it is: packets that go to several in no
    /// order would mispredict it.
    #[inline]
    pub fn emit(&mut self, output: usize, packet: Handle) {
        let way = self.way(output);
        let latest = self.latest[way.lane as usize] as usize;
        if latest >= self.mark
            && let Some(waiting) = self.pending.get_mut(latest)
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
        self.latest[way.lane as usize] = self.pending.len() as u32;
        self.pending.push(Pending { to: way.to, batch });
    }

    /// Sends all packets of `batch` out by `output`.
    #[inline]
    pub fn emit_all(&mut self, output: usize, mut batch: Batch) {
        let way = self.way(output);
        if batch.is_empty() {
            self.spare.push(batch);
        } else if way.to == Target::NONE {
            self.drop_all(&mut batch, Reason::NoPort);
            self.spare.push(batch);
        } else {
            self.send(way, batch);
        }
    }

    /// Sends each packet of `batch` out by its output; those of [`NOWHERE`] or of outputs that are not there end for `reason`.
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
                self.spare.push(batch);
            }
            return;
        }
        let (first, end) = (self.first_output[self.me], self.first_output[self.me + 1]);
        let ways = &self.ways[first as usize..end as usize];
        let mut keys = [NOWHERE; CAPACITY];
        for (key, output) in keys.iter_mut().zip(&outputs[..count]) {
            // Outputs that lead to one input are one, so that packets keep their order.
            let way = ways.get(*output as usize);
            *key = way.map_or_else(|| NOWHERE - reason(*output) as u32, |way| way.lane - first);
        }
        // An output takes all of its packets in a turn that guesses nothing; many outputs have few packets a turn.
        for _ in 0..MOST_TURNS {
            if batch.is_empty() {
                break;
            }
            let (output, mut taken) = (keys[0], self.batch());
            batch.part(&mut keys, output, &mut taken);
            if let Some(reason) = ended(output) {
                self.drop_all(&mut taken, reason);
                self.spare.push(taken);
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
        self.spare.push(batch);
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
        self.spare.pop().unwrap_or_default()
    }

    /// Gives an emptied batch back. Packets still in it are dropped.
    #[inline]
    pub fn recycle(&mut self, mut batch: Batch) {
        if !batch.is_empty() {
            self.drop_all(&mut batch, Reason::Discarded);
        }
        self.spare.push(batch);
    }

    /// Ends a packet here.
    #[inline]
    pub fn drop(&mut self, packet: Handle, reason: Reason) {
        self.counters[self.me].drops[reason as usize] += 1;
        if self.traced.is_some() {
            self.trace_end(&packet, reason);
        }
        self.pool.free(packet);
    }

    /// Ends all packets of `batch` here.
    #[inline]
    pub fn drop_all(&mut self, batch: &mut Packets, reason: Reason) {
        self.counters[self.me].drops[reason as usize] += batch.len() as u64;
        if self.traced.is_some() {
            for packet in batch.iter() {
                self.trace_end(packet, reason);
            }
        }
        for packet in batch.drain() {
            self.pool.free(packet);
        }
    }

    /// Gives packets to a push input of `element` as whoever feeds it would: they are delivered when the router
    /// runs next. Where there is no such input, they end.
    pub fn offer(&mut self, element: ElementId, input: usize, mut batch: Batch) {
        let modes = self.nodes.get(element).map(|node| &node.modes.inputs);
        let is_push = modes.is_some_and(|inputs| inputs.get(input) == Some(&Mode::Push));
        if !is_push {
            for packet in batch.drain() {
                self.pool.free(packet);
            }
        }
        if batch.is_empty() {
            self.spare.push(batch);
            return;
        }
        let to = Target {
            element: element as u32,
            port: input as u32,
        };
        self.pending.push(Pending { to, batch });
    }

    /// Asks for up to `max` packets at `input` and appends them to `into`; says how many came.
    #[inline]
    pub fn pull(&mut self, input: usize, max: usize, into: &mut Packets) -> usize {
        let max = max.min(into.room());
        let from = match self.sources.get(self.first_input[self.me] as usize + input) {
            Some(from) if *from != Target::NONE && max > 0 => *from,
            _ => return 0,
        };
        let element = from.element as usize;
        // An element that is running already is upstream of itself: it has nothing to give.
        let Some(mut upstream) = self.slots[element].take() else {
            return 0;
        };
        let (me, before) = (std::mem::replace(&mut self.me, element), into.len());
        if self.observed {
            self.pull_observed(me, upstream.as_mut(), from.port as usize, max, into);
        } else {
            upstream.pull(self, from.port as usize, max, into);
        }
        self.slots[element] = Some(upstream);
        self.me = me;
        let count = into.len() - before;
        let counters = &mut self.counters[element];
        counters.packets += count as u64;
        counters.asked += count as u64;
        counters.batches += 1;
        let counters = &mut self.counters[me];
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
        self.spare.push(batch);
    }

    /// Asks for packets at `input` while `stand_in` answers for this element: what is upstream may pull at
    /// another of its outputs. Gives the stand-in back.
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
        self.spare.push(batch);
        packet
    }

    /// Delivers what waits, until nothing does.
    pub(crate) fn deliver(&mut self) {
        debug_assert_eq!(self.mark, 0);
        self.began = self.pending.len();
        loop {
            self.pending.reverse();
            while let Some(Pending { to, batch }) = self.pending.pop() {
                if self.step() {
                    self.deliver_one(to, batch);
                } else {
                    self.caught(to, batch);
                }
            }
            self.mark = 0;
            if self.postponed.is_empty() {
                break;
            }
            self.postponed();
        }
        self.steps = self.options.most_steps;
        if self.caught.is_some() {
            self.tell_loop();
        }
    }

    /// Counts a step of this turn, of which there are so many: what goes round without end comes to one.
    #[inline]
    pub fn step(&mut self) -> bool {
        if self.steps % STEPS_A_LOOK == 1 {
            self.look_up();
        }
        let is_left = self.steps > 0;
        self.steps -= u64::from(is_left);
        is_left
    }

    #[inline]
    fn deliver_one(&mut self, to: Target, batch: Batch) {
        let element = to.element as usize;
        let counters = &mut self.counters[element];
        counters.packets += batch.len() as u64;
        counters.batches += 1;
        let Some(mut receiver) = self.slots[element].take() else {
            debug_assert!(false, "nothing runs while packets are delivered");
            return;
        };
        self.me = element;
        self.mark = self.pending.len();
        if self.observed {
            self.push_observed(receiver.as_mut(), to.port as usize, batch);
        } else {
            receiver.push(self, to.port as usize, batch);
        }
        self.slots[element] = Some(receiver);
        if self.pending.len() > self.mark + 1 {
            self.pending[self.mark..].reverse();
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
        let mut one = self.slots[element].take().expect("nothing runs");
        (self.me, self.mark) = (element, self.pending.len());
        if self.observed {
            self.push_observed(one.as_mut(), input, batch);
        } else {
            one.push(self, input, batch);
        }
        self.slots[element] = Some(one);
        let mut left = Vec::new();
        for Pending { to, mut batch } in self.pending.split_off(self.mark) {
            let port = (0..self.outputs()).find(|port| self.way(*port).to == to);
            let port = port.expect("it was emitted by an output");
            left.extend(batch.drain().map(|packet| (port, packet)));
            self.spare.push(batch);
        }
        self.mark = 0;
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

    /// How many more packets an element takes, where it is one that has such a bound and is not running.
    pub fn room(&self, element: ElementId) -> Option<usize> {
        self.slots.get(element)?.as_deref()?.room()
    }

    /// The number of an element's inputs.
    pub fn inputs_of(&self, element: ElementId) -> usize {
        self.nodes
            .get(element)
            .map_or(0, |node| node.modes.inputs.len())
    }

    /// The element whose aggregates `element` listens to.
    pub fn listens_to(&self, element: ElementId) -> Option<ElementId> {
        self.slots.get(element)?.as_deref()?.aggregates_of()
    }

    /// Tells `element` that an aggregate is over. What it emits goes before what the running element emits next.
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

impl std::fmt::Debug for Ctx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ctx")
            .field("elements", &self.nodes.len())
            .finish_non_exhaustive()
    }
}
