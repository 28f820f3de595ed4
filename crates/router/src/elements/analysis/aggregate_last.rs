//! Lets the last packet of each aggregate pass, with the aggregate's totals.
//!
//! # What it does
//! The latest packet of each value of the annotation AGGREGATE waits; the one before it leaves by
//! output 1, or ends here. It passes when its aggregate is over, as `NOTIFIER` tells, or when
//! `clear` is written, with the annotations EXTRA_PACKETS, EXTRA_LENGTH and FIRST_TIMESTAMP of all
//! the aggregate's packets.
//!
//! # Example
//! ```click
//! // One line for each flow, of its last packet, with its number of packets.
//! FromDump(a.pcap, STOP true, FORCE_IP true) -> f :: AggregateIPFlows
//!     -> l :: AggregateLast(NOTIFIER f, STOP_AFTER_CLEAR true)
//!     -> ToIPSummaryDump(-, FIELDS ip_src ip_dst count);
//! DriverManager(wait_stop, write l.clear, wait_stop)
//! ```

use super::shared::aggregates::{NOTIFIER, notifier, tree};
use crate::args::{Args, flag};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::element::cast;
use crate::engine::setup::Setup;
use crate::engine::task::TaskId;
use crate::engine::{Ctx, Element, ElementId, Handler};
use crate::reason::Reason;
use std::collections::BTreeMap;
use trammel_packet::anno;
use trammel_packet::batch::Batch;
use trammel_packet::pool::Handle;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "AggregateLast",
    "lets the last packet of each aggregate pass",
    || Box::<AggregateLast>::default(),
)
.ports("1/1-2", "h/h")
.params(&[
    NOTIFIER,
    flag(
        "STOP_AFTER_CLEAR",
        "false",
        "whether the driver stops when `clear` was written",
    ),
])
.ops("trie_lookup(levels, bytes, bytes); work(50 * levels + 250)");

#[derive(Debug, Default)]
struct AggregateLast {
    last: BTreeMap<u32, Handle>,
    notifier: Option<ElementId>,
    stops: bool,
    /// Lets everything go.
    task: Option<TaskId>,
}

impl AggregateLast {
    fn clear(&mut self, ctx: &mut Ctx) {
        for (_, handle) in std::mem::take(&mut self.last) {
            ctx.emit(0, handle);
        }
        if self.stops {
            ctx.stop();
        }
    }
}

impl Element for AggregateLast {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.notifier = notifier(setup, args)?;
        self.stops = args.bool("STOP_AFTER_CLEAR");
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.task = Some(ctx.new_task(0));
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        // What came before `clear` was written goes first.
        if let Some(task) = self.task.filter(|task| ctx.is_scheduled(*task)) {
            ctx.unschedule(task);
            self.clear(ctx);
        }
        for handle in batch.drain() {
            let pool = ctx.pool();
            let aggregate = pool[&handle].anno_u32(anno::AGGREGATE);
            let before = self.last.remove(&aggregate);
            match &before {
                Some(before) => {
                    let before = &pool[before];
                    let packets = before.anno_u32(anno::EXTRA_PACKETS).wrapping_add(1);
                    let bytes = before
                        .anno_u32(anno::EXTRA_LENGTH)
                        .wrapping_add(before.len() as u32);
                    let first: [u8; 8] = before.anno_bytes(anno::FIRST_TIMESTAMP);
                    let packet = &mut pool[&handle];
                    let packets = packets.wrapping_add(packet.anno_u32(anno::EXTRA_PACKETS));
                    let bytes = bytes.wrapping_add(packet.anno_u32(anno::EXTRA_LENGTH));
                    packet.set_anno_u32(anno::EXTRA_PACKETS, packets);
                    packet.set_anno_u32(anno::EXTRA_LENGTH, bytes);
                    packet.set_anno_bytes(anno::FIRST_TIMESTAMP, first);
                }
                None => {
                    let packet = &mut pool[&handle];
                    let first = packet.timestamp().0.to_ne_bytes();
                    packet.set_anno_bytes(anno::FIRST_TIMESTAMP, first);
                }
            }
            self.last.insert(aggregate, handle);
            if let Some(before) = before {
                ctx.reject(1, before, Reason::Filtered);
            }
        }
        ctx.recycle(batch);
    }

    fn run_task(&mut self, ctx: &mut Ctx, _: u32) -> bool {
        self.clear(ctx);
        true
    }

    fn aggregates_of(&self) -> Option<ElementId> {
        self.notifier
    }

    fn aggregate_ended(&mut self, ctx: &mut Ctx, aggregate: u32) {
        if let Some(handle) = self.last.remove(&aggregate) {
            ctx.emit(0, handle);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("clear", "w")]
    }

    fn write(&mut self, ctx: &mut Ctx, _: &str, _: &str) -> Result<(), String> {
        if let Some(task) = self.task {
            ctx.schedule(task);
        }
        Ok(())
    }

    fn take_state(&mut self, _: &mut Ctx, old: &mut dyn Element) {
        if let Some(old) = cast::<AggregateLast>(old) {
            self.last = std::mem::take(&mut old.last);
        }
    }

    fn cleanup(&mut self, ctx: &mut Ctx) {
        for (_, handle) in std::mem::take(&mut self.last) {
            ctx.drop(handle, Reason::Discarded);
        }
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        tree(self.last.len(), size_of::<(u32, Handle)>())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn the_last_passes_with_the_totals_when_all_is_cleared() {
        let mut run = loaded(
            "FromIPSummaryDump(DATA \"!data timestamp aggregate ip_len count\n1.5 7 20 1\n\
             2 1 30 1\n3 7 40 2\n4 7 50 1\", STOP true) \
             -> a :: AggregateLast(STOP_AFTER_CLEAR true) \
             -> ToIPSummaryDump(-, HEADER false, FIELDS aggregate count ip_len first_timestamp) \
             -> c :: AggregateCounter(BYTES true) -> Discard; \
             a [1] -> b :: Counter -> Discard; DriverManager(wait, read b.count, write a.clear, \
             wait)",
        );
        run.run(1.0);
        let memory = run.host.memory();
        assert_eq!(memory.printed, "1 1 30 2.000000\n7 4 50 1.500000\n");
        drop(memory);
        assert_eq!(
            (
                run.read("b.count"),
                run.read("c.count"),
                run.ctx.pool().in_use()
            ),
            ("2".into(), "140".into(), 0)
        );
    }

    #[test]
    fn it_passes_when_its_flow_is_over() {
        let mut run = loaded(
            "FromIPSummaryDump(STOP true, DATA \"!data timestamp ip_src sport ip_dst dport \
             ip_proto\n\
             1 1.1.1.1 5 2.2.2.2 6 U\n2 1.1.1.1 5 2.2.2.2 6 U\n\
             99 1.1.1.1 5 2.2.2.2 6 U\") -> f :: AggregateIPFlows \
             -> a :: AggregateLast(NOTIFIER f) -> ToIPSummaryDump(-, HEADER false, \
             FIELDS timestamp count) -> Discard",
        );
        run.run(1.0);
        assert_eq!(
            (run.ctx.pool().in_use(), run.host.memory().printed.as_str()),
            (1, "2.000000 2\n")
        );
        run.ctx.cleanup();
        assert_eq!(run.ctx.pool().in_use(), 0);
    }
}
