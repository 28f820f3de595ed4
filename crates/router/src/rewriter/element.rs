//! The rewriters themselves: six classes that differ in what a flow is and how long it is kept.

use super::apply::{Annotations, Parts, rewrite};
use super::flow::{FlowId, Law, Tracking, address_delta, port_delta};
use super::mapper::Mapper;
use super::pattern::PatternRef;
use super::spec::{Action, Spec, Surroundings};
use super::table::{Entry, New, Table};
use crate::args::Args;
use crate::args::names::{Names, TCP, UDP};
use crate::args::numbers::parse_int;
use crate::diagnostic::Diagnostics;
use crate::element::{Element, Handler};
use crate::engine::setup::Setup;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, ElementId};
use crate::reason::Reason;
use trammel_packet::batch::{Batch, CAPACITY};
use trammel_packet::headers::icmp::kind;
use trammel_packet::headers::ipv4::{Ipv4, protocol};
use trammel_packet::packet::Packet;
use trammel_packet::timestamp::Timestamp;

mod listing;

/// Which rewriter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// `IPRewriter`: addresses and ports of TCP and UDP, sequence numbers.
    Ip,
    /// `TCPRewriter`: the same of TCP only.
    Tcp,
    /// `UDPRewriter`: addresses and ports of TCP, UDP and DCCP.
    Udp,
    /// `IPAddrRewriter`: the address of one end.
    Address,
    /// `IPAddrPairRewriter`: addresses of both ends together.
    Pair,
    /// `ICMPPingRewriter`: addresses and identifiers of echoes.
    Ping,
}

/// A rewriter of one of the classes.
#[derive(Debug)]
pub struct Rewriter {
    class: Class,
    specs: Vec<Spec>,
    annos: Annotations,
    /// The laws of TCP or of all, and of UDP where they differ.
    laws: [Law; 2],
    /// The same as numbers in the table.
    law_numbers: [u32; 2],
    first_owner: u32,
    capacity: Option<i64>,
    /// Whose capacity is shared, as it is written.
    shares: Option<ElementId>,
    me: ElementId,
    /// Where the table is.
    home: ElementId,
    table: Option<Box<Table>>,
    reap: u64,
    timer: Option<TimerId>,
}

/// What is looked for: a flow, and where nothing is found another.
#[derive(Clone, Copy, Debug)]
struct Seen {
    map: u32,
    protocol: u8,
    flow: FlowId,
    other: Option<FlowId>,
    /// Whether it may make a mapping.
    begins: bool,
}

/// What came of a packet without a mapping.
enum Made {
    Entry(Entry),
    Pass(u32),
    Drop,
}

/// A mapping that was found, for other elements.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// The entry.
    pub entry: Entry,
    /// What a packet becomes.
    pub rewritten: FlowId,
    /// By which output it leaves.
    pub output: u32,
    /// Whether it is an answer.
    pub is_reply: bool,
    /// The annotation that answers get.
    pub reply_anno: u8,
}

/// How another element looks for a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// As a packet would.
    Check,
    /// As an answer would.
    Reply,
    /// As a packet at this input would; a mapping is made.
    Make(usize),
}

/// The other port of an echo's flow: the identifier plus one as the original's machines count.
fn next_identifier(identifier: u16) -> u16 {
    identifier.swap_bytes().wrapping_add(1).swap_bytes()
}

fn milliseconds(now: Timestamp) -> i64 {
    now.0.div_euclid(1_000_000)
}

impl Rewriter {
    /// One of a class, not yet configured.
    pub fn boxed(class: Class) -> Box<dyn Element> {
        let law = Law {
            tracking: Tracking::Plain,
            guarantee: 0,
            idle: 0,
            active: 0,
            done: 0,
        };
        Box::new(Rewriter {
            class,
            specs: Vec::new(),
            annos: Annotations::default(),
            laws: [law; 2],
            law_numbers: [0; 2],
            first_owner: 0,
            capacity: None,
            shares: None,
            me: 0,
            home: 0,
            table: None,
            reap: 0,
            timer: None,
        })
    }

    /// Which class.
    pub fn class(&self) -> Class {
        self.class
    }

    fn parts(&self) -> Parts {
        match self.class {
            Class::Address => Parts::OneAddress,
            Class::Pair => Parts::Addresses,
            Class::Ping => Parts::Identifier,
            Class::Ip | Class::Tcp | Class::Udp => Parts::Ports,
        }
    }

