#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod arrivals;
pub mod dist;
pub mod histogram;
pub mod interval;
pub mod stats;
pub mod table;

pub use arrivals::Spans;
pub use dist::Distribution;
pub use histogram::Histogram;
pub use interval::{Method, Support};
pub use stats::{Interval, Moments};
pub use table::{Cell, CellType, Column, Table, TableError};
