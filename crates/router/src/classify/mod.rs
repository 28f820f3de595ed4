//! Rule sets compiled at load: which output does a packet leave by?
//!
//! Two languages, byte patterns (`pattern`) and filters (`language`, its clauses in `clause`),
//! become the same expressions over tests of words (`expr`); `compile` makes a decision graph of
//! all rules together, or `vectors` where they overlap too much for one; `run` follows it, and
//! `batches` for many packets. The first rule that matches decides; without one the packet is
//! dropped.
//!
//! ```
//! use trammel_router::classify::Program;
//! let arp_or_ip = ["12/0806", "12/0800"].map(String::from);
//! let program = Program::classifier(&arp_or_ip).expect("both patterns are well formed");
//! assert_eq!(program.run_bytes(b"......------\x08\x00..."), Some(1));
//! ```

mod batches;
mod clause;
mod compile;
mod expr;
mod frame;
mod in_order;
mod language;
mod listing;
pub mod names;
mod pattern;
mod quick_hash;
mod run;
mod spans;
mod tables;
#[cfg(test)]
mod tests;
mod vectors;

use crate::diagnostic::Diagnostics;
use clause::Faults;
use compile::{Compiler, DENIED, DROP, OUTPUT, Target};
use expr::{Arena, BASES, Base, Expr, Relation, Test};
use frame::Frame;
use names::Names;
use run::Machine;
use std::collections::{BTreeMap, BTreeSet};
use trammel_packet::packet::Packet;

/// What a rule does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It leaves by this output.
    Output(usize),
    /// It is dropped.
    Drop,
}

/// The bases that one language names: patterns the data, filters three headers.
const MOST_BASES: usize = 3;

/// Looks at a rule that a decision graph may cost: half a second, and what rules that do not
/// overlap need however many they are.
const LEAST_BUDGET: usize = 3_000_000;
const BUDGET_A_RULE: usize = 64;

/// A rule set, compiled.
#[derive(Clone, Debug)]
pub struct Program {
    machine: Machine,
    /// Where to start with a packet that has all bytes that the rules ask of, and with any other.
    whole: Target,
    short: Target,
    /// How many bytes the rules ask of from each base that they name; one is repeated where fewer
    /// are named.
    needs: [(Base, u32); MOST_BASES],
    outputs: BTreeSet<Target>,
    rules: usize,
    text: String,
    warnings: Diagnostics,
}

/// Rules as read.
#[derive(Debug, Default)]
struct Rules {
    arena: Arena,
    all: Vec<(Expr, Target)>,
}

impl Program {
    /// Classifier's patterns: a packet leaves by the output that has the number of its pattern.
    pub fn classifier(patterns: &[String]) -> Result<Program, Diagnostics> {
        let mut said = Diagnostics::new();
        Rules::of_patterns(patterns, &mut said).program(said)
    }

    /// Filters with their actions.
    pub fn ip(rules: &[(Action, String)], names: &dyn Names) -> Result<Program, Diagnostics> {
        let mut said = Diagnostics::new();
        Rules::of_filters(rules, names, &mut said).program(said)
    }

    /// IPFilter's arguments, quotes removed: `allow`, `deny`, `drop` or an output below `outputs`,
    /// then a filter.
    pub fn filter(
        arguments: &[String],
        outputs: usize,
        names: &dyn Names,
    ) -> Result<Program, Diagnostics> {
        let mut said = Diagnostics::new();
        let mut rules = Rules::default();
        for (at, argument) in arguments.iter().enumerate() {
            let words = language::split(argument);
            let Some((&slot, words)) = words.split_first() else {
                said.error(None, format!("empty pattern {at}"));
                continue;
            };
            let action = slot_action(slot, outputs).unwrap_or_else(|fault| {
                said.error(None, format!("pattern {at}: {fault}"));
                Action::Drop
            });
            rules.add_filter(at, action, words, names, &mut said);
        }
        rules.program(said)
    }

    /// The output of a packet; none where it is dropped. Filters need the network header marked.
    #[inline]
    pub fn run(&self, packet: &Packet) -> Option<usize> {
        output(self.decide(&Program::frame(packet)))
    }

    /// No output: no rule matches.
    pub const DROPPED: u32 = DROP & !OUTPUT;
    /// No output: a rule matches that drops the packet.
    pub const DENIED: u32 = DENIED & !OUTPUT;

    /// The output of bytes without marked headers.
    pub fn run_bytes(&self, data: &[u8]) -> Option<usize> {
        let mut starts = [u32::MAX; BASES];
        starts[Base::Data as usize] = 0;
        output(self.decide(&Frame {
            bytes: data,
            end: data.len() as u32,
            starts: &starts,
        }))
    }

