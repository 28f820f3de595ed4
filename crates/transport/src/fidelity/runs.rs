//! Makes the runs of all cases: the kernel's in guests, ours in the simulator, by the engines that
//! run any scenario.

use super::plan::{Case, Compared};
use super::setting::{self, Path, Run};
use super::trace::{Stamp, Summary, summarise};
use crate::points::{PointTrace, RunOptions, TransportOutcome, Watch, run_points};
use crate::run_tables::RunTables;
use crate::trace_of::Samples;
use std::collections::BTreeMap;
use std::sync::Arc;
use trammel_netsim::trace::Sample;
use trammel_scenario::model::Engine;
use trammel_scenario::sweep::Point;
use trammel_scenario::{File, hash};

/// Seconds after its first stamp at which the means of a flow begin.
pub(crate) const SETTLED_S: f64 = 1.0;
/// Seconds of a run after which those of an ensemble do.
const LATE_S: f64 = 10.0;

/// One flow of a run that was made.
#[derive(Clone, Debug)]
pub struct Made {
    /// What it came to.
    pub summary: Summary,
    /// Its trace, where traces are compared.
    pub trace: Vec<Stamp>,
    /// The times of its first and its last stamp, seconds.
    pub span_s: (f64, f64),
}

/// Runs of one side of a case, by run and flow.
pub type Side = Vec<Vec<Made>>;

/// Both sides of a case.
#[derive(Clone, Debug)]
pub struct Sides {
    /// The kernel's.
    pub kernel: Side,
    /// Ours.
    pub ours: Side,
}

/// What came of all cases.
#[derive(Debug)]
pub struct Ran {
    /// For each case both its sides; nothing where a run is missing.
    pub cases: Vec<Option<Sides>>,
    /// What the engines say besides: the kernel's first, which is alone where there is no kernel.
    pub outcomes: Vec<TransportOutcome>,
}

impl Ran {
    /// Whether runs were left out after an interrupt.
    pub fn is_interrupted(&self) -> bool {
        self.outcomes.iter().any(|outcome| outcome.is_interrupted)
    }
}

/// Makes all runs of `cases`, in parallel, but those that are `known`.
pub fn make(
    cases: &[Case],
    threads: Option<usize>,
    known: &Arc<BTreeMap<String, RunTables>>,
    watch: &dyn Watch,
) -> anyhow::Result<Ran> {
    let side = |engine, runs: fn(&Case) -> &[Run]| -> anyhow::Result<_> {
        let (file, places) = file(cases, runs)?;
        let options = RunOptions {
            engines: vec![engine],
            threads,
            known: Arc::clone(known),
            ..RunOptions::default()
        };
        let mut outcome = run_points(&file, &options, watch)?;
        let mut by_point: Vec<Vec<PointTrace>> = vec![Vec::new(); file.points.len()];
        for trace in std::mem::take(&mut outcome.traces) {
            by_point[trace.at].push(trace);
        }
        let mut places = places.into_iter();
        let of_case = |case: &Case| -> Option<Side> {
            let places: Vec<usize> = places.by_ref().take(runs(case).len()).collect();
            let made = runs(case).iter().zip(places);
            made.map(|(run, place)| made_of(case, run, &by_point[place]))
                .collect()
        };
        let sides: Vec<Option<Side>> = cases.iter().map(of_case).collect();
        Ok((sides, outcome))
    };
    let (kernel, of_kernel) = side(Engine::Measure, |case| &case.kernel)?;
    if of_kernel.lacks.is_some() {
        return Ok(Ran {
            cases: cases.iter().map(|_| None).collect(),
            outcomes: vec![of_kernel],
        });
    }
    let (ours, of_ours) = side(Engine::Simulate, |case| &case.ours)?;
    let sides = kernel.into_iter().zip(ours);
    Ok(Ran {
        cases: sides
            .map(|(kernel, ours)| {
                Some(Sides {
                    kernel: kernel?,
                    ours: ours?,
                })
            })
            .collect(),
        outcomes: vec![of_kernel, of_ours],
    })
}

