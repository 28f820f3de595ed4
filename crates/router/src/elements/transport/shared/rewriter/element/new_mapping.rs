//! A mapping for a flow that has none: as its input says, by a pattern, or by a mapper.

use super::seen::{Seen, next_identifier};
use super::{Class, Rewriter};
use crate::elements::transport::shared::rewriter::flow::{FlowId, address_delta, port_delta};
use crate::elements::transport::shared::rewriter::mapper::Mapper;
use crate::elements::transport::shared::rewriter::pattern::PatternRef;
use crate::elements::transport::shared::rewriter::spec::{Action, Spec};
use crate::elements::transport::shared::rewriter::table::{Entry, New, Table};
use crate::engine::{Ctx, ElementId};

/// What came of a packet without a mapping.
pub(super) enum Made {
    Entry(Entry),
    Pass(u32),
    Drop,
}

impl Rewriter {
    /// A mapping for what has none, as its input says.
    #[cold]
    pub(super) fn make(
        &mut self,
        ctx: &mut Ctx,
        table: &mut Table,
        input: usize,
        seen: &Seen,
        now: i64,
    ) -> Made {
        let Some(Spec { action, outputs }) = self.specs.get(input).copied() else {
            return Made::Drop;
        };
        let mut to = Some((seen.flow, outputs));
        match action {
            Action::Drop => return Made::Drop,
            Action::Pass => return Made::Pass(outputs[0]),
            Action::Keep => {}
            Action::Pattern(mut pattern) => {
                let chosen = self.choose(ctx, table, &mut pattern, seen);
                self.specs[input].action = Action::Pattern(pattern);
                to = chosen.map(|rewritten| (rewritten, outputs));
            }
            Action::Mapper(mapper) => to = self.ask(ctx, table, mapper, seen),
        }
        let owner = self.first_owner + input as u32;
        let Some((rewritten, outputs)) = to else {
            table.count_failure(owner);
            return Made::Drop;
        };
        let fits = match self.class {
            Class::Address => (rewritten.sport, rewritten.dport, rewritten.dst) == (0, 0, 0),
            Class::Pair => (rewritten.sport, rewritten.dport) == (0, 0),
            _ => true,
        };
        if !fits {
            return Made::Drop;
        }
        let ip = address_delta(seen.flow, rewritten);
        let ports = port_delta(seen.flow, rewritten);
        let new = New {
            map: seen.map,
            owner,
            law: self.law_numbers[usize::from(self.is_second(seen.protocol))],
            flow: seen.flow,
            rewritten,
            outputs,
            protocol: seen.protocol,
            deltas: match self.class {
                Class::Ping => [ip, Self::identifier_delta(seen.flow, rewritten)],
                _ => [
                    ip,
                    crate::elements::transport::shared::rewriter::flow::both(ip, ports),
                ],
            },
        };
        table.add(new, now).map_or(Made::Drop, Made::Entry)
    }

    fn identifier_delta(from: FlowId, to: FlowId) -> u16 {
        let only = |flow: FlowId| FlowId {
            sport: flow.sport,
            ..FlowId::default()
        };
        port_delta(only(from), only(to))
    }

    /// What `pattern` makes of a flow.
    fn choose(
        &self,
        ctx: &mut Ctx,
        table: &Table,
        reference: &mut PatternRef,
        seen: &Seen,
    ) -> Option<FlowId> {
        let mut pattern = reference.get(ctx)?;
        let complete = |mut flow: FlowId| {
            if self.class == Class::Ping {
                flow.dport = next_identifier(flow.sport);
            }
            flow
        };
        let is_taken = |flow: FlowId| table.find(seen.map, flow.reverse()).is_some();
        let chosen = pattern.choose(seen.flow, complete, is_taken, |n| ctx.draw(n));
        reference.set(ctx, pattern);
        chosen
    }

    /// What one of a mapper's patterns makes of a flow.
    fn ask(
        &self,
        ctx: &mut Ctx,
        table: &Table,
        mapper: ElementId,
        seen: &Seen,
    ) -> Option<(FlowId, [u32; 2])> {
        let tries = ctx.get::<Mapper>(mapper)?.tries();
        for _ in 0..tries {
            let asked = ctx.get::<Mapper>(mapper)?;
            let at = asked.next(seen.flow)?;
            let mut route = *asked.routes.get(at)?;
            let chosen = self.choose(ctx, table, &mut route.pattern, seen);
            ctx.get::<Mapper>(mapper)?.routes[at].pattern = route.pattern;
            if let Some(rewritten) = chosen {
                return Some((rewritten, route.outputs.map(|output| output as u32)));
            }
        }
        None
    }
}
