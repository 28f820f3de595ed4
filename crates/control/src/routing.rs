//! PW-OSPF beside the rest of the router: what passes between the two.

use crate::config::Config;
use crate::dataplane::Route;
use crate::machine::{Delivery, Machine};
use crate::pwospf::{self, InterfaceConfig, Pwospf};
use core::net::Ipv4Addr;
use trammel_core::Time;

/// The routing protocol, from the first instant on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Routing {
    config: Option<pwospf::Config>,
    running: Option<Pwospf>,
    generation: u64,
}

impl Routing {
    /// The routing protocol of a configuration without faults.
    pub(crate) fn new(config: &Config) -> Result<Routing, pwospf::Error> {
        let interface = |of: &crate::interface::Interface| InterfaceConfig {
            address: of.address,
            mask: of.mask,
            up: true,
        };
        let config = config.pwospf.clone().map(|pwospf| pwospf::Config {
            interfaces: config.interfaces.iter().map(interface).collect(),
            ..pwospf
        });
        // What it would refuse at the first instant, it refuses now.
        if let Some(config) = config.clone() {
            Pwospf::new(config, Time::ZERO)?;
        }
        Ok(Routing {
            config,
            running: None,
            generation: 0,
        })
    }

    /// The protocol, if it runs.
    pub(crate) fn pwospf(&self) -> Option<&Pwospf> {
        self.running.as_ref()
    }

    /// The protocol, if it runs, to change.
    pub(crate) fn pwospf_mut(&mut self) -> Option<&mut Pwospf> {
        self.running.as_mut()
    }

    /// Begins, where that has not happened.
    pub(crate) fn start(&mut self, now: Time) {
        if let Some(config) = self.config.take() {
            self.running = Pwospf::new(config, now).ok();
        }
    }

    /// When something falls due; at once where nothing has begun.
    pub(crate) fn next_timeout(&self) -> Option<Time> {
        if self.config.is_some() {
            return Some(Time::ZERO);
        }
        let at = self.running.as_ref()?.next_timeout();
        (at != Time::MAX).then_some(at)
    }

    /// Takes a packet.
    pub(crate) fn receive(&mut self, now: Time, of: &Delivery) {
        if let Some(pwospf) = &mut self.running {
            pwospf.receive(now, of.port, of.source, &of.payload);
        }
    }

    /// Does what is due, and exchanges interfaces, packets and routes with the router.
    pub(crate) fn exchange(&mut self, now: Time, machine: &mut Machine) {
        let Some(pwospf) = &mut self.running else {
            return;
        };
        tell_interfaces(now, pwospf, machine);
        tell_default(now, pwospf, machine);
        if pwospf.next_timeout() <= now {
            pwospf.handle_timeout(now);
        }
        while let Some(out) = pwospf.poll_transmit() {
            machine.send_routing(out.interface, out.destination, &out.payload);
        }
        if self.generation != pwospf.generation() {
            self.generation = pwospf.generation();
            // Routes of no hop are the router's own, which it knows better.
            let learned = pwospf.routes().iter().filter(|route| route.hops > 0);
            let route = |of: &pwospf::Route| Route {
                network: of.network,
                mask: of.mask,
                next_hop: of.next_hop,
                port: of.interface,
            };
            machine.set_learned(learned.map(route).collect());
        }
    }
}

/// Tells the protocol which interfaces changed.
fn tell_interfaces(now: Time, pwospf: &mut Pwospf, machine: &Machine) {
    for (port, of) in machine.ports().iter().enumerate() {
        let interface = &of.interface;
        let known = pwospf.config().interfaces[port];
        if (known.address, known.mask) != (interface.address, interface.mask) {
            pwospf
                .set_interface_address(now, port, interface.address, interface.mask)
                .expect("there is an interface for each port");
        }
        if known.up != machine.up(port).is_some() {
            pwospf
                .set_interface_up(now, port, !known.up)
                .expect("there is an interface for each port");
        }
    }
}

/// Has the protocol advertise the default route while a static one is in force.
fn tell_default(now: Time, pwospf: &mut Pwospf, machine: &Machine) {
    let default = (Ipv4Addr::UNSPECIFIED, Ipv4Addr::UNSPECIFIED);
    let routes = machine.routes();
    let in_force = (routes.configured())
        .any(|route| (route.network, route.mask) == default && machine.up(route.port).is_some());
    let originated = if in_force { &[default][..] } else { &[] };
    pwospf.set_originated(now, originated);
}
