//! The decoder as a whole, beside definitions written out over all records.

use super::*;
use crate::log::{Reader, Writer};
use crate::record::Protocol;
use proptest::prelude::*;
use trammel_core::Span;

fn session(instants: Instants) -> Session {
    Session {
        instants,
        date_ns: 0,
        host: "here".into(),
        clock: "realtime".into(),
        program: "test".into(),
        seed: 1,
    }
}

fn flow(number: u32, to: &str) -> LoggedFlow {
    LoggedFlow {
        number,
        protocol: Protocol::Udp,
        from: Some("192.0.2.1:5".parse().unwrap()),
        to: Some(to.parse().unwrap()),
        name: String::new(),
    }
}

fn record(flow: u32, sequence: u64, start_ns: i64, end_ns: i64) -> Record {
    Record {
        flow,
        sequence,
        bytes: 100,
        start_ns,
        end_ns,
    }
}

fn decoded(options: Options, records: &[Record]) -> Report {
    let mut decoder = Decoder::new(options);
    decoder.session(session(Instants::SentReceived));
    for record in records {
        decoder.record(record);
    }
    decoder.finish()
}

#[test]
fn a_flow_by_hand() {
    let ms = 1_000_000;
    // Packet 3 is lost, 2 comes twice, 4 before 2.
    let records = [
        (0, 0, 5),
        (1, 10, 14),
        (4, 40, 47),
        (2, 20, 48),
        (2, 20, 49),
        (5, 50, 1005),
    ]
    .map(|(sequence, start, end)| record(7, sequence, start * ms, end * ms));
    let report = decoded(Options::default(), &records);
    let [flow] = &report.flows[..] else { panic!() };
    let summary = &flow.summary;
    assert_eq!(
        (summary.pkts, summary.bytes, summary.duplicate_pkts),
        (6, 600, 1)
    );
    assert_eq!(
        (summary.first_ns, summary.last_ns),
        (Some(5 * ms), Some(1005 * ms))
    );
    assert_eq!(
        (summary.duration_s, summary.bit_rate_bps),
        (1.0, Some(3200.0))
    );
    // Five packets, a copy left out, have four gaps.
    assert_eq!(summary.packet_rate_pps, Some(4.0));
    // Delays 5, 4, 7, 28, 955.
    let delay = summary.delay.unwrap();
    assert_eq!(
        (delay.pkts, delay.min_ns, delay.max_ns),
        (5, 4 * ms, 955 * ms)
    );
    assert_eq!((delay.mean_ns, delay.negative_pkts), (199.8e6, 0));
    let variance = [5.0, 4.0, 7.0, 28.0, 955.0_f64]
        .map(|d| (d - 199.8).powi(2))
        .iter()
        .sum::<f64>()
        / 5.0;
    assert!((delay.sd_ns / 1e6 - variance.sqrt()).abs() < 1e-9);
    assert!((delay.quantiles.p50_ns - 7 * ms).abs() <= 7_000);
    // Five delays in two intervals: 44 ms of four and 955 of one are 755.2 off what the mean makes
    // of four and one, either way; t of 1 degree at 97.5 % is 12.7062, and 2.5 come in an interval.
    let interval = delay.mean_interval_ns.unwrap();
    let half = 12.7062 * (2.0 * 755.2_f64.powi(2) / 2.5_f64.powi(2) / 2.0).sqrt() * 1e6;
    assert!((interval.mean - 199.8e6).abs() < 1.0 && (interval.high - 199.8e6 - half).abs() < 1e5);
    assert_eq!(
        summary.jitter.mean_ns,
        Some((1.0 + 3.0 + 21.0 + 927.0) / 4.0 * 1e6)
    );
    // Pairs 0-1, 1-2, 4-5.
    let ipdv = summary.ipdv.unwrap();
    assert_eq!((ipdv.pairs, ipdv.min_ns, ipdv.max_ns), (3, -ms, 948 * ms));
    assert_eq!(ipdv.mean_ns, (-1.0 + 24.0 + 948.0) / 3.0 * 1e6);
    assert_eq!(summary.pdv.unwrap().max_ns, 951 * ms);
    assert_eq!(
        (
            summary.loss.expected_pkts,
            summary.loss.lost_pkts,
            summary.loss.bursts
        ),
        (6, 1, 1)
    );
    let reordering = &summary.reordering;
    assert_eq!(
        (reordering.reordered_pkts, reordering.extent_max_pkts),
        (1, 1)
    );
    assert_eq!(reordering.reordered_fraction, 0.2);
    // Arrivals 0 1 4 2 2 5: only the first 2 is below the one before.
    assert_eq!(reordering.n_reordered_pkts, [1]);
}

