//! Which numbers have come, once or again, exactly and in bounded memory.
//!
//! A bit for each of the last [`WINDOW`] numbers up to the highest that has come: 512 KiB, whatever
//! the rate and the duration. What falls out at the lower end and has not come is missing. A number
//! that comes more than `WINDOW` behind the highest, which is four seconds at a million frames a
//! second, cannot be told from one that came before: it is *too late*, and stays missing. The
//! decoder's window keeps a delay for each number and the extent of reordering; bits reach 64 times
//! as far in the same memory.

/// Numbers that are remembered, a multiple of 64.
pub const WINDOW: u64 = 1 << 22;

/// What a number is to those that came before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It comes for the first time.
    New,
    /// It has come before.
    Again,
    /// It is below the window.
    TooLate,
}

/// The window.
#[derive(Clone, Debug)]
pub struct Window {
    words: Box<[u64]>,
    /// The lowest number that is remembered, a multiple of 64.
    low: u64,
    /// One above the highest number that came.
    next: u64,
    missing: u64,
    last_missing: Option<u64>,
}

impl Default for Window {
    fn default() -> Window {
        Window::new(WINDOW)
    }
}

impl Window {
    /// A window of `numbers`, rounded up to a multiple of 64.
    pub fn new(numbers: u64) -> Window {
        Window {
            words: vec![0; numbers.div_ceil(64).max(1) as usize].into(),
            low: 0,
            next: 0,
            missing: 0,
            last_missing: None,
        }
    }

    /// One above the highest number that came.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    fn place(&self, number: u64) -> usize {
        (number / 64 % self.words.len() as u64) as usize
    }

    /// Notes that `number` came.
    #[inline]
    pub fn note(&mut self, number: u64) -> Arrival {
        if number < self.low {
            return Arrival::TooLate;
        }
        while number >= self.low + 64 * self.words.len() as u64 {
            self.move_on(u64::MAX);
        }
        self.next = self.next.max(number + 1);
        let (place, bit) = (self.place(number), 1 << (number % 64));
        let word = &mut self.words[place];
        let arrival = if *word & bit == 0 {
            Arrival::New
        } else {
            Arrival::Again
        };
        *word |= bit;
        arrival
    }

    /// Forgets the lowest 64 numbers, of which those that bits of `of` stand for should have come.
    fn move_on(&mut self, of: u64) {
        let place = self.place(self.low);
        let missing = !std::mem::take(&mut self.words[place]) & of;
        if missing != 0 {
            self.missing += u64::from(missing.count_ones());
            self.last_missing = Some(self.low + u64::from(missing.ilog2()));
        }
        self.low += 64;
    }

    /// How many of the numbers below `end` have not come, and the highest of them. What comes after
    /// is too late.
    pub fn finish(&mut self, end: u64) -> (u64, Option<u64>) {
        while self.low < end {
            let left = end - self.low;
            let of = if left < 64 { (1 << left) - 1 } else { u64::MAX };
            self.move_on(of);
        }
        (self.missing, self.last_missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn what_is_behind_by_more_than_the_window_is_too_late_and_nothing_less_is() {
        let mut window = Window::new(128);
        assert_eq!(window.note(191), Arrival::New);
        // 192 numbers: the 128 up to 191 are remembered.
        assert_eq!(window.note(64), Arrival::New);
        assert_eq!(window.note(64), Arrival::Again);
        assert_eq!(window.note(63), Arrival::TooLate);
        assert_eq!(window.finish(192), (190, Some(190)));
    }

    #[test]
    fn the_memory_is_what_is_promised() {
        let window = Window::default();
        assert_eq!(size_of_val(&*window.words), 512 << 10);
    }

    #[test]
    fn without_losses_nothing_is_missing_wherever_it_ends() {
        for end in [0, 1, 63, 64, 65, 1000] {
            let mut window = Window::new(128);
            assert!((0..end).all(|number| window.note(number) == Arrival::New));
            assert_eq!(window.finish(end), (0, None));
        }
    }

    proptest! {
        #[test]
        fn a_set_without_bounds_says_the_same(
            steps in prop::collection::vec((0..200_u64, 0..120_u64), 1..400), more in 0..100_u64,
        ) {
            let (mut window, mut came) = (Window::new(256), BTreeSet::new());
            let mut base = 0;
            for (forward, back) in steps {
                base += forward % 7 * (forward / 100 * 30 + 1);
                let number = base.saturating_sub(back);
                let is_new = came.insert(number);
                let expected = if is_new { Arrival::New } else { Arrival::Again };
                prop_assert_eq!(window.note(number), expected);
            }
            let end = window.next() + more;
            let missing: Vec<u64> = (0..end).filter(|number| !came.contains(number)).collect();
            prop_assert_eq!(window.finish(end), (missing.len() as u64, missing.last().copied()));
        }
    }
}
