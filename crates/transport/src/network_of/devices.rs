//! Devices of a network: cards at the ends of its links.

use super::built::BuiltDevice;
use anyhow::{Context, anyhow};
use std::collections::BTreeMap;
use trammel_netfpga::registers::Registers;
use trammel_netfpga::{design, preset};
use trammel_netsim::ids::LinkId;
use trammel_netsim::network::Network;
use trammel_scenario::topology::{Device, Graph};
use trammel_workbench::card::CardBetween;

/// The card of each device, by its host, with its registers written.
pub(super) fn cards(graph: &Graph) -> anyhow::Result<BTreeMap<&str, CardBetween>> {
    let card = |device: &Device| -> anyhow::Result<CardBetween> {
        let mtus = graph
            .links_at(&device.host)
            .map(|(n, _)| graph.links[n].line.mtu);
        let mut card = CardBetween::new(&preset(&device.preset)?, mtus.max().unwrap_or(1500))?;
        let map = design("reference-router")?.map();
        for (name, value) in &device.registers {
            let named = map.find(name);
            let named = named.map_err(|_| anyhow!("no register is called `{name}`"))?;
            card.write(named.address, *value);
        }
        Ok(card)
    };
    let devices = graph.devices.iter();
    devices
        .map(|device| {
            let card = card(device).with_context(|| format!("device `{}`", device.host))?;
            Ok((device.host.as_str(), card))
        })
        .collect()
}

/// Puts the cards between the links, of which `pairs` are the two directions.
pub(super) fn place(
    network: &mut Network,
    graph: &Graph,
    cards: &BTreeMap<&str, CardBetween>,
    pairs: &[(LinkId, LinkId)],
) -> anyhow::Result<Vec<BuiltDevice>> {
    let place = |device: &Device| {
        let name = device.host.as_str();
        let card = cards.get(name).context("each device has its card")?;
        let (mut links, mut behind) = (Vec::new(), Vec::new());
        for (n, leads_to_it) in graph.links_at(name) {
            let (there, back) = pairs[n];
            let (into, from) = if leads_to_it {
                (there, back)
            } else {
                (back, there)
            };
            if !card.attach(into) {
                return Err(anyhow!("`{name}` has more links than ports"));
            }
            links.push(graph.links[n].name.clone());
            behind.push(from);
        }
        network.add_middlebox(Box::new(card.clone()), &behind);
        Ok(BuiltDevice {
            name: name.to_owned(),
            links,
            card: card.clone(),
        })
    };
    graph.devices.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use crate::simulate::simulate;
    use std::path::Path;
    use trammel_scenario::File;
    use trammel_stats::table::Table;

    /// The example, for a second, with another limit of the queue to the sink.
    fn run(limit: &str) -> (Table, Table) {
        let text = include_str!("../../../../examples/netfpga-path.toml");
        let text = text
            .replace("\"5 s\"", "\"1 s\"")
            .replace("\"1 s\"\n\n[[host]]", "\"0.2 s\"\n\n[[host]]")
            .replace("IN_Q=32", limit);
        let file = File::parse("netfpga-path.toml", &text, Path::new(".")).unwrap();
        let run = simulate(&file.points[0].scenario, 1, false).unwrap();
        (run.devices, run.flows)
    }

    #[test]
    fn flows_share_the_queue_of_a_port() {
        let (devices, flows) = run("IN_Q=32");
        let rows: Vec<_> = devices.rows().collect();
        let int = |row: usize, column: &str| rows[row].int(column).unwrap();
        let names = [0, 1, 2].map(|row| rows[row].text("port").to_owned());
        assert_eq!(names, ["card:0", "card:1", "card:2"]);
        assert_eq!(rows[2].text("link"), "card-sink");
        // What came by the senders' ports was sent by the sink's, but for what its queue dropped.
        let (came, sent) = (
            int(0, "received_pkts") + int(1, "received_pkts"),
            int(2, "sent_pkts"),
        );
        let rest = came - sent - int(2, "drops_queue_pkts") - int(2, "queued_pkts");
        assert!((0..=3).contains(&rest), "{rest} under way");
        assert!(int(2, "drops_queue_pkts") > 0);
        assert_eq!(int(0, "drops_queue_pkts") + int(0, "to_cpu_pkts"), 0);
        // 32 frames of 1518 bytes before one.
        let longest = rows[2].float("transit_max_us").unwrap();
        assert!((400.0..440.0).contains(&longest), "{longest}");
        for flow in flows.rows() {
            let goodput = flow.float("goodput_mbps").unwrap();
            assert!((100.0..950.0).contains(&goodput), "{goodput}");
        }
        // The same bytes each time.
        assert_eq!(run("IN_Q=32"), (devices, flows));
    }

    #[test]
    fn a_queue_without_a_limit_has_512_kib() {
        let (devices, _) = run("IN_Q=0");
        let rows: Vec<_> = devices.rows().collect();
        let longest = rows[2].float("transit_max_us").unwrap();
        assert!((4_100.0..4_300.0).contains(&longest), "{longest}");
    }
}
