//! Counts packets or bytes by aggregate.
//!
//! # What it does
//! Each value of the annotation AGGREGATE has a count of its own; the handlers `write_…_file` write
//! all of them, in the order of the aggregates. While frozen, it only counts aggregates that it
//! knows; packets at input 1 are always counted so. With two outputs, packets that were not counted
//! leave by output 1.
//!
//! # Handlers
//! - `write_file`, `write_text_file`, `write_ascii_file`, `write_ip_file`, `write_pdf_file`: writes
//!   aggregates and counts to a file: packed, as text, with addresses of IP, or as shares of all
//! - `freeze`: whether new aggregates are left out
//! - `reaggregate_counts`, `counts_pdf`: makes the counts the aggregates: how many aggregates have
//!   each count
//! - `nagg`: how many aggregates there are
//!
//! # Example
//! ```click
//! FromDump(a.pcap, STOP true, FORCE_IP true) -> AggregateIP(ip dst) -> a :: AggregateCounter
//!     -> Discard;
//! DriverManager(wait_stop, write a.write_ip_file -, stop)
//! ```

use super::shared::aggregates::tree;
use crate::args::handler_call::{HandlerCall, parse_handler_call};
use crate::args::kinds::{U64, UINT};
use crate::args::numbers::{parse_bool, parse_uint};
use crate::args::text::take_word;
use crate::args::{Args, Kind, Param, flag, keyword};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::trace::output::Output;
use std::collections::BTreeMap;
use std::io::Write;
use trammel_packet::anno;
use trammel_packet::batch::{Batch, Packets};
use trammel_packet::pool::Handle;

/// The class.
pub static ENTRY: Entry = Entry::new("AggregateCounter", "counts packets by aggregate", || {
    Box::<AggregateCounter>::default()
})
.ports("1-2/1-2", "a/a")
.params(&[
    flag("BYTES", "false", "whether bytes are counted, not packets"),
    flag(
        "IP_BYTES",
        "false",
        "whether bytes before the IP header are not counted",
    ),
    flag(
        "MULTIPACKET",
        "true",
        "whether a packet may stand for several",
    ),
    flag(
        "EXTRA_LENGTH",
        "true",
        "whether bytes that were not captured are counted",
    ),
    limit(
        "AGGREGATE_FREEZE",
        UINT,
        "aggregates after which no new ones are counted",
    ),
    limit(
        "COUNT_FREEZE",
        U64,
        "count after which no new aggregates are counted",
    ),
    limit(
        "AGGREGATE_STOP",
        UINT,
        "aggregates after which the driver stops",
    ),
    limit("COUNT_STOP", U64, "count after which the driver stops"),
    limit(
        "AGGREGATE_CALL",
        Kind::Raw,
        "aggregates, then a handler that is written when there are more",
    ),
    limit(
        "COUNT_CALL",
        Kind::Raw,
        "a count, then a handler that is written when it is reached",
    ),
    limit("BANNER", Kind::Text, "a line at the head of files"),
])
.ops("trie_lookup(levels, bytes, bytes); work(40 * levels + 140)");

const fn limit(name: &'static str, kind: Kind, help: &'static str) -> Param {
    keyword(name, kind, "", help)
}

/// What happens when a limit is reached.
#[derive(Clone, Debug)]
enum Then {
    Freeze,
    Stop,
    Call(HandlerCall),
}

#[derive(Debug, Default)]
struct AggregateCounter {
    bytes: bool,
    ip_bytes: bool,
    multipacket: bool,
    extra_length: bool,
    banner: String,
    active: bool,
    frozen: bool,
    counts: BTreeMap<u32, u32>,
    total: u64,
    at_aggregates: Option<(u64, Then)>,
    at_count: Option<(u64, Then)>,
}

/// `N HANDLER [VALUE]`.
fn call(text: &str) -> Option<(u64, Then)> {
    let mut rest = text;
    let limit = parse_uint(take_word(&mut rest)?, u64::MAX).ok()?;
    Some((limit, Then::Call(parse_handler_call(rest).ok()?)))
}

