//! Sets our runs of a case against the kernel's and draws the findings.

use super::finding::{Finding, Metric, Rule, Spread};
use super::null_model;
use super::plan::{Case, Compared};
use super::runs::{Made, SETTLED_S, Sides};
use super::trace::{Summary, cwnd_at, cwnd_rms};

/// The findings of `case`, whose runs came to `sides`.
pub fn judge(case: &Case, sides: &Sides) -> Vec<Finding> {
    let flows = 0..sides.kernel[0].len();
    match case.compared {
        Compared::Traces => flows
            .flat_map(|flow| of_traces(case, &sides.kernel[0], &sides.ours[0], flow))
            .collect(),
        Compared::Range => of_range(case, sides),
        Compared::Means => flows
            .flat_map(|flow| of_ensemble(case, sides, flow))
            .collect(),
    }
}

fn spans(run: &[Made]) -> Vec<(f64, f64)> {
    run.iter().map(|made| made.span_s).collect()
}

/// What all findings of one flow of a case share.
fn blank(case: &Case, flow: usize, goodput_mbps: f64) -> Finding {
    let flows = &case.kernel[0].flows;
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

/// Variants whose window is no target: BBR's and CDG's dips are drawn at random, LP's delay
/// estimate rests on the random offset of the peer's timestamps.
pub(crate) const WINDOW_EXCEPTED: [&str; 4] = ["bbr", "bbr3", "cdg", "lp"];

/// Without random loss: trace against trace.
fn of_traces(case: &Case, theirs: &[Made], ours: &[Made], flow: usize) -> Vec<Finding> {
    let spans = spans(theirs);
    let counts = case.variant != "dctcp";
    let null = null_model::predict(&case.path, &spans, flow);
    let (theirs, ours) = (&theirs[flow], &ours[flow]);
    let kernel = theirs.summary;
    let plain = PLAIN_METRICS.map(|metric| Finding {
        metric,
        kernel: Spread::one(value(&kernel, metric)),
        ours: Spread::one(value(&ours.summary, metric)),
        null: value(&null, metric),
        rule: Rule::Near(metric.allowed(value(&kernel, metric))),
        is_target: counts,
        ..blank(case, flow, kernel.goodput_mbps)
    });
    let from_s = spans[flow].0 + SETTLED_S;
    let rms_of = |rms: Option<f64>| rms.unwrap_or(f64::INFINITY);
    let window = Finding {
        metric: Metric::WindowRms,
        ours: Spread::one(rms_of(cwnd_rms(
            &theirs.trace,
            cwnd_at(&ours.trace),
            from_s,
        ))),
        null: rms_of(cwnd_rms(&theirs.trace, |_| Some(null.cwnd_pkts), from_s)),
        rule: Rule::Near(Metric::WindowRms.allowed(0.0)),
        is_target: counts && !WINDOW_EXCEPTED.contains(&case.variant.as_str()),
        ..blank(case, flow, kernel.goodput_mbps)
    };
    plain.into_iter().chain([window]).collect()
}

/// Random loss and one run of the kernel: it must look like one of ours.
fn of_range(case: &Case, sides: &Sides) -> Vec<Finding> {
    let theirs = &sides.kernel[0];
    let kernel = theirs[0].summary;
    let null = null_model::predict(&case.path, &spans(theirs), 0);
    let finding = |metric| Finding {
        metric,
        kernel: Spread::one(value(&kernel, metric)),
        ours: spread(&sides.ours, 0, metric),
        null: value(&null, metric),
        rule: Rule::Inside,
        is_target: metric == Metric::Goodput,
        ..blank(case, 0, kernel.goodput_mbps)
    };
    MEAN_METRICS.map(finding).to_vec()
}

/// Many runs on both sides: mean against mean, with the kernel's interval.
fn of_ensemble(case: &Case, sides: &Sides, flow: usize) -> Vec<Finding> {
    let null = null_model::predict(&case.path, &spans(&sides.kernel[0]), flow);
    let finding = |metric| {
        let values = values(&sides.kernel, flow, metric);
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
            ours: spread(&sides.ours, flow, metric),
            null: value(&null, metric),
            is_target: match case.set {
                "e6" => metric == Metric::Goodput,
                // The variant's own flow; what cubic gets beside it is shown.
                "e7" => metric == Metric::Goodput && flow == 1,
                _ => metric != Metric::Window || !WINDOW_EXCEPTED.contains(&case.variant.as_str()),
            },
            ..blank(case, flow, mean(&sides.kernel, flow))
        }
    };
    MEAN_METRICS.map(finding).to_vec()
}

