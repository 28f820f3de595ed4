//! Congestion marks (RFC 3168, RFC 8257), and windows that are not used (RFC 5681 §4.1, RFC 7661).

mod harness;

use harness::{CLIENT, Fate, Pair, SERVER};
use std::cell::Cell;
use std::rc::Rc;
use trammel_core::time::Span;
use trammel_tcp::segment::{Ecn, Flags};
use trammel_tcp::stack::{AckPolicy, EcnMode, Stack};

const SECOND: Span = Span::from_secs(1);

fn ecn() -> Stack {
    Stack {
        ecn: EcnMode::Classic,
        ack_policy: AckPolicy::EverySegment,
        hz: 0,
        ..Stack::linux_6()
    }
}

fn between(stacks: [&Stack; 2], variants: [&str; 2]) -> Pair {
    let mut pair = Pair::closed(stacks, variants, 10);
    pair.connect();
    pair.finish_handshake();
    pair
}

#[test]
fn ecn_is_used_only_where_both_ends_offer_it() {
    let (with, without) = (ecn(), Stack::linux_6());
    for (stacks, agreed) in [
        ([&with, &with], true),
        ([&with, &without], false),
        ([&without, &with], false),
        ([&without, &without], false),
    ] {
        let mut pair = between(stacks, ["reno"; 2]);
        let setup = Flags::ECE.with(Flags::CWR);
        assert_eq!(
            pair.log[0].segment.flags.has(setup),
            stacks[0].ecn == EcnMode::Classic
        );
        assert_eq!(pair.log[1].segment.flags.any(setup), agreed);
        pair.write(CLIENT, 10_000);
        pair.run_until_acked(SECOND);
        for sent in &pair.log {
            // Data is capable, what opens and acknowledges is not (RFC 3168 §6.1.1, §6.1.4).
            let capable = sent.segment.ecn != Ecn::NotEct;
            assert_eq!(capable, agreed && sent.is_data(), "{sent:?}");
        }
    }
}

#[test]
fn retransmissions_are_not_ecn_capable() {
    let mut pair = between([&ecn(), &ecn()], ["reno"; 2]);
    pair.drop_data(CLIENT, &[2]);
    pair.write(CLIENT, 10 * 1448);
    pair.run_until_acked(SECOND);
    let capable: Vec<_> = pair
        .data_since(0, CLIENT)
        .iter()
        .map(|sent| sent.segment.ecn != Ecn::NotEct)
        .collect();
    assert_eq!(capable.iter().filter(|capable| !**capable).count(), 1);
    assert_eq!(capable.len(), 11);
}

#[test]
fn a_mark_is_echoed_until_the_window_was_reduced_and_reduces_it_once() {
    let mut pair = between([&ecn(), &ecn()], ["reno"; 2]);
    // Three marks in one window.
    pair.filter(|sent| {
        let marked = sent.from == CLIENT && matches!(sent.data_count, 2 | 4 | 6);
        if marked { Fate::Mark } else { Fate::Pass }
    });
    let mark = pair.mark();
    pair.write(CLIENT, 200 * 1448);
    pair.run_until_acked(Span::from_secs(3));
    assert_eq!(pair.end[SERVER].counters().ce_received, 3);
    assert_eq!(pair.end[CLIENT].counters().ecn_reductions, 1);
    assert_eq!(pair.end[CLIENT].counters().retransmissions, 0);
    let told: Vec<_> = pair
        .data_since(mark, CLIENT)
        .iter()
        .filter(|sent| sent.segment.flags.has(Flags::CWR))
        .copied()
        .collect();
    assert_eq!(told.len(), 1, "CWR is said once");
    let echoes: Vec<_> = pair
        .sent_since(mark, SERVER)
        .iter()
        .filter(|sent| sent.segment.flags.has(Flags::ECE))
        .copied()
        .collect();
    assert_eq!(
        echoes[0].segment.ack,
        pair.data_since(mark, CLIENT)[2].end()
    );
    let last = echoes.last().expect("echoed");
    assert!(
        last.time <= told[0].time + Span::from_ms(10),
        "no echo after CWR has arrived"
    );
    let threshold = pair.end[CLIENT].tp().snd_ssthresh;
    assert!((5..=8).contains(&threshold), "{threshold}");
}

#[test]
fn a_mark_in_a_later_window_reduces_again() {
    let mut pair = between([&ecn(), &ecn()], ["reno"; 2]);
    pair.filter(|sent| {
        let marked = sent.from == CLIENT && matches!(sent.data_count, 2 | 60);
        if marked { Fate::Mark } else { Fate::Pass }
    });
    pair.write(CLIENT, 200 * 1448);
    pair.run_until_acked(Span::from_secs(3));
    assert_eq!(pair.end[CLIENT].counters().ecn_reductions, 2);
}

