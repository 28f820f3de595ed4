//! Numbers the flows of TCP and UDP, and gives packets the number of theirs.
//!
//! # What it does
//! The annotation AGGREGATE becomes the flow's number, counted from 1; PAINT is 0 in the direction
//! of the flow's first packet, 1 in the other, and 2 more for ICMP errors about it. A flow that was
//! silent for its timeout, or TCP's that was closed and is opened again, is a new one. Fragments
//! wait until the first of their packet has told the ports, and so do later packets between the
//! same hosts. Other packets leave by output 1, or end here.
//!
//! # Example
//! ```click
//! FromDump(a.pcap, STOP true, FORCE_IP true) -> f :: AggregateIPFlows -> AggregateCounter
//!     -> Discard;
//! DriverManager(wait_stop, write f.clear, stop)
//! ```

use super::shared::aggregates::{Listeners, tree};
use crate::args::kinds::UINT;
use crate::args::{Args, Kind, keyword};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, ElementId, Handler};
use crate::graph::processing::Mode;
use crate::reason::Reason;
use crate::trace::output::Output;
use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::net::Ipv4Addr;
use trammel_packet::anno;
use trammel_packet::batch::{Batch, Packets};
use trammel_packet::headers::icmp::{Icmp, kind};
use trammel_packet::headers::ipv4::{Ipv4, MF, OFFSET_MASK, protocol};
use trammel_packet::packet::Packet;
use trammel_packet::pool::Handle;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new("AggregateIPFlows", "numbers the flows of packets", || {
    Box::<AggregateIpFlows>::default()
})
.ports("1/1-2", "a/ah")
.params(&[
    keyword(
        "TCP_TIMEOUT",
        UINT,
        "86400",
        "seconds after which a silent TCP flow is over",
    ),
    keyword(
        "TCP_DONE_TIMEOUT",
        UINT,
        "30",
        "the same, of a flow that both sides closed",
    ),
    keyword(
        "UDP_TIMEOUT",
        Kind::SecondsIn(0),
        "60",
        "seconds after which a silent UDP flow is over",
    ),
    keyword(
        "FRAGMENT_TIMEOUT",
        Kind::SecondsIn(0),
        "30",
        "seconds that fragments wait",
    ),
    keyword(
        "REAP",
        Kind::SecondsIn(0),
        "1200",
        "seconds between searches for flows that are over",
    ),
    keyword(
        "ICMP",
        Kind::Bool,
        "false",
        "whether ICMP errors are of the flow that they are about",
    ),
    keyword(
        "TRACEINFO",
        Kind::Filename,
        "",
        "a file that tells of each flow, in XML",
    ),
    keyword(
        "SOURCE",
        Kind::Element,
        "",
        "the element whose file and place that file tells",
    ),
    keyword(
        "FRAGMENTS",
        Kind::Bool,
        "",
        "whether fragments wait; not where packets are pulled",
    ),
])
.ops("parse(20); parse(14); trie_lookup(levels, bytes, bytes); work(50 * levels + 350)");

/// TCP's flags that matter here.
const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
/// Both sides of a TCP flow are closed.
const CLOSED: u8 = 3;

/// One after all times.
const FOR_EVER: i64 = i64::MAX / 2;

#[derive(Debug)]
struct AggregateFlow {
    /// The port of the lower address, then that of the higher.
    ports: (u16, u16),
    number: u32,
    /// Whether its first packet went from the higher address to the lower.
    reverse: bool,
    /// A bit for each side that closed it.
    closed: u8,
    first: Timestamp,
    last: Timestamp,
    file_place: u64,
    packets: [u64; 2],
}

/// A packet that waits for ports.
#[derive(Debug)]
struct Held {
    handle: Handle,
    identification: u16,
    is_fragment: bool,
    seconds: i64,
    flags: Option<u8>,
}

/// What goes on between two hosts.
#[derive(Debug, Default)]
struct Pair {
    flows: Vec<AggregateFlow>,
    held: VecDeque<Held>,
}

/// What a packet says of its flow.
struct Seen {
    is_tcp: bool,
    hosts: (u32, u32),
    /// From the higher address to the lower.
    reverse: bool,
    ports: Option<(u16, u16)>,
    is_fragment: bool,
    identification: u16,
    /// Of TCP, where the packet is not an ICMP error.
    flags: Option<u8>,
    paint: u8,
}

