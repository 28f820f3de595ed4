//! Plots of letters, for a terminal: each letter is a braille pattern of two by four dots.
//!
//! A line is never longer than the terminal's, so that none is wrapped; below
//! [`Plot::LEAST_COLUMNS`] or [`Plot::LEAST_ROWS`] there is no plot.

use crate::ticks::group_thousands;
use std::fmt::Write;
use trammel_ground::printable;
use trammel_stats::table::format_float;

/// Dots of a letter, across and down.
const DOTS: (usize, usize) = (2, 4);
/// Which bit of a braille pattern each dot is, by row and column.
const BITS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
/// The pattern without a dot.
const BLANK: u32 = 0x2800;
/// Letters of the numbers at the y axis, and the axis.
const MARGIN: usize = 9;
/// The palette of the page, as the nearest of a terminal's 256 colours.
const COLOURS: [u8; 8] = [32, 208, 36, 170, 178, 75, 245, 141];

/// A curve of a plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Its name.
    pub name: String,
    /// Its colour, an index into the palette.
    pub colour: usize,
    /// Its points, ascending in x.
    pub points: Vec<(f64, f64)>,
}

/// A plot from zero on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    /// What it shows, with its unit.
    pub title: String,
    /// The curves, the last one on top.
    pub curves: Vec<Curve>,
    /// From where to where the x axis goes.
    pub x: (f64, f64),
}

impl Plot {
    /// Letters of a line that a plot needs.
    pub const LEAST_COLUMNS: usize = 30;
    /// Lines that a plot needs.
    pub const LEAST_ROWS: usize = 3;

    /// The plot in so many columns and rows, in colours where `has_colours`: a line with the title
    /// and the names, then the curves. No lines where there is no room.
    pub fn lines(&self, columns: usize, rows: usize, has_colours: bool) -> Vec<String> {
        if columns < Plot::LEAST_COLUMNS || rows < Plot::LEAST_ROWS {
            return Vec::new();
        }
        // The last column stays free: some terminals go to the next line after it.
        let mut grid = Grid::new(columns - MARGIN - 1, rows - 1);
        let values = self.curves.iter().flat_map(|curve| &curve.points);
        let most = values.map(|(_, y)| *y).filter(|y| y.is_finite());
        let most = most.fold(0.0, f64::max);
        let top = if most > 0.0 { most * 1.05 } else { 1.0 };
        for curve in &self.curves {
            grid.draw(curve, self.x, top);
        }
        let mut lines = vec![self.head(columns - 1, has_colours)];
        for row in 0..rows - 1 {
            let number = match row {
                0 => short(top),
                row if row == rows - 2 => "0".to_owned(),
                _ => String::new(),
            };
            lines.push(format!("{number:>7} │{}", grid.line(row, has_colours)));
        }
        lines
    }

    /// Title and names, as many as fit.
    fn head(&self, columns: usize, has_colours: bool) -> String {
        let mut left = columns;
        let mut head = cut(&self.title, left);
        left -= width(&head);
        for curve in &self.curves {
            let name = cut(&curve.name, 24);
            let needed = width(&name) + 4;
            if curve.name.is_empty() || needed > left {
                continue;
            }
            left -= needed;
            let (on, off) = if has_colours {
                (colour(curve.colour), "\x1b[0m")
            } else {
                (String::new(), "")
            };
            let _ = write!(head, "  {on}━{off} {name}");
        }
        head
    }
}

fn colour(number: usize) -> String {
    format!("\x1b[38;5;{}m", COLOURS[number % COLOURS.len()])
}

/// A number of at most seven letters.
fn short(v: f64) -> String {
    let text = group_thousands(&format_float(v, 3));
    if text.chars().count() > 7 {
        format!("{v:.1e}")
    } else {
        text
    }
}

/// Columns that a text takes at most: letters beyond ASCII may be wide.
fn width(text: &str) -> usize {
    let of = |letter: char| if letter.is_ascii() { 1 } else { 2 };
    text.chars().map(of).sum()
}

/// The beginning of `text` that is at most `most` columns wide.
fn cut(text: &str, most: usize) -> String {
    let mut kept = String::new();
    for letter in printable(text).replace('\n', " ").chars() {
        kept.push(letter);
        if width(&kept) > most {
            kept.pop();
            break;
        }
    }
    kept
}

/// Letters with their dots and colours.
struct Grid {
    columns: usize,
    rows: usize,
    letters: Vec<(u32, usize)>,
}

impl Grid {
    fn new(columns: usize, rows: usize) -> Grid {
        Grid {
            columns,
            rows,
            letters: vec![(BLANK, 0); columns * rows],
        }
    }

