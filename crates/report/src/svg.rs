//! The static picture of a figure: what is printed, what a browser without scripts shows, what a
//! file is.
//!
//! From top to bottom: title (files only), legend, the y axis' title over the axis, plot, x axis.
//! Level grid lines only; the y axis' title lies flat, so nobody turns their head.

use super::canvas::{AXIS, Anchor, Canvas, GRID, INK, MUTED, Rgb, SHAPES, text_width};
use super::figure::{Drawn, Figure, Mark, Series};
use super::ticks::{mark_text, marks};

/// Points a series keeps: about one a pixel of the plot's width.
pub(super) const POINTS: usize = 500;

/// The width of the picture and the height of its plot in pixels, for wide figures and for others:
/// two of those fit beside each other, so their letters come out of one size.
const SIZES: [(f64, f64); 2] = [(680.0, 270.0), (400.0, 210.0)];
/// The size of all text but the title, in pixels.
const TEXT: f64 = 12.0;
/// The height of a line of the legend.
const LINE: f64 = 20.0;

/// The palette, after Okabe and Ito (2008), darkened where white paper asks for it. `--c0` … in
/// `assets/colours.css` are the same.
const PALETTE: [Rgb; 8] = [
    Rgb(0x00, 0x72, 0xb2),
    Rgb(0xd5, 0x5e, 0x00),
    Rgb(0x00, 0x8f, 0x68),
    Rgb(0xaa, 0x33, 0x77),
    Rgb(0xa8, 0x77, 0x00),
    Rgb(0x3a, 0x9b, 0xdc),
    Rgb(0x5b, 0x5b, 0x5b),
    Rgb(0x7f, 0x4f, 0xc9),
];

/// The dash patterns of the first and further rounds through the palette.
const ROUNDS: [&[i32]; 3] = [&[], &[6, 3], &[2, 3]];

/// What one series looks like.
pub(super) struct Look {
    pub(super) colour: usize,
    pub(super) shape: usize,
    pub(super) dash: &'static [i32],
}

/// The look of the series at `position`.
pub(super) fn look(figure: &Figure, position: usize) -> Look {
    let series = &figure.series[position];
    let index = series.colour.unwrap_or(position);
    let round = ROUNDS[(index / PALETTE.len()) % ROUNDS.len()];
    let dash = series
        .label
        .map(|label| super::label::dash(label, series.turn));
    let dash = dash.unwrap_or_default();
    Look {
        colour: index % PALETTE.len(),
        // Colours come round before shapes do: 64 series look different.
        shape: (index + index / PALETTE.len()) % SHAPES.len(),
        dash: if dash.is_empty() { round } else { dash },
    }
}

/// The frame of a plot: maps values to pixels.
struct Frame<'a> {
    figure: &'a Figure,
    x: (f64, f64),
    y: (f64, f64),
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Frame<'_> {
    fn at_x(&self, v: f64) -> f64 {
        self.left + self.figure.x.scale.place(self.x, v) * (self.right - self.left)
    }
    /// Values beyond the axis lie on its end.
    fn at_y(&self, v: f64) -> f64 {
        let share = self.figure.y.scale.place(self.y, v).clamp(-0.01, 1.01);
        self.bottom - share * (self.bottom - self.top)
    }
    fn holds_x(&self, v: f64) -> bool {
        (-1e-9..=1.0 + 1e-9).contains(&self.figure.x.scale.place(self.x, v))
    }
}

/// The SVG of `figure`, each series of at most `limit` points, under its title where `is_file`.
pub(super) fn render(figure: &Figure, limit: usize, is_file: bool) -> String {
    let drawn = figure.drawn(limit);
    let (x, y) = figure.ranges(&drawn);
    let y_marks = marks(&figure.y, y.0, y.1, 5);
    let y_texts: Vec<_> = y_marks.iter().map(|v| mark_text(&figure.y, *v)).collect();
    let widest = y_texts.iter().map(|text| text_width(text, TEXT));
    let left = widest.fold(16.0, f64::max) + 12.0;
    let (width, plot_height) = SIZES[usize::from(!figure.is_wide)];
    let legend = legend_places(figure, left, width);
    let legend_lines = legend.last().map_or(0.0, |(_, line)| line + 1.0);
    let title_height = if is_file { 30.0 } else { 0.0 };
    let top = title_height + legend_lines * LINE + 30.0;
    let frame = Frame {
        figure,
        x,
        y,
        left,
        right: width - 16.0,
        top,
        bottom: top + plot_height,
    };
    let size = (width, frame.bottom + 46.0);
    Canvas::draw(size, &super::describe::figure(figure), |canvas| {
        if is_file {
            canvas.text((8.0, 16.0), &figure.title, 15.0, INK, Anchor::Start);
        }
        paint_legend(canvas, figure, &legend, title_height + LINE / 2.0);
        for (v, text) in y_marks.iter().zip(&y_texts) {
            let y = frame.at_y(*v);
            canvas.path(&[(frame.left, y), (frame.right, y)], GRID, 1.0, &[]);
            canvas.text((frame.left - 7.0, y), text, TEXT, MUTED, Anchor::End);
        }
        let title = figure.y.text();
        canvas.text((8.0, frame.top - 16.0), &title, TEXT, MUTED, Anchor::Start);
        paint_x_axis(canvas, &frame);
        for (i, series) in drawn.iter().enumerate() {
            paint_band(canvas, &frame, series, i);
        }
        for rule in &figure.rules {
            let mut anchor = Anchor::End;
            let (ends, at) = if rule.is_upright {
                let x = frame.at_x(rule.at);
                // Words stand before the line, or behind it where there is no room.
                let is_after = x - frame.left < text_width(&rule.text, TEXT - 1.0) + 8.0;
                if is_after {
                    anchor = Anchor::Start;
                }
                let side = if is_after { 5.0 } else { -5.0 };
                (
                    [(x, frame.top), (x, frame.bottom)],
                    (x + side, frame.top + 8.0),
                )
            } else {
                let y = frame.at_y(rule.at);
                ([(frame.left, y), (frame.right, y)], (frame.right, y - 8.0))
            };
            canvas.path(&ends, MUTED, 1.0, &[3, 3]);
            canvas.text(at, &rule.text, TEXT - 1.0, MUTED, anchor);
        }
        for (i, series) in drawn.iter().enumerate() {
            paint_series(canvas, &frame, series, i);
        }
    })
}

