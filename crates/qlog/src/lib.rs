#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod contained;
pub mod diverge;
mod event;
mod read;
mod write;

use event::same_state;
pub use event::{Body, Event, Header, Metrics, Packet};
pub use read::{MOST_BYTES, ReadError, read, read_traces};
pub use write::Writer;
