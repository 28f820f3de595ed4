//! What the control software writes: the tables of whatever forwards the packets.
//!
//! The control software knows which routes, neighbours and own addresses should be in force and
//! hands over whole tables. An implementation writes the entries that differ.

use core::net::Ipv4Addr;

/// A MAC address.
pub type Mac = [u8; 6];

/// An entry of the table of routes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Route {
    /// The destination network.
    pub network: Ipv4Addr,
    /// The bits of a destination that must equal `network`; any mask is legal.
    pub mask: Ipv4Addr,
    /// The router that gets the packet next; 0.0.0.0 is the packet's own destination.
    pub next_hop: Ipv4Addr,
    /// The port the packet leaves by, counted from 0.
    pub port: usize,
}

/// An entry of the ARP table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Neighbour {
    /// The address of a next hop.
    pub address: Ipv4Addr,
    /// Its MAC address.
    pub mac: Mac,
}

/// A table of the data plane that has fewer places than entries it was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the {table} of the data plane has {places} places, and {entries} entries are to be in it")]
pub struct TableFull {
    /// The table's name.
    pub table: &'static str,
    /// Its places.
    pub places: usize,
    /// The entries that should be in it.
    pub entries: usize,
}

/// What forwards the packets of a router.
///
/// Tables are written whole and in order of precedence. Where a table is too small, its first
/// entries are in force after the error, so packets of the others reach the software.
pub trait Dataplane {
    /// Number of ports.
    fn ports(&self) -> usize;

    /// Gives `port` its MAC address.
    fn set_mac(&mut self, port: usize, mac: Mac);

    /// Takes frames from `port` and sends frames to it, or does neither.
    fn set_up(&mut self, port: usize, up: bool);

    /// Replaces all routes; the first that matches a destination is taken.
    fn set_routes(&mut self, routes: &[Route]) -> Result<(), TableFull>;

    /// Replaces all neighbours.
    fn set_neighbours(&mut self, neighbours: &[Neighbour]) -> Result<(), TableFull>;

    /// Replaces the destinations whose packets are for the software.
    fn set_own_addresses(&mut self, addresses: &[Ipv4Addr]) -> Result<(), TableFull>;

    /// The MAC address of `port`, as read back; zeros where there is no such port.
    fn mac(&self, port: usize) -> Mac;

    /// The routes in force, as read back, in order of precedence.
    fn routes(&self) -> Vec<Route>;

    /// The neighbours in force, as read back.
    fn neighbours(&self) -> Vec<Neighbour>;

    /// The destinations whose packets are for the software, as read back.
    fn own_addresses(&self) -> Vec<Ipv4Addr>;

    /// Names and values of the packet counters, in the data plane's own order. Two names are the
    /// reference router's everywhere: `arp_num_misses` and `num_pkts_forwarded`.
    fn counters(&self) -> Vec<(&'static str, u64)>;
}