#[derive(Debug, Default)]
struct AggregateIpFlows {
    tcp_timeout: i64,
    tcp_done_timeout: i64,
    udp_timeout: i64,
    fragment_timeout: i64,
    reap_interval: i64,
    icmp: bool,
    fragments: bool,
    trace: Option<Output>,
    source: Option<ElementId>,
    /// Of UDP, of TCP.
    pairs: [BTreeMap<(u32, u32), Pair>; 2],
    flows: u32,
    /// The time of the last packet.
    now: i64,
    reap_at: i64,
    has_warned: bool,
    listeners: Listeners,
}

fn look(packet: &Packet, with_errors: bool) -> Option<Seen> {
    if !packet.has_network_header() {
        return None;
    }
    let mut bytes = packet.network_header();
    let mut ip = Ipv4::read(bytes)?;
    let mut paint = 0;
    let is_first = |ip: &Ipv4| ip.flags_fragment.get() & OFFSET_MASK == 0;
    if ip.protocol == protocol::ICMP && is_first(ip) && with_errors {
        const ERRORS: [u8; 5] = [
            kind::UNREACHABLE,
            kind::TIME_EXCEEDED,
            kind::PARAMETER_PROBLEM,
            kind::SOURCE_QUENCH,
            kind::REDIRECT,
        ];
        let message = bytes.get(usize::from(ip.version_ihl & 15) * 4..)?;
        if !ERRORS.contains(message.first()?) {
            return None;
        }
        bytes = message.get(Icmp::LEN..)?;
        ip = Ipv4::read(bytes)?;
        paint = 2;
    }
    let header = usize::from(ip.version_ihl & 15) * 4;
    let is_tcp = ip.protocol == protocol::TCP;
    let (src, dst) = (u32::from_be_bytes(ip.src), u32::from_be_bytes(ip.dst));
    if !is_tcp && ip.protocol != protocol::UDP || src == 0 && dst == 0 || header < Ipv4::LEN {
        return None;
    }
    let mut seen = Seen {
        is_tcp,
        hosts: (src.min(dst), src.max(dst)),
        reverse: src > dst,
        ports: None,
        is_fragment: ip.flags_fragment.get() & (OFFSET_MASK | MF) != 0,
        identification: ip.identification.get(),
        flags: None,
        paint,
    };
    if is_first(ip) {
        let upper = bytes.get(header..)?;
        let [a, b, c, d] = *upper.first_chunk::<4>()?;
        let (sport, dport) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        if src == dst {
            seen.reverse = sport > dport;
        }
        seen.ports = Some(if seen.reverse {
            (dport, sport)
        } else {
            (sport, dport)
        });
        if is_tcp && paint == 0 {
            seen.flags = upper.get(13).copied();
        }
    }
    Some(seen)
}

impl AggregateFlow {
    /// Takes note of a packet of this flow that leaves.
    fn leaves(&mut self, packet: &Packet, flags: Option<u8>) {
        self.last = packet.timestamp();
        let paint = packet.anno_u8(anno::PAINT);
        if let Some(count) = self.packets.get_mut(usize::from(paint)) {
            *count += 1;
        }
        match flags {
            Some(flags) if flags & RST != 0 => self.closed = CLOSED,
            Some(flags) if flags & FIN != 0 => self.closed |= 1 << (paint & 1),
            Some(flags) if flags & SYN != 0 => self.closed = 0,
            _ => {}
        }
    }

    fn describe(&self, hosts: (u32, u32), out: &mut Vec<u8>) {
        let low = (Ipv4Addr::from(hosts.0), self.ports.0);
        let high = (Ipv4Addr::from(hosts.1), self.ports.1);
        let (from, to) = if self.reverse {
            (high, low)
        } else {
            (low, high)
        };
        let mut write = || {
            write!(
                out,
                "<flow aggregate='{}' src='{}' sport='{}' dst='{}' dport='{}' begin='{}' \
                 duration='{}'",
                self.number,
                from.0,
                from.1,
                to.0,
                to.1,
                self.first,
                self.last - self.first
            )?;
            if self.file_place > 0 {
                write!(out, " filepos='{}'", self.file_place)?;
            }
            writeln!(
                out,
                ">\n  <stream dir='0' packets='{}' /><stream dir='1' packets='{}' />\n</flow>",
                self.packets[0], self.packets[1]
            )
        };
        write().expect("a vector takes all");
    }
}

impl AggregateIpFlows {
    fn source_says(&self, ctx: &mut Ctx, handler: &str) -> Option<String> {
        let name = format!("{}.{handler}", ctx.name(self.source?));
        let handler = ctx.find_handler(&name, None).ok()?;
        Some(ctx.read_handler(&handler, "").ok()?.trim().to_owned())
    }

