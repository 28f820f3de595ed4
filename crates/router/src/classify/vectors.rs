//! Many rules at once: for each field a bit for each rule, and the first rule that has its bit in
//! all.
//!
//! The values of a field fall into intervals within which all rules agree; each interval has a
//! vector of bits, one for each rule that the field's value lets pass (Lakshman and Stiliadis,
//! 1998). A packet costs one binary search a field and an *and* of the vectors. Vectors are cut
//! into lines of 512 bits: a summary says which lines are not empty (Baboescu and Varghese, 2001),
//! and equal lines are kept once. As one interval differs from the next in few rules, most lines
//! are shared:
//!
//! ```text
//! 10,000 rules: per interval 20 numbers of lines, and one new line for a rule that starts or
//! ends there
//! ```
//! So memory and time to build are bounded by tests × lines, however the rules overlap.
//!
//! What of a rule is not of single fields is cut into alternatives that are, where these are few;
//! what is left then is a *check* of the rules whose bits are all set, in order.

use super::compile::Target;
use super::expr::{Arena, Expr, Shape, Word};
use super::frame::{Frame, Place};
use super::quick_hash::QuickMap;
use super::spans::{Field, Spans};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Fields that have a column; tests of further ones are checks.
const MOST_FIELDS: usize = 12;
/// Alternatives that a rule is cut into.
const MOST_PRODUCTS: usize = 16;
/// Rules of one set of vectors: a summary is a word.
pub(crate) const MOST_RULES: usize = 32 * LINE_BITS;
/// Rules of one line: the bits of a line of the cache.
const LINE_BITS: usize = 512;

/// The bits of 512 rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(align(64))]
struct Line([u64; LINE_BITS / 64]);

/// The intervals of a field.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Column {
    at: Place,
    mask: u32,
    /// The last value of each interval but the last, sorted.
    lasts: Vec<u32>,
    /// For each interval, which of its lines have a bit.
    summaries: Vec<u32>,
    /// For each interval, its lines.
    lines: Vec<u32>,
}

/// The vectors of up to [`MOST_RULES`] rules.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Vectors {
    columns: Vec<Column>,
    /// Lines of a vector.
    count: usize,
    /// All lines, each once.
    lines: Vec<Line>,
    /// Which lines there are.
    all: u32,
}

/// A conjunction: what single fields must be, and what else is to be checked.
#[derive(Clone, Debug, Default)]
struct Product {
    plain: Vec<Expr>,
    rest: Vec<Expr>,
}

/// A rule, or one alternative of it.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    spans: BTreeMap<usize, Arc<Spans>>,
    /// What is left to check where all bits are set.
    pub(crate) check: Expr,
    pub(crate) to: Target,
}

/// Cuts rules into fields.
#[derive(Debug)]
pub(crate) struct Cutter<'a> {
    arena: &'a mut Arena,
    fields: Vec<Field>,
    /// The field that an expression is of, and the values it holds for.
    of_one: QuickMap<Expr, Option<(usize, Arc<Spans>)>>,
}