    /// The map in the table: one for each rewriter, and another for UDP of an `IPRewriter`.
    fn map(&self, protocol: u8) -> u32 {
        (self.me as u32) << 1 | u32::from(self.is_second(protocol))
    }

    fn is_second(&self, protocol: u8) -> bool {
        self.class == Class::Ip && protocol != TCP
    }

    fn laws_of(class: Class, args: &Args) -> [Law; 2] {
        let ms = |name: &str| i64::try_from(args.uint(name)).unwrap_or(i64::MAX / 4000) * 1000;
        let given = |names: &[&str]| {
            let given = names.iter().rev().find(|name| args.given(name));
            ms(given.unwrap_or(&names[0]))
        };
        let plain = |idle, guarantee| Law {
            tracking: Tracking::Plain,
            guarantee,
            idle,
            active: idle,
            done: idle,
        };
        let stream = || Law {
            tracking: Tracking::Stream,
            guarantee: given(&["TCP_GUARANTEE", "GUARANTEE"]),
            idle: ms("TCP_NODATA_TIMEOUT"),
            active: given(&["TIMEOUT", "TCP_TIMEOUT"]),
            done: ms("TCP_DONE_TIMEOUT"),
        };
        let datagram = |idle: &[&str], streaming: &[&str], guarantee: &[&str]| {
            let streams = streaming.iter().any(|name| args.given(name));
            Law {
                tracking: Tracking::Datagram,
                active: if streams {
                    given(streaming)
                } else {
                    given(idle)
                },
                ..plain(given(idle), given(guarantee))
            }
        };
        match class {
            Class::Ip => [
                stream(),
                datagram(
                    &["UDP_TIMEOUT"],
                    &["UDP_STREAMING_TIMEOUT"],
                    &["UDP_GUARANTEE"],
                ),
            ],
            Class::Tcp => [stream(); 2],
            Class::Udp => {
                let streaming = ["UDP_STREAMING_TIMEOUT", "STREAMING_TIMEOUT"];
                let idle = ["UDP_TIMEOUT", "TIMEOUT"];
                [datagram(&idle, &streaming, &["UDP_GUARANTEE", "GUARANTEE"]); 2]
            }
            Class::Address | Class::Pair | Class::Ping => {
                [plain(ms("TIMEOUT"), ms("GUARANTEE")); 2]
            }
        }
    }

    /// Takes the table from where it is.
    fn take_table(&mut self, ctx: &mut Ctx) -> Option<Box<Table>> {
        if self.home == self.me {
            self.table.take()
        } else {
            ctx.get::<Rewriter>(self.home)?.table.take()
        }
    }

    /// Puts it back.
    fn put_table(&mut self, ctx: &mut Ctx, table: Box<Table>) {
        if self.home == self.me {
            self.table = Some(table);
        } else if let Some(home) = ctx.get::<Rewriter>(self.home) {
            home.table = Some(table);
        }
    }

    /// Runs `work` on the table.
    fn with_table<R>(
        &mut self,
        ctx: &mut Ctx,
        work: impl FnOnce(&mut Rewriter, &mut Ctx, &mut Table) -> R,
    ) -> Option<R> {
        let mut table = self.take_table(ctx)?;
        let result = work(self, ctx, &mut table);
        self.put_table(ctx, table);
        Some(result)
    }

    /// What a packet is looked for by; nothing where it is none that this class translates.
    #[inline]
    fn see(&self, packet: &Packet) -> Option<Seen> {
        let ip = Ipv4::read(packet.network_header())?;
        let (src, dst) = (u32::from_be_bytes(ip.src), u32::from_be_bytes(ip.dst));
        let mut seen = Seen {
            map: self.map(ip.protocol),
            protocol: ip.protocol,
            flow: FlowId {
                src,
                dst,
                sport: 0,
                dport: 0,
            },
            other: None,
            begins: true,
        };
        let is_ours = match self.class {
            Class::Address => {
                (seen.map, seen.protocol) = (self.map(0), 0);
                seen.other = Some(FlowId {
                    src: 0,
                    ..seen.flow
                });
                seen.flow.dst = 0;
                return Some(seen);
            }
            Class::Pair => {
                (seen.map, seen.protocol) = (self.map(0), 0);
                return Some(seen);
            }
            Class::Ip => matches!(ip.protocol, protocol::TCP | protocol::UDP),
            Class::Tcp => ip.protocol == protocol::TCP,
            Class::Udp => matches!(ip.protocol, protocol::TCP | protocol::UDP | protocol::DCCP),
            Class::Ping => ip.protocol == protocol::ICMP,
        };
        if !is_ours || !ip.is_first_fragment() {
            return None;
        }
        let [a, b, c, d, rest @ ..] = packet.transport_header() else {
            return None;
        };
        if self.class == Class::Ping {
            let [e, f, ..] = rest else { return None };
            let identifier = u16::from_be_bytes([*e, *f]);
            let next = next_identifier(identifier);
            seen.begins = *a == kind::ECHO;
            (seen.flow.sport, seen.flow.dport) = match *a {
                kind::ECHO => (identifier, next),
                kind::ECHO_REPLY => (next, identifier),
                _ => return None,
            };
        } else if rest.len() < 4 {
            return None;
        } else {
            seen.flow.sport = u16::from_be_bytes([*a, *b]);
            seen.flow.dport = u16::from_be_bytes([*c, *d]);
        }
        Some(seen)
    }

