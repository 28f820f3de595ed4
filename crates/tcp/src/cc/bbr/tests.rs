//! BBR over a small simulated pipe: a paced sender, a rate, a delay and a queue without a limit.

use super::*;
use std::collections::VecDeque;
use trammel_core::rng::Rng;

/// A segment on its way: when its ACK comes, and what was known when it was sent.
#[derive(Clone, Copy)]
struct Sent {
    at_us: u64,
    ack_us: f64,
    delivered: u64,
    delivered_mstamp_us: u64,
    first_tx_mstamp_us: u64,
    app_limited: bool,
}

struct Pipe {
    cc: Bbr,
    tp: Tp,
    us_per_packet: f64,
    rtt_us: f64,
    link_free_us: f64,
    next_send_us: f64,
    in_flight: VecDeque<Sent>,
    /// Mode, since when (ms), and the largest window in it.
    modes: Vec<(Mode, u64)>,
}

impl Pipe {
    fn new(packets_per_second: f64, rtt_us: f64, seed: u64) -> Pipe {
        let mut tp = Tp::new(10, 1448, Rng::new(seed, "flow"));
        tp.srtt_us = (rtt_us as u32) << 3;
        tp.min_rtt_us = rtt_us as u32;
        tp.rcv_tsval = 1;
        let mut cc = Bbr::new(Config::new(&Params::defaults(&ENTRY.about)));
        cc.init(&mut tp);
        Pipe {
            cc,
            tp,
            us_per_packet: 1e6 / packets_per_second,
            rtt_us,
            link_free_us: 0.0,
            next_send_us: 0.0,
            in_flight: VecDeque::new(),
            modes: vec![(Mode::Startup, 0)],
        }
    }

    fn send(&mut self) {
        let tp = &mut self.tp;
        let now = self.next_send_us;
        tp.now_us = now as u64;
        if self.in_flight.is_empty() {
            tp.first_tx_mstamp_us = tp.now_us;
            tp.delivered_mstamp_us = tp.now_us;
        }
        self.link_free_us = self.link_free_us.max(now) + self.us_per_packet;
        self.in_flight.push_back(Sent {
            at_us: tp.now_us,
            ack_us: self.link_free_us + self.rtt_us,
            delivered: tp.delivered,
            delivered_mstamp_us: tp.delivered_mstamp_us,
            first_tx_mstamp_us: tp.first_tx_mstamp_us,
            app_limited: tp.app_limited > 0,
        });
        tp.packets_out += 1;
        self.next_send_us = now + 1448.0 * 1e6 / tp.pacing_rate as f64;
    }

    fn receive_ack(&mut self) {
        let sent = self.in_flight.pop_front().expect("something is in flight");
        let tp = &mut self.tp;
        tp.now_us = sent.ack_us as u64;
        let prior_in_flight = tp.packets_out;
        tp.packets_out -= 1;
        tp.delivered += 1;
        tp.delivered_mstamp_us = tp.now_us;
        tp.first_tx_mstamp_us = sent.at_us;
        if tp.app_limited > 0 && tp.delivered > tp.app_limited {
            tp.app_limited = 0;
        }
        let snd_us = (sent.at_us - sent.first_tx_mstamp_us) as i64;
        let rcv_us = (tp.now_us - sent.delivered_mstamp_us) as i64;
        let rs = RateSample {
            prior_delivered: sent.delivered,
            delivered: (tp.delivered - sent.delivered) as i64,
            interval_us: snd_us.max(rcv_us),
            rtt_us: (tp.now_us - sent.at_us) as i64,
            acked_sacked: 1,
            prior_in_flight,
            is_app_limited: sent.app_limited,
            ..RateSample::default()
        };
        self.cc.cong_control(tp, &rs);
        if self.modes.last().is_none_or(|last| last.0 != self.cc.mode) {
            self.modes.push((self.cc.mode, tp.now_us / 1000));
        }
    }

    fn run_until(&mut self, end_us: f64) {
        loop {
            let ack_us = self
                .in_flight
                .front()
                .map_or(f64::INFINITY, |sent| sent.ack_us);
            let may_send = self.tp.packets_out < self.tp.snd_cwnd;
            if may_send {
                self.next_send_us = self.next_send_us.max(self.tp.now_us as f64);
            }
            if may_send && self.next_send_us <= ack_us {
                if self.next_send_us > end_us {
                    return;
                }
                self.send();
            } else {
                if ack_us > end_us {
                    return;
                }
                self.receive_ack();
            }
        }
    }
}

