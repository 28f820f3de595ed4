//! A configuration on the workbench: what comes in comes from rings.
//!
//! Every element that makes packets — `FromDevice` and its like, `RatedSource` and its like —
//! becomes a `FromDevice` of a ring of its own. A source's own frames are the samples of its ring;
//! a device's samples are the caller's. Elements that would end the run (`DriverManager`) are left
//! out; ways out to devices become rings that only take.

use super::frames::Field;
use super::host::{Opener, Workbench, ready};
use super::ring::{Ring, Shared, Tally};
use super::traffic::{Stream, TEMPLATES, Traffic};
use crate::beside::Work;
use crate::stopwatch::Stopwatch;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use trammel_cost::residency::Locality;
use trammel_router::MemoryDevice;
use trammel_router::MemoryHost;
use trammel_router::diagnostic::Diagnostics;
use trammel_router::engine::Ctx;
use trammel_router::engine::Options;
use trammel_router::engine::driver::Progress;
use trammel_router::lang::{self, Flat, flatten};
use trammel_router::{BuiltIn, load, load_flat};

/// The longest that a run takes.
const LONGEST: Duration = Duration::from_secs(60);
/// Rounds of the driver between two looks at whether all packets were given.
const ROUNDS: u64 = 64;
/// Virtual time in which sources give their samples, s.
const SAMPLED_S: i64 = 10;

/// Packets that show whether any go round.
const FEW: u64 = 64;
/// Frames of a source that are looked at, about.
const MOST_SAMPLED: usize = 1 << 14;

/// Classes that take from devices, whose frames the caller gives.
const FROM_DEVICES: &[&str] = &[
    "FromDevice",
    "PollDevice",
    "FromHost",
    "KernelTap",
    "KernelTun",
];
/// Classes that send to devices.
const TO_DEVICES: &[&str] = &["ToDevice", "ToHost"];
/// Classes that only keep packets until they are asked for.
const QUEUES: &[&str] = &[
    "Queue",
    "SimpleQueue",
    "NotifierQueue",
    "QuickNoteQueue",
    "ThreadSafeQueue",
    "FrontDropQueue",
    "MixedQueue",
];
/// Classes that would end the run, or speak to others while it lasts.
const LEFT_OUT: &[&str] = &["DriverManager", "ControlSocket"];

/// Why a configuration is not put on the workbench.
#[derive(Debug)]
pub enum Refused {
    /// The configuration is wrong: what is wrong with it.
    Configuration(Diagnostics),
    /// It cannot be used here: a sentence.
    Other(String),
}

/// Something that gives packets.
#[derive(Clone, Debug)]
struct Inlet {
    /// The name of its ring: the element's.
    name: String,
    samples: Vec<Vec<u8>>,
    /// It takes from a device, so its frames are the caller's.
    is_device: bool,
    /// Nothing comes in there.
    is_silent: bool,
    /// Its flows, where they are not those of the whole traffic.
    flows: Option<Flows>,
}

/// Flows that come in at one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flows {
    /// How many.
    pub count: u32,
    /// What tells them apart.
    pub field: Option<Field>,
    /// How often which comes.
    pub locality: Locality,
}

impl Inlet {
    /// What comes in here, of `most_flows` flows at most.
    fn stream(&self, traffic: &Traffic, most_flows: u32) -> Result<Stream, Refused> {
        let mut own = traffic.clone();
        if let Some(flows) = self.flows {
            (own.flows, own.field, own.locality) = (flows.count, flows.field, flows.locality);
        }
        own.flows = own.flows.min(most_flows);
        Stream::new(&self.samples, &own)
            .map_err(|why| Refused::Other(format!("'{}': {why}", self.name)))
    }
}

/// A configuration on the workbench.
#[derive(Clone, Debug)]
pub struct Bench {
    /// The file's name.
    pub name: String,
    directory: PathBuf,
    /// As it is run. Its elements know where the file declares them, so faults are told there.
    flat: Arc<Flat>,
    text: String,
    inlets: Vec<Inlet>,
    outlets: Vec<String>,
    declared: Vec<(String, String)>,
    /// Plain queues, each with the way out that it leads to.
    queued: Vec<(String, String)>,
}

