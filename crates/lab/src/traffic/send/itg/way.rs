//! The way that a flow's packets take: connections and sockets, from the address and the port that a command names.

use super::plan::{Planned, address};
use crate::traffic::send::LOOK;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use trammel_io::socket;
use trammel_traffic::itg::carriers;
use trammel_traffic::itg::command::Host;
use trammel_traffic::record::Protocol;
use trammel_traffic::send::Carrier;
use trammel_traffic::send::answers::Answers;
use trammel_traffic::stream::Meter;

/// The longest that a connection may take to be made.
const CONNECTING: Duration = Duration::from_secs(10);
/// So long a receiver that said that it listens may be without a socket.
const OPENING: Duration = Duration::from_secs(2);

/// A connection to `to`, from an address and a port of this host's where they are given.
pub(super) fn dial(
    to: SocketAddr,
    from: Option<&Host>,
    port: Option<u16>,
) -> std::io::Result<TcpStream> {
    if from.is_none() && port.is_none() {
        return TcpStream::connect_timeout(&to, CONNECTING);
    }
    let from = from
        .map(address)
        .transpose()
        .map_err(std::io::Error::other)?;
    let port = port.unwrap_or(0);
    match (to, from.unwrap_or(Ipv4Addr::UNSPECIFIED.into())) {
        (SocketAddr::V4(to), IpAddr::V4(from)) => {
            socket::connect(to, Some(SocketAddrV4::new(from, port)))
        }
        _ => Err(std::io::Error::other(
            "connections from a given address or port are of IPv4 only; leave `-sa`, `-sp`, `-Ssa` and `-Ssp` out",
        )),
    }
}

/// The way of a flow.
pub(super) struct Way {
    pub(super) carrier: Box<dyn Carrier>,
    pub(super) answers: Option<Box<dyn Answers>>,
    pub(super) from: Option<SocketAddr>,
}

pub(super) fn way(flow: &Planned<'_>, to: SocketAddr, halt: &AtomicBool) -> std::io::Result<Way> {
    let (command, comes_back) = (flow.command, flow.stream.meter == Meter::RoundTrip);
    let filler = flow.filler.clone();
    if flow.stream.protocol == Protocol::Tcp {
        let until = Instant::now() + OPENING;
        let connection = loop {
            match dial(to, command.source.as_ref(), command.source_port) {
                Ok(connection) => break connection,
                Err(why) if Instant::now() > until || halt.load(Ordering::Relaxed) => {
                    return Err(why);
                }
                Err(_) => std::thread::sleep(LOOK),
            }
        };
        let answers = comes_back.then(|| carriers::TcpAnswers::new(&connection));
        return Ok(Way {
            from: connection.local_addr().ok(),
            answers: answers.transpose()?.map(|one| Box::new(one) as _),
            carrier: Box::new(carriers::Tcp::new(connection, command, filler)?),
        });
    }
    let any: IpAddr = match to {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let source = command.source.as_ref().map(address).transpose();
    let source = source.map_err(std::io::Error::other)?.unwrap_or(any);
    let socket = UdpSocket::bind((source, command.source_port.unwrap_or(0)))?;
    socket.connect(to)?;
    let answers = comes_back.then(|| carriers::udp_answers(&socket));
    Ok(Way {
        from: socket.local_addr().ok(),
        answers: answers.transpose()?.map(|one| Box::new(one) as _),
        carrier: Box::new(carriers::udp(socket, command, &flow.stream, filler)?),
    })
}
