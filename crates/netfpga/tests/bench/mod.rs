//! What the peers' tests need of a card: frames in and out, registers by name, packets, and an
//! account of all counters.

#![allow(dead_code, unused_imports)] // Each test uses a part.

pub(crate) mod both;
pub(crate) mod events;

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use trammel_core::time::{Span, Time};
use trammel_netfpga::registers::{Access, Map, Registers};
use trammel_netfpga::stages::{Fcs, Queue};
use trammel_netfpga::tables::{self, ArpRow, RouteRow};
use trammel_netfpga::{Device, Params, design};

/// A card that is tested.
pub(crate) trait Bench {
    /// Offers `frame` to `from`.
    fn send(&mut self, from: Queue, frame: &[u8], fcs: Fcs);
    /// All frames that left by `queue` since the last call, in their order.
    fn left_by(&mut self, queue: Queue) -> Vec<Vec<u8>>;
    /// Whether frames come with the FCS that [`Self::send`] is given: a kernel makes its own.
    fn has_fcs(&self) -> bool {
        true
    }
    fn peek(&mut self, address: u32) -> u32;
    fn poke(&mut self, address: u32, value: u32);
}

impl Bench for Device {
    fn send(&mut self, from: Queue, frame: &[u8], fcs: Fcs) {
        self.receive(from, frame, fcs);
    }

    fn left_by(&mut self, queue: Queue) -> Vec<Vec<u8>> {
        let mut frame = Vec::new();
        std::iter::from_fn(|| self.transmit(queue, &mut frame).then(|| frame.clone())).collect()
    }

    fn peek(&mut self, address: u32) -> u32 {
        self.read(address)
    }

    fn poke(&mut self, address: u32, value: u32) {
        self.write(address, value);
    }
}

/// A card in virtual time. Frames are offered one by one, far enough apart for the host.
struct Timed {
    card: trammel_netfpga::Card,
    clock: Time,
    left: BTreeMap<Queue, Vec<Vec<u8>>>,
}

impl Timed {
    /// Waits until nothing moves any more.
    fn settle(&mut self) {
        self.clock += Span::from_ms(20);
        self.card.advance(self.clock);
        let mut frame = Vec::new();
        while let Some(departure) = self.card.take(&mut frame) {
            assert!(departure.left > departure.arrived && departure.left <= self.clock);
            self.left
                .entry(departure.queue)
                .or_default()
                .push(frame.clone());
        }
    }
}

impl Bench for Timed {
    fn send(&mut self, from: Queue, frame: &[u8], fcs: Fcs) {
        self.card.offer(self.clock, from, frame, fcs);
        self.clock += Span::from_us(100);
        self.card.advance(self.clock);
    }

    fn left_by(&mut self, queue: Queue) -> Vec<Vec<u8>> {
        self.settle();
        self.left.remove(&queue).unwrap_or_default()
    }

    fn peek(&mut self, address: u32) -> u32 {
        self.settle();
        self.card.read(address)
    }

    fn poke(&mut self, address: u32, value: u32) {
        self.settle();
        self.card.write(address, value);
    }
}

/// The same in virtual time, with the timing of the 1G design.
pub(crate) fn timed(name: &str) -> Card {
    let design = design(name).unwrap();
    let card = trammel_netfpga::Card::new(design, &Params::REFERENCE_1G).unwrap();
    let bench = Timed {
        card,
        clock: Time::ZERO,
        left: BTreeMap::new(),
    };
    Card::new(Box::new(bench), design.map())
}

/// A card with its map, and the tables of the tests.
pub(crate) struct Card<B: Bench + ?Sized = dyn Bench> {
    pub(crate) bench: Box<B>,
    pub(crate) map: Map,
}

/// The untimed device, which is what it is whatever its speed.
pub(crate) fn untimed(name: &str) -> Card {
    let design = design(name).unwrap();
    Card {
        bench: Box::new(Device::new(design)),
        map: design.map(),
    }
}

impl<B: Bench + ?Sized> Registers for Card<B> {
    fn read(&mut self, address: u32) -> u32 {
        self.bench.peek(address)
    }

    fn write(&mut self, address: u32, value: u32) {
        self.bench.poke(address, value);
    }
}

pub(crate) fn mac_of(port: usize) -> [u8; 6] {
    [0x02, 0xca, 0xfe, 0, 0, port as u8 + 1]
}