#[test]
fn goes_through_its_states_and_fills_the_pipe() {
    // 100 Mbit/s of 1514-byte frames, 50 ms: 413 packets.
    let mut pipe = Pipe::new(8256.0, 50_000.0, 1);
    pipe.run_until(12e6);
    let sequence: Vec<_> = pipe.modes.iter().map(|(mode, _)| *mode).collect();
    assert_eq!(
        sequence,
        [
            Mode::Startup,
            Mode::Drain,
            Mode::ProbeBw,
            Mode::ProbeRtt,
            Mode::ProbeBw
        ]
    );
    // The window doubles from 10 packets, then three rounds show that nothing grows any more.
    assert!((400..1000).contains(&pipe.modes[1].1), "{:?}", pipe.modes);
    // PROBE_RTT comes ten seconds after the last smaller round trip and lasts 200 ms and a round.
    assert!(
        (10_000..10_400).contains(&pipe.modes[3].1),
        "{:?}",
        pipe.modes
    );
    let stay_ms = pipe.modes[4].1 - pipe.modes[3].1;
    assert!((200..400).contains(&stay_ms), "{stay_ms}");
    let bw = pipe.cc.max_bw() as f64 * 1e6 / BW_UNIT as f64;
    assert!((8100.0..8500.0).contains(&bw), "{bw}");
    assert!((50_000..50_200).contains(&pipe.cc.min_rtt_us));
    // 2 × 413 and three bursts of 8 segments, and a little aggregation.
    pipe.run_until(14e6);
    assert!(
        (840..870).contains(&pipe.tp.snd_cwnd),
        "{}",
        pipe.tp.snd_cwnd
    );
}

#[test]
fn delivers_nearly_all_that_the_link_can() {
    let mut pipe = Pipe::new(8256.0, 50_000.0, 1);
    pipe.run_until(2e6);
    let before = pipe.tp.delivered;
    pipe.run_until(9e6);
    let share = (pipe.tp.delivered - before) as f64 / (7.0 * 8256.0);
    assert!((0.97..=1.0).contains(&share), "{share}");
}

#[test]
fn the_first_phase_is_never_the_draining_one() {
    let mut seen = [0; 8];
    for seed in 0..200 {
        let mut cc = Bbr::new(Config::new(&Params::defaults(&ENTRY.about)));
        let mut tp = Tp::new(10, 1448, Rng::new(seed, "flow"));
        cc.enter_probe_bw(&mut tp);
        seen[cc.cycle_idx] += 1;
    }
    assert_eq!(seen[1], 0);
    assert!(
        seen.iter().enumerate().all(|(i, n)| i == 1 || *n > 10),
        "{seen:?}"
    );
}

#[test]
fn gains_and_first_rate_are_the_kernels() {
    let mut tp = Tp::new(10, 1448, Rng::new(1, "flow"));
    tp.srtt_us = 50_000 << 3;
    tp.rcv_tsval = 1;
    let mut cc = Bbr::new(Config::new(&Params::defaults(&ENTRY.about)));
    cc.init(&mut tp);
    // 10 segments of 1448 bytes of payload in 50 ms, times 2.887, less one per cent.
    // Fixed point rounds 0.0002 segments/µs down by up to 2⁻²⁴ of a segment.
    assert!(tp.pacing);
    let expected = 10.0 * 1448.0 / 0.05 * (739.0 / 256.0) * 0.99;
    assert!(
        (tp.pacing_rate as f64 - expected).abs() < 300.0,
        "{}",
        tp.pacing_rate
    );
    assert_eq!(CYCLE[..3], [320, 192, 256]);
}

#[test]
fn a_recovery_conserves_packets_and_gives_the_window_back() {
    let mut pipe = Pipe::new(8256.0, 50_000.0, 1);
    pipe.run_until(3e6);
    let (cc, tp) = (&mut pipe.cc, &mut pipe.tp);
    let before = tp.snd_cwnd;
    assert_eq!(cc.ssthresh(tp), tp.snd_ssthresh);
    tp.ca_state = CaState::Recovery;
    let rs = RateSample {
        delivered: -1,
        interval_us: -1,
        rtt_us: -1,
        acked_sacked: 2,
        losses: 3,
        ..RateSample::default()
    };
    cc.cong_control(tp, &rs);
    assert_eq!(tp.snd_cwnd, tp.packets_in_flight() + 2);
    tp.ca_state = CaState::Open;
    let rs = RateSample { losses: 0, ..rs };
    cc.cong_control(tp, &rs);
    assert!(
        tp.snd_cwnd.abs_diff(before) <= 2,
        "{} {before}",
        tp.snd_cwnd
    );
}

#[test]
fn two_lossy_intervals_of_one_rate_are_a_policer() {
    let mut cc = Bbr::new(Config::new(&Params::defaults(&ENTRY.about)));
    let mut tp = Tp::new(10, 1448, Rng::new(1, "flow"));
    cc.init(&mut tp);
    // Each round of 50 ms delivers 50 segments and loses 25.
    let mut rounds = 0;
    while cc.policer.rate().is_none() {
        rounds += 1;
        tp.now_us += 50_000;
        let prior_delivered = tp.delivered;
        tp.delivered += 50;
        tp.lost += 25;
        tp.delivered_mstamp_us = tp.now_us;
        let rs = RateSample {
            prior_delivered,
            delivered: 50,
            interval_us: 25_000,
            rtt_us: 50_000,
            losses: 25,
            acked_sacked: 50,
            ..RateSample::default()
        };
        cc.cong_control(&mut tp, &rs);
        assert!(rounds < 20);
    }
    assert_eq!(rounds, 8);
    let pps = cc.current_bw() as f64 * 1e6 / BW_UNIT as f64;
    // The max filter believes in 2000/s, the policer lets 1000/s pass.
    assert!((pps - 1000.0).abs() < 150.0, "{pps}");
    assert!(cc.max_bw() > 19 * cc.current_bw() / 10);
}
