//! The decision graph as it runs: flat tables, and bytes loaded from where the headers are.
//!
//! Equality is asked of the bytes as they lie in memory, in windows of eight, each loaded once: a verification
//! and a switch are one thing, a hash table of what one to three windows must be. A switch whose every
//! branch goes on to verify the same windows takes these into its own table, so that rules of one form
//! (protocol, address, port) cost one look-up together. Multipliers were chosen so that values do not
//! collide, where one was found.

use super::compile::{DROP, HOLDS, OUTPUT, Step, Target};
use super::expr::{BASES, Base, Relation, Test, Word};
use super::vectors::Vectors;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A packet as the graph sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    /// All bytes, from before the first header on; what lies behind the packet's end does not matter.
    pub(crate) bytes: &'a [u8],
    /// Where the packet ends.
    pub(crate) end: u32,
    /// Where each base starts; beyond the end for one that there is not.
    pub(crate) starts: &'a [u32; BASES],
}

impl Frame<'_> {
    /// How many bytes there are from a base on.
    pub(crate) fn available(&self, base: usize) -> u32 {
        self.end.saturating_sub(self.starts[base & (BASES - 1)])
    }

    /// Whether there are that many bytes from each base.
    #[inline]
    pub(crate) fn has(&self, needs: &[(Base, u32)]) -> bool {
        let end = u64::from(self.end);
        needs.iter().all(|&(base, bytes)| {
            let start = self.starts[base as usize & (BASES - 1)];
            u64::from(start) + u64::from(bytes) <= end
        })
    }

    #[inline]
    fn load<const N: usize>(&self, at: Place) -> [u8; N] {
        let first = self.starts[at.base as usize & (BASES - 1)] as usize + at.offset as usize;
        match self.bytes.get(first..first + N) {
            Some(window) => window.try_into().expect("a window of N bytes"),
            None => self.padded(first),
        }
    }

    /// Bytes of which some are not there, those being 0.
    #[cold]
    #[inline(never)]
    fn padded<const N: usize>(&self, first: usize) -> [u8; N] {
        std::array::from_fn(|i| self.bytes.get(first + i).copied().unwrap_or(0))
    }

    /// The word that a test means, in the network's order; bytes that are not there are 0.
    #[inline]
    pub(crate) fn word(&self, at: Place) -> u32 {
        if at.base as usize >= BASES {
            return self.available(at.offset as usize / 4);
        }
        u32::from_be_bytes(self.load(at))
    }
}

/// Where to load from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    base: u8,
    offset: u32,
}

impl Place {
    /// Where a word is, which does not start before its base.
    pub(crate) fn of(word: Word) -> Place {
        Place {
            base: word.base as u8,
            offset: word.offset.max(0) as u32,
        }
    }
}

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

/// Which of the cases from `first` on are the masked windows?
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exact<const N: usize> {
    at: [Place; N],
    mask: [u64; N],
    multiplier: u64,
    shift: u8,
    probes: u32,
    first: u32,
    no: Target,
}

impl<const N: usize> Exact<N> {
    /// The windows, not yet masked.
    #[inline]
    pub(crate) fn windows(&self, frame: &Frame<'_>) -> [u64; N] {
        std::array::from_fn(|i| u64::from_ne_bytes(frame.load(self.at[i])))
    }

    /// Where its windows start, if all start within `near` bytes of `base`.
    pub(crate) fn offsets_from(&self, base: Base, near: usize) -> Option<[usize; N]> {
        let is_near = |at: &Place| at.base == base as u8 && (at.offset as usize) < near;
        self.at
            .iter()
            .all(is_near)
            .then(|| self.at.map(|at| at.offset as usize))
    }
}

/// What windows must be, and where to go if they are.
#[derive(Clone, Copy, Debug)]
struct Case {
    value: [u64; MOST_WINDOWS],
    to: Target,
}

/// As many as a case has room for in half a cache line.
const MOST_WINDOWS: usize = 3;

/// Eight bytes and what they must be.
#[derive(Clone, Copy, Debug)]
struct Window {
    at: Place,
    mask: u64,
    value: u64,
}

/// The graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct Machine {
    ops: Vec<Op>,
    cases: Vec<Case>,
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
            1 => Op::One(self.exact_of(cases, no)),
            2 => Op::Two(self.exact_of(cases, no)),
            _ => Op::Three(self.exact_of(cases, no)),
        }
    }

    fn exact_of<const N: usize>(
        &mut self,
        cases: &[(Vec<Window>, Target)],
        no: Target,
    ) -> Exact<N> {
        let form = &cases[0].0;
        let all: Vec<([u64; N], Case)> = cases
            .iter()
            .map(|(windows, to)| {
                let value = std::array::from_fn(|i| windows[i].value);
                let room = std::array::from_fn(|i| windows.get(i).map_or(0, |w| w.value));
                (
                    value,
                    Case {
                        value: room,
                        to: *to,
                    },
                )
            })
            .collect();
        let table = Table::new(&all, no);
        let first = self.cases.len() as u32;
        self.cases.extend(table.slots);
        Exact {
            at: std::array::from_fn(|i| form[i].at),
            mask: std::array::from_fn(|i| form[i].mask),
            multiplier: table.multiplier,
            shift: table.shift,
            probes: table.probes,
            first,
            no,
        }
    }

    /// The table, or whatever it is, that a target is.
    pub(crate) fn op(&self, target: Target) -> Option<&Op> {
        self.ops.get(target as usize)
    }

    /// Where a table leads that finds these windows.
    #[inline]
    pub(crate) fn find<const N: usize>(&self, exact: &Exact<N>, windows: [u64; N]) -> Target {
        let windows: [u64; N] = std::array::from_fn(|i| windows[i] & exact.mask[i]);
        let mut place = exact.first as usize + hash(&windows, exact.multiplier, exact.shift);
        let mut probes = exact.probes;
        loop {
            let Some(case) = self.cases.get(place) else {
                return exact.no;
            };
            let wrong = (0..N).fold(0, |wrong, i| wrong | (windows[i] ^ case.value[i]));
            if wrong == 0 {
                return case.to;
            }
            probes -= 1;
            if probes == 0 {
                return exact.no;
            }
            place += 1;
        }
    }

    #[inline]
    fn look<const N: usize>(&self, exact: &Exact<N>, frame: &Frame<'_>) -> Target {
        self.find(exact, exact.windows(frame))
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
            target = match op {
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
            };
        }
        target
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

