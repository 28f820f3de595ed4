//! Independent gaps of one distribution, sizes of another.
//!
//! Gaps are given in seconds ([`Spans::seconds`]) or by a shape and a rate ([`Spans::at_rate`]),
//! whose mean is then exact. The first packet leaves at the start.

use super::sizes::Sizes;
use super::{Error, packets};
use crate::moments::{Arrivals, Numeric, Predicted, renewal};
use crate::stream::{Plan, Source};
use trammel_core::rng::Rng;
use trammel_core::time::Time;
use trammel_stats::arrivals::{Renewal, Spans};

/// A renewal process with sizes.
#[derive(Clone, Debug)]
pub struct Laws {
    gaps: Spans,
    sizes: Sizes,
}

/// Refuses gaps that never come to an end.
pub(super) fn lasting(gaps: &Spans) -> Result<(), Error> {
    if gaps.cdf_secs(0.0) >= 1.0 {
        return Err(Error::Invalid(
            "gaps that are always 0 send all packets at once; give a gap above 0 or a rate"
                .to_owned(),
        ));
    }
    Ok(())
}

impl Laws {
    /// Packets after `gaps`, of `sizes`. Gaps that are always zero are refused: no time limit would
    /// end them.
    pub fn new(gaps: Spans, sizes: Sizes) -> Result<Laws, Error> {
        lasting(&gaps)?;
        Ok(Laws { gaps, sizes })
    }

    /// The sizes.
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }
}

impl Source for Laws {
    fn plan(&self, seed: u64) -> Plan {
        let times = Renewal::new(Time::ZERO, self.gaps.clone(), Rng::new(seed, "gaps"));
        packets(times, self.sizes.clone(), seed)
    }

    fn predicted(&self) -> Predicted {
        let mean = self.gaps.mean_secs().filter(|mean| *mean > 0.0);
        let square = |mean: f64| Some(self.gaps.variance_secs2()? / (mean * mean));
        let square_cv = mean.and_then(square);
        Predicted {
            mean_rate: mean.map(f64::recip),
            peak_rate: mean.map(f64::recip),
            mean_bytes: Some(self.sizes.mean()),
            size_cv: Some(self.sizes.cv()),
            gap_cv: square_cv.map(f64::sqrt),
            // Var N(t) / E N(t) of a renewal process tends to the gaps' squared coefficient of
            // variation.
            dispersion_limit: square_cv,
            // Gaps with a tail of index 1 < a < 2 make counts whose variance grows as t^(3 − a).
            hurst: mean.and_then(|_| match square_cv {
                // The variance of periodic counts does not grow at all.
                Some(0.0) => None,
                Some(_) => Some(0.5),
                None => renewal::tail_index(&self.gaps).map(|index| (3.0 - index) / 2.0),
            }),
        }
    }

    fn numeric(&self) -> Numeric {
        Numeric {
            sizes: self.sizes.cv() > 0.0,
            dispersion: self.arrivals() == Arrivals::Other,
            hurst: self.gaps.variance_secs2().is_none(),
            ..Numeric::default()
        }
    }

    fn arrivals(&self) -> Arrivals {
        if self.gaps.variance_secs2() == Some(0.0) {
            Arrivals::Periodic
        } else if renewal::is_exponential(&self.gaps) {
            Arrivals::Poisson
        } else {
            Arrivals::Other
        }
    }

    fn dispersion(&self, secs: f64) -> Option<f64> {
        renewal::dispersion(&self.gaps, secs)
    }
}
