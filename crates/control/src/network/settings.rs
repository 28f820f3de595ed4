//! How the routers of a network are set, and what happens to them.

use super::topology::Topology;
use crate::pwospf::Config;
use core::net::Ipv4Addr;
use std::collections::BTreeMap;
use trammel_core::Span;
use trammel_core::units::TxTime;

/// The interval between looks along the routes, and between probes.
pub const INTERVAL: Span = Span::from_ms(100);

/// What happens to a part of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The subnet of this number swallows all packets.
    SubnetDown(usize),
    /// It works again.
    SubnetUp(usize),
    /// The router of this number dies and forgets all.
    RouterDown(usize),
    /// It starts anew.
    RouterUp(usize),
}

impl Change {
    /// What it is, in words.
    pub fn words(self, topology: &Topology) -> String {
        let router = |router: usize| topology.routers[router].as_str();
        let subnet = |subnet: usize| match topology.subnets[subnet].routers.as_slice() {
            [one] => format!("{}, hosts", router(*one)),
            routers => {
                let names: Vec<&str> = routers.iter().map(|each| router(*each)).collect();
                names.join(" – ")
            }
        };
        match self {
            Change::SubnetDown(number) => format!("{} down", subnet(number)),
            Change::SubnetUp(number) => format!("{} up", subnet(number)),
            Change::RouterDown(number) => format!("{} down", router(number)),
            Change::RouterUp(number) => format!("{} up", router(number)),
        }
    }
}

/// How the routers are set.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What all routers have alike; id and interfaces are the topology's.
    pub config: Config,
    /// What routers have of their own in place of `config`, by their numbers.
    pub own: BTreeMap<usize, Config>,
    /// Whether routers notice at once that a subnet of theirs fails, as by loss of carrier. If not,
    /// they notice by silence.
    pub has_carrier: bool,
    /// The least time between the starts of two routers; they start in the order of their numbers.
    pub stagger: Span,
}

impl Default for Settings {
    /// PW-OSPF's defaults, no carrier, all routers start at once.
    fn default() -> Settings {
        Settings {
            config: Config::new(Ipv4Addr::UNSPECIFIED, Vec::new()),
            own: BTreeMap::new(),
            has_carrier: false,
            stagger: Span::ZERO,
        }
    }
}

impl Settings {
    /// What `router` is set to; id and interfaces are the topology's.
    pub fn config_of(&self, router: usize) -> &Config {
        self.own.get(&router).unwrap_or(&self.config)
    }

    /// The longest that a black hole or a loop lasts after one change of `topology`, where no
    /// update is lost: a neighbour notices, sends its update, the update crosses all routers,
    /// and paths are computed. A look may be one interval late.
    pub fn convergence_bound(&self, topology: &Topology) -> Span {
        self.silence(topology) + self.spread(topology, 1)
    }

    /// The longest until the tables are settled after `change`, or after the start where there is
    /// none, under the conditions of [`Settings::convergence_bound`].
    ///
    /// - The start, and a link that comes back: a HELLO is sent, within HELLOINT for a link, and
    ///   answered ahead of time within a second.
    /// - A failure is noticed by silence, or at once where a link has a carrier.
    /// - A router that comes back hears of its updates from before the failure and makes another.
    pub fn bound_after(&self, topology: &Topology, change: Option<Change>) -> Span {
        let hello = self.longest(topology, |config| config.hello_interval);
        let is_seen = self.has_carrier;
        match change {
            None => ANSWER + self.spread(topology, 1),
            Some(Change::SubnetDown(_)) if is_seen => self.spread(topology, 1),
            Some(Change::SubnetUp(_)) if is_seen => ANSWER + self.spread(topology, 1),
            Some(Change::SubnetUp(_)) => hello + ANSWER + self.spread(topology, 1),
            Some(Change::RouterUp(_)) => hello + ANSWER + self.spread(topology, 2),
            Some(Change::SubnetDown(_) | Change::RouterDown(_)) => self.convergence_bound(topology),
        }
    }

    /// The least until `change` is noticed by a router, where it is by silence: the last HELLO came
    /// up to one HELLOINT before the failure.
    pub fn least_after(&self, change: Option<Change>) -> Span {
        match change {
            Some(Change::SubnetDown(_)) if self.has_carrier => Span::ZERO,
            Some(Change::SubnetDown(_) | Change::RouterDown(_)) => {
                let own = self.own.values().map(|config| config.hello_interval);
                let least = own.chain([self.config.hello_interval]).min();
                least.unwrap_or(Span::ZERO) * 2
            }
            _ => Span::ZERO,
        }
    }

    /// How long a neighbour may be silent.
    fn silence(&self, topology: &Topology) -> Span {
        self.longest(topology, |config| config.hello_interval) * 3
    }

    /// From a change that a router noticed to new paths everywhere, over `updates` of one router.
    fn spread(&self, topology: &Topology, updates: u64) -> Span {
        let origin = self.longest(topology, |c| c.min_lsu_interval.max(c.hold_down));
        let paths = self.longest(topology, |c| c.spf_interval.max(c.hold_down));
        let routers = topology.routers.len() as u64;
        (origin + hop(topology) * routers) * updates + paths + INTERVAL
    }

    /// The longest of a span that routers have.
    fn longest(&self, topology: &Topology, of: impl Fn(&Config) -> Span) -> Span {
        let routers = 0..topology.routers.len();
        let all = routers.map(|router| of(self.config_of(router)));
        all.max().unwrap_or(Span::ZERO)
    }
}

/// Within this a new neighbour's HELLO is answered.
const ANSWER: Span = Span::from_secs(1);

/// The longest that an update takes over one link: its delay, and where it has a rate, behind an
/// update of each router.
fn hop(topology: &Topology) -> Span {
    let routers = topology.routers.len() as u64;
    let all = topology.subnets.iter().map(|subnet| {
        let wait = subnet
            .rate
            .map(|rate| TxTime::new(rate).of(routers * LARGEST));
        subnet.delay + wait.unwrap_or(Span::ZERO)
    });
    all.max().unwrap_or(Span::ZERO)
}

/// Bytes of an update on a line, at most: an Ethernet frame of 1,518 bytes, its preamble and gap.
const LARGEST: u64 = 1_538;
