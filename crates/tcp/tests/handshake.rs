//! Opening: the three-way handshake, what it negotiates, and what may go wrong (RFC 9293 §3.5,
//! §3.10).

mod harness;

use harness::{CLIENT, Fate, Pair, SERVER};
use trammel_core::time::{Span, Time};
use trammel_tcp::connection::{Failure, State};
use trammel_tcp::segment::{Flags, Options, Segment};
use trammel_tcp::stack::Stack;

/// A stack with one thing changed.
fn without(change: impl FnOnce(&mut Stack)) -> Stack {
    let mut stack = Stack::linux_6();
    change(&mut stack);
    stack
}

/// A connection between two stacks over which a little has gone each way.
fn between(client: &Stack, server: &Stack) -> Pair {
    let mut pair = Pair::closed([client, server], ["reno"; 2], 10);
    pair.connect();
    pair.finish_handshake();
    pair.write(CLIENT, 5_000);
    pair.write(SERVER, 5_000);
    pair.run_until_acked(Span::from_secs(1));
    pair
}

/// What `from` sends first is lost, so many segments.
fn lose_first(pair: &mut Pair, from: usize, segments: usize) {
    pair.filter(move |sent| {
        if sent.from == from && sent.count < segments {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
}

fn largest_payload(pair: &Pair) -> u32 {
    pair.log
        .iter()
        .map(|sent| sent.segment.len)
        .max()
        .expect("something was sent")
}

#[test]
fn three_segments_open_a_connection() {
    let mut pair = Pair::connecting(&Stack::linux_6());
    pair.finish_handshake();
    let flags: Vec<_> = pair
        .log
        .iter()
        .map(|sent| (sent.from, sent.segment.flags))
        .collect();
    let syn_ack = Flags::SYN.with(Flags::ACK);
    assert_eq!(
        flags,
        [
            (CLIENT, Flags::SYN),
            (SERVER, syn_ack),
            (CLIENT, Flags::ACK)
        ]
    );
    let [syn, answer, ack] = [0, 1, 2].map(|i| pair.log[i].segment);
    assert_eq!(answer.ack, syn.seq.wrapping_add(1));
    assert_eq!((ack.seq, ack.ack), (answer.ack, answer.seq.wrapping_add(1)));
    // A round trip at the client's side, another half of one until the server knows.
    assert_eq!(pair.now, Time::from_ms(1030));
    assert_eq!(pair.end[CLIENT].tp().srtt_us >> 3, 20_000);
    assert_eq!(pair.end[SERVER].tp().srtt_us >> 3, 20_000);
}

#[test]
fn the_smaller_mss_counts_both_ways_and_timestamps_take_twelve_bytes_of_it() {
    let (small, large) = (without(|stack| stack.mss = 1000), Stack::linux_6());
    for pair in [between(&small, &large), between(&large, &small)] {
        assert_eq!(largest_payload(&pair), 988);
    }
    let plain = without(|stack| stack.timestamps = false);
    assert_eq!(largest_payload(&between(&plain, &large)), 1460);
}

#[test]
fn without_the_mss_option_segments_hold_536_bytes() {
    let mut pair = Pair::closed([&Stack::linux_6(); 2], ["reno"; 2], 10);
    let syn = Segment {
        seq: 77,
        flags: Flags::SYN,
        window: 65_535,
        ..Segment::default()
    };
    pair.inject(SERVER, syn);
    let answer = pair.log[0].segment;
    assert_eq!(answer.ack, 78);
    assert_eq!(
        answer.options,
        Options::default(),
        "nothing was offered, nothing is answered"
    );
    let ack = Segment {
        seq: 78,
        ack: answer.seq.wrapping_add(1),
        flags: Flags::ACK,
        window: 65_535,
        ..Segment::default()
    };
    pair.inject(SERVER, ack);
    pair.write(SERVER, 5000);
    assert_eq!(largest_payload(&pair), 536);
}

#[test]
fn timestamps_are_used_only_where_both_ends_offer_them() {
    let plain = without(|stack| stack.timestamps = false);
    for [client, server] in [[&plain, &Stack::linux_6()], [&Stack::linux_6(), &plain]] {
        let pair = between(client, server);
        assert!(
            pair.log[1..]
                .iter()
                .all(|sent| !sent.segment.options.timestamps)
        );
    }
    let pair = between(&Stack::linux_6(), &Stack::linux_6());
    assert!(pair.log.iter().all(|sent| sent.segment.options.timestamps));
}

#[test]
fn windows_are_scaled_only_where_both_ends_offer_it() {
    let plain = without(|stack| stack.window_scaling = false);
    for [client, server] in [[&plain, &Stack::linux_6()], [&Stack::linux_6(), &plain]] {
        let pair = between(client, server);
        for who in [CLIENT, SERVER] {
            let window = pair.end[who].peer_window();
            assert!(window <= 65_535 && window > 30_000, "{window}");
        }
    }
    let pair = between(&Stack::linux_6(), &Stack::linux_6());
    assert!(pair.end[CLIENT].peer_window() > 1 << 20);
}

#[test]
fn sack_is_used_only_where_both_ends_offer_it() {
    let plain = without(|stack| stack.sack = false);
    let with = Stack::linux_6();
    for ([client, server], blocks) in [
        ([&plain, &with], false),
        ([&with, &plain], false),
        ([&with, &with], true),
    ] {
        let mut pair = between(client, server);
        pair.drop_data(CLIENT, &[0]);
        pair.write(CLIENT, 20_000);
        pair.run_until_acked(Span::from_secs(2));
        let reported = pair.log.iter().any(|sent| sent.segment.sack_count > 0);
        assert_eq!(reported, blocks);
        assert_eq!(pair.delivered(SERVER), 25_000);
    }
}

#[test]
fn a_lost_syn_is_repeated_after_one_two_and_four_seconds_and_the_window_is_one() {
    let stack = without(|stack| {
        stack.hz = 0;
        stack.syn_linear_timeouts = 0;
    });
    let mut pair = Pair::closed([&stack; 2], ["reno"; 2], 10);
    lose_first(&mut pair, CLIENT, 3);
    pair.connect();
    pair.finish_handshake();
    let syns: Vec<_> = pair
        .sent_since(0, CLIENT)
        .iter()
        .map(|sent| sent.time.as_ms())
        .collect();
    assert_eq!(syns[..4], [1_000, 2_000, 4_000, 8_000]);
    assert_eq!(pair.cwnd(), 1);
    // Timestamps tell the round trip of a SYN that was sent more than once.
    assert_eq!(pair.end[CLIENT].tp().srtt_us >> 3, 20_000);
}

#[test]
fn without_timestamps_no_round_trip_is_known_of_a_syn_sent_twice() {
    let stack = without(|stack| stack.timestamps = false);
    let mut pair = Pair::closed([&stack; 2], ["reno"; 2], 10);
    lose_first(&mut pair, CLIENT, 1);
    pair.connect();
    pair.finish_handshake();
    assert_eq!(pair.end[CLIENT].tp().srtt_us, 0);
    // One SYN may be lost, by Linux.
    assert_eq!(pair.cwnd(), 10);
}

#[test]
fn a_round_trip_beyond_the_first_timeout_leaves_the_window_alone() {
    // 3 s: the SYN is sent at 1, 2 and 3 s again, and the first is what is answered.
    for (timestamps, window) in [(true, 10), (false, 1)] {
        let stack = without(|stack| stack.timestamps = timestamps);
        let mut pair = Pair::closed([&stack; 2], ["reno"; 2], 1_500);
        pair.connect();
        pair.finish_handshake();
        assert_eq!(pair.cwnd(), window);
        let rtt_us = if timestamps { 3_000_000 } else { 0 };
        assert_eq!(pair.end[CLIENT].tp().srtt_us >> 3, rtt_us);
    }
}

#[test]
fn after_a_lost_syn_the_rfc_begins_data_with_three_seconds() {
    let mut pair = Pair::closed([&Stack::rfc(); 2], ["reno"; 2], 10);
    lose_first(&mut pair, CLIENT, 1);
    pair.connect();
    pair.finish_handshake();
    assert_eq!(pair.end[CLIENT].rto(), Span::from_secs(3));
}

#[test]
fn a_lost_answer_is_repeated() {
    let mut pair = Pair::closed([&Stack::linux_6(); 2], ["reno"; 2], 10);
    lose_first(&mut pair, SERVER, 1);
    pair.connect();
    pair.finish_handshake();
    assert!(pair.now > Time::from_ms(2_000));
}

#[test]
fn a_lost_third_segment_is_made_good_by_data() {
    let mut pair = Pair::closed([&Stack::linux_6(); 2], ["reno"; 2], 10);
    pair.filter(|sent| {
        if sent.from == CLIENT && sent.count == 1 {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    pair.connect();
    pair.run_ms(30);
    assert_eq!(pair.end[SERVER].state(), State::SynReceived);
    pair.write(CLIENT, 100);
    pair.run_ms(10);
    assert_eq!(pair.end[SERVER].state(), State::Established);
    assert_eq!(pair.delivered(SERVER), 100);
}

#[test]
fn the_first_timeouts_of_a_syn_are_not_doubled_and_come_on_top_of_those_that_are() {
    let stack = without(|stack| stack.hz = 0);
    let mut pair = Pair::closed([&stack; 2], ["reno"; 2], 10);
    pair.filter(|_| Fate::Drop);
    pair.connect();
    pair.run_for(Span::from_secs(1000));
    let syns = pair.sent_since(0, CLIENT);
    let syns: Vec<_> = syns.iter().map(|sent| sent.time.as_ms() / 1000).collect();
    assert_eq!(syns, [1, 2, 3, 4, 5, 6, 8, 12, 20, 36, 68]);
    assert_eq!(pair.end[CLIENT].failure(), Some(Failure::TimedOut));
}

#[test]
fn nobody_answers_a_syn_seven_times_and_it_is_given_up() {
    let stack = without(|stack| stack.syn_linear_timeouts = 0);
    let mut pair = Pair::closed([&stack; 2], ["reno"; 2], 10);
    pair.filter(|_| Fate::Drop);
    pair.connect();
    pair.run_for(Span::from_secs(1000));
    assert_eq!(pair.end[CLIENT].failure(), Some(Failure::TimedOut));
    assert_eq!(pair.log.len(), 7);
    assert_eq!(pair.end[CLIENT].next_timer(), Time::MAX);
}

#[test]
fn both_ends_may_open_at_once() {
    for stack in [Stack::linux_6(), Stack::rfc()] {
        use trammel_core::rng::Rng;
        use trammel_tcp::connection::Connection;
        let ends = ["left", "right"]
            .map(|name| Connection::client(&stack, harness::variant("reno"), Rng::new(1, name)));
        let mut pair = Pair::of(ends, 10);
        for who in [CLIENT, SERVER] {
            pair.end[who].connect(pair.now);
            pair.pump(who);
        }
        pair.finish_handshake();
        // Two SYNs and two answers (RFC 9293, figure 7), and no endless echo of them.
        pair.run_ms(1_500);
        assert_eq!(pair.log.len(), 4);
        assert_eq!(pair.end[CLIENT].tp().min_rtt_us, 20_000);
        pair.write(CLIENT, 10_000);
        pair.write(SERVER, 20_000);
        pair.run_until_acked(Span::from_secs(1));
        assert_eq!(
            (pair.delivered(SERVER), pair.delivered(CLIENT)),
            (10_000, 20_000)
        );
    }
}

#[test]
fn a_closed_port_refuses() {
    let mut pair = Pair::closed([&Stack::linux_6(); 2], ["reno"; 2], 10);
    pair.end[SERVER].close();
    pair.connect();
    pair.run_ms(100);
    assert_eq!(pair.end[CLIENT].failure(), Some(Failure::Refused));
    let reset = pair.log[1].segment;
    assert!(reset.flags.has(Flags::RST.with(Flags::ACK)));
    assert_eq!(
        (reset.seq, reset.ack),
        (0, pair.log[0].segment.seq.wrapping_add(1))
    );
}

#[test]
fn a_reset_that_acknowledges_no_syn_of_ours_is_ignored() {
    let mut pair = Pair::connecting(&Stack::linux_6());
    let iss = pair.log[0].segment.seq;
    let flags = Flags::RST.with(Flags::ACK);
    for ack in [iss, iss.wrapping_add(2)] {
        pair.inject(
            CLIENT,
            Segment {
                ack,
                flags,
                ..Segment::default()
            },
        );
    }
    pair.inject(
        CLIENT,
        Segment {
            flags: Flags::RST,
            ..Segment::default()
        },
    );
    assert_eq!(pair.end[CLIENT].state(), State::SynSent);
    pair.finish_handshake();
}

#[test]
fn an_answer_to_another_syn_is_reset() {
    let mut pair = Pair::connecting(&Stack::linux_6());
    let flags = Flags::SYN.with(Flags::ACK);
    pair.inject(
        CLIENT,
        Segment {
            seq: 5,
            ack: 4711,
            flags,
            ..Segment::default()
        },
    );
    let reset = pair.log[1].segment;
    assert_eq!((reset.seq, reset.flags), (4711, Flags::RST));
    assert_eq!(pair.end[CLIENT].state(), State::SynSent);
}

#[test]
fn a_reset_sends_a_half_open_server_back_to_listening() {
    let mut pair = Pair::closed([&Stack::linux_6(); 2], ["reno"; 2], 10);
    let syn = Segment {
        seq: 77,
        flags: Flags::SYN,
        window: 1000,
        ..Segment::default()
    };
    pair.inject(SERVER, syn);
    pair.inject(
        SERVER,
        Segment {
            seq: 78,
            flags: Flags::RST,
            ..Segment::default()
        },
    );
    assert_eq!(
        (pair.end[SERVER].state(), pair.end[SERVER].failure()),
        (State::Listen, None)
    );
    assert_eq!(pair.end[SERVER].next_timer(), Time::MAX);
    // Another client is served as if nothing had been.
    pair.heal();
    pair.connect();
    pair.run_ms(100);
    assert!(pair.end.iter().all(|end| end.state() == State::Established));
}

#[test]
fn an_ack_of_another_handshake_is_reset_and_changes_nothing() {
    let mut pair = Pair::closed([&Stack::linux_6(); 2], ["reno"; 2], 10);
    pair.inject(
        SERVER,
        Segment {
            seq: 77,
            flags: Flags::SYN,
            ..Segment::default()
        },
    );
    let iss = pair.log[0].segment.seq;
    for ack in [iss, iss.wrapping_add(2), iss.wrapping_sub(1000)] {
        pair.inject(
            SERVER,
            Segment {
                seq: 78,
                ack,
                flags: Flags::ACK,
                ..Segment::default()
            },
        );
        let reset = pair.log.last().expect("answered").segment;
        assert_eq!((reset.seq, reset.flags), (ack, Flags::RST));
    }
    assert_eq!(pair.end[SERVER].state(), State::SynReceived);
}

#[test]
fn a_stray_ack_to_a_listener_is_reset() {
    let mut pair = Pair::closed([&Stack::linux_6(); 2], ["reno"; 2], 10);
    pair.inject(
        SERVER,
        Segment {
            seq: 1,
            ack: 99,
            flags: Flags::ACK,
            ..Segment::default()
        },
    );
    let reset = pair.log[0].segment;
    assert_eq!((reset.seq, reset.flags), (99, Flags::RST));
    assert_eq!(pair.end[SERVER].state(), State::Listen);
}
