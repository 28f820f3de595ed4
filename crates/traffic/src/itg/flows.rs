//! The D-ITG flows that packets of one port may belong to, and how their packets are read.
//!
//! A flow is known by its sender's address and the number in the head of each payload; packets
//! without a head (`-p 2`) belong to the only flow of their sender. Messages of TCP tell their
//! length, but for `-p 2`, where nothing tells one from the next: what is read at a time counts as
//! a packet.

use super::command::Metadata;
use super::framing::Framing;
use super::icmp;
use super::line::{DAY_NS, Line};
use super::log_file::BinaryLog;
use super::signalling::{Head, flow_of};
use super::stamps;
use crate::receive::reads::{Claim, Messages, Reads};
use crate::record::Protocol;
use crate::stamp::Stamp;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is known of an open flow.
#[derive(Clone, Debug)]
pub struct Known {
    /// Its number at the hub.
    pub number: u32,
    /// What payloads begin with.
    pub metadata: Metadata,
    /// Where packets go to.
    pub to: SocketAddr,
    /// Logs in D-ITG's form that its packets are written to.
    pub logs: Vec<Arc<BinaryLog>>,
    /// Packets without a number that came.
    pub came: u64,
    /// Of ICMP, the type of its messages: that of the first, since the channel does not tell it. So
    /// the replies to them are not taken for packets where a host sends to itself.
    pub icmp_type: Option<u8>,
}

/// The flows of a port.
#[derive(Debug)]
pub struct Flows {
    protocol: Protocol,
    open: Mutex<BTreeMap<(IpAddr, u32), Known>>,
}

impl Flows {
    /// None yet.
    pub fn new(protocol: Protocol) -> Flows {
        Flows {
            protocol,
            open: Mutex::default(),
        }
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<(IpAddr, u32), Known>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether packets of one more flow from `peer` could be told from those of its others.
    pub fn has_room(&self, peer: IpAddr, flow: u32, metadata: Metadata) -> bool {
        let open = self.all();
        let mut others = open.range((peer, 0)..=(peer, u32::MAX)).map(|(_, one)| one);
        if metadata == Metadata::None {
            return others.next().is_none();
        }
        !open.contains_key(&(peer, flow)) && others.all(|one| one.metadata != Metadata::None)
    }

    /// Packets of flow `flow` from `peer` are known from now on.
    pub fn open(&self, peer: IpAddr, flow: u32, known: Known) {
        self.all().insert((peer, flow), known);
    }

    /// Its packets are nobody's from now on.
    pub fn close(&self, peer: IpAddr, flow: u32) {
        if let Some(known) = self.all().remove(&(peer, flow)) {
            known.logs.iter().for_each(|log| log.flush());
        }
    }

    /// The flow of packets without a head, if `from` sends such.
    fn headless(&self, from: IpAddr) -> Option<u32> {
        let open = self.all();
        let mut its = open.range((from, 0)..=(from, u32::MAX));
        let ((_, flow), known) = its.next()?;
        (known.metadata == Metadata::None).then_some(*flow)
    }

    /// What the payload of a packet tells, which came as a datagram or as a message of ICMP of a
    /// type.
    fn payload(
        &self,
        payload: &[u8],
        from: SocketAddr,
        icmp_type: Option<u8>,
        time_ns: i64,
    ) -> Option<Stamp> {
        let peer = from.ip().to_canonical();
        let (flow, head) = match self.headless(peer) {
            Some(flow) => (flow, None),
            None => {
                let flow = flow_of(payload)?;
                let metadata = self.metadata(peer, flow)?;
                (flow, Some(Head::decode(payload, metadata, self.protocol)?))
            }
        };
        if let Some(kind) = icmp_type {
            let mut open = self.all();
            let known = open.get_mut(&(peer, flow))?;
            if *known.icmp_type.get_or_insert(kind) != kind {
                return None;
            }
        }
        self.note((flow, head), from, payload.len() as u32, time_ns)
    }

    fn metadata(&self, from: IpAddr, flow: u32) -> Option<Metadata> {
        self.all().get(&(from, flow)).map(|known| known.metadata)
    }

    /// Logs a packet of `bytes` with `head`, or without one, and gives its stamp for the hub.
    fn note(
        &self,
        (flow, head): (u32, Option<Head>),
        from: SocketAddr,
        bytes: u32,
        time_ns: i64,
    ) -> Option<Stamp> {
        let mut open = self.all();
        let known = open.get_mut(&(from.ip().to_canonical(), flow))?;
        let stamp = match &head {
            Some(head) => stamps::stamp(head, time_ns),
            None => {
                known.came += 1;
                Stamp {
                    flow,
                    sequence: known.came - 1,
                    sent_ns: time_ns,
                }
            }
        };
        let received_us = (time_ns.rem_euclid(DAY_NS) / 1000).unsigned_abs();
        if !known.logs.is_empty() {
            let line = Line {
                flow,
                sequence: head.map_or(0, |head| head.sequence),
                from: SocketAddr::new(from.ip().to_canonical(), from.port()),
                to: known.to,
                sent_us: head
                    .as_ref()
                    .and_then(stamps::sent_us)
                    .unwrap_or(received_us),
                received_us,
                bytes,
            };
            known.logs.iter().for_each(|log| log.line(&line));
        }
        Some(Stamp {
            flow: known.number,
            ..stamp
        })
    }
}

impl Reads for Flows {
    fn datagram(&self, payload: &[u8], from: SocketAddr, time_ns: i64) -> Option<Stamp> {
        self.payload(payload, from, None, time_ns)
    }

