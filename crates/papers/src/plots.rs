//! Figures over frame size or flows: estimates, measurements and printed numbers in one, and their
//! data as a table.

use super::experiment::Done;
use super::spec::{Over, Plot, PlotPoint, PlotSeries, PlotSource};
use super::{Paper, streams};
use trammel_cost::capacity_profile::CapacityProfile;
use trammel_report::figure::{Axis, Figure, Mark, Series};
use trammel_stats::table::CellType::{Float, Text};
use trammel_stats::table::Table;

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
        Over::Pps => Axis::log("imposed", "packets/s"),
        Over::Mbps => Axis::log("imposed", "Mbit/s of payload"),
    };
    let y = if plot.is_log {
        Axis::log(title, unit)
    } else {
        Axis::linear(title, unit)
    };
    let mut figure = Figure::new(&plot.id, &plot.title, x, y).wide();
    let mut left_out = Vec::new();
    // A curve keeps its colour where another is left out.
    let mut colour = 0;
    for wanted in &plot.series {
        let curves = match curves(paper, done, plot, wanted) {
            Ok(curves) => curves,
            Err(why) => {
                let name = Some(&wanted.name).filter(|name| !name.is_empty());
                left_out.push(name.map_or(why.clone(), |name| format!("{name}: {why}")));
                Vec::new()
            }
        };
        let next = colour + curves.len().max(1);
        let coloured = curves.into_iter().zip(colour..);
        let coloured = coloured.map(|(series, colour)| series.coloured(colour));
        figure.series.extend(coloured);
        colour = next;
    }
    figure.caption.clone_from(&plot.text);
    if !left_out.is_empty() {
        figure.caption += &format!(" Left out: {}.", left_out.join("; "));
    }
    Drawn { figure, left_out }
}

/// The curves that are wanted, or why there are none.
fn curves(
    paper: &Paper,
    done: &[Done],
    plot: &Plot,
    wanted: &PlotSeries,
) -> Result<Vec<Series>, String> {
    if let PlotSource::Streams {
        id,
        protocol,
        column,
    } = &wanted.from
    {
        let (x, y) = (column_of(plot.over), column.as_str());
        return streams::curves(table_of(paper, done, id)?, *protocol, (x, y))
            .ok_or_else(|| format!("experiment `{id}` has no numbers of it"));
    }
    let points = points(paper, done, plot.over, wanted)?;
    let line = points.iter().map(|point| (point.x, point.y)).collect();
    let mut series = Series::new(&wanted.name, Mark::LinePoints, line).labelled(wanted.label);
    if points.iter().any(|point| point.range.0 < point.range.1) {
        series = series.banded(points.iter().map(|point| point.range).collect());
    }
    Ok(vec![series])
}

/// The column of an experiment's table that is along the horizontal axis.
fn column_of(over: Over) -> &'static str {
    match over {
        Over::Frame => "frame_bytes",
        Over::Flows => "flows",
        Over::Pps => "imposed_pps",
        Over::Mbps => "imposed_mbps",
    }
}

/// The table of an experiment, if it was run.
fn table_of<'a>(paper: &Paper, done: &'a [Done], id: &str) -> Result<&'a Table, String> {
    let is_it = |one: &&Done| paper.spec.experiments[one.at].id == id;
    let table = done.iter().find(is_it).and_then(|one| one.table.as_ref());
    table.ok_or_else(|| format!("experiment `{id}` was not run"))
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
        PlotSource::Streams { .. } => Err("streams are several curves".to_owned()),
        PlotSource::Profile(file) => {
            let path = paper.dir.join(file);
            let text = std::fs::read_to_string(&path)
                .map_err(|why| format!("`{file}` cannot be read ({why})"))?;
            let profile = CapacityProfile::parse(&text)
                .map_err(|faults| format!("`{file}`: {}", faults[0].what))?;
            let each = profile.points().into_iter().map(|point| PlotPoint {
                x: match over {
                    Over::Frame => point.frame_bytes as f64,
                    _ => point.flows as f64,
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
            let table = table_of(paper, done, id)?;
            let column = column_of(over);
            let mut xs: Vec<f64> = table.rows().filter_map(|row| row.float(column)).collect();
            xs.sort_by(f64::total_cmp);
            xs.dedup();
            let at = |x: f64| {
                let look = |function: &str, metric: &str, _: Option<(f64, f64)>| {
                    let mut rows = table.rows();
                    let row = rows.find(|row| {
                        // What functions are to an estimate, tests are to a device.
                        let names = ["function", "test"].map(|of| row.text(of).replace('-', "_"));
                        row.float(column) == Some(x) && names.iter().any(|name| name == function)
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
                table.push(row).expect("the row has a cell for each column");
            }
        }
    }
    table
}
