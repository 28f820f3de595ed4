//! When the receiver acknowledges and what it reports (RFC 5681 §4.2, RFC 2018, RFC 2883, RFC
//! 7323).

mod harness;

use harness::{CLIENT, Fate, Pair, SERVER, Sent};
use trammel_core::time::Span;
use trammel_tcp::segment::SackBlock;
use trammel_tcp::stack::{AckPolicy, Stack};

fn with_policy(policy: AckPolicy) -> Stack {
    let mut stack = Stack::linux_6();
    stack.ack_policy = policy;
    stack.hz = 0;
    stack
}

fn acks(pair: &Pair, mark: usize) -> Vec<Sent> {
    pair.sent_since(mark, SERVER)
}

/// Sequence numbers of the data that the client sent since `mark`.
fn numbers(pair: &Pair, mark: usize) -> Vec<u32> {
    pair.data_since(mark, CLIENT)
        .iter()
        .map(|sent| sent.segment.seq)
        .collect()
}

#[test]
fn every_segment_is_acknowledged_at_once_where_the_policy_says_so() {
    let mut pair = Pair::established(&with_policy(AckPolicy::EverySegment));
    let mark = pair.mark();
    pair.write(CLIENT, 7 * 1448);
    pair.run_ms(15);
    assert_eq!(acks(&pair, mark).len(), 7);
}

#[test]
fn every_second_full_segment_is_acknowledged_and_the_last_after_the_delay() {
    let mut pair = Pair::established(&with_policy(AckPolicy::Delayed(Span::from_ms(100))));
    let mark = pair.mark();
    pair.write(CLIENT, 5 * 1448);
    let start = pair.now;
    pair.run_ms(15);
    assert_eq!(acks(&pair, mark).len(), 2);
    pair.run_ms(100);
    let last = *acks(&pair, mark).last().expect("delayed");
    assert_eq!(acks(&pair, mark).len(), 3);
    assert_eq!(last.time - start, Span::from_ms(110));
}

#[test]
fn every_fifth_segment_is_acknowledged_where_asked_a_gap_at_once_and_the_rest_after_the_delay() {
    let policy = AckPolicy::Stretched(5, Span::from_ms(20));
    let mut pair = Pair::established(&with_policy(policy));
    let mark = pair.mark();
    pair.write(CLIENT, 12 * 1448);
    let start = pair.now;
    // Ten segments of the first window, two after its first ACK: two ACKs by count, one by time.
    pair.run_ms(35);
    assert_eq!(acks(&pair, mark).len(), 2);
    pair.run_ms(120);
    let all = acks(&pair, mark);
    assert_eq!(all.len(), 3);
    let held = all[2].time - start;
    assert!(
        held >= Span::from_ms(45) && held <= Span::from_ms(55),
        "{held}"
    );

    // The fourth segment of ten is lost: what follows it is answered at once, each segment.
    let mut pair = Pair::established(&with_policy(policy));
    pair.drop_data(CLIENT, &[3]);
    let mark = pair.mark();
    pair.write(CLIENT, 10 * 1448);
    pair.run_ms(15);
    assert_eq!(acks(&pair, mark).len(), 6);
}

#[test]
fn linux_acknowledges_the_first_segments_at_once_and_every_second_one_later() {
    let mut stack = with_policy(AckPolicy::Linux);
    stack.receive_buffer = 1 << 20;
    stack.max_receive_buffer = 1 << 20;
    stack.rmem_max = 1 << 20;
    stack.cwnd_clamp = 100;
    let mut pair = Pair::established(&stack);
    let mark = pair.mark();
    pair.write(CLIENT, 10 * 1448);
    pair.run_ms(15);
    assert_eq!(acks(&pair, mark).len(), 10, "quick ACKs at the start");
    // Once the window's cap has stopped growing and the quick ACKs are spent.
    pair.end[CLIENT].write_forever();
    pair.pump(CLIENT);
    pair.run_for(Span::from_secs(1));
    let (data, acked) = (
        pair.end[SERVER].counters().data_segments_received,
        acks(&pair, mark).len(),
    );
    pair.run_ms(200);
    let data = pair.end[SERVER].counters().data_segments_received - data;
    let acked = (acks(&pair, mark).len() - acked) as u64;
    assert!(
        acked >= data / 2 && acked <= data / 2 + data / 50,
        "{acked} ACKs of {data}"
    );
}

