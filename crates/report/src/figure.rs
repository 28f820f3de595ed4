//! A plot as data: axes, series, bands and rules. One value renders to the interactive plot and to
//! SVG.
//!
//! Colour says *who* (a flow, a variant) and the dash pattern says *which engine* ([`Label`]), so
//! that five variants by two engines stay readable, in grey as well. Points that an axis cannot
//! show (not a number, or not positive on a logarithmic axis) are gaps.

pub use super::axis::{Axis, Scale};

use super::axis::span;
use super::decimate::min_max;
use super::svg;
use trammel_core::label::Label;

/// The palette's grey, as a colour of a series: what is of no flow.
pub const GREY: usize = 6;

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A line from point to point.
    Line,
    /// A level that holds until the next point: windows, queues, distributions.
    Step,
    /// Points alone.
    Points,
    /// A line with its points: a sweep.
    LinePoints,
}

/// One curve or cloud.
#[derive(Clone, Debug)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// The engine or source; decides the dash pattern.
    pub label: Option<Label>,
    /// The colour, an index into the palette; by position where there is none.
    pub colour: Option<usize>,
    /// Of several series of one colour and label, which one: each has another dash pattern.
    pub turn: usize,
    /// The shape of each point, an index into [`Figure::shapes`]; as long as `points`, or empty.
    pub shapes: Vec<usize>,
    /// Whether its points are outlines.
    pub is_hollow: bool,
    /// Whether it marks places of the curve of its name, colour and label: it has no entry of its
    /// own in the legend, and comes and goes with that curve.
    pub is_beside: bool,
    /// How it is drawn.
    pub mark: Mark,
    /// The points; sorted by x when drawn.
    pub points: Vec<(f64, f64)>,
    /// The low and high end of the interval at each point; as long as `points`, or empty.
    pub band: Vec<(f64, f64)>,
}

impl Series {
    /// A series drawn as `mark`.
    pub fn new(name: impl Into<String>, mark: Mark, points: Vec<(f64, f64)>) -> Series {
        Series {
            name: name.into(),
            label: None,
            colour: None,
            turn: 0,
            shapes: Vec::new(),
            is_hollow: false,
            is_beside: false,
            mark,
            points,
            band: Vec::new(),
        }
    }
    /// The cumulative distribution of `samples`, in per cent.
    pub fn cdf(name: impl Into<String>, mut samples: Vec<f64>) -> Series {
        samples.retain(|v| v.is_finite());
        samples.sort_by(f64::total_cmp);
        let n = samples.len() as f64;
        // It rises from none: nothing is below the least.
        let least = samples.first().map(|least| (*least, 0.0));
        let points = samples.into_iter().enumerate();
        let points = points.map(|(i, v)| (v, (i + 1) as f64 * 100.0 / n));
        Series::new(name, Mark::Step, least.into_iter().chain(points).collect())
    }
    /// This series with its engine or source.
    pub fn labelled(mut self, label: Label) -> Series {
        self.label = Some(label);
        self
    }
    /// This series in the palette's colour `colour`.
    pub fn coloured(mut self, colour: usize) -> Series {
        self.colour = Some(colour);
        self
    }
    /// This series as number `turn` of those of its colour and label.
    pub fn turned(mut self, turn: usize) -> Series {
        self.turn = turn;
        self
    }
    /// This series with a shape for each point. Panics where the lengths differ.
    pub fn shaped(mut self, shapes: Vec<usize>) -> Series {
        assert_eq!(shapes.len(), self.points.len(), "one shape a point");
        self.shapes = shapes;
        self
    }
    /// This series as marks on the curve of its name, colour and label.
    pub fn beside(mut self) -> Series {
        self.is_beside = true;
        self
    }
    /// This series with an interval at each point. Panics where the lengths differ.
    pub fn banded(mut self, band: Vec<(f64, f64)>) -> Series {
        assert_eq!(band.len(), self.points.len(), "one interval a point");
        self.band = band;
        self
    }
}

/// A line across the plot: a capacity, a deadline.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Whether it crosses the x axis (stands upright) or the y axis.
    pub is_upright: bool,
    /// Where.
    pub at: f64,
    /// What it is.
    pub text: String,
}

