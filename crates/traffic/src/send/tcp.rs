//! Packets as messages in a stream of TCP.
//!
//! A message is a stamp, with its length in place of the flow, and as many bytes as that length says. The first stamp of a connection tells
//! the flow, and has no message.

use super::{Carrier, Packet};
use crate::record::MOST_BYTES;
use crate::stamp::{STAMP_BYTES, Stamp};
use std::io::{self, ErrorKind, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Messages that are written at a time, at most.
const BATCH: usize = 64;
/// So often is looked whether to stop where the other end does not read.
pub(crate) const SLICE: Duration = Duration::from_millis(50);

/// A connection.
#[derive(Debug)]
pub struct Tcp {
    stream: TcpStream,
    bytes: Vec<u8>,
}

impl Tcp {
    /// Carries messages of flow `flow` by a connection that was just made.
    pub fn new(mut stream: TcpStream, flow: u32) -> io::Result<Tcp> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(SLICE))?;
        let hello = Stamp {
            flow,
            sequence: 0,
            sent_ns: 0,
        };
        stream.write_all(&hello.write())?;
        let bytes = Vec::new();
        Ok(Tcp { stream, bytes })
    }
}

impl Carrier for Tcp {
    fn most(&self) -> (usize, u32) {
        (BATCH, MOST_BYTES - 1)
    }

    fn waits(&self) -> bool {
        true
    }

    fn hand_over(&mut self, packets: &[Packet], stop: &AtomicBool) -> io::Result<u64> {
        self.bytes.clear();
        for packet in packets {
            let stamp = Stamp {
                flow: packet.bytes,
                ..packet.stamp
            };
            self.bytes.extend_from_slice(&stamp.write());
            let more = packet.bytes as usize - STAMP_BYTES;
            self.bytes.resize(self.bytes.len() + more, 0);
        }
        write(&mut self.stream, &self.bytes, stop)?;
        Ok(0)
    }
}

/// Writes `bytes`, however long the other end takes to read them, unless `stop` is set.
pub(crate) fn write(stream: &mut TcpStream, bytes: &[u8], stop: &AtomicBool) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        match stream.write(&bytes[done..]) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => done += count,
            Err(error) => match error.kind() {
                ErrorKind::Interrupted => {}
                ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                    if stop.load(Ordering::Relaxed) {
                        return Ok(());
                    }
                }
                _ => return Err(error),
            },
        }
    }
    Ok(())
}
