//! Copies the kernel's routes and neighbours to a table.
//!
//! # What it does
//! Follows the kernel's main table of routes by netlink, and writes what changes to the element
//! `TABLE`: a route by the n-th interface named here leads to its output n. Of several routes to a
//! network the one of the lowest metric counts. Networks that the kernel refuses (`blackhole`,
//! `unreachable`, `prohibit`, `throw`), or reaches by other interfaces or by a router with an IPv6
//! address, lead to the output `REFUSED`, and are dropped where there is none: they never take the
//! route of a larger network. Where the kernel shares packets among several ways, the first by an
//! interface named here takes all of them, which is said. Routes for one type of service, and
//! tables and rules besides the main ones, are left out.
//!
//! With `LOCAL`, the addresses of this machine and its broadcast addresses lead to that output.
//! What the kernel knows of neighbours goes to the elements `ARP`, one for each interface in order.
//! Thus FRR or BIRD, which write to the kernel, drive the router as they are.
//!
//! When an interface goes down or an address goes, the kernel drops routes without saying so: all
//! are read anew then.
//!
//! # Handlers
//! - `routes`: the routes that the table was told
//! - `changes`: lines that the table and the neighbours' elements were told
//! - `failures`: those of them that were refused
//!
//! # Example
//! ```click
//! rt :: RadixIPLookup; arp0 :: ARPQuerier(10.0.0.1, 2:0:0:0:0:1);
//! arp1 :: ARPQuerier(10.1.0.1, 2:0:0:0:0:2);
//! FollowKernelRoutes(eth0, eth1, TABLE rt, LOCAL 2, ARP arp0, ARP arp1);
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> rt; rt[2] -> ICMPPingResponder -> rt;
//! rt[0] -> arp0 -> Queue -> ToDevice(eth0); Idle -> [1] arp0;
//! rt[1] -> arp1 -> Queue -> ToDevice(eth1); Idle -> [1] arp1
//! ```

use super::shared::kernel_routes::{KernelRoutes, Network, Way};
use crate::args::kinds::INT;
use crate::args::{Args, Kind, Need, Value, keyword, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::task::TaskId;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element, Handler};
use crate::host::{KernelEvent, KernelTables};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "FollowKernelRoutes",
    "copies the kernel's routes to a table",
    || Box::<FollowKernelRoutes>::default(),
)
.ports("0/0", "a/a")
.params(&[
    param(
        "DEVNAME",
        Need::Rest,
        Kind::Text,
        "",
        "the interfaces, in the order of the table's outputs",
    ),
    param(
        "TABLE",
        Need::KeywordMandatory,
        Kind::Element,
        "",
        "the element that looks routes up",
    ),
    param(
        "ARP",
        Need::Repeated,
        Kind::Element,
        "",
        "the element that knows an interface's neighbours",
    ),
    keyword(
        "LOCAL",
        INT,
        "-1",
        "the output for addresses of this machine; -1 for none",
    ),
    keyword(
        "REFUSED",
        INT,
        "-1",
        "the output for what the kernel refuses or sends elsewhere; -1 drops it",
    ),
]);

/// When all is read anew after it came in doubt: once the kernel has most likely done what it told
/// of, and once more for what it does later.
const SETTLING: [Timestamp; 2] = [Timestamp(10_000_000), Timestamp(250_000_000)];
/// Networks whose several ways are told of.
const MOST_TOLD: usize = 5;

#[derive(Debug, Default)]
struct FollowKernelRoutes {
    routes: KernelRoutes,
    table: Option<usize>,
    arp: Vec<usize>,
    local: i64,
    refused: i64,
    tables: Option<Box<dyn KernelTables>>,
    task: Option<TaskId>,
    timer: Option<TimerId>,
    /// How often all was read anew since it came in doubt.
    settled: usize,
    neighbours: BTreeMap<(u32, Ipv4Addr), [u8; 6]>,
    /// What the table and the neighbours' elements were told.
    told: BTreeMap<Network, String>,
    told_neighbours: BTreeMap<(u32, Ipv4Addr), [u8; 6]>,
    shared: BTreeSet<Network>,
    changes: u64,
    failures: u64,
}

impl FollowKernelRoutes {
    fn learn(&mut self, event: KernelEvent) {
        match event {
            KernelEvent::Restart => self.neighbours.clear(),
            KernelEvent::Neighbour {
                mac,
                interface,
                address: IpAddr::V4(address),
            } => {
                match mac {
                    Some(mac) => self.neighbours.insert((interface, address), mac),
                    None => self.neighbours.remove(&(interface, address)),
                };
                return;
            }
            _ => {}
        }
        self.routes.learn(event);
    }

    /// What the table should have, as its handlers are told: router and output.
    fn wanted(&mut self, ctx: &mut Ctx) -> BTreeMap<Network, String> {
        let mut shared = BTreeSet::new();
        let ways = self.routes.ways(self.local >= 0, &mut shared);
        for (address, bits) in shared.difference(&self.shared) {
            if self.shared.len() < MOST_TOLD {
                let text = format!(
                    "{}: the kernel shares packets to {address}/{bits} among several ways; \
                     all take the first of ours\n",
                    ctx.declaration(ctx.me())
                );
                ctx.host().say(&text);
            }
        }
        self.shared.extend(shared);
        let refused = match self.refused {
            output @ 0.. => output.to_string(),
            _ => "drop".to_owned(),
        };
        let text = |way: Way| match way {
            Way::Hop(Some(gateway), place) => format!("{gateway} {place}"),
            Way::Hop(None, place) => place.to_string(),
            Way::Local => self.local.to_string(),
            Way::Refused | Way::Elsewhere => refused.clone(),
        };
        let ways = ways.into_iter();
        ways.map(|(network, way)| (network, text(way))).collect()
    }

    /// Has all be read anew, until that was done often enough.
    fn settle(&mut self, ctx: &mut Ctx) {
        let Some(timer) = self.timer else { return };
        let Some(after) = SETTLING.get(self.settled) else {
            return;
        };
        let at = ctx.now() + *after;
        if ctx.timer_at(timer).is_none_or(|set| set > at) {
            ctx.set_timer(timer, at);
        }
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
        let wanted = self.wanted(ctx);
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
            let place = this.routes.place(*interface)?;
            this.arp.get(place).copied()
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
        self.routes = KernelRoutes::new(args.rest().to_vec());
        self.table = args.element("TABLE");
        let element = |value: &Value| match value {
            Value::Element(element) => *element,
            _ => None,
        };
        self.arp = args.all("ARP").iter().filter_map(element).collect();
        self.local = args.int("LOCAL");
        self.refused = args.int("REFUSED");
        let mut said = Diagnostics::new();
        if args.rest().is_empty() {
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
        self.timer = Some(ctx.new_timer(0));
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
        if has_any && self.routes.is_complete() {
            self.synchronize(ctx);
        }
        if self.routes.take_unsettled() {
            self.settled = 0;
            self.settle(ctx);
        }
        has_any
    }

    fn run_timer(&mut self, ctx: &mut Ctx, _: u32) {
        if let Some(tables) = &mut self.tables {
            tables.restart();
        }
        self.settled += 1;
        self.settle(ctx);
        self.run_task(ctx, 0);
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