#[test]
fn linux_delays_the_ack_of_a_lone_segment_by_forty_milliseconds() {
    let mut pair = Pair::established(&with_policy(AckPolicy::Linux));
    // Spend the quick ACKs.
    for _ in 0..40 {
        pair.write(CLIENT, 100);
        pair.run_ms(30);
    }
    pair.run_ms(100);
    let mark = pair.mark();
    pair.write(CLIENT, 100);
    let start = pair.now;
    pair.run_ms(300);
    let held = acks(&pair, mark)[0].time - start - Span::from_ms(10);
    assert!(
        held >= Span::from_ms(40) && held <= Span::from_ms(200),
        "{held}"
    );
}

#[test]
fn what_comes_out_of_order_is_acknowledged_at_once_and_so_is_what_fills_the_gap() {
    for policy in [
        AckPolicy::Linux,
        AckPolicy::EverySegment,
        AckPolicy::Delayed(Span::from_ms(100)),
    ] {
        let mut pair = Pair::established(&with_policy(policy));
        pair.filter(|sent| {
            let late = sent.from == CLIENT && sent.data_count == 2;
            if late {
                Fate::Late(Span::from_ms(3))
            } else {
                Fate::Pass
            }
        });
        let mark = pair.mark();
        pair.write(CLIENT, 5 * 1448);
        pair.run_ms(12);
        let before = acks(&pair, mark);
        assert!(
            before
                .iter()
                .filter(|ack| ack.segment.sack_count > 0)
                .count()
                == 2,
            "{policy:?}"
        );
        let count = before.len();
        pair.run_ms(1);
        let after = acks(&pair, mark);
        assert_eq!(after.len(), count + 1, "{policy:?}");
        assert_eq!(after[count].segment.ack, pair.end[CLIENT].tp().snd_nxt);
        assert_eq!(after[count].segment.sack_count, 0);
    }
}

/// Sends twelve segments of which those `lost` never arrive; the ACKs that follow.
fn with_holes(stack: &Stack, lost: &'static [usize]) -> (Pair, Vec<u32>, Vec<Sent>) {
    let mut stack = stack.clone();
    stack.initial_window = 12;
    let mut pair = Pair::established(&stack);
    pair.drop_data(CLIENT, lost);
    let mark = pair.mark();
    pair.write(CLIENT, 12 * 1448);
    let numbers = numbers(&pair, mark);
    pair.run_ms(12);
    let acks = acks(&pair, mark);
    (pair, numbers, acks)
}

fn blocks(sent: &Sent) -> Vec<(u32, u32)> {
    sent.segment
        .sack_blocks()
        .iter()
        .map(|block| (block.start, block.end))
        .collect()
}

#[test]
fn the_newest_block_is_reported_first_and_three_at_most_beside_timestamps() {
    let (_, n, acks) = with_holes(&Stack::linux_6(), &[1, 3, 5, 7, 9]);
    let last = acks.last().expect("a segment was acknowledged");
    assert_eq!(last.segment.ack, n[1]);
    assert_eq!(
        blocks(last),
        [(n[10], n[11] + 1448), (n[8], n[9]), (n[6], n[7])]
    );
    // Each ACK leads with the block that holds the segment which caused it (RFC 2018 §4).
    let leads: Vec<_> = acks
        .iter()
        .filter(|ack| ack.segment.sack_count > 0)
        .map(|ack| blocks(ack)[0])
        .collect();
    let wanted = [2, 4, 6, 8, 10].map(|i| (n[i], n[i] + 1448));
    assert_eq!(leads[..5], wanted);
}

#[test]
fn four_blocks_fit_without_timestamps() {
    let mut stack = Stack::linux_6();
    stack.timestamps = false;
    let (_, n, acks) = with_holes(&stack, &[1, 3, 5, 7]);
    let last = acks.last().expect("a segment was acknowledged");
    assert_eq!(blocks(last).len(), 4);
    assert_eq!(blocks(last)[3], (n[2], n[3]));
}

