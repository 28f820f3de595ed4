//! Closing in every order, TIME-WAIT, aborts, and resets that may be forged (RFC 9293 §3.6, RFC
//! 5961).

mod harness;

use harness::{CLIENT, Fate, Pair, SERVER};
use trammel_core::time::{Span, Time};
use trammel_tcp::connection::{Failure, State};
use trammel_tcp::segment::Flags;
use trammel_tcp::stack::Stack;

fn states(pair: &Pair) -> [State; 2] {
    [pair.end[CLIENT].state(), pair.end[SERVER].state()]
}

fn established() -> Pair {
    Pair::established(&Stack::linux_6())
}

#[test]
fn either_end_may_close_first() {
    for (first, second) in [(CLIENT, SERVER), (SERVER, CLIENT)] {
        let mut pair = established();
        pair.write(first, 10_000);
        pair.close(first);
        assert_eq!(pair.end[first].state(), State::FinWait1);
        pair.run_ms(200);
        assert_eq!(pair.end[first].state(), State::FinWait2);
        assert_eq!(pair.end[second].state(), State::CloseWait);
        assert_eq!(pair.delivered(second), 10_000);
        pair.close(second);
        assert_eq!(pair.end[second].state(), State::LastAck);
        pair.run_ms(200);
        assert_eq!(pair.end[first].state(), State::TimeWait);
        assert_eq!(pair.end[second].state(), State::Closed);
        pair.run_for(Span::from_secs(61));
        assert_eq!(states(&pair), [State::Closed; 2]);
        assert_eq!(pair.next_event(), Time::MAX, "nothing is left to happen");
        assert!(
            pair.end
                .iter()
                .all(|end| end.failure().is_none() && end.all_acked())
        );
    }
}

#[test]
fn fins_that_cross_close_both_ends_through_closing() {
    let mut pair = established();
    pair.close(CLIENT);
    pair.close(SERVER);
    pair.run_ms(10);
    assert_eq!(states(&pair), [State::Closing; 2]);
    pair.run_ms(10);
    assert_eq!(states(&pair), [State::TimeWait; 2]);
    pair.run_for(Span::from_secs(61));
    assert_eq!(states(&pair), [State::Closed; 2]);
}

#[test]
fn a_half_closed_connection_still_carries_data_the_other_way() {
    let mut pair = established();
    pair.close(CLIENT);
    pair.run_ms(100);
    pair.write(SERVER, 100_000);
    pair.run_ms(2_000);
    assert_eq!(pair.delivered(CLIENT), 100_000);
    pair.close(SERVER);
    pair.run_ms(200);
    assert_eq!(states(&pair), [State::TimeWait, State::Closed]);
}

#[test]
fn the_fin_rides_on_the_last_data() {
    let mut pair = established();
    let mark = pair.mark();
    pair.end[CLIENT].write(2_000);
    pair.close(CLIENT);
    let data = pair.data_since(mark, CLIENT);
    let shape: Vec<_> = data
        .iter()
        .map(|sent| (sent.segment.len, sent.segment.flags.has(Flags::FIN)))
        .collect();
    assert_eq!(shape, [(1448, false), (552, true)]);
}

#[test]
fn a_fin_is_repeated_until_it_is_acknowledged() {
    let mut pair = established();
    pair.drop_data(CLIENT, &[0, 1]);
    pair.close(CLIENT);
    pair.run_ms(3_000);
    assert_eq!(states(&pair), [State::FinWait2, State::CloseWait]);
}

#[test]
fn a_repeated_fin_is_acknowledged_again_and_time_wait_starts_anew() {
    let mut pair = established();
    pair.close(CLIENT);
    pair.run_ms(100);
    let mut dropped = 0;
    // The ACK of the second FIN is lost twice.
    pair.filter(move |sent| {
        let hit = sent.from == CLIENT && dropped < 2;
        dropped += u32::from(hit);
        if hit { Fate::Drop } else { Fate::Pass }
    });
    pair.close(SERVER);
    pair.run_ms(10);
    assert_eq!(states(&pair), [State::TimeWait, State::LastAck]);
    let entered = pair.now;
    pair.run_ms(3_000);
    assert_eq!(states(&pair), [State::TimeWait, State::Closed]);
    assert!(pair.end[CLIENT].next_timer() > entered + Span::from_secs(60));
}

#[test]
fn a_fin_that_overtakes_data_waits_for_it() {
    let mut pair = established();
    pair.drop_data(CLIENT, &[1]);
    pair.end[CLIENT].write(3_000);
    pair.close(CLIENT);
    pair.run_ms(10);
    assert_eq!(pair.end[SERVER].state(), State::Established);
    assert_eq!(pair.delivered(SERVER), 1448);
    pair.run_ms(1_000);
    assert_eq!(states(&pair), [State::FinWait2, State::CloseWait]);
    assert_eq!(pair.delivered(SERVER), 3_000);
    assert_eq!(
        pair.end[CLIENT].counters().retransmissions,
        1,
        "{}",
        pair.story(20)
    );
}

#[test]
fn nothing_can_be_written_after_a_fin() {
    let mut pair = established();
    pair.close(CLIENT);
    pair.write(CLIENT, 1000);
    pair.run_ms(100);
    assert_eq!(pair.delivered(SERVER), 0);
    assert_eq!(pair.end[CLIENT].unsent(), 0);
}

