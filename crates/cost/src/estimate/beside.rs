//! Functions on processors of one machine at once: what each costs while the others run.
//!
//! ```text
//! caches   lines of all compete for those that are shared; each function asks as often as its packets pass
//! memory   accesses of all a second are at most the machine's; beyond, each takes longer, all alike (`stretch`)
//! core     where processors are threads of one core, by what probes of four kinds slow one another (`Siblings`)
//! ```
//! How often packets pass depends on what they cost, and what they cost on how often the others'
//! pass: the two are walked to where they agree, each round half of the way. All functions run as
//! fast as they can.
//!
//! The constants are the machine's, from probes; nothing is fitted to functions. What the rings or
//! devices of the others need of the caches is not in it.
//!
//! Che, Tung and Wang, "Hierarchical Web Caching Systems", 2002, on the shared cache.

use super::{Error, Estimate, Load, Range, estimate, estimate_beside};
use crate::function::Function;
use crate::machine::{Machine, Siblings};
use crate::residency::Population;

/// Rounds of the walk; it is near enough after a third of them.
const ROUNDS: u32 = 40;

/// What else uses the caches and the memory.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Beside {
    /// The others' lines, with accesses while one packet of the function passes.
    pub populations: Vec<Population>,
    /// Whether the others have all levels in common with it, not the last one only.
    pub is_core_shared: bool,
    /// How many times as long an access to memory takes.
    pub stretch: f64,
}

impl Default for Beside {
    fn default() -> Beside {
        Beside {
            populations: Vec::new(),
            is_core_shared: false,
            stretch: 1.0,
        }
    }
}

/// What a function costs alone and beside the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Slowed {
    /// Alone.
    pub alone: Estimate,
    /// Beside the others; its rows do not have what threads of one core do to each other, its
    /// cycles do.
    pub beside: Estimate,
}

impl Slowed {
    /// Cycles a packet beside the others over those alone.
    pub fn slowdown(&self) -> f64 {
        self.beside.cycles.centre / self.alone.cycles.centre.max(f64::MIN_POSITIVE)
    }
}

/// What each function costs while all of them run, each on a processor of its own; these are
/// threads of one core or cores of their own. Of threads of one core the machine must know what
/// they do to each other, else only the caches are shared.
pub fn beside(
    parts: &[(&Function, &Load)],
    machine: &Machine,
    is_core_shared: bool,
) -> Result<Vec<Slowed>, Error> {
    let alone: Vec<Estimate> = parts
        .iter()
        .map(|(function, load)| estimate(function, machine, load))
        .collect::<Result<_, _>>()?;
    let mut now = alone.clone();
    // Packets a cycle of each, and what an access to memory takes longer.
    let mut rates: Vec<f64> = alone.iter().map(|one| 1.0 / cycles(one)).collect();
    let mut stretch = 1.0;
    let capacity = machine.memory.accesses_per_s / machine.clock_hz;
    let siblings = machine.siblings.filter(|_| is_core_shared);
    // A function alone has nobody to share with.
    let rounds = if parts.len() > 1 { ROUNDS } else { 0 };
    for _ in 0..rounds {
        let next: Vec<Estimate> = parts
            .iter()
            .enumerate()
            .map(|(at, (function, load))| {
                let others = (0..parts.len()).filter(|other| *other != at);
                let populations = others.flat_map(|other| {
                    let packets = rates[other] / rates[at];
                    now[other].populations.iter().map(move |one| Population {
                        rate: one.rate * packets,
                        ..*one
                    })
                });
                let beside = Beside {
                    populations: populations.collect(),
                    is_core_shared,
                    stretch,
                };
                estimate_beside(function, machine, load, &beside)
            })
            .collect::<Result<_, _>>()?;
        now = next;
        if let Some(siblings) = siblings {
            slow_siblings(&mut now, siblings);
        }
        let mut asked = 0.0;
        for (rate, one) in rates.iter_mut().zip(&now) {
            // The geometric mean of old and new is half of the way.
            *rate = (*rate / cycles(one)).sqrt();
            asked += *rate * one.memory_accesses;
        }
        if !machine.memory.is_counted_only {
            stretch = (stretch * (asked / capacity).sqrt()).max(1.0);
        }
    }
    let slowed = alone.into_iter().zip(now);
    Ok(slowed
        .map(|(alone, beside)| Slowed { alone, beside })
        .collect())
}

fn cycles(estimate: &Estimate) -> f64 {
    estimate.cycles.centre.max(f64::MIN_POSITIVE)
}

/// The share of its cycles that a function waits for memory.
fn waiting(estimate: &Estimate) -> f64 {
    let waits: f64 = estimate.rows.iter().map(|row| row.memory.centre).sum();
    let core: f64 = estimate.rows.iter().map(|row| row.core).sum();
    waits / (core + waits).max(f64::MIN_POSITIVE)
}

