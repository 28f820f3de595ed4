//! A token bucket in exact integer arithmetic, refilled when it is asked.
//!
//! The bucket fills at `rate` up to `burst` bytes; a packet of n bytes takes n. Tokens are counted
//! in bit·ps/s (one bit is 10¹² of them), the product of a rate in bit/s and a time in picoseconds,
//! so that neither refilling nor waiting ever rounds: however often the bucket is asked, it lets
//! through the same.
//!
//! Source: RFC 2697 §3 (one bucket of the three colours); the shaper of `tc-tbf(8)`.

use crate::time::{Span, Time};
use crate::units::Rate;

/// Tokens in one byte.
const TOKENS_PER_BYTE: u128 = 8 * 1_000_000_000_000;

/// A token bucket; it starts full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenBucket {
    rate: Rate,
    burst: u128,
    tokens: u128,
    filled: Time,
}

impl TokenBucket {
    /// A full bucket of `burst_bytes` bytes that fills at `rate` from time zero on.
    pub fn new(rate: Rate, burst_bytes: u64) -> TokenBucket {
        let burst = u128::from(burst_bytes) * TOKENS_PER_BYTE;
        TokenBucket {
            rate,
            burst,
            tokens: burst,
            filled: Time::ZERO,
        }
    }

    /// Changes the rate from `now` on.
    pub fn set_rate(&mut self, now: Time, rate: Rate) {
        self.refill(now);
        self.rate = rate;
    }

    /// Whole bytes in the bucket at `now`.
    pub fn bytes(&self, now: Time) -> u64 {
        (self.tokens_at(now) / TOKENS_PER_BYTE) as u64
    }

    /// The first time, not before `now`, at which the bucket holds `bytes` bytes; [`Time::MAX`]
    /// where it never will, because they exceed the burst or the rate is zero.
    pub fn earliest(&self, now: Time, bytes: u64) -> Time {
        let need = u128::from(bytes) * TOKENS_PER_BYTE;
        let now = now.max(self.filled);
        let have = self.tokens_at(now);
        if need <= have {
            return now;
        }
        if need > self.burst || self.rate.as_bps() == 0 {
            return Time::MAX;
        }
        let wait = (need - have).div_ceil(u128::from(self.rate.as_bps()));
        now + Span::from_ps(u64::try_from(wait).unwrap_or(u64::MAX))
    }

    /// Takes `bytes` bytes at `now` if the bucket holds them, and says whether it did.
    pub fn take(&mut self, now: Time, bytes: u64) -> bool {
        self.refill(now);
        let need = u128::from(bytes) * TOKENS_PER_BYTE;
        let conforms = need <= self.tokens;
        if conforms {
            self.tokens -= need;
        }
        conforms
    }

    fn refill(&mut self, now: Time) {
        self.tokens = self.tokens_at(now);
        self.filled = self.filled.max(now);
    }

    fn tokens_at(&self, now: Time) -> u128 {
        let span = now.saturating_since(self.filled);
        let new = u128::from(span.as_ps()) * u128::from(self.rate.as_bps());
        (self.tokens + new).min(self.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_burst_passes_at_once_and_the_rest_at_the_rate() {
        let mut bucket = TokenBucket::new(Rate::from_bps(8_000_000), 3000);
        let now = Time::from_secs(1);
        assert!(bucket.take(now, 1500) && bucket.take(now, 1500) && !bucket.take(now, 1));
        // 1500 bytes at a byte a microsecond.
        let next = bucket.earliest(now, 1500);
        assert_eq!(next, now + Span::from_us(1500));
        assert!(!bucket.take(next - Span::from_ps(1), 1500));
        assert!(bucket.take(next, 1500));
        assert_eq!(bucket.bytes(next), 0);
    }

    #[test]
    fn what_exceeds_the_burst_never_passes() {
        let mut bucket = TokenBucket::new(Rate::from_bps(1000), 100);
        assert_eq!(bucket.earliest(Time::ZERO, 101), Time::MAX);
        assert!(!bucket.take(Time::from_secs(1000), 101));
        let mut still = TokenBucket::new(Rate::from_bps(0), 100);
        assert!(still.take(Time::ZERO, 100));
        assert_eq!(still.earliest(Time::from_secs(1), 1), Time::MAX);
    }

    #[test]
    fn a_new_rate_holds_from_its_time_on() {
        let mut bucket = TokenBucket::new(Rate::from_bps(8_000), 10_000);
        assert!(bucket.take(Time::ZERO, 10_000));
        bucket.set_rate(Time::from_secs(1), Rate::from_bps(16_000));
        assert_eq!(bucket.bytes(Time::from_secs(2)), 1000 + 2000);
    }

    proptest! {
        /// Never more than burst + rate × time, and asking does not change what passes.
        #[test]
        fn conforms_exactly(
            rate in 1_u64..400_000_000_000,
            burst in 1_u64..100_000,
            steps in prop::collection::vec(
                (0_u64..10_000_000_000, 1_u64..2000, any::<bool>()), 1..60
            ),
        ) {
            let mut bucket = TokenBucket::new(Rate::from_bps(rate), burst);
            let (mut now, mut passed) = (Time::ZERO, 0_u64);
            for (gap, bytes, wait) in steps {
                now += Span::from_ps(gap);
                let at = bucket.earliest(now, bytes);
                if wait && at < Time::MAX {
                    if at > now {
                        prop_assert!(!bucket.clone().take(at - Span::from_ps(1), bytes));
                    }
                    now = at;
                }
                let mut asked_often = bucket.clone();
                asked_often.set_rate(now, Rate::from_bps(rate));
                let taken = bucket.take(now, bytes);
                prop_assert_eq!(taken, asked_often.take(now, bytes));
                prop_assert_eq!(taken, at <= now);
                passed += if taken { bytes } else { 0 };
                let bound = u128::from(burst) * TOKENS_PER_BYTE
                    + u128::from(now.as_ps()) * u128::from(rate);
                prop_assert!(u128::from(passed) * TOKENS_PER_BYTE <= bound);
            }
        }
    }
}
