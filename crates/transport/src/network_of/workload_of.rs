//! A workload of a scenario as the simulator's: what its flows are like, and how they come.
//!
//! Data travel from the sending host to the receiving one, as those of a named flow do. Of requests
//! and responses the response is the data: the client that asks is the receiving host, so that
//! responses share the bottleneck with the flows beside them.

use super::built::{BuiltLink, BuiltWorkload};
use super::flow_of::{controller, ecn_of, stacks};
use super::stream_of::law;
use super::ways::Ways;
use anyhow::{Context, anyhow};
use trammel_core::time::Time;
use trammel_core::units::Rate;
use trammel_netsim::workload::{Plan, Template, WorkloadSpec, poisson};
use trammel_scenario::model::Scenario;
use trammel_scenario::plugin::Random;
use trammel_scenario::workload::{Arrivals, Workload, WorkloadKind};
use trammel_stats::arrivals::Spans;

pub(super) fn workload_of(
    scenario: &Scenario,
    workload: &Workload,
    ways: &Ways,
    links: &[BuiltLink],
    seed: u64,
) -> anyhow::Result<(WorkloadSpec, BuiltWorkload)> {
    let flow = &workload.flow;
    let (entry, params) = flow.congestion_control().map_err(|why| anyhow!(why))?;
    let needed = ecn_of(&*(entry.build)(&params));
    let (sender, receiver) = stacks(scenario, flow, ways, needed)?;
    let (mut client, mut server) = (sender, receiver);
    let (mut forward, mut backward) = (ways.forward.clone(), ways.backward.clone());
    if matches!(workload.kind, WorkloadKind::RequestResponse { .. }) {
        std::mem::swap(&mut client, &mut server);
        std::mem::swap(&mut forward, &mut backward);
    }
    let stop = workload.stop.unwrap_or(scenario.end()).min(scenario.end());
    let spec = WorkloadSpec {
        name: workload.name.clone(),
        flow: Template {
            client,
            server,
            cc: controller(entry, params, flow),
            forward,
            backward,
            overhead_bytes: ways.overhead_bytes,
        },
        plan: plan(workload, stop, slowest(links, ways), seed)
            .with_context(|| format!("workload `{}`", workload.name))?,
        start: workload.start,
        stop,
        seed,
    };
    let built = BuiltWorkload {
        name: workload.name.clone(),
        variant: entry.about.name.to_owned(),
        is_measured: matches!(
            workload.kind,
            WorkloadKind::Poisson { .. } | WorkloadKind::RequestResponse { .. }
        ),
    };
    Ok((spec, built))
}

/// The rate of the slowest link that data cross.
fn slowest(links: &[BuiltLink], ways: &Ways) -> Option<Rate> {
    let crossed = links
        .iter()
        .filter(|link| ways.forward.contains(&link.index));
    crossed.map(|link| link.rate).min()
}

fn plan(
    workload: &Workload,
    stop: Time,
    bottleneck: Option<Rate>,
    seed: u64,
) -> anyhow::Result<Plan> {
    Ok(match &workload.kind {
        WorkloadKind::Poisson { arrivals, size } | WorkloadKind::Background { arrivals, size } => {
            let per_second = per_second(*arrivals, size, bottleneck)?;
            let (start, sizes) = (workload.start, law(size)?);
            let name = &workload.name;
            Plan::Arrivals(poisson(seed, name, (start, stop), per_second, &*sizes))
        }
        WorkloadKind::RequestResponse {
            request,
            response,
            think,
            connections,
        } => Plan::Exchanges {
            connections: *connections,
            request: law(request)?,
            response: law(response)?,
            think: Spans::seconds(law(think)?),
        },
        WorkloadKind::OnOff {
            on,
            off,
            rate,
            connections,
        } => {
            let (on, off) = (Spans::seconds(law(on)?), Spans::seconds(law(off)?));
            Plan::Bursts {
                connections: *connections,
                on,
                off,
                bytes_per_s: rate.map(|rate| rate.as_bps() as f64 / 8.0),
            }
        }
    })
}

/// Flows a second. A load or rate is shared out by the mean size, which heavy tails may lack.
fn per_second(arrivals: Arrivals, size: &Random, bottleneck: Option<Rate>) -> anyhow::Result<f64> {
    if let Arrivals::PerSecond(n) = arrivals {
        return Ok(n);
    }
    let mean = size.mean().filter(|mean| mean.is_finite() && *mean > 0.0);
    let mean =
        mean.context("sizes without a mean; give `arrivals` in place of `load` or `rate`")?;
    let rate = bottleneck.context("no link on its path has a rate; give `arrivals`")?;
    Ok(arrivals.per_second(mean, rate))
}
