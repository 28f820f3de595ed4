//! The port that the receiver of a passive flow comes to for its packets (`-H`).

use super::near::{CONNECTING, near};
use super::plan::Planned;
use crate::send::LOOK;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use trammel_ground::Unsupported;
use trammel_io::accept;
use trammel_io::local::Local;
use trammel_traffic::record::Protocol;

/// What a passive receiver of UDP begins with.
const PUNCH: [u8; 5] = *b"hello";

/// Where a receiver at `peer` is waited for: one on this machine is waited for from nowhere else.
pub(super) fn waiting_address(peer: IpAddr) -> IpAddr {
    match peer {
        _ if peer.is_loopback() => peer,
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    }
}

/// A port that waits.
#[derive(Debug)]
pub(super) enum Back {
    Udp(UdpSocket),
    Tcp(TcpListener),
}

/// A receiver that has come, and from where.
pub(super) enum Came {
    Punch(UdpSocket, SocketAddr),
    Connection(TcpStream, SocketAddr),
}

impl Came {
    pub(super) fn from(&self) -> SocketAddr {
        match self {
            Came::Punch(_, from) | Came::Connection(_, from) => *from,
        }
    }
}

impl Back {
    /// The port of a flow, which is the one of `-sp` or any that is free.
    pub(super) fn open(flow: &Planned<'_>) -> anyhow::Result<Back> {
        let command = flow.command;
        let from = (command.source.as_ref(), command.source_port);
        let mut own = near(flow.to[0].ip(), from, command.device.as_deref())?;
        if command.source.is_none() {
            own.address.set_ip(waiting_address(flow.to[0].ip()));
        }
        Back::at(&own, flow.stream.protocol).map_err(|why| {
            let at = own.address;
            let what = format!("flow {}: {at} cannot be waited on: {why}", flow.number);
            Unsupported::error(&what, "give another `-sp`")
        })
    }

    fn at(own: &Local<'_>, protocol: Protocol) -> io::Result<Back> {
        if protocol != Protocol::Tcp {
            return own.udp().map(Back::Udp);
        }
        let listener = own.listen()?;
        listener.set_nonblocking(true)?;
        Ok(Back::Tcp(listener))
    }

    /// The number of the port.
    pub(super) fn port(&self) -> io::Result<u16> {
        let address = match self {
            Back::Udp(socket) => socket.local_addr(),
            Back::Tcp(listener) => listener.local_addr(),
        };
        address.map(|address| address.port())
    }

    /// Waits for the receiver until `halt` is set.
    pub(super) fn wait(&self, halt: &AtomicBool) -> io::Result<Came> {
        let until = Instant::now() + CONNECTING;
        while Instant::now() < until && !halt.load(Ordering::Relaxed) {
            match self {
                Back::Tcp(listener) => match accept::tcp(listener)?.or_rest() {
                    Some((stream, from)) => {
                        stream.set_nonblocking(false)?;
                        return Ok(Came::Connection(stream, from));
                    }
                    None => std::thread::sleep(LOOK),
                },
                Back::Udp(socket) => {
                    socket.set_read_timeout(Some(LOOK))?;
                    let mut said = [0; PUNCH.len()];
                    if let Ok((_, from)) = socket.recv_from(&mut said)
                        && said == PUNCH
                    {
                        socket.set_read_timeout(None)?;
                        return Ok(Came::Punch(socket.try_clone()?, from));
                    }
                }
            }
        }
        Err(io::Error::other("its receiver did not connect"))
    }
}
