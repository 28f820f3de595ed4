//! The event queue: a hierarchical timing wheel over picoseconds, first in first out among equal
//! times.
//!
//! A time is read as eleven digits of six bits. An event waits on the level of the highest digit in
//! which its time differs from the time of the last event popped (the *base*), in the slot of that
//! digit's value. So the earliest event is in the first occupied slot of the lowest occupied level,
//! which two bit scans find. Where that slot is above level 0 and holds several events, they are
//! spread over lower levels as seen from the earliest of them, which thereby becomes the base; each
//! event is moved at most ten times in its life, usually once or twice. A slot is a list that keeps
//! the order of insertion, and spreading keeps it too: hence the order among equal times.
//!
//! Events live in a slab with a free list. Pushing allocates only when more events wait than ever
//! before.
//!
//! Source: Varghese and Lauck, "Hashed and Hierarchical Timing Wheels", 1987; the moving base is
//! that of the radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, 1990).

use crate::time::Time;
use std::cell::Cell;

const DIGIT_BITS: u32 = 6;
const SLOTS: usize = 1 << DIGIT_BITS;
/// Eleven digits of six bits hold the 64 bits of a time.
const LEVELS: usize = u64::BITS.div_ceil(DIGIT_BITS) as usize;
/// The index of no node.
const NONE: u32 = u32::MAX;

/// An event in the queue, to cancel it. Keys are not reused: one of an event that is gone cancels
/// nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    node: u32,
    generation: u32,
}

#[derive(Clone, Debug)]
struct Node<T> {
    time: u64,
    /// Neighbours in the slot; of a free node, `next` is the next free one.
    previous: u32,
    next: u32,
    /// Grows whenever the node is freed, so that old keys do not match.
    generation: u32,
    /// Nothing where the node is free.
    event: Option<T>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    head: u32,
    tail: u32,
}

const EMPTY: Slot = Slot {
    head: NONE,
    tail: NONE,
};

/// Events in the order of their times; those of equal times in the order of their insertion.
#[derive(Clone, Debug)]
pub struct EventQueue<T> {
    nodes: Vec<Node<T>>,
    free: u32,
    len: usize,
    /// The time of the last event popped: no waiting event is earlier.
    base: u64,
    /// One bit for each level that is not empty.
    levels: u32,
    /// One bit for each slot that is not empty, by level.
    occupied: [u64; LEVELS],
    slots: Box<[Slot; LEVELS * SLOTS]>,
    /// The earliest time, where it is known.
    earliest: Cell<Option<u64>>,
}

impl<T> Default for EventQueue<T> {
    fn default() -> Self {
        EventQueue::new()
    }
}

impl<T> EventQueue<T> {
    /// An empty queue.
    pub fn new() -> EventQueue<T> {
        EventQueue::with_capacity(0)
    }

    /// An empty queue that holds `events` events before it allocates.
    pub fn with_capacity(events: usize) -> EventQueue<T> {
        EventQueue {
            nodes: Vec::with_capacity(events),
            free: NONE,
            len: 0,
            base: 0,
            levels: 0,
            occupied: [0; LEVELS],
            slots: Box::new([EMPTY; LEVELS * SLOTS]),
            earliest: Cell::new(None),
        }
    }

    /// Events waiting.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no event waits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Lets `event` happen at `time`. A time before that of the last event popped counts as that
    /// time: the past is over.
    pub fn push(&mut self, time: Time, event: T) -> Key {
        let time = time.as_ps().max(self.base);
        // Where it is unknown it stays so, except that a single event is the earliest.
        match self.earliest.get() {
            Some(earliest) => self.earliest.set(Some(earliest.min(time))),
            None if self.len == 0 => self.earliest.set(Some(time)),
            None => {}
        }
        let node = if self.free == NONE {
            self.nodes.push(Node {
                time,
                previous: NONE,
                next: NONE,
                generation: 0,
                event: Some(event),
            });
            u32::try_from(self.nodes.len() - 1).expect("fewer than 2^32 events wait at a time")
        } else {
            let node = self.free;
            let slot = &mut self.nodes[node as usize];
            self.free = slot.next;
            slot.time = time;
            slot.event = Some(event);
            node
        };
        self.append(node);
        self.len += 1;
        Key {
            node,
            generation: self.nodes[node as usize].generation,
        }
    }

