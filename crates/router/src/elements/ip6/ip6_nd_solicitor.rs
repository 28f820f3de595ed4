//! Puts IPv6 packets into Ethernet frames to addresses that it asks for by neighbour discovery.
//!
//! # What it does
//! An IPv6 packet at input 0 leaves output 0 in a frame to its destination annotation's Ethernet
//! address. Where that is not known the packet waits, one for each address, and a solicitation
//! leaves the last output. Advertisements, as whole frames, come to input 1. Addresses of groups
//! need no question.
//!
//! # Example
//! ```click
//! // Packets get the Ethernet address of the next hop; advertisements go in by input 1.
//! n :: IP6NDSolicitor(fe80::1, 2:0:0:0:0:1) -> Queue -> ToDevice(eth0);
//! FromDevice(eth0) -> c :: Classifier(12/86dd 20/3a 54/88, 12/86dd, -); c[0] -> [1] n;
//! c[1] -> Strip(14) -> CheckIP6Header -> GetIP6Address(24) -> [0] n; c[2] -> Discard
//! ```
//!
//! # References
//! RFC 4861, §7.2; RFC 2464, §7.

use super::shared::neighbour_message::{self as message, Ends, link_group, solicited_node};
use crate::args::addresses::{EtherAddress, unparse_ip6};
use crate::args::{Args, Kind, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::element::cast;
use crate::engine::setup::Setup;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::ip6_packet::destination;
use crate::neighbours::arp::now_ms;
use crate::neighbours::{Limits, Neighbours, Waits};
use crate::reason::Reason;
use trammel_packet::batch::Batch;
use trammel_packet::headers::U16;
use trammel_packet::headers::ether::{Ether, ethertype};
use trammel_packet::headers::icmp6::{flag, kind};
use trammel_packet::packet::Packet;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "IP6NDSolicitor",
    "puts IPv6 packets into Ethernet frames to addresses found by neighbour discovery",
    || Box::<Ip6NdSolicitor>::default(),
)
.ports("2/1-2", "h/h")
.flow("xy/x")
.references(&["RFC 4861, §7.2", "RFC 2464, §7"])
.params(&[
    mandatory("IP", Kind::Ip6, "this host's IPv6 address"),
    mandatory("ETH", Kind::Ether, "this host's Ethernet address"),
])
.ops(
    "ht_lookup(2, 32, 3 * entries, 0) by 4; array_access(64, entries) by 4; \
     deparse(14); work(80)",
);

/// Milliseconds that an address is good for, and after which it is asked for again, as in Click.
const TIMEOUT_MS: i64 = 120_000;
const POLL_MS: i64 = 60_000;
/// Between two looks for what is too old.
const SLIM_GAP: Timestamp = Timestamp(15_000_000_000);

#[derive(Debug)]
struct Ip6NdSolicitor {
    ip: [u8; 16],
    ether: [u8; 6],
    table: Neighbours<u128>,
    timer: Option<TimerId>,
    queries: u64,
}

impl Default for Ip6NdSolicitor {
    fn default() -> Ip6NdSolicitor {
        let mut table = Neighbours::default();
        table.limits = Limits {
            packets_of_entry: 1,
            newest_stays: true,
            timeout_ms: TIMEOUT_MS,
            ..Limits::default()
        };
        Ip6NdSolicitor {
            ip: [0; 16],
            ether: [0; 6],
            table,
            timer: None,
            queries: 0,
        }
    }
}

fn encapsulate(packet: &mut Packet, from: [u8; 6], to: [u8; 6]) {
    let header = Ether {
        dst: to,
        src: from,
        ethertype: U16::new(ethertype::IP6),
    };
    packet.push(Ether::LEN).copy_from_slice(header.bytes());
    packet.set_mac_header(0);
}

impl Ip6NdSolicitor {
    fn ask(&mut self, ctx: &mut Ctx, target: [u8; 16], at: Timestamp) {
        let dst = solicited_node(target);
        let ends = Ends {
            from: self.ether,
            to: link_group(dst),
            src: self.ip,
            dst,
        };
        let frame = message::frame(kind::NEIGHBOR_SOLICITATION, ends, 0, target);
        let pool = ctx.pool();
        let Some(question) = pool.alloc_with(&frame) else {
            return;
        };
        message::mark(&mut pool[&question]);
        pool[&question].set_timestamp(at);
        self.queries += 1;
        ctx.emit(ctx.outputs() - 1, question);
    }

