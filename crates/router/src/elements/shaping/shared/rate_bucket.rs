//! A token bucket in ticks of a millisecond, with a level of 32 bits.
//!
//! The level is a fraction of the capacity: a full bucket is 2³² − 1, a token is
//!
//! ```text
//! scale = ⌊(2³² − 1) / capacity⌋          added a tick = ⌊rate · scale / 1000⌋
//! ```
//!
//! so that how many packets pass in a time is to the packet what Click lets pass. `trammel_core`'s
//! bucket does not fit: it is exact to the picosecond and counts bytes at a rate in bits, where
//! these elements count packets too, and users compare counts with Click's, whose bucket of one
//! packet at 100 packets/s fills in 11 ticks, not in 10.

use crate::args::kinds::UINT;
use crate::args::{Args, Kind, Param, keyword, mandatory};
use crate::diagnostic::Diagnostics;
use trammel_packet::timestamp::Timestamp;

/// Nanoseconds in a tick.
const TICK_NS: i64 = 1_000_000;
/// Ticks in a second.
const TICKS: u64 = 1000;
/// The level of a full bucket.
const FULL: u32 = u32::MAX;
/// Tokens that a bucket of bytes must hold before a packet passes, which may be that long.
const LONGEST_PACKET: u32 = 131_072;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// A packet.
    Packets,
    /// A byte.
    Bytes,
}

const RATE: &str = "tokens a second";

const DURATION: Param = keyword(
    "BURST_DURATION",
    Kind::SecondsIn(3),
    "0.02",
    "the bucket holds what the rate fills in this time",
);

/// The arguments of elements that count packets.
pub(crate) const PARAMS_PACKETS: &[Param] = &[
    mandatory("RATE", UINT, RATE),
    DURATION,
    keyword("BURST_SIZE", UINT, "", "tokens that the bucket holds"),
];

/// The arguments of elements that count bytes.
pub(crate) const PARAMS_BYTES: &[Param] = &[
    mandatory("RATE", Kind::Bandwidth, RATE),
    DURATION,
    keyword("BURST_BYTES", UINT, "", "tokens that the bucket holds"),
];

/// A token bucket; it starts full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RateBucket {
    scale: u32,
    per_tick: u32,
    level: u32,
    /// The tick of the last refill.
    tick: i64,
}

impl Default for RateBucket {
    fn default() -> RateBucket {
        RateBucket {
            scale: 1,
            per_tick: 0,
            level: FULL,
            tick: 0,
        }
    }
}

impl RateBucket {
    /// Sets rate and capacity; the level remains the part of the capacity that it is. A bucket
    /// holds at least what a tick adds.
    pub(crate) fn set(&mut self, rate: u32, capacity: u32) {
        let least = u64::from(rate).div_ceil(TICKS) as u32;
        self.scale = FULL / capacity.max(least).max(1);
        self.per_tick = match (u64::from(rate) * u64::from(self.scale) / TICKS) as u32 {
            0 => u32::from(rate > 0),
            per_tick => per_tick,
        };
    }

    /// Sets it as the arguments of [`PARAMS_PACKETS`] or [`PARAMS_BYTES`] say.
    pub(crate) fn configure(&mut self, unit: Unit, args: &Args) -> Result<(), Diagnostics> {
        let (burst, size) = match unit {
            Unit::Packets => ("BURST_SIZE", args.opt_uint("BURST_SIZE")),
            Unit::Bytes => ("BURST_BYTES", args.opt_uint("BURST_BYTES")),
        };
        if args.given("BURST_DURATION") && args.given(burst) {
            let text = "cannot specify both BURST_DURATION and BURST_SIZE";
            return Err(Diagnostics::of(text));
        }
        let narrow = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let rate = narrow(args.uint("RATE"));
        let duration_ms = args.uint("BURST_DURATION");
        let filled = u64::from(rate).saturating_mul(duration_ms) / 1000;
        let capacity = narrow(size.unwrap_or(filled));
        let capacity = match unit {
            Unit::Packets => capacity,
            Unit::Bytes => capacity.saturating_add(LONGEST_PACKET),
        };
        self.set(rate, capacity.max(1));
        Ok(())
    }

