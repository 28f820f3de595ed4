//! The context that elements run in, in named parts.
//!
//! The files beside this one give it what it does, an idea each: `data_path` moves packets,
//! `driver` runs tasks, `services` gives time, chance and notifiers, `handlers` reads and writes
//! elements by name.

use super::classic_random::ClassicRandom;
use super::clock::{Clock, Warp};
use super::counters::Counters;
use super::devices::{DeviceId, Devices};
use super::driver::State;
use super::handlers::HandlerRef;
use super::ids::{ElementId, Target, Way};
use super::notify::Notifiers;
use super::options::Options;
use super::simulated_core::SimulatedCore;
use super::study::Study;
use super::task::Tasks;
use super::threads::team::Place;
use super::timer::Timers;
use super::trace::Trace;
use super::{Classes, Element, Entry};
use crate::args::definitions::Definitions;
use crate::graph::index::Index;
use crate::graph::processing::Modes;
use crate::host::Host;
use crate::lang::Flat;
use std::collections::BTreeSet;
use std::sync::Arc;
use trammel_core::rng::Rng;
use trammel_packet::batch::Batch;
use trammel_packet::pool::Pool;

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
    pub(super) me: ElementId,
    pub(super) slots: Vec<Option<Box<dyn Element>>>,
    pub(super) path: DataPath,
    pub(super) turn: Turn,
    pub(super) watch: Watch,
    pub(super) schedule: Schedule,
    pub(super) clocks: Clocks,
    pub(super) random: Random,
    pub(super) world: World,
    pub(super) driver: State,
    pub(super) config: Configuration,
    pub(super) calls: Calls,
    pub(super) threads: Threading,
    pub(super) succession: Succession,
    pub(super) options: Options,
}

impl Ctx {
    /// These elements before they are initialized.
    pub(super) fn new(
        slots: Vec<Option<Box<dyn Element>>>,
        wiring: Wiring,
        config: Configuration,
        host: Box<dyn Host>,
        threads: Threading,
        options: Options,
    ) -> Ctx {
        Ctx {
            me: 0,
            path: DataPath {
                pool: Pool::new(options.packets, options.most_packets),
                // One more, for outputs that are not there.
                latest: vec![0; wiring.ways.len() + 1],
                wiring,
                pending: Vec::new(),
                mark: 0,
                spare: Vec::new(),
                counters: vec![Counters::default(); slots.len()],
            },
            slots,
            turn: Turn::of(options.most_steps),
            watch: Watch {
                observed: options.profiled,
                ..Watch::default()
            },
            schedule: Schedule::default(),
            clocks: Clocks {
                clock: options.virtual_time.map_or(Clock::Wall, Clock::Virtual),
                warp: Warp::NONE,
                core: None,
            },
            random: Random::of(options.seed, &config.flat),
            world: World::of(host),
            driver: State::default(),
            config,
            calls: Calls::default(),
            threads,
            succession: Succession::default(),
            options,
        }
    }
}

/// Packets on their way to an input.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) to: Target,
    pub(super) batch: Batch,
}

/// Packets, where outputs lead, and what is on its way.
pub(super) struct DataPath {
    pub(super) pool: Pool,
    pub(super) wiring: Wiring,
    /// For each lane of the outputs, where in `pending` its last batch was put, which may have gone
    /// since.
    pub(super) latest: Vec<u32>,
    pub(super) pending: Vec<Pending>,
    /// Where the emissions of the running element begin in `pending`.
    pub(super) mark: usize,
    /// Empty batches to use again.
    pub(super) spare: Vec<Batch>,
    pub(super) counters: Vec<Counters>,
}

/// Where outputs lead, and where inputs are fed from.
#[derive(Clone)]
pub(super) struct Wiring {
    /// The first output of each element in `ways`, and the end.
    pub(super) first_output: Vec<u32>,
    /// The first input of each element in `sources`, and the end.
    pub(super) first_input: Vec<u32>,
    pub(super) ways: Vec<Way>,
    pub(super) sources: Vec<Target>,
}

/// The bounds of one turn of a task or timer, and what went beyond them.
pub(super) struct Turn {
    /// Steps that are left.
    pub(super) steps: u64,
    /// Batches that were pending when it began.
    pub(super) began: usize,
    /// Where packets were caught going round in it.
    pub(super) caught: Option<ElementId>,
    /// Where packets were caught first in this run.
    pub(super) looped: Option<ElementId>,
}

