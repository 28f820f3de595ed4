//! What the router's tables said of the last destinations.
//!
//! The board's memories compare all rows at once; here each is a loop over 32 rows. Packets of a
//! flow ask the same, so what was found is kept until software writes a table.

/// Destinations that are kept, a power of two.
const PLACES: usize = 64;
/// 2³² over the golden ratio: neighbouring addresses come to different places (Knuth, §6.4).
const SPREAD: u32 = 0x9e37_79b9;

/// What the tables say of a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Whether the filter has it.
    pub(crate) is_filtered: bool,
    /// The row of its route.
    pub(crate) route: Option<u8>,
    /// The row of the neighbour that the route leads to.
    pub(crate) neighbour: Option<u8>,
}

/// The last destinations, one in each place.
#[derive(Clone, Debug)]
pub(crate) struct Recent {
    places: [Option<(u32, Found)>; PLACES],
}

impl Recent {
    pub(crate) fn new() -> Recent {
        Recent {
            places: [None; PLACES],
        }
    }

    /// What was found for `destination`; `find` finds it where it is not kept.
    pub(crate) fn get(&mut self, destination: u32, find: impl FnOnce() -> Found) -> Found {
        let place = destination.wrapping_mul(SPREAD) >> (32 - PLACES.trailing_zeros());
        let place = &mut self.places[place as usize % PLACES];
        if let Some((kept, found)) = *place
            && kept == destination
        {
            return found;
        }
        let found = find();
        *place = Some((destination, found));
        found
    }

    /// A table was written.
    pub(crate) fn forget(&mut self) {
        self.places = [None; PLACES];
    }
}
