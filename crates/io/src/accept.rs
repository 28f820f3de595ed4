//! The one way in which listeners of this program accept connections.
//!
//! What `accept` says of a connection that is over already (accept(2), "Error handling") is no matter. Where the system has no
//! descriptor or memory left for one more, the listener stays readable, so that whoever asks it again at once spins: it has to rest.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
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
    /// The connection, if there is one; where the system is exhausted, the calling thread rests before it hears so.
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

/// Accepts a connection of TCP.
///
/// # Errors
/// If the listener itself is of no use.
pub fn tcp(listener: &TcpListener) -> io::Result<Accepted<(TcpStream, SocketAddr)>> {
    accepted(listener.accept())
}

/// Accepts a connection of a UNIX socket.
///
/// # Errors
/// If the listener itself is of no use.
pub fn unix(listener: &UnixListener) -> io::Result<Accepted<UnixStream>> {
    accepted(listener.accept().map(|(stream, _)| stream))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(error: libc::c_int) -> io::Result<Accepted<()>> {
        accepted(Err(io::Error::from_raw_os_error(error)))
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
