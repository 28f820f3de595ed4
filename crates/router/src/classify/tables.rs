//! Hash tables of what windows of eight bytes must be.
//!
//! Equality is asked of the bytes as they lie in memory, in windows of eight, each loaded once; a
//! table asks one to three windows together. Multipliers were chosen so that values do not collide,
//! where one was found.

use super::compile::Target;
use super::expr::{Base, Test};
use super::frame::{Frame, Place};
use std::collections::BTreeMap;

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

    /// A table of cases whose windows differ in their values only; its slots join `into`.
    pub(crate) fn new(
        cases: &[(Vec<Window>, Target)],
        no: Target,
        into: &mut Vec<Case>,
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
        let first = into.len() as u32;
        into.extend(table.slots);
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

    /// Where it leads if a packet has these windows. `cases` are those of all tables.
    /// Where it leads: one target for each case, and that for no case.
    pub(crate) fn targets(&self, cases: &[Case]) -> Vec<Target> {
        let home = 1_usize.checked_shl(64 - u32::from(self.shift)).unwrap_or(0);
        // Without a multiplier all cases are tried, from the first place on.
        let places = match self.multiplier {
            0 => self.probes as usize,
            _ => home + self.probes as usize - 1,
        };
        let all = cases.iter().skip(self.first as usize).take(places);
        let used = all.map(|case| case.to).filter(|to| *to != self.no);
        used.chain([self.no]).collect()
    }

    #[inline]
    pub(crate) fn find(&self, cases: &[Case], windows: [u64; N]) -> Target {
        let windows: [u64; N] = std::array::from_fn(|i| windows[i] & self.mask[i]);
        let mut place = self.first as usize + hash(&windows, self.multiplier, self.shift);
        let mut probes = self.probes;
        loop {
            let Some(case) = cases.get(place) else {
                return self.no;
            };
            let wrong = (0..N).fold(0, |wrong, i| wrong | (windows[i] ^ case.value[i]));
            if wrong == 0 {
                return case.to;
            }
            probes -= 1;
            if probes == 0 {
                return self.no;
            }
            place += 1;
        }
    }
}

/// What windows must be, and where to go if they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    value: [u64; MOST_WINDOWS],
    to: Target,
}

/// As many as a case has room for in half a cache line.
pub(crate) const MOST_WINDOWS: usize = 3;

/// Eight bytes and what they must be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) at: Place,
    pub(crate) mask: u64,
    value: u64,
}

/// Gathers tests of equality into windows of eight bytes.
pub(crate) fn windows(tests: &[Test]) -> Vec<Window> {
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

/// The slot of these windows.
#[inline]
fn hash<const N: usize>(windows: &[u64; N], multiplier: u64, shift: u8) -> usize {
    let mixed = windows
        .iter()
        .fold(0, |mixed: u64, window| mixed.rotate_left(29) ^ window);
    (mixed.wrapping_mul(multiplier) >> (shift & 63)) as usize
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
        // A vacant slot repeats a value: whoever looks for that has found it in a slot before, or
        // starts behind.
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
