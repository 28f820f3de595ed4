//! HTTP/1.1 for the user of this machine: what the web page of a card, a live report and the
//! metrics of a command are served by.
//!
//! ```text
//! socket ──> Desk ──> request::Request ──> gate::Gate ──> (user) ──> response::Response ──> Desk
//!            bounds   read strictly        who may ask               headers
//! ```
//! A connection has one request and one answer. [`desk::Desk`] has no clock and no thread: the loop
//! of another polls it, or the thread of a [`server::Server`].
//!
//! A browser on this machine runs pages of strangers. A page whose name was made to lead to this
//! machine (DNS rebinding) sends that name as Host; a page of another site sends its own Origin and
//! Sec-Fetch-Site. [`gate`] refuses both, so that nothing is read or done for them.
#![forbid(unsafe_code)]

pub mod address;
pub mod desk;
pub mod gate;
pub mod refusal;
pub mod request;
pub mod response;
pub mod server;
pub mod token;
