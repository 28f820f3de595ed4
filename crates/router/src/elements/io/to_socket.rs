//! Sends packets by a TCP, UDP or UNIX socket.
//!
//! # What it does
//! What is pulled is sent: a `Socket` without an output. The arguments are those of `Socket`.
//!
//! # Example
//! ```click
//! RatedSource(RATE 1) -> Queue -> ToSocket(UDP, 10.0.0.1, 4789)
//! ```

use super::shared::socket_element::SocketElement;
use crate::elements::Entry;
use crate::elements::io::socket::{PARAMS, configure};

/// The class.
pub static ENTRY: Entry = Entry::new("ToSocket", "sends packets to a socket", || {
    Box::new(SocketElement::new(configure))
})
.ports("1/0", "l/l")
.flow("x/y")
.params(PARAMS)
.ops("0.5 * driver(frame, 1); work(10)");
