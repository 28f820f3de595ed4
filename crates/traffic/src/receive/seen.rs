//! Which of a flow's latest sequence numbers have come: what is a first copy, and what another one.

/// Numbers that are told apart; what is older by as much cannot be told from a copy any more.
const WINDOW: u64 = 8192;
const BITS: u64 = u64::BITS as u64;

/// The latest numbers.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    bits: Vec<u64>,
    /// The number after the greatest that came.
    next: u64,
}

impl Seen {
    /// Nothing has come.
    pub(super) fn new() -> Seen {
        Seen {
            bits: vec![0; (WINDOW / BITS) as usize],
            next: 0,
        }
    }

    fn bit(&mut self, sequence: u64) -> (&mut u64, u64) {
        let place = sequence % WINDOW;
        let word = &mut self.bits[(place / BITS) as usize];
        (word, 1 << (place % BITS))
    }

    /// Takes in a number; whether it is the first copy of its packet.
    pub(super) fn is_first(&mut self, sequence: u64) -> bool {
        if sequence.saturating_add(WINDOW) < self.next {
            return false;
        }
        if sequence >= self.next {
            if sequence - self.next >= WINDOW {
                self.bits.fill(0);
            } else {
                for between in self.next..sequence {
                    let (word, bit) = self.bit(between);
                    *word &= !bit;
                }
                let (word, bit) = self.bit(sequence);
                *word &= !bit;
            }
            self.next = sequence.saturating_add(1);
        }
        let (word, bit) = self.bit(sequence);
        let is_first = *word & bit == 0;
        *word |= bit;
        is_first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn copies_and_leaps_are_told() {
        let mut seen = Seen::new();
        let firsts = [0, 1, 3, 3, 2, 0, 9000, 808, 809, 1 << 40];
        let told: Vec<bool> = firsts.iter().map(|one| seen.is_first(*one)).collect();
        let wanted = [
            true, true, true, false, true, false, true, false, true, true,
        ];
        assert_eq!(told, wanted);
    }

    proptest! {
        #[test]
        fn within_the_window_it_is_a_set(numbers in prop::collection::vec(0..8000_u64, 0..400)) {
            let (mut seen, mut all) = (Seen::new(), BTreeSet::new());
            for number in numbers {
                prop_assert_eq!(seen.is_first(number), all.insert(number));
            }
        }
    }
}
