//! A service as Y.1564 sees it: information rates, acceptance criteria, and what was measured of it
//! against them.
//!
//! | | is | by |
//! | --- | --- | --- |
//! | IR | information rate: bits of Ethernet frames, FCS included, that came a second | Y.1564 |
//! | FLR | frame loss ratio | Y.1564 |
//! | FTD | frame transfer delay: the mean | Y.1541's objective for the transfer delay |
//! | FDV | frame delay variation: 99.9th percentile above the least | Y.1541's objective for the variation |
//!
//! The Recommendation's text was not at hand: this follows testers' manuals (VeEX RXT-6400, EXFO
//! FTB-800) and what is generally known of it. Colours and the burst tests (CBS, EBS) are left out.

use crate::procedures::{Error, load};
use crate::summary::ms;
use crate::testbed::{Observation, Traffic};
use crate::trial::Load;
use trammel_core::entry::{Kind, Param, Params};
use trammel_core::time::Span;
use trammel_stats::table::{Cell, CellType};

/// The committed information rate.
pub(crate) const CIR: Param = Param {
    name: "cir",
    kind: Kind::Rate,
    default: "100 Mbit/s",
    unit: "bit/s",
    help: "the committed information rate of each service",
};

/// The excess information rate.
pub(crate) const EIR: Param = Param {
    name: "eir",
    kind: Kind::Rate,
    default: "0 bit/s",
    unit: "bit/s",
    help: "the excess information rate of each service, without guarantee",
};

/// The most frames that may be lost.
pub(crate) const FLR: Param =
    Param::float("flr", 0.0, 1.0, "0.0001", "", "accepted frame loss ratio");

/// The longest delay.
pub(crate) const FTD: Param = Param::time("ftd", "10 ms", "accepted mean frame transfer delay");

/// The largest variation.
pub(crate) const FDV: Param = Param::time("fdv", "3 ms", "accepted frame delay variation");

/// The columns of what was measured, and the verdict.
pub const COLUMNS: [(&str, CellType); 7] = [
    ("intended_mbps", CellType::Float),
    ("ir_mbps", CellType::Float),
    ("flr", CellType::Float),
    ("ftd_ms", CellType::Float),
    ("fdv_ms", CellType::Float),
    ("verdict", CellType::Text),
    ("why", CellType::Text),
];

/// What a service is promised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Service {
    /// Bits a second that it always gets.
    pub cir_bps: f64,
    /// Bits a second beyond these.
    pub eir_bps: f64,
    /// The frame loss ratio that is accepted.
    pub flr: f64,
    /// The mean delay that is accepted, ms.
    pub ftd_ms: f64,
    /// The variation that is accepted, ms.
    pub fdv_ms: f64,
}

/// By how much a policer's bursts may raise the information rate above what it allows, as a share.
const POLICED: f64 = 0.01;

impl Service {
    /// That of a test's settings `cir`, `flr`, `ftd`, `fdv`, without excess.
    pub fn of(params: &Params) -> Result<Service, Error> {
        let cir_bps = params.rate("cir").as_bps() as f64;
        if cir_bps == 0.0 {
            return Err(Error::Setting(
                "`cir` is 0: a service without a rate cannot be tested; give a rate above 0"
                    .to_owned(),
            ));
        }
        Ok(Service {
            cir_bps,
            eir_bps: 0.0,
            flr: params.float("flr"),
            ftd_ms: ms(params.time("ftd")),
            fdv_ms: ms(params.time("fdv")),
        })
    }

    /// The rate beyond what the service allows, which a policer must hold down: a quarter of the
    /// excess rate above both, or of the committed one where the excess is less than a fifth of
    /// that.
    pub(crate) fn overshoot_bps(&self) -> f64 {
        let more = if self.eir_bps < 0.2 * self.cir_bps {
            self.cir_bps
        } else {
            self.eir_bps
        };
        self.cir_bps + self.eir_bps + 0.25 * more
    }

