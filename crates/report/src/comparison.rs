//! Engines and published numbers side by side, each with its error against a reference.
//!
//! The error is relative, `(value − reference) / |reference|`. Its size is shown by colour, by a
//! mark (none, `△`, `▲`) and by the number, so that no reader depends on colour.

use super::markup::{badge, escape};
use super::ticks::group_thousands;
use std::collections::BTreeSet;
use std::fmt::Write;
use trammel_core::label::Label;
use trammel_stats::table::{CellType, Column, Table, format_float};

/// A column of numbers: an engine, a model or a paper.
#[derive(Clone, Debug)]
pub struct Source {
    /// What kind it is.
    pub label: Label,
    /// Which one: a model's or a paper's name; may be empty.
    pub name: String,
    /// Whether it is a bound or a yardstick, which nothing is to come out as: it has no error.
    pub is_bound: bool,
    /// The position of what it is compared with, where that is not the comparison's reference; its
    /// own where it is compared with nothing.
    pub against: Option<usize>,
}

impl Source {
    /// A source of `label`, called `name`.
    pub fn new(label: Label, name: &str) -> Source {
        let (name, is_bound) = (name.to_owned(), false);
        Source {
            label,
            name,
            is_bound,
            against: None,
        }
    }
    /// This source, compared with the one at `position`.
    pub(crate) fn against(mut self, position: usize) -> Source {
        self.against = Some(position);
        self
    }
    /// This source as a bound.
    pub fn bound(mut self) -> Source {
        self.is_bound = true;
        self
    }
}

/// A value with its interval, if it has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// The low and the high end of its interval.
    pub interval: Option<(f64, f64)>,
}

impl From<f64> for Estimate {
    fn from(value: f64) -> Estimate {
        let interval = None;
        Estimate { value, interval }
    }
}

/// Whether an outcome is as the papers' data says it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Within the tolerance; why, where that is not all.
    Matches(String),
    /// Outside, and the reason is known.
    Differs(String),
    /// Neither: what came against a verdict, or that nothing came.
    Other(String),
}

/// One metric at one point.
#[derive(Clone, Debug)]
pub struct Row {
    /// The values of [`Comparison::keys`]: point, entity, metric.
    pub keys: Vec<String>,
    /// The unit.
    pub unit: String,
    /// One value for each source, or nothing where it did not run.
    pub values: Vec<Option<Estimate>>,
    /// The verdict, where the literature's number has one.
    pub verdict: Option<Verdict>,
}

impl Row {
    /// The key in column `at`; the unit is the last.
    fn key(&self, at: usize) -> &str {
        self.keys.get(at).unwrap_or(&self.unit)
    }
}

/// The whole comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The heading.
    pub title: String,
    /// A sentence below.
    pub caption: String,
    /// The names of the columns that say what is compared.
    pub keys: Vec<String>,
    /// The columns of numbers.
    pub sources: Vec<Source>,
    /// The position in `sources` of what the others are compared with.
    pub reference: Option<usize>,
    /// Errors up to the first are small, up to the second medium, as fractions of one.
    pub bounds: (f64, f64),
    /// The rows.
    pub rows: Vec<Row>,
}

/// Rows of a table that stands in full; a longer one scrolls in its box.
const MOST_ROWS: usize = 40;

/// The usual bounds of small and medium errors: 5 % and 15 %.
pub const BOUNDS: (f64, f64) = (0.05, 0.15);

impl Comparison {
    /// The comparison in a table with a column for each engine (named by [`Label::key`]) and text
    /// columns before; engines that never ran are left out. The reference is `published`, where
    /// there is none `measured`, else `linux_vt`.
    pub fn from_table(title: &str, table: &Table) -> Comparison {
        let has = |label: &Label| {
            let numbers = table.floats(label.key());
            numbers.is_ok_and(|numbers| !numbers.is_empty())
        };
        let labels: Vec<_> = Label::OF_RESULTS.into_iter().filter(has).collect();
        let is_key = |column: &&Column| column.cell_type == CellType::Text && column.name != "unit";
        let keys = table.columns().iter().filter(is_key);
        let keys: Vec<_> = keys.map(|column| column.name.clone()).collect();
        let rows = table.rows().map(|row| Row {
            keys: keys.iter().map(|key| row.text(key).to_owned()).collect(),
            unit: row.text("unit").to_owned(),
            values: labels
                .iter()
                .map(|label| row.float(label.key()).map(Estimate::from))
                .collect(),
            verdict: None,
        });
        let references = [Label::Published, Label::Measured, Label::LinuxVt];
        let place = |label: &Label| labels.iter().position(|one| one == label);
        Comparison {
            title: title.to_owned(),
            caption: String::new(),
            rows: rows.collect(),
            reference: references.iter().find_map(place),
            bounds: BOUNDS,
            sources: labels.iter().map(|&label| Source::new(label, "")).collect(),
            keys,
        }
    }

