//! The targets, a file each: `run` takes any bytes and panics where a promise is broken.

pub(crate) mod card_web;
mod client;
pub(crate) mod command_line;
pub(crate) mod register_socket;
