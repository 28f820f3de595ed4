//! A frame on its way, and the two clocks of the model.
//!
//! Lines count picoseconds, the core counts cycles. [`Shift`] is one span on both: the distance
//! between two states that are compared, or by which a state is moved. [`Clock`] leads from one to
//! the other.

/// A frame: what the stages need of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// When its preamble began to come in, in picoseconds.
    pub(crate) start: u64,
    /// With its FCS.
    pub(crate) bytes: u16,
    /// On the data path.
    pub(crate) words: u16,
    /// Its output queue: even numbers are ports, odd ones lead to the software.
    pub(crate) queue: u8,
    /// Its stream.
    pub(crate) stream: u8,
}

/// The core's clock: which cycle an instant lies in, without a division.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub(crate) period_ps: u64,
    /// 2⁶⁴ / period, rounded down: the product's upper half is the quotient or one less.
    reciprocal: u64,
}

impl Clock {
    pub(crate) fn new(period_ps: u64) -> Clock {
        Clock {
            period_ps,
            reciprocal: ((1_u128 << 64) / u128::from(period_ps.max(2))) as u64,
        }
    }

    /// The cycle that `ps` lies in.
    pub(crate) fn cycle(self, ps: u64) -> u64 {
        let about = ((u128::from(ps) * u128::from(self.reciprocal)) >> 64) as u64;
        about + u64::from(ps - about * self.period_ps >= self.period_ps)
    }

    /// The first cycle that begins at `ps` or later.
    pub(crate) fn cycle_from(self, ps: u64) -> u64 {
        let cycle = self.cycle(ps);
        cycle + u64::from(cycle * self.period_ps < ps)
    }
}

/// A span in picoseconds and in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shift {
    pub(crate) ps: u64,
    pub(crate) cycles: u64,
}

impl Shift {
    /// The span `times` times.
    pub(crate) fn times(self, times: u64) -> Shift {
        Shift {
            ps: self.ps * times,
            cycles: self.cycles * times,
        }
    }
}

/// What lies in time, and can be compared with itself at another time.
pub(crate) trait Timed {
    /// Whether `self` is what `earlier` was, `shift` later.
    fn repeats(&self, earlier: &Self, shift: Shift) -> bool;
    /// Moves everything into the future.
    fn advance(&mut self, shift: Shift);
}

impl Timed for Frame {
    fn repeats(&self, earlier: &Frame, shift: Shift) -> bool {
        let moved = Frame {
            start: earlier.start + shift.ps,
            ..*earlier
        };
        *self == moved
    }

    fn advance(&mut self, shift: Shift) {
        self.start += shift.ps;
    }
}

impl<T: Timed> Timed for std::collections::VecDeque<T> {
    fn repeats(&self, earlier: &Self, shift: Shift) -> bool {
        self.len() == earlier.len()
            && self
                .iter()
                .zip(earlier)
                .all(|(now, then)| now.repeats(then, shift))
    }

    fn advance(&mut self, shift: Shift) {
        for item in self {
            item.advance(shift);
        }
    }
}

impl<T: Timed> Timed for Vec<T> {
    fn repeats(&self, earlier: &Self, shift: Shift) -> bool {
        self.len() == earlier.len()
            && self
                .iter()
                .zip(earlier)
                .all(|(now, then)| now.repeats(then, shift))
    }

    fn advance(&mut self, shift: Shift) {
        for item in self {
            item.advance(shift);
        }
    }
}

impl<T: Timed> Timed for Option<T> {
    fn repeats(&self, earlier: &Self, shift: Shift) -> bool {
        match (self, earlier) {
            (Some(now), Some(then)) => now.repeats(then, shift),
            (None, None) => true,
            _ => false,
        }
    }

    fn advance(&mut self, shift: Shift) {
        if let Some(item) = self {
            item.advance(shift);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_clock_divides(period in 100..1_000_000_u64, ps in 0..u64::MAX / 2) {
            let clock = Clock::new(period);
            prop_assert_eq!(clock.cycle(ps), ps / period);
            prop_assert_eq!(clock.cycle_from(ps), ps.div_ceil(period));
            let whole = ps / period * period;
            prop_assert_eq!(clock.cycle_from(whole), ps / period);
        }
    }
}
