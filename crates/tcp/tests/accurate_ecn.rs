//! Accurate ECN (RFC 9768): negotiation, counters and their wrap, the option, marks as the sender
//! hears of them.

mod harness;

use harness::{CLIENT, Fate, Pair, SERVER, Sent};
use trammel_core::time::Span;
use trammel_tcp::accecn::{AccEcn, Order};
use trammel_tcp::connection::State;
use trammel_tcp::segment::{Ecn, Flags};
use trammel_tcp::stack::{AckPolicy, EcnMode, EcnOption, Stack};

const SECOND: Span = Span::from_secs(1);
const MODES: [EcnMode; 3] = [EcnMode::Off, EcnMode::Classic, EcnMode::Accurate];

fn stack(ecn: EcnMode) -> Stack {
    Stack {
        ecn,
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

fn accurate() -> Pair {
    let stack = stack(EcnMode::Accurate);
    between([&stack; 2], ["reno"; 2])
}

/// What of the three modes both ends have agreed on.
fn agreed(pair: &Pair) -> EcnMode {
    let of = |end: usize| {
        let tp = pair.end[end].tp();
        match (tp.ecn_ok, tp.accurate_ecn) {
            (false, _) => EcnMode::Off,
            (true, false) => EcnMode::Classic,
            (true, true) => EcnMode::Accurate,
        }
    };
    assert_eq!(of(CLIENT), of(SERVER), "both ends think alike");
    of(CLIENT)
}

#[test]
fn ends_agree_on_the_best_that_both_have() {
    for ours in MODES {
        for theirs in MODES {
            let pair = between([&stack(ours), &stack(theirs)], ["reno"; 2]);
            assert_eq!(agreed(&pair), ours.min(theirs), "{ours:?} {theirs:?}");
            let ace = match ours {
                EcnMode::Off => 0b000,
                EcnMode::Classic => 0b011,
                EcnMode::Accurate => 0b111,
            };
            assert_eq!(pair.log[0].segment.flags.ace(), ace);
        }
    }
}

#[test]
fn a_variant_that_needs_it_asks_for_it_and_takes_no_classic_ecn() {
    let off = stack(EcnMode::Off);
    let pair = between([&off; 2], ["prague"; 2]);
    assert_eq!(agreed(&pair), EcnMode::Accurate);
    assert_eq!(pair.log[0].segment.ecn, Ecn::Ect1, "a SYN too");
    let mut pair = between([&off, &stack(EcnMode::Classic)], ["prague", "reno"]);
    assert!(!pair.end[CLIENT].tp().ecn_ok);
    pair.write(CLIENT, 20_000);
    pair.run_until_acked(SECOND);
    let data = pair.data_since(2, CLIENT);
    assert!(data.iter().all(|sent| sent.segment.ecn == Ecn::NotEct));
}

#[test]
fn the_handshake_tells_how_syn_and_syn_ack_came() {
    let codes = [
        (Fate::Pass, "reno", 0b010),
        (Fate::Pass, "dctcp", 0b100),
        (Fate::Pass, "prague", 0b011),
        (Fate::Mark, "dctcp", 0b110),
    ];
    for (fate, variant, code) in codes {
        let stack = stack(EcnMode::Accurate);
        let mut pair = Pair::closed([&stack; 2], [variant; 2], 10);
        pair.filter(move |sent| {
            if sent.segment.flags.has(Flags::SYN) {
                fate
            } else {
                Fate::Pass
            }
        });
        pair.connect();
        pair.finish_handshake();
        let aces: Vec<_> = pair
            .log
            .iter()
            .map(|sent| sent.segment.flags.ace())
            .collect();
        assert_eq!(aces[..3], [0b111, code, code], "{variant}");
        let marks = u64::from(fate == Fate::Mark);
        assert_eq!(pair.end[SERVER].tp().delivered_ce, marks);
    }
}

#[test]
fn a_syn_without_answer_asks_twice_and_then_for_nothing() {
    let stack = stack(EcnMode::Accurate);
    let mut pair = Pair::closed([&stack; 2], ["reno"; 2], 10);
    pair.filter(|sent| {
        let is_lost = sent.from == CLIENT && sent.count < 2;
        if is_lost { Fate::Drop } else { Fate::Pass }
    });
    pair.connect();
    pair.run_for(Span::from_secs(5));
    assert_eq!(pair.end[CLIENT].state(), State::Established);
    let from_client = pair.sent_since(0, CLIENT);
    let aces: Vec<_> = from_client
        .iter()
        .map(|sent| sent.segment.flags.ace())
        .collect();
    assert_eq!(aces[..3], [0b111, 0b111, 0]);
    assert_eq!(agreed(&pair), EcnMode::Off);
}

#[test]
fn a_syn_ack_goes_again_without_option_and_then_without_flags() {
    let stack = stack(EcnMode::Accurate);
    let mut pair = Pair::closed([&stack; 2], ["reno"; 2], 10);
    pair.filter(|sent| {
        // The client's further SYNs, too: else it is these that are answered.
        let is_lost = match sent.from {
            CLIENT => sent.segment.flags.has(Flags::SYN) && sent.count > 0,
            _ => sent.count < 2,
        };
        if is_lost { Fate::Drop } else { Fate::Pass }
    });
    pair.connect();
    pair.run_for(Span::from_secs(8));
    let answers: Vec<_> = pair
        .sent_since(0, SERVER)
        .iter()
        .filter(|sent| sent.segment.flags.has(Flags::SYN))
        .map(|sent| (sent.segment.flags.ace(), sent.segment.accecn().is_some()))
        .collect();
    assert_eq!(answers[0], (0b010, true));
    assert_eq!(answers[1], (0b010, false));
    assert_eq!(answers[2], (0, false));
}

#[test]
fn everything_is_ecn_capable_but_the_handshake() {
    let mut pair = accurate();
    pair.drop_data(CLIENT, &[3]);
    pair.write(CLIENT, 100_000);
    pair.run_until_acked(SECOND);
    pair.close(CLIENT);
    pair.run_for(SECOND);
    for sent in &pair.log {
        let is_syn = sent.segment.flags.has(Flags::SYN);
        assert_eq!(sent.segment.ecn != Ecn::NotEct, !is_syn, "{sent:?}");
    }
}

/// The sender hears of every mark, however many there are and however they lie.
#[test]
fn every_mark_is_counted_through_many_wraps() {
    for option in [EcnOption::Never, EcnOption::Minimum, EcnOption::Full] {
        for one_in in [1, 2, 3, 7, 50] {
            let stack = Stack {
                ecn_option: option,
                ack_policy: AckPolicy::Delayed(Span::from_ms(100)),
                ..stack(EcnMode::Accurate)
            };
            let mut pair = between([&stack; 2], ["dctcp"; 2]);
            pair.filter(move |sent| {
                let marked = sent.from == CLIENT && sent.is_data() && sent.data_count % one_in == 0;
                if marked { Fate::Mark } else { Fate::Pass }
            });
            pair.write(CLIENT, 500 * 1436);
            pair.run_until_acked(Span::from_secs(60));
            let received = pair.end[SERVER].counters().ce_received;
            assert!(received >= 490 / one_in as u64, "{received}");
            assert_eq!(
                pair.end[CLIENT].tp().delivered_ce,
                received,
                "{option:?} one in {one_in}"
            );
        }
    }
}

/// ACKs that cover more segments than ACE can count: the option tells whether it wrapped.
#[test]
fn an_ack_of_many_segments_is_read_by_the_bytes_that_were_marked() {
    // Marks among 32 segments of one window whose ACKs are all lost but the last.
    for marks in [0, 1, 8, 9, 16, 20, 31] {
        let stack = stack(EcnMode::Accurate);
        let mut pair = between([&stack; 2], ["reno"; 2]);
        // Until the window is large enough.
        pair.write(CLIENT, 64 * 1436);
        pair.run_until_acked(SECOND);
        let (first, acks) = (
            pair.sent_since(0, CLIENT).len(),
            pair.sent_since(0, SERVER).len(),
        );
        pair.filter(move |sent: &Sent| {
            if sent.from == CLIENT && sent.is_data() {
                let at = sent.count - first;
                if at < marks { Fate::Mark } else { Fate::Pass }
            } else if sent.from == SERVER && sent.count < acks + 31 {
                Fate::Drop
            } else {
                Fate::Pass
            }
        });
        let before = pair.end[CLIENT].tp().delivered_ce;
        pair.write(CLIENT, 32 * 1436);
        pair.run_until_acked(Span::from_secs(3));
        let heard = pair.end[CLIENT].tp().delivered_ce - before;
        assert_eq!(heard, marks as u64);
    }
}

#[test]
fn without_the_option_a_large_ack_is_read_as_the_most_that_fits() {
    let stack = Stack {
        ecn_option: EcnOption::Never,
        ..stack(EcnMode::Accurate)
    };
    let mut pair = between([&stack; 2], ["reno"; 2]);
    pair.write(CLIENT, 32 * 1448);
    pair.run_until_acked(SECOND);
    let acks = pair.sent_since(0, SERVER).len();
    pair.filter(move |sent: &Sent| {
        let is_lost = sent.from == SERVER && sent.count < acks + 9;
        if is_lost { Fate::Drop } else { Fate::Pass }
    });
    pair.write(CLIENT, 10 * 1448);
    pair.run_until_acked(SECOND);
    // RFC 9768 §A.1: no mark came, but of ten segments eight may have been.
    assert_eq!(pair.end[CLIENT].tp().delivered_ce, 8);
}

#[test]
fn the_option_counts_payload_by_its_ecn_field() {
    let mut pair = accurate();
    pair.filter(|sent| {
        let marked = sent.from == CLIENT && sent.data_count == 1 && sent.is_data();
        if marked { Fate::Mark } else { Fate::Pass }
    });
    let mark = pair.mark();
    for _ in 0..3 {
        pair.write(CLIENT, 1000);
        pair.run_ms(25);
    }
    let acks = pair.sent_since(mark, SERVER);
    let told: Vec<_> = acks
        .iter()
        .map(|sent| sent.segment.accecn().unwrap())
        .collect();
    let of = |e0b, ceb| AccEcn::new(Order::Ect1First, &[1, ceb, e0b]);
    assert_eq!(told, [of(1001, 0), of(1001, 1000), of(2001, 1000)]);
    let aces: Vec<_> = acks.iter().map(|sent| sent.segment.flags.ace()).collect();
    assert_eq!(aces, [5, 6, 6]);
}

#[test]
fn a_change_of_marking_is_acknowledged_at_once() {
    let stack = Stack {
        ack_policy: AckPolicy::Delayed(Span::from_ms(100)),
        ..stack(EcnMode::Accurate)
    };
    let mut pair = between([&stack; 2], ["reno"; 2]);
    pair.filter(|sent| {
        let marked = sent.from == CLIENT && sent.is_data() && sent.data_count == 4;
        if marked { Fate::Mark } else { Fate::Pass }
    });
    let mark = pair.mark();
    for _ in 0..7 {
        pair.write(CLIENT, 100);
        pair.run_ms(25);
    }
    let data = pair.data_since(mark, CLIENT);
    let acked: Vec<_> = pair
        .sent_since(mark, SERVER)
        .iter()
        .map(|s| s.segment.ack)
        .collect();
    // The mark, and the end of marks.
    assert!(
        acked.contains(&data[4].end()) && acked.contains(&data[5].end()),
        "{acked:?}"
    );
    assert!(
        !acked.contains(&data[2].end()),
        "without a change it is delayed"
    );
}

#[test]
fn the_window_falls_once_a_round_trip_however_many_marks() {
    let mut pair = accurate();
    pair.filter(|sent| {
        let marked = sent.from == CLIENT && (10..20).contains(&sent.data_count);
        if marked { Fate::Mark } else { Fate::Pass }
    });
    pair.write(CLIENT, 100 * 1436);
    pair.run_until_acked(SECOND);
    assert_eq!(pair.end[CLIENT].counters().ecn_reductions, 1);
    assert_eq!(pair.end[CLIENT].tp().delivered_ce, 10);
    let has_classic_flags = |sent: &Sent| sent.from == SERVER && sent.segment.flags.ace() == 0b001;
    assert!(!pair.log[3..].iter().all(has_classic_flags));
}

#[test]
fn a_network_that_clears_fields_gets_nothing_ecn_capable() {
    // The SYN/ACK's ECN field is cleared: the last ACK tells.
    let stack = stack(EcnMode::Accurate);
    let mut pair = Pair::closed([&stack; 2], ["dctcp"; 2], 10);
    pair.filter(|sent| {
        let is_answer = sent.from == SERVER && sent.segment.flags.has(Flags::SYN);
        if is_answer { Fate::Bleach } else { Fate::Pass }
    });
    pair.connect();
    pair.finish_handshake();
    pair.write(SERVER, 20_000);
    pair.run_until_acked(SECOND);
    let data = pair.data_since(0, SERVER);
    assert!(!data.is_empty() && data.iter().all(|sent| sent.segment.ecn == Ecn::NotEct));
    // The other direction is sound.
    pair.write(CLIENT, 20_000);
    pair.run_until_acked(SECOND);
    let data = pair.data_since(0, CLIENT);
    assert!(!data.is_empty() && data.iter().all(|sent| sent.segment.ecn == Ecn::Ect0));
}

#[test]
fn a_segment_has_room_for_its_options() {
    for timestamps in [false, true] {
        let stack = Stack {
            timestamps,
            ..stack(EcnMode::Accurate)
        };
        let mut pair = between([&stack; 2], ["reno"; 2]);
        // Both send, so that data carries SACK blocks.
        pair.drop_data(CLIENT, &[3, 5, 7, 20]);
        pair.write(CLIENT, 200_000);
        pair.write(SERVER, 200_000);
        pair.run_until_acked(Span::from_secs(20));
        for sent in &pair.log {
            assert!(sent.segment.header_bytes() <= 60, "{sent:?}");
            assert!(sent.segment.ip_bytes() <= 1500, "{sent:?}");
        }
        let full = pair
            .log
            .iter()
            .filter(|sent| sent.segment.ip_bytes() == 1500);
        assert!(full.count() > 50);
    }
}

#[test]
fn an_option_that_seems_to_be_dropped_is_not_sent_again() {
    let mut pair = accurate();
    // The ACK that carries an option is lost, twice: the data comes again.
    pair.filter(|sent| {
        let has_option = sent.from == SERVER && sent.segment.accecn().is_some();
        if has_option { Fate::Drop } else { Fate::Pass }
    });
    pair.write(CLIENT, 1000);
    pair.run_for(Span::from_secs(5));
    assert_eq!(pair.delivered(SERVER), 1000);
    let last = pair.sent_since(0, SERVER).pop().unwrap();
    assert!(last.segment.accecn().is_none());
    assert_eq!(pair.end[CLIENT].tp().packets_out, 0, "that one arrives");
}
