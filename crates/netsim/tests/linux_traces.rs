//! Variants beside Linux 6.12 in virtual time: 100 Mbit/s, 50 ms, a FIFO of 417 packets, no random
//! loss.
//!
//! The figures are those of the kernel's trace of one flow, whose round trip without a queue is 0.9
//! µs more.

use trammel_core::entry::Params;
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_netsim::flow::{FlowSpec, Reader};
use trammel_netsim::ids::FlowId;
use trammel_netsim::link::{LinkSpec, Queue};
use trammel_netsim::network::Network;
use trammel_netsim::trace::{Pace, Sample};
use trammel_tcp::cc;
use trammel_tcp::stack::Stack;

/// Runs one flow of `variant` for `seconds`; returns the sender every 10 ms.
fn run(variant: &str, seconds: u64) -> Vec<Sample> {
    let mut net = Network::new();
    let one_way = Span::from_ns(25_000_450);
    let mut bottleneck = LinkSpec::wire("bottleneck", one_way);
    bottleneck.rate = Some(Rate::from_bps(100_000_000));
    bottleneck.burst_bytes = Some(3100);
    bottleneck.queue = Queue::DropTail {
        packets: u32::MAX,
        bytes: 417 * 1514,
    };
    let forward = net.add_link(bottleneck);
    let backward = net.add_link(LinkSpec::wire("return", one_way));
    let entry = cc::find(variant).expect("the variant is built in");
    let params = Params::defaults(&entry.about);
    let mut stack = Stack::linux_6();
    stack.slow_start_after_idle = false;
    net.add_flow(FlowSpec {
        name: "flow".to_owned(),
        client: stack.clone(),
        server: stack,
        cc: Box::new(move || (entry.build)(&params)),
        start: Time::from_ns(300),
        stop: Time::MAX,
        bytes: None,
        forward: vec![forward],
        backward: vec![backward],
        reader: Some(Reader::every(Span::from_ms(5), Span::from_us(50))),
        overhead_bytes: 14,
        pace: Pace::Interval(Span::from_ms(10)),
        seed: 1,
    });
    net.run_until(Time::from_secs(seconds));
    net.flow_trace(FlowId::new(0)).samples.clone()
}

fn mean_srtt_ms(samples: &[Sample]) -> f64 {
    let sum: f64 = samples.iter().map(|s| f64::from(s.srtt_us)).sum();
    sum / samples.len() as f64 / 1e3
}

#[test]
fn bbr_drains_what_it_probes_with() {
    let trace = run("bbr", 8);
    let last = trace.last().expect("it ran");
    // Linux: 870 retransmissions in 30 s, all in STARTUP; 52.7 ms between 2 s and 8 s.
    assert_eq!(last.retransmissions, 870);
    let srtt_ms = mean_srtt_ms(&trace[200..]);
    assert!((srtt_ms - 52.7).abs() < 0.5, "{srtt_ms}");
}

#[test]
fn nv_is_held_back_by_the_bunches_of_its_own_acks() {
    let trace = run("nv", 12);
    // Linux: 228 segments after 10 s, and a smoothed round trip of 51.81 ms in the twelfth second.
    assert!(trace[1000].cwnd.abs_diff(228) <= 2, "{}", trace[1000].cwnd);
    let srtt_ms = mean_srtt_ms(&trace[1100..]);
    assert!((srtt_ms - 51.81).abs() < 0.05, "{srtt_ms}");
}
