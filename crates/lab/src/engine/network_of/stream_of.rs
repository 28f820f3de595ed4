//! A stream of datagrams of a scenario as the simulator's.

use super::Ways;
use crate::scenario::model::Scenario;
use crate::scenario::plugin::{Plugin, Random};
use crate::scenario::workload::Stream;
use anyhow::anyhow;
use trammel_core::arrivals::{Renewal, Spans};
use trammel_core::dist::Distribution;
use trammel_core::entry::Value;
use trammel_core::rng::Rng;
use trammel_netsim::stream::StreamSpec;

/// Bytes of IP and UDP headers.
const HEADERS: u32 = 28;

pub(super) fn stream_of(
    scenario: &Scenario,
    stream: &Stream,
    ways: &Ways,
    seed: u64,
) -> anyhow::Result<StreamSpec> {
    let gaps = Spans::seconds(law(&stream.gap)?);
    let rng = Rng::new(seed, &format!("stream:{}:gap", stream.name));
    Ok(StreamSpec {
        name: stream.name.clone(),
        plan: Box::new(Renewal::new(stream.start, gaps, rng)),
        size: law(&stream.size)?,
        stop: stream.stop.unwrap_or(scenario.duration),
        route: ways.forward.clone(),
        overhead_bytes: HEADERS + ways.overhead_bytes,
        max_payload: ways.mtu.saturating_sub(HEADERS).max(1),
        seed,
    })
}

pub(super) fn law(random: &Random) -> anyhow::Result<Box<dyn Distribution>> {
    let law = match random {
        Random::Always(value) => Plugin::new("constant").with("value", Value::Float(*value)),
        Random::Drawn(law) => law.clone(),
    };
    law.distribution().map_err(|why| anyhow!(why))
}
