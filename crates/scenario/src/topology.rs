//! Networks of more than one bottleneck: hosts, links, routes of least delay, and the preset
//! shapes.

use super::path::{Line, Path};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;

/// Where flows run.
#[allow(clippy::large_enum_variant)] // There is one a scenario.
#[derive(Clone, Debug, PartialEq)]
pub enum Topology {
    /// One bottleneck that all flows share.
    Path(Path),
    /// Hosts and links.
    Graph(Graph),
}

impl Topology {
    /// The line of the path, or those of all links, in the order of the file.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        let (path, links) = match self {
            Topology::Path(path) => (Some(&path.line), &[][..]),
            Topology::Graph(graph) => (None, &graph.links[..]),
        };
        path.into_iter().chain(links.iter().map(|link| &link.line))
    }
}

/// Hosts and links between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// Names of the hosts and routers.
    pub hosts: Vec<String>,
    /// The links.
    pub links: Vec<Link>,
    /// Hosts that are devices with tables, queues and a time of their own.
    pub devices: Vec<Device>,
}

/// A host that is a NetFPGA reference router. Its ports are its links, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The host's name.
    pub host: String,
    /// The name of its timing, such as `reference-1g`.
    pub preset: String,
    /// Registers by name that are written before the run, in this order.
    pub registers: Vec<(String, u32)>,
}

/// A link in both directions.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its name in the results.
    pub name: String,
    /// The host at one end.
    pub from: String,
    /// The host at the other end; data direction is towards it.
    pub to: String,
    /// One-way delay.
    pub delay: Span,
    /// How it treats packets.
    pub line: Line,
}

impl Link {
    /// A link called `from-to`.
    pub fn new(from: &str, to: &str, delay: Span, line: Line) -> Link {
        Link {
            name: format!("{from}-{to}"),
            from: from.to_owned(),
            to: to.to_owned(),
            delay,
            line,
        }
    }
}

/// One step of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Index of the link in [`Graph::links`].
    pub link: usize,
    /// Whether it is crossed from its `from` to its `to`.
    pub forward: bool,
}

impl Graph {
    /// The links of a host, in their order, and whether each leads to it.
    pub fn links_at<'a>(&'a self, host: &'a str) -> impl Iterator<Item = (usize, bool)> + 'a {
        let links = self.links.iter().enumerate();
        let at = links.filter(move |(_, link)| link.from == host || link.to == host);
        at.map(move |(n, link)| (n, link.to == host))
    }

    /// The route of least delay from `from` to `to`; among equals the one of fewest links, then the
    /// one whose links come first in the file. Nothing where there is none or a host is unknown.
    pub fn route(&self, from: &str, to: &str) -> Option<Vec<Step>> {
        let hosts = self.hosts.iter().enumerate();
        // Where two share a name, the first has it.
        let index: BTreeMap<&str, usize> = hosts.rev().map(|(n, name)| (&name[..], n)).collect();
        let (from, to) = (*index.get(from)?, *index.get(to)?);
        let mut leaving: Vec<Vec<(usize, Step)>> = vec![Vec::new(); self.hosts.len()];
        for (n, link) in self.links.iter().enumerate() {
            let ends = (index.get(&link.from[..]), index.get(&link.to[..]));
            if let (Some(&a), Some(&b)) = ends {
                let step = |forward| Step { link: n, forward };
                leaving[a].push((b, step(true)));
                leaving[b].push((a, step(false)));
            }
        }
        let mut best: Vec<Option<(Time, usize)>> = vec![None; self.hosts.len()];
        let mut came: Vec<Option<(usize, Step)>> = vec![None; self.hosts.len()];
        best[from] = Some((Time::ZERO, 0));
        let mut next = BinaryHeap::from([Reverse((Time::ZERO, 0, from))]);
        while let Some(Reverse((delay, links, at))) = next.pop() {
            if best[at].is_some_and(|known| known < (delay, links)) {
                continue;
            }
            for &(far, step) in &leaving[at] {
                let cost = (delay.saturating_add(self.links[step.link].delay), links + 1);
                if best[far].is_none_or(|known| cost < known) {
                    best[far] = Some(cost);
                    came[far] = Some((at, step));
                    next.push(Reverse((cost.0, cost.1, far)));
                }
            }
        }
        let mut steps = Vec::new();
        let mut at = to;
        while at != from {
            let (before, step) = came[at]?;
            steps.push(step);
            at = before;
        }
        steps.reverse();
        Some(steps)
    }

    /// Unloaded round trip over a route there and back, propagation only.
    pub fn rtt(&self, route: &[Step]) -> Span {
        let delays = route.iter().map(|step| self.links[step.link].delay);
        delays.sum::<Span>() * 2
    }

