//! Timeouts, tail loss probes, and reductions that prove spurious (RFC 6298, 8985 §7, 5682, 4015,
//! 3708).

mod harness;

use harness::{CLIENT, Fate, Pair, SERVER, Sent};
use trammel_core::time::{Span, Time};
use trammel_tcp::cc::CaState;
use trammel_tcp::connection::Failure;
use trammel_tcp::segment::Flags;
use trammel_tcp::stack::{AckPolicy, Stack};

const SECOND: Span = Span::from_secs(1);

fn exact(mut stack: Stack) -> Stack {
    stack.ack_policy = AckPolicy::EverySegment;
    stack.compress_sack = false;
    stack.hz = 0;
    stack
}

fn linux() -> Stack {
    exact(Stack::linux_6())
}

/// Linux without probes.
fn no_probe() -> Stack {
    Stack {
        tail_loss_probe: false,
        ..linux()
    }
}

fn at_window(stack: &Stack, window: u32) -> Pair {
    Pair::established(&Stack {
        initial_window: window,
        ..stack.clone()
    })
}

/// Everything of the client's that leaves within `span` arrives later by as much as is left of it,
/// and some more: a delay spike.
fn spike(pair: &mut Pair, span: Span) {
    let end = pair.now + span;
    pair.filter(move |sent: &Sent| {
        if sent.from == CLIENT && sent.time < end {
            Fate::Late(end - sent.time)
        } else {
            Fate::Pass
        }
    });
}

#[test]
fn the_timeout_doubles_each_time_and_is_given_up_after_fifteen() {
    let mut pair = at_window(&no_probe(), 10);
    let rto = pair.end[CLIENT].rto();
    assert_eq!(rto, Span::from_ms(220));
    pair.filter(|_| Fate::Drop);
    let mark = pair.mark();
    pair.write(CLIENT, 1000);
    pair.run_for(Span::from_secs(2_000));
    let sent = pair.data_since(mark, CLIENT);
    let gaps: Vec<_> = sent
        .windows(2)
        .map(|two| two[1].time - two[0].time)
        .collect();
    assert_eq!(gaps.len(), 15);
    for (i, gap) in gaps.iter().enumerate() {
        assert_eq!(*gap, (rto * (1 << i)).min(Span::from_secs(120)));
    }
    assert_eq!(pair.end[CLIENT].failure(), Some(Failure::TimedOut));
    assert_eq!(pair.end[CLIENT].next_timer(), Time::MAX);
}

#[test]
fn after_a_timeout_the_window_is_one_and_slow_start_begins() {
    for stack in [no_probe(), exact(Stack::rfc())] {
        let mut pair = at_window(&stack, 20);
        pair.drop_data(
            CLIENT,
            &[
                0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
            ],
        );
        let mark = pair.mark();
        pair.write(CLIENT, 20 * 1448);
        assert!(pair.run_while(
            |pair| pair.end[CLIENT].counters().timeouts == 0,
            Span::from_secs(2)
        ));
        assert_eq!((pair.cwnd(), pair.end[CLIENT].tp().snd_ssthresh), (1, 10));
        assert_eq!(pair.end[CLIENT].tp().ca_state, CaState::Loss);
        let before = pair.mark();
        pair.run_ms(65);
        let rounds: Vec<_> = pair
            .data_since(before, CLIENT)
            .iter()
            .map(|sent| sent.time)
            .collect();
        assert_eq!(rounds.len(), 2 + 4 + 8);
        pair.run_until_acked(SECOND);
        let data = pair.data_since(mark, CLIENT);
        assert_eq!(data.len(), 40, "each twice");
        assert_eq!(pair.end[CLIENT].counters().timeouts, 1);
    }
}

