//! Functions one behind the other: on one core, or each on its own.
//!
//! ```text
//! run to completion   core 1: in → A → B → C → out                       in and out are paid once
//! pipelined           core 1: in → A → ring │ core 2: ring → B → ring │ core 3: ring → C → out
//! ```
//!
//! *Run to completion*: what brings packets in stays of the first function and what sends them out
//! of the last; between functions a packet's headers are in the first level, and no queue is
//! needed. What later functions parse is parsed again: nothing says which fields earlier ones had
//! in registers.
//!
//! *Pipelined*: a ring between two functions, half of which each side pays, and the headers come
//! from the other core's cache. The slowest stage is the chain's rate.

use crate::expr::{Expr, Values};
use crate::function::{Function, Operation, Step};

/// Packets that go through a ring at a time: the router's batch.
pub const BATCH: f64 = 32.0;
/// Bytes of headers of a function that does not say how many it touches: a line.
const HEADERS: f64 = 64.0;

/// How the functions of a chain share cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// One core carries all.
    RunToCompletion,
    /// Each has its own.
    Pipelined,
}

/// A function in a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// What it does to a packet that comes to it.
    pub function: Function,
    /// The steps that bring packets in: those of the first function stay.
    pub ways_in: Vec<String>,
    /// The steps that send packets out, with the queues before them: those of the last function
    /// stay.
    pub ways_out: Vec<String>,
    /// Bytes of headers that it touches.
    pub headers: Expr,
    /// Of the packets that come to the chain, how many come to it.
    pub share: f64,
    /// Bytes of its frames, their FCS included, where they are not those of the chain.
    pub frame: Option<f64>,
}

impl Link {
    /// A list of operations: `io_mem` brings in and `mem_io` sends out.
    pub fn of_list(function: &Function) -> Link {
        let mut link = Link {
            function: Function {
                steps: Vec::new(),
                ..function.clone()
            },
            ways_in: Vec::new(),
            ways_out: Vec::new(),
            headers: HEADERS.into(),
            share: 1.0,
            frame: None,
        };
        for step in &function.steps {
            let part = |eo: &str| {
                let of = step.operations.iter();
                of.filter(|one| one.eo.about.name == eo).cloned().collect()
            };
            let (ins, outs): (Vec<Operation>, Vec<Operation>) = (part("io_mem"), part("mem_io"));
            if let Some(first) = ins.first() {
                link.headers = first.args[0].clone();
            }
            let is_way = |one: &&Operation| ["io_mem", "mem_io"].contains(&one.eo.about.name);
            let own = step.operations.iter().filter(|one| !is_way(one)).cloned();
            let named = |suffix: &str, operations: Vec<Operation>| Step {
                name: format!("{}{suffix}", step.name),
                operations,
                ..step.clone()
            };
            let (first, last) = (named(" in", ins), named(" out", outs));
            link.ways_in.push(first.name.clone());
            link.ways_out.push(last.name.clone());
            let own = named("", own.collect());
            link.function.steps.extend([first, own, last]);
        }
        link
    }

    /// Its steps at place `at` of a chain of `all`, as often as packets that come to the chain come
    /// there.
    fn steps(&self, at: usize, all: usize) -> Vec<Step> {
        let is_paid = |step: &&Step| {
            let is = |ways: &[String]| ways.contains(&step.name);
            (at == 0 || !is(&self.ways_in)) && (at + 1 == all || !is(&self.ways_out))
        };
        let values: Values = self
            .frame
            .map(|frame| ("frame".to_owned(), frame))
            .into_iter()
            .collect();
        let steps = self.function.steps.iter().filter(is_paid);
        let placed = steps.map(|step| Step {
            name: match all {
                1 => step.name.clone(),
                _ => format!("{}/{}", at + 1, step.name),
            },
            visits: step.visits * self.share,
            operations: step
                .operations
                .iter()
                .map(|one| one.clone().with(&values))
                .collect(),
            ..step.clone()
        });
        placed.collect()
    }
}

/// All on one core, as one function.
pub fn joined(links: &[Link]) -> Function {
    let each = links.iter().enumerate();
    let names: Vec<&str> = links
        .iter()
        .map(|link| link.function.name.as_str())
        .collect();
    let titles: Vec<&str> = links
        .iter()
        .map(|link| link.function.title.as_str())
        .collect();
    Function {
        name: names.join(" → "),
        title: titles.join(" → "),
        steps: each
            .flat_map(|(at, link)| link.steps(at, links.len()))
            .collect(),
    }
}

