//! What elements of the group `analysis` share: aggregates, flows and rates.

pub mod aggregates;
pub mod flow_export;
pub mod ip_field;
pub mod rate_tree;
