//! A stream of datagrams of a scenario as the simulator's.

use super::ways::Ways;
use anyhow::anyhow;
use trammel_core::entry::Value;
use trammel_core::rng::Rng;
use trammel_netsim::stream::{StreamSpec, sized};
use trammel_scenario::model::Scenario;
use trammel_scenario::plugin::{Plugin, Random};
use trammel_scenario::workload::Stream;
use trammel_stats::arrivals::{Renewal, Spans};
use trammel_stats::dist::Distribution;

/// Bytes of IP and UDP headers.
const HEADERS: u32 = 28;

pub(super) fn stream_of(
    scenario: &Scenario,
    stream: &Stream,
    ways: &Ways,
    seed: u64,
) -> anyhow::Result<StreamSpec> {
    let gaps = Spans::seconds(law(&stream.gap)?);
    let random = |what| Rng::new(seed, &format!("stream:{}:{what}", stream.name));
    let max_payload = ways.mtu.saturating_sub(HEADERS).max(1);
    Ok(StreamSpec {
        name: stream.name.clone(),
        plan: sized(
            Renewal::new(stream.start, gaps, random("gap")),
            law(&stream.size)?,
            random("size"),
            max_payload,
            HEADERS + ways.overhead_bytes,
        ),
        stop: stream.stop.unwrap_or(scenario.end()),
        route: ways.forward.clone(),
        keeps_arrivals: false,
    })
}

pub(super) fn law(random: &Random) -> anyhow::Result<Box<dyn Distribution>> {
    let law = match random {
        Random::Always(value) => Plugin::new("constant").with("value", Value::Float(*value)),
        Random::Drawn(law) => law.clone(),
    };
    law.distribution().map_err(|why| anyhow!(why))
}
