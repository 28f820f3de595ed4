//! The router's lookup: one decision and one counter for each frame.
//!
//! The order of the decisions is that of the NetFPGA 1G reference router, and so are its limits:
//! the header is taken as 20 bytes, a group address counts as the router's own until a frame would
//! be forwarded, "the host" is the interface beside the port where the frame came in.

use crate::registers::table::router_lookup as word;
use crate::registers::{File, place};
use crate::stages::ethernet::{self, IPV4, destination, ethertype, is_group};
use crate::stages::found::{Found, Recent};
use crate::stages::ip::{self, Header};
use crate::stages::lookup::Lookup;
use crate::stages::queue::{PORTS, Queue, Queues};
use crate::stages::tables::{Exact, Ternary};
use crate::tables::ROWS;
use trammel_core::time::Time;

/// The address of port 0 before software gives it another; those of the others follow.
const FIRST_MAC: u64 = 0xcafe_f00d_0001;

/// What a frame's way is.
#[derive(Clone, Copy, Debug)]
enum Decision {
    /// To the host, unchanged.
    ToHost,
    /// Nowhere.
    Drop,
    /// From the host to its port, unchanged.
    FromHost,
    /// To `queues` with a new header.
    Forward { queues: Queues, mac: u64 },
}

/// The stage.
#[derive(Debug)]
pub(crate) struct Router {
    file: File,
    macs: [u64; PORTS],
    routes: Ternary,
    /// Of each route: the next hop and the output queues.
    ways: [(u32, u8); ROWS],
    neighbours: Exact,
    neighbour_macs: [u64; ROWS],
    filter: Exact,
    recent: Recent,
}

impl Router {
    pub(crate) fn new() -> Router {
        let mut router = Router {
            file: File::new(&word::BLOCK),
            macs: [0, 1, 2, 3].map(|port| FIRST_MAC + port),
            routes: Ternary::new(),
            ways: [(0, 0); ROWS],
            neighbours: Exact::new(),
            neighbour_macs: [0; ROWS],
            filter: Exact::new(),
            recent: Recent::new(),
        };
        for port in 0..PORTS {
            let (hi, lo) = halves(router.macs[port]);
            router.file.set(word::MAC_0_HI + 2 * port, hi);
            router.file.set(word::MAC_0_LO + 2 * port, lo);
        }
        router
    }

    /// The decision on a frame, and the counter that it belongs to.
    fn decide(&mut self, from: Queue, frame: &[u8]) -> (usize, Decision) {
        if from.is_cpu() {
            return (word::NUM_CPU_PKTS_SENT, Decision::FromHost);
        }
        let mac = destination(frame);
        let is_group = is_group(mac);
        if mac != self.macs[from.port()] && !is_group {
            return (word::NUM_WRONG_DEST, Decision::Drop);
        }
        if ethertype(frame) != IPV4 {
            return (word::NUM_NON_IP_RCVD, Decision::ToHost);
        }
        let header = Header::of(frame);
        if !header.has_checksum {
            return (word::NUM_BAD_CHKSUMS, Decision::Drop);
        }
        let found = self.find(header.destination);
        if found.is_filtered {
            return (word::NUM_FILTERED_PKTS, Decision::ToHost);
        }
        if header.ttl <= 1 {
            return (word::NUM_BAD_TTLS, Decision::ToHost);
        }
        if !header.is_plain {
            return (word::NUM_BAD_OPTS_VER, Decision::ToHost);
        }
        let Some(route) = found.route else {
            return (word::LPM_NUM_MISSES, Decision::ToHost);
        };
        let Some(neighbour) = found.neighbour else {
            return (word::ARP_NUM_MISSES, Decision::ToHost);
        };
        if is_group {
            return (word::NUM_WRONG_DEST, Decision::Drop);
        }
        let mac = self.neighbour_macs[usize::from(neighbour)];
        let queues = Queues(self.ways[usize::from(route)].1);
        (word::NUM_PKTS_FORWARDED, Decision::Forward { queues, mac })
    }

    /// What the tables say of `destination`.
    fn find(&mut self, destination: u32) -> Found {
        let (filter, routes, ways) = (&self.filter, &self.routes, &self.ways);
        let neighbours = &self.neighbours;
        self.recent.get(destination, || {
            let route = routes.find(destination);
            let next_hop = route.map(|route| match ways[route].0 {
                0 => destination,
                next_hop => next_hop,
            });
            let neighbour = next_hop.and_then(|next_hop| neighbours.find(next_hop));
            Found {
                is_filtered: filter.find(destination).is_some(),
                route: route.map(|row| row as u8),
                neighbour: neighbour.map(|row| row as u8),
            }
        })
    }

