//! PIE's law as Linux keeps it: of `pie` with `dialect = "linux"`, and of each queue of `fq_pie`.
//!
//! Beside RFC 8033 it differs in what it takes for the delay, and when. The delay is that of the
//! packet that left last, or nothing where none was left behind it; it stays so until another
//! leaves. Every update uses it, and every arrival. A timer of the kernel's wheel fires a tick
//! after the time that it was given, and is armed anew each time, so that updates of 15 ms come
//! every 16 ms (1000 ticks a second).
//!
//! The probability may go above 1, and then takes as long to come down. (`include/net/pie.h`;
//! Linux 6.12 and 7.1 as observed.)

use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};

/// A tick of the kernel's clock (`CONFIG_HZ=1000`).
const TICK: Span = Span::from_ms(1);
/// The largest step of a probability that is not small, and the delay above which the kernel goes
/// so much further.
pub(crate) const MOST_STEP: f64 = 0.02;
const LONG_S: f64 = 0.25;
/// What an update in an idle time leaves of the probability.
const IDLE: f64 = 1.0 - 1.0 / 64.0;
/// The probability is kept in 64 bits, of which 56 are behind the point.
const HIGHEST: f64 = 256.0;
/// The sum of probabilities below which nothing is signalled, and from which on everything is.
const SPREAD: (f64, f64) = (0.85, 8.5);
/// No signal while the delay is below half the target and the probability below this.
const LOW_PROBABILITY: f64 = 0.2;

/// Small probabilities move in small steps (RFC 8033 §4.2).
pub(crate) fn scale(probability: f64) -> f64 {
    const STEPS: [(f64, f64); 6] = [
        (0.000_001, 2048.0),
        (0.000_01, 512.0),
        (0.000_1, 128.0),
        (0.001, 32.0),
        (0.01, 8.0),
        (0.1, 2.0),
    ];
    let step = STEPS.iter().find(|(below, _)| probability < *below);
    step.map_or(1.0, |(_, divisor)| 1.0 / divisor)
}

/// The law's parameters, one set for all queues of a discipline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) target: Span,
    /// Weights of the delay's deviation from the target and of its change, 1/s.
    pub(crate) weights: (f64, f64),
    /// The burst that is let through after an idle time.
    pub(crate) max_burst: Span,
    /// From one update to the next, [`period`].
    pub(crate) period: Span,
    /// Bytes of the largest frame.
    pub(crate) frame: u32,
}

/// From one update to the next where `update` is asked for: whole ticks, and the wheel's grain
/// more, which is one tick up to 63 and eight times as much for each eightfold of that.
pub(crate) fn period(update: Span) -> Span {
    let ticks = update.as_ps().div_ceil(TICK.as_ps());
    let mut shift = 0;
    while ticks > 63 << shift {
        shift += 3;
    }
    TICK * (((ticks >> shift) + 1) << shift)
}

/// What the law remembers of one queue.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LinuxPie {
    probability: f64,
    /// Probabilities summed since the last drop.
    accumulated: f64,
    delay: Span,
    /// The delay at the last update.
    old_delay: Span,
    burst_left: Span,
    last_departure: Option<Time>,
    next_update: Time,
}

impl LinuxPie {
    /// A queue that nothing has come to, whose first update is then.
    pub(crate) fn new(settings: &Settings, first_update: Time) -> LinuxPie {
        LinuxPie {
            probability: 0.0,
            accumulated: 0.0,
            delay: Span::ZERO,
            old_delay: Span::ZERO,
            burst_left: settings.max_burst,
            last_departure: None,
            next_update: first_update,
        }
    }

    /// The probability of a signal.
    pub(crate) fn probability(&self) -> f64 {
        self.probability
    }

    /// An arrival was dropped.
    pub(crate) fn dropped(&mut self) {
        self.accumulated = 0.0;
    }

    /// Makes up for the updates up to `now`, since the last of which `bytes` have waited.
    pub(crate) fn catch_up(&mut self, now: Time, bytes: u64, settings: &Settings) {
        while self.next_update <= now {
            let before = (self.probability, self.old_delay);
            self.update(bytes, settings);
            self.next_update = self.next_update.saturating_add(settings.period);
            if before == (self.probability, self.old_delay) {
                // Nothing would change any more.
                let behind = now.saturating_since(self.next_update).as_ps();
                let skipped = settings.period * (behind / settings.period.as_ps());
                self.next_update = self.next_update.saturating_add(skipped);
            }
        }
    }

    fn update(&mut self, bytes: u64, settings: &Settings) {
        let (alpha, beta) = settings.weights;
        let [target_s, delay_s, old_s] =
            [settings.target, self.delay, self.old_delay].map(Span::as_secs_f64);
        let mut step =
            scale(self.probability) * (alpha * (delay_s - target_s) + beta * (delay_s - old_s));
        if self.probability >= 0.1 {
            step = step.min(MOST_STEP);
        }
        if delay_s > LONG_S {
            step += MOST_STEP;
        }
        self.probability = (self.probability + step).max(0.0);
        if self.probability >= HIGHEST {
            self.probability = 1.0;
        }
        let is_idle = self.delay == Span::ZERO && self.old_delay == Span::ZERO && bytes == 0;
        if is_idle {
            self.probability *= IDLE;
        }
        let half = settings.target / 2;
        if self.probability == 0.0 && self.delay < half && self.old_delay < half {
            self.burst_left = settings.max_burst;
            self.last_departure = None;
            self.accumulated = 0.0;
        }
        self.old_delay = self.delay;
    }

