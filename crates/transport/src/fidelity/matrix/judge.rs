//! How close simulator and kernel are: of each flow, each cell, each variant in each regime, and of
//! all against what is to be reached.

use super::cells::{Cell, ON_REQUEST, Regime, VARIANTS};
use crate::points::TransportOutcome;
use crate::run_tables::ALL_FLOWS;
use std::collections::BTreeMap;
use trammel_stats::stats::percentile;
use trammel_stats::table::CellType::{Float, Int, Text};
use trammel_stats::table::{Cell as Value, Table};

/// Bytes of a full segment's payload, and of what a link carries for it.
const PAYLOAD: f64 = 1448.0;
const ON_THE_LINK: f64 = 1514.0;
/// A flow that the kernel brings so near to what the link can carry says little: any full link
/// looks alike.
const NEAR_CEILING: f64 = 0.9;

/// Everything that was found.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Each flow.
    pub flows: Vec<FlowRow>,
    /// Each cell's queue.
    pub queues: Vec<QueueRow>,
    /// What is to be reached, and what was.
    pub targets: Vec<Target>,
    /// How far two phases of the kernel's lie apart, for each pair of phases of each flow that
    /// counts, of their mean.
    pub own: Vec<f64>,
}

/// A flow of a cell, means over the phases.
#[derive(Clone, Debug)]
pub struct FlowRow {
    /// The cell.
    pub cell: String,
    /// Its regime.
    pub regime: Regime,
    /// The flow.
    pub flow: String,
    /// Its variant.
    pub variant: String,
    /// Goodput, Mbit/s: simulated, the kernel's, the null model's.
    pub simulated: f64,
    /// The kernel's.
    pub kernel: f64,
    /// A full link, shared equally.
    pub null: f64,
    /// How far the kernel's phases lie apart, of their mean.
    pub spread: f64,
    /// Shares of the goodput, simulated and the kernel's, where there are two flows of two
    /// variants.
    pub shares: Option<(f64, f64)>,
    /// Whether it counts: the kernel is below nine tenths of the ceiling, or flows compete.
    pub counts: bool,
}

impl FlowRow {
    /// The simulator's error, of the kernel's goodput.
    pub fn error(&self) -> f64 {
        relative(self.simulated, self.kernel)
    }

    /// The null model's.
    pub(crate) fn null_error(&self) -> f64 {
        relative(self.null, self.kernel)
    }

    /// How much of the null model's error the simulator does not make: 1 is perfect, 0 no better.
    pub fn skill(&self) -> Option<f64> {
        let null = self.null_error().abs();
        (null > 0.0).then(|| 1.0 - self.error().abs() / null)
    }
}

/// The bottleneck's queue of a cell, means over the phases.
#[derive(Clone, Debug)]
pub struct QueueRow {
    /// The cell.
    pub cell: String,
    /// Mean delay, us: simulated.
    pub simulated_us: f64,
    /// The kernel's.
    pub kernel_us: f64,
}

/// Something to be reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// What.
    pub what: &'static str,
    /// What was reached; nothing where there is nothing to judge.
    pub reached: Option<f64>,
    /// What is to be reached.
    pub bound: f64,
    /// Whether more is better.
    pub is_least: bool,
    /// Over how many.
    pub of: usize,
}

impl Target {
    /// Whether it is.
    pub fn is_met(&self) -> bool {
        let is_so = |reached: f64| {
            if self.is_least {
                reached >= self.bound
            } else {
                reached <= self.bound
            }
        };
        self.reached.is_some_and(is_so)
    }
}

fn relative(value: f64, truth: f64) -> f64 {
    if truth > 0.0 {
        return value / truth - 1.0;
    }
    // Of nothing, anything is all too much.
    if value > 0.0 { 1.0 } else { 0.0 }
}

