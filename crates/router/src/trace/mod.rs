//! Files of packets as elements read and write them: through the host, by their names.

pub(crate) mod calendar;
pub(crate) mod encap;
pub(crate) mod input;
pub(crate) mod output;
pub(crate) mod pace;

use std::io;

/// What the system calls an error: `No such file or directory`.
pub(crate) fn system_text(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}
