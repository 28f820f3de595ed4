//! Sets our runs of a case against the kernel's and draws the findings.

use super::finding::{Finding, Metric, Rule, Spread};
use super::null_model;
use super::plan::{Case, Kernel, SETTLED_S};
use super::simulate::Made;
use super::trace::{Stamp, Summary, cwnd_rms, summarise};

/// The findings of `case`, whose jobs came to `runs`.
pub fn judge(case: &Case, runs: &[Vec<Made>]) -> Vec<Finding> {
    match &case.kernel {
        Kernel::Traces(traces) if case.jobs.len() == 1 => of_traces(case, traces, &runs[0]),
        Kernel::Traces(traces) => of_seeds(case, traces, runs),
        Kernel::Ensemble(members) => {
            let spans: Vec<_> = members[0].iter().map(|member| member.span_s).collect();
            let flow_of = |flow: usize| -> Vec<Summary> {
                members.iter().map(|run| run[flow].summary).collect()
            };
            (0..spans.len())
                .flat_map(|flow| of_ensemble(case, &spans, flow, &flow_of(flow), runs))
                .collect()
        }
    }
}

fn spans(traces: &[Vec<Stamp>]) -> Vec<(f64, f64)> {
    let time = |stamp: Option<&Stamp>| stamp.map_or(0.0, |stamp| stamp.time_s);
    traces
        .iter()
        .map(|trace| (time(trace.first()), time(trace.last())))
        .collect()
}

/// What all findings of one flow of a case share.
fn blank(case: &Case, flow: usize, goodput_mbps: f64) -> Finding {
    let flows = &case.jobs[0].flows;
    Finding {
        set: case.set,
        variant: case.variant.clone(),
        flow,
        cc: flows[flow].variant.clone(),
        metric: Metric::Goodput,
        kernel: Spread::one(0.0),
        ours: Spread::one(0.0),
        null: 0.0,
        rule: Rule::Inside,
        is_target: false,
        has_room: flows.len() > 1 || goodput_mbps < 0.9 * case.path.ceiling_mbps(),
    }
}

fn value(summary: &Summary, metric: Metric) -> f64 {
    match metric {
        Metric::Goodput => summary.goodput_mbps,
        Metric::Retransmissions => summary.retrans_pkts,
        Metric::QueueDelay => summary.queue_ms,
        Metric::Window => summary.cwnd_pkts,
        Metric::WindowRms => f64::NAN,
    }
}

const PLAIN_METRICS: [Metric; 3] = [Metric::Goodput, Metric::Retransmissions, Metric::QueueDelay];
const MEAN_METRICS: [Metric; 4] = [
    Metric::Goodput,
    Metric::Retransmissions,
    Metric::QueueDelay,
    Metric::Window,
];

/// Variants whose window is no target: BBR's and CDG's dips are drawn at random, LP's delay estimate
/// rests on the random offset of the peer's timestamps.
pub const WINDOW_EXCEPTED: [&str; 3] = ["bbr", "cdg", "lp"];

/// Without random loss: trace against trace.
fn of_traces(case: &Case, traces: &[Vec<Stamp>], made: &[Made]) -> Vec<Finding> {
    let spans = spans(traces);
    let rtt_ms = case.path.rtt.as_secs_f64() * 1e3;
    let counts = case.variant != "dctcp";
    let mut findings = Vec::new();
    for (flow, (theirs, ours)) in traces.iter().zip(made).enumerate() {
        let from_s = spans[flow].0 + SETTLED_S;
        let Some(kernel) = summarise(theirs, from_s, rtt_ms) else {
            continue;
        };
        let null = null_model::predict(&case.path, &spans, flow);
        for metric in PLAIN_METRICS {
            findings.push(Finding {
                metric,
                kernel: Spread::one(value(&kernel, metric)),
                ours: Spread::one(value(&ours.summary, metric)),
                null: value(&null, metric),
                rule: Rule::Near(metric.allowed(value(&kernel, metric))),
                is_target: counts,
                ..blank(case, flow, kernel.goodput_mbps)
            });
        }
        let windows = ours.trace.iter().map(|stamp| stamp.cwnd_pkts);
        let rms = cwnd_rms(theirs, windows, from_s).unwrap_or(f64::INFINITY);
        let flat = std::iter::repeat(null.cwnd_pkts);
        findings.push(Finding {
            metric: Metric::WindowRms,
            ours: Spread::one(rms),
            null: cwnd_rms(theirs, flat, from_s).unwrap_or(f64::INFINITY),
            rule: Rule::Near(Metric::WindowRms.allowed(0.0)),
            is_target: counts && !WINDOW_EXCEPTED.contains(&case.variant.as_str()),
            ..blank(case, flow, kernel.goodput_mbps)
        });
    }
    findings
}

/// Random loss and one run of the kernel: it must look like one of ours.
fn of_seeds(case: &Case, traces: &[Vec<Stamp>], runs: &[Vec<Made>]) -> Vec<Finding> {
    let spans = spans(traces);
    let rtt_ms = case.path.rtt.as_secs_f64() * 1e3;
    let Some(kernel) = summarise(&traces[0], spans[0].0 + SETTLED_S, rtt_ms) else {
        return Vec::new();
    };
    let null = null_model::predict(&case.path, &spans, 0);
    let finding = |metric| Finding {
        metric,
        kernel: Spread::one(value(&kernel, metric)),
        ours: spread(runs, 0, metric),
        null: value(&null, metric),
        rule: Rule::Inside,
        is_target: metric == Metric::Goodput,
        ..blank(case, 0, kernel.goodput_mbps)
    };
    MEAN_METRICS.map(finding).to_vec()
}

/// Many runs on both sides: mean against mean, with the kernel's interval.
fn of_ensemble(
    case: &Case,
    spans: &[(f64, f64)],
    flow: usize,
    members: &[Summary],
    runs: &[Vec<Made>],
) -> Vec<Finding> {
    let null = null_model::predict(&case.path, spans, flow);
    let finding = |metric| {
        let values: Vec<f64> = members.iter().map(|member| value(member, metric)).collect();
        let kernel = Spread::of(&values).expect("an ensemble has members");
        let kernel = kernel.with_alike(&values, metric);
        let bound = match (case.set, metric) {
            // The ensembles of the targets allow a tenth; the phases of `e3` what its traces allow.
            ("e6" | "e7", Metric::Goodput) => 0.10 * kernel.mean,
            _ => metric.allowed(kernel.mean),
        };
        Finding {
            metric,
            rule: Rule::Near(bound.max(kernel.half_ci.unwrap_or(0.0))),
            kernel,
            ours: spread(runs, flow, metric),
            null: value(&null, metric),
            is_target: match case.set {
                "e6" => metric == Metric::Goodput,
                // The variant's own flow; what cubic gets beside it is shown.
                "e7" => metric == Metric::Goodput && flow == 1,
                _ => metric != Metric::Window || !WINDOW_EXCEPTED.contains(&case.variant.as_str()),
            },
            ..blank(case, flow, mean_goodput(members))
        }
    };
    MEAN_METRICS.map(finding).to_vec()
}

fn mean_goodput(members: &[Summary]) -> f64 {
    members
        .iter()
        .map(|member| member.goodput_mbps)
        .sum::<f64>()
        / members.len() as f64
}

fn spread(runs: &[Vec<Made>], flow: usize, metric: Metric) -> Spread {
    let values: Vec<f64> = runs
        .iter()
        .map(|run| value(&run[flow].summary, metric))
        .collect();
    Spread::of(&values).expect("a case has runs")
}
