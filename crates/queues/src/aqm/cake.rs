//! CAKE: a shaper, tins by DSCP, fairness among hosts and flows, and COBALT for each flow.
//!
//! # What it does
//! A shaper lets packets go at `bandwidth`, counted as the link beyond counts them (`link`,
//! `overhead`, `mpu`, `cells`); without a bandwidth the link itself sets the pace. The `diffserv`
//! mode sorts packets by DSCP into tins. A tin that keeps below its part of the bandwidth goes
//! before those that do not; without a bandwidth tins take turns by weight. Within a tin each flow
//! has a queue, and queues take turns by deficit round robin, sparse ones first. `isolation` says
//! what a flow is, and whether the turns of one host's flows are shortened so that hosts share
//! equally: with `triple-isolate` by the more loaded one of a flow's two hosts. Flows find their
//! queues by a hash of eight ways, so that they hardly ever share one.
//!
//! COBALT governs each queue: CoDel, with a target of a twentieth of `rtt`, but at least one and a
//! half packets of the tin's rate, and BLUE against what does not respond. Where CAKE marks, it
//! marks whatever is ECN-capable. When memory runs out the longest queue loses its head.
//!
//! With `ack_filter`, a pure ACK that comes to its queue drops one of the same flow that it makes
//! superfluous: the oldest, once there are two of them, or already the one right before it where
//! the filter is aggressive. ACKs with flags of ECN stay.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "20 Mbit/s"
//! rtt = "40 ms"
//! queue = { discipline = "cake", bandwidth = "19 Mbit/s", diffserv = "besteffort" }
//! [[flow]]
//! variant = "cubic"
//! [[flow]]
//! variant = "bbr"
//! ```
//!
//! # Parameters
//! `bandwidth`, `diffserv`, `isolation`, `rtt`, `link`, `overhead`, `mpu`, `cells`, `ack_filter`,
//! `ingress`, `memlimit`. `tc` gives most of them as words without a key. There is nothing to
//! split: segments come to a queue one by one.
//!
//! # References
//! Høiland-Jørgensen, Täht and Morton, "Piece of CAKE: A Comprehensive Queue Management Solution
//! for Home Gateways", LANMAN 2018; `tc-cake(8)`; RFC 8290; Linux as observed.

use super::{Band, Discipline, Drop, Entry, Item, LinkFacts, Role};
use crate::chains::{Chain, Linked, List, NONE, Pool};
use crate::cobalt::{Cobalt, Settings, Verdict};
use crate::framing::{Cells, Framing};
use crate::ways::Ways;
use trammel_core::entry::{About, Kind, Param, Params};
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};
use trammel_core::units::{Rate, TxTime};

/// CAKE in the table of disciplines.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "cake",
        aliases: &[],
        summary: "shaper, tins by DSCP, fair to hosts and flows, with COBALT and an ACK filter",
        references: &[
            "Hoiland-Jorgensen, Taht and Morton, LANMAN 2018",
            "tc-cake(8)",
        ],
        params: &[
            Param {
                name: "bandwidth",
                kind: Kind::Rate,
                default: "0 bit/s",
                unit: "bit/s",
                help: "rate of the shaper; 0 for none",
            },
            choice(
                "diffserv",
                &[
                    "besteffort",
                    "diffserv3",
                    "diffserv4",
                    "diffserv8",
                    "precedence",
                ],
                "diffserv3",
                "how packets are sorted into tins by their DSCP",
            ),
            choice(
                "isolation",
                &[
                    "flowblind",
                    "srchost",
                    "dsthost",
                    "hosts",
                    "flows",
                    "dual-srchost",
                    "dual-dsthost",
                    "triple-isolate",
                ],
                "triple-isolate",
                "what has a queue of its own, and which hosts share equally",
            ),
            Param::time(
                "rtt",
                "100 ms",
                "usual round trip; the interval of CoDel, twenty times its target",
            ),
            choice(
                "link",
                &[
                    "raw",
                    "ip",
                    "conservative",
                    "ethernet",
                    "docsis",
                    "pppoe-ptm",
                    "bridged-ptm",
                    "ipoa-vcmux",
                    "ipoa-llcsnap",
                    "bridged-vcmux",
                    "bridged-llcsnap",
                    "pppoa-vcmux",
                    "pppoa-llc",
                    "pppoe-vcmux",
                    "pppoe-llcsnap",
                ],
                "raw",
                "the link whose framing is counted; `raw` counts as the path does",
            ),
            Param::int(
                "overhead",
                -64,
                256,
                "0",
                "B",
                "bytes of each packet beside the IP packet, more than those of `link`",
            ),
            Param {
                name: "mpu",
                kind: Kind::Bytes,
                default: "0 B",
                unit: "B",
                help: "least size of a frame; 0 for that of `link`",
            },
            choice(
                "cells",
                &["link", "noatm", "atm", "ptm"],
                "link",
                "what frames are cut into, where it is not as `link` has it",
            ),
            choice(
                "ack_filter",
                &["no-ack-filter", "ack-filter", "ack-filter-aggressive"],
                "no-ack-filter",
                "whether ACKs that later ones make superfluous are dropped",
            ),
            Param {
                name: "ingress",
                kind: Kind::Bool,
                default: "false",
                unit: "",
                help: "shape what has already passed the bottleneck: drops count as sent",
            },
            Param {
                name: "memlimit",
                kind: Kind::Bytes,
                default: "0 B",
                unit: "B",
                help: "memory of all queues; 0 for four times bandwidth times `rtt`, at least 4 MB \
                       and at most 10,240 packets without what a kernel keeps beside them",
            },
        ],
    },
    marks: true,
    limit_pkts: Some(10_240),
    build: |params, facts| Ok(Box::new(Cake::new(params, facts)?)),
};