/// The slot of these windows.
#[inline]
fn hash<const N: usize>(windows: &[u64; N], multiplier: u64, shift: u8) -> usize {
    let mixed = windows
        .iter()
        .fold(0, |mixed: u64, window| mixed.rotate_left(29) ^ window);
    (mixed.wrapping_mul(multiplier) >> (shift & 63)) as usize
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

/// Gathers tests of equality into windows of eight bytes.
fn windows(tests: &[Test]) -> Vec<Window> {
    let mut bytes: BTreeMap<(Base, i32), (u8, u8)> = BTreeMap::new();
    let mut windows = Vec::new();
    for test in tests {
        let both = test
            .mask
            .to_be_bytes()
            .into_iter()
            .zip(test.value.to_be_bytes());
        for (i, (mask, value)) in both.enumerate().filter(|(_, (mask, _))| *mask != 0) {
            let byte = bytes
                .entry((test.word.base, test.word.offset + i as i32))
                .or_default();
            // Two tests of the same bits that cannot both hold: a window that nothing passes.
            if (byte.1 ^ value) & byte.0 & mask != 0 {
                windows.push(Window {
                    at: Place::default(),
                    mask: 0,
                    value: 1,
                });
            }
            *byte = (byte.0 | mask, byte.1 | value);
        }
    }
    while let Some((&(base, first), _)) = bytes.first_key_value() {
        let (mut mask, mut value) = ([0; 8], [0; 8]);
        let within: Vec<(Base, i32)> = bytes
            .range((base, first)..(base, first + 8))
            .map(|(&at, _)| at)
            .collect();
        for at in within {
            let place = (at.1 - first) as usize;
            (mask[place], value[place]) = bytes.remove(&at).unwrap_or_default();
        }
        windows.push(Window {
            at: Place {
                base: base as u8,
                offset: first as u32,
            },
            mask: u64::from_ne_bytes(mask),
            value: u64::from_ne_bytes(value),
        });
    }
    windows
}

/// Tables that need more are not considered.
const MOST_PROBES: u32 = 255;

/// A hash table with open addressing; a search looks at `probes` slots.
struct Table {
    multiplier: u64,
    shift: u8,
    probes: u32,
    slots: Vec<Case>,
}

impl Table {
    /// The table with the fewest probes among some hundreds; then the smallest.
    fn new<const N: usize>(cases: &[([u64; N], Case)], no: Target) -> Table {
        let least = (cases.len() as u32)
            .next_power_of_two()
            .trailing_zeros()
            .max(1);
        let tries = if cases.len() > 1024 { 8 } else { 256 };
        let mut best: Option<Table> = None;
        let mut multiplier = 0x9e37_79b9_7f4a_7c15_u64;
        for bits in least..least + 4 {
            for _ in 0..tries {
                let enough = best.as_ref().map_or(MOST_PROBES, |best| best.probes - 1);
                best = Table::with(cases, no, multiplier, bits, enough).or(best);
                // Knuth's MMIX step; an odd multiplier loses no bit.
                multiplier = multiplier
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407)
                    | 1;
                if best.as_ref().is_some_and(|best| best.probes == 1) {
                    break;
                }
            }
        }
        best.unwrap_or_else(|| {
            // Values that no multiplier parts: all in a row.
            let slots = cases.iter().map(|(_, case)| *case).collect();
            Table {
                multiplier: 0,
                shift: 63,
                probes: cases.len() as u32,
                slots,
            }
        })
    }

    /// With this multiplier, if no value needs more probes than `enough`.
    fn with<const N: usize>(
        cases: &[([u64; N], Case)],
        no: Target,
        multiplier: u64,
        bits: u32,
        enough: u32,
    ) -> Option<Table> {
        let shift = 64 - bits as u8;
        // Slots beyond the last are for the values that overflow it.
        let mut slots = vec![None; (1 << bits) + enough as usize];
        let mut probes = 1;
        for (value, case) in cases {
            let home = hash(value, multiplier, shift);
            let place = (home..home + enough as usize).find(|&at| slots[at].is_none())?;
            slots[place] = Some(*case);
            probes = probes.max(place - home + 1);
        }
        slots.truncate((1 << bits) + probes - 1);
        // A vacant slot repeats a value: whoever looks for that has found it in a slot before, or starts
        // behind.
        let vacant = Case {
            to: no,
            ..cases[0].1
        };
        let slots = slots
            .into_iter()
            .map(|slot| slot.unwrap_or(vacant))
            .collect();
        Some(Table {
            multiplier,
            shift,
            probes: probes as u32,
            slots,
        })
    }
}