    #[inline]
    fn find(table: &Table, seen: &Seen, hash: u32) -> Option<Entry> {
        table
            .find_hashed(hash, seen.map, seen.flow)
            .or_else(|| table.find(seen.map, seen.other?))
    }

    /// A mapping for what has none, as its input says.
    #[cold]
    fn make(
        &mut self,
        ctx: &mut Ctx,
        table: &mut Table,
        input: usize,
        seen: &Seen,
        now: i64,
    ) -> Made {
        let Some(Spec { action, outputs }) = self.specs.get(input).copied() else {
            return Made::Drop;
        };
        let mut to = Some((seen.flow, outputs));
        match action {
            Action::Drop => return Made::Drop,
            Action::Pass => return Made::Pass(outputs[0]),
            Action::Keep => {}
            Action::Pattern(mut pattern) => {
                let chosen = self.choose(ctx, table, &mut pattern, seen);
                self.specs[input].action = Action::Pattern(pattern);
                to = chosen.map(|rewritten| (rewritten, outputs));
            }
            Action::Mapper(mapper) => to = self.ask(ctx, table, mapper, seen),
        }
        let owner = self.first_owner + input as u32;
        let Some((rewritten, outputs)) = to else {
            table.count_failure(owner);
            return Made::Drop;
        };
        let fits = match self.class {
            Class::Address => (rewritten.sport, rewritten.dport, rewritten.dst) == (0, 0, 0),
            Class::Pair => (rewritten.sport, rewritten.dport) == (0, 0),
            _ => true,
        };
        if !fits {
            return Made::Drop;
        }
        let ip = address_delta(seen.flow, rewritten);
        let ports = port_delta(seen.flow, rewritten);
        let new = New {
            map: seen.map,
            owner,
            law: self.law_numbers[usize::from(self.is_second(seen.protocol))],
            flow: seen.flow,
            rewritten,
            outputs,
            protocol: seen.protocol,
            deltas: match self.class {
                Class::Ping => [ip, Self::identifier_delta(seen.flow, rewritten)],
                _ => [ip, super::flow::both(ip, ports)],
            },
        };
        table.add(new, now).map_or(Made::Drop, Made::Entry)
    }

    fn identifier_delta(from: FlowId, to: FlowId) -> u16 {
        let only = |flow: FlowId| FlowId {
            sport: flow.sport,
            ..FlowId::default()
        };
        port_delta(only(from), only(to))
    }

    /// What `pattern` makes of a flow.
    fn choose(
        &self,
        ctx: &mut Ctx,
        table: &Table,
        reference: &mut PatternRef,
        seen: &Seen,
    ) -> Option<FlowId> {
        let mut pattern = reference.get(ctx)?;
        let complete = |mut flow: FlowId| {
            if self.class == Class::Ping {
                flow.dport = next_identifier(flow.sport);
            }
            flow
        };
        let is_taken = |flow: FlowId| table.find(seen.map, flow.reverse()).is_some();
        let chosen = pattern.choose(seen.flow, complete, is_taken, |n| ctx.draw(n));
        reference.set(ctx, pattern);
        chosen
    }

    /// What one of a mapper's patterns makes of a flow.
    fn ask(
        &self,
        ctx: &mut Ctx,
        table: &Table,
        mapper: ElementId,
        seen: &Seen,
    ) -> Option<(FlowId, [u32; 2])> {
        let tries = ctx.get::<Mapper>(mapper)?.tries();
        for _ in 0..tries {
            let asked = ctx.get::<Mapper>(mapper)?;
            let at = asked.next(seen.flow)?;
            let mut route = *asked.routes.get(at)?;
            let chosen = self.choose(ctx, table, &mut route.pattern, seen);
            ctx.get::<Mapper>(mapper)?.routes[at].pattern = route.pattern;
            if let Some(rewritten) = chosen {
                return Some((rewritten, route.outputs.map(|output| output as u32)));
            }
        }
        None
    }