impl Bench {
    /// Puts a configuration on the workbench; `samples` are the frames that come from its devices.
    pub fn new(
        text: &str,
        name: &str,
        definitions: &[(String, String)],
        samples: &[Vec<u8>],
    ) -> Result<Bench, Refused> {
        let options = lang::Options {
            definitions,
            classes: Some(&BuiltIn),
            expand_definitions: true,
            ..lang::Options::default()
        };
        let (mut flat, said) = lang::parse(text, name, &options);
        if said.has_errors() {
            return Err(Refused::Configuration(said));
        }
        let directory = Path::new(name).parent().map(Into::into);
        let declared = flat.elements.iter();
        let declared = declared.map(|one| (one.name.clone(), one.class.clone()));
        let declared = declared.collect();
        let (mut inlets, mut outlets) = (Vec::new(), Vec::new());
        leave_out(&mut flat);
        for at in 0..flat.elements.len() {
            let element = &flat.elements[at];
            let is_class = |classes: &[&str]| classes.contains(&element.class.as_str());
            let gives = flat.connections.iter().any(|c| c.from.element == at);
            let takes = flat.connections.iter().any(|c| c.to.element == at);
            let name = element.name.clone();
            if is_class(TO_DEVICES) {
                outlets.push(name.clone());
                flat.elements[at].class = "ToDevice".to_owned();
                flat.elements[at].config = name;
            } else if gives && !takes && element.class != "Idle" {
                let is_device = is_class(FROM_DEVICES);
                let samples = if is_device {
                    samples.to_vec()
                } else {
                    sample(&element.class, &element.config).map_err(Refused::Other)?
                };
                if samples.is_empty() {
                    return Err(Refused::Other(format!(
                        "nothing is known of the frames that come from '{name} :: {}'; give a \
                         capture by --sample FILE",
                        flat.elements[at].class
                    )));
                }
                flat.elements[at].class = "FromDevice".to_owned();
                flat.elements[at].config.clone_from(&name);
                inlets.push(Inlet {
                    name,
                    samples,
                    is_device,
                    is_silent: false,
                    flows: None,
                });
            }
        }
        if inlets.is_empty() {
            return Err(Refused::Other(format!(
                "{name}: no packets come into it: it has neither a FromDevice nor a source"
            )));
        }
        let queued = queued(&flat, &outlets);
        Ok(Bench {
            queued,
            name: name.to_owned(),
            directory: directory.unwrap_or_default(),
            text: flatten::router(&flat),
            flat: Arc::new(flat),
            inlets,
            outlets,
            declared,
        })
    }

    /// The configuration as it is run: its devices and sources are called by the names of
    /// [`inlets`](Self::inlets) and [`outlets`](Self::outlets).
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Every element's name and class, as the configuration has them.
    pub fn declared(&self) -> &[(String, String)] {
        &self.declared
    }

    /// The elements by which packets come in, in the order of the file; a port's number is its
    /// place here.
    pub fn inlets(&self) -> Vec<&str> {
        self.inlets
            .iter()
            .map(|inlet| inlet.name.as_str())
            .collect()
    }

    /// The elements by which packets leave, in the order of the file.
    pub fn outlets(&self) -> Vec<&str> {
        self.outlets.iter().map(String::as_str).collect()
    }

    /// Whether what leaves there goes to another machine, and not to this one's own system.
    fn leads_on(&self, outlet: &str) -> bool {
        let is_device = |(name, class): &(String, String)| name == outlet && class == "ToDevice";
        self.declared.iter().any(is_device)
    }

    /// The elements by which packets leave for other machines, with the plain queues before them.
    pub fn ways_out(&self) -> Vec<String> {
        let leave: Vec<&String> = self
            .outlets
            .iter()
            .filter(|one| self.leads_on(one))
            .collect();
        let queues = self
            .queued
            .iter()
            .filter(|(_, outlet)| leave.contains(&outlet));
        let queues = queues.map(|(queue, _)| queue.clone());
        leave.iter().copied().cloned().chain(queues).collect()
    }

    /// Has packets come in from devices only; says whether there are any.
    pub(crate) fn narrow_to_devices(&mut self) -> bool {
        for inlet in &mut self.inlets {
            inlet.is_silent |= !inlet.is_device;
        }
        !self.active().is_empty()
    }

