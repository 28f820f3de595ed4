//! Which link address a neighbour has, and the packets that wait to learn it.
//!
//! A small hash table with open addresses finds an entry in one or two lines of memory; the entries
//! stand in a list by age, so that the oldest go first when time or room is over. Packets that wait
//! are in lists through one array, which grows to the most that ever waited. ARP keeps its state
//! here (RFC 826), and so does the neighbour discovery of IPv6 (RFC 4861, §7.2).

pub(crate) mod arp;

use crate::engine::Ctx;
use crate::reason::Reason;
use trammel_packet::pool::Handle;

/// An address of the network layer.
pub trait Key: Copy + Eq + Default + std::fmt::Debug {
    /// Well-mixed bits of it, the best in front.
    fn hash(self) -> u32;
}

impl Key for u32 {
    #[inline]
    fn hash(self) -> u32 {
        // Knuth's multiplier, 2^32 over the golden ratio.
        self.wrapping_mul(0x9E37_79B1)
    }
}

impl Key for u128 {
    #[inline]
    fn hash(self) -> u32 {
        let folded = (self >> 64) as u64 ^ (self as u64).rotate_left(29);
        (folded.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32
    }
}

/// The end of a list.
const NONE: u32 = u32::MAX;
/// All stations: no neighbour's address.
const BROADCAST: [u8; 6] = [0xFF; 6];
/// Milliseconds between two questions for an address, at first.
const QUESTION_GAP_MS: i64 = 100;
/// Milliseconds between two once [`PATIENCE`] were not answered.
const LONG_QUESTION_GAP_MS: i64 = 2000;
/// Questions without an answer before they become rarer.
const PATIENCE: u8 = 10;

/// How much a table holds; 0 is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Packets that wait.
    pub packets: u32,
    /// Entries.
    pub entries: u32,
    /// Packets that wait for one entry.
    pub packets_of_entry: u32,
    /// One of so many waiting packets goes when there are too many.
    pub slim_factor: u32,
    /// Milliseconds that an entry is good for.
    pub timeout_ms: i64,
    /// Where an entry has all the packets it may, the oldest makes room rather than the new one
    /// going.
    pub newest_stays: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            packets: 2048,
            entries: 0,
            packets_of_entry: 0,
            slim_factor: 2,
            timeout_ms: 300_000,
            newest_stays: false,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot<K> {
    key: K,
    /// The entry's number plus one; 0 where the slot is free.
    entry: u32,
}

#[derive(Clone, Copy, Debug)]
struct Entry<K> {
    key: K,
    address: [u8; 6],
    is_known: bool,
    unanswered: u8,
    live_at_ms: i64,
    asked_at_ms: i64,
    first_waiting: u32,
    last_waiting: u32,
    waiting: u32,
    older: u32,
    newer: u32,
}

impl<K> Entry<K> {
    fn may_ask(&self, now_ms: i64) -> bool {
        let gap = if self.unanswered >= PATIENCE {
            LONG_QUESTION_GAP_MS
        } else {
            QUESTION_GAP_MS
        };
        now_ms >= self.asked_at_ms + gap
    }

    fn asked(&mut self, now_ms: i64) {
        self.asked_at_ms = now_ms;
        self.unanswered = self.unanswered.saturating_add(1);
    }
}

#[derive(Debug)]
struct Waiting {
    packet: Option<Handle>,
    next: u32,
}

/// What a lookup finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The link address.
    pub address: [u8; 6],
    /// It is time to ask whether it still holds.
    pub ask: bool,
}

/// What became of a packet that has to wait.
#[derive(Debug, PartialEq, Eq)]
pub enum Waits {
    /// It waits; ask for the address, or do not ask again so soon.
    Queued {
        /// Ask.
        ask: bool,
    },
    /// There was no room; it is gone.
    Refused,
}

/// A line of the table for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<K> {
    /// Whose.
    pub key: K,
    /// Whether the address may be used.
    pub is_known: bool,
    /// The link address; all ones where it never was known.
    pub address: [u8; 6],
    /// Milliseconds since it was last confirmed.
    pub age_ms: i64,
}

/// A table.
#[derive(Debug)]
pub struct Neighbours<K> {
    /// How much it holds.
    pub limits: Limits,
    /// A power of two of them, at most half of them in use.
    slots: Vec<Slot<K>>,
    entries: Vec<Entry<K>>,
    free_entries: Vec<u32>,
    oldest: u32,
    newest: u32,
    waiting: Vec<Waiting>,
    free_waiting: u32,
    count: u32,
    packets: u32,
    drops: u64,
}

