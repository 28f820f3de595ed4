//! Queue disciplines and loss models: pure state machines that simulator and router share.
//!
//! Nothing here knows of packets' contents, sockets, files or clocks.
#![forbid(unsafe_code)]

pub mod aqm;
mod fifo;
pub mod loss;