const fn choice(
    name: &'static str,
    words: &'static [&'static str],
    default: &'static str,
    help: &'static str,
) -> Param {
    Param {
        name,
        kind: Kind::Choice(words),
        default,
        unit: "",
        help,
    }
}

/// Queues of a tin, and hosts that it tells apart.
const PLACES: u32 = 1024;
/// Bytes of a turn at most and at least; between, what the tin's rate carries in 4096 parts of a
/// second.
const QUANTUM: (u64, u64) = (300, 1514);
/// Deficits are in parts of a byte, so that a turn can be shared out among a host's flows.
const PART: i64 = 1 << 16;
/// What a kernel keeps beside a packet, about, bytes: memory is counted as there.
const KEPT: u64 = 768;
/// Memory of the queues where no bandwidth asks for more (`tc-cake(8)`), bytes.
const LEAST_MEMORY: u64 = 4 << 20;

/// A tin in a mode of `diffserv`: its name, its part of the bandwidth, its weight without one.
struct Share {
    name: &'static str,
    part: f64,
    weight: i64,
}

const fn share(name: &'static str, part: f64, weight: i64) -> Share {
    Share { name, part, weight }
}

/// Codepoints by the names that RFC 4594 and `tc-cake(8)` use.
mod dscp {
    pub(super) const LE: u8 = 1;
    pub(super) const TOS2: u8 = 2;
    pub(super) const TOS4: u8 = 4;
    pub(super) const CS: [u8; 8] = [0, 8, 16, 24, 32, 40, 48, 56];
    pub(super) const AF1: [u8; 3] = [10, 12, 14];
    pub(super) const AF2: [u8; 3] = [18, 20, 22];
    pub(super) const AF3: [u8; 3] = [26, 28, 30];
    pub(super) const AF4: [u8; 3] = [34, 36, 38];
    pub(super) const VA: u8 = 44;
    pub(super) const EF: u8 = 46;
}

/// The tins of `mode`, and the tin of each codepoint (`tc-cake(8)`, "Priority queue parameters").
fn tins_of(mode: &str) -> (Vec<Share>, [u8; 64]) {
    use dscp::{AF1, AF2, AF3, AF4, CS, EF, LE, TOS2, TOS4, VA};
    const NAMES: [&str; 8] = [
        "tin0", "tin1", "tin2", "tin3", "tin4", "tin5", "tin6", "tin7",
    ];
    let mut tin_of = [0_u8; 64];
    let mut put = |tin: u8, codepoints: &[&[u8]]| {
        for codepoint in codepoints.iter().copied().flatten() {
            tin_of[usize::from(*codepoint)] = tin;
        }
    };
    // Each of eight has seven eighths of the one below it.
    let eight = || {
        let part = |tin: i32| (7.0_f64 / 8.0).powi(tin);
        let mut weight = 256;
        let mut shares = Vec::with_capacity(8);
        for (tin, name) in NAMES.into_iter().enumerate() {
            shares.push(share(name, part(tin as i32), weight));
            weight = weight * 7 / 8;
        }
        shares
    };
    let shares = match mode {
        "besteffort" => vec![share("besteffort", 1.0, 65_535)],
        "diffserv3" => {
            put(1, &[&[LE, CS[1]]]);
            put(2, &[&[TOS4, VA, EF, CS[6], CS[7]]]);
            vec![
                share("besteffort", 1.0, 1024),
                share("bulk", 1.0 / 16.0, 64),
                share("voice", 1.0 / 4.0, 256),
            ]
        }
        "diffserv4" => {
            put(1, &[&[LE, CS[1]]]);
            put(2, &[&[TOS4, CS[2], CS[3]], &AF2, &AF3, &AF4]);
            put(3, &[&[VA, EF, CS[4], CS[5], CS[6], CS[7]]]);
            vec![
                share("besteffort", 1.0, 1024),
                share("bulk", 1.0 / 16.0, 64),
                share("video", 1.0 / 2.0, 512),
                share("voice", 1.0 / 4.0, 256),
            ]
        }
        "diffserv8" => {
            tin_of = [2; 64];
            let mut put = |tin: u8, codepoints: &[&[u8]]| {
                for codepoint in codepoints.iter().copied().flatten() {
                    tin_of[usize::from(*codepoint)] = tin;
                }
            };
            put(0, &[&[LE]]);
            put(1, &[&[TOS2, CS[1]], &AF1]);
            put(3, &[&[CS[3]], &AF3, &AF4]);
            put(4, &[&[TOS4], &AF2]);
            put(5, &[&[CS[2]]]);
            put(6, &[&[CS[4], CS[5], VA, EF]]);
            put(7, &[&[CS[6], CS[7]]]);
            eight()
        }
        _ => {
            for codepoint in 0..64_u8 {
                tin_of[usize::from(codepoint)] = codepoint >> 3;
            }
            eight()
        }
    };
    (shares, tin_of)
}

/// What a flow is, and which of its hosts count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Isolation {
    by: By,
    source_counts: bool,
    destination_counts: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Nothing,
    Source,
    Destination,
    Hosts,
    Flow,
}

impl Isolation {
    fn of(word: &str) -> Isolation {
        let by = match word {
            "flowblind" => By::Nothing,
            "srchost" => By::Source,
            "dsthost" => By::Destination,
            "hosts" => By::Hosts,
            _ => By::Flow,
        };
        Isolation {
            by,
            source_counts: matches!(word, "dual-srchost" | "triple-isolate"),
            destination_counts: matches!(word, "dual-dsthost" | "triple-isolate"),
        }
    }

