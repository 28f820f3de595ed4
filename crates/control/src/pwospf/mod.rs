//! PW-OSPF, the routing protocol of Stanford's CS344: HELLO and LSU over IP protocol 89.
//!
//! [`Pwospf`] is one router. It does no I/O: what arrives goes into [`Pwospf::receive`], what is to
//! be sent comes out of [`Pwospf::poll_transmit`], and [`Pwospf::next_timeout`] tells when
//! [`Pwospf::handle_timeout`] has work. Equal calls at equal instants give equal bytes.
//!
//! Formats, timers and bounds are in `docs/pwospf.md`.

mod config;
mod counters;
mod database;
mod flooding;
mod hello;
mod interfaces;
mod machine;
mod neighbours;
mod origination;
mod paths;
mod sequence;
mod settings;
mod wire;

pub use config::{Config, Error, InterfaceConfig, Limits};
pub use counters::{Counters, Refusal};
pub use database::{Advert, DatabaseEntry};
pub use machine::{Outgoing, Pwospf};
pub use neighbours::Neighbour;
pub use paths::Route;
pub use wire::{ALL_SPF_ROUTERS, PROTOCOL};
