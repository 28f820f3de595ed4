//! Latencies against what was seen of the original design's hardware description in simulation.

use trammel_core::time::{Span, Time};
use trammel_netfpga::params::Params;
use trammel_netfpga::recording::Recording;
use trammel_netfpga::router::Router;
use trammel_netfpga::single_frame;
use trammel_netfpga::stream::Stream;

/// Frame size, first bit in to first bit out, last bit in to first bit out; ns.
const RTL: [(u64, u64, u64); 7] = [
    (64, 1_280, 704),
    (128, 1_920, 832),
    (256, 3_200, 1_088),
    (512, 5_760, 1_600),
    (1024, 10_880, 2_624),
    (1280, 13_440, 3_136),
    (1518, 15_856, 3_648),
];

const CYCLE_NS: u64 = 8;

#[test]
fn a_lone_frame_takes_what_the_rtl_simulation_took_within_five_cycles_whenever_it_comes() {
    let params = Params::REFERENCE_1G;
    for phase in 0..64 {
        for (size, first_to_first, last_to_first) in RTL {
            let start = Time::from_ns(phase);
            let latency = single_frame::latency(&params, size, start).unwrap();
            let off = latency.as_ns().abs_diff(first_to_first);
            assert!(off <= 5 * CYCLE_NS, "{size} at {start}: {latency}");
            let lone = Stream {
                frames: 1,
                ..Stream::of_line(&params, (0, 1), size, 1.0, Span::ZERO).starting(start)
            };
            let from_last_bit = Recording {
                is_from_last_bit: true,
                ..Recording::default()
            };
            let router = Router::new(&params).unwrap();
            let outcome = router.run_recording(&[lone], &from_last_bit).unwrap();
            let stored = outcome.latency.max().unwrap() / 1_000;
            assert!(
                stored.abs_diff(last_to_first) <= 5 * CYCLE_NS,
                "{size}: {stored}"
            );
        }
    }
}

/// The 32 ns by which the greatest frame is off the formula are the two pointers' doing.
#[test]
fn frames_that_come_as_in_the_rtl_simulation_take_exactly_as_long() {
    let params = Params::REFERENCE_1G;
    let all_alike = (0..8).find(|phase| {
        RTL.iter().all(|(size, first_to_first, _)| {
            let start = Time::from_ns(CYCLE_NS * phase);
            single_frame::latency(&params, *size, start).unwrap() == Span::from_ns(*first_to_first)
        })
    });
    assert_eq!(all_alike, Some(4));
    for (size, first_to_first, _) in &RTL[..6] {
        assert_eq!(
            single_frame::formula(&params, *size),
            Span::from_ns(*first_to_first)
        );
    }
    assert_eq!(single_frame::formula(&params, 1518), Span::from_ns(15_824));
}

#[test]
fn four_ports_at_90_percent_have_the_latencies_of_the_rtl_simulation() {
    // Frame size, mean and greatest latency of port 0; us.
    let rtl = [(64, 1.63, 1.75), (512, 8.53, 9.06), (1518, 23.6, 25.5)];
    let params = Params::REFERENCE_1G;
    for (size, mean, greatest) in rtl {
        let streams = [0, 1, 2, 3].map(|port| {
            let ends = (port, (port + 1) % 4);
            Stream::of_line(&params, ends, size, 0.9, Span::from_us(2_500))
        });
        let outcome = Router::new(&params).unwrap().run(&streams).unwrap();
        assert_eq!(outcome.total().dropped(), 0);
        let found = outcome.latency.mean().unwrap() / 1e6;
        assert!((found / mean - 1.0).abs() < 0.02, "{size}: mean {found} us");
        let found = outcome.latency.max().unwrap() as f64 / 1e6;
        assert!(
            (found / greatest - 1.0).abs() < 0.015,
            "{size}: at most {found} us"
        );
    }
}

#[test]
fn a_phy_adds_to_both_directions() {
    let mut params = Params::REFERENCE_1G;
    let without = single_frame::latency(&params, 64, Time::ZERO).unwrap();
    params.phy_ps = 400_000;
    let with = single_frame::latency(&params, 64, Time::ZERO).unwrap();
    assert!((with - without).as_ns().abs_diff(800) <= 2 * 8 * CYCLE_NS);
}
