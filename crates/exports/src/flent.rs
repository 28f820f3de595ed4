//! A run as a data file of Flent, version 4: what `flent -i FILE` reads and draws.
//!
//! The file is one of Flent's test `tcp_nup`: a series in Mbit/s for each flow, their mean and sum,
//! and round trips in ms. Flent pings beside the flows; here that series is the mean of the flows'
//! own smoothed round trips, which `NOTE` says.

use crate::recording::{Recording, ends};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// So many flows are named in the note; all are the titles of their series.
const NAMED: usize = 10;

/// The version of the format.
const VERSION: u32 = 4;

/// The text of the file, before it is compressed. `name` is what the file will be called.
pub fn write(of: &Recording, name: &str) -> String {
    let step = of.step_s;
    let flows: Vec<_> = of
        .flows
        .iter()
        .map(|flow| (flow, flow.intervals(step, of.duration_s)))
        .collect();
    let steps = flows.iter().map(|(_, all)| all.len()).max().unwrap_or(0);
    let times = ends(step, of.duration_s).into_iter().map(rounded);
    let times: Vec<f64> = times.collect();
    let (mut results, mut meta) = (Map::new(), Map::new());
    let mut series = |name: String, values: Vec<Option<f64>>, about: Value| {
        let values: Vec<Value> = values.into_iter().map(number).collect();
        results.insert(name.clone(), values.into());
        meta.insert(name, about);
    };
    let mut rates = Vec::new();
    let mut windows = Vec::new();
    for (at, (flow, intervals)) in flows.iter().enumerate() {
        let name = format!("TCP upload::{}", at + 1);
        let is_active = |start_s: f64, end_s: f64| {
            let from = flow.start_s;
            end_s > from && start_s < from + flow.active_s
        };
        let values: Vec<Option<f64>> = intervals
            .iter()
            .map(|one| is_active(one.start_s, one.end_s).then(|| one.mbps()))
            .collect();
        rates.push(values.clone());
        series(
            name.clone(),
            values,
            json!({
                "UNITS": "Mbits/s", "MEAN_VALUE": rounded(flow.goodput_mbps),
                "CONG_CONTROL": flow.variant, "TITLE": flow.name,
            }),
        );
        let window = intervals.iter().map(|one| {
            let is_known = one.srtt_us.is_some();
            is_known.then_some(one.cwnd_pkts)
        });
        let rtt = intervals.iter().map(|one| one.srtt_us.map(|us| us / 1e3));
        windows.push((name, window.collect::<Vec<_>>(), rtt.collect::<Vec<_>>()));
    }
    for (name, window, rtt) in windows {
        let about = json!({ "UNITS": "segments" });
        series(format!("{name}::tcp_cwnd"), window, about);
        series(format!("{name}::tcp_rtt"), rtt, json!({ "UNITS": "ms" }));
    }
    let at = |row: usize| {
        rates
            .iter()
            .filter_map(move |of| of.get(row).copied().flatten())
    };
    let sum = (0..steps).map(|row| at(row).reduce(|a, b| a + b));
    let sum: Vec<Option<f64>> = sum.collect();
    let mean = (0..steps).map(|row| Some(sum[row]? / at(row).count() as f64));
    series(
        "TCP upload avg".to_owned(),
        mean.collect(),
        json!({ "UNITS": "Mbits/s" }),
    );
    series(
        "TCP upload sum".to_owned(),
        sum.clone(),
        json!({ "UNITS": "Mbits/s" }),
    );
    let pings = (0..steps).map(|row| {
        let known = flows.iter().filter_map(|(_, all)| all.get(row)?.srtt_us);
        let known: Vec<f64> = known.collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64 / 1e3)
    });
    series(
        "Ping (ms) ICMP".to_owned(),
        pings.collect(),
        json!({ "UNITS": "ms" }),
    );
    let raw: Map<String, Value> = results
        .iter()
        .map(|(name, values)| {
            let values = values.as_array().map_or(&[][..], Vec::as_slice);
            let known = times.iter().zip(values).filter(|(_, one)| !one.is_null());
            let rows = known.map(|(at, val)| json!({ "t": of.made_s as f64 + at, "val": val }));
            (name.clone(), rows.collect())
        })
        .collect();
    let names: Vec<&str> = of.flows.iter().map(|flow| flow.name.as_str()).collect();
    let more = names.len().saturating_sub(NAMED);
    let mut named = names[..names.len() - more].join(", ");
    if more > 0 {
        named += &format!(" and {more} more");
    }
    let time = date(of.made_s);
    let whole = json!({
        "version": VERSION,
        "metadata": {
            "NAME": "tcp_nup", "TITLE": format!("{} ({})", of.title, of.label),
            "NOTE": format!(
                "{} by {}, point {}, seed {}; flows {}; the series of pings is the mean of the \
                 flows' smoothed round trips", of.label, of.by, of.point, of.seed, named
            ),
            "HOST": of.label, "HOSTS": [of.label], "LOCAL_HOST": of.label,
            "TIME": time, "T0": time,
            "LENGTH": of.duration_s.ceil(), "TOTAL_LENGTH": of.duration_s.ceil(),
            "STEP_SIZE": step, "IP_VERSION": 4,
            "TEST_PARAMETERS": { "upload_streams": of.flows.len().to_string() },
            "FLENT_VERSION": of.by, "DATA_FILENAME": name,
            "SERIES_META": meta,
        },
        "x_values": times,
        "results": results,
        "raw_values": raw,
    });
    format!("{whole:#}\n")
}

