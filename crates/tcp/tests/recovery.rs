//! Fast retransmit and fast recovery in their kinds (RFC 5681, 6582, 6675, 6937, 8985, 3042).

mod harness;

use harness::{CLIENT, Fate, Pair, SERVER};
use trammel_core::time::Span;
use trammel_tcp::cc::CaState;
use trammel_tcp::stack::{AckPolicy, Reduction, Stack};

const SECOND: Span = Span::from_secs(1);

/// A stack whose ACKs are not thinned, so that they can be counted.
fn plain(mut stack: Stack) -> Stack {
    stack.ack_policy = AckPolicy::EverySegment;
    stack.compress_sack = false;
    stack.hz = 0;
    stack
}

/// RFC 6582: no SACK.
fn new_reno() -> Stack {
    Stack {
        sack: false,
        timestamps: false,
        ..plain(Stack::rfc())
    }
}

/// A connection with a window of `window` segments in congestion avoidance, all of it free.
fn at_window(stack: &Stack, window: u32) -> Pair {
    let stack = Stack {
        initial_window: window,
        ..stack.clone()
    };
    Pair::established(&stack)
}

/// Sends `segments` of which the data segments numbered `lost` (retransmissions count on) vanish.
fn burst(stack: &Stack, segments: u32, lost: &'static [usize]) -> Pair {
    let mut pair = at_window(stack, segments);
    pair.drop_data(CLIENT, lost);
    let bytes = u64::from(segments) * u64::from(pair.end[CLIENT].tp().mss);
    pair.write(CLIENT, bytes);
    pair
}

/// How often each number was sent.
fn transmissions(pair: &Pair) -> Vec<usize> {
    let data = pair.data_since(0, CLIENT);
    let mut numbers: Vec<_> = data.iter().map(|sent| sent.segment.seq).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let count = |number| {
        data.iter()
            .filter(|sent| sent.segment.seq == number)
            .count()
    };
    numbers.into_iter().map(count).collect()
}

#[test]
fn the_third_duplicate_ack_starts_a_fast_retransmit() {
    // Linux 2.6 holds the window to what is in flight and three as duplicates come: 5 + 3.
    for (stack, ssthresh) in [
        (new_reno(), 6),
        (plain(Stack::rfc()), 6),
        (plain(Stack::linux_2_6()), 4),
        (plain(Stack::linux_6()), 6),
    ] {
        let mut pair = burst(&stack, 10, &[3]);
        pair.run_until_acked(SECOND);
        let counters = *pair.end[CLIENT].counters();
        assert_eq!(
            (
                counters.retransmissions,
                counters.timeouts,
                counters.recoveries
            ),
            (1, 0, 1),
            "{}",
            stack.name
        );
        let reached = pair.end[CLIENT].tp().snd_ssthresh;
        assert_eq!(reached, ssthresh, "{}", stack.name);
        assert_eq!(transmissions(&pair), [1, 1, 1, 2, 1, 1, 1, 1, 1, 1]);
    }
}

#[test]
fn two_duplicate_acks_are_not_enough() {
    let mut pair = at_window(&new_reno(), 10);
    pair.filter(|sent| {
        let late = sent.from == CLIENT && sent.data_count == 0;
        if late {
            Fate::Late(Span::from_ms(1))
        } else {
            Fate::Pass
        }
    });
    pair.write(CLIENT, 3 * 1460);
    pair.run_until_acked(SECOND);
    assert_eq!(pair.end[CLIENT].counters().retransmissions, 0);
}

#[test]
fn duplicate_acks_let_new_segments_out_before_the_retransmission() {
    // RFC 3042: the first two duplicate ACKs each let one new segment go.
    let mut pair = at_window(&new_reno(), 10);
    pair.drop_data(CLIENT, &[0]);
    let mark = pair.mark();
    pair.write(CLIENT, 30 * 1460);
    pair.run_ms(20);
    let data = pair.data_since(mark, CLIENT);
    let first = data[0].segment.seq;
    let place = data[1..]
        .iter()
        .position(|sent| sent.segment.seq == first)
        .expect("sent again")
        + 1;
    assert_eq!(place, 12, "ten of the window, two more, then the lost one");
}

