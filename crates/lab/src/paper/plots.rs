//! Figures over frame size or flows: estimates, measurements and printed numbers in one, and their data as a table.

use super::Paper;
use super::experiment::Done;
use super::spec::{Over, Plot, PlotPoint, PlotSeries, PlotSource};
use crate::report::figure::{Axis, Figure, Mark, Series};
use trammel_core::table::CellType::{Float, Text};
use trammel_core::table::Table;
use trammel_cost::capacity_profile::CapacityProfile;

/// A figure, and what it could not show.
#[derive(Debug)]
pub struct Drawn {
    /// The figure.
    pub figure: Figure,
    /// Each curve that is left out, and why.
    pub left_out: Vec<String>,
}

/// The figure `plot` of what was done.
pub fn draw(paper: &Paper, done: &[Done], plot: &Plot) -> Drawn {
    let (title, unit) = (&plot.of.0, &plot.of.1);
    let x = match plot.over {
        Over::Frame => Axis::linear("frame with FCS", "bytes"),
        Over::Flows => Axis::log("addresses", ""),
    };
    let y = if plot.is_log {
        Axis::log(title, unit)
    } else {
        Axis::linear(title, unit)
    };
    let mut figure = Figure::new(&plot.id, &plot.title, x, y).wide();
    let mut left_out = Vec::new();
    for (n, wanted) in plot.series.iter().enumerate() {
        match points(paper, done, plot.over, wanted) {
            Ok(points) => {
                let line = points.iter().map(|point| (point.x, point.y)).collect();
                let mut series = Series::new(&wanted.name, Mark::LinePoints, line)
                    .labelled(wanted.label)
                    .coloured(n);
                if points.iter().any(|point| point.range.0 < point.range.1) {
                    series = series.banded(points.iter().map(|point| point.range).collect());
                }
                figure.series.push(series);
            }
            Err(why) => left_out.push(format!("{}: {why}", wanted.name)),
        }
    }
    figure.caption.clone_from(&plot.text);
    if !left_out.is_empty() {
        figure.caption += &format!(" Left out: {}.", left_out.join("; "));
    }
    Drawn { figure, left_out }
}

/// The points of a curve, or why there are none.
fn points(
    paper: &Paper,
    done: &[Done],
    over: Over,
    wanted: &PlotSeries,
) -> Result<Vec<PlotPoint>, String> {
    match &wanted.from {
        PlotSource::Points(points) => Ok(points.clone()),
        PlotSource::Profile(file) => {
            let path = paper.dir.join(file);
            let text = std::fs::read_to_string(&path)
                .map_err(|why| format!("`{file}` cannot be read ({why})"))?;
            let profile = CapacityProfile::parse(&text)
                .map_err(|faults| format!("`{file}`: {}", faults[0].what))?;
            let each = profile.points().into_iter().map(|point| PlotPoint {
                x: match over {
                    Over::Frame => point.frame_bytes as f64,
                    Over::Flows => point.flows as f64,
                },
                y: point.mpps,
                range: (
                    point.mpps * (1.0 - profile.spread),
                    point.mpps * (1.0 + profile.spread),
                ),
            });
            Ok(each.collect())
        }
        PlotSource::Experiment { id, value, ends } => {
            let run = done
                .iter()
                .find(|one| paper.spec.experiments[one.at].id == *id);
            let table = run.and_then(|one| one.functions.as_ref());
            let table = table.ok_or_else(|| format!("experiment `{id}` was not run"))?;
            let column = match over {
                Over::Frame => "frame_bytes",
                Over::Flows => "flows",
            };
            let mut xs: Vec<f64> = table.rows().filter_map(|row| row.float(column)).collect();
            xs.sort_by(f64::total_cmp);
            xs.dedup();
            let at = |x: f64| {
                let look = |function: &str, metric: &str, _: Option<(f64, f64)>| {
                    let mut rows = table.rows();
                    let row = rows.find(|row| {
                        row.float(column) == Some(x)
                            && row.text("function").replace('-', "_") == function
                    })?;
                    row.float(metric)
                };
                let y = value.value(&look)?;
                let range = match ends {
                    Some(ends) => (ends.0.value(&look)?, ends.1.value(&look)?),
                    None => (y, y),
                };
                Some(PlotPoint { x, y, range })
            };
            let found: Option<Vec<PlotPoint>> = xs.into_iter().map(at).collect();
            found.ok_or_else(|| format!("experiment `{id}` does not give its value"))
        }
    }
}

/// What all figures show: a row for each point.
pub fn table(paper: &Paper, drawn: &[Drawn]) -> Table {
    let columns = [
        ("figure", Text),
        ("series", Text),
        ("label", Text),
        ("x", Float),
        ("y", Float),
        ("low", Float),
        ("high", Float),
    ];
    let mut table = Table::with("plots", &columns);
    for (plot, drawn) in paper.spec.plots.iter().zip(drawn) {
        for series in &drawn.figure.series {
            for (n, (x, y)) in series.points.iter().enumerate() {
                let range = series.band.get(n).copied();
                let row = vec![
                    plot.id.as_str().into(),
                    series.name.as_str().into(),
                    series.label.map_or("", |label| label.key()).into(),
                    (*x).into(),
                    (*y).into(),
                    range.map(|range| range.0).into(),
                    range.map(|range| range.1).into(),
                ];
                table.push(row).expect("a cell for each column");
            }
        }
    }
    table
}
