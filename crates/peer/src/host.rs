//! One address on a wire: connections by their four numbers, ports that listen, resets for all
//! others.
//!
//! Without I/O, as a connection is: frames come in by [`Host::on_frame`], go out by
//! [`Host::poll_transmit`] until there are no more, and [`Host::on_timer`] is due at
//! [`Host::next_timer`]. Time is an argument.
//!
//! A connection counts bytes and has none. What it sends is written here, and what it is sent is
//! checked, by place in the stream ([`pattern`]): each segment that arrives, also one that the
//! connection has no use for.

use crate::codec::{self, Arrival, LARGEST_FRAME, Refusal, Route};
use crate::neighbours::Neighbours;
use crate::pattern;
use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddrV4};
use trammel_core::rng::Rng;
use trammel_core::time::Time;
use trammel_packet::headers::ether::{Ether, ethertype};
use trammel_tcp::cc::CongestionControl;
use trammel_tcp::connection::{Connection, State};
use trammel_tcp::segment::{Flags, Segment};
use trammel_tcp::stack::Stack;

/// The first port for connections that the host opens (RFC 6335 §6: dynamic ports).
const FIRST_PORT: u16 = 49_152;
/// Resets that may wait for their receiver's Ethernet address; strays beyond them are not answered.
const MOST_RESETS: usize = 64;

/// How connections are made: the stack and the congestion control.
pub struct Maker {
    stack: Stack,
    build: Box<dyn Fn() -> Box<dyn CongestionControl> + Send>,
}

impl std::fmt::Debug for Maker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Maker")
            .field("stack", &self.stack)
            .finish_non_exhaustive()
    }
}

impl Maker {
    /// Connections with this stack, each with a congestion control of its own.
    ///
    /// # Panics
    /// Where segments of the stack's MSS do not fit a frame of [`LARGEST_FRAME`] bytes.
    pub fn new(
        stack: &Stack,
        build: impl Fn() -> Box<dyn CongestionControl> + Send + 'static,
    ) -> Maker {
        let frame = Ether::LEN + 40 + usize::from(stack.mss);
        assert!(frame <= LARGEST_FRAME, "frames of {frame} bytes");
        Maker {
            stack: stack.clone(),
            build: Box::new(build),
        }
    }
}

/// A connection of a [`Host`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowId(usize);

/// A connection on the wire.
#[derive(Debug)]
pub struct HostConnection {
    /// The connection itself.
    pub connection: Connection,
    local: SocketAddrV4,
    remote: SocketAddrV4,
    /// Sequence numbers of the first byte of what we send and of what comes, once their SYN is
    /// known.
    ours: Option<u32>,
    theirs: Option<u32>,
    wrong_bytes: u64,
}

impl HostConnection {
    /// Our address and port.
    pub fn local(&self) -> SocketAddrV4 {
        self.local
    }

    /// The peer's address and port.
    pub fn remote(&self) -> SocketAddrV4 {
        self.remote
    }

    /// Bytes that came and were not those of the [`pattern`].
    pub fn wrong_bytes(&self) -> u64 {
        self.wrong_bytes
    }
}

/// What a host counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments that came to a connection.
    pub segments_received: u64,
    /// Segments sent.
    pub segments_sent: u64,
    /// Packets of TCP refused as damaged: lengths, checksums, options.
    pub damaged: u64,
    /// Segments that came to no connection.
    pub strays: u64,
}

/// A host with one address. A connection that is closed stays, for what it has counted.
#[derive(Debug)]
pub struct Host {
    neighbours: Neighbours,
    seed: u64,
    flows: Vec<HostConnection>,
    /// By local port and remote address; a later connection takes the place of one that is closed.
    index: BTreeMap<(u16, SocketAddrV4), FlowId>,
    listening: BTreeMap<u16, Maker>,
    accepted: VecDeque<FlowId>,
    next_port: u16,
    /// Resets for segments of no connection: to whom, from which port, which segment.
    resets: VecDeque<(SocketAddrV4, u16, Segment)>,
    /// The connection whose turn it is to send.
    turn: usize,
    identification: u16,
    counters: Counters,
}

