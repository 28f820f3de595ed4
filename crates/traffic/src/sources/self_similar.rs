//! A sum of Pareto on–off sources with a target Hurst parameter, with sizes.

use super::sizes::Sizes;
use super::{Error, packets};
use crate::moments::{Numeric, Predicted};
use crate::stream::{Plan, Source};
use trammel_core::time::Time;
use trammel_stats::arrivals::self_similar::{Mixture, SelfSimilar};

/// Self-similar packets.
#[derive(Clone, Debug)]
pub struct SelfSimilarSum {
    mixture: Mixture,
    sizes: Sizes,
}

impl SelfSimilarSum {
    /// Packets of `mixture`, of `sizes`.
    pub fn new(mixture: Mixture, sizes: Sizes) -> Result<SelfSimilarSum, Error> {
        // Also tries the mixture as a whole, so that a plan can always be made.
        SelfSimilar::new(
            Time::ZERO,
            Mixture {
                sources: mixture.sources.min(1),
                ..mixture
            },
            0,
            "try",
        )
        .and_then(|_| mixture.check())
        .map_err(Error::Invalid)?;
        Ok(SelfSimilarSum { mixture, sizes })
    }
}

impl Source for SelfSimilarSum {
    fn plan(&self, seed: u64) -> Plan {
        match SelfSimilar::new(Time::ZERO, self.mixture, seed, "self-similar") {
            Ok(times) => packets(times, self.sizes.clone(), seed),
            Err(_) => unreachable!("the mixture was checked when this was made"),
        }
    }

    /// Gaps of the sum and finite dispersions have no closed form; the limit of the dispersion is
    /// infinite.
    fn predicted(&self) -> Predicted {
        Predicted {
            mean_rate: Some(self.mixture.per_second),
            peak_rate: Some(self.mixture.on_rate() * f64::from(self.mixture.sources)),
            mean_bytes: Some(self.sizes.mean()),
            size_cv: Some(self.sizes.cv()),
            gap_cv: None,
            dispersion_limit: None,
            hurst: Some(self.mixture.hurst),
        }
    }

    fn numeric(&self) -> Numeric {
        Numeric {
            sizes: self.sizes.cv() > 0.0,
            ..Numeric::default()
        }
    }
}
