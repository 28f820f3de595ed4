//! A compressed trie of 64-way nodes behind a directly indexed root, after Poptrie.
//!
//! The root is indexed by the first bits of an address. A word of it is a next hop, or else a node
//! that decides on the next six bits, and so on. Slots of a node that are alike and adjacent share
//! one word; a bitmap says where a new word begins, so that the word of slot s is found by counting
//! the bits up to s.
//!
//! Differs from the paper: one bitmap rather than two, and a node's words follow its bitmap, where
//! the paper keeps nodes and leaves in two arrays. The paper's way costs a second access that
//! depends on the first; this one mostly finds the word in the line of the bitmap. A child costs 4
//! bytes of pointer here, which the paper saves by consecutive children.
//!
//! A change rebuilds what is below its prefix and repacks the nodes above it, at most one a level.
//!
//! # References
//! Asai and Ohara, "Poptrie: A Compressed Trie with Population Count for Fast and Scalable Software
//! IP Routing Table Lookup", SIGCOMM 2015.

use super::rib::{Level, Rib, Run, paint};
use super::short::{SHORT, Short};
use super::{Address, BATCH, NEAR, NextHop, Prefix, Table};
use trammel_packet::cpu::prefetch;

/// Marks a word that is the place of a node rather than a next hop.
const NODE: u32 = 1 << 31;
/// Bits on which a node decides.
const STRIDE: u8 = 6;
/// Words of a bitmap.
const HEAD: usize = 2;

/// A table over addresses of any width.
#[derive(Clone, Debug)]
pub struct Poptrie<A> {
    rib: Rib<A>,
    short: Short,
    /// Bits by which the root is indexed.
    width: u8,
    root: Vec<u32>,
    nodes: Nodes,
    /// Kept for its memory.
    runs: Vec<Run<A>>,
}

impl<A: Address> Poptrie<A> {
    /// An empty table whose root is indexed by `width` bits, at least `SHORT` and at most 24.
    pub fn new(width: u8) -> Poptrie<A> {
        let width = width.clamp(SHORT, 24);
        Poptrie {
            rib: Rib::new(),
            short: Short::new(),
            width,
            root: vec![0; 1 << width],
            nodes: Nodes::default(),
            runs: Vec::new(),
        }
    }

    /// Bits by which the root is indexed.
    pub fn width(&self) -> u8 {
        self.width
    }

    /// Rebuilds the table with another width of its root.
    pub fn set_width(&mut self, width: u8) {
        self.width = width.clamp(SHORT, 24);
        self.build();
    }

    fn build(&mut self) {
        self.root = vec![0; 1 << self.width];
        self.nodes = Nodes::default();
        for region in Short::regions() {
            self.repaint(region);
        }
    }

    /// Adds many routes without making them visible to lookups yet.
    pub(super) fn load_only(&mut self, routes: &[(Prefix<A>, NextHop)]) {
        for &(prefix, hop) in routes.iter().filter(|(prefix, _)| prefix.len() <= SHORT) {
            self.short.set(prefix, Some(hop));
        }
        self.rib.load(routes);
    }

    /// Brings the words of `region` in line with the routes.
    fn repaint(&mut self, region: Prefix<A>) {
        self.rib.runs(region, SHORT + 1, &mut self.runs);
        let level = Level {
            base: A::default(),
            depth: 0,
            width: self.width,
        };
        if region.len() > self.width {
            let slot = region.first().field(0, self.width);
            self.root[slot] = self.nodes.update(
                self.root[slot],
                level.first(slot),
                self.width,
                region,
                &self.runs,
            );
            return;
        }
        for slot in level.slots(region) {
            self.nodes.free(self.root[slot]);
        }
        let (nodes, depth) = (&mut self.nodes, self.width);
        paint(&mut self.root, level, region, &self.runs, |base, runs| {
            nodes.build(base, depth, runs)
        });
    }

    fn change(&mut self, prefix: Prefix<A>, hop: Option<NextHop>) {
        if prefix.len() <= SHORT {
            self.short.set(prefix, hop);
        } else {
            self.repaint(prefix);
        }
    }