    /// Gives all devices other frames.
    pub fn feed_devices(&mut self, samples: &[Vec<u8>]) {
        for inlet in self.inlets.iter_mut().filter(|inlet| inlet.is_device) {
            inlet.samples = samples.to_vec();
        }
    }

    /// The places in [`inlets`](Self::inlets) at which packets come in.
    pub fn active(&self) -> Vec<usize> {
        let places = (0..self.inlets.len()).filter(|at| !self.inlets[*at].is_silent);
        places.collect()
    }

    /// The places of these at which they come from devices, so that their frames are the caller's.
    pub fn devices(&self) -> Vec<usize> {
        let mut places = self.active();
        places.retain(|at| self.inlets[*at].is_device);
        places
    }

    /// Has packets come in only at these places of [`inlets`](Self::inlets).
    pub fn narrow(&mut self, active: &[usize]) {
        for (at, inlet) in self.inlets.iter_mut().enumerate() {
            inlet.is_silent = !active.contains(&at);
        }
    }

    /// Gives the inlet at a place flows of its own, and other samples where it takes from a device.
    /// Nothing where there is no such inlet.
    pub fn feed(&mut self, at: usize, flows: Flows, samples: Option<&[Vec<u8>]>) {
        let Some(inlet) = self.inlets.get_mut(at) else {
            return;
        };
        inlet.flows = Some(flows);
        if let Some(samples) = samples.filter(|_| inlet.is_device) {
            inlet.samples = samples.to_vec();
        }
    }

    /// The frames that come in at a place under `traffic`: a whole period of them, or as many whole
    /// turns of sizes as `most` has room for, one at least, of no more flows than that.
    pub fn frames(
        &self,
        at: usize,
        traffic: &Traffic,
        most: usize,
    ) -> Result<Vec<Vec<u8>>, Refused> {
        let most_flows = u32::try_from(most).unwrap_or(u32::MAX);
        let stream = self.inlets[at].stream(traffic, most_flows)?;
        let made = |at: usize| {
            let (template, patch) = stream.packet(at as u64);
            let mut frame = template.to_vec();
            for (place, piece) in patch {
                frame[place].copy_from_slice(piece);
            }
            frame
        };
        let turn = stream.turn();
        let most = (most / turn).max(1) * turn;
        Ok((0..stream.period().min(most)).map(made).collect())
    }

    /// The least frame that all samples can be cut to, in bytes with the FCS.
    pub fn least_frame(&self) -> usize {
        let active = self.inlets.iter().filter(|inlet| !inlet.is_silent);
        let samples = active.flat_map(|inlet| &inlet.samples);
        samples.map(|s| super::frames::least(s)).max().unwrap_or(64)
    }

    /// A router that gets `packets` packets of `traffic` when it runs, and the tally of its rings.
    pub fn router(&self, traffic: &Traffic, packets: u64) -> Result<(Ctx, Shared), Refused> {
        self.on_rings(traffic, packets, false)
    }

    /// The same; `profiled` where bytes are to be counted at each element, and frames kept that
    /// leave.
    fn on_rings(
        &self,
        traffic: &Traffic,
        packets: u64,
        profiled: bool,
    ) -> Result<(Ctx, Shared), Refused> {
        let tally: Shared = Arc::new(Mutex::new(Tally {
            most: packets,
            ..Tally::default()
        }));
        let mut rings = BTreeMap::new();
        for inlet in &self.inlets {
            let stream = if inlet.is_silent {
                None
            } else {
                Some(Arc::new(inlet.stream(traffic, u32::MAX)?))
            };
            let ring = Ring::new(&inlet.name, stream, tally.clone());
            rings.insert(inlet.name.clone(), ready(ring));
        }
        for outlet in &self.outlets {
            let ring = Ring::new(outlet, None, tally.clone());
            let keeps = profiled && self.leads_on(outlet);
            let ring = if keeps { ring.keeping() } else { ring };
            rings.insert(outlet.clone(), ready(ring));
        }
        Ok((self.load(rings, traffic.seed, profiled)?, tally))
    }

    /// A router whose devices are `devices`, by the names of inlets and outlets.
    pub fn load(
        &self,
        devices: BTreeMap<String, Opener>,
        seed: u64,
        profiled: bool,
    ) -> Result<Ctx, Refused> {
        let host = Workbench::new(self.directory.clone(), devices);
        let run = Options {
            seed,
            profiled,
            ..Options::studied()
        };
        let flat = Flat::clone(&self.flat);
        let loaded = load_flat(flat, &self.text, Diagnostics::new(), Box::new(host), run);
        let (ctx, _) = loaded.map_err(|refused| Refused::Configuration(refused.said))?;
        Ok(ctx)
    }