impl Turn {
    /// A turn of so many steps.
    pub(super) fn of(steps: u64) -> Turn {
        Turn {
            steps,
            began: 0,
            caught: None,
            looped: None,
        }
    }
}

/// What observes the calls of elements.
#[derive(Default)]
pub(super) struct Watch {
    /// Whether any does: cycles are counted, packets followed, a core's time charged.
    pub(super) observed: bool,
    /// What was learnt of each element; empty where the run is not studied.
    pub(super) studies: Vec<Study>,
    /// Cycles of calls that the running element made, since it began.
    pub(super) nested: u64,
    /// The trace in progress.
    pub(super) traced: Option<Trace>,
}

/// When elements run.
#[derive(Default)]
pub(super) struct Schedule {
    pub(super) tasks: Tasks,
    pub(super) timers: Timers,
    pub(super) notifiers: Notifiers,
    /// Elements whose tasks shall not run.
    pub(super) quiet: BTreeSet<ElementId>,
}

/// The time of day.
pub(super) struct Clocks {
    pub(super) clock: Clock,
    pub(super) warp: Warp,
    /// The core whose time virtual time is, where calls cost time.
    pub(super) core: Option<Box<SimulatedCore>>,
}

/// Random numbers.
pub(super) struct Random {
    /// A stream for each element.
    pub(super) streams: Vec<Rng>,
    /// What all elements draw from once a seed was set.
    pub(super) classic: Option<ClassicRandom>,
    /// How often elements asked for random numbers.
    pub(super) draws: u64,
}

impl Random {
    /// The streams of a configuration's elements.
    pub(super) fn of(seed: u64, flat: &Flat) -> Random {
        let streams = flat.elements.iter();
        Random {
            streams: streams
                .map(|element| Rng::new(seed, &element.name))
                .collect(),
            classic: None,
            draws: 0,
        }
    }
}

/// The machine, and what elements use of it.
pub(super) struct World {
    pub(super) host: Box<dyn Host>,
    /// Open devices; a router that replaces another uses those of the other.
    pub(super) devices: Devices,
    /// Devices that this router's elements asked for.
    pub(super) wanted: Vec<DeviceId>,
    /// Devices that this router's elements opened.
    pub(super) opened: Vec<DeviceId>,
    /// Descriptors that elements wait on: descriptor, element, to write.
    pub(super) watched: Vec<(i32, ElementId, bool)>,
    /// Somebody outside of this program asked for what runs now.
    pub(super) is_asked_outside: bool,
    /// The machine lacks something that was asked for.
    pub(super) lacks: bool,
}

impl World {
    /// A machine of which nothing is used yet.
    pub(super) fn of(host: Box<dyn Host>) -> World {
        World {
            host,
            devices: Devices::default(),
            wanted: Vec::new(),
            opened: Vec::new(),
            watched: Vec::new(),
            is_asked_outside: false,
            lacks: false,
        }
    }
}

/// The configuration.
#[derive(Clone)]
pub(super) struct Configuration {
    /// The classes that elements may be of.
    pub(super) classes: Classes,
    pub(super) nodes: Vec<Node>,
    pub(super) flat: Flat,
    /// The text as it was given.
    pub(super) source: String,
    pub(super) definitions: Definitions,
    /// Finds elements by name and connections by port.
    pub(super) index: Arc<Index>,
}

/// Calls of handlers that are not over.
#[derive(Default)]
pub(super) struct Calls {
    /// What handlers said besides their results.
    pub(super) remarks: Vec<String>,
    /// Handlers to be written when the element they belong to has returned.
    pub(super) postponed: Vec<(HandlerRef, String)>,
}

/// The threads that run the configuration.
#[derive(Default)]
pub(super) struct Threading {
    /// The thread of each element; empty where there is one thread.
    pub(super) homes: Vec<usize>,
    /// This context's place among several threads.
    pub(super) place: Option<Box<Place>>,
    /// The other threads' contexts, by the number of their thread less one, while the first is at
    /// rest.
    pub(super) others: Vec<Ctx>,
    /// The processor that its thread keeps to.
    pub(super) processor: Option<usize>,
}

/// The configuration before this one and the one after it.
#[derive(Default)]
pub(super) struct Succession {
    /// For each element, whether it replaces one that still runs.
    pub(super) predecessors: Vec<bool>,
    /// A configuration that takes this one's place at the next round.
    pub(super) successor: Option<Box<Ctx>>,
}

impl std::fmt::Debug for Ctx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ctx")
            .field("elements", &self.config.nodes.len())
            .finish_non_exhaustive()
    }
}
