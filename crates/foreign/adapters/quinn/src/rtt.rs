//! quinn-proto's estimator of round trips with given values.
//!
//! Controllers are handed an `RttEstimator`, and quinn-proto offers no way to make one. It is four
//! durations; which of them is which is found by asking.

use quinn_proto::RttEstimator;
use std::time::Duration;

type Bits = [Duration; 4];

const _: () = {
    assert!(size_of::<RttEstimator>() == size_of::<Bits>());
    assert!(align_of::<RttEstimator>() == align_of::<Bits>());
    assert!(size_of::<Option<Duration>>() == size_of::<Duration>());
};

/// Where the smoothed and the least round trip are.
#[derive(Clone, Copy)]
pub struct Places {
    smoothed: usize,
    least: usize,
}

fn estimator(bits: Bits) -> RttEstimator {
    // SAFETY: sizes and alignments are equal (above), so there is no padding and no other field:
    // the estimator is four fields of sixteen bytes in some order. Three are `Duration`, the fourth
    // is an `Option<Duration>` of the same size, for which every duration is a `Some` of it.
    unsafe { std::mem::transmute(bits) }
}

impl Places {
    /// Asks an estimator whose four values differ.
    pub fn find() -> Option<Places> {
        let bits: Bits = [1, 2, 3, 4].map(Duration::from_secs);
        let asked = estimator(bits);
        let at = |value| bits.iter().position(|one| *one == value);
        Some(Places {
            smoothed: at(asked.get())?,
            least: at(asked.min())?,
        })
    }

    /// An estimator that says so.
    pub fn estimator(self, smoothed: Duration, least: Duration) -> RttEstimator {
        let mut bits = [smoothed; 4];
        bits[self.least] = least;
        bits[self.smoothed] = smoothed;
        estimator(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimator_says_what_it_was_given() {
        let (smoothed, least) = (Duration::from_millis(47), Duration::from_millis(40));
        let made = Places::find().unwrap().estimator(smoothed, least);
        assert_eq!((made.get(), made.min()), (smoothed, least));
    }
}
