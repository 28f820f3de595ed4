//! A listener and its connections. Each has one request, one answer, and little time.
//!
//! Nothing here waits, and there is no clock: whoever polls gives the time since some fixed
//! instant. A connection is read until its request is whole, then answered, then told that nothing
//! more comes; what the client sends beyond is thrown away for a while, since closing over it would
//! take the answer away from the client (RFC 9112 §9.6).

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
#[cfg(target_os = "linux")]
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;
#[cfg(target_os = "linux")]
use trammel_io::accept::Reserve;

/// Connections at once; the one that came first makes room for one more. A browser holds some open
/// without a word.
pub const MOST_CONNECTIONS: usize = 32;
/// Connections that are accepted in one poll.
const MOST_ACCEPTED: usize = 16;
/// Requests that are answered in one poll: whoever polls may have frames to forward.
const MOST_ANSWERED: usize = 4;
/// How long a request may take to come.
const ASKING: Duration = Duration::from_secs(10);
/// How long an answer may take to go: megabytes through a slow tunnel.
const ANSWERING: Duration = Duration::from_secs(30);
/// How long what comes after the answer is thrown away.
const LEAVING: Duration = Duration::from_secs(1);
/// Bytes that are read at once.
const CHUNK_BYTES: usize = 4 << 10;
/// Bytes that are thrown away after the answer, at most.
const MOST_THROWN: usize = 1 << 20;

/// What a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The rest of its request.
    Asking,
    /// Room for the rest of its answer; so many bytes are sent.
    Answering(usize),
    /// That the client goes; so many bytes were thrown away.
    Leaving(usize),
}

#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    stage: Stage,
    /// Until when the stage may last.
    until: Duration,
    /// The request as far as it has come, then the answer.
    bytes: Vec<u8>,
}

/// A listener with its connections.
#[derive(Debug)]
pub struct Desk {
    listener: TcpListener,
    address: SocketAddr,
    #[cfg(target_os = "linux")]
    reserve: Reserve,
    /// In the order in which they came.
    connections: Vec<Connection>,
}

impl Desk {
    /// Listens at `address`; at any free port where that has port 0.
    ///
    /// # Errors
    /// Where the address cannot be listened on.
    pub fn open(address: SocketAddr) -> io::Result<Desk> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Desk {
            address: listener.local_addr()?,
            listener,
            #[cfg(target_os = "linux")]
            reserve: Reserve::new(),
            connections: Vec::new(),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Does what can be done at once, `now` after some fixed instant. `answer` gives the bytes of
    /// the answer to what a client has sent so far, and none while the request is not whole; it
    /// must bound what it waits for. Whether there was anything to do.
    ///
    /// # Errors
    /// Where the listener is of no use any more, or the system has no room for connections and
    /// none to spare to close one: rest before the next poll.
    pub fn poll(
        &mut self,
        now: Duration,
        mut answer: impl FnMut(&[u8]) -> Option<Vec<u8>>,
    ) -> io::Result<bool> {
        let accepted = self.accept(now);
        let mut answers = 0;
        let mut has_any = false;
        self.connections.retain_mut(|connection| {
            let may_ask = answers < MOST_ANSWERED;
            if !may_ask && connection.stage == Stage::Asking {
                // It has its turn in the next poll, even if it is late by then.
                has_any = true;
                return true;
            }
            let before = connection.stage;
            let stays = connection.step(now, &mut answer);
            let was_answered = before == Stage::Asking && connection.stage != Stage::Asking;
            answers += usize::from(was_answered);
            has_any |= !matches!(stays, Ok(Step::Waits));
            matches!(stays, Ok(Step::Waits | Step::Moved)) && now < connection.until
        });
        Ok(accepted? || has_any)
    }

    fn accept(&mut self, now: Duration) -> io::Result<bool> {
        for count in 0..MOST_ACCEPTED {
            let Some(stream) = self.accept_one()? else {
                return Ok(count > 0);
            };
            if stream.set_nonblocking(true).is_err() {
                continue;
            }
            if self.connections.len() >= MOST_CONNECTIONS {
                self.connections.remove(0);
            }
            self.connections.push(Connection {
                stream,
                stage: Stage::Asking,
                until: now + ASKING,
                bytes: Vec::new(),
            });
        }
        Ok(true)
    }

    #[cfg(target_os = "linux")]
    fn accept_one(&mut self) -> io::Result<Option<TcpStream>> {
        let accepted = self.reserve.accept(|| self.listener.accept())?;
        Ok(accepted.map(|(stream, _)| stream))
    }

    #[cfg(not(target_os = "linux"))]
    fn accept_one(&mut self) -> io::Result<Option<TcpStream>> {
        match self.listener.accept() {
            Ok((stream, _)) => Ok(Some(stream)),
            Err(why) if is_passing(why.kind()) => Ok(None),
            Err(why) => Err(why),
        }
    }

    /// When [`Self::poll`] has something to do though nothing came.
    pub fn next_timeout(&self) -> Option<Duration> {
        self.connections.iter().map(|one| one.until).min()
    }

    /// Adds what is to be waited for: something to read, and room to write.
    #[cfg(target_os = "linux")]
    pub fn waits(&self, readable: &mut Vec<RawFd>, writable: &mut Vec<RawFd>) {
        readable.push(self.listener.as_raw_fd());
        for connection in &self.connections {
            let descriptor = connection.stream.as_raw_fd();
            match connection.stage {
                Stage::Asking | Stage::Leaving(_) => readable.push(descriptor),
                Stage::Answering(_) => writable.push(descriptor),
            }
        }
    }
}

/// What became of a connection in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Nothing could be done.
    Waits,
    /// Bytes came or went.
    Moved,
    /// It is over.
    Over,
}

