//! Flent's data files, version 4: flows, pings and what was sampled of sockets.
//!
//! `results` has a list of values for each series, at the times of `x_values`; `metadata` says in
//! `SERIES_META` which unit each has. A series in Mbit/s is a flow, one in ms the round trips of a
//! probe; `FLOW::tcp_cwnd` and `FLOW::tcp_rtt` are samples of a flow's socket, and flows of one
//! kind are told apart as `FLOW::1`, `FLOW::2`. Means are Flent's own where it wrote them
//! (`MEAN_VALUE`), else those of the values. What Flent computed of several series, such as
//! `TCP upload sum`, is no flow and no probe. A run that Trammel exported says in its note how its
//! numbers are known, and has the flows' own names as titles.

use crate::document::{amount, number, word};
use crate::error::ImportError;
use crate::format::Format;
use crate::imported::{Imported, Run, Trace};
use crate::origin::Origin;
use crate::rows::{Rows, finite, maybe};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use trammel_core::label::Label;
use trammel_stats::stats::jain;
use trammel_stats::table::CellType::{self, Float, Int, Text};

/// The version that is read.
const VERSION: u64 = 4;
/// Series of one file, at most.
const MOST_SERIES: usize = 4096;

const FLOWS: &[(&str, CellType)] = &[
    ("flow", Text),
    ("variant", Text),
    ("goodput_mbps", Float),
    ("share", Float),
    ("rtt_mean_us", Float),
    ("cwnd_mean_pkts", Float),
    ("cwnd_max_pkts", Float),
];

const PINGS: &[(&str, CellType)] = &[
    ("ping", Text),
    ("samples", Int),
    ("rtt_min_us", Float),
    ("rtt_mean_us", Float),
    ("rtt_p50_us", Float),
    ("rtt_p95_us", Float),
    ("rtt_p99_us", Float),
];

const GROUPS: &[(&str, CellType)] = &[
    ("flows", Int),
    ("goodput_mbps", Float),
    ("jain", Float),
    ("latency_loaded_mean_us", Float),
    ("latency_loaded_p95_us", Float),
];

const SAMPLES: &[(&str, CellType)] = &[
    ("time_s", Float),
    ("goodput_mbps", Float),
    ("cwnd_pkts", Float),
    ("srtt_us", Float),
    ("rtt_us", Float),
];

/// Whether a document is one of Flent's.
pub(crate) fn is(document: &Value) -> bool {
    let has = |key| document.get(key).is_some();
    has("metadata") && has("results") && has("x_values")
}

/// What a series is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Goodput,
    Ping,
    Window,
    SocketRtt,
}

/// A series of a flow or probe: what it is of, and its values at the times of the file.
struct Series<'a> {
    entity: &'a str,
    /// What it is called where that is not `entity`.
    title: Option<&'a str>,
    kind: Kind,
    values: Vec<Option<f64>>,
    mean: Option<f64>,
}

/// Of which flow or probe a series is, and what of it; nothing for what nobody knows.
fn kind<'a>(name: &'a str, unit: Option<&str>) -> Option<(&'a str, Kind)> {
    if let Some((flow, what)) = name.rsplit_once("::")
        && what.starts_with("tcp_")
    {
        return match what {
            "tcp_cwnd" => Some((flow, Kind::Window)),
            "tcp_rtt" => Some((flow, Kind::SocketRtt)),
            _ => None,
        };
    }
    // Old files have no units; names say enough there.
    let is_ping = name.starts_with("Ping (ms)");
    match unit {
        Some("ms") => Some((name, Kind::Ping)),
        Some("Mbits/s") => Some((name, Kind::Goodput)),
        None if is_ping => Some((name, Kind::Ping)),
        None if name.starts_with("TCP ") => Some((name, Kind::Goodput)),
        _ => None,
    }
}

/// Whether Flent computed the series of that name of others.
fn is_computed(name: &str) -> bool {
    let last = name.rsplit([' ', ':']).next().unwrap_or(name);
    matches!(last, "avg" | "sum" | "total" | "totals")
}

/// The first of `names`, for a note.
fn first_of(names: &[&str]) -> String {
    let first: Vec<&str> = names.iter().copied().take(5).collect();
    let more = if names.len() > 5 { ", …" } else { "" };
    format!("{}{more}", first.join(", "))
}

