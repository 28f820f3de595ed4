//! The elements of such a configuration as the data plane of the control software.
//!
//! | table | element | handlers |
//! | --- | --- | --- |
//! | routes | `routes`, any IP lookup whose handlers change it: output `P` is port `P`, the last is for the software | `set`, `remove`, `table` |
//! | own addresses | in `routes`, as routes of 32 bits to the software | the same |
//! | neighbours | `neighbours :: ARPTable` | `insert`, `delete`, `table` |
//! | ports up and down | `gates :: Suppressor` | `activeN` |
//!
//! A lookup takes the longest prefix. The control software gives routes in that order, so the first
//! of several of one prefix is entered. A route whose mask is no prefix has no place in it: its
//! packets go to the software. Only entries that differ are written.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use trammel_control::dataplane::{Dataplane, Mac, Neighbour, Route, TableFull};
use trammel_router::Ctx;

/// Prefix and its length.
type Prefix = (Ipv4Addr, u32);
/// Next hop, 0.0.0.0 for none, and output.
type Way = (Ipv4Addr, usize);

/// The tables of a router with elements of these names, whose ports have the MAC addresses that are
/// given: those are in its configuration.
#[derive(Debug)]
pub struct RouterTables<'a> {
    router: RefCell<&'a mut Ctx>,
    macs: &'a [Mac],
}

impl<'a> RouterTables<'a> {
    /// The tables of `router`.
    pub fn new(router: &'a mut Ctx, macs: &'a [Mac]) -> RouterTables<'a> {
        RouterTables {
            router: RefCell::new(router),
            macs,
        }
    }

    /// Reads a handler; nothing where the configuration has it not.
    fn read(&self, handler: &str) -> String {
        let router = &mut **self.router.borrow_mut();
        let found = router.find_handler(handler, None).ok();
        let text = found.and_then(|found| router.read_handler(&found, "").ok());
        text.unwrap_or_default()
    }

    fn write(&mut self, handler: &str, value: &str) {
        let router = &mut **self.router.get_mut();
        if let Ok(found) = router.find_handler(handler, None) {
            let written = router.write_handler(&found, value);
            debug_assert_eq!(written, Ok(()), "{handler} {value}");
        }
    }

    /// What is in the lookup: `10.0.0.0/24 - 1` a line.
    fn lookup(&self) -> BTreeMap<Prefix, Way> {
        let text = self.read("routes.table");
        let line = |line: &str| {
            let mut words = line.split_whitespace();
            let (network, bits) = words.next()?.split_once('/')?;
            let gateway = words.next()?;
            let way = (
                gateway.parse().unwrap_or(Ipv4Addr::UNSPECIFIED),
                words.next()?.parse().ok()?,
            );
            Some(((network.parse().ok()?, bits.parse().ok()?), way))
        };
        text.lines().filter_map(line).collect()
    }

    /// Makes the lookup's entries that are `ours` those of `wanted`.
    fn enter(&mut self, wanted: &BTreeMap<Prefix, Way>, ours: impl Fn(&Prefix, &Way) -> bool) {
        let before = self.lookup();
        let text = |((network, bits), (gateway, output)): (&Prefix, &Way)| {
            let gateway = if gateway.is_unspecified() {
                "-".to_owned()
            } else {
                gateway.to_string()
            };
            format!("{network}/{bits} {gateway} {output}")
        };
        for (prefix, way) in &before {
            if ours(prefix, way) && !wanted.contains_key(prefix) {
                let (network, bits) = prefix;
                self.write("routes.remove", &format!("{network}/{bits}"));
            }
        }
        for (prefix, way) in wanted {
            if before.get(prefix) != Some(way) {
                self.write("routes.set", &text((prefix, way)));
            }
        }
    }

    /// Whether an entry of the lookup is an address whose packets are for the software.
    fn is_own(&self, (_, bits): Prefix, (_, output): Way) -> bool {
        bits == 32 && output == self.macs.len()
    }
}

/// The bits of a mask, if it is a prefix.
fn bits(mask: Ipv4Addr) -> Option<u32> {
    let mask = mask.to_bits();
    (mask.leading_ones() + mask.trailing_zeros() == 32 || mask == u32::MAX)
        .then_some(mask.leading_ones())
}

