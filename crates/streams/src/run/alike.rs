//! Streams that are alike: `count` makes `call-1`, `call-2`, … of `call`.

use std::ops::Range;
use trammel_traffic::stream::Stream;

/// Streams that are alike, one after the other, or one alone.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Alike {
    /// The name that they have in common, or the only one's.
    pub(super) name: String,
    /// Their places.
    pub(super) places: Range<usize>,
}

impl Alike {
    pub(super) fn count(&self) -> usize {
        self.places.len()
    }
}

/// All of a run, in their order.
pub(super) fn all(streams: &[Stream]) -> Vec<Alike> {
    let names: Vec<&str> = streams.iter().map(|one| one.name.as_str()).collect();
    by_names(&names)
}

fn by_names(names: &[&str]) -> Vec<Alike> {
    let (mut all, mut begin) = (Vec::new(), 0);
    while let Some(name) = names.get(begin) {
        let base = name.strip_suffix("-1");
        let is_next = |(n, name): (usize, &&str)| {
            base.is_some_and(|base| **name == format!("{base}-{}", n + 1))
        };
        let count = names[begin..].iter().enumerate();
        let count = count.take_while(|one| is_next(*one)).count().max(1);
        let name = base.filter(|_| count > 1).unwrap_or(name);
        all.push(Alike {
            name: name.to_owned(),
            places: begin..begin + count,
        });
        begin += count;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_order_make_streams_alike() {
        let of = |names: &[&str]| {
            let all = by_names(names).into_iter();
            all.map(|one| (one.name.clone(), one.count()))
                .collect::<Vec<_>>()
        };
        let wanted = [("call", 2), ("web", 1), ("x-1", 1), ("x-3", 1)];
        let wanted = wanted.map(|(name, count)| (name.to_owned(), count));
        assert_eq!(of(&["call-1", "call-2", "web", "x-1", "x-3"]), wanted);
        assert!(of(&[]).is_empty());
    }
}
