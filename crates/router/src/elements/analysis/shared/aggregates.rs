//! Who numbers aggregates tells who listens when one ends, so that nobody remembers what is over.
//!
//! `AggregateIPFlows` and `AggregateIPAddrPair` tell; an element with the argument `NOTIFIER`
//! listens.

use crate::args::{Args, Kind, Param, keyword};
use crate::diagnostic::Diagnostics;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, ElementId};

/// The argument of those that listen.
pub(crate) const NOTIFIER: Param = keyword(
    "NOTIFIER",
    Kind::Element,
    "",
    "the element that numbers the aggregates, such as an AggregateIPFlows",
);

/// The classes that tell.
const TELLING: [&str; 2] = ["AggregateIPFlows", "AggregateIPAddrPair"];

/// The element that `NOTIFIER` names, which must be one that tells.
pub(crate) fn notifier(setup: &Setup, args: &Args) -> Result<Option<ElementId>, Diagnostics> {
    let Some(element) = args.element("NOTIFIER") else {
        return Ok(None);
    };
    let declared = &setup.flat.elements[element];
    let class = crate::elements::find(&declared.class).map(|entry| entry.about.name);
    if class.is_some_and(|class| TELLING.contains(&class)) {
        return Ok(Some(element));
    }
    let name = &declared.name;
    Err(Diagnostics::of(format!(
        "{name} is not an AggregateNotifier"
    )))
}

/// Entries of a node of the standard library's ordered map, on average: it has place for 11, and is
/// at least half full.
const FANOUT: f64 = 8.0;

/// What an ordered map of so many entries of `entry_bytes` each is to a look-up: the levels that it
/// goes down by, and its bytes.
pub(crate) fn tree(entries: usize, entry_bytes: usize) -> Vec<(&'static str, f64)> {
    let entries = entries as f64;
    let levels = 1.0 + entries.max(1.0).log(FANOUT).floor();
    vec![("levels", levels), ("bytes", entries * entry_bytes as f64)]
}

/// Who listens to one element.
#[derive(Debug, Default)]
pub(crate) struct Listeners(Vec<ElementId>);

impl Listeners {
    /// Those that listen to the running element; to be called when all are initialized.
    pub(crate) fn gather(ctx: &mut Ctx) -> Listeners {
        let me = Some(ctx.me());
        let all = 0..ctx.elements();
        Listeners(all.filter(|other| ctx.listens_to(*other) == me).collect())
    }

    /// Tells all of them that `aggregate` is over.
    pub(crate) fn ended(&self, ctx: &mut Ctx, aggregate: u32) {
        for listener in &self.0 {
            ctx.tell_aggregate_ended(*listener, aggregate);
        }
    }
}
