//! A matrix of numbers as colours: who wins against whom.
//!
//! In the page it is a table whose cells carry their numbers, so that it can be read aloud,
//! searched and copied; colour is added to the number, never instead of it. The colours run from
//! orange over neutral to blue, which every kind of colour vision tells apart.

use super::canvas::{Anchor, Canvas, INK, MUTED, Rgb, text_width};
use super::describe::number;
use super::markup::{badge, escape};
use std::fmt::Write;
use trammel_core::label::Label;
use trammel_stats::table::format_float;

/// Which values get which colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Colours {
    /// Orange at the first, neutral at the second, blue at the third: a share around one half.
    Diverging(f64, f64, f64),
    /// Neutral at the first, blue at the second: a count.
    Sequential(f64, f64),
}

/// A matrix of numbers.
#[derive(Clone, Debug)]
pub struct HeatMap {
    /// The file's stem and the element's id; unique in a report.
    pub id: String,
    /// The heading.
    pub title: String,
    /// A sentence below: how to read it.
    pub caption: String,
    /// What a row is: `variant under test`.
    pub row_title: String,
    /// What a column is: `competes with`.
    pub column_title: String,
    /// The rows' names.
    pub rows: Vec<String>,
    /// The columns' names.
    pub columns: Vec<String>,
    /// What the numbers are: `share of the bottleneck`.
    pub value_title: String,
    /// The numbers, row by row; nothing where there is none.
    pub values: Vec<Vec<Option<f64>>>,
    /// The low and high end of the interval of each number, or an empty list.
    pub intervals: Vec<Vec<Option<(f64, f64)>>>,
    /// The colours.
    pub colours: Colours,
    /// Where the numbers are from.
    pub label: Option<Label>,
}

const LOW: [f64; 3] = [194.0, 92.0, 10.0];
const NEUTRAL: [f64; 3] = [246.0, 245.0, 242.0];
const HIGH: [f64; 3] = [24.0, 95.0, 160.0];

impl HeatMap {
    /// From −1 (orange) over 0 (neutral) to 1 (blue).
    fn tint(&self, v: f64) -> f64 {
        let t = match self.colours {
            Colours::Diverging(low, middle, _) if v < middle => (v - middle) / (middle - low),
            Colours::Diverging(_, middle, high) => (v - middle) / (high - middle),
            Colours::Sequential(low, high) => ((v - low) / (high - low)).max(0.0),
        };
        if t.is_finite() {
            t.clamp(-1.0, 1.0)
        } else {
            0.0
        }
    }

    fn value(&self, row: usize, column: usize) -> Option<f64> {
        let value = self.values.get(row)?.get(column).copied().flatten();
        value.filter(|v| v.is_finite())
    }

    /// The interval of a number in words, if it has one.
    fn spread(&self, row: usize, column: usize) -> Option<String> {
        let (low, high) = self.intervals.get(row)?.get(column).copied().flatten()?;
        Some(format!(
            "{} to {}",
            format_float(low, 3),
            format_float(high, 3)
        ))
    }

    /// The map as an SVG file. The same map gives the same bytes.
    pub(crate) fn to_svg(&self) -> String {
        const CELL: (f64, f64) = (40.0, 24.0);
        const TEXT: f64 = 11.0;
        let widest = |names: &[String]| {
            let widths = names.iter().map(|name| text_width(name, TEXT));
            widths.fold(20.0, f64::max)
        };
        let (left, top) = (widest(&self.rows) + 16.0, widest(&self.columns) + 62.0);
        let size = (
            left + self.columns.len() as f64 * CELL.0 + 8.0,
            top + self.rows.len() as f64 * CELL.1 + 8.0,
        );
        Canvas::draw(size, &self.in_words(), |canvas| {
            canvas.text((8.0, 16.0), &self.title, 15.0, INK, Anchor::Start);
            let axes = format!("{} (rows) {} (columns)", self.row_title, self.column_title);
            canvas.text((8.0, 36.0), &axes, TEXT, MUTED, Anchor::Start);
            for (column, name) in self.columns.iter().enumerate() {
                let x = left + (column as f64 + 0.5) * CELL.0;
                canvas.text_turned((x, top - 7.0), name, TEXT, INK, Anchor::Start, true);
            }
            for (row, name) in self.rows.iter().enumerate() {
                let y = top + row as f64 * CELL.1;
                let middle = y + CELL.1 / 2.0;
                canvas.text((left - 7.0, middle), name, TEXT, INK, Anchor::End);
                for column in 0..self.columns.len() {
                    let Some(v) = self.value(row, column) else {
                        continue;
                    };
                    let (x, t) = (left + column as f64 * CELL.0, self.tint(v));
                    let (right, bottom) = (x + CELL.0 - 1.0, y + CELL.1 - 1.0);
                    let corners = [(x, y), (right, y), (right, bottom), (x, bottom)];
                    canvas.area(&corners, mix(t), 1.0);
                    let ink = ink_on(mix(t));
                    let at = (x + CELL.0 / 2.0, middle);
                    canvas.text(at, &short(v), TEXT - 1.0, ink, Anchor::Middle);
                }
            }
        })
    }