    /// A packet that came at `enqueued` leaves at `now`, and `bytes` still wait.
    pub(crate) fn depart(&mut self, now: Time, enqueued: Time, bytes: u64) {
        self.delay = if bytes > 0 {
            now.saturating_since(enqueued)
        } else {
            Span::ZERO
        };
        if let Some(last) = self.last_departure.replace(now) {
            self.burst_left = self.burst_left.saturating_sub(now.saturating_since(last));
        }
    }

    /// Whether an arrival is signalled that finds `bytes` waiting; `share` scales the probability.
    pub(crate) fn signals(
        &mut self,
        bytes: u64,
        share: f64,
        settings: &Settings,
        rng: &mut Rng,
    ) -> bool {
        let is_calm = self.delay < settings.target / 2 && self.probability < LOW_PROBABILITY;
        let is_short = bytes < 2 * u64::from(settings.frame);
        if self.burst_left > Span::ZERO || is_calm || is_short {
            return false;
        }
        let probability = self.probability * share;
        if probability == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += probability;
        if self.accumulated < SPREAD.0 {
            return false;
        }
        // A mark does not begin the sum anew here: only a drop does.
        if self.accumulated >= SPREAD.1 {
            return true;
        }
        let signals = rng.chance(probability);
        if signals {
            self.accumulated = 0.0;
        }
        signals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings {
            target: Span::from_ms(15),
            weights: (0.125, 1.25),
            max_burst: Span::from_ms(150),
            period: period(Span::from_ms(15)),
            frame: 1514,
        }
    }

    fn law() -> LinuxPie {
        let settings = settings();
        LinuxPie::new(&settings, Time::ZERO + settings.period)
    }

    #[test]
    fn a_timer_of_ticks_fires_a_grain_late() {
        assert_eq!(period(Span::from_ms(15)), Span::from_ms(16));
        assert_eq!(period(Span::from_us(14_001)), Span::from_ms(16));
        assert_eq!(period(Span::from_ms(63)), Span::from_ms(64));
        assert_eq!(period(Span::from_ms(64)), Span::from_ms(72));
        let (settings, mut law) = (settings(), law());
        law.delay = Span::from_ms(30);
        law.catch_up(Time::from_us(15_999), 3000, &settings);
        assert_eq!(law.probability(), 0.0);
        law.catch_up(Time::from_ms(16), 3000, &settings);
        assert!(law.probability() > 0.0);
    }

    #[test]
    fn it_looks_at_the_present_delay_and_hurries_when_it_is_long() {
        let (settings, mut law) = (settings(), law());
        law.probability = 0.3;
        (law.delay, law.old_delay) = (Span::from_ms(300), Span::from_ms(300));
        law.update(3000, &settings);
        // 0.125 · 285 ms is above 2 %, and the delay above 250 ms.
        assert!((law.probability - 0.34).abs() < 1e-12);
        (law.probability, law.delay, law.old_delay) = (0.3, Span::ZERO, Span::ZERO);
        law.burst_left = Span::ZERO;
        law.update(0, &settings);
        let fallen = (0.3 - 0.125 * 0.015) * 63.0 / 64.0;
        assert!((law.probability - fallen).abs() < 1e-12);
        assert_eq!(law.burst_left, Span::ZERO, "the probability is not 0");
        // A delay that was not seen yet says nothing.
        law.probability = 0.3;
        law.update(3000, &settings);
        assert!((law.probability - (0.3 - 0.125 * 0.015)).abs() < 1e-12);
    }

    #[test]
    fn the_delay_is_zero_from_an_empty_queue_to_the_next_departure_before_others() {
        let mut law = law();
        law.depart(Time::from_ms(20), Time::ZERO, 1500);
        assert_eq!(law.delay, Span::from_ms(20));
        law.depart(Time::from_ms(21), Time::from_ms(1), 0);
        assert_eq!(law.delay, Span::ZERO);
        // Others have come meanwhile.
        law.catch_up(Time::from_ms(40), 3000, &settings());
        assert_eq!(law.delay, Span::ZERO);
    }

    #[test]
    fn an_allowance_is_spent_from_one_departure_to_the_next_and_begins_anew() {
        let (settings, mut law) = (settings(), law());
        law.depart(Time::from_ms(500), Time::from_ms(500), 0);
        assert_eq!(
            law.burst_left,
            Span::from_ms(150),
            "the first spends nothing"
        );
        law.depart(Time::from_ms(600), Time::from_ms(600), 0);
        assert_eq!(law.burst_left, Span::from_ms(50));
        law.update(0, &settings);
        law.depart(Time::from_ms(700), Time::from_ms(700), 0);
        assert_eq!(law.burst_left, Span::from_ms(150));
    }

    #[test]
    fn a_probability_above_one_stays_so() {
        let (settings, mut law) = (settings(), law());
        law.probability = 1.5;
        law.delay = Span::from_ms(300);
        law.old_delay = law.delay;
        law.update(3000, &settings);
        assert!((law.probability - 1.54).abs() < 1e-12);
    }

    #[test]
    fn signals_after_a_long_wait_go_on_until_a_drop() {
        let (settings, mut law) = (settings(), law());
        let mut rng = Rng::new(1, "pie");
        (law.burst_left, law.probability) = (Span::ZERO, 0.05);
        law.delay = Span::from_ms(20);
        law.accumulated = 8.5;
        for _ in 0..100 {
            assert!(law.signals(3028, 1.0, &settings, &mut rng));
        }
        law.dropped();
        assert!(!law.signals(3028, 1.0, &settings, &mut rng));
    }
}
