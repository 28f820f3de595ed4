//! The router's own update: when it is made, and what it says.
//!
//! An update is made each LSUINT and after each change of a link, at least `min_lsu_interval` after
//! the last one that anybody got. Its sequence number is one above the last.
//!
//! A router that restarted begins at sequence 1, below what others have of it. Whoever gets such an
//! update sends back the newer one that it has. The router then hears an update of its own that is
//! newer than it sent, and continues one above (as RFC 2328, §13.4).
//!
//! The first update that others get may by chance repeat the number and contents of one from before
//! the restart. Others would take it for a duplicate, and the entry would age out. So the router
//! makes another the first time that it hears its current update again.

use super::counters::Refusal;
use super::database::{Advert, DatabaseEntry, Sender, compare};
use super::machine::Pwospf;
use super::wire::{self, Lsu};
use core::net::Ipv4Addr;
use std::cmp::Ordering;
use std::sync::Arc;
use trammel_core::Time;

/// The own update.
#[derive(Debug, Clone)]
pub(super) struct Own {
    pub(super) sequence: u16,
    adverts: Vec<Advert>,
    packet: Arc<[u8]>,
    made: Time,
    /// When an update last went to somebody.
    sent: Option<Time>,
    /// When the next is due without a change, and with one.
    due: Time,
    change_due: Option<Time>,
    /// The number may repeat one from before a restart: the router did not hear itself yet.
    may_repeat: bool,
    /// Off, the router makes no updates.
    pub(super) broadcast: bool,
    /// No copy goes to a router that sent an older update before then.
    answer_after: Time,
}

impl Own {
    pub(super) fn new(now: Time) -> Own {
        Own {
            sequence: 0,
            adverts: Vec::new(),
            packet: Arc::from([]),
            made: now,
            sent: None,
            due: now,
            change_due: None,
            may_repeat: true,
            broadcast: true,
            answer_after: Time::ZERO,
        }
    }

    pub(super) fn next_timeout(&self) -> Time {
        self.due.min(self.change_due.unwrap_or(Time::MAX))
    }

    /// The update for one router, unless another is about to be made or updates are off.
    pub(super) fn current(&self) -> Option<Arc<[u8]>> {
        let is_current = self.broadcast && self.change_due.is_none();
        is_current.then(|| Arc::clone(&self.packet))
    }

    pub(super) fn entry(&self, router_id: Ipv4Addr, now: Time) -> DatabaseEntry<'_> {
        DatabaseEntry {
            router_id,
            sequence: self.sequence,
            age: now.saturating_since(self.made),
            adverts: &self.adverts,
        }
    }
}

impl Pwospf {
    /// A link, or a network that the router originates, changed.
    pub(super) fn links_changed(&mut self, now: Time) {
        self.paths_changed(now);
        self.plan_update(now);
    }

    /// An update is due as soon as it may be.
    pub(super) fn plan_update(&mut self, now: Time) {
        let last = self.own.sent;
        let earliest = last.map_or(now, |sent| sent + self.config.min_lsu_interval);
        let due = earliest.max(now + self.config.hold_down);
        let known = self.own.change_due;
        self.own.change_due = Some(known.map_or(due, |known| known.min(due)));
    }

    /// The next update without a change is due one LSUINT after the last.
    pub(super) fn plan_refresh(&mut self) {
        self.own.due = self.own.made + self.config.lsu_interval;
    }

    /// Makes an update and sends it to all neighbours.
    pub(super) fn originate(&mut self, now: Time) {
        (self.own.change_due, self.own.made) = (None, now);
        self.plan_refresh();
        if !self.own.broadcast {
            return;
        }
        self.counters.lsus_originated += 1;
        let adverts = self.own_adverts();
        self.own.sequence = self.own.sequence.wrapping_add(1);
        self.own.packet = wire::lsu(
            (self.config.router_id, self.config.area),
            self.own.sequence,
            self.config.lsu_ttl,
            &adverts,
        );
        self.own.adverts = adverts;
        if self.flood(&Arc::clone(&self.own.packet), None) > 0 {
            self.own.sent = Some(now);
        }
    }

    /// What the router has to say: the networks that it originates, then for each interface that is
    /// up one advert a neighbour, or one without.
    fn own_adverts(&mut self) -> Vec<Advert> {
        let without = |network, mask| Advert {
            network,
            mask,
            router_id: Ipv4Addr::UNSPECIFIED,
        };
        let originated = self.originated.iter();
        let mut adverts: Vec<Advert> = originated.map(|(net, mask)| without(*net, *mask)).collect();
        for interface in self.interfaces.iter().filter(|interface| interface.up) {
            let alone = without(interface.config.network(), interface.config.mask);
            let neighbours = interface.neighbours.as_slice();
            if neighbours.is_empty() {
                adverts.push(alone);
            }
            adverts.extend(neighbours.iter().map(|neighbour| Advert {
                router_id: neighbour.router_id,
                ..alone
            }));
        }
        let limit = self.config.limits.adverts;
        self.counters.adverts_cut += adverts.len().saturating_sub(limit) as u64;
        adverts.truncate(limit);
        adverts
    }

    /// Takes an update that carries this router's own id.
    pub(super) fn take_own_lsu(
        &mut self,
        now: Time,
        sender: Sender,
        lsu: &Lsu<'_>,
    ) -> Result<(), Refusal> {
        match compare(lsu, self.own.sequence, &self.own.packet) {
            Ordering::Equal => {
                if std::mem::take(&mut self.own.may_repeat) {
                    self.plan_update(now);
                }
                Err(Refusal::OwnLsu)
            }
            Ordering::Less => {
                if now >= self.own.answer_after
                    && let Some(packet) = self.own.current()
                {
                    self.own.answer_after = now + self.config.min_lsu_interval;
                    self.send_lsu_to(sender.interface, sender.address, packet);
                }
                Err(Refusal::StaleSequence)
            }
            Ordering::Greater => {
                self.counters.sequence_jumps += 1;
                self.own.may_repeat = false;
                self.own.sequence = lsu.sequence;
                self.plan_update(now);
                Ok(())
            }
        }
    }
}