impl<'a> Cutter<'a> {
    /// Finds the fields of these rules.
    pub(crate) fn new(arena: &'a mut Arena, rules: &[(Expr, Target)]) -> Cutter<'a> {
        let mut asked: BTreeMap<(Word, u32), usize> = BTreeMap::new();
        for &(expr, _) in rules {
            arena.tests(expr, &mut |test| {
                *asked.entry((test.word, test.mask)).or_default() += 1;
            });
        }
        // The widest mask of a word first: others may be parts of it. A word before its base is
        // none that can be loaded.
        let mut asked: Vec<_> = asked
            .into_iter()
            .filter(|((word, _), _)| word.offset >= 0)
            .collect();
        asked.sort_by_key(|&((word, mask), _)| (std::cmp::Reverse(mask.count_ones()), word, mask));
        let mut fields: Vec<(Field, usize)> = Vec::new();
        for ((word, mask), count) in asked {
            match fields
                .iter_mut()
                .find(|(field, _)| field.covers(word, mask))
            {
                Some((_, uses)) => *uses += count,
                None => fields.push((Field { word, mask }, count)),
            }
        }
        fields.sort_by_key(|&(field, uses)| (std::cmp::Reverse(uses), field));
        fields.truncate(MOST_FIELDS);
        Cutter {
            arena,
            fields: fields.into_iter().map(|(field, _)| field).collect(),
            of_one: QuickMap::default(),
        }
    }

    /// Appends the alternatives of a rule.
    pub(crate) fn cut(&mut self, expr: Expr, to: Target, into: &mut Vec<Rule>) {
        for product in self.products(expr) {
            let mut by_field: BTreeMap<usize, Vec<Expr>> = BTreeMap::new();
            for part in product.plain {
                if let Some((field, _)) = self.of_one(part) {
                    by_field.entry(field).or_default().push(part);
                }
            }
            let mut spans = BTreeMap::new();
            for (field, parts) in by_field {
                let all = self.arena.and(&parts);
                spans.insert(field, self.of_field(field, all));
            }
            let check = self.arena.and(&product.rest);
            if check != Expr::FALSE && spans.values().all(|spans| !spans.is_empty()) {
                into.push(Rule { spans, check, to });
            }
        }
    }

    fn of_field(&mut self, field: usize, expr: Expr) -> Arc<Spans> {
        match self.of_one.get(&expr) {
            Some(Some((_, spans))) => Arc::clone(spans),
            _ => Arc::new(self.fields[field].spans(self.arena, expr)),
        }
    }

    fn of_one(&mut self, expr: Expr) -> Option<(usize, Arc<Spans>)> {
        if let Some(known) = self.of_one.get(&expr) {
            return known.clone();
        }
        let mut first = None;
        self.arena.tests(expr, &mut |test| {
            first.get_or_insert(*test);
        });
        let mut covering = None;
        for (at, field) in self.fields.iter().enumerate() {
            if !first.is_some_and(|test| field.covers(test.word, test.mask)) {
                continue;
            }
            let mut is_one = true;
            self.arena.tests(expr, &mut |test| {
                is_one &= field.covers(test.word, test.mask);
            });
            if is_one {
                covering = Some(at);
                break;
            }
        }
        let found = covering.map(|at| (at, Arc::new(self.fields[at].spans(self.arena, expr))));
        self.of_one.insert(expr, found.clone());
        found
    }

    /// The conjunctions of which any makes `expr` true.
    fn products(&mut self, expr: Expr) -> Vec<Product> {
        if self.of_one(expr).is_some() {
            return vec![Product {
                plain: vec![expr],
                rest: Vec::new(),
            }];
        }
        let whole = || {
            vec![Product {
                plain: Vec::new(),
                rest: vec![expr],
            }]
        };
        match self.arena.shape(expr).clone() {
            Shape::True => vec![Product::default()],
            Shape::False => Vec::new(),
            Shape::Test(_) => whole(),
            Shape::Not(inner) => {
                let parts = match self.arena.shape(inner) {
                    Shape::And(parts) | Shape::Or(parts) => parts.clone(),
                    _ => return whole(),
                };
                let was_and = matches!(self.arena.shape(inner), Shape::And(_));
                let parts: Vec<Expr> = parts.iter().map(|&part| self.arena.not(part)).collect();
                if was_and {
                    self.any(&parts).unwrap_or_else(whole)
                } else {
                    self.all(&parts)
                }
            }
            Shape::And(parts) => self.all(&parts),
            Shape::Or(parts) => self.any(&parts).unwrap_or_else(whole),
        }
    }

    fn all(&mut self, parts: &[Expr]) -> Vec<Product> {
        let mut products = vec![Product::default()];
        for &part in parts {
            let further = self.products(part);
            if products.len() * further.len() > MOST_PRODUCTS {
                for product in &mut products {
                    product.rest.push(part);
                }
                continue;
            }
            let both = products.iter().flat_map(|one| {
                further.iter().map(|other| Product {
                    plain: [&one.plain[..], &other.plain].concat(),
                    rest: [&one.rest[..], &other.rest].concat(),
                })
            });
            products = both.collect();
        }
        products
    }

    fn any(&mut self, parts: &[Expr]) -> Option<Vec<Product>> {
        // Those of one field are one alternative.
        let mut by_field: BTreeMap<usize, Vec<Expr>> = BTreeMap::new();
        let mut others = Vec::new();
        for &part in parts {
            match self.of_one(part) {
                Some((field, _)) => by_field.entry(field).or_default().push(part),
                None => others.push(part),
            }
        }
        let mut products = Vec::new();
        for parts in by_field.into_values() {
            let one = self.arena.or(&parts);
            products.extend(self.products(one));
        }
        for part in others {
            products.extend(self.products(part));
            if products.len() > MOST_PRODUCTS {
                return None;
            }
        }
        (products.len() <= MOST_PRODUCTS).then_some(products)
    }

    /// The vectors of these rules, which are at most [`MOST_RULES`].
    pub(crate) fn vectors(&self, rules: &[Rule]) -> Vectors {
        let count = rules.len().div_ceil(LINE_BITS);
        let mut vectors = Vectors {
            count,
            all: u32::MAX.checked_shr(32 - count as u32).unwrap_or(0),
            ..Vectors::default()
        };
        let mut numbers = QuickMap::default();
        for (at, field) in self.fields.iter().enumerate() {
            if !rules.iter().any(|rule| rule.spans.contains_key(&at)) {
                continue;
            }
            let everything = vec![(0, field.mask)];
            let spans = rules.iter().map(|rule| match rule.spans.get(&at) {
                Some(spans) => &spans[..],
                None => &everything,
            });
            vectors.add(field, spans, &mut numbers);
        }
        // The field that parts the rules best first: it may leave nothing to ask.
        vectors
            .columns
            .sort_by_key(|column| std::cmp::Reverse(column.lasts.len()));
        vectors
    }
}

impl Vectors {
    fn add<'s>(
        &mut self,
        field: &Field,
        spans: impl Iterator<Item = &'s [(u32, u32)]>,
        numbers: &mut QuickMap<Line, u32>,
    ) {
        // Where a rule's bit turns.
        let mut turns = Vec::new();
        for (rule, spans) in spans.enumerate() {
            for &(low, high) in spans {
                turns.push((low, rule));
                if high < field.mask {
                    turns.push((high + 1, rule));
                }
            }
        }
        turns.sort_unstable();
        let mut column = Column {
            at: Place::of(field.word),
            mask: field.mask,
            lasts: Vec::new(),
            summaries: Vec::new(),
            lines: Vec::new(),
        };
        let mut lines = vec![Line::default(); self.count];
        let mut row = vec![self.number(Line::default(), numbers); self.count];
        let mut summary = 0_u32;
        let mut turns = turns.into_iter().peekable();
        let mut first = 0;
        loop {
            let mut turned = 0_u32;
            while let Some((_, rule)) = turns.next_if(|&(at, _)| at == first) {
                lines[rule / LINE_BITS].0[rule % LINE_BITS / 64] ^= 1 << (rule % 64);
                turned |= 1 << (rule / LINE_BITS);
            }
            while turned != 0 {
                let at = turned.trailing_zeros() as usize;
                turned &= turned - 1;
                row[at] = self.number(lines[at], numbers);
                let is_some = u32::from(lines[at] != Line::default());
                summary = summary & !(1 << at) | is_some << at;
            }
            column.lines.extend_from_slice(&row);
            column.summaries.push(summary);
            match turns.peek() {
                Some(&(next, _)) => {
                    column.lasts.push(next - 1);
                    first = next;
                }
                None => break,
            }
        }
        self.columns.push(column);
    }

