//! Whether the devices of a network can stand where they are: links that fit their ports, registers
//! that are there.

use super::{Faults, ends};
use crate::model::Scenario;
use crate::topology::{Device, Graph, Link};
use trammel_netfpga::stages::PORTS;
use trammel_netfpga::{Design, Params, design, preset};
use trammel_workbench::card::{LINE_BYTES, LONGEST_PACKET, early};

pub(super) fn check(scenario: &Scenario, graph: &Graph, all: &mut Faults) {
    if graph.devices.is_empty() {
        return;
    }
    for device in &graph.devices {
        one(graph, device, all);
    }
    for (n, link) in graph.links.iter().enumerate() {
        if link.line.overhead > LINE_BYTES {
            let what = format!("the overhead of a link is above {LINE_BYTES} bytes");
            let why = "a route counts its largest, and a card's line has no more";
            let help = format!("write `overhead = \"{LINE_BYTES} B\"`");
            all.add(format!("link.{n}.overhead"), what, why, help);
        }
    }
    for (place, from, to) in ends(scenario) {
        for (key, host) in [("from", from), ("to", to)] {
            let is_device = graph
                .devices
                .iter()
                .any(|device| Some(device.host.as_str()) == host);
            if is_device {
                let what = "a device neither sends nor receives";
                let why = "it forwards what others send";
                all.add(format!("{place}.{key}"), what, why, "name a host behind it");
            }
        }
    }
    for (n, flow) in scenario.flows.iter().enumerate() {
        if flow.offload {
            let why = "a super-segment is no frame";
            let help = "leave `offload` out";
            let what = "no flow of a network with a device can use `offload`";
            all.add(format!("flow.{n}.offload"), what, why, help);
        }
    }
}