pub(crate) fn neighbour_of(port: usize) -> [u8; 6] {
    [0x02, 0xdd, 0xdd, 0, 0, port as u8 + 1]
}

/// The next hop behind `port`.
pub(crate) fn next_hop_of(port: usize) -> Ipv4Addr {
    Ipv4Addr::new(192, 168, port as u8, 54)
}

impl<B: Bench + ?Sized> Card<B> {
    pub(crate) fn new(bench: Box<B>, map: Map) -> Card<B> {
        Card { bench, map }
    }

    pub(crate) fn send(&mut self, from: Queue, frame: &[u8]) {
        self.bench.send(from, frame, Fcs::Good);
    }

    pub(crate) fn send_with(&mut self, from: Queue, frame: &[u8], fcs: Fcs) {
        self.bench.send(from, frame, fcs);
    }

    pub(crate) fn has_fcs(&self) -> bool {
        self.bench.has_fcs()
    }

    pub(crate) fn left_by(&mut self, queue: Queue) -> Vec<Vec<u8>> {
        self.bench.left_by(queue)
    }

    pub(crate) fn get(&mut self, name: &str) -> u32 {
        let address = self.map.find(name).unwrap().address;
        self.read(address)
    }

    pub(crate) fn set(&mut self, name: &str, value: u32) {
        let address = self.map.find(name).unwrap().address;
        self.write(address, value);
    }

    pub(crate) fn route(
        &mut self,
        row: usize,
        [network, mask, next_hop]: [[u8; 4]; 3],
        port: usize,
    ) {
        let route = RouteRow {
            network: network.into(),
            mask: mask.into(),
            next_hop: next_hop.into(),
            queues: 1 << (2 * port),
        };
        tables::write_route(self, row, &route);
    }

    pub(crate) fn neighbour(&mut self, row: usize, address: impl Into<Ipv4Addr>, mac: [u8; 6]) {
        let address = address.into();
        tables::write_arp(self, row, &ArpRow { address, mac });
    }

    /// Ports with addresses, 10.0.`i`.0/24 behind port `i` by a next hop that is known, and the
    /// card's own addresses 192.168.`i`.1 in the filter.
    pub(crate) fn routing(mut self) -> Self {
        for port in 0..4 {
            let number = port as u8;
            tables::write_mac(&mut self, port, mac_of(port));
            let network = [10, 0, number, 0];
            let next_hop = next_hop_of(port);
            self.route(port, [network, [255, 255, 255, 0], next_hop.octets()], port);
            self.neighbour(port, next_hop, neighbour_of(port));
            tables::write_filter(&mut self, port, [192, 168, number, 1].into());
        }
        self
    }

    /// All counters but those of packets and bytes that came and went must be 0, but for those of
    /// `expected`, which must have their values. In every run, frames in are frames out and frames
    /// dropped.
    pub(crate) fn expect(&mut self, expected: &[(&str, u32)]) {
        let traffic = [
            "STORED",
            "REMOVED",
            "QUEUED",
            "SENT",
            "PUSHED",
            "GRESS_PKTS",
            "GRESS_BYTES",
        ];
        let expected: Vec<_> = (expected.iter())
            .map(|(name, value)| (self.map.find(name).expect(name).name, *value))
            .collect();
        let all: Vec<_> = self.map.all().collect();
        for named in all {
            let is_traffic = !named.name.starts_with("ROUTER_OP_LUT")
                && traffic.iter().any(|word| named.name.contains(word));
            let wanted = expected.iter().find(|(name, _)| *name == named.name);
            if named.register.access != Access::Counter || (is_traffic && wanted.is_none()) {
                continue;
            }
            let wanted = wanted.map_or(0, |(_, value)| *value);
            assert_eq!(self.read(named.address), wanted, "{}", named.name);
        }
        self.expect_conserved();
    }

