//! The classes of elements, one file each, in groups.

pub use crate::engine::Entry;
use trammel_core::doc::Doc;

include!(concat!(env!("OUT_DIR"), "/elements.rs"));
trammel_core::family!("element class");

/// What the file of a class says of it.
pub fn doc(entry: &Entry) -> Doc {
    FAMILY.doc(entry)
}
