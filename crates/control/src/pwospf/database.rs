//! The link-state database: the newest update of each other router.
//!
//! Of two updates of a router, the one with the later sequence number is newer. Of two with the
//! same number, it is the one whose adverts are greater as bytes. The second rule decides between
//! the updates of a router before and after a restart, where all must decide alike (RFC 2328, §13.1
//! compares checksums there).

use super::counters::Refusal;
use super::sequence;
use super::wire::{self, Lsu};
use core::net::Ipv4Addr;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use trammel_core::{Span, Time};

/// What a router says about one subnet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Advert {
    /// The subnet's address; the mask is applied. 0.0.0.0 with mask 0.0.0.0 is the default route.
    pub network: Ipv4Addr,
    /// The subnet's mask.
    pub mask: Ipv4Addr,
    /// The neighbour there; 0.0.0.0 where there is none.
    pub router_id: Ipv4Addr,
}

/// An entry of the database, for people to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatabaseEntry<'a> {
    /// The router that says so.
    pub router_id: Ipv4Addr,
    /// The sequence number of its update.
    pub sequence: u16,
    /// Time since the update came.
    pub age: Span,
    /// What the router says.
    pub adverts: &'a [Advert],
}

/// Who sent an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sender {
    pub(super) interface: usize,
    pub(super) address: Ipv4Addr,
    /// The id, where it is a known neighbour.
    pub(super) router_id: Option<Ipv4Addr>,
}

#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) sequence: u16,
    /// In the order of (router id, network, mask).
    pub(super) adverts: Vec<Advert>,
    /// What is passed on: the packet with its TTL decremented.
    packet: Arc<[u8]>,
    has_hops_left: bool,
    pub(super) refreshed: Time,
    /// Who sent the update.
    from: Sender,
    /// When it was passed on last, and from whom the update that waits came.
    flooded: Option<Time>,
    deferred: Option<Sender>,
    /// No copy goes to a router that sent an older update before then.
    pub(super) answer_after: Time,
}

impl Entry {
    /// The packet to pass on, unless its TTL is used up.
    pub(super) fn packet(&self) -> Option<Arc<[u8]>> {
        self.has_hops_left.then(|| Arc::clone(&self.packet))
    }

    /// Whether the router says that `neighbour` is on that subnet.
    pub(super) fn says(&self, network: Ipv4Addr, mask: Ipv4Addr, neighbour: Ipv4Addr) -> bool {
        let key = (neighbour, network, mask);
        self.adverts.binary_search_by_key(&key, order_key).is_ok()
    }
}

fn order_key(advert: &Advert) -> (Ipv4Addr, Ipv4Addr, Ipv4Addr) {
    (advert.router_id, advert.network, advert.mask)
}

/// How an update compares with another of the same router.
pub(super) fn compare(lsu: &Lsu<'_>, sequence: u16, packet: &[u8]) -> Ordering {
    sequence::order(lsu.sequence, sequence).then_with(|| lsu.contents().cmp(wire::contents(packet)))
}

/// What an update that was accepted means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Accepted {
    /// The router says something else than before.
    pub(super) changed: bool,
    /// The update is to be passed on now.
    pub(super) flood: bool,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Database {
    entries: BTreeMap<Ipv4Addr, Entry>,
    /// No entry is older. Refreshes do not move it, so it costs nothing to keep.
    oldest: Option<Time>,
    /// Updates that wait to be passed on, and until when.
    deferred: BTreeSet<(Time, Ipv4Addr)>,
}

impl Database {
    pub(super) fn get(&self, router_id: Ipv4Addr) -> Option<&Entry> {
        self.entries.get(&router_id)
    }

    pub(super) fn get_mut(&mut self, router_id: Ipv4Addr) -> Option<&mut Entry> {
        self.entries.get_mut(&router_id)
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        *self = Database::default();
    }

