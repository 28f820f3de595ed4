//! What a file of a kept run holds of transport: its tables and its samples.

use crate::run_tables::RunTables;
use crate::trace_of::EntityTrace;
use trammel_report::kept::{Keep, Samples};
use trammel_scenario::columns::{
    APPS, Columns, DEVICES, FLOWS, GROUPS, LINKS, STREAMS, WORKLOADS, table,
};
use trammel_stats::table::Table;

impl Keep for RunTables {
    fn tables(&self) -> Vec<&Table> {
        vec![
            &self.flows,
            &self.links,
            &self.devices,
            &self.workloads,
            &self.streams,
            &self.apps,
            &self.groups,
        ]
    }

    fn samples(&self) -> Vec<Samples> {
        let traces = self.traces.iter();
        traces
            .map(|one| (one.entity.clone(), one.to_numbers()))
            .collect()
    }

    fn of_parts(read: &dyn Fn(&Table) -> Option<Table>, samples: &[Samples]) -> Option<RunTables> {
        let read = |name: &str, columns: Columns| read(&table(name, columns));
        let traces = samples
            .iter()
            .map(|(entity, rows)| EntityTrace::from_numbers(entity, rows));
        Some(RunTables {
            flows: read("flows", FLOWS)?,
            links: read("links", LINKS)?,
            devices: read("devices", DEVICES)?,
            workloads: read("workloads", WORKLOADS)?,
            streams: read("streams", STREAMS)?,
            apps: read("apps", APPS)?,
            groups: read("groups", GROUPS)?,
            traces: traces.collect::<Option<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::simulate;
    use trammel_core::Span;
    use trammel_core::time::Time;
    use trammel_scenario::app::App;
    use trammel_scenario::flow::Flow;
    use trammel_scenario::model::Scenario;
    use trammel_scenario::workload::{Arrivals, Workload, WorkloadKind, web_sizes};

    #[test]
    fn a_run_survives_its_parts() {
        let scenario = Scenario::dumbbell()
            .flow(Flow::new("cubic"))
            .flow(Flow::new("reno"))
            .workload(Workload {
                name: "web".to_owned(),
                kind: WorkloadKind::Poisson {
                    arrivals: Arrivals::PerSecond(20.0),
                    size: web_sizes(),
                },
                flow: Flow::new("reno"),
                start: Time::ZERO,
                stop: None,
            })
            .app(App::new("voice"))
            .duration(Span::from_secs(3))
            .warmup(Time::from_secs(1));
        let run = simulate(&scenario, 1, true).unwrap();
        assert!(!run.traces.is_empty() && !run.workloads.is_empty() && !run.apps.is_empty());
        let csv: Vec<(String, String)> = run
            .tables()
            .iter()
            .map(|table| (table.name().to_owned(), table.to_csv()))
            .collect();
        let read = |empty: &Table| {
            let (_, text) = csv.iter().find(|(name, _)| name == empty.name())?;
            Table::read_csv(empty, text.as_bytes()).ok()
        };
        let back = RunTables::of_parts(&read, &run.samples()).unwrap();
        assert_eq!(back, run);
    }
}
