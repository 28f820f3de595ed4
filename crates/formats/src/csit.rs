//! CSIT of FD.io: test cases of its JSON model (Unified Test Interface), the `info` files.
//!
//! A test case of type `ndrpdr` has the ends of a search for each loss ratio, `mrr` the rates
//! received at full load, `soak` the ends of a critical rate. Rates are those of both directions
//! together. Before version 1.0 of the model the results of a type are under its name, since then
//! beside `type`. Source: the schema `test_case.info`, versions 0.2.0 to 1.5.

use crate::document::{amount, list, number, word};
use crate::error::ImportError;
use crate::format::Format;
use crate::imported::{Imported, Run};
use crate::testers::{Number, doubt, summary};
use serde_json::Value;
use trammel_core::label::Label;

/// Whether a document is a test case of CSIT.
pub(crate) fn is(document: &Value) -> bool {
    document.get("test_id").is_some() && document.get("results").is_some()
}

/// Reads test cases; a list of them is as good as one after the other.
pub(crate) fn read(documents: &[Value], notes: Vec<String>) -> Result<Imported, ImportError> {
    let mut notes = notes;
    let mut numbers = Vec::new();
    for document in documents {
        let id = word(document, "/test_id").unwrap_or("test");
        let failed = word(document, "/status") == Some("FAIL")
            || document.get("passed").and_then(Value::as_bool) == Some(false);
        if failed {
            notes.push(format!("`{id}` failed; it has no numbers here."));
            continue;
        }
        test_case(&mut numbers, document, id);
    }
    doubt(&mut numbers, &mut notes);
    let Some(summary) = summary(&numbers) else {
        return Err(ImportError::nothing(
            "none of its test cases has a rate",
            "give `*.info.json` files of performance tests (`mrr`, `ndrpdr`, `soak`)",
        ));
    };
    Ok(Imported {
        format: Format::Csit,
        by: "CSIT".to_owned(),
        label: Label::Measured,
        runs: vec![Run {
            tables: vec![summary],
            ..Run::default()
        }],
        notes,
    })
}

/// The size of frames and the rest of a test's name: `64` and `2n1l-10ge2p1x710
/// 2t1c-ethip4-ip4base-mrr` of `2n1l-10ge2p1x710-ethip4-ip4base.64b-2t1c-ethip4-ip4base-mrr`.
///
/// The suite, before the last dot, has the testbed and the card, without which two devices would
/// be one; it ends with what the test's own name repeats.
pub(crate) fn named(id: &str) -> (String, String) {
    let mut places = id.rsplit('.');
    let name = places.next().unwrap_or(id);
    let suite = places.next().unwrap_or_default();
    let is_size = |part: &&str| {
        part.strip_suffix(['b', 'B'])
            .is_some_and(|digits| digits.parse::<u32>().is_ok())
    };
    let size = name.split('-').find(is_size);
    let size = size.map(|part| part[..part.len() - 1].to_owned());
    let rest: Vec<&str> = name.split('-').filter(|part| !is_size(part)).collect();
    let is_imix = name
        .split('-')
        .any(|part| part.eq_ignore_ascii_case("imix"));
    let size = size.or(is_imix.then(|| "imix".to_owned()));
    let bed = without_repeated(suite, &rest);
    let rest = rest.join("-");
    let system = match bed.as_str() {
        "" => rest,
        bed => format!("{bed} {rest}"),
    };
    (size.unwrap_or_else(|| "frames".to_owned()), system)
}

/// `suite` without the parts at its end that are in `name` in the same order.
fn without_repeated(suite: &str, name: &[&str]) -> String {
    let parts: Vec<&str> = suite.split('-').collect();
    let is_repeated = |from: &usize| {
        let end = &parts[*from..];
        name.windows(end.len()).any(|window| window == end)
    };
    let until = (0..parts.len()).find(is_repeated).unwrap_or(parts.len());
    parts[..until].join("-")
}

