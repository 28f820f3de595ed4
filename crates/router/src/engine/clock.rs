//! The two clocks: the machine's, and virtual time that jumps to what happens next.

use trammel_packet::timestamp::Timestamp;

/// Which clock runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clock {
    /// The machine's, read from the host.
    Wall,
    /// Virtual time.
    Virtual(Timestamp),
}

/// Time that runs faster or slower than the machine's since some moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Warp {
    /// How much faster.
    pub factor: f64,
    /// The machine's time at that moment.
    real: Timestamp,
    /// The router's.
    seen: Timestamp,
}

impl Warp {
    /// As the machine's.
    pub const NONE: Warp = Warp {
        factor: 1.0,
        real: Timestamp::ZERO,
        seen: Timestamp::ZERO,
    };

    /// From `real` on by another factor, without a leap.
    pub fn change(&mut self, factor: f64, real: Timestamp) {
        *self = Warp {
            factor,
            real,
            seen: self.seen(real),
        };
    }

    /// The router's time at `real`.
    #[inline]
    pub fn seen(&self, real: Timestamp) -> Timestamp {
        if self.factor == 1.0 {
            return self.seen + (real - self.real);
        }
        self.seen + Timestamp(((real - self.real).0 as f64 * self.factor) as i64)
    }

    /// How long `ns` of the router's time last, in nanoseconds of the machine's.
    pub fn real_ns(&self, ns: u64) -> u64 {
        if self.factor == 1.0 {
            ns
        } else {
            (ns as f64 / self.factor).ceil() as u64
        }
    }
}

/// Where virtual time starts unless told otherwise.
pub const VIRTUAL_START: Timestamp = Timestamp::from_secs(1_000_000_000);
