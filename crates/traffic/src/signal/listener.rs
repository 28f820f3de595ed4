//! Waits for connections and serves each in a thread of its own once it has said what it wants, so
//! many at once and no more.

use super::channel::Channel;
use super::message::Message;
use super::pending::{Door, Pending, Verdict};
use super::places::Places;
use std::io::{self, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;
use trammel_io::local::Local;

/// A listener.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    places: Arc<Places>,
}

/// What our own signalling wants: a whole message, or bytes that are none.
#[derive(Clone, Copy, Debug)]
pub struct Signalling;

impl Door for Signalling {
    fn judge(&self, first: &[u8], _: SocketAddr) -> Verdict {
        match Message::read(first) {
            // No more than the first of them is looked at here, and those with which a channel
            // begins are short.
            Ok(None) if first.len() < super::message::MOST_MESSAGE_BYTES => Verdict::Wait,
            _ => Verdict::Serve,
        }
    }
}

impl Listener {
    /// Listens at `address`, whose port 0 leaves the number to the system.
    pub fn open(address: SocketAddr) -> io::Result<Listener> {
        let device = None;
        Listener::with(Local { address, device }.listen()?, Arc::default())
    }

    /// Listens by `socket`; who is served takes one of the `places`.
    pub fn with(socket: TcpListener, places: Arc<Places>) -> io::Result<Listener> {
        socket.set_nonblocking(true)?;
        Ok(Listener {
            address: socket.local_addr()?,
            socket,
            places,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The places of those who are served.
    pub fn places(&self) -> &Arc<Places> {
        &self.places
    }

    /// Serves connections of our signalling by `each` until `stop` is set. Who finds no place is
    /// told why.
    pub fn serve<'scope, F>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        stop: &AtomicBool,
        each: F,
    ) -> io::Result<()>
    where
        F: Fn(TcpStream, SocketAddr) + Copy + Send + 'scope,
    {
        let is_over = || stop.load(Ordering::Relaxed);
        self.serve_by(scope, &is_over, &Signalling, each, &refuse)
    }

    /// Serves connections of others' protocols, that come in by `door`, by `each` until `stop` is
    /// set. Who finds no place is sent away, and `say` hears of it.
    pub(crate) fn serve_others<'scope, F>(
        &'scope self,
        (scope, stop): (&'scope Scope<'scope, '_>, &AtomicBool),
        door: &dyn Door,
        each: F,
        say: &dyn Fn(SocketAddr, &str),
    ) -> io::Result<()>
    where
        F: Fn(TcpStream, SocketAddr) + Copy + Send + 'scope,
    {
        let is_over = || stop.load(Ordering::Relaxed);
        self.serve_by(scope, &is_over, door, each, &|_, from, why| {
            say(from, &format!("turned away: {why}"));
        })
    }

    /// Serves connections that come in by `door` by `each` until it is over; `full` hears of one
    /// that finds no place, and why.
    pub(crate) fn serve_by<'scope, F>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        is_over: &dyn Fn() -> bool,
        door: &dyn Door,
        each: F,
        full: &dyn Fn(TcpStream, SocketAddr, String),
    ) -> io::Result<()>
    where
        F: Fn(TcpStream, SocketAddr) + Copy + Send + 'scope,
    {
        let mut pending = Pending::new(&self.socket)?;
        while !is_over() {
            for (stream, from) in pending.next(door)? {
                let place = match self.places.take(from) {
                    Ok(place) => place,
                    Err(why) => {
                        full(heard(stream), from, why);
                        continue;
                    }
                };
                let refused = place.spawn(scope, stream, move |stream| each(stream, from));
                if let Err((stream, why)) = refused {
                    let why = format!("the system cannot create more threads: {why}");
                    full(heard(stream), from, why);
                }
            }
        }
        Ok(())
    }
}

/// Tells one of our signalling why it is not served.
pub(crate) fn refuse(stream: TcpStream, _: SocketAddr, why: String) {
    if let Ok(mut channel) = Channel::new(stream) {
        let _ = channel.say(&Message::Refused(why));
    }
}

/// A connection of which what came is read: closed before, it would be broken, and what is said to
/// its other end lost.
fn heard(mut stream: TcpStream) -> TcpStream {
    if stream.set_nonblocking(true).is_ok() {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.set_nonblocking(false);
    }
    stream
}
