//! What a router is configured with, and the two files of SCONE that say it.

mod columns;
pub mod cpuhw;
pub mod rtable;

use crate::dataplane::Route;
use crate::interface::Interface;
use crate::pwospf;
use crate::routes;
use std::fmt;
use trammel_core::Span;

/// Interfaces of a router, at most.
pub(crate) const MOST_INTERFACES: usize = 64;

/// A router's configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The interfaces; the first is on port 0.
    pub interfaces: Vec<Interface>,
    /// The static routes.
    pub routes: Vec<Route>,
    /// How long an entry of ARP lasts that no packet confirms; 300 s. Its station is asked twice
    /// before.
    pub arp_lifetime: Span,
    /// Between two requests of ARP; 1 s.
    pub arp_interval: Span,
    /// Requests of ARP before a next hop is given up; 5.
    pub arp_requests: u32,
    /// Entries of ARP, at most; 4,096. The dynamic one that was confirmed longest ago makes room.
    pub arp_entries: usize,
    /// Packets that wait for one next hop, at most; 32. The oldest makes room.
    pub arp_queue: usize,
    /// Next hops that are being resolved, at most; 256. Packets to others are dropped.
    pub arp_next_hops: usize,
    /// ICMP errors and TCP resets per second, in the long run; 1,000 (RFC 1812 §4.3.2.8).
    pub icmp_errors_per_second: u64,
    /// ICMP errors and TCP resets at once, at most; 1,000.
    pub icmp_errors_burst: u64,
    /// PW-OSPF, if it is to run. Its interfaces are those above, whatever it says.
    pub pwospf: Option<pwospf::Config>,
}

impl Config {
    /// A configuration with these interfaces and routes, the rest as SCONE has it. The address of
    /// the first interface is the router's identity in PW-OSPF.
    pub fn new(interfaces: Vec<Interface>, routes: Vec<Route>) -> Config {
        let identity = interfaces.first().map(|first| first.address);
        Config {
            pwospf: identity.map(|identity| pwospf::Config::new(identity, Vec::new())),
            interfaces,
            routes,
            arp_lifetime: Span::from_secs(300),
            arp_interval: Span::from_secs(1),
            arp_requests: 5,
            arp_entries: 4096,
            arp_queue: 32,
            arp_next_hops: 256,
            icmp_errors_per_second: 1_000,
            icmp_errors_burst: 1_000,
        }
    }

    /// Finds all faults.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let mut faults = Faults::default();
        if self.interfaces.len() > MOST_INTERFACES {
            let count = self.interfaces.len();
            faults.add(
                "interfaces",
                format!(
                    "there are {count}, and a router has at most {MOST_INTERFACES}: remove some"
                ),
            );
        }
        for (port, interface) in self.interfaces.iter().enumerate() {
            let fault = interface_fault(interface, &self.interfaces[..port]);
            faults.extend(format!("interface {port}"), fault);
        }
        let mut table = routes::Routes::default();
        for (number, route) in self.routes.iter().enumerate() {
            let fault = routes::fault(route, &self.interfaces);
            let fault = fault.or_else(|| table.add(*route).err());
            faults.extend(format!("route {number}"), fault);
        }
        let positive = [
            ("arp_lifetime", self.arp_lifetime > Span::ZERO),
            ("arp_interval", self.arp_interval > Span::ZERO),
            ("arp_requests", self.arp_requests > 0),
            ("arp_entries", self.arp_entries > 0),
            ("arp_queue", self.arp_queue > 0),
            ("arp_next_hops", self.arp_next_hops > 0),
        ];
        for (name, _) in positive.into_iter().filter(|(_, is_right)| !is_right) {
            faults.add(
                name,
                "zero leaves nothing to work with: give at least 1".to_owned(),
            );
        }
        faults.result(())
    }
}

/// What is wrong with an interface after those `before` it.
fn interface_fault(interface: &Interface, before: &[Interface]) -> Option<String> {
    let same = |taken: fn(&Interface, &Interface) -> bool| {
        before.iter().find(|other| taken(other, interface))
    };
    interface.fault().or_else(|| {
        if let Some(other) = same(|a, b| a.name == b.name) {
            return Some(format!(
                "`{}` is there already: give it another name",
                other.name
            ));
        }
        let other = same(|a, b| a.address == b.address)?;
        let (address, name) = (other.address, &other.name);
        Some(format!(
            "`{name}` has address {address} already: give another"
        ))
    })
}

/// A fault and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fault {
    place: String,
    what: String,
}

/// Why a configuration or a file of one is refused: all its faults, one a line, each with its
/// place, the reason and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Vec<Fault>);

impl std::error::Error for Error {}

impl Error {
    /// One fault.
    pub(crate) fn of(place: &str, what: &impl ToString) -> Error {
        let (place, what) = (place.to_owned(), what.to_string());
        Error(vec![Fault { place, what }])
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, Fault { place, what }) in self.0.iter().enumerate() {
            let line = if number == 0 { "" } else { "\n" };
            write!(f, "{line}{place}: {what}")?;
        }
        Ok(())
    }
}

/// Faults that are being collected.
#[derive(Debug, Default)]
struct Faults {
    all: Vec<Fault>,
    unsaid: usize,
}

/// Faults that are told, at most.
const MOST_FAULTS: usize = 50;

impl Faults {
    fn add(&mut self, place: &str, what: String) {
        self.extend(place.to_owned(), Some(what));
    }

    fn extend(&mut self, place: String, fault: Option<String>) {
        let Some(what) = fault else {
            return;
        };
        if self.all.len() < MOST_FAULTS {
            self.all.push(Fault { place, what });
        } else {
            self.unsaid += 1;
        }
    }

    fn result<T>(mut self, value: T) -> Result<T, Error> {
        if self.unsaid > 0 {
            let what = format!("{} more faults: correct these first", self.unsaid);
            let place = "and".to_owned();
            self.all.push(Fault { place, what });
        }
        if self.all.is_empty() {
            Ok(value)
        } else {
            Err(Error(self.all))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;

    #[test]
    fn all_faults_are_told_at_once() {
        let interface = Interface {
            name: "eth0".to_owned(),
            address: Ipv4Addr::new(10, 0, 0, 1),
            mask: Ipv4Addr::new(255, 255, 255, 0),
            mac: [2, 0, 0, 0, 0, 1],
        };
        let route = Route {
            network: Ipv4Addr::UNSPECIFIED,
            mask: Ipv4Addr::UNSPECIFIED,
            next_hop: Ipv4Addr::new(10, 0, 0, 1),
            port: 0,
        };
        let good = Config::new(vec![interface.clone()], Vec::new());
        assert_eq!(good.check(), Ok(()));
        let twice = Interface {
            name: "eth1".to_owned(),
            ..interface.clone()
        };
        let mut bad = Config::new(vec![interface, twice], vec![route]);
        bad.arp_queue = 0;
        let error = bad.check().expect_err("three faults").to_string();
        assert_eq!(
            error,
            "interface 1: `eth0` has address 10.0.0.1 already: give another\n\
             route 0: 10.0.0.1 is this router: give the next router's address\n\
             arp_queue: zero leaves nothing to work with: give at least 1"
        );
    }
}
