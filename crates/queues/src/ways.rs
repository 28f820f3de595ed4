//! A set-associative table of places: hashes that meet in a place move to another of their set.
//!
//! A hash owns a set of eight places and prefers one of them. While any of the eight is free, a new
//! hash gets a place of its own; only when all are taken do two share one, so that far fewer flows
//! collide than by a plain hash (Høiland-Jørgensen et al. 2018, §III.B).

/// Places of a set.
const WAYS: u32 = 8;

/// Which hash has which place. Whether a place is free is for the caller to know.
#[derive(Clone, Debug)]
pub(crate) struct Ways {
    tags: Vec<u32>,
}

impl Ways {
    /// A table of `places`, a multiple of eight.
    pub(crate) fn new(places: u32) -> Ways {
        assert!(places.is_multiple_of(WAYS), "sets are whole");
        Ways {
            tags: vec![0; places as usize],
        }
    }

    /// The place of `hash`: its own, else a free one of its set, else the one that it prefers,
    /// which it then shares.
    #[inline]
    pub(crate) fn place(&mut self, hash: u32, is_free: impl Fn(u32) -> bool) -> u32 {
        let preferred = hash % self.tags.len() as u32;
        if self.tags[preferred as usize] == hash {
            return preferred;
        }
        self.place_in_set(hash, preferred, is_free)
    }

    fn place_in_set(&mut self, hash: u32, preferred: u32, is_free: impl Fn(u32) -> bool) -> u32 {
        let inner = preferred % WAYS;
        let set = preferred - inner;
        let ways = move || (0..WAYS).map(move |way| set + (inner + way) % WAYS);
        let own = ways().find(|place| self.tags[*place as usize] == hash);
        let place = own
            .or_else(|| ways().find(|place| is_free(*place)))
            .unwrap_or(preferred);
        self.tags[place as usize] = hash;
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn eight_hashes_of_a_set_have_places_of_their_own_and_the_ninth_shares() {
        let taken = RefCell::new(vec![false; 64]);
        let mut ways = Ways::new(64);
        let mut place = |hash| {
            let place = ways.place(hash, |place| !taken.borrow()[place as usize]);
            taken.borrow_mut()[place as usize] = true;
            place
        };
        // All prefer place 11, in the set from 8 to 15.
        let mut places: Vec<u32> = (0..8).map(|n| place(11 + 64 * n)).collect();
        assert_eq!(places[..3], [11, 12, 13]);
        assert_eq!(place(11 + 64 * 5), places[5]);
        places.sort_unstable();
        assert_eq!(places, (8..16).collect::<Vec<u32>>());
        assert_eq!(place(11 + 64 * 8), 11);
        taken.borrow_mut()[14] = false;
        assert_eq!(place(11 + 64 * 9), 14);
    }
}
