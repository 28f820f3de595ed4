#![doc = include_str!("../README.md")]
//!
//! ```text
//! stream ─> plan of departures ─> sender ─ network ─> receiver ─> log of records ─> decoder
//!                                    └──── signalling ────┘
//! ```
//! - A [`stream`] says what is to be sent; its [`plan`](stream::Plan) when and how long each packet
//!   is, without any clock.
//! - A [`record`] is what became of one packet; logs are made of them, and the decoder counts them.
#![forbid(unsafe_code)]

pub mod addresses;
pub mod apps;
pub mod decode;
pub mod echo;
pub mod filler;
pub mod frame;
pub mod itg;
#[cfg(target_os = "linux")]
pub mod link;
pub mod log;
pub mod moments;
#[cfg(target_os = "linux")]
pub mod pace;
#[cfg(target_os = "linux")]
pub mod receive;
pub mod record;
#[cfg(target_os = "linux")]
pub mod send;
pub mod signal;
pub mod sources;
pub mod stamp;
pub mod stream;
#[cfg(target_os = "linux")]
pub mod tester;

pub use decode::{Decoder, Report};
pub use record::{Protocol, Record};
pub use sources::laws::Laws;
pub use sources::sizes::Sizes;
pub use stream::{Departure, Limits, Source, Stream};
