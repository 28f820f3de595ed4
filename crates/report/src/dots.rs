//! A dot plot: named rows, one mark a series, so that names of any kind can be compared by eye.
//!
//! In the page it is made of elements placed by percentages, so that it fits any width with letters
//! of their own size, prints, and can be read aloud. The axis is logarithmic where values span
//! decades.

use super::axis::Scale;
use super::canvas::{Anchor, Canvas, GRID, INK, MUTED, Rgb, text_width};
use super::describe::{MOST, number};
use super::markup::{badge, escape};
use super::ticks::{group_thousands, tick_text, ticks};
use std::fmt::Write;
use trammel_core::label::Label;
use trammel_stats::table::format_float;

/// One series of marks.
#[derive(Clone, Debug)]
pub struct DotSeries {
    /// Its name; may be empty where the label says all.
    pub name: String,
    /// Where its numbers are from.
    pub label: Label,
    /// One value for each row, or nothing.
    pub values: Vec<Option<f64>>,
}

/// The whole plot.
#[derive(Clone, Debug)]
pub struct DotPlot {
    /// The file's stem and the element's id; unique in a report.
    pub id: String,
    /// The heading.
    pub title: String,
    /// The unit of all values; may be empty.
    pub unit: String,
    /// The names of the rows.
    pub rows: Vec<String>,
    /// The series; the last is drawn on top.
    pub series: Vec<DotSeries>,
}

/// Series that look different: with more, some look alike.
pub(crate) const MARKS: usize = 8;
/// Values that span more than this are drawn on a logarithmic axis.
const DECADES: f64 = 30.0;
/// Ticks wished for: more would collide on a telephone.
const TICKS: usize = 4;

/// An axis that places values from 0 to 1.
struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
}

impl Axis {
    fn of(plot: &DotPlot) -> Axis {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut has_signs = false;
        for value in plot.values() {
            (least, most) = (least.min(value), most.max(value));
            has_signs |= value <= 0.0;
        }
        if least > most {
            (least, most) = (0.0, 1.0);
        }
        if !has_signs && most / least > DECADES {
            let (low, high) = (least.log10(), most.log10());
            let room = (high - low) * 0.06;
            return Axis {
                scale: Scale::Log,
                low: 10_f64.powf(low - room),
                high: 10_f64.powf(high + room),
            };
        }
        let low = if least < 0.0 { least * 1.1 } else { 0.0 };
        let high = if most > 0.0 { most * 1.06 } else { 1.0 };
        // Of a part of a whole it is seen how much is left.
        let is_part = plot.unit == "%" && least >= 0.0 && (50.0..=100.0).contains(&most);
        let high = if is_part { 102.0 } else { high };
        if has_signs {
            // A few that are far off must not press the rest together.
            let mut sizes: Vec<f64> = plot.values().map(f64::abs).collect();
            sizes.retain(|size| *size > 0.0);
            sizes.sort_by(f64::total_cmp);
            let middle = sizes.get(sizes.len() / 2).copied().unwrap_or_default();
            if middle > 0.0 && high.max(-low) > DECADES * middle {
                let scale = Scale::SymLog(middle);
                return Axis { scale, low, high };
            }
        }
        Axis {
            scale: Scale::Linear,
            low,
            high,
        }
    }

    fn place(&self, value: f64) -> f64 {
        self.scale
            .place((self.low, self.high), value)
            .clamp(0.0, 1.0)
    }

    fn ticks(&self) -> Vec<(f64, String)> {
        let all = ticks(self.scale, self.low, self.high, TICKS);
        let inside = all
            .into_iter()
            .filter(|v| (self.low..=self.high).contains(v));
        inside
            .map(|v| (self.place(v), tick_text(self.scale, v)))
            .collect()
    }
}

