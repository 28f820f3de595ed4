//! α, the carry, round trips, falls back.

use super::*;
use crate::cc_harness::Sender;
use trammel_core::entry::{Params, Value};
use trammel_core::rng::Rng;

fn tp(rtt_us: u32) -> Tp {
    let mut tp = Tp::new(100, 1448, Rng::new(1, "prague"));
    tp.accurate_ecn = true;
    tp.ecn_ok = true;
    tp.srtt_us = rtt_us * 8;
    tp.min_rtt_us = rtt_us;
    tp.snd_ssthresh = 50;
    tp.cwnd_limited = true;
    tp
}

fn built(given: &[(&str, &str)]) -> Box<dyn CongestionControl> {
    let given: Vec<_> = given
        .iter()
        .map(|(key, value)| ((*key).to_owned(), Value::Text((*value).to_owned())))
        .collect();
    (ENTRY.build)(&Params::resolve(&ENTRY.about, &given).unwrap())
}

/// A round of one ACK a segment, of which the last `marked` report a mark.
fn round(cc: &mut dyn CongestionControl, tp: &mut Tp, marked: u32) {
    let segments = tp.snd_cwnd;
    tp.packets_out = segments;
    let start_us = tp.now_us;
    for i in 0..segments {
        let is_marked = i + marked >= segments;
        tp.now_us = start_us + u64::from(tp.srtt_us >> 3) * u64::from(i + 1) / u64::from(segments);
        tp.snd_una = tp.snd_una.wrapping_add(tp.mss);
        tp.snd_nxt = tp.snd_una.wrapping_add(segments * tp.mss);
        tp.delivered += 1;
        tp.delivered_ce += u64::from(is_marked);
        if is_marked && tp.ca_state == CaState::Open {
            cc.set_state(tp, CaState::Cwr);
            tp.ca_state = CaState::Cwr;
        }
        let rs = RateSample {
            acked_sacked: 1,
            delivered_ce: i64::from(is_marked),
            ..RateSample::default()
        };
        cc.cong_control(tp, &rs);
    }
    if tp.ca_state == CaState::Cwr {
        cc.set_state(tp, CaState::Open);
        tp.ca_state = CaState::Open;
    }
}

fn observed(cc: &dyn CongestionControl, name: &str) -> f64 {
    let all = cc.observe();
    all.iter().find(|(key, _)| *key == name).unwrap().1
}

#[test]
fn alpha_follows_the_marked_share() {
    let (mut cc, mut tp) = (built(&[("rtt_scaling", "none")]), tp(10_000));
    cc.init(&mut tp);
    assert_eq!(observed(&*cc, "alpha"), 1.0);
    for _ in 0..100 {
        tp.snd_cwnd = 100;
        round(&mut *cc, &mut tp, 10);
    }
    // What is left of the first estimate after so many rounds is (15/16)^100.
    let alpha = observed(&*cc, "alpha");
    assert!((0.1..0.104).contains(&alpha), "{alpha}");
}

#[test]
fn without_marks_the_window_grows_by_a_segment_a_round() {
    let (mut cc, mut tp) = (built(&[]), tp(30_000));
    cc.init(&mut tp);
    for _ in 0..10 {
        round(&mut *cc, &mut tp, 0);
    }
    assert!((109..=110).contains(&tp.snd_cwnd), "{}", tp.snd_cwnd);
}

#[test]
fn short_round_trips_grow_by_the_square_of_their_share_of_the_target() {
    let given = [("rtt_transition", "0")];
    let (mut cc, mut tp) = (built(&given), tp(12_500));
    cc.init(&mut tp);
    let increase = observed(&*cc, "increase");
    assert!((0.24..0.26).contains(&increase), "{increase}");
    for _ in 0..40 {
        round(&mut *cc, &mut tp, 0);
    }
    // A quarter of a segment a round.
    assert!((109..=110).contains(&tp.snd_cwnd), "{}", tp.snd_cwnd);
}

#[test]
fn a_reduction_comes_once_a_target_where_round_trips_are_scaled() {
    for (scaling, reductions) in [("none", 5), ("rate", 2)] {
        let given = [("rtt_transition", "0"), ("rtt_scaling", scaling)];
        let (mut cc, mut tp) = (built(&given), tp(10_000));
        tp.now_us = 1_000_000;
        cc.init(&mut tp);
        let mut seen = 0;
        for _ in 0..5 {
            let before = observed(&*cc, "carry");
            tp.now_us += 10_000;
            cc.set_state(&mut tp, CaState::Cwr);
            seen += usize::from(observed(&*cc, "carry") < before);
        }
        assert_eq!(seen, reductions, "{scaling}");
    }
}

#[test]
fn a_loss_halves_the_window_and_an_undo_gives_it_back() {
    let mut cc = built(&[]);
    let mut tp = tp(30_000);
    cc.init(&mut tp);
    cc.set_state(&mut tp, CaState::Recovery);
    assert_eq!(observed(&*cc, "carry"), -50.0);
    tp.ca_state = CaState::Recovery;
    let rs = RateSample {
        acked_sacked: 1,
        ..RateSample::default()
    };
    for _ in 0..60 {
        cc.cong_control(&mut tp, &rs);
    }
    assert_eq!(tp.snd_cwnd, 50);
    assert_eq!(cc.undo_cwnd(&mut tp), 100);
}

#[test]
fn without_accurate_ecn_it_is_reno() {
    let mut cc = built(&[]);
    let mut tp = tp(30_000);
    tp.accurate_ecn = false;
    cc.init(&mut tp);
    assert!(!cc.has_cong_control() && !tp.pacing);
    assert_eq!(cc.ssthresh(&mut tp), 50);
}

#[test]
fn it_paces_at_its_window_over_the_round_trip() {
    let mut sender = Sender::with(built(&[]), 20_000);
    sender.rounds(3);
    let tp = &sender.tp;
    assert!(tp.pacing && sender.cc.has_cong_control());
    let of_window = u64::from(tp.snd_cwnd) * 1500 * 8_000_000 / u64::from(tp.srtt_us);
    // Twice that in slow start.
    let ratio = tp.pacing_rate as f64 / of_window as f64;
    assert!((1.9..2.1).contains(&ratio), "{ratio}");
}
