//! A router: its control software over a functional card, without time of its own.

use std::net::Ipv4Addr;
use trammel_card::RegisterDataplane;
use trammel_control::dataplane::Mac;
use trammel_control::network::{AtEnd, Settings, Topology};
use trammel_control::pwospf::{self, Pwospf};
use trammel_control::{Config, Control, Interface, Route};
use trammel_core::Time;
use trammel_netfpga::stages::{Fcs, PORTS, Queue};
use trammel_netfpga::{Design, Device};

/// A frame that leaves by a port.
pub(super) type Sent = (usize, Vec<u8>);

/// The MAC address of a router's port.
pub(crate) fn router_mac(router: usize, port: usize) -> Mac {
    [2, 0, (router >> 8) as u8, router as u8, port as u8, 1]
}

/// The MAC address of the host on a subnet.
pub(crate) fn host_mac(subnet: usize) -> Mac {
    [2, 1, (subnet >> 8) as u8, subnet as u8, 0, 1]
}

/// What `router` is configured with.
pub(crate) fn config_of(topology: &Topology, settings: &Settings, router: usize) -> Config {
    let subnets = topology.subnets_of(router);
    let interface = |(port, subnet): (usize, &usize)| Interface {
        name: name_of(port),
        address: topology.address(*subnet, router),
        mask: topology.network(*subnet).1,
        mac: router_mac(router, port),
    };
    let interfaces: Vec<Interface> = subnets.iter().enumerate().map(interface).collect();
    // The world outside is behind a host of the gateway.
    let outside = subnets.iter().enumerate().find(|(_, subnet)| {
        topology.gateway == Some(router) && topology.subnets[**subnet].routers.len() == 1
    });
    let outside = outside.map(|(port, subnet)| Route {
        network: Ipv4Addr::UNSPECIFIED,
        mask: Ipv4Addr::UNSPECIFIED,
        next_hop: topology.host(*subnet),
        port,
    });
    let identity = interfaces.first().map(|first| first.address);
    let mut config = Config::new(interfaces, outside.into_iter().collect());
    config.pwospf = identity.map(|router_id| pwospf::Config {
        router_id,
        interfaces: Vec::new(),
        ..settings.config_of(router).clone()
    });
    config
}

/// The name of the interface of `port`.
pub(crate) fn name_of(port: usize) -> String {
    format!("eth{port}")
}

/// A router that lives.
#[derive(Debug)]
pub(super) struct Life {
    control: Control,
    device: Device,
}

impl Life {
    /// A router that just started, with a card of `design`.
    pub(super) fn new(
        config: Config,
        design: &'static Design,
    ) -> Result<Life, trammel_control::config::Error> {
        Ok(Life {
            control: Control::new(config)?,
            device: Device::new(design),
        })
    }

    /// Does what is due.
    pub(super) fn wake(&mut self, now: Time) -> Vec<Sent> {
        let mut dataplane = RegisterDataplane::new(&mut self.device);
        self.control.handle_timeout(now, &mut dataplane);
        self.settle(now)
    }

    /// Takes a frame in by `port`.
    pub(super) fn receive(&mut self, now: Time, port: usize, frame: &[u8]) -> Vec<Sent> {
        self.device.set_time(now);
        self.device.receive(Queue::mac(port), frame, Fcs::Good);
        self.settle(now)
    }

    /// Notices that the link of `port` fails or is repaired.
    pub(super) fn carrier(&mut self, now: Time, port: usize, is_up: bool) -> Vec<Sent> {
        self.device.set_link(port, is_up);
        let word = if is_up { "up" } else { "down" };
        let line = format!("ip interface {} {word}", name_of(port));
        let mut dataplane = RegisterDataplane::new(&mut self.device);
        self.control.command(now, &line, &mut dataplane);
        self.settle(now)
    }

    /// When it is to be woken.
    pub(super) fn next_timeout(&self) -> Time {
        self.control.next_timeout().unwrap_or(Time::MAX)
    }

    /// A number that grows whenever its routes change.
    pub(super) fn generation(&self) -> u64 {
        self.control.pwospf().map_or(0, Pwospf::generation)
    }

    /// Computations of paths since it started.
    pub(super) fn spf_runs(&self) -> u64 {
        self.control
            .pwospf()
            .map_or(0, |one| one.counters().spf_runs)
    }

    /// What there is of it at the end.
    pub(super) fn at_end(&self) -> AtEnd {
        let pwospf = self.control.pwospf();
        AtEnd {
            is_up: true,
            routes: pwospf.map_or(0, |one| one.routes().len()),
            neighbours: pwospf.map_or(0, |one| one.neighbours().count()),
            spf_runs: self.spf_runs(),
        }
    }

    /// Passes frames between card and software until both are at rest; what leaves.
    fn settle(&mut self, now: Time) -> Vec<Sent> {
        let mut sent = Vec::new();
        let mut frame = Vec::new();
        let mut is_at_rest = false;
        while !is_at_rest {
            is_at_rest = true;
            for port in 0..PORTS {
                while self.device.transmit(Queue::cpu(port), &mut frame) {
                    let mut dataplane = RegisterDataplane::new(&mut self.device);
                    self.control.receive(now, port, &frame, &mut dataplane);
                    is_at_rest = false;
                }
            }
            while let Some((port, frame)) = self.control.poll_transmit() {
                self.device.receive(Queue::cpu(port), &frame, Fcs::Good);
                is_at_rest = false;
            }
            for port in 0..PORTS {
                while self.device.transmit(Queue::mac(port), &mut frame) {
                    sent.push((port, std::mem::take(&mut frame)));
                    is_at_rest = false;
                }
            }
        }
        sent
    }
}