impl DotSeries {
    /// Shape and colour in a file.
    fn look(&self, place: usize) -> (usize, Rgb) {
        let (red, green, blue) = COLOURS[place % COLOURS.len()];
        match self.label {
            Label::Published => (3, INK),
            _ => (place % COLOURS.len(), Rgb(red, green, blue)),
        }
    }
    fn is_hollow(&self) -> bool {
        self.label == Label::Published
    }
    pub(super) fn words(&self) -> String {
        match self.name.as_str() {
            "" => self.label.words().to_owned(),
            name => format!("{}, {name}", self.label.words()),
        }
    }
}

/// The mark of the series at `place`: published numbers are hollow, ours filled, each with its
/// colour.
fn mark_class(place: usize, label: Label) -> String {
    match label {
        Label::Published => "mark published".to_owned(),
        _ => format!("mark m{}", place % COLOURS.len()),
    }
}

/// The palette of `assets/colours.css`, for the files; the eighth is the ink of what is published.
const COLOURS: [(u8, u8, u8); MARKS] = [
    (0, 114, 178),
    (213, 94, 0),
    (0, 143, 104),
    (170, 51, 119),
    (168, 119, 0),
    (58, 155, 220),
    (91, 91, 91),
    (127, 79, 201),
];

impl DotPlot {
    /// All of its numbers.
    fn values(&self) -> impl Iterator<Item = f64> {
        let values = self.series.iter().flat_map(|series| &series.values);
        values.flatten().copied().filter(|value| value.is_finite())
    }

    /// `Table 1: share in %, 12 rows. published: 51 to 93. simulated: 50 to 92.`
    fn in_words(&self) -> String {
        let unit = match self.unit.as_str() {
            "" => String::new(),
            unit => format!(" in {unit}"),
        };
        let mut text = format!("{}{unit}: {} rows.", self.title, self.rows.len());
        for one in self.series.iter().take(MOST) {
            let known = || one.values.iter().flatten().copied();
            let (least, most) =
                known().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
            if least <= most {
                text += &format!(" {}: {} to {}.", one.words(), number(least), number(most));
            }
        }
        text
    }

    /// The plot as part of a page.
    pub(super) fn to_html(&self) -> String {
        let axis = Axis::of(self);
        let unit = if self.unit.is_empty() {
            String::new()
        } else {
            format!(" <small>{}</small>", escape(&self.unit))
        };
        let mut out = format!(
            "<figure class=\"dots\" id=\"fig-{}\" aria-label=\"{}\">\n\
             <figcaption><h3>{}</h3>{unit}</figcaption>\n<ul class=\"dots-legend\">",
            escape(&self.id),
            escape(&self.in_words()),
            escape(&self.title),
        );
        for (n, series) in self.series.iter().enumerate() {
            let _ = write!(
                out,
                "<li><i class=\"{}\"></i>{}{}</li>",
                mark_class(n, series.label),
                badge(Some(series.label)),
                escape(&series.name)
            );
        }
        out += "</ul>\n<div class=\"dots-rows\">\n";
        let ticks = axis.ticks();
        let mut lines = String::new();
        for (place, _) in &ticks {
            let _ = write!(lines, "<s style=\"left:{:.2}%\"></s>", place * 100.0);
        }
        for (at, row) in self.rows.iter().enumerate() {
            let _ = write!(
                out,
                "<div class=\"dots-row\"><span>{}</span><div class=\"track\">{lines}",
                escape(row)
            );
            for (n, series) in self.series.iter().enumerate() {
                let Some(value) = series.values.get(at).copied().flatten() else {
                    continue;
                };
                let words = format!(
                    "{}: {} {}",
                    series.words(),
                    group_thousands(&format_float(value, 4)),
                    self.unit
                );
                let _ = write!(
                    out,
                    "<i class=\"{}\" style=\"left:{:.2}%\" title=\"{}\"></i>",
                    mark_class(n, series.label),
                    axis.place(value) * 100.0,
                    escape(words.trim())
                );
            }
            out += "</div></div>\n";
        }
        out += "<div class=\"dots-row axis\"><span></span><div class=\"track\">";
        for (place, text) in &ticks {
            let _ = write!(
                out,
                "<b style=\"left:{:.2}%\">{}</b>",
                place * 100.0,
                escape(text)
            );
        }
        out + "</div></div>\n</div>\n</figure>\n"
    }

