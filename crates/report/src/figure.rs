//! A plot as data: axes, series, bands and rules. One value renders to the interactive plot and to SVG.
//!
//! Colour says *who* (a flow, a variant) and the dash pattern says *which engine* ([`Label`]), so that
//! five variants by two engines stay readable, in grey as well. Points that an axis cannot show (not a
//! number, or not positive on a logarithmic axis) are gaps.

use super::decimate::min_max;
use super::svg;
use trammel_core::label::Label;

/// The palette's grey, as a colour of a series: what is of no flow.
pub const GREY: usize = 6;

/// How an axis is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By factors.
    Log,
    /// By factors beyond this distance from zero and evenly within it, so that zero has its place.
    SymLog(f64),
}

impl Scale {
    /// A value whose differences are distances on the axis.
    pub(super) fn forward(self, v: f64) -> f64 {
        match self {
            Scale::Linear => v,
            Scale::Log => v.ln(),
            Scale::SymLog(near) => (v / near).asinh(),
        }
    }
    /// The place of `v` on an axis from `low` (0) to `high` (1).
    pub(super) fn place(self, (low, high): (f64, f64), v: f64) -> f64 {
        (self.forward(v) - self.forward(low)) / (self.forward(high) - self.forward(low))
    }
}

/// One axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What it shows: `loss probability`.
    pub title: String,
    /// In what unit: `Mbit/s`; may be empty.
    pub unit: String,
    /// How it is divided.
    pub scale: Scale,
    /// From where to where; from the data where there is none.
    pub range: Option<(f64, f64)>,
    /// Where its marks are: the values of a sweep. Round numbers where there are none.
    pub marks: Vec<f64>,
    /// Whether it begins at zero, however near to each other the values are.
    pub is_from_zero: bool,
}

/// Marks of a sweep that an axis still shows one by one.
const MOST_MARKS: usize = 9;
/// Values nearer to each other than this part of their size are not drawn further apart: a change of one per cent must not look like
/// a collapse.
const LEAST_SPAN: f64 = 0.1;

