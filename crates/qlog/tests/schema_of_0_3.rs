//! What the writer writes is of the schema of qlog 0.3.

mod schema;

use proptest::prelude::*;
use trammel_qlog::{Body, Event, Header, Metrics, Packet, Writer};

fn file(events: &[Event]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::begin(&mut bytes, &Header::client("one")).unwrap();
    for event in events {
        writer.event(event).unwrap();
    }
    writer.finish().unwrap();
    bytes
}

fn packet() -> impl Strategy<Value = Packet> {
    let acked = prop::collection::vec((0..9_u64, 9..99_u64), 0..3);
    (
        prop::option::of(0..1_u64 << 40),
        prop::option::of(0..9000_u64),
        acked,
    )
        .prop_map(|(number, length, acked)| Packet {
            number,
            length,
            acked,
        })
}

fn body() -> impl Strategy<Value = Body> {
    let value = || prop::option::of(0.0..1e12_f64);
    let metrics = (value(), value(), value(), value(), value()).prop_map(|all| {
        Body::Metrics(Metrics {
            smoothed_rtt: all.0,
            congestion_window: all.1,
            bytes_in_flight: all.2,
            ssthresh: all.3,
            pacing_rate: all.4,
            ..Metrics::default()
        })
    });
    let state = ("[a-z_]{1,9}", prop::option::of("[a-z_]{1,9}"));
    prop_oneof![
        metrics,
        state.prop_map(|(new, old)| Body::State { old, new }),
        packet().prop_map(Body::Sent),
        packet().prop_map(Body::Received),
        packet().prop_map(Body::Lost),
    ]
}

proptest! {
    #[test]
    fn whatever_is_written_is_of_the_schema(bodies in prop::collection::vec(body(), 0..40)) {
        let events = bodies.into_iter().enumerate();
        let events: Vec<_> = events
            .map(|(n, body)| Event { time_ms: n as f64 * 1.5, body })
            .collect();
        let (faults, _) = schema::faults(&file(&events));
        prop_assert!(faults.is_empty(), "{faults:#?}");
    }
}

#[test]
fn the_schema_finds_what_is_wrong() {
    let good = file(&[Event {
        time_ms: 1.0,
        body: Body::Metrics(Metrics {
            ssthresh: Some(7.0),
            ..Metrics::default()
        }),
    }]);
    let good = String::from_utf8(good).unwrap();
    assert!(schema::faults(good.as_bytes()).0.is_empty());
    for (from, to) in [
        ("recovery:metrics_updated", "recovery:metrics"),
        ("\"ssthresh\":7", "\"ssthresh\":7.5"),
        ("\"ssthresh\":7", "\"threshold\":7"),
        ("\"time\":1", "\"tim\":1"),
        ("JSON-SEQ", "JSON"),
        ("client", "sender"),
    ] {
        let bad = good.replace(from, to);
        assert!(!schema::faults(bad.as_bytes()).0.is_empty(), "{to}");
    }
}