impl Host {
    /// A host with an Ethernet and an IPv4 address. Initial sequence numbers are drawn from `seed`.
    pub fn new(mac: [u8; 6], ip: Ipv4Addr, seed: u64) -> Host {
        Host {
            neighbours: Neighbours::new(mac, ip),
            seed,
            flows: Vec::new(),
            index: BTreeMap::new(),
            listening: BTreeMap::new(),
            accepted: VecDeque::new(),
            next_port: FIRST_PORT,
            resets: VecDeque::new(),
            turn: 0,
            identification: 0,
            counters: Counters::default(),
        }
    }

    /// Accepts connections at `port` from now on; each is made by `maker`.
    pub fn listen(&mut self, port: u16, maker: Maker) {
        self.listening.insert(port, maker);
    }

    /// A connection that a peer has opened, in the order of their SYNs; each is told once.
    pub fn accept(&mut self) -> Option<FlowId> {
        self.accepted.pop_front()
    }

    /// Opens a connection to `remote` at `now`. Its SYN leaves as soon as the peer's Ethernet
    /// address is known.
    ///
    /// # Panics
    /// Where connections to `remote` are open from all 16,384 dynamic ports.
    pub fn connect(&mut self, now: Time, remote: SocketAddrV4, maker: &Maker) -> FlowId {
        let rng = Rng::new(self.seed, &format!("flow:{}", self.flows.len()));
        let mut connection = Connection::client(&maker.stack, (maker.build)(), rng);
        connection.connect(now);
        let port = self.free_port(remote);
        self.add(port, remote, connection)
    }

    /// The next port from which no connection to `remote` is open.
    fn free_port(&mut self, remote: SocketAddrV4) -> u16 {
        for _ in FIRST_PORT..=u16::MAX {
            let port = self.next_port;
            self.next_port = port.checked_add(1).unwrap_or(FIRST_PORT);
            let taken = self.index.get(&(port, remote));
            if taken.is_none_or(|id| self.flow(*id).connection.state() == State::Closed) {
                return port;
            }
        }
        panic!("all dynamic ports are in use for connections to {remote}");
    }

    fn add(&mut self, port: u16, remote: SocketAddrV4, connection: Connection) -> FlowId {
        let id = FlowId(self.flows.len());
        self.flows.push(HostConnection {
            connection,
            local: SocketAddrV4::new(self.neighbours.ip(), port),
            remote,
            ours: None,
            theirs: None,
            wrong_bytes: 0,
        });
        self.index.insert((port, remote), id);
        id
    }

    /// A connection.
    pub fn flow(&self, id: FlowId) -> &HostConnection {
        &self.flows[id.0]
    }

    /// A connection, for its application to write, read and close.
    pub fn connection(&mut self, id: FlowId) -> &mut Connection {
        &mut self.flows[id.0].connection
    }

    /// What it has counted.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Takes in a frame at `now`.
    pub fn on_frame(&mut self, now: Time, frame: &[u8]) {
        let Some(ether) = Ether::read(frame) else {
            return;
        };
        let is_ours = ether.dst == self.neighbours.mac();
        let packet = &frame[Ether::LEN..];
        match ether.ethertype.get() {
            ethertype::ARP if is_ours || ether.is_broadcast() => self.neighbours.on_packet(packet),
            ethertype::IP if is_ours => match codec::decode(packet) {
                Ok(arrival) if arrival.to.ip() == &self.neighbours.ip() => {
                    self.on_arrival(now, &arrival);
                }
                Ok(_) | Err(Refusal::Foreign) => {}
                Err(_) => self.counters.damaged += 1,
            },
            _ => {}
        }
    }

    fn on_arrival(&mut self, now: Time, arrival: &Arrival<'_>) {
        let segment = &arrival.segment;
        let Some(id) = self.owner(arrival) else {
            self.counters.strays += 1;
            if self.resets.len() < MOST_RESETS
                && let Some((seq, ack)) = segment.refusal()
            {
                let reset = Segment::reset(seq, ack);
                self.resets
                    .push_back((arrival.from, arrival.to.port(), reset));
            }
            return;
        };
        self.counters.segments_received += 1;
        let flow = &mut self.flows[id.0];
        if segment.flags.has(Flags::SYN) {
            flow.theirs.get_or_insert(segment.seq.wrapping_add(1));
        } else if let Some(first) = flow.theirs {
            let place = segment.seq.wrapping_sub(first);
            flow.wrong_bytes += pattern::wrong_bytes(place, arrival.payload);
        }
        flow.connection.on_segment(now, segment);
    }