impl Dataplane for RouterTables<'_> {
    fn ports(&self) -> usize {
        self.macs.len()
    }

    /// Addresses are in the configuration.
    fn set_mac(&mut self, _: usize, _: Mac) {}

    fn set_up(&mut self, port: usize, up: bool) {
        let ports = self.macs.len();
        if port < ports {
            for gate in [port, ports + port] {
                self.write(&format!("gates.active{gate}"), &up.to_string());
            }
        }
    }

    fn set_routes(&mut self, routes: &[Route]) -> Result<(), TableFull> {
        let software = self.macs.len();
        // What no other matches is for the software.
        let mut wanted = BTreeMap::from([(
            (Ipv4Addr::UNSPECIFIED, 0),
            (Ipv4Addr::UNSPECIFIED, software),
        )]);
        let known = self.lookup();
        let mut entered = BTreeMap::new();
        for route in routes.iter().filter(|route| route.port < software) {
            let prefix = bits(route.mask).map(|bits| (route.network, bits));
            // An own address stays the software's.
            let is_free = |prefix: &Prefix| {
                known
                    .get(prefix)
                    .is_none_or(|way| !self.is_own(*prefix, *way))
            };
            if let Some(prefix) = prefix.filter(is_free) {
                entered
                    .entry(prefix)
                    .or_insert((route.next_hop, route.port));
            }
        }
        wanted.extend(entered);
        let own: Vec<Prefix> = known
            .iter()
            .filter(|(prefix, way)| self.is_own(**prefix, **way))
            .map(|(prefix, _)| *prefix)
            .collect();
        self.enter(&wanted, |prefix, _| !own.contains(prefix));
        Ok(())
    }

    fn set_neighbours(&mut self, neighbours: &[Neighbour]) -> Result<(), TableFull> {
        let before = self.neighbours();
        for gone in &before {
            if !neighbours.iter().any(|one| one.address == gone.address) {
                self.write("neighbours.delete", &gone.address.to_string());
            }
        }
        for one in neighbours.iter().filter(|one| !before.contains(one)) {
            let mac = one.mac.map(|byte| format!("{byte:02x}")).join(":");
            self.write("neighbours.insert", &format!("{} {mac}", one.address));
        }
        Ok(())
    }

    fn set_own_addresses(&mut self, addresses: &[Ipv4Addr]) -> Result<(), TableFull> {
        let software = self.macs.len();
        let way = (Ipv4Addr::UNSPECIFIED, software);
        let wanted = addresses
            .iter()
            .map(|address| ((*address, 32), way))
            .collect();
        self.enter(&wanted, |(_, bits), (_, output)| {
            *bits == 32 && *output == software
        });
        Ok(())
    }

    fn mac(&self, port: usize) -> Mac {
        self.macs.get(port).copied().unwrap_or_default()
    }

    fn routes(&self) -> Vec<Route> {
        let mut all: Vec<_> = self.lookup().into_iter().collect();
        all.retain(|(_, (_, output))| *output < self.macs.len());
        // The longest prefix is taken.
        all.sort_by_key(|((network, bits), _)| (std::cmp::Reverse(*bits), *network));
        let route = |((network, bits), (next_hop, port)): (Prefix, Way)| Route {
            network,
            mask: Ipv4Addr::from_bits(u32::MAX.checked_shl(32 - bits).unwrap_or(0)),
            next_hop,
            port,
        };
        all.into_iter().map(route).collect()
    }

    fn neighbours(&self) -> Vec<Neighbour> {
        let text = self.read("neighbours.table");
        let line = |line: &str| {
            let mut words = line.split_whitespace();
            let address = words.next()?.parse().ok()?;
            let is_known = words.next()? == "1";
            let mut mac = Mac::default();
            let mut bytes = words.next()?.split(['-', ':']);
            for byte in &mut mac {
                *byte = u8::from_str_radix(bytes.next()?, 16).ok()?;
            }
            is_known.then_some(Neighbour { address, mac })
        };
        text.lines().filter_map(line).collect()
    }

    fn own_addresses(&self) -> Vec<Ipv4Addr> {
        let all = self.lookup().into_iter();
        all.filter(|(prefix, way)| self.is_own(*prefix, *way))
            .map(|((address, _), _)| address)
            .collect()
    }

    /// Packets that ports forwarded, requests of ARP for next hops that were in no entry, and
    /// frames that were for the software.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        let sum = |element: &str, handler: &str| -> u64 {
            (0..self.macs.len())
                .filter_map(|port| {
                    self.read(&format!("{element}{port}.{handler}"))
                        .trim()
                        .parse::<u64>()
                        .ok()
                })
                .sum()
        };
        let software = self.read("to_software.count");
        vec![
            ("arp_num_misses", sum("arp", "queries")),
            ("num_pkts_forwarded", sum("forwarded", "count")),
            ("num_pkts_to_software", software.trim().parse().unwrap_or(0)),
        ]
    }
}
