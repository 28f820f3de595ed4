//! Files as stacks write them, and files of our own read back.

use proptest::prelude::*;
use trammel_qlog::{Body, Event, Header, Metrics, Packet, ReadError, Writer, read, read_traces};

fn events(text: &[u8]) -> Result<(Header, Vec<Event>), ReadError> {
    let mut seen = Vec::new();
    let header = read(text, &mut |event| seen.push(event))?;
    Ok((header, seen))
}

fn metrics(event: &Event) -> &Metrics {
    match &event.body {
        Body::Metrics(metrics) => metrics,
        other => panic!("{other:?}"),
    }
}

/// As quic-go and quiche write: JSON-SEQ of version 0.3.
#[test]
fn a_sequence_of_version_0_3_is_read() {
    let text = b"\x1e{\"qlog_format\":\"JSON-SEQ\",\"qlog_version\":\"0.3\",\"title\":\"q\",\
        \"trace\":{\"vantage_point\":{\"type\":\"client\"},\"common_fields\":{\"time_format\":\
        \"relative\",\"reference_time\":1700000000000.5}}}\n\
        \x1e{\"time\":1.5,\"name\":\"recovery:metrics_updated\",\"data\":{\"min_rtt\":20.1,\
        \"congestion_window\":40960,\"bytes_in_flight\":1280}}\n\
        \x1e{\"time\":2,\"name\":\"recovery:congestion_state_updated\",\"data\":{\"new\":\
        \"slow_start\"}}\n\
        \x1e{\"time\":3,\"name\":\"transport:packet_received\",\"data\":{\"header\":{\
        \"packet_type\":\"1RTT\",\"packet_number\":7},\"raw\":{\"length\":40},\"frames\":[{\
        \"frame_type\":\"ack\",\"acked_ranges\":[[1,4],[6]]}]}}\n\x1e{\"time\":4,\"na";
    let (header, seen) = events(text).unwrap();
    assert_eq!(
        (header.version.as_str(), header.vantage_point.as_str()),
        ("0.3", "client")
    );
    assert_eq!(seen.len(), 3, "the record that was cut off is left out");
    assert_eq!(metrics(&seen[0]).congestion_window, Some(40960.0));
    assert_eq!(metrics(&seen[0]).min_rtt, Some(20.1));
    let received = Packet {
        number: Some(7),
        length: Some(40),
        acked: vec![(1, 4), (6, 6)],
    };
    assert_eq!(seen[2].body, Body::Received(received));
}

/// As the present drafts have it: another header, and other names.
#[test]
fn a_sequence_of_the_present_drafts_is_read() {
    let text = b"\x1e{\"file_schema\":\"urn:ietf:params:qlog:file:sequential\",\
        \"serialization_format\":\"application/qlog+json-seq\",\"trace\":{\"event_schemas\":[],\
        \"common_fields\":{\"time_format\":\"relative_to_previous_event\"}}}\n\
        \x1e{\"time\":5,\"name\":\"quic:recovery_metrics_updated\",\"data\":{\"ssthresh\":7}}\n\
        \x1e{\"time\":5,\"name\":\"quic:packet_lost\",\"data\":{\"header\":{\
        \"packet_number\":3}}}\n";
    let (header, seen) = events(text).unwrap();
    assert!(header.is_delta);
    assert_eq!(metrics(&seen[0]).ssthresh, Some(7.0));
    assert_eq!(seen[1].time_ms, 10.0);
    assert!(matches!(
        &seen[1].body,
        Body::Lost(Packet {
            number: Some(3),
            ..
        })
    ));
}

/// As picoquic writes: one object, events as lists of columns, times in microseconds.
#[test]
fn a_contained_file_with_event_fields_is_read() {
    let text = br#"{ "qlog_version": "draft-00", "title": "picoquic", "traces": [
{ "vantage_point": { "name": "backend-67", "type": "server" },
"event_fields": ["relative_time", "category", "event", "data"],
"configuration": {"time_units": "us"},
"common_fields": { "protocol_type": "QUIC_HTTP3", "reference_time": "11"},
"events": [
[2500, "recovery", "metrics_updated", {"cwnd": 15360, "pacing_rate": 1250000,
"smoothed_rtt": 40000}],
[3000, "transport", "packet_sent", {"packet_type": "1RTT", "header": {"packet_size": 1440,
"packet_number": 0}}]
]}]}"#;
    let (header, seen) = events(text).unwrap();
    assert_eq!(
        (header.vantage_point.as_str(), header.title.as_str()),
        ("server", "picoquic")
    );
    assert_eq!((seen[0].time_ms, seen[1].time_ms), (2.5, 3.0));
    assert_eq!(metrics(&seen[0]).smoothed_rtt, Some(40.0));
    assert_eq!(metrics(&seen[0]).congestion_window, Some(15360.0));
    assert!(matches!(
        &seen[1].body,
        Body::Sent(Packet {
            length: Some(1440),
            ..
        })
    ));
}

