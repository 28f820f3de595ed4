//! What several applications have in common.

pub(crate) mod exchange;
pub(crate) mod rate_control;