    /// The position of what `source` is compared with.
    fn reference_of(&self, source: usize) -> Option<usize> {
        self.sources.get(source)?.against.or(self.reference)
    }

    /// What a column's head says of its part.
    fn role(&self, source: usize) -> String {
        let name = |at: usize| match self.sources[at].name.as_str() {
            "" => self.sources[at].label.words(),
            name => name,
        };
        match self.reference_of(source) {
            Some(at) if at == source => "<small>reference</small>".to_owned(),
            Some(at) if Some(at) != self.reference => {
                format!("<small>against {}</small>", escape(name(at)))
            }
            _ => String::new(),
        }
    }

    /// The relative error of `source` in `row`; nothing without a reference or where that is zero.
    pub fn error(&self, row: &Row, source: usize) -> Option<f64> {
        let is_judged = !self.sources.get(source)?.is_bound;
        let reference = self
            .reference_of(source)
            .filter(|reference| *reference != source && is_judged)?;
        let (value, reference) = (row.values[source]?.value, row.values[reference]?.value);
        let error = (value - reference) / reference.abs();
        error.is_finite().then_some(error)
    }

    /// Whether `source` has a number in `row` where the reference has zero, so that no share says
    /// how far they are apart.
    fn is_from_zero(&self, row: &Row, source: usize) -> bool {
        let reference = self.reference_of(source).filter(|other| *other != source);
        let value = |at: usize| row.values.get(at).copied().flatten().map(|one| one.value);
        let is_judged = self.sources.get(source).is_some_and(|one| !one.is_bound);
        let is_zero = reference.and_then(value) == Some(0.0);
        is_judged && is_zero && value(source).is_some_and(|value| value != 0.0)
    }

    /// This comparison with shares in per cent, and times and rates in the unit of their size.
    fn in_shown_units(&self) -> Comparison {
        let mut shown = self.clone();
        let metric = self.keys.iter().position(|key| key == "metric");
        for row in &mut shown.rows {
            let values = row.values.iter().flatten().map(|one| one.value.abs());
            let largest = values.fold(0.0, f64::max);
            let metric = metric.map_or("", |at| row.key(at)).to_owned();
            let (factor, unit) = super::units::shown(&row.unit, &metric, largest);
            let unit = unit.to_owned();
            row.unit = unit;
            for one in row.values.iter_mut().flatten() {
                one.value *= factor;
                one.interval = one
                    .interval
                    .map(|(low, high)| (low * factor, high * factor));
            }
        }
        shown
    }

    pub(super) fn to_html(&self, files: &BTreeSet<String>) -> String {
        self.in_shown_units().render(files)
    }

    fn render(&self, files: &BTreeSet<String>) -> String {
        let mut out = format!(
            "<section class=\"comparison\"><h3>{}</h3>\n{}<div class=\"scroll{}\" tabindex=\"0\" \
             role=\"region\" aria-label=\"{}\"><table class=\"sortable\"><caption \
             class=\"unseen\">{}</caption><thead><tr>",
            escape(&self.title),
            self.constants() + &self.summary(),
            if self.rows.len() > MOST_ROWS {
                " tall"
            } else {
                ""
            },
            escape(&self.title),
            escape(&self.title)
        );
        let keys = self.key_columns();
        let mut class = " class=\"pin\"";
        for (_, name, constant) in &keys {
            if constant.is_none() {
                let _ = write!(out, "<th scope=\"col\"{class}>{}</th>", escape(name));
                class = "";
            }
        }
        for (i, source) in self.sources.iter().enumerate() {
            let role = self.role(i);
            let name = match source.name.as_str() {
                "" => String::new(),
                name => format!("<small>{}</small>", escape(name)),
            };
            let badge = badge(Some(source.label));
            let _ = write!(
                out,
                "<th scope=\"col\" class=\"number\">{badge}{name}{role}</th>"
            );
        }
        let has_verdicts = self.rows.iter().any(|row| row.verdict.is_some());
        if has_verdicts {
            out += "<th scope=\"col\">verdict</th>";
        }
        out += "</tr></thead>\n<tbody>\n";
        for row in &self.rows {
            out += "<tr>";
            let mut is_first = true;
            for (at, _, constant) in &keys {
                if constant.is_none() {
                    let class = if is_first { " class=\"pin\"" } else { "" };
                    let _ = write!(out, "<td{class}>{}</td>", escape(row.key(*at)));
                    is_first = false;
                }
            }
            for (i, value) in row.values.iter().enumerate() {
                out += &self.cell(row, i, value.as_ref());
            }
            if has_verdicts {
                out += &verdict(row.verdict.as_ref());
            }
            out += "</tr>\n";
        }
        out += "</tbody></table></div>\n";
        if self.rows.len() > MOST_ROWS {
            let _ = writeln!(
                out,
                "<p class=\"cue rows\">Scroll for all {} rows.</p>",
                self.rows.len()
            );
        }
        out += &self.key();
        out += &super::markup::caption(&self.caption);
        out += &super::markup::file_link(files, "comparison");
        out += "</section>\n";
        out
    }

