//! What all elements that look routes up have in common: arguments, handlers, and the way of a
//! packet.
//!
//! A route is written `ADDR/MASK [GATEWAY] OUTPUT`. A packet's destination annotation is looked up;
//! where the route has a gateway, the annotation becomes the gateway, and the packet leaves by the
//! output. A route whose output is `drop` ends its packets: they do not go by the route of a larger
//! network.

use crate::args::addresses::{parse_ip, parse_ip_prefix};
use crate::args::machine_names::unknown_name;
use crate::args::names::Names;
use crate::args::numbers::parse_int;
use crate::args::text::{take_word, uncomment};
use crate::args::{Args, Kind, Need, Param, param};
use crate::diagnostic::{About, Diagnostics};
use crate::engine::setup::Setup;
use crate::engine::study::Study;
use crate::engine::{Ctx, Element, Handler, NOWHERE};
use crate::headers::ip_packet::{destination, set_destination};
use crate::lookup::{self, BATCH, Prefix, Route, Routes, Table};
use crate::reason::Reason;
use std::fmt::Write;
use std::net::Ipv4Addr;
use trammel_packet::batch::{Batch, Packets};
use trammel_packet::pool::{Handle, Pool};

/// The arguments of such elements: routes.
pub(crate) const PARAMS: &[Param] = &[param(
    "ROUTES",
    Need::Rest,
    Kind::Raw,
    "",
    "routes, each `ADDR/MASK [GATEWAY] OUTPUT`, or `drop` in place of the output",
)];

/// The port and processing codes of such elements.
pub(crate) const PORTS: (&str, &str) = ("1/-", "h/h");

/// The operations of those that look up in a structure of their own.
pub(crate) const OPS: &str = "asked * trie_lookup(levels, 64 * lines, 4096 * pages) by 8; \
    work(18 + (22 + 4.7 * listed) * asked + 28 * ways)";

/// Packets without a route that are told of.
const TOLD: u32 = 5;
/// What stands for an output in a route whose packets are dropped.
const DROP: &str = "drop";
/// Lines of `ctrl` from which on they are loaded together where they can be.
const MANY: usize = 64;

/// An element that looks routes up in a table.
#[derive(Debug)]
pub(crate) struct IpLookup<T> {
    routes: Routes<u32, T>,
    make: fn() -> T,
    outputs: usize,
    style: Style,
    told: u32,
}

/// In what such elements differ besides their table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    /// Whether the first packets without a route are told of.
    pub tells: bool,
    /// Whether the handler `flush` empties the table.
    pub flushes: bool,
    /// Whether handlers change the table.
    pub changes: bool,
}

/// What a line of `ctrl` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    Add,
    Set,
    Remove,
}

/// How to undo a command.
enum Undo {
    Remove(Prefix<u32>),
    Set(Route<u32>),
}

/// A route as it is written; the output may be left out where one is removed.
struct Written {
    prefix: Prefix<u32>,
    gateway: u32,
    port: Option<i64>,
}

impl Written {
    fn parse(mut text: &str, removes: bool, names: &dyn Names) -> Option<Written> {
        let prefix = parse_ip_prefix(take_word(&mut text)?, true, names).ok()?;
        let mut word = take_word(&mut text);
        let gateway = match word {
            Some("-") => Some(0),
            Some(text) => parse_ip(text, names).ok().map(Ipv4Addr::to_bits),
            None => None,
        };
        if gateway.is_some() {
            word = take_word(&mut text);
        }
        let port = match word {
            Some(DROP) => Some(i64::from(NOWHERE)),
            Some(word) => Some(parse_int(word, i64::from(i32::MIN), i64::from(i32::MAX)).ok()?),
            None if removes => None,
            None => return None,
        };
        if take_word(&mut text).is_some() {
            return None;
        }
        Some(Written {
            prefix: Prefix::new(prefix.network().to_bits(), prefix.len()?),
            gateway: gateway.unwrap_or(0),
            port,
        })
    }

    /// The route, where its output exists.
    fn route(&self, outputs: usize) -> Option<Route<u32>> {
        let port = u32::try_from(self.port?).ok()?;
        ((port as usize) < outputs || port == NOWHERE).then_some(Route {
            prefix: self.prefix,
            gateway: self.gateway,
            port,
        })
    }
}

/// `10.0.0.0/8 - 1`, in columns where `tabs`.
fn unparse(route: &Route<u32>, tabs: bool) -> String {
    let column = |text: String, width: usize| match tabs {
        false => format!("{text} "),
        true if text.len() + 1 < width => format!("{text}\t\t"),
        true => format!("{text}\t"),
    };
    let first = Ipv4Addr::from_bits(route.prefix.first());
    let gateway = match route.gateway {
        0 => "-".to_owned(),
        gateway => Ipv4Addr::from_bits(gateway).to_string(),
    };
    let prefix = column(format!("{first}/{}", route.prefix.len()), 17);
    format!("{prefix}{}{}", column(gateway, 9), output(route.port))
}

/// An output as routes have it.
fn output(port: u32) -> String {
    match port {
        NOWHERE => DROP.to_owned(),
        port => port.to_string(),
    }
}

