//! Sockets of the Internet that the standard library has no way to make: shared ports, multicast by
//! an interface, raw ones.

use crate::error::{Error, Result};
use crate::sys;
use rustix::fs::Mode;
use rustix::net::{SocketAddrUnix, sockopt};
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::path::Path;

/// A UDP socket at `local`, where others may be as well.
pub fn shared_udp(local: SocketAddrV4) -> io::Result<UdpSocket> {
    let socket = sys::socket(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    sys::bind(&socket, &sys::internet(local.into()))?;
    Ok(socket.into())
}

/// Has multicast leave by the interface that has `address`.
pub fn multicast_by(socket: &UdpSocket, address: Ipv4Addr) -> io::Result<()> {
    Ok(sockopt::set_ip_multicast_if(socket, &address)?)
}

/// Sets the sizes of a socket's buffers, in bytes.
pub fn set_buffers(
    socket: BorrowedFd<'_>,
    send_bytes: Option<i32>,
    receive_bytes: Option<i32>,
) -> io::Result<()> {
    if let Some(bytes) = send_bytes {
        set(socket, libc::SOL_SOCKET, libc::SO_SNDBUF, bytes)?;
    }
    receive_bytes.map_or(Ok(()), |bytes| {
        set(socket, libc::SOL_SOCKET, libc::SO_RCVBUF, bytes)
    })
}

/// Sets the byte of differentiated services (RFC 2474) and the time to live or hop limit of what a
/// socket sends.
pub fn mark(
    socket: BorrowedFd<'_>,
    is_ipv6: bool,
    ds: Option<u8>,
    ttl: Option<u8>,
) -> io::Result<()> {
    match (is_ipv6, ds) {
        (_, None) => {}
        (true, Some(ds)) => sockopt::set_ipv6_tclass(socket, ds.into())?,
        (false, Some(ds)) => sockopt::set_ip_tos(socket, ds)?,
    }
    match (is_ipv6, ttl) {
        (_, None) => {}
        (true, Some(hops)) => sockopt::set_ipv6_unicast_hops(socket, Some(hops))?,
        (false, Some(ttl)) => sockopt::set_ip_ttl(socket, ttl.into())?,
    }
    Ok(())
}

/// Has all that a socket sends leave by one interface, and takes in only what comes by it.
pub fn only_by(socket: BorrowedFd<'_>, interface: &str) -> Result<()> {
    let socket = socket.try_clone_to_owned();
    let socket = socket.map_err(Error::of("use one interface", interface, "CAP_NET_RAW"))?;
    sys::bind_to_device(&socket, interface)
}

/// Whether this kernel has sockets of SCTP (RFC 9260).
pub fn sctp() -> Result<()> {
    let mend = "modprobe sctp, or a kernel with CONFIG_IP_SCTP";
    has("SCTP", mend, libc::SOCK_STREAM, libc::IPPROTO_SCTP)
}

/// Whether this kernel has sockets of DCCP (RFC 4340); Linux has had none since 6.16.
pub fn dccp() -> Result<()> {
    let mend = "modprobe dccp, of a Linux before 6.16";
    has("DCCP", mend, libc::SOCK_DCCP, libc::IPPROTO_DCCP)
}

fn has(name: &str, mend: &str, kind: libc::c_int, protocol: libc::c_int) -> Result<()> {
    let opened = sys::socket(libc::AF_INET, kind, protocol);
    opened.map(drop).map_err(|error| Error::Unsupported {
        what: format!("{name} ({error})"),
        mend: mend.to_owned(),
    })
}

fn set(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    name: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    let socket: OwnedFd = socket.try_clone_to_owned()?;
    sys::set_option(&socket, level, name, &value)
}

/// A raw socket of an IP protocol: packets with their IP header go in and come out.
pub fn raw(protocol: u8) -> io::Result<UdpSocket> {
    let socket = sys::socket(libc::AF_INET, libc::SOCK_RAW, libc::c_int::from(protocol))?;
    sys::set_option(&socket, libc::IPPROTO_IP, libc::IP_HDRINCL, &1)?;
    sockopt::set_socket_broadcast(&socket, true)?;
    // A raw socket sends and receives as one of UDP does; ports are ignored.
    Ok(socket.into())
}

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 128;
/// Bytes of the longest path of a socket: `sun_path` ends with a zero.
const LONGEST_PATH: usize = 107;

/// A listener at a path that only the owner of this process may connect to, from its first moment
/// on: the kernel makes the file with the mode of the socket (unix(7)).
pub fn private_unix(path: &Path) -> io::Result<UnixListener> {
    let bytes = path.as_os_str().as_bytes();
    if bytes.is_empty() || bytes.len() > LONGEST_PATH || bytes.contains(&0) {
        let text = "no path that a socket can have";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let address = SocketAddrUnix::new(path)?;
    let socket = sys::socket(libc::AF_UNIX, libc::SOCK_STREAM, 0)?;
    rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    rustix::net::bind(&socket, &address)?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(socket.into())
}

/// A stream socket that this process was started with as descriptor `number`, by a descriptor of
/// our own; the number itself stays open. A descriptor that something in this process has opened is
/// refused.
pub fn inherited(number: i32) -> io::Result<OwnedFd> {
    let wrong = |text| io::Error::new(io::ErrorKind::InvalidInput, text);
    // SAFETY: no pointers.
    let flags = sys::check(unsafe { libc::fcntl(number, libc::F_GETFD) })?;
    // What is closed on `exec` did not come by one: it belongs to whoever opened it here.
    if flags & libc::FD_CLOEXEC != 0 {
        return Err(wrong(format!(
            "descriptor {number} is not one that this process was started with"
        )));
    }
    // SAFETY: no pointers.
    let copy = sys::check(unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) })?;
    // SAFETY: the kernel has just made it, and nobody else knows of it.
    let copy = unsafe { OwnedFd::from_raw_fd(copy) };
    let kind: libc::c_int = sys::option(&copy, libc::SOL_SOCKET, libc::SO_TYPE)?;
    if kind != libc::SOCK_STREAM {
        return Err(wrong(format!("descriptor {number} is no stream socket")));
    }
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::stream_pair;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_descriptor_of_this_process_is_not_one_that_it_was_started_with() {
        let (ours, _theirs) = stream_pair().expect("a pair of sockets can be made");
        let refused = inherited(ours.as_raw_fd()).expect_err("it was opened here");
        assert!(
            refused
                .to_string()
                .ends_with("is not one that this process was started with")
        );
        assert!(inherited(-1).is_err());
    }

    #[test]
    fn a_private_listener_is_for_its_owner() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("socket");
        let listener = private_unix(&path).expect("it is made");
        let mode = path.metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let _client = UnixStream::connect(&path).expect("the other end listens");
        listener.accept().expect("a client connects");
        let again = private_unix(&path).expect_err("it is in use");
        assert_eq!(again.kind(), io::ErrorKind::AddrInUse);
        private_unix(&folder.path().join("x".repeat(108))).expect_err("too long");
    }
}
