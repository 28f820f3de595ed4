//! Errors of a socket that a stream survives: what the kernel tells of packets before, and what
//! passes.

use std::io::{self, ErrorKind};

/// Errors one after the other after which nobody is thought to be there.
const MOST: u32 = 10_000;
/// `ENOBUFS` of Linux: the queue of the interface is full.
const NO_BUFFERS: i32 = 105;

/// Errors since the last call that sent anything.
#[derive(Debug, Default)]
pub(super) struct Patience {
    in_vain: u32,
}

impl Patience {
    /// A call sent something.
    pub(super) fn restore(&mut self) {
        self.in_vain = 0;
    }

    /// After an error, says how many packets are given up; or that the stream cannot go on.
    pub(super) fn survive(&mut self, error: io::Error) -> io::Result<usize> {
        use ErrorKind::{ConnectionRefused, HostUnreachable, NetworkUnreachable, WouldBlock};
        self.in_vain += 1;
        let is_passing = matches!(
            error.kind(),
            ConnectionRefused | HostUnreachable | NetworkUnreachable | WouldBlock
        ) || error.raw_os_error() == Some(NO_BUFFERS);
        if !is_passing || self.in_vain > MOST {
            return Err(error);
        }
        // What the kernel tells of a packet before has been told; this one was not tried.
        Ok(usize::from(error.kind() != ConnectionRefused))
    }
}
