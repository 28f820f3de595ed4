//! The card on this machine: ports by AF_XDP or packet sockets, host interfaces as TAPs, registers
//! on a local socket.
//!
//! ```text
//! port ──> MAC queue ──┐            ┌──> MAC queue ──> port
//!                      ├── design ──┤
//! nf2c ──> CPU queue ──┘            └──> CPU queue ──> nf2c, control software
//! ```
//! One thread does all of it, in batches; it waits on descriptors where there is nothing to do.

mod card;
mod line;
mod links;
mod options;
mod ports;
mod shared;
mod software;

pub use card::Card;
pub use options::{Method, Options, usual_socket};
