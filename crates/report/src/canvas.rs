//! A canvas in pixels over plotters' SVG backend.
//!
//! The backend's coordinates are whole numbers, so the canvas has ten units a pixel. Fonts are
//! generic and no text is measured with a system's fonts, so the bytes are the same everywhere.

use plotters_backend::text_anchor::{HPos, Pos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, FontFamily,
    FontTransform,
};
use plotters_svg::SVGBackend;
use std::convert::Infallible;

/// Units a pixel.
const UNIT: f64 = 10.0;
/// The mean width of a letter, in its size. Wide enough for most sans-serif fonts.
const LETTER: f64 = 0.56;
/// What plotters divides a font's size by when it writes it.
const FONT_FACTOR: f64 = 1.24;

/// A colour: red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rgb(pub(super) u8, pub(super) u8, pub(super) u8);

const WHITE: Rgb = Rgb(255, 255, 255);
pub(super) const INK: Rgb = Rgb(0x1b, 0x1d, 0x1f);
pub(super) const MUTED: Rgb = Rgb(0x5c, 0x61, 0x66);
pub(super) const GRID: Rgb = Rgb(0xe6, 0xe5, 0xe1);
pub(super) const AXIS: Rgb = Rgb(0xa8, 0xaa, 0xac);

/// Half the height of a square that marks a point, in pixels.
const MARKER: f64 = 2.7;

/// The shapes of points: a disc (of no corners), then corners in units of [`MARKER`]. `SHAPES` in
/// `assets/marks.js` has the same.
pub(super) const SHAPES: [&[(f64, f64)]; 8] = [
    &[],
    &[(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)],
    &[(0.0, -1.3), (1.25, 0.95), (-1.25, 0.95)],
    &[(0.0, -1.4), (1.4, 0.0), (0.0, 1.4), (-1.4, 0.0)],
    &[(0.0, 1.3), (1.25, -0.95), (-1.25, -0.95)],
    &[
        (-0.4, -1.3),
        (0.4, -1.3),
        (0.4, -0.4),
        (1.3, -0.4),
        (1.3, 0.4),
        (0.4, 0.4),
        (0.4, 1.3),
        (-0.4, 1.3),
        (-0.4, 0.4),
        (-1.3, 0.4),
        (-1.3, -0.4),
        (-0.4, -0.4),
    ],
    &[
        (-1.3, -0.75),
        (-0.75, -1.3),
        (0.0, -0.55),
        (0.75, -1.3),
        (1.3, -0.75),
        (0.55, 0.0),
        (1.3, 0.75),
        (0.75, 1.3),
        (0.0, 0.55),
        (-0.75, 1.3),
        (-1.3, 0.75),
        (-0.55, 0.0),
    ],
    &[(-1.5, -0.6), (1.5, -0.6), (1.5, 0.6), (-1.5, 0.6)],
];

/// Where a text's anchor lies in it.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a shape is drawn.
struct Pen {
    colour: Rgb,
    opacity: f64,
    /// Units of the line; of a filled shape, nobody sees it.
    width: u32,
}

impl Rgb {
    fn stroke(self, width: f64) -> Pen {
        Pen {
            colour: self,
            opacity: 1.0,
            width: units(width) as u32,
        }
    }

    fn fill(self, opacity: f64) -> Pen {
        Pen {
            colour: self,
            opacity,
            width: 1,
        }
    }

    fn of_backend(self, alpha: f64) -> BackendColor {
        let Rgb(red, green, blue) = self;
        BackendColor {
            alpha,
            rgb: (red, green, blue),
        }
    }
}

impl BackendStyle for Pen {
    fn color(&self) -> BackendColor {
        self.colour.of_backend(self.opacity)
    }

    fn stroke_width(&self) -> u32 {
        self.width
    }
}

/// How a line of text is set; whoever shows the SVG lays out its letters.
struct Lettering {
    colour: Rgb,
    /// Units of the font.
    size: f64,
    across: HPos,
    is_upright: bool,
}

impl BackendTextStyle for Lettering {
    type FontError = Infallible;

    fn color(&self) -> BackendColor {
        self.colour.of_backend(1.0)
    }

    fn size(&self) -> f64 {
        self.size
    }

    fn transform(&self) -> FontTransform {
        if self.is_upright {
            FontTransform::Rotate270
        } else {
            FontTransform::None
        }
    }

    fn anchor(&self) -> Pos {
        Pos::new(self.across, VPos::Center)
    }

    fn family(&self) -> FontFamily<'_> {
        FontFamily::SansSerif
    }

    fn layout_box(&self, _text: &str) -> Result<((i32, i32), (i32, i32)), Infallible> {
        unreachable!("an SVG names its font and needs no layout")
    }

    fn draw<E, D: FnMut(i32, i32, BackendColor) -> Result<(), E>>(
        &self,
        _text: &str,
        _at: BackendCoord,
        _draw: D,
    ) -> Result<Result<(), E>, Infallible> {
        unreachable!("an SVG holds its text as text and draws no pixels")
    }
}

pub(super) struct Canvas<'a> {
    backend: SVGBackend<'a>,
}

fn units(v: f64) -> i32 {
    (v * UNIT).round() as i32
}

fn place((x, y): (f64, f64)) -> (i32, i32) {
    (units(x), units(y))
}

/// How wide `text` is about, in pixels, at a font of `size` pixels.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * LETTER
}

