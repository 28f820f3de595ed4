//! The decision graph as it runs: flat tables, and words loaded from where the headers are.
//!
//! Equality is asked of the bytes as they lie in memory. A verification gathers its tests into windows of
//! eight bytes, each loaded once; a window ends where its last test does, so that it lies within the packet
//! wherever the tests do (it may begin in the header before). A switch is a hash table whose multiplier was
//! chosen so that no two of its values collide, where one was found.

use super::compile::{DROP, OUTPUT, Step, Target};
use super::expr::{BASES, Base, Relation, Test, Word};
use std::collections::BTreeMap;

/// A packet as the graph sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    /// All bytes, from before the first header to the end of the packet.
    pub(crate) bytes: &'a [u8],
    /// Where each base starts; beyond the end for one that there is not.
    pub(crate) starts: [u32; BASES],
}

impl Frame<'_> {
    /// How many bytes there are from a base on.
    pub(crate) fn available(&self, base: usize) -> u32 {
        let start = self.starts[base & (BASES - 1)] as usize;
        self.bytes.len().saturating_sub(start) as u32
    }

    #[inline(always)]
    fn load<const N: usize>(&self, at: Place) -> [u8; N] {
        let first = (self.starts[at.base as usize & (BASES - 1)] as usize)
            .wrapping_add_signed(at.offset as isize);
        match self.bytes.windows(N).nth(first) {
            Some(window) => window.try_into().expect("a window of N bytes"),
            None => self.padded(first),
        }
    }

    /// Bytes of which some are not there, those being 0.
    #[cold]
    #[inline(never)]
    fn padded<const N: usize>(&self, first: usize) -> [u8; N] {
        std::array::from_fn(|i| self.bytes.get(first.wrapping_add(i)).copied().unwrap_or(0))
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
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    base: u8,
    offset: i32,
}

impl From<Word> for Place {
    fn from(word: Word) -> Place {
        Place {
            base: word.base as u8,
            offset: word.offset,
        }
    }
}

/// A step with its tables elsewhere. Masks are as the bytes lie in memory, but for `Search`.
#[derive(Clone, Copy, Debug)]
enum Op {
    Verify {
        at: Place,
        mask: u64,
        value: u64,
        further: u32,
        count: u32,
        yes: Target,
        no: Target,
    },
    Switch {
        at: Place,
        mask: u32,
        multiplier: u32,
        shift: u8,
        probes: u32,
        first: u32,
        no: Target,
    },
    Search {
        at: Place,
        mask: u32,
        first: u32,
        count: u32,
        targets: u32,
    },
}

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
    windows: Vec<Window>,
    cases: Vec<(u32, Target)>,
    thresholds: Vec<u32>,
    targets: Vec<Target>,
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
        for &old in &order {
            let op = machine.lay(&steps[old as usize], &number);
            machine.ops.push(op);
        }
        (machine, roots.map(number))
    }

    fn lay(&mut self, step: &Step, number: &impl Fn(Target) -> Target) -> Op {
        match step {
            Step::Verify { tests, yes, no } => {
                let windows = windows(tests);
                let (first, further) = windows.split_first().expect("a step verifies something");
                let start = self.windows.len() as u32;
                self.windows.extend_from_slice(further);
                Op::Verify {
                    at: first.at,
                    mask: first.mask,
                    value: first.value,
                    further: start,
                    count: further.len() as u32,
                    yes: number(*yes),
                    no: number(*no),
                }
            }
            Step::Switch {
                word,
                mask,
                cases,
                no,
            } => {
                let no = number(*no);
                let cases: Vec<(u32, Target)> = cases
                    .iter()
                    .map(|&(value, to)| (in_memory(value), number(to)))
                    .collect();
                let first = self.cases.len() as u32;
                let table = Table::new(&cases, no);
                self.cases.extend(table.slots);
                Op::Switch {
                    at: (*word).into(),
                    mask: in_memory(*mask),
                    multiplier: table.multiplier,
                    shift: table.shift,
                    probes: table.probes,
                    first,
                    no,
                }
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
                    at: (*word).into(),
                    mask: *mask,
                    first,
                    count: thresholds.len() as u32,
                    targets: start,
                }
            }
        }
    }

    /// Follows the graph from `target` to an output.
    #[inline]
    pub(crate) fn run(&self, mut target: Target, frame: &Frame<'_>) -> Target {
        while let Some(op) = self.ops.get(target as usize) {
            target = match *op {
                Op::Verify {
                    at,
                    mask,
                    value,
                    further,
                    count,
                    yes,
                    no,
                } => {
                    let differs =
                        |at, mask, value| (u64::from_ne_bytes(frame.load(at)) & mask) ^ value;
                    let mut wrong = differs(at, mask, value);
                    let further = self.windows.get(further as usize..).unwrap_or_default();
                    for window in further.iter().take(count as usize) {
                        wrong |= differs(window.at, window.mask, window.value);
                    }
                    if wrong == 0 { yes } else { no }
                }
                Op::Switch {
                    at,
                    mask,
                    multiplier,
                    shift,
                    probes,
                    first,
                    no,
                } => {
                    let word = u32::from_ne_bytes(frame.load(at)) & mask;
                    let home = first + (word.wrapping_mul(multiplier) >> shift);
                    let mut found = no;
                    for place in home..home + probes {
                        let (value, to) =
                            self.cases.get(place as usize).copied().unwrap_or((0, no));
                        if value == word {
                            found = to;
                            break;
                        }
                    }
                    found
                }
                Op::Search {
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
            };
        }
        target
    }
}

