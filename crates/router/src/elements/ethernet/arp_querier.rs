//! Puts packets into Ethernet frames to addresses that it asks for by ARP.
//!
//! # What it does
//! An IP packet at input 0 leaves output 0 in a frame to its destination annotation's Ethernet
//! address. Where that is not known the packet waits and a question leaves the last output, at most
//! ten a second for an address. Answers, as whole frames, come to input 1. Addresses of groups need
//! no question (RFC 1112, §6.4).
//!
//! # Handlers
//! - `queries`: requests that were sent
//! - `responses`: replies that came
//! - `ipaddr`: the address of IP that asks
//!
//! # Example
//! ```click
//! // IP packets get the Ethernet address of the next hop; ARP replies go in by input 1.
//! q :: ARPQuerier(10.0.0.1, 2:0:0:0:0:1) -> Queue -> ToDevice(eth0);
//! FromDevice(eth0) -> c :: Classifier(12/0806 20/0002, -); c[0] -> [1] q; c[1] -> Discard;
//! RatedSource(RATE 1) -> UDPIPEncap(10.0.0.1, 1000, 10.0.0.2, 1000) -> [0] q
//! ```
//!
//! # Cost
//! A lookup in a small table and fourteen bytes written.
//!
//! # References
//! RFC 826.

use super::arp_table::{ArpTable, first_slimming, interval};
use crate::args::{Args, Kind, Need, Param, flag, keyword, mandatory, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::element::cast;
use crate::engine::setup::Setup;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element, ElementId, Handler};
use crate::neighbours::arp::{self, Party};
use crate::neighbours::{Neighbours, Waits};
use crate::reason::Reason;
use std::net::Ipv4Addr;
use trammel_packet::anno;
use trammel_packet::batch::Batch;
use trammel_packet::headers::U16;
use trammel_packet::headers::arp::{OP_REPLY, OP_REQUEST};
use trammel_packet::headers::ether::{BROADCAST, Ether, ethertype};
use trammel_packet::packet::Packet;
use trammel_packet::pool::Handle;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "ARPQuerier",
    "puts IP packets into Ethernet frames to addresses found by ARP",
    || Box::<ArpQuerier>::default(),
)
.ports("2/1-2", "h/h")
.flow("xy/x")
.references(&["RFC 826", "RFC 1112"])
.live()
.params(&[
    param(
        "ADDRESSES",
        Need::Rest,
        Kind::Raw,
        "",
        "this host's addresses, or a name for both",
    ),
    arp::CAPACITY,
    arp::ENTRY_CAPACITY,
    arp::ENTRY_PACKET_CAPACITY,
    arp::CAPACITY_SLIM_FACTOR,
    arp::TIMEOUT,
    keyword(
        "BROADCAST",
        Kind::Ip,
        "",
        "the network's broadcast address, unless the prefix of `IP` tells it",
    ),
    keyword(
        "TABLE",
        Kind::Element,
        "",
        "the `ARPTable` to use instead of one of its own",
    ),
    keyword(
        "POLL_TIMEOUT",
        Kind::Timestamp,
        "60",
        "after what time a known address is asked for again; 0 is never",
    ),
    flag(
        "BROADCAST_POLL",
        "false",
        "whether known addresses are asked for by broadcast",
    ),
])
.ops(
    "ht_lookup(1, 8, 3 * entries, 0) by 4; array_access(48, entries) by 4; \
     deparse(14); work(70)",
);

/// This host's addresses; they stand by place after the keywords are taken out.
const ADDRESSES: &[Param] = &[
    mandatory(
        "IP",
        Kind::PrefixOrIp,
        "this host's IP address, perhaps with its network's prefix",
    ),
    mandatory("ETH", Kind::Ether, "this host's Ethernet address"),
];

#[derive(Debug, Default)]
struct ArpQuerier {
    me: Party,
    /// The header of frames, but for the destination.
    header: Ether,
    broadcast: u32,
    poll_ms: i64,
    polls_all: bool,
    is_configured: bool,
    /// What the table knows is of another address of this host.
    is_stale: bool,
    own: Neighbours<u32>,
    shared: Option<ElementId>,
    timer: Option<TimerId>,
    has_warned: bool,
    queries: u64,
    responses: u64,
    drops: u64,
}

