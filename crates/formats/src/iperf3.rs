//! What iperf3 writes with `-J` and `--json-stream`: flows and their intervals.
//!
//! A file may have several documents one after the other: repeats. `--json-stream` writes a line
//! for the start, one for each interval and one for the end, which make one document. Intervals
//! that were omitted (`-O`) count nowhere, as in iperf3's own sums. With `--bidir` each direction
//! has its own sum, and all flows together have both.
//!
//! A file that `trammel export` wrote has an object `trammel`: how its numbers are known, and the
//! name and variant of each flow.

use crate::document::{amount, count, list, number, word};
use crate::error::ImportError;
use crate::format::Format;
use crate::imported::{Imported, Run, Trace};
use crate::origin::{Origin, one};
use crate::rows::{Rows, finite, maybe};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use trammel_core::label::Label;
use trammel_stats::stats::jain;
use trammel_stats::table::Cell;
use trammel_stats::table::CellType::{self, Float, Int, Text};

/// Streams of a test that are read; iperf3 has 128 at most.
const MOST_STREAMS: usize = 1024;

const FLOWS: &[(&str, CellType)] = &[
    ("flow", Text),
    ("variant", Text),
    ("start_s", Float),
    ("active_s", Float),
    ("goodput_mbps", Float),
    ("share", Float),
    ("retransmissions_pkts", Int),
    ("sent_bytes", Int),
    ("delivered_bytes", Int),
    ("rtt_min_us", Float),
    ("rtt_mean_us", Float),
    ("rtt_max_us", Float),
    ("cwnd_mean_pkts", Float),
    ("cwnd_max_pkts", Float),
    ("mss_bytes", Int),
];

const STREAMS: &[(&str, CellType)] = &[
    ("stream", Text),
    ("sent_pkts", Int),
    ("received_pkts", Int),
    ("lost_pkts", Int),
    ("loss", Float),
    ("reordered_pkts", Int),
    ("goodput_mbps", Float),
    ("jitter_us", Float),
];

const GROUPS: &[(&str, CellType)] = &[
    ("flows", Int),
    ("goodput_mbps", Float),
    ("jain", Float),
    ("latency_loaded_mean_us", Float),
];

const SAMPLES: &[(&str, CellType)] = &[
    ("time_s", Float),
    ("goodput_mbps", Float),
    ("cwnd_pkts", Float),
    ("srtt_us", Float),
    ("retransmissions_pkts", Int),
    ("receive_window_bytes", Int),
];

/// The most bits a second, and microseconds of a round trip, that a number is believed: a Pbit/s,
/// and an hour.
const MOST_BPS: f64 = 1e15;
const MOST_RTT_US: f64 = 3.6e9;

/// The number at `path` unless it is negative or more than `most`, which `doubts` counts.
fn believed(one: &Value, path: &str, most: f64, doubts: &mut u64) -> Option<f64> {
    let told = one.pointer(path)?.as_f64()?;
    let is_possible = (0.0..=most).contains(&told);
    *doubts += u64::from(!is_possible);
    is_possible.then_some(told)
}

/// Whether a document is one of iperf3's.
pub(crate) fn is(document: &Value) -> bool {
    let has = |path| document.pointer(path).is_some();
    (has("/start/version") || has("/start/test_start") || has("/start/connected"))
        && document.get("intervals").is_some()
        || is_event(document)
}

fn is_event(document: &Value) -> bool {
    let known = ["start", "interval", "end", "error", "server_output_json"];
    word(document, "/event").is_some_and(|event| known.contains(&event))
        && document.get("data").is_some()
}