/// A table of RFC 4737: numbers from 1, times sent and come.
fn of_table(rows: &[(u64, i64, i64)]) -> Summary {
    let record = |(s, sent, came): &(u64, i64, i64)| record(0, s - 1, *sent, *came);
    let records: Vec<_> = rows.iter().map(record).collect();
    let report = decoded(Options::default(), &records);
    report.flows.into_iter().next().unwrap().summary
}

#[test]
fn table_1_of_rfc_4737() {
    let summary = of_table(&[
        (1, 0, 68),
        (2, 20, 88),
        (3, 40, 108),
        (5, 80, 148),
        (6, 100, 168),
        (7, 120, 188),
        (8, 140, 208),
        (4, 60, 210),
        (9, 160, 228),
        (10, 180, 248),
    ]);
    let reordering = &summary.reordering;
    assert_eq!(
        (reordering.reordered_pkts, reordering.extent_max_pkts),
        (1, 4)
    );
    assert_eq!(
        (reordering.late_mean_ns, reordering.late_max_ns),
        (Some(62.0), Some(62))
    );
    assert_eq!(reordering.n_reordered_pkts, [1, 1, 1, 1]);
    let ipdv = summary.ipdv.unwrap();
    assert_eq!(
        (ipdv.pairs, ipdv.min_ns, ipdv.max_ns, ipdv.mean_ns),
        (9, -82, 82, 0.0)
    );
}

#[test]
fn table_2_of_rfc_4737() {
    let summary = of_table(&[
        (1, 0, 68),
        (2, 20, 88),
        (3, 40, 108),
        (4, 60, 128),
        (7, 120, 188),
        (5, 80, 189),
        (6, 100, 190),
        (8, 140, 208),
        (9, 160, 228),
        (10, 180, 248),
    ]);
    let reordering = &summary.reordering;
    assert_eq!(
        (reordering.reordered_pkts, reordering.extent_mean_pkts),
        (2, Some(1.5))
    );
    assert_eq!(
        (reordering.late_mean_ns, reordering.late_max_ns),
        (Some(1.5), Some(2))
    );
    // "Packet 5 is designated 1-reordered, but Packet 6 is not designated n-reordered."
    assert_eq!(reordering.n_reordered_pkts, [1]);
    let ipdv = summary.ipdv.unwrap();
    assert_eq!((ipdv.pairs, ipdv.min_ns, ipdv.max_ns), (9, -22, 41));
}

#[test]
fn means_of_intervals_give_students_interval() {
    let second = 1_000_000_000;
    let records: Vec<_> = [10, 12, 14]
        .iter()
        .enumerate()
        .map(|(n, delay)| record(0, n as u64, n as i64 * second, n as i64 * second + delay))
        .collect();
    let report = decoded(Options::default(), &records);
    let interval = report.totals[0]
        .summary
        .delay
        .unwrap()
        .mean_interval_ns
        .unwrap();
    // t of 2 degrees at 97.5 % is 4.302653; the deviation of the means is 2; a delay is positive.
    let factor = (4.302653 * 2.0 / 3.0_f64.sqrt() / 12.0).exp();
    assert!((interval.mean - 12.0).abs() < 1e-9);
    let (low, high) = (12.0 / factor, 12.0 * factor);
    assert!(
        (interval.low - low).abs() < 1e-5 && (interval.high - high).abs() < 1e-5,
        "{interval:?}"
    );
}

#[test]
fn an_interval_of_few_packets_counts_for_few() {
    let second = 1_000_000_000;
    // Every 10 ms for 3.02 s: the two packets of the fourth interval took very long.
    let records: Vec<_> = (0..302_i64)
        .map(|n| {
            let at = n * second / 100;
            let delay = if n < 300 { 1000 + n / 100 } else { 5000 };
            record(1, n as u64, at + 1000 - delay, at + 1000)
        })
        .collect();
    let report = decoded(Options::default(), &records);
    let delay = report.flows[0].summary.delay.unwrap();
    let interval = delay.mean_interval_ns.unwrap();
    assert!((interval.mean - delay.mean_ns).abs() < 1e-9);
    assert!((interval.mean - 1027.48).abs() < 0.01, "{interval:?}");
    assert!(
        interval.low > 900.0 && interval.high < 1150.0,
        "{interval:?}"
    );
}

