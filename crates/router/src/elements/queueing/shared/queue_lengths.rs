//! The queues around an element, whose lengths it goes by.

use crate::args::text::split_words;
use crate::args::{Kind, Param, keyword};
use crate::engine::search::Way;
use crate::engine::{Ctx, ElementId};

/// The argument that names the queues where the nearest are not meant.
pub(crate) const PARAM: Param = keyword(
    "QUEUES",
    Kind::Raw,
    "",
    "names of queues, with spaces between; the nearest where none is given",
);

/// Queues.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queues(Vec<ElementId>);

impl Queues {
    /// Finds the queues that `names` names, or those nearest beyond port 0.
    pub(crate) fn find(ctx: &mut Ctx, names: &str, way: Way) -> Result<Queues, String> {
        let mut found = Vec::new();
        for name in split_words(names) {
            let element = ctx.find(&name, Some(ctx.me()));
            let element = element.ok_or_else(|| format!("no element named '{name}'"))?;
            if ctx.stored(element).is_none() {
                return Err(format!("'{name}' is not a Storage element"));
            }
            found.push(element);
        }
        if found.is_empty() {
            found = ctx.nearest_storages(way, 0);
        }
        if found.is_empty() {
            return Err("no nearby Queues".to_owned());
        }
        Ok(Queues(found))
    }

    /// Packets in all of them.
    pub(crate) fn length(&self, ctx: &Ctx) -> usize {
        self.0.iter().filter_map(|queue| ctx.stored(*queue)).sum()
    }

    /// Their names, each with `end` after it.
    pub(crate) fn names(&self, ctx: &Ctx, end: &str) -> String {
        let names = self.0.iter().flat_map(|queue| [ctx.name(*queue), end]);
        names.collect()
    }
}
