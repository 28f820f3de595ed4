//! The classes of elements, one file each, in groups.

pub use crate::engine::Entry;

include!(concat!(env!("OUT_DIR"), "/elements.rs"));
trammel_core::family!("element class");
