//! The other end of a socket of the card: what is sent in pieces, and what comes back.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

/// Bytes that the card may keep for one client, at most, by far.
const MOST_BYTES: usize = 16 << 20;

/// A client that reads all that comes.
pub(crate) struct Client {
    stream: UnixStream,
    /// What came.
    pub(crate) got: Vec<u8>,
    /// Whether the card has closed the connection.
    pub(crate) is_over: bool,
}

impl Client {
    /// The client, and the card's end.
    pub(crate) fn pair() -> (Client, UnixStream) {
        let (ours, theirs) = UnixStream::pair().expect("sockets can be made");
        for stream in [&ours, &theirs] {
            stream.set_nonblocking(true).expect("it is a socket");
        }
        let client = Client {
            stream: ours,
            got: Vec::new(),
            is_over: false,
        };
        (client, theirs)
    }

    /// Sends as much of `bytes` as there is room for; how much that was.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> usize {
        // A connection that is over takes nothing.
        self.stream.write(bytes).unwrap_or(0)
    }

    /// Reads what has come.
    pub(crate) fn read(&mut self) {
        let mut chunk = [0; 16 << 10];
        loop {
            match self.stream.read(&mut chunk) {
                Ok(0) => self.is_over = true,
                Ok(count) => {
                    self.got.extend_from_slice(&chunk[..count]);
                    assert!(self.got.len() < MOST_BYTES, "it says too much");
                    continue;
                }
                Err(why) if why.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => self.is_over = true,
            }
            return;
        }
    }
}

/// The steps of an input: two bytes say how long a piece is, one how long nothing comes after it,
/// in units of 4 ms.
pub(crate) fn steps(mut bytes: &[u8]) -> impl Iterator<Item = (&[u8], u64)> {
    std::iter::from_fn(move || {
        let [high, low, wait, rest @ ..] = bytes else {
            return None;
        };
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        let (piece, left) = rest.split_at(length.min(rest.len()));
        bytes = left;
        Some((piece, 4 * u64::from(*wait)))
    })
}
