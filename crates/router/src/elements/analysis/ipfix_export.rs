//! Exports flows to an IPFIX collector, in IPFIX or NetFlow version 9.
//!
//! # What it does
//! IPv4 and IPv6 packets with marked headers are counted by flow and leave by output 0. A flow that
//! had no packet for `INACTIVE`, has lasted for `ACTIVE`, or was closed by TCP is told of in a
//! message, which leaves output 1 as the payload of a UDP packet. Times are those at which packets
//! passed.
//!
//! # Handlers
//! - `flows`: flows that are there now
//! - `exported`: flows that were told of
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> x :: IPFIXExport -> Discard;
//! x[1] -> UDPIPEncap(10.0.0.1, 4739, 10.0.0.9, 4739)
//!     -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:9)
//!     -> Queue -> ToDevice(eth1)
//! ```
//!
//! # Cost
//! A lookup in a hash table for each packet; a look at every flow each second.
//!
//! # References
//! RFC 7011; RFC 3954.

use super::shared::flow_export::{End, Exporter, Format, Record};
use crate::args::kinds::UINT;
use crate::args::{Args, Kind, keyword};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;
use trammel_packet::headers::flow::FiveTuple;
use trammel_packet::headers::ipv4::{Ipv4, protocol};
use trammel_packet::headers::ipv6::{self, Ipv6};
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new("IPFIXExport", "exports flows to an IPFIX collector", || {
    Box::<IpfixExport>::default()
})
.ports("1/2", "a/ah")
.flow("x/xy")
.references(&["RFC 7011", "RFC 3954"])
.params(&[
    keyword(
        "VERSION",
        UINT,
        "10",
        "the format: 10 is IPFIX, 9 is NetFlow version 9",
    ),
    keyword(
        "ACTIVE",
        Kind::Timestamp,
        "1800",
        "after what time a flow that goes on is told of",
    ),
    keyword(
        "INACTIVE",
        Kind::Timestamp,
        "15",
        "after what time without a packet a flow is over",
    ),
    keyword(
        "TEMPLATES",
        Kind::Timestamp,
        "600",
        "after what time templates are sent again",
    ),
    keyword("DOMAIN", UINT, "0", "the number of the observation domain"),
    keyword("CAPACITY", UINT, "65536", "flows at one time"),
    keyword("MTU", UINT, "1400", "the most bytes of a message"),
])
.ops(
    "parse(24); ht_lookup(3, 4, 2 * capacity, 0) by 4; \
     ct_insertion(0, 112, entries, 0); work(165)",
);

/// TCP's flags that end a flow.
const FIN_RST: u8 = 0x05;
/// Where TCP's flags stand.
const TCP_FLAGS_AT: usize = 13;
/// Between two looks for flows that are over.
const LOOK_GAP: Timestamp = Timestamp(1_000_000_000);
/// Flows that made room and wait to be told of.
const PATIENCE: usize = 64;
/// The end of a list.
const NONE: u32 = u32::MAX;
/// The least that a message of templates and one record needs.
const LEAST_MTU: u64 = 256;

#[derive(Debug)]
struct Place {
    record: Record,
    is_used: bool,
    next: u32,
}

#[derive(Debug, Default)]
struct IpfixExport {
    exporter: Exporter,
    active: Timestamp,
    inactive: Timestamp,
    template_gap: Timestamp,
    templates_due: Timestamp,
    capacity: usize,
    /// The first place of each list of flows that share bits of their hash.
    heads: Vec<u32>,
    places: Vec<Place>,
    free: Vec<u32>,
    /// The place that makes room next.
    hand: usize,
    done: Vec<Record>,
    timer: Option<TimerId>,
    is_forced: bool,
    exported: u64,
    messages: u64,
}

/// What a packet adds to its flow.
struct Seen {
    flow: FiveTuple,
    tos: u8,
    tcp_flags: u8,
    bytes: u64,
}

fn look(network: &[u8]) -> Option<Seen> {
    let flow = FiveTuple::of(network)?;
    let (tos, bytes, transport) = if flow.src.is_ipv4() {
        let ip = Ipv4::read(network)?;
        let at = ip.is_first_fragment().then(|| ip.header_len());
        (network[1], u64::from(ip.total_length.get()), at)
    } else {
        let ip = Ipv6::read(network)?;
        let upper = ipv6::upper(network).filter(|upper| upper.fragment_offset == 0);
        let bytes = Ipv6::LEN as u64 + u64::from(ip.payload_length.get());
        (ip.traffic_class(), bytes, upper.map(|upper| upper.at))
    };
    let tcp = transport.filter(|_| flow.protocol == protocol::TCP);
    let flags = tcp.and_then(|at| network.get(at + TCP_FLAGS_AT).copied());
    Some(Seen {
        flow,
        tos,
        tcp_flags: flags.unwrap_or(0),
        bytes,
    })
}

