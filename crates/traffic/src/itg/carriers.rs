//! What carries packets to an ITGRecv, and what comes back from it.

use super::command::{Command, Metadata};
use super::flow::bounds;
use super::flows::Framing;
use super::signalling::Head;
use super::stamps;
use crate::record::Protocol;
use crate::record::Record;
use crate::send::answers::{Answers, UdpAnswers, record};
use crate::send::tcp::{SLICE, write};
use crate::send::udp::{self, Mechanism, Udp};
use crate::send::{Carrier, Packet};
use crate::stamp::{STAMP_BYTES, Stamp};
use crate::stream::Stream;
use std::io::{self, ErrorKind, Read};
use std::net::{TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_io::clock::wall_ns;
use trammel_io::socket;

/// Packets of TCP that are written at a time, at most.
const BATCH: usize = 64;
/// Bytes that are read at a time.
const PART_BYTES: usize = 1 << 16;

fn udp_head<const METADATA: u8>(packet: &Packet) -> [u8; STAMP_BYTES] {
    let mut bytes = [0; STAMP_BYTES];
    let kind = match METADATA {
        0 => Metadata::Full,
        1 => Metadata::Sequence,
        _ => Metadata::None,
    };
    stamps::head(&packet.stamp, packet.bytes).encode(&mut bytes, kind, Protocol::Udp);
    bytes
}

/// Datagrams by a connected socket.
///
/// # Errors
/// If the socket cannot be made as the stream wants it.
pub fn udp(
    socket: UdpSocket,
    command: &Command,
    stream: &Stream,
    filler: Vec<u8>,
) -> io::Result<Udp> {
    let head = udp::Head {
        write: match command.metadata {
            Metadata::Full => udp_head::<0>,
            Metadata::Sequence => udp_head::<1>,
            Metadata::None => udp_head::<2>,
        },
        least: bounds(command).0,
    };
    Ok(Udp::new(socket, stream, Mechanism::Calls)?.with(head, filler))
}

/// Answers to datagrams of `socket`.
///
/// # Errors
/// If the socket does not tell when they come.
pub fn udp_answers(socket: &UdpSocket) -> io::Result<UdpAnswers> {
    UdpAnswers::with(socket, STAMP_BYTES, |came| {
        let head = Head::decode(came.data, Metadata::Full, Protocol::Udp)?;
        let near_ns = came.time_ns.unwrap_or_else(wall_ns);
        Some((stamps::stamp(&head, near_ns), came.bytes))
    })
}

/// A connection.
#[derive(Debug)]
pub struct Tcp {
    stream: TcpStream,
    metadata: Metadata,
    bounds: (u32, u32),
    filler: Vec<u8>,
    bytes: Vec<u8>,
}

impl Tcp {
    /// Carries packets by a connection that was just made.
    ///
    /// # Errors
    /// If it cannot be made as the command wants it.
    pub fn new(connection: TcpStream, command: &Command, filler: Vec<u8>) -> io::Result<Tcp> {
        connection.set_nodelay(command.is_without_nagle)?;
        connection.set_write_timeout(Some(SLICE))?;
        let is_ipv6 = connection.peer_addr()?.is_ipv6();
        socket::mark(connection.as_fd(), is_ipv6, command.ds, command.ttl)?;
        Ok(Tcp {
            stream: connection,
            metadata: command.metadata,
            bounds: bounds(command),
            filler,
            bytes: Vec::new(),
        })
    }
}

impl Carrier for Tcp {
    fn most(&self) -> (usize, u32) {
        (BATCH, self.bounds.1)
    }

    fn least(&self) -> u32 {
        self.bounds.0
    }

    fn waits(&self) -> bool {
        true
    }

    fn hand_over(&mut self, packets: &[Packet], stop: &AtomicBool) -> io::Result<u64> {
        self.bytes.clear();
        for packet in packets {
            let at = self.bytes.len();
            let end = at + packet.bytes as usize;
            while self.bytes.len() < end {
                let more = (end - self.bytes.len()).min(self.filler.len());
                self.bytes.extend_from_slice(&self.filler[..more]);
            }
            let head = stamps::head(&packet.stamp, packet.bytes);
            head.encode(&mut self.bytes[at..end], self.metadata, Protocol::Tcp);
        }
        write(&mut self.stream, &self.bytes, stop)?;
        Ok(0)
    }
}

/// Messages that come back on the connection of those that were sent: each a head and as many bytes as it says.
#[derive(Debug)]
pub struct TcpAnswers {
    stream: TcpStream,
}

impl TcpAnswers {
    /// Answers to what `stream` sends.
    ///
    /// # Errors
    /// If the connection cannot be shared.
    pub fn new(stream: &TcpStream) -> io::Result<TcpAnswers> {
        stream.set_read_timeout(Some(SLICE))?;
        Ok(TcpAnswers {
            stream: stream.try_clone()?,
        })
    }
}

impl Answers for TcpAnswers {
    fn collect(
        &mut self,
        flow: u32,
        stop: &AtomicBool,
        note: &mut dyn FnMut(&Record),
    ) -> io::Result<()> {
        let (mut part, mut framing) = (vec![0; PART_BYTES], Framing::default());
        while !stop.load(Ordering::Relaxed) && !framing.is_wrong {
            let count = match self.stream.read(&mut part) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {
                        continue;
                    }
                    _ => return Err(error),
                },
            };
            let time = wall_ns();
            let mut left = &part[..count];
            let its = |number| (number == flow).then_some(Metadata::Full);
            while let Some(head) = framing.next(&mut left, &its) {
                let stamp: Stamp = stamps::stamp(&head, time);
                note(&record(stamp, head.bytes.unwrap_or(0), time));
            }
        }
        Ok(())
    }
}
