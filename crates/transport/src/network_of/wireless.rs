//! The wireless cell of a path: the simulator's medium, with the rest of the way as a wire before
//! it.

use super::built::BuiltLink;
use super::line;
use trammel_core::time::Span;
use trammel_core::units::Rate;
use trammel_netsim::ids::LinkId;
use trammel_netsim::link::LinkSpec;
use trammel_netsim::network::Network;
use trammel_netsim::wifi::WifiSpec;
use trammel_scenario::path::{Path, Wifi};

/// Power that a usual access point sends, dBm.
const SENT_DBM: f64 = 20.0;
/// Loss of free space over the first metre at 2.4 GHz, dB.
const FIRST_METRE_DB: f64 = 40.0;
/// Each factor of ten in distance indoors costs this much, dB (exponent 3).
const DECADE_DB: f64 = 30.0;

/// Adds the cell of `path`; returns the links there and back, the wire of `delay` among them.
pub(super) fn add(
    network: &mut Network,
    links: &mut Vec<BuiltLink>,
    path: &Path,
    wifi: &Wifi,
    delay: Span,
    limit_packets: u32,
    seed: u64,
) -> anyhow::Result<(Vec<LinkId>, Vec<LinkId>)> {
    let mut wire = LinkSpec::wire("wire", delay);
    line::spoil(&mut wire, &path.line)?;
    wire.seed = seed;
    let out = network.add_link(wire);
    let home = network.add_link(LinkSpec::wire("wire:back", delay));
    let mut spec = WifiSpec::ieee80211g("bottleneck", received_dbm(wifi));
    spec.contenders = wifi.stations.saturating_sub(1);
    spec.wire_overhead_bytes = path.line.overhead;
    spec.queues = [
        line::queue(&path.line, limit_packets)?,
        line::queue(&path.line, limit_packets)?,
    ];
    spec.seed = seed;
    let (down, up) = network.add_wifi(spec);
    for (index, name, is_forward) in [(down, "bottleneck", true), (up, "bottleneck:back", false)] {
        let rate = network.link(index).rate().unwrap_or(Rate::from_bps(1));
        let name = name.to_owned();
        links.push(BuiltLink {
            index,
            name,
            rate,
            schedule: None,
            is_forward,
            burst_bytes: None,
            deliveries: None,
            is_medium: true,
        });
    }
    Ok((vec![out, down], vec![up, home]))
}

/// The power at the receiver: as given, or by the log-distance law from the distance.
fn received_dbm(wifi: &Wifi) -> f64 {
    let by_distance = |metres: f64| SENT_DBM - FIRST_METRE_DB - DECADE_DB * metres.log10();
    wifi.distance_m.map_or(wifi.received_power_dbm, by_distance)
}
