//! The ARP cache: bounded, with entries that age and entries that stay.
//!
//! An entry of a packet dies one lifetime after it was last confirmed. Before that it is polled, so
//! that the entry of a station that is there never leaves the data plane (RFC 1122 §2.3.2.1). A
//! full cache gives up the dynamic entry that was confirmed longest ago, the lowest address first
//! among equals.

use crate::dataplane::Mac;
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet};
use trammel_core::{Span, Time};

/// Polls of an entry before it dies, one interval between them (RFC 1122 §2.3.2.1).
const POLLS: u64 = 2;

/// An entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The MAC address.
    pub(crate) mac: Mac,
    /// The port it is behind.
    pub(crate) port: usize,
    /// When a packet last confirmed it; nothing where it was configured.
    pub(crate) confirmed: Option<Time>,
    /// Entries are numbered as they come.
    pub(crate) number: u64,
    /// When the station is asked next whether it is still there.
    poll: Option<Time>,
}

/// The cache.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    entries: BTreeMap<Ipv4Addr, Entry>,
    /// Dynamic entries, the one confirmed longest ago first.
    ages: BTreeSet<(Time, Ipv4Addr)>,
    /// Dynamic entries by their next poll.
    polls: BTreeSet<(Time, Ipv4Addr)>,
    lifetime: Span,
    interval: Span,
    capacity: usize,
    numbers: u64,
}

/// What an attempt to enter did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entered {
    /// Nothing that the data plane sees: the entry was confirmed.
    Same,
    /// The entry is new or has another MAC address.
    Changed,
    /// As `Changed`, and another entry made room.
    Evicted,
    /// There is no room: every entry is static.
    Refused,
}

impl Cache {
    /// An empty cache for at most `capacity` entries, whose polls are `interval` apart.
    pub(crate) fn new(lifetime: Span, interval: Span, capacity: usize) -> Cache {
        Cache {
            entries: BTreeMap::new(),
            ages: BTreeSet::new(),
            polls: BTreeSet::new(),
            lifetime,
            interval,
            capacity,
            numbers: 0,
        }
    }

    pub(crate) fn get(&self, address: Ipv4Addr) -> Option<&Entry> {
        self.entries.get(&address)
    }

