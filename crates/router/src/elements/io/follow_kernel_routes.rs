//! Keeps a table of routes, and those of neighbours, as the kernel's are.
//!
//! # What it does
//! Follows the kernel's main table of routes by netlink, and writes what changes to the element `TABLE`: a route
//! by the n-th interface named here leads to its output n, and routes by others are left out. Of several routes
//! to a network the one of the lowest metric counts. With `LOCAL`, the addresses of the interfaces lead to that
//! output. What the kernel knows of neighbours goes to the elements `ARP`, one for each interface in order. Thus
//! FRR or BIRD, which write to the kernel, drive the router as they are.
//!
//! # Example
//! `FollowKernelRoutes(eth0, eth1, TABLE rt, LOCAL 2, ARP arp0, ARP arp1);`

use crate::args::kinds::INT;
use crate::args::{Args, Kind, Need, Param, Value};
use crate::diagnostic::Diagnostics;
use crate::element::{Element, Handler};
use crate::elements::Entry;
use crate::engine::Ctx;
use crate::engine::setup::Setup;
use crate::engine::task::TaskId;
use crate::host::{KernelEvent, KernelTables};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

/// The class.
pub static ENTRY: Entry = Entry::new(
    "FollowKernelRoutes",
    "keeps a table as the kernel's routes are",
    || Box::<FollowKernelRoutes>::default(),
)
.ports("0/0", "a/a")
.params(&[
    Param {
        name: "DEVNAME",
        need: Need::Rest,
        kind: Kind::Text,
        default: "",
        help: "the interfaces, in the order of the table's outputs",
    },
    Param {
        name: "TABLE",
        need: Need::KeywordMandatory,
        kind: Kind::Element,
        default: "",
        help: "the element that looks routes up",
    },
    Param {
        name: "ARP",
        need: Need::Repeated,
        kind: Kind::Element,
        default: "",
        help: "the element that knows an interface's neighbours",
    },
    Param {
        name: "LOCAL",
        need: Need::Keyword,
        kind: INT,
        default: "-1",
        help: "the output for addresses of this machine; -1 for none",
    },
]);

/// A network: its address and its bits.
type Network = (Ipv4Addr, u8);

/// A router, or none where the network is attached, and the interface.
type Way = (Option<IpAddr>, u32);

#[derive(Debug, Default)]
struct FollowKernelRoutes {
    interfaces: Vec<String>,
    table: Option<usize>,
    arp: Vec<usize>,
    local: i64,
    tables: Option<Box<dyn KernelTables>>,
    task: Option<TaskId>,
    /// Numbers of interfaces to their places here.
    places: BTreeMap<u32, usize>,
    /// What the kernel has, by network and metric: router and interface.
    kernel: BTreeMap<Network, BTreeMap<u32, Vec<Way>>>,
    addresses: BTreeSet<(Ipv4Addr, u32)>,
    neighbours: BTreeMap<(u32, Ipv4Addr), [u8; 6]>,
    /// What the table and the neighbours' elements were told.
    told: BTreeMap<Network, String>,
    told_neighbours: BTreeMap<(u32, Ipv4Addr), [u8; 6]>,
    is_complete: bool,
    changes: u64,
    failures: u64,
}

impl FollowKernelRoutes {
    fn learn(&mut self, event: KernelEvent) {
        match event {
            KernelEvent::Restart => {
                self.kernel.clear();
                self.addresses.clear();
                self.neighbours.clear();
                self.places.clear();
                self.is_complete = false;
            }
            KernelEvent::Complete => self.is_complete = true,
            KernelEvent::Link { index, name } => {
                match self.interfaces.iter().position(|one| *one == name) {
                    Some(place) => {
                        self.places.insert(index, place);
                    }
                    None => {
                        self.places.remove(&index);
                    }
                }
            }
            KernelEvent::Address {
                is_there,
                interface,
                address: IpAddr::V4(address),
                ..
            } => {
                if is_there {
                    self.addresses.insert((address, interface));
                } else {
                    self.addresses.remove(&(address, interface));
                }
            }
            KernelEvent::Route {
                is_there,
                destination: IpAddr::V4(destination),
                prefix,
                metric,
                hops,
            } => {
                let network = (destination, prefix);
                let routes = self.kernel.entry(network).or_default();
                if is_there {
                    routes.insert(metric, hops);
                } else {
                    routes.remove(&metric);
                    if routes.is_empty() {
                        self.kernel.remove(&network);
                    }
                }
            }
            KernelEvent::Neighbour {
                mac,
                interface,
                address: IpAddr::V4(address),
            } => {
                match mac {
                    Some(mac) => self.neighbours.insert((interface, address), mac),
                    None => self.neighbours.remove(&(interface, address)),
                };
            }
            _ => {}
        }
    }

    /// What the table should have, as its handlers are told: router and output.
    fn wanted(&self) -> BTreeMap<Network, String> {
        let mut wanted = BTreeMap::new();
        for (network, routes) in &self.kernel {
            let hops = routes.values().next().into_iter().flatten();
            let mut ours = hops.filter_map(|(gateway, interface)| {
                let place = self.places.get(interface)?;
                Some(match gateway {
                    Some(IpAddr::V4(gateway)) => format!("{gateway} {place}"),
                    Some(IpAddr::V6(_)) => return None,
                    None => place.to_string(),
                })
            });
            if let Some(first) = ours.next() {
                wanted.insert(*network, first);
            }
        }
        if self.local >= 0 {
            for (address, interface) in &self.addresses {
                if self.places.contains_key(interface) {
                    wanted.insert((*address, 32), self.local.to_string());
                }
            }
        }
        wanted
    }

