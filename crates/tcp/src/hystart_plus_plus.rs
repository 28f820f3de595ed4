//! HyStart++: slow start that ends when the round trip grows, and asks again before it does.
//!
//! ```text
//!               rtt of a round ≥ that of the last + 1/8 (4 to 16 ms)
//!  slow start ─────────────────────────────────▶ conservative ──5 rounds──▶ ssthresh = cwnd
//!  cwnd + n     ◀─ the round trip is smaller again ─  cwnd + n/4
//! ```
//! n is what an ACK acknowledges, at most eight segments where they are not paced. It works in the
//! first slow start only: later ones know a threshold.
//!
//! Source: RFC 9406 §4.2, with the constants of §4.3.

use crate::tp::{INFINITE_SSTHRESH, Tp};

/// Bounds on how much the round trip must grow, µs.
const MIN_RTT_THRESH_US: u32 = 4_000;
const MAX_RTT_THRESH_US: u32 = 16_000;
/// The part of the round trip by which it must grow between them.
const MIN_RTT_DIVISOR: u32 = 8;
/// Samples of a round before its minimum counts.
const N_RTT_SAMPLE: u32 = 8;
/// How much slower the conservative phase grows.
const CSS_GROWTH_DIVISOR: u32 = 4;
/// Rounds of the conservative phase.
const CSS_ROUNDS: u32 = 5;
/// Most segments that an ACK may add where segments are not paced.
const UNPACED_LIMIT: u32 = 8;
/// No round trip yet, µs.
const NO_RTT: u32 = u32::MAX;

/// What slow start does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It doubles the window a round.
    Standard,
    /// The round trip has grown: a quarter of that for some rounds, of which so many are over.
    Conservative(u32),
    /// It is over.
    Done,
}

/// The state of HyStart++.
#[derive(Clone, Debug)]
pub(crate) struct HyStartPlusPlus {
    phase: Phase,
    /// An ACK of this sequence number ends the round.
    window_end: u32,
    last_round_min_us: u32,
    round_min_us: u32,
    samples: u32,
    /// The smallest round trip of the round that began the conservative phase, µs.
    baseline_us: u32,
    /// Acknowledged segments that have not yet made a whole one, in the conservative phase.
    credit: u32,
}

impl HyStartPlusPlus {
    pub(crate) fn new() -> HyStartPlusPlus {
        HyStartPlusPlus {
            phase: Phase::Standard,
            window_end: 0,
            last_round_min_us: NO_RTT,
            round_min_us: NO_RTT,
            samples: 0,
            baseline_us: NO_RTT,
            credit: 0,
        }
    }

    /// The connection begins.
    pub(crate) fn begin(&mut self, tp: &Tp) {
        *self = HyStartPlusPlus::new();
        self.window_end = tp.snd_nxt;
    }

    //= rfc9406 §4.2
    //# HyStart++ only for the initial slow start
    /// Whether it still has a say: the first slow start goes on.
    #[inline]
    pub(crate) fn is_active(&self, tp: &Tp) -> bool {
        self.phase != Phase::Done && tp.snd_ssthresh == INFINITE_SSTHRESH
    }

    /// Takes in the round trip of an ACK, before the window grows for it.
    pub(crate) fn take_rtt(&mut self, tp: &mut Tp, rtt_us: u32) {
        if !self.is_active(tp) {
            return;
        }
        if tp.snd_una.wrapping_sub(self.window_end) as i32 >= 0 {
            self.end_round(tp);
        }
        self.round_min_us = self.round_min_us.min(rtt_us);
        self.samples += 1;
        if self.samples < N_RTT_SAMPLE {
            return;
        }
        match self.phase {
            Phase::Standard if self.has_grown() => {
                self.baseline_us = self.round_min_us;
                self.phase = Phase::Conservative(0);
                self.credit = 0;
            }
            Phase::Conservative(_) if self.round_min_us < self.baseline_us => {
                // It was jitter.
                self.baseline_us = NO_RTT;
                self.phase = Phase::Standard;
            }
            _ => {}
        }
    }

