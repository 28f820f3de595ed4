//! Workloads as flows of a guest: those that come by a plan, at the same times and of the same
//! sizes as in the simulator.

use super::hosts::Attached;
use super::layout::Layout;
use super::nanoseconds::ns;
use super::refusal::refused;
use super::scenario_job::JobWorkload;
use crate::network_of::network_of;
use trammel_kernel::job;
use trammel_netsim::ids::WorkloadId;
use trammel_netsim::trace::Pace;
use trammel_scenario::workload::WorkloadKind;

/// Adds the flows of all workloads; `attached` are their hosts.
pub(super) fn add(layout: &mut Layout<'_>, attached: &[Attached]) -> Vec<JobWorkload> {
    let scenario = layout.scenario;
    if scenario.workloads.is_empty() {
        return Vec::new();
    }
    for (at, workload) in scenario.workloads.iter().enumerate() {
        let kind = match &workload.kind {
            WorkloadKind::Poisson { .. } | WorkloadKind::Background { .. } => continue,
            WorkloadKind::RequestResponse { .. } => "request-response",
            WorkloadKind::OnOff { .. } => "on-off",
        };
        let what = format!("workload `{}`: `{kind}` cannot be measured", workload.name);
        let why = "a guest runs only flows that are known beforehand";
        layout
            .faults
            .push(refused(&format!("workload.{at}.kind"), &what, why));
    }
    // The plan is the simulator's own; nothing of it is run.
    let built = match network_of(scenario, layout.seed, Pace::Off) {
        Ok(built) if layout.faults.is_empty() => built,
        Ok(_) => return Vec::new(),
        Err(why) => {
            layout.faults.push(refused(
                "workload",
                "the workloads cannot be measured",
                &format!("{why:#}"),
            ));
            return Vec::new();
        }
    };
    let mut all = Vec::with_capacity(scenario.workloads.len());
    for (at, (of, workload)) in built.workloads.iter().zip(&scenario.workloads).enumerate() {
        let plan = built.network.workload(WorkloadId::new(at));
        let first = layout.job.flows.len();
        let like = attached[at].flow(&workload.flow);
        let flows = plan.arrivals().iter().map(|(start, bytes)| job::GuestFlow {
            start_ns: ns(start.since_start()),
            stop_ns: i64::MAX,
            bytes: Some(*bytes),
            is_brief: true,
            ..like.clone()
        });
        layout.job.flows.extend(flows);
        let begun = plan
            .arrivals()
            .iter()
            .map(|(start, bytes)| (*start, *bytes, plan.ideal_of(*bytes)));
        all.push(JobWorkload {
            built: of.clone(),
            flows: first..layout.job.flows.len(),
            begun: begun.collect(),
        });
    }
    all
}