    fn message(&self, packet: &[u8], from: SocketAddr, time_ns: i64) -> Option<(Stamp, usize)> {
        let (kind, payload) = icmp::read(packet, from.is_ipv6())?;
        let stamp = self.payload(payload, from, Some(kind), time_ns)?;
        Some((stamp, payload.len()))
    }

    fn claim(&self, first: &[u8], from: SocketAddr) -> Claim {
        let peer = from.ip().to_canonical();
        if self.headless(peer).is_some() {
            return Claim::OfPeer;
        }
        let Some(flow) = flow_of(first) else {
            return Claim::Wait;
        };
        let number = self.all().get(&(peer, flow)).map(|known| known.number);
        number.map_or(Claim::Nobody, Claim::Of)
    }

    fn messages(&self, from: SocketAddr) -> Box<dyn Messages + '_> {
        Box::new(Stream {
            flows: self,
            from,
            framing: Framing::default(),
            flow: 0,
        })
    }
}

/// A connection of a flow.
struct Stream<'a> {
    flows: &'a Flows,
    from: SocketAddr,
    framing: Framing,
    flow: u32,
}

impl Messages for Stream<'_> {
    /// One connection may carry several.
    fn flow(&self) -> Option<u32> {
        None
    }

    fn next(&mut self, left: &mut &[u8], time_ns: i64) -> Option<(Stamp, u32)> {
        let peer = self.from.ip().to_canonical();
        if self.framing.is_between()
            && let Some(flow) = self.flows.headless(peer)
        {
            let bytes = u32::try_from(left.len()).ok().filter(|bytes| *bytes > 0)?;
            *left = &[];
            let stamp = self.flows.note((flow, None), self.from, bytes, time_ns)?;
            return Some((stamp, bytes));
        }
        let flows = self.flows;
        let head = self
            .framing
            .next(left, &|flow| flows.metadata(peer, flow))?;
        let bytes = head.bytes.unwrap_or(0);
        let stamp = self
            .flows
            .note((head.flow, Some(head)), self.from, bytes, time_ns);
        self.flow = head.flow;
        // Nobody's: a number that no flow has, so that the connection is given up.
        Some((
            stamp.unwrap_or_else(|| {
                stamps::stamp(
                    &Head {
                        flow: u32::MAX,
                        ..head
                    },
                    time_ns,
                )
            }),
            bytes,
        ))
    }

    fn is_wrong(&self) -> bool {
        self.framing.is_wrong
    }

    fn answer(&self, stamp: &Stamp, bytes: u32, into: &mut Vec<u8>) {
        let own = Stamp {
            flow: self.flow,
            ..*stamp
        };
        let at = into.len();
        into.resize(at + bytes as usize, 0);
        stamps::head(&own, bytes).encode(&mut into[at..], Metadata::Full, Protocol::Tcp);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn known(number: u32, metadata: Metadata) -> Known {
        Known {
            number,
            metadata,
            to: ([127, 0, 0, 1], 9).into(),
            logs: Vec::new(),
            came: 0,
            icmp_type: None,
        }
    }

    fn host(last: u8) -> SocketAddr {
        ([10, 0, 0, last], 5000).into()
    }

    #[test]
    fn flows_of_two_senders_with_one_number_are_told_apart() {
        let flows = Flows::new(Protocol::Udp);
        for last in 1..=2 {
            assert!(flows.has_room(host(last).ip(), 1, Metadata::Sequence));
            flows.open(
                host(last).ip(),
                1,
                known(70 + u32::from(last), Metadata::Sequence),
            );
        }
        assert!(!flows.has_room(host(1).ip(), 1, Metadata::Sequence));
        assert!(!flows.has_room(host(1).ip(), 2, Metadata::None));
        let payload = [0, 0, 0, 1, 0, 0, 0, 5, 9, 9];
        for last in 1..=2 {
            let stamp = flows
                .datagram(&payload, host(last), 77)
                .expect("a packet arrives");
            assert_eq!(
                (stamp.flow, stamp.sequence, stamp.sent_ns),
                (70 + u32::from(last), 4, 77)
            );
        }
        assert_eq!(flows.datagram(&payload, host(3), 77), None);
        assert_eq!(flows.datagram(&payload[..7], host(1), 77), None);
        flows.close(host(1).ip(), 1);
        assert_eq!(flows.datagram(&payload, host(1), 77), None);
    }

    #[test]
    fn packets_without_a_head_are_counted_as_they_come() {
        let flows = Flows::new(Protocol::Udp);
        flows.open(host(1).ip(), 4, known(7, Metadata::None));
        assert!(!flows.has_room(host(1).ip(), 5, Metadata::Full));
        for sequence in 0..3 {
            let stamp = flows.datagram(&[], host(1), 9).expect("a packet arrives");
            assert_eq!((stamp.flow, stamp.sequence), (7, sequence));
        }
    }

    proptest! {
        #[test]
        fn messages_are_found_however_their_bytes_are_cut(
            lengths in prop::collection::vec(20..60_u32, 0..8),
            cuts in prop::collection::vec(1..40_usize, 1..20),
        ) {
            let flows = Flows::new(Protocol::Tcp);
            flows.open(host(1).ip(), 3, known(11, Metadata::Full));
            let mut bytes = Vec::new();
            for (sequence, length) in (0..).zip(&lengths) {
                let at = bytes.len();
                bytes.resize(at + *length as usize, 0xaa);
                let stamp = Stamp { flow: 3, sequence, sent_ns: 5_000_000 };
                stamps::head(&stamp, *length).encode(
                    &mut bytes[at..], Metadata::Full, Protocol::Tcp
                );
            }
            let mut messages = flows.messages(host(1));
            let (mut left, mut cuts, mut found) = (
                bytes.as_slice(), cuts.iter().cycle(), Vec::new()
            );
            while !left.is_empty() {
                let count = cuts.next().map_or(1, |cut| (*cut).min(left.len()));
                let (mut part, rest) = left.split_at(count);
                left = rest;
                while let Some((stamp, length)) = messages.next(&mut part, 6_000_000) {
                    found.push((stamp.flow, stamp.sequence, stamp.sent_ns, length));
                }
            }
            let expected: Vec<_> = (0..).zip(&lengths).map(
                |(at, length)| (11, at, 5_000_000, *length)
            ).collect();
            prop_assert_eq!(found, expected);
            prop_assert!(!messages.is_wrong());
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(0_u8..4, 0..200), kind in 0..3) {
            let flows = Flows::new(Protocol::Tcp);
            let kind = [Metadata::Full, Metadata::Sequence, Metadata::None][kind as usize];
            flows.open(host(1).ip(), 0, known(11, kind));
            let mut messages = flows.messages(host(1));
            let mut left = bytes.as_slice();
            while messages.next(&mut left, 1).is_some() {}
            prop_assert!(left.is_empty());
        }
    }

    #[test]
    fn what_goes_back_is_as_long_as_what_came() {
        let flows = Flows::new(Protocol::Tcp);
        flows.open(host(1).ip(), 3, known(11, Metadata::Full));
        let mut bytes = vec![0; 100];
        let sent = Stamp {
            flow: 3,
            sequence: 41,
            sent_ns: 5_000_000,
        };
        stamps::head(&sent, 100).encode(&mut bytes, Metadata::Full, Protocol::Tcp);
        let mut messages = flows.messages(host(1));
        let (stamp, length) = messages
            .next(&mut bytes.as_slice(), 6_000_000)
            .expect("a message");
        let mut back = Vec::new();
        messages.answer(&stamp, length, &mut back);
        assert_eq!(back, bytes);
    }
}