    /// The mapping of a flow, for another element. Of an echo the source port is the identifier.
    pub fn lookup(
        &mut self,
        ctx: &mut Ctx,
        protocol: u8,
        flow: FlowId,
        want: Want,
    ) -> Option<Found> {
        let now = milliseconds(ctx.now());
        let mut seen = Seen {
            map: self.map(protocol),
            protocol,
            flow,
            other: None,
            begins: true,
        };
        match self.class {
            Class::Address => {
                (seen.map, seen.protocol) = (self.map(0), 0);
                seen.flow = FlowId {
                    src: flow.src,
                    ..FlowId::default()
                };
                seen.other = Some(FlowId {
                    dst: flow.dst,
                    ..FlowId::default()
                });
            }
            Class::Pair => {
                (seen.map, seen.protocol) = (self.map(0), 0);
                (seen.flow.sport, seen.flow.dport) = (0, 0);
            }
            Class::Ping if protocol != protocol::ICMP => return None,
            Class::Ping => {
                let (one, next) = (flow.sport, next_identifier(flow.sport));
                let is_reply = want == Want::Reply;
                (seen.flow.sport, seen.flow.dport) =
                    if is_reply { (next, one) } else { (one, next) };
            }
            Class::Ip if !matches!(protocol, TCP | UDP) => return None,
            Class::Ip | Class::Tcp | Class::Udp => {}
        }
        self.with_table(ctx, |me, ctx, table| {
            let hash = table.hash(seen.map, seen.flow);
            let entry = match (Rewriter::find(table, &seen, hash), want) {
                (None, Want::Make(input)) => match me.make(ctx, table, input, &seen, now) {
                    Made::Entry(entry) => entry,
                    Made::Pass(_) | Made::Drop => return None,
                },
                (found, _) => found?,
            };
            let flow = table.flow(entry);
            if flow.protocol != 0 && seen.protocol != 0 && flow.protocol != seen.protocol {
                return None;
            }
            Some(Found {
                entry,
                rewritten: flow.rewritten(entry.is_reply()),
                output: flow.outputs[usize::from(entry.is_reply())],
                is_reply: entry.is_reply(),
                reply_anno: flow.reply_anno,
            })
        })?
    }

    /// From `from` on, sequence numbers of a mapping move by `more`.
    pub fn move_sequence(&mut self, ctx: &mut Ctx, entry: Entry, from: u32, more: i32) {
        self.with_table(ctx, |_, _, table| {
            let flow = table.flow_mut(entry);
            flow.deltas
                .get_or_insert_default()
                .add(entry.is_reply(), from, more);
        });
    }

    /// Sets the annotation that a mapping's answers get.
    pub fn set_reply_anno(&mut self, ctx: &mut Ctx, entry: Entry, value: u8) {
        self.with_table(ctx, |_, _, table| table.flow_mut(entry).reply_anno = value);
    }

    /// Packets that this class does not translate.
    fn refuse(&self, ctx: &mut Ctx, port: usize, packet: trammel_packet::pool::Handle) {
        match self.specs.get(port) {
            Some(Spec {
                action: Action::Pass,
                outputs,
            }) => ctx.emit(outputs[0] as usize, packet),
            _ => ctx.drop(packet, Reason::NoMapping),
        }
    }
}

