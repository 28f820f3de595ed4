//! The targets, a file each: `run` takes any bytes and panics where a promise is broken.

pub(crate) mod signalling;
pub(crate) mod traffic_log;
