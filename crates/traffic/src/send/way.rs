//! The way of a stream to its receiver and, where the round trip is measured, back.

use super::Carrier;
use super::answers::{Answers, TcpAnswers, UdpAnswers};
use super::tcp::Tcp;
use super::udp::{Mechanism, Udp};
use crate::record::Protocol;
use crate::stream::{Meter, Stream};
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

/// The longest that a connection may take to be made.
const CONNECTING: Duration = Duration::from_secs(10);

/// Why there is no way.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The receiver's port cannot be sent to.
    #[error("{0} cannot be sent to: {1}")]
    Unreachable(SocketAddr, io::Error),
    /// No socket as the stream wants it can be had.
    #[error("no socket for the stream can be had: {0}")]
    Socket(io::Error),
    /// Nothing carries it.
    #[error("no sender carries flows of {0:?}")]
    Protocol(Protocol),
}

/// A way.
pub struct Way {
    /// What carries the packets.
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
            Protocol::Tcp => tcp(number, to, comes_back),
            Protocol::Udp => udp(stream, to, mechanism, comes_back),
            other => Err(Error::Protocol(other)),
        }
    }
}

fn tcp(number: u32, to: SocketAddr, comes_back: bool) -> Result<Way, Error> {
    let unreachable = |why| Error::Unreachable(to, why);
    let connection = TcpStream::connect_timeout(&to, CONNECTING).map_err(unreachable)?;
    let answers = comes_back.then(|| TcpAnswers::new(&connection)).transpose();
    Ok(Way {
        from: connection.local_addr().ok(),
        answers: answers
            .map_err(Error::Socket)?
            .map(|one| Box::new(one) as _),
        carrier: Box::new(Tcp::new(connection, number).map_err(unreachable)?),
    })
}

fn udp(
    stream: &Stream,
    to: SocketAddr,
    mechanism: Mechanism,
    comes_back: bool,
) -> Result<Way, Error> {
    let any: IpAddr = match to {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).map_err(Error::Socket)?;
    let connected = socket.connect(to);
    connected.map_err(|why| Error::Unreachable(to, why))?;
    let answers = comes_back.then(|| UdpAnswers::new(&socket)).transpose();
    Ok(Way {
        from: socket.local_addr().ok(),
        answers: answers
            .map_err(Error::Socket)?
            .map(|one| Box::new(one) as _),
        carrier: Box::new(Udp::new(socket, stream, mechanism).map_err(Error::Socket)?),
    })
}
