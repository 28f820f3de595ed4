//! Testing a path: what it carries of bulk TCP or of paced UDP, one way, the other or both, as both
//! ends see it each second.
//!
//! ```text
//! who asks                                who serves, a receiver
//!   Hello, Hello, Proof as ever
//!   Wish(protocol, direction, …) ─>
//!                                <─  Ready(token, ports of UDP) | Refused(why)
//!   a connection for each stream of TCP: Attach(token, number) ─>  <─ Attached
//!   a punch to each port of UDP  ─>
//!                                <─  Attached, once all have come
//!   Go                           ─>
//!                                <─  Going(congestion control)
//!   Told, each interval          <─>  Told
//!   Told, the end, and the last  <─>  Told
//! ```
//! Connections come to the port of signalling, so that one port is all that a firewall has to let
//! through; datagrams come to ports that the receiver chooses. Both ends count by their own clocks
//! from the start on and end after the same time: what is still on its way then counts for nothing
//! with TCP, and is waited for with UDP, whose losses are told by the places of packets.

pub mod ask;
mod carriers;
mod counts;
mod run;
pub mod serve;
mod talk;

pub use talk::{Ended, Moment};

pub use crate::signal::link::{
    DATAGRAM_BYTES, Direction, INTERVALS, MOST_DURATION, MOST_NAME_BYTES, MOST_OMITTED,
    MOST_STREAMS, Told, Wish,
};
