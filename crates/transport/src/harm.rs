//! Harm: the part of its goodput that a flow loses to the others, against running alone.
//!
//! `harm = (solo − shared) / solo` (Ware, Mukerjee, Seshan and Sherry, "Beyond Jain's Fairness
//! Index", HotNets 2019, §3). Below zero where a flow does better in company. The solo run has the
//! same path and seed.

use trammel_core::time::Time;
use trammel_scenario::columns::{FLOWS, table};
use trammel_scenario::model::Scenario;
use trammel_stats::table::{Cell, Table};

/// `scenario` with its flow `index` only. Flows alike give the same scenario, whatever their names.
pub fn alone(scenario: &Scenario, index: usize) -> Scenario {
    let mut flow = scenario.flows[index].clone();
    flow.name.clone_from(&flow.variant.name);
    flow.place = Some(0);
    // Without company there is no phase to draw.
    flow.start = flow.start.or(Some(Time::ZERO));
    Scenario {
        flows: vec![flow],
        workloads: Vec::new(),
        streams: Vec::new(),
        apps: Vec::new(),
        solo: false,
        ..scenario.clone()
    }
}

/// The goodput of the one flow of a solo run, Mbit/s.
pub fn goodput_mbps(flows: &Table) -> Option<f64> {
    flows.rows().next()?.float("goodput_mbps")
}

/// The rows of `flows` with their harm, given the goodput of each alone in Mbit/s.
pub(crate) fn with_harm(flows: &Table, alone_mbps: &[Option<f64>]) -> Table {
    let mut harmed = table("flows", FLOWS);
    let at = harmed.column("harm").expect("`FLOWS` has it");
    for (row, alone) in flows.rows().zip(alone_mbps) {
        let mut cells = row.cells().to_vec();
        let alone = alone.filter(|alone| *alone > 0.0);
        let harm = alone.zip(row.float("goodput_mbps"));
        cells[at] = Cell::from(harm.map(|(alone, shared)| (alone - shared) / alone));
        harmed
            .push(cells)
            .expect("the row had the columns of `FLOWS`");
    }
    harmed
}
