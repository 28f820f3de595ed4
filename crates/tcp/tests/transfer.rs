//! Data in both directions: what arrives, when it may leave, and the windows that bound it.

mod harness;

use harness::{CLIENT, Fate, Pair, SERVER, stream_near_the_wrap, variant};
use trammel_core::time::{Span, Time};
use trammel_tcp::connection::{Connection, Failure, State};
use trammel_tcp::segment::Flags;
use trammel_tcp::stack::{AckPolicy, Stack};

/// A receiver whose buffer holds `bytes`, and one that does not grow.
fn small_receiver(bytes: u64) -> Stack {
    let mut stack = Stack::linux_6();
    stack.receive_buffer = bytes;
    stack.max_receive_buffer = bytes;
    stack.rmem_max = bytes;
    stack
}

#[test]
fn every_size_arrives_exactly_and_in_order() {
    for bytes in [1, 1447, 1448, 1449, 14_480, 14_481, 1_000_000] {
        let mut pair = Pair::established(&Stack::linux_6());
        let mark = pair.mark();
        pair.write(CLIENT, bytes);
        pair.run_until_acked(Span::from_secs(10));
        assert_eq!(pair.delivered(SERVER), bytes);
        let data = pair.data_since(mark, CLIENT);
        assert_eq!(
            data.len() as u64,
            bytes.div_ceil(1448),
            "no segment more than needed"
        );
        assert!(
            data.windows(2)
                .all(|two| two[0].end() == two[1].segment.seq)
        );
        assert_eq!(pair.end[CLIENT].tp().bytes_acked, bytes);
    }
}

#[test]
fn both_directions_carry_data_at_once() {
    let mut pair = Pair::established(&Stack::linux_6());
    pair.write(CLIENT, 500_000);
    pair.write(SERVER, 700_000);
    pair.run_until_acked(Span::from_secs(10));
    assert_eq!(
        (pair.delivered(SERVER), pair.delivered(CLIENT)),
        (500_000, 700_000)
    );
}

#[test]
fn an_ack_rides_on_data_that_goes_the_same_way() {
    let mut stack = Stack::linux_6();
    stack.ack_policy = AckPolicy::Delayed(Span::from_ms(100));
    let mut pair = Pair::established(&stack);
    let mark = pair.mark();
    for _ in 0..5 {
        pair.write(CLIENT, 100);
        pair.run_ms(15);
        pair.write(SERVER, 100);
        pair.run_ms(15);
    }
    let sent = pair.sent_since(mark, SERVER);
    assert_eq!(sent.len(), 5);
    assert!(sent.iter().all(harness::Sent::is_data));
    let last = sent[4].segment;
    assert_eq!(last.ack, pair.end[CLIENT].tp().snd_nxt);
}

#[test]
fn a_window_that_comes_with_data_counts() {
    let mut pair = Pair::established(&Stack::linux_6());
    let before = pair.end[CLIENT].peer_window();
    let mut data = pair.forge(SERVER);
    data.len = 100;
    data.window = 5;
    pair.inject(CLIENT, data);
    let after = pair.end[CLIENT].peer_window();
    assert!(after < before && after > 0, "{before} {after}");
}

/// Who has shrunk its window takes nothing from beyond it, not even an ACK.
#[test]
fn acks_and_resets_stay_within_a_window_that_was_taken_back() {
    for (field, is_taken_back) in [(0, true), (1, false)] {
        let mut pair = Pair::established(&Stack::linux_6());
        let first = pair.end[CLIENT].tp().snd_nxt;
        let mut smaller = pair.forge(SERVER);
        let mut data = smaller;
        pair.filter(|_| Fate::Drop);
        pair.write(CLIENT, 20_000);
        let next = pair.end[CLIENT].tp().snd_nxt;
        smaller.window = field;
        pair.inject(CLIENT, smaller);
        let left = pair.end[CLIENT].peer_window();
        // A unit of the window's scale is 8 KiB: one of them is more than is missing.
        assert!(left < next.wrapping_sub(first), "{left}");
        let expected = if is_taken_back {
            first.wrapping_add(left)
        } else {
            next
        };

        let mark = pair.mark();
        data.len = 1448;
        data.window = field;
        pair.inject(CLIENT, data);
        pair.abort(CLIENT);
        let sent = pair.sent_since(mark, CLIENT);
        let numbers: Vec<_> = sent.iter().map(|sent| sent.segment.seq).collect();
        assert_eq!(numbers, [expected; 2]);
        assert!(sent[1].segment.flags.has(Flags::RST));
    }
}

