//! The targets, a file each: `run` takes any bytes and panics where a promise is broken.

#[path = "../../common/mod.rs"]
mod common;

pub(crate) mod control_software;
