//! The links of a scenario once they are in the network, and the ways of its traffic over them.

use super::built::{BuiltDevice, BuiltLink};
use trammel_core::time::Span;
use trammel_netsim::ids::LinkId;

/// Links of a flow, workload or stream, there and back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ways {
    pub(crate) forward: Vec<LinkId>,
    pub(crate) backward: Vec<LinkId>,
    pub(crate) rtt: Span,
    pub(crate) mtu: u32,
    pub(crate) overhead_bytes: u32,
}

/// The links of a scenario, and the ways of its traffic over them.
#[derive(Debug, Default)]
pub(super) struct Laid {
    pub(super) links: Vec<BuiltLink>,
    pub(super) devices: Vec<BuiltDevice>,
    pub(super) flows: Vec<Ways>,
    pub(super) workloads: Vec<Ways>,
    pub(super) streams: Vec<Ways>,
    pub(super) apps: Vec<Ways>,
}
