//! A port of TCP that is kept for whoever will listen on it.
//!
//! A port that was found free, and let go, may be given to somebody else before it is used. One
//! that is held is given to nobody: whoever connects to it is refused, and whoever asks for it by
//! its number, with `SO_REUSEADDR` as servers do, may listen on it (`socket(7)`).

use crate::error::{Error, Result};
use crate::sys;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::os::fd::OwnedFd;

/// A port that is held until this is dropped.
#[derive(Debug)]
pub struct Held {
    _socket: OwnedFd,
    address: SocketAddr,
}

impl Held {
    /// A free port of `address`.
    ///
    /// # Errors
    /// If this machine does not have the address, or no port of it is free.
    pub fn at(address: IpAddr) -> Result<Held> {
        let asked = SocketAddr::new(address, 0);
        let failed = |source| Error::Kernel {
            what: format!("no port of {address}"),
            source,
        };
        let family = match address {
            IpAddr::V4(_) => libc::AF_INET,
            IpAddr::V6(_) => libc::AF_INET6,
        };
        let socket = sys::socket(family, libc::SOCK_STREAM, 0).map_err(failed)?;
        sys::set_option(&socket, libc::SOL_SOCKET, libc::SO_REUSEADDR, &1).map_err(failed)?;
        sys::bind(&socket, &sys::internet(asked)).map_err(failed)?;
        // It does not listen; its address is read in the same way.
        let socket = TcpListener::from(socket);
        let address = socket.local_addr().map_err(failed)?;
        Ok(Held {
            _socket: socket.into(),
            address,
        })
    }

    /// The address, and the port that is held.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The port that is held.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;
    use std::net::{Ipv4Addr, Ipv6Addr, TcpStream};

    #[test]
    fn a_held_port_refuses_and_is_given_to_who_names_it() {
        for address in [IpAddr::V4(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()] {
            let held = Held::at(address).expect("loopback has a free port");
            assert_eq!(held.address(), SocketAddr::new(address, held.port()));
            let refused = TcpStream::connect(held.address()).expect_err("nobody listens");
            assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
            let _server = TcpListener::bind(held.address()).expect("it is kept for a server");
            TcpStream::connect(held.address()).expect("the server listens");
            let second = TcpListener::bind(held.address()).expect_err("one server has it");
            assert_eq!(second.kind(), ErrorKind::AddrInUse);
        }
        assert!(Held::at(Ipv4Addr::new(192, 0, 2, 1).into()).is_err());
    }
}