#[test]
fn a_retransmitted_segment_gives_no_round_trip_and_keeps_the_back_off() {
    // Karn's rule, where no timestamps tell the transmissions apart.
    let stack = Stack {
        timestamps: false,
        ..no_probe()
    };
    let mut pair = at_window(&stack, 10);
    pair.drop_data(CLIENT, &[0, 1]);
    let (srtt, rto) = (pair.end[CLIENT].tp().srtt_us, pair.end[CLIENT].rto());
    pair.write(CLIENT, 1000);
    pair.run_until_acked(Span::from_secs(2));
    assert_eq!(pair.end[CLIENT].tp().srtt_us, srtt);
    assert_eq!(pair.end[CLIENT].rto(), rto * 4);
    pair.write(CLIENT, 1000);
    pair.run_until_acked(Span::from_secs(2));
    assert!(pair.end[CLIENT].rto() <= rto, "a fresh sample ends it");
}

#[test]
fn a_timestamp_gives_a_round_trip_even_of_a_retransmission() {
    let mut pair = at_window(&no_probe(), 10);
    pair.drop_data(CLIENT, &[0, 1]);
    let rto = pair.end[CLIENT].rto();
    pair.write(CLIENT, 1000);
    pair.run_until_acked(Span::from_secs(2));
    assert!(pair.end[CLIENT].rto() <= rto);
    assert_eq!(pair.end[CLIENT].tp().srtt_us >> 3, 20_000);
}

#[test]
fn a_probe_repairs_a_lost_tail_without_a_timeout_and_reduces_the_window() {
    let mut pair = at_window(
        &Stack {
            slow_start_after_idle: false,
            ..linux()
        },
        10,
    );
    pair.drop_data(CLIENT, &[9]);
    let start = pair.now;
    pair.write(CLIENT, 10 * 1448);
    pair.run_ms(1);
    let mark = pair.mark();
    pair.run_until_acked(SECOND);
    let counters = *pair.end[CLIENT].counters();
    assert_eq!(
        (
            counters.tail_loss_probes,
            counters.timeouts,
            counters.retransmissions
        ),
        (1, 0, 1)
    );
    // Armed by the ACKs of the nine: two round trips and the delayed-ACK allowance of a lone
    // segment. ACKs of one instant are taken in a microsecond apart, which the mean round trip
    // shows.
    let probe = pair.data_since(mark, CLIENT)[0].time - start;
    assert_eq!(probe, Span::from_us(20_000 + 220_003), "{probe}");
    // What is acknowledged beyond the probe shows that the tail was lost.
    pair.write(CLIENT, 1448);
    pair.run_until_acked(SECOND);
    let threshold = pair.end[CLIENT].tp().snd_ssthresh;
    assert!(
        (9..=10).contains(&threshold),
        "half of the nineteen after nine ACKs: {threshold}"
    );
}

#[test]
fn a_probe_after_two_round_trips_finds_a_lost_tail_by_sack() {
    let mut pair = at_window(&linux(), 10);
    pair.drop_data(CLIENT, &[6, 7, 8, 9]);
    let start = pair.now;
    pair.write(CLIENT, 10 * 1448);
    pair.run_ms(1);
    let mark = pair.mark();
    pair.run_until_acked(SECOND);
    let probe = pair.data_since(mark, CLIENT)[0];
    assert_eq!(probe.time - start, Span::from_us(20_000 + 40_003 + 2_000));
    let counters = *pair.end[CLIENT].counters();
    assert_eq!(
        (
            counters.tail_loss_probes,
            counters.timeouts,
            counters.recoveries
        ),
        (1, 0, 1)
    );
}

/// Seen of BBR at 100 kbit/s: Linux fired at the head's timeout, we a whole timeout after the
/// second probe that was not sent.
#[test]
fn a_probe_timer_beside_an_outstanding_probe_leaves_the_timeout_where_it_was() {
    let mut pair = at_window(&linux(), 4);
    let start = pair.now;
    let mut number = 0;
    pair.filter(move |sent: &Sent| {
        if sent.from != CLIENT || !sent.is_data() {
            return Fate::Pass;
        }
        number += 1;
        Fate::Late(if number == 1 {
            Span::from_ms(150)
        } else {
            SECOND
        })
    });
    pair.write(CLIENT, 8 * 1448);
    pair.run_ms(175);
    assert_eq!(pair.end[CLIENT].counters().tail_loss_probes, 1);
    let rto = pair.end[CLIENT].rto();
    let mark = pair.mark();
    pair.run_ms(300);
    let counters = *pair.end[CLIENT].counters();
    assert_eq!((counters.tail_loss_probes, counters.timeouts), (1, 1));
    let again = pair.data_since(mark, CLIENT)[0].time - start;
    let late = again.saturating_sub(rto);
    assert!(again >= rto && late < Span::from_ms(1), "{again} {rto}");
}