#[test]
fn no_block_lies_below_the_ack_unless_it_reports_a_duplicate() {
    let mut stack = Stack::linux_6();
    stack.dsack = false;
    let mut pair = Pair::established(&stack);
    pair.filter(|sent| match sent.data_count % 13 {
        _ if sent.from == SERVER => Fate::Pass,
        3 | 4 => Fate::Drop,
        7 => Fate::Late(Span::from_ms(7)),
        9 => Fate::Twice(Span::from_ms(9)),
        _ => Fate::Pass,
    });
    pair.write(CLIENT, 1_000_000);
    pair.run_until_acked(Span::from_secs(100));
    for ack in pair.sent_since(0, SERVER) {
        for SackBlock { start, end } in ack.segment.sack_blocks() {
            assert!((end.wrapping_sub(*start) as i32) > 0);
            assert!((start.wrapping_sub(ack.segment.ack) as i32) > 0, "{ack:?}");
        }
    }
}

#[test]
fn sacks_are_compressed_after_the_third() {
    let mut stack = Stack::linux_6();
    stack.receive_buffer = 1 << 20;
    stack.max_receive_buffer = 1 << 20;
    stack.rmem_max = 1 << 20;
    let mut count = Vec::new();
    for compress in [false, true] {
        stack.compress_sack = compress;
        let mut pair = Pair::established(&stack);
        // Spend the quick ACKs and open the window.
        pair.write(CLIENT, 2_000 * 1448);
        pair.run_until_acked(Span::from_secs(10));
        pair.drop_data(CLIENT, &[0]);
        let mark = pair.mark();
        pair.write(CLIENT, 40 * 1448);
        pair.run_ms(10);
        let at_once = acks(&pair, mark).len();
        // A twentieth of the round trip, but no more than a millisecond, and the slack.
        pair.run_ms(2);
        let last = *acks(&pair, mark)
            .last()
            .expect("a segment was acknowledged");
        assert_eq!(blocks(&last)[0].1, pair.end[CLIENT].tp().snd_nxt);
        count.push((at_once, acks(&pair, mark).len()));
    }
    // Three duplicates for a fast retransmit, and one for the rest. Before them one more: with
    // nothing left to read, the window's cap rises by the room of the segment that had always
    // waited, and a cap that rises asks for a quick ACK.
    assert_eq!(count, [(39, 39), (4, 5)]);
}

#[test]
fn an_old_segment_is_reported_as_a_duplicate_at_once() {
    for policy in [
        AckPolicy::Linux,
        AckPolicy::EverySegment,
        AckPolicy::Delayed(Span::from_ms(100)),
    ] {
        let mut pair = Pair::established(&with_policy(policy));
        pair.filter(|sent| {
            let twice = sent.from == CLIENT && sent.data_count == 1;
            if twice {
                Fate::Twice(Span::from_ms(300))
            } else {
                Fate::Pass
            }
        });
        let mark = pair.mark();
        pair.write(CLIENT, 4 * 1448);
        let n = numbers(&pair, mark);
        pair.run_ms(300);
        let mark = pair.mark();
        pair.run_ms(10);
        let answer = acks(&pair, mark);
        assert_eq!(answer.len(), 1, "{policy:?}");
        assert_eq!(blocks(&answer[0]), [(n[1], n[2])]);
        assert_eq!(pair.delivered(SERVER), 4 * 1448);
    }
}

#[test]
fn a_duplicate_above_the_gap_is_followed_by_the_block_that_holds_it() {
    let mut stack = with_policy(AckPolicy::EverySegment);
    stack.initial_window = 12;
    let mut pair = Pair::established(&stack);
    pair.filter(|sent| match sent.data_count {
        _ if sent.from == SERVER => Fate::Pass,
        0 | 4 => Fate::Drop,
        2 => Fate::Twice(Span::from_ms(2)),
        _ => Fate::Pass,
    });
    let mark = pair.mark();
    pair.write(CLIENT, 8 * 1448);
    let n = numbers(&pair, mark);
    pair.run_ms(12);
    let last = *acks(&pair, mark)
        .last()
        .expect("a segment was acknowledged");
    assert_eq!(
        blocks(&last),
        [(n[2], n[3]), (n[1], n[4]), (n[5], n[7] + 1448)]
    );
}

