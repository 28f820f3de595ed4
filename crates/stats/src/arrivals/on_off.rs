//! On–off arrivals: a renewal process that runs only during "on" periods (ns-3, OnOffApplication).
//!
//! The clock of the gaps stands still during "off" periods, so the long-run rate is exactly that of
//! the gaps times mean(on) / (mean(on) + mean(off)).

use super::Spans;
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};

/// An on–off process: arrivals by `gaps` during "on" periods, silence between them. The first
/// period is "on", and its first arrival comes at the start. Ends at [`Time::MAX`].
///
/// What is left of a gap when a period ends is waited for in the next one. Periods and gaps draw
/// from streams of their own, so that a higher rate leaves the periods where they are.
#[derive(Debug)]
pub struct OnOff {
    next: Time,
    /// When the present "on" period ends; an arrival at this instant belongs to the next period.
    on_until: Time,
    on: Spans,
    off: Spans,
    gaps: Spans,
    periods_rng: Rng,
    gaps_rng: Rng,
}

/// Where an on–off process stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Whether the present period is "on".
    pub is_on: bool,
    /// What is left of the period.
    pub rest: Span,
    /// What is left of the gap to the next arrival, on the clock of the "on" periods.
    pub gap: Span,
}

/// Periods without any length in a row after which a process is held to be silent for ever.
const EMPTY_PERIODS_MAX: u32 = 100_000;

impl OnOff {
    /// The process that starts at `start`; `seed` and `entity` name its random streams as in
    /// [`Rng::new`].
    pub fn new(start: Time, on: Spans, off: Spans, gaps: Spans, seed: u64, entity: &str) -> OnOff {
        let mut process = OnOff {
            next: start,
            on_until: start,
            on,
            off,
            gaps,
            periods_rng: Rng::new(seed, &format!("{entity}:periods")),
            gaps_rng: Rng::new(seed, &format!("{entity}:gaps")),
        };
        process.on_until = start.saturating_add(process.on.draw(&mut process.periods_rng));
        process.skip_silence();
        process
    }

    /// The process that at `start` is in the midst of a period, as `phase` says: with a phase drawn
    /// from the long run it is stationary from its first instant on.
    pub fn under_way(
        start: Time,
        phase: Phase,
        on: Spans,
        off: Spans,
        gaps: Spans,
        seed: u64,
        entity: &str,
    ) -> OnOff {
        let mut process = OnOff {
            next: start.saturating_add(phase.gap),
            on_until: start.saturating_add(phase.rest),
            on,
            off,
            gaps,
            periods_rng: Rng::new(seed, &format!("{entity}:periods")),
            gaps_rng: Rng::new(seed, &format!("{entity}:gaps")),
        };
        if !phase.is_on {
            let on = process.on.draw(&mut process.periods_rng);
            process.next = process.next.saturating_add(phase.rest);
            process.on_until = process.on_until.saturating_add(on);
        }
        process.skip_silence();
        process
    }

    /// Arrivals per second in the long run, where the means of gaps and periods exist.
    pub fn mean_rate(&self) -> Option<f64> {
        let (on, off) = (self.on.mean_secs()?, self.off.mean_secs()?);
        let gap = self.gaps.mean_secs()?;
        (gap > 0.0 && on > 0.0).then(|| on / (on + off) / gap)
    }

    /// Moves `next` by each "off" period that begins before it or with it.
    fn skip_silence(&mut self) {
        let mut empty = 0;
        while self.next >= self.on_until {
            if self.next == Time::MAX || empty > EMPTY_PERIODS_MAX {
                self.next = Time::MAX;
                return;
            }
            let off = self.off.draw(&mut self.periods_rng);
            let on = self.on.draw(&mut self.periods_rng);
            self.next = self.next.saturating_add(off);
            self.on_until = self.on_until.saturating_add(off).saturating_add(on);
            empty = if on == Span::ZERO { empty + 1 } else { 0 };
        }
    }
}

impl Iterator for OnOff {
    type Item = Time;

    fn next(&mut self) -> Option<Time> {
        let at = self.next;
        if at == Time::MAX {
            return None;
        }
        self.next = at.saturating_add(self.gaps.draw(&mut self.gaps_rng));
        self.skip_silence();
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{constant, law};
    use super::*;

    #[test]
    fn what_is_left_of_a_gap_waits_for_the_next_period() {
        // On for 250 ms, off for 1 s, a gap of 100 ms on the clock of the "on" periods.
        let process = OnOff::new(
            Time::ZERO,
            constant(0.25),
            constant(1.0),
            constant(0.1),
            1,
            "bursts",
        );
        assert!((process.mean_rate().unwrap() - 2.0).abs() < 1e-12);
        let found: Vec<_> = process.take(7).map(Time::as_ms).collect();
        // An arrival at the end of a period, 500 ms on that clock, opens the next one.
        assert_eq!(found, [0, 100, 200, 1300, 1400, 2500, 2600]);
    }

    #[test]
    fn on_off_reaches_its_mean_rate() {
        let process = OnOff::new(
            Time::ZERO,
            Spans::seconds(law("exponential", &[("mean", 0.010)])),
            Spans::seconds(law("exponential", &[("mean", 0.030)])),
            Spans::constant_rate(10_000.0).unwrap(),
            1,
            "rate",
        );
        let rate = process.mean_rate().unwrap();
        assert!((rate - 2500.0).abs() < 1e-9);
        let seconds = 200.0;
        let arrivals = process.take_while(|at| at.as_secs_f64() < seconds).count();
        // 5000 cycles; the share of "on" varies by about 1.1 % (one standard deviation).
        assert!(
            (arrivals as f64 / (rate * seconds) - 1.0).abs() < 0.045,
            "{arrivals}"
        );
    }

    #[test]
    fn a_higher_rate_leaves_the_periods_in_place() {
        // With gaps far shorter than a period, a silence begins where arrivals pause.
        let silences = |per_second| {
            let process = OnOff::new(
                Time::ZERO,
                Spans::seconds(law("uniform", &[("min", 0.5), ("max", 1.0)])),
                constant(1.0),
                Spans::constant_rate(per_second).unwrap(),
                1,
                "periods",
            );
            let times: Vec<_> = process.take_while(|at| *at < Time::from_secs(20)).collect();
            let ends: Vec<_> = times
                .windows(2)
                .filter(|pair| pair[1] - pair[0] > Span::from_ms(500))
                .map(|pair| pair[0].as_ms())
                .collect();
            ends
        };
        let (slow, fast) = (silences(200.0), silences(1000.0));
        assert!(slow.len() >= 10, "{slow:?}");
        assert_eq!(slow.len(), fast.len());
        for (slow, fast) in slow.iter().zip(&fast) {
            assert!(slow.abs_diff(*fast) <= 6, "{slow} ms, {fast} ms");
        }
    }

    #[test]
    fn a_source_that_is_never_on_is_silent() {
        let mut process = OnOff::new(
            Time::ZERO,
            constant(0.0),
            constant(0.0),
            constant(0.1),
            1,
            "silent",
        );
        assert_eq!(process.next(), None);
        assert_eq!(process.mean_rate(), None);
    }

    #[test]
    fn one_seed_gives_one_schedule() {
        let schedule = |seed| -> Vec<Time> {
            let spans = || Spans::seconds(law("pareto", &[]));
            OnOff::new(Time::ZERO, spans(), spans(), spans(), seed, "repeat")
                .take(1000)
                .collect()
        };
        assert_eq!(schedule(1), schedule(1));
        assert_ne!(schedule(1), schedule(2));
        assert!(schedule(1).is_sorted());
    }
}