    /// Takes the event of `key` back, if it still waits.
    pub fn cancel(&mut self, key: Key) -> Option<T> {
        let node = self.nodes.get(key.node as usize)?;
        if node.generation != key.generation || node.event.is_none() {
            return None;
        }
        if self.earliest.get() == Some(node.time) {
            self.earliest.set(None);
        }
        self.unlink(key.node);
        self.release(key.node)
    }

    /// The time of the earliest event.
    pub fn peek_time(&self) -> Option<Time> {
        if self.len == 0 {
            return None;
        }
        if self.earliest.get().is_none() {
            let (level, slot) = self.first_slot();
            let earliest = if level == 0 {
                self.base & !(SLOTS as u64 - 1) | slot as u64
            } else {
                self.earliest_in(self.slots[level * SLOTS + slot])
            };
            self.earliest.set(Some(earliest));
        }
        self.earliest.get().map(Time::from_ps)
    }

    /// Takes the earliest event and its time.
    pub fn pop(&mut self) -> Option<(Time, T)> {
        if self.len == 0 {
            return None;
        }
        let (level, slot) = self.first_slot();
        let mut first = self.slots[level * SLOTS + slot];
        // A slot of one event has nothing to sort: most pops of a sparse queue take this short cut.
        if level > 0 && first.head != first.tail {
            let earliest = self.earliest_in(first);
            self.spread(level, slot, earliest);
            first = self.slots[earliest as usize % SLOTS];
        }
        let node = first.head;
        let time = self.nodes[node as usize].time;
        // Unlinking finds the slot from the base, so the base moves afterwards.
        self.unlink(node);
        self.base = time;
        self.earliest.set(None);
        let event = self
            .release(node)
            .expect("a node in a slot holds its event");
        Some((Time::from_ps(time), event))
    }

    /// Takes the earliest event if it is not later than `last`.
    pub fn pop_until(&mut self, last: Time) -> Option<(Time, T)> {
        if self.peek_time()? > last {
            return None;
        }
        self.pop()
    }

    /// Level and slot of the earliest events; the queue is not empty.
    fn first_slot(&self) -> (usize, usize) {
        let level = self.levels.trailing_zeros() as usize;
        (level, self.occupied[level].trailing_zeros() as usize)
    }

    /// Level and slot where an event at `time` waits, as seen from the base.
    fn place_of(&self, time: u64) -> (usize, usize) {
        let highest_difference = u64::BITS - 1 - ((self.base ^ time) | 1).leading_zeros();
        let level = highest_difference / DIGIT_BITS;
        let digit = (time >> (level * DIGIT_BITS)) as usize % SLOTS;
        (level as usize, digit)
    }

    fn earliest_in(&self, slot: Slot) -> u64 {
        let mut earliest = u64::MAX;
        let mut at = slot.head;
        while at != NONE {
            let node = &self.nodes[at as usize];
            earliest = earliest.min(node.time);
            at = node.next;
        }
        earliest
    }

    /// Moves the base to `earliest` and the events of one slot to where they belong as seen from
    /// there. All others stay: they differ from the new base in the same digit as from the old.
    fn spread(&mut self, level: usize, slot: usize, earliest: u64) {
        let mut at = self.slots[level * SLOTS + slot].head;
        self.set_empty(level, slot);
        self.base = earliest;
        while at != NONE {
            let next = self.nodes[at as usize].next;
            self.append(at);
            at = next;
        }
    }

    fn set_empty(&mut self, level: usize, slot: usize) {
        self.slots[level * SLOTS + slot] = EMPTY;
        self.occupied[level] &= !(1 << slot);
        if self.occupied[level] == 0 {
            self.levels &= !(1 << level);
        }
    }

