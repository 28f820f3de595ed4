//! A NetFPGA card as a device between the links of a network: its timing, its queues, its tables.
//!
//! Each port has a link into the card and one behind it. A packet becomes an IPv4 frame of its
//! length, with its token in the last four bytes. Behind port `p` is the network 10.0.`p`.0/24 with
//! the neighbour 10.0.`p`.2: the frame goes from the neighbour of the port it comes to, to that of
//! the port its route leaves by. Routes and ARP entries of these four networks stand in the tables
//! at first, as whoever has the registers may change.
//!
//! The card receives frames itself, so it has to know of one when its first bit comes, and a link
//! gives a packet out when its last bit has come. Links into the card are therefore as much shorter
//! as the longest frame takes on the port's line ([`CardBetween::early`]), and the card sees each
//! frame begin when its last bit less its own length says so. Links and ports have one rate, and
//! links count [`LINE_BYTES`] beside an IP packet: then first and last bit of every frame are at
//! their instants.

use super::frames;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use trammel_core::time::{Span, Time};
use trammel_netfpga::registers::Registers;
use trammel_netfpga::stages::{Fcs, PORTS, Queue, Queues};
use trammel_netfpga::tables::{ArpRow, RouteRow, read_mac, write_arp, write_route};
use trammel_netfpga::{Card, Error, Params, design};
use trammel_netsim::ids::LinkId;
use trammel_netsim::middlebox::{Arrival, Middlebox};

/// Bytes that a line carries beside an IP packet: Ethernet header, FCS, preamble, gap.
pub const LINE_BYTES: u32 = 38;
/// The longest IP packet that a port takes: a frame of 2,048 bytes with its FCS.
pub const LONGEST_PACKET: u32 = 2030;
/// Ethernet header and FCS.
const FRAME_BYTES: u64 = 18;
/// The shortest frame, without its FCS.
const LEAST_FRAME: usize = 60;
/// A protocol without a meaning (RFC 3692 §2.1): nothing looks further than the IP header.
const PROTOCOL: u8 = 253;

/// What a port has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounts {
    /// Frames that came to it, dropped ones too.
    pub received: u64,
    /// Of these, frames that its receive queue dropped.
    pub dropped_at_receipt: u64,
    /// Frames that it sent.
    pub sent: u64,
    /// Frames for it that its output queue dropped.
    pub dropped_in_queue: u64,
    /// Frames in its output queue.
    pub queued: u64,
    /// Frames that came to it and are for the software.
    pub to_cpu: u64,
    /// Of these, frames that the queue to the software dropped.
    pub dropped_to_cpu: u64,
    /// First bit in to first bit out of the frames that it sent: their sum in picoseconds, and the
    /// longest.
    pub transit: (u128, Span),
}

/// A card between links. Clones are the same card.
#[derive(Clone)]
pub struct CardBetween(Arc<Mutex<Between>>);

struct Between {
    card: Card,
    params: Params,
    early: Span,
    /// The links into the ports.
    into: Vec<LinkId>,
    /// What frames begin with, by the port that they come to and that they are to leave by.
    heads: Option<Box<[[Vec<u8>; PORTS]; PORTS]>>,
    /// The port that the packet of each token is to leave by.
    sides: Vec<usize>,
    transit: [(u128, Span); PORTS],
    entered: u64,
    /// Frames that left by a port that their packet's route does not.
    astray: u64,
    frame: Vec<u8>,
}

impl fmt::Debug for CardBetween {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CardBetween")
            .field(&self.lock().card)
            .finish()
    }
}

/// How much shorter links into a card of `params` are where packets have up to `mtu` bytes.
pub fn early(params: &Params, mtu: u32) -> Span {
    Span::from_ps(params.line_ps(u64::from(mtu) + FRAME_BYTES))
}

fn neighbour(port: usize) -> ([u8; 4], [u8; 6]) {
    ([10, 0, port as u8, 2], [2, 0, 0, 0, port as u8, 2])
}

