//! Links that take in what several access links bring, many packets at a time.
//!
//! An access link that hosts alone feed and that leads to one link only needs no events: when each
//! of its packets comes out is known, and nobody but that link asks. What the link behind (it
//! *gathers*) decides about a packet shows at its other end a propagation delay later at the
//! earliest. So it may let packets lie in the access links' pipes for that long, and then takes
//! them in one after the other, in the order of their coming, as of the instants of their coming.
//! Whoever looks at it before makes it catch up.
//!
//! Source: the lookahead of Chandy and Misra, "Distributed Simulation", 1979.

use super::agenda::Agenda;
use super::routes::{Route, Routes, Target};
use crate::ids::{GatherId, LinkId, Table};
use crate::link::Link;
use trammel_core::slots::Slots;
use trammel_core::time::{Span, Time};

/// A link that gathers.
#[derive(Debug)]
pub(crate) struct Gather {
    pub(crate) link: LinkId,
    delay: Span,
    /// The access links in the order of their numbers, which decides between packets that come at
    /// once.
    feeders: Vec<LinkId>,
    /// When the next packet comes from each.
    coming: Slots,
}

/// Where a link's timer is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Timer {
    /// Among the engine's slots, as most.
    Own,
    /// There as well, also for what gathering link number `.0` has to do.
    Gathering(GatherId),
    /// The link has none: it is number `.1` of those that gather `.0` takes packets from.
    Gathered(GatherId, u32),
}

impl Gather {
    pub(crate) fn new(link: LinkId, delay: Span, feeders: Vec<LinkId>) -> Gather {
        Gather {
            link,
            delay,
            coming: Slots::new(feeders.len()),
            feeders,
        }
    }

    pub(crate) fn feeders(&self) -> &[LinkId] {
        &self.feeders
    }

    /// When the link has to catch up.
    fn due(&self) -> Time {
        self.coming.earliest().1.saturating_add(self.delay)
    }
}

/// A packet has been laid into the empty pipe of link `index`, out of which it comes at `at`.
#[inline]
pub(crate) fn note_first(
    links: &mut Table<LinkId, Link>,
    agenda: &mut Agenda,
    gathers: &mut Table<GatherId, Gather>,
    timers: &Table<LinkId, Timer>,
    index: LinkId,
    at: Time,
) {
    let Timer::Gathered(number, place) = timers[index] else {
        agenda.set_link(index, links[index].next());
        return;
    };
    let gather = &mut gathers[number];
    gather.coming.set(place as usize, at);
    let link = &mut links[gather.link];
    let due = gather.due();
    if due != link.due {
        link.due = due;
        agenda.set_link(gather.link, link.next());
    }
}

/// Takes in what has come to a link that gathers by `now`.
pub(crate) fn catch_up(
    links: &mut Table<LinkId, Link>,
    agenda: &mut Agenda,
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
            agenda.set_link(last, arrives);
        }
        let link = &mut links[from];
        link.remove();
        gather.coming.set(place, link.next());
    }
    let due = gather.due();
    let link = &mut links[gather.link];
    link.due = due;
    agenda.set_link(gather.link, link.next());
}

/// A packet that reaches `hop` at `at` crosses at once the chain that begins there. Returns when it
/// arrives at the end of the chain, if it does.
#[inline]
pub(crate) fn cross(
    links: &mut Table<LinkId, Link>,
    now: Time,
    at: Time,
    route: &Route,
    hop: u8,
    wire_bytes: u32,
) -> Option<Time> {
    let mut at = links[route.link(hop)].cross(at, wire_bytes)?;
    for behind in hop + 1..=route.end(hop) {
        at = links[route.link(behind)].cross_ahead(now, at, wire_bytes)?;
    }
    Some(at)
}

/// Lays the packet that has arrived from link `from` into the pipe of link `last`, which is at
/// `hop` of its route; it comes out at `arrives`. Returns whether it is the first there.
#[inline]
pub(crate) fn hand_on(
    links: &mut Table<LinkId, Link>,
    from: LinkId,
    last: LinkId,
    hop: u8,
    arrives: Time,
) -> bool {
    let Some([from, last]) = links.pair([from, last]) else {
        unreachable!("a route leads from link to link");
    };
    let slot = last.slot();
    *slot = *from.first();
    slot.hop = hop;
    last.lay(arrives)
}
