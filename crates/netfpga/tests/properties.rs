//! What holds for any traffic: every frame has one fate, lines are not exceeded, and repeated
//! states change nothing.

use proptest::prelude::*;
use trammel_core::time::{Span, Time};
use trammel_netfpga::error::Error;
use trammel_netfpga::outcome::{FATES, Fate, Outcome};
use trammel_netfpga::params::Params;
use trammel_netfpga::recording::Recording;
use trammel_netfpga::router::Router;
use trammel_netfpga::stream::Stream;

fn params() -> impl Strategy<Value = Params> {
    let queue_words = prop_oneof![Just(65_536), 600..3_000_u64];
    let rest = (
        0..=1_u64,
        0..=1_u64,
        200..7_000_u64,
        0..20_u64,
        1..40_u64,
        0..3_u64,
    );
    (queue_words, rest).prop_map(|(queue_words, rest)| {
        let (ideal_memory, gap, rx_fifo_full_bytes, burst, host_frames, turnaround) = rest;
        Params {
            queue_words,
            ideal_memory,
            mac_extra_gap_bytes: gap,
            rx_fifo_full_bytes,
            write_burst: burst,
            read_burst: burst / 2,
            turnaround_cycles: 1 + turnaround / 2,
            host_frames,
            ..Params::REFERENCE_1G
        }
    })
}

fn stream(most_frames: u64) -> impl Strategy<Value = Stream> {
    let size = prop_oneof![Just(64), Just(1518), 64..2_048_u64];
    let exceptions = prop_oneof![3 => Just(0), 1 => 0..=1_000_000_u32];
    let load = prop_oneof![Just(1.0), 0.5..1.0, 0.9..1.0];
    let ends = (0..4_usize, 0..4_usize);
    let burst = prop_oneof![4 => Just(1), 1 => 2..40_u64];
    let rest = (0..most_frames, 0..50_000_u64, exceptions, burst);
    (ends, size, load, rest).prop_map(
        |(ends, size, load, (frames, start_ns, exceptions, burst))| {
            let line = Stream::of_line(&Params::REFERENCE_1G, ends, size, load, Span::from_secs(1));
            let line = line.starting(Time::from_ns(start_ns));
            let stream = Stream { frames, ..line }.in_bursts(burst);
            stream.with_exceptions(exceptions)
        },
    )
}

fn conserves(outcome: &Outcome, streams: &[Stream]) {
    for (counts, stream) in outcome.streams.iter().zip(streams) {
        assert_eq!(counts.received, stream.frames);
        let fates: u64 = FATES.iter().map(|fate| counts.of(*fate)).sum();
        assert_eq!(fates, counts.received);
        assert_eq!(
            counts.forwarded() + counts.dropped() + counts.of(Fate::Delivered),
            fates
        );
    }
    assert_eq!(outcome.latency.count(), outcome.total().forwarded());
    assert_eq!(outcome.first_lost.is_some(), outcome.total().dropped() > 0);
    assert!(outcome.first_lost <= outcome.last_lost);
}

/// Everything that an outcome says in numbers.
fn numbers(outcome: &Outcome) -> impl PartialEq + std::fmt::Debug {
    let latency = &outcome.latency;
    let quantiles = [0.0, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0].map(|part| latency.quantile(part));
    let sides = outcome
        .variation
        .iter()
        .flat_map(|one| [&one.less, &one.more]);
    let variation = sides.map(|side| (side.count(), side.mean().map(f64::to_bits), side.max()));
    (
        outcome.streams.clone(),
        (latency.count(), latency.mean().map(f64::to_bits), quantiles),
        (outcome.first_lost, outcome.last_lost),
        (outcome.first_out, outcome.last_out, outcome.after),
        (outcome.tagged.clone(), variation.collect::<Vec<_>>()),
    )
}

/// All there is to record of `streams`.
fn all_of(streams: &[Stream]) -> Recording {
    let last = streams.iter().map(Stream::last_start).max();
    Recording {
        is_from_last_bit: true,
        tags: (1..9)
            .map(|n| Time::from_ps(last.unwrap_or_default().as_ps() / 10 * n))
            .collect(),
        has_variation: true,
        // In the midst of things.
        until: last.map(|last| Time::from_ps(last.as_ps() / 7 * 5)),
        ..Recording::default()
    }
}

/// In short, and with every frame simulated.
fn both(router: &Router, streams: &[Stream]) -> (Outcome, Outcome) {
    let wanted = all_of(streams);
    (
        router.run_recording(streams, &wanted).unwrap(),
        router.run_in_full(streams, &wanted).unwrap(),
    )
}

