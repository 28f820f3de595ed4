//! What a run shows: times to converge, black holes, loops, probes and control packets.

use super::settings::Change;
use std::fmt;
use trammel_core::{Span, Time};

/// Control packets and their bytes with the IP header of 20 bytes, each counted once a link.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// HELLOs.
    pub hellos: u64,
    /// Bytes of HELLOs.
    pub hello_bytes: u64,
    /// Packets with link-state updates.
    pub lsus: u64,
    /// Bytes of link-state updates.
    pub lsu_bytes: u64,
    /// Packets of ARP and ICMP; none where the simulation has no frames.
    pub others: u64,
    /// Bytes of ARP and ICMP.
    pub other_bytes: u64,
    /// Packets that a broken link or router swallowed.
    pub lost: u64,
}

impl Traffic {
    /// Bytes of all control packets.
    pub fn bytes(&self) -> u64 {
        self.hello_bytes + self.lsu_bytes + self.other_bytes
    }

    /// What came after `before`.
    pub(super) fn since(&self, before: &Traffic) -> Traffic {
        Traffic {
            hellos: self.hellos - before.hellos,
            hello_bytes: self.hello_bytes - before.hello_bytes,
            lsus: self.lsus - before.lsus,
            lsu_bytes: self.lsu_bytes - before.lsu_bytes,
            others: self.others - before.others,
            other_bytes: self.other_bytes - before.other_bytes,
            lost: self.lost - before.lost,
        }
    }
}

/// Probes: a packet each 100 ms from each host subnet to each other one, and to the world outside
/// where there is a gateway.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Probes {
    /// Probes sent.
    pub sent: u64,
    /// Probes lost though a working path was there.
    pub lost: u64,
    /// Probes that went round in a loop.
    pub looped: u64,
    /// Probes to where no working path led.
    pub cut_off: u64,
}

impl Probes {
    pub(super) fn add(&mut self, other: &Probes) {
        self.sent += other.sent;
        self.lost += other.lost;
        self.looped += other.looped;
        self.cut_off += other.cut_off;
    }
}

/// What followed the start or a change, up to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Episode {
    /// When it began.
    pub at: Time,
    /// What changed; none for the start.
    pub change: Option<Change>,
    /// What happened: "start", or the change in words.
    pub cause: String,
    /// From the change to the last change of a routing table in this episode.
    pub settled: Span,
    /// From the change to the look since which every packet arrives that can; none where some are
    /// lost to the end.
    pub restored: Option<Span>,
    /// The longest time for which packets from one subnet to another were lost though a working
    /// path was there, in steps of the interval between looks.
    pub black_hole: Span,
    /// The longest time for which packets from one subnet to another went round in a loop.
    pub looped: Span,
    /// Probes from the change on.
    pub probes: Probes,
    /// Control packets from the change on.
    pub traffic: Traffic,
    /// Computations of paths from the change on, by all routers.
    pub spf_runs: u64,
}

/// A router at the end of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AtEnd {
    /// Whether it lives; one that does not has nothing.
    pub is_up: bool,
    /// Its routes, those of its own subnets among them.
    pub routes: usize,
    /// Its neighbours on all interfaces.
    pub neighbours: usize,
    /// Computations of paths since it started last.
    pub spf_runs: u64,
}

/// What a run shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The start, then each change.
    pub episodes: Vec<Episode>,
    /// Each router at the end.
    pub routers: Vec<AtEnd>,
    /// Control packets of the whole run.
    pub traffic: Traffic,
    /// Computations of paths, by all routers.
    pub spf_runs: u64,
    /// The end of the run.
    pub end: Time,
}

impl Report {
    /// The longest black hole or loop of all episodes.
    pub fn longest_outage(&self) -> Span {
        let outages = self.episodes.iter().map(|e| e.black_hole.max(e.looped));
        outages.max().unwrap_or(Span::ZERO)
    }
}

impl fmt::Display for Report {
    /// A line an episode, then the totals.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for episode in &self.episodes {
            let restored = match episode.restored {
                Some(span) => format!("restored after {span}"),
                None => "not restored".to_string(),
            };
            writeln!(
                f,
                "{}, {}: {restored}, tables settled after {}, black hole {}, loop {}, \
                 {} HELLOs, {} LSUs",
                episode.at,
                episode.cause,
                episode.settled,
                episode.black_hole,
                episode.looped,
                episode.traffic.hellos,
                episode.traffic.lsus,
            )?;
        }
        writeln!(
            f,
            "{}: {} HELLOs, {} LSUs, {} bytes, {} packets lost, {} path computations",
            self.end,
            self.traffic.hellos,
            self.traffic.lsus,
            self.traffic.bytes(),
            self.traffic.lost,
            self.spf_runs,
        )
    }
}
