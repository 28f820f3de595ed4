//! What an element is: the trait, the description of its class, and the table of classes.

use super::notify::{Kind, Provided};
use super::setup::Setup;
use super::study::Study;
use super::{Ctx, ElementId, Handler};
use crate::args::{Args, Param};
use crate::diagnostic::Diagnostics;
use crate::lang;
use std::any::Any;
use trammel_core::entry::About;
use trammel_core::family::Family;
use trammel_packet::batch::{Batch, Packets};
use trammel_packet::pool::Pool;

/// The description of a class.
pub struct Entry {
    /// Name, summary, references. Its parameters are in `params`.
    pub about: About,
    /// The arguments.
    pub params: &'static [Param],
    /// Numbers of inputs and outputs: `1/1-2`.
    pub ports: &'static str,
    /// Push, pull or agnostic: `a/ah`.
    pub processing: &'static str,
    /// Which inputs' packets leave by which outputs: `x/x`.
    pub flow: &'static str,
    /// Order of configuration; lower comes first.
    pub phase: i8,
    /// Whether its configuration may change while the router runs.
    pub live: bool,
    /// Whether it changes without that: other handlers, or the element itself, change it.
    pub restless: bool,
    /// What it does to a packet, as elementary operations in the words of crate `cost`:
    /// `parse(1); inc_checksum(2)`. They are those of a visit of an ordinary packet; that a batch
    /// is handed to the element is added. Names are [`PROVIDED`](crate::estimate::PROVIDED) or
    /// stand for the element's [`quantities`](Element::quantities).
    ///
    /// `by 4` stands where a loop over a batch makes one access to memory a packet that waits for
    /// no other, and the processor has gone on to the next packets meanwhile; `by 8` where a whole
    /// batch is prefetched, for which a processor has ten places or more; nothing where a packet's
    /// accesses wait for one another. Nothing where that was not declared.
    pub ops: Option<&'static str>,
    /// Makes an element that is not yet configured.
    pub make: fn() -> Box<dyn Element>,
}

/// Information such as names of addresses, which others' arguments need.
pub(crate) const PHASE_INFO: i8 = -10;
/// Elements that look at others, which are configured by then.
pub(crate) const PHASE_LATE: i8 = 5;

impl Entry {
    /// A class with one agnostic input and output and no arguments.
    pub const fn new(
        name: &'static str,
        summary: &'static str,
        make: fn() -> Box<dyn Element>,
    ) -> Entry {
        Entry {
            about: About {
                name,
                aliases: &[],
                summary,
                references: &["Kohler et al. 2000, The Click Modular Router"],
                params: &[],
            },
            params: &[],
            ports: "1/1",
            processing: "a/a",
            flow: "x/x",
            phase: 0,
            live: false,
            restless: false,
            ops: None,
            make,
        }
    }

    /// With these arguments.
    pub const fn params(mut self, params: &'static [Param]) -> Entry {
        self.params = params;
        self
    }

    /// With this port count and processing code.
    pub const fn ports(mut self, ports: &'static str, processing: &'static str) -> Entry {
        self.ports = ports;
        self.processing = processing;
        self
    }

    /// With this flow code.
    pub const fn flow(mut self, flow: &'static str) -> Entry {
        self.flow = flow;
        self
    }

    /// With these references.
    pub const fn references(mut self, references: &'static [&'static str]) -> Entry {
        self.about.references = references;
        self
    }

    /// With these further names.
    pub const fn aliases(mut self, aliases: &'static [&'static str]) -> Entry {
        self.about.aliases = aliases;
        self
    }

    /// Configured in this phase.
    pub const fn phase(mut self, phase: i8) -> Entry {
        self.phase = phase;
        self
    }

    /// Doing these operations to a packet.
    pub const fn ops(mut self, ops: &'static str) -> Entry {
        self.ops = Some(ops);
        self
    }

    /// Its configuration may change while the router runs.
    pub const fn live(mut self) -> Entry {
        self.live = true;
        self
    }

    /// As [`Entry::live`], and other handlers change it too.
    pub const fn restless(mut self) -> Entry {
        self.restless = true;
        self.live()
    }
}

/// The classes that a router may be made of, by their names; whoever builds one gives them.
pub type Classes = &'static Family<Entry>;

impl lang::Classes for Family<Entry> {
    fn knows(&self, class: &str) -> bool {
        self.find(class).is_some()
    }

    fn names(&self) -> Vec<&str> {
        self.all().iter().map(|entry| entry.about.name).collect()
    }
}