impl Axis {
    /// An even axis.
    pub fn linear(title: &str, unit: &str) -> Axis {
        let (title, unit) = (title.to_owned(), unit.to_owned());
        Axis {
            title,
            unit,
            scale: Scale::Linear,
            range: None,
            marks: Vec::new(),
            is_from_zero: false,
        }
    }
    /// A logarithmic axis.
    pub fn log(title: &str, unit: &str) -> Axis {
        let scale = Scale::Log;
        Axis {
            scale,
            ..Axis::linear(title, unit)
        }
    }
    /// This axis from `low` to `high`.
    pub fn with_range(mut self, low: f64, high: f64) -> Axis {
        self.range = Some((low, high));
        self
    }
    /// The axis of a sweep over `values`: by factors where each is at least 1.6 times the last or all span more than a decade, with
    /// a place for zero where it is among them, and with a mark for each of a few.
    pub fn swept(title: &str, unit: &str, values: &[f64]) -> Axis {
        const WIDE: f64 = 11.0;
        const FACTOR: f64 = 1.6;
        let mut marks: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        marks.sort_by(f64::total_cmp);
        marks.dedup();
        let has_signs = marks.first().is_some_and(|least| *least < 0.0);
        let positive: Vec<f64> = marks.iter().copied().filter(|v| *v > 0.0).collect();
        let mut scale = Scale::Linear;
        if let (Some(least), Some(most), false) = (positive.first(), positive.last(), has_signs) {
            let grows = positive.len() > 2 && positive.windows(2).all(|p| p[1] >= FACTOR * p[0]);
            if grows || most / least > WIDE {
                scale = if positive.len() < marks.len() {
                    Scale::SymLog(least / 2.0)
                } else {
                    Scale::Log
                };
            }
        }
        if scale == Scale::Linear || marks.len() > MOST_MARKS {
            marks.clear();
        }
        Axis {
            scale,
            marks,
            ..Axis::linear(title, unit)
        }
    }
    /// This axis by factors, where `values` are positive and the largest is more than `far` times the least.
    pub fn by_factors_beyond(mut self, far: f64, values: impl Iterator<Item = f64>) -> Axis {
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
        if low > 0.0 && high / low > far {
            self.scale = Scale::Log;
        }
        self
    }
    /// This axis from zero on.
    pub fn from_zero(mut self) -> Axis {
        self.is_from_zero = true;
        self
    }
    /// The title with the unit: `time (s)`.
    pub fn text(&self) -> String {
        if self.unit.is_empty() {
            self.title.clone()
        } else {
            format!("{} ({})", self.title, self.unit)
        }
    }
    /// From where to where an axis shows values between `low` and `high`. `assets/report.js` follows the same rules.
    fn with_room(&self, low: f64, high: f64) -> (f64, f64) {
        match self.scale {
            Scale::Log => (low / 1.15, high * 1.15),
            Scale::SymLog(_) => (if low >= 0.0 { 0.0 } else { low * 1.15 }, high * 1.15),
            // A curve in the upper half of the plot is better seen from zero.
            Scale::Linear if low >= 0.0 && (self.is_from_zero || low < high * 0.5) => {
                (0.0, high * 1.05)
            }
            Scale::Linear => {
                let least = LEAST_SPAN * low.abs().max(high.abs());
                let span = (high - low).max(least);
                let middle = f64::midpoint(low, high);
                (middle - span * 0.55, middle + span * 0.55)
            }
        }
    }
    fn shows(&self, v: f64) -> bool {
        v.is_finite() && (self.scale != Scale::Log || v > 0.0)
    }
}

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
    pub shapes: Vec<String>,
    /// Figures of one group share cursor and zoom: give it where the x axis is the same run's time.
    pub group: String,
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
    /// This plot with cursor and zoom shared by all of `group`.
    pub fn grouped(mut self, group: &str) -> Figure {
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
    pub fn to_svg(&self) -> String {
        svg::render(self, svg::POINTS, true)
    }

    /// The most points of any of its series.
    pub(super) fn longest(&self) -> usize {
        let lengths = self.series.iter().map(|series| series.points.len());
        lengths.max().unwrap_or(0)
    }

    /// The series as drawn, each of at most `limit` points.
    pub(super) fn drawn(&self, limit: usize) -> Vec<Drawn> {
        let gap = |axis: &Axis, v: f64| if axis.shows(v) { v } else { f64::NAN };
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
                let ends = |pick: fn((f64, f64)) -> f64| match series.band.len() {
                    0 => Vec::new(),
                    _ => kept
                        .iter()
                        .map(|&k| gap(&self.y, pick(series.band[order[k]])))
                        .collect(),
                };
                Drawn {
                    xs: kept.iter().map(|&k| series.points[order[k]].0).collect(),
                    ys: kept.iter().map(|&k| all[k]).collect(),
                    lows: ends(|(low, _)| low),
                    highs: ends(|(_, high)| high),
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
            let is_cloud = self.series.iter().any(|one| one.mark == Mark::Points);
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

/// The least and greatest of `values` that `axis` shows, widened where they are one.
fn span<'a>(axis: &Axis, values: impl Iterator<Item = &'a f64>) -> (f64, f64) {
    let shown = values.copied().filter(|v| axis.shows(*v));
    let (low, high) = shown.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
    match (axis.scale, low < high) {
        (_, true) => (low, high),
        (Scale::Log, false) if low == high => (low / 2.0, high * 2.0),
        (Scale::Log, false) => (1.0, 10.0),
        (_, false) if low == 0.0 => (0.0, 1.0),
        (_, false) if low == high => (low - 0.05 * low.abs(), high + 0.05 * high.abs()),
        (_, false) => (0.0, 1.0),
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
    fn an_axis_of_a_sweep_is_divided_as_its_values_are() {
        let scale = |values: &[f64]| Axis::swept("x", "", values).scale;
        assert_eq!(scale(&[0.5, 1.0, 4.0]), Scale::Log, "doubling");
        assert_eq!(scale(&[10.0, 20.0, 30.0]), Scale::Linear, "even steps");
        assert_eq!(scale(&[0.0, 1e-5, 1e-4, 1e-3]), Scale::SymLog(5e-6));
        assert_eq!(scale(&[-3.0, 0.0, 900.0]), Scale::Linear);
        assert_eq!(
            Axis::swept("x", "", &[4.0, 1.0, 0.5, 1.0]).marks,
            [0.5, 1.0, 4.0]
        );
        let place = |v| Scale::SymLog(5e-6).place((0.0, 1e-3), v);
        assert_eq!((place(0.0), place(1e-3)), (0.0, 1.0));
        assert!(place(1e-5) > 0.15 && place(1e-4) > place(1e-5) + 0.3);
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
