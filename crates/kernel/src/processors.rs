//! A processor for each guest.
//!
//! A guest is two processes that take turns, its kernel and its program: on one processor a change
//! from one to the other costs 3 us, between two of them 20 us, a fifth of what a run takes. So a
//! guest keeps to one, which as few others of ours as possible keep to.

use std::sync::{Mutex, PoisonError};
use trammel_io::clock;

/// Processors that guests keep to, one entry a guest.
static TAKEN: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// A processor, given back when this ends.
#[derive(Debug)]
pub(crate) struct Processor(Option<usize>);

impl Processor {
    /// Takes the one that fewest guests keep to.
    pub(crate) fn take() -> Processor {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        // Other programs of this kind begin elsewhere.
        let mut all = clock::processors();
        let first = std::process::id() as usize % all.len().max(1);
        all.rotate_left(first);
        let guests = |processor: &usize| taken.iter().filter(|other| *other == processor).count();
        let least = all.into_iter().min_by_key(guests);
        taken.extend(least);
        Processor(least)
    }

    /// Its number; none where the system does not tell them.
    pub(crate) fn number(&self) -> Option<usize> {
        self.0
    }
}

impl Drop for Processor {
    fn drop(&mut self) {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let at = taken.iter().position(|other| Some(*other) == self.0);
        at.map(|at| taken.swap_remove(at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guests_spread_over_the_processors() {
        let all = clock::processors();
        assert!(!all.is_empty());
        let taken: Vec<Processor> = all.iter().map(|_| Processor::take()).collect();
        let mut numbers: Vec<usize> = taken.iter().filter_map(Processor::number).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, all);
    }
}
