//! The tables of one run, by whichever engine.

use super::trace_of::EntityTrace;
use trammel_scenario::columns::{APPS, DEVICES, FLOWS, GROUPS, LINKS, STREAMS, WORKLOADS, table};
use trammel_stats::table::Table;

/// What the rows of `groups` are called.
pub(crate) const ALL_FLOWS: &str = "all flows";

/// The rows of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunTables {
    /// One row a flow.
    pub flows: Table,
    /// One row a link that has a rate.
    pub links: Table,
    /// One row a port of a device.
    pub devices: Table,
    /// One row a workload and range of sizes.
    pub workloads: Table,
    /// One row a stream.
    pub streams: Table,
    /// One row an application.
    pub apps: Table,
    /// One row.
    pub groups: Table,
    /// Samples over time, where they were asked for.
    pub traces: Vec<EntityTrace>,
}

impl RunTables {
    /// Tables without rows.
    pub(super) fn empty() -> RunTables {
        RunTables {
            flows: table("flows", FLOWS),
            links: table("links", LINKS),
            devices: table("devices", DEVICES),
            workloads: table("workloads", WORKLOADS),
            streams: table("streams", STREAMS),
            apps: table("apps", APPS),
            groups: table("groups", GROUPS),
            traces: Vec::new(),
        }
    }
}
