//! One run: rows of the start and each change, rows of the routers; what a sweep keeps of it.

use trammel_control::network::Report;
use trammel_core::Span;
use trammel_report::kept::{Keep, Samples};
use trammel_scenario::routing::Routing;
use trammel_stats::table::CellType::{Bool, Float, Int, Text};
use trammel_stats::table::{Cell, CellType, Table};

/// The columns of an event.
pub(crate) const EVENTS: [(&str, CellType); 18] = [
    ("event", Text),
    ("at_s", Float),
    ("converged_s", Float),
    ("restored_s", Float),
    ("black_hole_s", Float),
    ("loop_s", Float),
    ("probes_pkts", Int),
    ("lost_pkts", Int),
    ("looped_pkts", Int),
    ("cut_off_pkts", Int),
    ("hello_pkts", Int),
    ("hello_bytes", Int),
    ("lsu_pkts", Int),
    ("lsu_bytes", Int),
    ("other_pkts", Int),
    ("other_bytes", Int),
    ("swallowed_pkts", Int),
    ("spf_runs", Int),
];

/// The columns of a router.
pub(crate) const ROUTERS: [(&str, CellType); 5] = [
    ("router", Text),
    ("is_up", Bool),
    ("routes", Int),
    ("neighbours", Int),
    ("spf_runs", Int),
];

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// A row for the start and one for each change.
    pub(crate) events: Table,
    /// A row for each router at the end.
    pub(crate) routers: Table,
}

fn empty() -> Run {
    Run {
        events: Table::with("events", &EVENTS),
        routers: Table::with("routers", &ROUTERS),
    }
}

fn push<const N: usize>(table: &mut Table, cells: &[Cell; N]) {
    table
        .push(cells.to_vec())
        .expect("the row has a cell for each column");
}

impl Run {
    /// What `report` says of `scenario`.
    pub(crate) fn new(scenario: &Routing, report: &Report) -> Run {
        let mut run = empty();
        for episode in &report.episodes {
            let (probes, traffic) = (&episode.probes, &episode.traffic);
            push(
                &mut run.events,
                &[
                    episode.cause.as_str().into(),
                    episode.at.as_secs_f64().into(),
                    episode.settled.as_secs_f64().into(),
                    episode.restored.map(Span::as_secs_f64).into(),
                    episode.black_hole.as_secs_f64().into(),
                    episode.looped.as_secs_f64().into(),
                    probes.sent.into(),
                    probes.lost.into(),
                    probes.looped.into(),
                    probes.cut_off.into(),
                    traffic.hellos.into(),
                    traffic.hello_bytes.into(),
                    traffic.lsus.into(),
                    traffic.lsu_bytes.into(),
                    traffic.others.into(),
                    traffic.other_bytes.into(),
                    traffic.lost.into(),
                    episode.spf_runs.into(),
                ],
            );
        }
        for (name, router) in scenario.topology.routers.iter().zip(&report.routers) {
            push(
                &mut run.routers,
                &[
                    name.as_str().into(),
                    router.is_up.into(),
                    router.routes.into(),
                    router.neighbours.into(),
                    router.spf_runs.into(),
                ],
            );
        }
        run
    }

    /// The sum of a column of whole numbers over all events.
    pub(crate) fn total(&self, column: &str) -> i64 {
        let rows = self.events.rows();
        rows.filter_map(|row| row.int(column)).sum()
    }
}

impl Keep for Run {
    fn tables(&self) -> Vec<&Table> {
        vec![&self.events, &self.routers]
    }

    fn of_parts(read: &dyn Fn(&Table) -> Option<Table>, _: &[Samples]) -> Option<Run> {
        let empty = empty();
        Some(Run {
            events: read(&empty.events)?,
            routers: read(&empty.routers)?,
        })
    }
}
