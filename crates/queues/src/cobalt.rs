//! COBALT, the law of CAKE's queues: CoDel for what responds, BLUE for what does not.
//!
//! CoDel's part signals at intervals of interval / √n while packets wait longer than the target,
//! and, other than CoDel, comes down from n one by one at the same intervals when they do not, so
//! that a queue that is congested again soon finds the rate of signals that it needed. A queue that
//! never signalled does so with the first packet after the one that shows its delay, as Linux's
//! does, whose 1/√n is zero until then. BLUE's part
//! raises a probability of drops each time the queue overflows and lowers it while the queue is
//! empty; ECN does not help against it. (Høiland-Jørgensen et al. 2018, §III.A; `tc-cake(8)`;
//! Linux as observed.)

use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};

/// The law's parameters, one set for all queues of a tin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) target: Span,
    pub(crate) interval: Span,
    /// How long the largest packet takes at the tin's rate.
    pub(crate) largest: Span,
}

/// Steps of BLUE's probability: up at an overflow, down in an idle time of a target.
const BLUE_UP: f64 = 1.0 / 256.0;
const BLUE_DOWN: f64 = 1.0 / 4096.0;

/// The law's state for one queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cobalt {
    count: u32,
    is_dropping: bool,
    /// Whether the number of signals ever changed.
    has_signalled: bool,
    next_signal: Time,
    blue: f32,
    blue_at: Time,
}

/// What the law says of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    /// CoDel's: a mark will do.
    Signal,
    /// BLUE's: nothing but a drop will do.
    Drop,
}

impl Cobalt {
    /// Judges a packet that has waited for `delay` and leaves at `now`, of a queue in a `crowd` of
    /// others that each have a packet before it.
    pub(crate) fn judge(
        &mut self,
        now: Time,
        (delay, may_mark): (Span, bool),
        crowd: u32,
        settings: &Settings,
        rng: &mut Rng,
    ) -> Verdict {
        let is_above = delay > settings.target
            && delay > settings.largest * 4
            && delay > settings.largest * u64::from(crowd) * 2;
        let is_due = self.count > 0 && now >= self.next_signal;
        let was_late = now > self.next_signal;
        if is_above && !self.is_dropping {
            self.next_signal = if self.has_signalled {
                self.after(now, settings)
            } else {
                now
            };
        }
        if is_above {
            self.count = self.count.max(1);
        }
        self.is_dropping = is_above;
        let mut verdict = Verdict::Pass;
        let mut is_behind = was_late;
        if is_due && is_above {
            verdict = Verdict::Signal;
            self.count = self.count.saturating_add(1);
            self.has_signalled = true;
            self.next_signal = self.after(self.next_signal, settings);
            is_behind = now > self.next_signal;
        } else if is_due {
            self.come_down(now, settings);
            is_behind = now > self.next_signal;
        }
        if self.blue > 0.0 && rng.chance(f64::from(self.blue)) {
            verdict = Verdict::Drop;
        }
        if self.count == 0 {
            self.next_signal = now.saturating_add(settings.interval);
        } else if is_behind
            && (verdict == Verdict::Pass || (may_mark && verdict == Verdict::Signal))
        {
            self.next_signal = now;
        }
        verdict
    }

    /// The queue overflowed at `now` and lost its head.
    pub(crate) fn overflow(&mut self, now: Time, settings: &Settings) {
        if now.saturating_since(self.blue_at) > settings.target {
            self.blue = (f64::from(self.blue) + BLUE_UP).min(1.0) as f32;
            self.blue_at = now;
        }
        self.is_dropping = true;
        self.next_signal = now;
        self.count = self.count.max(1);
    }

    /// The queue has been empty until `now`, and gets a packet again.
    pub(crate) fn rest(&mut self, now: Time, settings: &Settings) {
        self.is_dropping = false;
        if self.count > 0 {
            self.come_down(now, settings);
        }
        if self.blue > 0.0 && settings.target > Span::ZERO {
            let idle = now.saturating_since(self.blue_at);
            let steps = idle.as_ps() / settings.target.as_ps();
            if steps > 0 {
                self.blue = (f64::from(self.blue) - steps as f64 * BLUE_DOWN).max(0.0) as f32;
                self.blue_at = now;
            }
        }
    }

    fn come_down(&mut self, now: Time, settings: &Settings) {
        while self.count > 0 && now >= self.next_signal {
            self.count -= 1;
            self.has_signalled = true;
            self.next_signal = self.after(self.next_signal, settings);
        }
    }

    fn after(&self, time: Time, settings: &Settings) -> Time {
        let interval = settings.interval.as_ps() as f64;
        let span = interval / f64::from(self.count.max(1)).sqrt();
        time.saturating_add(Span::from_ps(span as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: Settings = Settings {
        target: Span::from_ms(5),
        interval: Span::from_ms(100),
        largest: Span::from_ms(1),
    };

    /// When signals come in `ms`, a packet leaving each millisecond after `delay_ms`.
    fn signals(law: &mut Cobalt, delay_ms: u64, ms: std::ops::Range<u64>) -> Vec<u64> {
        let mut rng = Rng::new(1, "");
        let delay = Span::from_ms(delay_ms);
        ms.filter(|ms| {
            law.judge(Time::from_ms(*ms), (delay, true), 0, &SETTINGS, &mut rng) == Verdict::Signal
        })
        .collect()
    }

    #[test]
    fn signals_follow_the_root_and_come_down_as_they_came() {
        let mut law = Cobalt::default();
        assert_eq!(signals(&mut law, 1, 0..300), Vec::<u64>::new());
        // The first one ever at once, then 100/√2, 100/√3, … later.
        let first = [301, 371, 429, 479, 524, 564];
        assert_eq!(signals(&mut law, 20, 300..600), first);
        assert_eq!(law.count, 7);
        signals(&mut law, 1, 600..700);
        assert!((4..=5).contains(&law.count), "{}", law.count);
        signals(&mut law, 1, 700..1500);
        assert_eq!(law.count, 0);
        // From then on an interval after the delay rose.
        let again = [1600, 1671, 1729, 1779];
        assert_eq!(signals(&mut law, 20, 1500..1800), again);
    }

    #[test]
    fn four_packets_of_a_slow_link_are_no_standing_queue() {
        let slow = Settings {
            largest: Span::from_ms(10),
            ..SETTINGS
        };
        let mut law = Cobalt::default();
        let mut rng = Rng::new(1, "");
        for ms in 0..1000 {
            let delay = Span::from_ms(40);
            let verdict = law.judge(Time::from_ms(ms), (delay, true), 0, &slow, &mut rng);
            assert_eq!(verdict, Verdict::Pass);
        }
    }

    #[test]
    fn blue_rises_with_overflows_and_falls_in_idle_times() {
        let mut law = Cobalt::default();
        for ms in 1..=100 {
            law.overflow(Time::from_ms(10 * ms), &SETTINGS);
            // Not twice within a target.
            law.overflow(Time::from_ms(10 * ms + 1), &SETTINGS);
        }
        assert!((f64::from(law.blue) - 100.0 / 256.0).abs() < 1e-6);
        let mut rng = Rng::new(1, "");
        let drops = (0..10_000)
            .filter(|_| {
                let now = Time::from_ms(1002);
                law.judge(now, (Span::ZERO, true), 0, &SETTINGS, &mut rng) == Verdict::Drop
            })
            .count();
        assert!(drops.abs_diff(3906) < 200, "{drops}");
        law.rest(Time::from_ms(1000 + 5 * 4096 / 2), &SETTINGS);
        assert_eq!(law.blue, 0.0);
    }
}
