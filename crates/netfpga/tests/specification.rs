//! Random frames through random tables, against a specification of the router that can be run and
//! shares no code with it.

use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};
use trammel_netfpga::registers::Registers;
use trammel_netfpga::stages::{Fcs, Queue};
use trammel_netfpga::tables::{self, ArpRow, RouteRow};
use trammel_netfpga::{Device, design};

type Ip = [u8; 4];

/// What the router is, said another way.
#[derive(Clone, Debug, Default)]
struct Specification {
    macs: Vec<[u8; 6]>,
    /// Network, mask, next hop, port.
    routes: Vec<(Ip, Ip, Ip, usize)>,
    neighbours: Vec<(Ip, [u8; 6])>,
    filter: Vec<Ip>,
    most: Vec<usize>,
    queues: Vec<VecDeque<Vec<u8>>>,
    counters: BTreeMap<String, u32>,
}

impl Specification {
    fn count(&mut self, name: &str) {
        *self.counters.entry(name.to_owned()).or_default() += 1;
    }

    fn receive(&mut self, queue: usize, frame: &[u8]) {
        let (port, is_host) = (queue / 2, queue % 2 == 1);
        if frame.len() < 14 || frame.len() > 2044 {
            let kind = if is_host { "CPU_QUEUE" } else { "MAC_GRP" };
            return self.count(&format!("{kind}_{port}_RX_QUEUE_NUM_PKTS_DROPPED_BAD"));
        }
        let mut frame = frame.to_vec();
        while frame.len() < 60 {
            frame.push(0);
        }
        let (counter, to) = self.decide(port, is_host, &mut frame);
        self.count(&format!("ROUTER_OP_LUT_{counter}"));
        let Some(to) = to else { return };
        let words: usize = self.queues[to]
            .iter()
            .map(|kept| kept.len().div_ceil(8) + 1)
            .sum();
        let (kept, most) = (self.queues[to].len(), self.most[to]);
        if (most > 0 && kept >= most) || 65_536 - words <= 512 {
            self.count(&format!("OQ_QUEUE_{to}_NUM_PKTS_DROPPED"));
        } else {
            self.count(&format!("OQ_QUEUE_{to}_NUM_PKTS_STORED"));
            self.queues[to].push_back(frame);
        }
    }

    /// The counter and the output queue of a frame, which may be rewritten.
    fn decide(&self, port: usize, is_host: bool, f: &mut [u8]) -> (&str, Option<usize>) {
        let host = Some(2 * port + 1);
        if is_host {
            return ("NUM_CPU_PKTS_SENT", Some(2 * port));
        }
        let is_group = f[0] & 1 == 1;
        if !is_group && f[..6] != self.macs[port] {
            return ("NUM_WRONG_DEST", None);
        }
        if f[12..14] != [8, 0] {
            return ("NUM_NON_IP_RCVD", host);
        }
        if fold(&f[14..34]) != 0xffff {
            return ("NUM_BAD_CHKSUMS", None);
        }
        let to = [f[30], f[31], f[32], f[33]];
        if self.filter.contains(&to) {
            return ("NUM_FILTERED_PKTS", host);
        }
        if f[22] < 2 {
            return ("NUM_BAD_TTLS", host);
        }
        if f[14] != 0x45 {
            return ("NUM_BAD_OPTS_VER", host);
        }
        let matches = |(net, mask): (Ip, Ip)| (0..4).all(|i| to[i] & mask[i] == net[i] & mask[i]);
        let Some(route) = self.routes.iter().find(|route| matches((route.0, route.1))) else {
            return ("LPM_NUM_MISSES", host);
        };
        let next = if route.2 == [0; 4] { to } else { route.2 };
        let Some((_, mac)) = self.neighbours.iter().find(|row| row.0 == next) else {
            return ("ARP_NUM_MISSES", host);
        };
        if is_group {
            return ("NUM_WRONG_DEST", None);
        }
        f[..6].copy_from_slice(mac);
        f[6..12].copy_from_slice(&self.macs[route.3]);
        f[22] -= 1;
        // The design adds to the old checksum, which makes of 0xfeff the other zero.
        let is_other_zero = f[24..26] == [0xfe, 0xff];
        f[24..26].fill(0);
        let sum = if is_other_zero {
            0xffff
        } else {
            !fold(&f[14..34])
        };
        f[24..26].copy_from_slice(&sum.to_be_bytes());
        ("NUM_PKTS_FORWARDED", Some(2 * route.3))
    }
}

