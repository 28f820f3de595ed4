//! A connection: what came, what is to be sent, and what is waited for.

use crate::control::protocol::Session;
use crate::engine::Ctx;
use crate::host::Socket;
use std::io::ErrorKind;
use trammel_packet::timestamp::Timestamp;

/// The most connections at a time; more are closed at once.
pub(super) const MOST: usize = 64;
/// Replies that wait to be fetched; nothing more is read from who leaves more than that.
const MOST_OUTPUT: usize = 1 << 22;
/// Bytes that are read at once.
const READ_BYTES: usize = 4096;
/// Who has been silent for so long makes room for another where there is none.
const SILENCE: Timestamp = Timestamp(1_000_000_000);

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    socket: Box<dyn Socket>,
    pub(super) session: Session,
    /// The other end will send no more.
    pub(super) is_ended: bool,
    /// Whether room for output is waited for.
    writes: bool,
    /// When it last sent something.
    heard: Timestamp,
}

impl Connection {
    /// A new one, which is waited for from now on.
    pub(super) fn new(ctx: &mut Ctx, socket: Box<dyn Socket>, now: Timestamp) -> Connection {
        ctx.watch(socket.descriptor(), false);
        Connection {
            socket,
            session: Session::new(),
            is_ended: false,
            writes: false,
            heard: now,
        }
    }

    /// The descriptor of its socket.
    pub(super) fn descriptor(&self) -> i32 {
        self.socket.descriptor()
    }

    /// Whether more is to be read from it.
    pub(super) fn is_read(&self) -> bool {
        self.session.output.len() <= MOST_OUTPUT && !self.is_ended && !self.session.closing
    }

    /// Reads once; whether anything came, the end or a failure too.
    pub(super) fn receive(&mut self, ctx: &mut Ctx) -> bool {
        let mut bytes = [0; READ_BYTES];
        loop {
            match self.socket.read(&mut bytes) {
                Ok(0) => self.is_ended = true,
                Ok(count) => {
                    self.session.take(&bytes[..count]);
                    self.heard = ctx.now();
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return false,
                Err(_) => (self.is_ended, self.session.closing) = (true, true),
            }
            return true;
        }
    }

    /// Writes what can be, and waits for room for the rest; whether that failed.
    pub(super) fn send(&mut self, ctx: &mut Ctx) -> bool {
        let mut is_broken = false;
        while !self.session.output.is_empty() && !is_broken {
            match self.socket.write(&self.session.output) {
                Ok(count @ 1..) => drop(self.session.output.drain(..count)),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                _ => is_broken = true,
            }
        }
        let waits = !self.session.output.is_empty();
        if waits != self.writes {
            self.writes = waits;
            if waits {
                ctx.watch(self.descriptor(), true);
            } else {
                ctx.unwatch(self.descriptor(), true);
            }
        }
        is_broken
    }

    /// Whether nothing will come any more and everything was sent.
    pub(super) fn is_over(&self) -> bool {
        !self.writes && (self.is_ended || self.session.closing)
    }

    /// Waits for the same as in the configuration before.
    pub(super) fn watch(&self, ctx: &mut Ctx) {
        ctx.watch(self.descriptor(), false);
        if self.writes {
            ctx.watch(self.descriptor(), true);
        }
    }

    /// Waits for it no more, before it is closed.
    pub(super) fn unwatch(&self, ctx: &mut Ctx) {
        ctx.unwatch(self.descriptor(), false);
        ctx.unwatch(self.descriptor(), true);
    }
}

/// Closes the connection that has been silent for longest; whether there is one that has been for
/// long.
pub(super) fn make_room(ctx: &mut Ctx, all: &mut Vec<Connection>, now: Timestamp) -> bool {
    let numbered = all.iter().enumerate();
    let Some((at, longest)) = numbered.min_by_key(|(_, one)| one.heard) else {
        return false;
    };
    if now - longest.heard < SILENCE {
        return false;
    }
    all.remove(at).unwatch(ctx);
    true
}
