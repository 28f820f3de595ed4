//! The signalling channel between a sender and a receiver: a connection of TCP on which flows are
//! opened and closed.
//!
//! ```text
//! sender                        receiver
//!   Hello(version, nonce)   ─>
//!                           <─  Hello(version, nonce)
//!   Proof                   ─>                                only where both hold a key; who opened
//!                           <─  Proof                         the connection proves first
//!   Open(flow)              ─>
//!                           <─  Opened(number, port) | Refused(why)
//!   … packets on their own sockets …
//!   Close(number, sent)     ─>
//!                           <─  Progress, each second while more of it comes
//!                           <─  Closed(number, received)
//! ```
//! A receiver that nobody reaches from outside opens the connection itself; what is said on it is
//! the same, and its flows are opened by `Fetch` in place of `Open`: it makes the way of their
//! packets, too.
//!
//! ```text
//! client                        sender under orders      writer of a log      log server
//!   Hello, Hello, Proofs as above                          Hello, Hello, Proofs as above
//!   Order(words), each      ─>                             Block, each          ─>
//!                           <─  Ordered | Refused(why)                          <─  Refused(why), at any time
//!   Start(form)             ─>                             Over                 ─>
//!                           <─  Progress, each second                           <─  Kept(bytes)
//!   Over, to end them early ─>
//!                           <─  Part, each; Done(code, note)
//! ```
//! A message is its length (32 bits, of what follows), its kind (8 bits) and its fields, all
//! big-endian. Every field is bounded, so that a peer that lies costs its own session and nothing
//! else. A key that both hold proves each to the other (HMAC-SHA-256 of both nonces, RFC 2104); it
//! hides nothing.

#[cfg(target_os = "linux")]
pub mod channel;
#[cfg(target_os = "linux")]
pub mod greet;
#[cfg(target_os = "linux")]
pub(crate) mod idle;
pub mod key;
#[cfg(target_os = "linux")]
pub mod link;
#[cfg(target_os = "linux")]
pub mod listener;
pub mod message;
#[cfg(target_os = "linux")]
pub mod pending;
#[cfg(target_os = "linux")]
pub mod places;
#[cfg(target_os = "linux")]
pub(crate) mod punch;

/// The version of the protocol. A receiver answers a sender of another with its own and refuses
/// flows.
pub const VERSION: u16 = 2;
/// The port that a receiver listens on unless told otherwise.
pub const PORT: u16 = 9310;
/// The port that a sender waits for orders on.
pub const ORDERS_PORT: u16 = 9311;
/// The port that a log server listens on.
pub const LOG_PORT: u16 = 9312;
/// The port that a sender waits on for a receiver that comes to it.
pub const WAIT_PORT: u16 = 9313;