/// Judges what came of the cells.
pub fn judge(cells: &[Cell], outcome: &TransportOutcome) -> Judged {
    // Point, engine, entity and metric to mean, least and most over the phases.
    let mut phases: BTreeMap<(&str, &str, &str), Vec<f64>> = BTreeMap::new();
    for row in outcome.flows.rows() {
        if let Some(mbps) = row.float("late_goodput_mbps") {
            phases
                .entry((row.text("point"), row.text("engine"), row.text("flow")))
                .or_default()
                .push(mbps);
        }
    }
    let mut means: BTreeMap<(&str, &str, &str, &str), f64> = BTreeMap::new();
    for row in outcome.summary.rows() {
        let key = (
            row.text("point"),
            row.text("engine"),
            row.text("entity"),
            row.text("metric"),
        );
        means.extend(row.float("mean").map(|mean| (key, mean)));
    }
    let (mut flows, mut queues, mut own) = (Vec::new(), Vec::new(), Vec::new());
    for cell in cells {
        let at = cell.name.as_str();
        let mean = |engine: &str, flow: &str| {
            let all = phases.get(&(at, engine, flow))?;
            Some(all.iter().sum::<f64>() / all.len() as f64)
        };
        let total = |engine: &str| means.get(&(at, engine, ALL_FLOWS, "late_goodput")).copied();
        let trammel_scenario::topology::Topology::Path(path) = &cell.scenario.topology else {
            continue;
        };
        let ceiling = path.line.rate.as_bps() as f64 / 1e6 * PAYLOAD / ON_THE_LINK;
        let count = cell.scenario.flows.len();
        let names: Vec<&str> = cell
            .scenario
            .flows
            .iter()
            .map(|flow| flow.variant.name.as_str())
            .collect();
        for flow in &cell.scenario.flows {
            let (Some(simulated), Some(kernel)) =
                (mean("simulate", &flow.name), mean("linux_vt", &flow.name))
            else {
                continue;
            };
            let of_phases = &phases[&(at, "linux_vt", flow.name.as_str())];
            let (least, most) = of_phases
                .iter()
                .fold((f64::MAX, f64::MIN), |(low, high), one| {
                    (low.min(*one), high.max(*one))
                });
            let shares = || Some((simulated / total("simulate")?, kernel / total("linux_vt")?));
            let is_low = kernel < NEAR_CEILING * ceiling;
            let counts = count > 1 || is_low || cell.regime.is_changing();
            if counts {
                own.extend(apart(of_phases));
            }
            flows.push(FlowRow {
                cell: cell.name.clone(),
                regime: cell.regime,
                flow: flow.name.clone(),
                variant: flow.variant.name.clone(),
                simulated,
                kernel,
                null: ceiling / count as f64,
                spread: if kernel > 0.0 {
                    (most - least) / kernel
                } else {
                    0.0
                },
                shares: (count == 2 && names[0] != names[1]).then(shares).flatten(),
                counts,
            });
        }
        // By Little's law for both: a guest tells of its queue what waits, so its delay counts what
        // dropped packets have waited too, and one of CoDel's kind drops at the head.
        let queue = |engine: &str| {
            let of = |metric| means.get(&(at, engine, "bottleneck", metric)).copied();
            let packets_a_us = of("late_throughput")? / (8.0 * ON_THE_LINK);
            Some(of("late_queue_mean")? / packets_a_us).filter(|us| us.is_finite())
        };
        if let (Some(simulated_us), Some(kernel_us)) = (queue("simulate"), queue("linux_vt")) {
            queues.push(QueueRow {
                cell: cell.name.clone(),
                simulated_us,
                kernel_us,
            });
        }
    }
    let mut targets = targets(&flows, &queues);
    if cells.iter().all(|cell| cell.regime.is_changing()) {
        // What is asked of paths that change is goodput: a full link shared equally is no null
        // model of them.
        targets.truncate(GOODPUT_TARGETS);
    }
    Judged {
        flows,
        queues,
        targets,
        own,
    }
}

/// How far each pair lies apart, of its mean.
fn apart(all: &[f64]) -> Vec<f64> {
    let pairs = all
        .iter()
        .enumerate()
        .flat_map(|(at, one)| all[at + 1..].iter().map(move |other| (one, other)));
    let of_mean = |(one, other): (&f64, &f64)| {
        let mean = (one + other) / 2.0;
        (mean > 0.0).then(|| (one - other).abs() / mean)
    };
    pairs.filter_map(of_mean).collect()
}

/// The first of [`targets`] are about goodput.
const GOODPUT_TARGETS: usize = 2;

fn targets(flows: &[FlowRow], queues: &[QueueRow]) -> Vec<Target> {
    let counted = || flows.iter().filter(|row| row.counts);
    let errors: Vec<f64> = counted().map(|row| row.error().abs()).collect();
    let skills: Vec<f64> = counted().filter_map(FlowRow::skill).collect();
    // Of a pair, the second share is the first one's rest.
    let mut seen = std::collections::BTreeSet::new();
    let firsts = flows
        .iter()
        .filter(|row| row.shares.is_some() && seen.insert(row.cell.as_str()));
    let shares: Vec<f64> = firsts
        .filter_map(|row| row.shares)
        .map(|(simulated, kernel)| (simulated - kernel).abs())
        .collect();
    let delays: Vec<f64> = queues
        .iter()
        .map(|row| relative(row.simulated_us, row.kernel_us).abs())
        .collect();
    let target = |what, all: &[f64], at: f64, bound, is_least| Target {
        what,
        reached: percentile(all, at),
        bound,
        is_least,
        of: all.len(),
    };
    vec![
        target("goodput error, median", &errors, 50.0, 0.05, false),
        target("goodput error, 90th percentile", &errors, 90.0, 0.15, false),
        target(
            "skill against the null model, median",
            &skills,
            50.0,
            0.8,
            true,
        ),
        target(
            "error of a flow's share in mixed pairs, median",
            &shares,
            50.0,
            0.05,
            false,
        ),
        target(
            "error of the mean queueing delay, median",
            &delays,
            50.0,
            0.1,
            false,
        ),
    ]
}

impl Judged {
    /// All tables, in the order in which they are written.
    pub fn tables(&self) -> Vec<Table> {
        vec![
            self.of_targets(),
            self.of_flows(),
            self.of_queues(),
            self.of_variants(),
        ]
    }