impl CardBetween {
    /// The reference router with the timing of `params`, between links of packets of up to `mtu`
    /// bytes.
    ///
    /// # Errors
    /// Parameters out of their ranges, or another number of ports than four.
    pub fn new(params: &Params, mtu: u32) -> Result<CardBetween, Error> {
        let mut card = Card::new(design("reference-router")?, params)?;
        for port in 0..PORTS {
            let (address, mac) = neighbour(port);
            let route = RouteRow {
                network: [10, 0, port as u8, 0].into(),
                mask: [255, 255, 255, 0].into(),
                next_hop: [0; 4].into(),
                queues: Queues::one(Queue::mac(port)).0,
            };
            write_route(&mut card, port, &route);
            let address = address.into();
            write_arp(&mut card, port, &ArpRow { address, mac });
        }
        Ok(CardBetween(Arc::new(Mutex::new(Between {
            card,
            params: params.clone(),
            early: early(params, mtu),
            into: Vec::new(),
            heads: None,
            sides: Vec::new(),
            transit: [(0, Span::ZERO); PORTS],
            entered: 0,
            astray: 0,
            frame: Vec::new(),
        }))))
    }

    fn lock(&self) -> MutexGuard<'_, Between> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How much shorter than the wire links into it are.
    pub fn early(&self) -> Span {
        self.lock().early
    }

    /// The next port has the link `into` before it; the links behind the card are to be in the same
    /// order. False where four have links.
    pub fn attach(&self, into: LinkId) -> bool {
        let mut between = self.lock();
        let has_room = between.into.len() < PORTS;
        if has_room {
            between.into.push(into);
        }
        has_room
    }

    /// What port `port` has counted, 0 to 3.
    pub fn counts(&self, port: usize) -> PortCounts {
        let between = &mut *self.lock();
        let mut read = |name: &str| u64::from(between.read(name));
        let receive = format!("MAC_GRP_{port}_RX_QUEUE_NUM_PKTS");
        let dropped_at_receipt =
            read(&format!("{receive}_DROPPED_FULL")) + read(&format!("{receive}_DROPPED_BAD"));
        let [out, cpu] = [2 * port, 2 * port + 1].map(|queue| format!("OQ_QUEUE_{queue}_NUM_PKTS"));
        let dropped_to_cpu = read(&format!("{cpu}_DROPPED"));
        PortCounts {
            received: read(&format!("{receive}_STORED")) + dropped_at_receipt,
            dropped_at_receipt,
            sent: read(&format!("MAC_GRP_{port}_TX_QUEUE_NUM_PKTS_SENT")),
            dropped_in_queue: read(&format!("{out}_DROPPED")),
            queued: read(&format!("{out}_IN_Q")),
            to_cpu: read(&format!("{cpu}_STORED")) + dropped_to_cpu,
            dropped_to_cpu,
            transit: between.transit[port],
        }
    }
}

/// Registers as of the last frame that moved.
impl Registers for CardBetween {
    fn read(&mut self, address: u32) -> u32 {
        self.lock().card.read(address)
    }

    fn write(&mut self, address: u32, value: u32) {
        self.lock().card.write(address, value);
    }
}

impl Between {
    /// A register by its name; all that are asked for are there.
    fn read(&mut self, name: &str) -> u32 {
        let named = self.card.design().map().find(name);
        named.map_or(0, |named| self.card.read(named.address))
    }

    /// Ethernet and IP headers between all ports, to the MAC addresses that they have now.
    fn heads(&mut self) -> Box<[[Vec<u8>; PORTS]; PORTS]> {
        let head = |card: &mut Card, from: usize, to: usize| {
            let ((source, mac), (destination, _)) = (neighbour(from), neighbour(to));
            let mut head = Vec::with_capacity(34);
            head.extend(read_mac(card, from));
            head.extend(mac);
            head.extend([8, 0, 0x45, 0, 0, 0, 0, 0, 0, 0, 64, PROTOCOL, 0, 0]);
            head.extend(source);
            head.extend(destination);
            head
        };
        let card = &mut self.card;
        Box::new(std::array::from_fn(|from| {
            std::array::from_fn(|to| head(card, from, to))
        }))
    }

