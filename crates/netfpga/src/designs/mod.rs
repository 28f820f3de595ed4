//! The designs by name. A design is one file of this folder.

use crate::device::Design as Entry;
use crate::error::Error;

include!(concat!(env!("OUT_DIR"), "/designs.rs"));

/// The design called `name`.
pub fn design(name: &str) -> Result<&'static Entry, Error> {
    let found = ALL.iter().find(|entry| entry.name == name);
    found.copied().ok_or_else(|| Error::Preset {
        name: name.to_owned(),
        known: ALL
            .iter()
            .map(|entry| format!("`{}`", entry.name))
            .collect::<Vec<_>>()
            .join(", "),
    })
}
