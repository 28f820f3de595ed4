//! What a rewriter's handlers print: mappings, patterns, what a flow becomes, sums over its maps.

use super::lookup::Want;
use super::{Class, Rewriter, milliseconds};
use crate::args::addresses::parse_ip;
use crate::args::names::{TCP, parse_port};
use crate::args::text::split_words;
use crate::elements::transport::shared::rewriter::flow::FlowId;
use crate::elements::transport::shared::rewriter::spec::Action;
use crate::elements::transport::shared::rewriter::table::{Entry, Owner};
use crate::engine::Ctx;
use std::fmt::Write;
use std::net::Ipv4Addr;

impl Rewriter {
    /// The mappings of one map as text, a line each.
    pub(super) fn listing(&mut self, ctx: &mut Ctx, map: u32) -> String {
        let now = milliseconds(ctx.now());
        let class = self.class;
        let text = self.with_table(ctx, |_, _, table| {
            let mut text = String::new();
            for (first, flow) in table.flows().filter(|(_, flow)| flow.map == map) {
                for reply in [false, true] {
                    let entry = Entry(first.0 | u32::from(reply));
                    // A flow that is its own answer has one entry only.
                    if table.find(map, flow.ids[usize::from(reply)]) != Some(entry) {
                        continue;
                    }
                    let (from, to) = (flow.ids[usize::from(reply)], flow.rewritten(reply));
                    let ip = Ipv4Addr::from_bits;
                    let (src, dst, new_src, new_dst) =
                        (ip(from.src), ip(from.dst), ip(to.src), ip(to.dst));
                    let written = match class {
                        Class::Address => write!(text, "{src} => {new_src}"),
                        Class::Pair => write!(text, "({src}, {dst}) => ({new_src}, {new_dst})"),
                        Class::Ping => write!(
                            text,
                            "({src}, {dst}, {}) => ({new_src}, {new_dst}, {})",
                            from.sport, to.sport
                        ),
                        Class::Ip | Class::Tcp | Class::Udp => write!(text, "{from} => {to}"),
                    };
                    let delta = flow.deltas.as_ref().map_or(0, |deltas| deltas.last(reply));
                    if delta != 0 {
                        let _ = write!(text, " seq {delta:+}");
                    }
                    let star = |mine: bool| if mine { "*" } else { "" };
                    let end = table.best_effort_end(flow) + 500 - now;
                    // The original counts in 32 bits: the end of a mapping not yet reaped is far
                    // away.
                    let _ = written.and_then(|()| {
                        writeln!(
                            text,
                            " [{}{} {}{}] i{} exp{}",
                            star(!reply),
                            flow.outputs[0],
                            star(reply),
                            flow.outputs[1],
                            table.owner(flow.owner).input,
                            end as u32 / 1000
                        )
                    });
                }
            }
            text
        });
        text.unwrap_or_default()
    }

    /// What the inputs are said to do.
    pub(super) fn patterns(&mut self, ctx: &mut Ctx, which: Option<usize>) -> String {
        let mut text = String::new();
        for (input, spec) in self.specs.clone().iter().enumerate() {
            if which.is_some_and(|which| which != input) {
                continue;
            }
            let _ = match spec.action {
                Action::Drop => write!(text, "<drop>"),
                Action::Pass => write!(text, "<nochange>"),
                Action::Keep => write!(text, "<keep>"),
                Action::Mapper(_) => write!(text, "<mapper>"),
                Action::Pattern(pattern) => match pattern.get(ctx) {
                    Some(pattern) => write!(text, "{pattern}"),
                    None => Ok(()),
                },
            };
            let owner = self.first_owner + input as u32;
            let count = self.with_table(ctx, |_, _, table| table.owner(owner).count);
            let _ = match count {
                None | Some(0) => writeln!(text),
                Some(count) => writeln!(text, " [{count}]"),
            };
        }
        text
    }

    /// `saddr sport daddr dport`, and what it becomes in the same form; nothing where there is no
    /// mapping.
    pub(super) fn lookup_text(&mut self, ctx: &mut Ctx, text: &str) -> Result<String, String> {
        let words = split_words(text);
        let [src, sport, dst, dport] = words.as_slice() else {
            let missing = ["SADDR", "SPORT", "DADDR", "DPORT"]
                .iter()
                .skip(words.len());
            let lines: Vec<String> = missing
                .map(|name| format!("{name}: required argument missing"))
                .collect();
            return Err(if lines.is_empty() {
                "too many arguments".into()
            } else {
                lines.join("\n")
            });
        };
        let names = ctx.names();
        let named = |name: &'static str| move |error| format!("{name}: {error}");
        let flow = FlowId {
            src: parse_ip(src, &names).map_err(named("SADDR"))?.to_bits(),
            sport: parse_port(sport, TCP, &names).map_err(named("SPORT"))?,
            dst: parse_ip(dst, &names).map_err(named("DADDR"))?.to_bits(),
            dport: parse_port(dport, TCP, &names).map_err(named("DPORT"))?,
        };
        Ok(self
            .lookup(ctx, TCP, flow, Want::Check)
            .map_or(String::new(), |found| {
                let FlowId {
                    src,
                    sport,
                    dst,
                    dport,
                } = found.rewritten;
                let ip = Ipv4Addr::from_bits;
                format!("{} {sport} {} {dport}", ip(src), ip(dst))
            }))
    }

    /// What one owner counts, summed over the inputs.
    pub(super) fn sum(&mut self, ctx: &mut Ctx, of: impl Fn(&Owner) -> u32) -> String {
        let (first, count) = (self.first_owner, self.specs.len() as u32);
        let sum = self.with_table(ctx, |_, _, table| {
            (first..first + count)
                .map(|owner| of(table.owner(owner)))
                .sum::<u32>()
        });
        sum.unwrap_or(0).to_string()
    }
}