    fn tell(&mut self, ctx: &mut Ctx, element: usize, handler: &str, value: &str) {
        let name = format!("{}.{handler}", ctx.name(element));
        let written = match ctx.find_handler(&name, None) {
            Ok(of) => ctx.write_handler(&of, value).map(drop),
            Err(_) => Err("no such handler".to_owned()),
        };
        self.changes += 1;
        if let Err(why) = written {
            self.failures += 1;
            let text = format!("{}: {name} {value}: {why}\n", ctx.declaration(ctx.me()));
            ctx.host().say(&text);
        }
    }

    fn synchronize(&mut self, ctx: &mut Ctx) {
        let Some(table) = self.table else { return };
        let wanted = self.wanted();
        let told = std::mem::take(&mut self.told);
        for ((address, bits), route) in &told {
            if !wanted.contains_key(&(*address, *bits)) {
                let value = format!("{address}/{bits} {route}");
                self.tell(ctx, table, "remove", &value);
            }
        }
        for (network, route) in &wanted {
            if told.get(network) != Some(route) {
                let value = format!("{}/{} {route}", network.0, network.1);
                self.tell(ctx, table, "set", &value);
            }
        }
        self.told = wanted;
        let told = std::mem::replace(&mut self.told_neighbours, self.neighbours.clone());
        let wanted = self.neighbours.clone();
        let element = |this: &Self, interface: &u32| {
            let place = this.places.get(interface)?;
            this.arp.get(*place).copied()
        };
        for ((interface, address), _) in told.iter().filter(|(key, _)| !wanted.contains_key(key)) {
            if let Some(arp) = element(self, interface) {
                self.tell(ctx, arp, "delete", &address.to_string());
            }
        }
        for (key, mac) in wanted
            .iter()
            .filter(|(key, mac)| told.get(key) != Some(mac))
        {
            if let Some(arp) = element(self, &key.0) {
                let mac = crate::args::addresses::EtherAddress(*mac);
                self.tell(ctx, arp, "insert", &format!("{} {mac}", key.1));
            }
        }
    }
}

impl Element for FollowKernelRoutes {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.interfaces = args.rest().to_vec();
        self.table = args.element("TABLE");
        let element = |value: &Value| match value {
            Value::Element(element) => *element,
            _ => None,
        };
        self.arp = args.all("ARP").iter().filter_map(element).collect();
        self.local = args.int("LOCAL");
        let mut said = Diagnostics::new();
        if self.interfaces.is_empty() {
            said.error(None, "no interface to follow");
            return Err(said);
        }
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let tables = ctx.follow_kernel()?;
        ctx.watch(tables.descriptor(), false);
        self.tables = Some(tables);
        let task = ctx.new_task(0);
        ctx.schedule(task);
        self.task = Some(task);
        Ok(())
    }

    fn run_task(&mut self, ctx: &mut Ctx, _: u32) -> bool {
        let Some(mut tables) = self.tables.take() else {
            return false;
        };
        let mut events = Vec::new();
        if let Err(why) = tables.poll(&mut |event| events.push(event)) {
            let text = format!("{}: {why}\n", ctx.declaration(ctx.me()));
            ctx.host().say(&text);
        }
        self.tables = Some(tables);
        let has_any = !events.is_empty();
        for event in events {
            self.learn(event);
        }
        if has_any && self.is_complete {
            self.synchronize(ctx);
        }
        has_any
    }

    fn ready(&mut self, ctx: &mut Ctx, _: i32) {
        self.run_task(ctx, 0);
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("routes", "r"),
            Handler::new("changes", "r"),
            Handler::new("failures", "r"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "routes" => {
                let lines = (self.told.iter())
                    .map(|((address, bits), route)| format!("{address}/{bits} {route}\n"));
                lines.collect()
            }
            "changes" => self.changes.to_string(),
            _ => self.failures.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_metric_by_an_interface_of_ours_counts() {
        let mut follower = FollowKernelRoutes {
            interfaces: vec!["eth0".into(), "eth1".into()],
            local: 2,
            ..FollowKernelRoutes::default()
        };
        let route = |is_there, metric, gateway: &str, interface| KernelEvent::Route {
            is_there,
            destination: IpAddr::from([10, 0, 0, 0]),
            prefix: 8,
            metric,
            hops: vec![(gateway.parse().ok(), interface)],
        };
        for (index, name) in [(3, "eth0"), (4, "eth1"), (5, "wlan0")] {
            let name = name.to_owned();
            follower.learn(KernelEvent::Link { index, name });
        }
        follower.learn(route(true, 20, "10.0.0.1", 4));
        follower.learn(route(true, 10, "", 3));
        let key = (Ipv4Addr::new(10, 0, 0, 0), 8);
        assert_eq!(follower.wanted()[&key], "0");
        follower.learn(route(false, 10, "", 3));
        assert_eq!(follower.wanted()[&key], "10.0.0.1 1");
        follower.learn(route(true, 1, "", 5));
        assert!(
            follower.wanted().is_empty(),
            "by an interface that is not ours"
        );
        follower.learn(KernelEvent::Address {
            is_there: true,
            interface: 3,
            address: IpAddr::from([10, 1, 1, 1]),
            prefix: 24,
        });
        assert_eq!(follower.wanted()[&(Ipv4Addr::new(10, 1, 1, 1), 32)], "2");
        follower.learn(KernelEvent::Restart);
        assert!(follower.wanted().is_empty());
    }
}