proptest! {
    #[test]
    fn every_frame_has_one_fate_and_lines_are_not_exceeded(
        params in params(),
        streams in prop::collection::vec(stream(400), 0..8),
    ) {
        let outcome = Router::new(&params).unwrap().run_recording(
            &streams, &Recording::of_passages(usize::MAX)
        ).unwrap();
        conserves(&outcome, &streams);
        prop_assert_eq!(outcome.passages.len() as u64, outcome.total().received);
        for port in 0..4 {
            let left = outcome.passages.iter().filter(|passage| {
                passage.fate == Fate::Forwarded && streams[passage.stream].to == port
            });
            let left: Vec<_> = left.collect();
            for pair in left.windows(2) {
                let bytes = streams[pair[0].stream].frame_bytes + 20 + params.mac_extra_gap_bytes;
                let gap = pair[1].end.unwrap() - pair[0].end.unwrap();
                prop_assert!(gap.as_ps() >= bytes * params.byte_ps());
                // Frames of a stream stay in order.
                prop_assert!(pair[0].stream != pair[1].stream || pair[0].start < pair[1].start);
            }
        }
    }

    #[test]
    fn states_that_come_again_change_no_number(
        params in params(),
        streams in prop::collection::vec(stream(20_000), 1..5),
        load in prop_oneof![Just(1.0), 0.9..1.0, 0.98..0.995],
        alike in any::<bool>(),
    ) {
        // Streams of one rate lie alike again soon; those of several seldom do.
        let streams: Vec<_> = streams.into_iter().map(|stream| {
            let size = if alike { 64 } else { stream.frame_bytes };
            let ends = (stream.from, stream.to);
            let line = Stream::of_line(&params, ends, size, load, Span::from_secs(1));
            Stream { start: stream.start, frames: stream.frames, burst: stream.burst, ..line }
                .with_exceptions(stream.exceptions_per_million / 1_000_000 * 1_000_000)
        }).collect();
        let router = Router::new(&params).unwrap();
        let (short, full) = both(&router, &streams);
        conserves(&full, &streams);
        prop_assert_eq!(full.simulated, full.total().received);
        prop_assert_eq!(format!("{:?}", numbers(&short)), format!("{:?}", numbers(&full)));
    }
}

/// The cases that the shortening is for, each with the share of frames that it may still simulate.
#[test]
fn a_trial_is_cut_short_exactly() {
    let params = Params::REFERENCE_1G;
    let router = Router::new(&params).unwrap();
    let line = |ports: usize, size, load, ms| -> Vec<Stream> {
        let ends = (0..ports).map(|port| (port, (port + 1) % 4));
        ends.map(|ends| Stream::of_line(&params, ends, size, load, Span::from_ms(ms)))
            .collect()
    };
    let later: Vec<_> = line(4, 128, 0.5, 300)
        .into_iter()
        .map(|stream| stream.starting(Time::from_ms(300)))
        .collect();
    let cases = [
        ("loaded", line(4, 64, 0.875, 1_000), 0.1),
        ("a queue that fills slowly", line(1, 64, 1.0, 2_000), 0.03),
        (
            "queues that fill and overflow",
            line(4, 128, 1.0, 2_000),
            0.03,
        ),
        ("losses at receive", line(4, 64, 1.0, 1_000), 0.01),
        (
            "overload, then half the load",
            [line(4, 128, 1.0, 250), later].concat(),
            0.2,
        ),
        (
            "the software's path",
            vec![
                line(1, 512, 0.05, 2_000)[0]
                    .clone()
                    .with_exceptions(250_000),
            ],
            0.5,
        ),
    ];
    for (name, streams, most) in cases {
        let (short, full) = both(&router, &streams);
        conserves(&short, &streams);
        assert_eq!(
            format!("{:?}", numbers(&short)),
            format!("{:?}", numbers(&full)),
            "{name}"
        );
        let without = router.run(&streams).unwrap();
        let share = without.simulated as f64 / full.simulated as f64;
        assert!(share <= most, "{name}: {share}");
    }
}

#[test]
fn streams_that_no_tester_can_send_are_refused() {
    let params = Params::REFERENCE_1G;
    let router = Router::new(&params).unwrap();
    let right = Stream::of_line(&params, (0, 1), 64, 0.5, Span::from_ms(1));
    let said = |stream: Stream| {
        router
            .run(&[right.clone(), stream])
            .unwrap_err()
            .to_string()
    };
    let with = |change: fn(&mut Stream)| {
        let mut stream = right.clone();
        change(&mut stream);
        said(stream)
    };
    assert_eq!(
        with(|stream| stream.to = 4),
        "stream 1: port 4 does not exist; the design has ports 0 to 3"
    );
    assert_eq!(
        with(|stream| stream.frame_bytes = 63),
        "stream 1: frames of 63 bytes; the design takes 64 to 2048 with the FCS"
    );
    assert_eq!(
        with(|stream| stream.gap = Span::from_ns(671)),
        "stream 1: a frame each 671 ns, but the line needs 672 ns for one; make the gap longer or \
         the frames smaller"
    );
    assert_eq!(
        with(|stream| stream.burst = 0),
        "stream 1: bursts of 0 frames; give 1 to 65536"
    );
    assert_eq!(
        with(|stream| stream.exceptions_per_million = 1_000_001),
        "stream 1: 1000001 exceptions in a million frames; give 0 to 1000000"
    );
    assert_eq!(
        router.run(&vec![right; 257]).unwrap_err(),
        Error::TooMuch { streams: 257 }
    );
}

#[test]
fn bursts_come_at_line_rate_and_keep_the_average() {
    let params = Params::REFERENCE_1G;
    let stream = Stream::of_line(&params, (0, 1), 64, 0.25, Span::from_secs(1)).in_bursts(16);
    let router = Router::new(&params).unwrap();
    let outcome = router
        .run_recording(&[stream], &Recording::of_passages(33))
        .unwrap();
    let starts: Vec<_> = outcome.passages.iter().map(|one| one.start).collect();
    let gap = |n: usize| starts[n + 1] - starts[n];
    let (least, average) = (Span::from_ns(672), Span::from_ns(4 * 672));
    assert!((0..15).chain(16..31).all(|n| gap(n) == least));
    assert_eq!(starts[16] - starts[0], average * 16);
    assert_eq!(starts[32] - starts[16], average * 16);
    assert_eq!(outcome.total().dropped(), 0);
}
