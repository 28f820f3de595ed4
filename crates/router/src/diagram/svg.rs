//! A drawing that needs no other program: boxes with triangles for inputs and squares for outputs.

use super::layout::{Spot, layout};
use super::{Look, Picture};
use std::fmt::Write;

/// Where labels end.
const WIDEST: usize = 26;
/// Height of a line of a label, and the size of its letters.
const LINE: f64 = 13.0;
const SIZE: f64 = 11.0;
/// How much wider bold letters are.
const BOLD: f64 = 1.13;
/// The side of a port.
const PORT: f64 = 8.0;
/// Between ranks.
const BETWEEN: f64 = 34.0;
const MARGIN: f64 = 16.0;

/// Whether a line of a label is an element's name.
fn is_bold(label: &[String], line: usize) -> bool {
    line == 0 && label.len() > 1
}

/// How wide a line is at most in the sans-serif fonts of common systems: nobody knows which one a
/// viewer has, and DejaVu and Verdana are the widest.
fn text_width(text: &str, is_bold: bool) -> f64 {
    let ems = text.chars().map(|c| match c {
        'i' | 'j' | 'l' | 'f' | '.' | ',' | ':' | ';' | '|' | '!' | '\'' | ' ' => 0.4,
        'r' | 't' | '(' | ')' | '[' | ']' | '/' | '-' => 0.46,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 1.0,
        '=' | '+' | '<' | '>' | '#' | '&' | '~' | '^' => 0.86,
        c if c.is_uppercase() => 0.8,
        c if c.is_ascii() => 0.65,
        _ => 1.0,
    });
    let width = ems.sum::<f64>() * SIZE;
    if is_bold { width * BOLD } else { width }
}

/// The drawing, as a document of its own.
pub fn svg(picture: &Picture<'_>) -> String {
    let count = picture.flat.elements.len();
    let labels: Vec<Vec<String>> = (0..count).map(|at| picture.label(at, WIDEST)).collect();
    let ports: Vec<[Vec<Look>; 2]> = (0..count)
        .map(|at| [picture.inputs(at), picture.outputs(at)])
        .collect();
    let width = |at: usize| {
        let lines = labels[at].iter().enumerate();
        let lines = lines.map(|(line, text)| text_width(text, is_bold(&labels[at], line)));
        let widest = lines.fold(0.0, f64::max);
        let wide = ports[at].iter().map(Vec::len).max().unwrap_or(0);
        (widest + 12.0).max(wide as f64 * (PORT + 6.0) + 6.0)
    };
    let widths: Vec<f64> = (0..count).map(width).collect();
    let edges: Vec<_> = picture
        .flat
        .connections
        .iter()
        .map(|c| (c.from.element, c.to.element))
        .collect();
    let placed = layout(&widths, &edges);
    let height = |at: usize| labels[at].len() as f64 * LINE + 2.0 * PORT + 6.0;
    let mut tall = vec![0.0_f64; placed.ranks];
    for (at, spot) in placed.spots.iter().take(count).enumerate() {
        tall[spot.rank] = tall[spot.rank].max(height(at));
    }
    let mut tops = Vec::new();
    let mut y = MARGIN;
    for tall in &tall {
        tops.push(y);
        y += tall + BETWEEN;
    }
    let right = placed
        .spots
        .iter()
        .map(|spot| spot.x + spot.width)
        .fold(0.0, f64::max);
    let (across, down) = (right + 2.0 * MARGIN, (y - BETWEEN).max(0.0) + MARGIN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{across:.0}\" height=\"{down:.0}\" \
         viewBox=\"0 0 {across:.0} {down:.0}\" font-family=\"sans-serif\" font-size=\"{SIZE}\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <defs><marker id=\"a\" viewBox=\"0 0 6 6\" refX=\"6\" refY=\"3\" markerWidth=\"6\" \
         markerHeight=\"6\" orient=\"auto\"><path d=\"M0 0L6 3L0 6z\" \
         fill=\"#446\"/></marker></defs>\n<g fill=\"none\" stroke=\"#446\" stroke-width=\"1\">\n"
    );
    let spread = |spot: &Spot, port: usize, count: usize| {
        MARGIN + spot.x + spot.width * (port as f64 + 1.0) / (count as f64 + 1.0)
    };
    for (c, route) in picture.flat.connections.iter().zip(&placed.routes) {
        let (a, b) = (c.from.element, c.to.element);
        let (from, to) = (&placed.spots[a], &placed.spots[b]);
        let start = (
            spread(from, c.from.port, ports[a][1].len()),
            tops[from.rank] + height(a),
        );
        let end = (spread(to, c.to.port, ports[b][0].len()), tops[to.rank]);
        let mut points = vec![start];
        for at in route {
            let spot = &placed.spots[*at];
            let x = MARGIN + spot.x + spot.width / 2.0;
            let (top, bottom) = (tops[spot.rank], tops[spot.rank] + tall[spot.rank]);
            let both = [(x, top), (x, bottom)];
            points.extend(if start.1 < end.1 {
                both
            } else {
                [both[1], both[0]]
            });
        }
        points.push(end);
        curve(&points, &mut out);
    }
    out += "</g>\n";
    for at in 0..count {
        let spot = &placed.spots[at];
        let (x, y, w, h) = (MARGIN + spot.x, tops[spot.rank], spot.width, height(at));
        let element = &picture.flat.elements[at];
        let title = escaped(&format!(
            "{} :: {}({})",
            element.name, element.class, element.config
        ));
        write!(
            out,
            "<g><title>{title}</title><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" \
             height=\"{h:.1}\" rx=\"3\" fill=\"#fdfdf6\" stroke=\"black\"/>"
        )
        .expect("a string takes any text");
        for (port, look) in ports[at][0].iter().enumerate() {
            let middle = spread(spot, port, ports[at][0].len());
            triangle(middle, y, *look, &mut out);
        }
        for (port, look) in ports[at][1].iter().enumerate() {
            let middle = spread(spot, port, ports[at][1].len());
            square(middle, y + h, *look, &mut out);
        }
        for (line, text) in labels[at].iter().enumerate() {
            let (middle, base) = (x + w / 2.0, y + PORT + 3.0 + LINE * (line as f64 + 0.8));
            let weight = if is_bold(&labels[at], line) {
                " font-weight=\"bold\""
            } else {
                ""
            };
            write!(
                out,
                "<text x=\"{middle:.1}\" y=\"{base:.1}\" text-anchor=\"middle\"{weight}>{}</text>",
                escaped(text)
            )
            .expect("a string takes any text");
        }
        out += "</g>\n";
    }
    out + "</svg>\n"
}

