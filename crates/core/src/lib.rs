//! What every part of Trammel stands on: time, units, randomness, distributions, statistics, event
//! queues, tables, and the pure state machines that simulator and router share.
//!
//! Nothing here knows of packets' contents, sockets, files or clocks.
#![forbid(unsafe_code)]

pub mod aqm;
pub mod arrivals;
pub mod dist;
pub mod entry;
pub mod events;
pub mod family;
mod fifo;
pub mod histogram;
pub mod interval;
pub mod label;
pub mod loss;
pub mod rng;
pub mod schedule;
pub mod slots;
pub mod stats;
pub mod table;
pub mod time;
pub mod token_bucket;
pub mod units;
