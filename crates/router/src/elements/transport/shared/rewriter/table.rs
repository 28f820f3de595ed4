//! The flows of one rewriter, or of several that share a capacity.

use super::expiry::{Expiry, Heap};
use super::flow::{FlowId, Law, MappedFlow};
use super::index::Index;
use crate::engine::ElementId;

/// An entry: the number of a flow, and in the lowest bit whether it is the answers'.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(pub u32);

impl Entry {
    /// The flow's number.
    #[inline]
    pub(crate) fn flow(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Whether it is the answers'.
    #[inline]
    pub(crate) fn is_reply(self) -> bool {
        self.0 & 1 != 0
    }
}

/// An input of a rewriter, which makes flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    /// The rewriter.
    pub element: ElementId,
    /// The input.
    pub input: usize,
    /// Flows there are.
    pub count: u32,
    /// Flows that could not be made.
    pub failures: u32,
}

/// A flow to be added.
#[derive(Clone, Copy, Debug)]
pub(crate) struct New {
    /// In which map.
    pub map: u32,
    /// By whom.
    pub owner: u32,
    /// By which law it lives.
    pub law: u32,
    /// What came in.
    pub flow: FlowId,
    /// What it becomes.
    pub rewritten: FlowId,
    /// Where packets and answers leave.
    pub outputs: [u32; 2],
    /// The IP protocol, or 0.
    pub protocol: u8,
    /// Changes of the sums of headers.
    pub deltas: [u16; 2],
}

/// The flows.
#[derive(Debug)]
pub(crate) struct Table {
    flows: Vec<Option<MappedFlow>>,
    free: Vec<u32>,
    index: Index,
    expiry: Expiry,
    owners: Vec<Owner>,
    laws: Vec<Law>,
    /// The most flows there may be.
    pub capacity: i64,
}

/// Flows where no capacity is given.
pub(crate) const DEFAULT_CAPACITY: i64 = i32::MAX as i64;

impl Table {
    /// An empty one.
    pub(crate) fn new(seed: u64) -> Table {
        Table {
            flows: Vec::new(),
            free: Vec::new(),
            index: Index::new(seed),
            expiry: Expiry::default(),
            owners: Vec::new(),
            laws: Vec::new(),
            capacity: DEFAULT_CAPACITY,
        }
    }

    /// The number of a new owner.
    pub(crate) fn add_owner(&mut self, element: ElementId, input: usize) -> u32 {
        self.owners.push(Owner {
            element,
            input,
            count: 0,
            failures: 0,
        });
        self.owners.len() as u32 - 1
    }

    /// The number of a new law.
    pub(crate) fn add_law(&mut self, law: Law) -> u32 {
        self.laws.push(law);
        self.laws.len() as u32 - 1
    }

    /// An owner.
    pub(crate) fn owner(&self, owner: u32) -> &Owner {
        &self.owners[owner as usize]
    }

    /// Counts a flow that an owner could not make.
    pub(crate) fn count_failure(&mut self, owner: u32) {
        self.owners[owner as usize].failures += 1;
    }

    /// How many flows there are.
    pub(crate) fn len(&self) -> usize {
        self.expiry.len()
    }

    /// The hash by which a flow of a map is found.
    #[inline]
    pub(crate) fn hash(&self, map: u32, flow: FlowId) -> u32 {
        self.index.hash(map, flow)
    }