/// The runs of one side as a file, and for each run of each case its point: runs that are the same
/// are made once.
fn file(cases: &[Case], runs: fn(&Case) -> &[Run]) -> anyhow::Result<(File, Vec<usize>)> {
    let mut points: Vec<Point> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut places = Vec::new();
    for case in cases {
        for run in runs(case) {
            let scenario = run.scenario(&case.path)?;
            let hash = hash::of(&scenario);
            let place = *known.entry(hash.clone()).or_insert(points.len());
            if place == points.len() {
                points.push(Point {
                    id: format!("{}-{}-{}", case.set, case.variant, run.seed),
                    swept: Vec::new(),
                    hash,
                    scenario,
                });
            }
            places.push(place);
        }
    }
    let file = File {
        name: "linux-6.12".to_owned(),
        text: String::new(),
        points,
    };
    Ok((file, places))
}

/// The flows of a run from its traces; nothing where one has too little to sum up, as a run that
/// failed.
fn made_of(case: &Case, run: &Run, traces: &[PointTrace]) -> Option<Vec<Made>> {
    (0..run.flows.len())
        .map(|flow| {
            let name = setting::name(flow);
            let samples = traces.iter().find_map(|trace| match &trace.trace.samples {
                Samples::Flow(samples) if trace.trace.entity == name => Some(samples),
                _ => None,
            })?;
            // Before the handshake is over there is nothing to compare.
            let stamps = samples
                .iter()
                .filter(|sample| sample.srtt_us > 0)
                .map(stamp);
            made_from(case, stamps.collect())
        })
        .collect()
}

fn made_from(case: &Case, trace: Vec<Stamp>) -> Option<Made> {
    let span_s = (trace.first()?.time_s, trace.last()?.time_s);
    let settled_s = span_s.0 + SETTLED_S;
    let from_s = match case.compared {
        Compared::Means => settled_s.max(LATE_S),
        Compared::Traces | Compared::Range => settled_s,
    };
    Some(Made {
        summary: summarise(&trace, from_s, rtt_ms(&case.path))?,
        trace: match case.compared {
            Compared::Traces => trace,
            Compared::Means | Compared::Range => Vec::new(),
        },
        span_s,
    })
}

fn rtt_ms(path: &Path) -> f64 {
    path.rtt.as_secs_f64() * 1e3
}

fn stamp(sample: &Sample) -> Stamp {
    Stamp {
        time_s: sample.time.as_secs_f64(),
        cwnd_pkts: f64::from(sample.cwnd),
        srtt_ms: f64::from(sample.srtt_us) / 1e3,
        retrans_pkts: sample.retransmissions as f64,
        acked_bytes: sample.bytes_acked as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::{self, Extent};
    use super::*;
    use crate::trace_of::EntityTrace;
    use trammel_core::label::Label;
    use trammel_core::time::Time;

    #[test]
    fn runs_that_are_the_same_are_made_once() {
        let of_pairs = |set: &str, variant: &str| set.starts_with("e3") && variant == "reno";
        let cases = plan::cases(Extent::QUICK, of_pairs);
        let (file, places) = file(&cases, |case| &case.kernel).unwrap();
        assert_eq!(places.len(), 3, "a trace and two phases");
        assert_eq!(file.points.len(), 2, "the first phase is the trace");
        assert_eq!(places[0], places[1]);
    }

    #[test]
    fn a_flow_is_summed_up_from_its_first_stamp_with_a_round_trip() {
        let case = &plan::cases(Extent::QUICK, |set, variant| {
            set == "e2" && variant == "reno"
        })[0];
        let sample = |at: u64| Sample {
            time: Time::from_ms(1000 * at),
            cwnd: 10,
            srtt_us: if at == 0 { 0 } else { 51_000 },
            bytes_acked: 1_000_000 * at,
            ..Sample::default()
        };
        let trace = |samples| PointTrace {
            at: 0,
            repeat: 0,
            label: Label::Simulated,
            trace: EntityTrace {
                entity: setting::name(0),
                samples: Samples::Flow(samples),
            },
        };
        let run = &case.ours[0];
        let made = made_of(case, run, &[trace((0..=3).map(sample).collect())]).unwrap();
        assert_eq!(made[0].span_s, (1.0, 3.0));
        assert_eq!(made[0].trace.len(), 3);
        assert_eq!(made[0].summary.goodput_mbps, 12.0);
        assert_eq!(made[0].summary.queue_ms, 1.0);
        assert!(
            made_of(case, run, &[]).is_none(),
            "a run that failed has no trace"
        );
        assert!(made_of(case, run, &[trace(vec![sample(1)])]).is_none());
    }
}
