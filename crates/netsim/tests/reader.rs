//! An application that reads by the clock: when it wakes, and what that does to the ACKs.

use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_netsim::flow::{FlowSpec, Reader};
use trammel_netsim::ids::FlowId;
use trammel_netsim::link::LinkSpec;
use trammel_netsim::network::Network;
use trammel_netsim::trace::Pace;
use trammel_tcp::cc;
use trammel_tcp::stack::Stack;

const INTERVAL: Span = Span::from_ms(5);

/// Reno over 10 Mbit/s and 20 ms for two seconds, with frames of 1.2 ms; returns the segments that
/// an ACK answers on average.
fn run(reader: Reader) -> f64 {
    let mut net = Network::new();
    let mut bottleneck = LinkSpec::wire("bottleneck", Span::from_ms(10));
    bottleneck.rate = Some(Rate::from_bps(10_000_000));
    let forward = net.add_link(bottleneck);
    let backward = net.add_link(LinkSpec::wire("return", Span::from_ms(10)));
    let reno = cc::find("reno").expect("the variant is built in");
    let params = trammel_core::entry::Params::defaults(&reno.about);
    let mut stack = Stack::linux_6();
    // Small enough that the window moves with the reads.
    stack.receive_buffer = 60_000;
    stack.max_receive_buffer = 60_000;
    stack.rmem_max = 60_000;
    net.add_flow(FlowSpec {
        name: "flow".to_owned(),
        client: stack.clone(),
        server: stack,
        cc: Box::new(move || (reno.build)(&params)),
        start: Time::ZERO,
        stop: Time::MAX,
        bytes: None,
        forward: vec![forward],
        backward: vec![backward],
        reader: Some(reader),
        overhead_bytes: 14,
        pace: Pace::Off,
        seed: 1,
    });
    net.run_until(Time::from_secs(2));
    let flow = net.flow(FlowId::new(0));
    let segments = flow.receiver.data_segments_received as f64;
    assert!(flow.bytes_delivered > 1_500_000, "{}", flow.bytes_delivered);
    segments / flow.receiver.acks_sent as f64
}

#[test]
fn reads_run_on_without_a_trace_to_keep_the_clock_busy() {
    let segments_per_ack = run(Reader::every(INTERVAL, Span::from_us(50)));
    assert!((1.5..5.0).contains(&segments_per_ack), "{segments_per_ack}");
}

#[test]
fn a_slow_copy_delays_the_next_read() {
    let quick = Reader::every(INTERVAL, Span::ZERO);
    let slow = Reader {
        copy: Some(Rate::from_bps(20_000_000)),
        ..quick
    };
    // At twice the link's rate copying takes as long as the sleep: twice the segments a read. The
    // ACKs between two reads are no fewer.
    let (quick, slow) = (run(quick), run(slow));
    assert!(slow > 1.3 * quick, "{slow} {quick}");
}
