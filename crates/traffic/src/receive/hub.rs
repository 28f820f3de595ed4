//! The flows that a receiver has open, and what came of each.

use super::seen::Seen;
use crate::record::{LoggedFlow, MOST_FLOWS, MOST_SEQUENCE, Record};
use crate::signal::message::Count;
use crate::stamp::Stamp;
use crate::stream::Meter;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use trammel_io::clock::wall_ns;

/// Flows of one peer that are open at once, at most.
const MOST_OF_PEER: usize = 1 << 16;

/// Takes what is received: a log, a decoder, or nothing.
pub trait Sink: Send {
    /// A flow is open.
    fn flow(&mut self, flow: &LoggedFlow);
    /// A packet came.
    fn record(&mut self, record: &Record);
    /// A flow is closed; what has been taken by now should be safe from what happens next.
    fn closed(&mut self, flow: u32, received: Count, sent: Option<Count>);
    /// A test of the path that `from` asked for is over; `what` says what it was.
    fn tested(&mut self, from: SocketAddr, what: &str) {
        let _ = (from, what);
    }
    /// Nothing more is received at a port, because of an error of this machine.
    fn port_failed(&mut self, port: &str, why: &io::Error) {
        let _ = (port, why);
    }
}

/// A flow that is open.
#[derive(Debug)]
struct Open {
    /// Who may send to it; a key alone cannot tell, since packets carry none.
    peer: IpAddr,
    meter: Meter,
    count: Count,
    /// Which packets came: further copies are counted apart.
    seen: Seen,
    /// When something of it came, or else when it was opened; nanoseconds since 1970.
    last_ns: i64,
    /// Connections that its packets come on, and whether there was ever one.
    connections: usize,
    was_connected: bool,
}

/// The connections that the packets of a flow come on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connections {
    /// There was none yet.
    None,
    /// There is one.
    Open,
    /// There is none any more: they were read to their ends.
    Ended,
}

/// How far an open flow is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// What came of it.
    pub count: Count,
    /// When something of it came, be it a part of a packet, or else when it was opened; nanoseconds
    /// since 1970.
    pub last_ns: i64,
    /// What it comes on, where that is connections.
    pub connections: Connections,
}

/// All of them.
pub struct Hub {
    flows: BTreeMap<u32, Open>,
    /// How many flows a peer has open.
    peers: BTreeMap<IpAddr, usize>,
    next: u32,
    sink: Box<dyn Sink>,
    /// Packets that belong to no open flow.
    foreign: u64,
    has_opened: bool,
}

impl fmt::Debug for Hub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hub")
            .field("flows", &self.flows)
            .field("foreign", &self.foreign)
            .finish_non_exhaustive()
    }
}

impl Hub {
    /// No flows yet.
    pub fn new(sink: Box<dyn Sink>) -> Hub {
        Hub {
            flows: BTreeMap::new(),
            peers: BTreeMap::new(),
            next: 0,
            sink,
            foreign: 0,
            has_opened: false,
        }
    }

    /// Opens a flow of packets from `peer`; gives its number, or none where all are taken, or all
    /// that one peer may have.
    pub fn open(
        &mut self,
        peer: IpAddr,
        meter: Meter,
        about: impl FnOnce(u32) -> LoggedFlow,
    ) -> Option<u32> {
        let its = self.peers.get(&peer).copied().unwrap_or(0);
        if self.flows.len() as u32 >= MOST_FLOWS - 1 || its >= MOST_OF_PEER {
            return None;
        }
        while self.flows.contains_key(&self.next) {
            self.next = (self.next + 1) % (MOST_FLOWS - 1);
        }
        let number = self.next;
        self.next = (self.next + 1) % (MOST_FLOWS - 1);
        let count = Count::default();
        let open = Open {
            peer,
            meter,
            count,
            seen: Seen::new(),
            last_ns: wall_ns(),
            connections: 0,
            was_connected: false,
        };
        self.has_opened = true;
        self.flows.insert(number, open);
        *self.peers.entry(peer).or_default() += 1;
        self.sink.flow(&about(number));
        Some(number)
    }

    /// Notes a packet of `bytes` that came from `from` at `time_ns`. Says what is to be measured of
    /// it; none where it belongs to no flow.
    pub fn note(
        &mut self,
        stamp: Option<Stamp>,
        from: Option<IpAddr>,
        bytes: usize,
        time_ns: i64,
    ) -> Option<Meter> {
        let open = stamp.and_then(|stamp| self.flows.get_mut(&stamp.flow));
        let open = open.filter(|open| from.is_none_or(|from| from.to_canonical() == open.peer));
        let (Some(stamp), Some(open)) = (stamp, open) else {
            self.foreign += 1;
            return None;
        };
        if open.seen.is_first(stamp.sequence % MOST_SEQUENCE) {
            open.count.packets += 1;
            open.count.bytes += bytes as u64;
        } else {
            open.count.duplicates += 1;
        }
        open.last_ns = time_ns;
        let meter = open.meter;
        self.sink.record(&Record {
            flow: stamp.flow,
            sequence: stamp.sequence % MOST_SEQUENCE,
            bytes: bytes as u32,
            start_ns: stamp.sent_ns,
            end_ns: time_ns,
        });
        Some(meter)
    }

    /// Notes what belongs to no open flow, and is no packet.
    pub fn stray(&mut self) {
        self.foreign += 1;
    }

    /// Whether any flow was ever opened.
    pub(crate) fn has_opened(&self) -> bool {
        self.has_opened
    }