    /// Draws a curve from point to point; what is not finite is a gap.
    fn draw(&mut self, curve: &Curve, (from, to): (f64, f64), top: f64) {
        let across = (self.columns * DOTS.0 - 1) as f64;
        let down = (self.rows * DOTS.1 - 1) as f64;
        let place = |(x, y): (f64, f64)| {
            let share = (x - from) / (to - from);
            let is_inside = (0.0..=1.0).contains(&share) && y.is_finite();
            let height = (y / top).clamp(0.0, 1.0);
            is_inside.then_some((share * across, (1.0 - height) * down))
        };
        let mut before = None;
        for point in &curve.points {
            let here = place(*point);
            if let Some(here) = here {
                self.stroke(before.unwrap_or(here), here, curve.colour);
            }
            before = here;
        }
    }

    fn stroke(&mut self, (x, y): (f64, f64), (to_x, to_y): (f64, f64), colour: usize) {
        let steps = (to_x - x).abs().max((to_y - y).abs()).ceil().max(1.0) as usize;
        for step in 0..=steps {
            let share = step as f64 / steps as f64;
            let dot = |from: f64, to: f64| (from + (to - from) * share).round() as usize;
            let (column, row) = (dot(x, to_x), dot(y, to_y));
            let letter = (row / DOTS.1) * self.columns + column / DOTS.0;
            if let Some(letter) = self.letters.get_mut(letter) {
                *letter = (letter.0 | BITS[row % DOTS.1][column % DOTS.0], colour);
            }
        }
    }

    fn line(&self, row: usize, has_colours: bool) -> String {
        let letters = &self.letters[row * self.columns..(row + 1) * self.columns];
        let mut line = String::new();
        let mut at_hand = None;
        for (pattern, number) in letters {
            let wanted = (has_colours && *pattern != BLANK).then_some(*number);
            if wanted != at_hand {
                line += &wanted.map_or("\x1b[0m".to_owned(), colour);
                at_hand = wanted;
            }
            let blank = *pattern == BLANK;
            line.push(if blank {
                ' '
            } else {
                char::from_u32(*pattern).unwrap_or(' ')
            });
        }
        if at_hand.is_some() {
            line += "\x1b[0m";
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(points: &[(f64, f64)]) -> Plot {
        Plot {
            title: "window (packets)".to_owned(),
            curves: vec![Curve {
                name: "cubic".to_owned(),
                colour: 0,
                points: points.to_vec(),
            }],
            x: (0.0, 10.0),
        }
    }

    #[test]
    fn a_rising_line_goes_from_corner_to_corner() {
        let lines = plot(&[(0.0, 0.0), (10.0, 100.0)]).lines(30, 6, false);
        assert_eq!(lines.len(), 6);
        assert_eq!(lines[0], "window (packets)  ━ cubic");
        assert!(lines[5].starts_with("      0 │") && lines[1].starts_with("    105 │"));
        assert_ne!(lines[5].chars().nth(9), Some(' '), "{lines:#?}");
        assert_ne!(lines[1].chars().nth(28), Some(' '), "{lines:#?}");
    }

    #[test]
    fn no_line_is_longer_than_the_terminal() {
        let points: Vec<_> = (0..=100).map(|x| (f64::from(x) / 10.0, 1e12)).collect();
        let mut wide = plot(&points);
        wide.curves[0].name = "名".repeat(40);
        for columns in 0..200 {
            for line in wide.lines(columns, 5, false) {
                assert!(line.chars().count() < columns, "{columns}: {line}");
            }
        }
        assert!(wide.lines(29, 9, false).is_empty() && wide.lines(80, 2, false).is_empty());
    }

    #[test]
    fn colours_end_with_the_line_and_names_command_nothing() {
        let mut one = plot(&[(0.0, 1.0), (10.0, 1.0)]);
        one.curves[0].name = "a\x1b[2Jb".to_owned();
        let lines = one.lines(40, 4, true);
        assert!(!lines.concat().contains("\x1b[2J"));
        let coloured = lines.iter().filter(|line| line.contains("\x1b[38"));
        assert!(coloured.clone().count() >= 2);
        assert!(
            coloured.skip(1).all(|line| line.ends_with("\x1b[0m")),
            "{lines:?}"
        );
    }

    #[test]
    fn what_is_not_finite_is_a_gap() {
        let lines = plot(&[(0.0, f64::NAN), (5.0, f64::INFINITY), (99.0, 1.0)]).lines(40, 4, false);
        let is_blank = |line: &String| line.chars().skip(9).all(|letter| letter == ' ');
        assert!(lines[1..].iter().all(is_blank), "{lines:?}");
    }
}
