//! A configuration as a network function: the operations of its elements, by how often packets
//! visit them.
//!
//! The visits are those of a run that has taken place, on a sample of the traffic. What an element
//! does to a packet its class declares ([`Entry::ops`](crate::engine::Entry)); that a batch is
//! handed to it is added for each.
//!
//! The `work` of most classes was counted: the instructions that a packet of 60 bytes costs more,
//! in batches of 32, where the element stands in the place of `Null`
//! (`python3 -m benches.elements`, 2026-11-22), less those of the other operations declared (parse
//! and deparse 1.5 a word, inc_checksum 8 + b, checksum 10 + 0.6 b, ht_lookup 15 + 8 N,
//! ct_insertion 20 + 8 N, trie_lookup 10 + 8 levels, classify 10 + 6 steps, copy 15 + 0.11 b,
//! random 30). What no such run reaches (devices, timers, what is rare) is an estimate from the
//! code. System calls are not in it.

use crate::elements;
use crate::engine::{Ctx, ElementId};
use trammel_cost::expr::{Expr, Values};
use trammel_cost::function::{Function, Operation, Step};

/// An element on the packets' way whose class declares no operations.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Undeclared {
    /// The element.
    pub name: String,
    /// Its class.
    pub class: String,
}

/// What a configuration does.
#[derive(Clone, Debug, PartialEq)]
pub struct CostOf {
    /// As a function: one step for each element that packets came to.
    pub function: Function,
    /// The elements whose own work is not in it.
    pub undeclared: Vec<Undeclared>,
}

/// Packets that came in by an element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inflow {
    /// The element.
    pub name: String,
    /// How many.
    pub packets: u64,
    /// Batches that they came in.
    pub batches: u64,
}

/// What was counted at an element.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Visited {
    /// The element.
    pub name: String,
    /// Its class.
    pub class: String,
    /// Packets that came to it; that it gave or fetched, where it drives them. Nobody came where it
    /// is 0.
    pub packets: f64,
    /// Calls that brought, gave or fetched them.
    pub calls: f64,
    /// Their bytes in memory; 0 where they were not counted.
    pub bytes: f64,
    /// Its outputs.
    pub outputs: usize,
    /// What stands for names in its class's operations.
    pub quantities: Vec<(String, f64)>,
    /// Bytes of the frames that come here, their FCS included, where they are not those of the
    /// whole function.
    pub frame: Option<f64>,
    /// Cycles of the element's own code for all its packets, where they were counted.
    pub cycles: Option<f64>,
}

impl Visited {
    /// Calls a packet; 0 where none came.
    pub fn calls_a_packet(&self) -> f64 {
        if self.packets > 0.0 {
            self.calls / self.packets
        } else {
            0.0
        }
    }
}

/// What was counted in a run: by a sample of the traffic on the workbench, or by a live router.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Visits {
    /// Packets that came in.
    pub packets: f64,
    /// Every element, in the configuration's order.
    pub elements: Vec<Visited>,
}

/// Entries from which on a table is taken for one that flows fill.
const OF_FLOWS: f64 = 256.0;

/// What was counted in `ctx`. `given` says what came in by which element; `growth` how many times
/// the flows of the run will come in the end, whose tables are larger by that.
pub fn visits(ctx: &Ctx, given: &[Inflow], growth: f64) -> Visits {
    let packets = given.iter().map(|inflow| inflow.packets).sum::<u64>() as f64;
    let elements = (0..ctx.elements()).map(|element| {
        let counted = ctx.counters(element);
        let name = ctx.name(element).to_owned();
        let own = given.iter().find(|inflow| inflow.name == name);
        // Who drives packets is called for none: what it gives or asks for counts.
        let (packets, calls, bytes) = match (counted.packets, counted.pulled, own) {
            (0, 0, None) => (0, 0, 0),
            (0, 0, Some(inflow)) => (inflow.packets, inflow.batches, counted.started.bytes),
            (0, pulled, _) => (pulled, counted.pulls, counted.started.bytes),
            (packets, ..) => (packets, counted.batches, counted.bytes),
        };
        Visited {
            name,
            class: ctx.class(element).to_owned(),
            packets: packets as f64,
            calls: calls as f64,
            bytes: bytes as f64,
            outputs: ctx.node(element).modes.outputs.len(),
            quantities: quantities(ctx, element, growth).into_iter().collect(),
            frame: None,
            cycles: None,
        }
    });
    Visits {
        packets,
        elements: elements.collect(),
    }
}

