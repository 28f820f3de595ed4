//! Sends packets by their aggregate annotation.
//!
//! # What it does
//! Each argument is an action and aggregates: a port, `allow` (port 0), `drop` or `deny`, then
//! numbers and ranges such as `0-98`, or `all` or `-` for the rest. The first that lists a packet's
//! aggregate decides; what none lists is dropped.
//!
//! # Example
//! ```click
//! // Aggregates 1, 7 and 9 to 12 go on by output 0, 13 and all others are dropped.
//! FromDump(a.pcap, STOP true, FORCE_IP true) -> AggregateIPFlows
//!     -> AggregateFilter(1 7 9-12, deny 13, deny all) -> Discard
//! ```

use crate::args::numbers::parse_uint;
use crate::args::text::split_words;
use crate::args::{Args, Kind, Need, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::reason::Reason;
use trammel_packet::anno;
use trammel_packet::batch::Batch;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "AggregateFilter",
    "sends packets by their aggregate annotation",
    || Box::<AggregateFilter>::default(),
)
.ports("1/1-254", "h/h")
.params(&[param(
    "FILTERS",
    Need::Rest,
    Kind::Raw,
    "",
    "`ACTION AGGREGATES`",
)])
.ops("work(110)");

/// Aggregates that go one way: `first` to `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    first: u32,
    last: u32,
    port: usize,
}

#[derive(Debug, Default)]
struct AggregateFilter {
    /// In order, without overlaps.
    ranges: Vec<Range>,
    /// Where the rest goes.
    rest: usize,
}

fn parse_range(text: &str) -> Option<(u32, u32)> {
    let number = |text| parse_uint(text, u64::from(u32::MAX)).ok().map(|n| n as u32);
    number(text).map(|one| (one, one)).or_else(|| {
        text.split_once('-')
            .and_then(|(a, b)| Some((number(a)?, number(b)?)))
    })
}

impl AggregateFilter {
    /// Adds what of `first` to `last` no range has yet; gives the ranges that had the rest.
    fn add(&mut self, first: u32, last: u32, port: usize) -> Vec<Range> {
        let overlaps = |range: &&Range| range.first <= last && first <= range.last;
        let taken: Vec<Range> = self.ranges.iter().filter(overlaps).copied().collect();
        let mut next = Some(first);
        for range in &taken {
            if let Some(from) = next.filter(|from| *from < range.first) {
                self.ranges.push(Range {
                    first: from,
                    last: range.first - 1,
                    port,
                });
            }
            next = range.last.checked_add(1);
        }
        if let Some(first) = next.filter(|next| *next <= last) {
            self.ranges.push(Range { first, last, port });
        }
        self.ranges.sort_by_key(|range| range.first);
        taken
    }

    fn port(&self, aggregate: u32) -> usize {
        let at = self.ranges.partition_point(|range| range.last < aggregate);
        match self.ranges.get(at) {
            Some(range) if range.first <= aggregate => range.port,
            _ => self.rest,
        }
    }
}

impl Element for AggregateFilter {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut said = Diagnostics::new();
        let outputs = setup.outputs.len();
        let mut rest = None;
        for (at, text) in args.rest().iter().enumerate() {
            let words = split_words(text);
            let Some((action, aggregates)) = words.split_first() else {
                said.error(None, format!("empty pattern {at}"));
                continue;
            };
            if rest.is_some() {
                let text = format!("pattern {at} matches no packets");
                setup.warnings.push(text);
                continue;
            }
            let port = match action.as_str() {
                "allow" => 0,
                "drop" | "deny" => outputs,
                number => match parse_uint(number, i32::MAX as u64) {
                    Ok(port) => port as usize,
                    Err(_) => {
                        said.error(None, format!("pattern {at}: expected a port number"));
                        continue;
                    }
                },
            };
            match aggregates {
                [] => said.error(None, format!("pattern {at} has no aggregates")),
                [all] if all == "all" || all == "-" => rest = Some(port),
                some => {
                    for text in some {
                        let Some((first, last)) = parse_range(text) else {
                            let why = format!("pattern {at}: bad aggregate number '{text}'");
                            said.error(None, why);
                            continue;
                        };
                        for had in self.add(first, last, port) {
                            if had.port != port {
                                setup.warnings.push(format!(
                                    "pattern {at}: aggregate {} already filtered to output {}",
                                    had.first.max(first),
                                    had.port
                                ));
                            }
                        }
                    }
                }
            }
        }
        self.rest = rest.unwrap_or(outputs);
        if said.has_errors() { Err(said) } else { Ok(()) }
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        for handle in batch.drain() {
            let aggregate = ctx.pool()[&handle].anno_u32(anno::AGGREGATE);
            ctx.reject(self.port(aggregate), handle, Reason::Filtered);
        }
        ctx.recycle(batch);
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::errors;
    use crate::probe::Probe;
    use trammel_packet::anno;

    fn ports(arguments: &str, aggregates: &[u32]) -> Vec<Option<usize>> {
        let mut probe = Probe::new(&format!("AggregateFilter({arguments})"), 3);
        let mut send = |aggregate| {
            let left = probe.send_with(b"x", |p| p.set_anno_u32(anno::AGGREGATE, aggregate));
            left.first().map(|(port, _)| *port)
        };
        let ports = aggregates
            .iter()
            .map(|aggregate| send(*aggregate))
            .collect();
        assert_eq!(probe.held(), 0);
        ports
    }

    #[test]
    fn the_first_filter_that_lists_an_aggregate_decides() {
        let got = ports(
            "1 7 9-12, 2 8-20, deny 30",
            &[6, 7, 8, 9, 12, 13, 20, 21, 30],
        );
        let drop = None;
        let one = Some(1);
        let two = Some(2);
        assert_eq!(got, [drop, one, two, one, one, two, two, drop, drop]);
    }

    #[test]
    fn the_rest_may_pass() {
        assert_eq!(
            ports("drop 4294967295, allow all", &[0, u32::MAX]),
            [Some(0), None]
        );
        assert_eq!(ports("9 1, allow -", &[1, 2]), [None, Some(0)]);
    }

    #[test]
    fn what_is_no_filter_is_told() {
        let said = errors("Idle -> AggregateFilter(allow, 0 x, y 1) -> Idle");
        for part in [
            "pattern 0 has no aggregates",
            "pattern 1: bad",
            "pattern 2: expected a port",
        ] {
            assert!(said.contains(part), "{said}");
        }
    }
}
