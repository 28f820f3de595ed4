//! Tables in memory that forward as the reference router does: one counter a frame, in its order.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use trammel_control::dataplane::{Mac, TableFull};
use trammel_control::{Dataplane, Neighbour, Route};
use trammel_packet::headers::checksum::{checksum, update_u16};

/// Places of each table.
pub const PLACES: usize = 32;

/// What becomes of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Forward(usize, Vec<u8>),
    Software,
    Drop,
}

#[derive(Debug, Clone)]
pub struct Card {
    pub macs: Vec<Mac>,
    pub up: Vec<bool>,
    pub routes: Vec<Route>,
    pub neighbours: Vec<Neighbour>,
    pub own: Vec<Ipv4Addr>,
    pub counts: BTreeMap<&'static str, u64>,
    /// Tables that were written.
    pub writes: usize,
}

impl Card {
    pub fn new(ports: usize) -> Card {
        Card {
            macs: vec![[0; 6]; ports],
            up: vec![false; ports],
            routes: Vec::new(),
            neighbours: Vec::new(),
            own: Vec::new(),
            counts: BTreeMap::from([("arp_num_misses", 0), ("num_pkts_forwarded", 0)]),
            writes: 0,
        }
    }

    pub fn receive(&mut self, port: usize, frame: &[u8]) -> Verdict {
        if !self.up[port] {
            return Verdict::Drop;
        }
        let (counter, verdict) = self.decide(port, frame);
        *self.counts.entry(counter).or_default() += 1;
        verdict
    }

    fn decide(&self, port: usize, frame: &[u8]) -> (&'static str, Verdict) {
        let group = frame[0] & 1 != 0;
        let at = |range: std::ops::Range<usize>| -> [u8; 4] { frame[range].try_into().unwrap() };
        if !group && frame[..6] != self.macs[port] {
            return ("num_wrong_dest", Verdict::Drop);
        }
        if frame[12..14] != [8, 0] {
            return ("num_non_ip_rcvd", Verdict::Software);
        }
        if checksum(&frame[14..34]) != 0 {
            return ("num_bad_chksums", Verdict::Drop);
        }
        let destination = Ipv4Addr::from(at(30..34));
        if self.own.contains(&destination) {
            return ("num_filtered_pkts", Verdict::Software);
        }
        if frame[22] <= 1 {
            return ("num_bad_ttls", Verdict::Software);
        }
        if frame[14] != 0x45 {
            return ("num_bad_opts_ver", Verdict::Software);
        }
        let matches = |route: &&Route| destination & route.mask == route.network;
        let Some(route) = self.routes.iter().find(matches) else {
            return ("lpm_num_misses", Verdict::Software);
        };
        let next_hop = if route.next_hop.is_unspecified() {
            destination
        } else {
            route.next_hop
        };
        let Some(to) = self
            .neighbours
            .iter()
            .find(|entry| entry.address == next_hop)
        else {
            return ("arp_num_misses", Verdict::Software);
        };
        if group {
            return ("num_wrong_dest", Verdict::Drop);
        }
        let mut frame = frame.to_vec();
        frame[..6].copy_from_slice(&to.mac);
        frame[6..12].copy_from_slice(&self.macs[route.port]);
        let word = |bytes: &[u8]| u16::from_be_bytes([bytes[0], bytes[1]]);
        let old = word(&frame[22..24]);
        frame[22] -= 1;
        let sum = update_u16(word(&frame[24..26]), old, word(&frame[22..24]));
        frame[24..26].copy_from_slice(&sum.to_be_bytes());
        ("num_pkts_forwarded", Verdict::Forward(route.port, frame))
    }

    /// Writes the first entries of `new` into `table`.
    fn write<T: Clone>(table: &mut Vec<T>, new: &[T], name: &'static str) -> Result<(), TableFull> {
        *table = new[..new.len().min(PLACES)].to_vec();
        let full = TableFull {
            table: name,
            places: PLACES,
            entries: new.len(),
        };
        if new.len() > PLACES {
            Err(full)
        } else {
            Ok(())
        }
    }
}

impl Dataplane for Card {
    fn ports(&self) -> usize {
        self.macs.len()
    }
    fn set_mac(&mut self, port: usize, mac: Mac) {
        self.macs[port] = mac;
    }
    fn set_up(&mut self, port: usize, up: bool) {
        self.up[port] = up;
    }
    fn set_routes(&mut self, routes: &[Route]) -> Result<(), TableFull> {
        self.writes += 1;
        Card::write(&mut self.routes, routes, "table of routes")
    }
    fn set_neighbours(&mut self, neighbours: &[Neighbour]) -> Result<(), TableFull> {
        self.writes += 1;
        Card::write(&mut self.neighbours, neighbours, "ARP table")
    }
    fn set_own_addresses(&mut self, addresses: &[Ipv4Addr]) -> Result<(), TableFull> {
        self.writes += 1;
        Card::write(&mut self.own, addresses, "destination filter")
    }
    fn mac(&self, port: usize) -> Mac {
        self.macs.get(port).copied().unwrap_or_default()
    }
    fn routes(&self) -> Vec<Route> {
        self.routes.clone()
    }
    fn neighbours(&self) -> Vec<Neighbour> {
        self.neighbours.clone()
    }
    fn own_addresses(&self) -> Vec<Ipv4Addr> {
        self.own.clone()
    }
    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.counts
            .iter()
            .map(|(name, value)| (*name, *value))
            .collect()
    }
}
