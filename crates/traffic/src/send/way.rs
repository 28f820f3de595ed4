//! The way of a stream to its receiver and, where the round trip is measured, back.

use super::Carrier;
use super::answers::{Answers, TcpAnswers, UdpAnswers};
use super::departures::Departures;
use super::frames::{self, Frames};
use super::icmp::Icmp;
use super::tcp::Tcp;
use super::udp::{Mechanism, Udp};
use super::waiting::any;
use crate::record::Protocol;
use crate::stream::{Meter, Stream};
use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::time::Duration;
use trammel_io::local::Local;
use trammel_io::reach::connect;
use trammel_io::socket;

/// The longest that a connection may take to be made.
const CONNECTING: Duration = Duration::from_secs(10);

/// Why there is no way.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The receiver's port cannot be sent to.
    #[error("{0} cannot be sent to: {1}")]
    Unreachable(SocketAddr, io::Error),
    /// No socket as the stream wants it can be had.
    #[error("no socket for the stream: {0}")]
    Socket(io::Error),
    /// The machine lacks what it takes.
    #[error(transparent)]
    Unsupported(#[from] trammel_io::error::Error),
    /// Nothing carries it.
    #[error("{0:?} is not supported yet; send by UDP, TCP or ICMP")]
    Protocol(Protocol),
}

/// A way.
pub struct Way {
    /// Transport protocol.
    pub carrier: Box<dyn Carrier>,
    /// What takes the answers of a round trip.
    pub answers: Option<Box<dyn Answers>>,
    /// Where packets come from.
    pub from: Option<SocketAddr>,
}

impl fmt::Debug for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Way")
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}

impl Way {
    /// The way of `stream`, which is flow `number`, to `to`.
    pub fn open(
        stream: &Stream,
        number: u32,
        to: SocketAddr,
        mechanism: Mechanism,
    ) -> Result<Way, Error> {
        let comes_back = stream.meter == Meter::RoundTrip;
        match stream.protocol {
            Protocol::Tcp => tcp(stream, number, to),
            Protocol::Udp => match mechanism {
                Mechanism::Frames(options) => frames(stream, to, &options, comes_back),
                _ => udp(stream, to, mechanism),
            },
            Protocol::Icmp => icmp(stream, to, comes_back),
            other => Err(carried(other).err().unwrap_or(Error::Protocol(other))),
        }
    }
}

/// Whether there is any way for flows of `protocol`: the kernel may lack it, or we do.
pub fn carried(protocol: Protocol) -> Result<(), Error> {
    match protocol {
        Protocol::Udp | Protocol::Tcp | Protocol::Icmp => return Ok(()),
        Protocol::Sctp => socket::sctp()?,
        Protocol::Dccp => socket::dccp()?,
        Protocol::Ethernet | Protocol::Unknown => {}
    }
    Err(Error::Protocol(protocol))
}

fn frames(
    stream: &Stream,
    to: SocketAddr,
    options: &frames::Options,
    comes_back: bool,
) -> Result<Way, Error> {
    let carrier = Frames::open(to, stream, options)?;
    let answers = comes_back.then(|| UdpAnswers::new(carrier.socket()));
    let answers = answers.transpose().map_err(Error::Socket)?;
    Ok(Way {
        from: carrier.socket().local_addr().ok(),
        answers: answers.map(|one| Box::new(one) as _),
        carrier: Box::new(carrier),
    })
}

fn icmp(stream: &Stream, to: SocketAddr, comes_back: bool) -> Result<Way, Error> {
    let carrier = Icmp::open(&Local::any(to.ip()), to.ip(), stream)?;
    let answers = comes_back.then(|| UdpAnswers::of_echo(carrier.socket()));
    let answers = answers.transpose().map_err(Error::Socket)?;
    let from = carrier.socket().local_addr().ok();
    Ok(Way {
        from: from.map(|from| (from.ip(), 0).into()),
        answers: answers.map(|one| Box::new(one) as _),
        carrier: Box::new(carrier),
    })
}

fn tcp(stream: &Stream, number: u32, to: SocketAddr) -> Result<Way, Error> {
    let unreachable = |why| Error::Unreachable(to, why);
    let connection = connect(&[to], CONNECTING).map_err(unreachable)?;
    tcp_over(stream, number, connection)
}

/// The way by a connection that is there.
pub(super) fn tcp_over(stream: &Stream, number: u32, connection: TcpStream) -> Result<Way, Error> {
    let to = connection.peer_addr().map_err(Error::Socket)?;
    let comes_back = stream.meter == Meter::RoundTrip;
    // From here on: what made the connection has gone unmarked.
    let marked = socket::mark(connection.as_fd(), to.is_ipv6(), stream.ds, stream.ttl);
    marked.map_err(Error::Socket)?;
    let answers = comes_back.then(|| TcpAnswers::new(&connection)).transpose();
    Ok(Way {
        from: connection.local_addr().ok(),
        answers: answers
            .map_err(Error::Socket)?
            .map(|one| Box::new(one) as _),
        carrier: Box::new(Tcp::new(connection, number).map_err(Error::Socket)?),
    })
}

fn udp(stream: &Stream, to: SocketAddr, mechanism: Mechanism) -> Result<Way, Error> {
    let socket = UdpSocket::bind((any(to.ip()), 0)).map_err(Error::Socket)?;
    udp_over(stream, socket, to, mechanism)
}

/// The way by a socket that is there.
pub(super) fn udp_over(
    stream: &Stream,
    socket: UdpSocket,
    to: SocketAddr,
    mechanism: Mechanism,
) -> Result<Way, Error> {
    let comes_back = stream.meter == Meter::RoundTrip;
    let connected = socket.connect(to);
    connected.map_err(|why| Error::Unreachable(to, why))?;
    let answers: io::Result<Option<Box<dyn Answers>>> = match mechanism {
        Mechanism::Watched => Departures::new(&socket).map(|one| Some(Box::new(one) as _)),
        _ if comes_back => UdpAnswers::new(&socket).map(|one| Some(Box::new(one) as _)),
        _ => Ok(None),
    };
    Ok(Way {
        from: socket.local_addr().ok(),
        answers: answers.map_err(Error::Socket)?,
        carrier: Box::new(Udp::new(socket, stream, mechanism).map_err(Error::Socket)?),
    })
}
