//! Links that take in what several access links bring, many packets at a time.
//!
//! An access link that hosts alone feed and that leads to one link only needs no events: when each of its
//! packets comes out is known, and nobody but that link asks. What the link behind (it *gathers*) decides
//! about a packet shows at its other end a propagation delay later at the earliest. So it may let packets lie in
//! the access links' pipes for that long, and then takes them in one after the other, in the order of their
//! coming, as of the instants of their coming. Whoever looks at it before makes it catch up.
//!
//! Source: the lookahead of Chandy and Misra, "Distributed Simulation", 1979.

use super::stretch::{Routes, Target};
use super::transit::{cross, hand_on};
use crate::link::Link;
use trammel_core::slots::Slots;
use trammel_core::time::Time;

/// A link that gathers.
#[derive(Debug)]
pub(super) struct Gather {
    pub(super) link: usize,
    delay: Time,
    /// The access links in the order of their numbers, which decides between packets that come at once.
    feeders: Vec<usize>,
    /// When the next packet comes from each.
    coming: Slots,
}

/// Where a link's timer is kept.
#[derive(Clone, Copy, Debug)]
pub(super) enum Timer {
    /// Among the engine's slots, as most.
    Own,
    /// There as well, also for what gathering link number `.0` has to do.
    Gathering(u32),
    /// The link has none: it is number `.1` of those that gather `.0` takes packets from.
    Gathered(u32, u32),
}

impl Gather {
    pub(super) fn new(link: usize, delay: Time, feeders: Vec<usize>) -> Gather {
        Gather {
            link,
            delay,
            coming: Slots::new(feeders.len()),
            feeders,
        }
    }

    pub(super) fn feeders(&self) -> &[usize] {
        &self.feeders
    }

    /// When the link has to catch up.
    fn due(&self) -> Time {
        self.coming.earliest().1.saturating_add(self.delay)
    }
}

/// A packet has been laid into the empty pipe of link `index`, out of which it comes at `at`.
#[inline]
pub(super) fn note_first(
    links: &mut [Link],
    slots: &mut Slots,
    gathers: &mut [Gather],
    timers: &[Timer],
    index: usize,
    at: Time,
) {
    let Timer::Gathered(number, place) = timers[index] else {
        slots.set(index, links[index].next());
        return;
    };
    let gather = &mut gathers[number as usize];
    gather.coming.set(place as usize, at);
    let link = &mut links[gather.link];
    let due = gather.due();
    if due != link.due {
        link.due = due;
        slots.set(gather.link, link.next());
    }
}

/// Takes in what has come to a link that gathers by `now`.
pub(super) fn catch_up(
    links: &mut [Link],
    slots: &mut Slots,
    gather: &mut Gather,
    routes: &Routes,
    now: Time,
) {
    loop {
        let (place, at) = gather.coming.earliest();
        if at > now {
            break;
        }
        let from = gather.feeders[place];
        let packet = links[from].first();
        let (route, target) = routes.target(packet);
        let Target::Hop(hop) = target else {
            unreachable!("what is gathered leads to the link that gathers");
        };
        let (end, wire_bytes) = (route.end(hop), packet.wire_bytes);
        let last = route.link(end);
        if let Some(arrives) = cross(links, now, at, route, hop, wire_bytes)
            && hand_on(links, from, last, end, arrives)
        {
            slots.set(last, arrives);
        }
        let link = &mut links[from];
        link.remove();
        gather.coming.set(place, link.next());
    }
    let due = gather.due();
    let link = &mut links[gather.link];
    link.due = due;
    slots.set(gather.link, link.next());
}