fn test_case(numbers: &mut Vec<Number>, document: &Value, id: &str) {
    let (point, name) = named(id);
    let device = word(document, "/sut_type").or(word(document, "/dut_type"));
    let version = word(document, "/sut_version").or(word(document, "/dut_version"));
    let device = [device, version, Some(&name)].into_iter().flatten();
    let of = Number {
        point,
        system: device.collect::<Vec<_>>().join(" "),
        ..Number::default()
    };
    let results = &document["results"];
    let kind = word(results, "/type").or(word(document, "/test_type"));
    let part = |name: &str| results.get(name).unwrap_or(results);
    let ends = |path: &str, of: &Value| {
        let end = |end: &str| amount(of, &format!("{path}/{end}/rate/value"));
        Some((end("lower")?, end("upper")?))
    };
    let unit = |value: &Value, path: &str| match word(value, path) {
        Some("cps") => "connections/s",
        Some("bps") => "bit/s",
        _ => "frames/s",
    };
    let mut add = |test, metric, unit, value, ends, trials| {
        numbers.push(Number {
            test,
            metric,
            unit,
            value,
            ends,
            trials,
            ..of.clone()
        });
    };
    match kind {
        Some("ndrpdr") => {
            let of = part("ndrpdr");
            for (key, test) in [("ndr", "throughput"), ("pdr", "throughput at 0.5 % loss")] {
                let found = ends(&format!("/{key}"), of);
                let unit = unit(of, &format!("/{key}/lower/rate/unit"));
                let lower = found.map(|ends| ends.0);
                add(test, "throughput", unit, lower, found, None);
            }
            for (load, metric) in [
                ("pdr_10", "latency mean at 10 % of the load"),
                ("pdr_50", "latency mean at 50 % of the load"),
                ("pdr_90", "latency mean at 90 % of the load"),
            ] {
                let mean = |way: &str| amount(of, &format!("/latency_{way}/{load}/avg"));
                let known: Vec<f64> = ["forward", "reverse"]
                    .into_iter()
                    .filter_map(mean)
                    .collect();
                let sum: f64 = known.iter().sum();
                let value = (!known.is_empty()).then(|| sum / known.len() as f64);
                add("latency", metric, "µs", value, None, None);
            }
        }
        Some("mrr") => {
            let of = part("mrr");
            let old = list(of, "/samples").iter();
            let old = old.filter_map(|one| amount(one, "/rate/value"));
            let new = list(of, "/receive_rate/rate/values").iter();
            let new = new.filter_map(|one| amount(one, ""));
            let rates: Vec<f64> = old.chain(new).collect();
            let told = amount(of, "/avg").or(amount(of, "/receive_rate/rate/avg"));
            let sum: f64 = rates.iter().sum();
            let mean = told.or((!rates.is_empty()).then(|| sum / rates.len() as f64));
            let unit = unit(of, "/receive_rate/rate/unit");
            let trials = Some(rates.len()).filter(|n| *n > 0);
            add("full load", "received", unit, mean, None, trials);
        }
        Some("soak") => {
            let of = part("soak");
            let path = match of.get("critical_rate") {
                Some(_) => "/critical_rate",
                None => "",
            };
            let found = ends(path, of);
            let lower = found.map(|ends| ends.0);
            add("soak", "throughput", "frames/s", lower, found, None);
        }
        Some("hoststack") => {
            let of = part("hoststack");
            let bps = number(of, "/bandwidth/value").or(number(of, "/output/bits_per_second"));
            let mbps = bps.map(|bps| bps / 1e6);
            add("transfer", "goodput", "Mbit/s", mbps, None, None);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ID: &str =
        "suites.vpp.perf.ip4.10ge2p1x710-ethip4-ip4base.64b-2t1c-ethip4-ip4base-ndrpdr";

    fn rate(value: f64) -> Value {
        json!({"rate": {"value": value, "unit": "pps"}})
    }

    #[test]
    fn searches_have_their_ends_in_old_and_new_models() {
        let ends = json!({"lower": rate(9e6), "upper": rate(9.1e6)});
        let old = json!({"test_id": ID, "test_type": "ndrpdr", "status": "PASS",
            "sut_type": "VPP", "sut_version": "24.02", "results": {"ndrpdr": {"ndr": ends,
            "pdr": ends, "latency_forward": {"pdr_50": {"avg": 8}},
            "latency_reverse": {"pdr_50": {"avg": 10}}}}});
        let new = json!({"test_id": ID, "passed": true, "dut_type": "VPP", "dut_version": "24.02",
            "results": {"type": "ndrpdr", "ndr": ends, "pdr": ends}});
        for document in [old, new] {
            assert!(is(&document));
            let imported = read(&[document], Vec::new()).unwrap();
            let summary = imported.runs[0].table("summary").unwrap();
            let row = summary.rows().next().unwrap();
            assert_eq!(
                (row.text("point"), row.text("entity")),
                ("64", "throughput")
            );
            assert_eq!(row.float("mean"), Some(9e6));
            assert_eq!(row.float("ci_high"), Some(9.1e6));
            assert_eq!(
                row.text("system"),
                "VPP 24.02 10ge2p1x710 2t1c-ethip4-ip4base-ndrpdr"
            );
        }
    }

    #[test]
    fn cards_and_testbeds_are_devices_of_their_own() {
        let of = |bed: &str| {
            let id = format!("tests.vpp.perf.ip4.{bed}-ethip4-ip4base.64b-2t1c-ethip4-ip4base-mrr");
            named(&id)
        };
        let system = |bed: &str| {
            let name = format!("{bed} 2t1c-ethip4-ip4base-mrr");
            ("64".to_owned(), name)
        };
        for bed in [
            "2n1l-10ge2p1x710",
            "2n1l-100ge2p1cx6dx",
            "3n-icx-100ge2p1e810cq",
        ] {
            assert_eq!(of(bed), system(bed));
        }
        assert_eq!(named("64b-1c-mrr"), ("64".to_owned(), "1c-mrr".to_owned()));
        // A suite whose end is not the test's stands whole.
        let (_, system) = named("2n1l-10ge2p1x710-eth-other.64b-1c-eth-l2-mrr");
        assert_eq!(system, "2n1l-10ge2p1x710-eth-other 1c-eth-l2-mrr");
    }

    #[test]
    fn rates_that_cannot_be_are_empty_cells_with_a_note() {
        let ends = |lower: f64, upper: f64| json!({"lower": rate(lower), "upper": rate(upper)});
        let test = json!({"test_id": ID, "passed": true, "results": {"type": "ndrpdr",
            "ndr": ends(9e6, 8e6), "pdr": ends(9e6, 9.1e6)}});
        let full = json!({"test_id": ID, "passed": true, "results": {"type": "mrr",
            "receive_rate": {"rate": {"avg": 1e308}}}});
        let imported = read(&[test, full], Vec::new()).unwrap();
        let summary = imported.runs[0].table("summary").unwrap();
        let means: Vec<_> = summary.rows().map(|row| row.float("mean")).collect();
        assert_eq!(means, [None, Some(9e6), None]);
        let note = imported.notes.concat();
        assert!(note.starts_with("2 numbers are left out"), "{note}");
    }

    #[test]
    fn a_full_load_has_the_mean_of_its_trials_and_a_failure_none() {
        let test = json!({"test_id": "a.IMIX-1c-mrr", "passed": true, "results": {"type": "mrr",
            "receive_rate": {"rate": {"values": [1e6, 3e6], "unit": "pps"}}}});
        let failed = json!({"test_id": "b", "status": "FAIL", "results": {}});
        let imported = read(&[test, failed], Vec::new()).unwrap();
        let row = imported.runs[0]
            .table("summary")
            .unwrap()
            .rows()
            .next()
            .unwrap();
        assert_eq!((row.text("point"), row.float("mean")), ("imix", Some(2e6)));
        assert_eq!(row.int("n"), Some(2));
        assert_eq!(imported.notes.len(), 1);
    }
}