    /// Whether a flow that was last seen at `last` is over at `now`.
    fn is_over(&self, flow: &AggregateFlow, is_tcp: bool, now: i64) -> bool {
        let timeout = match (is_tcp, flow.closed) {
            (false, _) => self.udp_timeout,
            (true, CLOSED) => self.tcp_done_timeout,
            (true, _) => self.tcp_timeout,
        };
        now - flow.last.secs() > timeout
    }

    /// The place of the packet's flow in `pair`, which is made where there is none.
    fn flow(
        &mut self,
        ctx: &mut Ctx,
        pair: &mut Pair,
        seen: &Seen,
        ports: (u16, u16),
        time: Timestamp,
    ) -> usize {
        let at = pair.flows.iter().position(|flow| flow.ports == ports);
        if let Some(at) = at {
            let flow = &pair.flows[at];
            let is_reopened = flow.closed == CLOSED && seen.flags.is_some_and(|f| f & SYN != 0);
            if !is_reopened && !self.is_over(flow, seen.is_tcp, time.secs()) {
                return at;
            }
        }
        self.flows = self.flows.wrapping_add(1);
        let place = match &self.trace {
            Some(_) => self.source_says(ctx, "packet_filepos"),
            None => None,
        };
        let flow = AggregateFlow {
            ports,
            number: self.flows,
            reverse: seen.reverse,
            closed: 0,
            first: time,
            last: time,
            file_place: place.and_then(|text| text.parse().ok()).unwrap_or(0),
            packets: [0; 2],
        };
        let Some(at) = at else {
            pair.flows.push(flow);
            return pair.flows.len() - 1;
        };
        let old = std::mem::replace(&mut pair.flows[at], flow);
        self.listeners.ended(ctx, old.number);
        if let Some(trace) = &mut self.trace {
            old.describe(seen.hosts, &mut trace.buffer);
            trace.written(ctx);
        }
        at
    }

    /// Marks a packet; gives it back where it leaves at once.
    fn mark(&mut self, ctx: &mut Ctx, handle: Handle) -> Option<Handle> {
        if ctx.pool()[&handle].timestamp().is_zero() {
            if !std::mem::replace(&mut self.has_warned, true) {
                let me = ctx.declaration(ctx.me());
                ctx.host().say(&format!(
                    "{me}: warning: packet received without timestamp\n"
                ));
            }
            let now = ctx.now();
            ctx.pool()[&handle].set_timestamp(now);
        }
        let packet = &ctx.pool()[&handle];
        let time = packet.timestamp();
        let Some(seen) = look(packet, self.icmp) else {
            ctx.reject(1, handle, Reason::NoMatch);
            return None;
        };
        let map = usize::from(seen.is_tcp);
        // Out of the map while it is worked on; put back below.
        let mut pair = std::mem::take(self.pairs[map].entry(seen.hosts).or_default());
        let left = self.mark_in(ctx, &mut pair, handle, &seen, time);
        self.pairs[map].insert(seen.hosts, pair);
        left
    }

    fn mark_in(
        &mut self,
        ctx: &mut Ctx,
        pair: &mut Pair,
        handle: Handle,
        seen: &Seen,
        time: Timestamp,
    ) -> Option<Handle> {
        let flow = seen
            .ports
            .map(|ports| self.flow(ctx, pair, seen, ports, time));
        let (number, reverse) = match flow {
            Some(at) => (pair.flows[at].number, pair.flows[at].reverse),
            None => (0, false),
        };
        let packet = &mut ctx.pool()[&handle];
        packet.set_anno_u32(anno::AGGREGATE, number);
        packet.set_anno_u8(anno::PAINT, seen.paint + u8::from(seen.reverse != reverse));
        if self.fragments && (seen.is_fragment || !pair.held.is_empty()) {
            pair.held.push_back(Held {
                handle,
                identification: seen.identification,
                is_fragment: seen.is_fragment,
                seconds: time.secs(),
                flags: seen.flags,
            });
            self.now = time.secs();
            release(ctx, pair, self.now - self.fragment_timeout);
            return None;
        }
        let Some(at) = flow else {
            ctx.reject(1, handle, Reason::Fragment);
            return None;
        };
        self.now = time.secs();
        pair.flows[at].leaves(&ctx.pool()[&handle], seen.flags);
        Some(handle)
    }

    /// Ends the flows that are over, and the fragments that waited too long.
    fn reap(&mut self, ctx: &mut Ctx, now: i64) {
        for map in 0..self.pairs.len() {
            let mut pairs = std::mem::take(&mut self.pairs[map]);
            pairs.retain(|hosts, pair| {
                release(ctx, pair, now - self.fragment_timeout);
                if !pair.held.is_empty() {
                    return true;
                }
                let mut kept = Vec::with_capacity(pair.flows.len());
                for flow in pair.flows.drain(..) {
                    if !self.is_over(&flow, map == 1, now) {
                        kept.push(flow);
                        continue;
                    }
                    self.listeners.ended(ctx, flow.number);
                    if let Some(trace) = &mut self.trace {
                        flow.describe(*hosts, &mut trace.buffer);
                        trace.written(ctx);
                    }
                }
                pair.flows = kept;
                !pair.flows.is_empty()
            });
            self.pairs[map] = pairs;
        }
    }