    fn cell(&self, row: &Row, source: usize, value: Option<&Estimate>) -> String {
        let Some(Estimate { value, interval }) = value else {
            return "<td class=\"number none\">–</td>".to_owned();
        };
        let print = |v: f64, digits| group_thousands(&format_float(v, digits));
        let is_judged = self
            .rows
            .iter()
            .any(|row| self.error(row, source).is_some());
        let mut out = format!(
            "<td class=\"number{}\" data-v=\"{}\"><span class=\"value\">{}</span>",
            if is_judged { " judged" } else { "" },
            format_float(*value, 9),
            print(*value, 4)
        );
        if let Some(error) = self.error(row, source) {
            let (class, mark, words) = self.class(error);
            let _ = write!(
                out,
                "<span class=\"error {class}\" title=\"{words}\">{mark}{}</span>",
                percent(error)
            );
        } else if is_judged {
            // Keeps the values of a column under one another.
            out += "<span class=\"error blank\"></span>";
        }
        if let Some((low, high)) = interval {
            let _ = write!(
                out,
                "<small class=\"interval\">{} to {}</small>",
                print(*low, 3),
                print(*high, 3)
            );
        }
        out + "</td>"
    }

    /// The columns before the numbers: position, name and, where all rows agree, their one value.
    fn key_columns(&self) -> Vec<(usize, &str, Option<&str>)> {
        let names = self.keys.iter().map(String::as_str).chain(["unit"]);
        let columns = names.enumerate().map(|(at, name)| {
            let mut values = self.rows.iter().map(|row| row.key(at));
            let first = values.next().filter(|_| self.rows.len() > 1);
            (
                at,
                name,
                first.filter(|first| values.all(|value| value == *first)),
            )
        });
        columns.collect()
    }

    /// What all rows share, said once.
    fn constants(&self) -> String {
        let mut out = String::new();
        for (_, name, constant) in self.key_columns() {
            if let Some(value) = constant.filter(|value| !["", "1", "base"].contains(value)) {
                let _ = write!(
                    out,
                    "<span>{} <b>{}</b></span>",
                    escape(name),
                    super::markup::prose(value)
                );
            }
        }
        match out.as_str() {
            "" => out,
            _ => format!("<p class=\"constant\">{out}</p>\n"),
        }
    }

    fn class(&self, error: f64) -> (&'static str, &'static str, &'static str) {
        match error.abs() {
            size if size <= self.bounds.0 => ("small", "", "a small error"),
            size if size <= self.bounds.1 => ("medium", "△ ", "a medium error"),
            _ => ("large", "▲ ", "a large error"),
        }
    }

    /// A line for each source: within what its errors lie.
    fn summary(&self) -> String {
        let mut out = String::new();
        for (i, source) in self.sources.iter().enumerate() {
            let errors = self.rows.iter().filter_map(|row| self.error(row, i));
            let errors: Vec<_> = errors.collect();
            let from_zero = self.rows.iter().filter(|row| self.is_from_zero(row, i));
            let words = [
                errors_in_words(errors),
                from_zero_in_words(from_zero.count()),
            ];
            let words: Vec<_> = words.into_iter().filter(|part| !part.is_empty()).collect();
            if words.is_empty() {
                continue;
            }
            let _ = write!(
                out,
                "<li>{}<span>{}{}</span></li>",
                badge(Some(source.label)),
                match source.name.as_str() {
                    "" => String::new(),
                    name => format!("{}: ", escape(name)),
                },
                words.join("; ")
            );
        }
        match out.as_str() {
            "" => out,
            _ => format!("<ul class=\"summary\">{out}</ul>\n"),
        }
    }

    fn key(&self) -> String {
        let has_errors = self
            .rows
            .iter()
            .any(|row| (0..row.values.len()).any(|at| self.error(row, at).is_some()));
        if !has_errors {
            return String::new();
        }
        let (small, medium) = (bound(self.bounds.0), bound(self.bounds.1));
        format!(
            "<p class=\"key\">Error against the reference: <span class=\"error small\">up to \
             {small}</span> <span class=\"error medium\">△ up to {medium}</span> \
             <span class=\"error large\">▲ more</span></p>\n"
        )
    }
}

fn verdict(verdict: Option<&Verdict>) -> String {
    match verdict {
        None => "<td></td>".to_owned(),
        Some(Verdict::Matches(reason)) => format!(
            "<td class=\"verdict\">✓ matches <small>{}</small></td>",
            super::markup::prose(reason)
        ),
        Some(Verdict::Differs(reason)) => format!(
            "<td class=\"verdict\">≠ differs <small>{}</small></td>",
            super::markup::prose(reason)
        ),
        Some(Verdict::Other(words)) => {
            format!("<td class=\"verdict\"><b>{}</b></td>", escape(words))
        }
    }
}