impl<T: Table<u32>> IpLookup<T> {
    /// An element with an empty table.
    pub(crate) fn new(make: fn() -> T, style: Style) -> IpLookup<T> {
        IpLookup {
            routes: Routes::new(make()),
            make,
            outputs: 0,
            style,
            told: 0,
        }
    }

    /// The output and, unless zero, the gateway for an address.
    pub(crate) fn lookup(&self, address: u32) -> Option<(u32, usize)> {
        let hop = self.routes.table().lookup(address)?;
        let (gateway, port) = self.routes.hop(hop);
        Some((gateway, port as usize))
    }

    fn command(&mut self, command: Command, text: &str, names: &dyn Names) -> Result<Undo, String> {
        let removes = command == Command::Remove;
        let written = Written::parse(text, removes, names).ok_or_else(|| {
            let end = if removes { " OUTPUT]" } else { "] OUTPUT" };
            format!("expected 'ADDR/MASK [GATEWAY{end}'")
        })?;
        if removes {
            return self.remove(&written);
        }
        let route = written
            .route(self.outputs)
            .ok_or_else(|| "bad OUTPUT".to_owned())?;
        if command == Command::Set {
            let old = self.routes.set(route);
            return Ok(old.map_or(Undo::Remove(route.prefix), Undo::Set));
        }
        match self.routes.add(route) {
            Ok(()) => Ok(Undo::Remove(route.prefix)),
            Err(old) => Err(format!(
                "conflict with existing route '{}'",
                unparse(&old, false)
            )),
        }
    }

    fn remove(&mut self, written: &Written) -> Result<Undo, String> {
        let port = written.port.unwrap_or(-1);
        if port < -1 || port >= self.outputs as i64 && port != i64::from(NOWHERE) {
            return Err("bad OUTPUT".to_owned());
        }
        let fits = |old: &Route<u32>| {
            port < 0 || i64::from(old.port) == port && old.gateway == written.gateway
        };
        let found = self.routes.get(written.prefix).filter(fits);
        let removed = found.and_then(|_| self.routes.remove(written.prefix));
        removed.map(Undo::Set).ok_or_else(|| {
            let told = Route {
                prefix: written.prefix,
                gateway: written.gateway,
                port: 0,
            };
            let told = unparse(&told, false);
            let told = told.trim_end_matches('0');
            format!("route '{told}{port}' not found")
        })
    }

    /// Many commands, of which all are done or none.
    fn control(&mut self, text: &str, names: &dyn Names) -> Result<(), String> {
        let text = uncomment(text);
        let lines = text.lines().filter_map(|mut line| {
            let word = take_word(&mut line)?;
            Some((word, line))
        });
        let lines: Vec<(&str, &str)> = lines.collect();
        if lines.len() >= MANY && self.load(&lines, names) {
            return Ok(());
        }
        let mut undo = Vec::new();
        let mut failed = None;
        for (word, line) in lines {
            let done = match word {
                "add" => self.command(Command::Add, line, names),
                "set" => self.command(Command::Set, line, names),
                "remove" => self.command(Command::Remove, line, names),
                _ => Err(format!("bad command '{word}'")),
            };
            match done {
                Ok(how) => undo.push(how),
                Err(why) => {
                    failed = Some(why);
                    break;
                }
            }
        }
        let Some(why) = failed else {
            return Ok(());
        };
        for how in undo.into_iter().rev() {
            match how {
                Undo::Remove(prefix) => drop(self.routes.remove(prefix)),
                Undo::Set(route) => drop(self.routes.set(route)),
            }
        }
        Err(why)
    }

    /// Adds all lines at once, where all are new routes without a fault.
    fn load(&mut self, lines: &[(&str, &str)], names: &dyn Names) -> bool {
        let route = |(word, line): &(&str, &str)| {
            let written = Written::parse(line, false, names).filter(|_| *word == "add")?;
            let route = written.route(self.outputs)?;
            self.routes.get(route.prefix).is_none().then_some(route)
        };
        let Some(routes) = lines.iter().map(route).collect::<Option<Vec<_>>>() else {
            return false;
        };
        let mut prefixes: Vec<Prefix<u32>> = routes.iter().map(|route| route.prefix).collect();
        prefixes.sort_unstable();
        if prefixes.windows(2).any(|pair| pair[0] == pair[1]) {
            return false;
        }
        self.routes.load(&routes);
        true
    }

    /// A packet has no route.
    #[cold]
    fn tell(&mut self, ctx: &mut Ctx, packet: &Handle) {
        if self.style.tells && self.told < TOLD {
            self.told += 1;
            let address = Ipv4Addr::from(destination(&ctx.pool()[packet]));
            ctx.host()
                .say(&format!("IPRouteTable: no route for {address}\n"));
        }
    }

    /// All packets take one route.
    fn send_all(ctx: &mut Ctx, gateway: u32, port: u32, mut batch: Batch) {
        if port == NOWHERE {
            ctx.drop_all(&mut batch, Reason::NoRoute);
            ctx.recycle(batch);
            return;
        }
        if gateway != 0 {
            let pool = ctx.pool();
            for packet in batch.iter() {
                set_destination(&mut pool[packet], gateway.to_be_bytes());
            }
        }
        ctx.emit_all(port as usize, batch);
    }
}

