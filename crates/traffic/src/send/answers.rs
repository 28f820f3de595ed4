//! What comes back of a stream whose round trip is measured.

use crate::echo::{self, Echo};
use crate::record::Record;
use crate::stamp::{STAMP_BYTES, Stamp};
use std::fmt;
use std::io::{self, ErrorKind, Read};
use std::net::{TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use trammel_io::clock::{Waiter, wall_ns};
use trammel_io::datagrams::{self, Incoming, Options, Receiver};

/// Answers that one call takes at most.
const BATCH: usize = 64;
/// The longest packet of IP that is not a jumbogram.
const MOST_PACKET_BYTES: usize = 65_536;
/// What waits in the kernel, at most: who takes the answers shares processors with who sends.
const BUFFER_BYTES: usize = 32 << 20;
/// Bytes that are read at a time.
const PART_BYTES: usize = 1 << 16;
/// So often is looked whether to stop.
const SLICE: Duration = Duration::from_millis(20);

/// Takes what comes back of a stream.
pub trait Answers: Send {
    /// Notes answers of flow `flow` until `stop` is set. An error says why some are missing.
    fn collect(
        &mut self,
        flow: u32,
        stop: &AtomicBool,
        note: &mut dyn FnMut(&Record),
    ) -> io::Result<()>;
}

/// The stamp in what came, and the bytes of its payload.
pub type Unpack = fn(&Incoming<'_>) -> Option<(Stamp, usize)>;

/// Datagrams that come back to the socket that sent them.
#[derive(Debug)]
pub struct UdpAnswers {
    socket: UdpSocket,
    receiver: Receiver,
    unpack: Unpack,
}

impl UdpAnswers {
    /// Answers to what `socket` sends.
    pub fn new(socket: &UdpSocket) -> io::Result<UdpAnswers> {
        let unpack: Unpack = |came| Stamp::read(came.data).map(|stamp| (stamp, came.bytes));
        UdpAnswers::with(socket, STAMP_BYTES, unpack)
    }

    /// Replies to the echo requests that a raw socket sends.
    pub(crate) fn of_echo(socket: &UdpSocket) -> io::Result<UdpAnswers> {
        let unpack: Unpack = if socket.local_addr()?.is_ipv6() {
            |came| echo::read(came.data, Echo::Reply, true)
        } else {
            |came| echo::read(came.data, Echo::Reply, false)
        };
        UdpAnswers::with(socket, MOST_PACKET_BYTES, unpack)
    }

    /// Datagrams of which `kept` bytes are kept and `unpack` finds the stamp.
    pub fn with(socket: &UdpSocket, kept: usize, unpack: Unpack) -> io::Result<UdpAnswers> {
        let tells = Options {
            tells: true,
            receive_bytes: Some(BUFFER_BYTES),
            ..Options::default()
        };
        datagrams::configure(socket, &tells)?;
        Ok(UdpAnswers {
            socket: socket.try_clone()?,
            receiver: Receiver::new(BATCH, kept),
            unpack,
        })
    }
}

impl Answers for UdpAnswers {
    fn collect(
        &mut self,
        flow: u32,
        stop: &AtomicBool,
        note: &mut dyn FnMut(&Record),
    ) -> io::Result<()> {
        let mut waiter = Waiter::new();
        waiter.set(&[self.socket.as_raw_fd()]);
        while !stop.load(Ordering::Relaxed) {
            match self.receiver.receive(&self.socket) {
                // What the kernel tells of a packet that nobody took is the sender's to hear.
                Ok(0) | Err(_) => {
                    waiter.wait(Some(SLICE.as_nanos() as i64))?;
                    continue;
                }
                Ok(_) => {}
            }
            for datagram in self.receiver.datagrams() {
                let time = datagram.time_ns.unwrap_or_else(wall_ns);
                let read = (self.unpack)(&datagram);
                if let Some((stamp, bytes)) = read.filter(|(stamp, _)| stamp.flow == flow) {
                    note(&record(stamp, bytes as u32, time));
                }
            }
        }
        match self.receiver.lost() {
            0 => Ok(()),
            lost => Err(io::Error::other(format!(
                "{lost} were lost here: the socket's buffer was full"
            ))),
        }
    }
}

/// Finds the next answer in bytes that came at a time, which lose what was read; none where more
/// bytes are needed.
pub type Cut = Box<dyn FnMut(&mut &[u8], i64) -> Option<(Stamp, u32)> + Send>;

/// Answers that come back on the connection of their messages.
pub struct TcpAnswers {
    stream: TcpStream,
    cut: Cut,
}

impl fmt::Debug for TcpAnswers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpAnswers")
            .field("stream", &self.stream)
            .finish_non_exhaustive()
    }
}

impl TcpAnswers {
    /// Answers to what `stream` sends: stamps.
    pub fn new(stream: &TcpStream) -> io::Result<TcpAnswers> {
        let mut part = Vec::new();
        let stamps = move |left: &mut &[u8], _| {
            let count = (STAMP_BYTES - part.len()).min(left.len());
            part.extend_from_slice(&left[..count]);
            *left = &left[count..];
            let stamp = Stamp::read(&part)?;
            part.clear();
            Some((stamp, STAMP_BYTES as u32))
        };
        TcpAnswers::with(stream, Box::new(stamps))
    }

    /// Answers that `cut` finds in what comes.
    pub fn with(stream: &TcpStream, cut: Cut) -> io::Result<TcpAnswers> {
        stream.set_read_timeout(Some(SLICE))?;
        Ok(TcpAnswers {
            stream: stream.try_clone()?,
            cut,
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
        let mut part = vec![0; PART_BYTES];
        while !stop.load(Ordering::Relaxed) {
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
            let (time, mut left) = (wall_ns(), &part[..count]);
            while let Some((stamp, bytes)) = (self.cut)(&mut left, time) {
                if stamp.flow == flow {
                    note(&record(stamp, bytes, time));
                }
            }
        }
        Ok(())
    }
}

fn record(stamp: Stamp, bytes: u32, time_ns: i64) -> Record {
    Record {
        flow: stamp.flow,
        sequence: stamp.sequence,
        bytes,
        start_ns: stamp.sent_ns,
        end_ns: time_ns,
    }
}