/// The one limit of `what` that is given.
fn limit_of(
    args: &Args,
    names: [&'static str; 3],
    what: &str,
    said: &mut Diagnostics,
) -> Option<(u64, Then)> {
    let [freeze, stop, called] = names;
    if names.iter().filter(|name| args.given(name)).count() > 1 {
        let text = format!("'{freeze}', '{stop}', and '{called}' are mutually exclusive");
        said.error(None, text);
        return None;
    }
    let text = args.opt_text(called);
    let calls = text.and_then(call);
    if text.is_some() && calls.is_none() {
        said.error(
            None,
            format!("{called} first word should be unsigned ({what})"),
        );
    }
    let freezes = args.opt_uint(freeze).map(|limit| (limit, Then::Freeze));
    let stops = args.opt_uint(stop).map(|limit| (limit, Then::Stop));
    freezes.or(stops).or(calls)
}

fn unparse(limit: Option<&(u64, Then)>, name: &str) -> String {
    match limit {
        None => String::new(),
        Some((limit, Then::Freeze)) => format!("{limit} {name}.freeze true"),
        Some((limit, Then::Stop)) => format!("{limit} {name}.stop"),
        Some((limit, Then::Call(call))) => format!("{limit} {call}"),
    }
}

impl AggregateCounter {
    #[cold]
    fn reached(&mut self, ctx: &mut Ctx, then: &Then) {
        match then {
            Then::Freeze => self.frozen = true,
            Then::Stop => {
                self.active = false;
                ctx.stop();
            }
            Then::Call(call) => {
                if let Err(why) = ctx.call_back(self, call) {
                    let text = format!("{}: {why}\n", ctx.declaration(ctx.me()));
                    ctx.host().say(&text);
                }
            }
        }
    }

    /// Counts a packet; whether it was.
    fn count(&mut self, ctx: &mut Ctx, handle: &Handle, frozen: bool) -> bool {
        if !self.active {
            return false;
        }
        let packet = &ctx.pool()[handle];
        let aggregate = packet.anno_u32(anno::AGGREGATE);
        let amount = if self.bytes {
            let len = if self.ip_bytes && packet.has_network_header() {
                packet.network_header().len()
            } else {
                packet.len()
            };
            let extra = packet.anno_u32(anno::EXTRA_LENGTH);
            (len as u32).wrapping_add(if self.extra_length { extra } else { 0 })
        } else if self.multipacket {
            packet.anno_u32(anno::EXTRA_PACKETS).wrapping_add(1)
        } else {
            1
        };
        if !self.counts.contains_key(&aggregate) {
            if frozen {
                return false;
            }
            let known = self.counts.len() as u64;
            if let Some((_, then)) = self.at_aggregates.take_if(|(limit, _)| known >= *limit) {
                self.reached(ctx, &then);
                // The call may have changed what is counted.
                return self.count(ctx, handle, frozen || self.frozen);
            }
            if amount == 0 {
                return true;
            }
        }
        let count = self.counts.entry(aggregate).or_default();
        *count = count.wrapping_add(amount);
        self.total += u64::from(amount);
        let total = self.total;
        if let Some((_, then)) = self.at_count.take_if(|(limit, _)| total >= *limit) {
            self.reached(ctx, &then);
        }
        true
    }

    fn write_file(&self, ctx: &mut Ctx, handler: &str, path: &str) -> Result<(), String> {
        let path = crate::args::text::parse_filename(path.trim(), None)
            .map_err(|_| "argument should be filename".to_owned())?;
        let mut file = Output::new(&path);
        file.open(ctx)?;
        let out = &mut file.buffer;
        out.extend_from_slice(b"!IPAggregate 1.0\n");
        out.extend_from_slice(self.banner.as_bytes());
        if !self.banner.is_empty() && !self.banner.ends_with('\n') {
            out.push(b'\n');
        }
        let mut say = |text: String| out.extend_from_slice(text.as_bytes());
        say(format!("!num_nonzero {}\n", self.counts.len()));
        match handler {
            "write_file" => say("!packed_le\n".to_owned()),
            "write_ip_file" => say("!ip\n".to_owned()),
            _ => {}
        }
        for (aggregate, count) in &self.counts {
            let result = match handler {
                "write_file" => {
                    out.write_all(&[aggregate.to_le_bytes(), count.to_le_bytes()].concat())
                }
                "write_ip_file" => {
                    writeln!(out, "{} {count}", std::net::Ipv4Addr::from(*aggregate))
                }
                "write_pdf_file" => {
                    writeln!(
                        out,
                        "{aggregate} {}",
                        share(f64::from(*count) / self.total as f64)
                    )
                }
                _ => writeln!(out, "{aggregate} {count}"),
            };
            result.expect("a vector takes all");
        }
        file.close(ctx);
        Ok(())
    }
}

/// A part of one with twelve significant digits, as C's `%.12g` prints it down to a ten-thousandth.
fn share(part: f64) -> String {
    let zeros = if part > 0.0 {
        (-part.log10()).max(0.0).floor() as usize
    } else {
        0
    };
    let text = format!("{part:.*}", 12 + zeros);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

impl Element for AggregateCounter {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut said = Diagnostics::new();
        self.bytes = args.bool("BYTES");
        self.ip_bytes = args.bool("IP_BYTES");
        self.multipacket = args.bool("MULTIPACKET");
        self.extra_length = args.bool("EXTRA_LENGTH");
        args.text("BANNER").clone_into(&mut self.banner);
        self.active = true;
        let names = ["AGGREGATE_FREEZE", "AGGREGATE_STOP", "AGGREGATE_CALL"];
        self.at_aggregates = limit_of(args, names, "number of aggregates", &mut said);
        let names = ["COUNT_FREEZE", "COUNT_STOP", "COUNT_CALL"];
        self.at_count = limit_of(args, names, "count", &mut said);
        if said.is_empty() { Ok(()) } else { Err(said) }
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        for handle in batch.iter() {
            self.count(ctx, handle, self.frozen);
        }
    }

    fn push(&mut self, ctx: &mut Ctx, port: usize, mut batch: Batch) {
        let splits = ctx.outputs() > 1;
        for handle in batch.drain() {
            let counted = self.count(ctx, &handle, self.frozen || port == 1);
            ctx.emit(usize::from(splits && !counted), handle);
        }
        ctx.recycle(batch);
    }

    fn pull(&mut self, ctx: &mut Ctx, port: usize, max: usize, into: &mut Packets) {
        let input = if ctx.inputs() > 1 { port } else { 0 };
        let mut batch = ctx.batch();
        ctx.pull(input, max.min(into.room()), &mut batch);
        for handle in batch.drain() {
            self.count(ctx, &handle, self.frozen || port == 1);
            into.push(handle);
        }
        ctx.recycle(batch);
    }

    fn handlers(&self) -> Vec<Handler> {
        let all = [
            ("write_text_file", "w"),
            ("write_ascii_file", "w"),
            ("write_file", "w"),
            ("write_ip_file", "w"),
            ("write_pdf_file", "w"),
            ("freeze", "rwx"),
            ("active", "rwx"),
            ("stop", "wb"),
            ("reaggregate_counts", "w"),
            ("counts_pdf", "w"),
            ("banner", "rw%"),
            ("clear", "w"),
            ("aggregate_call", "rw"),
            ("count_call", "rw"),
            ("count", "r"),
            ("nagg", "r"),
        ];
        all.map(|(name, letters)| Handler::new(name, letters))
            .into()
    }

    fn read(&mut self, ctx: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        let me = ctx.name(ctx.me());
        Ok(match name {
            "freeze" => self.frozen.to_string(),
            "active" => self.active.to_string(),
            "banner" => self.banner.clone(),
            "aggregate_call" => unparse(self.at_aggregates.as_ref(), me),
            "count_call" => unparse(self.at_count.as_ref(), me),
            "count" => self.total.to_string(),
            _ => self.counts.len().to_string(),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let truth = || parse_bool(value.trim()).map_err(|_| "type mismatch".to_owned());
        let limit = || match value.trim() {
            "" => Ok(None),
            text => call(text)
                .map(Some)
                .ok_or_else(|| format!("argument to '{name}' should be 'N HANDLER [VALUE]'")),
        };
        match name {
            "freeze" => self.frozen = truth()?,
            "active" => self.active = truth()?,
            "stop" => {
                self.active = false;
                ctx.stop();
            }
            "reaggregate_counts" | "counts_pdf" => {
                let old = std::mem::take(&mut self.counts);
                self.total = old.len() as u64;
                for count in old.into_values() {
                    *self.counts.entry(count).or_default() += 1;
                }
            }
            "banner" => {
                value.clone_into(&mut self.banner);
                if value == "\n" {
                    self.banner.clear();
                } else if !value.is_empty() && !value.ends_with('\n') {
                    self.banner.push('\n');
                }
            }
            "clear" => {
                self.counts.clear();
                self.total = 0;
            }
            "aggregate_call" => self.at_aggregates = limit()?,
            "count_call" => self.at_count = limit()?,
            handler => return self.write_file(ctx, handler, value),
        }
        Ok(())
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        tree(self.counts.len(), size_of::<(u32, u32)>())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    fn counted(arguments: &str) -> (crate::load::testing::Run, String) {
        let mut run = loaded(&format!(
            "FromIPSummaryDump(DATA \"!data aggregate ip_len count\n7 20 1\n7 30 1\n1 40 3\n\
             9 20 1\n1 20 1\", STOP true) \
             -> a :: AggregateCounter({arguments}) -> Discard"
        ));
        run.run(1.0);
        run.write("a.write_text_file", "-").expect("it is written");
        assert_eq!(run.ctx.pool().in_use(), 0);
        let printed = run.host.memory().printed.clone();
        let all: Vec<_> = printed
            .lines()
            .filter(|line| !line.starts_with('!'))
            .collect();
        let all = all.join(",");
        (run, all)
    }

    #[test]
    fn packets_or_bytes_are_counted() {
        assert_eq!(counted("").1, "1 4,7 2,9 1");
        assert_eq!(counted("MULTIPACKET false").1, "1 2,7 2,9 1");
        assert_eq!(counted("BYTES true").1, "1 60,7 50,9 20");
    }

    #[test]
    fn limits_freeze_stop_or_call() {
        assert_eq!(counted("AGGREGATE_FREEZE 1").1, "7 2");
        assert_eq!(counted("COUNT_STOP 5").1, "1 3,7 2");
        assert_eq!(counted("AGGREGATE_CALL 2 a.clear").1, "1 1,9 1");
        assert!(
            errors("Idle -> AggregateCounter(COUNT_STOP 1, COUNT_FREEZE 2) -> Idle")
                .contains("exclusive")
        );
        assert!(errors("Idle -> AggregateCounter(COUNT_CALL x y) -> Idle").contains("first word"));
    }

    #[test]
    fn counts_become_aggregates() {
        let (mut run, _) = counted("MULTIPACKET false");
        run.write("a.counts_pdf", "").expect("it is a button");
        run.host.memory().printed.clear();
        run.write("a.write_pdf_file", "-").expect("it is written");
        let printed = run.host.memory().printed.clone();
        assert!(
            printed.ends_with("1 0.333333333333\n2 0.666666666667\n"),
            "{printed}"
        );
        assert_eq!(
            (run.read("a.nagg"), run.read("a.count")),
            ("2".into(), "3".into())
        );
    }

    #[test]
    fn what_is_not_counted_leaves_by_output_1() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 4, STOP true) -> [1] a :: AggregateCounter; Idle -> a; \
             a -> Discard; a[1] -> c :: Counter -> Discard",
        );
        run.run(1.0);
        assert_eq!(run.read("c.count"), "4");
    }
}