    /// The hash that finds a packet's queue, mixed by the golden ratio so that flows that are
    /// merely numbered do not meet.
    fn hash(self, item: &Item) -> u32 {
        let (source, destination) = (u32::from(item.source), u32::from(item.destination));
        let key = match self.by {
            By::Nothing => return 0,
            By::Source => source,
            By::Destination => destination,
            By::Hosts => source << 16 | destination,
            By::Flow => item.flow,
        };
        key.wrapping_mul(0x9e37_79b9).rotate_left(10)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckFilter {
    Off,
    On,
    Aggressive,
}

/// How long bytes take at a rate, and when the next packet may go.
#[derive(Clone, Copy, Debug)]
struct Pace {
    tx: TxTime,
    next: Time,
}

#[derive(Debug)]
struct Cake {
    shaper: Option<Pace>,
    /// Nothing counts as the path does.
    framing: Option<Framing>,
    /// Bytes of an item that are not the IP packet's.
    beside: u32,
    isolation: Isolation,
    ack_filter: AckFilter,
    is_ingress: bool,
    tin_of: [u8; 64],
    tins: Vec<Tin>,
    bands: Vec<Band>,
    /// The tin whose turn it is without a bandwidth.
    turn: usize,
    packets: Pool,
    memory: u64,
    limit_packets: u32,
    limit_bytes: u64,
}

#[derive(Debug)]
struct Tin {
    /// The part of the bandwidth up to which it goes first.
    pace: Option<Pace>,
    weight: i64,
    credit: i64,
    waiting: u32,
    settings: Settings,
    quantum: i64,
    flows: Vec<Flow>,
    ways: Ways,
    sources: Hosts,
    destinations: Hosts,
    sparse: List,
    bulk: List,
    /// Flows in either list that have, or just had, something to send.
    listed: u32,
    bulk_flows: u32,
}

/// One flow's packets, or those of several that share a queue.
#[derive(Clone, Debug)]
struct Flow {
    chain: Chain,
    bytes: u64,
    deficit: i64,
    law: Cobalt,
    state: State,
    source: u16,
    destination: u16,
    next: u32,
}

/// Where a flow is in the turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In no list.
    Idle,
    /// Served before those with a backlog.
    Sparse,
    /// Used up its first turn and has nothing left; it waits for its next one among the bulk.
    Waiting,
    /// Takes turns, and counts as its hosts' load.
    Bulk,
}

impl Linked for Flow {
    fn next(&mut self) -> &mut u32 {
        &mut self.next
    }
}

/// The flows in bulk of each host.
#[derive(Debug)]
struct Hosts {
    ways: Ways,
    bulk: Vec<u16>,
}

impl Hosts {
    fn new() -> Hosts {
        Hosts {
            ways: Ways::new(PLACES),
            bulk: vec![0; PLACES as usize],
        }
    }

    fn place(&mut self, host: u16) -> u16 {
        let bulk = &self.bulk;
        let hash = u32::from(host).wrapping_mul(0x9e37_79b9).rotate_left(10);
        self.ways
            .place(hash, |place| bulk[place as usize] == 0)
            .try_into()
            .expect("places are fewer")
    }
}

impl Tin {
    fn new(share: &Share, bandwidth: Option<Rate>, params: &Params, full: u64) -> Tin {
        let rate = bandwidth.map(|rate| Rate::from_bps((rate.as_bps() as f64 * share.part) as u64));
        let tx = rate.map(TxTime::new);
        let largest = tx.map_or(Span::ZERO, |tx| tx.of(full));
        let rtt = params.time("rtt");
        let usual = rtt / 20;
        let target = usual.max(largest * 3 / 2);
        let settings = Settings {
            target,
            interval: (rtt + target.saturating_sub(usual)).max(target * 2),
            largest,
        };
        let quantum = rate.map_or(QUANTUM.1, |rate| {
            (rate.as_bps() / 8 / 4096).clamp(QUANTUM.0, QUANTUM.1)
        });
        let flow = Flow {
            chain: Chain::EMPTY,
            bytes: 0,
            deficit: 0,
            law: Cobalt::default(),
            state: State::Idle,
            source: 0,
            destination: 0,
            next: NONE,
        };
        Tin {
            pace: tx.map(|tx| Pace {
                tx,
                next: Time::ZERO,
            }),
            weight: share.weight,
            credit: 0,
            waiting: 0,
            settings,
            quantum: quantum as i64 * PART,
            flows: vec![flow; PLACES as usize],
            ways: Ways::new(PLACES),
            sources: Hosts::new(),
            destinations: Hosts::new(),
            sparse: List::EMPTY,
            bulk: List::EMPTY,
            listed: 0,
            bulk_flows: 0,
        }
    }

    /// The flow of `item`, as a place.
    fn place(&mut self, item: &Item, isolation: Isolation) -> u32 {
        let flows = &self.flows;
        let hash = isolation.hash(item);
        let place = self
            .ways
            .place(hash, |place| flows[place as usize].state == State::Idle);
        let flow = &mut self.flows[place as usize];
        if flow.state == State::Idle {
            if isolation.source_counts {
                flow.source = self.sources.place(item.source);
            }
            if isolation.destination_counts {
                flow.destination = self.destinations.place(item.destination);
            }
        }
        place
    }

    /// The turn of a flow: the quantum, shared with the other flows of its busier host.
    fn turn(&self, place: u32, isolation: Isolation) -> i64 {
        let flow = &self.flows[place as usize];
        let mut load = 1;
        if isolation.source_counts {
            load = load.max(self.sources.bulk[usize::from(flow.source)]);
        }
        if isolation.destination_counts {
            load = load.max(self.destinations.bulk[usize::from(flow.destination)]);
        }
        self.quantum / i64::from(load)
    }

