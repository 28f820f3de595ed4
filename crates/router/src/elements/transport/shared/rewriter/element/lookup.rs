//! What other elements ask of a rewriter: the mapping of a flow, and changes to it.

use super::new_mapping::Made;
use super::seen::{Seen, next_identifier};
use super::{Class, Rewriter, milliseconds};
use crate::args::names::{TCP, UDP};
use crate::elements::transport::shared::rewriter::flow::FlowId;
use crate::elements::transport::shared::rewriter::table::Entry;
use crate::engine::Ctx;
use trammel_packet::headers::ipv4::protocol;

/// A mapping that was found, for other elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
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
pub(crate) enum Want {
    /// As a packet would.
    Check,
    /// As an answer would.
    Reply,
    /// As a packet at this input would; a mapping is made.
    Make(usize),
}

impl Rewriter {
    /// The mapping of a flow, for another element. Of an echo the source port is the identifier.
    pub(crate) fn lookup(
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
    pub(crate) fn move_sequence(&mut self, ctx: &mut Ctx, entry: Entry, from: u32, more: i32) {
        self.with_table(ctx, |_, _, table| {
            let flow = table.flow_mut(entry);
            flow.deltas
                .get_or_insert_default()
                .add(entry.is_reply(), from, more);
        });
    }

    /// Sets the annotation that a mapping's answers get.
    pub(crate) fn set_reply_anno(&mut self, ctx: &mut Ctx, entry: Entry, value: u8) {
        self.with_table(ctx, |_, _, table| table.flow_mut(entry).reply_anno = value);
    }
}