#[test]
fn sequence_numbers_wrap() {
    for stack in [Stack::linux_6(), Stack::linux_2_6(), Stack::rfc()] {
        let ends = [
            Connection::client(&stack, variant("cubic"), stream_near_the_wrap(100_000)),
            Connection::server(&stack, variant("cubic"), stream_near_the_wrap(50_000)),
        ];
        let mut pair = Pair::of(ends, 10);
        pair.connect();
        pair.finish_handshake();
        // Losses before, at and after the wrap.
        pair.filter(|sent| {
            if sent.is_data() && sent.data_count % 17 == 5 {
                Fate::Drop
            } else {
                Fate::Pass
            }
        });
        let first = pair.end[CLIENT].tp().snd_una;
        pair.write(CLIENT, 300_000);
        pair.write(SERVER, 300_000);
        pair.run_until_acked(Span::from_secs(60));
        assert_eq!(
            (pair.delivered(SERVER), pair.delivered(CLIENT)),
            (300_000, 300_000)
        );
        assert!(pair.end[CLIENT].tp().snd_una < first, "it did wrap");
        pair.close(CLIENT);
        pair.close(SERVER);
        pair.run_for(Span::from_secs(200));
        assert!(pair.end.iter().all(|end| end.state() == State::Closed));
    }
}

#[test]
fn nagle_holds_small_segments_back_while_data_is_out() {
    for (nagle, segments) in [(true, vec![100, 300]), (false, vec![100; 4])] {
        let mut stack = Stack::linux_6();
        stack.nagle = nagle;
        let mut pair = Pair::established(&stack);
        let mark = pair.mark();
        for _ in 0..4 {
            pair.write(CLIENT, 100);
        }
        pair.run_until_acked(Span::from_secs(1));
        let data = pair.data_since(mark, CLIENT);
        let sizes: Vec<_> = data.iter().map(|sent| sent.segment.len).collect();
        assert_eq!(sizes, segments);
    }
}

#[test]
fn a_cork_holds_back_what_fills_no_segment_until_it_is_drawn() {
    let mut pair = Pair::established(&Stack::linux_6());
    let mark = pair.mark();
    pair.end[CLIENT].set_cork(true);
    pair.write(CLIENT, 1448 + 100);
    assert_eq!(pair.data_since(mark, CLIENT).len(), 1);
    pair.run_ms(100);
    pair.write(CLIENT, 100);
    assert_eq!(pair.data_since(mark, CLIENT).len(), 1);
    pair.end[CLIENT].set_cork(false);
    pair.pump(CLIENT);
    let sent = pair.data_since(mark, CLIENT);
    assert_eq!((sent.len(), sent[1].segment.len), (2, 200));
}

#[test]
fn what_more_was_promised_for_waits_for_it_and_not_for_ever() {
    let mut pair = Pair::established(&Stack {
        hz: 0,
        ..Stack::linux_6()
    });
    let mark = pair.mark();
    pair.end[CLIENT].write_more(40);
    pair.pump(CLIENT);
    assert!(pair.data_since(mark, CLIENT).is_empty());
    pair.write(CLIENT, 60);
    assert_eq!(pair.data_since(mark, CLIENT)[0].segment.len, 100);
    pair.run_ms(100);

    let (mark, promised) = (pair.mark(), pair.now);
    pair.end[CLIENT].write_more(40);
    pair.pump(CLIENT);
    let rto = pair.end[CLIENT].rto();
    pair.run_ms(1000);
    let sent = pair.data_since(mark, CLIENT);
    assert_eq!((sent.len(), sent[0].segment.len), (1, 40));
    assert_eq!(sent[0].time - promised, rto);
}