    /// Counts a flow in bulk, or no longer.
    fn count_bulk(&mut self, place: u32, isolation: Isolation, begins: bool) {
        let change = |count: &mut u16| {
            *count = if begins { *count + 1 } else { *count - 1 };
        };
        let flow = &self.flows[place as usize];
        if isolation.source_counts {
            change(&mut self.sources.bulk[usize::from(flow.source)]);
        }
        if isolation.destination_counts {
            change(&mut self.destinations.bulk[usize::from(flow.destination)]);
        }
        if begins {
            self.bulk_flows += 1;
        } else {
            self.bulk_flows -= 1;
        }
    }

    /// A packet has come to the flow at `place`: it takes its place in the turns.
    fn list(&mut self, now: Time, place: u32, isolation: Isolation) {
        let flow = &mut self.flows[place as usize];
        match flow.state {
            State::Idle => {
                flow.law.rest(now, &self.settings);
                flow.state = State::Sparse;
                let turn = self.turn(place, isolation);
                self.flows[place as usize].deficit = turn;
                self.sparse.append(&mut self.flows, place);
                self.listed += 1;
            }
            State::Waiting => {
                flow.state = State::Bulk;
                self.count_bulk(place, isolation, true);
            }
            State::Sparse | State::Bulk => {}
        }
    }

    /// The flow whose turn it is, and whether it is of the sparse ones; those whose turn is over go
    /// to the end.
    fn next(&mut self, isolation: Isolation) -> Option<(u32, bool)> {
        loop {
            let is_sparse = !self.sparse.is_empty();
            let list = if is_sparse {
                &mut self.sparse
            } else {
                &mut self.bulk
            };
            let place = list.first()?;
            let flow = &mut self.flows[place as usize];
            if flow.deficit > 0 {
                return Some((place, is_sparse));
            }
            list.remove_head(&mut self.flows);
            self.bulk.append(&mut self.flows, place);
            let flow = &mut self.flows[place as usize];
            if flow.state == State::Sparse {
                if flow.chain.is_empty() {
                    flow.state = State::Waiting;
                } else {
                    flow.state = State::Bulk;
                    self.count_bulk(place, isolation, true);
                }
            }
            let turn = self.turn(place, isolation);
            self.flows[place as usize].deficit += turn;
        }
    }

    /// The flow at the head of a list has nothing left.
    fn unlist(&mut self, place: u32, is_sparse: bool, isolation: Isolation) {
        let list = if is_sparse {
            &mut self.sparse
        } else {
            &mut self.bulk
        };
        list.remove_head(&mut self.flows);
        self.listed -= 1;
        if self.flows[place as usize].state == State::Bulk {
            self.count_bulk(place, isolation, false);
        }
        self.flows[place as usize].state = State::Idle;
    }

    /// The flow with the most bytes, and how many.
    fn longest(&self) -> Option<(u64, u32)> {
        let mut longest = None;
        for list in [&self.sparse, &self.bulk] {
            let mut at = list.first().unwrap_or(NONE);
            while let Some(flow) = self.flows.get(at as usize) {
                if !flow.chain.is_empty() && longest.is_none_or(|(most, _)| flow.bytes > most) {
                    longest = Some((flow.bytes, at));
                }
                at = flow.next;
            }
        }
        longest
    }
}

impl Cake {
    fn new(params: &Params, facts: &LinkFacts) -> Result<Cake, String> {
        let rtt = params.time("rtt");
        if rtt < Span::from_us(20) {
            return Err(format!("`rtt` is {rtt}; it takes at least 20 us"));
        }
        let bandwidth = params.rate("bandwidth");
        let bandwidth = (bandwidth.as_bps() > 0).then_some(bandwidth);
        let full = u64::from(facts.mtu) + u64::from(facts.overhead);
        let (shares, tin_of) = tins_of(params.text("diffserv"));
        // Four times what the bandwidth carries in `rtt`, but at least 4 MB, and at most the limit
        // in packets without what is kept beside them.
        let most = u64::from(facts.limit_packets).saturating_mul(full);
        let memory = match (params.bytes("memlimit"), bandwidth) {
            (0, None) => most,
            (0, Some(rate)) => {
                let carried = rate.as_bps() as f64 / 8.0 * rtt.as_secs_f64();
                LEAST_MEMORY.max((4.0 * carried) as u64).min(most)
            }
            (bytes, _) => bytes,
        };
        Ok(Cake {
            shaper: bandwidth.map(|rate| Pace {
                tx: TxTime::new(rate),
                next: Time::ZERO,
            }),
            framing: framing_of(params),
            beside: facts.overhead,
            isolation: Isolation::of(params.text("isolation")),
            ack_filter: match params.text("ack_filter") {
                "ack-filter" => AckFilter::On,
                "ack-filter-aggressive" => AckFilter::Aggressive,
                _ => AckFilter::Off,
            },
            is_ingress: params.bool("ingress"),
            tin_of,
            tins: shares
                .iter()
                .map(|share| Tin::new(share, bandwidth, params, full))
                .collect(),
            bands: shares.iter().map(|share| Band::new(share.name)).collect(),
            turn: 0,
            packets: Pool::new(facts),
            memory,
            limit_packets: facts.limit_packets,
            limit_bytes: facts.limit_bytes,
        })
    }

    /// Bytes that the packet takes on the link.
    #[inline]
    fn counted(&self, item: &Item) -> u64 {
        match &self.framing {
            None => u64::from(item.bytes),
            Some(framing) => framing.bytes_of(item.bytes.saturating_sub(self.beside)),
        }
    }

