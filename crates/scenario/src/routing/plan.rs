//! Routers and subnets as they are read, before their addresses are known.

use super::address::{overlap, show};
use crate::faults::Context;
use crate::tree::Extent;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use trammel_control::network::{Addresses, Subnet, Topology};

/// An interface that a `[[router]]` lists.
#[derive(Debug)]
pub(super) struct Interface {
    pub(super) name: String,
    pub(super) address: Ipv4Addr,
    pub(super) mask: Ipv4Addr,
    pub(super) span: Extent,
    /// Whether a link names it.
    pub(super) is_linked: bool,
}

/// An end of a link: a router, and one of its interfaces where that is named.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) router: usize,
    pub(super) interface: Option<usize>,
}

/// What has been read so far.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) topology: Topology,
    /// The subnets' names.
    pub(super) links: Vec<String>,
    /// Where the file gives the addresses of a subnet.
    given: BTreeMap<usize, Extent>,
    /// The interfaces that are listed, by router.
    pub(super) interfaces: BTreeMap<usize, Vec<Interface>>,
}

impl Plan {
    /// A plan that begins with `topology`.
    pub(super) fn of(topology: Topology) -> Plan {
        let mut plan = Plan::default();
        let subnets = topology.subnets.clone();
        plan.topology = Topology {
            subnets: Vec::new(),
            ..topology
        };
        for subnet in subnets {
            plan.push(subnet, None);
        }
        plan
    }

    /// Adds a subnet, named after its routers where it has no name.
    pub(super) fn push(&mut self, subnet: Subnet, name: Option<String>) {
        let routers = subnet.routers.iter();
        let names: Vec<&str> = routers
            .map(|router| self.topology.routers[*router].as_str())
            .collect();
        let base = name.unwrap_or_else(|| match names.as_slice() {
            [one] => format!("{one}-hosts"),
            all => all.join("-"),
        });
        let is_taken = |name: &String| self.links.contains(name);
        let mut names = (2..).map(|n| format!("{base}-{n}"));
        let name = Some(base.clone()).filter(|name| !is_taken(name));
        let name = name.or_else(|| names.find(|name| !is_taken(name)));
        self.links.push(name.unwrap_or(base));
        self.topology.subnets.push(subnet);
    }

    /// Adds a subnet between `ends`, whose interfaces say its addresses; others get the next free
    /// ones.
    pub(super) fn join(
        &mut self,
        cx: &Context<'_>,
        ends: &[End],
        mut subnet: Subnet,
        name: Option<String>,
    ) {
        let named = |end: &End| {
            let all = self.interfaces.get(&end.router)?;
            all.get(end.interface?)
        };
        let Some(first) = ends.iter().find_map(named) else {
            return self.push(subnet, name);
        };
        let (network, mask) = (first.address & first.mask, first.mask);
        let mut taken: Vec<Ipv4Addr> = Vec::new();
        for interface in ends.iter().filter_map(named) {
            if (interface.address & interface.mask, interface.mask) != (network, mask) {
                let what = format!("interface `{}` is of another subnet", interface.name);
                let why = format!("the link's other end is of {}", show((network, mask)));
                let help = "give both addresses of one subnet";
                cx.fault(&interface.span, what, why, help);
            } else if taken.contains(&interface.address) {
                let what = format!("the link has {} twice", interface.address);
                let help = "give each end an address of its own";
                cx.fault(&interface.span, what, "two ends of one address", help);
            }
            taken.push(interface.address);
        }
        let (low, high) = (u32::from(network), u32::from(network | !mask));
        let ends_apart = u32::from(high - low > 1);
        let mut free = (low + ends_apart..=high - ends_apart).map(Ipv4Addr::from);
        let mut routers = Vec::new();
        for end in ends {
            let own = named(end).map(|interface| interface.address);
            let next = || free.find(|address| !taken.contains(address));
            let Some(address) = own.or_else(next) else {
                let what = format!("{} has no address left", show((network, mask)));
                let help = "give the interface a shorter prefix";
                cx.fault(&first.span, what, "the link has more ends", help);
                return;
            };
            routers.push(address);
        }
        subnet.addresses = Some(Addresses {
            network,
            mask,
            routers,
        });
        let span = first.span.clone();
        self.given.insert(self.topology.subnets.len(), span);
        self.push(subnet, name);
    }

    /// Notes subnets that overlap.
    pub(super) fn check_addresses(&self, cx: &Context<'_>) {
        let topology = &self.topology;
        for (number, span) in &self.given {
            let own = topology.network(*number);
            let all = 0..topology.subnets.len();
            let earlier = |other: &usize| !self.given.contains_key(other) || other < number;
            let other = all
                .filter(|other| other != number && earlier(other))
                .find(|other| overlap(own, topology.network(*other)));
            if let Some(other) = other {
                let what = format!("{} is there twice", show(own));
                let name = &self.links[other];
                let why = format!("`{name}` has {}", show(topology.network(other)));
                let help = "links without given addresses have 10.0.0.0/24, 10.0.1.0/24, …; give \
                            an address of another subnet";
                cx.fault(span, what, why, help);
            }
        }
    }
}