/// As draft-01 allows it: `event_fields` says that times count from the event before.
#[test]
fn times_of_a_column_delta_time_are_summed_wherever_the_column_is_named() {
    let about = r#""configuration":{"time_units":"us"}"#;
    let fields = r#""event_fields":["delta_time","category","event","data"]"#;
    let lists = r#""events":[[0,"transport","packet_sent",{}],
[10000,"transport","packet_sent",{}],["500","transport","packet_sent",{}]]"#;
    for trace in [[about, fields, lists], [fields, lists, about]] {
        let trace = trace.join(",");
        let text = format!("{{\"qlog_version\":\"draft-01\",\"traces\":[{{{trace}}}]}}");
        let (header, seen) = events(text.as_bytes()).unwrap();
        assert!(header.is_delta);
        let times: Vec<f64> = seen.iter().map(|event| event.time_ms).collect();
        assert_eq!(times, [0.0, 10.0, 10.5]);
    }
}

#[test]
fn events_before_what_says_their_unit_are_read_too() {
    let text = br#"{"traces":[{"events":[{"time":1000,"name":"recovery:metrics_updated",
"data":{"min_rtt":500}}],
"configuration":{"time_units":"us"}}],"qlog_version":"0.3"}"#;
    let (_, seen) = events(text).unwrap();
    assert_eq!(
        (seen[0].time_ms, metrics(&seen[0]).min_rtt),
        (1.0, Some(0.5))
    );
}

/// As stacks write that log both ends: the client's is empty, what failed stands in place of one.
#[test]
fn each_event_has_the_trace_that_it_is_of() {
    let text = br#"{"qlog_version":"0.3","title":"both","traces":[
{"vantage_point":{"type":"client"},"events":[]},
{"uri":"lost.qlog","error_description":"it is gone"},
{"vantage_point":{"type":"server"},"events":[{"time":1,"name":"a"},{"time":2,"name":"b"}]},
{"vantage_point":{"type":"network"},"title":"tap","events":[{"time":7,"name":"c"}]}]}"#;
    let mut seen = Vec::new();
    let headers = read_traces(&text[..], &mut |trace, event| {
        seen.push((trace, event.time_ms));
    })
    .unwrap();
    assert_eq!(seen, [(1, 1.0), (1, 2.0), (2, 7.0)]);
    let points: Vec<&str> = headers
        .iter()
        .map(|one| one.vantage_point.as_str())
        .collect();
    assert_eq!(points, ["client", "server", "network"]);
    let titles: Vec<&str> = headers.iter().map(|one| one.title.as_str()).collect();
    assert_eq!(titles, ["both", "both", "tap"]);
    // Who wants one gets the first that has events.
    let (header, events) = events(text).unwrap();
    assert_eq!((header.vantage_point.as_str(), events.len()), ("server", 2));
}

#[test]
fn lines_of_json_are_read() {
    let text = b"{\"qlog_version\":\"draft-02\",\"qlog_format\":\"NDJSON\",\"trace\":{}}\n\
        {\"time\":1,\"name\":\"recovery:metrics_updated\",\"data\":{\"cwnd\":5}}\n\n";
    assert_eq!(events(text).unwrap().1.len(), 1);
}