/// A bound without a sign: `5 %`.
fn bound(fraction: f64) -> String {
    format!("{}\u{202f}%", format_float(fraction * 100.0, 3))
}

/// A signed percentage: `+3.1 %`, beyond tenfold `×23`.
fn percent(error: f64) -> String {
    match error * 100.0 {
        p if p >= 900.0 => format!("×{}", format_float(error + 1.0, 3)),
        p if p.abs() >= 99.5 => format!("{p:+.0}\u{202f}%"),
        p => format!("{p:+.1}\u{202f}%"),
    }
    .replace('-', "−")
}

/// How errors are spread, without calling any of them a failure:
/// `half within 3.1 %, all within 17 % (12 numbers)`.
fn errors_in_words(mut errors: Vec<f64>) -> String {
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

/// `1 number is 0 in the reference`.
fn from_zero_in_words(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => "1 number is 0 in the reference".to_owned(),
        n => format!("{n} numbers are 0 in the reference"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(published: f64, simulated: f64) -> Comparison {
        let source = |label| Source::new(label, "");
        Comparison {
            title: "t".into(),
            caption: String::new(),
            keys: vec!["point".into()],
            sources: vec![source(Label::Simulated), source(Label::Published)],
            reference: Some(1),
            bounds: BOUNDS,
            rows: vec![Row {
                keys: vec!["p=1".into()],
                unit: "%".into(),
                values: vec![Some(simulated.into()), Some(published.into())],
                verdict: None,
            }],
        }
    }

    #[test]
    fn the_size_of_an_error_is_told_in_three_ways() {
        let html = comparison(100.0, 93.0).to_html(&BTreeSet::new());
        assert!(html.contains("class=\"error medium\" title=\"a medium error\">△ −7.0\u{202f}%"));
        assert!(html.contains("1 number, −7.0\u{202f}% off"), "{html}");
        let mut bound = comparison(100.0, 93.0);
        bound.sources[0].is_bound = true;
        assert_eq!(bound.error(&bound.rows[0], 0), None, "a bound has no error");
    }

    #[test]
    fn a_comparison_table_gives_the_engines_that_ran() {
        let columns = [
            ("point", CellType::Text),
            ("unit", CellType::Text),
            ("predicted", CellType::Float),
            ("simulated", CellType::Float),
            ("measured", CellType::Float),
            ("published", CellType::Float),
        ];
        let mut table = Table::with("comparison", &columns);
        let row = [
            ("point", "a".into()),
            ("simulated", 9.0.into()),
            ("published", 10.0.into()),
        ];
        table.push_named(row).unwrap();
        let comparison = Comparison::from_table("t", &table);
        let labels: Vec<_> = comparison
            .sources
            .iter()
            .map(|source| source.label)
            .collect();
        assert_eq!(labels, [Label::Simulated, Label::Published]);
        assert_eq!(comparison.reference, Some(1));
        assert_eq!(comparison.error(&comparison.rows[0], 0), Some(-0.1));
    }

    #[test]
    fn shares_are_in_per_cent_and_times_in_the_unit_of_their_size() {
        let mut comparison = comparison(0.5692, 0.5);
        comparison.keys = vec!["metric".into()];
        comparison.rows[0].keys = vec!["share".into()];
        comparison.rows[0].unit = "1".into();
        let html = comparison.to_html(&BTreeSet::new());
        assert!(html.contains("56.92") && html.contains(">%<"), "{html}");
        comparison.rows[0].keys = vec!["delay".into()];
        comparison.rows[0].unit = "us".into();
        comparison.rows[0].values = vec![Some(20_800.0.into()), Some(21_000.0.into())];
        let html = comparison.to_html(&["comparison.csv".to_owned()].into());
        assert!(html.contains(">20.8<") && html.contains(">ms<"), "{html}");
        assert!(html.contains("href=\"comparison.csv\""), "{html}");
    }

    #[test]
    fn nothing_is_divided_by_zero() {
        let comparison = comparison(0.0, 1.0);
        assert_eq!(comparison.error(&comparison.rows[0], 0), None);
        assert_eq!(
            comparison.error(&comparison.rows[0], 1),
            None,
            "the reference itself"
        );
    }

    #[test]
    fn errors_are_told_by_their_spread() {
        assert_eq!(
            errors_in_words(vec![-0.04, 0.17, 0.01, 0.02]),
            "half within 2.0\u{202f}%, all within 17.0\u{202f}% (4 numbers)"
        );
        assert_eq!(errors_in_words(Vec::new()), "");
    }
}