impl Canvas<'_> {
    /// Paints on a canvas of `size` pixels and returns the SVG text; `name` is its accessible name.
    pub(super) fn draw(
        size: (f64, f64),
        name: &str,
        paint: impl FnOnce(&mut Canvas<'_>),
    ) -> String {
        let mut text = String::new();
        let (width, height) = place(size);
        let backend = SVGBackend::with_string(&mut text, (width as u32, height as u32));
        let mut canvas = Canvas { backend };
        // Viewers with a dark ground would swallow the letters.
        let (right, bottom) = size;
        let corners = [(0.0, 0.0), (right, 0.0), (right, bottom), (0.0, bottom)];
        canvas.area(&corners, WHITE, 1.0);
        paint(&mut canvas);
        canvas.backend.present().expect("memory takes every write");
        drop(canvas);
        // The backend's own first element gives the units as the size on screen.
        let body = text.find(">\n").map_or("", |at| &text[at + 2..]);
        let name = super::markup::escape(name);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{}\" height=\"{}\" \
             viewBox=\"0 0 {width} {height}\">\n<title>{name}</title>\n{body}",
            size.0, size.1,
        )
    }

    /// A line through `points`, `width` pixels wide, in strokes and gaps of `dash` pixels.
    pub(super) fn path(&mut self, points: &[(f64, f64)], colour: Rgb, width: f64, dash: &[i32]) {
        let style = colour.stroke(width);
        let strokes = if dash.is_empty() {
            vec![points.to_vec()]
        } else {
            dashes(points, dash)
        };
        for stroke in strokes {
            let mut path: Vec<_> = stroke.into_iter().map(place).collect();
            path.dedup();
            if path.len() > 1 {
                let drawn = self.backend.draw_path(path, &style);
                drawn.expect("memory takes every write");
            }
        }
    }

    /// An area of `opacity` from 0 to 1.
    pub(super) fn area(&mut self, points: &[(f64, f64)], colour: Rgb, opacity: f64) {
        let style = colour.fill(opacity);
        let points = points.iter().copied().map(place);
        let drawn = self.backend.fill_polygon(points, &style);
        drawn.expect("memory takes every write");
    }

    /// A point of one of [`SHAPES`], filled or an outline.
    pub(super) fn marker(
        &mut self,
        (x, y): (f64, f64),
        shape: usize,
        colour: Rgb,
        is_hollow: bool,
    ) {
        let corners = SHAPES[shape % SHAPES.len()];
        if corners.is_empty() {
            let at = place((x, y));
            let drawn = if is_hollow {
                let radius = units(2.8) as u32;
                let style = colour.stroke(1.2);
                self.backend.draw_circle(at, radius, &style, false)
            } else {
                let radius = units(3.0) as u32;
                let style = colour.fill(1.0);
                self.backend.draw_circle(at, radius, &style, true)
            };
            drawn.expect("memory takes every write");
            return;
        }
        let size = MARKER;
        let mut corners: Vec<_> = corners
            .iter()
            .map(|(dx, dy)| (x + dx * size, y + dy * size))
            .collect();
        if is_hollow {
            corners.push(corners[0]);
            self.path(&corners, colour, 1.2, &[]);
        } else {
            self.area(&corners, colour, 1.0);
        }
    }

    /// A line of text whose middle height is at `y`.
    pub(super) fn text(
        &mut self,
        (x, y): (f64, f64),
        text: &str,
        size: f64,
        colour: Rgb,
        anchor: Anchor,
    ) {
        self.text_turned((x, y), text, size, colour, anchor, false);
    }

    /// A line of text, turned to read upwards where `is_upright`.
    pub(super) fn text_turned(
        &mut self,
        at: (f64, f64),
        text: &str,
        size: f64,
        colour: Rgb,
        anchor: Anchor,
        is_upright: bool,
    ) {
        let across = match anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let style = Lettering {
            colour,
            size: size * UNIT * FONT_FACTOR,
            across,
            is_upright,
        };
        // Characters that XML forbids even when escaped.
        let text: String = text.chars().filter(|c| !c.is_control()).collect();
        let drawn = self.backend.draw_text(&text, &style, place(at));
        drawn.expect("memory takes every write");
    }
}

/// Cuts a line into strokes: `dash` gives the lengths of strokes and gaps in turn.
fn dashes(points: &[(f64, f64)], dash: &[i32]) -> Vec<Vec<(f64, f64)>> {
    let mut strokes = Vec::new();
    let mut stroke: Vec<(f64, f64)> = points.first().copied().into_iter().collect();
    let (mut part, mut left) = (0, f64::from(dash[0]));
    for pair in points.windows(2) {
        let ((mut x, mut y), (to_x, to_y)) = (pair[0], pair[1]);
        let mut length = (to_x - x).hypot(to_y - y);
        while length > left {
            let share = left / length;
            (x, y) = (x + (to_x - x) * share, y + (to_y - y) * share);
            length -= left;
            if part % 2 == 0 {
                stroke.push((x, y));
                strokes.push(std::mem::take(&mut stroke));
            } else {
                stroke = vec![(x, y)];
            }
            part = (part + 1) % dash.len();
            left = f64::from(dash[part]);
        }
        left -= length;
        if part % 2 == 0 {
            stroke.push((to_x, to_y));
        }
    }
    strokes.push(stroke);
    strokes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_keep_their_length_round_corners() {
        let line = [(0.0, 0.0), (3.0, 0.0), (3.0, 9.0)];
        let strokes = dashes(&line, &[5, 2]);
        assert_eq!(strokes[0], [(0.0, 0.0), (3.0, 0.0), (3.0, 2.0)]);
        assert_eq!(strokes[1], [(3.0, 4.0), (3.0, 9.0)]);
    }

    #[test]
    fn text_is_escaped() {
        let svg = Canvas::draw((10.0, 10.0), "a<b", |canvas| {
            canvas.text((1.0, 1.0), "<&\u{1}", 10.0, INK, Anchor::Start);
        });
        assert!(
            svg.contains("<title>a&lt;b</title>") && svg.contains("&lt;&amp;\n"),
            "{svg}"
        );
    }
}