/// The original comes after the timeout: its acknowledgement says nothing of the retransmission, so
/// what was sent before that is not lost (RFC 8985 §6.2, the first of its two conditions).
#[test]
fn an_original_that_comes_after_the_timeout_makes_nothing_lost() {
    let mut pair = at_window(&no_probe(), 10);
    let mut number = 0;
    pair.filter(move |sent: &Sent| {
        if sent.from != CLIENT || !sent.is_data() {
            return Fate::Pass;
        }
        number += 1;
        // Beyond the timeout, and then each 30 ms apart, which is more than a round trip.
        Fate::Late(Span::from_ms(if number <= 10 {
            230 + 30 * number
        } else {
            1000
        }))
    });
    pair.write(CLIENT, 10 * 1448);
    pair.run_ms(280);
    let counters = *pair.end[CLIENT].counters();
    assert_eq!((counters.timeouts, counters.undos), (1, 1));
    assert_eq!(counters.retransmissions, 1);
    assert_eq!(pair.end[CLIENT].tp().lost_out, 0);
}

#[test]
fn a_probe_prefers_new_data() {
    let mut pair = at_window(&linux(), 4);
    pair.drop_data(CLIENT, &[0, 1, 2, 3]);
    let mark = pair.mark();
    pair.write(CLIENT, 5 * 1448);
    pair.run_ms(45);
    let data = pair.data_since(mark, CLIENT);
    assert_eq!(data.len(), 5);
    assert_eq!(data[4].segment.seq, data[3].end());
    assert_eq!(pair.end[CLIENT].counters().tail_loss_probes, 1);
    pair.run_until_acked(SECOND);
    assert_eq!(pair.end[CLIENT].counters().timeouts, 0);
}

#[test]
fn a_fin_that_the_window_holds_back_is_new_data_to_a_probe() {
    let mut pair = at_window(&linux(), 4);
    pair.drop_data(CLIENT, &[0, 1, 2, 3]);
    let mark = pair.mark();
    pair.write(CLIENT, 4 * 1448);
    pair.close(CLIENT);
    pair.run_ms(45);
    let sent = pair.sent_since(mark, CLIENT);
    let fins: Vec<_> = sent
        .iter()
        .map(|sent| (sent.segment.len, sent.segment.flags.has(Flags::FIN)))
        .collect();
    assert_eq!(fins[..4], [(1448, false); 4]);
    assert_eq!(fins[4], (0, true));
}

#[test]
fn a_probe_of_what_was_not_lost_leaves_the_window_alone() {
    let mut pair = at_window(&linux(), 10);
    // All ACKs are late: the probe is a duplicate, and DSACK says so.
    pair.filter(|sent| {
        let late = sent.from == SERVER && sent.count < 12;
        if late {
            Fate::Late(Span::from_ms(60))
        } else {
            Fate::Pass
        }
    });
    pair.write(CLIENT, 10 * 1448);
    pair.run_until_acked(SECOND);
    pair.run_ms(100);
    let counters = *pair.end[CLIENT].counters();
    assert_eq!((counters.tail_loss_probes, counters.timeouts), (1, 0));
    assert!(pair.cwnd() >= 10, "{}", pair.cwnd());
    assert!(pair.end[CLIENT].tp().snd_ssthresh > 1 << 20);
}

#[test]
fn no_second_probe_follows_the_first_before_it_is_answered() {
    let mut pair = at_window(&linux(), 10);
    pair.filter(|_| Fate::Drop);
    pair.write(CLIENT, 10 * 1448);
    pair.run_for(Span::from_secs(3));
    let counters = pair.end[CLIENT].counters();
    assert_eq!(counters.tail_loss_probes, 1);
    assert!(counters.timeouts >= 2);
}