    /// Has the processor fetch what a search for `hash` looks at first.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u32) {
        self.index.prefetch(hash);
    }

    /// The entry of a flow.
    #[inline]
    pub(crate) fn find(&self, map: u32, flow: FlowId) -> Option<Entry> {
        self.find_hashed(self.hash(map, flow), map, flow)
    }

    /// The entry of a flow whose hash is known.
    #[inline]
    pub(crate) fn find_hashed(&self, hash: u32, map: u32, flow: FlowId) -> Option<Entry> {
        let found = self.index.find(hash, |entry| {
            let entry = Entry(entry);
            let one = self.flows[entry.flow()].as_ref();
            one.is_some_and(|one| one.map == map && one.ids[usize::from(entry.is_reply())] == flow)
        });
        found.map(Entry)
    }

    /// The flow of an entry.
    #[inline]
    pub(crate) fn flow(&self, entry: Entry) -> &MappedFlow {
        self.flows[entry.flow()]
            .as_ref()
            .expect("entries name flows that are there")
    }

    /// The flow of an entry, to write.
    #[inline]
    pub(crate) fn flow_mut(&mut self, entry: Entry) -> &mut MappedFlow {
        self.flows[entry.flow()]
            .as_mut()
            .expect("entries name flows that are there")
    }

    /// The flows in the order of their numbers.
    pub(crate) fn flows(&self) -> impl Iterator<Item = (Entry, &MappedFlow)> {
        let numbered = self.flows.iter().enumerate();
        numbered.filter_map(|(at, flow)| Some((Entry((at as u32) << 1), flow.as_ref()?)))
    }

    /// The end of a flow's time if nobody is promised any.
    pub(crate) fn best_effort_end(&self, flow: &MappedFlow) -> i64 {
        let law = &self.laws[flow.law as usize];
        if flow.guaranteed {
            flow.expiry + flow.patience(law) - law.guarantee
        } else {
            flow.expiry
        }
    }

    /// Adds a flow that is not there; its entry is the forward one. A flow whose answers could not
    /// be told from those of the new one ends. Nothing is added where all others are promised their
    /// time.
    pub(crate) fn add(&mut self, new: New, now: i64) -> Option<Entry> {
        let law = self.laws[new.law as usize];
        let flow = MappedFlow {
            ids: [new.flow, new.rewritten.reverse()],
            outputs: new.outputs,
            map: new.map,
            owner: new.owner,
            law: new.law,
            tracking: law.tracking,
            expiry: now
                + if law.guarantee > 0 {
                    law.guarantee
                } else {
                    law.idle
                },
            guaranteed: law.guarantee > 0,
            protocol: new.protocol,
            state: 0,
            reply_anno: 0,
            ip_delta: new.deltas[0],
            transport_delta: new.deltas[1],
            deltas: None,
        };
        let (heap, end, ids) = (heap_of(&flow), flow.expiry, flow.ids);
        for id in ids {
            if let Some(old) = self.find(new.map, id) {
                self.remove(old);
            }
        }
        let number = match self.free.pop() {
            Some(number) => number,
            None => {
                self.flows.push(None);
                self.flows.len() as u32 - 1
            }
        };
        self.flows[number as usize] = Some(flow);
        // A flow from an end to itself is its own answer: the answers' entry is the one that is
        // found.
        if ids[0] != ids[1] {
            self.index
                .insert(self.index.hash(new.map, ids[0]), number << 1);
        }
        self.index
            .insert(self.index.hash(new.map, ids[1]), number << 1 | 1);
        self.expiry.insert(heap, number, end);
        self.owners[new.owner as usize].count += 1;
        if self.len() as i64 > self.capacity && self.make_room(number, now) {
            self.count_failure(new.owner);
            return None;
        }
        Some(Entry(number << 1))
    }

    /// Ends the flow that can best be spared; says whether that is `number`, the newest.
    fn make_room(&mut self, number: u32, now: i64) -> bool {
        self.end_guarantees(now);
        let spared = self.first(Heap::BestEffort).unwrap_or(number);
        self.remove(Entry(spared << 1));
        spared == number
    }

    fn first(&mut self, heap: Heap) -> Option<u32> {
        let flows = &self.flows;
        let end = |flow: u32| {
            flows[flow as usize]
                .as_ref()
                .map_or(i64::MIN, |flow| flow.expiry)
        };
        self.expiry.first(heap, end)
    }

    /// Flows whose promised time is over may be spared from now on.
    fn end_guarantees(&mut self, now: i64) {
        while let Some(number) = self.first(Heap::Guaranteed) {
            let flow = self.flow(Entry(number << 1));
            if flow.expiry > now {
                break;
            }
            let end = self.best_effort_end(flow);
            self.set_end(Entry(number << 1), false, end);
        }
    }

    fn set_end(&mut self, entry: Entry, guaranteed: bool, end: i64) {
        let number = entry.0 >> 1;
        let flow = self.flow_mut(entry);
        let (before, was) = (heap_of(flow), flow.guaranteed);
        (flow.guaranteed, flow.expiry) = (guaranteed, end);
        if was == guaranteed {
            self.expiry.set(before, number, end);
        } else {
            let after = heap_of(flow);
            self.expiry.remove(before, number);
            self.expiry.insert(after, number, end);
        }
    }

    /// A packet of the flow passed.
    #[inline]
    pub(crate) fn touch(&mut self, entry: Entry, now: i64) {
        let flow = self.flow(entry);
        let law = &self.laws[flow.law as usize];
        let guaranteed = law.guarantee > 0;
        let time = if guaranteed {
            law.guarantee
        } else {
            flow.patience(law)
        };
        self.set_end(entry, guaranteed, now + time);
    }

    /// Ends a flow.
    pub(crate) fn remove(&mut self, entry: Entry) {
        let number = entry.0 >> 1;
        let Some(flow) = self.flows[number as usize].take() else {
            return;
        };
        for (reply, id) in flow.ids.into_iter().enumerate() {
            let hash = self.index.hash(flow.map, id);
            self.index.remove(hash, number << 1 | reply as u32);
        }
        self.expiry.remove(heap_of(&flow), number);
        self.owners[flow.owner as usize].count -= 1;
        self.free.push(number);
    }

    /// Ends flows whose time is over, and those beyond the capacity, the most dispensable first.
    pub(crate) fn reap(&mut self, now: i64) {
        self.end_guarantees(now);
        while let Some(number) = self.first(Heap::BestEffort) {
            if self.flow(Entry(number << 1)).expiry > now {
                break;
            }
            self.remove(Entry(number << 1));
        }
        while self.len() as i64 > self.capacity {
            let first = self
                .first(Heap::BestEffort)
                .or_else(|| self.first(Heap::Guaranteed));
            let Some(number) = first else { break };
            self.remove(Entry(number << 1));
        }
    }

    /// Ends the flows that `which` names.
    pub(crate) fn remove_where(&mut self, which: impl Fn(&MappedFlow) -> bool) {
        let of = self.flows().filter(|(_, flow)| which(flow));
        let all: Vec<Entry> = of.map(|(entry, _)| entry).collect();
        for entry in all {
            self.remove(entry);
        }
    }
}

fn heap_of(flow: &MappedFlow) -> Heap {
    if flow.guaranteed {
        Heap::Guaranteed
    } else {
        Heap::BestEffort
    }
}
