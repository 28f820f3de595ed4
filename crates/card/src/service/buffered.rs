//! A connection with bounded buffers on both sides.

use super::Waits;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use trammel_core::{Span, Time};

/// How long a message may stay unfinished, or an answer unread.
pub(super) const PATIENCE: Span = Span::from_secs(10);
/// Bytes read at once.
const CHUNK_BYTES: usize = 16 << 10;
/// Bytes of answers that may wait; while so many do, no request is read.
const MOST_WAITING: usize = 128 << 10;

/// A stream of a client.
#[derive(Debug)]
pub(super) enum Stream {
    /// On this machine.
    Unix(UnixStream),
    /// From wherever telnet was allowed from.
    Tcp(TcpStream),
}

impl Stream {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.read(into),
            Stream::Tcp(stream) => stream.read(into),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.write(bytes),
            Stream::Tcp(stream) => stream.write(bytes),
        }
    }
}

/// A connection: what came and was not yet understood, what is to go.
#[derive(Debug)]
pub(super) struct Buffered {
    stream: Stream,
    /// What came and was not yet understood.
    pub(super) input: Vec<u8>,
    output: Vec<u8>,
    /// Since when a message is unfinished or an answer unread.
    waits_since: Option<Time>,
    has_ended: bool,
    is_closing: bool,
}

impl Buffered {
    /// Of a stream that does not block.
    pub(super) fn new(stream: Stream) -> Buffered {
        Buffered {
            stream,
            input: Vec::new(),
            output: Vec::new(),
            waits_since: None,
            has_ended: false,
            is_closing: false,
        }
    }

    /// Reads what has come while fewer than `most` bytes wait to be understood; whether any did.
    pub(super) fn fill(&mut self, most: usize) -> bool {
        if self.is_closing || self.is_full() || self.input.len() >= most {
            return false;
        }
        let before = self.input.len();
        let mut chunk = [0; CHUNK_BYTES];
        let room = CHUNK_BYTES.min(most - before);
        match self.stream.read(&mut chunk[..room]) {
            Ok(0) => self.has_ended = true,
            Ok(count) => self.input.extend_from_slice(&chunk[..count]),
            Err(why) if is_passing(why.kind()) => {}
            Err(_) => self.has_ended = true,
        }
        self.input.len() > before
    }

    /// Takes the first bytes that came away.
    pub(super) fn consume(&mut self, count: usize) {
        self.input.drain(..count);
        self.waits_since = None;
    }

    /// Sends `bytes`, as soon as there is room.
    pub(super) fn send(&mut self, bytes: &[u8]) {
        self.output.extend_from_slice(bytes);
    }

    /// Whether as many answers wait as may.
    pub(super) fn is_full(&self) -> bool {
        self.output.len() >= MOST_WAITING
    }

    /// Whether nothing waits to be sent.
    pub(super) fn is_drained(&self) -> bool {
        self.output.is_empty()
    }

    /// Bytes that wait to be sent.
    #[cfg(test)]
    pub(super) fn waiting_bytes(&self) -> usize {
        self.output.len()
    }

    /// Ends the connection once all that waits is sent.
    pub(super) fn close(&mut self) {
        self.is_closing = true;
        self.input.clear();
    }

    /// Writes what waits, as far as there is room.
    pub(super) fn drain(&mut self) {
        let mut sent = 0;
        while sent < self.output.len() {
            match self.stream.write(&self.output[sent..]) {
                Ok(0) => self.has_ended = true,
                Ok(count) => sent += count,
                Err(why) if why.kind() == ErrorKind::Interrupted => continue,
                Err(why) if is_passing(why.kind()) => {}
                Err(_) => self.has_ended = true,
            }
            if self.has_ended || self.output.len() > sent {
                break;
            }
        }
        if sent > 0 {
            self.output.drain(..sent);
            self.waits_since = None;
        }
    }

    /// Whether it is over: the client went, was closed, or is later than it may be.
    pub(super) fn is_over(&mut self, now: Time) -> bool {
        if self.has_ended || (self.is_closing && self.output.is_empty()) {
            return true;
        }
        if self.input.is_empty() && self.output.is_empty() {
            self.waits_since = None;
            return false;
        }
        let since = *self.waits_since.get_or_insert(now);
        now.saturating_since(since) >= PATIENCE
    }

    /// When [`Self::is_over`] may come true without anything happening.
    pub(super) fn next_timeout(&self) -> Option<Time> {
        Some(self.waits_since?.saturating_add(PATIENCE))
    }

    /// What is to be waited for.
    pub(super) fn waits(&self, waits: &mut Waits) {
        let descriptor = match &self.stream {
            Stream::Unix(stream) => stream.as_raw_fd(),
            Stream::Tcp(stream) => stream.as_raw_fd(),
        };
        if !self.is_closing && !self.is_full() {
            waits.readable.push(descriptor);
        }
        if !self.output.is_empty() {
            waits.writable.push(descriptor);
        }
    }
}

/// Whether there is nothing to read or no room to write now.
fn is_passing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