    #[inline]
    fn frame(packet: &Packet) -> Frame<'_> {
        let starts = packet.starts();
        let end = starts[Base::Data as usize] + packet.len() as u32;
        Frame {
            bytes: packet.buffer(),
            end,
            starts,
        }
    }

    #[inline]
    fn decide(&self, frame: &Frame<'_>) -> Target {
        // A branch that is foreseen lets the look-ups start before the lengths are known.
        if frame.has(&self.needs) {
            self.machine.run(self.whole, frame)
        } else {
            self.decide_short(frame)
        }
    }

    #[cold]
    #[inline(never)]
    fn decide_short(&self, frame: &Frame<'_>) -> Target {
        self.machine.run(self.short, frame)
    }

    /// The rules' tests as a list of steps for people, in the order of the rules. It decides as the
    /// program does, which itself asks in another order and of several words at once.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Fields loaded and compared, and branches taken, for a packet that has all bytes that the
    /// rules ask of, if every branch of a step is as likely as every other.
    pub fn steps(&self) -> f64 {
        self.machine.expected_steps(self.whole)
    }

    /// The same for a packet.
    pub fn steps_of(&self, packet: &Packet) -> f64 {
        let frame = Program::frame(packet);
        let has_all = frame.has(&self.needs);
        self.machine
            .steps_of(if has_all { self.whole } else { self.short }, &frame)
    }

    /// How many rules it was made of.
    pub fn rules(&self) -> usize {
        self.rules
    }

    /// What was said of rules that are good but odd.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// The outputs, of those below `count`, that no packet leaves by.
    pub fn unused_outputs(&self, count: usize) -> impl Iterator<Item = usize> {
        (0..count).filter(|&at| !self.outputs.contains(&(at as Target | OUTPUT)))
    }
}

/// The output that a target is.
#[inline]
fn output(target: Target) -> Option<usize> {
    (target < DENIED).then_some((target & !OUTPUT) as usize)
}

fn target(action: Action) -> Target {
    match action {
        Action::Output(at) => u32::try_from(at).unwrap_or(DROP) | OUTPUT,
        Action::Drop => DENIED,
    }
}

/// What IPFilter's first word of a rule means.
fn slot_action(slot: &str, outputs: usize) -> Result<Action, String> {
    match (slot, slot.parse::<i64>()) {
        ("allow", _) if outputs == 0 => {
            Err("'allow' is meaningless, element has zero outputs".to_owned())
        }
        ("allow", _) => Ok(Action::Output(0)),
        ("deny" | "drop", _) => Ok(Action::Drop),
        (_, Ok(at)) => {
            let fits = usize::try_from(at).ok().filter(|at| *at < outputs);
            fits.map(Action::Output)
                .ok_or_else(|| format!("slot '{at}' out of range"))
        }
        _ => Err(format!("unknown slot ID '{slot}'")),
    }
}

impl Rules {
    fn of_patterns(patterns: &[String], said: &mut Diagnostics) -> Rules {
        let mut rules = Rules::default();
        for (slot, text) in patterns.iter().enumerate() {
            let expr = pattern::read(text, slot, &mut rules.arena, said);
            rules.all.push((expr, target(Action::Output(slot))));
        }
        rules
    }

    fn of_filters(
        filters: &[(Action, String)],
        names: &dyn Names,
        said: &mut Diagnostics,
    ) -> Rules {
        let mut rules = Rules::default();
        for (at, (action, text)) in filters.iter().enumerate() {
            rules.add_filter(at, *action, &language::split(text), names, said);
        }
        rules
    }

    fn add_filter(
        &mut self,
        at: usize,
        action: Action,
        words: &[&str],
        names: &dyn Names,
        said: &mut Diagnostics,
    ) {
        let faults = Faults { pattern: at, said };
        let expr = language::read(words, names, &mut self.arena, faults);
        self.all.push((expr, target(action)));
    }

    /// How many bytes the tests ask of from each base.
    fn needs(&self) -> Vec<(Base, u32)> {
        let mut needs = BTreeMap::new();
        let bases = [Base::Data, Base::Link, Base::Network, Base::Transport];
        for &(expr, _) in &self.all {
            self.arena.tests(expr, &mut |test: &Test| {
                if test.word.base == Base::Length && test.relation == Relation::Greater {
                    let need = needs
                        .entry(bases[test.word.offset as usize / 4])
                        .or_insert(0);
                    *need = (test.value + 1).max(*need);
                }
            });
        }
        needs.into_iter().collect()
    }

    fn program(self, said: Diagnostics) -> Result<Program, Diagnostics> {
        let most_work = LEAST_BUDGET + BUDGET_A_RULE * self.all.len();
        self.program_within(said, most_work)
    }

    /// With a budget for each decision graph, in looks at a rule.
    fn program_within(
        mut self,
        said: Diagnostics,
        most_work: usize,
    ) -> Result<Program, Diagnostics> {
        if said.has_errors() {
            return Err(said);
        }
        let needs = self.needs();
        let (steps, root) = in_order::steps(&self.arena, &self.all);
        let text = listing::text(&steps, root);
        let mut fast = Compiler::new(&mut self.arena, most_work);
        let whole = fast.root(&self.all, &needs);
        let short = fast.root(&self.all, &[]);
        // Without needs all packets are whole.
        let any = needs.first().copied().unwrap_or((Base::Data, 0));
        let needs = std::array::from_fn(|at| needs.get(at).copied().unwrap_or(any));
        let (machine, [whole, short]) = Machine::new(&fast.steps, [whole, short]);
        let mut outputs = BTreeSet::from([whole, short]);
        for step in &fast.steps {
            step.targets(|to| _ = outputs.insert(to));
        }
        Ok(Program {
            machine,
            whole,
            short,
            needs,
            outputs,
            rules: self.all.len(),
            text,
            warnings: said,
        })
    }
}
