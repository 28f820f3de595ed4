//! Boolean expressions over tests of packet bytes: what both rule languages become.
//!
//! Expressions are kept once each (equal ones have equal numbers), so that two sets of rules are
//! the same exactly where their numbers are. A test reads an unaligned word of four bytes in the
//! network's order:
//!
//! ```text
//! Equal:   word & mask == value        Greater: word & mask > value
//! ```
//! **Short packets.** A test whose bytes are not all there is false, whatever its relation (`!=`
//! and `<=` too); only `not` makes true of that. So each test stands beside a test of the length,
//! itself a word (of [`Base::Length`]), and the tests themselves may read what they like.

use super::quick_hash::{QuickMap, QuickSet};
use std::collections::BTreeSet;

/// Where an offset counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Base {
    /// The first byte of the data.
    Data,
    /// The first byte of the link header.
    Link,
    /// The first byte of the network header.
    Network,
    /// The first byte of the transport header.
    Transport,
    /// No bytes: the word at 4·*b* is how many bytes there are from base *b* on.
    Length,
}

/// How many bases have bytes.
pub(crate) const BASES: usize = 4;

/// A word of the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Word {
    pub(crate) base: Base,
    /// In bytes; −2 where an Ethernet address starts in the midst of a word.
    pub(crate) offset: i32,
}

/// What is asked of a masked word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Relation {
    /// It is the value.
    Equal,
    /// It is greater than the value.
    Greater,
}

/// A test of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Test {
    pub(crate) word: Word,
    pub(crate) mask: u32,
    pub(crate) relation: Relation,
    pub(crate) value: u32,
}

impl Test {
    /// Whether a word passes.
    #[cfg(test)]
    pub(crate) fn holds(&self, word: u32) -> bool {
        match self.relation {
            Relation::Equal => word & self.mask == self.value,
            Relation::Greater => word & self.mask > self.value,
        }
    }
}

/// What is known of one word.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fact<'a> {
    /// `word & mask == value`
    Is { mask: u32, value: u32 },
    /// `word & mask` is none of these, which are sorted.
    NoneOf { mask: u32, values: &'a [u32] },
    /// `low <= word & mask <= high`
    Within { mask: u32, low: u32, high: u32 },
}

impl Fact<'_> {
    /// What is left to ask of `test` once this is known.
    fn decide(&self, test: &Test) -> Left {
        let &Test {
            mask,
            value,
            relation,
            ..
        } = test;
        match (*self, relation) {
            (
                Fact::Is {
                    mask: known,
                    value: is,
                },
                Relation::Equal,
            ) => {
                if (value ^ is) & mask & known != 0 {
                    Left::False
                } else if mask & !known == 0 {
                    Left::True
                } else {
                    let mask = mask & !known;
                    Left::Ask(Test {
                        mask,
                        value: value & mask,
                        ..*test
                    })
                }
            }
            (
                Fact::Is {
                    mask: known,
                    value: is,
                },
                Relation::Greater,
            ) if mask & !known == 0 => Left::of(is & mask > value),
            (
                Fact::NoneOf {
                    mask: known,
                    values,
                },
                Relation::Equal,
            ) if known & !mask == 0 && values.binary_search(&(value & known)).is_ok() => {
                Left::False
            }
            (
                Fact::Within {
                    mask: known,
                    low,
                    high,
                },
                Relation::Equal,
            ) if known == mask => {
                if value < low || value > high {
                    Left::False
                } else if low == high {
                    Left::True
                } else {
                    Left::Ask(*test)
                }
            }
            (
                Fact::Within {
                    mask: known,
                    low,
                    high,
                },
                Relation::Greater,
            ) if known == mask => {
                if low > value {
                    Left::True
                } else if high <= value {
                    Left::False
                } else {
                    Left::Ask(*test)
                }
            }
            _ => Left::Ask(*test),
        }
    }
}

/// What is left of a test.
enum Left {
    True,
    False,
    Ask(Test),
}

impl Left {
    fn of(truth: bool) -> Left {
        if truth { Left::True } else { Left::False }
    }
}

/// Parts of an expression that are told apart one by one.
const FEW: usize = 16;

/// The number of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Expr(u32);

impl Expr {
    /// Every packet.
    pub(crate) const TRUE: Expr = Expr(0);
    /// No packet.
    pub(crate) const FALSE: Expr = Expr(1);
}