impl Element for Rewriter {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut errors = Diagnostics::new();
        self.me = setup.id;
        self.laws = Rewriter::laws_of(self.class, args);
        let has_switch = !matches!(self.class, Class::Address | Class::Pair);
        self.annos = Annotations {
            dst: !has_switch || args.bool("DST_ANNO"),
            reply: args.opt_anno("REPLY_ANNO").map(|anno| anno.offset),
        };
        let reap = if args.given("REAP_TIME") {
            "REAP_TIME"
        } else {
            "REAP_INTERVAL"
        };
        self.reap = args.uint(reap);
        let capacity = match args.text("MAPPING_CAPACITY") {
            "" => args.text("CAPACITY"),
            capacity => capacity,
        };
        if !capacity.is_empty() {
            let number = parse_int(capacity, i32::MIN.into(), i32::MAX.into());
            let element = setup.names().element(capacity);
            match (number, element.filter(|id| setup.is::<Rewriter>(*id))) {
                (Ok(number), _) => self.capacity = Some(number),
                (Err(_), Some(element)) => self.shares = Some(element),
                (Err(_), None) => {
                    errors.error(None, "bad MAPPING_CAPACITY");
                    return Err(errors);
                }
            }
        }
        let inputs = setup.inputs.len();
        if args.rest().len() != inputs {
            errors.error(None, format!("need {inputs} arguments, one per input port"));
            return Err(errors);
        }
        for (input, text) in args.rest().iter().enumerate() {
            let around = Surroundings {
                names: &setup.names(),
                is_mapper: &|id| setup.is::<Mapper>(id),
                outputs: setup.outputs.len(),
            };
            match Spec::parse(text, &around) {
                Ok(spec) => self.specs.push(spec),
                Err(text) => errors.error(None, format!("input spec {input}: {text}")),
            }
        }
        if errors.has_errors() {
            Err(errors)
        } else {
            Ok(())
        }
    }

    fn prepare(&mut self, ctx: &mut Ctx) {
        let mut table = Table::new(ctx.rng().below(u64::MAX));
        if let Some(capacity) = self.capacity {
            table.capacity = capacity;
        }
        self.table = Some(Box::new(table));
        // Who shares the capacity of one that shares a third's shares the third's.
        let mut home = self.me;
        let mut next = self.shares;
        for _ in 0..ctx.elements() {
            let Some(id) = next.filter(|id| *id != self.me) else {
                break;
            };
            home = id;
            next = ctx.get::<Rewriter>(id).and_then(|other| other.shares);
        }
        self.home = home;
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let (me, laws, inputs) = (self.me, self.laws, self.specs.len());
        let registered = self.with_table(ctx, |_, _, table| {
            let numbers = laws.map(|law| table.add_law(law));
            let owners: Vec<u32> = (0..inputs)
                .map(|input| table.add_owner(me, input))
                .collect();
            (numbers, owners.first().copied().unwrap_or(0))
        });
        let (numbers, first) = registered.ok_or("the shared table is nowhere")?;
        (self.law_numbers, self.first_owner) = (numbers, first);
        let mut wrong = Vec::new();
        let outputs = ctx.outputs() as i64;
        for (input, spec) in self.specs.iter().enumerate() {
            let Action::Mapper(mapper) = spec.action else {
                continue;
            };
            let declared = ctx.declaration(mapper);
            let routes = ctx
                .get::<Mapper>(mapper)
                .map_or(Vec::new(), |one| one.routes.clone());
            for (at, route) in routes.iter().enumerate() {
                if route
                    .outputs
                    .iter()
                    .any(|output| !(0..outputs).contains(output))
                {
                    wrong.push(format!(
                        "input spec {input}: output port out of range in {declared} pattern {at}"
                    ));
                }
            }
        }
        if !wrong.is_empty() {
            return Err(wrong.join("\n"));
        }
        if self.reap > 0 {
            let timer = ctx.new_timer(0);
            ctx.set_timer_after(timer, Timestamp::from_secs(self.reap as i64));
            self.timer = Some(timer);
        }
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, port: usize, mut batch: Batch) {
        let Some(mut table) = self.take_table(ctx) else {
            ctx.recycle(batch);
            return;
        };
        let now = milliseconds(ctx.now());
        let (parts, annos) = (self.parts(), self.annos);
        // All hashes first: their slots are on the way while the packets before are rewritten.
        let mut seen: [Option<(Seen, u32)>; CAPACITY] = [None; CAPACITY];
        for (packet, slot) in batch.iter().zip(&mut seen) {
            *slot = self.see(&ctx.pool()[packet]).map(|seen| {
                let hash = table.hash(seen.map, seen.flow);
                table.prefetch(hash);
                (seen, hash)
            });
        }
        for (packet, slot) in batch.drain().zip(&seen) {
            let Some((seen, hash)) = slot else {
                self.refuse(ctx, port, packet);
                continue;
            };
            let entry = match Rewriter::find(&table, seen, *hash) {
                Some(entry) => entry,
                None if !seen.begins => {
                    self.refuse(ctx, port, packet);
                    continue;
                }
                None => match self.make(ctx, &mut table, port, seen, now) {
                    Made::Entry(entry) => {
                        if let Some(at) = annos.reply {
                            let anno = ctx.pool()[&packet].annotations()[usize::from(at)];
                            table.flow_mut(entry).reply_anno = anno;
                        }
                        entry
                    }
                    Made::Pass(output) => {
                        ctx.emit(output as usize, packet);
                        continue;
                    }
                    Made::Drop => {
                        ctx.drop(packet, Reason::NoMapping);
                        continue;
                    }
                },
            };
            let flow = table.flow_mut(entry);
            let output = flow.outputs[usize::from(entry.is_reply())];
            rewrite(
                &mut ctx.pool()[&packet],
                flow,
                entry.is_reply(),
                parts,
                annos,
            );
            table.touch(entry, now);
            ctx.emit(output as usize, packet);
        }
        ctx.recycle(batch);
        self.put_table(ctx, table);
    }

    fn run_timer(&mut self, ctx: &mut Ctx, _: u32) {
        let now = milliseconds(ctx.now());
        self.with_table(ctx, |_, _, table| table.reap(now));
        if let Some(timer) = self.timer {
            ctx.set_timer_again(timer, Timestamp::from_secs(self.reap as i64));
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        let own: &[(&'static str, &str)] = match self.class {
            Class::Ip => &[
                ("tcp_table", "r"),
                ("udp_table", "r"),
                ("tcp_mappings", "r"),
                ("udp_mappings", "r"),
                ("tcp_lookup", "r+"),
            ],
            Class::Tcp => &[("table", "r"), ("mappings", "r"), ("lookup", "r+")],
            _ => &[("table", "r"), ("mappings", "r")],
        };
        let common = [
            ("table_size", "r"),
            ("nmappings", "r"),
            ("mapping_failures", "r"),
            ("patterns", "r"),
            ("size", "r"),
            ("capacity", "rw"),
            ("clear", "w"),
        ];
        let named = own
            .iter()
            .chain(&common)
            .map(|(name, flags)| Handler::new(*name, flags));
        let inputs =
            (0..self.specs.len()).map(|input| Handler::new(format!("pattern{input}"), "rw"));
        named.chain(inputs).collect()
    }

    fn read(&mut self, ctx: &mut Ctx, name: &str, parameter: &str) -> Result<String, String> {
        Ok(match name {
            "table" | "mappings" => self.listing(ctx, self.map(0)),
            "tcp_table" | "tcp_mappings" => self.listing(ctx, self.map(TCP)),
            "udp_table" | "udp_mappings" => self.listing(ctx, self.map(UDP)),
            "lookup" | "tcp_lookup" => return self.lookup_text(ctx, parameter),
            "table_size" | "nmappings" => self.sum(ctx, |owner| owner.count),
            "mapping_failures" => self.sum(ctx, |owner| owner.failures),
            "patterns" => self.patterns(ctx, None),
            "size" => self
                .with_table(ctx, |_, _, table| table.len())
                .unwrap_or(0)
                .to_string(),
            "capacity" => self
                .with_table(ctx, |_, _, table| table.capacity)
                .unwrap_or(0)
                .to_string(),
            other => {
                let input = other.strip_prefix("pattern").and_then(|n| n.parse().ok());
                self.patterns(ctx, input)
            }
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let now = milliseconds(ctx.now());
        match name {
            "clear" => {
                self.with_table(ctx, |_, _, table| table.remove_where(|_| true));
                return Ok(());
            }
            "capacity" => {
                let number = parse_int(value.trim(), i32::MIN.into(), i32::MAX.into());
                let number = number.map_err(|error| format!("CAPACITY: {error}"))?;
                self.with_table(ctx, |_, _, table| {
                    table.capacity = number;
                    table.reap(now);
                });
                return Ok(());
            }
            _ => {}
        }
        let input = name
            .strip_prefix("pattern")
            .and_then(|n| n.parse::<usize>().ok());
        let input = input
            .filter(|input| *input < self.specs.len())
            .ok_or("no such input")?;
        let outputs = ctx.outputs();
        let mapper = ctx.names().element(value.trim());
        let is_mapper = mapper.is_some_and(|id| ctx.get::<Mapper>(id).is_some());
        let around = Surroundings {
            names: &ctx.names(),
            is_mapper: &|_| is_mapper,
            outputs,
        };
        let spec = Spec::parse(value, &around);
        self.specs[input] = spec.map_err(|text| format!("input spec {input}: {text}"))?;
        let owner = self.first_owner + input as u32;
        self.with_table(ctx, |_, _, table| {
            table.remove_where(|flow| flow.owner == owner);
        });
        Ok(())
    }
}