/// A line that leaves and enters upright.
fn curve(points: &[(f64, f64)], out: &mut String) {
    let Some(((x, y), rest)) = points.split_first() else {
        return;
    };
    write!(out, "<path d=\"M{x:.1} {y:.1}").expect("a string takes any text");
    let (mut px, mut py) = (*x, *y);
    for &(x, y) in rest {
        // Packets that go back up leave downwards and enter from above all the same.
        let reach = ((y - py).abs() / 2.0).clamp(8.0, 40.0);
        let is_up = y < py;
        let (first, second) = if is_up && points.len() > 2 {
            (py - reach, y + reach)
        } else {
            (py + reach, y - reach)
        };
        if (px - x).abs() < 0.05 && points.len() > 2 {
            write!(out, "L{x:.1} {y:.1}").expect("a string takes any text");
        } else {
            write!(out, "C{px:.1} {first:.1} {x:.1} {second:.1} {x:.1} {y:.1}")
                .expect("a string takes any text");
        }
        (px, py) = (x, y);
    }
    // What goes back up passes behind the boxes at its ends: another colour tells which way it
    // goes.
    let is_back = rest.last().is_some_and(|end| end.1 < *y);
    let style = if is_back {
        " stroke=\"#b33\" stroke-dasharray=\"5 2\""
    } else {
        ""
    };
    writeln!(out, "\"{style} marker-end=\"url(#a)\"/>").expect("a string takes any text");
}

fn fill(look: Look) -> &'static str {
    if look.is_push { "black" } else { "white" }
}

/// An input: a triangle that points down.
fn triangle(x: f64, y: f64, look: Look, out: &mut String) {
    let half = PORT / 2.0;
    let (l, r, tip) = (x - half, x + half, y + PORT);
    write!(
        out,
        "<path d=\"M{l:.1} {y:.1}L{r:.1} {y:.1}L{x:.1} {tip:.1}z\" fill=\"{}\" stroke=\"black\"/>",
        fill(look)
    )
    .expect("a string takes any text");
    if look.is_agnostic {
        let (l, r, tip) = (l - 3.5, r + 3.5, tip + 3.5);
        write!(
            out,
            "<path d=\"M{l:.1} {y:.1}L{x:.1} {tip:.1}L{r:.1} {y:.1}\" fill=\"none\" \
             stroke=\"black\" stroke-width=\"0.7\"/>"
        )
        .expect("a string takes any text");
    }
}

/// An output: a square.
fn square(x: f64, bottom: f64, look: Look, out: &mut String) {
    let (l, top) = (x - PORT / 2.0, bottom - PORT);
    write!(
        out,
        "<rect x=\"{l:.1}\" y=\"{top:.1}\" width=\"{PORT}\" height=\"{PORT}\" fill=\"{}\" \
         stroke=\"black\"/>",
        fill(look)
    )
    .expect("a string takes any text");
    if look.is_agnostic {
        let (l, top, side, tall) = (l - 2.5, top - 2.5, PORT + 5.0, PORT + 2.5);
        write!(
            out,
            "<rect x=\"{l:.1}\" y=\"{top:.1}\" width=\"{side}\" height=\"{tall}\" \
             fill=\"none\" stroke=\"black\" stroke-width=\"0.7\"/>"
        )
        .expect("a string takes any text");
    }
}

fn escaped(text: &str) -> String {
    let plain = |c: char| if c.is_control() && c != '\n' { ' ' } else { c };
    let text: String = text.chars().map(plain).collect();
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::{Options, parse};

    #[test]
    fn every_element_and_connection_is_drawn() {
        let text = "i :: InfiniteSource -> c :: Counter -> d :: Discard; e :: Unknown(<&>) -> e;";
        let (flat, _) = parse(text, "config", &Options::default());
        let out = svg(&Picture::of(&flat));
        assert_eq!(out.matches("<title>").count(), 4);
        assert_eq!(out.matches("marker-end").count(), 3);
        assert!(out.contains("&lt;&amp;&gt;"));
    }

    #[test]
    fn labels_are_within_their_boxes_in_a_wide_font() {
        // Advances of DejaVu Sans, in units of its size: regular and bold.
        let letters = [
            ('W', 0.989, 1.103),
            ('O', 0.787, 0.850),
            ('m', 0.974, 1.042),
            ('a', 0.613, 0.675),
            ('t', 0.392, 0.478),
            ('r', 0.411, 0.493),
            ('i', 0.278, 0.343),
            ('0', 0.636, 0.696),
            ('=', 0.838, 0.838),
            ('/', 0.337, 0.365),
        ];
        for (letter, regular, bold) in letters {
            let text = letter.to_string().repeat(20);
            assert!(
                text_width(&text, false) >= 20.0 * regular * SIZE,
                "{letter}"
            );
            assert!(text_width(&text, true) >= 20.0 * bold * SIZE, "{letter}");
        }
    }
}