#[test]
fn pacing_by_the_stack_spreads_a_window_whatever_the_variant() {
    let [mut paced, mut plain] = [true, false].map(|pacing| {
        Pair::established(&Stack {
            pacing,
            ..Stack::linux_6()
        })
    });
    let most_at_once = |pair: &mut Pair| {
        pair.write(CLIENT, 400_000);
        pair.run_until_acked(Span::from_secs(2));
        let data = pair.data_since(0, CLIENT);
        let at = |time| data.iter().filter(|sent| sent.time == time).count();
        // The first window leaves as it is.
        data[10..].iter().map(|sent| at(sent.time)).max()
    };
    assert_eq!(most_at_once(&mut paced), Some(1));
    assert!(most_at_once(&mut plain) > Some(1));
}

#[test]
fn nagle_lets_full_segments_and_the_last_one_of_all_go() {
    let mut stack = Stack::linux_6();
    stack.nagle = true;
    let mut pair = Pair::established(&stack);
    let mark = pair.mark();
    pair.write(CLIENT, 100);
    pair.write(CLIENT, 1448 + 10);
    assert_eq!(pair.data_since(mark, CLIENT).len(), 2);
    pair.close(CLIENT);
    let sizes: Vec<_> = pair
        .data_since(mark, CLIENT)
        .iter()
        .map(|s| s.segment.len)
        .collect();
    assert_eq!(sizes, [100, 1448, 10]);
}

#[test]
fn a_closed_window_is_probed_ever_more_slowly_and_opens_again() {
    let mut stack = small_receiver(20_000);
    stack.hz = 0;
    let mut pair = Pair::established(&stack);
    pair.end[SERVER].set_auto_read(false);
    pair.write(CLIENT, 100_000);
    pair.run_for(Span::from_secs(2));
    assert_eq!(pair.end[CLIENT].peer_window(), 0);
    let held = pair.delivered(SERVER);
    assert!(held > 5_000 && held < 20_000, "{held}");
    let mark = pair.mark();
    pair.run_for(Span::from_secs(60));
    assert_eq!(pair.delivered(SERVER), held);
    let probes = pair.sent_since(mark, CLIENT);
    let una = pair.end[CLIENT].tp().snd_una;
    assert!(
        probes
            .iter()
            .all(|p| p.segment.len == 0 && p.segment.seq == una.wrapping_sub(1))
    );
    let gaps: Vec<_> = probes
        .windows(2)
        .map(|two| (two[1].time - two[0].time).as_us())
        .collect();
    assert!(
        gaps.len() >= 3 && gaps.windows(2).all(|two| two[1] == 2 * two[0]),
        "{gaps:?}"
    );
    // Each is answered.
    assert_eq!(pair.sent_since(mark, SERVER).len(), probes.len());

    let mut read = 0;
    while !pair.end[CLIENT].all_acked() && pair.now < Time::from_secs(200) {
        read += u64::from(pair.read(SERVER, 3_000));
        pair.run_ms(5);
    }
    read += u64::from(pair.read(SERVER, u32::MAX));
    assert_eq!(read, 100_000);
}