#[test]
fn what_the_sender_says_it_sent_tells_of_losses_at_the_end() {
    let entries = || {
        let records = (0..5).map(|n| Entry::Record(record(1, n, n as i64, n as i64 + 10)));
        let sent = Entry::Sent {
            flow: 1,
            packets: 8,
        };
        let session = Entry::Session(session(Instants::SentReceived));
        [session].into_iter().chain(records).chain([sent])
    };
    for (until_ns, lost) in [(None, 3), (Some(1000), 0)] {
        let mut decoder = Decoder::new(Options {
            filter: Filter {
                until_ns,
                ..Filter::default()
            },
            ..Options::default()
        });
        for entry in entries() {
            decoder.entry(entry);
        }
        let report = decoder.finish();
        assert_eq!(report.flows[0].summary.loss.lost_pkts, lost);
    }
}

#[test]
fn delays_below_zero_are_kept_and_counted() {
    let records: Vec<_> = (0..10)
        .map(|n| record(0, n, 1000 + n as i64, 995 + 2 * n as i64))
        .collect();
    let delay = decoded(Options::default(), &records).flows[0]
        .summary
        .delay
        .unwrap();
    assert_eq!(
        (delay.min_ns, delay.max_ns, delay.negative_pkts),
        (-5, 4, 5)
    );
    assert_eq!(delay.mean_ns, -0.5);
}

#[test]
fn the_total_is_over_packets_and_of_one_kind() {
    let mut decoder = Decoder::new(Options::default());
    decoder.session(session(Instants::SentReceived));
    for n in 0..3 {
        decoder.record(&record(1, n, 0, 10));
    }
    decoder.record(&record(2, 1, 0, 50));
    decoder.session(session(Instants::SentReturned));
    decoder.record(&record(1, 0, 0, 1000));
    let report = decoder.finish();
    let flows: Vec<_> = report
        .flows
        .iter()
        .map(|flow| (flow.session, flow.number))
        .collect();
    assert_eq!(flows, [(0, 1), (0, 2), (1, 1)]);
    let [one_way, round_trip] = &report.totals[..] else {
        panic!()
    };
    assert_eq!(
        (one_way.flows, one_way.summary.delay.unwrap().mean_ns),
        (2, 20.0)
    );
    assert_eq!(
        (
            one_way.summary.loss.lost_pkts,
            one_way.summary.loss.expected_pkts
        ),
        (1, 5)
    );
    assert_eq!(one_way.series[0].delay_mean_ns, Some(20.0));
    assert_eq!(round_trip.instants, Instants::SentReturned);
    assert_eq!(round_trip.summary.delay.unwrap().mean_ns, 1000.0);
}

#[test]
fn what_was_sent_last_may_be_lost_too() {
    let mut decoder = Decoder::new(Options::default());
    decoder.session(session(Instants::SentReceived));
    decoder.record(&record(1, 0, 0, 10));
    decoder.record(&record(1, 2, 0, 12));
    decoder.sent(1, 6);
    decoder.sent(3, 4);
    let report = decoder.finish();
    let [one, silent] = &report.flows[..] else {
        panic!()
    };
    let loss = &one.summary.loss;
    assert_eq!(
        (loss.lost_pkts, loss.bursts, loss.burst_max_pkts),
        (4, 2, 3)
    );
    assert_eq!(one.series[0].lost_pkts, 4);
    assert_eq!((silent.number, silent.summary.pkts), (3, 0));
    assert_eq!(
        (silent.summary.loss.lost_pkts, silent.summary.delay),
        (4, None)
    );
}

#[test]
fn filters_by_flow_host_and_time() {
    let of = |filter: Filter| {
        let mut decoder = Decoder::new(Options {
            filter,
            ..Options::default()
        });
        decoder.session(session(Instants::SentReceived));
        decoder.flow(flow(1, "192.0.2.2:9"));
        decoder.flow(flow(2, "[::ffff:192.0.2.3]:9"));
        for n in 0..10 {
            for number in 1..4 {
                decoder.record(&record(number, n, 0, n as i64 * 100));
            }
        }
        let report = decoder.finish();
        let flows: Vec<u32> = report.flows.iter().map(|flow| flow.number).collect();
        let summary = report.totals.into_iter().next().unwrap().summary;
        assert_eq!(summary.pkts + report.filtered_records, 30);
        (flows, summary.pkts, summary.loss.lost_pkts)
    };
    assert_eq!(of(Filter::default()), (vec![1, 2, 3], 30, 0));
    assert_eq!(
        of(Filter {
            flows: vec![3],
            ..Filter::default()
        }),
        (vec![3], 10, 0)
    );
    let host = |text: &str| Filter {
        hosts: vec![text.parse().unwrap()],
        ..Filter::default()
    };
    assert_eq!(of(host("192.0.2.3")), (vec![2], 10, 0));
    assert_eq!(of(host("192.0.2.1")), (vec![1, 2], 20, 0));
    let time = Filter {
        from_ns: Some(300),
        until_ns: Some(600),
        ..Filter::default()
    };
    assert_eq!(of(time), (vec![1, 2, 3], 9, 0));
}

