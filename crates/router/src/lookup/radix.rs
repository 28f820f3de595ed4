//! A table for few routes and for many: a list, then a [`Poptrie`] whose root grows with its
//! routes.
//!
//! Up to `FEW` routes are also kept as a [`Linear`] list, which answers batches in the same short
//! time whatever the addresses, where a trie depends on how well the processor foresees its
//! branches. The widths of the root are six bits apart from 24, so that a prefix of 24 bits, the
//! commonest length by far, ends with a node. Widening rebuilds the table, once.

use super::linear::Linear;
use super::poptrie::Poptrie;
use super::{NextHop, Prefix, Table};

/// From how many routes on the root has how many bits: 16 KB, then 1 MB.
const WIDTHS: &[(usize, u8)] = &[(0, 12), (256, 18)];
/// Routes up to which the list is the faster one.
const FEW: usize = 24;
/// Addresses from which on the list, whose cost is that of a full batch, is the faster one.
const MANY: usize = 8;

/// A table of IPv4 routes.
#[derive(Clone, Debug)]
pub struct Radix {
    trie: Poptrie<u32>,
    /// All routes, or none if they are more than [`FEW`].
    list: Linear<u32>,
}

impl Radix {
    /// An empty table.
    pub fn new() -> Radix {
        Radix {
            trie: Poptrie::new(WIDTHS[0].1),
            list: Linear::new(),
        }
    }

    /// The width that suits the number of routes, if it is more than the root has.
    fn wider(&self) -> Option<u8> {
        let suits = WIDTHS
            .iter()
            .rev()
            .find(|(routes, _)| self.trie.len() >= *routes)?
            .1;
        (suits > self.trie.width()).then_some(suits)
    }

    /// Brings the list in line with the trie.
    fn list(&mut self) {
        if self.trie.len() <= FEW || !self.list.is_empty() {
            self.list = Linear::new();
        }
        if self.trie.len() <= FEW {
            self.trie.iter().for_each(|(prefix, hop)| {
                self.list.set(prefix, hop);
            });
        }
    }
}

impl Default for Radix {
    fn default() -> Self {
        Radix::new()
    }
}

impl Table<u32> for Radix {
    #[inline]
    fn lookup(&self, addr: u32) -> Option<NextHop> {
        self.trie.lookup(addr)
    }

    fn lookup_batch(&self, addrs: &[u32], out: &mut [Option<NextHop>]) {
        if self.list.is_empty() || addrs.len() < MANY {
            self.trie.lookup_batch(addrs, out);
        } else {
            self.list.lookup_batch(addrs, out);
        }
    }

    fn get(&self, prefix: Prefix<u32>) -> Option<NextHop> {
        self.trie.get(prefix)
    }

    fn set(&mut self, prefix: Prefix<u32>, hop: NextHop) -> Option<NextHop> {
        let old = self.trie.set(prefix, hop);
        if let Some(width) = self.wider() {
            self.trie.set_width(width);
        }
        self.list();
        old
    }

    fn remove(&mut self, prefix: Prefix<u32>) -> Option<NextHop> {
        let old = self.trie.remove(prefix);
        self.list();
        old
    }

    fn load(&mut self, routes: &[(Prefix<u32>, NextHop)]) {
        self.trie.load_only(routes);
        self.trie
            .set_width(self.wider().unwrap_or(self.trie.width()));
        self.list();
    }

    fn iter(&self) -> Box<dyn Iterator<Item = (Prefix<u32>, NextHop)> + '_> {
        self.trie.iter()
    }

    fn len(&self) -> usize {
        self.trie.len()
    }

    fn listed(&self) -> usize {
        self.list.len()
    }

    fn path(&self, addr: u32, visit: &mut dyn FnMut(usize)) {
        if self.list.is_empty() {
            self.trie.path(addr, visit);
        } else {
            self.list.path(addr, visit);
        }
    }

    fn bytes(&self) -> usize {
        self.trie.bytes() + self.list.bytes()
    }
}