/// Reads a data file of Flent.
pub(crate) fn read(documents: &[Value], mut notes: Vec<String>) -> Result<Imported, ImportError> {
    const GIVE: &str = "give a data file (`.flent` or `.flent.gz`) that `flent -i` reads";
    let Some(file) = documents.first().filter(|file| is(file)) else {
        let what = "it has no `metadata`, `results` and `x_values`";
        return Err(ImportError::nothing(what, GIVE));
    };
    let version = file.get("version").and_then(Value::as_u64);
    if version.is_some_and(|version| version != VERSION) {
        notes.push(format!(
            "The file is of version {}; it is read as version {VERSION}.",
            version.unwrap_or_default()
        ));
    }
    let times: Vec<Option<f64>> = document_list(file, "/x_values");
    let all = file.get("results").and_then(Value::as_object);
    let all = all.into_iter().flatten();
    let mut series: Vec<Series<'_>> = Vec::new();
    let mut unknown: Vec<&str> = Vec::new();
    let mut computed: Vec<&str> = Vec::new();
    for (name, values) in all.take(MOST_SERIES) {
        let meta = file.pointer("/metadata/SERIES_META");
        let meta = meta.and_then(|meta| meta.get(name));
        let unit = meta.and_then(|meta| word(meta, "/UNITS"));
        let Some((entity, kind)) = kind(name, unit) else {
            unknown.push(name);
            continue;
        };
        if is_computed(entity) {
            computed.push(name);
            continue;
        }
        let values = values.as_array().map_or(&[][..], Vec::as_slice);
        series.push(Series {
            entity,
            title: None,
            kind,
            values: values.iter().map(positive).collect(),
            mean: meta.and_then(|meta| amount(meta, "/MEAN_VALUE")),
        });
    }
    if !unknown.is_empty() {
        notes.push(format!(
            "{} series are of no kind that is known here and are left out: {}.",
            unknown.len(),
            first_of(&unknown)
        ));
    }
    if !computed.is_empty() {
        notes.push(format!(
            "{} series are sums and means that Flent computed of others, and no flows: {}.",
            computed.len(),
            first_of(&computed)
        ));
    }
    let own = Origin::of_flent(file)?;
    if own.is_some() {
        names_of(file, &mut series);
    }
    let run = run(file, &series, &times);
    if run.tables.is_empty() {
        let what = "none of its series is a flow in Mbit/s or a probe in ms";
        return Err(ImportError::nothing(what, GIVE));
    }
    let version = word(file, "/metadata/FLENT_VERSION").unwrap_or("");
    let Origin { by, label } = own.unwrap_or_else(|| Origin {
        by: format!("Flent {version}").trim_end().to_owned(),
        label: Label::Measured,
    });
    Ok(Imported {
        format: Format::Flent,
        by,
        label,
        runs: vec![run],
        notes,
    })
}

/// Flows of a run that Trammel exported by their own names, which are the titles of their series.
fn names_of<'a>(file: &'a Value, series: &mut [Series<'a>]) {
    let title = |entity: &str| {
        let meta = file.pointer("/metadata/SERIES_META")?.get(entity)?;
        word(meta, "/TITLE")
    };
    let flows: BTreeSet<&str> = series
        .iter()
        .filter(|one| one.kind == Kind::Goodput)
        .map(|one| one.entity)
        .collect();
    let named: BTreeMap<&str, &str> = flows
        .iter()
        .filter_map(|flow| Some((*flow, title(flow)?)))
        .collect();
    // A name that two have would make one of them.
    let names: BTreeSet<&str> = named.values().copied().collect();
    if names.len() < named.len() || series.iter().any(|one| names.contains(one.entity)) {
        return;
    }
    for one in series {
        one.title = named.get(one.entity).copied();
    }
}

fn positive(value: &Value) -> Option<f64> {
    number(value, "").filter(|number| *number >= 0.0)
}

fn document_list(file: &Value, path: &str) -> Vec<Option<f64>> {
    let list = file.pointer(path).and_then(Value::as_array);
    list.into_iter().flatten().map(positive).collect()
}

impl Series<'_> {
    fn name(&self) -> &str {
        self.title.unwrap_or(self.entity)
    }

    fn known(&self) -> Vec<f64> {
        self.values.iter().copied().flatten().collect()
    }

    /// The instants from the first to the last of its values.
    fn rows(&self) -> Option<(usize, usize)> {
        let first = self.values.iter().position(Option::is_some)?;
        let last = self.values.iter().rposition(Option::is_some)?;
        Some((first, last))
    }

    fn mean(&self) -> Option<f64> {
        let known = self.known();
        let of_values = known.iter().sum::<f64>() / known.len() as f64;
        self.mean
            .or_else(|| (!known.is_empty()).then_some(of_values))
    }
}

/// The least value that `fraction` of `sorted` do not exceed.
fn quantile(sorted: &[f64], fraction: f64) -> Option<f64> {
    let rank = (sorted.len() as f64 * fraction).ceil().max(1.0) as usize;
    sorted.get(rank - 1).copied()
}

