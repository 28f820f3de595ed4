//! qlog of QUIC stacks, or of Trammel: connections as their senders logged them.
//!
//! Read by `trammel-qlog`. Each trace that has events is a flow, called by its title or its vantage
//! point.

mod log;

use crate::error::ImportError;
use crate::format::Format;
use crate::imported::{Imported, Run};
use crate::origin::{Origin, one};
use crate::rows::{Rows, late_events};
use log::{FLOWS, Log};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::io::Read;
use trammel_core::label::Label;
use trammel_qlog::Header;

/// Traces with events that are read.
const MOST_TRACES: usize = 128;

/// Reads a log.
pub(crate) fn read(input: Box<dyn Read + Send>) -> Result<Imported, ImportError> {
    // By the place of a trace in the file.
    let mut logs: BTreeMap<usize, Log> = BTreeMap::new();
    let mut left_out: BTreeSet<usize> = BTreeSet::new();
    let headers = trammel_qlog::read_traces(input, &mut |trace, event| {
        if logs.len() < MOST_TRACES || logs.contains_key(&trace) {
            let log = logs.entry(trace).or_default();
            log.take(event.time_ms, event.body);
        } else {
            left_out.insert(trace);
        }
    })
    .map_err(|why| {
        ImportError::damaged(
            "the log",
            why.to_string(),
            "give a qlog as the stack wrote it",
        )
    })?;
    logs.retain(|_, log| log.has_events());
    if logs.is_empty() {
        return Err(ImportError::nothing(
            "it has no event",
            "give a qlog with events of recovery and packets",
        ));
    }
    let mut notes = Vec::new();
    let empty = headers.len() - logs.len() - left_out.len();
    if empty > 0 {
        let is = if empty == 1 {
            "trace has"
        } else {
            "traces have"
        };
        notes.push(format!("{empty} {is} no event and no flow here."));
    }
    if !left_out.is_empty() {
        notes.push(format!(
            "The first {MOST_TRACES} traces are read; {} more are left out.",
            left_out.len()
        ));
    }
    let of: Vec<&Header> = logs.keys().map(|at| &headers[*at]).collect();
    let names = names(&of);
    let own = own(&of, &mut notes)?;
    let mut flows = Rows::new("flows", FLOWS);
    let mut run = Run::default();
    for (name, log) in names.iter().zip(logs.into_values()) {
        if log.has_no_metrics() {
            let of = match names.len() {
                1 => "The log".to_owned(),
                _ => format!("The trace `{name}`"),
            };
            notes.push(format!(
                "{of} has no `metrics_updated`: window and round trips are not known."
            ));
        }
        if log.late() > 0 {
            notes.push(late_events(log.late()));
        }
        run.traces.extend(log.put(name, &mut flows));
    }
    run.tables.extend(flows.finish());
    let version = headers.first().map_or("", |header| &header.version);
    let mut by = format!("a qlog of version {version}");
    if let Some(own) = &own {
        let _ = write!(by, " by {}", own.by);
    }
    Ok(Imported {
        format: Format::Qlog,
        by,
        label: own.map_or(Label::Measured, |own| own.label),
        runs: vec![run],
        notes,
    })
}

/// Whose log it is, where it is Trammel's.
fn own(headers: &[&Header], notes: &mut Vec<String>) -> Result<Option<Origin>, ImportError> {
    let told = headers.iter().map(|header| {
        let own = Origin::of_qlog(&header.by, notes)?;
        Ok(own.unwrap_or_else(|| Origin {
            by: String::new(),
            label: Label::Measured,
        }))
    });
    let told = one(&told.collect::<Result<Vec<_>, ImportError>>()?)?;
    Ok(told.filter(|own| !own.by.is_empty()))
}