    fn resolve(&mut self, ctx: &mut Ctx, mut batch: Batch) {
        let now = now_ms(ctx);
        batch.filter(|handle| {
            let packet = &mut ctx.pool()[&handle];
            let (to, at) = (destination(packet), packet.timestamp());
            if to[0] == 0xFF {
                encapsulate(packet, self.ether, link_group(to));
                return Some(handle);
            }
            let key = u128::from_be_bytes(to);
            let Some(known) = self.table.lookup(key, now, POLL_MS) else {
                if self.table.wait(ctx, key, handle, now) == (Waits::Queued { ask: true }) {
                    self.ask(ctx, to, at);
                }
                return None;
            };
            encapsulate(packet, self.ether, known.address);
            if known.ask {
                self.ask(ctx, to, at);
            }
            Some(handle)
        });
        ctx.emit_all(0, batch);
    }

    fn learn(&mut self, ctx: &mut Ctx, mut batch: Batch) {
        let now = now_ms(ctx);
        batch.filter(|handle| {
            let told = message::read(ctx.pool()[&handle].data(), kind::NEIGHBOR_ADVERTISEMENT);
            ctx.drop(handle, Reason::Consumed);
            let told = told?;
            let (key, address) = (u128::from_be_bytes(told.target), told.address?);
            //= rfc4861 §7.2.5
            //# If no entry exists, the advertisement SHOULD be silently discarded.
            if !self.table.contains(key) || address[0] & 1 != 0 {
                return None;
            }
            // What does not override an address that is known changes nothing.
            let is_other = |known: crate::neighbours::Known| known.address != address;
            if told.flags & flag::OVERRIDE == 0
                && self.table.lookup(key, now, 0).is_some_and(is_other)
            {
                return None;
            }
            self.table.learn(ctx, key, address, now);
            while let Some(waited) = self.table.pop_waiting(key) {
                encapsulate(&mut ctx.pool()[&waited], self.ether, address);
                ctx.emit(0, waited);
            }
            None
        });
        ctx.recycle(batch);
    }
}

