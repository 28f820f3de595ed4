//! A log that is kept by ITGLog, D-ITG's log server, or by `trammel log --itg`.

use super::line::Line;
use super::log_file::Sink;
use super::log_protocol::{END, GREETING, RECORD, Request, write};
use super::signalling::LogName;
use super::speak::SETTLING;
use crate::record::Protocol;
use std::io::{self, Error, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};
use trammel_io::reach;

/// The longest that the server may take for anything.
const PATIENCE: Duration = Duration::from_secs(5);
/// So long the server may not listen yet on the port that it answered: ITGLog answers first.
const OPENING: Duration = Duration::from_secs(2);
/// So often is tried whether it does.
const LOOK: Duration = Duration::from_millis(20);
/// The most records that fit into a datagram, 65,507 bytes.
const MOST_AT_ONCE: usize = 65_507 / RECORD;

/// How records go.
#[derive(Debug)]
enum Way {
    Udp(UdpSocket),
    Tcp(TcpStream),
}

/// A log at a server; its end is told when it is dropped.
#[derive(Debug)]
pub(super) struct LogClient {
    /// The address that answered.
    pub(super) server: SocketAddr,
    control: TcpStream,
    way: Way,
    waiting: Vec<u8>,
    at_once: usize,
}

impl LogClient {
    /// Asks the server at the first of `servers` that answers for a log of this name, whose records
    /// go `batch` at a time.
    pub(super) fn open(
        servers: &[SocketAddr],
        protocol: Protocol,
        name: &LogName,
        batch: u32,
    ) -> io::Result<LogClient> {
        let mut control = reach::connect(servers, PATIENCE)?;
        let server = control.peer_addr()?;
        control.set_read_timeout(Some(PATIENCE))?;
        control.set_write_timeout(Some(PATIENCE))?;
        let mut greeting = [0];
        control.read_exact(&mut greeting)?;
        if greeting != [GREETING] {
            let why = "it does not greet as D-ITG's log server does";
            return Err(Error::new(ErrorKind::InvalidData, why));
        }
        let request = Request {
            protocol,
            name: name.clone(),
        };
        control.write_all(&request.encode())?;
        let mut port = [0; 4];
        control.read_exact(&mut port)?;
        let port = u16::try_from(u32::from_be_bytes(port))
            .map_err(|_| Error::new(ErrorKind::InvalidData, "it answers what is no port"))?;
        let to = reach::at_port(server, port);
        let way = if protocol == Protocol::Tcp {
            let connection = connected(to)?;
            connection.set_write_timeout(Some(PATIENCE))?;
            Way::Tcp(connection)
        } else {
            let any = match to {
                SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
                SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
            };
            let socket = UdpSocket::bind(SocketAddr::new(any, 0))?;
            socket.connect(to)?;
            Way::Udp(socket)
        };
        let at_once = usize::try_from(batch)
            .unwrap_or(MOST_AT_ONCE)
            .clamp(1, MOST_AT_ONCE);
        Ok(LogClient {
            server,
            control,
            way,
            waiting: Vec::with_capacity(at_once * RECORD),
            at_once,
        })
    }
}

/// A connection to a port that may be listened on any moment.
fn connected(to: SocketAddr) -> io::Result<TcpStream> {
    let until = Instant::now() + OPENING;
    loop {
        match TcpStream::connect_timeout(&to, PATIENCE) {
            Err(why) if why.kind() == ErrorKind::ConnectionRefused && Instant::now() < until => {
                std::thread::sleep(LOOK);
            }
            done => return done,
        }
    }
}

impl Sink for LogClient {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        write(line, &mut self.waiting);
        if self.waiting.len() >= self.at_once * RECORD {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let sent = match &mut self.way {
            Way::Udp(socket) => socket.send(&self.waiting).map(drop),
            Way::Tcp(connection) => connection.write_all(&self.waiting),
        };
        self.waiting.clear();
        sent
    }
}

impl Drop for LogClient {
    fn drop(&mut self) {
        // What went wrong was told by the flush before; and nobody is left to tell it.
        let _ = self.flush();
        // ITGLog reads no more once it has heard of the end.
        std::thread::sleep(SETTLING);
        let _ = self.control.write_all(&END);
    }
}
