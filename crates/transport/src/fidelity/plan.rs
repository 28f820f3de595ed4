//! What is run: every case of the study with the runs of both sides, in one list.
//!
//! Long runs come first, so that the cores finish together.

use super::setting::{LONG_FAT, LOSSY, PLAIN, Path, Run, SHARED, Start, VARIANTS};
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Seeds of ours in `e1`, against one run of the kernel; none leaves the set out.
    pub long_fat_seeds: u64,
    /// Starts of the second flow in `e3-phases`.
    pub phases: u64,
    /// Seeds of `e6`.
    pub lossy_seeds: u64,
    /// Pairs of starts in `e7`.
    pub pairs: u64,
}

impl Extent {
    /// Some minutes on two cores.
    pub const QUICK: Extent = Extent {
        long_fat_seeds: 0,
        phases: 2,
        lossy_seeds: 3,
        pairs: 3,
    };
    /// Half an hour on two cores.
    pub const FULL: Extent = Extent {
        long_fat_seeds: 20,
        phases: 8,
        lossy_seeds: 20,
        pairs: 10,
    };
}

/// A setting of one variant: the runs of the kernel and those of ours that stand against them.
#[derive(Clone, Debug)]
pub struct Case {
    /// The set.
    pub set: &'static str,
    /// The variant.
    pub variant: String,
    /// The path.
    pub path: Path,
    /// How the two sides are compared.
    pub compared: Compared,
    /// The kernel's runs.
    pub kernel: Vec<Run>,
    /// Our runs.
    pub ours: Vec<Run>,
}

/// How the two sides of a case are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// One run with one run, stamp by stamp.
    Traces,
    /// One run of the kernel with the range of ours.
    Range,
    /// The means of as many runs.
    Means,
}

/// How far apart two starts of a second flow in `e3-phases` are, and when the first of them is.
const PHASE: Time = Time::from_us(13_700);
const SECOND_FLOW: Time = Time::from_secs(20);
/// Stamps: of the short runs, and of the others.
const CLOSE: Span = Span::from_ms(10);
const WIDE: Span = Span::from_ms(100);
const WIDEST: Span = Span::from_ms(500);

/// How the case of a variant is made.
type CaseOf = fn(&str, Extent) -> Case;

/// The cases of `extent`; `is_wanted` chooses by set and variant.
pub fn cases(extent: Extent, is_wanted: impl Fn(&str, &str) -> bool) -> Vec<Case> {
    let sets: [(&str, CaseOf); 6] = [
        ("e1", long_fat),
        ("e3", two),
        ("e3-phases", two_over_phases),
        ("e6", lossy),
        ("e7", against_cubic),
        ("e2", one),
    ];
    let mut cases = Vec::new();
    for (set, case) in sets {
        // Where nothing marks DCTCP is Reno: it is shown where traces meet traces.
        let dctcp = matches!(set, "e2" | "e3").then_some("dctcp");
        if set == "e1" && extent.long_fat_seeds == 0 {
            continue;
        }
        let variants = VARIANTS.into_iter().chain(dctcp);
        let wanted = variants.filter(|variant| is_wanted(set, variant));
        cases.extend(wanted.map(|variant| case(variant, extent)));
    }
    cases
}

fn start(variant: &str, at: Time) -> Start {
    Start {
        variant: variant.to_owned(),
        at,
    }
}

/// A case whose two sides run the same.
fn alike(
    set: &'static str,
    variant: &str,
    path: Path,
    compared: Compared,
    runs: impl Iterator<Item = Run>,
) -> Case {
    let runs: Vec<Run> = runs.collect();
    Case {
        set,
        variant: variant.to_owned(),
        path,
        compared,
        kernel: runs.clone(),
        ours: runs,
    }
}

fn long_fat(variant: &str, extent: Extent) -> Case {
    let run = |seed| Run {
        flows: vec![start(variant, Time::ZERO)],
        seconds: 100,
        interval: WIDEST,
        seed,
    };
    Case {
        kernel: vec![run(1)],
        ..alike(
            "e1",
            variant,
            LONG_FAT,
            Compared::Range,
            (1..=extent.long_fat_seeds).map(run),
        )
    }
}

fn one(variant: &str, _: Extent) -> Case {
    let run = Run {
        flows: vec![start(variant, Time::ZERO)],
        seconds: 30,
        interval: CLOSE,
        seed: 1,
    };
    let runs = std::iter::once(run);
    alike("e2", variant, PLAIN, Compared::Traces, runs)
}

fn pair_of_one_variant(variant: &str, phase: u64) -> Run {
    let second = SECOND_FLOW + Span::from_ps(PHASE.as_ps() * phase);
    Run {
        flows: vec![start(variant, Time::ZERO), start(variant, second)],
        seconds: 100,
        interval: WIDE,
        seed: phase + 1,
    }
}

fn two(variant: &str, _: Extent) -> Case {
    let runs = std::iter::once(pair_of_one_variant(variant, 0));
    alike("e3", variant, PLAIN, Compared::Traces, runs)
}

fn two_over_phases(variant: &str, extent: Extent) -> Case {
    let runs = (0..extent.phases).map(|phase| pair_of_one_variant(variant, phase));
    alike("e3-phases", variant, PLAIN, Compared::Means, runs)
}

fn lossy(variant: &str, extent: Extent) -> Case {
    let run = |seed| Run {
        flows: vec![start(variant, Time::ZERO)],
        seconds: 60,
        interval: WIDE,
        seed,
    };
    let runs = (1..=extent.lossy_seeds).map(run);
    alike("e6", variant, LOSSY, Compared::Means, runs)
}

fn against_cubic(variant: &str, extent: Extent) -> Case {
    let run = |seed| {
        let mut draws = Rng::new(seed, "linux-6.12:starts");
        let mut drawn = |variant: &str| start(variant, Time::from_us(draws.below(1_000_000)));
        Run {
            flows: vec![drawn("cubic"), drawn(variant)],
            seconds: 60,
            interval: WIDE,
            seed,
        }
    };
    let runs = (1..=extent.pairs).map(run);
    alike("e7", variant, SHARED, Compared::Means, runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_has_every_variant_and_a_guest_can_express_each_run() {
        let cases = cases(Extent::FULL, |_, _| true);
        assert_eq!(cases.len(), 6 * 16 + 2, "and dctcp twice");
        for case in &cases {
            for run in case.kernel.iter().chain(&case.ours).take(2) {
                let scenario = run.scenario(&case.path).unwrap();
                assert_eq!(scenario.check(), Ok(()));
                #[cfg(target_os = "linux")]
                assert_eq!(crate::measure::refusals(&scenario), Vec::new());
            }
        }
        let runs: usize = cases.iter().map(|case| case.kernel.len()).sum();
        assert_eq!(runs, 16 * (1 + 1 + 1 + 8 + 20 + 10) + 2);
    }

    #[test]
    fn a_quick_study_leaves_the_long_set_out() {
        let cases = cases(Extent::QUICK, |_, _| true);
        assert!(cases.iter().all(|case| case.set != "e1"));
    }

    #[test]
    fn starts_against_cubic_are_within_a_second_and_differ() {
        let case = against_cubic("reno", Extent::FULL);
        let starts: Vec<_> = case
            .kernel
            .iter()
            .flat_map(|run| run.flows.iter().map(|flow| flow.at))
            .collect();
        assert!(starts.iter().all(|at| *at < Time::from_secs(1)));
        assert!(starts.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
