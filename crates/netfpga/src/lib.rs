#![doc = include_str!("../README.md")]
//!
//! ```text
//! MAC in ─> rx FIFO ─┐                                          ┌─> output FIFO ─> tx FIFO ─> MAC out
//! …                  ├─> input arbiter ─> lookup ─> SRAM queue ─┤   …
//! MAC in ─> rx FIFO ─┘   round robin                one memory, └─> output FIFO ─> DMA ─> software
//!                                                   writes before reads
//! ```
#![forbid(unsafe_code)]

pub mod card;
pub mod designs;
pub mod device;
mod engine;
pub mod error;
pub mod outcome;
pub mod overload;
pub mod params;
pub mod recording;
pub mod registers;
pub mod restart;
pub mod router;
pub mod single_frame;
pub mod stages;
pub mod stream;
pub mod tables;

pub use card::Card;
pub use designs::design;
pub use device::{Design, Device};
pub use error::Error;
pub use outcome::{Counts, Fate, Outcome};
pub use params::{Params, preset};
pub use recording::Recording;
pub use router::Router;
pub use stream::Stream;