/// What stands for names in the operations of an element's class: how it is configured and, where
/// the run was studied, what its packets asked for.
fn quantities(ctx: &Ctx, element: ElementId, growth: f64) -> Values {
    let grown = |name: &str, count: f64| {
        let of_flows = if count >= OF_FLOWS { growth } else { 1.0 };
        (name.to_owned(), count * of_flows)
    };
    let all = ctx.quantities(element).into_iter();
    let mut values: Values = all
        .map(|(name, value)| match name {
            "entries" => grown(name, value),
            name => (name.to_owned(), value),
        })
        .collect();
    if let Some(study) = ctx.studied(element) {
        values.extend(study.means().map(|(name, value)| (name.to_owned(), value)));
        values.extend(study.counts().map(|(name, count)| grown(name, count)));
    }
    values
}

/// What came into a live router by its own elements: those that emit without having been given or
/// having fetched.
pub fn inflow(ctx: &Ctx) -> Vec<Inflow> {
    let all = (0..ctx.elements()).map(|element| (element, ctx.counters(element)));
    all.filter(|(_, counted)| counted.packets == 0 && counted.pulled == 0)
        .filter(|(_, counted)| counted.started.packets > 0)
        .map(|(element, counted)| Inflow {
            name: ctx.name(element).to_owned(),
            packets: counted.started.packets,
            batches: counted.started.batches,
        })
        .collect()
}

/// What the elements do to a packet that comes in, as often as `visits` says. `known` are numbers
/// that stand for names whatever the elements say: `routes` of a thought experiment.
pub fn cost_of(name: &str, visits: &Visits, known: &Values) -> CostOf {
    let (mut steps, mut undeclared) = (Vec::new(), Vec::new());
    for visited in &visits.elements {
        if visited.packets <= 0.0 || visits.packets <= 0.0 {
            continue;
        }
        let calls = visited.calls_a_packet();
        let mut operations = vec![Operation::new("call", &[Expr::from(calls)])];
        let counted = visited.cycles.map(|cycles| cycles / visited.packets);
        match declared(visited, known) {
            Some(own) => operations.extend(own),
            None if counted.is_some() => {}
            None => undeclared.push(Undeclared {
                name: visited.name.clone(),
                class: visited.class.clone(),
            }),
        }
        steps.push(Step {
            name: visited.name.clone(),
            class: visited.class.clone(),
            visits: visited.packets / visits.packets,
            operations,
            counted,
        });
    }
    let function = Function {
        name: name.to_owned(),
        title: name.to_owned(),
        steps,
    };
    CostOf {
        function,
        undeclared,
    }
}

/// Names that stand for something in every class's operations, besides the element's quantities:
/// the bytes of the frame with its checksum, 1 over the packets of a mean batch, and the element's
/// outputs.
pub const PROVIDED: [&str; 3] = ["frame", "calls", "outputs"];