    /// What is to be reached, and what was.
    pub fn of_targets(&self) -> Table {
        let columns = [
            ("target", Text),
            ("reached", Float),
            ("bound", Float),
            ("met", Text),
            ("of", Int),
        ];
        let mut table = Table::with("targets", &columns);
        for target in &self.targets {
            let met = match target.reached {
                None => "nothing to judge",
                Some(_) if target.is_met() => "yes",
                Some(_) => "no",
            };
            let row = vec![
                target.what.into(),
                target.reached.into(),
                target.bound.into(),
                met.into(),
                target.of.into(),
            ];
            table.push(row).expect("the row has a cell for each column");
        }
        table
    }

    /// Every flow, the worst first.
    pub fn of_flows(&self) -> Table {
        let columns = [
            ("cell", Text),
            ("regime", Text),
            ("flow", Text),
            ("variant", Text),
            ("simulated_mbps", Float),
            ("linux_vt_mbps", Float),
            ("null_mbps", Float),
            ("error", Float),
            ("null_error", Float),
            ("kernel_spread", Float),
            ("counts", Text),
        ];
        let mut table = Table::with("fidelity_flows", &columns);
        let mut rows: Vec<&FlowRow> = self.flows.iter().collect();
        rows.sort_by(|a, b| {
            b.error()
                .abs()
                .total_cmp(&a.error().abs())
                .then(a.cell.cmp(&b.cell))
        });
        for row in rows {
            let cells: Vec<Value> = vec![
                row.cell.as_str().into(),
                row.regime.words().into(),
                row.flow.as_str().into(),
                row.variant.as_str().into(),
                row.simulated.into(),
                row.kernel.into(),
                row.null.into(),
                row.error().into(),
                row.null_error().into(),
                row.spread.into(),
                if row.counts { "yes" } else { "no" }.into(),
            ];
            table
                .push(cells)
                .expect("the row has a cell for each column");
        }
        table
    }

    fn of_queues(&self) -> Table {
        let columns = [
            ("cell", Text),
            ("simulated_us", Float),
            ("linux_vt_us", Float),
            ("error", Float),
        ];
        let mut table = Table::with("fidelity_queues", &columns);
        for row in &self.queues {
            let error = relative(row.simulated_us, row.kernel_us);
            let cells = vec![
                row.cell.as_str().into(),
                row.simulated_us.into(),
                row.kernel_us.into(),
                error.into(),
            ];
            table
                .push(cells)
                .expect("the row has a cell for each column");
        }
        table
    }

    fn of_variants(&self) -> Table {
        let columns = [
            ("variant", Text),
            ("regime", Text),
            ("flows", Int),
            ("error_median", Float),
            ("error_p90", Float),
        ];
        let mut table = Table::with("fidelity_variants", &columns);
        for variant in VARIANTS.into_iter().chain(ON_REQUEST) {
            for regime in Regime::ALL {
                let those = self.those(variant, regime);
                let errors: Vec<f64> = those.map(|row| row.error().abs()).collect();
                if errors.is_empty() {
                    continue;
                }
                let cells = vec![
                    variant.into(),
                    regime.words().into(),
                    errors.len().into(),
                    percentile(&errors, 50.0).into(),
                    percentile(&errors, 90.0).into(),
                ];
                table
                    .push(cells)
                    .expect("the row has a cell for each column");
            }
        }
        table
    }

    /// A variant's flows in a regime.
    pub fn those(&self, variant: &str, regime: Regime) -> impl Iterator<Item = &FlowRow> {
        let is_one = move |row: &&FlowRow| row.variant == variant && row.regime == regime;
        self.flows.iter().filter(is_one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(simulated: f64, kernel: f64, null: f64) -> FlowRow {
        FlowRow {
            cell: "c".to_owned(),
            regime: Regime::Alone,
            flow: "f".to_owned(),
            variant: "cubic".to_owned(),
            simulated,
            kernel,
            null,
            spread: 0.0,
            shares: None,
            counts: true,
        }
    }

    #[test]
    fn skill_is_what_the_null_model_s_error_leaves() {
        let one = row(45.0, 50.0, 100.0);
        assert!((one.error() + 0.1).abs() < 1e-12 && (one.null_error() - 1.0).abs() < 1e-12);
        assert!((one.skill().unwrap() - 0.9).abs() < 1e-12);
        assert_eq!(row(50.0, 50.0, 50.0).skill(), None);
        // A flow that the kernel starves is all wrong where the simulator does not.
        assert_eq!(
            (row(1.0, 0.0, 5.0).error(), row(0.0, 0.0, 5.0).error()),
            (1.0, 0.0)
        );
    }

    #[test]
    fn pairs_of_phases_are_held_against_their_means() {
        assert_eq!(apart(&[1.0, 3.0, 1.0]), [1.0, 0.0, 1.0]);
        assert!(apart(&[2.0]).is_empty() && apart(&[0.0, 0.0]).is_empty());
    }

    #[test]
    fn nothing_meets_no_target() {
        assert!(targets(&[], &[]).iter().all(|target| !target.is_met()));
        let all = targets(&[row(50.0, 50.0, 100.0)], &[]);
        assert!(all[0].is_met() && all[1].is_met() && all[2].is_met() && !all[4].is_met());
    }
}