#[test]
fn dctcp_acknowledges_at_once_when_the_marking_changes() {
    let stack = Stack {
        ack_policy: AckPolicy::Delayed(Span::from_ms(100)),
        ..ecn()
    };
    let mut pair = between([&stack, &stack], ["dctcp"; 2]);
    pair.filter(|sent| {
        let marked = sent.from == CLIENT && matches!(sent.data_count, 3..=4);
        if marked { Fate::Mark } else { Fate::Pass }
    });
    let mark = pair.mark();
    // One at a time, so that every ACK can be told.
    for _ in 0..8 {
        pair.write(CLIENT, 100);
        pair.run_ms(2);
    }
    pair.run_ms(8);
    let data = pair.data_since(mark, CLIENT);
    let end = |i: usize| data[i].end();
    let acks: Vec<_> = pair
        .sent_since(mark, SERVER)
        .iter()
        .map(|sent| (sent.segment.ack, sent.segment.flags.has(Flags::ECE)))
        .collect();
    // RFC 8257 §3.2: what came before the change with the old mark, then the change itself.
    assert_eq!(
        acks[..4],
        [
            (end(2), false),
            (end(3), true),
            (end(4), true),
            (end(5), false)
        ]
    );
}

#[test]
fn dctcp_echoes_the_mark_that_belonged_to_a_segment_whatever_the_next_one_says() {
    let stack = Stack {
        ack_policy: AckPolicy::Delayed(Span::from_ms(100)),
        ..ecn()
    };
    let mut pair = between([&stack, &stack], ["dctcp"; 2]);
    // Marks end with the segment that tells of the reduction.
    let told = Rc::new(Cell::new(false));
    let seen = Rc::clone(&told);
    pair.filter(move |sent| {
        seen.set(seen.get() || sent.segment.flags.has(Flags::CWR));
        let is_marked = sent.from == CLIENT && sent.data_count >= 3 && !seen.get();
        if is_marked { Fate::Mark } else { Fate::Pass }
    });
    let mark = pair.mark();
    for _ in 0..24 {
        pair.write(CLIENT, 100);
        pair.run_ms(2);
    }
    pair.run_ms(8);
    assert!(told.get());
    let data = pair.data_since(mark, CLIENT);
    let first = data
        .iter()
        .position(|sent| sent.segment.flags.has(Flags::CWR));
    let last_marked = data[first.expect("it was told") - 1].end();
    let acks = pair.sent_since(mark, SERVER);
    let of_mark = acks.iter().find(|sent| sent.segment.ack == last_marked);
    let echoes = of_mark.map(|sent| sent.segment.flags.has(Flags::ECE));
    assert_eq!(echoes, Some(true));
}

#[test]
fn dctcp_reduces_in_proportion_to_the_marks() {
    let mut thresholds = Vec::new();
    for one_in in [1, 10] {
        let mut pair = between([&ecn(), &ecn()], ["dctcp"; 2]);
        pair.filter(move |sent| {
            let marked =
                sent.from == CLIENT && sent.data_count > 50 && sent.data_count % one_in == 0;
            if marked { Fate::Mark } else { Fate::Pass }
        });
        pair.write(CLIENT, 3_000 * 1448);
        pair.run_until_acked(Span::from_secs(60));
        thresholds.push(pair.cwnd());
        assert_eq!(pair.delivered(SERVER), 3_000 * 1448);
    }
    assert!(
        thresholds[0] < 6 && thresholds[1] > thresholds[0],
        "{thresholds:?}"
    );
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let mut pair = Pair::established(&Stack { ..ecn() });
    for _ in 0..100 {
        pair.write(CLIENT, 2 * 1448);
        pair.run_until_acked(SECOND);
    }
    assert_eq!(pair.cwnd(), 10);
    pair.write(CLIENT, 100 * 1448);
    pair.run_until_acked(SECOND);
    assert!(pair.cwnd() > 40, "one that is used does");
}

#[test]
fn a_window_that_is_hardly_used_decays() {
    let mut pair = Pair::established(&ecn());
    pair.write(CLIENT, 200 * 1448);
    pair.run_until_acked(SECOND);
    let before = pair.cwnd();
    for _ in 0..100 {
        pair.write(CLIENT, 2 * 1448);
        pair.run_ms(50);
    }
    assert!(
        before > 60 && pair.cwnd() < before / 2,
        "{before} {}",
        pair.cwnd()
    );
    assert!(
        pair.end[CLIENT].tp().snd_ssthresh >= before * 3 / 4,
        "what was earned is remembered"
    );
}

#[test]
fn after_an_idle_time_the_window_starts_anew() {
    for (restart, wanted) in [(true, 10), (false, 0)] {
        let mut pair = Pair::established(&Stack {
            slow_start_after_idle: restart,
            ..ecn()
        });
        pair.write(CLIENT, 200 * 1448);
        pair.run_until_acked(SECOND);
        let before = pair.cwnd();
        assert!(before > 60);
        pair.run_for(Span::from_secs(20));
        let mark = pair.mark();
        pair.write(CLIENT, 300 * 1448);
        let sent = pair.data_since(mark, CLIENT).len() as u32;
        assert_eq!(sent, if restart { wanted } else { before });
        pair.run_until_acked(SECOND);
    }
}

