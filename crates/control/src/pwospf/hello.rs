//! HELLOs: sent on each interface, and what a neighbour's tells.
//!
//! The first HELLO of a new neighbour is answered by one ahead of its time, at most one a second on
//! an interface. So two routers know each other as soon as the later one is there.

use super::counters::Refusal;
use super::machine::{Outgoing, Pwospf};
use super::neighbours::Heard;
use super::wire::{self, ALL_SPF_ROUTERS};
use core::net::Ipv4Addr;
use trammel_core::{Span, Time};

/// The least time from a HELLO to one that a new neighbour calls for.
const ANSWER_GAP: Span = Span::from_secs(1);

impl Pwospf {
    pub(super) fn say_hello(&mut self, now: Time, interface: usize) {
        let sender = &mut self.interfaces[interface];
        sender.hello_due = now + self.config.hello_interval;
        sender.hello_sent = Some(now);
        let (id, area) = (self.config.router_id, self.config.area);
        let hello = Outgoing {
            interface,
            destination: ALL_SPF_ROUTERS,
            payload: wire::hello(id, area, sender.config.mask, self.hello_seconds),
        };
        if self.send(hello) {
            self.counters.hellos_sent += 1;
        }
    }

    pub(super) fn take_hello(
        &mut self,
        now: Time,
        (interface, source): (usize, Ipv4Addr),
        (router_id, mask, interval): (Ipv4Addr, Ipv4Addr, u16),
    ) -> Result<(), Refusal> {
        let receiver = &mut self.interfaces[interface];
        if router_id == self.config.router_id {
            return Err(Refusal::OwnId);
        }
        if mask != receiver.config.mask {
            return Err(Refusal::Mask);
        }
        if interval != self.hello_seconds {
            return Err(Refusal::HelloInterval);
        }
        let heard = receiver.neighbours.heard(
            now,
            (router_id, source),
            self.config.hello_interval,
            self.config.limits.neighbours,
        )?;
        self.counters.hellos_accepted += 1;
        match heard {
            Heard::Alive => {}
            Heard::Moved => self.paths_changed(now),
            Heard::New => {
                let answer = receiver.hello_sent.map_or(now, |sent| sent + ANSWER_GAP);
                receiver.hello_due = receiver.hello_due.min(answer.max(now));
                self.links_changed(now);
                self.synchronise(now, interface, source);
            }
        }
        Ok(())
    }

    /// Notes that `lost` neighbours are gone.
    pub(super) fn lost_neighbours(&mut self, now: Time, lost: usize) {
        if lost > 0 {
            self.counters.neighbours_lost += lost as u64;
            self.links_changed(now);
        }
    }
}