/// An element. Packets come by `push` or are asked for by `pull`; most elements only say in
/// `process` what becomes of each packet on its way from input 0 to output 0.
pub trait Element: Any + Send {
    /// Takes the arguments, resolved by the class's table; returns what is wrong with them.
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let _ = (setup, args);
        Ok(())
    }

    /// Makes the notifiers that others' searches shall find. Called for all elements, after all are
    /// configured and before any is initialized.
    fn prepare(&mut self, ctx: &mut Ctx) {
        let _ = ctx;
    }

    /// Gets ready to run: looks for others, makes tasks and timers, opens files. A text tells what
    /// failed.
    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let _ = ctx;
        Ok(())
    }

    /// Called before the router runs, when all elements are initialized.
    fn start(&mut self, ctx: &mut Ctx) {
        let _ = ctx;
    }

    /// Called after a live reconfiguration.
    fn reconfigured(&mut self, ctx: &mut Ctx) {
        let _ = ctx;
    }

    /// Processes packets from input 0 to output 0, pushed or pulled.
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let _ = (ctx, batch);
    }

    /// Handles packets pushed to input `port`.
    fn push(&mut self, ctx: &mut Ctx, port: usize, mut batch: Batch) {
        let _ = port;
        self.process(ctx, &mut batch);
        ctx.emit_all(0, batch);
    }

    /// Pulls up to `max` packets at output `port`: appends them to `into`, which has room.
    fn pull(&mut self, ctx: &mut Ctx, port: usize, max: usize, into: &mut Packets) {
        let _ = port;
        ctx.pull_through(max, into, |ctx, batch| self.process(ctx, batch));
    }

    /// Runs the task that was made with `token`; says whether it did anything. A task that wants to
    /// run again reschedules itself.
    fn run_task(&mut self, ctx: &mut Ctx, token: u32) -> bool {
        let _ = (ctx, token);
        false
    }

    /// Called when the timer made with `token` expires.
    fn run_timer(&mut self, ctx: &mut Ctx, token: u32) {
        let _ = (ctx, token);
    }

    /// Called when a descriptor that it waits for is ready.
    fn ready(&mut self, ctx: &mut Ctx, descriptor: i32) {
        let _ = (ctx, descriptor);
    }

    /// The element's own handlers, besides `name`, `class`, `config`, `ports` and `handlers`.
    fn handlers(&self) -> Vec<Handler> {
        Vec::new()
    }

    /// Whether it answers handlers of any name, besides those listed.
    fn has_any_handler(&self) -> bool {
        false
    }

    /// Answers one of its own read handlers.
    fn read(&mut self, ctx: &mut Ctx, name: &str, parameter: &str) -> Result<String, String> {
        let _ = (ctx, parameter);
        Err(format!("no read handler '{name}'"))
    }

    /// Executes one of its own write handlers.
    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let _ = (ctx, value);
        Err(format!("no write handler '{name}'"))
    }

    /// Answers a call by number (LLRPC), such as tools of old make.
    fn call_by_number(
        &mut self,
        ctx: &mut Ctx,
        number: u32,
        data: &[u8],
    ) -> Result<Vec<u8>, String> {
        let _ = (ctx, data);
        Err(format!("no call {number:#x}"))
    }

    /// The notifiers it offers to those that look for `kind` along `port`.
    fn notifier(&self, kind: Kind, port: usize) -> Provided {
        let _ = (kind, port);
        Provided::None
    }

    /// How many packets it stores; nothing where it is no storage, which others measure.
    fn stored(&self) -> Option<usize> {
        None
    }

    /// How many more packets it takes before it refuses some; nothing where it has no such bound.
    fn room(&self) -> Option<usize> {
        None
    }

    /// What its class's operations call by names, as this one is configured: `("routes", 8.0)`. The
    /// same names whatever its configuration, and whether it is configured at all.
    ///
    /// | name | stands for |
    /// |---|---|
    /// | `summed` | the share of packets whose payload is summed up: 0 where it takes no checksum |
    /// | `pieces` | fragments made of a packet, on average so far |
    /// | `routes` | routes of a table |
    /// | `levels` | accesses of a lookup in a tree that wait for one another, on average |
    /// | `bytes` | bytes of the structure that answers lookups |
    /// | `rules` | rules that packets are told apart by |
    /// | `steps` | fields compared and branches taken for a packet, on average over the branches |
    /// | `listed` | routes that are all tried for an address |
    /// | `asked` | look-ups a packet: a batch to one address is one |
    /// | `ways` | outputs that a batch takes, on average; 0 where all its packets take one |
    /// | `lines` | cache lines of a structure that look-ups go to |
    /// | `pages` | pages of 4 KiB in which these lie |
    /// | `entries` | entries of a table that are there now |
    /// | `destinations` | entries of a table that destinations ask for |
    /// | `capacity` | entries that a table has room for |
    /// | `length` | bytes that are stored, compared, printed or sent, as configured |
    fn quantities(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// Tells how its work depends on the packets that are about to be pushed: values of names that
    /// `quantities` has too, which take their place in the estimate of a run that was studied.
    fn study(&self, pool: &Pool, batch: &Packets, study: &mut Study) {
        let _ = (pool, batch, study);
    }

    /// Called when packets from another thread were lost because it had no room for them.
    fn missed(&mut self, ctx: &mut Ctx, packets: u64) {
        let _ = (ctx, packets);
    }

    /// Whether it is the element that steps when the driver stops (`DriverManager`), or one that a
    /// search treats likewise.
    fn driver_stopped(&mut self, ctx: &mut Ctx) -> bool {
        let _ = ctx;
        false
    }

    /// The element that tells this one when aggregates end, if it listens to one.
    fn aggregates_of(&self) -> Option<ElementId> {
        None
    }

    /// The element that it listens to will give no more packets of `aggregate`.
    fn aggregate_ended(&mut self, ctx: &mut Ctx, aggregate: u32) {
        let _ = (ctx, aggregate);
    }

    /// Takes over what `old`, an element of the same name and class in the router that this one
    /// replaces, holds.
    fn take_state(&mut self, ctx: &mut Ctx, old: &mut dyn Element) {
        let _ = (ctx, old);
    }

    /// Gives back what it holds; called once, in the reverse order of configuration.
    fn cleanup(&mut self, ctx: &mut Ctx) {
        let _ = ctx;
    }
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entry")
            .field("name", &self.about.name)
            .finish_non_exhaustive()
    }
}

/// `element` as a `T`, where it is one.
pub(crate) fn cast<T: Element>(element: &mut dyn Element) -> Option<&mut T> {
    let any: &mut dyn Any = element;
    any.downcast_mut()
}