/// The lines of `--json-stream` as documents of `-J`.
fn whole(documents: Vec<Value>) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    // Whether the last of them is made of lines, so that the next line may belong to it.
    let mut is_open = false;
    for mut document in documents {
        if !is_event(&document) {
            found.push(document);
            is_open = false;
            continue;
        }
        let event = word(&document, "/event").unwrap_or_default().to_owned();
        let data = document["data"].take();
        if event == "start" || !is_open {
            is_open = true;
            found.push(json!({"start": {}, "intervals": [], "end": {}}));
        }
        let Some(last) = found.last_mut() else {
            continue;
        };
        match event.as_str() {
            "interval" => {
                if let Some(all) = last["intervals"].as_array_mut() {
                    all.push(data);
                }
            }
            "start" | "end" | "error" => last[event.as_str()] = data,
            _ => {}
        }
    }
    found
}

/// Reads a file of iperf3.
pub(crate) fn read(documents: Vec<Value>, mut notes: Vec<String>) -> Result<Imported, ImportError> {
    let documents = whole(documents);
    let mut runs = Vec::new();
    let mut origins = Vec::new();
    let mut fault: Option<String> = None;
    for (n, document) in documents.iter().enumerate() {
        if let Some(why) = word(document, "/error") {
            fault = Some(format!("iperf3 says `{why}`"));
            notes.push(format!("In document {}, iperf3 says `{why}`.", n + 1));
        }
        let before = runs.len();
        runs.extend(run(document, &mut notes));
        if runs.len() > before {
            let version = word(document, "/start/version").unwrap_or("iperf3");
            let own = Origin::of_iperf3(document)?;
            origins.push(own.unwrap_or_else(|| Origin {
                by: version.to_owned(),
                label: Label::Measured,
            }));
        }
    }
    if runs.is_empty() {
        let what = fault.unwrap_or_else(|| "it has no results of any stream".to_owned());
        return Err(ImportError::nothing(
            what,
            "give what `iperf3 -J` or `--json-stream` wrote at the end of a test",
        ));
    }
    let Origin { by, label } = one(&origins)?.expect("every run has its origin");
    Ok(Imported {
        format: Format::Iperf3,
        by,
        label,
        runs,
        notes,
    })
}

/// A stream, by its two ends as captures call them.
fn name(document: &Value, socket: Option<u64>, is_sender: bool, at: usize) -> String {
    let connected = list(document, "/start/connected");
    let known = connected
        .iter()
        .take(MOST_STREAMS)
        .find(|one| socket.is_some() && count(one, "/socket") == socket);
    let end = |one: &Value, side: &str| {
        let host = word(one, &format!("/{side}_host"))?;
        let port = count(one, &format!("/{side}_port"))?;
        let is_bare = host.contains(':');
        Some(if is_bare {
            format!("[{host}]:{port}")
        } else {
            format!("{host}:{port}")
        })
    };
    let ends = known.and_then(|one| Some((end(one, "local")?, end(one, "remote")?)));
    match ends {
        Some((local, remote)) if is_sender => format!("{local}-{remote}"),
        Some((local, remote)) => format!("{remote}-{local}"),
        None => format!("stream {}", at + 1),
    }
}

