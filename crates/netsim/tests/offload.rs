//! Segmentation offload over a network: fewer ACKs, the same goodput, balanced books.

use trammel_core::entry::{Params, Value};
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_netsim::flow::FlowSpec;
use trammel_netsim::ids::FlowId;
use trammel_netsim::link::{LinkSpec, Queue};
use trammel_netsim::network::Network;
use trammel_netsim::trace::Pace;
use trammel_queues::loss::{self, LossModel};
use trammel_tcp::cc;
use trammel_tcp::stack::Stack;

/// What came of a flow: goodput as a part of the link, ACKs for a data segment, timeouts,
/// retransmissions.
#[derive(Debug)]
struct Came {
    goodput: f64,
    acks: f64,
    timeouts: u64,
    retransmissions: u64,
}

fn bernoulli(probability: f64) -> Box<dyn LossModel> {
    let entry = loss::find("bernoulli").expect("the loss model is built in");
    let given = [("probability".to_owned(), Value::Float(probability))];
    let params =
        Params::resolve(&entry.about, &given).expect("the parameters are within their ranges");
    (entry.build)(&params).expect("possible")
}

/// `variant` over a link of `mbps` and `rtt`, a queue of one bdp, for a thousand round trips.
fn run(variant: &str, offload: bool, mbps: u64, rtt: Span, loss: Option<f64>) -> Came {
    let mut net = Network::new();
    let mut bottleneck = LinkSpec::wire("bottleneck", rtt / 2);
    let rate = Rate::from_bps(mbps * 1_000_000);
    bottleneck.rate = Some(rate);
    let packets = (mbps as f64 * 1e6 * rtt.as_secs_f64() / 8.0 / 1500.0).max(100.0) as u32;
    bottleneck.queue = Queue::DropTail {
        packets,
        bytes: u64::MAX,
    };
    bottleneck.loss = loss.map(bernoulli);
    let forward = net.add_link(bottleneck);
    let backward = net.add_link(LinkSpec::wire("return", rtt / 2));
    let entry = cc::find(variant).expect("the variant is built in");
    let mut stack = Stack::linux_6();
    stack.offload = offload;
    (stack.receive_buffer, stack.max_receive_buffer) = (1 << 26, 1 << 26);
    stack.rmem_max = 1 << 27;
    net.add_flow(FlowSpec {
        name: "flow".to_owned(),
        client: stack.clone(),
        server: stack,
        cc: Box::new(move || (entry.build)(&Params::defaults(&entry.about))),
        start: Time::ZERO,
        stop: Time::MAX,
        bytes: None,
        forward: vec![forward],
        backward: vec![backward],
        reader: None,
        overhead_bytes: 14,
        pace: Pace::Off,
        seed: 1,
    });
    let end = rtt * 1000;
    for part in 1..=10 {
        net.run_until(Time::ZERO + end * part / 10);
        assert_eq!(net.audit(), Ok(()));
    }
    let flow = net.flow(FlowId::new(0));
    let bits = flow.bytes_delivered as f64 * 8.0 * 1514.0 / 1448.0;
    Came {
        goodput: bits / end.as_secs_f64() / rate.as_bps() as f64,
        acks: flow.receiver.acks_sent as f64 / flow.receiver.data_segments_received as f64,
        timeouts: flow.sender.timeouts,
        retransmissions: flow.sender.retransmissions,
    }
}

#[test]
fn acks_are_thinned_by_what_comes_within_an_interrupt() {
    // A frame of 1514 bytes takes 121 µs at 100 Mbit/s, 12 µs at 1 Gbit/s and 1.2 µs at 10 Gbit/s;
    // what comes within 50 µs is merged, 64 KB or 45 segments at most, and two such are no longer
    // waited for.
    let acks = |offload, mbps| run("reno", offload, mbps, Span::from_ms(2), None).acks;
    for mbps in [100, 1_000, 10_000] {
        let plain = acks(false, mbps);
        assert!((0.45..0.60).contains(&plain), "{mbps}: {plain}");
    }
    let slow = acks(true, 100);
    assert!((0.45..0.60).contains(&slow), "{slow}");
    let gigabit = 1.0 / acks(true, 1_000);
    assert!((4.0..6.5).contains(&gigabit), "{gigabit} segments an ACK");
    let fast = 1.0 / acks(true, 10_000);
    assert!((20.0..46.0).contains(&fast), "{fast} segments an ACK");
}

#[test]
fn goodput_on_a_clean_path_is_that_without_offload_within_two_percent() {
    for variant in ["reno", "cubic", "bbr", "scalable"] {
        for (mbps, rtt_ms) in [(100, 20), (1_000, 5), (10_000, 1)] {
            let [plain, offload] =
                [false, true].map(|on| run(variant, on, mbps, Span::from_ms(rtt_ms), None));
            let ratio = offload.goodput / plain.goodput;
            assert!(
                (ratio - 1.0).abs() < 0.02,
                "{variant} at {mbps} Mbit/s: {ratio}, {plain:?}, {offload:?}"
            );
            assert_eq!(offload.timeouts, 0, "{variant} at {mbps} Mbit/s");
        }
    }
}

#[test]
fn losses_inside_bursts_are_repaired_without_timeouts() {
    let came = run("cubic", true, 1_000, Span::from_ms(5), Some(1e-3));
    assert!(came.retransmissions > 20, "{came:?}");
    assert_eq!(came.timeouts, 0, "{came:?}");
}