impl IpfixExport {
    fn home(&self, flow: &FiveTuple) -> usize {
        flow.symmetric_hash() as usize & (self.heads.len() - 1)
    }

    fn find(&self, flow: &FiveTuple) -> Option<usize> {
        let mut at = self.heads[self.home(flow)];
        while let Some(place) = self.places.get(at as usize) {
            if place.record.flow == *flow {
                return Some(at as usize);
            }
            at = place.next;
        }
        None
    }

    fn add(&mut self, record: Record) {
        let place = Place {
            record,
            is_used: true,
            next: NONE,
        };
        let at = match self.free.pop() {
            Some(at) => {
                self.places[at as usize] = place;
                at
            }
            None if self.places.len() < self.capacity => {
                self.places.push(place);
                self.places.len() as u32 - 1
            }
            None => {
                let at = self.hand;
                self.hand = (at + 1) % self.capacity;
                self.end(at, End::NoRoom);
                self.free.pop();
                self.places[at] = place;
                at as u32
            }
        };
        let home = self.home(&record.flow);
        self.places[at as usize].next = std::mem::replace(&mut self.heads[home], at);
    }

    /// The flow at `at` waits to be told of, and its place is free.
    fn end(&mut self, at: usize, why: End) {
        let Place { record, next, .. } = self.places[at];
        self.done.push(Record { end: why, ..record });
        self.places[at].is_used = false;
        let home = self.home(&record.flow);
        let mut before = self.heads[home];
        if before as usize == at {
            self.heads[home] = next;
        }
        while let Some(place) = self.places.get_mut(before as usize) {
            if place.next as usize == at {
                place.next = next;
                break;
            }
            before = place.next;
        }
        self.free.push(at as u32);
    }

    fn count(&mut self, now: Timestamp, seen: &Seen) {
        let at = self.find(&seen.flow);
        // What comes after the end of a flow is another, unless it is the rest of the closing.
        let Some(at) = at else {
            return self.add(Record {
                flow: seen.flow,
                tos: seen.tos,
                tcp_flags: seen.tcp_flags,
                packets: 1,
                bytes: seen.bytes,
                first: now,
                last: now,
                end: End::Idle,
            });
        };
        let record = &mut self.places[at].record;
        record.packets += 1;
        record.bytes += seen.bytes;
        record.tcp_flags |= seen.tcp_flags;
        record.last = now;
    }

    fn end_what_is_over(&mut self, now: Timestamp) {
        let is_forced = std::mem::take(&mut self.is_forced);
        for at in 0..self.places.len() {
            let Place {
                record, is_used, ..
            } = &self.places[at];
            if !is_used {
                continue;
            }
            let why = if record.tcp_flags & FIN_RST != 0 {
                End::Closed
            } else if (now - record.last).0 >= self.inactive.0 {
                End::Idle
            } else if (now - record.first).0 >= self.active.0 {
                End::Active
            } else if is_forced {
                End::Forced
            } else {
                continue;
            };
            self.end(at, why);
        }
    }

    fn tell(&mut self, ctx: &mut Ctx, now: Timestamp) {
        let mut told = 0;
        while told < self.done.len() {
            let templates = now >= self.templates_due;
            if templates {
                self.templates_due = now + self.template_gap;
            }
            let (count, message) = self.exporter.make(now, &self.done[told..], templates);
            told += count;
            self.exported += count as u64;
            self.messages += 1;
            let pool = ctx.pool();
            if let Some(packet) = pool.alloc_with(message) {
                pool[&packet].set_timestamp(now);
                ctx.emit(1, packet);
            }
        }
        self.done.clear();
    }
}

