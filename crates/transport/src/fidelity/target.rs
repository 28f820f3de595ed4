//! The targets: how many variants are within each bound, and the median skill.
//!
//! Of the variants that count at most two may miss a target (14 of 16).

use super::finding::{Finding, Metric};
use std::collections::BTreeMap;
use trammel_stats::stats::percentile;

/// Variants that may miss a target.
const MAY_MISS: usize = 2;
/// Median skill to reach.
const SKILL: f64 = 0.8;

/// One target.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The set or sets.
    pub set: &'static str,
    /// What must be met, in words.
    pub what: String,
    /// What was reached: variants, or skill.
    pub reached: f64,
    /// What is needed.
    pub needed: f64,
    /// Of how many: variants, or cells of skill.
    pub of: usize,
    /// The variants that miss it.
    pub missing: Vec<String>,
    /// Whether it is a target itself; the others break one down.
    pub is_main: bool,
}

impl Target {
    /// Whether it is met.
    pub fn is_met(&self) -> bool {
        self.of > 0 && self.reached >= self.needed
    }
}

/// Sets by what is asked of them.
const SETS: [(&str, &str); 6] = [
    ("e2", "one flow, trace against trace"),
    ("e3", "two flows, trace against trace"),
    (
        "e3-phases",
        "two flows, means over the phases of the second",
    ),
    ("e6", "random loss, means over the seeds"),
    ("e7", "against cubic, means over the phases"),
    ("e1", "the kernel's run in the 5–95 % range of ours"),
];

/// Every target, from `findings`.
pub fn targets(findings: &[Finding]) -> Vec<Target> {
    let mut targets = Vec::new();
    for (set, asked) in SETS {
        let of_set: Vec<_> = findings
            .iter()
            .filter(|finding| finding.set == set && finding.is_target)
            .collect();
        // A quick study leaves sets out.
        if of_set.is_empty() {
            continue;
        }
        let mut metrics: Vec<Metric> = of_set.iter().map(|finding| finding.metric).collect();
        metrics.sort_unstable();
        metrics.dedup();
        let all = if metrics.len() > 1 {
            "every metric"
        } else {
            "goodput"
        };
        targets.push(count(
            set,
            format!("{all}: {asked}"),
            true,
            of_set.iter().copied(),
        ));
        if metrics.len() > 1 {
            for metric in metrics {
                let of_metric = of_set.iter().copied().filter(|f| f.metric == metric);
                targets.push(count(set, bound(metric).to_owned(), false, of_metric));
            }
        }
    }
    let single = |finding: &&Finding| finding.set != "e3-phases";
    targets.push(skill(
        "all traces and ensembles",
        true,
        findings.iter().filter(single),
    ));
    for (set, _) in SETS {
        let of_set = || findings.iter().filter(|finding| finding.set == set);
        if of_set().next().is_some() {
            targets.push(skill(set, false, of_set()));
        }
    }
    targets
}

fn bound(metric: Metric) -> &'static str {
    match metric {
        Metric::Goodput => "goodput within 5 %",
        Metric::Retransmissions => "retransmissions within 25 % or 20 packets",
        Metric::QueueDelay => "queueing delay within 10 %",
        Metric::WindowRms => "cwnd trace within 15 % (RMS; bbr, cdg, lp excepted)",
        Metric::Window => "mean cwnd within 15 % (bbr, cdg, lp excepted)",
    }
}

fn count<'a>(
    set: &'static str,
    what: String,
    is_main: bool,
    findings: impl Iterator<Item = &'a Finding>,
) -> Target {
    let mut passes: BTreeMap<&str, bool> = BTreeMap::new();
    for finding in findings {
        *passes.entry(&finding.variant).or_insert(true) &= finding.is_within();
    }
    let missing = passes.iter().filter(|(_, passes)| !**passes);
    let missing: Vec<String> = missing.map(|(&variant, _)| variant.to_owned()).collect();
    Target {
        set,
        what,
        reached: (passes.len() - missing.len()) as f64,
        needed: passes.len().saturating_sub(MAY_MISS) as f64,
        of: passes.len(),
        missing,
        is_main,
    }
}

/// The median skill of goodput over the cells with room to err.
fn skill<'a>(
    set: &'static str,
    is_main: bool,
    findings: impl Iterator<Item = &'a Finding>,
) -> Target {
    let counts = |finding: &&Finding| {
        finding.metric == Metric::Goodput && finding.is_target && finding.has_room
    };
    let skills: Vec<f64> = findings.filter(counts).filter_map(Finding::skill).collect();
    Target {
        set,
        what: "median skill of goodput".to_owned(),
        reached: percentile(&skills, 50.0).unwrap_or(f64::NAN),
        needed: SKILL,
        of: skills.len(),
        missing: Vec::new(),
        is_main,
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::{Rule, Spread};
    use super::*;

    fn finding(variant: &str, metric: Metric, ours: f64) -> Finding {
        Finding {
            set: "e3",
            variant: variant.to_owned(),
            flow: 0,
            cc: variant.to_owned(),
            metric,
            kernel: Spread::one(100.0),
            ours: Spread::one(ours),
            null: 200.0,
            rule: Rule::Near(5.0),
            is_target: true,
            has_room: true,
        }
    }

    #[test]
    fn a_variant_passes_only_with_all_its_flows_and_metrics() {
        let findings = [
            finding("reno", Metric::Goodput, 101.0),
            finding("reno", Metric::Goodput, 110.0),
            finding("bic", Metric::Goodput, 100.0),
            finding("bic", Metric::QueueDelay, 90.0),
            finding("nv", Metric::Goodput, 100.0),
        ];
        let targets = targets(&findings);
        let of = |what: &str| {
            let found = targets
                .iter()
                .find(|t| t.set == "e3" && t.what.starts_with(what));
            found.unwrap()
        };
        assert_eq!(of("every metric").missing, ["bic", "reno"]);
        assert_eq!(of("goodput within").missing, ["reno"]);
        assert_eq!(of("goodput within").needed, 1.0);
        assert!((of("median skill").reached - 0.995).abs() < 1e-12);
        assert!(
            !targets.iter().any(|t| t.set == "e2" && t.is_met()),
            "nothing was run"
        );
    }
}