/// Time and VLAN of a packet for which a question is asked.
type Cause = (Timestamp, u16);

fn cause(packet: &Packet) -> Cause {
    (packet.timestamp(), packet.anno_u16(anno::VLAN_TCI))
}

impl ArpQuerier {
    /// Runs `work` with the table, wherever it is.
    fn with_table<R>(
        &mut self,
        ctx: &mut Ctx,
        work: impl FnOnce(&mut ArpQuerier, &mut Ctx, &mut Neighbours<u32>) -> R,
    ) -> R {
        let shared = self.shared.and_then(|id| ctx.get::<ArpTable>(id));
        let mut table = std::mem::take(match shared {
            Some(shared) => &mut shared.neighbours,
            None => &mut self.own,
        });
        if std::mem::take(&mut self.is_stale) && self.shared.is_none() {
            table.clear(ctx);
        }
        let result = work(self, ctx, &mut table);
        match self.shared.and_then(|id| ctx.get::<ArpTable>(id)) {
            Some(shared) => shared.neighbours = table,
            None => self.own = table,
        }
        result
    }

    #[inline]
    fn encapsulate(&self, packet: &mut Packet, to: [u8; 6]) {
        let header = Ether {
            dst: to,
            ..self.header
        };
        packet.push(Ether::LEN).copy_from_slice(header.bytes());
        packet.set_mac_header(0);
    }

    /// Sends a question. It has the time and the VLAN of the packet that is its cause.
    fn ask(&mut self, ctx: &mut Ctx, ip: u32, to: [u8; 6], (at, vlan): Cause) {
        let target = Party {
            ether: [0; 6],
            ip: ip.to_be_bytes(),
        };
        let frame = arp::frame(to, OP_REQUEST, self.me, target);
        let pool = ctx.pool();
        let Some(question) = pool.alloc_with(&frame) else {
            return;
        };
        let packet = &mut pool[&question];
        arp::mark(packet);
        packet.set_timestamp(at);
        packet.set_anno_u16(anno::VLAN_TCI, vlan);
        self.queries += 1;
        ctx.emit(ctx.outputs() - 1, question);
    }

    fn resolve(&mut self, ctx: &mut Ctx, table: &mut Neighbours<u32>, mut batch: Batch) {
        if self.me.ip == [0; 4] {
            self.drops += batch.len() as u64;
            ctx.drop_all(&mut batch, Reason::Inactive);
        }
        let (now, poll) = (arp::now_ms(ctx), self.poll_ms);
        batch.filter(|h| {
            let packet = &mut ctx.pool()[&h];
            let ip = u32::from_be_bytes(packet.anno_bytes(anno::DST_IP));
            let Some(known) = table.lookup(ip, now, poll) else {
                return self.unknown(ctx, table, h, ip, now);
            };
            self.encapsulate(packet, known.address);
            if known.ask {
                let to = if self.polls_all {
                    BROADCAST
                } else {
                    known.address
                };
                let cause = cause(&ctx.pool()[&h]);
                self.ask(ctx, ip, to, cause);
            }
            Some(h)
        });
        ctx.emit_all(0, batch);
    }

    #[cold]
    fn unknown(
        &mut self,
        ctx: &mut Ctx,
        table: &mut Neighbours<u32>,
        h: Handle,
        ip: u32,
        now: i64,
    ) -> Option<Handle> {
        let [_, a, b, c] = ip.to_be_bytes();
        let group = if ip == u32::MAX || ip == self.broadcast {
            BROADCAST
        } else if Ipv4Addr::from(ip).is_multicast() {
            [0x01, 0x00, 0x5E, a & 0x7F, b, c]
        } else if ip == 0 {
            if !std::mem::replace(&mut self.has_warned, true) {
                let text = format!(
                    "{}: would query for 0.0.0.0; missing dest IP addr annotation?\n",
                    ctx.declaration(ctx.me())
                );
                ctx.host().say(&text);
            }
            self.drops += 1;
            ctx.drop(h, Reason::NoNeighbour);
            return None;
        } else {
            let cause = cause(&ctx.pool()[&h]);
            if table.wait(ctx, ip, h, now) == (Waits::Queued { ask: true }) {
                self.ask(ctx, ip, BROADCAST, cause);
            }
            return None;
        };
        self.encapsulate(&mut ctx.pool()[&h], group);
        Some(h)
    }