/// The one's complement sum of 16-bit words.
fn fold(header: &[u8]) -> u16 {
    header.chunks(2).fold(0, |sum, pair| {
        let (sum, carry) = sum_of(sum, u16::from_be_bytes([pair[0], pair[1]]));
        sum + u16::from(carry)
    })
}

fn sum_of(a: u16, b: u16) -> (u16, bool) {
    a.overflowing_add(b)
}

// ---- what is tried -------------------------------------------------------------------------

/// A small world, so that tables are hit.
fn address() -> impl Strategy<Value = [u8; 4]> {
    prop_oneof![
        8 => (1..3_u8, 0..3_u8, 0..4_u8).prop_map(|(a, b, c)| [10, a, b, c]),
        1 => Just([0; 4]),
        1 => any::<[u8; 4]>(),
    ]
}

fn mask() -> impl Strategy<Value = [u8; 4]> {
    prop_oneof![
        Just([255; 4]),
        Just([255, 255, 255, 0]),
        Just([255, 255, 0, 0]),
        Just([255, 0, 0, 225]),
        any::<[u8; 4]>(),
    ]
}

fn mac() -> impl Strategy<Value = [u8; 6]> {
    (0..4_u8).prop_map(|last| [2, 0, 0, 0, 0, last])
}

fn specification() -> impl Strategy<Value = Specification> {
    let row = || (address(), mask(), address(), 0..4_usize);
    (
        prop::collection::vec(mac(), 4),
        prop::collection::vec(row(), 32),
        prop::collection::vec((address(), any::<[u8; 6]>()), 32),
        prop::collection::vec(prop_oneof![Just([10, 1, 0, 0]), any::<[u8; 4]>()], 32),
        prop::collection::vec(0..6_usize, 8),
    )
        .prop_map(|(macs, routes, neighbours, filter, most)| Specification {
            macs,
            routes,
            neighbours,
            filter,
            most,
            queues: vec![VecDeque::new(); 8],
            counters: BTreeMap::new(),
        })
}

fn frame() -> impl Strategy<Value = Vec<u8>> {
    let size = prop_oneof![9 => 34..300_usize, 1 => 0..2100_usize];
    let ip = (
        prop_oneof![4 => mac(), 1 => Just([255; 6]), 1 => any::<[u8; 6]>()],
        prop_oneof![9 => Just(0x0800_u16), 1 => any::<u16>()],
        prop_oneof![9 => Just(0x45_u8), 1 => any::<u8>()],
        prop_oneof![4 => 2..255_u8, 1 => 0..3_u8],
        address(),
        any::<u16>(),
        prop::bool::weighted(0.9),
        size,
    )
        .prop_map(
            |(to, ethertype, first, ttl, destination, id, is_right, size)| {
                let mut frame = [to, [2, 9, 9, 9, 9, 9]].concat();
                frame.extend(ethertype.to_be_bytes());
                let mut header = vec![first, 0, 0, 46];
                header.extend(id.to_be_bytes());
                header.extend([0, 0, ttl, 17, 0, 0, 172, 16, 0, 1]);
                header.extend(destination);
                let sum = !fold(&header) ^ u16::from(!is_right);
                header[10..12].copy_from_slice(&sum.to_be_bytes());
                frame.extend(header);
                frame.extend(id.to_le_bytes());
                frame.resize(size, 0xa5);
                frame
            },
        );
    prop_oneof![9 => ip, 1 => prop::collection::vec(any::<u8>(), 0..80)]
}

