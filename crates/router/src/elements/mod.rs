//! The classes of elements, one file each, in groups.

pub use crate::element::Entry;

include!(concat!(env!("OUT_DIR"), "/elements.rs"));
trammel_core::family!("element class");
