//! The timing of the NetFPGA 1G reference router as a device in virtual time: modelled, packet by packet.
//!
//! Frames go through the stages that the reference design has, each with its cycles of a 125 MHz clock:
//!
//! ```text
//! MAC in ─> rx FIFO ─┐                                          ┌─> output FIFO ─> tx FIFO ─> MAC out
//! …                  ├─> input arbiter ─> lookup ─> SRAM queue ─┤   …
//! MAC in ─> rx FIFO ─┘   round robin                one memory, └─> output FIFO ─> DMA ─> software
//!                                                   writes before reads
//! ```
//!
//! [`router::Router`] takes streams of frames at constant rates and says what became of them: counts, latencies,
//! where and when frames were lost. [`params::Params`] is the design as numbers, each with its label: seen in
//! a simulation of the design's own hardware description, documented, or fitted. Registers, tables and control
//! software are not modelled; no frame has contents.
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