#[test]
fn a_closed_window_is_probed_for_hours_while_the_peer_answers_and_given_up_when_it_does_not() {
    let mut pair = Pair::established(&small_receiver(20_000));
    pair.end[SERVER].set_auto_read(false);
    pair.write(CLIENT, 100_000);
    pair.run_for(Span::from_secs(3 * 3600));
    assert_eq!(pair.end[CLIENT].failure(), None);
    assert_eq!(pair.end[CLIENT].info(pair.now).probes, 0);
    pair.filter(|sent| {
        if sent.from == SERVER {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    let mark = pair.mark();
    pair.run_for(Span::from_secs(3600));
    assert_eq!(pair.end[CLIENT].failure(), Some(Failure::TimedOut));
    assert_eq!(pair.sent_since(mark, CLIENT).len(), 15);
}

#[test]
fn a_lost_window_update_is_made_good_by_a_probe() {
    let mut pair = Pair::established(&small_receiver(20_000));
    pair.end[SERVER].set_auto_read(false);
    pair.write(CLIENT, 30_000);
    pair.run_for(Span::from_secs(2));
    pair.filter(|sent| {
        if sent.from == SERVER {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    pair.read(SERVER, u32::MAX);
    pair.heal();
    pair.end[SERVER].set_auto_read(true);
    pair.run_until_acked(Span::from_secs(10));
    assert_eq!(pair.delivered(SERVER), 30_000);
}

#[test]
fn no_segment_exceeds_the_window_that_the_receiver_offered() {
    let mut pair = Pair::established(&small_receiver(30_000));
    pair.end[SERVER].set_auto_read(false);
    pair.write(CLIENT, 300_000);
    let scale = pair.log[1].segment.options.wscale_plus_1 - 1;
    for _ in 0..3000 {
        pair.read(SERVER, 1_000);
        pair.run_ms(3);
    }
    assert!(pair.end[CLIENT].all_acked());
    let mut edge = pair.log[1]
        .segment
        .ack
        .wrapping_add(u32::from(pair.log[1].segment.window));
    for sent in &pair.log[2..] {
        if sent.from == CLIENT {
            assert!(
                (edge.wrapping_sub(sent.end()) as i32) >= 0,
                "{sent:?} beyond {edge}"
            );
        } else {
            let offered = sent
                .segment
                .ack
                .wrapping_add(u32::from(sent.segment.window) << scale);
            assert!(
                (offered.wrapping_sub(edge) as i32) >= 0,
                "the window's right edge moved back"
            );
            edge = offered;
        }
    }
}

#[test]
fn a_window_smaller_than_a_segment_is_used() {
    for bytes in [600, 2_000, 4_000] {
        let mut pair = Pair::established(&small_receiver(bytes));
        pair.write(CLIENT, 20_000);
        pair.run_until_acked(Span::from_secs(100));
        assert_eq!(pair.delivered(SERVER), 20_000);
    }
}

#[test]
fn the_receive_window_follows_a_reader_that_keeps_up() {
    let mut stack = Stack::linux_6();
    stack.receive_buffer = 131_072;
    stack.max_receive_buffer = 6 << 20;
    stack.rmem_max = 6 << 20;
    stack.cwnd_clamp = 2_000;
    let mut pair = Pair::established(&stack);
    let before = pair.end[CLIENT].peer_window();
    pair.end[CLIENT].write_forever();
    pair.pump(CLIENT);
    pair.run_for(Span::from_secs(1));
    let after = pair.end[CLIENT].peer_window();
    assert!(before < 70_000 && after > 3 << 20, "{before} {after}");

    stack.max_receive_buffer = stack.receive_buffer;
    stack.rmem_max = stack.receive_buffer;
    let mut pair = Pair::established(&stack);
    pair.end[CLIENT].write_forever();
    pair.pump(CLIENT);
    pair.run_for(Span::from_secs(1));
    assert!(
        pair.end[CLIENT].peer_window() <= 131_072,
        "tuning is bounded"
    );
}

#[test]
fn the_send_buffer_bounds_what_is_outstanding() {
    let mut stack = Stack::linux_6();
    stack.set_send_buffer(10_000);
    let mut pair = Pair::established(&stack);
    pair.end[CLIENT].write_forever();
    pair.pump(CLIENT);
    for _ in 0..2000 {
        pair.step();
        let tp = pair.end[CLIENT].tp();
        // A segment takes 2280 bytes of memory, and the last may lie beyond it.
        assert!(tp.snd_nxt.wrapping_sub(tp.snd_una) <= 9 * 1448);
    }
    // Between two thirds of nine segments and all of them a round trip of 20 ms.
    let mark = pair.now;
    let before = pair.delivered(SERVER);
    pair.run_for(Span::from_secs(1));
    let rate = (pair.delivered(SERVER) - before) / (pair.now - mark).as_ms();
    assert!((430..=660).contains(&rate), "{rate} bytes/ms");
}

#[test]
fn a_source_without_end_can_be_stopped() {
    let mut pair = Pair::established(&Stack::linux_6());
    pair.end[CLIENT].write_forever();
    pair.pump(CLIENT);
    pair.run_ms(100);
    pair.end[CLIENT].stop_writing();
    pair.end[CLIENT].close_when_written();
    pair.pump(CLIENT);
    pair.run_ms(500);
    assert_eq!(pair.end[CLIENT].state(), State::FinWait2);
    assert_eq!(pair.end[CLIENT].tp().bytes_acked, pair.delivered(SERVER));
    assert!(pair.end[CLIENT].all_acked());
}