#[test]
fn closing_before_the_handshake_is_over_sends_what_was_written() {
    let mut pair = Pair::connecting(&Stack::linux_6());
    pair.end[CLIENT].write(5_000);
    pair.end[CLIENT].close_when_written();
    pair.run_ms(500);
    assert_eq!(pair.delivered(SERVER), 5_000);
    assert_eq!(states(&pair), [State::FinWait2, State::CloseWait]);
}

#[test]
fn an_abort_resets_the_peer_even_with_data_on_the_way() {
    for written in [0, 50_000] {
        let mut pair = established();
        pair.write(CLIENT, written);
        pair.abort(CLIENT);
        assert_eq!(pair.end[CLIENT].state(), State::Closed);
        pair.run_ms(200);
        assert_eq!(pair.end[SERVER].failure(), Some(Failure::Reset));
        assert_eq!(pair.next_event(), Time::MAX);
    }
}

#[test]
fn an_abort_whose_reset_is_lost_is_told_by_the_next_segment() {
    let mut pair = established();
    pair.drop_data(SERVER, &[]);
    pair.filter(|sent| {
        if sent.segment.flags.has(Flags::RST) {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    pair.abort(CLIENT);
    pair.heal();
    pair.write(SERVER, 1_000);
    pair.run_ms(100);
    assert_eq!(pair.end[SERVER].failure(), Some(Failure::Reset));
}

#[test]
fn only_a_reset_of_the_very_next_number_resets() {
    let mut pair = established();
    let exact = pair.end[CLIENT].tp().snd_nxt;
    // In the window, but not the next: challenged. Outside: dropped.
    for (offset, answers) in [(1, 1), (5_000, 1), (1 << 30, 0), (0_u32.wrapping_sub(1), 0)] {
        let mark = pair.mark();
        let mut reset = pair.forge(CLIENT);
        reset.seq = exact.wrapping_add(offset);
        reset.flags = Flags::RST;
        pair.inject(SERVER, reset);
        assert_eq!(
            pair.sent_since(mark, SERVER).len(),
            answers,
            "offset {offset}"
        );
        assert_eq!(pair.end[SERVER].state(), State::Established);
    }
    let mut reset = pair.forge(CLIENT);
    reset.flags = Flags::RST;
    pair.inject(SERVER, reset);
    assert_eq!(pair.end[SERVER].failure(), Some(Failure::Reset));
}

#[test]
fn a_blind_syn_is_challenged_and_harmless() {
    let mut pair = established();
    for offset in [0, 100, 0_u32.wrapping_sub(1), 1 << 30] {
        let mark = pair.mark();
        let mut syn = pair.forge(CLIENT);
        syn.seq = syn.seq.wrapping_add(offset);
        syn.flags = Flags::SYN;
        pair.inject(SERVER, syn);
        let answers = pair.sent_since(mark, SERVER);
        assert_eq!(answers.len(), 1, "offset {offset}");
        assert_eq!(answers[0].segment.flags, Flags::ACK);
        assert_eq!(answers[0].segment.ack, pair.end[CLIENT].tp().snd_nxt);
    }
    pair.write(CLIENT, 10_000);
    pair.run_until_acked(Span::from_secs(1));
    assert_eq!(pair.delivered(SERVER), 10_000);
}

#[test]
fn data_with_an_impossible_ack_is_not_taken() {
    // An ACK of what was never sent is answered by the RFC and not by Linux; an ACK of too long ago
    // by both.
    for (stack, answers) in [(Stack::linux_6(), [0, 0, 1]), (Stack::rfc(), [1, 1, 1])] {
        let mut pair = Pair::established(&stack);
        for (wrong, answers) in [1, 1 << 30, 3 << 30].into_iter().zip(answers) {
            let mark = pair.mark();
            let mut data = pair.forge(CLIENT);
            data.len = 100;
            data.ts_val = data.ts_val.wrapping_add(1000);
            data.ack = pair.end[SERVER].tp().snd_nxt.wrapping_add(wrong);
            pair.inject(SERVER, data);
            assert_eq!(pair.delivered(SERVER), 0, "{wrong}");
            let sent = pair.sent_since(mark, SERVER);
            assert_eq!(sent.len(), answers, "{}: {wrong}", stack.name);
        }
        // Nor is its timestamp: what comes with an older one is no duplicate of long ago.
        let mut data = pair.forge(CLIENT);
        data.len = 100;
        pair.inject(SERVER, data);
        assert_eq!(pair.delivered(SERVER), 100);
    }
}

#[test]
fn a_reset_of_ours_carries_timestamps_and_an_answer_to_strangers_does_not() {
    let mut pair = established();
    let mark = pair.mark();
    pair.abort(CLIENT);
    let sent = pair.sent_since(mark, CLIENT);
    assert!(sent[0].segment.flags.has(Flags::RST) && sent[0].segment.options.timestamps);
    let mark = pair.mark();
    let stray = pair.forge(SERVER);
    pair.inject(CLIENT, stray);
    let sent = pair.sent_since(mark, CLIENT);
    assert!(sent[0].segment.flags.has(Flags::RST) && !sent[0].segment.options.timestamps);
}

#[test]
fn a_reset_in_time_wait_is_no_failure() {
    let mut pair = established();
    pair.close(CLIENT);
    pair.run_ms(100);
    pair.close(SERVER);
    pair.run_ms(100);
    assert_eq!(pair.end[CLIENT].state(), State::TimeWait);
    let mut reset = pair.forge(SERVER);
    reset.flags = Flags::RST;
    pair.inject(CLIENT, reset);
    assert_eq!(states(&pair), [State::Closed; 2]);
    assert_eq!(pair.end[CLIENT].failure(), None);
}
