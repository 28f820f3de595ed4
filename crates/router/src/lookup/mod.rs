//! Route tables: the longest prefix that matches an address.
//!
//! A table maps a prefix to a [`NextHop`], a number of 32 bits; the gateways and ports for which
//! the numbers stand are kept beside it, once each ([`Routes`]). Every fast table consists of the
//! routes in order (`rib::Rib`) and of a structure derived from them that answers lookups. A change
//! repaints only the addresses of its prefix, from the routes inside it, so that a removal uncovers
//! what lay below.
//!
//! - [`radix::Radix`] (RadixIPLookup, StaticIPLookup, RangeIPLookup) is as small as its routes: of
//!   a few kilobytes for a few routes, within a third-level cache for a million. RangeIPLookup asks
//!   for what it is, a compact copy made for lookups.
//! - [`direct::Direct`] (DirectIPLookup) makes one access for a prefix of up to 24 bits, for 64 MB
//!   of memory.
//! - [`linear::Linear`] (LinearIPLookup) prints its routes in the order of their arrival, as
//!   Click's does; for few routes.
//! - [`poptrie::Poptrie`] (LookupIP6Route) is the trie within `Radix`, over 128 bits.
//!
//! Prefixes of at most `short::SHORT` bits stand aside (`short::Short`): a change of the default
//! route would otherwise repaint everything.
//!
//! # Cost
//! Core cycles a lookup of random addresses in batches of 32, the least of three runs beside other
//! work (2 virtual cores of an AMD EPYC, family 26;
//! `cargo run --release -p trammel-router --example lookups`, 2026-11-22): `Radix` 4.0 with 8
//! routes, 7.6 with 1,000, 9.5 with 10,000, 18 with 100,000 and 53 with a million, which load in
//! 0.21 s; `Direct` 12, 16, 38, 46, 42 and 0.21 s. With a million routes, roots of 16, 18, 20 and
//! 22 bits cost 75, 42, 40 and 55; batches of 8, 16, 32 and 64 addresses 95, 71, 35 and 36. Nodes
//! within one cache line each, or fetching a second line, gained nothing.

pub mod direct;
pub(crate) mod ip_lookup;
pub mod linear;
pub mod poptrie;
pub(crate) mod prefix;
pub mod radix;
pub(crate) mod rib;
pub(crate) mod routes;
pub(crate) mod short;
pub(crate) mod study;

pub use prefix::{Address, Prefix};
pub use routes::{Route, Routes};
use std::num::NonZeroU32;

/// Addresses that a table looks up at once, at most; longer slices are cut into such parts.
pub const BATCH: usize = 32;
/// Bytes up to which a structure is taken to be in the nearest cache, where prefetching only costs.
pub const NEAR: usize = 32 << 10;

/// The number of a next hop; see [`Routes`] for its gateway and port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NextHop(NonZeroU32);

impl NextHop {
    /// Next hops are numbered 0 … `LIMIT` − 1: tables use the highest bit of a word, and 0 for
    /// none.
    pub const LIMIT: u32 = (1 << 31) - 1;

    /// The next hop of number `index`, which is below [`NextHop::LIMIT`].
    pub fn new(index: u32) -> Option<NextHop> {
        if index < NextHop::LIMIT {
            NonZeroU32::new(index + 1).map(NextHop)
        } else {
            None
        }
    }

    /// Its number.
    #[inline]
    pub fn index(self) -> u32 {
        self.0.get() - 1
    }

    /// The word of a table that stands for `hop`, 0 for none.
    #[inline]
    fn word(hop: Option<NextHop>) -> u32 {
        hop.map_or(0, |hop| hop.0.get())
    }

    /// The next hop for which a table's word stands.
    #[inline]
    fn from_word(word: u32) -> Option<NextHop> {
        NonZeroU32::new(word).map(NextHop)
    }
}

/// The mean of `levels` over the first and the last address of every route; 1 without routes.
fn mean_levels<A: Address>(
    routes: impl Iterator<Item = (Prefix<A>, NextHop)>,
    levels: impl Fn(A) -> u32,
) -> f64 {
    let (mut sum, mut count) = (0, 0_u64);
    for (prefix, _) in routes {
        sum += u64::from(levels(prefix.first()) + levels(prefix.last()));
        count += 2;
    }
    if count == 0 {
        return 1.0;
    }
    sum as f64 / count as f64
}

/// A table of routes that finds the longest prefix of an address.
pub trait Table<A: Address> {
    /// The next hop of the longest prefix that contains `addr`.
    fn lookup(&self, addr: A) -> Option<NextHop>;

    /// Looks up all `addrs` into `out`, of the same length; what is beyond the shorter one is left.
    fn lookup_batch(&self, addrs: &[A], out: &mut [Option<NextHop>]);

    /// The next hop of exactly this prefix.
    fn get(&self, prefix: Prefix<A>) -> Option<NextHop>;

    /// Adds a route or replaces the one of this prefix, whose next hop is returned.
    fn set(&mut self, prefix: Prefix<A>, hop: NextHop) -> Option<NextHop>;

    /// Adds a route unless there is one of this prefix, whose next hop is then the error.
    fn insert(&mut self, prefix: Prefix<A>, hop: NextHop) -> Result<(), NextHop> {
        if let Some(old) = self.get(prefix) {
            return Err(old);
        }
        self.set(prefix, hop);
        Ok(())
    }

    /// Removes the route of exactly this prefix and returns its next hop.
    fn remove(&mut self, prefix: Prefix<A>) -> Option<NextHop>;

    /// Sets all `routes` at once, much faster than one by one if there are many; the last of equal
    /// prefixes counts. Linear in the size of the whole table.
    fn load(&mut self, routes: &[(Prefix<A>, NextHop)]);

    /// All routes, in the order in which the table prints them.
    fn iter(&self) -> Box<dyn Iterator<Item = (Prefix<A>, NextHop)> + '_>;

    /// Whether routes are printed in the order of their arrival rather than by address.
    fn prints_arrival(&self) -> bool {
        false
    }

    /// The number of routes.
    fn len(&self) -> usize;

    /// Whether there is no route.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The places, in bytes from its beginning, that a lookup of `addr` reads one after the other.
    fn path(&self, addr: A, visit: &mut dyn FnMut(usize));

    /// Routes that are all tried for each address, where there is no structure to walk.
    fn listed(&self) -> usize {
        0
    }

    /// Accesses of a lookup that wait for one another, on average over the ends of all routes.
    fn levels(&self) -> f64 {
        mean_levels(self.iter(), |addr| {
            let mut levels = 0;
            self.path(addr, &mut |_| levels += 1);
            levels
        })
    }

    /// Its size, as operations call it by names.
    fn quantities(&self) -> Vec<(&'static str, f64)> {
        let bytes = self.bytes() as f64;
        vec![
            ("routes", self.len() as f64),
            ("levels", self.levels()),
            ("listed", self.listed() as f64),
            ("asked", 1.0),
            ("ways", 0.0),
            ("lines", (bytes / 64.0).ceil()),
            ("pages", (bytes / 4096.0).ceil()),
        ]
    }

    /// Bytes of the structure that answers lookups, without the ordered copy of the routes.
    fn bytes(&self) -> usize;
}