    /// What a write of the register `at` brings about.
    fn wrote(&mut self, at: usize) {
        let row = self.file.get(at) as usize;
        match at {
            word::MAC_0_HI..=word::MAC_3_LO => {
                let port = (at - word::MAC_0_HI) / 2;
                self.macs[port] = self.pair(word::MAC_0_HI + 2 * port);
            }
            word::ROUTE_TABLE_WR_ADDR => {
                let ip = self.file.get(word::ROUTE_TABLE_ENTRY_IP);
                let mask = self.file.get(word::ROUTE_TABLE_ENTRY_MASK);
                let next_hop = self.file.get(word::ROUTE_TABLE_ENTRY_NEXT_HOP_IP);
                let queues = self.file.get(word::ROUTE_TABLE_ENTRY_OUTPUT_PORT) as u8;
                self.routes.set(row, ip, mask);
                self.ways[row] = (next_hop, queues);
            }
            word::ROUTE_TABLE_RD_ADDR => {
                let (ip, mask) = self.routes.get(row);
                let (next_hop, queues) = self.ways[row];
                self.file.set(word::ROUTE_TABLE_ENTRY_IP, ip);
                self.file.set(word::ROUTE_TABLE_ENTRY_MASK, mask);
                self.file.set(word::ROUTE_TABLE_ENTRY_NEXT_HOP_IP, next_hop);
                self.file
                    .set(word::ROUTE_TABLE_ENTRY_OUTPUT_PORT, u32::from(queues));
            }
            word::ARP_TABLE_WR_ADDR => {
                self.neighbours
                    .set(row, self.file.get(word::ARP_TABLE_ENTRY_NEXT_HOP_IP));
                self.neighbour_macs[row] = self.pair(word::ARP_TABLE_ENTRY_MAC_HI);
            }
            word::ARP_TABLE_RD_ADDR => {
                let (hi, lo) = halves(self.neighbour_macs[row]);
                self.file
                    .set(word::ARP_TABLE_ENTRY_NEXT_HOP_IP, self.neighbours.get(row));
                self.file.set(word::ARP_TABLE_ENTRY_MAC_HI, hi);
                self.file.set(word::ARP_TABLE_ENTRY_MAC_LO, lo);
            }
            word::DST_IP_FILTER_TABLE_WR_ADDR => {
                self.filter
                    .set(row, self.file.get(word::DST_IP_FILTER_TABLE_ENTRY_IP));
            }
            word::DST_IP_FILTER_TABLE_RD_ADDR => {
                self.file
                    .set(word::DST_IP_FILTER_TABLE_ENTRY_IP, self.filter.get(row));
            }
            _ => (),
        }
    }

    /// The address whose upper half is the register `hi`, and the lower half the one after it.
    fn pair(&self, hi: usize) -> u64 {
        u64::from(self.file.get(hi)) << 32 | u64::from(self.file.get(hi + 1))
    }
}

/// The upper 16 and the lower 32 bits of an address.
fn halves(mac: u64) -> (u32, u32) {
    ((mac >> 32) as u32, mac as u32)
}

impl Lookup for Router {
    fn look_up(&mut self, from: Queue, frame: &mut [u8], _now: Time) -> Queues {
        let (counter, decision) = self.decide(from, frame);
        self.file.count(counter);
        match decision {
            Decision::ToHost | Decision::FromHost => Queues::one(from.pair()),
            Decision::Drop => Queues::NONE,
            Decision::Forward { queues, mac } => {
                // The source is the address of the port that the frame leaves by.
                let port = queues.0.trailing_zeros() as usize / 2;
                let source = self.macs.get(port).copied().unwrap_or(0);
                ethernet::readdress(frame, mac, source);
                ip::decrement_ttl(frame);
                queues
            }
        }
    }

    fn read(&self, address: u32) -> Option<u32> {
        let (_, at) = place(&word::BLOCK, address)?;
        Some(self.file.get(at))
    }

    fn write(&mut self, address: u32, value: u32) -> bool {
        let Some((_, at)) = place(&word::BLOCK, address) else {
            return false;
        };
        self.file.write(at, value);
        self.wrote(at);
        self.recent.forget();
        true
    }
}
