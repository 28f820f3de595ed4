//! The rewriters themselves: six classes that differ in what a flow is and how long it is kept.

use super::apply::{Annotations, Parts, rewrite};
use super::flow::{Law, Tracking};
use super::mapper::Mapper;
use super::spec::{Action, Spec, Surroundings};
use super::table::Table;
use crate::args::Args;
use crate::args::names::{Names, TCP, UDP};
use crate::args::numbers::parse_int;
use crate::diagnostic::Diagnostics;
use crate::engine::setup::Setup;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element, ElementId, Handler};
use crate::reason::Reason;
use trammel_packet::batch::{Batch, CAPACITY};
use trammel_packet::timestamp::Timestamp;

mod by_hand;
mod listing;
pub(crate) mod lookup;
mod new_mapping;
mod seen;

use new_mapping::Made;
use seen::Seen;

/// Which rewriter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
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
pub(crate) struct Rewriter {
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

fn milliseconds(now: Timestamp) -> i64 {
    now.0.div_euclid(1_000_000)
}

impl Rewriter {
    /// One of a class, not yet configured.
    pub(crate) fn boxed(class: Class) -> Box<dyn Element> {
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
    pub(crate) fn class(&self) -> Class {
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
                ("tcp_mappings", "rD"),
                ("udp_mappings", "rD"),
                ("tcp_lookup", "r+"),
            ],
            Class::Tcp => &[("table", "r"), ("mappings", "rD"), ("lookup", "r+")],
            _ => &[("table", "r"), ("mappings", "rD")],
        };
        let common = [
            ("table_size", "r"),
            ("nmappings", "rD"),
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
        let mut all: Vec<Handler> = named.chain(inputs).collect();
        if matches!(self.class, Class::Ip | Class::Tcp | Class::Udp) {
            all.push(Handler::new("add_mapping", "w"));
        }
        all
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
            "add_mapping" => return self.add_by_hand(ctx, value),
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

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        let table = self.table.as_ref();
        vec![("entries", table.map_or(0, |table| table.len()) as f64)]
    }
}