impl<K: Key> Default for Neighbours<K> {
    fn default() -> Neighbours<K> {
        Neighbours {
            limits: Limits::default(),
            slots: Vec::new(),
            entries: Vec::new(),
            free_entries: Vec::new(),
            oldest: NONE,
            newest: NONE,
            waiting: Vec::new(),
            free_waiting: NONE,
            count: 0,
            packets: 0,
            drops: 0,
        }
    }
}

impl<K: Key> Neighbours<K> {
    /// Entries.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Packets that wait.
    pub fn waiting(&self) -> u32 {
        self.packets
    }

    /// Packets that went for want of time or room.
    pub fn drops(&self) -> u64 {
        self.drops
    }

    /// The lines, the oldest first.
    pub fn lines(&self, now_ms: i64) -> Vec<Line<K>> {
        let mut lines = Vec::new();
        let mut at = self.oldest;
        while let Some(entry) = self.entries.get(at as usize).filter(|_| at != NONE) {
            lines.push(Line {
                key: entry.key,
                is_known: entry.is_known && !self.is_over(entry, now_ms),
                address: entry.address,
                age_ms: now_ms - entry.live_at_ms,
            });
            at = entry.newer;
        }
        lines
    }

    /// The address of `key`, where it is known; asks for a question where it is older than
    /// `poll_ms`, if that is not 0.
    #[inline]
    pub fn lookup(&mut self, key: K, now_ms: i64, poll_ms: i64) -> Option<Known> {
        let at = self.find(key)?;
        let timeout = self.limits.timeout_ms;
        let entry = &mut self.entries[at as usize];
        if !entry.is_known || (timeout != 0 && now_ms > entry.live_at_ms + timeout) {
            return None;
        }
        let mut ask = false;
        if poll_ms != 0 && now_ms >= entry.live_at_ms + poll_ms && entry.may_ask(now_ms) {
            entry.asked(now_ms);
            ask = true;
        }
        Some(Known {
            address: entry.address,
            ask,
        })
    }

    /// Notes that `key` has `address`; all ones unlearns it.
    pub fn learn(&mut self, ctx: &mut Ctx, key: K, address: [u8; 6], now_ms: i64) {
        let at = self.ensure(ctx, key, now_ms);
        let entry = &mut self.entries[at as usize];
        entry.address = address;
        entry.is_known = address != BROADCAST;
        entry.live_at_ms = now_ms;
        entry.unanswered = 0;
        entry.asked_at_ms = now_ms - 1000;
        self.unlink(at);
        self.link_before(at, NONE);
    }

    /// Whether there is an entry for `key`, known or not.
    pub fn contains(&self, key: K) -> bool {
        self.find(key).is_some()
    }

    /// The packet that has waited longest for `key`.
    pub fn pop_waiting(&mut self, key: K) -> Option<Handle> {
        let at = self.find(key)?;
        self.pop(at)
    }

    /// Keeps a packet until `key` is known.
    pub fn wait(&mut self, ctx: &mut Ctx, key: K, packet: Handle, now_ms: i64) -> Waits {
        let at = self.ensure(ctx, key, now_ms);
        self.keep_alive(at, now_ms);
        let most = self.limits.packets_of_entry;
        if most != 0 && self.entries[at as usize].waiting >= most {
            self.drops += 1;
            let oldest = if self.limits.newest_stays {
                self.pop(at)
            } else {
                None
            };
            match oldest {
                Some(oldest) => ctx.drop(oldest, Reason::Overflow),
                None => {
                    ctx.drop(packet, Reason::Overflow);
                    return Waits::Refused;
                }
            }
        }
        self.packets += 1;
        if self.limits.packets != 0 && self.packets > self.limits.packets {
            self.slim(ctx, now_ms);
        }
        self.push(at, packet);
        let entry = &mut self.entries[at as usize];
        let ask = entry.may_ask(now_ms);
        if ask {
            entry.asked(now_ms);
        }
        Waits::Queued { ask }
    }