    fn end_round(&mut self, tp: &mut Tp) {
        self.window_end = tp.snd_nxt;
        self.last_round_min_us = self.round_min_us;
        self.round_min_us = NO_RTT;
        self.samples = 0;
        if let Phase::Conservative(rounds) = self.phase {
            // The round in which the phase began counts.
            self.phase = Phase::Conservative(rounds + 1);
            if rounds + 1 >= CSS_ROUNDS {
                tp.snd_ssthresh = tp.snd_cwnd;
                self.phase = Phase::Done;
            }
        }
    }

    fn has_grown(&self) -> bool {
        if self.last_round_min_us == NO_RTT {
            return false;
        }
        let part = self.last_round_min_us / MIN_RTT_DIVISOR;
        let allowed = part.clamp(MIN_RTT_THRESH_US, MAX_RTT_THRESH_US);
        self.round_min_us >= self.last_round_min_us.saturating_add(allowed)
    }

    /// Grows the window of a flow that uses it by `acked` segments.
    pub(crate) fn grow(&mut self, tp: &mut Tp, acked: u32) {
        if !tp.is_cwnd_limited() {
            return;
        }
        let acked = if tp.pacing {
            acked
        } else {
            acked.min(UNPACED_LIMIT)
        };
        let growth = if let Phase::Conservative(_) = self.phase {
            self.credit += acked;
            let growth = self.credit / CSS_GROWTH_DIVISOR;
            self.credit %= CSS_GROWTH_DIVISOR;
            growth
        } else {
            acked
        };
        if growth > 0 {
            tp.slow_start(growth);
        }
    }