    /// The connection that a segment belongs to; a SYN to a port that listens makes one.
    fn owner(&mut self, arrival: &Arrival<'_>) -> Option<FlowId> {
        let port = arrival.to.port();
        let flags = arrival.segment.flags;
        let opens = flags.has(Flags::SYN) && !flags.any(Flags::ACK.with(Flags::RST));
        let found = self.index.get(&(port, arrival.from)).copied();
        let is_open = |id: &FlowId| !opens || self.flows[id.0].connection.state() != State::Closed;
        if let Some(id) = found.filter(is_open) {
            return Some(id);
        }
        let maker = self.listening.get(&port).filter(|_| opens)?;
        let rng = Rng::new(self.seed, &format!("flow:{}", self.flows.len()));
        let connection = Connection::server(&maker.stack, (maker.build)(), rng);
        let id = self.add(port, arrival.from, connection);
        self.accepted.push_back(id);
        Some(id)
    }

    /// When [`Host::on_timer`] is due; [`Time::MAX`] for never.
    pub fn next_timer(&self) -> Time {
        let connections = self.flows.iter().map(|flow| flow.connection.next_timer());
        connections.fold(self.neighbours.next_timer(), Time::min)
    }

    /// Timers that are due at `now` go off; earlier does no harm.
    pub fn on_timer(&mut self, now: Time) {
        self.neighbours.on_timer(now);
        for flow in &mut self.flows {
            if flow.connection.next_timer() <= now {
                flow.connection.on_timer(now);
            }
        }
    }

    /// Writes the next frame to send at `now` to the front of `frame`, which has room for
    /// [`LARGEST_FRAME`] bytes, and returns its bytes. Connections take turns by frames.
    pub fn poll_transmit(&mut self, now: Time, frame: &mut [u8; LARGEST_FRAME]) -> Option<usize> {
        let of_tcp = self
            .poll_resets(now, frame)
            .or_else(|| self.poll_flows(now, frame));
        // These last: whoever had nothing to send may just have asked where to send it.
        of_tcp.or_else(|| {
            let arp = self.neighbours.poll_transmit()?;
            frame[..arp.len()].copy_from_slice(&arp);
            Some(arp.len())
        })
    }

    fn poll_resets(&mut self, now: Time, frame: &mut [u8; LARGEST_FRAME]) -> Option<usize> {
        // They answer someone, and wait until it is known where that is.
        let (remote, ..) = self.resets.front()?;
        let mac = self.neighbours.find(now, *remote.ip())?;
        let (remote, port, segment) = self.resets.pop_front()?;
        let local = SocketAddrV4::new(self.neighbours.ip(), port);
        Some(self.encode(mac, local, remote, &segment, None, frame))
    }

    fn poll_flows(&mut self, now: Time, frame: &mut [u8; LARGEST_FRAME]) -> Option<usize> {
        let mut segment = Segment::default();
        for _ in 0..self.flows.len() {
            let at = self.turn % self.flows.len();
            self.turn = at + 1;
            let flow = &mut self.flows[at];
            if !flow.connection.wants_to_transmit() {
                continue;
            }
            // A connection is not asked before its segment can leave: its timers then count from
            // there.
            let Some(mac) = self.neighbours.find(now, *flow.remote.ip()) else {
                continue;
            };
            if !flow.connection.poll_transmit_into(now, &mut segment) {
                continue;
            }
            if segment.flags.has(Flags::SYN) {
                flow.ours = Some(segment.seq.wrapping_add(1));
            }
            let place = flow.ours.map(|first| segment.seq.wrapping_sub(first));
            let (local, remote) = (flow.local, flow.remote);
            return Some(self.encode(mac, local, remote, &segment, place, frame));
        }
        None
    }

    /// Writes the frame of `segment`, whose payload is the stream from `place` on.
    fn encode(
        &mut self,
        mac: [u8; 6],
        local: SocketAddrV4,
        remote: SocketAddrV4,
        segment: &Segment,
        place: Option<u32>,
        frame: &mut [u8; LARGEST_FRAME],
    ) -> usize {
        let route = Route {
            from_mac: self.neighbours.mac(),
            to_mac: mac,
            from: local,
            to: remote,
        };
        self.identification = self.identification.wrapping_add(1);
        self.counters.segments_sent += 1;
        codec::encode(&route, segment, self.identification, frame, |payload| {
            pattern::fill(place.unwrap_or(0), payload);
        })
    }
}