#[test]
fn without_dsack_duplicates_are_acknowledged_and_not_reported() {
    let mut stack = Stack::linux_6();
    stack.dsack = false;
    let mut pair = Pair::established(&stack);
    pair.filter(|sent| {
        if sent.from == CLIENT {
            Fate::Twice(Span::from_ms(300))
        } else {
            Fate::Pass
        }
    });
    let mark = pair.mark();
    pair.write(CLIENT, 1448);
    pair.run_ms(400);
    assert_eq!(acks(&pair, mark).len(), 2);
    assert!(
        acks(&pair, mark)
            .iter()
            .all(|ack| ack.segment.sack_count == 0)
    );
}

#[test]
fn a_segment_with_an_old_timestamp_is_dropped_and_answered() {
    let mut pair = Pair::established(&Stack::linux_6());
    pair.run_ms(50);
    pair.write(CLIENT, 1000);
    pair.run_ms(50);
    let delivered = pair.delivered(SERVER);
    let mut old = pair.forge(CLIENT);
    old.len = 500;
    // One tick of the clock may be the reordering of two segments; Linux lets it pass.
    old.ts_val = old.ts_val.wrapping_sub(2);
    let mark = pair.mark();
    pair.inject(SERVER, old);
    assert_eq!(pair.delivered(SERVER), delivered);
    assert_eq!(acks(&pair, mark).len(), 1);
    old.ts_val = old.ts_val.wrapping_add(1);
    pair.inject(SERVER, old);
    assert_eq!(
        pair.delivered(SERVER),
        delivered + 500,
        "the same with a stamp of the tick before is taken"
    );
}

#[test]
fn the_echo_is_of_the_segment_that_the_last_ack_waited_for() {
    // RFC 7323 §4.3: a delayed ACK echoes the earlier of two segments, one after a gap that before
    // it.
    let mut pair = Pair::established(&with_policy(AckPolicy::Delayed(Span::from_ms(100))));
    let mark = pair.mark();
    pair.write(CLIENT, 1448);
    pair.run_ms(5);
    pair.write(CLIENT, 1448);
    pair.run_ms(20);
    let data = pair.data_since(mark, CLIENT);
    let ack = acks(&pair, mark)[0];
    assert!(data[0].segment.ts_val < data[1].segment.ts_val);
    assert_eq!(ack.segment.ts_ecr, data[0].segment.ts_val);
}

#[test]
fn what_lies_beyond_the_window_is_not_taken() {
    let mut pair = Pair::established(&Stack::linux_6());
    let mut far = pair.forge(CLIENT);
    far.seq = far.seq.wrapping_add(200_000_000);
    far.len = 100;
    let mark = pair.mark();
    pair.inject(SERVER, far);
    let answer = acks(&pair, mark);
    assert_eq!((answer.len(), answer[0].segment.sack_count), (1, 0));
}

/// RFC 9293 §3.7.1: options that not every segment has are taken off its data.
#[test]
fn data_makes_room_for_the_sack_blocks_that_go_with_it() {
    for timestamps in [true, false] {
        let mut stack = Stack::linux_6();
        stack.timestamps = timestamps;
        let mut pair = Pair::established(&stack);
        // The server's gap is reported on the client's data, of which one is lost and goes again.
        pair.drop_data(SERVER, &[2, 4, 6]);
        let mark = pair.mark();
        pair.write(SERVER, 100_000);
        pair.run_ms(15);
        pair.drop_data(CLIENT, &[3]);
        pair.write(CLIENT, 100_000);
        pair.run_ms(2000);
        let [to_client, to_server] = [CLIENT, SERVER].map(|end| pair.end[end].counters());
        assert_eq!(
            (to_client.bytes_delivered, to_server.bytes_delivered),
            (100_000, 100_000)
        );
        let sent = pair.data_since(mark, CLIENT);
        let with_blocks = sent.iter().filter(|sent| sent.segment.sack_count > 0);
        // That none is larger than the MSS allows, the harness checks of each.
        assert!(with_blocks.clone().count() > 5, "{}", with_blocks.count());
    }
}