    /// The rate in tokens a second as Click computes it from what a tick adds: a little too high
    /// from 1000 on, since it rounds up by half a tick.
    pub(crate) fn rate(&self) -> u32 {
        let level = u64::from(self.per_tick) * TICKS + u64::from(self.per_tick / 2);
        u32::try_from(level / u64::from(self.scale)).unwrap_or(u32::MAX)
    }

    /// Adds what has come since the last refill.
    #[inline]
    pub(crate) fn refill(&mut self, now: Timestamp) {
        let tick = now.0 / TICK_NS;
        let ticks = u32::try_from((tick - self.tick).max(0)).unwrap_or(u32::MAX);
        self.level = self
            .level
            .saturating_add(ticks.saturating_mul(self.per_tick));
        self.tick = tick;
    }

    /// How many packets certainly pass now, one after the other.
    #[inline]
    pub(crate) fn passes(&self, unit: Unit) -> u32 {
        match unit {
            Unit::Packets => self.level / self.scale,
            Unit::Bytes => u32::from(self.level >= self.need(unit)),
        }
    }

    /// The level at which a packet passes.
    fn need(&self, unit: Unit) -> u32 {
        match unit {
            Unit::Packets => self.scale,
            Unit::Bytes => self.scale.saturating_mul(LONGEST_PACKET),
        }
    }

    /// Takes a packet of `bytes` bytes out.
    #[inline]
    pub(crate) fn take(&mut self, unit: Unit, bytes: usize) {
        let tokens = match unit {
            Unit::Packets => 1,
            Unit::Bytes => u32::try_from(bytes).unwrap_or(u32::MAX),
        };
        self.level = self.level.saturating_sub(self.scale.saturating_mul(tokens));
    }

    /// The time until a packet passes; nothing where it never will.
    pub(crate) fn wait(&self, unit: Unit) -> Option<Timestamp> {
        let missing = self.need(unit).saturating_sub(self.level);
        let ticks = match self.per_tick {
            0 if missing > 0 => return None,
            per_tick => missing.div_ceil(per_tick.max(1)),
        };
        Some(Timestamp(i64::from(ticks) * TICK_NS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_of_one_packet_at_a_hundred_a_second_fills_in_eleven_ticks() {
        let mut bucket = RateBucket::default();
        bucket.set(100, 1);
        bucket.take(Unit::Packets, 0);
        assert_eq!(bucket.wait(Unit::Packets), Some(Timestamp(11_000_000)));
        bucket.refill(Timestamp(10_000_000));
        assert_eq!(bucket.passes(Unit::Packets), 0);
        bucket.refill(Timestamp(11_000_000));
        assert_eq!(bucket.passes(Unit::Packets), 1);
    }

    #[test]
    fn a_rate_beyond_the_capacity_a_tick_widens_the_bucket() {
        let mut bucket = RateBucket::default();
        bucket.set(1_000_000, 1);
        assert_eq!(bucket.passes(Unit::Packets), 1000);
        // Click's rounding adds half of what a tick adds.
        assert_eq!(bucket.rate(), 1_000_500);
    }

    #[test]
    fn a_rate_of_nothing_lets_nothing_in() {
        let mut bucket = RateBucket::default();
        bucket.set(0, 2);
        bucket.take(Unit::Packets, 0);
        bucket.take(Unit::Packets, 0);
        bucket.refill(Timestamp::from_secs(1_000_000));
        assert_eq!(
            (bucket.passes(Unit::Packets), bucket.wait(Unit::Packets)),
            (0, None)
        );
    }

    #[test]
    fn a_clock_that_goes_back_adds_nothing() {
        let mut bucket = RateBucket::default();
        bucket.set(1000, 10);
        bucket.refill(Timestamp::from_secs(10));
        for _ in 0..10 {
            bucket.take(Unit::Packets, 0);
        }
        bucket.refill(Timestamp::from_secs(9));
        assert_eq!(bucket.passes(Unit::Packets), 0);
    }
}
