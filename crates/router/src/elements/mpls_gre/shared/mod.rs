//! What elements of the group `mpls_gre` share: labels and GRE headers.

pub mod gre_check;
pub mod mpls_table;
