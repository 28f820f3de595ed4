#![doc = include_str!("../README.md")]
//!
//! ```text
//! MAC in ─> rx FIFO ─┐                                          ┌─> output FIFO ─> tx FIFO ─> MAC out
//! …                  ├─> input arbiter ─> lookup ─> SRAM queue ─┤   …
//! MAC in ─> rx FIFO ─┘   round robin                one memory, └─> output FIFO ─> DMA ─> software
//!                                                   writes before reads
//! ```
#![forbid(unsafe_code)]

mod engine;
pub mod error;
pub mod outcome;
pub mod overload;
pub mod params;
pub mod recording;
pub mod restart;
pub mod router;
pub mod single_frame;
pub mod stream;

pub use error::Error;
pub use outcome::{Counts, Fate, Outcome};
pub use params::{Params, preset};
pub use recording::Recording;
pub use router::Router;
pub use stream::Stream;