    fn number(&mut self, line: Line, numbers: &mut QuickMap<Line, u32>) -> u32 {
        let next = self.lines.len() as u32;
        let number = *numbers.entry(line).or_insert(next);
        if number == next {
            self.lines.push(line);
        }
        number
    }

    /// The memory of all columns and lines.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        let columns = self
            .columns
            .iter()
            .map(|column| 4 * (column.lasts.len() + column.summaries.len() + column.lines.len()));
        columns.sum::<usize>() + size_of_val(&self.lines[..])
    }

    /// Of each field, how many values are searched.
    pub(crate) fn columns(&self) -> impl Iterator<Item = usize> {
        self.columns.iter().map(|column| column.lasts.len())
    }

    /// Gives the rules that have all bits, in order, to `check` until it is content.
    #[inline]
    pub(crate) fn first<T>(
        &self,
        frame: &Frame<'_>,
        mut check: impl FnMut(usize) -> Option<T>,
    ) -> Option<T> {
        let mut rows: [&[u32]; MOST_FIELDS] = [&[]; MOST_FIELDS];
        let mut left = self.all;
        for (row, column) in rows.iter_mut().zip(&self.columns) {
            let value = frame.word(column.at) & column.mask;
            let at = column.lasts.partition_point(|&last| last < value);
            left &= column.summaries.get(at).copied().unwrap_or(0);
            if left == 0 {
                return None;
            }
            *row = column.lines.get(at * self.count..).unwrap_or_default();
        }
        let rows = &rows[..self.columns.len().min(MOST_FIELDS)];
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            left &= left - 1;
            let mut all = Line([u64::MAX; LINE_BITS / 64]);
            for row in rows {
                let number = row.get(at).map_or(usize::MAX, |&number| number as usize);
                let line = self.lines.get(number).copied().unwrap_or_default();
                for (all, bits) in all.0.iter_mut().zip(line.0) {
                    *all &= bits;
                }
            }
            for (word, mut bits) in all.0.into_iter().enumerate() {
                while bits != 0 {
                    let rule = at * LINE_BITS + word * 64 + bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    if let Some(found) = check(rule) {
                        return Some(found);
                    }
                }
            }
        }
        None
    }
}
