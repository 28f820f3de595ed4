//! The targets, a file each: `run` takes any bytes and panics where a promise is broken.

#[cfg(target_os = "linux")]
pub(crate) mod itg;
pub(crate) mod traffic_log;
