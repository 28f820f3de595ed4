//! A run as iperf3's `-J` writes a test of TCP: intervals, and what was sent and received in all.
//!
//! What it is not is said where iperf3 says what it is: `start.version` names Trammel and the
//! engine, and the object `trammel` has the point, the seed and what was assumed. Bytes of an
//! interval are those acknowledged; iperf3 has those that the sender's kernel took.

use crate::recording::{Interval, MSS_BYTES, Recorded, Recording};
use serde_json::{Value, json};

/// The number of the first flow's socket: some number above those that every process has.
const FIRST_SOCKET: usize = 5;
/// The port of an iperf3 server.
const PORT: u32 = 5201;

/// The text of the file.
pub fn write(of: &Recording) -> String {
    let mss = f64::from(MSS_BYTES);
    let flows: Vec<_> = of
        .flows
        .iter()
        .map(|flow| (flow, flow.intervals(of.step_s, of.duration_s)))
        .collect();
    let steps = flows.iter().map(|(_, all)| all.len()).max().unwrap_or(0);
    let intervals = (0..steps).map(|row| {
        let rows = flows.iter().enumerate();
        let rows = rows.filter_map(|(at, (_, all))| Some((at, all.get(row)?)));
        let streams: Vec<Value> = rows.clone().map(|(at, one)| interval(at, one)).collect();
        let first = rows.clone().next().map(|(_, one)| *one);
        let total = |what: fn(&Interval) -> f64| rows.clone().map(|(_, one)| what(one)).sum();
        let mut sum = first.map_or(Value::Null, |one| {
            let bytes = total(|one| one.bytes);
            span(one.start_s, one.end_s, bytes)
        });
        sum["retransmits"] = whole(total(|one| one.retransmissions));
        sum["omitted"] = false.into();
        sum["sender"] = true.into();
        json!({ "streams": streams, "sum": sum })
    });
    let intervals: Vec<Value> = intervals.collect();
    let ended = flows
        .iter()
        .enumerate()
        .map(|(at, (flow, _))| end(at, flow));
    let streams: Vec<Value> = ended.collect();
    let total = |what: fn(&Recorded) -> f64| of.flows.iter().map(what).sum::<f64>();
    let (delivered, sent) = (
        total(|flow| flow.delivered_bytes),
        total(|flow| flow.sent_pkts),
    );
    let mut sum_sent = span(0.0, of.duration_s, sent * mss);
    sum_sent["retransmits"] = whole(total(|flow| flow.retransmissions));
    sum_sent["sender"] = true.into();
    let mut sum_received = span(0.0, of.duration_s, delivered);
    sum_received["sender"] = true.into();
    let connected = of.flows.iter().enumerate().map(|(at, flow)| {
        json!({ "socket": FIRST_SOCKET + at, "local_host": flow.name, "local_port": PORT,
                "remote_host": "receiver", "remote_port": PORT })
    });
    let mut variants: Vec<&str> = of.flows.iter().map(|flow| flow.variant.as_str()).collect();
    variants.dedup();
    let variant = variants.join(",");
    let whole = json!({
        "start": {
            "connected": connected.collect::<Vec<_>>(),
            "version": format!("{}, {}: no iperf3", of.by, of.label),
            "system_info": of.label,
            "timestamp": { "timesecs": of.made_s },
            "connecting_to": { "host": "receiver", "port": PORT },
            "tcp_mss_default": MSS_BYTES,
            "test_start": {
                "protocol": "TCP", "num_streams": of.flows.len(), "blksize": MSS_BYTES, "omit": 0,
                "duration": of.duration_s, "bytes": 0, "blocks": 0, "reverse": 0, "tos": 0,
            },
        },
        "intervals": intervals,
        "end": {
            "streams": streams, "sum_sent": sum_sent, "sum_received": sum_received,
            "sender_tcp_congestion": variant,
        },
        "title": format!("{} ({})", of.title, of.label),
        "trammel": {
            "by": of.by, "label": of.label, "point": of.point, "seed": of.seed,
            "flows": of.flows.iter().map(|flow| json!({
                "flow": flow.name, "variant": flow.variant
            })).collect::<Vec<_>>(),
            "assumed": format!(
                "windows and sent bytes are of segments of {MSS_BYTES} bytes; bytes of intervals \
                 are those acknowledged"
            ),
        },
    });
    format!("{whole:#}\n")
}

/// Bytes between two instants.
fn span(start_s: f64, end_s: f64, bytes: f64) -> Value {
    let seconds = end_s - start_s;
    let bits = if seconds > 0.0 {
        bytes * 8.0 / seconds
    } else {
        0.0
    };
    json!({ "start": start_s, "end": end_s, "seconds": seconds, "bytes": whole(bytes),
            "bits_per_second": bits })
}

/// A count.
fn whole(value: f64) -> Value {
    json!(value.round().max(0.0) as u64)
}

fn interval(at: usize, of: &Interval) -> Value {
    let mut stream = span(of.start_s, of.end_s, of.bytes);
    stream["socket"] = (FIRST_SOCKET + at).into();
    stream["retransmits"] = whole(of.retransmissions);
    stream["snd_cwnd"] = whole(of.cwnd_pkts * f64::from(MSS_BYTES));
    stream["rtt"] = whole(of.srtt_us.unwrap_or(0.0));
    stream["omitted"] = false.into();
    stream["sender"] = true.into();
    stream
}

fn end(at: usize, flow: &Recorded) -> Value {
    let (from, to) = (flow.start_s, flow.start_s + flow.active_s);
    let mss = f64::from(MSS_BYTES);
    let mut sender = span(from, to, flow.sent_pkts * mss);
    let mut receiver = span(from, to, flow.delivered_bytes);
    for side in [&mut sender, &mut receiver] {
        side["socket"] = (FIRST_SOCKET + at).into();
        side["sender"] = true.into();
    }
    sender["retransmits"] = whole(flow.retransmissions);
    sender["max_snd_cwnd"] = whole(flow.cwnd_max_pkts * mss);
    for (name, value) in ["min_rtt", "mean_rtt"].into_iter().zip(flow.rtt_us) {
        if let Some(value) = value {
            sender[name] = whole(value);
        }
    }
    json!({ "sender": sender, "receiver": receiver })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::tests::recorded;

    #[test]
    fn sums_are_of_all_streams_and_the_file_says_what_it_is() {
        let file: Value = serde_json::from_str(&write(&recorded())).expect("it is JSON");
        assert_eq!(
            file["start"]["version"],
            "trammel 0.2.0, simulated: no iperf3"
        );
        assert_eq!(file["intervals"].as_array().map(Vec::len), Some(8));
        let sum = &file["intervals"][5]["sum"];
        assert_eq!(
            (&sum["bytes"], sum["bits_per_second"].as_f64()),
            (&json!(150_000), Some(4.8e6))
        );
        assert_eq!(file["end"]["sum_received"]["bytes"], 900_000);
        assert_eq!(
            file["end"]["streams"][1]["receiver"]["bits_per_second"],
            3.2e6
        );
        assert_eq!(file["end"]["streams"][0]["sender"]["min_rtt"], 30_000);
    }
}
