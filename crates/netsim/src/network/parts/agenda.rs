//! The agenda: when each link, medium, device and connection next has something to do.

use crate::ids::{End, FlowId, LinkId, MediumId, MiddleboxId, TimerSlot};
use trammel_core::slots::Slots;
use trammel_core::time::Time;

/// Whose turn it is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Slot {
    /// A packet arrives at the far end of a link, or its queue is served.
    Link(LinkId),
    /// A medium.
    Medium(MediumId),
    /// A device between links.
    Middlebox(MiddleboxId),
    /// The queue of rare events.
    Events,
    /// A timer of a connection.
    Timer(TimerSlot),
}

/// The earliest of all timers. There is one for each link, medium and device, one for the rare
/// events, and two for each flow with open connections.
#[derive(Debug)]
pub(crate) struct Agenda {
    slots: Slots,
    links: usize,
    mediums: usize,
    /// The slot of the rare events; those of connections follow.
    events: usize,
    /// The flow that each pair of slots belongs to.
    owners: Vec<FlowId>,
    free: Vec<TimerSlot>,
}

impl Agenda {
    /// For so many links, media and devices between links.
    pub(crate) fn new(links: usize, mediums: usize, middleboxes: usize) -> Agenda {
        let events = links + mediums + middleboxes;
        Agenda {
            slots: Slots::new(events + 1),
            links,
            mediums,
            events,
            owners: Vec::new(),
            free: Vec::new(),
        }
    }

    /// The number of the earliest slot, and its time.
    #[inline]
    pub(crate) fn earliest(&self) -> (usize, Time) {
        self.slots.earliest()
    }

    /// Whose turn slot number `slot` is.
    #[inline]
    pub(crate) fn slot(&self, slot: usize) -> Slot {
        if slot < self.links {
            Slot::Link(LinkId::new(slot))
        } else if slot > self.events {
            Slot::Timer(TimerSlot::new(slot))
        } else if slot == self.events {
            Slot::Events
        } else {
            let number = slot - self.links;
            match number.checked_sub(self.mediums) {
                None => Slot::Medium(MediumId::new(number)),
                Some(number) => Slot::Middlebox(MiddleboxId::new(number)),
            }
        }
    }

    #[inline]
    pub(crate) fn set_link(&mut self, link: LinkId, time: Time) {
        self.slots.set(link.index(), time);
    }

    #[inline]
    pub(crate) fn set_medium(&mut self, medium: MediumId, time: Time) {
        self.slots.set(self.links + medium.index(), time);
    }

    #[inline]
    pub(crate) fn set_middlebox(&mut self, middlebox: MiddleboxId, time: Time) {
        let slot = self.links + self.mediums + middlebox.index();
        self.slots.set(slot, time);
    }

    #[inline]
    pub(crate) fn set_events(&mut self, time: Time) {
        self.slots.set(self.events, time);
    }

    #[inline]
    pub(crate) fn timer(&self, slot: TimerSlot) -> Time {
        self.slots.get(slot.index())
    }

    #[inline]
    pub(crate) fn set_timer(&mut self, slot: TimerSlot, time: Time) {
        self.slots.set(slot.index(), time);
    }

    /// Slots for the two connections of `flow`; returns that of the client.
    pub(crate) fn open(&mut self, flow: FlowId) -> TimerSlot {
        let slot = self.free.pop().unwrap_or_else(|| {
            let slot = self.events + 1 + 2 * self.owners.len();
            self.owners.push(flow);
            self.slots.reserve(slot + 2);
            TimerSlot::new(slot)
        });
        self.owners[(slot.index() - self.events - 1) / 2] = flow;
        slot
    }

    /// Gives back the slots of a flow whose connections are gone.
    pub(crate) fn close(&mut self, client: TimerSlot) {
        self.set_timer(client, Time::MAX);
        self.set_timer(client.of_end(End::Server), Time::MAX);
        self.free.push(client);
    }

    /// The connection that a timer belongs to.
    #[inline]
    pub(crate) fn owner(&self, slot: TimerSlot) -> (FlowId, End) {
        let number = slot.index() - (self.events + 1);
        let end = if number.is_multiple_of(2) {
            End::Client
        } else {
            End::Server
        };
        (self.owners[number / 2], end)
    }
}