/// An expression, one level of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Shape {
    True,
    False,
    Test(Test),
    Not(Expr),
    And(Box<[Expr]>),
    Or(Box<[Expr]>),
}

/// All expressions.
#[derive(Debug)]
pub(crate) struct Arena {
    shapes: Vec<Shape>,
    numbers: QuickMap<Shape, Expr>,
    words: Vec<Option<Box<[Word]>>>,
}

impl Default for Arena {
    fn default() -> Arena {
        let mut arena = Arena {
            shapes: Vec::new(),
            numbers: QuickMap::default(),
            words: Vec::new(),
        };
        arena.add(Shape::True);
        arena.add(Shape::False);
        arena
    }
}

impl Arena {
    fn add(&mut self, shape: Shape) -> Expr {
        if let Some(&number) = self.numbers.get(&shape) {
            return number;
        }
        let number = Expr(self.shapes.len() as u32);
        self.shapes.push(shape.clone());
        self.numbers.insert(shape, number);
        self.words.push(None);
        number
    }

    /// What an expression is.
    pub(crate) fn shape(&self, expr: Expr) -> &Shape {
        &self.shapes[expr.0 as usize]
    }

    /// A bare test, without one of the length.
    pub(crate) fn bare(&mut self, test: Test) -> Expr {
        match (test.mask, test.relation) {
            (0, Relation::Equal) => Arena::truth(test.value == 0),
            (mask, Relation::Greater) if test.value >= mask => Expr::FALSE,
            (mask, Relation::Equal) if test.value & !mask != 0 => Expr::FALSE,
            _ => self.add(Shape::Test(test)),
        }
    }

    fn truth(truth: bool) -> Expr {
        if truth { Expr::TRUE } else { Expr::FALSE }
    }

    /// A test, and its bytes are there; the opposite test where `negated`, and its bytes are there.
    pub(crate) fn test(&mut self, test: Test, negated: bool) -> Expr {
        let bare = self.bare(test);
        if test.mask == 0 {
            return if negated { self.not(bare) } else { bare };
        }
        let bytes = 4 - test.mask.trailing_zeros() as i32 / 8;
        let there = self.bare(Test {
            word: Word {
                base: Base::Length,
                offset: 4 * test.word.base as i32,
            },
            mask: u32::MAX,
            relation: Relation::Greater,
            value: (test.word.offset + bytes - 1) as u32,
        });
        let asked = if negated { self.not(bare) } else { bare };
        self.and(&[there, asked])
    }

    /// Its opposite.
    pub(crate) fn not(&mut self, expr: Expr) -> Expr {
        match *self.shape(expr) {
            Shape::True => Expr::FALSE,
            Shape::False => Expr::TRUE,
            Shape::Not(inner) => inner,
            _ => self.add(Shape::Not(expr)),
        }
    }

    /// All of them, in this order.
    pub(crate) fn and(&mut self, all: &[Expr]) -> Expr {
        self.join(all, Expr::TRUE, Expr::FALSE)
    }

    /// Any of them, in this order.
    pub(crate) fn or(&mut self, all: &[Expr]) -> Expr {
        self.join(all, Expr::FALSE, Expr::TRUE)
    }

    fn join(&mut self, all: &[Expr], neutral: Expr, deciding: Expr) -> Expr {
        let mut parts: Vec<Expr> = Vec::with_capacity(all.len());
        let mut seen = QuickSet::default();
        for &expr in all {
            let inner: &[Expr] = match (self.shape(expr), neutral) {
                (Shape::And(inner), Expr::TRUE) | (Shape::Or(inner), Expr::FALSE) => inner,
                _ => std::slice::from_ref(&expr),
            };
            for &part in inner {
                if part == deciding {
                    return deciding;
                }
                if part == neutral {
                    continue;
                }
                // Few are compared sooner than looked up.
                if parts.len() == FEW {
                    seen.extend(parts.iter().copied());
                }
                let is_new = if parts.len() < FEW {
                    !parts.contains(&part)
                } else {
                    seen.insert(part)
                };
                if is_new {
                    parts.push(part);
                }
            }
        }
        match (parts.len(), neutral) {
            (0, _) => neutral,
            (1, _) => parts[0],
            (_, Expr::TRUE) => self.add(Shape::And(parts.into())),
            _ => self.add(Shape::Or(parts.into())),
        }
    }

