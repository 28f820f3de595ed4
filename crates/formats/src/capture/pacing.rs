//! Whether a sender spaces its data, or sends what an acknowledgement allows at once.
//!
//! Data that answer one acknowledgement leave together, or are spread over the time until the next
//! acknowledgement is answered. Their timestamps say which, wherever the capture was taken, if
//! acknowledgements are answered further apart than the clock of timestamps ticks.

/// Ticks from the data of an acknowledgement to those of the next, so that a tick does not matter.
const LEAST: i32 = 2;
/// A silence that is none of pacing.
const MOST: i32 = 1000;
/// Ticks that must have been seen.
const FEW: f64 = 16.0;

/// How data are spread.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacing {
    /// Of the data that echo the same timestamp: it, their own first and last timestamp, and how
    /// many they are.
    now: Option<(u32, u32, u32, u32)>,
    spread: f64,
    /// The same if they were spread evenly.
    even: f64,
}

impl Pacing {
    /// New data with the timestamp `value`, which echo `echo`.
    pub(super) fn data(&mut self, value: u32, echo: u32) {
        let Some((of, first, last, count)) = self.now else {
            self.now = Some((echo, value, value, 1));
            return;
        };
        if of == echo {
            self.now = Some((of, first, value, count.saturating_add(1)));
            return;
        }
        let whole = value.wrapping_sub(first).cast_signed();
        if (LEAST..=MOST).contains(&whole) && count > 1 {
            let spread = last.wrapping_sub(first).cast_signed().clamp(0, whole);
            self.spread += f64::from(spread);
            self.even += f64::from(whole) * f64::from(count - 1) / f64::from(count);
        }
        self.now = Some((echo, value, value, 1));
    }

    /// 0 of a sender whose data leave with acknowledgements, 1 of one that spaces them evenly; 0
    /// where nobody can tell.
    pub(super) fn evenness(&self) -> f64 {
        if self.even < FEW {
            return 0.0;
        }
        (self.spread / self.even).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_leave_together_are_told_from_data_that_are_spaced() {
        let (mut burst, mut spaced) = (Pacing::default(), Pacing::default());
        for n in 0..100 {
            for part in 0..2 {
                burst.data(6 * n, n);
                spaced.data(6 * n + 3 * part, n);
            }
        }
        assert!(burst.evenness() < 0.01, "{burst:?}");
        assert!(spaced.evenness() > 0.99, "{spaced:?}");
    }

    #[test]
    fn a_clock_that_is_too_slow_tells_nothing() {
        let mut fast = Pacing::default();
        (0..1000).for_each(|n| fast.data(n / 8, n / 8));
        assert_eq!(fast.evenness(), 0.0);
    }
}