/// A value in the network's order as a word loaded from memory is.
fn in_memory(value: u32) -> u32 {
    u32::from_ne_bytes(value.to_be_bytes())
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
                cases.iter().for_each(|&(_, to)| each(to));
                each(*no);
            }
            Step::Search { targets, .. } => targets.iter().for_each(|&to| each(to)),
        }
    }
}

/// Gathers tests of equality into windows of eight bytes, from the last byte back.
fn windows(tests: &[Test]) -> Vec<Window> {
    let mut bytes: BTreeMap<(Base, i32), (u8, u8)> = BTreeMap::new();
    let mut clash = Vec::new();
    for test in tests {
        debug_assert_eq!(test.relation, Relation::Equal);
        let both = test
            .mask
            .to_be_bytes()
            .into_iter()
            .zip(test.value.to_be_bytes());
        for (i, (mask, value)) in both.enumerate().filter(|(_, (mask, _))| *mask != 0) {
            let at = (test.word.base, test.word.offset + i as i32);
            let byte = bytes.entry(at).or_default();
            // Two tests of the same bits that cannot both hold: a window that nothing passes.
            if (byte.1 ^ value) & byte.0 & mask != 0 {
                clash.push(Window {
                    at: test.word.into(),
                    mask: 0,
                    value: 1,
                });
            }
            *byte = (byte.0 | mask, byte.1 | value);
        }
    }
    let mut windows = clash;
    while let Some((&(base, last), _)) = bytes.last_key_value() {
        let first = last - 7;
        let (mut mask, mut value) = ([0; 8], [0; 8]);
        for (_, at) in bytes
            .range((base, first)..)
            .map(|(&at, _)| at)
            .collect::<Vec<_>>()
        {
            let byte = bytes.remove(&(base, at)).unwrap_or_default();
            (mask[(at - first) as usize], value[(at - first) as usize]) = byte;
        }
        windows.push(Window {
            at: Place {
                base: base as u8,
                offset: first,
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
    multiplier: u32,
    shift: u8,
    probes: u32,
    slots: Vec<(u32, Target)>,
}

impl Table {
    /// The table with the fewest probes among some hundreds; then the smallest.
    fn new(cases: &[(u32, Target)], no: Target) -> Table {
        let least = (cases.len() as u32 + 1)
            .next_power_of_two()
            .trailing_zeros();
        let tries = if cases.len() > 1024 { 8 } else { 256 };
        let mut best: Option<Table> = None;
        for bits in least..(least + 4).min(28) {
            let mut multiplier = 0x9e37_79b9_u32;
            for _ in 0..tries {
                let enough = best.as_ref().map_or(MOST_PROBES, |best| best.probes - 1);
                if let Some(table) = Table::with(cases, no, multiplier, bits, enough) {
                    best = Some(table);
                }
                if best.as_ref().is_some_and(|best| best.probes == 1) {
                    break;
                }
                // Knuth's MMIX step, its high half made odd.
                let next = u64::from(multiplier).wrapping_mul(6_364_136_223_846_793_005);
                multiplier = (next.wrapping_add(1_442_695_040_888_963_407) >> 32) as u32 | 1;
            }
        }
        best.unwrap_or_else(|| Table::list(cases))
    }

    /// With this multiplier, if no value needs more probes than `enough`.
    fn with(
        cases: &[(u32, Target)],
        no: Target,
        multiplier: u32,
        bits: u32,
        enough: u32,
    ) -> Option<Table> {
        if enough == 0 {
            return None;
        }
        let shift = 32 - bits;
        // Slots beyond the last are for the values that overflow it.
        let mut slots = vec![None; (1 << bits) + MOST_PROBES as usize];
        let mut probes = 1;
        for &case in cases {
            let home = (case.0.wrapping_mul(multiplier) >> shift) as usize;
            let place = (home..home + enough as usize).find(|&at| slots[at].is_none())?;
            slots[place] = Some(case);
            probes = probes.max(place - home + 1);
        }
        slots.truncate((1 << bits) + probes - 1);
        // A vacant slot repeats a value: whoever looks for that has found it in a slot before, or starts
        // behind.
        let vacant = (cases[0].0, no);
        let slots = slots
            .into_iter()
            .map(|slot| slot.unwrap_or(vacant))
            .collect();
        Some(Table {
            multiplier,
            shift: shift as u8,
            probes: probes as u32,
            slots,
        })
    }

    /// Where all else fails (values that one multiplier cannot part): all in a row.
    fn list(cases: &[(u32, Target)]) -> Table {
        let probes = cases.len() as u32;
        Table {
            multiplier: 0,
            shift: 31,
            probes,
            slots: cases.to_vec(),
        }
    }
}
