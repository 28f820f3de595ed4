//! A Poisson process whose rate follows a Markov chain, with sizes.

use super::packets;
use super::sizes::Sizes;
use crate::moments::{Numeric, Predicted, markov};
use crate::stream::{Plan, Source};
use trammel_core::time::Time;
use trammel_stats::arrivals::modulated::{Chain, Modulated};

/// A Markov-modulated Poisson process with sizes.
#[derive(Clone, Debug)]
pub struct MarkovModulated {
    chain: Chain,
    sizes: Sizes,
}

impl MarkovModulated {
    /// Packets at the rates of the states of `chain`, of `sizes`.
    pub fn new(chain: Chain, sizes: Sizes) -> MarkovModulated {
        MarkovModulated { chain, sizes }
    }
}

impl Source for MarkovModulated {
    fn plan(&self, seed: u64) -> Plan {
        let times = Modulated::new(Time::ZERO, self.chain.clone(), seed, "modulated");
        packets(times, self.sizes.clone(), seed)
    }

    fn predicted(&self) -> Predicted {
        Predicted {
            mean_bytes: Some(self.sizes.mean()),
            size_cv: Some(self.sizes.cv()),
            ..markov::predicted(&self.chain)
        }
    }

    fn numeric(&self) -> Numeric {
        Numeric {
            sizes: self.sizes.cv() > 0.0,
            ..Numeric::default()
        }
    }

    fn dispersion(&self, secs: f64) -> Option<f64> {
        markov::dispersion(&self.chain, secs)
    }
}
