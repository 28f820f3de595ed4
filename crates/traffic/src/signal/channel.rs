//! An end of the signalling channel: messages over a connection, with patience but not for ever.

use super::message::{Message, Wrong};
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// So often is looked whether to stop: thousands of silent channels should cost little.
const SLICE: Duration = Duration::from_millis(250);
/// The least time that the system waits for: none would be for ever.
const LEAST: Duration = Duration::from_millis(1);
/// The longest that the other end may take to read a message.
const WRITING: Duration = Duration::from_secs(10);

/// Why there is no message.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiveError {
    /// The other end closed the channel or is gone.
    #[error("the other end closed the connection")]
    Gone,
    /// It said nothing for too long.
    #[error("the other end was silent for {} s", .0.as_secs())]
    Late(Duration),
    /// The user wants to stop.
    #[error("interrupted")]
    Stopped,
    /// It does not want to go on, and why.
    #[error("the other end refuses: {0}")]
    Refused(String),
    /// It said something that is none of the protocol's messages.
    #[error("the other end does not speak this protocol: {0}")]
    Wrong(#[from] Wrong),
    /// The system.
    #[error("{0}")]
    System(io::Error),
}

impl From<io::Error> for ReceiveError {
    fn from(error: io::Error) -> ReceiveError {
        match error.kind() {
            ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::UnexpectedEof => ReceiveError::Gone,
            _ => ReceiveError::System(error),
        }
    }
}

/// A channel.
#[derive(Debug)]
pub struct Channel {
    stream: TcpStream,
    /// How long a read waits.
    waits: Duration,
    came: Vec<u8>,
    /// A message that was heard and is to be heard again.
    again: Option<Message>,
}

impl Channel {
    /// A channel over a connection.
    pub fn new(stream: TcpStream) -> io::Result<Channel> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(SLICE))?;
        stream.set_write_timeout(Some(WRITING))?;
        Ok(Channel {
            stream,
            waits: SLICE,
            came: Vec::new(),
            again: None,
        })
    }

    /// The connection.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// The connection, for what is no message any more; none where more has come by now than was
    /// heard.
    pub(crate) fn into_stream(self) -> Option<TcpStream> {
        (self.came.is_empty() && self.again.is_none()).then_some(self.stream)
    }

    /// Has `message` be the next that is heard: it is for somebody else.
    pub(crate) fn put_back(&mut self, message: Message) {
        self.again = Some(message);
    }

    /// Says `message`.
    pub fn say(&mut self, message: &Message) -> Result<(), ReceiveError> {
        let mut bytes = Vec::new();
        message.write(&mut bytes);
        Ok(self.stream.write_all(&bytes)?)
    }

    /// Whether the other end has said anything, or left: hearing it would not wait long.
    pub(crate) fn has_word(&mut self) -> Result<bool, ReceiveError> {
        self.stream.set_nonblocking(true)?;
        let peeked = self.stream.peek(&mut [0]);
        self.stream.set_nonblocking(false)?;
        match peeked {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(!self.came.is_empty()),
            Err(error) => Err(error.into()),
        }
    }

    /// The next message, which may take so long; for ever without `patience`.
    pub fn hear(
        &mut self,
        patience: Option<Duration>,
        stop: &AtomicBool,
    ) -> Result<Message, ReceiveError> {
        if let Some(message) = self.again.take() {
            return Ok(message);
        }
        let started = Instant::now();
        let mut part = [0; 4096];
        loop {
            if let Some((message, length)) = Message::read(&self.came)? {
                self.came.drain(..length);
                return Ok(message);
            }
            if stop.load(Ordering::Relaxed) {
                return Err(ReceiveError::Stopped);
            }
            if let Some(patience) = patience.filter(|patience| started.elapsed() > *patience) {
                return Err(ReceiveError::Late(patience));
            }
            let left =
                patience.map_or(SLICE, |patience| patience.saturating_sub(started.elapsed()));
            let waits = left.clamp(LEAST, SLICE);
            if waits != self.waits {
                self.stream.set_read_timeout(Some(waits))?;
                self.waits = waits;
            }
            match self.stream.read(&mut part) {
                Ok(0) => return Err(ReceiveError::Gone),
                Ok(count) => self.came.extend_from_slice(&part[..count]),
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
