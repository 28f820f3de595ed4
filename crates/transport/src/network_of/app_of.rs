//! An application of a scenario as the simulator's. The server is the sending host, so that what
//! the user waits for shares the bottleneck with the flows beside it.

use super::built::BuiltApp;
use super::flow_of::{controller, ecn_of, stacks};
use super::ways::Ways;
use anyhow::{Context, anyhow};
use trammel_netsim::apps::{self, Carrier};
use trammel_netsim::network::AppSpec;
use trammel_netsim::packet::Labels;
use trammel_netsim::workload::Template;
use trammel_scenario::app::App;
use trammel_scenario::model::Scenario;

/// Bytes of IP and UDP headers.
const HEADERS: u32 = 28;

pub(super) fn app_of(
    scenario: &Scenario,
    app: &App,
    ways: &Ways,
    labels: Labels,
    seed: u64,
) -> anyhow::Result<(AppSpec, BuiltApp)> {
    let kind = apps::FAMILY.get(&app.kind.name)?;
    let (entry, params) = app.flow.congestion_control().map_err(|why| anyhow!(why))?;
    let needed = ecn_of(&*(entry.build)(&params));
    let (server, user) = stacks(scenario, &app.flow, ways, needed)?;
    let made = (0..app.users).map(|_| app.kind.app().map_err(|why| anyhow!(why)));
    let users = made.collect::<anyhow::Result<_>>();
    let spec = AppSpec {
        name: app.name.clone(),
        flow: Template {
            client: user,
            server,
            cc: controller(entry, params, &app.flow),
            forward: ways.backward.clone(),
            backward: ways.forward.clone(),
            overhead_bytes: ways.overhead_bytes,
        },
        carrier: kind.carrier,
        labels,
        datagram_overhead: HEADERS + ways.overhead_bytes,
        users: users.with_context(|| format!("application `{}`", app.name))?,
        start: app.start,
        stop: app.stop.unwrap_or(scenario.end()).min(scenario.end()),
        since: scenario.warmup,
        seed,
    };
    let is_tcp = kind.carrier == Carrier::Tcp;
    let built = BuiltApp {
        name: app.name.clone(),
        kind: kind.about.name.to_owned(),
        variant: is_tcp.then(|| entry.about.name.to_owned()),
    };
    Ok((spec, built))
}