fn run(document: &Value, notes: &mut Vec<String>) -> Option<Run> {
    let mut run = Run::default();
    let mss = amount(document, "/start/tcp_mss_default").filter(|mss| *mss >= 1.0);
    let of_all = word(document, "/end/sender_tcp_congestion").unwrap_or_default();
    let own = list(document, "/trammel/flows");
    let mut flows = Rows::new("flows", FLOWS);
    let mut streams = Rows::new("streams", STREAMS);
    let ended = list(document, "/end/streams");
    let bytes_of = |one: &Value| amount(one, "/receiver/bytes").or(amount(one, "/sender/bytes"));
    let all_bytes: Vec<f64> = ended.iter().filter_map(bytes_of).collect();
    let total: f64 = all_bytes.iter().sum();
    let mut round_trips: Vec<f64> = Vec::new();
    let mut has_flows = false;
    let mut doubts = 0_u64;
    let intervals = intervals(document);
    for (at, one) in ended.iter().enumerate().take(MOST_STREAMS) {
        let side = if one.get("udp").is_some() {
            "/udp"
        } else {
            "/sender"
        };
        let socket = count(one, &format!("{side}/socket"));
        let is_sender = one
            .pointer(&format!("{side}/sender"))
            .and_then(Value::as_bool);
        let told = |key: &str| own.get(at).and_then(|own| word(own, key));
        let name = told("/flow").map_or_else(
            || name(document, socket, is_sender.unwrap_or(true), at),
            str::to_owned,
        );
        // iperf3 has one for all.
        let variant = told("/variant").unwrap_or(of_all);
        let own = socket.and_then(|socket| intervals.get(&socket));
        let own = own.map_or(&[][..], Vec::as_slice);
        let samples = samples(own, &name, mss, &mut doubts);
        if one.get("udp").is_some() {
            streams.push(&stream(one, &name, &mut doubts));
        } else {
            has_flows = true;
            let windows: Vec<f64> = own
                .iter()
                .filter_map(|one| amount(one, "/snd_cwnd"))
                .filter(|bytes| *bytes > 0.0)
                .collect();
            let mean = windows.iter().sum::<f64>() / windows.len() as f64;
            let of_mss = |bytes: f64| maybe(mss.map(|mss| bytes / mss));
            let [least, mean_rtt, greatest] = ["min", "mean", "max"].map(|which| {
                let path = format!("/sender/{which}_rtt");
                believed(one, &path, MOST_RTT_US, &mut doubts).filter(|rtt| *rtt > 0.0)
            });
            round_trips.extend(mean_rtt);
            flows.push(&[
                ("flow", name.as_str().into()),
                ("variant", variant.into()),
                ("start_s", maybe(amount(one, "/sender/start"))),
                ("active_s", maybe(amount(one, "/sender/seconds"))),
                ("goodput_mbps", maybe(goodput(one, &mut doubts))),
                ("share", maybe(bytes_of(one).map(|bytes| bytes / total))),
                (
                    "retransmissions_pkts",
                    count(one, "/sender/retransmits").into(),
                ),
                ("sent_bytes", count(one, "/sender/bytes").into()),
                ("delivered_bytes", count(one, "/receiver/bytes").into()),
                ("rtt_min_us", maybe(least)),
                ("rtt_mean_us", maybe(mean_rtt)),
                ("rtt_max_us", maybe(greatest)),
                ("cwnd_mean_pkts", of_mss(mean)),
                (
                    "cwnd_max_pkts",
                    amount(one, "/sender/max_snd_cwnd")
                        .filter(|bytes| *bytes > 0.0)
                        .map_or(Cell::Empty, of_mss),
                ),
                ("mss_bytes", mss.map(|mss| mss as u64).into()),
            ]);
        }
        run.traces.extend(samples);
    }
    run.tables.extend(flows.finish());
    run.tables.extend(streams.finish());
    if has_flows {
        let mut groups = Rows::new("groups", GROUPS);
        let mut sum_of = |direction: &str| {
            ["received", "sent"].iter().find_map(|side| {
                let path = format!("/end/sum_{side}{direction}/bits_per_second");
                believed(document, &path, MOST_BPS, &mut doubts)
            })
        };
        let (there, back) = (sum_of(""), sum_of("_bidir_reverse"));
        let sum = match (there, back) {
            (Some(there), Some(back)) => Some(there + back),
            (there, back) => there.or(back),
        };
        let count = round_trips.len() as f64;
        groups.push(&[
            ("flows", all_bytes.len().into()),
            ("goodput_mbps", maybe(sum.map(|bps| bps / 1e6))),
            (
                "jain",
                maybe(jain(&all_bytes).filter(|_| all_bytes.len() > 1)),
            ),
            (
                "latency_loaded_mean_us",
                finite(round_trips.iter().sum::<f64>() / count),
            ),
        ]);
        run.tables.extend(groups.finish());
    }
    if doubts > 0 {
        notes.push(format!(
            "{doubts} numbers are negative or beyond what can be (a Pbit/s, a round trip of an \
             hour) and are left out."
        ));
    }
    if run.tables.is_empty() && !list(document, "/intervals").is_empty() {
        notes.push("A test has intervals and no end: it was interrupted.".to_owned());
    }
    (!run.tables.is_empty()).then_some(run)
}

