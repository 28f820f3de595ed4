//! Networks in virtual time: hosts, links, queues and paths, and the flows over them.
//!
//! The engine is built for speed. A link of constant delay is a first-in-first-out *pipe*, so that
//! the event set holds one entry per link and per connection, not one per packet in flight;
//! departures from a drop-tail queue at a fixed rate are computed when the packet arrives; links
//! whose order of packets is thereby known are crossed without an event; timers that only move away
//! are looked at when they would have fired. In steady state nothing is allocated.
#![forbid(unsafe_code)]

pub mod flow;
pub mod ids;
pub mod link;
pub mod middlebox;
pub mod network;
pub mod packet;
pub mod pcapng;
mod ring;
pub mod stream;
pub mod trace;
pub mod wifi;
pub mod workload;
