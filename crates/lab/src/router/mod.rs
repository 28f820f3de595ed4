//! The router on this machine: its command line, its services, and the programs of Click's names.

pub mod capture_device;
pub mod click;
pub mod command;
pub mod devices;
pub mod kernel_tables;
pub mod machine;
pub mod metrics;
pub mod names;
pub mod sockets;
pub mod tools;
pub mod watch;
pub mod written;

/// What the system says, without Rust's number.
fn os_text(why: &std::io::Error) -> String {
    let text = why.to_string();
    text.split(" (os error")
        .next()
        .unwrap_or_default()
        .to_owned()
}