/// Slows functions on threads of one core, by the shares of issuing and of waiting of each.
fn slow_siblings(all: &mut [Estimate], siblings: Siblings) {
    let waits: Vec<f64> = all.iter().map(waiting).collect();
    for at in 0..all.len() {
        let mut factor = 1.0;
        for other in (0..all.len()).filter(|other| *other != at) {
            factor *= siblings.slowdown(waits[at], waits[other]);
        }
        let Range { low, centre, high } = all[at].cycles;
        all[at].cycles = Range {
            low: low * factor,
            centre: centre * factor,
            high: high * factor,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function;
    use crate::machines;
    use trammel_core::rng::Rng;

    fn function(operations: &str) -> Function {
        let text = format!("[[function]]\nname = \"f\"\noperations = [{operations}]");
        function::read(&text, "").expect("it is right").remove(0)
    }

    fn machine() -> Machine {
        let mut machine = machines::find("xeon-e5-2690v2").expect("the machine is built in");
        machine.memory.is_counted_only = false;
        machine.memory.latency_ns = 100.0;
        machine.memory.parallel = 10.0;
        machine.memory.accesses_per_s = f64::INFINITY;
        machine.whole_cycles = false;
        machine
    }

    fn slowdowns(operations: [&str; 2], machine: &Machine) -> [f64; 2] {
        let [first, second] = operations.map(function);
        let load = Load::default();
        let parts = [(&first, &load), (&second, &load)];
        let found = beside(&parts, machine, machine.siblings.is_some()).expect("they cost");
        [found[0].slowdown(), found[1].slowdown()]
    }

    const SMALL: &str = "\"parse(40)\", \"ht_lookup(2, 12, 1K, 0)\"";
    const LARGE: &str = "\"parse(40)\", \"ht_lookup(2, 12, 1M, 0)\"";

    #[test]
    fn what_fits_beside_each_other_costs_what_it_costs_alone() {
        for pair in [[SMALL, SMALL], [LARGE, SMALL]] {
            for slowdown in slowdowns(pair, &machine()) {
                assert!((slowdown - 1.0).abs() < 1e-3, "{pair:?}: {slowdown}");
            }
        }
    }

    #[test]
    fn two_that_fit_alone_only_slow_each_other_and_alike() {
        // 24 MiB each in a last level of 25 MiB.
        let pair = ["\"ht_lookup(2, 12, 2M, 0)\"", "\"ht_lookup(2, 12, 2M, 0)\""];
        let [first, second] = slowdowns(pair, &machine());
        assert!(
            (first - second).abs() < 1e-9 && first > 1.5,
            "{first} {second}"
        );
    }

    #[test]
    fn memory_gives_both_together_no_more_than_it_can() {
        let mut machine = machine();
        machine.memory.accesses_per_s = 5e6;
        let pair = [function("\"ht_lookup(2, 12, 500M, 0)\""), function(SMALL)];
        let load = Load::default();
        for pair in [[&pair[0], &pair[0]], [&pair[0], &pair[1]]] {
            let parts = [(pair[0], &load), (pair[1], &load)];
            let found = beside(&parts, &machine, false).expect("they cost");
            let rate = |one: &Slowed| {
                machine.clock_hz / one.beside.cycles.centre * one.beside.memory_accesses
            };
            let asked: f64 = found.iter().map(rate).sum();
            assert!(asked <= 5e6 * 1.01, "{asked}");
            assert!(asked >= 5e6 * 0.99, "memory stands idle: {asked}");
        }
    }

    #[test]
    fn nobody_is_faster_beside_another() {
        let mut rng = Rng::new(1, "pairs");
        for case in 0..200 {
            let mut machine = machine();
            machine.memory.accesses_per_s = 10_f64.powf(6.0 + 3.0 * rng.unit());
            let mut draw = || {
                let entries = 10_f64.powf(2.0 + 6.0 * rng.unit());
                let words = 1 + rng.below(200);
                function(&format!(
                    "\"parse({words})\", \"ht_lookup(2, 12, {entries:.0}, 0)\""
                ))
            };
            let (first, second) = (draw(), draw());
            let load = Load {
                flows: 10_f64.powf(7.0 * rng.unit()),
                ..Load::default()
            };
            let found = beside(&[(&first, &load), (&second, &load)], &machine, false);
            let found = found.expect("they cost");
            let mut asked = 0.0;
            for one in &found {
                let slowdown = one.slowdown();
                assert!(slowdown >= 1.0 - 1e-9, "case {case} of seed 1: {slowdown}");
                let each = machine.clock_hz / one.beside.cycles.centre;
                asked += each * one.beside.memory_accesses;
            }
            let most = machine.memory.accesses_per_s * 1.01;
            assert!(asked <= most, "case {case} of seed 1: {asked} of {most}");
        }
    }

    #[test]
    fn threads_of_one_core_slow_each_other_by_what_probes_do() {
        let mut machine = machine();
        let siblings = Siblings {
            issue_issue: 1.6,
            issue_wait: 1.1,
            wait_issue: 1.2,
            wait_wait: 1.05,
        };
        machine.siblings = Some(siblings);
        let issuing = "\"parse(40)\"";
        let [first, second] = slowdowns([issuing, issuing], &machine);
        assert!((first - 1.6).abs() < 1e-9 && (second - 1.6).abs() < 1e-9);
        assert!((siblings.slowdown(0.5, 1.0) - f64::midpoint(1.1, 1.05)).abs() < 1e-9);
    }
}
