//! Reads the figures over frame size or flows of a `paper.toml`.

use super::{Reader, numbers};
use crate::paper::spec::{Over, Plot, PlotPoint, PlotSeries, PlotSource, Spec};
use crate::report::label::Label;
use crate::scenario::tree::{Node, Value};

pub(super) const PLOT: &[&str] = &["id", "title", "text", "over", "of", "unit", "series"];
const SERIES: &[&str] = &[
    "name",
    "label",
    "points",
    "experiment",
    "value",
    "low",
    "high",
    "profile",
];

/// A figure; what is wrong with it is noted.
pub(super) fn plot(r: &Reader<'_>) -> Option<Plot> {
    let over = match r.word("over", &["frame", "flows"]) {
        Some(1) => Over::Flows,
        _ => Over::Frame,
    };
    Some(Plot {
        id: r.text("id"),
        title: r.text("title"),
        text: r.text_or_none("text"),
        over,
        of: (r.text("of"), r.text_or_none("unit")),
        series: r
            .each("series", "`plot.series`", SERIES)
            .filter_map(|one| series(&one))
            .collect(),
    })
}

fn series(r: &Reader<'_>) -> Option<PlotSeries> {
    let words: Vec<&str> = Label::ALL.iter().map(|label| label.key()).collect();
    if r.entry("label").is_none() {
        r.missing("label");
    }
    let label = r.word("label", &words).map(|at| Label::ALL[at]);
    let sources = ["points", "experiment", "profile"];
    let given: Vec<&str> = sources
        .into_iter()
        .filter(|key| r.entry(key).is_some())
        .collect();
    let from = match given[..] {
        ["points"] => PlotSource::Points(points(r, &r.entry("points")?.node)?),
        ["profile"] => PlotSource::Profile(r.text("profile")),
        ["experiment"] => {
            let expression = |key: &str| Some(r.expression(&r.entry(key)?.node)?);
            if r.entry("value").is_none() {
                r.missing("value");
            }
            PlotSource::Experiment {
                id: r.text("experiment"),
                value: expression("value")?,
                ends: expression("low").zip(expression("high")),
            }
        }
        _ => {
            let what = "a curve needs one source";
            let help = "give `points`, or `experiment` with `value`, or `profile`";
            r.fault(&r.span, what, format!("this has {}", given.len()), help);
            return None;
        }
    };
    Some(PlotSeries {
        name: r.text("name"),
        label: label?,
        from,
    })
}

/// `[[x, y], [x, y, low, high]]`.
fn points(r: &Reader<'_>, node: &Node) -> Option<Vec<PlotPoint>> {
    let Value::List(list) = &node.value else {
        r.wrong(node, "points", "a list of [x, y] or [x, y, low, high]");
        return None;
    };
    let each = list.iter().map(|one| match numbers(one)[..] {
        [x, y] => Some(PlotPoint {
            x,
            y,
            range: (y, y),
        }),
        [x, y, low, high] if low <= y && y <= high => Some(PlotPoint {
            x,
            y,
            range: (low, high),
        }),
        _ => {
            r.wrong(one, "points", "[x, y] or [x, y, low, high] with y between");
            None
        }
    });
    each.collect()
}

/// Whether the experiments of its curves are there, and are of functions.
pub(super) fn check(plot: &Reader<'_>, spec: &Spec) {
    for one in plot.each("series", "`plot.series`", SERIES) {
        let name = one.text_or_none("experiment");
        if name.is_empty() {
            continue;
        }
        let of_functions = spec.experiments.iter().filter(|it| it.estimate.is_some());
        if !of_functions.clone().any(|it| it.id == name) {
            one.unknown("experiment", &name, of_functions.map(|it| it.id.as_str()));
        }
    }
}