/// Each on a core of its own, with rings between.
pub fn stages(links: &[Link]) -> Vec<Function> {
    let each = links.iter().enumerate();
    each.map(|(at, link)| {
        let ring = || Operation::new("ring", &[Expr::from(1.0 / BATCH)]).times(0.5);
        let side = |name: &str, share: f64, operations: Vec<Operation>| Step {
            name: format!("{}/{name}", at + 1),
            class: String::new(),
            visits: share,
            operations,
            counted: None,
        };
        let mut steps = Vec::new();
        if at > 0 {
            let headers = Operation::new("hand_over", std::slice::from_ref(&link.headers));
            let taken = vec![ring(), headers.in_flight(BATCH)];
            steps.push(side("from the ring", link.share, taken));
        }
        steps.extend(link.steps(at, links.len()));
        if let Some(next) = links.get(at + 1) {
            steps.push(side("to the ring", next.share, vec![ring()]));
        }
        Function {
            name: link.function.name.clone(),
            title: link.function.title.clone(),
            steps,
        }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::{Estimate, Load, estimate};
    use crate::function::read;
    use crate::machine::Machine;
    use crate::machines;

    const A: &str = "'io_mem(64, 0)', 'parse(8)', 'mem_io(64, 0)'";
    const B: &str = "'io_mem(30, 34)', 'ht_lookup(2, 12, 2M, 0)', 'mem_io(30, 34)'";

    fn list(operations: &str) -> Function {
        let text = format!("[[function]]\nname = 'f'\noperations = [{operations}]");
        read(&text, "").expect("it is right").remove(0)
    }

    fn cost(function: &Function, machine: &Machine) -> Estimate {
        estimate(function, machine, &Load::default()).expect("every operation has a cost")
    }

    /// The paper's machine: io_mem 30 and 5 a line, mem_io the same, parse 5.
    fn paper() -> Machine {
        machines::find("xeon-e5-2690v2").expect("the machine is built in")
    }

    #[test]
    fn a_chain_of_one_is_the_function() {
        let machine = paper();
        for operations in [A, B] {
            let function = list(operations);
            let link = [Link::of_list(&function)];
            let alone = cost(&function, &machine);
            let [stage] = &stages(&link)[..] else {
                panic!("there is one stage")
            };
            for chain in [&joined(&link), stage] {
                let found = cost(chain, &machine);
                assert_eq!(
                    (found.cycles, found.accesses),
                    (alone.cycles, alone.accesses)
                );
                assert_eq!(found.limits, alone.limits);
            }
        }
    }

    #[test]
    fn on_one_core_ways_in_and_out_are_paid_once() {
        let machine = paper();
        let (a, b) = (list(A), list(B));
        let chain = joined(&[Link::of_list(&a), Link::of_list(&b)]);
        // As a list of the whole has it.
        let whole =
            list("'io_mem(64, 0)', 'parse(8)', 'ht_lookup(2, 12, 2M, 0)', 'mem_io(30, 34)'");
        let (found, whole) = (cost(&chain, &machine), cost(&whole, &machine));
        assert_eq!(found.cycles, whole.cycles);
        assert_eq!(found.accesses, whole.accesses);
        let sum = cost(&a, &machine).cycles.centre + cost(&b, &machine).cycles.centre;
        let constant = |of: &str, name: &str| machine.constants[of][name];
        let (read, written) = (
            constant("io_mem", "base") + constant("io_mem", "line"),
            constant("mem_io", "base") + constant("mem_io", "line"),
        );
        assert_eq!(found.cycles.centre, sum - read - written);
    }

    #[test]
    fn a_ring_and_a_line_from_another_core_lie_between_stages() {
        let mut machine = paper();
        let links = [Link::of_list(&list(A)), Link::of_list(&list(B))];
        let alone = |operations: &str| cost(&list(operations), &paper()).cycles.centre;
        let each = |machine: &Machine| -> Vec<f64> {
            let all = stages(&links);
            all.iter()
                .map(|one| cost(one, machine).cycles.centre)
                .collect()
        };
        // Half a ring of 10 cycles a packet and 20 a call of 32; that machine counts whole cycles.
        let half = 11.0 / 2.0;
        let first = alone("'io_mem(64, 0)', 'parse(8)'") + half;
        // A line from another core costs what io_mem has, and no access to memory.
        let second = alone("'io_mem(30, 0)', 'ht_lookup(2, 12, 2M, 0)', 'mem_io(30, 34)'") + half;
        assert_eq!(each(&machine), [first, second]);
        let found = cost(&stages(&links)[1], &machine);
        assert_eq!(found.accesses, 1.0);
        assert_eq!(found.memory_accesses, 1.0);
        // Where memory is charged, the line is waited for as the last level answers.
        let bare = [
            Link::of_list(&list("'parse(8)'")),
            Link::of_list(&list("'parse(8)'")),
        ];
        let counted = cost(&stages(&bare)[1], &machine).cycles;
        machine.memory.is_counted_only = false;
        (machine.memory.parallel, machine.memory.latency_ns) = (4.0, 100.0);
        let charged = cost(&stages(&bare)[1], &machine).cycles;
        let last = machine.levels.last().expect("it has caches").cycles;
        let wait = last - machine.levels[0].cycles;
        assert_eq!(charged.high - counted.high, wait);
        assert_eq!(charged.centre - counted.centre, wait / 4.0);
    }

    #[test]
    fn what_a_function_keeps_does_not_come_to_the_next() {
        let machine = paper();
        let (a, b) = (list("'parse(8)'"), list("'parse(80)'"));
        let second = Link {
            share: 0.25,
            ..Link::of_list(&b)
        };
        let chain = joined(&[Link::of_list(&a), second]);
        assert_eq!(cost(&chain, &machine).cycles.centre, 5.0 + 0.25 * 50.0);
        let second = Link {
            share: 0.25,
            frame: Some(1000.0),
            ..Link::of_list(&list("'checksum(frame)'"))
        };
        let chain = joined(&[Link::of_list(&a), second]);
        let alone = cost(&list("'checksum(1000)'"), &machine).cycles.centre;
        assert_eq!(cost(&chain, &machine).cycles.centre, 5.0 + 0.25 * alone);
    }
}
