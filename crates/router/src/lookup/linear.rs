//! A list of routes, all of which are tried: for few routes, printed in the order of their arrival.
//!
//! The list is kept twice: in the order for printing, where a new route takes the first place that
//! a removed one has left, as in Click; and by length, the shortest first, for lookups. There the
//! routes are the outer loop and the addresses of a batch the inner one, whose steps are
//! independent and without branches: the last prefix that matches is the longest.

use super::{Address, BATCH, NextHop, Prefix, Table};

/// A table over addresses of any width.
#[derive(Clone, Debug, Default)]
pub struct Linear<A> {
    printed: Vec<Option<Prefix<A>>>,
    by_len: Vec<Entry<A>>,
}

#[derive(Clone, Copy, Debug)]
struct Entry<A> {
    prefix: Prefix<A>,
    mask: A,
    word: u32,
}

impl<A: Address> Entry<A> {
    /// Its word if it matches, else `word`; without a branch.
    #[inline]
    fn try_on(&self, addr: A, word: u32) -> u32 {
        let outside = u32::from(addr.and(self.mask) == self.prefix.first()).wrapping_sub(1);
        (word & outside) | (self.word & !outside)
    }
}

impl<A: Address> Linear<A> {
    /// An empty table.
    pub fn new() -> Linear<A> {
        Linear {
            printed: Vec::new(),
            by_len: Vec::new(),
        }
    }

    /// Looks up a full batch, which the compiler turns into vectors.
    #[inline]
    fn look_up_part(&self, addrs: &[A; BATCH]) -> [Option<NextHop>; BATCH] {
        let mut words = [0_u32; BATCH];
        for entry in &self.by_len {
            for (word, addr) in words.iter_mut().zip(addrs) {
                *word = entry.try_on(*addr, *word);
            }
        }
        words.map(NextHop::from_word)
    }

    fn find(&self, prefix: Prefix<A>) -> Result<usize, usize> {
        self.by_len
            .binary_search_by_key(&(prefix.len(), prefix), |entry| {
                (entry.prefix.len(), entry.prefix)
            })
    }
}

impl<A: Address> Table<A> for Linear<A> {
    fn lookup(&self, addr: A) -> Option<NextHop> {
        NextHop::from_word(
            self.by_len
                .iter()
                .fold(0, |word, entry| entry.try_on(addr, word)),
        )
    }

    fn lookup_batch(&self, addrs: &[A], out: &mut [Option<NextHop>]) {
        let count = addrs.len().min(out.len());
        let (addrs, rest) = addrs[..count].as_chunks::<BATCH>();
        let (out, rest_out) = out[..count].as_chunks_mut::<BATCH>();
        for (addrs, out) in addrs.iter().zip(out) {
            *out = self.look_up_part(addrs);
        }
        if !rest.is_empty() {
            let mut keys = [A::default(); BATCH];
            keys[..rest.len()].copy_from_slice(rest);
            rest_out.copy_from_slice(&self.look_up_part(&keys)[..rest.len()]);
        }
    }

    fn get(&self, prefix: Prefix<A>) -> Option<NextHop> {
        self.find(prefix)
            .ok()
            .and_then(|at| NextHop::from_word(self.by_len[at].word))
    }

    fn set(&mut self, prefix: Prefix<A>, hop: NextHop) -> Option<NextHop> {
        let word = NextHop::word(Some(hop));
        match self.find(prefix) {
            Ok(at) => {
                let old = std::mem::replace(&mut self.by_len[at].word, word);
                NextHop::from_word(old)
            }
            Err(at) => {
                let mask = A::default().fill(0).keep(prefix.len());
                self.by_len.insert(at, Entry { prefix, mask, word });
                match self.printed.iter_mut().find(|place| place.is_none()) {
                    Some(place) => *place = Some(prefix),
                    None => self.printed.push(Some(prefix)),
                }
                None
            }
        }
    }

    fn remove(&mut self, prefix: Prefix<A>) -> Option<NextHop> {
        let at = self.find(prefix).ok()?;
        let old = self.by_len.remove(at);
        for place in self
            .printed
            .iter_mut()
            .filter(|place| **place == Some(prefix))
        {
            *place = None;
        }
        NextHop::from_word(old.word)
    }

    fn load(&mut self, routes: &[(Prefix<A>, NextHop)]) {
        for &(prefix, hop) in routes {
            self.set(prefix, hop);
        }
    }

    fn iter(&self) -> Box<dyn Iterator<Item = (Prefix<A>, NextHop)> + '_> {
        let places = self.printed.iter().flatten();
        Box::new(places.filter_map(|&prefix| Some((prefix, self.get(prefix)?))))
    }

    fn prints_arrival(&self) -> bool {
        true
    }

    fn len(&self) -> usize {
        self.by_len.len()
    }

    fn path(&self, _: A, _: &mut dyn FnMut(usize)) {
        // Nothing waits: every route is tried.
    }

    fn listed(&self) -> usize {
        self.len()
    }

    fn bytes(&self) -> usize {
        self.by_len.len() * size_of::<Entry<A>>()
    }
}
