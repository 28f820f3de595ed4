//! Expands a file into its points: every combination of the swept values and of the matrix's pairs.
//!
//! Each point edits the tree of the file and reads it anew, so any key may be swept. The last axis
//! of the file varies fastest; a pair of the matrix varies slowest.

use super::diagnose::Problem;
use super::faults::Context;
use super::hash;
use super::model::Scenario;
use super::parse;
use super::sweep_axes::{Axis, check_twice, kernels_axis, matrix_axis, sweep_axes};
use super::sweep_edit::set;
use super::tree::{Node, Value};
use trammel_core::units::{Dimension, Quantity};

/// One point of a sweep.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its name: stable, short, and fit for a file name.
    pub id: String,
    /// The swept parameters, in the order of the columns.
    pub swept: Vec<Swept>,
    /// The whole scenario at this point.
    pub scenario: Scenario,
    /// A stable hash of what is computed.
    pub hash: String,
}

/// One swept parameter at one point.
#[derive(Clone, Debug, PartialEq)]
pub struct Swept {
    /// The dotted key.
    pub key: String,
    /// The column in the tables, with the unit as its suffix.
    pub column: String,
    /// The value as the user wrote it.
    pub text: String,
    /// The value in the column's unit, where every value of the axis is such a number.
    pub number: Option<f64>,
}

/// Most points that one file may have.
const MOST_POINTS: usize = 100_000;
/// Faults after which no further point is read.
const MOST_FAULTS: usize = 100;

/// Reads every point of the tree `root`; faults are noted in `cx`.
pub(super) fn expand(cx: &Context<'_>, root: &Node) -> Vec<Point> {
    let read = |root: &Node| {
        let scenario = parse::scenario(cx, root);
        (hash::of(&scenario), scenario)
    };
    let points = expand_with(cx, root, read);
    let ids = ids(points
        .iter()
        .map(|(swept, (hash, _))| (swept.as_slice(), hash.as_str())));
    let named = points.into_iter().zip(ids);
    let point = |((swept, (hash, scenario)), id)| Point {
        id,
        swept,
        scenario,
        hash,
    };
    named.map(point).collect()
}

/// The swept values of every point of the tree `root`, and what `read` makes of its tree; faults
/// are noted in `cx`.
pub(super) fn expand_with<T>(
    cx: &Context<'_>,
    root: &Node,
    read: impl Fn(&Node) -> T,
) -> Vec<(Vec<Swept>, T)> {
    let mut base = root.clone();
    let mut axes = Vec::new();
    if let Some(top) = root.as_table() {
        if let Some(matrix) = top.get("matrix") {
            axes.extend(matrix_axis(cx, &matrix.node, &mut base));
        }
        if let Some(sweep) = top.get("sweep") {
            sweep_axes(cx, &sweep.node, &mut axes);
        }
        if let Some(measure) = top.get("measure") {
            axes.extend(kernels_axis(cx, &measure.node));
        }
    }
    for axis in &axes {
        check_twice(cx, axis);
    }
    // Each point is a copy of the tree: with the lists in it, a sweep of n values would take n
    // times n.
    if let Value::Table(top) = &mut base.value
        && let Some(sweep) = top.0.iter_mut().find(|entry| entry.key == "sweep")
        && let Value::Table(lists) = &mut sweep.node.value
    {
        lists.0.clear();
    }
    name_columns(&mut axes);
    if axes.iter().any(|axis| axis.rows.is_empty()) || !cx.problems.borrow().is_empty() {
        // The rest of the file is still worth reading, unless the sweep fills in what it lacks.
        read(&first_point(&base, &axes));
        return Vec::new();
    }
    let total = axes
        .iter()
        .try_fold(1_usize, |n, axis| n.checked_mul(axis.rows.len()));
    let Some(total) = total.filter(|total| *total <= MOST_POINTS) else {
        let span = axes[0].columns[0].span.clone();
        let why = format!("at most {MOST_POINTS} are run");
        cx.fault(
            &span,
            "the sweep has too many points",
            why,
            "split the file",
        );
        return Vec::new();
    };
    let mut points = Vec::with_capacity(total);
    for index in 0..total {
        let (swept, root) = point(cx, &base, &axes, index);
        points.push((swept, read(&root)));
        dedup(&mut cx.problems.borrow_mut());
        if cx.problems.borrow().len() >= MOST_FAULTS {
            break;
        }
    }
    points
}

/// Different points mostly have the same faults.
fn dedup(problems: &mut Vec<Problem>) {
    let mut seen: Vec<Problem> = Vec::new();
    problems.retain(|problem| {
        let is_new = !seen.contains(problem);
        if is_new {
            seen.push(problem.clone());
        }
        is_new
    });
}

fn first_point(base: &Node, axes: &[Axis]) -> Node {
    let mut root = base.clone();
    for axis in axes {
        for (column, node) in axis
            .columns
            .iter()
            .zip(axis.rows.first().into_iter().flatten())
        {
            // A key that cannot be set has been noted.
            let _ = set(&mut root, &column.key, node);
        }
    }
    root
}