    fn reap_in_time(&mut self, ctx: &mut Ctx) {
        if self.now >= self.reap_at {
            if self.reap_at > 0 {
                self.reap(ctx, self.now);
            }
            self.reap_at = self.now + self.reap_interval;
        }
    }
}

/// Lets held packets go from the front: those before `before`, and those that need not wait.
fn release(ctx: &mut Ctx, pair: &mut Pair, before: i64) {
    let may_go = |held: &Held| held.seconds < before || !held.is_fragment;
    while pair.held.front().is_some_and(may_go) {
        let Some(held) = pair.held.pop_front() else {
            return;
        };
        let pool = ctx.pool();
        let of = |pool: &trammel_packet::pool::Pool, handle: &Handle| {
            (
                pool[handle].anno_u32(anno::AGGREGATE),
                pool[handle].anno_u8(anno::PAINT),
            )
        };
        let (mut number, mut paint) = of(pool, &held.handle);
        let mut others = pair.held.iter();
        if number == 0 {
            // The fragment with the ports may have come later.
            let told = others
                .filter(|other| other.identification == held.identification)
                .map(|other| of(pool, &other.handle))
                .find(|(number, _)| *number > 0);
            let Some(told) = told else {
                ctx.reject(1, held.handle, Reason::Fragment);
                continue;
            };
            (number, paint) = told;
            pool[&held.handle].set_anno_u32(anno::AGGREGATE, number);
            pool[&held.handle].set_anno_u8(anno::PAINT, paint);
        } else {
            for other in others.by_ref() {
                if other.identification == held.identification {
                    pool[&other.handle].set_anno_u32(anno::AGGREGATE, number);
                    pool[&other.handle].set_anno_u8(anno::PAINT, paint);
                }
            }
        }
        if let Some(flow) = pair.flows.iter_mut().find(|flow| flow.number == number) {
            flow.leaves(&pool[&held.handle], held.flags);
        }
        ctx.emit(0, held.handle);
    }
}

