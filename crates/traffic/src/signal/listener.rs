//! Waits for connections and serves each in a thread of its own, so many at once and no more.

use super::channel::Channel;
use super::message::Message;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::Scope;
use trammel_io::clock::Waiter;

/// Connections at once, at most.
const MOST_SESSIONS: usize = 1024;
/// So often is looked whether to stop.
const SLICE_NS: i64 = 50_000_000;

/// A listener.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    sessions: AtomicUsize,
}

impl Listener {
    /// Listens at `address`, whose port 0 leaves the number to the system.
    pub fn open(address: SocketAddr) -> io::Result<Listener> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Listener {
            address: listener.local_addr()?,
            socket: listener,
            sessions: AtomicUsize::new(0),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves connections by `each` until `stop` is set.
    pub fn serve<'scope, F>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        stop: &AtomicBool,
        each: F,
    ) -> io::Result<()>
    where
        F: Fn(TcpStream, SocketAddr) + Copy + Send + 'scope,
    {
        let mut waiter = Waiter::new();
        waiter.set(&[self.socket.as_raw_fd()]);
        while !stop.load(Ordering::Relaxed) {
            // Nobody yet, who hung up before being served, or too many open files: others may still be served.
            let Ok((stream, from)) = self.socket.accept() else {
                waiter.wait(Some(SLICE_NS))?;
                continue;
            };
            if stream.set_nonblocking(false).is_err() {
                continue;
            }
            if self.sessions.fetch_add(1, Ordering::Relaxed) >= MOST_SESSIONS {
                self.sessions.fetch_sub(1, Ordering::Relaxed);
                let why = format!("{MOST_SESSIONS} connections are served already");
                if let Ok(mut channel) = Channel::new(stream) {
                    let _ = channel.say(&Message::Refused(why));
                }
                continue;
            }
            scope.spawn(move || {
                each(stream, from);
                self.sessions.fetch_sub(1, Ordering::Relaxed);
            });
        }
        Ok(())
    }
}