fn paint_x_axis(canvas: &mut Canvas<'_>, frame: &Frame<'_>) {
    let axis = &frame.figure.x;
    let ends = [(frame.left, frame.bottom), (frame.right, frame.bottom)];
    canvas.path(&ends, AXIS, 1.0, &[]);
    for v in marks(
        axis,
        frame.x.0,
        frame.x.1,
        ((frame.right - frame.left) / 60.0) as usize,
    ) {
        let x = frame.at_x(v);
        canvas.path(
            &[(x, frame.bottom), (x, frame.bottom + 4.0)],
            AXIS,
            1.0,
            &[],
        );
        let text = mark_text(axis, v);
        canvas.text((x, frame.bottom + 14.0), &text, TEXT, MUTED, Anchor::Middle);
    }
    let middle = f64::midpoint(frame.left, frame.right);
    canvas.text(
        (middle, frame.bottom + 34.0),
        &axis.text(),
        TEXT,
        MUTED,
        Anchor::Middle,
    );
}

/// The x and the line of each entry of the legend; none for a single nameless series.
fn legend_places(figure: &Figure, left: f64, right: f64) -> Vec<(f64, f64)> {
    let (mut x, mut line) = (left, 0.0);
    let mut places = Vec::new();
    for text in legend_texts(figure) {
        let width = 28.0 + text_width(&text, TEXT) + 18.0;
        if x + width > right && x > left {
            (x, line) = (left, line + 1.0);
        }
        places.push((x, line));
        x += width;
    }
    places
}

/// The series that the legend names, and their places.
fn listed(figure: &Figure) -> impl Iterator<Item = (usize, &Series)> {
    let all = figure.series.iter().enumerate();
    all.filter(|(_, series)| !series.is_beside)
}

fn legend_texts(figure: &Figure) -> Vec<String> {
    let has_several_labels = figure
        .series
        .windows(2)
        .any(|pair| pair[0].label != pair[1].label);
    let has_names = figure.series.iter().any(|series| !series.name.is_empty());
    let has_names = has_names || has_several_labels;
    let named = listed(figure).filter(|_| has_names);
    let named = named.map(|(_, series)| match series.label {
        Some(label) if series.name.is_empty() => label.words().to_owned(),
        Some(label) => format!("{}, {}", series.name, label.words()),
        None => series.name.clone(),
    });
    let shapes = kinds(figure).map(|kind| figure.shapes[kind].clone());
    named.chain(shapes).collect()
}

/// The shapes that the legend explains.
fn kinds(figure: &Figure) -> impl Iterator<Item = usize> {
    (0..figure.shapes.len()).filter(|kind| !figure.shapes[*kind].is_empty())
}

fn paint_legend(canvas: &mut Canvas<'_>, figure: &Figure, places: &[(f64, f64)], top: f64) {
    let texts = legend_texts(figure);
    let kinds: Vec<usize> = kinds(figure).collect();
    let named: Vec<_> = listed(figure).take(texts.len() - kinds.len()).collect();
    for (i, (text, (x, line))) in texts.iter().zip(places).enumerate() {
        let y = top + line * LINE;
        canvas.text((x + 28.0, y), text, TEXT, INK, Anchor::Start);
        // What shapes say comes after the series.
        let Some((i, series)) = named.get(i).copied() else {
            canvas.marker((x + 11.0, y), kinds[i - named.len()], MUTED, false);
            continue;
        };
        let look = look(figure, i);
        let (colour, mark) = (PALETTE[look.colour], series.mark);
        if mark != Mark::Points {
            canvas.path(&[(*x, y), (x + 22.0, y)], colour, 2.0, look.dash);
        }
        if matches!(mark, Mark::Points | Mark::LinePoints) {
            let shape = if series.shapes.is_empty() {
                look.shape
            } else {
                0
            };
            canvas.marker((x + 11.0, y), shape, colour, series.is_hollow);
        }
    }
}

