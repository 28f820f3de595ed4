//! Throughput against what was seen of the original design's hardware description, and what follows
//! from it.

use trammel_core::time::{Span, Time};
use trammel_netfpga::outcome::{Fate, Outcome};
use trammel_netfpga::params::{Params, preset};
use trammel_netfpga::recording::Recording;
use trammel_netfpga::router::Router;
use trammel_netfpga::stream::Stream;

const SIZES: [u64; 7] = [64, 128, 256, 512, 1024, 1280, 1518];

/// Port i to port i + 1, on the first `ports` of them.
fn one_to_one(params: &Params, ports: usize, size: u64, load: f64, duration: Span) -> Vec<Stream> {
    let all = params.ports as usize;
    let stream = |port| Stream::of_line(params, (port, (port + 1) % all), size, load, duration);
    (0..ports).map(stream).collect()
}

fn run(params: &Params, ports: usize, size: u64, load: f64, duration: Span) -> Outcome {
    let streams = one_to_one(params, ports, size, load, duration);
    Router::new(params).unwrap().run(&streams).unwrap()
}

#[test]
fn up_to_three_ports_only_the_extra_gap_byte_is_missing_to_line_rate() {
    let params = Params::REFERENCE_1G;
    for ports in 1..=3 {
        for size in SIZES {
            let most = (size + 20) as f64 / (size + 21) as f64;
            let below = run(&params, ports, size, most - 1e-4, Span::from_secs(60));
            assert_eq!(below.total().dropped(), 0, "{ports} ports, {size}");
            // What is too much fills the queues first: their frames are forwarded too.
            let above = run(&params, ports, size, 1.0, Span::from_secs(600)).total();
            let share = above.forwarded() as f64 / above.received as f64;
            assert!(
                share >= most && share < most + 1e-3,
                "{ports} ports, {size}: {share}"
            );
        }
    }
}

#[test]
fn four_ports_saturate_the_memory() {
    // Frame size, a load at which nothing is lost for 60 s, one at which something is.
    let limits = [
        (64, 0.94, 0.96),
        (128, 0.90, 0.94),
        (256, 0.94, 0.96),
        (512, 0.94, 0.96),
        (1024, 0.94, 0.97),
        (1280, 0.94, 0.97),
        (1518, 0.94, 0.97),
    ];
    for (size, holds, fails) in limits {
        let lost = |load, ports| {
            let outcome = run(
                &Params::REFERENCE_1G,
                ports,
                size,
                load,
                Span::from_secs(60),
            );
            outcome.total().dropped()
        };
        assert_eq!(lost(holds, 4), 0, "{size}");
        assert!(lost(fails, 4) > 0, "{size}");
        // Three ports bear what four do not: it is what they share.
        assert_eq!(lost(fails, 3), 0, "{size}");
    }
}

#[test]
fn four_ports_at_line_rate_send_what_the_rtl_simulation_sent() {
    // Frame size, the share of the offered frames that leaves while queues still grow.
    for (size, rtl) in [(64, 0.95), (256, 0.89), (1518, 0.88)] {
        let params = Params::REFERENCE_1G;
        let streams = one_to_one(&params, 4, size, 1.0, Span::from_us(2_500));
        let router = Router::new(&params).unwrap();
        let outcome = router
            .run_recording(&streams, &Recording::of_passages(20_000))
            .unwrap();
        let [from, to] = [500, 2_500].map(Time::from_us);
        let within = |at: Time| (from..to).contains(&at);
        let passages = || outcome.passages.iter();
        let came = passages().filter(|passage| within(passage.start)).count();
        let left = passages()
            .filter(|passage| passage.end.is_some_and(within))
            .count();
        let share = left as f64 / came as f64;
        assert!((share - rtl).abs() < 0.02, "{size}: {share}");
    }
}

#[test]
fn small_frames_are_lost_at_receive_and_others_in_queues() {
    let at = |size, fate| {
        let total = run(&Params::REFERENCE_1G, 4, size, 1.0, Span::from_secs(1)).total();
        (total.of(fate), total.dropped())
    };
    let (at_receive, all) = at(64, Fate::DroppedAtReceive);
    assert!(all > 0 && at_receive == all);
    let (at_queue, all) = at(512, Fate::DroppedAtQueue);
    assert!(all > 0 && at_queue == all);
}

#[test]
fn an_ideal_memory_without_the_extra_gap_is_line_rate() {
    let params = preset("ideal-memory-1g").unwrap();
    for size in SIZES {
        let outcome = run(&params, 4, size, 1.0, Span::from_secs(60));
        assert_eq!(outcome.total().dropped(), 0, "{size}");
    }
    let with_gap = Params {
        ideal_memory: 1,
        ..Params::REFERENCE_1G
    };
    assert!(
        run(&with_gap, 4, 64, 1.0, Span::from_secs(60))
            .total()
            .dropped()
            > 0
    );
}

/// The stages' own cycles are what small frames pay: a frame of w words takes the reader w + 4.
#[test]
fn ten_gigabit_is_other_numbers() {
    let params = preset("reference-10g").unwrap();
    for size in SIZES {
        let total = run(&params, 4, size, 1.0, Span::from_ms(100)).total();
        let cycles_a_frame = (size + 20) * params.byte_ps() / 4 / params.clock_ps;
        let is_enough = cycles_a_frame >= params.words(size) + 4;
        assert_eq!(total.dropped() == 0, is_enough, "{size}");
        let offered = 4.0 * params.line_fps(size) * 0.1;
        assert!(
            (total.received as f64 / offered - 1.0).abs() < 1e-3,
            "{size}"
        );
    }
}

#[test]
fn short_trials_pass_where_long_ones_fail() {
    let lost = |duration| {
        let outcome = run(&Params::REFERENCE_1G, 4, 1518, 1.0, duration);
        (
            outcome.total().dropped(),
            outcome.first_lost,
            outcome.last_lost,
        )
    };
    assert_eq!(lost(Span::from_ms(30)), (0, None, None));
    let (dropped, first, last) = lost(Span::from_secs(60));
    assert!(dropped > 0);
    let first = first.unwrap().as_ms();
    assert!((35..=50).contains(&first), "{first} ms");
    assert!(last.unwrap() > Time::from_ms(59_990) && last.unwrap() < Time::from_secs(60));
}

#[test]
fn two_ports_into_one_fill_its_queue_in_four_milliseconds() {
    let params = Params::REFERENCE_1G;
    let into = |from| Stream::of_line(&params, (from, 2), 1518, 1.0, Span::from_ms(10));
    let outcome = Router::new(&params)
        .unwrap()
        .run(&[into(0), into(1)])
        .unwrap();
    let first = outcome.first_lost.unwrap().as_us();
    assert!((4_100..=4_400).contains(&first), "{first} us");
}
