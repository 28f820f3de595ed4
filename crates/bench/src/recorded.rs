//! A testbed whose trials are written down: the table `trials`, one row for each load of each.
//!
//! Where a testbed repeats itself, a trial is made once and remembered while the traffic is the
//! same. Learning has a row in the table of its own test.

use crate::layer::Layer;
use crate::ports::PortFlow;
use crate::testbed::{Observation, Plan, Testbed, Traffic};
use crate::transfer::{File, Transferred};
use crate::trial::Failure;
use trammel_stats::table::{Cell, CellType, Table};

/// Columns of the table `trials`.
const COLUMNS: &[(&str, CellType)] = &[
    ("device", CellType::Text),
    ("label", CellType::Text),
    ("test", CellType::Text),
    ("trial", CellType::Int),
    ("frame", CellType::Text),
    ("frame_bytes", CellType::Float),
    ("data_stream", CellType::Text),
    ("intended_fps", CellType::Float),
    ("duration_s", CellType::Float),
    ("loads", CellType::Int),
    ("offered", CellType::Int),
    ("effective_s", CellType::Float),
    ("forwarded", CellType::Int),
    ("lost", CellType::Int),
    ("duplicated", CellType::Int),
    ("reordered", CellType::Int),
    ("corrupted", CellType::Int),
    ("stray", CellType::Int),
    ("latency_least_us", CellType::Float),
    ("latency_median_us", CellType::Float),
    ("latency_p999_us", CellType::Float),
    ("latency_most_us", CellType::Float),
    ("tester_late_us", CellType::Float),
    ("tester_burst", CellType::Int),
    ("tester_bunched", CellType::Int),
];

/// A testbed and the trials that were made on it.
#[derive(Debug)]
pub struct Recorded<'a> {
    bed: &'a mut dyn Testbed,
    /// The test that is made.
    pub test: &'static str,
    rows: Vec<Vec<Cell>>,
    /// Plans that were made under the last traffic.
    known: Vec<(Traffic, Plan, Observation)>,
    /// Transfers that were made.
    transferred: Vec<(File, Transferred)>,
}

/// Plans that are remembered, at most: searches ask for some tens under one traffic.
const REMEMBERED: usize = 128;

impl<'a> Recorded<'a> {
    /// Writes down what is done on `bed` from now on.
    pub fn new(bed: &'a mut dyn Testbed) -> Recorded<'a> {
        Recorded {
            bed,
            test: "",
            rows: Vec::new(),
            known: Vec::new(),
            transferred: Vec::new(),
        }
    }

    /// The table `trials`.
    pub fn table(&self) -> Table {
        let mut table = Table::with("trials", COLUMNS);
        for row in &self.rows {
            let pushed = table.push(row.clone());
            pushed.expect("a row has the cells of the columns");
        }
        table
    }

    fn note(&mut self, traffic: &Traffic, plan: &Plan, observed: &Observation) {
        let (outcome, faults) = (&observed.outcome, &observed.faults);
        let latency = |fraction: f64| {
            let quantile = outcome.latency.as_ref()?.quantile_time(fraction)?;
            Some(quantile.as_ps() as f64 / 1e6)
        };
        let first = plan.loads.first();
        self.rows.push(vec![
            self.bed.device().into(),
            self.bed.label().key().into(),
            self.test.into(),
            (self.rows.len() + 1).into(),
            traffic.sizes.to_string().into(),
            traffic.sizes.mean().into(),
            traffic.stream().into(),
            first.map(|load| load.frames_per_second()).into(),
            plan.duration().as_secs_f64().into(),
            plan.loads.len().into(),
            outcome.offered.into(),
            outcome.effective.as_secs_f64().into(),
            outcome.forwarded.into(),
            outcome.lost().into(),
            faults.duplicated.into(),
            faults.reordered.into(),
            faults.corrupted.into(),
            faults.stray.into(),
            latency(0.0).into(),
            latency(0.5).into(),
            latency(0.999).into(),
            latency(1.0).into(),
            observed
                .tester_late
                .map(|late| late.as_ps() as f64 / 1e6)
                .into(),
            observed.tester_burst.map_or(Cell::Empty, Cell::from),
            observed
                .tester_late
                .map_or(Cell::Empty, |_| outcome.bunched.into()),
        ]);
    }
}

impl Layer for Recorded<'_> {
    fn bed(&self) -> &dyn Testbed {
        self.bed
    }

    fn bed_mut(&mut self) -> &mut dyn Testbed {
        self.bed
    }

    fn on_offer(&mut self, traffic: &Traffic, plan: &Plan) -> Result<Observation, Failure> {
        self.known
            .retain(|(known, ..)| known == traffic && self.bed.repeats_itself());
        let mut same = self.known.iter().filter(|(_, known, _)| known == plan);
        if let Some((_, _, observed)) = same.next() {
            return Ok(observed.clone());
        }
        let observed = self.bed.offer(traffic, plan)?;
        self.note(traffic, plan, &observed);
        if self.bed.repeats_itself() && self.known.len() < REMEMBERED {
            let known = (traffic.clone(), plan.clone(), observed.clone());
            self.known.push(known);
        }
        Ok(observed)
    }

    fn on_offer_together(&mut self, flows: &[PortFlow]) -> Result<Vec<Observation>, Failure> {
        let observed = self.bed.offer_together(flows)?;
        for (flow, of) in flows.iter().zip(&observed) {
            self.note(&flow.traffic, &Plan::of(&[flow.load]), of);
        }
        Ok(observed)
    }

    fn on_transfer(&mut self, file: &File) -> Result<Transferred, Failure> {
        let mut same = self.transferred.iter().filter(|(known, _)| known == file);
        if let Some((_, transferred)) = same.next() {
            return Ok(transferred.clone());
        }
        let transferred = self.bed.transfer(file)?;
        if self.bed.repeats_itself() {
            self.transferred.push((file.clone(), transferred.clone()));
        }
        Ok(transferred)
    }
}
