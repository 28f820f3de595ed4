//! Numbers pairs of hosts, and gives packets the number of theirs.
//!
//! # What it does
//! The annotation AGGREGATE becomes the number of the pair of addresses, counted from 1; PAINT is 0
//! in the direction of the pair's first packet and 1 in the other. A pair that was silent for
//! `TIMEOUT` is a new one; without it, none ends. Packets without an IP header leave by output 1,
//! or end here.
//!
//! # Example
//! ```click
//! FromDump(a.pcap, STOP true, FORCE_IP true) -> AggregateIPAddrPair(TIMEOUT 60)
//!     -> AggregateCounter -> Discard
//! ```

use super::shared::aggregates::{Listeners, tree};
use crate::args::{Args, Kind, keyword};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::ip_packet;
use crate::reason::Reason;
use std::collections::BTreeMap;
use trammel_packet::anno;
use trammel_packet::batch::Packets;
use trammel_packet::pool::Handle;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "AggregateIPAddrPair",
    "numbers the pairs of hosts of packets",
    || Box::<AggregateIpAddrPair>::default(),
)
.ports("1/1-2", "a/ah")
.params(&[
    keyword(
        "TIMEOUT",
        Kind::SecondsIn(0),
        "0",
        "seconds after which a silent pair is over; 0: none is",
    ),
    keyword(
        "REAP",
        Kind::SecondsIn(0),
        "1200",
        "seconds between searches for pairs that are over",
    ),
])
.ops("parse(8); trie_lookup(levels, bytes, bytes); work(60 * levels + 130)");

#[derive(Debug)]
struct Pair {
    number: u32,
    /// Its first packet went from the higher address to the lower.
    reverse: bool,
    last_secs: i64,
}

#[derive(Debug, Default)]
struct AggregateIpAddrPair {
    timeout: i64,
    reap_interval: i64,
    pairs: BTreeMap<([u8; 4], [u8; 4]), Pair>,
    last_number: u32,
    reap_at: i64,
    has_warned: bool,
    listeners: Listeners,
}

impl AggregateIpAddrPair {
    fn new_number(&mut self) -> u32 {
        self.last_number = self.last_number.checked_add(1).unwrap_or(1);
        self.last_number
    }

    /// The packet's time, which it gets where it has none.
    fn time(&mut self, ctx: &mut Ctx, handle: &Handle) -> i64 {
        if ctx.pool()[handle].timestamp().is_zero() {
            if !std::mem::replace(&mut self.has_warned, true) {
                let me = ctx.declaration(ctx.me());
                let text = format!("{me}: warning: packet received without timestamp\n");
                ctx.host().say(&text);
            }
            let now = ctx.now();
            ctx.pool()[handle].set_timestamp(now);
        }
        ctx.pool()[handle].timestamp().secs()
    }

    fn mark(&mut self, ctx: &mut Ctx, handle: &Handle) -> bool {
        let Some(ip) = ip_packet::header(&ctx.pool()[handle]) else {
            return false;
        };
        let (src, dst) = (ip.src, ip.dst);
        let reverse = src > dst;
        let now = match self.timeout {
            0 => 0,
            _ => self.time(ctx, handle),
        };
        let key = (src.min(dst), src.max(dst));
        let is_over = |pair: &Pair| self.timeout > 0 && pair.last_secs < now - self.timeout;
        let old = self.pairs.get(&key).filter(|pair| is_over(pair));
        if let Some(number) = old.map(|pair| pair.number) {
            self.listeners.ended(ctx, number);
            self.pairs.remove(&key);
        }
        if !self.pairs.contains_key(&key) {
            let number = self.new_number();
            let pair = Pair {
                number,
                reverse,
                last_secs: now,
            };
            self.pairs.insert(key, pair);
        }
        if let Some(pair) = self.pairs.get_mut(&key) {
            pair.last_secs = now;
            let packet = &mut ctx.pool()[handle];
            packet.set_anno_u32(anno::AGGREGATE, pair.number);
            packet.set_anno_u8(anno::PAINT, u8::from(pair.reverse != reverse));
        }
        if self.timeout > 0 && now > self.reap_at {
            if self.reap_at > 0 {
                self.reap(ctx, now - self.timeout);
            }
            self.reap_at = now + self.reap_interval;
        }
        true
    }

    /// Ends the pairs that were silent since `before`.
    fn reap(&mut self, ctx: &mut Ctx, before: i64) {
        let listeners = &self.listeners;
        self.pairs.retain(|_, pair| {
            let stays = pair.last_secs >= before;
            if !stays {
                listeners.ended(ctx, pair.number);
            }
            stays
        });
    }
}

impl Element for AggregateIpAddrPair {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.timeout = args.uint("TIMEOUT") as i64;
        self.reap_interval = args.uint("REAP") as i64;
        Ok(())
    }

    fn start(&mut self, ctx: &mut Ctx) {
        self.listeners = Listeners::gather(ctx);
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            if self.mark(ctx, &handle) {
                return Some(handle);
            }
            ctx.reject(1, handle, Reason::NoMatch);
            None
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("clear", "w")]
    }

    fn write(&mut self, ctx: &mut Ctx, _: &str, _: &str) -> Result<(), String> {
        self.reap(ctx, i64::MAX);
        Ok(())
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        tree(self.pairs.len(), size_of::<([u8; 8], Pair)>())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    fn numbers(arguments: &str) -> String {
        let mut run = loaded(&format!(
            "FromIPSummaryDump(STOP true, DATA \"!data timestamp ip_src ip_dst\n1 9.0.0.1 1.0.0.2\n\
             2 1.0.0.2 9.0.0.1\n3 1.0.0.2 1.0.0.3\n99 1.0.0.2 9.0.0.1\") \
             -> AggregateIPAddrPair({arguments}) -> ToIPSummaryDump(-, HEADER false, \
             FIELDS aggregate link) -> Discard"
        ));
        run.run(1.0);
        run.host.memory().printed.trim().replace('\n', ",")
    }

    #[test]
    fn both_directions_of_a_pair_are_one() {
        assert_eq!(numbers(""), "1 0,1 1,2 0,1 1");
        assert_eq!(numbers("TIMEOUT 60"), "1 0,1 1,2 0,3 0");
    }

    #[test]
    fn what_ends_is_told() {
        let mut run = loaded(
            "FromIPSummaryDump(STOP true, DATA \"!data timestamp ip_src ip_dst\n1 9.0.0.1 1.0.0.2\n\
             5 1.0.0.2 1.0.0.3\n9 1.0.0.2 9.0.0.1\n99 4.4.4.4 5.5.5.5\") \
             -> p :: AggregateIPAddrPair(TIMEOUT 20, REAP 1) -> AggregateLast(NOTIFIER p) \
             -> ToIPSummaryDump(-, HEADER false, FIELDS aggregate count) -> Discard",
        );
        run.run(1.0);
        assert_eq!(run.host.memory().printed, "2 1\n1 2\n");
        run.write("p.clear", "").expect("it is cleared");
        run.run(1.0);
        assert_eq!(run.host.memory().printed, "2 1\n1 2\n3 1\n");
    }
}