    /// `hops` bottlenecks in a row, each as `path` says with its share of the round trip.
    /// `long-source` and `long-sink` are at the ends; `source-N` and `sink-N` before and behind
    /// bottleneck N.
    pub(crate) fn parking_lot(path: &Path, hops: usize) -> Graph {
        let mut graph = Graph::default();
        // The round trip of the long flow holds its access links' four crossings too.
        let access = path.access.map_or(Span::ZERO, |access| access.delay * 4);
        let delay = path.rtt.saturating_sub(access) / (2 * hops as u64);
        for n in 0..=hops {
            graph.hosts.push(format!("router-{n}"));
        }
        for n in 1..=hops {
            let (before, behind) = (format!("router-{}", n - 1), format!("router-{n}"));
            let mut link = Link::new(&before, &behind, delay, path.line.clone());
            link.name = format!("bottleneck-{n}");
            graph.links.push(link);
        }
        graph.attach("long-source", "router-0", path);
        graph.attach("long-sink", &format!("router-{hops}"), path);
        for n in 1..=hops {
            graph.attach(&format!("source-{n}"), &format!("router-{}", n - 1), path);
            graph.attach(&format!("sink-{n}"), &format!("router-{n}"), path);
        }
        graph
    }

    /// `pairs` senders `source-N`, one bottleneck as `path` says, and as many receivers `sink-N`.
    pub fn dumbbell(path: &Path, pairs: usize) -> Graph {
        let mut graph = Graph {
            hosts: vec!["left".to_owned(), "right".to_owned()],
            ..Graph::default()
        };
        // The round trip holds the access links' four crossings too.
        let access = path.access.map_or(Span::ZERO, |access| access.delay * 4);
        let delay = path.rtt.saturating_sub(access) / 2;
        let mut link = Link::new("left", "right", delay, path.line.clone());
        "bottleneck".clone_into(&mut link.name);
        graph.links.push(link);
        for n in 1..=pairs {
            graph.attach(&format!("source-{n}"), "left", path);
            graph.attach(&format!("sink-{n}"), "right", path);
        }
        graph
    }

    /// Adds a host with its access link, which is fast and has no delay unless `path.access` says
    /// more.
    fn attach(&mut self, host: &str, router: &str, path: &Path) {
        const TEN_TIMES: u64 = 10;
        let (rate, delay) = match path.access {
            Some(access) => (access.rate, access.delay),
            None => (
                Rate::from_bps(path.line.rate.as_bps() * TEN_TIMES),
                Span::ZERO,
            ),
        };
        let mut line = Line::new(rate);
        line.mtu = path.line.mtu;
        line.overhead = path.line.overhead;
        line.processing = path.line.processing;
        // An access link is never where packets are lost.
        line.queue.limit = super::path::Limit::Packets(1_000_000);
        self.hosts.push(host.to_owned());
        let link = if host.contains("sink") {
            Link::new(router, host, delay, line)
        } else {
            Link::new(host, router, delay, line)
        };
        self.links.push(link);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::Span;

    fn path() -> Path {
        Path {
            line: Line::new(Rate::from_bps(10_000_000)),
            rtt: Span::from_ms(60),
            access: None,
            wifi: None,
        }
    }

    #[test]
    fn routes_take_the_least_delay() {
        let line = || Line::new(Rate::from_bps(1_000_000));
        let graph = Graph {
            hosts: ["a", "b", "c"].map(String::from).to_vec(),
            links: vec![
                Link::new("a", "c", Span::from_ms(10), line()),
                Link::new("a", "b", Span::from_ms(3), line()),
                Link::new("c", "b", Span::from_ms(3), line()),
            ],
            devices: Vec::new(),
        };
        let route = graph.route("a", "c").unwrap();
        let steps: Vec<_> = route.iter().map(|s| (s.link, s.forward)).collect();
        assert_eq!(steps, [(1, true), (2, false)]);
        assert_eq!(graph.rtt(&route), Span::from_ms(12));
        assert_eq!(graph.route("a", "a"), Some(vec![]));
        assert_eq!(graph.route("a", "x"), None);
    }

    #[test]
    fn a_parking_lot_keeps_the_round_trip_of_the_long_flow() {
        let graph = Graph::parking_lot(&path(), 3);
        let long = graph.route("long-source", "long-sink").unwrap();
        assert_eq!((long.len(), graph.rtt(&long)), (5, Span::from_ms(60)));
        let short = graph.route("source-2", "sink-2").unwrap();
        assert_eq!(graph.rtt(&short), Span::from_ms(20));
    }

    #[test]
    fn preset_networks_keep_the_round_trip_with_access_links() {
        let mut path = path();
        path.access = Some(crate::path::Access {
            rate: Rate::from_bps(100_000_000),
            delay: Span::from_ms(5),
        });
        let graph = Graph::dumbbell(&path, 2);
        let route = graph.route("source-2", "sink-2").unwrap();
        assert_eq!(graph.rtt(&route), Span::from_ms(60));
        let graph = Graph::parking_lot(&path, 4);
        let route = graph.route("long-source", "long-sink").unwrap();
        assert_eq!(graph.rtt(&route), Span::from_ms(60));
    }
}