/// The mean goodput of flow `flow`, Mbit/s.
fn mean(runs: &[Vec<Made>], flow: usize) -> f64 {
    spread(runs, flow, Metric::Goodput).mean
}

fn values(runs: &[Vec<Made>], flow: usize, metric: Metric) -> Vec<f64> {
    runs.iter()
        .map(|run| value(&run[flow].summary, metric))
        .collect()
}

fn spread(runs: &[Vec<Made>], flow: usize, metric: Metric) -> Spread {
    Spread::of(&values(runs, flow, metric)).expect("a case has runs")
}

#[cfg(test)]
mod tests {
    use super::super::plan::{self, Extent};
    use super::super::trace::Stamp;
    use super::*;

    fn case(set: &str) -> Case {
        plan::cases(Extent::FULL, |of, variant| of == set && variant == "reno").remove(0)
    }

    fn made(goodput_mbps: f64) -> Made {
        let stamp = |at: u32| Stamp {
            time_s: f64::from(at),
            cwnd_pkts: 100.0,
            ..Stamp::default()
        };
        Made {
            summary: Summary {
                goodput_mbps,
                ..Summary::default()
            },
            trace: (0..30).map(stamp).collect(),
            span_s: (0.0, 29.0),
        }
    }

    fn of(findings: &[Finding], metric: Metric) -> &Finding {
        findings
            .iter()
            .find(|finding| finding.metric == metric)
            .unwrap()
    }

    #[test]
    fn a_trace_is_within_its_bounds_or_not() {
        let sides = |ours| Sides {
            kernel: vec![vec![made(50.0)]],
            ours: vec![vec![made(ours)]],
        };
        let close = judge(&case("e2"), &sides(51.0));
        assert!(close.iter().all(Finding::is_within));
        assert_eq!(of(&close, Metric::WindowRms).ours.mean, 0.0);
        assert!(of(&close, Metric::Goodput).has_room, "half of the ceiling");
        let far = judge(&case("e2"), &sides(53.0));
        assert!(of(&far, Metric::Goodput).is_miss());
    }

    #[test]
    fn a_single_run_of_the_kernel_must_lie_in_the_range_of_ours() {
        let sides = |kernel| Sides {
            kernel: vec![vec![made(kernel)]],
            ours: (0..20)
                .map(|seed| vec![made(80.0 + f64::from(seed))])
                .collect(),
        };
        let of_goodput = |kernel| {
            let findings = judge(&case("e1"), &sides(kernel));
            of(&findings, Metric::Goodput).is_within()
        };
        assert!(of_goodput(90.0));
        assert!(!of_goodput(80.0), "below the 5th percentile");
    }

    #[test]
    fn means_are_allowed_what_the_kernel_varies_by() {
        let sides = |spread: f64| Sides {
            kernel: [40.0 - spread, 40.0, 40.0 + spread]
                .map(|mbps| vec![made(mbps)])
                .to_vec(),
            ours: vec![vec![made(46.0)]; 3],
        };
        let goodput = |spread| {
            let findings = judge(&case("e6"), &sides(spread));
            of(&findings, Metric::Goodput).clone()
        };
        assert!(goodput(0.1).is_miss(), "15 % off, and 10 % are allowed");
        assert!(
            goodput(4.0).is_within(),
            "the interval of three such runs is wider"
        );
    }
}