    /// What keeps `measured` from being as promised at a rate up to the committed one.
    pub fn faults(&self, intended_bps: f64, measured: &Measured) -> Vec<Fault> {
        let within = |value: Option<f64>, limit: f64, what| match value {
            Some(value) if value <= limit => None,
            Some(_) => Some(Fault::Above(what)),
            None => Some(Fault::Unknown(what)),
        };
        let is_low = measured.ir_bps < self.least(intended_bps);
        [
            is_low.then_some(Fault::Low),
            within(Some(measured.flr), self.flr, "FLR"),
            within(measured.ftd_ms, self.ftd_ms, "FTD"),
            within(measured.fdv_ms, self.fdv_ms, "FDV"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// What keeps `measured` from being as promised at a rate beyond the committed one: it gets
    /// that at the least, and no more than is allowed.
    pub(crate) fn faults_beyond(&self, measured: &Measured) -> Vec<Fault> {
        let most = (self.cir_bps + self.eir_bps) * (1.0 + POLICED);
        let is_low = measured.ir_bps < self.least(self.cir_bps);
        let is_high = measured.ir_bps > most;
        let faults = [
            is_low.then_some(Fault::Low),
            is_high.then_some(Fault::Above("IR")),
        ];
        faults.into_iter().flatten().collect()
    }

    /// The least information rate of an intended one. The rounding to whole frames is no loss.
    fn least(&self, intended_bps: f64) -> f64 {
        intended_bps * (1.0 - self.flr) * (1.0 - 1e-3)
    }
}

/// What keeps a service from passing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Less comes than was promised.
    Low,
    /// This is more than is accepted.
    Above(&'static str),
    /// This was not measured.
    Unknown(&'static str),
}

/// `pass`, `fail` or, where nothing fails but something was not measured, `not judged`; and why.
pub fn verdict(faults: &[Fault]) -> [Cell; 2] {
    let say = |fault: &Fault| match fault {
        Fault::Low => "IR too low".to_owned(),
        Fault::Above(what) => format!("{what} too high"),
        Fault::Unknown(what) => format!("{what} not measured"),
    };
    let is_unknown = |fault: &Fault| matches!(fault, Fault::Unknown(_));
    let verdict = match faults {
        [] => "pass",
        all if all.iter().all(is_unknown) => "not judged",
        _ => "fail",
    };
    let why: Vec<String> = faults.iter().map(say).collect();
    [verdict.into(), why.join(", ").into()]
}

/// What was measured of a service.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Information rate.
    pub ir_bps: f64,
    /// Frame loss ratio.
    pub flr: f64,
    /// Mean delay, ms, where delays were measured.
    pub ftd_ms: Option<f64>,
    /// Variation, ms, likewise.
    pub fdv_ms: Option<f64>,
}

impl Measured {
    /// Of one service's frames.
    pub fn of(traffic: &Traffic, observed: &Observation) -> Measured {
        let outcome = &observed.outcome;
        let delays = outcome.latency.as_ref();
        let at = |fraction| delays.and_then(|all| all.quantile_time(fraction));
        Measured {
            ir_bps: outcome.forwarding_rate() * traffic.sizes.mean() * 8.0,
            flr: outcome.loss_ratio(),
            ftd_ms: delays.and_then(|all| Some(all.mean()? / 1e9)),
            fdv_ms: at(0.999)
                .zip(at(0.0))
                .map(|(most, least)| ms(most.saturating_sub(least))),
        }
    }

    /// The cells of [`COLUMNS`].
    pub fn cells(&self, intended_bps: f64, faults: &[Fault]) -> Vec<Cell> {
        let mut cells: Vec<Cell> = vec![
            (intended_bps / 1e6).into(),
            (self.ir_bps / 1e6).into(),
            self.flr.into(),
            self.ftd_ms.into(),
            self.fdv_ms.into(),
        ];
        cells.extend(verdict(faults));
        cells
    }
}

/// The load of an information rate.
pub fn load_of(bps: f64, traffic: &Traffic, duration: Span) -> Result<Load, Error> {
    load(bps / (8.0 * traffic.sizes.mean()), duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVICE: Service = Service {
        cir_bps: 100e6,
        eir_bps: 40e6,
        flr: 0.01,
        ftd_ms: 10.0,
        fdv_ms: 1.0,
    };

    #[test]
    fn the_overshoot_is_a_quarter_of_the_excess_or_of_the_commitment() {
        assert_eq!(SERVICE.overshoot_bps(), 150e6);
        let little = Service {
            eir_bps: 10e6,
            ..SERVICE
        };
        assert_eq!(little.overshoot_bps(), 135e6);
    }

    #[test]
    fn each_criterion_fails_alone_and_what_is_unknown_is_not_judged() {
        let good = Measured {
            ir_bps: 100e6,
            flr: 0.0,
            ftd_ms: Some(5.0),
            fdv_ms: Some(0.5),
        };
        let said =
            |measured| verdict(&SERVICE.faults(100e6, &measured)).map(|cell| cell.to_string());
        let cases = [
            (good, ["pass", ""]),
            (
                Measured {
                    ir_bps: 98e6,
                    ..good
                },
                ["fail", "IR too low"],
            ),
            (Measured { flr: 0.02, ..good }, ["fail", "FLR too high"]),
            (
                Measured {
                    ftd_ms: Some(10.1),
                    ..good
                },
                ["fail", "FTD too high"],
            ),
            (
                Measured {
                    fdv_ms: Some(1.1),
                    ..good
                },
                ["fail", "FDV too high"],
            ),
            (
                Measured {
                    ftd_ms: None,
                    ..good
                },
                ["not judged", "FTD not measured"],
            ),
            (
                Measured {
                    ftd_ms: None,
                    flr: 0.02,
                    ..good
                },
                ["fail", "FLR too high, FTD not measured"],
            ),
        ];
        for (measured, expected) in cases {
            assert_eq!(said(measured), expected);
        }
        let beyond = |ir_bps| SERVICE.faults_beyond(&Measured { ir_bps, ..good });
        assert_eq!(beyond(140e6), []);
        assert_eq!(beyond(150e6), [Fault::Above("IR")]);
        assert_eq!(beyond(98e6), [Fault::Low]);
    }
}
