//! What a packet's sequence number says of it: new, reordered, a copy, or too late to tell.
//!
//! One ring holds the delays of the last `window` sequence numbers; older ones are *settled*: what
//! has not come by then is lost, and what comes still is [too late](Arrival::TooLate), so that
//! memory does not grow with the flow. That is RFC 4737's waiting time dT in packets instead of
//! seconds.
//!
//! For the extent of a reordered packet (RFC 4737 §4.2.3) the earliest packet with a greater number
//! is needed. It arrived as a *discontinuity*, beyond the number expected next; those within the
//! window are kept, and as each opened the gap before it, they tell of a loss when it began.

use std::collections::VecDeque;

/// In the ring: nothing came.
const MISSING: i64 = i64::MIN;

/// What an arrival is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// The first copy of its packet.
    First {
        /// How far behind the earliest packet with a greater number it came; `None` in order.
        behind: Option<Behind>,
        /// The delay of the packet sent before it, where that has come and is not settled.
        before_ns: Option<i64>,
        /// The same of the packet sent after it.
        after_ns: Option<i64>,
    },
    /// Another copy.
    Duplicate,
    /// Its number was settled before.
    TooLate,
}

/// How far a reordered packet came behind the earliest one with a greater number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Behind {
    /// RFC 4737's reordering extent, in packets.
    pub(super) extent: u64,
    /// RFC 4737's late time.
    pub(super) late_ns: i64,
}

/// Consecutive numbers that are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lost {
    /// The first of them.
    pub(super) first: u64,
    /// How many.
    pub(super) count: u64,
    /// When the gap was seen to open: when the next greater number came, in nanoseconds since 1970.
    pub(super) opened_ns: i64,
}

#[derive(Clone, Copy, Debug)]
struct Discontinuity {
    sequence: u64,
    /// Its place among the first copies.
    index: u64,
    at_ns: i64,
}

#[derive(Debug)]
pub(super) struct Window {
    ring: Vec<i64>,
    /// All below are settled; `next` − `low` is at most the ring's length.
    low: u64,
    /// RFC 4737's `NextExp`.
    next: u64,
    /// From here on it was expected that packets come.
    base: u64,
    /// How many first copies came.
    count: u64,
    discontinuities: VecDeque<Discontinuity>,
    last_ns: i64,
}

impl Window {
    /// For `window` numbers, rounded up to a power of two from 2 to 2²⁰. Unless the flow is seen
    /// `from_zero`, numbers before the least that comes within the window are not missed.
    pub(super) fn new(window: usize, from_zero: bool) -> Window {
        Window {
            ring: vec![MISSING; window.clamp(2, 1 << 20).next_power_of_two()],
            low: 0,
            next: 0,
            base: if from_zero { 0 } else { u64::MAX },
            count: 0,
            discontinuities: VecDeque::new(),
            last_ns: 0,
        }
    }

    /// Takes in the packet `sequence` that came at `at_ns`; what is lost by that is told to `lost`.
    pub(super) fn arrive(
        &mut self,
        sequence: u64,
        delay_ns: i64,
        at_ns: i64,
        lost: &mut impl FnMut(Lost),
    ) -> Arrival {
        if self.count == 0 && self.base > sequence {
            self.base = sequence;
            self.low = sequence.saturating_sub(self.ring.len() as u64 - 1);
            self.next = sequence;
        }
        if sequence < self.low {
            return Arrival::TooLate;
        }
        if sequence < self.next && self.delay(sequence).is_some() {
            return Arrival::Duplicate;
        }
        self.last_ns = at_ns;
        let behind = if sequence < self.next {
            self.base = self.base.min(sequence);
            let later = self
                .discontinuities
                .partition_point(|one| one.sequence < sequence);
            let earliest = self.discontinuities.get(later);
            earliest.map(|earliest| Behind {
                extent: self.count - earliest.index,
                late_ns: at_ns.saturating_sub(earliest.at_ns),
            })
        } else {
            if sequence > self.next || self.count == 0 {
                self.discontinuities.push_back(Discontinuity {
                    sequence,
                    index: self.count,
                    at_ns,
                });
            }
            let low = (sequence + 1).saturating_sub(self.ring.len() as u64);
            self.settle(low, lost);
            self.next = sequence + 1;
            None
        };
        let place = self.place(sequence);
        self.ring[place] = delay_ns.max(MISSING + 1);
        self.count += 1;
        let before = sequence.checked_sub(1);
        Arrival::First {
            behind,
            before_ns: before.and_then(|before| self.delay(before)),
            after_ns: self.delay(sequence + 1),
        }
    }