impl Connection {
    /// Reads and writes what can be.
    ///
    /// # Errors
    /// The client is gone.
    fn step(
        &mut self,
        now: Duration,
        answer: &mut impl FnMut(&[u8]) -> Option<Vec<u8>>,
    ) -> io::Result<Step> {
        let mut step = Step::Waits;
        if self.stage == Stage::Asking {
            let mut chunk = [0; CHUNK_BYTES];
            match passing(self.stream.read(&mut chunk))? {
                None => return Ok(Step::Waits),
                Some(0) => return Ok(Step::Over),
                Some(count) => self.bytes.extend_from_slice(&chunk[..count]),
            }
            step = Step::Moved;
            let Some(bytes) = answer(&self.bytes) else {
                return Ok(step);
            };
            self.bytes = bytes;
            self.stage = Stage::Answering(0);
            self.until = now + ANSWERING;
        }
        if let Stage::Answering(mut sent) = self.stage {
            while sent < self.bytes.len() {
                match passing(self.stream.write(&self.bytes[sent..]))? {
                    Some(0) => return Ok(Step::Over),
                    Some(count) => sent += count,
                    None => {
                        self.stage = Stage::Answering(sent);
                        return Ok(step);
                    }
                }
                step = Step::Moved;
            }
            self.stream.shutdown(Shutdown::Write)?;
            self.bytes = Vec::new();
            self.stage = Stage::Leaving(0);
            self.until = now + LEAVING;
        }
        if let Stage::Leaving(thrown) = self.stage {
            let mut chunk = [0; CHUNK_BYTES];
            match passing(self.stream.read(&mut chunk))? {
                None => {}
                Some(count) if count > 0 && thrown + count < MOST_THROWN => {
                    self.stage = Stage::Leaving(thrown + count);
                    step = Step::Moved;
                }
                Some(_) => return Ok(Step::Over),
            }
        }
        Ok(step)
    }
}

/// Whether there is nothing to read or no room to write now.
fn is_passing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// What was read or written; none if that has to wait.
fn passing(moved: io::Result<usize>) -> io::Result<Option<usize>> {
    match moved {
        Ok(count) => Ok(Some(count)),
        Err(why) if is_passing(why.kind()) => Ok(None),
        Err(why) => Err(why),
    }
}

#[cfg(test)]
mod tests;
