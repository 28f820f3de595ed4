//! A table for few routes and for many: a [`Poptrie`] whose root grows with its routes.
//!
//! A wide root saves levels but must itself be fetched. With few routes a root of 8 bits, 1 KB, stays in
//! the nearest cache beside the packets; each widening rebuilds the table once, when it has grown by a
//! factor, so that a route pays for it a constant number of times.

use super::poptrie::Poptrie;
use super::{NextHop, Prefix, Table};

/// From how many routes on the root has how many bits.
const WIDTHS: &[(usize, u8)] = &[(0, 8), (64, 12), (1_000, 16), (10_000, 18)];

/// A table of IPv4 routes.
#[derive(Clone, Debug)]
pub struct Radix {
    trie: Poptrie<u32>,
}

impl Radix {
    /// An empty table.
    pub fn new() -> Radix {
        Radix {
            trie: Poptrie::new(WIDTHS[0].1),
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
        self.trie.lookup_batch(addrs, out);
    }

    fn get(&self, prefix: Prefix<u32>) -> Option<NextHop> {
        self.trie.get(prefix)
    }

    fn set(&mut self, prefix: Prefix<u32>, hop: NextHop) -> Option<NextHop> {
        let old = self.trie.set(prefix, hop);
        if let Some(width) = self.wider() {
            self.trie.set_width(width);
        }
        old
    }

    fn remove(&mut self, prefix: Prefix<u32>) -> Option<NextHop> {
        self.trie.remove(prefix)
    }

    fn load(&mut self, routes: &[(Prefix<u32>, NextHop)]) {
        self.trie.load_only(routes);
        self.trie
            .set_width(self.wider().unwrap_or(self.trie.width()));
    }

    fn iter(&self) -> Box<dyn Iterator<Item = (Prefix<u32>, NextHop)> + '_> {
        self.trie.iter()
    }

    fn len(&self) -> usize {
        self.trie.len()
    }

    fn bytes(&self) -> usize {
        self.trie.bytes()
    }
}
