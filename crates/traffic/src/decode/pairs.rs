//! The clocks of pairs of hosts, from the one-way delays of all flows between them.
//!
//! A pair is two addresses, as flows are described; where both are the same host has one clock and
//! there is nothing to estimate, and where one is not told there is no pair. Flows in the other
//! direction, of any session, tell the offset apart from the least delay ([`Clock::of_both_ways`]):
//! decode the logs of the receivers at both ends together.

use super::clock::{Clock, Envelope};
use crate::log::Entry;
use crate::record::{Instants, LoggedFlow, Record};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The sending host and the receiving one.
pub type Pair = (IpAddr, IpAddr);

/// The most pairs whose clocks are estimated, of 70 KB each.
const MOST_PAIRS: usize = 512;
/// The most flows whose pairs are remembered.
const MOST_FLOWS: usize = 1 << 17;

/// The hosts of a flow, if they are told and two.
pub fn pair(flow: &LoggedFlow) -> Option<Pair> {
    let of = |end: Option<std::net::SocketAddr>| {
        let ip = end?.ip().to_canonical();
        (!ip.is_unspecified()).then_some(ip)
    };
    let (from, to) = (of(flow.from)?, of(flow.to)?);
    // All loopback addresses are of one host.
    (from != to && !(from.is_loopback() && to.is_loopback())).then_some((from, to))
}

/// What the packets of one direction tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairReport {
    /// The hosts.
    pub pair: Pair,
    /// Packets.
    pub pkts: u64,
    /// How many of them came before they were sent, by the two clocks: proof that these differ.
    pub negative_pkts: u64,
    /// How far the receiver's clock is ahead; `None` of fewer than two sending times.
    pub clock: Option<Clock>,
}

/// One direction.
#[derive(Debug, Default)]
struct Direction {
    envelope: Envelope,
    negative: u64,
}

/// Takes in the entries of logs and makes the clocks of them.
#[derive(Debug, Default)]
pub struct Pairs {
    /// Which session it is, and whether its records hold one-way delays.
    session: (u64, bool),
    /// By session and number.
    flows: BTreeMap<(u64, u32), Pair>,
    directions: BTreeMap<Pair, Direction>,
    /// The flow of the record before, mostly that of the next one.
    recent: Option<((u64, u32), Option<Pair>)>,
}

impl Pairs {
    /// Nothing taken in yet.
    pub fn new() -> Pairs {
        Pairs::default()
    }

    /// Takes in an entry of a log.
    pub fn entry(&mut self, entry: &Entry) {
        match entry {
            Entry::Session(session) => {
                let is_one_way = session.instants == Instants::SentReceived;
                self.session = (self.session.0 + 1, is_one_way);
            }
            Entry::Flow(flow) => {
                if let Some(pair) = pair(flow)
                    && self.flows.len() < MOST_FLOWS
                {
                    self.flows.insert((self.session.0, flow.number), pair);
                    self.recent = None;
                }
            }
            Entry::Sent { .. } => {}
            Entry::Record(record) => self.record(record),
        }
    }

    fn record(&mut self, record: &Record) {
        let (session, is_one_way) = self.session;
        if !is_one_way {
            return;
        }
        let key = (session, record.flow);
        let pair = match self.recent {
            Some((recent, pair)) if recent == key => pair,
            _ => {
                let pair = self.flows.get(&key).copied();
                self.recent = Some((key, pair));
                pair
            }
        };
        let Some(pair) = pair else { return };
        let has_room = self.directions.len() < MOST_PAIRS;
        let direction = match self.directions.entry(pair) {
            std::collections::btree_map::Entry::Vacant(place) if has_room => {
                place.insert(Direction::default())
            }
            std::collections::btree_map::Entry::Vacant(_) => return,
            std::collections::btree_map::Entry::Occupied(place) => place.into_mut(),
        };
        let delay = record.end_ns.saturating_sub(record.start_ns);
        direction.negative += u64::from(delay < 0);
        direction.envelope.push(record.start_ns, delay);
    }