#[test]
fn a_window_is_reduced_once_however_many_of_it_are_lost() {
    // Of 40, two are acknowledged, and two of 38 are SACKed when the third duplicate comes: 36 + 3,
    // halved.
    for (stack, ssthresh) in [
        (new_reno(), 21),
        (plain(Stack::rfc()), 21),
        (plain(Stack::linux_2_6()), 19),
        (plain(Stack::linux_6()), 21),
    ] {
        let mut pair = burst(&stack, 40, &[2, 5, 9, 20]);
        pair.run_until_acked(Span::from_secs(2));
        let counters = *pair.end[CLIENT].counters();
        assert_eq!(
            (counters.retransmissions, counters.timeouts),
            (4, 0),
            "{}",
            stack.name
        );
        assert_eq!(counters.recoveries, 1, "{}", stack.name);
        let reached = pair.end[CLIENT].tp().snd_ssthresh;
        assert_eq!(reached, ssthresh, "{}", stack.name);
        assert_eq!(
            pair.delivered(SERVER),
            u64::from(40 * pair.end[CLIENT].tp().mss)
        );
    }
}

#[test]
fn without_sack_each_partial_ack_brings_one_retransmission() {
    let mut pair = burst(&new_reno(), 20, &[1, 4, 8]);
    pair.run_ms(1);
    let mark = pair.mark();
    pair.run_until_acked(SECOND);
    let again = pair.data_since(mark, CLIENT);
    let gaps: Vec<_> = again
        .windows(2)
        .map(|two| two[1].time - two[0].time)
        .collect();
    // RFC 6582 §3.2: one hole a round trip.
    assert_eq!((again.len(), gaps), (3, vec![Span::from_ms(20); 2]));
    assert_eq!(pair.end[CLIENT].counters().timeouts, 0);
}

#[test]
fn without_sack_a_recovery_of_many_holes_ends_in_a_timeout() {
    // RFC 6582 §4, impatient: only the first partial ACK sets the timer, else thirty holes take
    // thirty round trips.
    const LOST: [usize; 30] = {
        let mut lost = [0; 30];
        let mut hole = 0;
        while hole < 30 {
            lost[hole] = 2 * hole + 1;
            hole += 1;
        }
        lost
    };
    let stack = Stack {
        min_rto: Span::from_ms(200),
        ..new_reno()
    };
    let many = burst(&stack, 80, &LOST);
    let few = burst(&stack, 80, &LOST[..3]);
    for (mut pair, timeouts) in [(many, 1), (few, 0)] {
        pair.run_for(Span::from_secs(10));
        let counters = pair.end[CLIENT].counters();
        assert_eq!(counters.timeouts, timeouts);
        assert_eq!(counters.recoveries, 1);
        assert_eq!(pair.end[CLIENT].tp().packets_out, 0);
    }
}

#[test]
fn without_sack_duplicates_left_from_a_recovery_start_no_other() {
    let mut pair = burst(&new_reno(), 20, &[1]);
    pair.run_until_acked(SECOND);
    pair.write(CLIENT, 5 * 1460);
    // Stray duplicates of the old recovery, fewer than the next window.
    let una = pair.end[CLIENT].tp().snd_una;
    for _ in 0..5 {
        let mut stray = pair.forge(SERVER);
        stray.ack = una;
        pair.inject(CLIENT, stray);
    }
    pair.run_until_acked(SECOND);
    assert_eq!(pair.end[CLIENT].counters().recoveries, 1);
    assert_eq!(pair.delivered(SERVER), 25 * 1460);
}

#[test]
fn with_sack_all_holes_are_sent_in_one_round_trip() {
    for stack in [
        plain(Stack::rfc()),
        plain(Stack::linux_2_6()),
        plain(Stack::linux_6()),
    ] {
        let mut pair = burst(&stack, 40, &[2, 5, 9, 20]);
        pair.run_ms(1);
        let mark = pair.mark();
        pair.run_until_acked(SECOND);
        let again = pair.data_since(mark, CLIENT);
        assert_eq!(again.len(), 4);
        let span = again[3].time - again[0].time;
        assert!(span <= Span::from_ms(20), "{}: {span}", stack.name);
    }
}

