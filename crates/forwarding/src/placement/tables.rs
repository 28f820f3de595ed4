//! A placement as tables: a summary, a row a server, a row a replica, a row a core.

use super::{Answer, ranges};
use trammel_cost::place::headroom::LOSS_TARGET;
use trammel_cost::place::model::{Placed, Resource};
use trammel_stats::table::{Cell, CellType, Table};

impl Answer<'_> {
    /// Every table.
    pub(super) fn tables(&self) -> Vec<Table> {
        vec![
            self.summary(),
            self.servers(),
            self.replicas(),
            self.cores(),
        ]
    }

    /// What a person reads.
    pub(super) fn text(&self) -> String {
        let outcome = &self.outcome;
        let title = match self.file.title.as_str() {
            "" => String::new(),
            title => format!("{title}\n\n"),
        };
        let used = outcome.used();
        let proof = match outcome.gap() {
            0 => format!(
                "optimal for these replicas (bound reached: {})",
                outcome.bound.by
            ),
            gap => format!(
                "at least {} are needed ({}); gap {gap}",
                outcome.bound.servers, outcome.bound.by
            ),
        };
        let cores: usize = outcome
            .placement
            .placed
            .iter()
            .map(|placed| placed.cores.len())
            .sum();
        let worst = (0..self.seen.len())
            .map(|at| self.loss(at))
            .fold(0.0, f64::max);
        let people = [
            "server", "chains", "cores", "cores_%", "dram_%", "llc_%", "link_%", "pcie_%",
            "memory_%", "limit",
        ];
        let servers = self
            .servers()
            .select(&people)
            .expect("the table has these columns");
        let columns = [
            "chain",
            "replica",
            "server",
            "node",
            "port_node",
            "on",
            "mpps",
            "cycles",
            "cycles_high",
            "hit_%",
            "busy_%",
            "busy_high_%",
            "loss",
        ];
        let replicas = self
            .replicas()
            .select(&columns)
            .expect("the table has these columns");
        format!(
            "{title}{used} of {} servers, {cores} cores: {proof}\n\n{servers}\n{replicas}\n\
             cores simulated at the high end of their costs (seed {}): worst loss {worst:.1e}, at \
             most {LOSS_TARGET:.0e} is allowed\n",
            outcome.servers.len(),
            self.file.seed
        )
    }

    fn summary(&self) -> Table {
        let outcome = &self.outcome;
        let mut table = Table::with(
            "summary",
            &[
                ("file", CellType::Text),
                ("servers_used", CellType::Int),
                ("servers_offered", CellType::Int),
                ("bound", CellType::Int),
                ("bound_by", CellType::Text),
                ("gap", CellType::Int),
                ("is_proved_optimal", CellType::Bool),
                ("first_fit", CellType::Int),
                ("is_contended", CellType::Bool),
                ("contention_validated", CellType::Text),
                ("is_loss_allowed", CellType::Bool),
                ("seed", CellType::Int),
            ],
        );
        let row: Vec<Cell> = vec![
            self.file.name.as_str().into(),
            (outcome.used() as u64).into(),
            (outcome.servers.len() as u64).into(),
            (outcome.bound.servers as u64).into(),
            outcome.bound.by.to_string().into(),
            (outcome.gap() as u64).into(),
            Cell::Bool(outcome.gap() == 0),
            (outcome.first_fit as u64).into(),
            Cell::Bool(outcome.is_contended()),
            self.file.validated.as_deref().unwrap_or("no").into(),
            Cell::Bool(self.losing().is_empty()),
            self.file.seed.into(),
        ];
        table.push(row).expect("the row has a cell for each column");
        table
    }

    pub(super) fn servers(&self) -> Table {
        let mut table = Table::with(
            "servers",
            &[
                ("server", CellType::Text),
                ("chains", CellType::Text),
                ("cores", CellType::Int),
                ("cores_%", CellType::Float),
                ("dram_%", CellType::Float),
                ("llc_%", CellType::Float),
                ("link_%", CellType::Float),
                ("pcie_%", CellType::Float),
                ("memory_%", CellType::Float),
                ("limit", CellType::Text),
            ],
        );
        let outcome = &self.outcome;
        for (n, (server, load)) in outcome.servers.iter().zip(&outcome.loads).enumerate() {
            if load.costs.is_empty() {
                continue;
            }
            let here = outcome
                .placement
                .placed
                .iter()
                .filter(|placed| placed.server == n);
            let mut chains: Vec<&str> = here.map(|placed| self.name(placed)).collect();
            chains.dedup();
            let cores: u32 = load.costs.iter().map(|cost| cost.cores).sum();
            let parts = outcome.parts(&self.file.problem, n);
            let (limit, _) = outcome.limit(&self.file.problem, n);
            let mut row: Vec<Cell> = vec![
                server.name.as_str().into(),
                chains.join(" ").into(),
                u64::from(cores).into(),
            ];
            row.extend(Resource::ALL.map(|resource| Cell::Float(percent(parts[resource.index()]))));
            row.push(limit.name().into());
            table.push(row).expect("the row has a cell for each column");
        }
        table
    }

    pub(super) fn replicas(&self) -> Table {
        let mut table = Table::with(
            "replicas",
            &[
                ("chain", CellType::Text),
                ("functions", CellType::Text),
                ("replica", CellType::Int),
                ("server", CellType::Text),
                ("node", CellType::Int),
                ("port_node", CellType::Int),
                ("cores", CellType::Int),
                ("on", CellType::Text),
                ("mpps", CellType::Float),
                ("cycles_low", CellType::Float),
                ("cycles", CellType::Float),
                ("cycles_high", CellType::Float),
                ("hit_%", CellType::Float),
                ("dram_per_s", CellType::Float),
                ("memory_bytes", CellType::Float),
                ("huge_page_bytes", CellType::Int),
                ("busy_%", CellType::Float),
                ("busy_high_%", CellType::Float),
                ("planned_%", CellType::Float),
                ("loss", CellType::Float),
            ],
        );
        let outcome = &self.outcome;
        for (at, (placed, cost)) in outcome
            .placement
            .placed
            .iter()
            .zip(&outcome.costs)
            .enumerate()
        {
            let server = &outcome.servers[placed.server];
            let chain = &self.file.problem.chains[placed.chain];
            let row: Vec<Cell> = vec![
                self.name(placed).into(),
                self.file.functions[placed.chain].join(" ").into(),
                u64::from(placed.replica).into(),
                server.name.as_str().into(),
                (placed.node as u64).into(),
                (placed.port_node as u64).into(),
                (placed.cores.len() as u64).into(),
                ranges(&placed.cores).into(),
                Cell::Float(tidy(placed.pps / 1e6)),
                Cell::Float(tidy(cost.cycles.low)),
                Cell::Float(tidy(cost.cycles.centre)),
                Cell::Float(tidy(cost.cycles.high)),
                Cell::Float(percent(cost.hit_ratio)),
                Cell::Float(tidy(cost.dram_per_s)),
                Cell::Float(chain.work[server.kind].memory_bytes),
                self.file.huge_page_bytes[server.kind].into(),
                Cell::Float(percent(cost.utilisation.centre)),
                Cell::Float(percent(cost.utilisation.high)),
                Cell::Float(percent(chain.planned_utilisation().unwrap_or_default())),
                Cell::Float(tidy(self.loss(at))),
            ];
            table.push(row).expect("the row has a cell for each column");
        }
        table
    }

    fn cores(&self) -> Table {
        let mut table = Table::with(
            "cores",
            &[
                ("server", CellType::Text),
                ("node", CellType::Int),
                ("core", CellType::Int),
                ("chain", CellType::Text),
                ("replica", CellType::Int),
                ("mpps", CellType::Float),
                ("busy_%", CellType::Float),
                ("offered_pkts", CellType::Int),
                ("lost_pkts", CellType::Int),
            ],
        );
        let replicas = self.outcome.placement.placed.iter().zip(&self.seen);
        for (placed, seen) in replicas {
            for (core, seen) in placed.cores.iter().zip(seen) {
                let row: Vec<Cell> = vec![
                    self.outcome.servers[placed.server].name.as_str().into(),
                    (placed.node as u64).into(),
                    u64::from(*core).into(),
                    self.name(placed).into(),
                    u64::from(placed.replica).into(),
                    Cell::Float(tidy(placed.pps / 1e6 / placed.cores.len() as f64)),
                    Cell::Float(percent(seen.utilisation)),
                    seen.offered.into(),
                    seen.lost.into(),
                ];
                table.push(row).expect("the row has a cell for each column");
            }
        }
        table
    }

    fn name(&self, placed: &Placed) -> &str {
        &self.file.problem.chains[placed.chain].name
    }
}

/// `part` in percent, to a tenth.
fn percent(part: f64) -> f64 {
    (part * 1e3).round() / 10.0
}

/// `value` to four digits: no placement is known better.
fn tidy(value: f64) -> f64 {
    trammel_stats::table::round_to(value, 4)
}
