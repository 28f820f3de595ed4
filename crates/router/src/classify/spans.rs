//! For which values of one field an expression holds: sorted intervals.
//!
//! A *field* is a word under a mask. A test under a narrower mask is one of intervals too where the
//! narrower mask is the upper part of the field's: `10.1.0.0/16` of an address is 10.1.0.0 to
//! 10.1.255.255. So prefixes of all lengths are one field; the two ports of a word are two.

use super::expr::{Arena, Expr, Relation, Shape, Test, Word};

/// A word under a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Field {
    pub(crate) word: Word,
    pub(crate) mask: u32,
}

/// Values from the first to the second, both included; sorted, with room between them.
pub(crate) type Spans = Vec<(u32, u32)>;

impl Field {
    /// Whether tests under `mask` ask for intervals of this field.
    pub(crate) fn covers(&self, word: Word, mask: u32) -> bool {
        let below = self.mask & !mask;
        self.word == word && mask & !self.mask == 0 && (below == 0 || below < lowest_bit(mask))
    }

    /// The values that a test passes.
    fn of_test(&self, test: &Test) -> Spans {
        let below = self.mask & !test.mask;
        let (value, last) = (test.value, test.value | below);
        match test.relation {
            Relation::Equal => vec![(value, last)],
            Relation::Greater if last >= self.mask => Vec::new(),
            Relation::Greater => vec![(last + 1, self.mask)],
        }
    }

    /// The values for which an expression holds, all of whose tests this field covers.
    pub(crate) fn spans(&self, arena: &Arena, expr: Expr) -> Spans {
        match arena.shape(expr) {
            Shape::True => vec![(0, self.mask)],
            Shape::False => Vec::new(),
            Shape::Test(test) => self.of_test(test),
            Shape::Not(inner) => self.others(&self.spans(arena, *inner)),
            Shape::Or(parts) => {
                let all = parts.iter().flat_map(|&part| self.spans(arena, part));
                union(all.collect())
            }
            Shape::And(parts) => {
                let out = parts
                    .iter()
                    .flat_map(|&part| self.others(&self.spans(arena, part)));
                self.others(&union(out.collect()))
            }
        }
    }

    /// The values of all but these intervals.
    fn others(&self, spans: &[(u32, u32)]) -> Spans {
        let mut others = Vec::with_capacity(spans.len() + 1);
        let mut next = Some(0);
        for &(low, high) in spans {
            if let Some(first) = next.filter(|&first| first < low) {
                others.push((first, low - 1));
            }
            next = high.checked_add(1);
        }
        if let Some(first) = next.filter(|&first| first <= self.mask) {
            others.push((first, self.mask));
        }
        others
    }
}

fn lowest_bit(mask: u32) -> u32 {
    mask & mask.wrapping_neg()
}

fn union(mut spans: Spans) -> Spans {
    spans.sort_unstable();
    let mut joined: Spans = Vec::with_capacity(spans.len());
    for (low, high) in spans {
        match joined.last_mut() {
            Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
            _ => joined.push((low, high)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::expr::Base;
    use trammel_core::rng::Rng;

    const WORD: Word = Word {
        base: Base::Network,
        offset: 0,
    };

    fn random(arena: &mut Arena, rng: &mut Rng, masks: &[u32], depth: u32) -> Expr {
        if depth == 0 {
            let mask = masks[rng.below(masks.len() as u64) as usize];
            let relation = [Relation::Equal, Relation::Greater][rng.below(2) as usize];
            let value = rng.below(256) as u32 & mask;
            return arena.bare(Test {
                word: WORD,
                mask,
                relation,
                value,
            });
        }
        let parts: Vec<Expr> = (0..=rng.below(3))
            .map(|_| random(arena, rng, masks, depth - 1))
            .collect();
        match rng.below(3) {
            0 => arena.and(&parts),
            1 => arena.or(&parts),
            _ => arena.not(parts[0]),
        }
    }

    #[test]
    fn an_expression_holds_for_the_values_within_its_spans_alone() {
        let masks = [0xff, 0xf0, 0x80, 0xfc];
        let field = Field {
            word: WORD,
            mask: 0xff,
        };
        let mut some = 0;
        for seed in 0..500 {
            let mut rng = Rng::new(seed, "spans");
            let mut arena = Arena::default();
            let depth = rng.below(4) as u32;
            let expr = random(&mut arena, &mut rng, &masks, depth);
            let spans = field.spans(&arena, expr);
            assert!(spans.windows(2).all(|two| two[0].1 + 1 < two[1].0));
            some += usize::from(!spans.is_empty());
            for value in 0..256 {
                let within = spans
                    .iter()
                    .any(|&(low, high)| (low..=high).contains(&value));
                assert_eq!(
                    within,
                    arena.evaluate(expr, &|_| value),
                    "{spans:?} {value}"
                );
            }
        }
        assert!(some > 300);
    }

    #[test]
    fn a_field_covers_the_upper_parts_of_its_mask() {
        let covers = |field, mask| {
            Field {
                word: WORD,
                mask: field,
            }
            .covers(WORD, mask)
        };
        assert!(covers(0xffff_ffff, 0xffff_0000) && covers(0xff00_00ff, 0xff00_0000));
        assert!(!covers(0xffff_ffff, 0xffff) && !covers(0xff00_00ff, 0xff));
        assert!(!covers(0xff00, 0xffff) && covers(0xff00, 0xff00));
    }
}
