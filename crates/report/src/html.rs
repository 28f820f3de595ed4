//! The page: assembles what the blocks render, with style, script and data inside.
//!
//! The content security policy forbids every request, which makes "works offline" a property that
//! the browser enforces. Points are shared out so that the page stays below three megabytes however
//! many series it has.

use super::figure::{Figure, Mark, Scale};
use super::markup::{badge, caption, escape, prose};
use super::{Block, Choice, NoteKind, Report, svg};
use std::collections::BTreeSet;
use std::fmt::Write;
use trammel_core::label::Label;
use trammel_stats::table::format_float;

/// Points of all series of a page together. A point takes about 20 bytes as data, 10 as a picture.
const PAGE_POINTS: usize = 60_000;
/// Points of one series in the interactive plot: more than a screen has columns of pixels.
const SERIES_POINTS: usize = 2_000;
/// Significant digits of a point: a thousandth of a pixel.
const POINT_DIGITS: usize = 6;

const UPLOT_CSS: &str = include_str!("../assets/uplot/uPlot.min.css");
const UPLOT_JS: &str = include_str!("../assets/uplot/uPlot.iife.min.js");
const REPORT_CSS: [&str; 3] = [
    include_str!("../assets/colours.css"),
    include_str!("../assets/curves.css"),
    include_str!("../assets/report.css"),
];
/// In the order in which they need each other. All but the last know nothing of reports: see
/// `assets/curves.js`.
const REPORT_JS: [&str; 12] = [
    include_str!("../assets/dom.js"),
    include_str!("../assets/numbers.js"),
    include_str!("../assets/axes.js"),
    include_str!("../assets/marks.js"),
    include_str!("../assets/colours.js"),
    include_str!("../assets/readout.js"),
    include_str!("../assets/legend.js"),
    include_str!("../assets/curves.js"),
    include_str!("../assets/picker.js"),
    include_str!("../assets/tables.js"),
    include_str!("../assets/heat.js"),
    include_str!("../assets/report.js"),
];

/// Set before the first paint, so that the page does not flash in the other theme.
const EARLY_JS: &str = "(()=>{const r=document.documentElement;r.classList.add('js');\
let t=new URLSearchParams(location.search).get('theme');\
try{t=t||localStorage.getItem('trammel-theme')}catch(e){}\
if(t==='light'||t==='dark')r.dataset.theme=t})()";

/// What a page has in addition that is filled while its run goes on.
const LIVE_JS: &str = include_str!("../assets/live.js");

/// The page, with links to those of its tables that are among `files`; one that `is_live` asks who
/// serves it for more.
pub(super) fn render(report: &Report, files: &BTreeSet<String>, is_live: bool) -> String {
    let series: usize = report
        .blocks()
        .into_iter()
        .map(|block| match block {
            Block::Figure(figure) => figure.series.len(),
            _ => 0,
        })
        .sum();
    let limit = (PAGE_POINTS / series.max(1)).clamp(50, SERIES_POINTS);
    let (connect, live) = if is_live {
        ("; connect-src 'self'", LIVE_JS)
    } else {
        ("", "")
    };
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:{connect}\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"Trammel\">\n<title>{}</title>\n\
         <style>{UPLOT_CSS}</style>\n<style>\n{}</style>\n<script>{EARLY_JS}</script>\n\
         </head>\n<body>\n{}<div class=\"page\">\n",
        escape(&report.title),
        REPORT_CSS.concat(),
        include_str!("../assets/top.html"),
    );
    contents(&mut out, report);
    out += "<main>\n";
    lead(&mut out, report);
    for (i, section) in report.sections.iter().enumerate() {
        let heading = escape(&section.heading);
        let _ = writeln!(
            out,
            "<section class=\"part\" id=\"s{i}\">\n<h2>{heading}</h2>"
        );
        for paragraph in section
            .text
            .split("\n\n")
            .filter(|text| !text.trim().is_empty())
        {
            let _ = writeln!(out, "<p>{}</p>", prose(paragraph.trim()));
        }
        body(&mut out, &section.blocks, limit, files);
        out += "</section>\n";
    }
    words(&mut out);
    provenance(&mut out, report);
    let _ = write!(
        out,
        "</main>\n</div>\n<script>{UPLOT_JS}</script>\n<script>\n{}{live}</script>\n\
         </body>\n</html>\n",
        REPORT_JS.concat(),
    );
    out
}

fn contents(out: &mut String, report: &Report) {
    *out += "<nav class=\"contents\" aria-label=\"Contents\"><ol>\n";
    for (i, section) in report.sections.iter().enumerate() {
        let heading = escape(&section.heading);
        let _ = writeln!(out, "<li><a href=\"#s{i}\">{heading}</a></li>");
    }
    *out += "<li><a href=\"#provenance\">Provenance</a></li>\n</ol></nav>\n";
}