fn paint_band(canvas: &mut Canvas<'_>, frame: &Frame<'_>, drawn: &Drawn, position: usize) {
    let colour = PALETTE[look(frame.figure, position).colour];
    let ends = drawn.xs.iter().zip(drawn.lows.iter().zip(&drawn.highs));
    let ends: Vec<_> = ends
        .filter(|(x, (low, high))| frame.holds_x(**x) && low.is_finite() && high.is_finite())
        .map(|(x, (low, high))| (frame.at_x(*x), frame.at_y(*low), frame.at_y(*high)))
        .collect();
    if ends.is_empty() {
        return;
    }
    if frame.figure.series[position].mark == Mark::Points {
        for (x, low, high) in ends {
            canvas.path(&[(x, low), (x, high)], colour, 1.2, &[]);
        }
        return;
    }
    let there = ends.iter().map(|(x, low, _)| (*x, *low));
    let back = ends.iter().rev().map(|(x, _, high)| (*x, *high));
    canvas.area(&there.chain(back).collect::<Vec<_>>(), colour, 0.15);
}

fn paint_series(canvas: &mut Canvas<'_>, frame: &Frame<'_>, drawn: &Drawn, position: usize) {
    let look = look(frame.figure, position);
    let series = &frame.figure.series[position];
    let (colour, mark) = (PALETTE[look.colour], series.mark);
    let mut pieces = vec![Vec::new()];
    for (n, (x, y)) in drawn.xs.iter().zip(&drawn.ys).enumerate() {
        if !frame.holds_x(*x) {
            continue;
        }
        if matches!(mark, Mark::Points | Mark::LinePoints) && !y.is_nan() {
            let shape = drawn.shapes.get(n).copied().unwrap_or(look.shape);
            let at = (frame.at_x(*x), frame.at_y(*y));
            canvas.marker(at, shape, colour, series.is_hollow);
        }
        if y.is_nan() {
            pieces.push(Vec::new());
            continue;
        }
        let piece = pieces
            .last_mut()
            .expect("`pieces` starts with one piece and never shrinks");
        let (x, y) = (frame.at_x(*x), frame.at_y(*y));
        if let (Mark::Step, Some((_, level))) = (mark, piece.last().copied()) {
            piece.push((x, level));
        }
        piece.push((x, y));
    }
    for piece in pieces {
        if mark != Mark::Points {
            canvas.path(&piece, colour, 1.6, look.dash);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::figure::Axis;
    use super::*;
    use trammel_core::label::Label;

    fn figure() -> Figure {
        let points = (0..50_000)
            .map(|i| (f64::from(i), f64::from(i % 977)))
            .collect();
        Figure::new(
            "cwnd",
            "a < b",
            Axis::linear("time", "s"),
            Axis::linear("cwnd", ""),
        )
        .with(Series::new("<flow>", Mark::Line, points))
    }

    #[test]
    fn is_small_escaped_and_repeatable() {
        let svg = figure().to_svg();
        assert!(svg.len() < 20_000, "{} bytes", svg.len());
        assert!(svg.contains("&lt;flow&gt;") && !svg.contains("<flow>"));
        assert!(svg.contains("font-family=\"sans-serif\""));
        assert_eq!(svg, figure().to_svg());
    }

    #[test]
    fn sixty_four_series_look_different() {
        let points = || Series::new("x", Mark::Points, vec![(0.0, 0.0)]);
        let mut figure = figure();
        figure.series = (0..64).map(|_| points()).collect();
        let looks = (0..64).map(|at| look(&figure, at));
        let looks: std::collections::BTreeSet<_> =
            looks.map(|look| (look.colour, look.shape)).collect();
        assert_eq!(looks.len(), 64);
    }

    #[test]
    fn engines_of_a_series_without_a_name_are_told_apart() {
        let points = vec![(0.0, 0.0), (1.0, 1.0)];
        let series = |label| Series::new("", Mark::Line, points.clone()).labelled(label);
        let axes = (Axis::linear("limit", "BDP"), Axis::linear("use", "%"));
        let figure = Figure::new("use", "Use", axes.0, axes.1)
            .with(series(Label::Measured))
            .with(series(Label::Simulated));
        assert_eq!(legend_texts(&figure), ["measured", "simulated"]);
    }

    #[test]
    fn peaks_of_a_long_trace_reach_the_picture() {
        let mut figure = figure();
        figure.series[0].points[31_415].1 = 5_000.0;
        let drawn = figure.drawn(POINTS);
        assert!(drawn[0].ys.contains(&5_000.0));
    }
}