    /// The entries in the order of their router ids.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Ipv4Addr, &Entry)> {
        self.entries.iter().map(|(id, entry)| (*id, entry))
    }

    /// Whether an update that its router itself sent shows that this router forgot its number: it
    /// was used before, and by the same way where it is the last one. (By another way, it is the
    /// same update once more.)
    pub(super) fn shows_restart(&self, router_id: Ipv4Addr, lsu: &Lsu<'_>, sender: Sender) -> bool {
        let known = self.entries.get(&router_id);
        sender.router_id == Some(router_id)
            && known.is_some_and(
                |known| match sequence::order(lsu.sequence, known.sequence) {
                    Ordering::Less => true,
                    Ordering::Equal => known.from == sender,
                    Ordering::Greater => false,
                },
            )
    }

    /// Takes an update of `router_id` if it is newer. Updates of a router are passed on with `gap`
    /// between them.
    pub(super) fn offer(
        &mut self,
        now: Time,
        (router_id, lsu): (Ipv4Addr, &Lsu<'_>),
        sender: Sender,
        gap: Span,
        limit: usize,
    ) -> Result<Accepted, Refusal> {
        let known = self.entries.get(&router_id);
        if let Some(known) = known {
            match compare(lsu, known.sequence, &known.packet) {
                Ordering::Less => return Err(Refusal::StaleSequence),
                Ordering::Equal => return Err(Refusal::Duplicate),
                Ordering::Greater => {}
            }
        } else if self.entries.len() >= limit {
            return Err(Refusal::DatabaseFull);
        }
        let same = known.filter(|known| wire::contents(&known.packet) == lsu.contents());
        let (changed, adverts) = match same {
            Some(_) => (false, None),
            None => {
                let mut adverts: Vec<Advert> = lsu.adverts().collect();
                adverts.sort_unstable_by_key(order_key);
                (true, Some(adverts))
            }
        };
        let entry = self.entries.entry(router_id).or_insert_with(|| Entry {
            sequence: lsu.sequence,
            adverts: Vec::new(),
            packet: Arc::from([]),
            has_hops_left: false,
            refreshed: now,
            from: sender,
            flooded: None,
            deferred: None,
            answer_after: Time::ZERO,
        });
        entry.sequence = lsu.sequence;
        if let Some(adverts) = adverts {
            entry.adverts = adverts;
        }
        entry.packet = lsu.with_ttl(lsu.ttl.saturating_sub(1));
        entry.has_hops_left = lsu.ttl > 1;
        entry.refreshed = now;
        entry.from = sender;
        self.oldest = Some(self.oldest.map_or(now, |oldest| oldest.min(now)));
        let due = entry.flooded.map_or(now, |flooded| flooded + gap);
        let flood = now >= due;
        if flood {
            entry.flooded = Some(now);
            if entry.deferred.take().is_some() {
                self.deferred.remove(&(due, router_id));
            }
        } else if entry.deferred.replace(sender).is_none() {
            self.deferred.insert((due, router_id));
        }
        Ok(Accepted { changed, flood })
    }

    /// An update whose wait is over, and from whom it came.
    pub(super) fn pop_deferred(&mut self, now: Time) -> Option<(Ipv4Addr, Sender)> {
        let (due, router_id) = *self.deferred.first()?;
        if now < due {
            return None;
        }
        self.deferred.pop_first();
        let entry = self.entries.get_mut(&router_id);
        let entry = entry.expect("an update that waits is that of an entry");
        entry.flooded = Some(now);
        let sender = entry.deferred.take();
        Some((
            router_id,
            sender.expect("an update that waits has a sender"),
        ))
    }

    /// Removes entries that were not refreshed for `life`; their number.
    pub(super) fn expire(&mut self, now: Time, life: Span) -> usize {
        if self.oldest.is_none_or(|oldest| now < oldest + life) {
            return 0;
        }
        let before = self.entries.len();
        self.entries.retain(|_, entry| now < entry.refreshed + life);
        let entries = &self.entries;
        self.deferred.retain(|(_, id)| entries.contains_key(id));
        self.oldest = self.entries.values().map(|entry| entry.refreshed).min();
        before - self.entries.len()
    }

    pub(super) fn next_timeout(&self, life: Span) -> Time {
        let expiry = self.oldest.map_or(Time::MAX, |oldest| oldest + life);
        let deferred = self.deferred.first().map_or(Time::MAX, |(due, _)| *due);
        expiry.min(deferred)
    }
}