/// A plot.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The file's stem and the element's id; unique in a report.
    pub id: String,
    /// The heading.
    pub title: String,
    /// A sentence below: how to read it, what to see.
    pub caption: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The series, first drawn first.
    pub series: Vec<Series>,
    /// Lines across.
    pub rules: Vec<Rule>,
    /// What the shapes of points say, where they say something: the values of a second parameter.
    /// A shape without words is not used.
    pub shapes: Vec<String>,
    /// Figures of one group have one legend.
    pub group: String,
    /// Whether it shares cursor and zoom with those of its group: their x axis is the same run's
    /// time.
    pub is_over_time: bool,
    /// Whether it takes a row of its own.
    pub is_wide: bool,
}

/// A series ready to draw: sorted, thinned, unshowable values made gaps (not-a-number).
#[derive(Clone, Debug)]
pub(super) struct Drawn {
    pub(super) xs: Vec<f64>,
    pub(super) ys: Vec<f64>,
    /// Ends of intervals, empty without them.
    pub(super) lows: Vec<f64>,
    pub(super) highs: Vec<f64>,
    /// The shape of each point, empty where all have the series' own.
    pub(super) shapes: Vec<usize>,
}

impl Figure {
    /// An empty plot.
    pub fn new(id: &str, title: &str, x: Axis, y: Axis) -> Figure {
        Figure {
            id: id.to_owned(),
            title: title.to_owned(),
            caption: String::new(),
            x,
            y,
            series: Vec::new(),
            rules: Vec::new(),
            shapes: Vec::new(),
            group: String::new(),
            is_over_time: false,
            is_wide: false,
        }
    }
    /// This plot with one more series.
    pub fn with(mut self, series: Series) -> Figure {
        self.series.push(series);
        self
    }
    /// This plot with `text` below it.
    pub fn captioned(mut self, text: &str) -> Figure {
        text.clone_into(&mut self.caption);
        self
    }
    /// This plot in a row of its own.
    pub fn wide(mut self) -> Figure {
        self.is_wide = true;
        self
    }
    /// This plot with legend, cursor and zoom shared by all of `group`.
    pub fn grouped(mut self, group: &str) -> Figure {
        self.is_over_time = true;
        self.listed_with(group)
    }
    /// This plot with the legend of `group`.
    pub fn listed_with(mut self, group: &str) -> Figure {
        group.clone_into(&mut self.group);
        self
    }
    /// This plot with a level line at `y`.
    pub fn ruled(mut self, y: f64, text: &str) -> Figure {
        let (is_upright, at, text) = (false, y, text.to_owned());
        self.rules.push(Rule {
            is_upright,
            at,
            text,
        });
        self
    }

    /// The plot as an SVG file, title and legend included. The same figure gives the same bytes.
    pub(crate) fn to_svg(&self) -> String {
        svg::render(self, svg::POINTS, true)
    }

    /// The most points of any of its series.
    pub(super) fn longest(&self) -> usize {
        let lengths = self.series.iter().map(|series| series.points.len());
        lengths.max().unwrap_or(0)
    }

    /// The least value or end of an interval that the y axis shows.
    fn least_shown(&self) -> f64 {
        let of = |series: &Series| {
            let ends = series.band.iter().flat_map(|(low, high)| [*low, *high]);
            let values = series.points.iter().map(|(_, y)| *y).chain(ends);
            let shown = values.filter(|v| self.y.shows(*v));
            shown.reduce(f64::min)
        };
        let least = self.series.iter().filter_map(of).reduce(f64::min);
        least.unwrap_or(f64::NAN)
    }

    /// The series as drawn, each of at most `limit` points.
    pub(super) fn drawn(&self, limit: usize) -> Vec<Drawn> {
        let gap = |axis: &Axis, v: f64| if axis.shows(v) { v } else { f64::NAN };
        // An interval that begins below all that an axis by factors shows begins at its foot.
        let foot = self.least_shown();
        let low_end = |v: f64| {
            if v <= 0.0 && !self.y.shows(v) {
                foot
            } else {
                gap(&self.y, v)
            }
        };
        self.series
            .iter()
            .map(|series| {
                let mut order: Vec<_> = (0..series.points.len())
                    .filter(|&i| self.x.shows(series.points[i].0))
                    .collect();
                order.sort_by(|&a, &b| series.points[a].0.total_cmp(&series.points[b].0));
                let all: Vec<_> = order
                    .iter()
                    .map(|&i| gap(&self.y, series.points[i].1))
                    .collect();
                let kept = min_max(&all, limit);
                let ends = |pick: &dyn Fn((f64, f64)) -> f64| match series.band.len() {
                    0 => Vec::new(),
                    _ => kept.iter().map(|&k| pick(series.band[order[k]])).collect(),
                };
                Drawn {
                    xs: kept.iter().map(|&k| series.points[order[k]].0).collect(),
                    ys: kept.iter().map(|&k| all[k]).collect(),
                    lows: ends(&|(low, _)| low_end(low)),
                    highs: ends(&|(_, high)| gap(&self.y, high)),
                    shapes: match series.shapes.len() {
                        0 => Vec::new(),
                        _ => kept.iter().map(|&k| series.shapes[order[k]]).collect(),
                    },
                }
            })
            .collect()
    }