/// The name of each trace's flow: of one its title, of several what tells them apart.
fn names(headers: &[&Header]) -> Vec<String> {
    let or_connection = |name: &str| match name {
        "" => "connection".to_owned(),
        name => name.to_owned(),
    };
    if let [only] = headers {
        return vec![or_connection(&only.title)];
    }
    let kinds: [fn(&Header) -> String; 3] = [
        |header| header.vantage_point.clone(),
        |header| header.title.clone(),
        |header| format!("{}, {}", header.title, header.vantage_point),
    ];
    for kind in kinds {
        let all: Vec<String> = headers
            .iter()
            .map(|one| or_connection(&kind(one)))
            .collect();
        if all.iter().collect::<BTreeSet<_>>().len() == all.len() {
            return all;
        }
    }
    let numbered = headers.iter().enumerate();
    numbered
        .map(|(at, one)| format!("{} {}", or_connection(&one.title), at + 1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log of lines of JSON with these events.
    fn of(events: &[&str]) -> Imported {
        let head = r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"server"}}}"#;
        let text = [&[head], events].concat().join("\n") + "\n";
        read(Box::new(std::io::Cursor::new(text.into_bytes()))).unwrap()
    }

    fn number(imported: &Imported, column: &str) -> Option<f64> {
        let flows = imported.runs[0].table("flows").unwrap();
        flows.rows().next().unwrap().float(column)
    }

    const SENT: &str =
        r#"{"time":1000,"name":"transport:packet_sent","data":{"raw":{"length":1000}}}"#;

    #[test]
    fn the_last_window_holds_to_the_end_of_the_log() {
        let imported = of(&[
            r#"{"time":0,"name":"recovery:metrics_updated","data":{"congestion_window":10000}}"#,
            r#"{"time":100,"name":"recovery:metrics_updated","data":{"congestion_window":20000}}"#,
            SENT,
        ]);
        // 10 packets for 0.1 s and 20 for 0.9 s.
        assert_eq!(number(&imported, "cwnd_mean_pkts"), Some(19.0));
    }

    #[test]
    fn a_round_trip_counts_once_and_none_is_no_time() {
        let all = |time: u32, latest: u32, smoothed: f64, window: u32| {
            format!(
                "{{\"time\":{time},\"name\":\"recovery:metrics_updated\",\"data\":{{\
                 \"latest_rtt\":{latest},\"smoothed_rtt\":{smoothed},\
                 \"congestion_window\":{window}}}}}"
            )
        };
        let events = [
            all(0, 0, 0.0, 12_000),
            all(10, 50, 50.0, 12_000),
            all(20, 50, 50.0, 13_000),
            all(30, 50, 50.0, 14_000),
            all(40, 80, 53.75, 14_000),
            // The same length again.
            all(50, 80, 57.03, 14_000),
        ];
        let events: Vec<&str> = events.iter().map(String::as_str).chain([SENT]).collect();
        let imported = of(&events);
        assert_eq!(number(&imported, "rtt_mean_us"), Some(70_000.0));
        assert_eq!(number(&imported, "rtt_min_us"), Some(50_000.0));
        let samples = &imported.runs[0].traces[0].samples;
        let column = |name: &str| {
            samples
                .rows()
                .map(|row| row.float(name))
                .collect::<Vec<_>>()
        };
        let (long, short) = (Some(80_000.0), Some(50_000.0));
        assert_eq!(column("rtt_us"), [None, short, None, None, long, long]);
        assert_eq!(column("srtt_us")[..3], [None, short, short]);
    }

    #[test]
    fn a_round_trip_that_is_told_alone_is_a_new_one() {
        let one = |time: u32, rtt: u32| {
            format!(
                "{{\"time\":{time},\"name\":\"recovery:metrics_updated\",\"data\":{{\
                 \"latest_rtt\":{rtt}}}}}"
            )
        };
        let events = [one(0, 10), one(10, 10), one(20, 40)];
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        assert_eq!(number(&of(&events), "rtt_mean_us"), Some(20_000.0));
    }

    #[test]
    fn a_log_in_reverse_order_has_its_time_and_a_note() {
        let imported = of(&[
            SENT,
            r#"{"time":100,"name":"recovery:metrics_updated","data":{"congestion_window":20000}}"#,
            r#"{"time":0,"name":"recovery:metrics_updated","data":{"congestion_window":10000}}"#,
        ]);
        assert_eq!(number(&imported, "active_s"), Some(1.0));
        let notes = &imported.notes;
        assert!(notes[0].starts_with("2 events are before"), "{notes:?}");
        let samples = imported.runs[0].traces[0].samples.rows();
        let times: Vec<_> = samples.filter_map(|row| row.float("time_s")).collect();
        assert_eq!(times, [0.0, 0.1]);
    }

    /// The flows of a file with traces of these titles, vantage points and times of their packets.
    fn flows_of(traces: &[(&str, &str, &[u32])]) -> (Vec<(String, Option<f64>)>, Vec<String>) {
        let traces = traces.iter().map(|(title, point, times)| {
            let event = |time: &u32| {
                format!("{{\"time\":{time},\"name\":\"transport:packet_sent\",\"data\":{{}}}}")
            };
            let events: Vec<String> = times.iter().map(event).collect();
            format!(
                "{{\"title\":\"{title}\",\"vantage_point\":{{\"type\":\"{point}\"}},\
                 \"events\":[{}]}}",
                events.join(",")
            )
        });
        let traces: Vec<String> = traces.collect();
        let text = format!(
            "{{\"qlog_version\":\"0.3\",\"traces\":[{}]}}",
            traces.join(",")
        );
        let imported = read(Box::new(std::io::Cursor::new(text.into_bytes()))).unwrap();
        let flows = imported.runs[0].table("flows").unwrap();
        let flows = flows
            .rows()
            .map(|row| (row.text("flow").to_owned(), row.float("active_s")));
        (flows.collect(), imported.notes)
    }

    #[test]
    fn each_trace_with_events_is_a_flow_by_what_tells_them_apart() {
        let (flows, notes) = flows_of(&[("a", "client", &[]), ("b", "server", &[0, 500])]);
        assert_eq!(flows, [("b".to_owned(), Some(0.5))]);
        assert!(notes[0].contains("1 trace has no event"), "{notes:?}");
        let names = |of: &[(&str, &str)]| -> Vec<String> {
            let of: Vec<_> = of
                .iter()
                .map(|(title, point)| (*title, *point, &[0, 500][..]))
                .collect();
            flows_of(&of).0.into_iter().map(|(name, _)| name).collect()
        };
        assert_eq!(
            names(&[("x", "client"), ("x", "server")]),
            ["client", "server"]
        );
        assert_eq!(names(&[("x", "server"), ("y", "server")]), ["x", "y"]);
        let three = [("x", "client"), ("x", "server"), ("y", "server")];
        assert_eq!(names(&three), ["x, client", "x, server", "y, server"]);
        assert_eq!(
            names(&[("", ""), ("", "")]),
            ["connection 1", "connection 2"]
        );
    }
}