    /// The tin that may send, of those with something to send.
    fn choose(&mut self, now: Time) -> usize {
        if self.tins.len() == 1 {
            return 0;
        }
        if self.shaper.is_none() {
            // By weight: each in its turn, while its credit lasts.
            loop {
                let tin = &mut self.tins[self.turn];
                if tin.listed > 0 && tin.credit >= 0 {
                    return self.turn;
                }
                if tin.credit <= 0 {
                    tin.credit += tin.weight;
                }
                self.turn = (self.turn + 1) % self.tins.len();
            }
        }
        // The last of those within their part of the bandwidth, else the one that is over it least.
        let mut best = (0, Time::MAX);
        for (at, tin) in self.tins.iter().enumerate() {
            let next = tin.pace.map_or(Time::ZERO, |pace| pace.next).max(now);
            if tin.listed > 0 && next <= best.1 {
                best = (at, next);
            }
        }
        best.0
    }

    /// A packet of `bytes` bytes takes its time of the shaper and of its tin's part.
    fn spend(&mut self, now: Time, tin: usize, bytes: u64) {
        if let Some(shaper) = &mut self.shaper {
            shaper.next = shaper.next.saturating_add(shaper.tx.of(bytes));
        }
        if let Some(pace) = &mut self.tins[tin].pace {
            let span = pace.tx.of(bytes);
            pace.next = if pace.next < now {
                pace.next.saturating_add(span)
            } else {
                pace.next.max(now.saturating_add(span))
            };
        }
    }

    /// Takes the first packet of a flow.
    fn pop(&mut self, tin: usize, place: u32) -> Option<Item> {
        let tin = &mut self.tins[tin];
        let flow = &mut tin.flows[place as usize];
        let item = self.packets.pop(&mut flow.chain)?;
        flow.bytes -= u64::from(item.bytes);
        tin.waiting -= 1;
        Some(item)
    }

    fn is_over(&self) -> bool {
        let (waiting, bytes) = (self.packets.waiting(), self.packets.bytes());
        waiting > self.limit_packets
            || bytes > self.limit_bytes
            || bytes.saturating_add(u64::from(waiting) * KEPT) > self.memory
    }

    /// Drops the head of the longest queue.
    fn drop_from_longest(&mut self, now: Time, dropped: &mut dyn FnMut(Item, Drop)) {
        let mut longest: Option<(u64, u32, usize)> = None;
        for (at, tin) in self.tins.iter().enumerate() {
            if let Some((bytes, place)) = tin.longest()
                && longest.is_none_or(|(most, ..)| bytes > most)
            {
                longest = Some((bytes, place, at));
            }
        }
        let (_, place, tin) = longest.expect("a queue is longest while something waits");
        let item = self.pop(tin, place).expect("it is not empty");
        let settings = self.tins[tin].settings;
        self.tins[tin].flows[place as usize]
            .law
            .overflow(now, &settings);
        self.bands[tin].dropped(Drop::Overflow);
        if self.is_ingress {
            let bytes = self.counted(&item);
            self.spend(now, tin, bytes);
        }
        dropped(item, Drop::Overflow);
    }

    /// Takes out an ACK that the newest one of its flow makes superfluous.
    fn filter(&mut self, tin: usize, place: u32, newest: &Item) -> Option<Item> {
        let flow = &mut self.tins[tin].flows[place as usize];
        let mut before = None;
        // The first superfluous one: what stands before it, and whether it is the last but one.
        let mut first: Option<(Option<u32>, bool)> = None;
        let mut is_found = false;
        let mut echo = 0;
        let last = flow.bytes - u64::from(newest.bytes);
        let mut seen = 0;
        for (node, item) in self.packets.iter(&flow.chain) {
            seen += u64::from(item.bytes);
            if seen > last {
                break;
            }
            // What the flags said would be lost with a packet that differs from the next.
            if item.flow == newest.flow && item.role.echo() != echo {
                first = None;
            }
            if item.flow == newest.flow && is_superfluous(item, newest) {
                is_found = first.is_some();
                if is_found {
                    break;
                }
                first = Some((before, seen == last));
                echo = item.role.echo();
            }
            before = Some(node);
        }
        let (before, is_adjacent) = first?;
        let is_enough = is_found
            || (self.ack_filter == AckFilter::Aggressive
                && is_adjacent
                && echo == newest.role.echo());
        let item = is_enough
            .then(|| self.packets.remove_after(&mut flow.chain, before))
            .flatten()?;
        flow.bytes -= u64::from(item.bytes);
        self.tins[tin].waiting -= 1;
        Some(item)
    }
}

/// Whether `newest` says all that `old` does, which came before it.
fn is_superfluous(old: &Item, newest: &Item) -> bool {
    let is_later = newest.ack.wrapping_sub(old.ack).cast_signed() > 0;
    let is_same = newest.ack == old.ack;
    match (old.role.kind(), newest.role.kind()) {
        (Role::ACK, Role::ACK) => is_later,
        // Receivers report what they reported last once more, so that a later one has it all.
        (Role::ACK | Role::SELECTIVE_ACK, Role::SELECTIVE_ACK) => is_later || is_same,
        _ => false,
    }
}

/// What is counted of a packet with these parameters: bytes beside the IP packet, the least size,
/// and 1 for ATM's cells or 2 for PTM's; nothing where it is counted as the path does.
pub fn framing(params: &Params) -> Option<(i64, u32, u32)> {
    framing_of(params).map(|framing| (framing.overhead, framing.least, framing.cells as u32))
}

fn framing_of(params: &Params) -> Option<Framing> {
    let overhead = params.int("overhead");
    let least = u32::try_from(params.bytes("mpu")).unwrap_or(u32::MAX);
    let cells = params.text("cells");
    let link = Framing::of_link(params.text("link"));
    if link.is_none() && overhead == 0 && least == 0 && cells == "link" {
        return None;
    }
    let link = link.unwrap_or(Framing {
        overhead: 0,
        least: 0,
        cells: Cells::None,
    });
    Some(Framing {
        overhead: link.overhead + overhead,
        least: if least > 0 { least } else { link.least },
        cells: match cells {
            "noatm" => Cells::None,
            "atm" => Cells::Atm,
            "ptm" => Cells::Ptm,
            _ => link.cells,
        },
    })
}

impl Discipline for Cake {
    fn enqueue(
        &mut self,
        now: Time,
        mut item: Item,
        _rng: &mut Rng,
        dropped: &mut dyn FnMut(Item, Drop),
    ) {
        item.enqueued = now;
        let at = usize::from(self.tin_of[usize::from(item.dscp & 63)]);
        // What an idle time has left of the schedule is not made up for.
        if self.packets.waiting() == 0
            && let Some(shaper) = &mut self.shaper
        {
            shaper.next = shaper.next.max(now);
        }
        let tin = &mut self.tins[at];
        if tin.waiting == 0
            && let Some(pace) = &mut tin.pace
        {
            pace.next = pace.next.max(now);
        }
        let place = tin.place(&item, self.isolation);
        let flow = &mut tin.flows[place as usize];
        flow.bytes += u64::from(item.bytes);
        tin.waiting += 1;
        self.packets.push(&mut flow.chain, item);
        tin.list(now, place, self.isolation);
        if self.ack_filter != AckFilter::Off
            && item.role.kind() != Role::OTHER
            && let Some(ack) = self.filter(at, place, &item)
        {
            self.bands[at].dropped(Drop::Early);
            if self.is_ingress {
                let bytes = self.counted(&ack);
                self.spend(now, at, bytes);
            }
            dropped(ack, Drop::Early);
        }
        while self.is_over() && self.packets.waiting() > 0 {
            self.drop_from_longest(now, dropped);
        }
    }

