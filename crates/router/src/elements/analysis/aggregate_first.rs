//! Lets the first packet of each aggregate pass.
//!
//! # What it does
//! The first packet with a value of the annotation AGGREGATE passes; later ones leave by output 1,
//! or end here. With `NOTIFIER`, aggregates that are over are forgotten.
//!
//! # Example
//! ```click
//! // The first packet of each flow is printed.
//! FromDump(a.pcap, STOP true, FORCE_IP true) -> f :: AggregateIPFlows
//!     -> AggregateFirst(NOTIFIER f) -> IPPrint -> Discard
//! ```

use super::shared::aggregates::{NOTIFIER, notifier, tree};
use crate::args::Args;
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, ElementId};
use crate::reason::Reason;
use std::collections::BTreeSet;
use trammel_packet::anno;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "AggregateFirst",
    "lets the first packet of each aggregate pass",
    || Box::<AggregateFirst>::default(),
)
.ports("1/1-2", "a/ah")
.params(&[NOTIFIER])
.ops("trie_lookup(levels, bytes, bytes); work(25 * levels + 100)");

#[derive(Debug, Default)]
struct AggregateFirst {
    seen: BTreeSet<u32>,
    notifier: Option<ElementId>,
}

impl Element for AggregateFirst {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.notifier = notifier(setup, args)?;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            let aggregate = ctx.pool()[&handle].anno_u32(anno::AGGREGATE);
            if self.seen.insert(aggregate) {
                return Some(handle);
            }
            ctx.reject(1, handle, Reason::Filtered);
            None
        });
    }

    fn aggregates_of(&self) -> Option<ElementId> {
        self.notifier
    }

    fn aggregate_ended(&mut self, _: &mut Ctx, aggregate: u32) {
        self.seen.remove(&aggregate);
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        tree(self.seen.len(), size_of::<u32>())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn later_packets_leave_by_output_1() {
        let mut run = loaded(
            "FromIPSummaryDump(DATA \"!data aggregate ip_len\n7 20\n1 30\n7 40\n7 50\n\
             1 60\", STOP true) -> a :: AggregateFirst \
             -> x :: ToIPSummaryDump(-, HEADER false, FIELDS aggregate ip_len) -> Discard; a [1] \
             -> b :: Counter -> Discard",
        );
        run.run(1.0);
        assert_eq!(
            (run.read("b.count"), run.host.memory().printed.as_str()),
            ("3".into(), "7 20\n1 30\n")
        );
    }

    #[test]
    fn an_aggregate_that_is_over_may_begin_again() {
        let flows = |notifier| {
            let mut run = loaded(&format!(
                "FromIPSummaryDump(STOP true, DATA \"!data timestamp ip_src sport ip_dst dport \
                 ip_proto ip_ttl\n\
                 1 1.1.1.1 5 2.2.2.2 6 U 1\n2 1.1.1.1 5 2.2.2.2 6 U 1\n\
                 99 1.1.1.1 5 2.2.2.2 6 U 1\") -> f :: AggregateIPFlows \
                 -> AggregateIP(ip ttl) -> a :: AggregateFirst({notifier}) -> c :: Counter \
                 -> Discard"
            ));
            run.run(1.0);
            run.read("c.count")
        };
        assert_eq!((flows(""), flows("NOTIFIER f")), ("1".into(), "2".into()));
        assert!(
            errors("c :: Counter; Idle -> c -> AggregateFirst(NOTIFIER c) -> Discard")
                .contains("c is not an AggregateNotifier")
        );
    }
}
