//! A port that connections of TCP come to, and the messages on them.

use super::hub::Hub;
use crate::stamp::{STAMP_BYTES, Stamp};
use crate::stream::Meter;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;
use std::time::Duration;
use trammel_io::clock::{Waiter, wall_ns};

/// So often is looked whether to stop.
const SLICE: Duration = Duration::from_millis(50);
const SLICE_NS: i64 = 50_000_000;
/// Bytes that are read at a time.
const PART_BYTES: usize = 1 << 16;
/// Connections of a port at once, at most.
const MOST_CONNECTIONS: usize = 4096;

/// A port.
#[derive(Debug)]
pub struct TcpPort {
    listener: TcpListener,
    connections: AtomicUsize,
}

impl TcpPort {
    /// A port at `address`, of which 0 leaves the number to the system.
    pub fn open(address: SocketAddr) -> io::Result<TcpPort> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(TcpPort {
            listener,
            connections: AtomicUsize::new(0),
        })
    }

    /// Where it is.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Takes what comes until `stop` is set.
    pub fn serve<'scope>(
        self: &Arc<Self>,
        hub: &Arc<Mutex<Hub>>,
        scope: &'scope Scope<'scope, '_>,
        stop: &'scope AtomicBool,
    ) -> io::Result<()> {
        let mut waiter = Waiter::new();
        waiter.set(&[self.listener.as_raw_fd()]);
        while !stop.load(Ordering::Relaxed) {
            // Who hung up before being served is as if he had not come.
            let Ok((stream, from)) = self.listener.accept() else {
                waiter.wait(Some(SLICE_NS))?;
                continue;
            };
            if self.connections.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
                self.connections.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let (port, hub) = (self.clone(), hub.clone());
            scope.spawn(move || {
                // Its end, whatever it was, shows as messages that did not come.
                let _ = converse(stream, from.ip(), &hub, stop);
                port.connections.fetch_sub(1, Ordering::Relaxed);
            });
        }
        Ok(())
    }
}

/// Notes the messages of a connection.
pub(super) fn converse(
    mut stream: TcpStream,
    from: IpAddr,
    hub: &Mutex<Hub>,
    stop: &AtomicBool,
) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(SLICE))?;
    stream.set_write_timeout(Some(SLICE))?;
    let mut messages = Messages::default();
    let mut part = vec![0; PART_BYTES];
    while !stop.load(Ordering::Relaxed) {
        let count = match stream.read(&mut part) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => continue,
                _ => return Err(error),
            },
        };
        let time = wall_ns();
        let mut answers = Vec::new();
        let mut hub = hub.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left = &part[..count];
        while let Some((stamp, bytes)) = messages.next(&mut left) {
            let meter = hub.note(Some(stamp), Some(from), bytes as usize, time);
            match meter {
                // Nobody's: whatever comes next is nobody's as well.
                None => return Ok(()),
                Some(Meter::RoundTrip) => answers.extend_from_slice(&stamp.write()),
                Some(Meter::OneWay) => {}
            }
        }
        drop(hub);
        if messages.is_wrong {
            return Ok(());
        }
        if !answers.is_empty() {
            stream.write_all(&answers)?;
        }
    }
    Ok(())
}

/// The messages in a stream of bytes, however it is cut.
#[derive(Debug, Default)]
struct Messages {
    /// The flow, once it is known.
    flow: Option<u32>,
    /// The stamp that is being read, as far as it has come.
    head: Vec<u8>,
    /// The message that is being read: its stamp and length, and what of it is still to come.
    open: Option<(Stamp, u32, usize)>,
    /// A message was shorter than its stamp.
    is_wrong: bool,
}

impl Messages {
    /// The next whole message of `left`, which loses what was read.
    fn next(&mut self, left: &mut &[u8]) -> Option<(Stamp, u32)> {
        loop {
            if let Some((stamp, bytes, missing)) = &mut self.open {
                let count = (*missing).min(left.len());
                *left = &left[count..];
                *missing -= count;
                if *missing > 0 {
                    return None;
                }
                let message = (*stamp, *bytes);
                self.open = None;
                return Some(message);
            }
            let count = (STAMP_BYTES - self.head.len()).min(left.len());
            self.head.extend_from_slice(&left[..count]);
            *left = &left[count..];
            let stamp = Stamp::read(&self.head)?;
            self.head.clear();
            let Some(flow) = self.flow else {
                self.flow = Some(stamp.flow);
                continue;
            };
            let bytes = stamp.flow;
            let Some(missing) = (bytes as usize).checked_sub(STAMP_BYTES) else {
                self.is_wrong = true;
                *left = &[];
                return None;
            };
            self.open = Some((Stamp { flow, ..stamp }, bytes, missing));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stamp(flow: u32, sequence: u64) -> Stamp {
        Stamp {
            flow,
            sequence,
            sent_ns: 7,
        }
    }

    /// A connection of flow 9 with messages of these lengths.
    fn bytes(lengths: &[u32]) -> Vec<u8> {
        let mut bytes = stamp(9, 0).write().to_vec();
        for (sequence, length) in lengths.iter().enumerate() {
            bytes.extend(stamp(*length, sequence as u64).write());
            bytes.resize(bytes.len() + *length as usize - STAMP_BYTES, 0xaa);
        }
        bytes
    }

    proptest! {
        #[test]
        fn messages_are_found_however_their_bytes_are_cut(
            lengths in prop::collection::vec(16..60_u32, 0..8),
            cuts in prop::collection::vec(1..40_usize, 1..20),
        ) {
            let bytes = bytes(&lengths);
            let (mut messages, mut found) = (Messages::default(), Vec::new());
            let (mut left, mut cuts) = (bytes.as_slice(), cuts.iter().cycle());
            while !left.is_empty() {
                let count = cuts.next().map_or(1, |cut| (*cut).min(left.len()));
                let (mut part, rest) = left.split_at(count);
                left = rest;
                while let Some(message) = messages.next(&mut part) {
                    found.push(message);
                }
            }
            let expected: Vec<_> = lengths
                .iter()
                .enumerate()
                .map(|(sequence, length)| (stamp(9, sequence as u64), *length))
                .collect();
            prop_assert_eq!(found, expected);
            prop_assert!(!messages.is_wrong);
        }
    }

    #[test]
    fn who_says_less_than_a_stamp_is_wrong() {
        let mut bytes = stamp(9, 0).write().to_vec();
        bytes.extend(stamp(15, 0).write());
        let mut messages = Messages::default();
        assert_eq!(messages.next(&mut bytes.as_slice()), None);
        assert!(messages.is_wrong);
    }
}
