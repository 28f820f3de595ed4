//! What the card offers to other programs by sockets: its registers, the command line of its
//! control software, and its web page.
//!
//! A live card opens them itself. Those of another card, such as one in virtual time, are offered
//! by a [`registers::RegisterService`] and a [`console::Console`] of one's own.
//!
//! Nothing here waits. Connections, memory and time are bounded: a connection that leaves a message
//! unfinished or an answer unread for ten seconds is closed.

mod buffered;
pub mod console;
mod listener;
pub mod registers;
pub(crate) mod web;

use std::os::fd::RawFd;

/// Descriptors that are waited on.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    /// For something to read.
    pub(crate) readable: Vec<RawFd>,
    /// For room to write.
    pub(crate) writable: Vec<RawFd>,
}
