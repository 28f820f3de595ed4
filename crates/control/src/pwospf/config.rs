//! What a router is started with, and its bounds.

use core::net::Ipv4Addr;
use trammel_core::Span;

/// What a PW-OSPF router is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The router's identity in its area; by convention the address of interface 0, never 0.0.0.0.
    pub router_id: Ipv4Addr,
    /// The area; packets of others are refused.
    pub area: u32,
    /// Interfaces, numbered from 0 in this order.
    pub interfaces: Vec<InterfaceConfig>,
    /// HELLOINT, the time between HELLOs of an interface: whole seconds from 1 to 65,535.
    pub hello_interval: Span,
    /// LSUINT, the time between link-state updates without a change; above zero.
    pub lsu_interval: Span,
    /// The TTL of this router's updates: the hops that an update travels at most; at least 1.
    pub lsu_ttl: u16,
    /// The least time between two updates of this router (MinLSInterval of RFC 2328, there 5 s).
    /// Another router's updates are passed on with at least half of it between them.
    pub min_lsu_interval: Span,
    /// How long the router waits after a change before it computes paths and sends its update, so
    /// that changes that come together are handled together.
    pub hold_down: Span,
    /// The least time between two computations of paths.
    pub spf_interval: Span,
    /// What bounds memory and time.
    pub limits: Limits,
}

impl Config {
    /// Area 0 and the defaults: HELLOINT 5 s, LSUINT 30 s, TTL 64, at most one own update a second,
    /// 10 ms of hold-down, paths at most each 100 ms.
    pub fn new(router_id: Ipv4Addr, interfaces: Vec<InterfaceConfig>) -> Config {
        Config {
            router_id,
            area: 0,
            interfaces,
            hello_interval: Span::from_secs(5),
            lsu_interval: Span::from_secs(30),
            lsu_ttl: 64,
            min_lsu_interval: Span::from_secs(1),
            hold_down: Span::from_ms(10),
            spf_interval: Span::from_ms(100),
            limits: Limits::default(),
        }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        if self.router_id.is_unspecified() {
            return Err(Error::RouterId);
        }
        hello_seconds(self.hello_interval)?;
        if self.lsu_interval == Span::ZERO {
            return Err(Error::LsuInterval);
        }
        if self.lsu_ttl == 0 {
            return Err(Error::LsuTtl);
        }
        if !(1..=MOST_ADVERTS).contains(&self.limits.adverts) {
            return Err(Error::Adverts(self.limits.adverts));
        }
        Ok(())
    }
}

/// An interface as it is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterfaceConfig {
    /// The router's address there.
    pub address: Ipv4Addr,
    /// The mask of the subnet there.
    pub mask: Ipv4Addr,
    /// Whether it is up at the start.
    pub up: bool,
}

impl InterfaceConfig {
    /// The subnet's address.
    pub(super) fn network(&self) -> Ipv4Addr {
        self.address & self.mask
    }
}

/// What bounds memory and time against any input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Other routers in the database.
    pub routers: usize,
    /// Adverts in an update, sent or received, from 1 to 5,456. The default of 120 fits an Ethernet
    /// frame.
    pub adverts: usize,
    /// Neighbours on an interface.
    pub neighbours: usize,
    /// Packets that wait for [`poll_transmit`](super::Pwospf::poll_transmit).
    pub queue: usize,
}

impl Default for Limits {
    /// 1,023 other routers, 120 adverts, 16 neighbours an interface, 16,384 packets.
    fn default() -> Limits {
        Limits {
            routers: 1023,
            adverts: 120,
            neighbours: 16,
            queue: 16_384,
        }
    }
}

/// What an IPv4 packet of 65,535 bytes holds beside the headers of IPv4 and the update.
const MOST_ADVERTS: usize = (65_535 - 20 - 32) / 12;

/// HELLOINT as a HELLO carries it.
pub(super) fn hello_seconds(interval: Span) -> Result<u16, Error> {
    let seconds = interval.as_ms() / 1000;
    match u16::try_from(seconds) {
        Ok(whole) if whole > 0 && Span::from_secs(seconds) == interval => Ok(whole),
        _ => Err(Error::HelloInterval(interval)),
    }
}

/// A setting that a router cannot have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The router id is 0.0.0.0.
    #[error("the router id is 0.0.0.0, which in an update stands for no router")]
    RouterId,
    /// HELLOINT is not a whole number of seconds from 1 to 65,535.
    #[error("a HELLO interval of {0} is not a whole number of seconds from 1 to 65535")]
    HelloInterval(Span),
    /// LSUINT is zero.
    #[error("the LSU interval is zero")]
    LsuInterval,
    /// The TTL of updates is zero.
    #[error("the TTL of link-state updates is zero, so no neighbour would take one")]
    LsuTtl,
    /// The limit of adverts is not from 1 to 5,456.
    #[error("a limit of {0} adverts an update is not from 1 to {MOST_ADVERTS}")]
    Adverts(usize),
    /// There is no such interface.
    #[error("interface {0} does not exist, the last is {last}", last = .1.wrapping_sub(1))]
    NoInterface(usize, usize),
}