    /// The directions, in the order of their addresses.
    pub fn finish(&self) -> Vec<PairReport> {
        let of = |(pair, direction): (&Pair, &Direction)| {
            let forward = &direction.envelope;
            let back = self.directions.get(&(pair.1, pair.0));
            let both = back.and_then(|back| Clock::of_both_ways(forward, &back.envelope));
            PairReport {
                pair: *pair,
                pkts: forward.packets(),
                negative_pkts: direction.negative,
                clock: both.or_else(|| Clock::of_one_way(forward)),
            }
        };
        self.directions.iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Session;
    use crate::record::Protocol;
    use trammel_core::rng::Rng;

    const SECOND: i64 = 1_000_000_000;
    const START: i64 = 1_800_000_000 * SECOND;

    /// The log of a receiver: packets every 10 ms for 100 s over a path of 2 ms and a queue of 1 ms
    /// in the mean; its clock is ahead by `offset` and gains `drift`.
    fn log(seed: u64, (from, to): (&str, &str), offset: f64, drift: f64) -> Vec<Entry> {
        let mut rng = Rng::new(seed, "a pair");
        let session = Session {
            instants: Instants::SentReceived,
            date_ns: 0,
            host: String::new(),
            clock: String::new(),
            program: String::new(),
            seed,
        };
        let flow = LoggedFlow {
            number: 3,
            protocol: Protocol::Udp,
            from: Some(from.parse().unwrap()),
            to: Some(to.parse().unwrap()),
            name: String::new(),
        };
        let mut entries = vec![Entry::Session(session), Entry::Flow(flow)];
        for sequence in 0..10_000 {
            let since = sequence as i64 * SECOND / 100;
            let queue = -1e6 * ((rng.below(1 << 40) + 1) as f64 / (1_u64 << 40) as f64).ln();
            let start_ns = START + since;
            entries.push(Entry::Record(Record {
                flow: 3,
                sequence,
                bytes: 100,
                start_ns,
                end_ns: start_ns + (2e6 + queue + offset + drift * since as f64) as i64,
            }));
        }
        entries
    }

    fn take(pairs: &mut Pairs, log: &[Entry]) {
        for entry in log {
            pairs.entry(entry);
        }
    }

    const A: &str = "192.0.2.1:9";
    const B: &str = "192.0.2.2:9";

    #[test]
    fn the_logs_of_both_ends_tell_the_offset_of_one_the_drift_only() {
        let (offset, drift) = (-7e9, 2e-5);
        let mut pairs = Pairs::new();
        take(&mut pairs, &log(1, (A, B), offset, drift));
        let [one] = pairs.finish()[..] else { panic!() };
        assert_eq!((one.pkts, one.negative_pkts), (10_000, 10_000));
        let clock = one.clock.unwrap();
        assert_eq!(clock.offset_bound_ns, None);
        assert!((clock.drift - drift).abs() < 2.0 * clock.drift_uncertainty.unwrap());
        // The other's log: sending times by a clock that is 7 s behind do not matter to 20 ppm.
        take(&mut pairs, &log(2, (B, A), -offset, -drift));
        let [there, back] = pairs.finish()[..] else {
            panic!()
        };
        assert_eq!((there.negative_pkts, back.negative_pkts), (10_000, 0));
        for (report, offset, drift) in [(there, offset, drift), (back, -offset, -drift)] {
            let clock = report.clock.unwrap();
            let truth = offset + drift * (clock.at_ns - START) as f64;
            let bound = clock.offset_bound_ns.unwrap();
            // Half the round trip is 2 ms and what the least of queues adds; times are off by 7 s
            // times 20 ppm.
            assert!((1.9e6..2.2e6).contains(&bound), "{bound}");
            assert!((clock.offset_ns - truth).abs() < bound, "{clock:?} {truth}");
            assert!((clock.drift - drift).abs() < 2.0 * clock.drift_uncertainty.unwrap());
        }
    }

    #[test]
    fn one_host_has_one_clock_and_an_untold_one_none() {
        for ends in [
            (A, A),
            ("127.0.0.1:1", "127.0.0.2:2"),
            (A, "0.0.0.0:9"),
            ("[::ffff:192.0.2.1]:9", A),
        ] {
            let mut pairs = Pairs::new();
            take(&mut pairs, &log(1, ends, 0.0, 0.0));
            assert_eq!(pairs.finish(), [], "{ends:?}");
        }
    }
}