    /// All entries by address.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Ipv4Addr, &Entry)> {
        self.entries
            .iter()
            .map(|(address, entry)| (*address, entry))
    }

    /// How long a dynamic entry lasts.
    pub(crate) fn lifetime(&self) -> Span {
        self.lifetime
    }

    /// Gives all dynamic entries another lifetime, counted from their last confirmation.
    pub(crate) fn set_lifetime(&mut self, lifetime: Span) {
        self.lifetime = lifetime;
        self.polls.clear();
        for (confirmed, address) in &self.ages {
            let poll = first_poll(*confirmed, self.lifetime, self.interval);
            self.polls.extend(poll.map(|at| (at, *address)));
            if let Some(entry) = self.entries.get_mut(address) {
                entry.poll = poll;
            }
        }
    }

    /// Enters or confirms what a packet said. A static entry stays as it is.
    pub(crate) fn learn(&mut self, now: Time, address: Ipv4Addr, mac: Mac, port: usize) -> Entered {
        let old = self.entries.get(&address).copied();
        if old.is_some_and(|entry| entry.confirmed.is_none()) {
            return Entered::Same;
        }
        self.put(address, mac, port, Some(now))
    }

    /// Enters what was configured.
    pub(crate) fn add(&mut self, address: Ipv4Addr, mac: Mac, port: usize) -> Entered {
        self.put(address, mac, port, None)
    }

    fn put(
        &mut self,
        address: Ipv4Addr,
        mac: Mac,
        port: usize,
        confirmed: Option<Time>,
    ) -> Entered {
        let old = self.remove(address);
        let mut evicted = false;
        if self.entries.len() >= self.capacity {
            let Some((_, oldest)) = self.ages.first().copied() else {
                return Entered::Refused;
            };
            self.remove(oldest);
            evicted = true;
        }
        let number = old.map_or(self.numbers, |entry| entry.number);
        self.numbers += 1;
        let poll = confirmed.and_then(|at| first_poll(at, self.lifetime, self.interval));
        let entry = Entry {
            mac,
            port,
            confirmed,
            number,
            poll,
        };
        self.entries.insert(address, entry);
        self.ages.extend(confirmed.map(|at| (at, address)));
        self.polls.extend(poll.map(|at| (at, address)));
        match old {
            _ if evicted => Entered::Evicted,
            Some(old) if (old.mac, old.port) == (mac, port) => Entered::Same,
            _ => Entered::Changed,
        }
    }

    /// Removes an entry of either kind.
    pub(crate) fn remove(&mut self, address: Ipv4Addr) -> Option<Entry> {
        let entry = self.entries.remove(&address)?;
        if let Some(at) = entry.confirmed {
            self.ages.remove(&(at, address));
        }
        if let Some(at) = entry.poll {
            self.polls.remove(&(at, address));
        }
        Some(entry)
    }

    /// Removes the dynamic entries behind `port`.
    pub(crate) fn forget(&mut self, port: usize) {
        let keep = |entry: &Entry| entry.port != port || entry.confirmed.is_none();
        self.entries.retain(|_, entry| keep(entry));
        let entries = &self.entries;
        for set in [&mut self.ages, &mut self.polls] {
            set.retain(|(_, address)| entries.contains_key(address));
        }
    }

    /// Removes every entry, and tells how many there were.
    pub(crate) fn clear(&mut self) -> usize {
        let count = self.entries.len();
        self.entries.clear();
        self.ages.clear();
        self.polls.clear();
        count
    }

    /// Removes what has died by `now`, and tells whether anything had.
    pub(crate) fn expire(&mut self, now: Time) -> bool {
        let mut any = false;
        while let Some((confirmed, address)) = self.ages.first().copied() {
            if confirmed + self.lifetime > now {
                break;
            }
            self.remove(address);
            any = true;
        }
        any
    }

    /// A station that is to be asked by `now` whether it is still there.
    pub(crate) fn poll(&mut self, now: Time) -> Option<(Ipv4Addr, Entry)> {
        let (_, address) = *self.polls.first().filter(|(at, _)| *at <= now)?;
        self.polls.pop_first();
        let entry = self.entries.get_mut(&address)?;
        let next = now + self.interval;
        let dies = entry.confirmed? + self.lifetime;
        entry.poll = (next < dies).then_some(next);
        self.polls.extend(entry.poll.map(|at| (at, address)));
        Some((address, *entry))
    }

    /// When the next entry dies or is polled.
    pub(crate) fn next_timeout(&self) -> Option<Time> {
        let oldest = self.ages.first();
        let dies = oldest.map(|(confirmed, _)| *confirmed + self.lifetime);
        let polled = self.polls.first().map(|(at, _)| *at);
        dies.into_iter().chain(polled).min()
    }
}

