//! What elements of the group `analysis` share: aggregates, flows and rates.

pub(crate) mod aggregates;
pub(crate) mod flow_export;
pub(crate) mod ip_field;
pub(crate) mod rate_tree;