    /// Forgets what is too old or too much.
    pub fn slim(&mut self, ctx: &mut Ctx, now_ms: i64) {
        while self.oldest != NONE {
            let entry = &self.entries[self.oldest as usize];
            let too_many = self.limits.entries != 0 && self.count > self.limits.entries;
            if !too_many && !self.is_over(entry, now_ms) {
                break;
            }
            self.remove(ctx, self.oldest);
        }
        let most = self.limits.packets;
        if most == 0 || self.packets <= most {
            return;
        }
        // The packet for which there shall be room counts already.
        let aim = (most - most / self.limits.slim_factor.max(1)).max(1);
        let mut at = self.oldest;
        while self.packets > aim && at != NONE {
            match self.pop(at) {
                Some(packet) => {
                    self.drops += 1;
                    ctx.drop(packet, Reason::Overflow);
                }
                None => at = self.entries[at as usize].newer,
            }
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self, ctx: &mut Ctx) {
        while self.oldest != NONE {
            self.remove(ctx, self.oldest);
        }
    }

    /// Takes over what `old` holds, with the limits of its own; `old` is empty then.
    pub fn take(&mut self, old: &mut Neighbours<K>) {
        let limits = self.limits;
        *self = std::mem::take(old);
        old.limits = self.limits;
        self.limits = limits;
    }

    fn is_over(&self, entry: &Entry<K>, now_ms: i64) -> bool {
        self.limits.timeout_ms != 0 && now_ms > entry.live_at_ms + self.limits.timeout_ms
    }

    #[inline]
    fn home(&self, key: K) -> usize {
        let bits = self.slots.len().trailing_zeros();
        (u64::from(key.hash()) << bits >> 32) as usize
    }

    #[inline]
    fn find(&self, key: K) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let (mask, mut at) = (self.slots.len() - 1, self.home(key));
        loop {
            let slot = &self.slots[at];
            if slot.entry == 0 {
                return None;
            }
            if slot.key == key {
                return Some(slot.entry - 1);
            }
            at = (at + 1) & mask;
        }
    }

    fn place(&mut self, key: K, entry: u32) {
        let (mask, mut at) = (self.slots.len() - 1, self.home(key));
        while self.slots[at].entry != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = Slot {
            key,
            entry: entry + 1,
        };
    }

