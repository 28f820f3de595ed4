//! The decision graph as it runs: flat tables, followed from one to the next.
//!
//! A verification and a switch are one thing, a hash table (`tables`). A switch whose every branch
//! goes on to verify the same windows takes these into its own table, so that rules of one form
//! (protocol, address, port) cost one look-up together.

use super::compile::{DROP, HOLDS, OUTPUT, Step, Target};
use super::expr::{Relation, Test};
use super::frame::{Frame, Place};
use super::tables::{Case, Exact, MOST_WINDOWS, Window, windows};
use super::vectors::Vectors;
use std::sync::Arc;

/// A step with its tables elsewhere.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    One(Exact<1>),
    Two(Exact<2>),
    Three(Exact<3>),
    Search {
        at: Place,
        mask: u32,
        first: u32,
        count: u32,
        targets: u32,
    },
    /// The number of the table.
    Many(u32),
}

/// Many rules by their vectors.
#[derive(Clone, Debug)]
struct Many {
    vectors: Arc<Vectors>,
    /// What is left to check of each rule, and where it leads.
    rules: Vec<(Target, Target)>,
    no: Target,
}

/// The graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct Machine {
    ops: Vec<Op>,
    /// Those of all tables.
    pub(crate) cases: Vec<Case>,
    thresholds: Vec<u32>,
    targets: Vec<Target>,
    many: Vec<Many>,
}

impl Machine {
    /// Lays the steps out that can be reached from the roots, and tells the roots' new numbers.
    pub(crate) fn new<const N: usize>(
        steps: &[Step],
        roots: [Target; N],
    ) -> (Machine, [Target; N]) {
        let mut machine = Machine::default();
        let mut numbers = vec![DROP; steps.len()];
        let order = reachable(steps, &roots);
        for (new, &old) in order.iter().enumerate() {
            numbers[old as usize] = new as Target;
        }
        let number = |target: Target| match target & OUTPUT {
            0 => numbers[target as usize],
            _ => target,
        };
        let mut further = Vec::new();
        for &old in &order {
            let mut later = |op| {
                further.push(op);
                (order.len() + further.len() - 1) as Target
            };
            let op = machine.lay(&steps[old as usize], steps, &number, &mut later);
            machine.ops.push(op);
        }
        machine.ops.extend(further);
        (machine, roots.map(number))
    }

    fn lay(
        &mut self,
        step: &Step,
        steps: &[Step],
        number: &impl Fn(Target) -> Target,
        later: &mut impl FnMut(Op) -> Target,
    ) -> Op {
        match step {
            Step::Verify { tests, yes, no } => {
                let (mut to, no) = (number(*yes), number(*no));
                let windows = windows(tests);
                let mut parts = windows.rchunks(MOST_WINDOWS).peekable();
                while let Some(part) = parts.next() {
                    let op = self.exact(&[(part.to_vec(), to)], no);
                    if parts.peek().is_none() {
                        return op;
                    }
                    to = later(op);
                }
                unreachable!("a step verifies something")
            }
            Step::Switch {
                word,
                mask,
                cases,
                no,
            } => {
                let asked = |value| Test {
                    word: *word,
                    mask: *mask,
                    relation: Relation::Equal,
                    value,
                };
                // Every branch verifies the same windows: one table for both.
                let joined = cases
                    .iter()
                    .map(|&(value, to)| match steps.get(to as usize) {
                        Some(Step::Verify {
                            tests,
                            yes,
                            no: other,
                        }) if other == no => {
                            let mut all = vec![asked(value)];
                            all.extend_from_slice(tests);
                            Some((windows(&all), number(*yes)))
                        }
                        _ => None,
                    });
                let form = |case: &(Vec<Window>, Target)| {
                    case.0
                        .iter()
                        .map(|window| (window.at, window.mask))
                        .collect::<Vec<_>>()
                };
                let joined: Option<Vec<(Vec<Window>, Target)>> = joined.collect();
                let joined = joined.filter(|all| {
                    all[0].0.len() <= MOST_WINDOWS
                        && all.iter().all(|case| form(case) == form(&all[0]))
                });
                let alone = || {
                    let each = cases.iter();
                    each.map(|&(value, to)| (windows(&[asked(value)]), number(to)))
                        .collect()
                };
                self.exact(&joined.unwrap_or_else(alone), number(*no))
            }
            Step::Search {
                word,
                mask,
                thresholds,
                targets,
            } => {
                let first = self.thresholds.len() as u32;
                self.thresholds.extend_from_slice(thresholds);
                let start = self.targets.len() as u32;
                self.targets
                    .extend(targets.iter().map(|&target| number(target)));
                Op::Search {
                    at: Place::of(*word),
                    mask: *mask,
                    first,
                    count: thresholds.len() as u32,
                    targets: start,
                }
            }
            Step::Many { vectors, rules, no } => {
                let rules = rules.iter();
                let rules = rules.map(|&(check, to)| (number(check), number(to)));
                self.many.push(Many {
                    vectors: Arc::clone(vectors),
                    rules: rules.collect(),
                    no: number(*no),
                });
                Op::Many(self.many.len() as u32 - 1)
            }
        }
    }

