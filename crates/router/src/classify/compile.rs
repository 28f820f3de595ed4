//! From rules to a decision graph.
//!
//! What is still to decide is a *state*: the rules that may yet match, in order, each with what is
//! left to ask of it. From a state the compiler picks the word that divides the rules best, makes a
//! branch for each of its values, and in each branch strikes out what is then known; equal states
//! are one node. The word that divides best is the one whose worst branch keeps the fewest rules,
//! as in HiCuts (Gupta and McKeown, 1999), but with values and thresholds in the place of equal
//! cuts.
//!
//! ```text
//! 19 × `udp && dst host 10.1.i.2 && dst port 1000+i`:
//!   switch on the destination (19 values) → verify protocol, fragment and port at once → output
//! ```
//! Rules that overlap in many ways could need very many states. Work is therefore counted, and
//! where a budget is spent the graph is given up for bit vectors of the fields (`vectors`), whose
//! size is that of the rules.

use super::expr::{Arena, Base, Expr, Fact, Relation, Shape, Test, Word};
use super::quick_hash::{QuickMap, QuickSet};
use super::vectors::{Cutter, MOST_RULES, Vectors};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasherDefault;
use std::sync::Arc;

/// Where to go: the number of a step, or an output with [`OUTPUT`] set.
pub(crate) type Target = u32;
/// The bit that tells an output from a step.
pub(crate) const OUTPUT: Target = 1 << 31;
/// The packet matches no rule.
pub(crate) const DROP: Target = u32::MAX;
/// It matches one that drops it.
pub(crate) const DENIED: Target = u32::MAX - 2;
/// What is left to check of a rule holds.
pub(crate) const HOLDS: Target = u32::MAX - 1;

/// Branches nested before the graph is given up: the compiler recurses.
const DEEPEST: usize = 200;

/// A node of the graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// All of these tests of equality hold?
    Verify {
        tests: Vec<Test>,
        yes: Target,
        no: Target,
    },
    /// Which of these sorted values is the masked word?
    Switch {
        word: Word,
        mask: u32,
        cases: Vec<(u32, Target)>,
        no: Target,
    },
    /// How many of these sorted thresholds is the masked word greater than?
    Search {
        word: Word,
        mask: u32,
        thresholds: Vec<u32>,
        targets: Vec<Target>,
    },
    /// Which is the first of these rules that has all its bits, and whose check leads to [`HOLDS`]?
    /// Of each rule its check, and where it leads.
    Many {
        vectors: Arc<Vectors>,
        rules: Vec<(Target, Target)>,
        no: Target,
    },
}

/// What is still to decide.
type State = Vec<(Expr, Target)>;

/// A way to divide the rules: words of this mask by their values or by thresholds.
struct Cut {
    word: Word,
    mask: u32,
    by_value: bool,
    /// For each value, or threshold: nothing more than itself.
    points: Vec<u32>,
    /// Rules in the worst branch, then in the mean and the default one: the fewer the better.
    rank: (usize, usize),
}

/// Makes the graph.
pub(crate) struct Compiler<'a> {
    arena: &'a mut Arena,
    /// The nodes.
    pub(crate) steps: Vec<Step>,
    numbers: QuickMap<Step, Target>,
    states: QuickMap<State, Target>,
    /// Rules and tests looked at, over all states, and how many may be.
    work: usize,
    most_work: usize,
    /// The budget was not enough for one root: it will not be for the next.
    is_vast: bool,
}