    /// What came of an open flow by now.
    pub fn count(&self, number: u32) -> Option<Count> {
        self.flows.get(&number).map(|open| open.count)
    }

    /// How far an open flow is.
    pub fn progress(&self, number: u32) -> Option<Progress> {
        self.flows.get(&number).map(|open| Progress {
            count: open.count,
            last_ns: open.last_ns,
            connections: match (open.connections, open.was_connected) {
                (0, false) => Connections::None,
                (0, true) => Connections::Ended,
                _ => Connections::Open,
            },
        })
    }

    /// Whether a flow is open, and of packets from `from`.
    pub fn is_of(&self, number: u32, from: IpAddr) -> bool {
        let open = self.flows.get(&number);
        open.is_some_and(|open| open.peer == from.to_canonical())
    }

    /// Whether any flow of packets from `from` is open.
    pub fn knows(&self, from: IpAddr) -> bool {
        self.peers.contains_key(&from.to_canonical())
    }

    /// Packets of a flow come on one more connection.
    pub fn connect(&mut self, number: u32) {
        if let Some(open) = self.flows.get_mut(&number) {
            open.connections += 1;
            open.was_connected = true;
        }
    }

    /// One of its connections was read to its end.
    pub(crate) fn disconnect(&mut self, number: u32) {
        if let Some(open) = self.flows.get_mut(&number) {
            open.connections = open.connections.saturating_sub(1);
        }
    }

    /// A part of a packet of a flow came at `time_ns`.
    pub(crate) fn stir(&mut self, number: u32, time_ns: i64) {
        if let Some(open) = self.flows.get_mut(&number) {
            open.last_ns = time_ns;
        }
    }

    /// Closes a flow; its port lost these packets meanwhile, and its sender says what it sent, if
    /// it still could.
    pub fn close(
        &mut self,
        number: u32,
        (lost, unattributed): (u64, u64),
        sent: Option<Count>,
    ) -> Option<Count> {
        let open = self.flows.remove(&number)?;
        if let Some(left) = self.peers.get_mut(&open.peer) {
            *left -= 1;
            if *left == 0 {
                self.peers.remove(&open.peer);
            }
        }
        let count = Count {
            lost,
            unattributed,
            ..open.count
        };
        self.sink.closed(number, count, sent);
        Some(count)
    }

    /// A test of the path is over.
    pub fn tested(&mut self, from: SocketAddr, what: &str) {
        self.sink.tested(from, what);
    }

    /// Nothing more is received at `port`.
    pub fn port_failed(&mut self, port: &str, why: &io::Error) {
        self.sink.port_failed(port, why);
    }

    /// Packets that belonged to no open flow.
    pub fn foreign(&self) -> u64 {
        self.foreign
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Protocol;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<String>>>);

    impl Sink for Kept {
        fn flow(&mut self, flow: &LoggedFlow) {
            let mut kept = self
                .0
                .lock()
                .expect("no thread panics while it holds the lock");
            kept.push(format!("flow {}", flow.number));
        }

        fn record(&mut self, record: &Record) {
            let mut kept = self
                .0
                .lock()
                .expect("no thread panics while it holds the lock");
            kept.push(format!(
                "{} {} {}",
                record.flow, record.sequence, record.bytes
            ));
        }

        fn closed(&mut self, flow: u32, received: Count, sent: Option<Count>) {
            let mut kept = self
                .0
                .lock()
                .expect("no thread panics while it holds the lock");
            let sent = sent.map(|sent| sent.packets);
            kept.push(format!("closed {flow} {} {sent:?}", received.packets));
        }
    }

    fn flow(number: u32) -> LoggedFlow {
        LoggedFlow {
            number,
            protocol: Protocol::Udp,
            from: None,
            to: None,
            name: String::new(),
        }
    }

    #[test]
    fn packets_of_nobody_or_from_elsewhere_are_foreign() {
        let kept = Kept::default();
        let mut hub = Hub::new(Box::new(kept.clone()));
        let (peer, other): (IpAddr, IpAddr) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        let number = hub.open(peer, Meter::OneWay, flow).expect("there is room");
        let stamp = Stamp {
            flow: number,
            sequence: 5,
            sent_ns: 1,
        };
        let mapped: IpAddr = "::ffff:10.0.0.1"
            .parse()
            .expect("the address is well formed");
        assert_eq!(
            hub.note(Some(stamp), Some(mapped), 16, 2),
            Some(Meter::OneWay)
        );
        assert_eq!(hub.note(Some(stamp), Some(other), 16, 2), None);
        assert_eq!(hub.note(None, Some(peer), 3, 2), None);
        let elsewhere = Stamp { flow: 77, ..stamp };
        assert_eq!(hub.note(Some(elsewhere), Some(peer), 16, 2), None);
        assert_eq!(hub.foreign(), 3);
        let count = hub.close(number, (4, 0), None).expect("it is open");
        assert_eq!((count.packets, count.bytes, count.lost), (1, 16, 4));
        assert_eq!(hub.note(Some(stamp), Some(peer), 16, 2), None);
        assert!(!hub.knows(peer));
        assert_eq!(hub.close(number, (0, 0), None), None);
        assert_ne!(hub.open(peer, Meter::OneWay, flow), Some(number));
        let kept = kept
            .0
            .lock()
            .expect("no thread panics while it holds the lock");
        assert_eq!(kept[..3], ["flow 0", "0 5 16", "closed 0 1 None"]);
    }
}
