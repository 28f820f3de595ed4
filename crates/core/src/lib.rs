//! What every part of Trammel stands on: time, units, randomness, typed parameters, families of
//! plug-ins, labels, event queues, schedules and token buckets.
//!
//! Nothing here knows of packets' contents, sockets, files or clocks.
#![forbid(unsafe_code)]

pub mod entry;
pub mod events;
pub mod family;
pub mod label;
pub mod rng;
pub mod schedule;
pub mod slots;
pub mod time;
pub mod token_bucket;
pub mod units;