/// The file as it is kept, `.flent.gz`: the same text gives the same bytes.
///
/// # Errors
/// None that memory does not have.
pub fn compressed(text: &str) -> io::Result<Vec<u8>> {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    out.write_all(text.as_bytes())?;
    out.finish()
}

fn number(value: Option<f64>) -> Value {
    value.map_or(Value::Null, |value| json!(rounded(value)))
}

/// To a millionth: a bit of a Mbit/s, a nanosecond of a ms.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// An instant of UTC as Flent writes it, `2026-11-29T10:24:37.000000Z`.
fn date(seconds: i64) -> String {
    let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Years from March on, so that a leap day is a year's last (Hinnant's days from civil).
    let shifted = days + 719_468;
    let (era, day) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (
        day - (153 * month + 2) / 5 + 1,
        if month < 10 { month + 3 } else { month - 9 },
    );
    let year = era * 400 + year + i64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.000000Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Recorded;
    use crate::recording::tests::recorded;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(1_795_947_877), "2026-11-29T10:24:37.000000Z");
        assert_eq!(date(951_782_400), "2000-02-29T00:00:00.000000Z");
    }

    #[test]
    fn a_flow_is_a_series_and_the_sum_is_of_all() {
        let text = write(&recorded(), "a.flent.gz");
        let file: Value = serde_json::from_str(&text).expect("it is JSON");
        assert_eq!(file["version"], 4);
        assert_eq!(file["x_values"].as_array().map(Vec::len), Some(8));
        let of = |name: &str, at: usize| file["results"][name][at].as_f64();
        assert_eq!(of("TCP upload::1", 0), None, "it has not begun");
        assert_eq!(of("TCP upload::1", 5), Some(1.6));
        assert_eq!(of("TCP upload sum", 5), Some(4.8));
        assert_eq!(of("TCP upload avg", 5), Some(2.4));
        assert_eq!(of("Ping (ms) ICMP", 5), Some(40.0));
        let note = file["metadata"]["NOTE"].as_str().unwrap_or_default();
        assert!(note.starts_with("simulated by trammel"), "{note}");
        assert!(note.contains("; flows a, b; "), "{note}");
    }

    #[test]
    fn a_thousand_flows_are_not_all_named_in_the_note() {
        let mut recording = recorded();
        let flow = recording.flows.remove(0);
        recording.flows = (0..1000)
            .map(|at| Recorded {
                name: format!("f{at}"),
                ..flow.clone()
            })
            .collect();
        let file: Value = serde_json::from_str(&write(&recording, "a.flent")).expect("it is JSON");
        let note = file["metadata"]["NOTE"].as_str().unwrap_or_default();
        assert!(note.contains("flows f0, f1, "), "{note}");
        assert!(note.contains(", f9 and 990 more; "), "{note}");
        assert_eq!(
            file["metadata"]["SERIES_META"]["TCP upload::1000"]["TITLE"],
            "f999"
        );
    }
}