impl Element for Ip6NdSolicitor {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.ip = args.ip6("IP").octets();
        self.ether = args.ether("ETH").0;
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let timer = ctx.new_timer(0);
        ctx.set_timer_after(timer, SLIM_GAP);
        self.timer = Some(timer);
        Ok(())
    }

    fn run_timer(&mut self, ctx: &mut Ctx, _: u32) {
        let now = now_ms(ctx);
        self.table.slim(ctx, now);
        if let Some(timer) = self.timer {
            ctx.set_timer_after(timer, SLIM_GAP);
        }
    }

    fn push(&mut self, ctx: &mut Ctx, port: usize, batch: Batch) {
        match port {
            0 => self.resolve(ctx, batch),
            _ => self.learn(ctx, batch),
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("table", "r"), Handler::new("stats", "r")]
    }

    fn read(&mut self, ctx: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        if name == "stats" {
            return Ok(format!(
                "{} packets killed\n{} ND Solicitation Message sent\n",
                self.table.drops(),
                self.queries
            ));
        }
        let line = |line: &crate::neighbours::Line<u128>| {
            let never = line.address == EtherAddress::BROADCAST.0;
            let address = if never { [0; 6] } else { line.address };
            format!(
                "{} {} {}\n",
                unparse_ip6(line.key.into()),
                u8::from(line.is_known),
                EtherAddress(address)
            )
        };
        Ok(self.table.lines(now_ms(ctx)).iter().map(line).collect())
    }

    fn take_state(&mut self, _: &mut Ctx, old: &mut dyn Element) {
        if let Some(old) = cast::<Ip6NdSolicitor>(old)
            && (self.ip, self.ether) == (old.ip, old.ether)
        {
            self.table.take(&mut old.table);
            self.queries = old.queries;
        }
    }

    fn cleanup(&mut self, ctx: &mut Ctx) {
        self.table.clear(ctx);
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        vec![("entries", f64::from(self.table.count()))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::ip6_packet::set_destination;
    use crate::load::testing::{Run, loaded};

    const TARGET: [u8; 16] = [0x20, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xAB, 0xCD, 0xEF];

    fn solicitor() -> Run {
        loaded(
            "x :: IP6NDSolicitor(2001::1, 2:0:0:0:0:1); Idle -> x; Idle -> [1]x;
             x[0] -> Idle; x[1] -> Idle;",
        )
    }

    fn send(run: &mut Run, input: usize, data: &[u8], to: [u8; 16]) -> Vec<(usize, Vec<u8>)> {
        let x = run.ctx.find("x", None).expect("declared");
        let pool = run.ctx.pool();
        let packet = pool.alloc_with(data).expect("room");
        set_destination(&mut pool[&packet], to);
        let left = run.ctx.pass_to(x, input, vec![packet]);
        let pool = run.ctx.pool();
        let bytes = left
            .iter()
            .map(|(port, h)| (*port, pool[h].data().to_vec()));
        let bytes = bytes.collect();
        for (_, h) in left {
            pool.free(h);
        }
        bytes
    }

    fn advertisement(flags: u32, last: u8) -> Vec<u8> {
        let ends = Ends {
            from: [2, 0, 0, 0, 0, last],
            to: [2, 0, 0, 0, 0, 1],
            src: TARGET,
            dst: [1; 16],
        };
        message::frame(kind::NEIGHBOR_ADVERTISEMENT, ends, flags, TARGET).to_vec()
    }

    #[test]
    fn a_packet_waits_until_its_neighbour_is_known() {
        let mut run = solicitor();
        let left = send(&mut run, 0, b"first", TARGET);
        assert_eq!((left.len(), left[0].0), (1, 1));
        assert_eq!(left[0].1[..6], [0x33, 0x33, 0xFF, 0xAB, 0xCD, 0xEF]);
        let asked = message::read(&left[0].1, kind::NEIGHBOR_SOLICITATION).expect("a question");
        assert_eq!(
            (asked.target, asked.address),
            (TARGET, Some([2, 0, 0, 0, 0, 1]))
        );
        // The newer packet takes the place of the older; the question is not repeated so soon.
        assert_eq!(send(&mut run, 0, b"second", TARGET), []);
        assert_eq!(run.ctx.pool().in_use(), 1);
        let left = send(&mut run, 1, &advertisement(flag::SOLICITED, 7), [0; 16]);
        let frame = [
            &[2, 0, 0, 0, 0, 7, 2, 0, 0, 0, 0, 1, 0x86, 0xDD][..],
            b"second",
        ]
        .concat();
        assert_eq!(left, [(0, frame)]);
        assert_eq!(send(&mut run, 0, b"third", TARGET)[0].1[5], 7);
        assert_eq!(run.read("x.table"), "2001::ab:cdef 1 02-00-00-00-00-07\n");
        assert_eq!(
            run.read("x.stats"),
            "1 packets killed\n1 ND Solicitation Message sent\n"
        );
        assert_eq!(run.ctx.pool().in_use(), 0);
    }

    #[test]
    fn only_what_overrides_changes_a_known_address() {
        let mut run = solicitor();
        send(&mut run, 1, &advertisement(0, 6), [0; 16]);
        assert_eq!(run.read("x.table"), "");
        send(&mut run, 0, b"x", TARGET);
        for (flags, last, now) in [(0, 7, 7), (0, 8, 7), (flag::OVERRIDE, 9, 9)] {
            send(&mut run, 1, &advertisement(flags, last), [0; 16]);
            assert_eq!(send(&mut run, 0, b"x", TARGET)[0].1[5], now);
        }
    }

    #[test]
    fn groups_need_no_question() {
        let left = send(&mut solicitor(), 0, b"x", message::ALL_NODES);
        assert_eq!(
            (left[0].0, &left[0].1[..6]),
            (0, &[0x33, 0x33, 0, 0, 0, 1][..])
        );
    }
}