/// What the receiver got, or where it did not tell, what the sender gave away.
///
/// A number of the receiver that cannot be is no reason to give the sender's as if it were that.
fn goodput(one: &Value, doubts: &mut u64) -> Option<f64> {
    let mut told = |side: &str| {
        let bytes = amount(one, &format!("/{side}/bytes"));
        let seconds = amount(one, &format!("/{side}/seconds")).filter(|s| *s > 0.0);
        let by_bytes = bytes.zip(seconds).map(|(bytes, s)| bytes * 8.0 / s);
        let path = format!("/{side}/bits_per_second");
        match number(one, &path) {
            Some(_) => Some(believed(one, &path, MOST_BPS, doubts)),
            None => by_bytes.map(Some),
        }
    };
    let receiver = told("receiver").filter(|bps| *bps != Some(0.0));
    let bps = receiver.or_else(|| told("sender")).flatten();
    bps.map(|bps| bps / 1e6)
}

fn stream(one: &Value, name: &str, doubts: &mut u64) -> Vec<(&'static str, Cell)> {
    let sent = count(one, "/udp/packets");
    let lost = count(one, "/udp/lost_packets");
    vec![
        ("stream", name.into()),
        ("sent_pkts", sent.into()),
        (
            "received_pkts",
            sent.zip(lost)
                .map(|(sent, lost)| sent.saturating_sub(lost))
                .into(),
        ),
        ("lost_pkts", lost.into()),
        (
            "loss",
            maybe(amount(one, "/udp/lost_percent").map(|percent| percent / 100.0)),
        ),
        ("reordered_pkts", count(one, "/udp/out_of_order").into()),
        (
            "goodput_mbps",
            maybe(believed(one, "/udp/bits_per_second", MOST_BPS, doubts).map(|bps| bps / 1e6)),
        ),
        (
            "jitter_us",
            maybe(believed(one, "/udp/jitter_ms", MOST_RTT_US / 1e3, doubts).map(|ms| ms * 1e3)),
        ),
    ]
}

/// The intervals that count, by the sockets of their streams.
fn intervals(document: &Value) -> BTreeMap<u64, Vec<&Value>> {
    let all = list(document, "/intervals").iter();
    let all = all.flat_map(|interval| list(interval, "/streams"));
    let mut found: BTreeMap<u64, Vec<&Value>> = BTreeMap::new();
    for one in all {
        let is_omitted = one.get("omitted").and_then(Value::as_bool) == Some(true);
        if let Some(socket) = count(one, "/socket").filter(|_| !is_omitted) {
            found.entry(socket).or_default().push(one);
        }
    }
    found
}

fn samples(intervals: &[&Value], name: &str, mss: Option<f64>, doubts: &mut u64) -> Option<Trace> {
    let mut rows = Rows::new("flow", SAMPLES);
    let mut retransmissions = 0_u64;
    for one in intervals {
        let again = count(one, "/retransmits");
        retransmissions = retransmissions.saturating_add(again.unwrap_or(0));
        let window = amount(one, "/snd_cwnd").filter(|bytes| *bytes > 0.0);
        rows.push(&[
            // An interval's numbers are known at its end.
            ("time_s", maybe(number(one, "/end"))),
            (
                "goodput_mbps",
                maybe(believed(one, "/bits_per_second", MOST_BPS, doubts).map(|bps| bps / 1e6)),
            ),
            (
                "cwnd_pkts",
                maybe(window.zip(mss).map(|(bytes, mss)| bytes / mss)),
            ),
            (
                "srtt_us",
                maybe(believed(one, "/rtt", MOST_RTT_US, doubts).filter(|rtt| *rtt > 0.0)),
            ),
            (
                "retransmissions_pkts",
                again.map(|_| retransmissions).into(),
            ),
            ("receive_window_bytes", count(one, "/snd_wnd").into()),
        ]);
    }
    Some(Trace {
        entity: name.to_owned(),
        samples: rows.finish()?,
    })
}
