//! A scenario as plain typed data, and the builder that makes one from Rust.
//!
//! ```
//! use trammel_scenario::{Flow, Queue, Scenario};
//! use trammel_core::{Rate, Span, Time};
//!
//! let scenario = Scenario::dumbbell()
//!     .rate(Rate::from_bps(10_000_000))
//!     .rtt(Span::from_ms(40))
//!     .queue(Queue::new("droptail"))
//!     .flow(Flow::new("reno").start(Time::ZERO))
//!     .flow(Flow::new("reno").start(Time::from_secs(1)))
//!     .duration(Span::from_secs(20));
//! assert_eq!(scenario.flows.len(), 2);
//! ```

use super::app::App;
use super::flow::Flow;
use super::path::{Line, Loss, Path, Queue};
use super::topology::{Graph, Topology};
use super::workload::{Stream, Workload};
use std::collections::{BTreeMap, BTreeSet};
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;

/// One point: everything that the engines need to know but the seed of a repeat.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// What it shows, in a line.
    pub title: String,
    /// The question that it answers.
    pub question: Option<String>,
    /// What the question asks for; by the shape of the file where it does not say.
    pub answer: Option<Goal>,
    /// The engines that answer.
    pub engines: Vec<Engine>,
    /// Length of a run.
    pub duration: Span,
    /// Metrics are also computed from this instant on.
    pub warmup: Time,
    /// Runs, with seeds `seed`, `seed` + 1, ….
    pub repeat: u32,
    /// First seed.
    pub seed: u64,
    /// Where flows run.
    pub topology: Topology,
    /// The TCP flows.
    pub flows: Vec<Flow>,
    /// TCP flows that come and go.
    pub workloads: Vec<Workload>,
    /// Streams of datagrams.
    pub streams: Vec<Stream>,
    /// Applications.
    pub apps: Vec<App>,
    /// Each flow also runs alone, as the reference of its harm.
    pub solo: bool,
    /// What is traced of every flow.
    pub trace: Tracing,
    /// Links whose packets are captured.
    pub pcap: Pcap,
    /// The events of every flow are written as qlog.
    pub qlog: bool,
    /// The analytic models that are asked; empty means every one that applies.
    pub models: Vec<ModelChoice>,
    /// How real stacks are measured, where the scenario says.
    pub measure: Option<Measure>,
}

/// What the question of a scenario asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// How flows divide what they share.
    Share,
    /// Which of the swept names is best: by goodput, where that tells them apart, else by delay.
    Rank,
    /// What the flows get.
    Goodput,
    /// How long packets wait; of swept names, which of those that use the link waits least.
    Delay,
    /// What is lost.
    Loss,
    /// How soon a rate that has risen is used.
    Recovery,
    /// How much of the bottleneck is used.
    Utilisation,
    /// How evenly flows divide what they share: Jain's index.
    Fairness,
    /// How soon the last flow has its fair share.
    Convergence,
    /// How short flows fare, or how long flows of a given size take.
    Completion,
    /// What the users of applications get.
    Experience,
    /// Whether the simulator does what the real kernel does.
    Agreement,
    /// How far formulas are from what ran.
    Prediction,
}

impl Goal {
    /// All goals.
    pub const ALL: [Goal; 13] = [
        Goal::Share,
        Goal::Rank,
        Goal::Goodput,
        Goal::Delay,
        Goal::Loss,
        Goal::Recovery,
        Goal::Utilisation,
        Goal::Fairness,
        Goal::Convergence,
        Goal::Completion,
        Goal::Experience,
        Goal::Agreement,
        Goal::Prediction,
    ];