/// The swept values of a point, and its tree.
fn point(cx: &Context<'_>, base: &Node, axes: &[Axis], index: usize) -> (Vec<Swept>, Node) {
    let mut root = base.clone();
    let mut swept = Vec::new();
    let mut rest = index;
    let mut chosen = Vec::new();
    for axis in axes.iter().rev() {
        chosen.push((axis, &axis.rows[rest % axis.rows.len()]));
        rest /= axis.rows.len();
    }
    for (axis, row) in chosen.into_iter().rev() {
        for (column, node) in axis.columns.iter().zip(row) {
            if let Err(why) = set(&mut root, &column.key, node) {
                let what = format!("`{}` cannot be swept", column.key);
                cx.fault(&column.span, what, why, "");
            }
            let quantity = node.as_text().and_then(|text| Quantity::parse(text).ok());
            let number = match (&node.value, column.unit) {
                (_, None) => None,
                (Value::Int(v), _) => Some(*v as f64),
                (Value::Float(v), _) => Some(*v),
                _ => quantity.map(|quantity| quantity.value),
            };
            let suffix = column.unit.map_or("", |(_, suffix)| suffix);
            swept.push(Swept {
                key: column.key.clone(),
                column: format!("{}{suffix}", column.name),
                text: node.brief(),
                number,
            });
        }
    }
    (swept, root)
}

/// `column=value` of every swept parameter; where that is long or not unique, with part of the
/// hash.
///
/// Points come as their swept values and their hash.
pub(super) fn ids<'a>(points: impl Iterator<Item = (&'a [Swept], &'a str)> + Clone) -> Vec<String> {
    const LONGEST: usize = 80;
    let slug = |text: &str| -> String {
        let safe = |c: &char| c.is_ascii_alphanumeric() || "+-._".contains(*c);
        text.chars().filter(safe).collect()
    };
    let id = |swept: &[Swept]| -> String {
        let parts = swept.iter().map(|swept| {
            let units = swept.column.len().min(24);
            format!("{}={}", &swept.column[..units], slug(&swept.text))
        });
        parts.collect::<Vec<_>>().join(",")
    };
    let ids: Vec<String> = points.clone().map(|(swept, _)| id(swept)).collect();
    let mut counts = std::collections::BTreeMap::new();
    for id in &ids {
        *counts.entry(id.clone()).or_insert(0) += 1;
    }
    let named = points.zip(ids).map(|((_, hash), id)| {
        if id.is_empty() {
            "base".to_owned()
        } else if id.len() > LONGEST || counts[&id] > 1 {
            let short: String = id.chars().take(LONGEST - 9).collect();
            format!("{short}~{}", &hash[..8])
        } else {
            id
        }
    });
    named.collect()
}

/// A column is called by the last part of its key where that is unique and free, else by the whole
/// key.
fn name_columns(axes: &mut [Axis]) {
    const TAKEN: &[&str] = &[
        "engine", "point", "repeat", "seed", "flow", "link", "stream", "variant", "metric",
        "entity", "unit", "name", "start", "stop", "bytes", "duration",
    ];
    // Columns that every table begins with.
    const LEADING: &[&str] = &["seed", "repeat"];
    let last = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
    let columns = axes.iter().flat_map(|axis| &axis.columns);
    let lasts: Vec<String> = columns.map(|column| last(&column.key)).collect();
    for axis in axes {
        for (n, column) in axis.columns.iter_mut().enumerate() {
            let short = last(&column.key);
            let shared = lasts.iter().filter(|other| **other == short).count() > 1;
            if column.name.is_empty() {
                column.name = if LEADING.contains(&column.key.as_str()) {
                    format!("swept_{short}")
                } else if shared || TAKEN.contains(&short.as_str()) {
                    column.key.replace('*', "all").replace('.', "_")
                } else {
                    short
                };
            }
            column.unit = unit(axis.rows.iter().map(|row| &row[n]));
        }
    }
}

/// The unit that every value has, with its suffix.
fn unit<'a>(values: impl Iterator<Item = &'a Node>) -> Option<(Dimension, &'static str)> {
    let mut common = None;
    for value in values {
        let dimension = match value.value {
            Value::Int(_) | Value::Float(_) => Dimension::Ratio,
            _ => Quantity::parse(value.as_text()?).ok()?.dimension,
        };
        if *common.get_or_insert(dimension) != dimension {
            return None;
        }
    }
    Some((common?, suffix(common?)))
}

/// How the column of a swept key ends whose values are of `dimension`: `_s`.
#[must_use]
pub fn suffix(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Time => "_s",
        Dimension::Rate => "_bps",
        Dimension::Bytes => "_bytes",
        Dimension::Packets => "_pkts",
        Dimension::PacketRate => "_pps",
        Dimension::Bdp => "_bdp",
        Dimension::Dbm => "_dbm",
        Dimension::Frequency => "_hz",
        Dimension::Ratio => "",
    }
}