#[test]
fn rfc_6675_holds_lost_only_what_has_three_sacked_above() {
    // The last hole but one has two segments above it: no loss is inferred until the window moves
    // on.
    let mut pair = burst(&plain(Stack::rfc()), 10, &[3, 7]);
    pair.run_ms(25);
    assert_eq!(pair.end[CLIENT].tp().ca_state, CaState::Recovery);
    assert_eq!(pair.end[CLIENT].tp().lost_out, 1);
    assert_eq!(pair.end[CLIENT].tp().sacked_out, 5);
}

#[test]
fn the_window_ends_a_recovery_at_the_threshold() {
    for reduction in [Reduction::Prr, Reduction::Immediate] {
        let stack = Stack {
            reduction,
            ..plain(Stack::linux_6())
        };
        for lost in [
            &[0_usize][..],
            &[3, 9],
            &[0, 1, 2, 3, 4, 5, 6, 7],
            &[10, 20, 30, 39],
        ] {
            let mut pair = at_window(&stack, 60);
            pair.drop_data(CLIENT, lost);
            pair.write(CLIENT, 200 * 1448);
            let recovering = |pair: &Pair| pair.end[CLIENT].tp().ca_state == CaState::Recovery;
            assert!(pair.run_while(|pair| !recovering(pair), SECOND));
            let threshold = pair.end[CLIENT].tp().snd_ssthresh;
            assert!(pair.run_while(recovering, SECOND));
            assert_eq!(
                pair.end[CLIENT].tp().snd_cwnd,
                threshold,
                "{reduction:?} {lost:?}"
            );
        }
    }
}

#[test]
fn proportional_reduction_never_sends_more_than_was_delivered_and_one_an_ack() {
    let stack = plain(Stack::linux_6());
    for lost in [
        &[0_usize][..],
        &[3, 9],
        &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13],
        &[10, 20, 30, 39],
    ] {
        let mut pair = at_window(&stack, 60);
        pair.drop_data(CLIENT, lost);
        pair.write(CLIENT, 400 * 1448);
        let mut total = (0, 1);
        loop {
            let recovering = |pair: &Pair| pair.end[CLIENT].tp().ca_state == CaState::Recovery;
            let tp = pair.end[CLIENT].tp();
            let before = (
                recovering(&pair),
                tp.delivered,
                pair.mark(),
                tp.packets_in_flight(),
            );
            if pair.end[CLIENT].all_acked() || !pair.step() {
                break;
            }
            if before.0 && recovering(&pair) {
                let delivered = pair.end[CLIENT].tp().delivered - before.1;
                let sent = pair.data_since(before.2, CLIENT).len() as u64;
                total = (total.0 + sent, total.1 + delivered + 1);
                assert!(total.0 <= total.1, "{} sent of {}", total.0, total.1);
                let tp = pair.end[CLIENT].tp();
                assert!(tp.packets_in_flight() <= tp.snd_ssthresh.max(before.3));
            } else {
                total = (0, 1);
            }
        }
    }
}

#[test]
fn rate_halving_sends_one_segment_for_every_second_ack() {
    let mut pair = at_window(&plain(Stack::linux_2_6()), 40);
    pair.drop_data(CLIENT, &[0]);
    pair.write(CLIENT, 200 * 1448);
    pair.run_ms(15);
    let mark = pair.mark();
    pair.run_ms(6);
    let sent = pair.data_since(mark, CLIENT).len();
    // Of 39 duplicate ACKs the first three let new data out, and every second of the others; and
    // there is the retransmission.
    assert!((21..=23).contains(&sent), "{sent}");
}

#[test]
fn rack_waits_a_quarter_of_a_round_trip_for_what_may_be_reordered() {
    let mut pair = at_window(&plain(Stack::linux_6()), 10);
    pair.filter(|sent| {
        // Later than its successors by less than min_rtt/4 = 5 ms.
        let late = sent.from == CLIENT && sent.data_count == 7;
        if late {
            Fate::Late(Span::from_ms(3))
        } else {
            Fate::Pass
        }
    });
    pair.write(CLIENT, 10 * 1448);
    pair.run_until_acked(SECOND);
    let counters = pair.end[CLIENT].counters();
    assert_eq!((counters.retransmissions, counters.recoveries), (0, 0));
}

