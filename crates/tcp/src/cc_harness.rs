//! A sender for tests: drives one congestion control over a path of fixed delay and rate.
//!
//! The path serves a segment every `service_us` and adds `rtt_us`; nothing is dropped unless a test
//! says so. Every segment is acknowledged by itself. The hooks come in the kernel's order: for an
//! ACK `in_ack_event` (with `snd_una` moved already), round-trip estimate, `pkts_acked`, then
//! `cong_control` or `cong_avoid`; for a loss `ssthresh`, `set_state(Recovery)`, at its end
//! `set_state(Open)` and `CompleteCwr`; for a timeout `ssthresh`, `CaEvent::Loss`,
//! `set_state(Loss)`.

use crate::cc::{
    AckFlags, AckSample, CaEvent, CaState, CongestionControl, INFINITE_SSTHRESH, LostSegment,
    RateSample, Tp, find,
};
use std::collections::VecDeque;
use trammel_core::entry::{Params, Value};
use trammel_core::rng::Rng;

/// Payload bytes of a segment.
const MSS: u32 = 1448;

/// Windows by rounds of 50 ms: slow start to 160, a loss at once, 12 rounds, a loss, 12 rounds.
pub(crate) fn trace(name: &str, given: &[(&str, &str)]) -> String {
    let mut sender = Sender::new(name, given, 50_000);
    let mut lines = vec![sender.rounds(4)];
    for _ in 0..2 {
        sender.lose();
        let mut line = vec![sender.tp.snd_cwnd];
        line.extend(sender.rounds(12));
        lines.push(line);
    }
    let lines = lines.iter().map(|line| {
        let words: Vec<_> = line.iter().map(u32::to_string).collect();
        words.join(" ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A segment on its way.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at_us: u64,
    ack_at_us: u64,
    in_flight: u32,
    lost: u64,
    delivered: u64,
    delivered_mstamp_us: u64,
    first_tx_mstamp_us: u64,
    is_app_limited: bool,
}

/// A sender with its controller and its path.
#[derive(Debug)]
pub(crate) struct Sender {
    pub(crate) tp: Tp,
    pub(crate) cc: Box<dyn CongestionControl>,
    /// Round trip of the empty path, µs.
    pub(crate) rtt_us: u64,
    /// Time the bottleneck needs for a segment, µs.
    pub(crate) service_us: u64,
    /// Most segments in flight that the application fills; `u32::MAX` for a bulk transfer.
    pub(crate) app_limit: u32,
    flight: VecDeque<Sent>,
}

impl Sender {
    /// A sender that has just seen its handshake over a path of `rtt_us`.
    pub(crate) fn new(name: &str, given: &[(&str, &str)], rtt_us: u64) -> Sender {
        let entry = find(name).expect("the caller names a known variant");
        let given: Vec<_> = given
            .iter()
            .map(|(key, value)| ((*key).to_owned(), Value::Text((*value).to_owned())))
            .collect();
        let params =
            Params::resolve(&entry.about, &given).expect("the parameters are within their ranges");
        Sender::with((entry.build)(&params), rtt_us)
    }

    /// A sender with this controller.
    pub(crate) fn with(cc: Box<dyn CongestionControl>, rtt_us: u64) -> Sender {
        let mut sender = Sender {
            tp: Tp::new(10, MSS, Rng::new(1, "cc harness")),
            cc,
            rtt_us,
            service_us: 1,
            app_limit: u32::MAX,
            flight: VecDeque::new(),
        };
        let tp = &mut sender.tp;
        tp.ecn_ok = sender.cc.needs_accurate_ecn();
        tp.accurate_ecn = tp.ecn_ok;
        tp.now_us = 1_000_000 + rtt_us;
        tp.snd_una = 1;
        tp.snd_nxt = 1;
        tp.srtt_us = (rtt_us * 8) as u32;
        tp.mdev_us = (rtt_us * 2) as u32;
        tp.min_rtt_us = rtt_us as u32;
        tp.delivered_mstamp_us = tp.now_us;
        tp.first_tx_mstamp_us = tp.now_us;
        sender.cc.init(&mut sender.tp);
        sender
    }

    /// Sends what window and application allow.
    pub(crate) fn send(&mut self) {
        loop {
            let tp = &mut self.tp;
            let room = tp.snd_cwnd.min(self.app_limit);
            if tp.packets_out >= room {
                break;
            }
            if tp.packets_out == 0 {
                self.cc.cwnd_event(tp, CaEvent::TxStart);
                tp.first_tx_mstamp_us = tp.now_us;
                tp.delivered_mstamp_us = tp.now_us;
            }
            let last = self.flight.back().map_or(0, |sent| sent.ack_at_us);
            let sent = Sent {
                at_us: tp.now_us,
                ack_at_us: (tp.now_us + self.rtt_us).max(last + self.service_us),
                in_flight: tp.packets_out,
                lost: tp.lost,
                delivered: tp.delivered,
                delivered_mstamp_us: tp.delivered_mstamp_us,
                first_tx_mstamp_us: tp.first_tx_mstamp_us,
                is_app_limited: tp.app_limited > 0,
            };
            self.flight.push_back(sent);
            tp.packets_out += 1;
            tp.snd_nxt = tp.snd_nxt.wrapping_add(tp.mss);
            tp.lsndtime_us = tp.now_us;
        }
        let tp = &mut self.tp;
        tp.cwnd_limited = tp.packets_out >= tp.snd_cwnd;
        tp.max_packets_out = tp.packets_out;
        if !tp.cwnd_limited {
            tp.app_limited = (tp.delivered + u64::from(tp.packets_out)).max(1);
        }
    }

    /// Takes the next ACK. `may_grow` is false while a window reduction is under way.
    fn take_ack(&mut self, may_grow: bool, losses: u32) {
        let Some(sent) = self.flight.pop_front() else {
            return;
        };
        let (tp, cc) = (&mut self.tp, &mut self.cc);
        let prior_in_flight = tp.packets_in_flight();
        tp.now_us = tp.now_us.max(sent.ack_at_us);
        tp.snd_una = tp.snd_una.wrapping_add(tp.mss);
        let flags = AckFlags {
            fast_path: may_grow,
            window_update: true,
            ece: false,
        };
        cc.in_ack_event(tp, flags);

        tp.packets_out -= 1;
        tp.delivered += 1;
        tp.bytes_acked += u64::from(tp.mss);
        tp.delivered_mstamp_us = tp.now_us;
        if tp.app_limited > 0 && tp.delivered > tp.app_limited {
            tp.app_limited = 0;
        }
        let rtt = (tp.now_us - sent.at_us) as u32;
        tp.srtt_us = tp.srtt_us - (tp.srtt_us >> 3) + rtt;
        tp.min_rtt_us = tp.min_rtt_us.min(rtt);
        let sample = AckSample {
            pkts_acked: 1,
            rtt_us: rtt as i32,
            in_flight: sent.in_flight,
        };
        cc.pkts_acked(tp, &sample);

        if cc.has_cong_control() {
            let snd_interval = sent.at_us.saturating_sub(sent.first_tx_mstamp_us) as i64;
            let rcv_interval = (tp.now_us - sent.delivered_mstamp_us) as i64;
            tp.first_tx_mstamp_us = sent.at_us;
            let rs = RateSample {
                prior_mstamp_us: sent.delivered_mstamp_us,
                prior_delivered: sent.delivered,
                delivered: (tp.delivered - sent.delivered) as i64,
                interval_us: snd_interval.max(rcv_interval),
                snd_interval_us: snd_interval,
                rcv_interval_us: rcv_interval,
                rtt_us: i64::from(rtt),
                losses,
                acked_sacked: 1,
                prior_in_flight,
                last_end_seq: tp.snd_una,
                is_app_limited: sent.is_app_limited,
                tx_in_flight: sent.in_flight + 1,
                lost: (tp.lost - sent.lost) as u32,
                ..RateSample::default()
            };
            cc.cong_control(tp, &rs);
        } else if may_grow {
            cc.cong_avoid(tp, tp.snd_una, 1);
        }
    }

    /// One round trip: every segment now in flight is acknowledged, and each ACK lets new ones go.
    pub(crate) fn round(&mut self) {
        self.send();
        for _ in 0..self.flight.len() {
            self.take_ack(true, 0);
            self.send();
        }
    }

    /// Rounds, with the window after each.
    pub(crate) fn rounds(&mut self, n: usize) -> Vec<u32> {
        (0..n)
            .map(|_| {
                self.round();
                self.tp.snd_cwnd
            })
            .collect()
    }

    /// One segment is lost and repaired by fast recovery, which takes a round trip.
    pub(crate) fn lose(&mut self) {
        self.send();
        self.tp.lost += 1;
        if let Some(sent) = self.flight.front() {
            let segment = self.lost_segment(sent);
            self.cc.lost(&mut self.tp, &segment);
        }
        self.reduce();
        self.cc.set_state(&mut self.tp, CaState::Recovery);
        self.tp.ca_state = CaState::Recovery;
        for i in 0..self.flight.len() {
            self.take_ack(false, u32::from(i == 0));
        }
        self.cc.set_state(&mut self.tp, CaState::Open);
        self.tp.ca_state = CaState::Open;
        if !self.cc.has_cong_control() {
            self.tp.snd_cwnd = self.tp.snd_ssthresh;
            self.cc.cwnd_event(&mut self.tp, CaEvent::CompleteCwr);
        }
    }

    /// Everything in flight is lost and the retransmission timer fires.
    pub(crate) fn timeout(&mut self) {
        self.send();
        self.tp.now_us += 200_000 + self.rtt_us;
        for sent in std::mem::take(&mut self.flight) {
            self.tp.lost += 1;
            let segment = self.lost_segment(&sent);
            self.cc.lost(&mut self.tp, &segment);
        }
        self.reduce();
        self.cc.cwnd_event(&mut self.tp, CaEvent::Loss);
        self.tp.snd_cwnd = 1;
        self.tp.packets_out = 0;
        self.tp.snd_nxt = self.tp.snd_una;
        self.cc.set_state(&mut self.tp, CaState::Loss);
        self.tp.ca_state = CaState::Loss;
        self.round();
        self.cc.set_state(&mut self.tp, CaState::Open);
        self.tp.ca_state = CaState::Open;
    }

    /// All data is acknowledged, then nothing is sent for `us` microseconds.
    pub(crate) fn idle(&mut self, us: u64) {
        while !self.flight.is_empty() {
            self.take_ack(true, 0);
        }
        self.tp.now_us += us;
    }

    /// The value of an internal variable.
    pub(crate) fn observed(&self, name: &str) -> f64 {
        let all = self.cc.observe();
        let found = all.iter().find(|(key, _)| *key == name);
        found.unwrap_or_else(|| panic!("`{name}` is observed")).1
    }

    /// `sent` as it is told to be lost; segments lie a whole one apart.
    fn lost_segment(&self, sent: &Sent) -> LostSegment {
        let seq = self.tp.snd_una;
        LostSegment {
            seq,
            end: seq.wrapping_add(self.tp.mss),
            tx_in_flight: sent.in_flight + 1,
            lost: (self.tp.lost - sent.lost) as u32,
            is_app_limited: sent.is_app_limited,
        }
    }

    fn reduce(&mut self) {
        self.tp.prior_cwnd = self.tp.snd_cwnd;
        self.tp.snd_cwnd_cnt = 0;
        self.tp.snd_ssthresh = self.cc.ssthresh(&mut self.tp);
        if !self.cc.has_cong_control() {
            self.tp.snd_cwnd = self.tp.snd_cwnd.min(self.tp.snd_ssthresh);
        }
    }
}

#[test]
fn reno_doubles_then_halves_then_adds_one_a_round() {
    let mut sender = Sender::new("reno", &[], 50_000);
    assert_eq!(sender.tp.snd_ssthresh, INFINITE_SSTHRESH);
    assert_eq!(sender.rounds(3), [20, 40, 80]);
    sender.lose();
    assert_eq!((sender.tp.snd_cwnd, sender.tp.snd_ssthresh), (40, 40));
    assert_eq!(sender.rounds(3), [41, 42, 43]);
    sender.timeout();
    assert_eq!((sender.tp.snd_cwnd, sender.tp.snd_ssthresh), (2, 21));
}