#[test]
fn f_rto_undoes_a_timeout_that_a_delay_spike_caused() {
    for timestamps in [false, true] {
        let stack = Stack {
            timestamps,
            ..no_probe()
        };
        let mut pair = at_window(&stack, 10);
        spike(&mut pair, Span::from_ms(400));
        pair.write(CLIENT, 100 * 1448);
        assert!(pair.run_while(|pair| pair.end[CLIENT].counters().timeouts == 0, SECOND));
        assert_eq!(pair.cwnd(), 1);
        pair.run_until_acked(Span::from_secs(3));
        let counters = *pair.end[CLIENT].counters();
        assert_eq!(counters.timeouts, 1);
        // Whatever the stray retransmission seems to tell afterwards is undone as well.
        assert_eq!(
            counters.undos,
            1 + counters.recoveries,
            "timestamps {timestamps}"
        );
        assert!(
            counters.retransmissions <= 2,
            "{}",
            counters.retransmissions
        );
        assert!(pair.cwnd() > 10, "{}", pair.cwnd());
    }
}

#[test]
fn without_f_rto_a_spike_costs_the_whole_window() {
    let stack = Stack {
        timestamps: false,
        frto: false,
        undo: false,
        ..no_probe()
    };
    let mut pair = at_window(&stack, 10);
    spike(&mut pair, Span::from_ms(400));
    pair.write(CLIENT, 100 * 1448);
    pair.run_until_acked(Span::from_secs(3));
    let counters = *pair.end[CLIENT].counters();
    assert_eq!(counters.undos, 0);
    assert!(counters.retransmissions > 5, "{}", counters.retransmissions);
}

#[test]
fn f_rto_lets_a_true_loss_stand() {
    let mut pair = at_window(&no_probe(), 10);
    pair.drop_data(CLIENT, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    pair.write(CLIENT, 50 * 1448);
    pair.run_until_acked(Span::from_secs(3));
    let counters = *pair.end[CLIENT].counters();
    assert_eq!((counters.timeouts, counters.undos), (1, 0));
    assert_eq!(pair.delivered(SERVER), 50 * 1448);
}

/// One segment comes so late that it is retransmitted; returns the pair when all is over.
fn late_segment(stack: &Stack, by_ms: u64) -> Pair {
    let mut pair = at_window(stack, 20);
    pair.filter(move |sent| {
        let late = sent.from == CLIENT && sent.data_count == 2;
        if late {
            Fate::Late(Span::from_ms(by_ms))
        } else {
            Fate::Pass
        }
    });
    pair.write(CLIENT, 20 * 1448);
    pair.run_until_acked(SECOND);
    pair.run_ms(100);
    pair
}

#[test]
fn dsack_undoes_a_reduction_for_a_segment_that_was_only_late() {
    let stack = Stack {
        timestamps: false,
        ..linux()
    };
    let pair = late_segment(&stack, 24);
    let counters = *pair.end[CLIENT].counters();
    assert_eq!(
        (
            counters.recoveries,
            counters.retransmissions,
            counters.undos
        ),
        (1, 1, 1)
    );
    assert!(pair.cwnd() >= 20, "{}", pair.cwnd());
    assert!(pair.end[CLIENT].tp().snd_ssthresh >= 20);
}

#[test]
fn timestamps_undo_a_reduction_before_any_duplicate_is_reported() {
    let stack = Stack {
        dsack: false,
        ..linux()
    };
    let pair = late_segment(&stack, 12);
    let counters = *pair.end[CLIENT].counters();
    assert_eq!(
        (
            counters.recoveries,
            counters.retransmissions,
            counters.undos
        ),
        (1, 1, 1)
    );
    assert!(pair.cwnd() >= 20, "{}", pair.cwnd());
}

#[test]
fn with_neither_a_reduction_stands() {
    let stack = Stack {
        dsack: false,
        timestamps: false,
        ..linux()
    };
    let pair = late_segment(&stack, 12);
    assert_eq!(pair.end[CLIENT].counters().undos, 0);
    assert!(pair.end[CLIENT].tp().snd_ssthresh <= 11);
    let pair = late_segment(
        &Stack {
            undo: false,
            ..linux()
        },
        12,
    );
    assert_eq!(pair.end[CLIENT].counters().undos, 0);
}
