//! Links that are crossed ahead of time.

use super::gather::{Gather, Timer};
use crate::ids::{GatherId, LinkId, Table};

/// Links that need no event of their own for each packet.
#[derive(Debug, Default)]
pub(crate) struct Lookahead {
    /// Links that run ahead of time, each with the one that feeds it: feeder, link.
    pub(crate) ahead: Vec<(LinkId, LinkId)>,
    /// Links that gather what access links bring.
    pub(crate) gathers: Table<GatherId, Gather>,
    /// Where each link's timer is.
    pub(crate) timers: Table<LinkId, Timer>,
}
