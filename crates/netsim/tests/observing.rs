//! Whoever looks at a network sees the same, however the engine gets its packets across.
//!
//! Links that only one other link feeds are crossed ahead of time (`network::stretch`); where every link
//! is captured none is, and each packet has an event at each link. Both must show the same counters,
//! queues and flows at every instant that anybody looks.

// What was seen is put together for a person, and compared as text.
#![allow(clippy::format_push_string)]

#[allow(dead_code)]
mod common;

use common::case;
use trammel_core::time::Time;

/// Looks in a run, at instants of no round number.
const LOOKS: u64 = 23;

/// Everything that can be seen of the network of `seed`.
fn seen(seed: u64, captured: bool) -> String {
    let mut case = case(seed);
    let net = &mut case.net;
    let links: Vec<_> = (0..net.link_count()).collect();
    net.trace_queues(case.stop / 101);
    if captured {
        net.capture(&links, Box::new(std::io::sink()));
    }
    let mut text = String::new();
    for look in 1..=LOOKS {
        net.run_until(Time::from_ps(case.stop.as_ps() / LOOKS * look));
        for link in &links {
            text += &format!("{look} {link} {:?}", net.backlog(*link));
            let link = net.link(*link);
            text += &format!(" {:?} {}\n", link.counters(), link.in_pipe());
        }
        for index in 0..case.bytes.len() {
            text += &format!("{look} {index} {:?}\n", net.flow(index));
        }
    }
    for link in &links {
        text += &format!("{link} {:?}\n", net.queue_trace(*link));
    }
    for index in 0..case.bytes.len() {
        text += &format!("{index} {:?}\n", net.flow_trace(index).samples);
    }
    for index in 0..case.streams {
        let stream = net.stream(index);
        text += &format!("{index} {:?} {}\n", stream.delay, stream.jitter_ps);
    }
    text
}

#[test]
fn what_is_seen_does_not_depend_on_how_packets_cross() {
    for seed in 0..150 {
        let [ahead, each] = [false, true].map(|captured| seen(seed, captured));
        for (a, b) in ahead.lines().zip(each.lines()) {
            assert_eq!(a, b, "seed {seed}");
        }
        assert_eq!(ahead.len(), each.len(), "seed {seed}");
    }
}