    /// The ranges of both axes: as given, else around the data, from zero where that is near.
    pub(super) fn ranges(&self, drawn: &[Drawn]) -> ((f64, f64), (f64, f64)) {
        let xs = drawn.iter().flat_map(|d| &d.xs);
        let ys = drawn
            .iter()
            .flat_map(|d| d.ys.iter().chain(&d.lows).chain(&d.highs));
        let rules = |is_upright| {
            let rules = self
                .rules
                .iter()
                .filter(move |r| r.is_upright == is_upright);
            rules.map(|rule| &rule.at)
        };
        let x = self.x.range.unwrap_or_else(|| {
            let (low, high) = span(&self.x, xs.chain(rules(true)));
            // A mark on the edge of the plot is half a mark.
            let mut alone = self.series.iter().filter(|one| !one.is_beside);
            let is_cloud = alone.any(|one| one.mark == Mark::Points);
            match self.x.scale {
                _ if !is_cloud => (low, high),
                Scale::Log => (low / 1.15, high * 1.15),
                Scale::SymLog(_) => (low, high),
                Scale::Linear => {
                    let room = (high - low) * 0.05;
                    let least = if low >= 0.0 { 0.0 } else { f64::MIN };
                    ((low - room).max(least), high + room)
                }
            }
        });
        let y = self.y.range.unwrap_or_else(|| {
            let (low, high) = span(&self.y, ys.chain(rules(false)));
            self.y.with_room(low, high)
        });
        (x, y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cdf_goes_from_none_to_all() {
        let series = Series::cdf("delay", vec![3.0, 1.0, f64::NAN, 2.0, 2.0]);
        assert_eq!(
            series.points,
            [
                (1.0, 0.0),
                (1.0, 25.0),
                (2.0, 50.0),
                (2.0, 75.0),
                (3.0, 100.0)
            ]
        );
    }

    #[test]
    fn values_that_an_axis_cannot_show_are_gaps() {
        let figure =
            Figure::new("f", "", Axis::log("p", ""), Axis::log("share", "")).with(Series::new(
                "a",
                Mark::Line,
                vec![(2.0, 0.0), (1.0, 5.0), (0.0, 1.0), (3.0, 7.0)],
            ));
        let drawn = figure.drawn(100);
        assert_eq!(drawn[0].xs, [1.0, 2.0, 3.0], "sorted, without the zero");
        assert!(drawn[0].ys[1].is_nan());
        assert_eq!(figure.ranges(&drawn).0, (1.0, 3.0));
    }

    #[test]
    fn an_interval_from_zero_reaches_the_foot_of_an_axis_by_factors() {
        let points = vec![(1.0, 5.0), (2.0, 0.5)];
        let series = Series::new("a", Mark::Line, points).banded(vec![(0.0, 9.0), (0.2, 0.9)]);
        let figure = |y: Axis| {
            let figure = Figure::new("f", "", Axis::linear("p", ""), y);
            let drawn = figure.with(series.clone()).drawn(100);
            drawn[0].lows.clone()
        };
        assert_eq!(figure(Axis::log("delay", "ms")), [0.2, 0.2]);
        assert_eq!(figure(Axis::linear("delay", "ms")), [0.0, 0.2]);
    }

    #[test]
    fn a_small_change_stays_small_and_goodput_starts_at_zero() {
        let points = vec![(0.0, 16.5), (1.0, 16.75)];
        let range = |y: Axis| {
            let figure = Figure::new("f", "", Axis::linear("time", "s"), y);
            let figure = figure.with(Series::new("a", Mark::Line, points.clone()));
            figure.ranges(&figure.drawn(10)).1
        };
        let (low, high) = range(Axis::linear("delay", "ms"));
        assert!(high - low > 1.6, "{low} to {high}");
        assert_eq!(range(Axis::linear("goodput", "Mbit/s").from_zero()).0, 0.0);
    }

    #[test]
    fn an_empty_figure_has_ranges() {
        let figure = Figure::new("f", "", Axis::log("p", ""), Axis::linear("share", ""));
        assert_eq!(figure.ranges(&figure.drawn(10)).0, (1.0, 10.0));
    }
}
