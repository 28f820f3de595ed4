//! Streams that are alike, and what they do on average: `count` makes `call-1`, `call-2`, … of
//! `call`.

use super::compared::Compared;
use std::ops::Range;
use trammel_core::label::Label;
use trammel_scenario::traffic::Point;

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

/// The streams of each point by those that are alike, and the rows of each point.
pub(super) struct ByAlike<'a> {
    alike: Vec<Vec<Alike>>,
    rows: Vec<&'a [Compared]>,
}

impl<'a> ByAlike<'a> {
    /// Of `points`, in whose order the rows of `compared` are.
    pub(super) fn new(points: &[Point], compared: &'a [Compared]) -> ByAlike<'a> {
        let alike = points.iter().map(|point| {
            let streams = point.scenario.streams.iter();
            by_names(&streams.map(|one| one.name.as_str()).collect::<Vec<_>>())
        });
        let rows = (0..points.len()).map(|at| {
            let begin = compared.partition_point(|one| one.point < at);
            let count = compared[begin..].partition_point(|one| one.point == at);
            &compared[begin..begin + count]
        });
        ByAlike {
            alike: alike.collect(),
            rows: rows.collect(),
        }
    }

    /// The streams at place `n` of the point where most are alike.
    pub(super) fn most(&self, n: usize) -> Option<&Alike> {
        let each = self.alike.iter().filter_map(|all| all.get(n));
        each.max_by_key(|one| one.count())
    }

    /// A metric of each of the streams at place `n` of a point, as the engine of `label` has it;
    /// nothing where one of them lacks it.
    pub(super) fn values(
        &self,
        (point, n): (usize, usize),
        metric: &str,
        label: Label,
    ) -> Option<Vec<f64>> {
        let alike = self.alike[point].get(n)?;
        let rows = self.rows[point].iter();
        let rows = rows.filter(|one| one.metric == metric && alike.places.contains(&one.stream));
        let values: Option<Vec<f64>> = rows.map(|one| one.by(label)).collect();
        values.filter(|values| values.len() == alike.count())
    }

    /// The mean of these.
    pub(super) fn mean(&self, at: (usize, usize), metric: &str, label: Label) -> Option<f64> {
        let values = self.values(at, metric, label)?;
        Some(values.iter().sum::<f64>() / values.len() as f64)
    }
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