/// The destinations of a batch, and whether they are one.
#[inline]
fn destinations(ctx: &mut Ctx, batch: &Packets, into: &mut [u32; BATCH]) -> bool {
    let pool = ctx.pool();
    let mut differ = 0;
    for (packet, address) in batch.iter().zip(into.iter_mut()) {
        *address = u32::from_be_bytes(destination(&pool[packet]));
    }
    for address in &into[..batch.len()] {
        differ |= address ^ into[0];
    }
    differ == 0
}

impl<T: Table<u32> + Send + 'static> Element for IpLookup<T> {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.outputs = setup.outputs.len();
        let mut said = Diagnostics::new();
        let mut routes = Vec::new();
        let names = setup.names();
        for (number, text) in (1..).zip(args.rest()) {
            let Some(written) = Written::parse(text, false, &names) else {
                let form = "ADDR/MASK [GATEWAY] OUTPUT";
                let text_of_error = format!("argument {number} should be '{form}'");
                let help = unknown_name(Kind::PrefixOrIp, text, &names);
                said.error_about(About::Rest(number - 1), text_of_error, help);
                continue;
            };
            match written.route(self.outputs) {
                Some(route) => routes.push(route),
                None => {
                    let text = format!("argument {number} bad OUTPUT");
                    said.error_about(About::Rest(number - 1), text, None);
                }
            }
        }
        self.routes = Routes::new((self.make)());
        match self.routes.load(&routes) {
            0 => {}
            1 => setup
                .warnings
                .push("1 route replaced by later versions".into()),
            many => setup
                .warnings
                .push(format!("{many} routes replaced by later versions")),
        }
        if said.has_errors() { Err(said) } else { Ok(()) }
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, batch: Batch) {
        let (mut addresses, count) = ([0; BATCH], batch.len());
        let is_one = destinations(ctx, &batch, &mut addresses);
        if is_one
            && count > 0
            && let Some(hop) = self.routes.table().lookup(addresses[0])
        {
            let (gateway, port) = self.routes.hop(hop);
            return Self::send_all(ctx, gateway, port, batch);
        }
        let mut hops = [None; BATCH];
        let table = self.routes.table();
        table.lookup_batch(&addresses[..count], &mut hops[..count]);
        if let Some(hop) = hops[0]
            && hops[..count].iter().all(|other| *other == hops[0])
        {
            let (gateway, port) = self.routes.hop(hop);
            return Self::send_all(ctx, gateway, port, batch);
        }
        let mut outputs = [NOWHERE; BATCH];
        for ((packet, hop), output) in batch.iter().zip(hops).zip(&mut outputs) {
            let Some((gateway, port)) = hop.map(|hop| self.routes.hop(hop)) else {
                self.tell(ctx, packet);
                continue;
            };
            if gateway != 0 {
                set_destination(&mut ctx.pool()[packet], gateway.to_be_bytes());
            }
            *output = port;
        }
        ctx.part(batch, &outputs, Reason::NoRoute);
    }

    fn handlers(&self) -> Vec<Handler> {
        let mut all = Vec::new();
        if self.style.changes {
            all.extend(["add", "set", "remove", "ctrl"].map(|name| Handler::new(name, "w")));
        }
        all.push(Handler::new("table", "r$"));
        all.push(Handler::new("lookup", "r+"));
        if self.style.flushes {
            all.push(Handler::new("flush", "wb"));
        }
        all
    }

    fn read(&mut self, ctx: &mut Ctx, name: &str, parameter: &str) -> Result<String, String> {
        if name == "table" {
            let mut text = String::new();
            for route in self.routes.iter() {
                writeln!(text, "{}", unparse(&route, true)).expect("a string takes any text");
            }
            return Ok(text);
        }
        let Ok(address) = parse_ip(parameter.trim(), &ctx.names()) else {
            return Err("expected IP address".to_owned());
        };
        Ok(match self.lookup(address.to_bits()) {
            None => "-1".to_owned(),
            Some((0, port)) => output(port as u32),
            Some((gateway, port)) => {
                format!("{} {}", output(port as u32), Ipv4Addr::from_bits(gateway))
            }
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let names = ctx.names();
        let done = match name {
            "add" => self.command(Command::Add, value, &names),
            "set" => self.command(Command::Set, value, &names),
            "remove" => self.command(Command::Remove, value, &names),
            "ctrl" => return self.control(value, &names),
            _ => {
                self.routes = Routes::new((self.make)());
                return Ok(());
            }
        };
        done.map(|_| ())
    }

    fn study(&self, pool: &Pool, batch: &Packets, study: &mut Study) {
        let each = batch.iter();
        let addresses = each.map(|packet| u32::from_be_bytes(destination(&pool[packet])));
        lookup::study::study(&self.routes, &addresses.collect::<Vec<u32>>(), study);
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        self.routes.table().quantities()
    }
}
