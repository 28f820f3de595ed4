//! Reads the figures over frame size or flows of a `paper.toml`.

use super::reader::{Reader, numbers};
use crate::spec::{Over, Plot, PlotPoint, PlotSeries, PlotSource, Spec};
use trammel_core::label::Label;
use trammel_scenario::tree::{Node, Value};
use trammel_streams::achieved::COLUMNS;
use trammel_traffic::record::Protocol;

pub(super) const PLOT: &[&str] = &["id", "title", "text", "over", "of", "unit", "log", "series"];
const SERIES: &[&str] = &[
    "name",
    "label",
    "points",
    "experiment",
    "value",
    "low",
    "high",
    "profile",
    "streams",
    "protocol",
    "column",
];

/// A figure; what is wrong with it is noted.
pub(super) fn plot(r: &Reader<'_>) -> Plot {
    let over = match r.word("over", &["frame", "flows", "pps", "mbps"]) {
        Some(1) => Over::Flows,
        Some(2) => Over::Pps,
        Some(3) => Over::Mbps,
        _ => Over::Frame,
    };
    Plot {
        id: r.text("id"),
        title: r.text("title"),
        text: r.text_or_none("text"),
        over,
        of: (r.text("of"), r.text_or_none("unit")),
        is_log: r.flag("log").unwrap_or(false),
        series: r
            .each("series", "`plot.series`", SERIES)
            .filter_map(|one| series(&one))
            .collect(),
    }
}

fn series(r: &Reader<'_>) -> Option<PlotSeries> {
    if r.entry("streams").is_some() {
        return streams(r);
    }
    let words: Vec<&str> = Label::OF_RESULTS.iter().map(|label| label.key()).collect();
    if r.entry("label").is_none() {
        r.missing("label");
    }
    let label = r.word("label", &words).map(|at| Label::OF_RESULTS[at]);
    let sources = ["points", "experiment", "profile"];
    let given: Vec<&str> = sources
        .into_iter()
        .filter(|key| r.entry(key).is_some())
        .collect();
    let from = match given[..] {
        ["points"] => PlotSource::Points(points(r, &r.entry("points")?.node)?),
        ["profile"] => PlotSource::Profile(r.text("profile")),
        ["experiment"] => {
            let expression = |key: &str| r.expression(&r.entry(key)?.node);
            if r.entry("value").is_none() {
                r.missing("value");
            }
            PlotSource::Experiment {
                id: r.text("experiment"),
                value: expression("value")?,
                ends: expression("low").zip(expression("high")).map(Box::new),
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

/// Curves of streams: who sent them and whose numbers they are stands in the experiment's table.
fn streams(r: &Reader<'_>) -> Option<PlotSeries> {
    let protocol = r.word("protocol", &["tcp", "udp"]);
    if r.entry("protocol").is_none() {
        r.missing("protocol");
    }
    let names: Vec<&str> = COLUMNS.iter().map(|(name, ..)| *name).collect();
    let column = r.word("column", &names);
    if r.entry("column").is_none() {
        r.missing("column");
    }
    Some(PlotSeries {
        name: String::new(),
        label: Label::Measured,
        from: PlotSource::Streams {
            id: r.text("streams"),
            protocol: [Protocol::Tcp, Protocol::Udp][protocol?],
            column: names[column?].to_owned(),
        },
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
        let of_functions = spec
            .experiments
            .iter()
            .filter(|it| it.estimate.is_some() || it.tested.is_some());
        if !of_functions.clone().any(|it| it.id == name) {
            one.unknown("experiment", &name, of_functions.map(|it| it.id.as_str()));
        }
    }
    for one in plot.each("series", "`plot.series`", SERIES) {
        let name = one.text_or_none("streams");
        let of_streams = spec.experiments.iter().filter(|it| it.streams.is_some());
        if !name.is_empty() && !of_streams.clone().any(|it| it.id == name) {
            one.unknown("streams", &name, of_streams.map(|it| it.id.as_str()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "title = 't'\nclaim = 'c'\n\
        [[experiment]]\nid = 'here'\nengine = 'measure'\nmachine = 'host'\n\
        functions = { switch = 'switch.click' }\nflows = [1, 16]\nvary = 'ether.src'\n\
        [[plot]]\nid = 'p'\ntitle = 'p'\nover = 'flows'\nof = 'rate'\n";

    #[test]
    fn a_figure_is_read_with_its_curves() {
        let text = format!(
            "{HEAD}[[plot.series]]\nname = 'ours'\nlabel = 'measured'\nexperiment = 'here'\n\
             value = 'switch.mpps'\n\
             [[plot.series]]\nname = 'theirs'\nlabel = 'published'\n\
             points = [[1, 16, 15.5, 16.5], [10, 5]]\n\
             [[plot.series]]\nname = 'other'\nlabel = 'measured'\nprofile = 'other.toml'\n"
        );
        let spec = Spec::parse("paper.toml", &text).unwrap();
        let wanted = spec.experiments[0].estimate.as_ref().unwrap();
        assert!(wanted.is_measured && wanted.flows == [1.0, 16.0]);
        assert_eq!(spec.experiments[0].label, Label::Measured);
        let plot = &spec.plots[0];
        assert_eq!((plot.over, plot.series.len()), (Over::Flows, 3));
        let PlotSource::Points(points) = &plot.series[1].from else {
            panic!("{:?}", plot.series[1])
        };
        assert_eq!(
            (points[0].range, points[1].range),
            ((15.5, 16.5), (5.0, 5.0))
        );
    }

    #[test]
    fn every_fault_of_a_figure_is_shown() {
        let text = format!(
            "{HEAD}[[plot.series]]\nname = 'a'\nlabel = 'mesured'\nexperiment = 'ther'\n\
             value = 'switch.mpps'\n\
             [[plot.series]]\nname = 'b'\nlabel = 'measured'\npoints = [[1, 16, 17, 18]]\n\
             [[plot.series]]\nname = 'c'\nlabel = 'measured'\npoints = []\nprofile = 'p'\n\
             [[experiment]]\nid = 'list'\nengine = 'measure'\nmachine = 'host'\n\
             functions = 'f.toml'\nflows = [0]\n"
        );
        let shown = Spec::parse("paper.toml", &text).unwrap_err().to_string();
        for part in [
            "`label` cannot be",
            "there is no `ther`",
            "[x, y] or [x, y, low, high] with y between",
            "a curve needs one source",
            "only Click files can be measured",
            "a list of whole numbers from 1 to 10 million",
        ] {
            assert!(shown.contains(part), "{part}\n{shown}");
        }
    }
}