    /// Settles all. Of `sent` packets, those after the last that came are lost too.
    pub(super) fn finish(&mut self, sent: Option<u64>, lost: &mut impl FnMut(Lost)) {
        let end = sent.unwrap_or(0).max(self.next);
        self.settle(end, lost);
        self.next = end;
    }

    fn place(&self, sequence: u64) -> usize {
        sequence as usize & (self.ring.len() - 1)
    }

    fn delay(&self, sequence: u64) -> Option<i64> {
        let delay = self.ring[self.place(sequence)];
        ((self.low..self.next).contains(&sequence) && delay != MISSING).then_some(delay)
    }

    /// Settles the numbers below `low`.
    fn settle(&mut self, low: u64, lost: &mut impl FnMut(Lost)) {
        for sequence in self.low..low.min(self.next) {
            self.forget(sequence);
            let place = self.place(sequence);
            let came = std::mem::replace(&mut self.ring[place], MISSING) != MISSING;
            if !came && sequence >= self.base {
                lost(Lost {
                    first: sequence,
                    count: 1,
                    opened_ns: self.gap_opened_ns(),
                });
            }
        }
        let first = self.low.max(self.next).max(self.base);
        if low > first {
            self.forget(first);
            lost(Lost {
                first,
                count: low - first,
                opened_ns: self.gap_opened_ns(),
            });
        }
        self.low = self.low.max(low);
    }

    /// Forgets the discontinuities that are not after `sequence`.
    fn forget(&mut self, sequence: u64) {
        while self
            .discontinuities
            .front()
            .is_some_and(|one| one.sequence <= sequence)
        {
            self.discontinuities.pop_front();
        }
    }