impl Element for AggregateIpFlows {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let seconds = |name| args.uint(name) as i64;
        self.tcp_timeout = seconds("TCP_TIMEOUT");
        self.tcp_done_timeout = seconds("TCP_DONE_TIMEOUT");
        self.udp_timeout = seconds("UDP_TIMEOUT");
        self.fragment_timeout = seconds("FRAGMENT_TIMEOUT");
        self.reap_interval = seconds("REAP");
        self.icmp = args.bool("ICMP");
        let path = args.text("TRACEINFO");
        self.trace = (!path.is_empty()).then(|| Output::new(path));
        self.source = args.element("SOURCE");
        let pulls = setup.inputs[0] == Mode::Pull;
        self.fragments = args.opt_bool("FRAGMENTS").unwrap_or(!pulls);
        if self.fragments && pulls {
            let mut said = Diagnostics::new();
            let text =
                "'FRAGMENTS true' is incompatible with pull; run this element in a push context";
            said.error(None, text);
            return Err(said);
        }
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let file = self.source_says(ctx, "filename");
        if let Some(trace) = &mut self.trace {
            trace.open(ctx)?;
            let file = file.filter(|file| !file.is_empty());
            let file = file.map_or(String::new(), |file| format!(" file='{file}'"));
            let head = format!("<?xml version='1.0' standalone='yes'?>\n<trace{file}>\n");
            trace.buffer.extend_from_slice(head.as_bytes());
            trace.written(ctx);
        }
        Ok(())
    }

    fn start(&mut self, ctx: &mut Ctx) {
        self.listeners = Listeners::gather(ctx);
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| self.mark(ctx, handle));
        self.reap_in_time(ctx);
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        for handle in batch.drain() {
            if let Some(handle) = self.mark(ctx, handle) {
                ctx.emit(0, handle);
            }
            self.reap_in_time(ctx);
        }
        ctx.recycle(batch);
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("clear", "w")]
    }

    fn write(&mut self, ctx: &mut Ctx, _: &str, _: &str) -> Result<(), String> {
        self.reap(ctx, FOR_EVER);
        Ok(())
    }

    fn cleanup(&mut self, ctx: &mut Ctx) {
        for pairs in std::mem::take(&mut self.pairs) {
            for (hosts, pair) in pairs {
                for held in pair.held {
                    ctx.drop(held.handle, Reason::Fragment);
                }
                for flow in pair.flows {
                    if let Some(trace) = &mut self.trace {
                        flow.describe(hosts, &mut trace.buffer);
                    }
                }
            }
        }
        if let Some(trace) = &mut self.trace {
            trace.buffer.extend_from_slice(b"</trace>\n");
            trace.close(ctx);
        }
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        tree(
            self.pairs.iter().map(BTreeMap::len).sum(),
            size_of::<(u64, Pair, AggregateFlow)>(),
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{Run, errors, loaded};

    fn flows(arguments: &str, lines: &str) -> (Run, String) {
        let mut run = loaded(&format!(
            "FromIPSummaryDump(STOP true, DATA \"!data timestamp ip_src sport ip_dst dport \
             ip_proto tcp_flags ip_id ip_fragoff\n{lines}\") \
             -> f :: AggregateIPFlows({arguments}) -> ToIPSummaryDump(-, HEADER false, \
             FIELDS aggregate link) -> Discard"
        ));
        run.run(1.0);
        let printed = run.host.memory().printed.clone();
        let printed = printed.trim().replace('\n', ",");
        (run, printed)
    }

    #[test]
    fn answers_are_of_the_same_flow_in_the_other_direction() {
        let (run, all) = flows(
            "",
            "1 9.0.0.1 5 1.0.0.2 6 U - 1 0\n1 1.0.0.2 6 9.0.0.1 5 U - 1 0\n\
             1 1.0.0.2 6 9.0.0.1 5 T S 1 0\n1 5.5.5.5 1 5.5.5.5 2 U - 1 0\n\
             1 5.5.5.5 2 5.5.5.5 1 U - 1 0",
        );
        assert_eq!(all, "1 0,1 1,2 0,3 0,3 1");
        assert_eq!({ run }.ctx.pool().in_use(), 0);
    }

    #[test]
    fn silence_and_a_new_syn_begin_a_new_flow() {
        let udp = "1 1.1.1.1 5 2.2.2.2 6 U - 1 0\n61 1.1.1.1 5 2.2.2.2 6 U - 1 0\n\
            122 2.2.2.2 6 1.1.1.1 5 U - 1 0";
        assert_eq!(flows("", udp).1, "1 0,1 0,2 0");
        let tcp = "1 1.1.1.1 5 2.2.2.2 6 T S 1 0\n2 1.1.1.1 5 2.2.2.2 6 T R 1 0\n\
            3 1.1.1.1 5 2.2.2.2 6 T S 1 0";
        assert_eq!(flows("", tcp).1, "1 0,1 0,2 0");
    }

    #[test]
    fn fragments_wait_for_their_ports() {
        let lines = "1 1.1.1.1 - 2.2.2.2 - U - 7 24\n1 1.1.1.1 5 2.2.2.2 6 U - 7 0+\n\
            1 1.1.1.1 5 2.2.2.2 6 U - 8 0";
        let (mut run, all) = flows("", lines);
        assert_eq!((all.as_str(), run.ctx.pool().in_use()), ("", 3));
        run.write("f.clear", "").expect("it is cleared");
        run.run(1.0);
        let printed = run.host.memory().printed.clone();
        assert_eq!(
            (printed.as_str(), run.ctx.pool().in_use()),
            ("1 0\n1 0\n1 0\n", 0)
        );
        assert_eq!(flows("FRAGMENTS false", lines).1, "1 0,1 0");
    }

    #[test]
    fn a_file_tells_of_each_flow() {
        let (mut run, _) = flows(
            "TRACEINFO t",
            "1 1.1.1.1 5 2.2.2.2 6 U - 1 0\n3.5 2.2.2.2 6 1.1.1.1 5 U - 1 0",
        );
        run.ctx.cleanup();
        let memory = run.host.memory();
        let text = String::from_utf8_lossy(&memory.files["t"]);
        let flow = "<flow aggregate='1' src='1.1.1.1' sport='5' dst='2.2.2.2' dport='6' \
            begin='1.000000000' duration='2.500000000'>\n  <stream dir='0' packets='1' /><stream \
            dir='1' packets='1' />\n</flow>\n</trace>\n";
        assert!(text.ends_with(flow), "{text}");
    }

    #[test]
    fn fragments_cannot_wait_where_packets_are_pulled() {
        let text = errors("Idle -> Queue -> AggregateIPFlows(FRAGMENTS true) -> Discard");
        assert!(text.contains("incompatible with pull"), "{text}");
    }
}
