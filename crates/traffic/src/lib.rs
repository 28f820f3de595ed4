//! Streams of packets: planned, sent, received, logged and decoded.
//!
//! ```text
//! stream ─> plan of departures ─> sender ─ network ─> receiver ─> log of records ─> decoder
//! ```
//! - A [`stream`] says what is to be sent; its [`plan`](stream::Plan) when and how long each packet is, without any clock.
//! - A [`record`] is what became of one packet; logs are made of them, and the decoder counts them.
#![forbid(unsafe_code)]

pub mod itg;
pub mod record;
pub mod stream;
