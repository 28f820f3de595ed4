//! A pattern: what addresses and ports become, and which of a range is free.

use super::flow::FlowId;
use super::patterns::Patterns;
use crate::args::addresses::{parse_ip, parse_ip_prefix};
use crate::args::names::{Named, Names, Space};
use crate::args::numbers::parse_int;
use crate::engine::{Ctx, ElementId};
use std::fmt;
use std::net::Ipv4Addr;

/// In which order the values of a range are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The packet's own, if the range has it, then from a random one on.
    OwnFirst,
    /// From a random one on: `?`.
    Random,
    /// From the one after the last on: `#`.
    Sequential,
}

/// A pattern. Parts that are 0 leave the packet's as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// The parts.
    pub to: FlowId,
    /// How many values the range has beyond the first; 0 where it is none.
    range: u32,
    order: Order,
    /// Ports change as well as addresses; a range is one of source ports, otherwise of source
    /// addresses.
    has_ports: bool,
    /// Which value of the range comes next.
    next: u32,
}

/// Where a pattern is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatternRef {
    /// Here.
    Own(Pattern),
    /// With others in an element.
    Named(ElementId, usize),
}

/// How many patterns one element may have: the number of one takes 12 bits beside the element's.
pub(crate) const MOST_NAMED: usize = 1 << 12;

/// Takes the mark of the order off a range.
fn order(text: &str) -> (&str, Order) {
    if let Some(range) = text.strip_suffix('#') {
        (range, Order::Sequential)
    } else if let Some(range) = text.strip_suffix('?') {
        (range, Order::Random)
    } else {
        (text, Order::OwnFirst)
    }
}

/// `1.0.0.1-1.0.0.9#` or `1.0.0.0/24`: the first, how many more, and the order.
fn addresses(text: &str, names: &dyn Names) -> Option<(u32, u32, Order)> {
    let (range, order) = order(text);
    if let Some((low, high)) = range.split_once('-') {
        let low = parse_ip(low, names).ok()?.to_bits();
        let high = parse_ip(high, names).ok()?.to_bits();
        return Some((low, high.checked_sub(low)?, order));
    }
    let prefix = parse_ip_prefix(range, true, names).ok()?;
    let len = prefix.len()?;
    if len == 0 || prefix.address.is_unspecified() {
        return None;
    }
    let network = prefix.network().to_bits();
    Some(match len {
        32 => (prefix.address.to_bits(), 0, order),
        31 => (network, 1, order),
        // Neither the network's own address nor that of all its hosts is given to a host.
        len => (network | 1, (u32::MAX >> len) - 2, order),
    })
}

/// `1024-65535#`: the first, how many more, and the order.
fn ports(text: &str) -> Option<(u16, u32, Order)> {
    let (range, order) = order(text);
    let (low, high) = range.split_once('-')?;
    let low = parse_int(low, 0, 65535).ok()?;
    let high = parse_int(high, low, 65535).ok()?;
    Some((low as u16, (high - low) as u32, order))
}

fn port(text: &str) -> Option<u16> {
    parse_int(text, 1, 65535).ok().map(|port| port as u16)
}

impl PatternRef {
    /// Reads the words of a pattern: the name of one; or source and destination address, with the
    /// source port at the end or both ports after their addresses.
    pub(crate) fn parse(words: &[&str], names: &dyn Names) -> Result<PatternRef, String> {
        if let [name] = words {
            return match names.find(Space::RewriterPattern, name) {
                Some(Named::Number(number)) => {
                    let number = number as usize;
                    Ok(PatternRef::Named(number / MOST_NAMED, number % MOST_NAMED))
                }
                _ => Err(format!("no such pattern '{name}'")),
            };
        }
        Pattern::parse(words, names).map(PatternRef::Own)
    }

    /// The pattern as it stands.
    pub(crate) fn get(&self, ctx: &mut Ctx) -> Option<Pattern> {
        match self {
            PatternRef::Own(pattern) => Some(*pattern),
            PatternRef::Named(element, at) => ctx.get::<Patterns>(*element)?.all.get(*at).copied(),
        }
    }

    /// Keeps which value comes next.
    pub(crate) fn set(&mut self, ctx: &mut Ctx, pattern: Pattern) {
        match self {
            PatternRef::Own(own) => *own = pattern,
            PatternRef::Named(element, at) => {
                let all = ctx.get::<Patterns>(*element);
                if let Some(one) = all.and_then(|patterns| patterns.all.get_mut(*at)) {
                    *one = pattern;
                }
            }
        }
    }
}