/// The operations of an element's class with the numbers of the element.
fn declared(visited: &Visited, known: &Values) -> Option<Vec<Operation>> {
    let entry = elements::find(&visited.class)?;
    let ops = Operation::parse_all(entry.ops?);
    let mut values: Values = visited.quantities.iter().cloned().collect();
    values.insert("calls".to_owned(), visited.calls_a_packet());
    values.insert("outputs".to_owned(), visited.outputs as f64);
    if let Some(frame) = visited.frame {
        values.insert("frame".to_owned(), frame);
    }
    for (name, value) in known {
        values.insert(name.clone(), *value);
    }
    let ops = ops.expect("every class's operations are read by a test");
    Some(ops.into_iter().map(|one| one.with(&values)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::ip_packet::set_destination;
    use crate::probe::Probe;

    /// Classes that packets may come to whose work nobody can say, with the reasons.
    const UNSAID: [(&str, &str); 2] = [
        ("DriverManager", "its ports are Script's"),
        ("Script", "what it does to a packet is its script"),
    ];

    #[test]
    fn every_class_on_the_packets_way_declares_its_operations() {
        for entry in elements::ALL {
            let name = entry.about.name;
            let is_unsaid = entry.ports == "0/0" || UNSAID.iter().any(|(one, _)| *one == name);
            assert_eq!(entry.ops.is_none(), is_unsaid, "{name}");
        }
    }

    #[test]
    fn every_name_in_operations_stands_for_something() {
        for entry in elements::ALL {
            let name = entry.about.name;
            let ops = Operation::parse_all(entry.ops.unwrap_or_default());
            let ops = ops.unwrap_or_else(|fault| panic!("{name}: {fault}"));
            let own = (entry.make)().quantities();
            let names = own.iter().map(|(name, _)| *name).chain(PROVIDED);
            let values: Values = names.map(|name| (name.to_owned(), 2.0)).collect();
            for one in ops.into_iter().map(|one| one.with(&values)) {
                let mut all = one.args.iter().chain([&one.times]);
                let are_known = all.all(|arg| arg.number().is_some());
                assert!(are_known, "{name}: {one}");
            }
            for (quantity, value) in own {
                assert!(value.is_finite() && value >= 0.0, "{name}: {quantity}");
            }
        }
    }

    /// The quantities of an element so declared.
    fn of(declaration: &str, outputs: usize) -> Vec<(&'static str, f64)> {
        let probe = Probe::new(declaration, outputs);
        let found = probe.run.ctx.find("x", None).expect("it is there");
        probe.run.ctx.quantities(found)
    }

    #[test]
    fn quantities_are_those_of_the_configuration() {
        assert_eq!(of("StoreData(0, abcd)", 1), [("length", 4.0)]);
        let routes = of("DirectIPLookup(10.0.0.0/8 0, 10.1.2.0/25 1)", 2);
        // Of four ends of routes, the two of the longer one lie in a cell that is split.
        assert_eq!(routes[..2], [("routes", 2.0), ("levels", 1.5)]);
        // The type alone decides.
        let classes = of("Classifier(12/0800, 12/0806, -)", 3);
        assert_eq!(classes[..2], [("steps", 1.0), ("rules", 3.0)]);
        // Type and operation are compared at once, and nothing is asked after them.
        let classes = of("Classifier(12/0806 20/0002, -)", 2);
        assert_eq!(classes[..2], [("steps", 2.0), ("rules", 2.0)]);
    }

    #[test]
    fn a_studied_run_tells_what_its_packets_ask_for() {
        let mut probe = Probe::new("DirectIPLookup(10.0.0.0/8 0, 10.1.2.0/25 1)", 2);
        probe.run.ctx.study();
        let found = probe.run.ctx.find("x", None).expect("it is there");
        let mut send = |addresses: &[[u8; 4]]| {
            let packets = addresses.iter().map(|address| {
                let h = probe.run.ctx.pool().alloc_with(&[0; 60]).expect("room");
                set_destination(&mut probe.run.ctx.pool()[&h], *address);
                h
            });
            let packets = packets.collect();
            for (_, h) in probe.run.ctx.pass_to(found, 0, packets) {
                probe.run.ctx.pool().free(h);
            }
            let study = probe.run.ctx.studied(found).expect("it is studied");
            let means = study.means().chain(study.counts());
            means.collect::<std::collections::BTreeMap<_, _>>()
        };
        // One address is asked for once, and its cell is split.
        let learnt = send(&[[10, 1, 2, 3]; 4]);
        assert_eq!((learnt["asked"], learnt["levels"]), (0.25, 2.0));
        assert_eq!((learnt["ways"], learnt["lines"]), (0.0, 2.0));
        // Then two, each for itself, to both outputs: of three look-ups two had two levels.
        let learnt = send(&[[10, 1, 2, 4], [10, 2, 0, 1]]);
        assert_eq!((learnt["asked"], learnt["ways"]), (0.5, 2.0 / 3.0));
        assert!((learnt["levels"] - 5.0 / 3.0).abs() < 1e-9);
    }
}