    #[inline]
    fn look_up_part<const FAR: bool>(&self, addrs: &[A], out: &mut [Option<NextHop>]) {
        let mut words = [0_u32; BATCH];
        let mut active = [0_u8; BATCH];
        let mut count = 0;
        if FAR {
            for addr in addrs {
                prefetch(&self.root[addr.field(0, self.width)]);
            }
        }
        for (i, addr) in addrs.iter().enumerate().take(BATCH) {
            let word = self.root[addr.field(0, self.width)];
            words[i] = word;
            active[count] = i as u8;
            count += (word >> 31) as usize;
            if FAR {
                self.nodes.fetch(word);
            }
        }
        let mut depth = self.width;
        while count > 0 {
            let mut rest = 0;
            for k in 0..count {
                let i = active[k];
                let at = usize::from(i) % BATCH;
                let word = self.nodes.step(words[at], addrs[at].field(depth, STRIDE));
                words[at] = word;
                active[rest] = i;
                rest += (word >> 31) as usize;
                if FAR {
                    self.nodes.fetch(word);
                }
            }
            count = rest;
            depth += STRIDE;
        }
        for ((out, addr), word) in out.iter_mut().zip(addrs).zip(words) {
            *out = self.short.or(word, *addr);
        }
    }
}

impl<A: Address> Table<A> for Poptrie<A> {
    #[inline]
    fn lookup(&self, addr: A) -> Option<NextHop> {
        let mut word = self.root[addr.field(0, self.width)];
        let mut depth = self.width;
        while word & NODE != 0 {
            word = self.nodes.step(word, addr.field(depth, STRIDE));
            depth += STRIDE;
        }
        self.short.or(word, addr)
    }

    fn lookup_batch(&self, addrs: &[A], out: &mut [Option<NextHop>]) {
        let far = self.bytes() > NEAR;
        let count = addrs.len().min(out.len());
        let (addrs, rest) = addrs[..count].as_chunks::<BATCH>();
        let (out, rest_out) = out[..count].as_chunks_mut::<BATCH>();
        for (addrs, out) in addrs.iter().zip(out) {
            if far {
                self.look_up_part::<true>(addrs, out);
            } else {
                self.look_up_part::<false>(addrs, out);
            }
        }
        self.look_up_part::<true>(rest, rest_out);
    }

    fn get(&self, prefix: Prefix<A>) -> Option<NextHop> {
        self.rib.get(prefix)
    }

    fn set(&mut self, prefix: Prefix<A>, hop: NextHop) -> Option<NextHop> {
        let old = self.rib.set(prefix, hop);
        if old != Some(hop) {
            self.change(prefix, Some(hop));
        }
        old
    }

    fn remove(&mut self, prefix: Prefix<A>) -> Option<NextHop> {
        let old = self.rib.remove(prefix);
        if old.is_some() {
            self.change(prefix, None);
        }
        old
    }

    fn load(&mut self, routes: &[(Prefix<A>, NextHop)]) {
        self.load_only(routes);
        self.build();
    }

    fn iter(&self) -> Box<dyn Iterator<Item = (Prefix<A>, NextHop)> + '_> {
        Box::new(self.rib.iter())
    }

    fn len(&self) -> usize {
        self.rib.len()
    }

    fn path(&self, addr: A, visit: &mut dyn FnMut(usize)) {
        let slot = addr.field(0, self.width);
        visit(4 * slot);
        let (mut word, mut depth) = (self.root[slot], self.width);
        while word & NODE != 0 {
            visit(4 * (self.root.len() + (word & !NODE) as usize));
            word = self.nodes.step(word, addr.field(depth, STRIDE));
            depth += STRIDE;
        }
    }

    fn bytes(&self) -> usize {
        4 * (self.root.len() + self.nodes.words.len()) + size_of::<Short>()
    }
}

/// The nodes in one array: each a bitmap of 64 bits, then its words.
#[derive(Clone, Debug, Default)]
struct Nodes {
    words: Vec<u32>,
    /// Places of freed nodes, by their number of words.
    free: Vec<Vec<u32>>,
}

impl Nodes {
    /// The word of a slot of a node.
    #[inline]
    fn step(&self, node: u32, slot: usize) -> u32 {
        let at = (node & !NODE) as usize;
        let map = u64::from(self.words[at]) | u64::from(self.words[at + 1]) << 32;
        // Bit 0 is always set: the first word begins at the first slot.
        let upto = map & (2_u64 << slot).wrapping_sub(1);
        self.words[at + 1 + upto.count_ones() as usize]
    }

