//! Figures in words, for those who hear a page instead of seeing it: a sentence each.

use super::figure::{Axis, Figure, Mark, Series};
use super::ticks::group_thousands;
use trammel_stats::table::format_float;

/// Series, rows or columns that are told one by one.
pub(super) const MOST: usize = 8;

/// `Goodput: goodput (Mbit/s) over time (s), 0 to 60. cubic, simulated: 12 at 0 s, 27 at 60 s,
/// between 0 and 31.`
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
        text += &if one.is_beside {
            marks(one, &figure.shapes)
        } else {
            series(one, &figure.x)
        };
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

/// ` cubic: 12 × loss, 1 × timeout.`
fn marks(series: &Series, shapes: &[String]) -> String {
    let counted = shapes.iter().enumerate().filter_map(|(kind, text)| {
        let n = series.shapes.iter().filter(|one| **one == kind).count();
        (n > 0).then(|| format!("{n} × {text}"))
    });
    let counted: Vec<String> = counted.collect();
    if counted.is_empty() {
        return String::new();
    }
    format!(" {}: {}.", series.name, counted.join(", "))
}

pub(super) fn number(v: f64) -> String {
    group_thousands(&format_float(v, 3))
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
            "Goodput: goodput (Mbit/s) over time (s), 0 to 60. cubic: 1 at 0 s, 27 at 60 s, \
             between 1 and 31. A line at 50: capacity."
        );
    }
}