fn one(graph: &Graph, device: &Device, all: &mut Faults) {
    let at = graph.hosts.iter().position(|host| *host == device.host);
    let place = |key: &str| match at {
        Some(at) => format!("host.{at}.{key}"),
        None => "host".to_owned(),
    };
    let params = match preset(&device.preset) {
        Ok(params) => params,
        Err(error) => {
            return all.add(place("device"), error.to_string(), "unknown device", "");
        }
    };
    if at.is_none() {
        let what = format!("no host is called `{}`", device.host);
        all.add("host", what, "a device is one of the hosts", "");
    }
    let links = graph.links_at(&device.host).count();
    if links > PORTS {
        let what = format!("`{}` has {links} links", device.host);
        let why = format!("a card has {PORTS} ports");
        all.add(place("device"), what, why, "take links away");
    }
    for (n, _) in graph.links_at(&device.host) {
        link(n, &graph.links[n], device, &params, all);
    }
    let Ok(map) = design("reference-router").map(Design::map) else {
        return;
    };
    for (n, (name, _)) in device.registers.iter().enumerate() {
        if let Err(near) = map.find(name) {
            let help = near.map_or_else(
                || "`trammel netfpga reg list` has all".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            let what = format!("the device has no register `{name}`");
            all.add(
                format!("{}.{n}", place("registers")),
                what,
                "unknown register",
                help,
            );
        }
    }
}

/// A link at a port of `device` is the port's wire.
fn link(n: usize, link: &Link, device: &Device, params: &Params, all: &mut Faults) {
    let (line, host) = (&link.line, &device.host);
    let bps = params.port_mbps.saturating_mul(1_000_000);
    let is_wire = line.schedule.is_empty() && line.trace.is_none() && line.burst.is_none();
    if !is_wire || line.rate.as_bps() != bps || line.ack_rate.as_bps() != bps {
        let what = format!("the link is not the wire of a port of `{host}`");
        let why = format!(
            "ports of `{}` send {} Mbit/s, always, both ways",
            device.preset, params.port_mbps
        );
        let help = format!(
            "write `rate = \"{} Mbit/s\"`, and limit flows on another link",
            params.port_mbps
        );
        all.add(format!("link.{n}.rate"), what, why, help);
    }
    if line.overhead != LINE_BYTES {
        let what = format!(
            "the link counts {} bytes beside an IP packet",
            line.overhead
        );
        let why = format!("a port's line has {LINE_BYTES}: headers, FCS, preamble and gap");
        let help = format!("write `overhead = \"{LINE_BYTES} B\"`");
        all.add(format!("link.{n}.overhead"), what, why, help);
    }
    if line.mtu > LONGEST_PACKET {
        let what = format!("packets of {} bytes are too long for `{host}`", line.mtu);
        let why = "a port drops frames above 2,048 bytes";
        let help = format!("write `mtu = {LONGEST_PACKET}` or less");
        all.add(format!("link.{n}.mtu"), what, why, help);
    }
    let least = early(params, line.mtu);
    if link.delay < least {
        let what = format!("the link's delay is {}", link.delay);
        let why = format!("at `{host}` it must be at least that of its longest frame, {least}");
        let help = format!("write `delay = \"{} us\"` or more", least.as_us() + 1);
        all.add(format!("link.{n}.delay"), what, why, help);
    }
}

#[cfg(test)]
mod tests {
    use crate::flow::Flow;
    use crate::model::Scenario;
    use crate::path::Line;
    use crate::topology::{Device, Graph, Link};
    use trammel_core::time::Span;
    use trammel_core::units::Rate;

    /// Two hosts at a card.
    fn scenario(change: impl FnOnce(&mut Graph)) -> Scenario {
        let mut line = Line::new(Rate::from_bps(1_000_000_000));
        line.overhead = 38;
        let link = |from, to| Link::new(from, to, Span::from_us(13), line.clone());
        let mut graph = Graph {
            hosts: ["a", "card", "b"].map(String::from).to_vec(),
            links: vec![link("a", "card"), link("card", "b")],
            devices: vec![Device {
                host: "card".to_owned(),
                preset: "reference-1g".to_owned(),
                registers: vec![("OQ_QUEUE_2_MAX_PKTS_IN_Q".to_owned(), 8)],
            }],
        };
        change(&mut graph);
        Scenario::network(graph).flow(Flow::new("reno").between("a", "b"))
    }

    /// Places and beginnings of the faults.
    fn faults(scenario: &Scenario) -> Vec<(String, String)> {
        let all = scenario.check().err().unwrap_or_default();
        all.into_iter().map(|one| (one.place, one.what)).collect()
    }

    #[test]
    fn a_card_between_wires_of_its_ports_is_fine() {
        assert_eq!(faults(&scenario(|_| {})), []);
    }

    #[test]
    fn what_does_not_fit_a_port_is_told_at_its_key() {
        type Change = fn(&mut Graph);
        let cases: [(&str, Change); 8] = [
            ("link.0.rate", |graph| {
                graph.links[0].line.rate = Rate::from_bps(100_000_000);
            }),
            ("link.1.rate", |graph| {
                graph.links[1].line.burst = Some(3000);
            }),
            ("link.0.overhead", |graph| graph.links[0].line.overhead = 14),
            ("link.1.mtu", |graph| {
                graph.links[1].line.mtu = 2031;
                graph.links[1].delay = Span::from_us(100);
            }),
            ("link.0.delay", |graph| {
                graph.links[0].delay = Span::from_us(12);
            }),
            ("host.1.device", |graph| {
                graph.devices[0].preset = "reference-2g".to_owned();
            }),
            ("host.1.device", |graph| {
                for _ in 0..3 {
                    let mut link = graph.links[0].clone();
                    link.name = format!("more-{}", graph.links.len());
                    graph.links.push(link);
                }
            }),
            ("host.1.registers.0", |graph| {
                graph.devices[0].registers[0].0 = "OQ_QUEUE_9_MAX_PKTS_IN_Q".to_owned();
            }),
        ];
        for (place, change) in cases {
            let faults = faults(&scenario(change));
            assert_eq!(faults.len(), 1, "{place}: {faults:?}");
            assert_eq!(faults[0].0, place, "{faults:?}");
        }
        let mut to_itself = scenario(|_| {});
        to_itself.flows[0].to = Some("card".to_owned());
        to_itself.flows[0].offload = true;
        let places: Vec<String> = faults(&to_itself).into_iter().map(|one| one.0).collect();
        assert_eq!(places, ["flow.0.to", "flow.0.offload"]);
    }
}
