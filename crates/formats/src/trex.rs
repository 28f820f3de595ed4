//! TRex, stateless: results of its NDR benchmark, and statistics of a run.
//!
//! `stl_ndr_bench_tool.py -o` writes `{"results": …, "config": …}`: the highest rate at which no
//! more than `pdr` per cent were dropped. `STLClient.get_stats()` as JSON has `global`, `total` and
//! a part for each port. Rates are those of all ports together.

use crate::document::{amount, list, number, word};
use crate::error::ImportError;
use crate::format::Format;
use crate::imported::{Imported, Run};
use crate::testers::{Number, doubt, summary};
use serde_json::Value;
use trammel_core::label::Label;

/// The part of a document with the results of a benchmark.
fn results(document: &Value) -> Option<&Value> {
    let inner = document.get("results").unwrap_or(document);
    let has = |key| inner.get(key).is_some();
    (has("rate_tx_bps") && has("drop_rate_percentage")).then_some(inner)
}

fn is_statistics(document: &Value) -> bool {
    document.pointer("/total/opackets").is_some() && document.get("global").is_some()
}

/// Whether a document is one of TRex's.
pub(crate) fn is(document: &Value) -> bool {
    results(document).is_some() || is_statistics(document)
}

/// Reads documents of TRex, each a test.
pub(crate) fn read(documents: &[Value], notes: Vec<String>) -> Result<Imported, ImportError> {
    let mut numbers = Vec::new();
    let mut notes = notes;
    for document in documents {
        if let Some(results) = results(document) {
            benchmark(&mut numbers, &mut notes, document, results);
        } else if is_statistics(document) {
            statistics(&mut numbers, document);
        }
    }
    doubt(&mut numbers, &mut notes);
    let Some(summary) = summary(&numbers) else {
        return Err(ImportError::nothing(
            "it has no results of a benchmark and no statistics",
            "give what `stl_ndr_bench_tool.py -o` wrote, or `get_stats()` as JSON",
        ));
    };
    Ok(Imported {
        format: Format::Trex,
        by: "TRex".to_owned(),
        label: Label::Measured,
        runs: vec![Run {
            tables: vec![summary],
            ..Run::default()
        }],
        notes,
    })
}

/// The size of frames: told by a tunable of the profile, else by rates of bits and packets.
fn frame(document: &Value, results: &Value) -> String {
    let tunables = ["size", "packet_len", "fsize"].iter();
    let told = tunables
        .filter_map(|name| document.pointer(&format!("/config/tunables/{name}")))
        .find_map(|value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        });
    if let Some(told) = told {
        return told;
    }
    let bits = amount(results, "/tx_bps").zip(amount(results, "/tx_pps"));
    let bytes = bits.map(|(bps, pps)| (bps / pps / 8.0).round());
    match bytes.filter(|bytes| (1.0..20_000.0).contains(bytes)) {
        Some(bytes) => format!("{bytes}"),
        None => "frames".to_owned(),
    }
}

fn benchmark(
    numbers: &mut Vec<Number>,
    notes: &mut Vec<String>,
    document: &Value,
    results: &Value,
) {
    let system = word(results, "/title").or(word(document, "/config/title"));
    let of = Number {
        point: frame(document, results),
        system: system.unwrap_or("TRex").to_owned(),
        test: "throughput",
        ..Number::default()
    };
    let mut add = |test, metric, unit, value: Option<f64>| {
        numbers.push(Number {
            test,
            metric,
            unit,
            value,
            ..of.clone()
        });
    };
    add(
        "throughput",
        "throughput",
        "frames/s",
        amount(results, "/tx_pps"),
    );
    add(
        "throughput",
        "received",
        "frames/s",
        amount(results, "/rx_pps"),
    );
    let mbps = |path: &str| amount(results, path).map(|bps| bps / 1e6);
    add("throughput", "rate", "Mbit/s", mbps("/rate_tx_bps"));
    add("throughput", "line", "Mbit/s", mbps("/max_rate_bps"));
    add("throughput", "load", "%", amount(results, "/rate_p"));
    add(
        "throughput",
        "loss",
        "%",
        amount(results, "/drop_rate_percentage"),
    );
    add(
        "throughput",
        "queue full",
        "%",
        amount(results, "/queue_full_percentage"),
    );
    let latencies = results.get("latency").and_then(Value::as_object);
    let means: Vec<f64> = latencies
        .into_iter()
        .flatten()
        .filter_map(|(_, one)| amount(one, "/average"))
        .collect();
    if !means.is_empty() {
        let mean = means.iter().sum::<f64>() / means.len() as f64;
        add("latency", "latency mean", "µs", Some(mean));
    }
    if let Some(pdr) = number(document, "/config/pdr").filter(|pdr| *pdr > 0.0) {
        notes.push(format!(
            "The throughput allows {pdr} % of loss; RFC 2544's allows none."
        ));
    }
    let ports = list(document, "/config/ports").len();
    let is_both = document.pointer("/config/bi_dir").and_then(Value::as_bool);
    if is_both == Some(true) {
        notes.push(format!(
            "Rates are those of {ports} ports that all send and receive."
        ));
    }
}

