//! Figures in words, for those who hear a page instead of seeing it: a sentence each.

use super::comparison::percent;
use super::dots::DotPlot;
use super::figure::{Axis, Figure, Mark, Series};
use super::heat_map::HeatMap;
use super::ticks::group_thousands;
use trammel_stats::table::format_float;

/// Series, rows or columns that are told one by one.
const MOST: usize = 8;

/// `Goodput against time: goodput (Mbit/s) over time (s), 0 to 60. cubic, simulated: 12 at the start, 27 at the end, between 0 and 31.`
pub(super) fn figure(figure: &Figure) -> String {
    let drawn = figure.drawn(super::svg::POINTS);
    let (x, _) = figure.ranges(&drawn);
    let mut text = format!(
        "{}: {} over {}, {} to {}.",
        figure.title,
        figure.y.text(),
        figure.x.text(),
        number(x.0),
        number(x.1)
    );
    for one in figure.series.iter().take(MOST) {
        text += &series(one, &figure.x);
    }
    if figure.series.len() > MOST {
        text += &format!(" {} more series.", figure.series.len() - MOST);
    }
    for rule in &figure.rules {
        text += &format!(" A line at {}: {}.", number(rule.at), rule.text);
    }
    text
}

fn series(series: &Series, x: &Axis) -> String {
    let name = match (series.name.as_str(), series.label) {
        ("", None) => String::new(),
        ("", Some(label)) => format!("{}: ", label.words()),
        (name, None) => format!("{name}: "),
        (name, Some(label)) => format!("{name}, {}: ", label.words()),
    };
    let known = || series.points.iter().filter(|(_, y)| y.is_finite());
    let ends = known()
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .zip(known().max_by(|a, b| a.0.total_cmp(&b.0)));
    let Some((first, last)) = ends else {
        return format!(" {name}no values.");
    };
    let (least, most) = known().fold((f64::MAX, f64::MIN), |(l, h), (_, y)| {
        (l.min(*y), h.max(*y))
    });
    let span = format!("between {} and {}", number(least), number(most));
    if series.mark == Mark::Points {
        let n = known().count();
        return format!(" {name}{n} points, {span}.");
    }
    let unit = |v: f64| format!("{} {}", number(v), x.unit).trim().to_owned();
    format!(
        " {name}{} at {}, {} at {}, {span}.",
        number(first.1),
        unit(first.0),
        number(last.1),
        unit(last.0)
    )
}

/// `Table 1: share in %, 12 rows. published: 51 to 93. simulated: 50 to 92.`
pub(super) fn dots(plot: &DotPlot) -> String {
    let unit = match plot.unit.as_str() {
        "" => String::new(),
        unit => format!(" in {unit}"),
    };
    let mut text = format!("{}{unit}: {} rows.", plot.title, plot.rows.len());
    for one in plot.series.iter().take(MOST) {
        let known = || one.values.iter().flatten().copied();
        let (least, most) = known().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
        if least <= most {
            text += &format!(" {}: {} to {}.", one.words(), number(least), number(most));
        }
    }
    text
}

/// `Who takes from whom: share of the goodput, 17 rows by 17 columns, from 0.02 (vegas beside bic) to 0.98 (bic beside vegas).`
pub(super) fn heat_map(map: &HeatMap) -> String {
    let mut text = format!(
        "{}: {}, {} rows by {} columns",
        map.title,
        map.value_title,
        map.rows.len(),
        map.columns.len()
    );
    let cells = map.values.iter().enumerate().flat_map(|(row, values)| {
        let cells = values.iter().enumerate();
        cells.filter_map(move |(column, v)| Some((v.filter(|v| v.is_finite())?, row, column)))
    });
    let least = cells.clone().min_by(|a, b| a.0.total_cmp(&b.0));
    let most = cells.max_by(|a, b| a.0.total_cmp(&b.0));
    let place = |(v, row, column): (f64, usize, usize)| {
        let name = |names: &[String], at: usize| names.get(at).cloned().unwrap_or_default();
        let (row, column) = (name(&map.rows, row), name(&map.columns, column));
        format!("{} ({row}, {column})", number(v))
    };
    if let Some((least, most)) = least.zip(most) {
        text += &format!(", from {} to {}", place(least), place(most));
    }
    text + "."
}

fn number(v: f64) -> String {
    group_thousands(&format_float(v, 3))
}

/// How errors are spread, without calling any of them a failure: `half within 3.1 %, all within 17 % (12 numbers)`.
pub(super) fn errors(mut errors: Vec<f64>) -> String {
    errors.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let Some(largest) = errors.last() else {
        return String::new();
    };
    let of = |error: f64| percent(error.abs()).trim_start_matches('+').to_owned();
    match errors.len() {
        1 => format!("1 number, {} off", percent(*largest)),
        n => format!(
            "half within {}, all within {} ({n} numbers)",
            of(errors[(n - 1) / 2]),
            of(*largest)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_a_sentence() {
        let axes = (Axis::linear("time", "s"), Axis::linear("goodput", "Mbit/s"));
        let points = vec![(0.0, 1.0), (30.0, 31.0), (60.0, 27.0)];
        let plot = Figure::new("f", "Goodput", axes.0, axes.1)
            .with(Series::new("cubic", Mark::Line, points))
            .ruled(50.0, "capacity");
        assert_eq!(
            figure(&plot),
            "Goodput: goodput (Mbit/s) over time (s), 0 to 60. cubic: 1 at 0 s, 27 at 60 s, between 1 and 31. A line at 50: capacity."
        );
    }

    #[test]
    fn errors_are_told_by_their_spread() {
        assert_eq!(
            errors(vec![-0.04, 0.17, 0.01, 0.02]),
            "half within 2.0\u{202f}%, all within 17.0\u{202f}% (4 numbers)"
        );
        assert_eq!(errors(Vec::new()), "");
    }
}