    /// `Who takes from whom: share of the goodput, 17 rows by 17 columns, from 0.02 (vegas beside
    /// bic) to 0.98 (bic beside vegas).`
    fn in_words(&self) -> String {
        let mut text = format!(
            "{}: {}, {} rows by {} columns",
            self.title,
            self.value_title,
            self.rows.len(),
            self.columns.len()
        );
        let cells = self.values.iter().enumerate().flat_map(|(row, values)| {
            let cells = values.iter().enumerate();
            cells.filter_map(move |(column, v)| Some((v.filter(|v| v.is_finite())?, row, column)))
        });
        let least = cells.clone().min_by(|a, b| a.0.total_cmp(&b.0));
        let most = cells.max_by(|a, b| a.0.total_cmp(&b.0));
        let place = |(v, row, column): (f64, usize, usize)| {
            let name = |names: &[String], at: usize| names.get(at).cloned().unwrap_or_default();
            let (row, column) = (name(&self.rows, row), name(&self.columns, column));
            format!("{} ({row}, {column})", number(v))
        };
        if let Some((least, most)) = least.zip(most) {
            text += &format!(", from {} to {}", place(least), place(most));
        }
        text + "."
    }

    /// The map as part of a page.
    pub(super) fn to_html(&self) -> String {
        let mut out = format!(
            "<figure class=\"heat\" id=\"fig-{}\" aria-label=\"{}\">\n\
             <figcaption><h3>{}{}</h3></figcaption>\n\
             <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\
             <table class=\"heat-map\"><caption class=\"unseen\">{}</caption>\
             <thead><tr><th scope=\"col\" class=\"corner\"><span>{} →</span> \
             <span>{} ↓</span></th>",
            escape(&self.id),
            escape(&self.in_words()),
            escape(&self.title),
            badge(self.label),
            escape(&self.title),
            escape(&self.title),
            escape(&self.column_title),
            escape(&self.row_title),
        );
        for name in &self.columns {
            let _ = write!(out, "<th scope=\"col\"><span>{}</span></th>", escape(name));
        }
        out += "</tr></thead>\n<tbody>\n";
        for (row, name) in self.rows.iter().enumerate() {
            let _ = write!(out, "<tr><th scope=\"row\">{}</th>", escape(name));
            for column in 0..self.columns.len() {
                let Some(v) = self.value(row, column) else {
                    out += "<td class=\"none\"><span aria-label=\"no value\">–</span></td>";
                    continue;
                };
                let t = (self.tint(v) * 100.0).round();
                let side = if t < 0.0 { "low" } else { "high" };
                let strong = if ink_on(mix(t / 100.0)) == INK {
                    ""
                } else {
                    " strong"
                };
                let spread = self.spread(row, column);
                let spread =
                    spread.map_or(String::new(), |text| format!(" data-spread=\"{text}\""));
                let _ = write!(
                    out,
                    "<td class=\"{side}{strong}\" style=\"--t:{}%\" data-v=\"{}\"{spread}>{}</td>",
                    t.abs(),
                    format_float(v, 6),
                    short(v)
                );
            }
            out += "</tr>\n";
        }
        let ends = match self.colours {
            Colours::Diverging(low, middle, high) => vec![low, middle, high],
            Colours::Sequential(low, high) => vec![low, high],
        };
        let kind = if ends.len() == 3 {
            "diverging"
        } else {
            "sequential"
        };
        let ends: Vec<_> = ends.into_iter().map(short).collect();
        let ends = ends.join("</i><i>");
        let _ = write!(
            out,
            "</tbody></table></div>\n<div class=\"heat-foot\"><p class=\"key {kind}\">\
             <span class=\"what\">{}</span><span class=\"bar\"><i>{}</i></span></p>\
             <output class=\"heat-read\" data-what=\"{}\"></output></div>\n{}</figure>\n",
            escape(&self.value_title),
            ends,
            escape(&self.value_title),
            super::markup::caption(&self.caption),
        );
        out
    }
}

/// A number as short as a cell is: two decimals below ten.
fn short(v: f64) -> String {
    match v.abs() {
        size if size < 10.0 => format!("{v:.2}"),
        size if size < 100.0 => format!("{v:.1}"),
        _ => format!("{v:.0}"),
    }
}

fn mix(t: f64) -> Rgb {
    let end = if t < 0.0 { LOW } else { HIGH };
    let part = |i: usize| (NEUTRAL[i] + (end[i] - NEUTRAL[i]) * t.abs()).round() as u8;
    Rgb(part(0), part(1), part(2))
}

/// What is read better on `ground`, white or ink: the relative luminance (WCAG 2) at which both are
/// read alike is that of a middle grey.
fn ink_on(Rgb(r, g, b): Rgb) -> Rgb {
    const ALIKE: f64 = 0.2;
    let linear = |part: u8| {
        let v = f64::from(part) / 255.0;
        if v <= 0.04045 {
            v / 12.92
        } else {
            ((v + 0.055) / 1.055).powf(2.4)
        }
    };
    let light = 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    if light < ALIKE {
        Rgb(255, 255, 255)
    } else {
        INK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_follow_the_value() {
        let mut map = HeatMap {
            id: "m".into(),
            title: "t".into(),
            caption: String::new(),
            row_title: "row".into(),
            column_title: "column".into(),
            rows: vec!["a".into()],
            columns: vec!["<b>".into(), "c".into()],
            value_title: "share".into(),
            values: vec![vec![Some(0.75), None]],
            intervals: vec![vec![Some((0.7, 0.8)), None]],
            colours: Colours::Diverging(0.0, 0.5, 1.0),
            label: None,
        };
        let tints = [0.0, 0.25, 0.5, 1.0, 7.0].map(|v| map.tint(v));
        assert_eq!(tints, [-1.0, -0.5, 0.0, 1.0, 1.0]);
        let html = map.to_html();
        assert!(html.contains("&lt;b&gt;") && html.contains("--t:50%") && html.contains("0.75"));
        assert!(html.contains("no value") && html.contains("data-spread=\"0.7 to 0.8\""));
        map.colours = Colours::Sequential(2.0, 2.0);
        assert_eq!(map.tint(2.0), 0.0, "an empty range has no colour");
    }
}
