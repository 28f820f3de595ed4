//! Which flows a window, a buffer or a clamp limits, rather than the network: what a reader must
//! know before a number is a result.
//!
//! How often a sender stood at such a bound is known of the simulator's flows: at a grid of
//! instants, what kept it from sending more.

use std::collections::{BTreeMap, BTreeSet};
use trammel_scenario::File;
use trammel_scenario::columns::FLOWS;
use trammel_scenario::flow::Flow;
use trammel_scenario::model::Scenario;
use trammel_scenario::path::{Direction, Line};
use trammel_scenario::sweep::Point;
use trammel_scenario::topology::Topology;
use trammel_stats::table::{Table, format_float};

/// A flow that stands at a bound for more than this part of its time is limited by it.
const OFTEN: f64 = 0.5;
/// Bytes of the headers of a full segment with timestamps.
const HEADERS: f64 = 52.0;
/// The columns, the words, and the key that sets the bound.
const BOUNDS: [(&str, &str, Key); 3] = [
    ("receive_window_limited", "the receive window", |flow| {
        let bytes = flow.receive_buffer.or(flow.socket_buffer)?;
        Some(("receive_buffer", size(bytes)))
    }),
    ("send_buffer_limited", "the send buffer", |flow| {
        Some(("socket_buffer", size(flow.socket_buffer?)))
    }),
    ("cwnd_clamp_limited", "the largest window", |flow| {
        Some(("cwnd_clamp", format!("{}", flow.cwnd_clamp?)))
    }),
];

/// The key that sets a bound of a flow, and its value; nothing where it is set by other things.
type Key = fn(&Flow) -> Option<(&'static str, String)>;

/// A limited flow at one point.
struct Limited<'a> {
    point: &'a str,
    part: f64,
    goodput: f64,
    /// What the path could carry of payload, Mbit/s.
    most: f64,
    key: Option<(&'static str, String)>,
}

/// A point with what is looked up of it for each of its flows.
struct Here<'a> {
    point: &'a Point,
    flows: BTreeMap<&'a str, &'a Flow>,
    most: Option<f64>,
}

impl<'a> Here<'a> {
    fn of(point: &'a Point) -> Here<'a> {
        let flows = point.scenario.flows.iter().rev();
        Here {
            point,
            flows: flows.map(|flow| (flow.name.as_str(), flow)).collect(),
            most: most_mbps(&point.scenario),
        }
    }
}

/// A note for each flow and bound.
pub(super) fn notes(file: &File, flows: &Table) -> Vec<String> {
    debug_assert!(
        BOUNDS
            .iter()
            .all(|bound| FLOWS.iter().any(|column| column.0 == bound.0)),
        "bounds are columns"
    );
    let mut all: BTreeMap<(usize, &str), Vec<Limited<'_>>> = BTreeMap::new();
    let points: BTreeMap<&str, &Point> = (file.points.iter())
        .map(|point| (point.id.as_str(), point))
        .collect();
    let mut known = BTreeSet::new();
    // Rows of a point follow each other.
    let mut here: Option<Here<'_>> = None;
    for row in flows.rows() {
        let id = row.text("point");
        if here.as_ref().is_none_or(|here| here.point.id != id) {
            here = points.get(id).map(|point| Here::of(point));
        }
        let Some(Here { point, flows, most }) = &here else {
            continue;
        };
        let name = row.text("flow");
        let (Some(flow), Some(most)) = (flows.get(name), *most) else {
            continue;
        };
        for (n, (column, _, key)) in BOUNDS.iter().enumerate() {
            let part = row.float(column).filter(|part| *part > OFTEN);
            // Where nothing arrives it is not the window that keeps a flow back.
            let goodput = row.float("goodput_mbps").filter(|one| *one > 0.0);
            let (Some(part), Some(goodput)) = (part, goodput) else {
                continue;
            };
            let limited = Limited {
                point: &point.id,
                part,
                goodput,
                most,
                key: key(flow),
            };
            if known.insert((n, name, limited.point)) {
                all.entry((n, name)).or_default().push(limited);
            }
        }
    }
    let points = file.points.len();
    all.into_iter()
        .filter_map(|((bound, flow), limited)| {
            // Where it costs most says most.
            let worst = limited
                .iter()
                .min_by(|a, b| (a.goodput / a.most).total_cmp(&(b.goodput / b.most)))?;
            let (_, words, _) = BOUNDS[bound];
            let subject = match &worst.key {
                Some((key, value)) => format!("`{key} = {value}`"),
                None => words.to_owned(),
            };
            let at = if points > 1 {
                let n = limited.len();
                format!(" at {n} of {points} points, at `{}` to", worst.point)
            } else {
                " to".to_owned()
            };
            Some(format!(
                "{subject} limits `{flow}`{at} {} of {} Mbit/s ({} of the time): a larger one \
                 shows what the path allows",
                format_float(worst.goodput, 3),
                format_float(worst.most, 3),
                percent(worst.part)
            ))
        })
        .collect()
}

fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

/// `4 MB`, `64 KB`, `5000 B`.
fn size(bytes: u64) -> String {
    match bytes {
        mb if mb >= 1_000_000 => format!("{} MB", format_float(mb as f64 / 1e6, 3)),
        kb if kb >= 10_000 => format!("{} kB", format_float(kb as f64 / 1e3, 3)),
        bytes => format!("{bytes} B"),
    }
}

/// Payload that the slowest line carries, Mbit/s; nothing where the rate is not known beforehand.
fn most_mbps(scenario: &Scenario) -> Option<f64> {
    let payload = |line: &Line| {
        let full = f64::from(line.mtu + line.overhead);
        let rate = line.rate.as_bps() as f64;
        let known = line.trace.is_none() && !line.changes_rate(Direction::Data);
        known.then(|| rate * (f64::from(line.mtu) - HEADERS).max(0.0) / full / 1e6)
    };
    match &scenario.topology {
        Topology::Path(path) if path.wifi.is_some() => None,
        Topology::Path(path) => payload(&path.line),
        Topology::Graph(graph) => {
            let all: Option<Vec<f64>> =
                graph.links.iter().map(|link| payload(&link.line)).collect();
            all?.into_iter().reduce(f64::min)
        }
    }
}
