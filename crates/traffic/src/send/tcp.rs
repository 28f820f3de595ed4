//! Packets as messages in a stream of TCP.
//!
//! A message is a stamp, with its length in place of the flow, and as many bytes as that length
//! says. The first stamp of a connection tells the flow, and has no message.

use super::carrier::{Carrier, Packet};
use crate::record::MOST_BYTES;
use crate::stamp::{STAMP_BYTES, Stamp};
use std::io::{self, ErrorKind, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use trammel_io::clock::monotonic_ns;
use trammel_io::tcp::limit_unsent;

/// Messages that are written at a time, at most.
const BATCH: usize = 64;
/// Bytes that the kernel takes and has not sent yet, at most: what waits there when a stream's time
/// is over still goes, after it.
pub(crate) const MOST_UNSENT_BYTES: u32 = 128 << 10;
/// So often is looked whether to stop where the other end does not read.
pub(crate) const SLICE: Duration = Duration::from_millis(50);

/// A connection.
#[derive(Debug)]
pub struct Tcp {
    stream: TcpStream,
    bytes: Vec<u8>,
    until_ns: i64,
    unsent: usize,
}

impl Tcp {
    /// Carries messages of flow `flow` by a connection that was just made.
    pub fn new(mut stream: TcpStream, flow: u32) -> io::Result<Tcp> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(SLICE))?;
        limit_unsent(&stream, MOST_UNSENT_BYTES)?;
        let hello = Stamp {
            flow,
            sequence: 0,
            sent_ns: 0,
        };
        stream.write_all(&hello.write())?;
        Ok(Tcp {
            stream,
            bytes: Vec::new(),
            until_ns: i64::MAX,
            unsent: 0,
        })
    }
}

impl Carrier for Tcp {
    fn most(&self) -> (usize, u32) {
        (BATCH, MOST_BYTES - 1)
    }

    fn waits(&self) -> bool {
        true
    }

    fn end_at(&mut self, at_ns: i64) {
        self.until_ns = at_ns;
    }

    fn unsent(&self) -> usize {
        self.unsent
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
        let until = (stop, self.until_ns);
        self.unsent = write(&mut self.stream, &self.bytes, packets, until)?;
        Ok(0)
    }
}

/// Writes `bytes`, which are those of `packets` one after the other, however long the other end
/// takes to read them, unless `stop` is set or it is `until_ns` of the monotonic clock. Says how
/// many of the packets are not written whole by then.
pub(crate) fn write(
    stream: &mut TcpStream,
    bytes: &[u8],
    packets: &[Packet],
    (stop, until_ns): (&AtomicBool, i64),
) -> io::Result<usize> {
    let mut done = 0;
    while done < bytes.len() {
        match stream.write(&bytes[done..]) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => done += count,
            Err(error) => match error.kind() {
                ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut => {}
                _ => return Err(error),
            },
        }
        let is_over = || stop.load(Ordering::Relaxed) || monotonic_ns() >= until_ns;
        if done < bytes.len() && is_over() {
            break;
        }
    }
    let mut end = 0;
    let whole = packets.iter().take_while(|packet| {
        end += packet.bytes as usize;
        end <= done
    });
    Ok(packets.len() - whole.count())
}