#[test]
fn rack_finds_a_loss_that_two_duplicates_follow_by_its_timer() {
    let mut pair = burst(&plain(Stack::linux_6()), 10, &[7]);
    let start = pair.now;
    pair.run_ms(1);
    let mark = pair.mark();
    pair.run_until_acked(SECOND);
    let again = pair.data_since(mark, CLIENT);
    assert_eq!(again.len(), 1);
    // A round trip, a quarter of it, two ticks of slack.
    assert_eq!(again[0].time - start, Span::from_ms(27));
    assert_eq!(pair.end[CLIENT].counters().timeouts, 0);
}

#[test]
fn losses_found_by_racks_timer_leave_one_for_each_segment_delivered() {
    // The last but one of ten arrives: eight are found lost at once, and one may go.
    let mut pair = burst(&plain(Stack::linux_6()), 10, &[0, 1, 2, 3, 4, 5, 6, 7, 9]);
    pair.run_ms(1);
    let mark = pair.mark();
    pair.run_ms(29);
    assert_eq!(pair.data_since(mark, CLIENT).len(), 1);
    assert_eq!(pair.end[CLIENT].tp().ca_state, CaState::Recovery);
}

#[test]
fn a_degree_of_reordering_reaches_to_the_end_of_what_was_sacked() {
    // The ninth of ten comes first: the others are up to eight segments late.
    let mut pair = at_window(&plain(Stack::linux_6()), 10);
    pair.filter(|sent| {
        let late = sent.from == CLIENT && sent.data_count < 8;
        if late {
            Fate::Late(Span::from_ms(1))
        } else {
            Fate::Pass
        }
    });
    pair.write(CLIENT, 9 * 1448);
    pair.run_until_acked(SECOND);
    assert_eq!(pair.end[CLIENT].info(pair.now).reordering, 9);
}

#[test]
fn rack_finds_lost_retransmissions_without_a_timeout() {
    let mut pair = at_window(&plain(Stack::linux_6()), 10);
    let mut seen = 0;
    let first = pair.end[CLIENT].tp().snd_nxt;
    pair.filter(move |sent| {
        let hit = sent.from == CLIENT && sent.segment.seq == first && sent.segment.len > 0;
        seen += u32::from(hit);
        if hit && seen <= 2 {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    pair.write(CLIENT, 60 * 1448);
    pair.run_until_acked(SECOND);
    let counters = pair.end[CLIENT].counters();
    assert_eq!((counters.timeouts, counters.retransmissions), (0, 2));
}

#[test]
fn without_rack_a_lost_retransmission_takes_a_timeout() {
    let mut pair = at_window(&plain(Stack::rfc()), 10);
    let first = pair.end[CLIENT].tp().snd_nxt;
    let mut seen = 0;
    pair.filter(move |sent| {
        let hit = sent.from == CLIENT && sent.segment.seq == first && sent.segment.len > 0;
        seen += u32::from(hit);
        if hit && seen <= 2 {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    pair.write(CLIENT, 60 * 1448);
    pair.run_until_acked(Span::from_secs(5));
    assert_eq!(pair.end[CLIENT].counters().timeouts, 1);
}

#[test]
fn a_retransmission_is_not_lost_for_what_left_at_the_same_instant() {
    // All ACKs of a burst come at one instant: the first two let new segments out, the third the
    // retransmission.
    let mut pair = burst(&plain(Stack::linux_6()), 40, &[1]);
    pair.write(CLIENT, 40 * u64::from(pair.end[CLIENT].tp().mss));
    pair.run_until_acked(Span::from_secs(10));
    let twice: Vec<_> = transmissions(&pair)
        .into_iter()
        .filter(|times| *times > 1)
        .collect();
    assert_eq!(twice, [2], "one segment, sent twice");
}
