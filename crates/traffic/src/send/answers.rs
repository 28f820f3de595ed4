//! What comes back of a stream whose round trip is measured.

use crate::record::Record;
use crate::stamp::{STAMP_BYTES, Stamp};
use std::io::{self, ErrorKind, Read};
use std::net::{TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use trammel_io::clock::{Waiter, wall_ns};
use trammel_io::datagrams::{self, Options, Receiver};

/// Answers that one call takes at most.
const BATCH: usize = 64;
/// So often is looked whether to stop.
const SLICE: Duration = Duration::from_millis(20);

/// Takes what comes back of a stream.
pub trait Answers: Send {
    /// Notes answers of flow `flow` until `stop` is set.
    fn collect(
        &mut self,
        flow: u32,
        stop: &AtomicBool,
        note: &mut dyn FnMut(&Record),
    ) -> io::Result<()>;
}

/// Datagrams that come back to the socket that sent them.
#[derive(Debug)]
pub struct UdpAnswers {
    socket: UdpSocket,
    read: fn(&[u8], i64) -> Option<Stamp>,
    receiver: Receiver,
}

impl UdpAnswers {
    /// Answers to what `socket` sends.
    pub fn new(socket: &UdpSocket) -> io::Result<UdpAnswers> {
        let tells = Options {
            tells: true,
            ..Options::default()
        };
        datagrams::configure(socket, &tells)?;
        Ok(UdpAnswers {
            socket: socket.try_clone()?,
            read: |payload, _| Stamp::read(payload),
            receiver: Receiver::new(BATCH, STAMP_BYTES),
        })
    }

    /// `read` finds the stamp in an answer's first bytes, as many as a stamp has, and the time at which it came.
    #[must_use]
    pub fn with(self, read: fn(&[u8], i64) -> Option<Stamp>) -> UdpAnswers {
        UdpAnswers { read, ..self }
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
                let stamp = (self.read)(datagram.data, time).filter(|stamp| stamp.flow == flow);
                if let Some(stamp) = stamp {
                    note(&record(stamp, datagram.bytes as u32, time));
                }
            }
        }
        Ok(())
    }
}

/// Stamps that come back on the connection of their messages.
#[derive(Debug)]
pub struct TcpAnswers {
    stream: TcpStream,
}

impl TcpAnswers {
    /// Answers to what `stream` sends.
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
        let (mut part, mut came) = ([0; 4096], Vec::new());
        while !stop.load(Ordering::Relaxed) {
            match self.stream.read(&mut part) {
                Ok(0) => return Ok(()),
                Ok(count) => came.extend_from_slice(&part[..count]),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                    _ => return Err(error),
                },
            }
            let time = wall_ns();
            let whole = came.len() / STAMP_BYTES * STAMP_BYTES;
            for bytes in came[..whole].chunks(STAMP_BYTES) {
                let stamp = Stamp::read(bytes).filter(|stamp| stamp.flow == flow);
                if let Some(stamp) = stamp {
                    note(&record(stamp, STAMP_BYTES as u32, time));
                }
            }
            came.drain(..whole);
        }
        Ok(())
    }
}

pub(crate) fn record(stamp: Stamp, bytes: u32, time_ns: i64) -> Record {
    Record {
        flow: stamp.flow,
        sequence: stamp.sequence,
        bytes,
        start_ns: stamp.sent_ns,
        end_ns: time_ns,
    }
}