impl Element for IpfixExport {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut said = Diagnostics::new();
        self.exporter.format = match args.uint("VERSION") {
            9 => Format::NetFlow9,
            10 => Format::Ipfix,
            _ => {
                said.error(None, "VERSION must be 9 or 10");
                Format::default()
            }
        };
        self.exporter.domain = args.uint("DOMAIN") as u32;
        let mtu = args.uint("MTU");
        if !(LEAST_MTU..=65535).contains(&mtu) {
            said.error(None, format!("MTU must be between {LEAST_MTU} and 65535"));
        }
        self.exporter.most = mtu as usize;
        self.active = args.timestamp("ACTIVE");
        self.inactive = args.timestamp("INACTIVE");
        self.template_gap = args.timestamp("TEMPLATES");
        let capacity = args.uint("CAPACITY");
        if !(1..=1 << 24).contains(&capacity) {
            said.error(None, format!("CAPACITY must be between 1 and {}", 1 << 24));
        }
        if said.has_errors() {
            return Err(said);
        }
        self.capacity = capacity as usize;
        self.heads = vec![NONE; self.capacity.next_power_of_two()];
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.exporter.start = ctx.now();
        let timer = ctx.new_timer(0);
        ctx.set_timer_after(timer, LOOK_GAP);
        self.timer = Some(timer);
        Ok(())
    }

    fn run_timer(&mut self, ctx: &mut Ctx, _: u32) {
        let now = ctx.now();
        self.end_what_is_over(now);
        self.tell(ctx, now);
        if let Some(timer) = self.timer {
            ctx.set_timer_after(timer, LOOK_GAP);
        }
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let now = ctx.now();
        for packet in batch.iter() {
            if let Some(seen) = look(ctx.pool()[packet].network_header()) {
                self.count(now, &seen);
            }
        }
        if self.done.len() >= PATIENCE {
            self.tell(ctx, now);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("flows", "r"),
            Handler::new("exported", "r"),
            Handler::new("messages", "r"),
            Handler::new("flush", "wb"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "flows" => (self.places.len() - self.free.len()).to_string(),
            "exported" => self.exported.to_string(),
            _ => self.messages.to_string(),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, _: &str, _: &str) -> Result<(), String> {
        self.is_forced = true;
        let now = ctx.now();
        if let Some(timer) = self.timer {
            ctx.set_timer(timer, now);
        }
        Ok(())
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        let entries = self.places.len() - self.free.len();
        vec![
            ("capacity", self.capacity as f64),
            ("entries", entries as f64),
        ]
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{Run, errors, loaded};
    use crate::probe::udp;

    fn exporter(arguments: &str) -> Run {
        loaded(&format!(
            "x :: IPFIXExport({arguments}); Idle -> x; x[0] -> Idle; x[1] -> c :: Counter \
             -> Discard;"
        ))
    }

    fn send(run: &mut Run, packet: &[u8]) {
        let x = run.ctx.find("x", None).expect("declared");
        let pool = run.ctx.pool();
        let handle = pool.alloc_with(packet).expect("room");
        crate::headers::ip_packet::mark(&mut pool[&handle], 0);
        for (port, handle) in run.ctx.pass(x, vec![handle]) {
            let pool = run.ctx.pool();
            // A message about flows that made room may leave by the other output.
            assert!(port == 1 || pool[&handle].data() == packet);
            pool.free(handle);
        }
    }

    /// Source port `port`.
    fn of(port: u16) -> Vec<u8> {
        let mut packet = udp(9, b"data");
        packet[20..22].copy_from_slice(&port.to_be_bytes());
        packet
    }

    #[test]
    fn a_flow_is_told_of_when_it_is_idle() {
        let mut run = exporter("INACTIVE 5");
        for port in [1, 1, 2] {
            send(&mut run, &of(port));
        }
        assert_eq!(run.read("x.flows"), "2");
        run.run(4.5);
        assert_eq!(
            (run.read("x.flows"), run.read("c.count")),
            ("2".into(), "0".into())
        );
        run.run(3.0);
        assert_eq!(
            (run.read("x.flows"), run.read("x.exported")),
            ("0".into(), "2".into())
        );
        assert_eq!(
            (run.read("c.count"), run.ctx.pool().in_use()),
            ("1".into(), 0)
        );
    }

    #[test]
    fn the_rest_is_told_of_when_asked_for() {
        let mut run = exporter("VERSION 9");
        send(&mut run, &of(1));
        run.write("x.flush", "").expect("it can be written");
        run.run(0.5);
        assert_eq!(
            (run.read("x.flows"), run.read("c.count")),
            ("0".into(), "1".into())
        );
    }

    #[test]
    fn a_full_table_makes_room_and_loses_no_flow() {
        let mut run = exporter("CAPACITY 10, INACTIVE 5");
        for port in 0..200 {
            send(&mut run, &of(port));
        }
        assert_eq!(run.read("x.flows"), "10");
        run.run(7.0);
        assert_eq!(
            (run.read("x.flows"), run.read("x.exported")),
            ("0".into(), "200".into())
        );
    }

    #[test]
    fn tcp_s_end_ends_a_flow() {
        let mut run = exporter("");
        let mut packet = udp(9, &[0; 20]);
        (packet[9], packet[33]) = (6, 0x11);
        send(&mut run, &packet);
        run.run(1.5);
        assert_eq!(run.read("x.exported"), "1");
    }

    #[test]
    fn wrong_arguments_are_told() {
        let said = errors(
            "x :: IPFIXExport(VERSION 5, MTU 9, CAPACITY 0); Idle -> x -> Idle; x[1] -> Idle",
        );
        for part in ["VERSION must", "MTU must", "CAPACITY must"] {
            assert!(said.contains(part), "{said}");
        }
    }
}