    /// The word in a scenario file.
    pub fn name(self) -> &'static str {
        match self {
            Goal::Share => "share",
            Goal::Rank => "rank",
            Goal::Goodput => "goodput",
            Goal::Delay => "delay",
            Goal::Loss => "loss",
            Goal::Recovery => "recovery",
            Goal::Utilisation => "utilisation",
            Goal::Fairness => "fairness",
            Goal::Convergence => "convergence",
            Goal::Completion => "completion",
            Goal::Experience => "experience",
            Goal::Agreement => "agreement",
            Goal::Prediction => "prediction",
        }
    }
}

/// An engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Engine {
    /// Closed form.
    Predict,
    /// Virtual time.
    Simulate,
    /// Real packets, real stacks.
    Measure,
}

impl Engine {
    /// The engine of a word in a scenario file or on the command line.
    pub fn from_name(name: &str) -> Option<Engine> {
        let all = [Engine::Predict, Engine::Simulate, Engine::Measure];
        all.into_iter().find(|engine| engine.name() == name)
    }
    /// The word in a scenario file and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Predict => "predict",
            Engine::Simulate => "simulate",
            Engine::Measure => "measure",
        }
    }
}

/// What is traced of every flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracing {
    /// Nothing.
    Off,
    /// Every ACK.
    Ack,
    /// A sample at each interval.
    Every(Span),
}

/// Links whose packets are captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pcap {
    /// None.
    Off,
    /// All.
    All,
    /// These.
    Links(Vec<String>),
}

/// An analytic model, and which of its published forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelChoice {
    /// The model's name.
    pub name: String,
    /// The form; without it, the model's first.
    pub dialect: Option<String>,
}

/// How real stacks are measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measure {
    /// Whose TCP.
    pub kernel: Kernel,
    /// A source tree of Linux, in place of the package's.
    pub source: Option<String>,
    /// Patches over that source, in this order.
    pub patches: Vec<String>,
    /// A congestion control to be compiled for the kernel, a file of C.
    pub module: Option<String>,
    /// Variables of all hosts, names below `/proc/sys/net` and values.
    pub sysctls: Vec<(String, String)>,
    /// Parameters of the kernel's modules, `module.parameter` and values.
    pub parameters: Vec<(String, String)>,
}

/// Whose TCP is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kernel {
    /// The Linux kernel, in virtual time.
    #[default]
    Linux,
    /// This host's.
    Host,
}

impl Default for Scenario {
    fn default() -> Scenario {
        Scenario {
            title: String::new(),
            question: None,
            answer: None,
            engines: vec![Engine::Predict, Engine::Simulate],
            duration: Span::from_secs(30),
            warmup: Time::ZERO,
            repeat: 1,
            seed: 1,
            solo: false,
            topology: Topology::Path(Path {
                line: Line::new(Rate::from_bps(10_000_000)),
                rtt: Span::from_ms(50),
                access: None,
                wifi: None,
            }),
            flows: Vec::new(),
            workloads: Vec::new(),
            streams: Vec::new(),
            apps: Vec::new(),
            trace: Tracing::Off,
            pcap: Pcap::Off,
            qlog: false,
            models: Vec::new(),
            measure: None,
        }
    }
}

impl Scenario {
    /// Flows and workloads of which the kernel runs another law than the simulator does: name, the
    /// simulator's and the kernel's. Numbers of such a scenario stand side by side and have no
    /// error.
    pub fn other_laws(&self) -> Vec<(&str, &str, &str)> {
        let flows = self.flows.iter().map(|flow| (&flow.name, flow));
        let workloads = self.workloads.iter().map(|one| (&one.name, &one.flow));
        flows
            .chain(workloads)
            .filter_map(|(name, flow)| {
                Some((name.as_str(), flow.variant.name.as_str(), flow.other_law()?))
            })
            .collect()
    }

    /// One bottleneck of 10 Mbit/s and 50 ms that all flows share.
    pub fn dumbbell() -> Scenario {
        Scenario::default()
    }

    /// A network of hosts and links.
    pub fn network(graph: Graph) -> Scenario {
        Scenario {
            topology: Topology::Graph(graph),
            ..Scenario::default()
        }
    }

