//! Connections that have not said yet what they want: held without a thread, few of them, and not
//! for long.
//!
//! Whoever connects and is silent costs a descriptor for [`PATIENCE`], and one that comes when
//! there is no more room for such makes the oldest go. A connection is handed on once its first
//! bytes, which stay where they are, say enough that whoever serves it has not to wait.

use super::idle::Idle;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};
use trammel_io::accept::{self, Accepted, RESTING};
use trammel_io::clock::Waiter;

/// How long a connection may take to say what it wants.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// Connections that have not said so, of one listener at once, at most.
pub const MOST: usize = 256;
/// Of the first bytes so many are looked at.
const FIRST_BYTES: usize = 2048;

/// What the first bytes of a connection are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They say too little yet.
    Wait,
    /// Whoever serves the connection knows all that it waits for.
    Serve,
    /// It is nobody's.
    Hang,
}

/// What a listener wants of those who come.
pub trait Door {
    /// What is said to whoever comes, before it says anything.
    fn greeting(&self) -> &[u8] {
        &[]
    }

    /// Whether one from `from` may come in at all.
    fn admits(&self, from: SocketAddr) -> bool {
        let _ = from;
        true
    }

    /// What the first bytes of one that came in are worth; there is one at least.
    fn judge(&self, first: &[u8], from: SocketAddr) -> Verdict;

    /// Whether one that has been silent for [`PATIENCE`] may go on being so.
    fn has_time(&self, from: SocketAddr) -> bool {
        let _ = from;
        false
    }
}

/// A connection.
#[derive(Debug)]
struct One {
    stream: TcpStream,
    from: SocketAddr,
    since: Instant,
    /// It has said something, but not enough: a poll would not wait for the rest.
    is_begun: bool,
}

/// Those of one listener.
#[derive(Debug)]
pub struct Pending<'a> {
    listener: &'a TcpListener,
    waiter: Waiter,
    /// In the order in which they came.
    all: VecDeque<One>,
    /// Until then nobody is accepted: the system had no room.
    rests: Option<Instant>,
    idle: Idle,
}

impl Pending<'_> {
    /// Nobody yet. The listener does not block from now on.
    ///
    /// # Errors
    /// If the listener is of no use.
    pub fn new(listener: &TcpListener) -> io::Result<Pending<'_>> {
        listener.set_nonblocking(true)?;
        Ok(Pending {
            listener,
            waiter: Waiter::new(),
            all: VecDeque::new(),
            rests: None,
            idle: Idle::new(),
        })
    }

    /// Waits for a while, and gives those that have said enough; they block again.
    ///
    /// # Errors
    /// If the listener is of no use.
    pub fn next(&mut self, door: &dyn Door) -> io::Result<Vec<(TcpStream, SocketAddr)>> {
        let now = Instant::now();
        let rests = self.rests.is_some_and(|until| now < until);
        let mut descriptors = Vec::with_capacity(1 + self.all.len());
        if !rests {
            descriptors.push(self.listener.as_raw_fd());
        }
        let silent = self.all.iter().filter(|one| !one.is_begun);
        descriptors.extend(silent.map(|one| one.stream.as_raw_fd()));
        self.waiter.set(&descriptors);
        // Whoever is heard out, and a rest, have their time.
        if !self.all.is_empty() || rests {
            self.idle.over();
        }
        self.waiter.wait(Some(self.idle.wait_ns()))?;
        if !rests {
            self.accept(door)?;
        }
        let served = self.judge(door);
        if !served.is_empty() {
            self.idle.over();
        }
        Ok(served)
    }

    fn accept(&mut self, door: &dyn Door) -> io::Result<()> {
        self.rests = None;
        for _ in 0..MOST {
            match accept::tcp(self.listener)? {
                Accepted::Nobody => break,
                Accepted::Exhausted(_) => {
                    self.rests = Some(Instant::now() + RESTING);
                    // Whoever is silent makes room.
                    self.all.pop_front();
                    break;
                }
                Accepted::Connection((stream, from)) => {
                    let greeted = door.admits(from)
                        && stream.set_nonblocking(true).is_ok()
                        && (&stream).write_all(door.greeting()).is_ok();
                    if greeted {
                        self.make_room(from);
                        self.all.push_back(One {
                            stream,
                            from,
                            since: Instant::now(),
                            is_begun: false,
                        });
                    }
                }
            }
        }
        Ok(())
    }

    /// Room for one from `from`: another of the same peer goes first, so that no peer drives others
    /// out while it has any itself.
    fn make_room(&mut self, from: SocketAddr) {
        if self.all.len() < MOST {
            return;
        }
        let its = self.all.iter().position(|one| one.from.ip() == from.ip());
        self.all.remove(its.unwrap_or(0));
    }

    fn judge(&mut self, door: &dyn Door) -> Vec<(TcpStream, SocketAddr)> {
        let (mut served, mut first) = (Vec::new(), [0; FIRST_BYTES]);
        let all = std::mem::take(&mut self.all);
        for mut one in all {
            let verdict = match one.stream.peek(&mut first) {
                Ok(0) => Verdict::Hang,
                Ok(count) => {
                    one.is_begun = true;
                    door.judge(&first[..count], one.from)
                }
                Err(why) => match why.kind() {
                    ErrorKind::WouldBlock | ErrorKind::Interrupted => Verdict::Wait,
                    _ => Verdict::Hang,
                },
            };
            match verdict {
                Verdict::Wait if one.since.elapsed() < PATIENCE || door.has_time(one.from) => {
                    self.all.push_back(one);
                }
                Verdict::Serve if one.stream.set_nonblocking(false).is_ok() => {
                    served.push((one.stream, one.from));
                }
                _ => {}
            }
        }
        served
    }
}