impl<'a> Compiler<'a> {
    /// Nothing made. A root may cost `most_work` looks at a rule.
    pub(crate) fn new(arena: &'a mut Arena, most_work: usize) -> Compiler<'a> {
        Compiler {
            arena,
            steps: Vec::new(),
            numbers: QuickMap::default(),
            states: QuickMap::default(),
            work: 0,
            most_work,
            is_vast: false,
        }
    }

    /// Makes the nodes that decide these rules, of packets that have at least `needs` bytes from
    /// each base.
    pub(crate) fn root(&mut self, rules: &[(Expr, Target)], needs: &[(Base, u32)]) -> Target {
        let mut state = rules.to_vec();
        for &(base, bytes) in needs {
            let word = Word {
                base: Base::Length,
                offset: 4 * base as i32,
            };
            let fact = Fact::Within {
                mask: u32::MAX,
                low: bytes,
                high: u32::MAX,
            };
            state = self.given(&state, word, fact);
        }
        let before = self.steps.len();
        self.work = 0;
        let built = if self.is_vast {
            None
        } else {
            self.build(state.clone(), 0)
        };
        built.unwrap_or_else(|| {
            self.is_vast = true;
            self.steps.truncate(before);
            self.numbers.clear();
            self.states.clear();
            self.many(state)
        })
    }

    /// The rules by their vectors.
    fn many(&mut self, state: State) -> Target {
        let mut state = Self::settle(state);
        let (_, mut no) = state.pop().unwrap_or((Expr::TRUE, DROP));
        let mut cutter = Cutter::new(self.arena, &state);
        let mut rules = Vec::with_capacity(state.len());
        for &(expr, to) in &state {
            cutter.cut(expr, to, &mut rules);
        }
        let parts = rules.chunks(MOST_RULES);
        let parts: Vec<_> = parts.map(|part| (cutter.vectors(part), part)).collect();
        for (vectors, part) in parts.into_iter().rev() {
            let checks = part.iter();
            let checks = checks.map(|rule| (self.link(rule.check, HOLDS, DROP), rule.to));
            let rules = checks.collect();
            self.steps.push(Step::Many {
                vectors: Arc::new(vectors),
                rules,
                no,
            });
            no = self.steps.len() as Target - 1;
        }
        no
    }

    fn given(&mut self, state: &[(Expr, Target)], word: Word, fact: Fact<'_>) -> State {
        let mut done = QuickMap::default();
        self.work += state.len();
        let left = state
            .iter()
            .map(|&(expr, output)| (self.arena.given(expr, word, fact, &mut done), output));
        left.collect()
    }

    /// Strikes out rules that cannot matter.
    fn settle(state: State) -> State {
        let mut settled: State = Vec::with_capacity(state.len());
        let mut seen =
            QuickSet::with_capacity_and_hasher(state.len(), BuildHasherDefault::default());
        for (expr, output) in state {
            if expr != Expr::FALSE && seen.insert(expr) {
                settled.push((expr, output));
            }
            if expr == Expr::TRUE {
                break;
            }
        }
        // Without a rule for all the rest, the rest is dropped.
        let rest = match settled.last() {
            Some(&(Expr::TRUE, output)) => {
                settled.pop();
                output
            }
            _ => DROP,
        };
        while settled.last().is_some_and(|&(_, output)| output == rest) {
            settled.pop();
        }
        settled.push((Expr::TRUE, rest));
        settled
    }

    /// The target that decides what is left; none where the budget is spent.
    fn build(&mut self, state: State, depth: usize) -> Option<Target> {
        let state = Self::settle(state);
        if let [(_, output)] = state[..] {
            return Some(output);
        }
        if let Some(&target) = self.states.get(&state) {
            return Some(target);
        }
        if self.work > self.most_work || depth > DEEPEST {
            return None;
        }
        let rules = &state[..state.len() - 1];
        let target = if let Some(test) = self.decisive(&state) {
            self.ask(&state, test, depth)?
        } else if let Some(cut) = self.best_cut(rules) {
            if cut.by_value {
                self.switch(&state, &cut, depth)?
            } else {
                self.search(&state, &cut, depth)?
            }
        } else {
            let first = self.first_test(rules[0].0);
            self.ask(&state, first, depth)?
        };
        self.states.insert(state, target);
        Some(target)
    }

    /// A test that the one rule needs that does not do what is done without it: where that rule
    /// fails, the others do not matter. So a firewall that allows one thing looks for this thing
    /// first.
    fn decisive(&self, state: &[(Expr, Target)]) -> Option<Test> {
        let (&(_, rest), rules) = state.split_last()?;
        let mut others = rules.iter().filter(|&&(_, output)| output != rest);
        let &(expr, _) = others.next()?;
        if others.next().is_some() {
            return None;
        }
        let mut tests = self.arena.necessary(expr);
        let is_plain = |test: &Test| test.relation == Relation::Equal;
        let found = tests.find(|(test, is_opposite)| !is_opposite && is_plain(test));
        found.map(|(test, _)| *test)
    }

    fn first_test(&self, expr: Expr) -> Test {
        match self.arena.shape(expr) {
            Shape::Test(test) => *test,
            Shape::Not(inner) => self.first_test(*inner),
            Shape::And(parts) | Shape::Or(parts) => self.first_test(parts[0]),
            Shape::True | Shape::False => unreachable!("a settled rule asks something"),
        }
    }

    /// A branch on one test.
    fn ask(&mut self, state: &[(Expr, Target)], test: Test, depth: usize) -> Option<Target> {
        let Test {
            word,
            mask,
            relation,
            value,
        } = test;
        let (yes, no) = match relation {
            Relation::Equal => {
                let no = if mask.is_power_of_two() {
                    Fact::Is {
                        mask,
                        value: value ^ mask,
                    }
                } else {
                    Fact::NoneOf {
                        mask,
                        values: &[value],
                    }
                };
                let no = self.given(state, word, no);
                (self.given(state, word, Fact::Is { mask, value }), no)
            }
            Relation::Greater => {
                let no = self.given(
                    state,
                    word,
                    Fact::Within {
                        mask,
                        low: 0,
                        high: value,
                    },
                );
                let yes = Fact::Within {
                    mask,
                    low: value + 1,
                    high: mask,
                };
                (self.given(state, word, yes), no)
            }
        };
        let no = self.build(no, depth + 1)?;
        let yes = self.build(yes, depth + 1)?;
        Some(self.branch(test, yes, no))
    }

    /// A node for one test; tests in a row that go astray alike are verified together.
    fn branch(&mut self, test: Test, yes: Target, no: Target) -> Target {
        if yes == no {
            return yes;
        }
        if test.relation == Relation::Greater {
            return self.add(Step::Search {
                word: test.word,
                mask: test.mask,
                thresholds: vec![test.value],
                targets: vec![no, yes],
            });
        }
        let mut tests = vec![test];
        let mut after = yes;
        if yes & OUTPUT == 0
            && let Step::Verify {
                tests: further,
                yes: last,
                no: other,
            } = &self.steps[yes as usize]
            && *other == no
            && further.len() < 16
        {
            tests.extend_from_slice(further);
            after = *last;
        }
        self.add(Step::Verify {
            tests,
            yes: after,
            no,
        })
    }

    fn add(&mut self, step: Step) -> Target {
        if let Some(&number) = self.numbers.get(&step) {
            return number;
        }
        let number = self.steps.len() as Target;
        self.steps.push(step.clone());
        self.numbers.insert(step, number);
        number
    }

    /// A branch for each value of a word.
    fn switch(&mut self, state: &[(Expr, Target)], cut: &Cut, depth: usize) -> Option<Target> {
        let &Cut {
            word,
            mask,
            ref points,
            ..
        } = cut;
        // Rules that need a value are in its branch alone; the others are in all.
        let mut keyed: QuickMap<u32, Vec<usize>> = QuickMap::default();
        let mut all = Vec::new();
        for (at, &(expr, _)) in state.iter().enumerate() {
            let key = self.key(expr, word, mask);
            match key {
                Some(key) => keyed.entry(key).or_default().push(at),
                None => all.push(at),
            }
        }
        let others: State = all.iter().map(|&at| state[at]).collect();
        let no = self.given(
            &others,
            word,
            Fact::NoneOf {
                mask,
                values: points,
            },
        );
        let no = self.build(no, depth + 1)?;
        let mut cases = Vec::with_capacity(points.len());
        for &value in points {
            let mut at = all.clone();
            at.extend(keyed.get(&value).into_iter().flatten());
            at.sort_unstable();
            let rules: State = at.iter().map(|&at| state[at]).collect();
            let rules = self.given(&rules, word, Fact::Is { mask, value });
            cases.push((value, self.build(rules, depth + 1)?));
        }
        cases.retain(|&(_, target)| target != no);
        Some(match cases[..] {
            [] => no,
            [(value, yes)] => {
                let test = Test {
                    word,
                    mask,
                    relation: Relation::Equal,
                    value,
                };
                self.branch(test, yes, no)
            }
            _ => self.add(Step::Switch {
                word,
                mask,
                cases,
                no,
            }),
        })
    }

    /// The value that a rule needs under a mask.
    fn key(&self, expr: Expr, word: Word, mask: u32) -> Option<u32> {
        self.arena.necessary(expr).find_map(|(test, is_opposite)| {
            let is_key = !is_opposite
                && test.relation == Relation::Equal
                && test.word == word
                && mask & !test.mask == 0;
            is_key.then_some(test.value & mask)
        })
    }

    /// A branch for each interval of a word.
    fn search(&mut self, state: &[(Expr, Target)], cut: &Cut, depth: usize) -> Option<Target> {
        let &Cut {
            word,
            mask,
            ref points,
            ..
        } = cut;
        let mut thresholds = Vec::new();
        let mut targets: Vec<Target> = Vec::new();
        let mut low = 0;
        for high in points.iter().copied().chain([mask]) {
            let left = self.given(state, word, Fact::Within { mask, low, high });
            let target = self.build(left, depth + 1)?;
            if targets.last() == Some(&target) {
                thresholds.pop();
            } else {
                targets.push(target);
            }
            thresholds.push(high);
            low = high.wrapping_add(1);
        }
        thresholds.pop();
        Some(match targets[..] {
            [target] => target,
            _ => self.add(Step::Search {
                word,
                mask,
                thresholds,
                targets,
            }),
        })
    }

    /// The cut that leaves the fewest rules; none where nothing has two values or more.
    fn best_cut(&mut self, rules: &[(Expr, Target)]) -> Option<Cut> {
        if rules.len() < 2 {
            return None;
        }
        let mut by_word: BTreeMap<Word, Vec<(usize, Test, bool)>> = BTreeMap::new();
        for (at, &(expr, _)) in rules.iter().enumerate() {
            for (&test, is_opposite) in self.arena.necessary(expr) {
                by_word
                    .entry(test.word)
                    .or_default()
                    .push((at, test, is_opposite));
            }
        }
        let mut best: Option<Cut> = None;
        for (&word, tests) in &by_word {
            let masks: BTreeSet<(u32, Relation)> = tests
                .iter()
                .map(|(_, test, _)| (test.mask, test.relation))
                .collect();
            for (mask, relation) in masks {
                self.work += tests.len();
                let cut = match relation {
                    Relation::Equal => by_values(rules.len(), word, mask, tests),
                    Relation::Greater => by_thresholds(rules.len(), word, mask, tests),
                };
                if let Some(cut) = cut
                    && best.as_ref().is_none_or(|best| cut.rank < best.rank)
                {
                    best = Some(cut);
                }
            }
        }
        best.or_else(|| self.any_cut(rules))
    }

    /// The cut with the most values that any test asks for, be it within an `or`.
    fn any_cut(&self, rules: &[(Expr, Target)]) -> Option<Cut> {
        let mut values: BTreeMap<(Word, u32), BTreeSet<u32>> = BTreeMap::new();
        for &(expr, _) in rules {
            self.arena.tests(expr, &mut |test| {
                if test.relation == Relation::Equal {
                    values
                        .entry((test.word, test.mask))
                        .or_default()
                        .insert(test.value);
                }
            });
        }
        let mut best: Option<(Word, u32, BTreeSet<u32>)> = None;
        for ((word, mask), values) in values {
            if values.len() > best.as_ref().map_or(1, |(_, _, best)| best.len()) {
                best = Some((word, mask, values));
            }
        }
        let (word, mask, values) = best?;
        let points = values.into_iter().collect();
        Some(Cut {
            word,
            mask,
            by_value: true,
            points,
            rank: (rules.len(), 0),
        })
    }

    /// The tests of an expression, one after the other.
    fn link(&mut self, expr: Expr, yes: Target, no: Target) -> Target {
        match self.arena.shape(expr).clone() {
            Shape::True => yes,
            Shape::False => no,
            Shape::Test(test) => self.branch(test, yes, no),
            Shape::Not(inner) => self.link(inner, no, yes),
            Shape::And(parts) => parts
                .iter()
                .rev()
                .fold(yes, |next, &part| self.link(part, next, no)),
            Shape::Or(parts) => parts
                .iter()
                .rev()
                .fold(no, |next, &part| self.link(part, yes, next)),
        }
    }
}

fn rank(worst: usize, default: usize, sum: usize, branches: usize) -> (usize, usize) {
    // The mean counts for sixteenths, so that it stays an integer.
    (worst, 16 * default + 16 * sum / branches)
}

/// The cut by the values under `mask`, of those of `count` rules that need one.
fn by_values(count: usize, word: Word, mask: u32, tests: &[(usize, Test, bool)]) -> Option<Cut> {
    let mut sizes: BTreeMap<u32, usize> = BTreeMap::new();
    let mut last = None;
    let mut keyed = 0;
    for &(rule, test, is_opposite) in tests {
        let is_key = !is_opposite && test.relation == Relation::Equal && mask & !test.mask == 0;
        if is_key && last != Some(rule) {
            *sizes.entry(test.value & mask).or_default() += 1;
            last = Some(rule);
            keyed += 1;
        }
    }
    if sizes.len() < 2 {
        return None;
    }
    let others = count - keyed;
    let worst = others + sizes.values().max().copied().unwrap_or(0);
    let sum = keyed + others * (sizes.len() + 1);
    let rank = rank(worst, others, sum, sizes.len() + 1);
    let points = sizes.into_keys().collect();
    Some(Cut {
        word,
        mask,
        by_value: true,
        points,
        rank,
    })
}

/// The cut by the thresholds under `mask`, of those of `count` rules that need one.
fn by_thresholds(
    count: usize,
    word: Word,
    mask: u32,
    tests: &[(usize, Test, bool)],
) -> Option<Cut> {
    let mut points = BTreeSet::new();
    let mut bounds: BTreeMap<usize, (u32, u32)> = BTreeMap::new();
    for &(rule, test, is_opposite) in tests {
        if test.mask != mask {
            continue;
        }
        let (low, high) = match (test.relation, is_opposite) {
            (Relation::Greater, false) => (test.value + 1, mask),
            (Relation::Greater, true) => (0, test.value),
            (Relation::Equal, false) => (test.value, test.value),
            (Relation::Equal, true) => continue,
        };
        points.extend(low.checked_sub(1));
        points.insert(high);
        let bound = bounds.entry(rule).or_insert((0, mask));
        *bound = (bound.0.max(low), bound.1.min(high));
    }
    points.remove(&mask);
    let points: Vec<u32> = points.into_iter().collect();
    if points.is_empty() {
        return None;
    }
    let others = count - bounds.len();
    let mut starts = vec![0_isize; points.len() + 2];
    for (low, high) in bounds.into_values().filter(|(low, high)| low <= high) {
        starts[points.partition_point(|&point| point < low)] += 1;
        starts[points.partition_point(|&point| point < high) + 1] -= 1;
    }
    let mut open = 0;
    let (mut worst, mut sum) = (0, 0);
    for change in &starts[..=points.len()] {
        open += change;
        worst = worst.max(open as usize);
        sum += open as usize;
    }
    let branches = points.len() + 1;
    if worst + others == count {
        return None;
    }
    let rank = rank(others + worst, others, sum + others * branches, branches);
    Some(Cut {
        word,
        mask,
        by_value: false,
        points,
        rank,
    })
}