#[test]
fn a_clock_is_subtracted_from_one_way_delays_only() {
    let clock = Clock {
        at_ns: 0,
        offset_ns: 100.0,
        offset_bound_ns: None,
        drift: 0.5,
        drift_uncertainty: None,
    };
    for (instants, wanted) in [
        (Instants::SentReceived, -90.0),
        (Instants::SentReturned, 60.0),
    ] {
        let hosts = ["192.0.2.1", "192.0.2.2"].map(|host| host.parse().unwrap());
        let mut decoder = Decoder::new(Options {
            clocks: [((hosts[0], hosts[1]), clock)].into(),
            ..Options::default()
        });
        decoder.session(session(instants));
        decoder.flow(flow(1, "192.0.2.2:6"));
        decoder.flow(flow(2, "192.0.2.3:6"));
        decoder.record(&record(1, 0, 100, 160));
        decoder.record(&record(2, 0, 100, 160));
        let mean = |report: &FlowReport| report.summary.delay.unwrap().mean_ns;
        let means: Vec<_> = decoder.finish().flows.iter().map(mean).collect();
        assert_eq!(means, [wanted, 60.0], "{instants:?}");
    }
}

#[test]
fn limits_are_told() {
    let options = Options {
        most_flows: 2,
        most_intervals: 3,
        ..Options::default()
    };
    let mut decoder = Decoder::new(options);
    decoder.record(&record(0, 0, 0, 0));
    decoder.session(session(Instants::SentReceived));
    for number in 0..3 {
        for second in 0..2 {
            decoder.record(&record(number, second, 0, second as i64 * 1_000_000_000));
        }
    }
    let report = decoder.finish();
    assert_eq!((report.flows.len(), report.unaccounted_records), (2, 3));
    assert_eq!(report.beyond_series, 1);
    assert_eq!(report.totals[0].summary.pkts, 4);
}

#[test]
fn a_log_is_decoded_as_it_was_written() {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file);
    let mut decoder = Decoder::new(Options::default());
    writer.session(&session(Instants::SentReceived)).unwrap();
    decoder.session(session(Instants::SentReceived));
    writer.flow(&flow(5, "192.0.2.2:1")).unwrap();
    decoder.flow(flow(5, "192.0.2.2:1"));
    for n in 0..10_000_u64 {
        let record = record(5, n ^ 3, n as i64 * 1000, (n * 1000 + n % 77) as i64);
        writer.record(&record).unwrap();
        decoder.record(&record);
    }
    drop(writer);
    let report = decode(Reader::new(&*file), Options::default()).unwrap();
    assert_eq!(report, decoder.finish());
    assert_eq!(report.flows[0].flow, Some(flow(5, "192.0.2.2:1")));
}

