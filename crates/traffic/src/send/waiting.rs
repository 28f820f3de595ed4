//! A sender that waits for its receiver: for one that nobody reaches from outside, behind a
//! translator of addresses.
//!
//! The receiver makes the connection of the signalling, and then the way of each flow: it connects
//! to a port of the sender's, or sends a datagram there first, and packets go where that came from.

use super::session::{Error, Session};
use super::udp::Mechanism;
use super::way::{self, Way};
use crate::record::Protocol;
use crate::signal::channel::{Channel, ReceiveError};
use crate::signal::greet::{self, Opener, PATIENCE};
use crate::signal::key::{Key, nonce};
use crate::signal::listener::{Listener, Signalling, refuse};
use crate::signal::message::{Message, Wish};
use crate::signal::pending::{Door, Pending, Verdict};
use crate::signal::punch::{PUNCH_BYTES, punch};
use crate::stream::Stream;
use std::io::{self, ErrorKind, Read};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a receiver may take to come to the port of a flow.
const COMING: Duration = Duration::from_secs(10);
/// So often is looked whether to stop.
const SLICE: Duration = Duration::from_millis(20);

/// Where a sender waits.
#[derive(Debug)]
pub struct Waiting {
    listener: Listener,
}

impl Waiting {
    /// Waits at `address`, whose port 0 leaves the number to the system.
    pub fn open(address: SocketAddr) -> io::Result<Waiting> {
        let listener = Listener::open(address)?;
        Ok(Waiting { listener })
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// The session with the first receiver that comes and holds `key`, where there is one. Who
    /// comes otherwise is told why it is not served, and nothing else.
    pub fn session(&self, key: Option<&Key>, stop: &AtomicBool) -> Result<Session, Error> {
        let (over, came) = (AtomicBool::new(false), Mutex::new(None));
        let (over, found) = (&over, &came);
        let served = std::thread::scope(|scope| {
            let is_over = || over.load(Ordering::Relaxed) || stop.load(Ordering::Relaxed);
            let greet = move |stream, _| {
                if let Ok(session) = greet(stream, key, over) {
                    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                    if found.is_none() {
                        *found = Some(session);
                    }
                    over.store(true, Ordering::Relaxed);
                }
            };
            let served = self
                .listener
                .serve_by(scope, &is_over, &Signalling, greet, &refuse);
            // Those who are being greeted are not waited for.
            over.store(true, Ordering::Relaxed);
            served
        });
        served.map_err(ReceiveError::System)?;
        let came = came.into_inner().unwrap_or_else(PoisonError::into_inner);
        came.ok_or(Error::Channel(ReceiveError::Stopped))
    }
}

/// The session with who came, if it is a receiver.
fn greet(stream: TcpStream, key: Option<&Key>, stop: &AtomicBool) -> Result<Session, Error> {
    let mut channel = Channel::new(stream).map_err(ReceiveError::System)?;
    if channel.hear(Some(PATIENCE), stop)? != Message::Here {
        let why = "this sender waits for a receiver: `trammel recv --connect`";
        channel.say(&Message::Refused(why.to_owned()))?;
        return Err(Error::OutOfTurn);
    }
    match greet::ask(&mut channel, key, Opener::Them, stop) {
        Ok(()) => Ok(Session::of(channel)),
        Err(greet::Error::Stranger) => {
            let why = "this sender requires its key; give `--key FILE`";
            channel.say(&Message::Refused(why.to_owned()))?;
            Err(Error::Stranger)
        }
        Err(other) => Err(other.into()),
    }
}

impl Way {
    /// Opens the flow of `stream` with a receiver that came, and has it make the way; with the
    /// flow's number.
    pub fn fetch(
        stream: &Stream,
        wish: Wish,
        mechanism: Mechanism,
        session: &mut Session,
        stop: &AtomicBool,
    ) -> Result<(u32, Way), Error> {
        let own = session.addresses().map_err(ReceiveError::System)?.1.ip();
        let token = nonce().map_err(ReceiveError::System)?;
        let shown = punch(&token);
        match (stream.protocol, mechanism) {
            (Protocol::Tcp, _) => {
                let listener = TcpListener::bind((own, 0)).map_err(ReceiveError::System)?;
                let port = listener.local_addr().map_err(ReceiveError::System)?.port();
                let number = session.fetch_flow(wish, port, token, stop)?;
                let connection = connection(&listener, &shown, stop)?;
                let way = way::tcp_over(stream, number, connection);
                Ok((number, way.map_err(Error::Way)?))
            }
            (Protocol::Udp, Mechanism::Calls | Mechanism::Segments) => {
                let socket = UdpSocket::bind((own, 0)).map_err(ReceiveError::System)?;
                let port = socket.local_addr().map_err(ReceiveError::System)?.port();
                let number = session.fetch_flow(wish, port, token, stop)?;
                let to = shown_from(&socket, &shown, stop)?;
                let way = way::udp_over(stream, socket, to, mechanism);
                Ok((number, way.map_err(Error::Way)?))
            }
            _ => Err(Error::Refused(
                "a connecting receiver gets UDP or TCP by calls; leave out `--by` and `-T`"
                    .to_owned(),
            )),
        }
    }
}

/// Whether it is too late, or everything is to stop.
fn is_over(started: Instant, stop: &AtomicBool) -> Result<(), Error> {
    if stop.load(Ordering::Relaxed) {
        return Err(Error::Channel(ReceiveError::Stopped));
    }
    if started.elapsed() > COMING {
        return Err(Error::NotComing(COMING));
    }
    Ok(())
}

/// Who shows the token may come in.
struct Token<'a>(&'a [u8; PUNCH_BYTES]);

impl Door for Token<'_> {
    fn judge(&self, first: &[u8], _: SocketAddr) -> Verdict {
        match first.first_chunk::<PUNCH_BYTES>() {
            None => Verdict::Wait,
            Some(came) if came == self.0 => Verdict::Serve,
            Some(_) => Verdict::Hang,
        }
    }
}

/// The connection of who shows the token.
fn connection(
    listener: &TcpListener,
    shown: &[u8; PUNCH_BYTES],
    stop: &AtomicBool,
) -> Result<TcpStream, Error> {
    let mut pending = Pending::new(listener).map_err(ReceiveError::System)?;
    let started = Instant::now();
    loop {
        is_over(started, stop)?;
        let came = pending.next(&Token(shown)).map_err(ReceiveError::System)?;
        if let Some((mut stream, _)) = came.into_iter().next() {
            let read = stream.read_exact(&mut [0; PUNCH_BYTES]);
            read.map_err(ReceiveError::System)?;
            return Ok(stream);
        }
    }
}

/// Where the datagram comes from that shows the token.
fn shown_from(
    socket: &UdpSocket,
    shown: &[u8; PUNCH_BYTES],
    stop: &AtomicBool,
) -> Result<SocketAddr, Error> {
    socket
        .set_read_timeout(Some(SLICE))
        .map_err(ReceiveError::System)?;
    let started = Instant::now();
    let mut came = [0; PUNCH_BYTES + 1];
    loop {
        is_over(started, stop)?;
        match socket.recv_from(&mut came) {
            Ok((bytes, from)) if came[..bytes] == *shown => return Ok(from),
            Ok(_) => {}
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                ) => {}
            Err(error) => return Err(ReceiveError::System(error).into()),
        }
    }
}

/// The address of any interface, of the kind of `other`.
pub fn any(other: IpAddr) -> IpAddr {
    match other {
        IpAddr::V4(_) => std::net::Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => std::net::Ipv6Addr::UNSPECIFIED.into(),
    }
}