    /// Why nothing would come of trials: packets that come in go round without end.
    pub fn loop_fault(&self) -> Option<String> {
        let traffic = Traffic {
            frame: self.least_frame().max(Traffic::default().frame),
            ..Traffic::default()
        };
        // What else is wrong is told where it is run.
        let (mut ctx, _) = self.router(&traffic, FEW).ok()?;
        for _ in 0..ROUNDS {
            ctx.run_rounds(None, 1);
            if ctx.looped().is_some() {
                break;
            }
        }
        ctx.loop_fault()
    }

    /// What comes in at a place under `traffic`.
    pub fn stream(&self, at: usize, traffic: &Traffic) -> Result<Stream, Refused> {
        self.inlets[at].stream(traffic, u32::MAX)
    }

    /// The configuration as work without end, for the thread that calls it: each call takes about
    /// `slice` packets through and gives how many they were. Every flow that comes has come once.
    pub fn work(&self, traffic: &Traffic, slice: u64) -> Result<Work, Refused> {
        let (mut ctx, tally) = self.router(traffic, u64::MAX)?;
        let given = move || tally.lock().unwrap_or_else(PoisonError::into_inner).given;
        let mut go_on = move |packets: u64| {
            let started = given();
            let mut steps = 0;
            // Where nothing comes, it ends all the same.
            for _ in 0..packets {
                ctx.run_rounds(None, 1);
                steps = given() - started;
                if steps >= packets {
                    break;
                }
            }
            steps
        };
        go_on(traffic.draws() as u64);
        Ok(Box::new(move || go_on(slice)))
    }

    /// Runs so many packets of `traffic` through; gives the router as it stands then and the
    /// packets that came in.
    pub fn run(&self, traffic: &Traffic, packets: u64) -> Result<(Ctx, Tally), Refused> {
        run(self.router(traffic, packets)?)
    }

    /// The same, and elements tell how their work depends on the packets; slower.
    pub fn study(&self, traffic: &Traffic, packets: u64) -> Result<(Ctx, Tally), Refused> {
        let (mut ctx, tally) = self.router(traffic, packets)?;
        ctx.study();
        run((ctx, tally))
    }

    /// The same, with bytes counted at each element and frames kept that leave.
    pub fn count(&self, traffic: &Traffic, packets: u64) -> Result<(Ctx, Tally), Refused> {
        let (mut ctx, tally) = self.on_rings(traffic, packets, true)?;
        ctx.study();
        run((ctx, tally))
    }
}

/// Runs a router until its rings have given all their packets.
fn run((mut ctx, tally): (Ctx, Shared)) -> Result<(Ctx, Tally), Refused> {
    let is_given = || {
        let tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.given == tally.most
    };
    let mut since_start = Stopwatch::start();
    let mut progress = Progress::Running;
    let goes_on = |ctx: &Ctx, progress| progress == Progress::Running && ctx.looped().is_none();
    while goes_on(&ctx, progress) && !is_given() && since_start.elapsed() < LONGEST {
        progress = ctx.run_rounds(None, ROUNDS);
    }
    // What is still in queues comes out too.
    if goes_on(&ctx, progress) {
        ctx.run_rounds(None, ROUNDS);
    }
    if let Some(fault) = ctx.loop_fault() {
        return Err(Refused::Other(fault));
    }
    let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
    let tally = std::mem::take(&mut *tally);
    if tally.given == 0 {
        let text = "no packet came in within a minute: its tasks never ran".to_owned();
        return Err(Refused::Other(text));
    }
    Ok((ctx, tally))
}

/// Plain queues that lead to one of `outlets` and nowhere else.
fn queued(flat: &Flat, outlets: &[String]) -> Vec<(String, String)> {
    let to_outlet = flat.connections.iter().filter_map(|connection| {
        let (from, to) = (connection.from.element, connection.to.element);
        let (queue, outlet) = (&flat.elements[from], &flat.elements[to]);
        let is_plain = QUEUES.contains(&queue.class.as_str()) && outlets.contains(&outlet.name);
        is_plain.then(|| (queue.name.clone(), outlet.name.clone()))
    });
    to_outlet.collect()
}

