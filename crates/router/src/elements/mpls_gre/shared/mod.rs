//! What elements of the group `mpls_gre` share: labels and GRE headers.

pub(crate) mod gre_check;
pub(crate) mod mpls_table;
