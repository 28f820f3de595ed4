//! The probes of the last looks, until it is known what became of them.

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use trammel_control::network::{Fate, Recorder, Topology, Works};
use trammel_core::Time;

/// Where probes come from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub(crate) subnet: usize,
    pub(crate) router: usize,
}

/// Where probes go to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// None for the world outside.
    subnet: Option<usize>,
    router: usize,
    address: Ipv4Addr,
}

/// The probes of one look, one for each pair of a target and a source.
#[derive(Debug)]
struct Look {
    sent_at: Time,
    /// The number of the first of them.
    first: u32,
    /// What became of each so far.
    fates: Vec<Fate>,
}

/// The probes on their way.
#[derive(Debug)]
pub(crate) struct Looks {
    targets: Vec<Target>,
    pub(crate) sources: Vec<Source>,
    /// Looks that have not ended, the oldest first.
    open: VecDeque<Look>,
    /// The number of the next probe.
    next: u32,
}

/// A probe to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sending {
    /// The place of its source.
    pub(crate) source: usize,
    pub(crate) target: Ipv4Addr,
    pub(crate) number: u32,
}

impl Looks {
    pub(crate) fn new(topology: &Topology) -> Looks {
        let sources = topology.host_subnets();
        let sources: Vec<Source> = sources
            .map(|(subnet, router)| Source { subnet, router })
            .collect();
        let hosts = sources.iter().map(|source| Target {
            subnet: Some(source.subnet),
            router: source.router,
            address: topology.host(source.subnet),
        });
        let outside = topology.gateway.map(|router| Target {
            subnet: None,
            router,
            address: Topology::OUTSIDE,
        });
        let targets: Vec<Target> = hosts.chain(outside).collect();
        Looks {
            targets,
            sources,
            open: VecDeque::new(),
            next: 0,
        }
    }

    /// Pairs of a source and a target.
    pub(crate) fn pairs(&self) -> usize {
        self.targets.len() * self.sources.len()
    }

    /// Begins a look: the probes to be sent, each lost until it arrives.
    pub(crate) fn begin(&mut self, now: Time, topology: &Topology, works: &Works) -> Vec<Sending> {
        let islands = works.islands(topology);
        let first = self.next;
        self.next = first.wrapping_add(self.pairs() as u32);
        let (mut sending, mut fates) = (Vec::new(), Vec::with_capacity(self.pairs()));
        for target in &self.targets {
            let target_works = works.routers[target.router]
                && target.subnet.is_none_or(|subnet| works.subnets[subnet]);
            for (place, source) in self.sources.iter().enumerate() {
                let is_sent = works.routers[source.router]
                    && works.subnets[source.subnet]
                    && target.subnet != Some(source.subnet);
                let has_path = target_works && islands[source.router] == islands[target.router];
                if is_sent {
                    sending.push(Sending {
                        source: place,
                        target: target.address,
                        number: first.wrapping_add(fates.len() as u32),
                    });
                }
                fates.push(match (is_sent, has_path) {
                    (false, _) => Fate::NotSent,
                    (true, true) => Fate::Lost,
                    (true, false) => Fate::CutOff,
                });
            }
        }
        self.open.push_back(Look {
            sent_at: now,
            first,
            fates,
        });
        sending
    }

    /// Notes what became of a probe, unless its look is over.
    pub(crate) fn note(&mut self, number: u32, fate: Fate) {
        for look in &mut self.open {
            let pair = number.wrapping_sub(look.first) as usize;
            if let Some(known) = look.fates.get_mut(pair) {
                *known = fate;
            }
        }
    }

    /// Whether a packet to `address` that reached the host on `subnet` is where it should be.
    pub(crate) fn is_there(&self, subnet: usize, router: usize, address: Ipv4Addr) -> bool {
        let target = self.targets.iter().find(|one| one.address == address);
        target.is_some_and(|target| match target.subnet {
            Some(wanted) => wanted == subnet,
            None => target.router == router,
        })
    }

    /// Ends the oldest looks, so that `left` are open: what became of their probes is known.
    pub(crate) fn end(&mut self, left: usize, found: &mut Recorder) {
        while self.open.len() > left {
            let Some(look) = self.open.pop_front() else {
                return;
            };
            found.begin_look();
            for (pair, fate) in look.fates.iter().enumerate() {
                found.fate(look.sent_at, pair, *fate);
            }
            found.look(look.sent_at);
        }
    }
}