#[test]
fn what_is_no_qlog_is_told() {
    for (text, what) in [
        (&b""[..], "it is empty"),
        (b"time,cwnd\n1,2\n", "neither `{` nor a record separator"),
        (b"{\"a\": 1}\n", "no version"),
        (b"\x1e{\"a\": 1}\n", "no version"),
        (b"{\"qlog_version\":\"0.3\",\"traces\":[]}", "no trace"),
        (
            b"{\"qlog_version\":\"0.3\",\n\"traces\":[{\"title\":\"a\"}]}",
            "no `events`",
        ),
        (
            b"{\"qlog_version\":\"0.3\",\n\"traces\":[{\"events\":[{",
            "no JSON",
        ),
        (
            b"\x1e{\"qlog_version\":\"0.3\",\"trace\":{}}\n\x1e{]}\n\x1e{}\n",
            "record 2: is no JSON",
        ),
    ] {
        let told = events(text).unwrap_err().to_string();
        assert!(told.contains(what), "{told}");
    }
}

#[test]
fn a_record_beyond_the_bound_is_refused_before_it_is_held() {
    let text = std::io::Read::chain(
        &b"\x1e{\"qlog_version\":\"0.3\",\"trace\":{}}\n\x1e"[..],
        std::io::Read::take(std::io::repeat(b' '), 1 << 26),
    );
    let told = read(text, &mut |_| {}).unwrap_err().to_string();
    assert!(told.contains("more than 16777216 bytes"), "{told}");
}

fn value() -> impl Strategy<Value = Option<f64>> {
    proptest::option::of((0_u32..u32::MAX).prop_map(|n| f64::from(n) / 8.0))
}

/// Of windows and rates, which are whole numbers in the schema.
fn whole() -> impl Strategy<Value = Option<f64>> {
    proptest::option::of(any::<u32>().prop_map(f64::from))
}

fn body() -> impl Strategy<Value = Body> {
    let packet = (
        any::<Option<u32>>(),
        any::<Option<u16>>(),
        any::<[u16; 2]>(),
    )
        .prop_map(|(number, length, [from, by])| Packet {
            number: number.map(u64::from),
            length: length.map(u64::from),
            acked: vec![(from.into(), u64::from(from) + u64::from(by))],
        });
    let state = (proptest::option::of("[a-z_]{1,12}"), "[a-z_]{1,12}");
    prop_oneof![
        state.prop_map(|(old, new)| Body::State { old, new }),
        packet.clone().prop_map(Body::Sent),
        packet.clone().prop_map(Body::Received),
        // The schema has no length of a lost packet.
        packet.prop_map(|packet| Body::Lost(Packet {
            length: None,
            ..packet
        })),
        (whole(), value(), whole()).prop_map(|(cwnd, rtt, rate)| Body::Metrics(Metrics {
            congestion_window: cwnd,
            smoothed_rtt: rtt,
            pacing_rate: rate,
            ..Metrics::default()
        })),
    ]
}

proptest! {
    #[test]
    fn what_is_written_is_read(bodies in proptest::collection::vec((0_u32..1000, body()), 0..40)) {
        let mut time = 0.0;
        let all: Vec<Event> = bodies.into_iter().map(|(gap, body)| {
            time += f64::from(gap) / 16.0;
            Event { time_ms: time, body }
        }).collect();
        let mut file = Vec::new();
        let mut out = Writer::begin(&mut file, &Header::client("t")).unwrap();
        for event in &all {
            out.event(event).unwrap();
        }
        out.finish().unwrap();
        let (header, back) = events(&file).unwrap();
        prop_assert_eq!(header, Header::client("t"));
        // Metrics tell what has changed.
        let mut last = Metrics::default();
        let mut wanted = all.into_iter().filter_map(|mut event| {
            if let Body::Metrics(metrics) = &mut event.body {
                let now = metrics.clone();
                let fresh = |new: Option<f64>, old| new.filter(|_| new != old);
                metrics.congestion_window = fresh(now.congestion_window, last.congestion_window);
                metrics.smoothed_rtt = fresh(now.smoothed_rtt, last.smoothed_rtt);
                metrics.pacing_rate = fresh(now.pacing_rate, last.pacing_rate);
                if *metrics == Metrics::default() {
                    return None;
                }
                last = now;
            }
            Some(event)
        });
        for event in back {
            prop_assert_eq!(Some(event), wanted.next());
        }
        prop_assert_eq!(wanted.next(), None);
    }

    #[test]
    fn nothing_that_is_read_panics(text in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&text[..], &mut |_| {});
        let mut begun = b"\x1e{\"qlog_version\":\"0.3\",\"trace\":{}}\n\x1e".to_vec();
        begun.extend(&text);
        let _ = read(&begun[..], &mut |_| {});
    }
}
