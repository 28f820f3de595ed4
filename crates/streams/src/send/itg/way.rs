//! The way that a flow's packets take: connections and sockets, from the address, the port and the
//! interface that a command names.

use super::back::{Back, Came};
use super::near::{CONNECTING, near};
use super::plan::Planned;
use crate::send::LOOK;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use trammel_io::local::Local;
use trammel_traffic::itg::carriers;
use trammel_traffic::record::Protocol;
use trammel_traffic::send::Carrier;
use trammel_traffic::send::answers::Answers;
use trammel_traffic::stream::Meter;

/// So long a receiver that said that it listens may be without a socket.
const OPENING: Duration = Duration::from_secs(2);

/// The way of a flow.
pub(super) struct Way {
    pub(super) carrier: Box<dyn Carrier>,
    pub(super) answers: Option<Box<dyn Answers>>,
    pub(super) from: Option<SocketAddr>,
    pub(super) to: SocketAddr,
}

/// The way of a flow to `to`, or to the receiver that comes to `back`.
pub(super) fn way(
    flow: &Planned<'_>,
    to: SocketAddr,
    back: Option<&Back>,
    halt: &AtomicBool,
) -> io::Result<Way> {
    let came = back.map(|back| back.wait(halt)).transpose()?;
    let to = came.as_ref().map_or(to, Came::from);
    let (command, comes_back) = (flow.command, flow.stream.meter == Meter::RoundTrip);
    let from = (command.source.as_ref(), command.source_port);
    let near = near(to.ip(), from, command.device.as_deref())?;
    let filler = flow.filler.clone();
    match flow.stream.protocol {
        Protocol::Tcp => {
            let connection = match came {
                Some(Came::Connection(connection, _)) => connection,
                _ => connected(&near, to, halt)?,
            };
            let answers = comes_back.then(|| carriers::tcp_answers(&connection, flow.number));
            Ok(Way {
                to,
                from: connection.local_addr().ok(),
                answers: answers.transpose()?.map(|one| Box::new(one) as _),
                carrier: Box::new(carriers::Tcp::new(connection, command, filler)?),
            })
        }
        Protocol::Icmp => {
            let carrier = carriers::icmp(&near, to.ip(), (command, &flow.stream), &filler)?;
            let from = carrier.socket().local_addr().ok();
            Ok(Way {
                to,
                from: from.map(|from| (from.ip(), 0).into()),
                answers: None,
                carrier: Box::new(carrier),
            })
        }
        _ => {
            let socket = match came {
                Some(Came::Punch(socket, _)) => socket,
                _ => near.udp()?,
            };
            socket.connect(to)?;
            let answers = comes_back.then(|| carriers::udp_answers(&socket));
            Ok(Way {
                to,
                from: socket.local_addr().ok(),
                answers: answers.transpose()?.map(|one| Box::new(one) as _),
                carrier: Box::new(carriers::udp(socket, command, &flow.stream, filler)?),
            })
        }
    }
}

/// A connection to a receiver that has said that it listens.
fn connected(near: &Local<'_>, to: SocketAddr, halt: &AtomicBool) -> io::Result<TcpStream> {
    let until = Instant::now() + OPENING;
    loop {
        match near.connect(to, CONNECTING) {
            Ok(connection) => return Ok(connection),
            Err(why) if Instant::now() > until || halt.load(Ordering::Relaxed) => return Err(why),
            Err(_) => std::thread::sleep(LOOK),
        }
    }
}