fn statistics(numbers: &mut Vec<Number>, document: &Value) {
    let sent = amount(document, "/total/opackets");
    let received = amount(document, "/total/ipackets");
    let loss = sent
        .zip(received)
        .filter(|(sent, _)| *sent > 0.0)
        .map(|(sent, received)| (sent - received).max(0.0) / sent * 100.0);
    let bytes = amount(document, "/total/obytes").zip(sent);
    let size = bytes.map(|(bytes, packets)| (bytes / packets).round());
    let of = Number {
        point: size
            .filter(|size| size.is_finite())
            .map_or("frames".to_owned(), |size| format!("{size}")),
        system: "TRex".to_owned(),
        test: "run",
        ..Number::default()
    };
    let mut add = |metric, unit, value: Option<f64>| {
        numbers.push(Number {
            metric,
            unit,
            value,
            ..of.clone()
        });
    };
    add("sent", "frames/s", amount(document, "/global/tx_pps"));
    add("received", "frames/s", amount(document, "/global/rx_pps"));
    add("sent", "frames", sent);
    add("received", "frames", received);
    add("loss", "%", loss);
    let latencies = document.get("latency").and_then(Value::as_object);
    let means: Vec<f64> = latencies
        .into_iter()
        .flatten()
        .filter_map(|(_, one)| amount(one, "/latency/average"))
        .collect();
    if !means.is_empty() {
        let mean = means.iter().sum::<f64>() / means.len() as f64;
        add("latency mean", "µs", Some(mean));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_benchmark_is_a_throughput_with_its_loss() {
        let document = json!({
            "results": {"title": "my router", "rate_tx_bps": 4e9, "max_rate_bps": 1e10,
                "rate_p": 40.0, "drop_rate_percentage": 0.05, "queue_full_percentage": 0,
                "tx_pps": 5e6, "rx_pps": 4.9e6, "tx_bps": 2.56e9,
                "latency": {"5": {"average": 20.0}, "6": {"average": 30.0}}},
            "config": {"pdr": 0.1, "bi_dir": true, "ports": [0, 1]}
        });
        assert!(is(&document));
        let imported = read(&[document], Vec::new()).unwrap();
        let summary = imported.runs[0].table("summary").unwrap();
        let find = |metric: &str| {
            let mut rows = summary.rows();
            rows.find(|row| row.text("metric") == metric).unwrap()
        };
        let row = find("throughput");
        assert_eq!((row.text("point"), row.text("system")), ("64", "my router"));
        assert_eq!(row.float("mean"), Some(5e6));
        assert_eq!(find("latency mean").float("mean"), Some(25.0));
        assert_eq!(imported.notes.len(), 2);
    }

    #[test]
    fn statistics_of_a_run_have_its_loss() {
        let document = json!({"global": {"tx_pps": 1000.0}, "total": {"opackets": 200,
            "ipackets": 150, "obytes": 12800}});
        let imported = read(&[document], Vec::new()).unwrap();
        let summary = imported.runs[0].table("summary").unwrap();
        let loss = summary.rows().find(|row| row.text("metric") == "loss");
        assert_eq!(loss.unwrap().float("mean"), Some(25.0));
        assert!(read(&[json!({})], Vec::new()).is_err());
    }
}