    fn dequeue(
        &mut self,
        now: Time,
        rng: &mut Rng,
        dropped: &mut dyn FnMut(Item, Drop),
    ) -> Option<Item> {
        while self.packets.waiting() > 0 {
            if self.shaper.is_some_and(|shaper| shaper.next > now) {
                return None;
            }
            let at = self.choose(now);
            let Some((place, is_sparse)) = self.tins[at].next(self.isolation) else {
                debug_assert!(false, "a tin that is chosen has flows");
                return None;
            };
            let Some(mut item) = self.pop(at, place) else {
                self.tins[at].unlist(place, is_sparse, self.isolation);
                continue;
            };
            let tin = &mut self.tins[at];
            let flow = &mut tin.flows[place as usize];
            let delay = now.saturating_since(item.enqueued);
            let crowd = if self.is_ingress { tin.bulk_flows } else { 0 };
            let seen = (delay, item.is_ecn_capable());
            let verdict = flow.law.judge(now, seen, crowd, &tin.settings, rng);
            // The last packet of a queue may be marked, but is not dropped.
            let is_last = flow.chain.is_empty();
            let is_lost = match verdict {
                Verdict::Pass => false,
                Verdict::Signal => !item.mark(),
                Verdict::Drop => true,
            };
            let is_lost = is_lost && !is_last;
            if is_lost {
                self.bands[at].dropped(Drop::Early);
            }
            if !is_lost || self.is_ingress {
                let bytes = self.counted(&item);
                let spent = bytes as i64;
                let tin = &mut self.tins[at];
                tin.flows[place as usize].deficit -= spent * PART;
                tin.credit -= spent;
                self.spend(now, at, bytes);
            }
            if is_lost {
                dropped(item, Drop::Early);
                continue;
            }
            self.bands[at].sent(now, &item);
            return Some(item);
        }
        None
    }

    fn packets(&self) -> u32 {
        self.packets.waiting()
    }

    fn bytes(&self) -> u64 {
        self.packets.bytes()
    }

    fn ready_at(&self) -> Time {
        self.shaper.map_or(Time::ZERO, |shaper| shaper.next)
    }

    fn classifies(&self) -> bool {
        true
    }

