//! A plot of the metrics that lie furthest from the first run's.

use super::difference::Difference;
use super::engines::label_of;
use super::sides::Side;
use crate::dots::{DotPlot, DotSeries, MARKS};
use crate::units;
use std::collections::BTreeSet;
use trammel_core::label::Label;

/// The metrics that lie furthest from the first run's, each a row, each other side a mark: by how
/// many per cent.
pub(super) fn furthest(reference: &str, sides: &[Side], all: &[Difference]) -> Option<DotPlot> {
    const MOST: usize = 24;
    let (drawn, left_out) = drawn(sides, all);
    let all: Vec<Difference> = all
        .iter()
        .filter(|one| drawn.contains(&one.side))
        .cloned()
        .collect();
    let percent = |one: &Difference| {
        let percent = (one.other? - one.first) / one.first.abs() * 100.0;
        percent.is_finite().then_some(percent)
    };
    // Those of one metric stand together.
    let of_metrics = all.chunk_by(|a, b| a.key == b.key);
    let sized = of_metrics.map(|of| {
        let sizes = of.iter().filter_map(percent).map(f64::abs);
        (of, sizes.fold(0.0, f64::max))
    });
    let mut rows: Vec<(&[Difference], f64)> = sized.filter(|(_, size)| *size > 0.0).collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    rows.truncate(MOST);
    let first_key = &rows.first()?.0[0].key;
    let several_engines = rows.iter().any(|(of, _)| of[0].key[0] != first_key[0]);
    let name = |key: &[String; 6]| {
        let metric = units::spoken(&key[4]);
        let parts = [key[1].as_str(), &key[2], &key[3], &metric];
        let engine = several_engines.then_some(key[0].as_str());
        let parts = parts.into_iter().chain(engine);
        // A run of one point calls it so.
        let parts = parts.filter(|part| !part.is_empty() && *part != "base");
        parts.collect::<Vec<_>>().join(", ")
    };
    let label = |side: &Side| side.label.or_else(|| label_of(&first_key[0]));
    let series = sides.iter().enumerate().filter_map(|(at, side)| {
        let value = |of: &[Difference]| of.iter().find(|one| one.side == at).and_then(percent);
        let values: Vec<_> = rows.iter().map(|(of, _)| value(of)).collect();
        values.iter().any(Option::is_some).then_some(())?;
        Some(DotSeries {
            name: side.title.clone(),
            label: label(side)?,
            values,
        })
    });
    Some(DotPlot {
        id: "differences".to_owned(),
        title: match left_out {
            0 => format!("Largest differences from {reference}"),
            more => format!(
                "Largest differences from {reference}, the first {} of {} columns",
                drawn.len(),
                drawn.len() + more
            ),
        },
        unit: "%".to_owned(),
        rows: rows.iter().map(|(of, _)| name(&of[0].key)).collect(),
        series: series.collect(),
    })
}

/// The places of the first sides that differ, as many as there are marks, and how many more differ.
/// All that was published has one mark.
fn drawn(sides: &[Side], all: &[Difference]) -> (BTreeSet<usize>, usize) {
    let differing = all.iter().filter(|one| one.other.is_some());
    let differing: BTreeSet<usize> = differing.map(|one| one.side).collect();
    let mut has_published = false;
    let has_mark = |side: &usize| match sides[*side].label {
        Some(Label::Published) => !std::mem::replace(&mut has_published, true),
        _ => true,
    };
    let drawn = differing.iter().copied().filter(has_mark);
    let drawn: BTreeSet<usize> = drawn.take(MARKS).collect();
    let left_out = differing.len() - drawn.len();
    (drawn, left_out)
}
