//! Routers, and the subnets that join them.

use core::net::Ipv4Addr;
use std::collections::BTreeSet;
use trammel_core::units::Rate;
use trammel_core::{Rng, Span};

/// The mask of a subnet that has the addresses of its number.
const MASK: Ipv4Addr = Ipv4Addr::new(255, 255, 255, 0);

/// A subnet: a link between two routers, a LAN of several, or the hosts behind one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subnet {
    /// The routers on it, each once, at most 254.
    pub routers: Vec<usize>,
    /// The time a packet takes across.
    pub delay: Span,
    /// What each router sends into it; none where nothing waits.
    pub rate: Option<Rate>,
    /// Its addresses; none for those of its number.
    pub addresses: Option<Addresses>,
}

impl Subnet {
    /// A subnet with the addresses of its number and no limit of rate.
    pub fn new(routers: Vec<usize>, delay: Span) -> Subnet {
        Subnet {
            routers,
            delay,
            rate: None,
            addresses: None,
        }
    }
}

/// The addresses of a subnet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses {
    /// The subnet's own.
    pub network: Ipv4Addr,
    /// Its mask.
    pub mask: Ipv4Addr,
    /// Those of the routers on it, in the order of [`Subnet::routers`].
    pub routers: Vec<Ipv4Addr>,
}

/// Routers and subnets. Unless it has others, subnet `n` has the addresses
/// 10.(n / 256).(n mod 256).0/24, and the routers on it the hosts 1, 2 … in the order of
/// [`Subnet::routers`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    /// The routers' names.
    pub routers: Vec<String>,
    /// The subnets, at most 65,536. A router's interfaces are numbered in this order.
    pub subnets: Vec<Subnet>,
    /// The router that leads to the world outside and originates the default route.
    pub gateway: Option<usize>,
}

/// Across a link.
const DELAY: Span = Span::from_us(50);

impl Topology {
    /// `n` routers with the names `r0`, `r1` …, each with a subnet of hosts as its interface 0.
    fn with_hosts(names: impl IntoIterator<Item = String>) -> Topology {
        let routers: Vec<String> = names.into_iter().collect();
        let hosts = (0..routers.len()).map(|router| Subnet::new(vec![router], DELAY));
        Topology {
            subnets: hosts.collect(),
            routers,
            gateway: None,
        }
    }

    fn numbered(n: usize) -> Topology {
        Topology::with_hosts((0..n).map(|router| format!("r{router}")))
    }

    fn join(&mut self, routers: &[usize]) {
        self.subnets.push(Subnet::new(routers.to_vec(), DELAY));
    }

    /// `n` routers in a ring, each with hosts; links of 50 µs. Subnet `n` + i joins router i and
    /// the next.
    pub fn ring(n: usize) -> Topology {
        let mut topology = Topology::numbered(n);
        for router in 0..n {
            topology.join(&[router, (router + 1) % n]);
        }
        topology
    }

    /// A campus as in the exercises of CS344: a gateway with the default route, two core routers,
    /// and five buildings, three of them on one LAN. Every router has hosts; no single link cuts
    /// it apart.
    pub fn campus() -> Topology {
        let names = [
            "gateway",
            "core-east",
            "core-west",
            "library",
            "physics",
            "chemistry",
            "dormitory",
            "hospital",
        ];
        let mut topology = Topology::with_hosts(names.map(str::to_string));
        topology.gateway = Some(0);
        let links: [&[usize]; 10] = [
            &[0, 1],
            &[0, 2],
            &[1, 2],
            &[1, 3],
            &[2, 3],
            &[1, 4],
            &[4, 5],
            &[5, 2],
            &[1, 6],
            &[6, 7, 2],
        ];
        for routers in links {
            topology.join(routers);
        }
        topology
    }

    /// A connected graph of `n` routers, each with hosts, and `links` distinct links, drawn with
    /// `seed`: a random tree, then random pairs. `links` is brought into the range that such a
    /// graph can have, from `n` - 1 to `n` (`n` - 1) / 2.
    pub fn random(n: usize, links: usize, seed: u64) -> Topology {
        let mut topology = Topology::numbered(n);
        let mut rng = Rng::new(seed, "topology");
        let mut pairs = BTreeSet::new();
        for router in 1..n {
            let other = rng.below(router as u64) as usize;
            pairs.insert((other, router));
            topology.join(&[other, router]);
        }
        let most = n * n.saturating_sub(1) / 2;
        while pairs.len() < links.min(most) {
            let (a, b) = (rng.below(n as u64) as usize, rng.below(n as u64) as usize);
            let pair = (a.min(b), a.max(b));
            if a != b && pairs.insert(pair) {
                topology.join(&[pair.0, pair.1]);
            }
        }
        topology
    }

    /// A host of the world outside, which only the default route leads to (RFC 5737).
    pub const OUTSIDE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);

    /// The address of `router` on `subnet`; of a router that is not on it, the next free one.
    pub fn address(&self, subnet: usize, router: usize) -> Ipv4Addr {
        let of = &self.subnets[subnet];
        let place = of.routers.iter().position(|other| *other == router);
        let place = place.unwrap_or(of.routers.len());
        let given = of.addresses.as_ref().and_then(|all| all.routers.get(place));
        given.copied().unwrap_or_else(|| numbered(subnet, place))
    }

    /// The address and the mask of `subnet`.
    pub fn network(&self, subnet: usize) -> (Ipv4Addr, Ipv4Addr) {
        match &self.subnets[subnet].addresses {
            Some(all) => (all.network, all.mask),
            None => (numbered(subnet, 0) & MASK, MASK),
        }
    }

    /// The address of a host on `subnet`: the last one that no router has.
    pub fn host(&self, subnet: usize) -> Ipv4Addr {
        let (network, mask) = self.network(subnet);
        let (first, last) = (u32::from(network), u32::from(network | !mask));
        let routers = &self.subnets[subnet].routers;
        let is_free = |address: &Ipv4Addr| {
            let mut taken = routers.iter().map(|router| self.address(subnet, *router));
            taken.all(|other| other != *address)
        };
        // The last address of all is for every host of the subnet, unless it has only two.
        let ends = u32::from(last - first > 1);
        let mut all = (first + ends..=last - ends).rev().map(Ipv4Addr::from);
        all.find(is_free).unwrap_or(network)
    }

    /// The subnets of hosts, each with its router.
    pub fn host_subnets(&self) -> impl Iterator<Item = (usize, usize)> {
        let all = self.subnets.iter().enumerate();
        all.filter_map(|(number, subnet)| match subnet.routers.as_slice() {
            [router] => Some((number, *router)),
            _ => None,
        })
    }

    /// The subnets of `router`, in the order of its interfaces.
    pub fn subnets_of(&self, router: usize) -> Vec<usize> {
        let all = 0..self.subnets.len();
        all.filter(|subnet| self.subnets[*subnet].routers.contains(&router))
            .collect()
    }
}

/// The address of the router at `place` of the list of `subnet`, where that has the addresses of
/// its number.
fn numbered(subnet: usize, place: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, (subnet >> 8) as u8, subnet as u8, (place + 1) as u8)
}
