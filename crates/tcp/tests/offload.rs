//! Segmentation offload: the size of bursts, how they are paced, and what becomes of one that loses
//! a segment.

mod harness;

use harness::{CLIENT, Pair, SERVER};
use std::collections::BTreeSet;
use trammel_core::Span;
use trammel_tcp::cc::CaState;
use trammel_tcp::stack::Stack;

fn offloading() -> Stack {
    Stack {
        offload: true,
        receive_buffer: 1 << 28,
        max_receive_buffer: 1 << 28,
        rmem_max: 1 << 28,
        ..Stack::linux_6()
    }
}

fn pair(variant: &str, one_way_ms: u64) -> Pair {
    let stack = offloading();
    let mut pair = Pair::closed([&stack; 2], [variant; 2], one_way_ms);
    pair.connect();
    pair.finish_handshake();
    pair
}

/// The rule of autosizing, from what the connection shows of itself: 2⁻¹⁰ s of the pacing rate, on
/// paths below some milliseconds more, at least two segments (one, where bbr is slow), at most 64
/// KB.
fn goal(pair: &Pair) -> u64 {
    let tp = pair.end[CLIENT].tp();
    let halvings = tp.min_rtt_us >> 9;
    let short_path = if halvings < 32 { 65_536 >> halvings } else { 0 };
    let bytes = (tp.pacing_rate.min(1 << 50) >> 10) + short_path;
    let least = if tp.pacing_rate < 1_200_000 / 8 { 1 } else { 2 };
    (bytes.min(65_536) / u64::from(tp.mss)).max(least)
}

/// Runs for `ms`; the goal and the size of every burst of new data, those of the unpaced beginning
/// left out.
fn bursts(pair: &mut Pair, ms: u64) -> Vec<(u64, u64)> {
    let end = pair.now + Span::from_ms(ms);
    let mut bursts = Vec::new();
    while pair.now < end {
        let mark = pair.mark();
        if !pair.step() {
            break;
        }
        let size = pair.data_since(mark, CLIENT).len() as u64;
        let is_open = pair.end[CLIENT].tp().ca_state == CaState::Open;
        if size > 0 && is_open && pair.end[CLIENT].counters().data_segments_sent > 100 {
            bursts.push((goal(pair), size));
        }
    }
    bursts
}

#[test]
fn a_paced_burst_is_as_long_as_autosizing_says() {
    let mut pair = pair("bbr", 10);
    pair.write(CLIENT, 200_000_000);
    let bursts = bursts(&mut pair, 400);
    let right = bursts.iter().filter(|(goal, size)| goal == size).count();
    // The last burst of a window is what the window has room for.
    assert!(
        right as f64 > 0.9 * bursts.len() as f64,
        "{right} of {}: {bursts:?}",
        bursts.len()
    );
    assert!(bursts.iter().all(|(goal, size)| size <= goal), "{bursts:?}");
    // The rate has grown from the least burst to the largest that a device takes: 45 segments of 64
    // KB.
    let goals: BTreeSet<u64> = bursts.iter().map(|(goal, _)| *goal).collect();
    assert_eq!(goals.last(), Some(&45), "{goals:?}");
    assert!(goals.len() > 5, "{goals:?}");
}

#[test]
fn a_slow_sender_sends_two_segments_at_once() {
    // A window of four segments and 20 ms: 2⁻¹⁰ s of the rate is below one segment.
    let stack = Stack {
        cwnd_clamp: 4,
        ..offloading()
    };
    let mut pair = Pair::closed([&stack; 2], ["reno"; 2], 10);
    pair.connect();
    pair.finish_handshake();
    pair.write(CLIENT, 1_000_000);
    let bursts = bursts(&mut pair, 4_000);
    assert!(bursts.len() > 100);
    // What is left at the end is the last one.
    let (_, full) = bursts.split_last().expect("more than a hundred");
    assert!(full.iter().all(|(_, size)| *size >= 2), "{bursts:?}");
}

#[test]
fn the_pause_after_a_burst_is_that_of_all_its_bytes() {
    let mut pair = pair("bbr", 10);
    pair.write(CLIENT, 200_000_000);
    pair.run_ms(200);
    let mark = pair.mark();
    let sent_before = pair.end[CLIENT].tp().pacing_rate;
    pair.run_ms(15);
    let data = pair.data_since(mark, CLIENT);
    let bytes: u64 = data.iter().map(|sent| u64::from(sent.segment.len)).sum();
    let rate = bytes as f64 / 0.015;
    // Whatever the sizes of bursts, the rate stays that of pacing, which grows in this time.
    let most = pair.end[CLIENT].tp().pacing_rate.max(sent_before) as f64;
    assert!(rate <= most * 1.1, "{rate} B/s at a pacing rate of {most}");
    assert!(rate >= sent_before as f64 * 0.5, "{rate} {sent_before}");
}

#[test]
fn what_loses_a_segment_inside_a_burst_repairs_it_without_a_timeout() {
    let mut pair = pair("cubic", 10);
    // The fifth of the first burst, two neighbours, and the last of a later one.
    pair.drop_data(CLIENT, &[4, 60, 61, 200]);
    pair.write(CLIENT, 2_000_000);
    pair.run_until_acked(Span::from_secs(20));
    assert_eq!(pair.delivered(SERVER), 2_000_000);
    assert_eq!(pair.end[CLIENT].counters().timeouts, 0);
    // Each of the four is sent again within two round trips of its first time.
    let data = pair.data_since(0, CLIENT);
    for lost in [4, 60, 61, 200] {
        let first = &data[lost];
        let again = data[lost + 1..]
            .iter()
            .find(|sent| sent.segment.seq == first.segment.seq);
        let after = again.expect("it was sent again").time - first.time;
        assert!(after <= Span::from_ms(41), "{lost}: after {after}");
    }
}
