//! Bursts: packets after gaps of one law during "on" periods, silence during "off" periods.
//!
//! The first period is "on". The clock of the gaps stands still during silence, so that the
//! long-run rate is exactly that of the gaps times mean(on) / (mean(on) + mean(off)).

use super::laws::lasting;
use super::sizes::Sizes;
use super::{Error, packets};
use crate::moments::alternating::{self, Laws};
use crate::moments::{Numeric, Predicted};
use crate::stream::{Plan, Source};
use trammel_core::time::Time;
use trammel_stats::arrivals::Spans;
use trammel_stats::arrivals::on_off::OnOff;

/// An on–off process with sizes.
#[derive(Clone, Debug)]
pub struct Bursts {
    pub(crate) on: Spans,
    pub(crate) off: Spans,
    pub(crate) gaps: Spans,
    sizes: Sizes,
}

impl Bursts {
    /// Packets after `gaps`, of `sizes`, during `on` periods. Gaps or "on" periods that are always
    /// zero are refused.
    pub fn new(on: Spans, off: Spans, gaps: Spans, sizes: Sizes) -> Result<Bursts, Error> {
        lasting(&gaps)?;
        sends(&on)?;
        Ok(Bursts {
            on,
            off,
            gaps,
            sizes,
        })
    }

    /// The sizes.
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    fn laws(&self) -> Laws<'_> {
        Laws {
            on: &self.on,
            off: &self.off,
            gaps: &self.gaps,
        }
    }
}

/// Whether anything is sent during `on` periods.
pub(super) fn sends(on: &Spans) -> Result<(), Error> {
    if on.cdf_secs(0.0) >= 1.0 {
        return Err(Error::Invalid(
            "\"on\" periods that are always 0 send nothing; give them a length".to_owned(),
        ));
    }
    Ok(())
}

impl Source for Bursts {
    fn plan(&self, seed: u64) -> Plan {
        let (on, off, gaps) = (self.on.clone(), self.off.clone(), self.gaps.clone());
        let times = OnOff::new(Time::ZERO, on, off, gaps, seed, "bursts");
        packets(times, self.sizes.clone(), seed)
    }

    fn predicted(&self) -> Predicted {
        Predicted {
            mean_bytes: Some(self.sizes.mean()),
            size_cv: Some(self.sizes.cv()),
            ..alternating::predicted(self.laws())
        }
    }

    fn numeric(&self) -> Numeric {
        Numeric {
            sizes: self.sizes.cv() > 0.0,
            ..alternating::numeric(self.laws())
        }
    }

    fn dispersion(&self, secs: f64) -> Option<f64> {
        alternating::dispersion(self.laws(), secs)
    }
}