#[test]
fn a_short_pause_costs_nothing() {
    let mut pair = Pair::established(&ecn());
    pair.write(CLIENT, 200 * 1448);
    pair.run_until_acked(SECOND);
    let before = pair.cwnd();
    pair.run_ms(150);
    let mark = pair.mark();
    pair.write(CLIENT, 300 * 1448);
    assert_eq!(pair.data_since(mark, CLIENT).len() as u32, before);
}

/// Every segment that a pair sends in which the first SYN, the first SYN-ACK and the third data
/// segment are lost, up to the end of the connection and a reset.
fn whole_story(stack: &Stack, variant: &str) -> Pair {
    let mut pair = Pair::closed([stack, stack], [variant; 2], 10);
    pair.filter(|sent| {
        let is_lost = sent.count == 0 || (sent.is_data() && sent.data_count == 3);
        if is_lost { Fate::Drop } else { Fate::Pass }
    });
    pair.connect();
    pair.run_ms(5_000);
    pair.write(CLIENT, 20 * 1448);
    pair.run_until_acked(Span::from_secs(20));
    pair.close(CLIENT);
    pair.run_ms(1_000);
    pair.abort(SERVER);
    pair
}

#[test]
fn all_segments_of_a_variant_that_needs_ecn_are_ecn_capable() {
    // Observed of Linux 6.12: ten DCTCP flows through a queue that drops all else above its
    // threshold lose nothing.
    let stack = Stack {
        ecn_fallback: false,
        ..ecn()
    };
    let pair = whole_story(&stack, "dctcp");
    let syns = pair
        .log
        .iter()
        .filter(|sent| sent.segment.flags.has(Flags::SYN));
    assert!(syns.count() >= 4, "{}", pair.story(20));
    let last = pair.log.last().expect("something was sent");
    assert!(last.segment.flags.has(Flags::RST));
    for sent in &pair.log {
        assert_eq!(sent.segment.ecn, Ecn::Ect0, "{sent:?}");
    }
}

#[test]
fn of_other_variants_new_data_alone_is_ecn_capable() {
    let stack = Stack {
        ecn_fallback: false,
        ..ecn()
    };
    let pair = whole_story(&stack, "reno");
    let mut highest = 0;
    for sent in &pair.log {
        let is_new = sent.is_data() && sent.end().wrapping_sub(pair.log[0].segment.seq) > highest;
        if is_new {
            highest = sent.end().wrapping_sub(pair.log[0].segment.seq);
        }
        // A FIN without data is none (`tcp_ecn_send`).
        assert_eq!(
            sent.segment.ecn != Ecn::NotEct,
            is_new && sent.segment.len > 0,
            "{sent:?}"
        );
    }
}

#[test]
fn a_syn_that_was_not_answered_asks_for_ecn_no_more() {
    for ecn_fallback in [true, false] {
        let stack = Stack {
            ecn_fallback,
            ..ecn()
        };
        let pair = whole_story(&stack, "reno");
        let syns = pair
            .log
            .iter()
            .filter(|sent| sent.from == CLIENT && sent.segment.flags.has(Flags::SYN));
        let asks: Vec<_> = syns
            .map(|sent| sent.segment.flags.has(Flags::ECE.with(Flags::CWR)))
            .collect();
        assert!(asks[0] && asks.len() > 1);
        assert!(
            asks[1..].iter().all(|asks| *asks != ecn_fallback),
            "{asks:?}"
        );
        assert_eq!(pair.end[CLIENT].tp().ecn_ok, !ecn_fallback);
    }
}

#[test]
fn a_syn_of_dctcp_gets_no_ecn_of_a_server_that_speaks_another_variant() {
    let pair = between([&ecn(), &ecn()], ["dctcp", "reno"]);
    assert!(!pair.end[SERVER].tp().ecn_ok && !pair.end[CLIENT].tp().ecn_ok);
}

#[test]
fn retransmissions_and_timeouts_of_the_handshake_are_counted() {
    let mut pair = Pair::closed([&Stack::linux_6(), &Stack::linux_6()], ["cubic"; 2], 10);
    pair.filter(|_| Fate::Drop);
    pair.connect();
    pair.run_for(Span::from_secs(60));
    // Linux 6.12: after 1, 2, 3, 4, 5, 7, 11, 19 and 35 seconds.
    let counters = pair.end[CLIENT].counters();
    assert_eq!((counters.retransmissions, counters.timeouts), (9, 9));
    assert_eq!(
        (counters.data_segments_sent, counters.bytes_retransmitted),
        (0, 0)
    );
    // A server's count too.
    let pair = whole_story(&Stack::linux_6(), "cubic");
    let counters = pair.end[SERVER].counters();
    assert!(counters.retransmissions >= 1, "{}", pair.story(20));
}