    fn learn(&mut self, ctx: &mut Ctx, table: &mut Neighbours<u32>, mut batch: Batch) {
        let now = arp::now_ms(ctx);
        batch.filter(|h| {
            let data = ctx.pool()[&h].data();
            self.responses += u64::from(data.len() >= arp::FRAME_LEN);
            let reply = arp::read(data).filter(|arp| arp.op.get() == OP_REPLY);
            let told = reply.map(|arp| (u32::from_be_bytes(arp.spa), arp.sha));
            ctx.drop(h, Reason::Consumed);
            let (ip, ether) = told.filter(|(_, ether)| ether[0] & 1 == 0)?;
            table.learn(ctx, ip, ether, now);
            while let Some(waited) = table.pop_waiting(ip) {
                self.encapsulate(&mut ctx.pool()[&waited], ether);
                ctx.emit(0, waited);
            }
            None
        });
        ctx.recycle(batch);
    }
}

impl Element for ArpQuerier {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut rest = args.rest().to_vec();
        if let [both] = &rest[..] {
            rest.push(both.clone());
        }
        let addresses = Args::resolve_list(ADDRESSES, &rest, &setup.names(), None)?;
        let mut limits = self.own.limits;
        arp::set_limits(&mut limits, args).map_err(|why| {
            let mut said = Diagnostics::new();
            said.error(None, why);
            said
        })?;
        self.own.limits = limits;
        let prefix = addresses.prefix("IP");
        let me = Party {
            ether: addresses.ether("ETH").0,
            ip: prefix.address.octets(),
        };
        self.is_stale = self.is_configured && me != self.me;
        self.me = me;
        self.header = Ether {
            src: me.ether,
            ethertype: U16::new(ethertype::IP),
            ..Ether::default()
        };
        self.broadcast = match args.opt_ip("BROADCAST") {
            Some(ip) => ip.to_bits(),
            None => match prefix.address.to_bits() | !prefix.mask.to_bits() {
                ip if ip == prefix.address.to_bits() => u32::MAX,
                ip => ip,
            },
        };
        if !self.is_configured {
            self.shared = args.opt_element("TABLE").flatten();
        }
        if !self.is_configured || args.given("POLL_TIMEOUT") {
            self.poll_ms = arp::timeout_ms(args.timestamp("POLL_TIMEOUT"));
        }
        if !self.is_configured || args.given("BROADCAST_POLL") {
            self.polls_all = args.bool("BROADCAST_POLL");
        }
        self.is_configured = true;
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        if let Some(id) = self.shared {
            let is_table = ctx.get::<ArpTable>(id).is_some();
            return is_table
                .then_some(())
                .ok_or_else(|| "TABLE: element type mismatch, expected ARPTable".to_owned());
        }
        if let Some(after) = first_slimming(&self.own) {
            let timer = ctx.new_timer(0);
            ctx.set_timer_after(timer, after);
            self.timer = Some(timer);
        }
        Ok(())
    }

    fn run_timer(&mut self, ctx: &mut Ctx, _: u32) {
        let now = arp::now_ms(ctx);
        self.own.slim(ctx, now);
        if let (Some(timer), Some(after)) = (self.timer, interval(&self.own)) {
            ctx.set_timer_after(timer, after);
        }
    }

    fn push(&mut self, ctx: &mut Ctx, port: usize, batch: Batch) {
        self.with_table(ctx, |me, ctx, table| match port {
            0 => me.resolve(ctx, table, batch),
            _ => me.learn(ctx, table, batch),
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        [
            ("table", "r"),
            ("stats", "r"),
            ("count", "r"),
            ("length", "r"),
            ("queries", "r"),
            ("responses", "r"),
            ("drops", "r"),
            ("broadcast", "rw"),
            ("ipaddr", "rw"),
            ("insert", "w"),
            ("delete", "w"),
            ("clear", "w"),
        ]
        .map(|(name, letters)| Handler::new(name, letters))
        .to_vec()
    }

    fn read(&mut self, ctx: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(self.with_table(ctx, |me, ctx, table| match name {
            "table" => arp::table_text(table, arp::now_ms(ctx)),
            "stats" => format!(
                "{} packets killed\n{} ARP queries sent\n",
                me.drops + table.drops(),
                me.queries
            ),
            "count" => table.count().to_string(),
            "length" => table.waiting().to_string(),
            "queries" => me.queries.to_string(),
            "responses" => me.responses.to_string(),
            "drops" => me.drops.to_string(),
            "broadcast" => Ipv4Addr::from(me.broadcast).to_string(),
            _ => Ipv4Addr::from(me.me.ip).to_string(),
        }))
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        match name {
            "broadcast" | "ipaddr" => {
                let ip = crate::args::addresses::parse_ip(value.trim(), &ctx.names())
                    .map_err(|why| why.to_string())?;
                if name == "ipaddr" {
                    self.me.ip = ip.octets();
                } else {
                    self.broadcast = ip.to_bits();
                }
                return Ok(());
            }
            "clear" => (self.queries, self.responses, self.drops) = (0, 0, 0),
            _ => {}
        }
        self.with_table(ctx, |_, ctx, table| arp::write(table, ctx, name, value))
    }

    fn take_state(&mut self, _: &mut Ctx, old: &mut dyn Element) {
        let Some(old) = cast::<ArpQuerier>(old) else {
            return;
        };
        if self.me != old.me || self.broadcast != old.broadcast {
            return;
        }
        if self.shared.is_none() && old.shared.is_none() {
            self.own.take(&mut old.own);
        }
        (self.queries, self.responses, self.drops) = (old.queries, old.responses, old.drops);
    }

    fn cleanup(&mut self, ctx: &mut Ctx) {
        self.own.clear(ctx);
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        vec![("entries", f64::from(self.own.count()))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::testing::{Run, errors, loaded};
    use crate::probe::Left;

    /// A querier between ends that do nothing.
    struct Querier {
        run: Run,
        id: ElementId,
    }

    const ME: Party = Party {
        ether: [2, 1, 1, 1, 1, 1],
        ip: [1, 0, 0, 3],
    };

    fn querier(more: &str) -> Querier {
        let run = loaded(&format!(
            "t :: ARPTable; x :: ARPQuerier(1.0.0.3/24, 2:1:1:1:1:1{more}); Idle -> x; Idle \
             -> [1]x;\
             x -> Idle; x[1] -> Idle;"
        ));
        let id = run.ctx.find("x", None).expect("declared");
        Querier { run, id }
    }

    impl Querier {
        fn push(&mut self, port: usize, data: &[u8], ip: [u8; 4]) -> Vec<Left> {
            let pool = self.run.ctx.pool();
            let h = pool.alloc_with(data).expect("room");
            pool[&h].set_anno_bytes(anno::DST_IP, ip);
            let left = self.run.ctx.pass_to(self.id, port, vec![h]);
            let mut out = Vec::new();
            for (port, h) in left {
                out.push((port, self.run.ctx.pool()[&h].data().to_vec()));
                self.run.ctx.pool().free(h);
            }
            out
        }

        fn reply(&mut self, ip: [u8; 4], ether: [u8; 6]) -> Vec<Left> {
            let frame = arp::frame(ME.ether, OP_REPLY, Party { ether, ip }, ME);
            self.push(1, &frame, [0; 4])
        }
    }

    #[test]
    fn packets_wait_for_the_answer_and_leave_in_order() {
        let mut x = querier("");
        let asked = x.push(0, b"one", [1, 0, 0, 9]);
        let target = Party {
            ether: [0; 6],
            ip: [1, 0, 0, 9],
        };
        let question = arp::frame(BROADCAST, OP_REQUEST, ME, target);
        assert_eq!(asked, [(1, question.to_vec())]);
        assert_eq!(x.push(0, b"two", [1, 0, 0, 9]), []);
        assert_eq!(x.run.read("x.length"), "2");
        let left = x.reply([1, 0, 0, 9], [2, 9, 9, 9, 9, 9]);
        let frame = |data: &[u8]| {
            let mut frame = b"\x02\x09\x09\x09\x09\x09\x02\x01\x01\x01\x01\x01\x08\x00".to_vec();
            frame.extend(data);
            (0, frame)
        };
        assert_eq!(left, [frame(b"one"), frame(b"two")]);
        assert_eq!(x.push(0, b"three", [1, 0, 0, 9]), [frame(b"three")]);
        assert_eq!(
            x.run.read("x.stats"),
            "0 packets killed\n1 ARP queries sent\n"
        );
        assert_eq!(x.run.ctx.pool().in_use(), 0);
    }

    #[test]
    fn groups_need_no_question_and_the_zero_address_gets_none() {
        let mut x = querier("");
        for (ip, ether) in [
            ([1, 0, 0, 255], BROADCAST),
            ([255; 4], BROADCAST),
            ([224, 129, 2, 3], [1, 0, 0x5E, 1, 2, 3]),
        ] {
            assert_eq!(x.push(0, b"x", ip)[0].1[..6], ether);
        }
        assert_eq!(x.push(0, b"x", [0; 4]), []);
        assert_eq!(x.push(0, b"x", [0; 4]), []);
        assert_eq!(x.run.read("x.drops"), "2");
        let said = x.run.host.memory().said.clone();
        assert_eq!(
            said,
            "x :: ARPQuerier: would query for 0.0.0.0; missing dest IP addr annotation?\n"
        );
    }

    #[test]
    fn lies_teach_nothing() {
        let mut x = querier("");
        x.push(0, b"x", [1, 0, 0, 9]);
        assert_eq!(x.reply([1, 0, 0, 9], BROADCAST), []);
        let frame = arp::frame(
            ME.ether,
            OP_REPLY,
            Party {
                ether: [2; 6],
                ip: [1, 0, 0, 9],
            },
            ME,
        );
        for len in 0..frame.len() {
            assert_eq!(x.push(1, &frame[..len], [0; 4]), []);
        }
        assert_eq!(x.run.read("x.length"), "1");
        x.run.ctx.cleanup();
        assert_eq!(x.run.ctx.pool().in_use(), 0);
    }

    #[test]
    fn an_old_address_is_asked_for_while_it_is_used() {
        let mut x = querier(", POLL_TIMEOUT 1s");
        x.reply([1, 0, 0, 9], [2; 6]);
        x.run.run(1.1);
        let left = x.push(0, b"x", [1, 0, 0, 9]);
        assert_eq!(left.len(), 2, "{left:?}");
        assert!(
            left.iter()
                .any(|(port, frame)| *port == 1 && frame[..6] == [2; 6])
        );
        assert_eq!(x.push(0, b"x", [1, 0, 0, 9]).len(), 1);
    }

    #[test]
    fn a_table_may_be_shared() {
        let mut x = querier(", TABLE t");
        x.run
            .write("t.insert", "1.0.0.9 2:2:2:2:2:2")
            .expect("right");
        assert_eq!(x.push(0, b"x", [1, 0, 0, 9])[0].1[..6], [2; 6]);
        assert_eq!(x.run.read("x.count"), "1");
    }

    #[test]
    fn a_table_must_be_one() {
        let said = errors(
            "x :: ARPQuerier(1.0.0.3, 2:1:1:1:1:1, TABLE i); i :: Idle -> x -> Idle; Idle -> [1]x;",
        );
        assert!(said.contains("expected ARPTable"), "{said}");
    }

    #[test]
    fn one_name_may_stand_for_both_addresses() {
        let mut run =
            loaded("x :: ARPQuerier(1.0.0.3, 2:1:1:1:1:1); Idle -> x -> Idle; Idle -> [1]x;");
        assert_eq!(run.read("x.ipaddr"), "1.0.0.3");
        assert_eq!(run.read("x.broadcast"), "255.255.255.255");
        let said = errors("x :: ARPQuerier(1.0.0.3); Idle -> x -> Idle; Idle -> [1]x;");
        assert!(said.contains("ETH"), "{said}");
    }
}
