//! The neighbours on an interface: who was heard, and when each counts as lost.

use super::counters::Refusal;
use core::net::Ipv4Addr;
use trammel_core::{Span, Time};

/// A router that is heard on an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbour {
    /// Its router id.
    pub router_id: Ipv4Addr,
    /// Its address on the interface.
    pub address: Ipv4Addr,
    /// When it counts as lost unless a HELLO comes before: three HELLO intervals after its last.
    pub expires: Time,
    /// No answer to a restart of this neighbour before then.
    pub(super) resync_after: Time,
}

/// What a HELLO told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// A new neighbour.
    New,
    /// A known neighbour with another address than before.
    Moved,
    /// Nothing but that it lives.
    Alive,
}

/// The neighbours on an interface, in the order of their ids.
#[derive(Debug, Clone)]
pub(super) struct Neighbours {
    list: Vec<Neighbour>,
    /// Nobody expires before then. HELLOs do not move it, so it costs nothing to keep.
    next_check: Time,
}

impl Neighbours {
    pub(super) const NONE: Neighbours = Neighbours {
        list: Vec::new(),
        next_check: Time::MAX,
    };

    pub(super) fn as_slice(&self) -> &[Neighbour] {
        &self.list
    }

    /// When somebody may have to be lost.
    pub(super) fn next_check(&self) -> Time {
        self.next_check
    }

    /// Notes a HELLO that came from `address` and whose sender promises another within `interval`.
    pub(super) fn heard(
        &mut self,
        now: Time,
        (router_id, address): (Ipv4Addr, Ipv4Addr),
        interval: Span,
        limit: usize,
    ) -> Result<Heard, Refusal> {
        let expires = now + interval * 3;
        match self.list.binary_search_by_key(&router_id, |n| n.router_id) {
            Ok(at) => {
                let known = &mut self.list[at];
                known.expires = expires;
                self.next_check = self.next_check.min(expires);
                if known.address == address {
                    return Ok(Heard::Alive);
                }
                known.address = address;
                Ok(Heard::Moved)
            }
            Err(_) if self.list.len() >= limit => Err(Refusal::TooManyNeighbours),
            Err(at) => {
                let new = Neighbour {
                    router_id,
                    address,
                    expires,
                    resync_after: Time::ZERO,
                };
                self.list.insert(at, new);
                self.next_check = self.next_check.min(expires);
                Ok(Heard::New)
            }
        }
    }

    pub(super) fn by_address(&mut self, address: Ipv4Addr) -> Option<&mut Neighbour> {
        self.list.iter_mut().find(|n| n.address == address)
    }

    /// Loses those whose time is over; their number.
    pub(super) fn expire(&mut self, now: Time) -> usize {
        if now < self.next_check {
            return 0;
        }
        let before = self.list.len();
        self.list.retain(|n| now < n.expires);
        let expiries = self.list.iter().map(|n| n.expires);
        self.next_check = expiries.min().unwrap_or(Time::MAX);
        before - self.list.len()
    }

    /// Loses all; their number.
    pub(super) fn clear(&mut self) -> usize {
        std::mem::replace(self, Neighbours::NONE).list.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIVE: Span = Span::from_secs(5);

    fn id(last: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, 0, 0, last)
    }

    fn hear(neighbours: &mut Neighbours, s: u64, last: u8) -> Result<Heard, Refusal> {
        neighbours.heard(Time::from_secs(s), (id(last), id(last)), FIVE, 2)
    }

    #[test]
    fn loses_a_neighbour_after_three_intervals_of_silence() {
        let mut neighbours = Neighbours::NONE;
        assert_eq!(hear(&mut neighbours, 0, 1), Ok(Heard::New));
        assert_eq!(hear(&mut neighbours, 5, 1), Ok(Heard::Alive));
        assert_eq!(neighbours.expire(Time::from_ps(20_000_000_000_000 - 1)), 0);
        assert_eq!(neighbours.expire(Time::from_secs(20)), 1);
        assert_eq!(neighbours.next_check(), Time::MAX);
    }

    #[test]
    fn has_several_neighbours_up_to_the_limit() {
        let mut neighbours = Neighbours::NONE;
        assert_eq!(hear(&mut neighbours, 0, 2), Ok(Heard::New));
        assert_eq!(hear(&mut neighbours, 0, 1), Ok(Heard::New));
        assert_eq!(hear(&mut neighbours, 0, 3), Err(Refusal::TooManyNeighbours));
        assert_eq!(hear(&mut neighbours, 1, 2), Ok(Heard::Alive));
        let ids = neighbours.as_slice().iter().map(|n| n.router_id);
        assert!(ids.eq([id(1), id(2)]));
    }

    #[test]
    fn follows_an_address_that_changes() {
        let mut neighbours = Neighbours::NONE;
        assert_eq!(hear(&mut neighbours, 0, 1), Ok(Heard::New));
        let moved = neighbours.heard(Time::ZERO, (id(1), id(9)), FIVE, 2);
        assert_eq!(moved, Ok(Heard::Moved));
        assert!(neighbours.by_address(id(1)).is_none());
        assert!(neighbours.by_address(id(9)).is_some());
    }
}