    /// A table of cases, which differ in the values of their windows only.
    fn exact(&mut self, cases: &[(Vec<Window>, Target)], no: Target) -> Op {
        let form = &cases[0].0;
        match form.len() {
            1 => Op::One(Exact::new(cases, no, &mut self.cases)),
            2 => Op::Two(Exact::new(cases, no, &mut self.cases)),
            _ => Op::Three(Exact::new(cases, no, &mut self.cases)),
        }
    }

    /// The step that a target is; none where it is an output.
    pub(crate) fn op(&self, target: Target) -> Option<&Op> {
        self.ops.get(target as usize)
    }

    /// The steps from `from` on, every branch being as likely as every other: a field that is
    /// loaded and compared is one, and so is a comparison of a search.
    pub(crate) fn expected_steps(&self, from: Target) -> f64 {
        self.expect(from, &mut vec![None; self.ops.len()])
    }

    fn expect(&self, from: Target, known: &mut Vec<Option<f64>>) -> f64 {
        let Some(op) = self.ops.get(from as usize) else {
            return 0.0;
        };
        if let Some(steps) = known[from as usize] {
            return steps;
        }
        let targets = match op {
            Op::One(exact) => exact.targets(&self.cases),
            Op::Two(exact) => exact.targets(&self.cases),
            Op::Three(exact) => exact.targets(&self.cases),
            &Op::Search { count, targets, .. } => {
                let all = self.targets.iter().skip(targets as usize);
                all.take(count as usize + 1).copied().collect()
            }
            &Op::Many(at) => {
                let many = &self.many[at as usize];
                let rules = many.rules.iter().map(|&(_, to)| to);
                rules.chain([many.no]).collect()
            }
        };
        let count = targets.len().max(1) as f64;
        let further: f64 = targets.into_iter().map(|to| self.expect(to, known)).sum();
        let steps = self.own_steps(op) + further / count;
        known[from as usize] = Some(steps);
        steps
    }

    /// Fields that a step loads and compares, and its comparisons.
    fn own_steps(&self, op: &Op) -> f64 {
        match op {
            Op::One(_) => 1.0,
            Op::Two(_) => 2.0,
            Op::Three(_) => 3.0,
            &Op::Search { count, .. } => 1.0 + comparisons(count as usize),
            &Op::Many(at) => {
                let vectors = &self.many[at as usize].vectors;
                let searches = vectors.columns().map(|lasts| 1.0 + comparisons(lasts));
                // Of each field the line in which the first rule stands is joined with the others'.
                searches.sum::<f64>() + vectors.columns().count() as f64
            }
        }
    }

    #[inline]
    fn look<const N: usize>(&self, exact: &Exact<N>, frame: &Frame<'_>) -> Target {
        exact.find(&self.cases, exact.windows(frame))
    }