    /// When the gap at the lowest number opened; what is lost behind the last packet, when that
    /// came.
    fn gap_opened_ns(&self) -> i64 {
        self.discontinuities
            .front()
            .map_or(self.last_ns, |one| one.at_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Extents, numbers of duplicates and of packets too late, and the lost numbers.
    fn run(
        window: usize,
        from_zero: bool,
        sequences: &[u64],
    ) -> (Vec<Option<u64>>, u64, u64, Vec<u64>) {
        let mut one = Window::new(window, from_zero);
        let (mut extents, mut duplicates, mut late, mut missing) = (vec![], 0, 0, vec![]);
        let mut lost = |lost: Lost| missing.extend(lost.first..lost.first + lost.count);
        for (at, sequence) in sequences.iter().enumerate() {
            match one.arrive(*sequence, 5, at as i64, &mut lost) {
                Arrival::First { behind, .. } => {
                    extents.push(behind.map(|behind| behind.extent));
                }
                Arrival::Duplicate => duplicates += 1,
                Arrival::TooLate => late += 1,
            }
        }
        one.finish(None, &mut lost);
        (extents, duplicates, late, missing)
    }

    #[test]
    fn the_examples_of_rfc_4737() {
        // §7.1, table 1: packet 4 comes after 5, 6, 7 and 8 (numbers from 1 there).
        let (extents, ..) = run(64, true, &[0, 1, 2, 4, 5, 6, 7, 3, 8, 9]);
        assert_eq!(extents[7], Some(4));
        assert_eq!(extents.iter().flatten().count(), 1);
        // §7.2, table 2: 1 2 3 4 7 5 6 8 9 10.
        let (extents, ..) = run(64, true, &[0, 1, 2, 3, 6, 4, 5, 7, 8, 9]);
        assert_eq!(extents[5..7], [Some(1), Some(2)]);
        // §5.3: 1 2 3 7 8 9 4 5 6.
        let (extents, ..) = run(64, true, &[0, 1, 2, 6, 7, 8, 3, 4, 5]);
        assert_eq!(extents[6..], [Some(3), Some(4), Some(5)]);
    }

    #[test]
    fn a_window_bounds_what_is_waited_for() {
        assert!(run(4, true, &[0, 2, 3, 4, 1]).3.is_empty());
        assert_eq!(
            run(4, true, &[0, 2, 3, 4, 5, 1]),
            (vec![None; 5], 0, 1, vec![1])
        );
        assert_eq!(run(4, true, &[0, 0, 1, 1]).1, 2);
        // 0 is settled by then: a copy of it is too late, no duplicate.
        assert_eq!(run(4, true, &[0, 1, 2, 3, 4, 0]).2, 1);
    }

    #[test]
    fn a_flow_seen_from_its_middle_misses_nothing_before() {
        assert_eq!(run(8, false, &[100, 101, 103]).3, [102]);
        assert_eq!(run(8, false, &[100, 98, 101]).3, [99]);
        assert_eq!(run(8, true, &[3]).3, [0, 1, 2]);
    }

    #[test]
    fn a_leap_costs_no_more_than_the_window() {
        let mut one = Window::new(1024, true);
        let mut missing = 0;
        let mut lost = |lost: Lost| missing += lost.count;
        for sequence in [0, (1 << 40) - 1] {
            one.arrive(sequence, 0, 0, &mut lost);
        }
        one.finish(Some(1 << 40), &mut lost);
        assert_eq!(missing, (1 << 40) - 2);
    }

    #[test]
    fn a_loss_is_told_with_the_time_its_gap_opened() {
        let mut one = Window::new(4, true);
        let mut losses = vec![];
        for (sequence, at) in [(0, 10), (2, 20), (3, 30), (9, 40), (10, 50)] {
            one.arrive(sequence, 0, at, &mut |lost| {
                losses.push((lost.first, lost.count, lost.opened_ns));
            });
        }
        one.finish(Some(13), &mut |lost| {
            losses.push((lost.first, lost.count, lost.opened_ns));
        });
        let wanted = [
            (1, 1, 20),
            (4, 2, 40),
            (6, 1, 40),
            (7, 1, 40),
            (8, 1, 40),
            (11, 2, 50),
        ];
        assert_eq!(losses, wanted);
    }

    #[test]
    fn neighbours_in_the_order_of_sending_are_found() {
        let mut one = Window::new(8, true);
        let mut around = |sequence, delay| match one.arrive(sequence, delay, 0, &mut |_| ()) {
            Arrival::First {
                before_ns,
                after_ns,
                ..
            } => (before_ns, after_ns),
            _ => unreachable!(),
        };
        assert_eq!(around(0, 5), (None, None));
        assert_eq!(around(2, 7), (None, None));
        assert_eq!(around(1, 6), (Some(5), Some(7)));
        assert_eq!(around(4, 6), (None, None));
    }

    proptest! {
        /// Written from the text: §3.3 NextExp, §4.2.3 the smallest j with s[j] > s[i], duplicates
        /// removed.
        #[test]
        fn agrees_with_the_definitions(
            sequences in prop::collection::vec(0..40_u64, 0..60),
            from_zero in any::<bool>(),
        ) {
            let mut firsts: Vec<u64> = vec![];
            let (mut extents, mut duplicates) = (vec![], 0);
            let mut next_exp = 0;
            for s in &sequences {
                if firsts.contains(s) {
                    duplicates += 1;
                    continue;
                }
                let i = firsts.len();
                let is_reordered = *s < next_exp;
                if !is_reordered {
                    next_exp = s + 1;
                }
                let j = firsts.iter().position(|earlier| earlier > s);
                prop_assert_eq!(is_reordered, j.is_some());
                extents.push(j.map(|j| (i - j) as u64));
                firsts.push(*s);
            }
            let least = if from_zero { Some(0) } else { firsts.iter().min().copied() };
            let expected = least.unwrap_or(0)..next_exp;
            let missing: Vec<u64> = expected.filter(|s| !firsts.contains(s)).collect();
            prop_assert_eq!(run(64, from_zero, &sequences), (extents, duplicates, 0, missing));
        }

        /// However small the window: every packet is one of the kinds, and every number came or was
        /// lost.
        #[test]
        fn nothing_is_counted_twice_or_not_at_all(
            sequences in prop::collection::vec(0..200_u64, 1..100),
            window in 2..16_usize,
        ) {
            let (extents, duplicates, late, missing) = run(window, true, &sequences);
            prop_assert_eq!(extents.len() as u64 + duplicates + late, sequences.len() as u64);
            let sent = sequences.iter().max().unwrap() + 1;
            prop_assert_eq!(extents.len() + missing.len(), sent as usize);
            prop_assert!(missing.is_sorted_by(|a, b| a < b));
        }
    }
}
