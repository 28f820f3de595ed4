//! Writes JSON text sequences.
//!
//! The version is `0.3`, which other tools read; names of events are its
//! `recovery:metrics_updated`, `transport:packet_sent` and so on.

use crate::event::{Body, Event, FIELDS, Header, Metrics, Packet, is_rtt};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Begins a record (RFC 7464 §2.2).
const RECORD: u8 = 0x1e;

/// Writes a file, event by event.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    last: Metrics,
}

impl<W: Write> Writer<W> {
    /// Begins a file on `out`. Each event is a small write: give a buffered one.
    pub fn begin(out: W, header: &Header) -> io::Result<Writer<W>> {
        let mut writer = Writer {
            out,
            last: Metrics::default(),
        };
        writer.record(&json!({
            "qlog_version": header.version,
            "qlog_format": "JSON-SEQ",
            "title": header.title,
            "trace": {
                "vantage_point": { "type": header.vantage_point, "name": header.by },
                "title": header.title,
                "common_fields": {
                    "protocol_type": ["TCP"],
                    "time_format": "relative",
                    "reference_time": 0,
                },
            },
        }))?;
        Ok(writer)
    }

    /// Writes `event`. Of metrics, those that have not changed are left out; where none has,
    /// nothing is written.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        let (name, data) = match &event.body {
            Body::Metrics(metrics) => {
                let data = changes(metrics, &self.last);
                if data.is_empty() {
                    return Ok(());
                }
                self.last = metrics.clone();
                ("recovery:metrics_updated", Value::Object(data))
            }
            Body::State { old, new } => {
                let mut data = json!({ "new": new });
                if let Some(old) = old {
                    data["old"] = json!(old);
                }
                ("recovery:congestion_state_updated", data)
            }
            Body::Sent(packet) => ("transport:packet_sent", packet_data(packet)),
            Body::Received(packet) => ("transport:packet_received", packet_data(packet)),
            // The schema has no length of a lost packet.
            Body::Lost(packet) => {
                let packet = Packet {
                    length: None,
                    ..packet.clone()
                };
                ("recovery:packet_lost", packet_data(&packet))
            }
            Body::Other(name) => (name.as_str(), json!({})),
        };
        self.record(&json!({ "time": number(event.time_ms), "name": name, "data": data }))
    }

    /// Ends the file.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn record(&mut self, value: &Value) -> io::Result<()> {
        self.out.write_all(&[RECORD])?;
        serde_json::to_writer(&mut self.out, value)?;
        self.out.write_all(b"\n")
    }
}

/// The values of `metrics` that are not those of `last`.
fn changes(metrics: &Metrics, last: &Metrics) -> Map<String, Value> {
    let (mut metrics, mut last) = (metrics.clone(), last.clone());
    let mut data = Map::new();
    for (name, field) in FIELDS {
        // The second name of a field is for reading.
        if name == "cwnd" {
            continue;
        }
        let now = *field(&mut metrics);
        if let Some(value) = now.filter(|_| now != *field(&mut last)) {
            // Round trips are floating-point numbers in the schema, all others whole ones.
            let value = if is_rtt(name) { value } else { value.round() };
            data.insert(name.to_owned(), number(value));
        }
    }
    data
}

/// A whole number where it is one.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        json!(value as i64)
    } else {
        json!(value)
    }
}

fn packet_data(packet: &Packet) -> Value {
    let mut data = json!({ "header": { "packet_type": "1RTT" } });
    if let Some(number) = packet.number {
        data["header"]["packet_number"] = json!(number);
    }
    if let Some(length) = packet.length {
        data["raw"] = json!({ "length": length });
    }
    if !packet.acked.is_empty() {
        let ranges: Vec<_> = packet.acked.iter().map(|(from, to)| [from, to]).collect();
        data["frames"] = json!([{ "frame_type": "ack", "acked_ranges": ranges }]);
    }
    data
}