fn lead(out: &mut String, report: &Report) {
    let _ = writeln!(
        out,
        "<header class=\"lead\">\n<h1>{}</h1>\n<p class=\"question\">{}</p>",
        escape(&report.title),
        escape(&report.question)
    );
    let answer = &report.answer;
    if !answer.sentence.is_empty() {
        *out += "<div class=\"answer\">";
        if !answer.number.is_empty() {
            let _ = write!(out, "<strong>{}</strong>", escape(&answer.number));
        }
        let badge = badge(answer.label);
        let _ = writeln!(out, "<p>{} {badge}</p></div>", prose(&answer.sentence));
    }
    if !report.highlights.is_empty() {
        *out += "<dl class=\"highlights\">\n";
        for one in &report.highlights {
            let unit = match one.unit.as_str() {
                "" => String::new(),
                unit => format!("\u{a0}<small>{}</small>", escape(unit)),
            };
            let _ = writeln!(
                out,
                "<div><dt>{}</dt><dd><b>{}{unit}</b></dd><dd class=\"note\">{}{}</dd></div>",
                escape(&one.name),
                super::units::unbroken(&escape(&one.value)),
                badge(one.label),
                escape(&one.note),
            );
        }
        *out += "</dl>\n";
    }
    *out += "</header>\n";
}

/// The blocks; neighbouring figures that are not wide share a grid.
fn body(out: &mut String, blocks: &[Block], limit: usize, files: &BTreeSet<String>) {
    let mut in_grid = false;
    for block in blocks {
        let wants_grid = matches!(block, Block::Dots(_))
            || matches!(block, Block::Figure(figure) if !figure.is_wide);
        if wants_grid != in_grid {
            *out += if in_grid {
                "</div>\n"
            } else {
                "<div class=\"grid\">\n"
            };
            in_grid = wants_grid;
        }
        match block {
            Block::Figure(one) => figure(out, one, limit),
            Block::Dots(plot) => *out += &plot.to_html(),
            Block::HeatMap(map) => *out += &map.to_html(),
            Block::Graph(graph) => *out += &graph.to_html(),
            Block::Comparison(comparison) => *out += &comparison.to_html(files),
            Block::Table(table) => *out += &table.to_html(files),
            Block::Choice(one) => choice(out, one, limit, files),
            Block::Note(note) => {
                let text = prose(&note.text);
                let (class, word) = match note.kind {
                    NoteKind::Info => ("info", "Note"),
                    NoteKind::Warning => ("warning", "Warning"),
                    NoteKind::Footnote => {
                        let _ = writeln!(out, "<p class=\"footnote\">{text}</p>");
                        continue;
                    }
                };
                let _ = writeln!(out, "<p class=\"remark {class}\"><b>{word}</b> {text}</p>");
            }
        }
    }
    if in_grid {
        *out += "</div>\n";
    }
}

/// The alternatives one below the other; a script shows one at a time.
fn choice(out: &mut String, choice: &Choice, limit: usize, files: &BTreeSet<String>) {
    let name = escape(&choice.name);
    let _ = writeln!(out, "<div class=\"choice\" data-name=\"{name}\">");
    for (name, blocks) in &choice.options {
        let name = prose(name);
        let _ = writeln!(
            out,
            "<section class=\"option\">\n<h3 class=\"option-name\">{name}</h3>"
        );
        body(out, blocks, limit, files);
        *out += "</section>\n";
    }
    *out += "</div>\n";
}

fn figure(out: &mut String, figure: &Figure, limit: usize) {
    let static_limit = svg::POINTS.min(limit / 2);
    let thinned = if figure.longest() > limit {
        let points = super::ticks::group_thousands(&figure.longest().to_string());
        format!("Thinned from {points} points per series; peaks and dips are kept.")
    } else {
        String::new()
    };
    let text = format!("{} {thinned}", figure.caption);
    let group = match figure.group.as_str() {
        "" => String::new(),
        group => format!(" data-group=\"{}\"", escape(group)),
    };
    let _ = writeln!(
        out,
        "<figure class=\"plot\" id=\"fig-{}\"{group}>\n<figcaption><h3>{}{}</h3></figcaption>\n\
         <div class=\"static\">{}</div>\n<script type=\"application/json\">{}</script>\n\
         {}</figure>",
        escape(&figure.id),
        escape(&figure.title),
        badge(one_label(figure)),
        svg::render(figure, static_limit, false),
        data(figure, limit),
        caption(text.trim()),
    );
}

/// The label of all series that have one, where they agree: said once, in the title.
fn one_label(figure: &Figure) -> Option<Label> {
    let mut labels = figure.series.iter().filter_map(|series| series.label);
    let first = labels.next()?;
    labels.all(|label| label == first).then_some(first)
}

