//! The router's tables by way of its registers: what a program on the host does, on any card.
//!
//! A row is written by its fields and then its number into `…_WR_ADDR`, and read by its number into
//! `…_RD_ADDR` and then its fields. Tables have [`ROWS`] rows; numbers are taken modulo that. The
//! first row that matches a packet counts.

use crate::registers::Registers;
use crate::registers::table::router_lookup::{
    ARP_TABLE_ENTRY_MAC_HI, ARP_TABLE_ENTRY_MAC_LO, ARP_TABLE_ENTRY_NEXT_HOP_IP, ARP_TABLE_RD_ADDR,
    ARP_TABLE_WR_ADDR, BLOCK, DST_IP_FILTER_TABLE_ENTRY_IP, DST_IP_FILTER_TABLE_RD_ADDR,
    DST_IP_FILTER_TABLE_WR_ADDR, MAC_0_HI, MAC_0_LO, ROUTE_TABLE_ENTRY_IP, ROUTE_TABLE_ENTRY_MASK,
    ROUTE_TABLE_ENTRY_NEXT_HOP_IP, ROUTE_TABLE_ENTRY_OUTPUT_PORT, ROUTE_TABLE_RD_ADDR,
    ROUTE_TABLE_WR_ADDR,
};
use core::net::Ipv4Addr;

/// Rows of each table.
pub const ROWS: usize = 32;

/// A row of the route table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteRow {
    /// The network.
    pub network: Ipv4Addr,
    /// The bits of a destination that must equal those of the network.
    pub mask: Ipv4Addr,
    /// Where the packet goes next; 0.0.0.0 is its own destination.
    pub next_hop: Ipv4Addr,
    /// The output queues, one bit each: port `i` is bit `2 i`.
    pub queues: u8,
}

impl RouteRow {
    /// An unused row: it matches 0.0.0.0 only, and leads nowhere.
    pub const EMPTY: RouteRow = RouteRow {
        network: Ipv4Addr::UNSPECIFIED,
        mask: Ipv4Addr::BROADCAST,
        next_hop: Ipv4Addr::UNSPECIFIED,
        queues: 0,
    };
}

/// A row of the ARP table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArpRow {
    /// A next hop.
    pub address: Ipv4Addr,
    /// Its MAC address.
    pub mac: [u8; 6],
}

impl ArpRow {
    /// An unused row.
    pub const EMPTY: ArpRow = ArpRow {
        address: Ipv4Addr::UNSPECIFIED,
        mac: [0; 6],
    };
}

const fn address(word: usize) -> u32 {
    BLOCK.base + 4 * word as u32
}

fn read(card: &mut impl Registers, word: usize) -> u32 {
    card.read(address(word))
}

fn write(card: &mut impl Registers, word: usize, value: u32) {
    card.write(address(word), value);
}

fn read_ip(card: &mut impl Registers, word: usize) -> Ipv4Addr {
    Ipv4Addr::from_bits(read(card, word))
}

fn read_pair(card: &mut impl Registers, hi: usize, lo: usize) -> [u8; 6] {
    let [_, _, a, b] = read(card, hi).to_be_bytes();
    let [c, d, e, f] = read(card, lo).to_be_bytes();
    [a, b, c, d, e, f]
}

fn write_pair(card: &mut impl Registers, hi: usize, lo: usize, mac: [u8; 6]) {
    let [a, b, c, d, e, f] = mac;
    write(card, hi, u32::from_be_bytes([0, 0, a, b]));
    write(card, lo, u32::from_be_bytes([c, d, e, f]));
}

/// Row `row` of the route table.
pub fn read_route(card: &mut impl Registers, row: usize) -> RouteRow {
    write(card, ROUTE_TABLE_RD_ADDR, row as u32);
    RouteRow {
        network: read_ip(card, ROUTE_TABLE_ENTRY_IP),
        mask: read_ip(card, ROUTE_TABLE_ENTRY_MASK),
        next_hop: read_ip(card, ROUTE_TABLE_ENTRY_NEXT_HOP_IP),
        queues: read(card, ROUTE_TABLE_ENTRY_OUTPUT_PORT) as u8,
    }
}

/// Writes row `row` of the route table.
pub fn write_route(card: &mut impl Registers, row: usize, route: &RouteRow) {
    write(card, ROUTE_TABLE_ENTRY_IP, route.network.to_bits());
    write(card, ROUTE_TABLE_ENTRY_MASK, route.mask.to_bits());
    write(
        card,
        ROUTE_TABLE_ENTRY_NEXT_HOP_IP,
        route.next_hop.to_bits(),
    );
    write(card, ROUTE_TABLE_ENTRY_OUTPUT_PORT, u32::from(route.queues));
    write(card, ROUTE_TABLE_WR_ADDR, row as u32);
}

/// Row `row` of the ARP table.
pub fn read_arp(card: &mut impl Registers, row: usize) -> ArpRow {
    write(card, ARP_TABLE_RD_ADDR, row as u32);
    ArpRow {
        address: read_ip(card, ARP_TABLE_ENTRY_NEXT_HOP_IP),
        mac: read_pair(card, ARP_TABLE_ENTRY_MAC_HI, ARP_TABLE_ENTRY_MAC_LO),
    }
}

/// Writes row `row` of the ARP table.
pub fn write_arp(card: &mut impl Registers, row: usize, neighbour: &ArpRow) {
    write_pair(
        card,
        ARP_TABLE_ENTRY_MAC_HI,
        ARP_TABLE_ENTRY_MAC_LO,
        neighbour.mac,
    );
    write(
        card,
        ARP_TABLE_ENTRY_NEXT_HOP_IP,
        neighbour.address.to_bits(),
    );
    write(card, ARP_TABLE_WR_ADDR, row as u32);
}

/// Row `row` of the destination filter; 0.0.0.0 where it is unused.
pub fn read_filter(card: &mut impl Registers, row: usize) -> Ipv4Addr {
    write(card, DST_IP_FILTER_TABLE_RD_ADDR, row as u32);
    read_ip(card, DST_IP_FILTER_TABLE_ENTRY_IP)
}

/// Writes row `row` of the destination filter.
pub fn write_filter(card: &mut impl Registers, row: usize, address: Ipv4Addr) {
    write(card, DST_IP_FILTER_TABLE_ENTRY_IP, address.to_bits());
    write(card, DST_IP_FILTER_TABLE_WR_ADDR, row as u32);
}

/// The MAC address of `port`, 0 to 3.
pub fn read_mac(card: &mut impl Registers, port: usize) -> [u8; 6] {
    let at = 2 * (port % 4);
    read_pair(card, MAC_0_HI + at, MAC_0_LO + at)
}

/// Gives `port`, 0 to 3, a MAC address.
pub fn write_mac(card: &mut impl Registers, port: usize, mac: [u8; 6]) {
    let at = 2 * (port % 4);
    write_pair(card, MAC_0_HI + at, MAC_0_LO + at, mac);
}