    /// The plot as an SVG file. The same plot gives the same bytes.
    pub(crate) fn to_svg(&self) -> String {
        const ROW: f64 = 20.0;
        const TEXT: f64 = 11.0;
        const TRACK: f64 = 420.0;
        let axis = Axis::of(self);
        let widths = self.rows.iter().map(|name| text_width(name, TEXT));
        let left = widths.fold(20.0, f64::max) + 20.0;
        let top = 34.0 + 18.0 * self.series.len() as f64;
        let bottom = top + ROW * self.rows.len() as f64;
        let x = |place: f64| left + place * TRACK;
        Canvas::draw(
            (left + TRACK + 24.0, bottom + 26.0),
            &self.in_words(),
            |canvas| {
                let title = match self.unit.as_str() {
                    "" => self.title.clone(),
                    unit => format!("{} ({unit})", self.title),
                };
                canvas.text((8.0, 16.0), &title, 15.0, INK, Anchor::Start);
                for (n, series) in self.series.iter().enumerate() {
                    let y = 38.0 + 18.0 * n as f64;
                    let (shape, colour) = series.look(n);
                    canvas.marker((14.0, y), shape, colour, series.is_hollow());
                    canvas.text((24.0, y), &series.words(), TEXT, MUTED, Anchor::Start);
                }
                for (place, text) in axis.ticks() {
                    canvas.path(&[(x(place), top), (x(place), bottom)], GRID, 1.0, &[]);
                    canvas.text(
                        (x(place), bottom + 12.0),
                        &text,
                        TEXT,
                        MUTED,
                        Anchor::Middle,
                    );
                }
                for (at, row) in self.rows.iter().enumerate() {
                    let y = top + ROW * (at as f64 + 0.5);
                    canvas.text((left - 10.0, y), row, TEXT, INK, Anchor::End);
                    canvas.path(&[(x(0.0), y), (x(1.0), y)], GRID, 1.0, &[]);
                    for (n, series) in self.series.iter().enumerate() {
                        if let Some(value) = series.values.get(at).copied().flatten() {
                            let (shape, colour) = series.look(n);
                            canvas.marker(
                                (x(axis.place(value)), y),
                                shape,
                                colour,
                                series.is_hollow(),
                            );
                        }
                    }
                }
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(values: &[f64]) -> DotPlot {
        DotPlot {
            id: "t".to_owned(),
            title: "rates".to_owned(),
            unit: "Mbit/s".to_owned(),
            rows: values.iter().map(|value| format!("<{value}>")).collect(),
            series: vec![DotSeries {
                name: String::new(),
                label: Label::Published,
                values: values.iter().map(|value| Some(*value)).collect(),
            }],
        }
    }

    #[test]
    fn values_that_span_decades_get_a_logarithmic_axis() {
        assert_eq!(Axis::of(&plot(&[0.01, 1.0])).scale, Scale::Log);
        assert_eq!(Axis::of(&plot(&[20.0, 60.0])).scale, Scale::Linear);
        assert_eq!(Axis::of(&plot(&[-0.5, 60.0])).scale, Scale::Linear);
        let axis = Axis::of(&plot(&[20.0, 60.0]));
        assert!(axis.place(20.0) > 0.3 && axis.place(60.0) < 1.0);
    }

    #[test]
    fn names_are_escaped_and_every_value_has_its_words() {
        let html = plot(&[20.0, 60.0]).to_html();
        assert!(
            html.contains("&lt;20&gt;") && html.contains("published: 60 Mbit/s"),
            "{html}"
        );
        assert_eq!(html.matches("<i class=\"mark published\" style").count(), 2);
    }
}