/// The figure as `assets/curves.js` reads it.
fn data(figure: &Figure, limit: usize) -> String {
    let drawn = figure.drawn(limit);
    let (x, y) = figure.ranges(&drawn);
    let axis = |axis: &super::figure::Axis, (low, high): (f64, f64)| {
        format!(
            "{{\"text\":{},\"unit\":{},\"log\":{},\"near\":{},\"marks\":{},\
             \"zero\":{},\"fixed\":{},\"range\":[{},{}]}}",
            json(&axis.text()),
            json(&axis.unit),
            axis.scale == Scale::Log,
            match axis.scale {
                Scale::SymLog(near) => format_float(near, 9),
                _ => "0".to_owned(),
            },
            numbers(&axis.marks),
            axis.is_from_zero,
            axis.range.is_some(),
            format_float(low, 9),
            format_float(high, 9),
        )
    };
    let series = figure.series.iter().zip(&drawn).enumerate();
    let series = series.map(|(i, (series, drawn))| {
        let look = svg::look(figure, i);
        format!(
            "{{\"name\":{},\"label\":{},\"words\":{},\"colour\":{},\"shape\":{},\"dash\":{:?},\
             \"line\":{},\"step\":{},\"points\":{},\"hollow\":{},\"beside\":{},\
             \"shapes\":{:?},\"x\":{},\"y\":{},\"low\":{},\"high\":{}}}",
            json(&series.name),
            json(series.label.map_or("", Label::key)),
            json(series.label.map_or("", Label::words)),
            look.colour,
            look.shape,
            look.dash,
            series.mark != Mark::Points,
            series.mark == Mark::Step,
            matches!(series.mark, Mark::Points | Mark::LinePoints),
            series.is_hollow,
            series.is_beside,
            drawn.shapes,
            numbers(&drawn.xs),
            numbers(&drawn.ys),
            numbers(&drawn.lows),
            numbers(&drawn.highs),
        )
    });
    let rules = figure.rules.iter().map(|rule| {
        let (at, text) = (format_float(rule.at, 9), json(&rule.text));
        format!(
            "{{\"upright\":{},\"at\":{at},\"text\":{text}}}",
            rule.is_upright
        )
    });
    let shapes = figure.shapes.iter().map(|text| json(text));
    format!(
        "{{\"id\":{},\"group\":{},\"x\":{},\"y\":{},\
         \"series\":[{}],\"rules\":[{}],\"shapes\":[{}]}}",
        json(&figure.id),
        json(if figure.is_over_time {
            &figure.group
        } else {
            ""
        }),
        axis(&figure.x, x),
        axis(&figure.y, y),
        series.collect::<Vec<_>>().join(",\n"),
        rules.collect::<Vec<_>>().join(","),
        shapes.collect::<Vec<_>>().join(","),
    )
}

/// A text as JSON that may stand inside a script element.
fn json(text: &str) -> String {
    let text = serde_json::Value::from(text).to_string();
    text.replace('<', "\\u003c")
}

fn numbers(values: &[f64]) -> String {
    let texts = values.iter().map(|v| {
        if v.is_finite() {
            format_float(*v, POINT_DIGITS)
        } else {
            "null".to_owned()
        }
    });
    format!("[{}]", texts.collect::<Vec<_>>().join(","))
}

/// What the labels on this page mean.
fn words(out: &mut String) {
    let used: BTreeSet<Label> = Label::OF_RESULTS
        .into_iter()
        .filter(|label| {
            out.contains(&format!("label-{}\"", label.key()))
                || out.contains(&format!("\"label\":\"{}\"", label.key()))
        })
        .collect();
    if used.is_empty() {
        return;
    }
    *out += "<section class=\"words\" aria-label=\"What the labels mean\"><dl>\n";
    for label in used {
        let badge = badge(Some(label));
        let _ = writeln!(
            out,
            "<div><dt>{badge}</dt><dd>{}</dd></div>",
            label.meaning()
        );
    }
    *out += "</dl></section>\n";
}

fn provenance(out: &mut String, report: &Report) {
    *out += "<section id=\"provenance\">\n<h2>Provenance</h2>\n<dl>\n";
    for (name, value) in &report.provenance.facts {
        let (name, value) = (escape(name), escape(value));
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    }
    *out += "</dl>\n";
    if !report.provenance.scenario.is_empty() {
        let _ = writeln!(
            out,
            "<details class=\"scenario\"><summary>Scenario</summary>\n<pre><code>{}</code></pre>\
             </details>",
            escape(&report.provenance.scenario)
        );
    }
    *out += "</section>\n";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_can_stand_in_a_script_element() {
        for script in REPORT_JS.into_iter().chain([UPLOT_JS, EARLY_JS, LIVE_JS]) {
            assert!(!script.contains("</script") && !script.contains("<!--"));
        }
        assert_eq!(json("</script>"), "\"\\u003c/script>\"");
    }

    #[test]
    fn nothing_is_fetched() {
        for part in REPORT_JS.into_iter().chain(REPORT_CSS).chain([UPLOT_CSS]) {
            assert!(
                !part.contains("url(") && !part.contains("@import") && !part.contains("fetch(")
            );
        }
    }
}
