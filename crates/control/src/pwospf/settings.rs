//! Settings that change while the router runs.

use super::config::{Error, InterfaceConfig, hello_seconds};
use super::interfaces::Interface;
use super::machine::Pwospf;
use core::net::Ipv4Addr;
use trammel_core::{Span, Time};

impl Pwospf {
    /// Takes an interface up or down. Its neighbours are lost at once when it goes down; it says
    /// HELLO at once when it comes up.
    pub fn set_interface_up(&mut self, now: Time, interface: usize, up: bool) -> Result<(), Error> {
        let changed = self.interface(interface)?;
        if changed.up == up {
            return Ok(());
        }
        let config = InterfaceConfig {
            up,
            ..changed.config
        };
        self.replace(now, interface, config);
        Ok(())
    }

    /// Gives an interface another address and mask, which costs it its neighbours.
    pub fn set_interface_address(
        &mut self,
        now: Time,
        interface: usize,
        address: Ipv4Addr,
        mask: Ipv4Addr,
    ) -> Result<(), Error> {
        let config = InterfaceConfig {
            address,
            mask,
            up: self.interface(interface)?.up,
        };
        if config != self.interfaces[interface].config {
            self.replace(now, interface, config);
        }
        Ok(())
    }

    fn interface(&self, interface: usize) -> Result<&Interface, Error> {
        let count = self.interfaces.len();
        let found = self.interfaces.get(interface);
        found.ok_or(Error::NoInterface(interface, count))
    }

    fn replace(&mut self, now: Time, interface: usize, config: InterfaceConfig) {
        let lost = self.interfaces[interface].neighbours.clear();
        self.lost_neighbours(now, lost);
        self.interfaces[interface] = Interface::new(config, now);
        self.config.interfaces[interface] = config;
        self.forget_packets(interface);
        self.links_changed(now);
    }

    /// Advertises `networks` (address and mask) beside the subnets of the interfaces, in place of
    /// those before. 0.0.0.0 with mask 0.0.0.0 is the default route.
    pub fn set_originated(&mut self, now: Time, networks: &[(Ipv4Addr, Ipv4Addr)]) {
        let masked = networks
            .iter()
            .map(|(network, mask)| (*network & *mask, *mask));
        let mut originated: Vec<_> = masked.collect();
        originated.sort_unstable();
        originated.dedup();
        if originated != self.originated {
            self.originated = originated;
            self.links_changed(now);
        }
    }

    /// Moves the router to another area, where it knows nobody.
    pub fn set_area(&mut self, now: Time, area: u32) {
        if area == self.config.area {
            return;
        }
        self.config.area = area;
        self.database.clear();
        for interface in 0..self.interfaces.len() {
            let lost = self.interfaces[interface].neighbours.clear();
            self.lost_neighbours(now, lost);
        }
        self.links_changed(now);
        self.send_hello(now);
    }

    /// Sets HELLOINT and says HELLO at once. Neighbours with another interval are lost.
    pub fn set_hello_interval(&mut self, now: Time, interval: Span) -> Result<(), Error> {
        self.hello_seconds = hello_seconds(interval)?;
        self.config.hello_interval = interval;
        self.send_hello(now);
        Ok(())
    }

    /// Sets LSUINT, which counts from the last update.
    pub fn set_lsu_interval(&mut self, interval: Span) -> Result<(), Error> {
        if interval == Span::ZERO {
            return Err(Error::LsuInterval);
        }
        self.config.lsu_interval = interval;
        self.plan_refresh();
        Ok(())
    }

    /// Whether the router makes updates. Off, it still says HELLO and passes on others' updates.
    /// Its entry then ages out of the others' databases.
    pub fn set_lsu_broadcast(&mut self, now: Time, on: bool) {
        if on && !self.own.broadcast {
            self.plan_update(now);
        }
        self.own.broadcast = on;
    }

    /// Says HELLO on all interfaces that are up.
    pub fn send_hello(&mut self, now: Time) {
        for interface in 0..self.interfaces.len() {
            if self.interfaces[interface].up {
                self.say_hello(now, interface);
            }
        }
    }

    /// Sends an update as soon as the least interval since the last has passed.
    pub fn send_lsu(&mut self, now: Time) {
        self.plan_update(now);
    }
}