    /// Prefetches a node, if `word` is one.
    #[inline]
    fn fetch(&self, word: u32) {
        if let Some(head) = self.words.get((word & !NODE) as usize) {
            prefetch(head);
        }
    }

    /// Frees a node and all below it.
    fn free(&mut self, word: u32) {
        if word & NODE == 0 {
            return;
        }
        let at = (word & !NODE) as usize;
        let count = self.count(at);
        for child in at + HEAD..at + HEAD + count {
            self.free(self.words[child]);
        }
        self.release(word, count);
    }

    fn count(&self, at: usize) -> usize {
        (self.words[at].count_ones() + self.words[at + 1].count_ones()) as usize
    }

    fn release(&mut self, node: u32, count: usize) {
        if self.free.len() <= count {
            self.free.resize(count + 1, Vec::new());
        }
        self.free[count].push(node);
    }

    /// A new place for a node of `count` words.
    fn place(&mut self, count: usize) -> u32 {
        if let Some(node) = self.free.get_mut(count).and_then(Vec::pop) {
            return node;
        }
        let at = self.words.len();
        self.words.resize(at + HEAD + count, 0);
        assert!(at < NODE as usize, "a table of 2^31 words, 8 GB, is full");
        at as u32 | NODE
    }

    /// The word for several runs that fill the slot at `base`, whose first `depth` bits are
    /// decided.
    fn build<A: Address>(&mut self, base: A, depth: u8, runs: &[Run<A>]) -> u32 {
        let level = Level {
            base,
            depth,
            width: STRIDE.min(A::BITS - depth),
        };
        let mut slots = [0; 1 << STRIDE];
        let below = depth + level.width;
        paint(
            &mut slots,
            level,
            Prefix::new(base, depth),
            runs,
            |base, runs| self.build(base, below, runs),
        );
        self.pack(None, &slots[..1 << level.width], STRIDE - level.width)
    }

    /// The word that takes the place of `word` once the runs of `region`, within its slot, have
    /// changed.
    fn update<A: Address>(
        &mut self,
        word: u32,
        base: A,
        depth: u8,
        region: Prefix<A>,
        runs: &[Run<A>],
    ) -> u32 {
        let level = Level {
            base,
            depth,
            width: STRIDE.min(A::BITS - depth),
        };
        let below = depth + level.width;
        let spare = STRIDE - level.width;
        let mut slots = [word; 1 << STRIDE];
        let slots = &mut slots[..1 << level.width];
        if word & NODE != 0 {
            for (slot, out) in slots.iter_mut().enumerate() {
                *out = self.step(word, slot << spare);
            }
        }
        if region.len() <= below {
            for slot in level.slots(region) {
                self.free(slots[slot]);
            }
            paint(slots, level, region, runs, |base, runs| {
                self.build(base, below, runs)
            });
        } else {
            let slot = level.slots(region).start;
            let old = slots[slot];
            slots[slot] = self.update(old, level.first(slot), below, region, runs);
            if slots[slot] == old {
                return word;
            }
        }
        let old = (word & NODE != 0).then_some(word);
        if slots[0] & NODE == 0 && slots.iter().all(|&other| other == slots[0]) {
            if let Some(node) = old {
                self.release(node, self.count((node & !NODE) as usize));
            }
            return slots[0];
        }
        self.pack(old, slots, spare)
    }

    /// Writes a node of these slots, which are 2^`spare` of the bitmap apart, over `old` if it
    /// fits.
    fn pack(&mut self, old: Option<u32>, slots: &[u32], spare: u8) -> u32 {
        let mut map = 0_u64;
        let mut words = [0; 1 << STRIDE];
        let mut count = 0;
        for (slot, &word) in slots.iter().enumerate() {
            if count == 0 || words[count - 1] != word {
                words[count] = word;
                count += 1;
                map |= 1 << (slot << spare);
            }
        }
        let node = match old {
            Some(node) => {
                let had = self.count((node & !NODE) as usize);
                if had == count {
                    node
                } else {
                    self.release(node, had);
                    self.place(count)
                }
            }
            None => self.place(count),
        };
        let at = (node & !NODE) as usize;
        self.words[at] = map as u32;
        self.words[at + 1] = (map >> 32) as u32;
        self.words[at + HEAD..at + HEAD + count].copy_from_slice(&words[..count]);
        node
    }
}