/// When an entry is polled first; never where its life is so short that polls would follow on one
/// another.
fn first_poll(confirmed: Time, lifetime: Span, interval: Span) -> Option<Time> {
    let early = interval * POLLS;
    (lifetime > early * 2).then(|| confirmed + lifetime.saturating_sub(early))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn address(last: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, 0, 0, last)
    }

    fn cache(capacity: usize) -> Cache {
        Cache::new(Span::from_secs(300), Span::from_secs(1), capacity)
    }

    #[test]
    fn an_entry_dies_a_lifetime_after_its_last_confirmation() {
        let mut cache = cache(4);
        assert_eq!(
            cache.learn(Time::ZERO, address(1), [2; 6], 0),
            Entered::Changed
        );
        let later = Time::from_secs(100);
        assert_eq!(cache.learn(later, address(1), [2; 6], 0), Entered::Same);
        assert_eq!(cache.next_timeout(), Some(Time::from_secs(398)));
        assert!(!cache.expire(Time::from_secs(399)));
        assert!(cache.expire(Time::from_secs(400)));
        assert_eq!(cache.get(address(1)), None);
        assert_eq!(cache.next_timeout(), None);
    }

    #[test]
    fn an_entry_is_polled_twice_before_it_dies() {
        let mut cache = cache(4);
        cache.learn(Time::ZERO, address(1), [2; 6], 0);
        assert_eq!(cache.poll(Time::from_secs(297)), None);
        for second in [298, 299] {
            let at = Time::from_secs(second);
            assert_eq!(cache.next_timeout(), Some(at));
            assert_eq!(cache.poll(at).map(|(polled, _)| polled), Some(address(1)));
            assert_eq!(cache.poll(at), None);
        }
        assert_eq!(cache.next_timeout(), Some(Time::from_secs(300)));
        cache.learn(Time::from_secs(299), address(1), [2; 6], 0);
        assert_eq!(cache.next_timeout(), Some(Time::from_secs(597)));
        // A life too short for polls.
        cache.set_lifetime(Span::from_secs(4));
        assert_eq!(cache.next_timeout(), Some(Time::from_secs(303)));
        cache.set_lifetime(Span::from_secs(10));
        assert_eq!(cache.next_timeout(), Some(Time::from_secs(307)));
    }

    #[test]
    fn a_static_entry_neither_ages_nor_listens() {
        let mut cache = cache(1);
        assert_eq!(cache.add(address(1), [2; 6], 0), Entered::Changed);
        assert_eq!(
            cache.learn(Time::ZERO, address(1), [4; 6], 0),
            Entered::Same
        );
        assert_eq!(cache.get(address(1)).map(|entry| entry.mac), Some([2; 6]));
        assert!(!cache.expire(Time::MAX));
        assert_eq!(
            cache.learn(Time::ZERO, address(2), [4; 6], 0),
            Entered::Refused
        );
    }

    #[test]
    fn a_full_cache_gives_up_the_entry_confirmed_longest_ago() {
        let mut cache = cache(2);
        for (at, last) in [(0, 1), (1, 2), (2, 1)] {
            cache.learn(Time::from_secs(at), address(last), [2; 6], 0);
        }
        let at = Time::from_secs(3);
        assert_eq!(cache.learn(at, address(3), [2; 6], 0), Entered::Evicted);
        assert_eq!(cache.get(address(2)), None);
        assert!(cache.get(address(1)).is_some());
    }

    proptest! {
        #[test]
        fn the_ages_are_those_of_the_dynamic_entries(
            steps in prop::collection::vec((0_u8..7, 0_u8..12, 0_u64..50), 0..200),
        ) {
            let mut cache = cache(8);
            let mut now = Time::ZERO;
            for (what, last, wait) in steps {
                now += Span::from_secs(wait);
                match what {
                    0 => drop(cache.add(address(last), [2; 6], 0)),
                    1 => drop(cache.remove(address(last))),
                    2 => drop(cache.expire(now)),
                    3 if last == 0 => cache.forget(1),
                    4 => drop(cache.poll(now)),
                    5 if last == 0 => cache.set_lifetime(Span::from_secs(1 + 7 * wait)),
                    _ => drop(cache.learn(now, address(last), [2; 6], usize::from(last % 2))),
                }
                let dynamic: BTreeSet<_> = cache.iter()
                    .filter_map(|(address, entry)| Some((entry.confirmed?, address)))
                    .collect();
                prop_assert_eq!(&dynamic, &cache.ages);
                let polls: BTreeSet<_> = cache.iter()
                    .filter_map(|(address, entry)| Some((entry.poll?, address)))
                    .collect();
                prop_assert_eq!(&polls, &cache.polls);
                prop_assert!(cache.entries.len() <= 8);
            }
        }
    }
}