    fn bands(&self) -> &[Band] {
        &self.bands
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::tests::{FACTS, item, params};
    use trammel_core::entry::Value;

    fn cake(given: &[(&str, &str)]) -> Cake {
        limited(given, 10_240)
    }

    fn limited(given: &[(&str, &str)], limit_packets: u32) -> Cake {
        let given: Vec<(&str, Value)> = given
            .iter()
            .map(|(key, text)| (*key, Value::Text((*text).to_owned())))
            .collect();
        let facts = LinkFacts {
            limit_packets,
            ..FACTS
        };
        Cake::new(&params(&ENTRY, &given), &facts).expect("possible")
    }

    fn offer(cake: &mut Cake, now: Time, packet: Item, count: u32) -> Vec<Item> {
        let mut lost = Vec::new();
        for _ in 0..count {
            cake.enqueue(now, packet, &mut Rng::new(1, ""), &mut |item, _| {
                lost.push(item);
            });
        }
        lost
    }

    fn serve(cake: &mut Cake, now: Time, count: usize) -> Vec<Item> {
        let mut rng = Rng::new(1, "");
        std::iter::from_fn(|| cake.dequeue(now, &mut rng, &mut |_, _| {}))
            .take(count)
            .collect()
    }

    fn of(flow: u32) -> Item {
        Item { flow, ..item(0) }
    }

    /// Keeps a backlog of `packets` while each is served in its time at `bandwidth`, and counts
    /// what was served by `key` in `count` packets.
    fn shares(cake: &mut Cake, packets: &[Item], count: usize, key: fn(&Item) -> u32) -> [u32; 4] {
        let mut served = [0; 4];
        let mut rng = Rng::new(1, "");
        let mut now = Time::ZERO;
        let mut waiting = vec![0_u32; packets.len()];
        for _ in 0..count {
            for (packet, waiting) in packets.iter().zip(&mut waiting) {
                while *waiting < 20 {
                    cake.enqueue(now, *packet, &mut rng, &mut |_, _| {});
                    *waiting += 1;
                }
            }
            now = now.max(cake.ready_at());
            let mut gone = Vec::new();
            let sent = cake.dequeue(now, &mut rng, &mut |item, _| gone.push(item));
            let sent = sent.expect("there is a backlog");
            served[key(&sent) as usize] += 1;
            for item in gone.iter().chain([&sent]) {
                let at = packets.iter().position(|packet| packet.id == item.id);
                waiting[at.expect("it was offered")] -= 1;
            }
        }
        served
    }

    #[test]
    fn the_shaper_keeps_its_rate_by_the_framing_of_the_link() {
        for (given, us) in [
            (vec![], 1200),
            (vec![("overhead", "44")], 1235),
            (vec![("link", "pppoe-llcsnap")], 1399),
            (vec![("link", "ethernet"), ("cells", "ptm")], 1250),
            (vec![("mpu", "2000 B")], 1600),
        ] {
            let mut all = vec![("bandwidth", "10 Mbit/s")];
            all.extend(given.iter().copied());
            let mut cake = cake(&all);
            offer(&mut cake, Time::ZERO, of(1), 3);
            assert_eq!(serve(&mut cake, Time::ZERO, 9).len(), 1);
            assert_eq!(cake.ready_at().as_us(), us, "{given:?}");
            let at = cake.ready_at();
            assert!(serve(&mut cake, at - Span::from_us(1), 9).is_empty());
            assert_eq!(serve(&mut cake, at, 9).len(), 1);
        }
    }

    #[test]
    fn no_burst_follows_an_idle_time() {
        let mut cake = cake(&[("bandwidth", "10 Mbit/s")]);
        offer(&mut cake, Time::from_secs(1), of(1), 5);
        assert_eq!(serve(&mut cake, Time::from_secs(1), 9).len(), 1);
    }

    #[test]
    fn flows_take_turns_and_sparse_ones_go_first() {
        let mut cake = cake(&[]);
        offer(&mut cake, Time::ZERO, of(1), 5);
        offer(&mut cake, Time::ZERO, of(2), 5);
        // A turn is 1514 bytes, so that the first one leaves a rest.
        let flows = |items: Vec<Item>| items.iter().map(|item| item.flow).collect::<Vec<_>>();
        let first = flows(serve(&mut cake, Time::ZERO, 8));
        assert_eq!(first.iter().filter(|flow| **flow == 1).count(), 4);
        offer(&mut cake, Time::ZERO, of(3), 1);
        assert_eq!(flows(serve(&mut cake, Time::ZERO, 1)), [3]);
    }

    #[test]
    fn isolation_shares_among_hosts_before_flows() {
        // Three flows from host 1 to host 7, one from host 2 to host 8.
        let packets: Vec<Item> = [(1, 7), (1, 7), (1, 7), (2, 8)]
            .into_iter()
            .enumerate()
            .map(|(n, (source, destination))| Item {
                id: n as u32,
                flow: n as u32,
                source,
                destination,
                ..item(0)
            })
            .collect();
        for (isolation, lone) in [
            ("flows", 0.25),
            ("hosts", 0.5),
            ("srchost", 0.5),
            ("dsthost", 0.5),
            ("dual-srchost", 0.5),
            ("dual-dsthost", 0.5),
            ("triple-isolate", 0.5),
        ] {
            let mut cake = cake(&[("isolation", isolation)]);
            let served = shares(&mut cake, &packets, 4000, |item| u32::from(item.source) - 1);
            let share = f64::from(served[1]) / 4000.0;
            assert!((share - lone).abs() < 0.01, "{isolation}: {share}");
        }
    }

    #[test]
    fn tins_that_keep_their_part_go_first() {
        let with = |id: u32, dscp: u8| Item {
            id,
            flow: id,
            dscp,
            ..item(0)
        };
        let mut cake = cake(&[("bandwidth", "100 Mbit/s"), ("diffserv", "diffserv4")]);
        let packets = [with(0, 0), with(1, 8), with(2, 34), with(3, 46)];
        let served = shares(&mut cake, &packets, 8000, |item| item.id);
        let share = served.map(|count| f64::from(count) / 8000.0);
        // Bulk has a sixteenth, video a half, voice a quarter, and the rest is best effort.
        for (got, wanted) in share.into_iter().zip([0.1875, 0.0625, 0.5, 0.25]) {
            assert!((got - wanted).abs() < 0.02, "{share:?}");
        }
        let names: Vec<&str> = cake.bands().iter().map(|band| band.name).collect();
        assert_eq!(names, ["besteffort", "bulk", "video", "voice"]);
        assert!(cake.bands().iter().all(|band| band.sent_pkts > 100));
    }

    #[test]
    fn tins_without_a_bandwidth_take_turns_by_weight() {
        let with = |id: u32, dscp: u8| Item {
            id,
            flow: id,
            dscp,
            ..item(0)
        };
        let mut cake = cake(&[]);
        let packets = [with(0, 0), with(1, 8), with(2, 46)];
        let served = shares(&mut cake, &packets, 21_000, |item| item.id);
        let share = served.map(|count| f64::from(count) / 21_000.0);
        // 1024, 64 and 256 of 1344.
        for (got, wanted) in share.into_iter().zip([0.762, 0.048, 0.190, 0.0]) {
            assert!((got - wanted).abs() < 0.02, "{share:?}");
        }
    }

    #[test]
    fn codepoints_go_to_the_tins_of_the_manual() {
        let tin = |mode: &str, dscp: u8| tins_of(mode).1[usize::from(dscp)];
        // CS0, LE, CS1, AF41, CS5, EF, CS6.
        let seven = [0, 1, 8, 34, 40, 46, 48];
        let of = |mode: &str| seven.map(|dscp| tin(mode, dscp));
        assert_eq!(of("besteffort"), [0; 7]);
        assert_eq!(of("diffserv3"), [0, 1, 1, 0, 0, 2, 2]);
        assert_eq!(of("diffserv4"), [0, 1, 1, 2, 3, 3, 3]);
        assert_eq!(of("diffserv8"), [2, 0, 1, 3, 6, 6, 7]);
        assert_eq!(of("precedence"), [0, 0, 1, 4, 5, 5, 6]);
    }

    #[test]
    fn the_law_signals_the_flow_that_stands_and_no_other() {
        let mut cake = cake(&[]);
        let mut rng = Rng::new(1, "");
        let mut marks = [0; 3];
        for ms in 0..3000 {
            let now = Time::from_ms(ms);
            while cake.packets() < 60 {
                offer(&mut cake, now, of(1), 1);
            }
            if ms % 10 == 0 {
                offer(&mut cake, now, of(2), 1);
            }
            let sent = cake.dequeue(now, &mut rng, &mut |_, _| panic!("marks do"));
            let sent = sent.expect("flow 1 always waits");
            marks[sent.flow as usize] += u32::from(sent.marked);
        }
        assert!(marks[1] > 20 && marks[2] == 0, "{marks:?}");
    }

    #[test]
    fn the_longest_queue_pays_for_the_overflow_from_its_head() {
        let mut cake = limited(&[("memlimit", "10 MB")], 100);
        for id in 0..90 {
            let packet = Item { id, ..of(1) };
            assert!(offer(&mut cake, Time::ZERO, packet, 1).is_empty());
        }
        offer(&mut cake, Time::ZERO, of(2), 10);
        let lost = offer(&mut cake, Time::ZERO, of(2), 3);
        let lost: Vec<_> = lost.iter().map(|item| (item.flow, item.id)).collect();
        assert_eq!(lost, [(1, 0), (1, 1), (1, 2)]);
    }

    #[test]
    fn memory_is_limited_with_what_a_kernel_keeps() {
        let mut cake = cake(&[("memlimit", "22680 B")]);
        assert!(offer(&mut cake, Time::ZERO, of(1), 10).is_empty());
        assert_eq!(offer(&mut cake, Time::ZERO, of(1), 1).len(), 1);
    }

    /// Numbers of the ACKs that are left of those that came, as their roles and numbers say.
    fn left(filter: &str, acks: &[(Role, u32)]) -> Vec<u32> {
        let mut cake = cake(&[("ack_filter", filter)]);
        for (role, ack) in acks {
            let packet = Item {
                bytes: 52,
                ack: *ack,
                role: *role,
                ..of(1)
            };
            offer(&mut cake, Time::ZERO, packet, 1);
        }
        let left = serve(&mut cake, Time::ZERO, 99);
        assert_eq!((cake.packets(), cake.bytes()), (0, 0));
        left.iter().map(|item| item.ack).collect()
    }

    #[test]
    fn the_ack_filter_drops_what_later_acks_say_too() {
        let (ack, other, selective) = (Role::ACK, Role::OTHER, Role::SELECTIVE_ACK);
        let acks = [(ack, 1), (ack, 2), (ack, 3), (ack, 4)];
        assert_eq!(left("no-ack-filter", &acks), [1, 2, 3, 4]);
        // The oldest goes once two are superfluous.
        assert_eq!(left("ack-filter", &acks), [3, 4]);
        assert_eq!(left("ack-filter-aggressive", &acks), [4]);
        // Duplicate ACKs stay, and so do data, and what was selectively acknowledged.
        let kept = [(ack, 7), (ack, 7), (other, 8), (selective, 7), (ack, 7)];
        assert_eq!(left("ack-filter", &kept).len(), 4);
        let blocks = [(selective, 7), (ack, 9), (ack, 9), (ack, 9)];
        assert_eq!(left("ack-filter-aggressive", &blocks), [7, 9, 9, 9]);
        // Across the end of the numbers.
        let around = [(ack, u32::MAX), (ack, 0), (ack, 1)];
        assert_eq!(left("ack-filter", &around), [0, 1]);
    }

    #[test]
    fn the_ack_filter_keeps_what_flags_say() {
        let ece = |ack| (Role::ACK.with_echo(true, false), ack);
        let plain = |ack| (Role::ACK, ack);
        // All alike: as without flags.
        let alike = [ece(1), ece(2), ece(3), ece(4)];
        assert_eq!(left("ack-filter", &alike), [3, 4]);
        assert_eq!(left("ack-filter-aggressive", &alike), [4]);
        // One of each run stays.
        let runs = [plain(1), plain(2), ece(3), ece(4), plain(5)];
        assert_eq!(left("ack-filter", &runs), [2, 4, 5]);
        let change = [plain(1), ece(2)];
        assert_eq!(left("ack-filter-aggressive", &change), [1, 2]);
        // Data between them says by its flags that they have changed.
        let data = (Role::OTHER.with_echo(true, false), 0);
        let between = [plain(1), data, plain(2), plain(3)];
        assert_eq!(left("ack-filter", &between), [1, 0, 2, 3]);
    }

    #[test]
    fn a_round_trip_too_short_for_a_target_is_refused() {
        let given = [("rtt", Value::Text("1 us".to_owned()))];
        let refused = Cake::new(&params(&ENTRY, &given), &FACTS).expect_err("too short");
        assert!(refused.contains("20 us"), "{refused}");
    }
}