/// A frame that comes in by a queue, or one that leaves.
#[derive(Clone, Debug)]
enum Act {
    Receive(usize, Vec<u8>),
    Transmit(usize),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        5 => (0..4_usize, frame()).prop_map(|(port, frame)| Act::Receive(2 * port, frame)),
        1 => (0..8_usize, frame()).prop_map(|(queue, frame)| Act::Receive(queue, frame)),
        3 => (0..8_usize).prop_map(Act::Transmit),
    ]
}

fn device_of(specification: &Specification) -> Device {
    let mut device = Device::new(design("reference-router").unwrap());
    for (port, mac) in specification.macs.iter().enumerate() {
        tables::write_mac(&mut device, port, *mac);
    }
    for (row, (network, mask, next_hop, port)) in specification.routes.iter().enumerate() {
        let route = RouteRow {
            network: (*network).into(),
            mask: (*mask).into(),
            next_hop: (*next_hop).into(),
            queues: 1 << (2 * port),
        };
        tables::write_route(&mut device, row, &route);
    }
    for (row, (address, mac)) in specification.neighbours.iter().enumerate() {
        let address = (*address).into();
        tables::write_arp(&mut device, row, &ArpRow { address, mac: *mac });
    }
    for (row, address) in specification.filter.iter().enumerate() {
        tables::write_filter(&mut device, row, (*address).into());
    }
    for (queue, most) in specification.most.iter().enumerate() {
        device.write(0x2001034 + 0x200 * queue as u32, *most as u32);
    }
    device
}

proptest! {
    #[test]
    fn the_router_is_what_the_specification_says(
        mut specification in specification(),
        acts in prop::collection::vec(act(), 0..120),
    ) {
        let mut device = device_of(&specification);
        let mut got = Vec::new();
        for act in &acts {
            match act {
                Act::Receive(queue, frame) => {
                    specification.receive(*queue, frame);
                    device.receive(Queue::ALL[*queue], frame, Fcs::Good);
                }
                Act::Transmit(queue) => {
                    let expected = specification.queues[*queue].pop_front();
                    let is_there = device.transmit(Queue::ALL[*queue], &mut got);
                    prop_assert_eq!(is_there, expected.is_some());
                    if let Some(expected) = expected {
                        prop_assert_eq!(&got, &expected);
                    }
                }
            }
        }
        for named in device.design().map().all() {
            let name = named.name.trim_end_matches("_REG");
            let is_counted = name.starts_with("ROUTER_OP_LUT_NUM")
                || name.starts_with("ROUTER_OP_LUT_LPM")
                || name.starts_with("ROUTER_OP_LUT_ARP_NUM")
                || name.contains("DROPPED")
                || name.ends_with("NUM_PKTS_STORED") && name.starts_with("OQ");
            if is_counted {
                let expected = specification.counters.get(name).copied().unwrap_or(0);
                prop_assert_eq!(device.read(named.address), expected, "{}", name);
            }
        }
        // Received = forwarded + to the host + dropped: every frame has one end.
        let of = |part: &str| -> u32 {
            let mine = specification.counters.iter().filter(|(name, _)| name.contains(part));
            mine.map(|(_, count)| count).sum()
        };
        let received = acts.iter().filter(|act| matches!(act, Act::Receive(..))).count() as u32;
        prop_assert_eq!(received, of("DROPPED_BAD") + of("ROUTER_OP_LUT"));
        let nowhere = of("BAD_CHKSUMS") + of("WRONG_DEST");
        let queues = of("_NUM_PKTS_STORED") + of("NUM_PKTS_DROPPED") - of("DROPPED_BAD");
        prop_assert_eq!(of("ROUTER_OP_LUT"), nowhere + queues);
    }
}