    /// `condition ? yes : no`
    pub(crate) fn choice(&mut self, condition: Expr, yes: Expr, no: Expr) -> Expr {
        let not = self.not(condition);
        let yes = self.and(&[condition, yes]);
        let no = self.and(&[not, no]);
        self.or(&[yes, no])
    }

    /// The words that an expression asks of, sorted.
    pub(crate) fn words(&mut self, expr: Expr) -> &[Word] {
        if self.words[expr.0 as usize].is_none() {
            let mut all = BTreeSet::new();
            match self.shape(expr).clone() {
                Shape::True | Shape::False => {}
                Shape::Test(test) => {
                    all.insert(test.word);
                }
                Shape::Not(inner) => all.extend(self.words(inner)),
                Shape::And(parts) | Shape::Or(parts) => {
                    for &part in &parts {
                        all.extend(self.words(part));
                    }
                }
            }
            self.words[expr.0 as usize] = Some(all.into_iter().collect());
        }
        self.words[expr.0 as usize]
            .as_deref()
            .expect("the words of `expr` were made above")
    }

    /// What is left of an expression once `fact` is known of `word`. `done` remembers for this fact
    /// alone.
    pub(crate) fn given(
        &mut self,
        expr: Expr,
        word: Word,
        fact: Fact<'_>,
        done: &mut QuickMap<Expr, Expr>,
    ) -> Expr {
        if self.words(expr).binary_search(&word).is_err() {
            return expr;
        }
        if let Some(&left) = done.get(&expr) {
            return left;
        }
        let left = match self.shape(expr).clone() {
            Shape::True | Shape::False => expr,
            Shape::Test(test) => match fact.decide(&test) {
                Left::True => Expr::TRUE,
                Left::False => Expr::FALSE,
                Left::Ask(test) => self.bare(test),
            },
            Shape::Not(inner) => {
                let inner = self.given(inner, word, fact, done);
                self.not(inner)
            }
            Shape::And(parts) => {
                let parts = self.given_all(&parts, word, fact, done, Expr::FALSE);
                self.and(&parts)
            }
            Shape::Or(parts) => {
                let parts = self.given_all(&parts, word, fact, done, Expr::TRUE);
                self.or(&parts)
            }
        };
        done.insert(expr, left);
        left
    }

    fn given_all(
        &mut self,
        parts: &[Expr],
        word: Word,
        fact: Fact<'_>,
        done: &mut QuickMap<Expr, Expr>,
        deciding: Expr,
    ) -> Vec<Expr> {
        let mut left = Vec::with_capacity(parts.len());
        for &part in parts {
            let part = self.given(part, word, fact, done);
            left.push(part);
            if part == deciding {
                break;
            }
        }
        left
    }

    /// Every test of an expression, in order of appearance.
    pub(crate) fn tests(&self, expr: Expr, each: &mut impl FnMut(&Test)) {
        match self.shape(expr) {
            Shape::True | Shape::False => {}
            Shape::Test(test) => each(test),
            Shape::Not(inner) => self.tests(*inner, each),
            Shape::And(parts) | Shape::Or(parts) => {
                for &part in parts {
                    self.tests(part, each);
                }
            }
        }
    }

    /// The tests without which the expression is false, those of its outermost `and`, and whether
    /// it is their opposite that must hold.
    pub(crate) fn necessary(&self, expr: Expr) -> impl Iterator<Item = (&Test, bool)> {
        let parts: &[Expr] = match self.shape(expr) {
            Shape::And(parts) => parts,
            _ => &[],
        };
        let alone = parts.is_empty().then_some(expr);
        let parts = parts.iter().copied().chain(alone);
        parts.filter_map(|part| match self.shape(part) {
            Shape::Test(test) => Some((test, false)),
            Shape::Not(inner) => match self.shape(*inner) {
                Shape::Test(test) => Some((test, true)),
                _ => None,
            },
            _ => None,
        })
    }

    /// Whether an expression is true, of the words that `word` reads.
    #[cfg(test)]
    pub(crate) fn evaluate(&self, expr: Expr, word: &impl Fn(Word) -> u32) -> bool {
        match self.shape(expr) {
            Shape::True => true,
            Shape::False => false,
            Shape::Test(test) => test.holds(word(test.word)),
            Shape::Not(inner) => !self.evaluate(*inner, word),
            Shape::And(parts) => parts.iter().all(|&part| self.evaluate(part, word)),
            Shape::Or(parts) => parts.iter().any(|&part| self.evaluate(part, word)),
        }
    }
}
