//! Receives packets by a TCP, UDP or UNIX socket.
//!
//! # What it does
//! What is received comes out: a `Socket` without an input. The arguments are those of `Socket`.
//!
//! # Example
//! ```click
//! FromSocket(UDP, 0.0.0.0, 4789) -> Discard
//! ```

use super::shared::socket_element::SocketElement;
use crate::elements::Entry;
use crate::elements::io::socket::{PARAMS, configure};

/// The class.
pub static ENTRY: Entry = Entry::new("FromSocket", "receives packets from a socket", || {
    Box::new(SocketElement::new(configure))
})
.ports("0/1", "h/h")
.flow("x/y")
.params(PARAMS)
.ops("0.5 * driver(frame, 1); work(10)");
