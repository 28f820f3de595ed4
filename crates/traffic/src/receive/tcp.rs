//! A port that connections of TCP come to, and the messages on them.

use super::hub::Hub;
use super::reads::Reads;
use crate::stream::Meter;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;
use std::time::Duration;
use trammel_io::clock::{Waiter, wall_ns};
use trammel_io::local::Local;

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
    /// A port at `local`, of which 0 leaves the number to the system.
    pub fn open(local: &Local<'_>) -> io::Result<TcpPort> {
        let listener = local.listen()?;
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

    /// Takes what comes until `stop` is set; `reads` tells whose it is.
    pub fn serve<'scope>(
        self: &Arc<Self>,
        hub: &Arc<Mutex<Hub>>,
        reads: &Arc<dyn Reads>,
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
            let (port, hub, reads) = (self.clone(), hub.clone(), reads.clone());
            scope.spawn(move || {
                // Its end, whatever it was, shows as messages that did not come.
                let _ = converse(stream, from, (&hub, reads.as_ref()), stop);
                port.connections.fetch_sub(1, Ordering::Relaxed);
            });
        }
        Ok(())
    }
}

/// Notes the messages of a connection.
pub(crate) fn converse(
    mut stream: TcpStream,
    from: SocketAddr,
    (hub, reads): (&Mutex<Hub>, &dyn Reads),
    stop: &AtomicBool,
) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(SLICE))?;
    stream.set_write_timeout(Some(SLICE))?;
    let mut messages = reads.messages(from);
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
        while let Some((stamp, bytes)) = messages.next(&mut left, time) {
            let meter = hub.note(Some(stamp), Some(from.ip()), bytes as usize, time);
            match meter {
                // Nobody's: whatever comes next is nobody's as well.
                None => return Ok(()),
                Some(Meter::RoundTrip) => messages.answer(&stamp, bytes, &mut answers),
                Some(Meter::OneWay) => {}
            }
        }
        drop(hub);
        if messages.is_wrong() {
            return Ok(());
        }
        if !answers.is_empty() {
            stream.write_all(&answers)?;
        }
    }
    Ok(())
}
