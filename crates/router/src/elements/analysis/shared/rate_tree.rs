//! Rates by address: of the 256 networks of the first byte, and within a busy one of its parts.
//!
//! A counter has two rates, of packets from its addresses and of packets to them. Where one of them
//! comes to the threshold, a level of 256 counters for the next byte opens below; the counter goes
//! on counting all that is below it. Once a second levels are closed, the oldest or the youngest
//! first, while the rates of what they belong to have fallen to about an eighth of the threshold.

use crate::rates::rate::Rate;
use std::collections::BTreeMap;
use std::fmt::Write;
use trammel_packet::timestamp::Timestamp;

/// Epochs of 8 ms, each moving the average by a thirty-second of the way.
type CounterRate = Rate<5, EPOCH_MS>;

const EPOCH_MS: i64 = 8;
/// Epochs in a second.
const EPOCHS: i64 = 1000 / EPOCH_MS;
/// Bits of fraction of the rates.
const SCALE: u8 = 10;
/// What Click counts for a level and for a counter, so that a bound on memory means the same.
const LEVEL_BYTES: usize = 2080;
/// See [`LEVEL_BYTES`].
const COUNTER_BYTES: usize = 40;
/// The part of the memory that closing levels leaves where there is no bound, in tenths.
const LEFT_TENTHS: usize = 9;

/// Which way packets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// From the address.
    From,
    /// To it.
    To,
}

#[derive(Debug)]
struct Counter {
    rates: [CounterRate; 2],
    below: Option<u32>,
    /// No level opens below before this epoch has passed.
    closed_until: i64,
}

impl Counter {
    fn per_second(&self, way: usize) -> i64 {
        (self.rates[way].average() * EPOCHS) >> SCALE
    }

    fn pass_time(&mut self, now: Timestamp) {
        for rate in &mut self.rates {
            rate.add(now, 0);
        }
    }
}

#[derive(Debug)]
struct Level {
    counters: Vec<Option<Box<Counter>>>,
    /// The level and the counter that it belongs to; none of the first.
    above: Option<(u32, u8)>,
}

/// The tree. Levels are found by a number that tells their age.
#[derive(Debug, Default)]
pub(crate) struct RateTree {
    levels: BTreeMap<u32, Level>,
    next_level: u32,
    /// Packets or bytes a second at which a level opens.
    pub threshold: i64,
    /// Bytes that may be used; none: without bound.
    pub memory_bound: Option<usize>,
    counters: usize,
    last_fold: Option<i64>,
    reset_at: i64,
}

fn epoch(now: Timestamp) -> i64 {
    now.0 / (EPOCH_MS * 1_000_000)
}

impl RateTree {
    /// Forgets all rates.
    pub(crate) fn reset(&mut self, now: Timestamp) {
        self.levels.clear();
        (self.counters, self.next_level) = (0, 0);
        self.open(None);
        self.reset_at = epoch(now);
    }

    fn open(&mut self, above: Option<(u32, u8)>) -> u32 {
        let number = self.next_level;
        self.next_level += 1;
        let mut counters = Vec::new();
        counters.resize_with(256, || None);
        self.levels.insert(number, Level { counters, above });
        number
    }

    /// Its counters.
    pub(crate) fn counters(&self) -> usize {
        self.counters
    }

    /// Bytes used, as Click counts them.
    pub(crate) fn memory(&self) -> usize {
        self.levels.len() * LEVEL_BYTES + self.counters * COUNTER_BYTES
    }

    fn has_room_for(&self, bytes: usize) -> bool {
        self.memory_bound
            .is_none_or(|bound| self.memory() + bytes <= bound)
    }

