//! This host's end of a socket: its address, its port and its one interface, chosen before the
//! socket is bound.
//!
//! The standard library binds what listens and leaves the near end of a connection to the system.
//! Here both are one thing, for both versions of IP.

use crate::error::{self, Error};
use crate::sys;
use std::io::{ErrorKind, Result};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

/// Connections that may wait to be accepted, of which the system allows as many as
/// `net.core.somaxconn` says. The standard library has 128: while so many strangers wait,
/// everybody's next attempt is a second later.
const BACKLOG: libc::c_int = 4096;

/// Whether packets can be kept to interface `device`.
///
/// # Errors
/// If there is none of this name, or no right to it.
pub fn may_use(device: &str) -> error::Result<()> {
    let socket = sys::socket(libc::AF_INET, libc::SOCK_DGRAM, 0);
    let socket = socket.map_err(Error::of("open a socket", "", "CAP_NET_RAW"))?;
    sys::bind_to_device(&socket, device)
}

fn connect(stream: &TcpStream, remote: SocketAddr) -> Result<()> {
    let raw = sys::internet(remote);
    // SAFETY: the pointer and the length are those of `raw`.
    let done = sys::check(unsafe {
        libc::connect(
            stream.as_raw_fd(),
            std::ptr::from_ref(&raw).cast(),
            size_of_val(&raw) as libc::socklen_t,
        )
    });
    done.map(drop)
}

/// The near end of a socket.
#[derive(Clone, Copy, Debug)]
pub struct Local<'a> {
    /// Its address, of which an unspecified one is any of this host's, and its port, of which 0 is
    /// any that is free.
    pub address: SocketAddr,
    /// The interface that all its packets leave by and come by; none leaves it to the routes.
    pub device: Option<&'a str>,
}

impl Local<'_> {
    /// Any address, port and interface, for packets of `peer`'s version of IP.
    #[must_use]
    pub fn any(peer: IpAddr) -> Local<'static> {
        let address: IpAddr = match peer {
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        Local {
            address: (address, 0).into(),
            device: None,
        }
    }

    /// A connection to `remote`, which may take `within` to be made.
    ///
    /// # Errors
    /// If the near end cannot be had (of another version of IP, another's address, a port in use,
    /// no such interface), or the far end does not answer.
    pub fn connect(&self, remote: SocketAddr, within: Duration) -> Result<TcpStream> {
        let stream = self.unconnected()?;
        // It holds for the connection as well (socket(7), SO_SNDTIMEO).
        stream.set_write_timeout(Some(within))?;
        connect(&stream, remote).map_err(|error| match error.raw_os_error() {
            Some(libc::EINPROGRESS) => ErrorKind::TimedOut.into(),
            _ => error,
        })?;
        stream.set_write_timeout(None)?;
        Ok(stream)
    }

    /// Begins a connection to `remote`, and does not wait: it can be written to once it is made
    /// ([`crate::reach::connect_by`]).
    ///
    /// # Errors
    /// If the near end cannot be had.
    pub fn begin(&self, remote: SocketAddr) -> Result<TcpStream> {
        let stream = self.unconnected()?;
        stream.set_nonblocking(true)?;
        match connect(&stream, remote) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
            _ => Ok(stream),
        }
    }

    /// A socket of TCP that is bound.
    fn unconnected(&self) -> Result<TcpStream> {
        let socket = self.socket(libc::SOCK_STREAM, 0)?;
        // One port may be the near end of many connections, and may have been of one that is over.
        sys::set_option(&socket, libc::SOL_SOCKET, libc::SO_REUSEADDR, &1)?;
        self.bind(&socket)?;
        Ok(socket.into())
    }

    /// A socket that connections are made to.
    ///
    /// # Errors
    /// If the near end cannot be had.
    pub fn listen(&self) -> Result<TcpListener> {
        let socket = self.socket(libc::SOCK_STREAM, 0)?;
        // A receiver that was just closed may be opened again.
        sys::set_option(&socket, libc::SOL_SOCKET, libc::SO_REUSEADDR, &1)?;
        self.bind(&socket)?;
        // SAFETY: no pointers.
        sys::check(unsafe { libc::listen(socket.as_raw_fd(), BACKLOG) })?;
        Ok(socket.into())
    }

    /// A socket of UDP.
    ///
    /// # Errors
    /// If the near end cannot be had.
    pub fn udp(&self) -> Result<UdpSocket> {
        let socket = self.socket(libc::SOCK_DGRAM, 0)?;
        self.bind(&socket)?;
        Ok(socket.into())
    }

    /// A socket of its version of IP; it is not bound yet.
    pub(crate) fn socket(&self, kind: libc::c_int, protocol: libc::c_int) -> Result<OwnedFd> {
        let domain = match self.address {
            SocketAddr::V4(_) => libc::AF_INET,
            SocketAddr::V6(_) => libc::AF_INET6,
        };
        sys::socket(domain, kind, protocol)
    }

    /// Binds a socket, to the interface first: two may have one port on an interface each.
    pub(crate) fn bind(&self, socket: &OwnedFd) -> Result<()> {
        if let Some(device) = self.device {
            sys::bind_to_device(socket, device)?;
        }
        sys::bind(socket, &sys::internet(self.address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: &str) -> Local<'static> {
        Local {
            address: address.parse().expect("the address is well formed"),
            device: None,
        }
    }

    #[test]
    fn a_connection_comes_from_the_end_that_was_chosen() {
        for (listens, from) in [("127.0.0.1:0", "127.0.0.9:0"), ("[::1]:0", "[::1]:0")] {
            let listener = at(listens).listen().expect("loopback has ports");
            let free = at(from).listen().expect("loopback has ports");
            let chosen = free.local_addr().expect("a bound socket has an address");
            drop(free);
            let local = Local {
                address: chosen,
                device: Some("lo"),
            };
            let remote = listener
                .local_addr()
                .expect("a bound socket has an address");
            let made = local.connect(remote, Duration::from_secs(5)).expect(from);
            let (_, seen) = listener.accept().expect("a client connects");
            assert_eq!((seen, made.local_addr().ok()), (chosen, Some(chosen)));
            assert_eq!(made.write_timeout().expect("a socket"), None);
        }
    }

    #[test]
    fn datagrams_come_from_the_end_that_was_chosen() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let (ours, theirs) = (at(address).udp(), at(address).udp());
            let (ours, theirs) = (ours.expect("a port"), theirs.expect("a port"));
            let to = theirs.local_addr().expect("a bound socket has an address");
            ours.send_to(b"x", to).expect("the datagram can be sent");
            let (_, from) = theirs.recv_from(&mut [0; 4]).expect("a datagram arrives");
            assert_eq!(Some(from), ours.local_addr().ok());
        }
    }

    #[test]
    fn an_end_that_cannot_be_had_is_an_error() {
        let remote = "127.0.0.1:9".parse().expect("the address is well formed");
        let within = Duration::from_secs(5);
        // An address that is nobody's, one of the other version of IP, and no interface.
        assert!(at("192.0.2.1:0").connect(remote, within).is_err());
        assert!(at("[::1]:0").connect(remote, within).is_err());
        let error = Local {
            device: Some("nowhere0"),
            ..Local::any(remote.ip())
        };
        let error = error.udp().expect_err("no interface").to_string();
        assert_eq!(error, "no network interface `nowhere0`");
    }
}