    /// Frees the slot of `key`; those behind it that it had pushed on move up.
    fn displace(&mut self, key: K) {
        let (mask, mut hole) = (self.slots.len() - 1, self.home(key));
        while self.slots[hole].entry != 0 && self.slots[hole].key != key {
            hole = (hole + 1) & mask;
        }
        let mut at = hole;
        loop {
            self.slots[hole] = Slot::default();
            loop {
                at = (at + 1) & mask;
                let slot = self.slots[at];
                if slot.entry == 0 {
                    return;
                }
                let home = self.home(slot.key);
                // It may move into the hole unless its home lies behind the hole.
                if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(hole) & mask) {
                    self.slots[hole] = slot;
                    hole = at;
                    break;
                }
            }
        }
    }

    fn ensure(&mut self, ctx: &mut Ctx, key: K, now_ms: i64) -> u32 {
        if let Some(at) = self.find(key) {
            return at;
        }
        self.count += 1;
        if self.limits.entries != 0 && self.count > self.limits.entries {
            self.slim(ctx, now_ms);
        }
        let entry = Entry {
            key,
            address: BROADCAST,
            is_known: false,
            unanswered: 0,
            live_at_ms: now_ms,
            asked_at_ms: now_ms - 1000,
            first_waiting: NONE,
            last_waiting: NONE,
            waiting: 0,
            older: NONE,
            newer: NONE,
        };
        let at = match self.free_entries.pop() {
            Some(at) => {
                self.entries[at as usize] = entry;
                at
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        };
        if self.count as usize * 2 > self.slots.len() {
            self.grow();
        }
        self.place(key, at);
        self.link_before(at, NONE);
        at
    }

    #[cold]
    fn grow(&mut self) {
        let old = std::mem::take(&mut self.slots);
        self.slots = vec![Slot::default(); (old.len() * 2).max(16)];
        for slot in old.into_iter().filter(|slot| slot.entry != 0) {
            self.place(slot.key, slot.entry - 1);
        }
    }

    fn remove(&mut self, ctx: &mut Ctx, at: u32) {
        while let Some(packet) = self.pop(at) {
            self.drops += 1;
            ctx.drop(packet, Reason::NoNeighbour);
        }
        self.unlink(at);
        self.displace(self.entries[at as usize].key);
        self.free_entries.push(at);
        self.count -= 1;
    }

    /// An entry for which packets still come does not end, but stands where it would end next.
    fn keep_alive(&mut self, at: u32, now_ms: i64) {
        let least = now_ms - self.limits.timeout_ms;
        if self.limits.timeout_ms == 0 || self.entries[at as usize].live_at_ms >= least {
            return;
        }
        self.entries[at as usize].live_at_ms = least;
        let mut next = self.entries[at as usize].newer;
        while next != NONE && self.entries[next as usize].live_at_ms < least {
            next = self.entries[next as usize].newer;
        }
        self.unlink(at);
        self.link_before(at, next);
    }

    fn unlink(&mut self, at: u32) {
        let (older, newer) = {
            let entry = &self.entries[at as usize];
            (entry.older, entry.newer)
        };
        match self.entries.get_mut(older as usize) {
            Some(entry) => entry.newer = newer,
            None => self.oldest = newer,
        }
        match self.entries.get_mut(newer as usize) {
            Some(entry) => entry.older = older,
            None => self.newest = older,
        }
    }

    /// Puts an entry before `next` in the list by age; at the end where that is none.
    fn link_before(&mut self, at: u32, next: u32) {
        let older = match self.entries.get_mut(next as usize) {
            Some(entry) => std::mem::replace(&mut entry.older, at),
            None => std::mem::replace(&mut self.newest, at),
        };
        match self.entries.get_mut(older as usize) {
            Some(entry) => entry.newer = at,
            None => self.oldest = at,
        }
        let entry = &mut self.entries[at as usize];
        (entry.older, entry.newer) = (older, next);
    }

    fn push(&mut self, at: u32, packet: Handle) {
        let new = Waiting {
            packet: Some(packet),
            next: NONE,
        };
        let place = match self.waiting.get_mut(self.free_waiting as usize) {
            Some(free) => {
                let place = self.free_waiting;
                self.free_waiting = free.next;
                *free = new;
                place
            }
            None => {
                self.waiting.push(new);
                self.waiting.len() as u32 - 1
            }
        };
        let entry = &mut self.entries[at as usize];
        entry.waiting += 1;
        let last = std::mem::replace(&mut entry.last_waiting, place);
        match self.waiting.get_mut(last as usize) {
            Some(before) => before.next = place,
            None => entry.first_waiting = place,
        }
    }

    fn pop(&mut self, at: u32) -> Option<Handle> {
        let entry = &mut self.entries[at as usize];
        let place = entry.first_waiting;
        let first = self.waiting.get_mut(place as usize)?;
        let packet = first.packet.take();
        entry.first_waiting = first.next;
        if entry.first_waiting == NONE {
            entry.last_waiting = NONE;
        }
        first.next = self.free_waiting;
        self.free_waiting = place;
        entry.waiting -= 1;
        self.packets -= 1;
        packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::testing::loaded;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn agrees_with_a_map_whatever_comes_and_goes(
            steps in proptest::collection::vec((0_u32..40, 0_u8..4), 1..300),
        ) {
            let mut run = loaded("Idle -> Discard;");
            let mut table = Neighbours::<u32>::default();
            table.limits.timeout_ms = 50;
            let mut model: BTreeMap<u32, (u8, i64)> = BTreeMap::new();
            for (now, (key, what)) in steps.into_iter().enumerate() {
                let now = now as i64;
                match what {
                    0 => {
                        table.slim(&mut run.ctx, now);
                        model.retain(|_, (_, at)| now <= *at + 50);
                    }
                    what => {
                        table.learn(&mut run.ctx, key, [what; 6], now);
                        model.insert(key, (what, now));
                    }
                }
                prop_assert_eq!(table.count() as usize, model.len());
                for key in 0..40 {
                    let known = table.lookup(key, now, 0).map(|known| known.address[0]);
                    let good = model.get(&key).filter(|(_, at)| now <= at + 50);
                    prop_assert_eq!(known, good.map(|(what, _)| *what));
                }
                let ages: Vec<i64> = table.lines(now).iter().map(|line| line.age_ms).collect();
                prop_assert!(ages.is_sorted_by(|a, b| a >= b));
            }
        }
    }

    #[test]
    fn packets_wait_in_order_and_the_oldest_go_when_there_are_too_many() {
        let mut run = loaded("Idle -> Discard;");
        let mut table = Neighbours::<u32>::default();
        table.limits.packets = 4;
        for byte in 0..5_u8 {
            let packet = run.ctx.pool().alloc_with(&[byte]).expect("room");
            let waits = table.wait(&mut run.ctx, 7, packet, 0);
            assert_eq!(waits, Waits::Queued { ask: byte == 0 });
        }
        // The fifth makes the table slim to two, itself one of them.
        assert_eq!((table.waiting(), table.drops()), (2, 3));
        table.learn(&mut run.ctx, 7, [1; 6], 1);
        let mut bytes = Vec::new();
        while let Some(packet) = table.pop_waiting(7) {
            bytes.push(run.ctx.pool()[&packet].data()[0]);
            run.ctx.pool().free(packet);
        }
        assert_eq!(bytes, [3, 4]);
        assert_eq!(run.ctx.pool().in_use(), 0);
    }
}