impl Pattern {
    /// Reads two, three or four words.
    pub(crate) fn parse(words: &[&str], names: &dyn Names) -> Result<Pattern, String> {
        let (src, sport, dst, dport) = match words {
            [src, dst] => (*src, "-", *dst, "-"),
            [src, dst, sport] => (*src, *sport, *dst, "-"),
            [src, sport, dst, dport] => (*src, *sport, *dst, *dport),
            _ => return Err("syntax error".into()),
        };
        let mut pattern = Pattern {
            to: FlowId::default(),
            range: 0,
            order: Order::OwnFirst,
            has_ports: words.len() > 2,
            next: 0,
        };
        if src != "-" {
            let one = parse_ip(src, names)
                .ok()
                .map(|ip| (ip.to_bits(), 0, Order::OwnFirst));
            let range = one.or_else(|| addresses(src, names));
            let (first, range, order) = range.ok_or("bad source address")?;
            (pattern.to.src, pattern.range, pattern.order) = (first, range, order);
        }
        if sport != "-" {
            if let Some(port) = port(sport) {
                pattern.to.sport = port;
            } else {
                let (first, range, order) = ports(sport).ok_or("bad source port")?;
                (pattern.to.sport, pattern.range, pattern.order) = (first, range, order);
            }
        }
        if dst != "-" {
            let address = parse_ip(dst, names).map_err(|_| "bad destination address")?;
            pattern.to.dst = address.to_bits();
        }
        if dport != "-" {
            pattern.to.dport = port(dport).ok_or("bad destination port")?;
        }
        Ok(pattern)
    }

    /// What `flow` becomes; nothing where the range has no value left. `complete` fills in what
    /// follows from the rest, and `is_taken` says whether answers to a flow would be another's;
    /// `draw` chooses one of so many values.
    pub(crate) fn choose(
        &mut self,
        flow: FlowId,
        complete: impl Fn(FlowId) -> FlowId,
        is_taken: impl Fn(FlowId) -> bool,
        draw: impl FnOnce(u64) -> u64,
    ) -> Option<FlowId> {
        let mut to = flow;
        let replace = |part: &mut u16, by: u16| *part = if by == 0 { *part } else { by };
        if self.to.src != 0 {
            to.src = self.to.src;
        }
        if self.to.dst != 0 {
            to.dst = self.to.dst;
        }
        replace(&mut to.sport, self.to.sport);
        replace(&mut to.dport, self.to.dport);
        if self.range == 0 {
            return Some(complete(to));
        }
        let with = |value: u32| {
            let mut to = to;
            if self.has_ports {
                to.sport = self.to.sport.wrapping_add(value as u16);
            } else {
                to.src = self.to.src.wrapping_add(value);
            }
            complete(to)
        };
        if self.order == Order::OwnFirst && self.has_ports {
            let own = u32::from(flow.sport).wrapping_sub(u32::from(self.to.sport));
            if own <= self.range && !is_taken(with(own)) {
                self.next = own + 1;
                return Some(with(own));
            }
        }
        let first = match self.order {
            Order::Sequential if self.next <= self.range => self.next,
            Order::Sequential => 0,
            _ => draw(u64::from(self.range) + 1) as u32,
        };
        let free = (first..=self.range)
            .chain(0..first)
            .find(|value| !is_taken(with(*value)))?;
        let found = with(free);
        self.next = free + 1;
        Some(found)
    }
}

/// As it is written, without the mark of the order.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ip = Ipv4Addr::from_bits;
        let Pattern { to, range, .. } = *self;
        match to.src {
            src if !self.has_ports && range > 0 => write!(f, "{}-{}", ip(src), ip(src + range))?,
            0 => write!(f, "-")?,
            src => write!(f, "{}", ip(src))?,
        }
        match to.sport {
            _ if !self.has_ports => {}
            0 => write!(f, " -")?,
            low if range > 0 => write!(f, " {low}-{}", u32::from(low) + range)?,
            low => write!(f, " {low}")?,
        }
        match to.dst {
            0 => write!(f, " -")?,
            dst => write!(f, " {}", ip(dst))?,
        }
        match to.dport {
            _ if !self.has_ports => Ok(()),
            0 => write!(f, " -"),
            port => write!(f, " {port}"),
        }
    }
}