    /// Changes the one bottleneck. Panics for a network: its links have lines of their own.
    pub fn path(mut self, change: impl FnOnce(&mut Path)) -> Scenario {
        match &mut self.topology {
            Topology::Path(path) => change(path),
            Topology::Graph(_) => panic!("a network has links, not one path"),
        }
        self
    }
    /// Sets the rate of the bottleneck, in both directions.
    pub fn rate(self, rate: Rate) -> Scenario {
        self.path(|path| {
            path.line.rate = rate;
            path.line.ack_rate = rate;
        })
    }
    /// Sets the unloaded round trip.
    pub fn rtt(self, rtt: Span) -> Scenario {
        self.path(|path| path.rtt = rtt)
    }
    /// Sets the queue before the bottleneck.
    pub fn queue(self, queue: Queue) -> Scenario {
        self.path(|path| path.line.queue = queue)
    }
    /// Sets the losses behind the bottleneck.
    pub fn loss(self, loss: Loss) -> Scenario {
        self.path(|path| path.line.loss = Some(loss))
    }
    /// Adds a flow.
    pub fn flow(mut self, flow: Flow) -> Scenario {
        self.flows.push(flow);
        name_flows(&mut self.flows);
        self
    }
    /// Adds a workload.
    pub fn workload(mut self, workload: Workload) -> Scenario {
        self.workloads.push(workload);
        self
    }
    /// Adds a stream of datagrams.
    pub fn stream(mut self, stream: Stream) -> Scenario {
        self.streams.push(stream);
        self
    }
    /// Adds an application.
    pub fn app(mut self, app: App) -> Scenario {
        self.apps.push(app);
        self
    }
    /// Sets the title.
    pub fn title(mut self, title: &str) -> Scenario {
        title.clone_into(&mut self.title);
        self
    }
    /// When a run ends.
    pub fn end(&self) -> Time {
        Time::ZERO + self.duration
    }
    /// Sets the length of a run.
    pub fn duration(mut self, duration: Span) -> Scenario {
        self.duration = duration;
        self
    }
    /// Sets the instant from which metrics are also computed.
    pub fn warmup(mut self, warmup: Time) -> Scenario {
        self.warmup = warmup;
        self
    }
    /// Sets the number of runs.
    pub fn repeat(mut self, repeat: u32) -> Scenario {
        self.repeat = repeat;
        self
    }
    /// The seed of the run number `repeat`, from 0; after the last of 64 bits comes 0.
    pub fn seed_of(&self, repeat: u32) -> u64 {
        self.seed.wrapping_add(u64::from(repeat))
    }

    /// Sets the first seed.
    pub fn seed(mut self, seed: u64) -> Scenario {
        self.seed = seed;
        self
    }
    /// Lets each flow also run alone, as the reference of its harm.
    pub fn solo(mut self, solo: bool) -> Scenario {
        self.solo = solo;
        self
    }
    /// Sets the engines.
    pub fn engines(mut self, engines: &[Engine]) -> Scenario {
        self.engines = engines.to_vec();
        self
    }
    /// Sets what is traced.
    pub fn trace(mut self, trace: Tracing) -> Scenario {
        self.trace = trace;
        self
    }

    /// The unloaded round trip of `flow`; nothing where a network has no route for it.
    pub fn rtt_of(&self, flow: &Flow) -> Option<Span> {
        match &self.topology {
            Topology::Path(path) => Some(flow.rtt.unwrap_or(path.rtt)),
            Topology::Graph(graph) => {
                let route = graph.route(flow.from.as_deref()?, flow.to.as_deref()?)?;
                Some(graph.rtt(&route))
            }
        }
    }

