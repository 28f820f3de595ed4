//! The parts of a guest's network as they are put together: hosts, wires, routes along a row of
//! them.

use super::scenario_job::JobLink;
use trammel_kernel::job::{GuestJob, Host, Route, Way, Wire};
use trammel_scenario::check::Fault;
use trammel_scenario::flow::Flow;
use trammel_scenario::model::Scenario;

/// A network in the making.
#[derive(Debug)]
pub(super) struct Layout<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) seed: u64,
    pub(super) job: GuestJob,
    pub(super) links: Vec<JobLink>,
    pub(super) faults: Vec<Fault>,
    pub(super) notes: Vec<String>,
    /// Whether interfaces cut and join segments.
    pub(super) offload: bool,
}

/// A flow of the scenario, or what the flows of a workload are like.
#[derive(Clone, Debug)]
pub(super) struct Party<'a> {
    /// Its name, which a workload's flow has not.
    pub(super) name: &'a str,
    pub(super) flow: &'a Flow,
    /// Where the scenario gives it.
    pub(super) place: String,
}

/// All of a scenario: its flows, then its workloads.
pub(super) fn parties(scenario: &Scenario) -> impl Iterator<Item = Party<'_>> {
    let flows = scenario.flows.iter().enumerate().map(|(at, flow)| Party {
        name: &flow.name,
        flow,
        place: format!("flow.{at}"),
    });
    let workloads = scenario.workloads.iter().enumerate();
    flows.chain(workloads.map(|(at, workload)| Party {
        name: &workload.name,
        flow: &workload.flow,
        place: format!("workload.{at}"),
    }))
}

/// Hosts in a row, and the wires from each to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    pub(super) hosts: Vec<usize>,
    pub(super) wires: Vec<usize>,
}

impl Row {
    /// A row of one host.
    pub(super) fn from(host: usize) -> Row {
        Row {
            hosts: vec![host],
            wires: Vec::new(),
        }
    }

    /// Goes on to where `next` ends; it begins where this one ends.
    pub(super) fn join(&mut self, next: &Row) {
        debug_assert_eq!(self.hosts.last(), next.hosts.first());
        self.hosts.extend(&next.hosts[1..]);
        self.wires.extend(&next.wires);
    }

    /// The same row from its other end.
    pub(super) fn reversed(&self) -> Row {
        let mut row = self.clone();
        row.hosts.reverse();
        row.wires.reverse();
        row
    }
}

impl<'a> Layout<'a> {
    pub(super) fn new(scenario: &'a Scenario, seed: u64) -> Layout<'a> {
        Layout {
            scenario,
            seed,
            job: GuestJob::default(),
            links: Vec::new(),
            faults: Vec::new(),
            notes: Vec::new(),
            offload: parties(scenario).any(|party| party.flow.offload),
        }
    }

    /// Adds a host or router; its number.
    pub(super) fn host(&mut self, host: Host) -> usize {
        self.job.hosts.push(host);
        self.job.hosts.len() - 1
    }

    /// Adds a wire with what queues packets at its ends.
    pub(super) fn wire(&mut self, ends: [usize; 2], mtu: u32, ways: [Way; 2]) -> Row {
        self.job.wires.push(Wire {
            ends,
            mtu,
            offload: self.offload,
            ways,
        });
        Row {
            hosts: ends.to_vec(),
            wires: vec![self.job.wires.len() - 1],
        }
    }

    /// Lets every host of the row reach both of its ends; `metrics` are those of the first host's
    /// route and of the last one's.
    pub(super) fn route(&mut self, row: &Row, metrics: [&[(u16, u32)]; 2]) {
        for (row, metrics) in [(row.clone(), metrics[0]), (row.reversed(), metrics[1])] {
            let Some(to) = row.wires.last().copied() else {
                continue;
            };
            // The last wire is known to both of its ends.
            for (at, (host, by)) in row.hosts.iter().zip(&row.wires).enumerate() {
                if *by == to {
                    break;
                }
                let route = Route {
                    host: *host,
                    to,
                    by: *by,
                    metrics: if at == 0 {
                        metrics.to_vec()
                    } else {
                        Vec::new()
                    },
                };
                if !self.job.routes.contains(&route) {
                    self.job.routes.push(route);
                }
            }
        }
    }
}