proptest! {
    #[test]
    fn agrees_with_definitions_over_all_records(
        arrivals in prop::collection::vec((0..30_u64, -50..1000_i64), 1..60),
    ) {
        let records: Vec<_> = arrivals
            .iter()
            .enumerate()
            .map(|(n, (sequence, delay))| {
                let end = n as i64 * 10;
                record(0, *sequence, end - delay, end)
            })
            .collect();
        let report = decoded(
            Options { interval: Span::from_ns(35), ..Options::default() }, &records
        );
        let summary = &report.flows[0].summary;
        let mut firsts: Vec<(u64, i64)> = vec![];
        for arrival in &arrivals {
            if firsts.iter().all(|first| first.0 != arrival.0) {
                firsts.push(*arrival);
            }
        }
        let delay_of = |wanted: u64| firsts.iter().find(
            |first| first.0 == wanted
        ).map(|first| first.1);
        let delay = summary.delay.unwrap();
        prop_assert_eq!(delay.pkts, firsts.len() as u64);
        prop_assert_eq!(
            delay.negative_pkts, firsts.iter().filter(|first| first.1 < 0).count() as u64
        );
        let d: Vec<i64> = firsts.windows(2).map(|pair| (pair[1].1 - pair[0].1).abs()).collect();
        let mean = (!d.is_empty()).then(|| d.iter().sum::<i64>() as f64 / d.len() as f64);
        prop_assert_eq!(summary.jitter.mean_ns, mean);
        let ipdv: Vec<i64> = (1..30).filter_map(|s| Some(
            delay_of(s)? - delay_of(s - 1)?
        )).collect();
        prop_assert_eq!(summary.ipdv.map_or(0, |found| found.pairs), ipdv.len() as u64);
        if let Some(found) = summary.ipdv {
            let mean = ipdv.iter().sum::<i64>() as f64 / ipdv.len() as f64;
            prop_assert!((found.mean_ns - mean).abs() < 1e-9);
            prop_assert_eq!(Some(found.max_ns), ipdv.iter().copied().max());
        }
        let last = firsts.iter().map(|first| first.0).max().unwrap();
        let missing: Vec<u64> = (0..last).filter(|s| delay_of(*s).is_none()).collect();
        prop_assert_eq!(summary.loss.lost_pkts, missing.len() as u64);
        let bursts = missing.iter().filter(|s| **s == 0 || delay_of(*s - 1).is_some()).count();
        prop_assert_eq!(summary.loss.bursts, bursts as u64);
        // A series loses nothing of it, and a flow alone is its own total.
        let series = &report.flows[0].series;
        prop_assert_eq!(series.iter().map(|one| one.pkts).sum::<u64>(), arrivals.len() as u64);
        prop_assert_eq!(series.iter().map(|one| one.lost_pkts).sum::<u64>(), missing.len() as u64);
        prop_assert_eq!(&report.totals[0].series, series);
        let mut total = report.totals[0].summary.clone();
        prop_assert_eq!(total.jitter.rfc3550_max_ns, summary.jitter.rfc3550_max_ns);
        total.jitter = summary.jitter;
        prop_assert_eq!(&total, summary);
    }

    #[test]
    fn any_records_are_decoded(
        records in prop::collection::vec(
            (
                0..4_u32, prop_oneof![any::<u64>(), 0..(1_u64 << 40), 0..100_u64], any::<i64>(),
                any::<i64>()
            ),
            0..60),
        sent in prop::collection::vec((0..4_u32, any::<u64>()), 0..4),
        window in 0..32_usize,
        interval in prop_oneof![Just(Span::ZERO), Just(Span::from_secs(1)), Just(Span::MAX)],
    ) {
        let records: Vec<_> = records.into_iter().map(|(f, s, a, b)| record(f, s, a, b)).collect();
        let options = Options { window, interval, most_intervals: 8, ..Options::default() };
        let mut decoder = Decoder::new(options);
        decoder.session(session(Instants::SentReceived));
        for (flow, packets) in sent.iter().chain([(1, u64::MAX), (2, u64::MAX)].iter()) {
            decoder.sent(*flow, *packets);
        }
        for record in &records {
            decoder.record(record);
        }
        let report = decoder.finish();
        let pkts: u64 = report.totals.iter().map(|total| total.summary.pkts).sum();
        prop_assert_eq!(pkts + report.unaccounted_records, records.len() as u64);
    }
}

#[test]
fn flows_that_are_over_take_no_more_room_and_stay_in_the_totals() {
    const FLOWS: u32 = 3000;
    let take_in = |options: Options, closes: bool| {
        let mut decoder = Decoder::new(options);
        decoder.session(session(Instants::SentReceived));
        for number in 0..FLOWS {
            decoder.flow(flow(number, "192.0.2.2:7"));
            for sequence in [0, 1, 3] {
                let sent_ns = i64::from(number) * 1_000_000 + sequence * 10_000;
                let came_ns = sent_ns + 500 + i64::from(number);
                decoder.record(&record(number, sequence as u64, sent_ns, came_ns));
            }
            decoder.sent(number, 5);
            if closes {
                decoder.close(number);
                assert_eq!(decoder.known.len(), 1);
                assert!(decoder.over.len() <= 100);
            }
        }
        decoder.finish()
    };
    let few = Options {
        most_flows: 100,
        most_intervals: 300,
        ..Options::default()
    };
    let many = Options {
        most_flows: FLOWS as usize,
        ..Options::default()
    };
    let (bounded, all) = (take_in(few, true), take_in(many, false));
    assert_eq!(bounded.flows, all.flows[2900..]);
    assert_eq!(
        (bounded.flows_in_totals_only, bounded.unaccounted_records),
        (2900, 0)
    );
    assert_eq!(bounded.totals[0].flows, u64::from(FLOWS));
    assert_eq!(
        bounded.totals[0].summary.loss.lost_pkts,
        2 * u64::from(FLOWS)
    );
    assert_eq!((bounded.totals, bounded.beyond_series), (all.totals, 0));
}
