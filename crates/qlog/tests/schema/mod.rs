//! The schema of qlog 0.3 for what Trammel writes, from the definitions in CDDL of
//! draft-ietf-quic-qlog-main-schema-03 and draft-ietf-quic-qlog-quic-events-03. A name that is not
//! there is a fault, as are a wrong type and a name that is missing.

use serde_json::{Map, Value};

/// A type.
#[derive(Clone, Copy)]
enum Is {
    Text,
    Number,
    Whole,
    One(&'static [&'static str]),
    Texts,
    Ranges,
    Map(&'static [Key]),
    Each(&'static [Key]),
}

/// A name, whether it must be there, and its type.
type Key = (&'static str, bool, Is);

const VANTAGE: &[&str] = &["client", "server", "network", "unknown"];
const SEQUENCE: &[Key] = &[
    ("qlog_format", true, Is::One(&["JSON-SEQ"])),
    ("qlog_version", true, Is::One(&["0.3"])),
    ("title", false, Is::Text),
    ("trace", true, Is::Map(TRACE)),
];
const TRACE: &[Key] = &[
    ("title", false, Is::Text),
    ("common_fields", false, Is::Map(COMMON)),
    ("vantage_point", false, Is::Map(POINT)),
];
const COMMON: &[Key] = &[
    (
        "time_format",
        false,
        Is::One(&["absolute", "delta", "relative"]),
    ),
    ("reference_time", false, Is::Number),
    ("protocol_type", false, Is::Texts),
];
const POINT: &[Key] = &[("name", false, Is::Text), ("type", true, Is::One(VANTAGE))];
const METRICS: &[Key] = &[
    ("min_rtt", false, Is::Number),
    ("smoothed_rtt", false, Is::Number),
    ("latest_rtt", false, Is::Number),
    ("rtt_variance", false, Is::Number),
    ("pto_count", false, Is::Whole),
    ("congestion_window", false, Is::Whole),
    ("bytes_in_flight", false, Is::Whole),
    ("ssthresh", false, Is::Whole),
    ("packets_in_flight", false, Is::Whole),
    ("pacing_rate", false, Is::Whole),
];
const STATE: &[Key] = &[("old", false, Is::Text), ("new", true, Is::Text)];
const HEADER: &[Key] = &[
    ("packet_type", true, Is::One(&["1RTT"])),
    ("packet_number", false, Is::Whole),
];
const RAW: &[Key] = &[("length", false, Is::Whole)];
const ACK: &[Key] = &[
    ("frame_type", true, Is::One(&["ack"])),
    ("acked_ranges", false, Is::Ranges),
];
const PACKET: &[Key] = &[
    ("header", true, Is::Map(HEADER)),
    ("frames", false, Is::Each(ACK)),
    ("raw", false, Is::Map(RAW)),
];
const LOST: &[Key] = &[
    ("header", false, Is::Map(HEADER)),
    ("frames", false, Is::Each(ACK)),
];
/// The events, by their names of 0.3.
const EVENTS: &[(&str, &[Key])] = &[
    ("transport:packet_sent", PACKET),
    ("transport:packet_received", PACKET),
    ("recovery:packet_lost", LOST),
    ("recovery:metrics_updated", METRICS),
    ("recovery:congestion_state_updated", STATE),
];

/// What is wrong with a file, and how many events of each name it has.
pub(crate) fn faults(file: &[u8]) -> (Vec<String>, Vec<(&'static str, usize)>) {
    let mut faults = Vec::new();
    let mut seen: Vec<_> = EVENTS.iter().map(|(name, _)| (*name, 0)).collect();
    let mut records = file.split(|byte| *byte == 0x1e);
    if records.next().is_none_or(|before| !before.is_empty()) {
        faults.push("it does not begin with a record separator".to_owned());
    }
    let mut last = f64::NEG_INFINITY;
    for (n, record) in records.enumerate() {
        let Ok(value) = serde_json::from_slice::<Value>(record) else {
            faults.push(format!("record {n}: no JSON"));
            continue;
        };
        if n == 0 {
            check("header", &value, Is::Map(SEQUENCE), &mut faults);
            continue;
        }
        let name = value["name"].as_str().unwrap_or_default();
        let Some(at) = EVENTS.iter().position(|(known, _)| *known == name) else {
            faults.push(format!("record {n}: there is no event `{name}`"));
            continue;
        };
        seen[at].1 += 1;
        let keys = [("data", true, Is::Map(EVENTS[at].1))];
        let whole = [
            ("time", true, Is::Number),
            ("name", true, Is::Text),
            keys[0],
        ];
        let Some(map) = value.as_object() else {
            faults.push(format!("record {n}: no object"));
            continue;
        };
        fields(&format!("record {n}, {name}"), map, &whole, &mut faults);
        let time = value["time"].as_f64().unwrap_or(f64::NAN);
        if time < last {
            faults.push(format!("record {n}: {time} after {last}"));
        }
        last = time;
    }
    (faults, seen)
}

fn fields(place: &str, map: &Map<String, Value>, keys: &[Key], faults: &mut Vec<String>) {
    for (name, value) in map {
        match keys.iter().find(|(known, ..)| known == name) {
            Some((_, _, is)) => check(&format!("{place}.{name}"), value, *is, faults),
            None => faults.push(format!("{place}: there is no `{name}`")),
        }
    }
    for (name, must, _) in keys {
        if *must && !map.contains_key(*name) {
            faults.push(format!("{place}: `{name}` is missing"));
        }
    }
}

fn check(place: &str, value: &Value, is: Is, faults: &mut Vec<String>) {
    let right = match is {
        Is::Text => value.is_string(),
        Is::Number => value.is_number(),
        Is::Whole => value.is_u64(),
        Is::One(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        Is::Texts => value
            .as_array()
            .is_some_and(|all| all.iter().all(Value::is_string)),
        Is::Ranges => value.as_array().is_some_and(|all| {
            let is_range = |one: &Value| {
                one.as_array().is_some_and(|ends| {
                    (1..=2).contains(&ends.len()) && ends.iter().all(Value::is_u64)
                })
            };
            !all.is_empty() && all.iter().all(is_range)
        }),
        Is::Map(keys) => match value.as_object() {
            Some(map) => return fields(place, map, keys, faults),
            None => false,
        },
        Is::Each(keys) => match value.as_array() {
            Some(all) => {
                for (n, one) in all.iter().enumerate() {
                    check(&format!("{place}[{n}]"), one, Is::Map(keys), faults);
                }
                return;
            }
            None => false,
        },
    };
    if !right {
        faults.push(format!("{place}: {value} is of another type"));
    }
}