    fn append(&mut self, node: u32) {
        let (level, slot) = self.place_of(self.nodes[node as usize].time);
        self.levels |= 1 << level;
        self.occupied[level] |= 1 << slot;
        let list = &mut self.slots[level * SLOTS + slot];
        let previous = list.tail;
        list.tail = node;
        if previous == NONE {
            list.head = node;
        } else {
            self.nodes[previous as usize].next = node;
        }
        let node = &mut self.nodes[node as usize];
        node.previous = previous;
        node.next = NONE;
    }

    fn unlink(&mut self, node: u32) {
        let Node {
            time,
            previous,
            next,
            ..
        } = self.nodes[node as usize];
        let (level, slot) = self.place_of(time);
        let list = &mut self.slots[level * SLOTS + slot];
        match previous {
            NONE => list.head = next,
            _ => self.nodes[previous as usize].next = next,
        }
        match next {
            NONE => list.tail = previous,
            _ => self.nodes[next as usize].previous = previous,
        }
        if list.head == NONE {
            self.set_empty(level, slot);
        }
    }

    fn release(&mut self, index: u32) -> Option<T> {
        let node = &mut self.nodes[index as usize];
        node.generation = node.generation.wrapping_add(1);
        node.next = self.free;
        self.free = index;
        self.len -= 1;
        node.event.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;
    use proptest::prelude::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    /// The same queue in the plainest way: a heap of time and number of insertion.
    #[derive(Default)]
    struct Oracle {
        heap: BinaryHeap<Reverse<(Time, usize)>>,
        waiting: Vec<bool>,
        base: Time,
    }

    impl Oracle {
        fn push(&mut self, time: Time) {
            self.heap
                .push(Reverse((time.max(self.base), self.waiting.len())));
            self.waiting.push(true);
        }
        fn cancel(&mut self, number: usize) -> bool {
            std::mem::replace(&mut self.waiting[number], false)
        }
        fn peek(&mut self) -> Option<(Time, usize)> {
            while let Some(Reverse((_, number))) = self.heap.peek() {
                if self.waiting[*number] {
                    break;
                }
                self.heap.pop();
            }
            self.heap.peek().map(|Reverse(first)| *first)
        }
        fn pop(&mut self) -> Option<(Time, usize)> {
            let (time, number) = self.peek()?;
            self.heap.pop();
            self.waiting[number] = false;
            self.base = time;
            Some((time, number))
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        /// So long after the last popped time.
        PushIn(u64),
        /// At this time, which may be past.
        PushAt(u64),
        Cancel(usize),
        Peek,
        Pop,
        PopUntil(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            // Few distinct times, so that many are equal.
            4 => (0_u64..8).prop_map(Step::PushIn),
            4 => (0_u64..5000).prop_map(Step::PushIn),
            // All magnitudes.
            4 => (0_u32..64, any::<u64>()).prop_map(|(shift, n)| Step::PushIn(n >> shift)),
            1 => any::<u64>().prop_map(Step::PushAt),
            1 => Just(Step::PushAt(u64::MAX)),
            1 => Just(Step::PushAt(0)),
            3 => any::<usize>().prop_map(Step::Cancel),
            2 => Just(Step::Peek),
            6 => Just(Step::Pop),
            1 => (0_u64..5000).prop_map(Step::PopUntil),
        ]
    }

    proptest! {
        #[test]
        fn wheel_and_heap_give_the_same(steps in prop::collection::vec(step(), 1..400)) {
            let mut wheel = EventQueue::new();
            let mut oracle = Oracle::default();
            let mut keys = Vec::new();
            for step in steps {
                match step {
                    Step::PushIn(_) | Step::PushAt(_) => {
                        let time = match step {
                            Step::PushIn(span) => oracle.base.saturating_add(Span::from_ps(span)),
                            Step::PushAt(ps) => Time::from_ps(ps),
                            _ => unreachable!(),
                        };
                        keys.push(wheel.push(time, keys.len()));
                        oracle.push(time);
                    }
                    Step::Cancel(any) if !keys.is_empty() => {
                        let number = any % keys.len();
                        let expected = oracle.cancel(number).then_some(number);
                        prop_assert_eq!(wheel.cancel(keys[number]), expected);
                    }
                    Step::Cancel(_) => {}
                    Step::Peek => {
                        prop_assert_eq!(wheel.peek_time(), oracle.peek().map(|(time, _)| time));
                    }
                    Step::Pop => prop_assert_eq!(wheel.pop(), oracle.pop()),
                    Step::PopUntil(span) => {
                        let last = oracle.base.saturating_add(Span::from_ps(span));
                        let due = oracle.peek().is_some_and(|(time, _)| time <= last);
                        let expected = if due { oracle.pop() } else { None };
                        prop_assert_eq!(wheel.pop_until(last), expected);
                    }
                }
                prop_assert_eq!(wheel.len(), oracle.waiting.iter().filter(|w| **w).count());
            }
            while let Some(expected) = oracle.pop() {
                prop_assert_eq!(wheel.pop(), Some(expected));
            }
            prop_assert_eq!(wheel.pop(), None);
            prop_assert!(wheel.is_empty());
        }
    }

    #[test]
    fn equal_times_keep_the_order_of_insertion_across_levels() {
        let mut queue = EventQueue::new();
        let at = Time::from_us(3);
        queue.push(at, 'a');
        queue.push(Time::from_us(2), 'x');
        assert_eq!(queue.pop(), Some((Time::from_us(2), 'x')));
        // Seen from the new base, the same time may lie on another level.
        queue.push(at, 'b');
        queue.push(at - Span::from_ps(1), 'y');
        assert_eq!(queue.pop().map(|(_, event)| event), Some('y'));
        queue.push(at, 'c');
        let rest: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(rest, [(at, 'a'), (at, 'b'), (at, 'c')]);
    }

    #[test]
    fn peeking_does_not_forbid_earlier_events() {
        let mut queue = EventQueue::new();
        queue.push(Time::from_secs(5), 'b');
        assert_eq!(queue.peek_time(), Some(Time::from_secs(5)));
        queue.push(Time::from_secs(1), 'a');
        assert_eq!(queue.peek_time(), Some(Time::from_secs(1)));
        assert_eq!(queue.pop(), Some((Time::from_secs(1), 'a')));
    }

    #[test]
    fn never_comes_after_everything_else() {
        let mut queue = EventQueue::new();
        queue.push(Time::MAX, 'z');
        queue.push(Time::ZERO, 'a');
        assert_eq!(queue.pop(), Some((Time::ZERO, 'a')));
        assert_eq!(queue.pop(), Some((Time::MAX, 'z')));
        assert_eq!(queue.pop(), None);
    }

    #[test]
    fn an_old_key_cancels_nothing_of_its_successor() {
        let mut queue = EventQueue::new();
        let old = queue.push(Time::from_ns(1), 'a');
        assert_eq!(queue.cancel(old), Some('a'));
        queue.push(Time::from_ns(1), 'b');
        assert_eq!(queue.cancel(old), None);
        assert_eq!(queue.len(), 1);
    }

    #[test]
    fn the_slab_does_not_grow_in_the_steady_state() {
        let mut queue = EventQueue::with_capacity(100);
        let room = queue.nodes.capacity();
        for n in 0..100 {
            queue.push(Time::from_ns(n * n), n);
        }
        for n in 0..100_000 {
            let (time, event) = queue.pop().unwrap();
            let key = queue.push(time + Span::from_ns(n % 7919), event);
            queue.cancel(key).unwrap();
            queue.push(time + Span::from_ns(n % 6007), event);
        }
        assert_eq!((queue.len(), queue.nodes.capacity()), (100, room));
    }
}