/// Takes elements out that are not connected and would end the run.
fn leave_out(flat: &mut Flat) {
    let mut at = 0;
    while at < flat.elements.len() {
        if !LEFT_OUT.contains(&flat.elements[at].class.as_str()) {
            at += 1;
            continue;
        }
        flat.elements.remove(at);
        flat.connections
            .retain(|c| c.from.element != at && c.to.element != at);
        for connection in &mut flat.connections {
            for port in [&mut connection.from, &mut connection.to] {
                port.element -= usize::from(port.element > at);
            }
        }
    }
}

/// The first frames that differ of a source.
fn sample(class: &str, config: &str) -> Result<Vec<Vec<u8>>, String> {
    let text = format!("s :: {class}({config}) -> q :: Queue(1) -> ToDevice(sample);");
    let host = MemoryHost::new();
    let device = MemoryDevice::new("sample", std::iter::empty());
    let sent = device.sent();
    let devices = [("sample".to_owned(), Box::new(device) as _)];
    host.memory().devices.extend(devices);
    let options = lang::Options {
        classes: Some(&BuiltIn),
        ..lang::Options::default()
    };
    let run = Options {
        virtual_time: Options::simulated().virtual_time,
        ..Options::studied()
    };
    let loaded = load(&text, class, &options, Box::new(host), run);
    let (mut ctx, _) = loaded.map_err(|refused| {
        let why = refused.said.click();
        format!(
            "the frames of {class}({config}) cannot be sampled: {}",
            why.trim()
        )
    })?;
    let end = ctx.now() + trammel_packet::timestamp::Timestamp::from_secs(SAMPLED_S);
    // A source without end does not let virtual time pass; the rounds end it.
    for _ in 0..TEMPLATES {
        ctx.run_rounds(Some(end), 1);
        if sent.frames().len() > MOST_SAMPLED {
            break;
        }
    }
    let mut frames: Vec<Vec<u8>> = Vec::new();
    for frame in sent.frames() {
        if frames.len() < TEMPLATES && !frames.contains(&frame) {
            frames.push(frame);
        }
    }
    Ok(frames)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_loop_of_pushes_is_found_before_anything_is_tried() {
        let of = |text| Bench::new(text, "x.click", &[], &[samples::plain()]).expect("it is right");
        let round = of(
            "FromDevice(a) -> t :: Tee(2); t[0] -> Queue -> ToDevice(b); t[1] -> u :: Tee(2); u[0] \
             -> t; u[1] -> t;",
        );
        let fault = round.loop_fault().expect("they go round");
        assert!(fault.contains("come back to it without end"), "{fault}");
        assert_eq!(
            of("FromDevice(a) -> Queue -> ToDevice(b);").loop_fault(),
            None
        );
    }

    #[test]
    fn a_run_ends_with_the_first_turn_in_which_packets_go_round() {
        let text = "FromDevice(a) -> n :: Null -> m :: Null -> n;";
        let bench = Bench::new(text, "x.click", &[], &[samples::plain()]).expect("it is right");
        let (ctx, tally) = bench
            .router(&Traffic::default(), 1 << 16)
            .expect("it can be loaded");
        let Err(Refused::Other(fault)) = run((ctx, tally.clone())) else {
            panic!("it goes round");
        };
        assert!(fault.contains("'n :: Null'"), "{fault}");
        let given = tally.lock().unwrap_or_else(PoisonError::into_inner).given;
        assert!((1..=256).contains(&given), "{given}");
    }

    #[test]
    fn faults_of_elements_are_told_where_the_file_declares_them() {
        let text = "// A compound, and a source that becomes a ring.\n\n\
                    elementclass Held {\n  input -> Queue(99999999999) -> Unqueue -> output;\n}\n\
                    InfiniteSource(LENGTH 60) -> Held -> Discard;\n";
        let bench = Bench::new(text, "x.click", &[], &[]).expect("it can be read");
        let Err(Refused::Configuration(said)) = bench.router(&Traffic::default(), 1) else {
            panic!("the queue is too long");
        };
        let said = trammel_router::diagnostic::render(&said);
        assert!(said.contains("x.click:4:12"), "{said}");
    }
}