    /// For traces: 1 in standard slow start, 2 in the conservative phase, 0 afterwards.
    pub(crate) fn observe(&self) -> (&'static str, f64) {
        let phase = match self.phase {
            Phase::Standard => 1.0,
            Phase::Conservative(_) => 2.0,
            Phase::Done => 0.0,
        };
        ("hystart_phase", phase)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::rng::Rng;

    /// A sender whose rounds have as many samples of the same round trip as its window had
    /// segments.
    struct Rounds {
        tp: Tp,
        hystart: HyStartPlusPlus,
    }

    impl Rounds {
        fn new(cwnd: u32) -> Rounds {
            let mut tp = Tp::new(cwnd, 1000, Rng::new(1, "hystart++"));
            tp.cwnd_limited = true;
            let mut hystart = HyStartPlusPlus::new();
            hystart.begin(&tp);
            Rounds { tp, hystart }
        }

        /// One round whose segments are acknowledged one by one.
        fn round(&mut self, rtt_us: u32) -> u32 {
            self.round_of(&vec![rtt_us; self.tp.snd_cwnd as usize])
        }

        /// A round in which an ACK of a segment has each of these round trips.
        fn round_of(&mut self, rtts_us: &[u32]) -> u32 {
            let before = self.tp.snd_cwnd;
            // The window is sent before its first ACK comes, which ends the round before; its own
            // last ACK is left for that.
            let sent = rtts_us.len() as u32 + 1;
            self.tp.snd_nxt = self.tp.snd_una.wrapping_add(sent * 1000);
            for rtt_us in rtts_us {
                self.tp.snd_una = self.tp.snd_una.wrapping_add(1000);
                self.hystart.take_rtt(&mut self.tp, *rtt_us);
                if self.hystart.is_active(&self.tp) {
                    self.hystart.grow(&mut self.tp, 1);
                }
                self.tp.snd_nxt = self.tp.snd_nxt.wrapping_add(2000);
            }
            self.tp.snd_nxt = self.tp.snd_una;
            self.hystart.window_end = self.tp.snd_una.wrapping_add(1);
            self.tp.snd_cwnd - before
        }
    }

    #[test]
    fn a_steady_round_trip_lets_the_window_double() {
        let mut rounds = Rounds::new(10);
        for cwnd in [20, 40, 80, 160] {
            rounds.round(40_000);
            assert_eq!(rounds.tp.snd_cwnd, cwnd);
        }
        assert_eq!(rounds.hystart.phase, Phase::Standard);
    }

    #[test]
    fn an_eighth_more_makes_it_conservative_and_five_rounds_end_it() {
        let mut rounds = Rounds::new(16);
        rounds.round(40_000);
        rounds.round(44_999);
        assert_eq!(rounds.hystart.phase, Phase::Standard);
        let cwnd = rounds.tp.snd_cwnd;
        let grown = rounds.round(49_999 + 626);
        assert!(matches!(rounds.hystart.phase, Phase::Conservative(0)));
        // Seven samples at full speed, the eighth and those after it at a quarter.
        assert_eq!(grown, 7 + (cwnd - 7) / 4);
        for _ in 1..5 {
            let cwnd = rounds.tp.snd_cwnd;
            let grown = rounds.round(60_000);
            assert!(grown.abs_diff(cwnd / 4) <= 1, "{grown} of {cwnd}");
            assert_eq!(rounds.tp.snd_ssthresh, INFINITE_SSTHRESH);
        }
        let cwnd = rounds.tp.snd_cwnd;
        rounds.round(60_000);
        assert_eq!(rounds.hystart.phase, Phase::Done);
        assert_eq!(rounds.tp.snd_ssthresh, cwnd);
        assert!(!rounds.hystart.is_active(&rounds.tp));
    }

    #[test]
    fn jitter_leads_back_to_slow_start() {
        let mut rounds = Rounds::new(16);
        rounds.round(40_000);
        rounds.round(50_000);
        assert!(matches!(rounds.hystart.phase, Phase::Conservative(_)));
        rounds.round(45_000);
        assert_eq!(rounds.hystart.phase, Phase::Standard);
        let cwnd = rounds.tp.snd_cwnd;
        assert_eq!(rounds.round(45_000), cwnd);
    }

    #[test]
    fn seven_samples_are_too_few() {
        let mut rounds = Rounds::new(16);
        rounds.round(40_000);
        rounds.round_of(&[80_000; 7]);
        assert_eq!(rounds.hystart.phase, Phase::Standard);
        rounds.round_of(&[120_000; 8]);
        assert!(matches!(rounds.hystart.phase, Phase::Conservative(_)));
    }

    #[test]
    fn what_must_be_more_lies_between_4_and_16_ms() {
        for (first, more) in [(1_000, 4_000), (80_000, 10_000), (400_000, 16_000)] {
            for (given, is_conservative) in [(more - 1, false), (more, true)] {
                let mut rounds = Rounds::new(16);
                rounds.round(first);
                rounds.round(first + given);
                let is_found = matches!(rounds.hystart.phase, Phase::Conservative(_));
                assert_eq!(is_found, is_conservative, "{first} and {given}");
            }
        }
    }

    #[test]
    fn an_ack_of_many_segments_adds_eight_where_they_are_not_paced() {
        for (pacing, wanted) in [(false, 18), (true, 30)] {
            let mut rounds = Rounds::new(10);
            rounds.tp.pacing = pacing;
            rounds.hystart.grow(&mut rounds.tp, 20);
            assert_eq!(rounds.tp.snd_cwnd, wanted);
        }
    }

    #[test]
    fn after_a_loss_it_has_no_say() {
        let mut rounds = Rounds::new(16);
        rounds.round(40_000);
        rounds.tp.snd_ssthresh = 100;
        rounds.round(80_000);
        assert_eq!(rounds.hystart.phase, Phase::Standard);
        assert!(!rounds.hystart.is_active(&rounds.tp));
    }
}
