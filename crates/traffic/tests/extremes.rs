//! Whatever instants, numbers and lengths a log holds, the decoder tells something and never
//! panics.

use proptest::prelude::*;
use trammel_core::time::Span;
use trammel_traffic::decode::{Decoder, Options};
use trammel_traffic::log::Session;
use trammel_traffic::record::{Instants, MOST_BYTES, MOST_SEQUENCE, Record};

fn instant() -> impl Strategy<Value = i64> {
    prop_oneof![
        prop::sample::select(vec![
            i64::MIN,
            i64::MIN + 1,
            -1,
            0,
            1,
            i64::MAX - 1,
            i64::MAX
        ]),
        any::<i64>(),
        0..10_000_000_000_i64,
    ]
}

fn record() -> impl Strategy<Value = Record> {
    let sequence = prop_oneof![0..20_u64, 0..MOST_SEQUENCE, Just(MOST_SEQUENCE - 1)];
    (0..3_u32, sequence, 0..MOST_BYTES, instant(), instant()).prop_map(
        |(flow, sequence, bytes, start_ns, end_ns)| Record {
            flow,
            sequence,
            bytes,
            start_ns,
            end_ns,
        },
    )
}

proptest! {
    #[test]
    fn any_records_are_decoded(
        records in prop::collection::vec(record(), 0..60),
        instants in prop::sample::select(vec![
            Instants::DueSent,
            Instants::DueLeft,
            Instants::SentReceived,
            Instants::SentReturned,
        ]),
        sent in prop::option::of(0..MOST_SEQUENCE),
        interval in prop::sample::select(vec![1_u64, 1_000_000_000, u64::MAX / 2_000]),
    ) {
        let options = Options {
            interval: Span::from_ns(interval),
            ..Options::default()
        };
        let mut decoder = Decoder::new(options);
        decoder.session(Session {
            instants,
            date_ns: i64::MIN,
            host: String::new(),
            clock: String::new(),
            program: String::new(),
            seed: 0,
        });
        for record in &records {
            decoder.record(record);
        }
        if let Some(sent) = sent {
            decoder.sent(1, sent);
        }
        let report = decoder.finish();
        let told: u64 = report.flows.iter().map(|flow| flow.summary.pkts).sum();
        prop_assert_eq!(told, records.len() as u64);
        for flow in &report.flows {
            let summary = &flow.summary;
            prop_assert!(summary.duration_s >= 0.0 && summary.duration_s.is_finite());
            prop_assert!(summary.packet_rate_pps.is_none_or(|rate| rate >= 0.0));
            for one in &flow.series {
                prop_assert!(one.bit_rate_bps.is_finite());
            }
        }
    }
}