    /// Counts a packet of `amount`; with `sample` not, it is only looked up. The rates from and to
    /// the smallest network around `address` that is watched; none where there is no memory to
    /// watch it.
    pub(crate) fn count(
        &mut self,
        address: [u8; 4],
        way: Way,
        amount: u64,
        sample: bool,
        now: Timestamp,
        choose: impl FnOnce() -> bool,
    ) -> Option<(u32, u32)> {
        let this_epoch = epoch(now);
        let (mut number, mut place) = (0, 0);
        loop {
            let byte = usize::from(address[place]);
            let room = self.has_room_for(COUNTER_BYTES);
            let level = self.levels.get_mut(&number)?;
            let slot = &mut level.counters[byte];
            if slot.is_none() {
                if !room {
                    return None;
                }
                self.counters += 1;
            }
            let counter = slot.get_or_insert_with(|| {
                Box::new(Counter {
                    rates: [CounterRate::new(SCALE), CounterRate::new(SCALE)],
                    below: None,
                    closed_until: 0,
                })
            });
            if sample {
                counter.pass_time(now);
                counter.rates[way as usize].add(now, amount);
            }
            match counter.below {
                Some(below) if place < 3 => (number, place) = (below, place + 1),
                _ => break,
            }
        }
        let counter = self.counter(number, address[place])?;
        let (from, to) = (counter.per_second(0), counter.per_second(1));
        let may_open = place < 3 && counter.closed_until < this_epoch;
        let is_busy = from >= self.threshold || to >= self.threshold;
        if is_busy && may_open && self.has_room_for(COUNTER_BYTES + LEVEL_BYTES) {
            self.open_below(number, address[place], address[place + 1]);
        }
        let last = *self.last_fold.get_or_insert(this_epoch);
        if this_epoch - last >= EPOCHS {
            self.fold(self.threshold, now, choose());
            self.last_fold = Some(this_epoch);
        }
        Some((from as u32, to as u32))
    }

    fn counter(&mut self, level: u32, byte: u8) -> Option<&mut Counter> {
        self.levels.get_mut(&level)?.counters[usize::from(byte)].as_deref_mut()
    }

    /// Opens a level below a counter; its first counter begins with the rates of the one above.
    fn open_below(&mut self, level: u32, byte: u8, next_byte: u8) {
        let below = self.open(Some((level, byte)));
        let Some(counter) = self.counter(level, byte) else {
            return;
        };
        counter.below = Some(below);
        let first = Box::new(Counter {
            rates: counter.rates.clone(),
            below: None,
            closed_until: 0,
        });
        if let Some(level) = self.levels.get_mut(&below) {
            level.counters[usize::from(next_byte)] = Some(first);
            self.counters += 1;
        }
    }

    /// Closes a level and all below it.
    fn close(&mut self, number: u32) {
        let Some(level) = self.levels.remove(&number) else {
            return;
        };
        for counter in level.counters.into_iter().flatten() {
            self.counters -= 1;
            if let Some(below) = counter.below {
                self.close(below);
            }
        }
        if let Some((above, byte)) = level.above
            && let Some(counter) = self.counter(above, byte)
        {
            counter.below = None;
        }
    }

    /// Closes levels of what is below `threshold`, from the oldest or the youngest on, until enough
    /// is free.
    fn fold(&mut self, threshold: i64, now: Timestamp, oldest_first: bool) {
        let enough = self
            .memory_bound
            .unwrap_or(self.memory() / 10 * LEFT_TENTHS);
        let mut all: Vec<u32> = self.levels.keys().copied().collect();
        if !oldest_first {
            all.reverse();
        }
        for number in all {
            // It may have been closed with the one it was below.
            let above = self.levels.get(&number).and_then(|level| level.above);
            let Some((above, byte)) = above else { continue };
            let Some(counter) = self.counter(above, byte) else {
                continue;
            };
            counter.pass_time(now);
            if counter.rates.iter().all(|rate| rate.average() < threshold) {
                self.close(number);
                if self.memory() < enough {
                    return;
                }
            }
        }
    }

    /// Bounds the memory, and closes levels until it is kept.
    pub(crate) fn bound_memory(
        &mut self,
        bound: Option<usize>,
        now: Timestamp,
        oldest_first: bool,
    ) {
        self.memory_bound = bound;
        let step = (self.threshold / 5).max(1);
        let mut threshold = self.threshold;
        // The first level stays, however much it is.
        while self.levels.len() > 1 && !self.has_room_for(0) {
            self.fold(threshold, now, oldest_first);
            threshold = threshold.saturating_add(step).saturating_mul(2);
        }
    }

