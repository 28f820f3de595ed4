//! The one way in which listeners of this program accept connections.
//!
//! What `accept` says of a connection that is over already (accept(2), "Error handling") is no
//! matter. Where the system has no descriptor or memory left for one more, the listener stays
//! readable, so that whoever asks it again at once spins: it has to rest.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// How long a listener rests where the system has no room for one more connection.
pub const RESTING: Duration = Duration::from_millis(100);

/// What a listener has.
#[derive(Debug)]
pub enum Accepted<T> {
    /// A connection.
    Connection(T),
    /// Nobody waits, or who did is gone.
    Nobody,
    /// The system has no descriptor or no memory left: ask again after [`RESTING`], and not before.
    Exhausted(io::Error),
}

impl<T> Accepted<T> {
    /// The connection, if there is one; where the system is exhausted, the calling thread rests
    /// before it hears so.
    pub fn or_rest(self) -> Option<T> {
        match self {
            Accepted::Connection(one) => Some(one),
            Accepted::Nobody => None,
            Accepted::Exhausted(_) => {
                std::thread::sleep(RESTING);
                None
            }
        }
    }
}

/// What an attempt to accept means.
///
/// # Errors
/// If the listener itself is of no use.
pub fn accepted<T>(attempt: io::Result<T>) -> io::Result<Accepted<T>> {
    let why = match attempt {
        Ok(one) => return Ok(Accepted::Connection(one)),
        Err(why) => why,
    };
    match why.raw_os_error() {
        Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM) => {
            Ok(Accepted::Exhausted(why))
        }
        // The listener is none, or of another kind.
        Some(libc::EBADF | libc::EINVAL | libc::ENOTSOCK | libc::EFAULT) => Err(why),
        // Errors of the connection that was to be accepted, and of a firewall that forbids it.
        Some(_) => Ok(Accepted::Nobody),
        None if matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
            Ok(Accepted::Nobody)
        }
        None => Err(why),
    }
}

/// A descriptor that is kept for a listener which must neither rest nor spin, since a poll of many
/// descriptors drives it: where there are no others, whoever waits is accepted with this one, and
/// closed.
#[derive(Debug, Default)]
pub struct Reserve(Option<File>);

impl Reserve {
    /// Reserves one, if there is one.
    pub fn new() -> Reserve {
        Reserve(File::open("/dev/null").ok())
    }

    /// The connection that `accept` gives, if there is one and room for it.
    ///
    /// # Errors
    /// If the listener is of no use, or has to rest.
    pub fn accept<T>(&mut self, accept: impl Fn() -> io::Result<T>) -> io::Result<Option<T>> {
        match accepted(accept())? {
            Accepted::Connection(one) => Ok(Some(one)),
            Accepted::Nobody => Ok(None),
            Accepted::Exhausted(why) => {
                if self.0.take().is_none() {
                    return Err(why);
                }
                let closed = accept().map(drop);
                *self = Reserve::new();
                closed.map(|()| None).map_err(|_| why)
            }
        }
    }
}

/// Accepts a connection of TCP.
///
/// # Errors
/// If the listener itself is of no use.
pub fn tcp(listener: &TcpListener) -> io::Result<Accepted<(TcpStream, SocketAddr)>> {
    accepted(listener.accept())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(error: libc::c_int) -> io::Result<Accepted<()>> {
        accepted(Err(io::Error::from_raw_os_error(error)))
    }

    #[test]
    fn without_descriptors_one_is_accepted_with_the_last_and_closed() {
        let mut reserve = Reserve::new();
        let tries = std::cell::Cell::new(0);
        let accept = || match tries.replace(tries.get() + 1) {
            0 | 2 => Err(io::Error::from_raw_os_error(libc::EMFILE)),
            _ => Ok(()),
        };
        assert_eq!(reserve.accept(accept).expect("a client connects"), None);
        assert_eq!(tries.get(), 2);
        assert!(reserve.0.is_some(), "another is reserved");
        // Where there is none, the listener has to rest.
        let mut reserve = Reserve::default();
        reserve.accept(accept).expect_err("there is no room");
        assert_eq!(reserve.accept(accept).expect("a client connects"), Some(()));
    }

    #[test]
    fn only_an_exhausted_system_has_to_rest_and_only_a_broken_listener_is_an_error() {
        for error in [libc::EMFILE, libc::ENFILE, libc::ENOBUFS, libc::ENOMEM] {
            assert!(matches!(of(error), Ok(Accepted::Exhausted(_))), "{error}");
        }
        for error in [
            libc::EAGAIN,
            libc::EINTR,
            libc::ECONNABORTED,
            libc::EPROTO,
            libc::EPERM,
            libc::ENETUNREACH,
            libc::ETIMEDOUT,
        ] {
            assert!(matches!(of(error), Ok(Accepted::Nobody)), "{error}");
        }
        for error in [libc::EBADF, libc::EINVAL, libc::ENOTSOCK] {
            of(error).expect_err("the listener is of no use");
        }
    }
}
