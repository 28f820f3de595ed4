//! In which order flows come to the end of their time.
//!
//! Two heaps: flows whose time is promised, and the rest. A packet moves the end of its flow's time
//! on, nearly always to a later one; so a heap keeps the end as it was when last looked at, which
//! is never later than the true one, and is put right only when the flow comes to the front. A
//! packet costs one comparison instead of a walk through the heap.

/// Which flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Heap {
    /// Those that may be given up for others.
    BestEffort,
    /// Those whose time is promised.
    Guaranteed,
}

/// Both heaps.
#[derive(Debug, Default)]
pub(crate) struct Expiry {
    /// The end that is assumed, and the flow; the least is first.
    heaps: [Vec<(i64, u32)>; 2],
    /// Where each flow stands in its heap.
    places: Vec<u32>,
}

impl Expiry {
    /// How many flows there are.
    pub(crate) fn len(&self) -> usize {
        self.heaps[0].len() + self.heaps[1].len()
    }

    /// Adds a flow.
    pub(crate) fn insert(&mut self, heap: Heap, flow: u32, end: i64) {
        if self.places.len() <= flow as usize {
            self.places.resize(flow as usize + 1, 0);
        }
        let entries = &mut self.heaps[heap as usize];
        entries.push((end, flow));
        let at = entries.len() - 1;
        self.places[flow as usize] = at as u32;
        self.up(heap, at);
    }

    /// Removes a flow that is there.
    pub(crate) fn remove(&mut self, heap: Heap, flow: u32) {
        let at = self.places[flow as usize] as usize;
        let entries = &mut self.heaps[heap as usize];
        entries.swap_remove(at);
        if at < entries.len() {
            self.places[entries[at].1 as usize] = at as u32;
            self.down(heap, at);
            self.up(heap, at);
        }
    }

    /// Says that the flow's time ends at `end`.
    #[inline]
    pub(crate) fn set(&mut self, heap: Heap, flow: u32, end: i64) {
        let at = self.places[flow as usize] as usize;
        if end < self.heaps[heap as usize][at].0 {
            self.heaps[heap as usize][at].0 = end;
            self.up(heap, at);
        }
    }

    /// The flow whose time ends first; `end` tells the true end of a flow.
    pub(crate) fn first(&mut self, heap: Heap, end: impl Fn(u32) -> i64) -> Option<u32> {
        loop {
            let (assumed, flow) = *self.heaps[heap as usize].first()?;
            let end = end(flow);
            if end <= assumed {
                return Some(flow);
            }
            self.heaps[heap as usize][0].0 = end;
            self.down(heap, 0);
        }
    }

    fn up(&mut self, heap: Heap, mut at: usize) {
        let entries = &mut self.heaps[heap as usize];
        while at > 0 && entries[at] < entries[(at - 1) / 2] {
            let above = (at - 1) / 2;
            entries.swap(at, above);
            self.places[entries[at].1 as usize] = at as u32;
            at = above;
        }
        self.places[entries[at].1 as usize] = at as u32;
    }

    fn down(&mut self, heap: Heap, mut at: usize) {
        let entries = &mut self.heaps[heap as usize];
        loop {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            let below = match entries.get(right) {
                Some(one) if *one < entries[left] => right,
                _ => left,
            };
            if below >= entries.len() || entries[at] <= entries[below] {
                break;
            }
            entries.swap(at, below);
            self.places[entries[at].1 as usize] = at as u32;
            at = below;
        }
        self.places[entries[at].1 as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_the_one_that_ends_first(
            steps in prop::collection::vec((0_u32..40, 0_i64..1000, 0_u8..3), 1..300),
        ) {
            let mut expiry = Expiry::default();
            let mut ends = std::collections::BTreeMap::new();
            for (flow, end, what) in steps {
                match (what, ends.contains_key(&flow)) {
                    (0, true) => {
                        expiry.remove(Heap::BestEffort, flow);
                        ends.remove(&flow);
                    }
                    (_, true) => {
                        ends.insert(flow, end);
                        expiry.set(Heap::BestEffort, flow, end);
                    }
                    (_, false) => {
                        ends.insert(flow, end);
                        expiry.insert(Heap::BestEffort, flow, end);
                    }
                }
                let least = ends.values().min().copied();
                let first = expiry.first(Heap::BestEffort, |flow| ends[&flow]);
                prop_assert_eq!(first.map(|flow| ends[&flow]), least);
                prop_assert_eq!(expiry.len(), ends.len());
            }
        }
    }
}