    /// Closes what is below the network of `depth` + 1 bytes around `address`, for so many seconds.
    pub(crate) fn close_below(
        &mut self,
        address: [u8; 4],
        depth: usize,
        secs: i64,
        now: Timestamp,
    ) {
        let mut number = 0;
        for (place, byte) in address.into_iter().enumerate() {
            let Some(counter) = self.counter(number, byte) else {
                return;
            };
            if place == depth {
                counter.closed_until = secs.saturating_mul(EPOCHS).saturating_add(epoch(now));
                if let Some(below) = counter.below {
                    self.close(below);
                }
                return;
            }
            let Some(below) = counter.below else { return };
            number = below;
        }
    }

    /// Epochs since the rates were reset, and the rates from and to each network that has any.
    pub(crate) fn text(&mut self, now: Timestamp) -> String {
        let mut text = format!("{}\n", epoch(now) - self.reset_at);
        self.write_level(0, "", now, &mut text);
        text
    }

    fn write_level(&mut self, number: u32, name: &str, now: Timestamp, out: &mut String) {
        for byte in 0..=255 {
            let Some(counter) = self.counter(number, byte) else {
                continue;
            };
            if counter.rates.iter().all(|rate| rate.average() <= 0) {
                continue;
            }
            let name = match name {
                "" => byte.to_string(),
                name => format!("{name}.{byte}"),
            };
            let rates = [0, 1].map(|way| counter.rates[way].text(now, 0));
            let below = counter.below;
            writeln!(out, "{name}\t{}\t{}", rates[0], rates[1]).expect("a string takes any text");
            if let Some(below) = below {
                self.write_level(below, &format!("\t{name}"), now, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(threshold: i64, bound: Option<usize>) -> RateTree {
        let mut tree = RateTree {
            threshold,
            memory_bound: bound,
            ..RateTree::default()
        };
        tree.reset(Timestamp::ZERO);
        for ms in 0..3000 {
            let now = Timestamp(ms * 1_000_000);
            for host in 0..2 {
                tree.count([10, 1, 2, host], Way::From, 5, true, now, || true);
            }
            tree.count([99, 1, 2, 3], Way::To, 1, ms % 100 == 0, now, || true);
        }
        tree
    }

    #[test]
    fn busy_networks_are_watched_in_parts() {
        let mut tree = busy(1000, None);
        let text = tree.text(Timestamp::from_secs(3));
        let names: Vec<&str> = text
            .lines()
            .skip(1)
            .map(|line| line.trim_start().split('\t').next().unwrap_or(""))
            .collect();
        assert_eq!(
            names,
            ["10", "10.1", "10.1.2", "10.1.2.0", "10.1.2.1", "99"]
        );
        let rates = tree.count(
            [10, 1, 2, 1],
            Way::From,
            0,
            false,
            Timestamp::from_secs(3),
            || true,
        );
        let (from, to) = rates.expect("it is watched");
        assert!((4800..5100).contains(&from) && to == 0, "{from} {to}");
    }

    #[test]
    fn quiet_networks_are_closed() {
        let mut tree = busy(1000, None);
        assert_eq!(tree.levels.len(), 4);
        for secs in 4..10 {
            tree.count(
                [99, 1, 2, 3],
                Way::To,
                1,
                true,
                Timestamp::from_secs(secs),
                || true,
            );
        }
        assert_eq!(tree.levels.len(), 1);
        assert_eq!(tree.memory(), LEVEL_BYTES + 2 * COUNTER_BYTES);
    }

    #[test]
    fn memory_is_bounded_and_levels_can_be_kept_closed() {
        let tree = busy(1000, Some(2 * LEVEL_BYTES + 4 * COUNTER_BYTES));
        assert_eq!(tree.levels.len(), 2);
        let (mut tree, now) = (busy(1000, None), Timestamp::from_secs(3));
        tree.bound_memory(Some(1), now, false);
        assert_eq!(tree.levels.len(), 1);
        let mut tree = busy(1000, None);
        tree.close_below([10, 1, 0, 0], 1, 100, now);
        assert_eq!(tree.levels.len(), 2);
        tree.count([10, 1, 2, 0], Way::From, 5, true, now, || true);
        assert_eq!(tree.levels.len(), 2);
    }
}
