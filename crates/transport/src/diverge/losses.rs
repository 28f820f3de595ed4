//! Which packets the kernel's path lost, by their numbers on a link, so that the simulator's path
//! loses the same.

use super::events::Packet;
use crate::job_of::ScenarioJob;
use std::collections::BTreeSet;
use trammel_core::entry::Value;
use trammel_io::qdisc::{Kind, Loss};
use trammel_kernel::job::{Answer, Captured};
use trammel_scenario::check::Fault;
use trammel_scenario::model::Scenario;
use trammel_scenario::path::{Direction, Line};
use trammel_scenario::plugin::Plugin;
use trammel_scenario::topology::Topology;

/// Captures before and behind the losses of a link.
#[derive(Debug)]
struct Lossy {
    /// As the scenario has it, without `:back`.
    link: String,
    before: (usize, usize),
    behind: (usize, usize),
}

/// What is captured in a guest.
#[derive(Debug)]
pub(super) struct Taps {
    sender: (usize, usize),
    lossy: Vec<Lossy>,
}

impl Taps {
    /// Adds captures to `job`: of the sender of flow number `flow`, and around each link that loses
    /// packets at random.
    pub(super) fn add(job: &mut ScenarioJob, flow: usize) -> Taps {
        let from = job.job.flows[flow].from;
        let wires = job.job.wires.iter();
        let wire = wires.clone().position(|wire| wire.ends.contains(&from));
        let wire = wire.unwrap_or_default();
        let sender = (wire, usize::from(job.job.wires[wire].ends[1] == from));
        let mut lossy = Vec::new();
        for link in &job.links {
            let Some(spoil) = link.spoil else { continue };
            let way = &job.job.wires[spoil.0].ways[spoil.1];
            if matches!(&way.queue, Some(Kind::Netem(netem)) if netem.loss != Loss::None) {
                lossy.push(Lossy {
                    link: link
                        .link
                        .name
                        .strip_suffix(":back")
                        .unwrap_or(&link.link.name)
                        .to_owned(),
                    // What comes to the router in the middle, and what comes to the one behind it.
                    before: (link.queue.0, 1 - link.queue.1),
                    behind: (spoil.0, 1 - spoil.1),
                });
            }
        }
        let mut places: BTreeSet<_> = lossy
            .iter()
            .flat_map(|one| [one.before, one.behind])
            .collect();
        places.insert(sender);
        job.job.captures = places.into_iter().collect();
        Taps { sender, lossy }
    }

    /// What was captured at the sender.
    pub(super) fn sender<'a>(&self, answer: &'a Answer) -> &'a Captured {
        at(answer, self.sender)
    }

    /// The numbers of the packets that each link lost, from 1.
    pub(super) fn lost(&self, answer: &Answer) -> Vec<(String, Vec<f64>)> {
        let lost = |one: &Lossy| {
            let numbers = missing(at(answer, one.before), at(answer, one.behind));
            (one.link.clone(), numbers)
        };
        self.lossy.iter().map(lost).collect()
    }
}

fn at(answer: &Answer, place: (usize, usize)) -> &Captured {
    let mut all = answer.captures.iter();
    all.find(|one| one.at == place)
        .expect("what was asked for was captured")
}

/// The packets that came to `before` and not to `behind`, by their numbers; the last ones may still
/// be on their way.
fn missing(before: &Captured, behind: &Captured) -> Vec<f64> {
    let incoming = |of: &Captured| {
        let frames = of.frames.iter().filter(|frame| !frame.is_outgoing);
        frames
            .filter_map(|frame| Packet::of(&frame))
            .collect::<Vec<_>>()
    };
    let key = |packet: &Packet| (packet.ports, packet.identification, packet.segment.seq);
    let (before, behind) = (incoming(before), incoming(behind));
    let (mut came, mut lost) = (behind.iter().peekable(), Vec::new());
    for (number, packet) in (1_u32..).zip(&before) {
        match came.peek() {
            Some(next) if key(next) == key(packet) => {
                came.next();
            }
            Some(_) => lost.push(f64::from(number)),
            None => {}
        }
    }
    lost
}

/// Has the links of `scenario` lose the packets with these numbers, and no others.
pub(super) fn impose(scenario: &mut Scenario, lost: &[(String, Vec<f64>)]) {
    let set = |line: &mut Line, name: &str| {
        if let Some(loss) = &mut line.loss {
            let numbers = lost.iter().find(|(link, _)| link == name);
            let numbers = numbers.map(|(_, numbers)| numbers.clone());
            let packets = Value::Floats(numbers.unwrap_or_default());
            loss.model = Plugin::new("trace").with("packets", packets);
        }
    };
    match &mut scenario.topology {
        Topology::Path(path) => set(&mut path.line, "bottleneck"),
        Topology::Graph(graph) => {
            for link in &mut graph.links {
                let name = link.name.clone();
                set(&mut link.line, &name);
            }
        }
    }
}

/// Chances that both sides draw for themselves.
pub(super) fn refusals(scenario: &Scenario) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut look = |line: &Line, place: &str| {
        let mut add = |key: &str, what: &str, help: &str| {
            faults.push(Fault {
                place: format!("{place}.{key}"),
                what: what.to_owned(),
                why:
                    "simulator and kernel draw their own random numbers, so they diverge by chance"
                        .to_owned(),
                help: help.to_owned(),
            });
        };
        if line.jitter.is_some() {
            add("jitter", "jitter cannot be replayed", "leave it out");
        }
        let is_both = |direction| direction == Direction::Both;
        if line
            .loss
            .as_ref()
            .is_some_and(|loss| is_both(loss.direction))
        {
            let help = "give `direction = \"data\"` or `direction = \"ack\"`";
            add("loss", "losses in both directions cannot be replayed", help);
        }
    };
    match &scenario.topology {
        Topology::Path(path) => look(&path.line, "path"),
        Topology::Graph(graph) => {
            for (at, link) in graph.links.iter().enumerate() {
                look(&link.line, &format!("link.{at}"));
            }
        }
    }
    faults
}
