//! The targets, a file each: `run` takes any bytes and panics where a promise is broken.

mod classes;
pub(crate) mod configuration;
pub(crate) mod control_socket;
pub(crate) mod elements;
mod input;
mod packets;
pub(crate) mod pcap;
pub(crate) mod summary;

use trammel_router::engine::Options;

/// A router of few packets, soon built.
fn small() -> Options {
    Options {
        packets: 64,
        most_packets: 512,
        most_steps: 1000,
        ..Options::simulated()
    }
}
