//! An IPv4 router of four ports: routes, neighbours and own addresses in tables of 32 rows.
//!
//! Modelled on the NetFPGA 1G reference router. What its tables do not settle goes to the host
//! interface beside the port where the frame came in.

use crate::device::Design;
use crate::registers::table::router_lookup;
use crate::stages::router::Router;

/// This design.
pub static ENTRY: Design = Design {
    name: "reference-router",
    title: "Reference router",
    summary: "IPv4 router of four ports with tables of 32 routes, neighbours and own addresses",
    id: 3,
    blocks: &[&router_lookup::BLOCK],
    lookup: || Box::new(Router::new()),
};