    /// The limit in packets of the queue of each link (of the one bottleneck, for a path). The bdp
    /// of a link in a network is that of the longest flow across it.
    pub fn queue_packets(&self) -> Vec<u32> {
        let graph = match &self.topology {
            Topology::Path(path) => return vec![path.line.queue_packets(path.rtt)],
            Topology::Graph(graph) => graph,
        };
        let mut longest: Vec<Span> = graph.links.iter().map(|link| link.delay * 2).collect();
        let ends = self.flows.iter().map(|flow| (&flow.from, &flow.to));
        let ends = ends.chain(self.workloads.iter().map(|w| (&w.flow.from, &w.flow.to)));
        let ends = ends.chain(self.apps.iter().map(|app| (&app.flow.from, &app.flow.to)));
        for (from, to) in ends {
            let (Some(from), Some(to)) = (from, to) else {
                continue;
            };
            let route = graph.route(from, to).unwrap_or_default();
            let rtt = graph.rtt(&route);
            for step in &route {
                longest[step.link] = longest[step.link].max(rtt);
            }
        }
        let links = graph.links.iter().zip(longest);
        links
            .map(|(link, rtt)| link.line.queue_packets(rtt))
            .collect()
    }
}

/// Names each nameless flow after its variant, numbered where several share the variant, and keeps
/// its place.
pub(super) fn name_flows(flows: &mut [Flow]) {
    let mut taken: BTreeSet<String> = flows.iter().map(|flow| flow.name.clone()).collect();
    // The next number to try for each variant, so that many flows alike take no longer than few.
    let mut next: BTreeMap<String, usize> = BTreeMap::new();
    let nameless = flows.iter_mut().enumerate();
    for (place, flow) in nameless.filter(|(_, flow)| flow.name.is_empty()) {
        flow.place = Some(place);
        let variant = &flow.variant.name;
        let number = next.entry(variant.clone()).or_insert(1);
        flow.name = loop {
            let name = if *number == 1 {
                variant.clone()
            } else {
                format!("{variant}-{number}")
            };
            *number += 1;
            if taken.insert(name.clone()) {
                break name;
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_key_are_the_goals() {
        let names: Vec<&str> = Goal::ALL.iter().map(|goal| goal.name()).collect();
        assert_eq!(names, crate::keys::GOALS);
    }

    #[test]
    fn flows_are_named_after_their_variants() {
        let scenario = Scenario::dumbbell()
            .flow(Flow::new("reno"))
            .flow(Flow::new("reno").name("mine"))
            .flow(Flow::new("reno"));
        let names: Vec<_> = scenario
            .flows
            .iter()
            .map(|flow| flow.name.as_str())
            .collect();
        assert_eq!(names, ["reno", "mine", "reno-2"]);
    }

    #[test]
    fn many_flows_alike_are_named_and_checked_in_no_time() {
        // Some of the names are taken already.
        let mut scenario = Scenario::dumbbell().flow(Flow::new("reno").name("reno-3"));
        scenario.flows.resize(10_000, Flow::new("reno"));
        name_flows(&mut scenario.flows);
        let first: Vec<_> = scenario.flows[..4].iter().map(|f| &f.name[..]).collect();
        assert_eq!(first, ["reno-3", "reno", "reno-2", "reno-4"]);
        assert_eq!(scenario.check(), Ok(()));
    }

    #[test]
    fn the_queue_of_a_link_is_a_bdp_of_the_longest_flow() {
        let line = Line::new(Rate::from_bps(12_000_000));
        let graph = Graph {
            hosts: ["a", "b", "c"].map(String::from).to_vec(),
            links: vec![
                super::super::topology::Link::new("a", "b", Span::from_ms(5), line.clone()),
                super::super::topology::Link::new("b", "c", Span::from_ms(45), line),
            ],
            devices: Vec::new(),
        };
        let scenario = Scenario::network(graph).flow(Flow::new("reno").between("a", "c"));
        // 12 Mbit/s × 100 ms / 8 / 1500 B = 100
        assert_eq!(scenario.queue_packets(), [100, 100]);
    }
}