    fn accept(&mut self, now: Time, packet: Arrival) {
        self.entered += 1;
        let Some(port) = self.into.iter().position(|into| *into == packet.from) else {
            debug_assert!(false, "the links into the card are attached");
            return;
        };
        let heads = self.heads.take().unwrap_or_else(|| self.heads());
        let bytes = packet.wire_bytes.saturating_sub(LINE_BYTES) as usize + 14;
        let frame = &mut self.frame;
        frame.clear();
        frame.extend_from_slice(&heads[port][packet.side.min(PORTS - 1)]);
        frame.resize(bytes.max(LEAST_FRAME) - 4, 0);
        frame.extend_from_slice(&packet.token.to_le_bytes());
        self.heads = Some(heads);
        frames::mend(frame);
        let token = packet.token as usize;
        if self.sides.len() <= token {
            self.sides.resize(token + 1, 0);
        }
        self.sides[token] = packet.side;
        let line = self.params.line_ps(frame.len() as u64 + 4);
        let begins = (now + self.early).saturating_sub(Span::from_ps(line));
        self.card.offer(begins, Queue::mac(port), frame, Fcs::Good);
    }

    fn advance(&mut self, now: Time, left: &mut Vec<u32>) {
        self.card.advance(now);
        while let Some(departure) = self.card.take(&mut self.frame) {
            let Some(token) = self.frame.last_chunk().copied().map(u32::from_le_bytes) else {
                continue;
            };
            if departure.queue.is_cpu() {
                continue;
            }
            let port = departure.queue.port();
            if self.sides.get(token as usize) != Some(&port) {
                self.astray += 1;
                continue;
            }
            let transit = departure.left.saturating_since(departure.arrived);
            let (sum, longest) = &mut self.transit[port];
            *sum += u128::from(transit.as_ps());
            *longest = transit.max(*longest);
            left.push(token);
        }
    }

    /// What came is on the line, dropped, decided upon, queued or sent: in this order no count is
    /// more than the one before, and where nothing is in the card they are equal.
    fn audit(&mut self) -> Result<(), String> {
        let mut sum = |names: &[&str], of: std::ops::Range<usize>, block: &str| -> u64 {
            of.flat_map(|number| names.iter().map(move |name| (number, name)))
                .map(|(number, name)| u64::from(self.read(&format!("{block}_{number}_{name}"))))
                .sum()
        };
        let [stored, full, bad] = ["STORED", "DROPPED_FULL", "DROPPED_BAD"]
            .map(|what| sum(&[&format!("RX_QUEUE_NUM_PKTS_{what}")], 0..PORTS, "MAC_GRP"));
        let queued = sum(
            &["NUM_PKTS_STORED", "NUM_PKTS_DROPPED"],
            0..2 * PORTS,
            "OQ_QUEUE",
        );
        let [kept, removed] = ["NUM_PKTS_STORED", "NUM_PKTS_REMOVED"]
            .map(|name| sum(&[name], 0..2 * PORTS, "OQ_QUEUE"));
        let dropped: u64 = ["NUM_WRONG_DEST", "NUM_BAD_CHKSUMS"]
            .map(|name| u64::from(self.read(&format!("ROUTER_OP_LUT_{name}"))))
            .iter()
            .sum();
        let is_empty = self.card.next_event().is_none();
        let accounts = [
            ("came", self.entered, stored + full + bad),
            ("received", stored, queued + dropped),
            ("stored", kept, removed),
        ];
        for (what, before, after) in accounts {
            if before < after || (is_empty && before != after) {
                return Err(format!(
                    "a card, empty: {is_empty}: of {before} frames that {what}, {after} went on"
                ));
            }
        }
        Ok(())
    }
}

impl Middlebox for CardBetween {
    fn accept(&mut self, now: Time, packet: Arrival) {
        self.lock().accept(now, packet);
    }

    fn next(&mut self) -> Time {
        self.lock().card.next_event().unwrap_or(Time::MAX)
    }

    fn advance(&mut self, now: Time, left: &mut Vec<u32>) {
        self.lock().advance(now, left);
    }

    fn audit(&mut self) -> Result<(), String> {
        self.lock().audit()
    }
}

#[cfg(test)]
mod tests;