    #[cfg(test)]
    pub(crate) fn has_vectors(&self) -> bool {
        !self.many.is_empty()
    }

    /// The memory of all tables.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        let of_many = |many: &Many| many.vectors.bytes() + size_of_val(&many.rules[..]);
        size_of_val(&self.ops[..])
            + size_of_val(&self.cases[..])
            + size_of_val(&self.thresholds[..])
            + size_of_val(&self.targets[..])
            + self.many.iter().map(of_many).sum::<usize>()
    }

    /// Follows the graph from `target` to an output.
    #[inline]
    pub(crate) fn run(&self, mut target: Target, frame: &Frame<'_>) -> Target {
        while let Some(op) = self.ops.get(target as usize) {
            target = self.next(op, frame);
        }
        target
    }

    /// The steps of that way, counted as by [`expected_steps`](Self::expected_steps).
    pub(crate) fn steps_of(&self, mut target: Target, frame: &Frame<'_>) -> f64 {
        let mut steps = 0.0;
        while let Some(op) = self.ops.get(target as usize) {
            steps += self.own_steps(op);
            target = self.next(op, frame);
        }
        steps
    }

    /// Where a step leads.
    #[inline]
    fn next(&self, op: &Op, frame: &Frame<'_>) -> Target {
        match op {
            Op::One(exact) => self.look(exact, frame),
            Op::Two(exact) => self.look(exact, frame),
            Op::Three(exact) => self.look(exact, frame),
            &Op::Search {
                at,
                mask,
                first,
                count,
                targets,
            } => {
                let word = frame.word(at) & mask;
                let all = self.thresholds.get(first as usize..).unwrap_or_default();
                let all = all.get(..count as usize).unwrap_or_default();
                let passed = if count == 1 {
                    usize::from(word > all[0])
                } else {
                    all.partition_point(|&threshold| threshold < word)
                };
                self.targets
                    .get(targets as usize + passed)
                    .copied()
                    .unwrap_or(DROP)
            }
            &Op::Many(at) => self.first(at, frame),
        }
    }

    /// Where the first rule leads that has all its bits, and whose check holds.
    #[inline(never)]
    fn first(&self, at: u32, frame: &Frame<'_>) -> Target {
        let Some(many) = self.many.get(at as usize) else {
            return DROP;
        };
        let found = many.vectors.first(frame, |rule| {
            let &(check, to) = many.rules.get(rule)?;
            (check == HOLDS || self.run(check, frame) == HOLDS).then_some(to)
        });
        found.unwrap_or(many.no)
    }
}

/// Of a binary search among so many thresholds.
fn comparisons(thresholds: usize) -> f64 {
    (thresholds as f64 + 1.0).log2().ceil()
}

/// The steps that can be reached, a step before those that it leads to where the graph allows.
fn reachable(steps: &[Step], roots: &[Target]) -> Vec<Target> {
    let mut seen = vec![false; steps.len()];
    let mut order = Vec::new();
    let mut waiting: Vec<Target> = roots.iter().rev().copied().collect();
    while let Some(target) = waiting.pop() {
        if target & OUTPUT != 0 || std::mem::replace(&mut seen[target as usize], true) {
            continue;
        }
        order.push(target);
        let first = waiting.len();
        steps[target as usize].targets(|to| waiting.push(to));
        waiting[first..].reverse();
    }
    order
}

impl Step {
    /// Every target of the step.
    pub(crate) fn targets(&self, mut each: impl FnMut(Target)) {
        match self {
            Step::Verify { yes, no, .. } => {
                each(*yes);
                each(*no);
            }
            Step::Switch { cases, no, .. } => {
                for &(_, to) in cases {
                    each(to);
                }
                each(*no);
            }
            Step::Search { targets, .. } => targets.iter().for_each(|&to| each(to)),
            Step::Many { rules, no, .. } => {
                for &(check, to) in rules {
                    each(check);
                    each(to);
                }
                each(*no);
            }
        }
    }
}
