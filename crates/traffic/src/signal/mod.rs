//! The signalling channel between a sender and a receiver: a connection of TCP on which flows are opened and closed.
//!
//! ```text
//! sender                        receiver
//!   Hello(version, nonce)   ─>
//!                           <─  Hello(version, nonce, proof)
//!   Proof                   ─>                                only where both hold a key
//!   Open(flow)              ─>
//!                           <─  Opened(number, port) | Refused(why)
//!   … packets on their own sockets …
//!   Close(number, sent)     ─>
//!                           <─  Closed(number, received)
//! ```
//! A message is its length (32 bits, of what follows), its kind (8 bits) and its fields, all big-endian. Every field is
//! bounded, so that a peer that lies costs its own session and nothing else.
//! A key that both hold proves each to the other (HMAC-SHA-256 of both nonces, RFC 2104); it hides nothing.

#[cfg(target_os = "linux")]
pub mod channel;
pub mod key;
pub mod message;

/// The version of the protocol. A receiver answers a sender of another with its own and refuses flows.
pub const VERSION: u16 = 1;
/// The port that a receiver listens on unless told otherwise.
pub const PORT: u16 = 9310;