fn run(file: &Value, series: &[Series<'_>], times: &[Option<f64>]) -> Run {
    let of = |entity: &str, kind: Kind| {
        series
            .iter()
            .find(|one| one.entity == entity && one.kind == kind)
    };
    let flows: Vec<&Series<'_>> = series
        .iter()
        .filter(|one| one.kind == Kind::Goodput && !one.known().is_empty())
        .collect();
    // A flow that began late has its mean over the time in which it was there.
    let rows = || flows.iter().filter_map(|one| one.rows());
    let from = rows().map(|(from, _)| from).min().unwrap_or(0);
    let until = rows().map(|(_, until)| until).max().unwrap_or(0);
    let over_all = |one: &Series<'_>| {
        let (first, last) = one.rows()?;
        Some(one.mean()? * (last - first + 1) as f64 / (until - from + 1) as f64)
    };
    // Sum, shares and fairness are all of what each flow got over all the time.
    let got: Vec<f64> = flows.iter().filter_map(|one| over_all(one)).collect();
    let total: f64 = got.iter().sum();
    let meta = |name: &str, key: &str| {
        let meta = file.pointer("/metadata/SERIES_META")?.get(name)?;
        word(meta, key)
    };
    let mut rows = Rows::new("flows", FLOWS);
    for flow in &flows {
        let window = of(flow.entity, Kind::Window);
        let largest = window.and_then(|one| one.known().into_iter().reduce(f64::max));
        let rtt = of(flow.entity, Kind::SocketRtt).and_then(Series::mean);
        let variant = meta(flow.entity, "/CONG_CONTROL").unwrap_or_default();
        rows.push(&[
            ("flow", flow.name().into()),
            ("variant", variant.into()),
            ("goodput_mbps", maybe(flow.mean())),
            ("share", maybe(over_all(flow).map(|mean| mean / total))),
            ("rtt_mean_us", maybe(rtt.map(|ms| ms * 1e3))),
            ("cwnd_mean_pkts", maybe(window.and_then(Series::mean))),
            ("cwnd_max_pkts", maybe(largest)),
        ]);
    }
    let mut pings = Rows::new("pings", PINGS);
    let mut round_trips: Vec<f64> = Vec::new();
    for ping in series.iter().filter(|one| one.kind == Kind::Ping) {
        let mut sorted = ping.known();
        if sorted.is_empty() {
            continue;
        }
        round_trips.extend(&sorted);
        sorted.sort_by(f64::total_cmp);
        let us = |ms: Option<f64>| maybe(ms.map(|ms| ms * 1e3));
        pings.push(&[
            ("ping", ping.name().into()),
            ("samples", sorted.len().into()),
            ("rtt_min_us", us(sorted.first().copied())),
            ("rtt_mean_us", us(ping.mean())),
            ("rtt_p50_us", us(quantile(&sorted, 0.5))),
            ("rtt_p95_us", us(quantile(&sorted, 0.95))),
            ("rtt_p99_us", us(quantile(&sorted, 0.99))),
        ]);
    }
    let mut run = Run::default();
    run.tables.extend(rows.finish());
    run.tables.extend(pings.finish());
    round_trips.sort_by(f64::total_cmp);
    if !run.tables.is_empty() {
        let mut groups = Rows::new("groups", GROUPS);
        let mean = round_trips.iter().sum::<f64>() / round_trips.len() as f64;
        groups.push(&[
            ("flows", flows.len().into()),
            ("goodput_mbps", maybe((!got.is_empty()).then_some(total))),
            ("jain", maybe(jain(&got).filter(|_| got.len() > 1))),
            ("latency_loaded_mean_us", finite(mean * 1e3)),
            (
                "latency_loaded_p95_us",
                maybe(quantile(&round_trips, 0.95).map(|ms| ms * 1e3)),
            ),
        ]);
        run.tables.extend(groups.finish());
    }
    run.traces = traces(series, times);
    run
}

fn traces(series: &[Series<'_>], times: &[Option<f64>]) -> Vec<Trace> {
    let mut of_entities: BTreeMap<&str, Vec<&Series<'_>>> = BTreeMap::new();
    for one in series {
        of_entities.entry(one.name()).or_default().push(one);
    }
    let traces = of_entities.into_iter().filter_map(|(entity, all)| {
        let mut rows = Rows::new("flow", SAMPLES);
        let longest = all.iter().map(|one| one.values.len()).max().unwrap_or(0);
        for (at, time) in times.iter().enumerate().take(longest) {
            let cells = all.iter().filter_map(|one| {
                let value = one.values.get(at).copied().flatten()?;
                Some(match one.kind {
                    Kind::Goodput => ("goodput_mbps", finite(value)),
                    Kind::Ping => ("rtt_us", finite(value * 1e3)),
                    Kind::Window => ("cwnd_pkts", finite(value)),
                    Kind::SocketRtt => ("srtt_us", finite(value * 1e3)),
                })
            });
            let mut cells: Vec<_> = cells.collect();
            if let Some(time) = time.filter(|_| !cells.is_empty()) {
                cells.push(("time_s", finite(time)));
                rows.push(&cells);
            }
        }
        Some(Trace {
            entity: entity.to_owned(),
            samples: rows.finish()?,
        })
    });
    traces.collect()
}