    /// Received = forwarded + to the host + dropped, by counter.
    pub(crate) fn expect_conserved(&mut self) {
        let mut sum = |names: &[&str], instances: usize| -> u32 {
            (0..instances)
                .flat_map(|n| {
                    names
                        .iter()
                        .map(move |name| name.replace('#', &n.to_string()))
                })
                .map(|name| self.get(&name))
                .sum()
        };
        let from_lines = sum(&["MAC_GRP_#_RX_QUEUE_NUM_PKTS_DEQUEUED"], 4);
        let from_host = sum(&["CPU_QUEUE_#_RX_QUEUE_NUM_PKTS_DEQUEUED"], 4);
        let in_lookup = sum(&["IN_ARB_NUM_PKTS_SENT"], 1);
        assert_eq!(from_lines + from_host, in_lookup);
        let stored = sum(&["OQ_QUEUE_#_NUM_PKTS_STORED"], 8);
        let removed = sum(&["OQ_QUEUE_#_NUM_PKTS_REMOVED"], 8);
        let waiting = sum(&["OQ_QUEUE_#_NUM_PKTS_IN_Q"], 8);
        let dropped = sum(&["OQ_QUEUE_#_NUM_PKTS_DROPPED"], 8);
        assert_eq!(stored, removed + waiting);
        let out = [
            "MAC_GRP_#_TX_QUEUE_NUM_PKTS_ENQUEUED",
            "CPU_QUEUE_#_TX_QUEUE_NUM_PKTS_ENQUEUED",
        ];
        assert_eq!(removed, sum(&out, 4));
        let decided: u32 = (DECISIONS.iter())
            .map(|name| sum(&[&format!("ROUTER_OP_LUT_{name}")], 1))
            .sum();
        let nowhere = ["BAD_CHKSUMS", "WRONG_DEST"].map(|n| format!("ROUTER_OP_LUT_NUM_{n}"));
        let nowhere = sum(&nowhere.each_ref().map(String::as_str), 1);
        assert_eq!(decided, in_lookup, "one counter for each frame");
        assert_eq!(in_lookup, stored + dropped + nowhere);
    }
}

/// The counters of which each frame has exactly one.
const DECISIONS: [&str; 10] = [
    "ARP_NUM_MISSES",
    "LPM_NUM_MISSES",
    "NUM_CPU_PKTS_SENT",
    "NUM_BAD_OPTS_VER",
    "NUM_BAD_CHKSUMS",
    "NUM_BAD_TTLS",
    "NUM_NON_IP_RCVD",
    "NUM_PKTS_FORWARDED",
    "NUM_WRONG_DEST",
    "NUM_FILTERED_PKTS",
];

/// A sum over 16-bit words in one's complement, as a header has it.
pub(crate) fn checksum(header: &[u8]) -> [u8; 2] {
    let words = header
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
    let sum: u32 = words.sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    (!((sum & 0xffff) + (sum >> 16)) as u16).to_be_bytes()
}

/// An IPv4 packet in a frame, without FCS.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub(crate) to: [u8; 6],
    pub(crate) from: [u8; 6],
    pub(crate) ethertype: u16,
    pub(crate) version_and_length: u8,
    pub(crate) ttl: u8,
    pub(crate) destination: [u8; 4],
    pub(crate) bytes: usize,
}

impl Packet {
    /// To `destination` by `port` of the card, `bytes` long.
    pub(crate) fn via(port: usize, destination: [u8; 4], bytes: usize) -> Packet {
        Packet {
            to: mac_of(port),
            from: [2, 0, 0, 0, 0, port as u8],
            ethertype: 0x0800,
            version_and_length: 0x45,
            ttl: 64,
            destination,
            bytes,
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut frame = [self.to, self.from].concat();
        frame.extend(self.ethertype.to_be_bytes());
        let length = (self.bytes - 14) as u16;
        let mut header = vec![self.version_and_length, 0];
        header.extend(length.to_be_bytes());
        header.extend([0, 0, 0, 0, self.ttl, 17, 0, 0, 192, 168, 9, 9]);
        header.extend(self.destination);
        let sum = checksum(&header);
        header[10..12].copy_from_slice(&sum);
        frame.extend(header);
        frame.extend((frame.len()..self.bytes).map(|byte| byte as u8));
        frame
    }

    /// As a router sends it by `port` to the neighbour there.
    pub(crate) fn forwarded(&self, port: usize) -> Vec<u8> {
        let packet = Packet {
            to: neighbour_of(port),
            from: mac_of(port),
            ttl: self.ttl - 1,
            ..self.clone()
        };
        packet.bytes()
    }
}

/// Sizes without FCS from 60 to 1514, all over the range.
pub(crate) fn sizes(count: usize) -> impl Iterator<Item = usize> {
    (0..count).map(|n| 60 + n * 7919 % 1455)
}
