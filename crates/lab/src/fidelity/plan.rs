//! What is simulated: every run that the reference calls for, in one list.
//!
//! Long runs come first, so that the cores finish together.

use super::reference::{self, Member};
use super::setting::{LONG_FAT, LOSSY, PLAIN, Path, SHARED, Start, VARIANTS};
use super::simulate::{Job, grid};
use super::trace::Stamp;
use std::collections::BTreeMap;
use std::path::Path as FilePath;
use trammel_core::time::Time;

/// A setting of one variant: the kernel's side and the runs that stand against it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The set.
    pub set: &'static str,
    /// The variant.
    pub variant: String,
    /// The path.
    pub path: Path,
    /// The kernel's side.
    pub kernel: Kernel,
    /// Our runs, one a seed or phase.
    pub jobs: Vec<Job>,
}

/// The kernel's side of a case.
#[derive(Clone, Debug)]
pub enum Kernel {
    /// One trace a flow.
    Traces(Vec<Vec<Stamp>>),
    /// Members of an ensemble, by run and flow.
    Ensemble(Vec<Vec<Member>>),
}

/// Seconds after its first stamp at which the comparison of a trace begins.
pub const SETTLED_S: f64 = 1.0;
/// Seconds after which the means of an ensemble begin.
const LATE_S: f64 = 10.0;

/// The sets of traces.
const TRACES: [(&str, Path, &[u64]); 3] = [
    ("e1", LONG_FAT, &[0]),
    ("e2", PLAIN, &[0]),
    ("e3", PLAIN, &[0, 20]),
];
/// The sets of ensembles: name here, name in the file, path, file.
const ENSEMBLES: [(&str, &str, Path, &str); 3] = [
    ("e3-phases", "e3p", PLAIN, "e3-phases.csv"),
    ("e6", "e6", LOSSY, "ensembles.csv"),
    ("e7", "e7", SHARED, "ensembles.csv"),
];

/// Cases of the reference in `data`, with `e1_seeds` runs a variant for `e1`; `is_wanted` chooses by set
/// and variant.
pub fn cases(
    data: &FilePath,
    e1_seeds: u64,
    is_wanted: impl Fn(&str, &str) -> bool,
) -> anyhow::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (set, path, starts_s) in TRACES {
        // DCTCP was not run in `e1`: without marks it is Reno.
        let dctcp = (set != "e1").then_some("dctcp");
        let seeds = if set == "e1" { e1_seeds } else { 1 };
        for variant in VARIANTS.into_iter().chain(dctcp) {
            if is_wanted(set, variant) {
                cases.push(of_traces(data, set, path, starts_s, variant, seeds)?);
            }
        }
    }
    for (set, name, path, file) in ENSEMBLES {
        let mut members = reference::ensemble(&data.join(file), name, path.rtt)?;
        members.sort_by_key(|member| (member.seed, member.flow));
        for variant in VARIANTS {
            let mut runs: BTreeMap<u64, Vec<Member>> = BTreeMap::new();
            for member in members.iter().filter(|member| member.variant == variant) {
                runs.entry(member.seed).or_default().push(member.clone());
            }
            if is_wanted(set, variant) && !runs.is_empty() {
                cases.push(of_ensemble(
                    set,
                    path,
                    variant,
                    runs.into_values().collect(),
                ));
            }
        }
    }
    Ok(cases)
}

fn of_traces(
    data: &FilePath,
    set: &'static str,
    path: Path,
    starts_s: &[u64],
    variant: &str,
    seeds: u64,
) -> anyhow::Result<Case> {
    let traces: Vec<Vec<Stamp>> = (0..starts_s.len())
        .map(|flow| reference::trace(data, set, variant, flow))
        .collect::<anyhow::Result<_>>()?;
    let start = |&at| Start {
        variant: variant.to_owned(),
        at: Time::from_secs(at),
    };
    let first = |trace: &Vec<Stamp>| trace.first().map_or(0.0, |stamp| stamp.time_s);
    let job = |seed| Job {
        path,
        flows: starts_s.iter().map(start).collect(),
        stamps_s: traces
            .iter()
            .map(|trace| trace.iter().map(|stamp| stamp.time_s).collect())
            .collect(),
        mean_from_s: traces
            .iter()
            .map(|trace| first(trace) + SETTLED_S)
            .collect(),
        seed,
        is_traced: seeds == 1,
    };
    Ok(Case {
        set,
        variant: variant.to_owned(),
        path,
        jobs: (1..=seeds).map(job).collect(),
        kernel: Kernel::Traces(traces),
    })
}

fn of_ensemble(set: &'static str, path: Path, variant: &str, runs: Vec<Vec<Member>>) -> Case {
    let job = |run: &Vec<Member>| Job {
        path,
        flows: run
            .iter()
            .map(|member| Start {
                variant: member.cc.clone(),
                at: member.connect,
            })
            .collect(),
        stamps_s: run.iter().map(|member| grid(member.span_s)).collect(),
        mean_from_s: run
            .iter()
            .map(|member| LATE_S.max(member.span_s.0 + SETTLED_S))
            .collect(),
        seed: run[0].seed,
        is_traced: false,
    };
    Case {
        set,
        variant: variant.to_owned(),
        path,
        jobs: runs.iter().map(job).collect(),
        kernel: Kernel::Ensemble(runs),
    }
}
