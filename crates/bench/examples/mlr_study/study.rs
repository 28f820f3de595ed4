//! Searches compared over simulated devices: the time of their trials, and how often their bounds
//! are wrong.
//!
//! Every search finds NDR and PDR (0.5 %) to half a percent between 1 % of the line and all of it;
//! a trial that decides lasts 60 s. *Binary* searches twice, with such trials alone, as RFC 2544
//! §24 asks for at the least for the last. *Binary, short* is its cheaper form: an interval by
//! trials of 1 s, then final trials below it. *MLRsearch* searches once for both goals.
//!
//! *MLRsearch, 1 of 2* has goals of which one of two trials of 60 s may lose more, which binary
//! search has not.
//!
//! A bound is wrong where trials of 60 s at it, made anew, would more likely say otherwise than
//! not, which is known of a simulated device. Of two neighbouring loads whose chances are near to
//! even, any search takes the one or the other: no search of single trials is without wrong bounds.

use super::device::{Family, LINE_FPS, Law, offer};
use trammel_bench::search::binary::Binary;
use trammel_bench::search::mlr::MultipleLossRatio;
use trammel_bench::search::mlr::goal::Goal;
use trammel_bench::trial::{Load, Trial};
use trammel_bench::validity::Tried;
use trammel_core::rng::Rng;
use trammel_core::time::Span;

/// The final duration.
pub(crate) const FINAL: Span = Span::from_secs(60);
/// The shortest trials.
const SHORT: Span = Span::from_secs(1);
/// The least load, of the line.
const LEAST: f64 = 0.01;

/// A way to find the bounds of both goals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Binary,
    BinaryShort,
    Mlr,
    MlrOneOfTwo,
}

impl Way {
    pub(crate) const ALL: [Way; 4] = [Way::Binary, Way::BinaryShort, Way::Mlr, Way::MlrOneOfTwo];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Way::Binary => "binary",
            Way::BinaryShort => "binary, short",
            Way::Mlr => "MLRsearch",
            Way::MlrOneOfTwo => "MLRsearch, 1 of 2",
        }
    }

    /// Searches a device.
    pub(crate) fn search(self, law: &Law, seed: u64, name: &str) -> Search {
        let mut rng = Rng::new(seed, &format!("{}:{name}", self.name()));
        let mut device = |load: Load| offer(law, &mut rng, load);
        let single = [Goal::ndr(FINAL), Goal::pdr(FINAL)];
        let one_of_two = single.map(|goal| Goal {
            loss_ratio: goal.loss_ratio,
            ..Goal::tst009()
        });
        match self {
            Way::Binary => binary(single, FINAL, &mut device),
            Way::BinaryShort => binary(single, SHORT, &mut device),
            Way::Mlr => multiple(single, &mut device),
            Way::MlrOneOfTwo => multiple(one_of_two, &mut device),
        }
    }
}

fn binary(goals: [Goal; 2], first: Span, device: &mut dyn Trial) -> Search {
    let mut search = Search::default();
    for goal in goals {
        let settings = Binary {
            loss_goal: goal.loss_ratio,
            width: goal.width,
            final_duration: Some(FINAL),
            ..Binary::new(LEAST * LINE_FPS, LINE_FPS, first)
        };
        let found = settings.search(device).expect("the settings are right");
        search.bounds.push(Bounds {
            goal,
            lower: found.lower,
            upper: found.upper,
        });
        search.trials.extend(found.trials);
    }
    search
}

fn multiple(goals: [Goal; 2], device: &mut dyn Trial) -> Search {
    let settings = MultipleLossRatio::new(goals.to_vec(), LEAST * LINE_FPS, LINE_FPS);
    let output = settings.search(device).expect("the settings are right");
    let bounds = output.results.iter().map(|result| Bounds {
        goal: result.goal,
        lower: result.lower,
        upper: result.upper,
    });
    Search {
        bounds: bounds.collect(),
        trials: output.trials,
    }
}

/// What was found for a goal, frames a second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) goal: Goal,
    pub(crate) lower: Option<f64>,
    pub(crate) upper: Option<f64>,
}

impl Bounds {
    /// The probabilities that final trials made anew uphold the goal at the lower bound and at the
    /// upper.
    pub(crate) fn passes(&self, law: &Law) -> (Option<f64>, Option<f64>) {
        let upheld = |rate: f64| {
            let load = Load::new(rate, FINAL).expect("the load is above 0");
            let passes = law.passes(load, self.goal.loss_ratio);
            if self.goal.exceed_ratio == 0.0 {
                return passes;
            }
            1.0 - (1.0 - passes).powi(2)
        };
        (self.lower.map(upheld), self.upper.map(upheld))
    }

    /// The greater of the probabilities that such trials contradict one of the bounds.
    fn contradicted(&self, law: &Law) -> f64 {
        let (at_lower, at_upper) = self.passes(law);
        at_lower
            .map_or(0.0, |passes| 1.0 - passes)
            .max(at_upper.unwrap_or(0.0))
    }

    fn is_regular(&self) -> bool {
        let (Some(lower), Some(upper)) = (self.lower, self.upper) else {
            return false;
        };
        upper - lower <= self.goal.width * upper * (1.0 + 1e-6)
    }
}

/// One search of one device.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    pub(crate) bounds: Vec<Bounds>,
    pub(crate) trials: Vec<Tried>,
}

impl Search {
    pub(crate) fn time(&self) -> Span {
        let times = self.trials.iter().map(|t| t.load.duration());
        times.sum()
    }
}

/// A way over all devices of a family.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    /// Of two for each device.
    pub(crate) goals: u32,
    pub(crate) time_s: f64,
    pub(crate) trials: u32,
    /// Trials of the final duration.
    pub(crate) full: u32,
    /// Goals with a wrong bound, and those of which nine of ten would contradict it.
    pub(crate) wrong: u32,
    pub(crate) grossly: u32,
    /// Results without one of the bounds, or with bounds more than the width apart.
    pub(crate) irregular: u32,
}

impl Sum {
    /// Of all goals.
    pub(crate) fn percent(&self, count: u32) -> f64 {
        100.0 * f64::from(count) / f64::from(self.goals)
    }
}

/// Searches the first `devices` of a family.
pub(crate) fn study(family: Family, way: Way, seed: u64, devices: u32) -> Sum {
    let mut sum = Sum::default();
    for number in 0..devices {
        let law = Law::new(family, seed, number);
        let search = way.search(&law, seed, &format!("{}:{number}", family.name()));
        let full = search.trials.iter().filter(|t| t.load.duration() == FINAL);
        sum.full += full.count() as u32;
        sum.trials += search.trials.len() as u32;
        sum.time_s += search.time().as_secs_f64();
        for bounds in &search.bounds {
            let contradicted = bounds.contradicted(&law);
            sum.goals += 1;
            sum.wrong += u32::from(contradicted > 0.5);
            sum.grossly += u32::from(contradicted > 0.9);
            sum.irregular += u32::from(!bounds.is_regular());
        }
    }
    sum
}
