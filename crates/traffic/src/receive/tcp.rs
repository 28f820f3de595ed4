//! A port that connections of TCP come to, and the messages on them.
//!
//! A connection has a thread once its first bytes name an open flow of the host that it comes from.
//! Until then it waits among a few others; one from a host without an open flow is closed at once.

use super::hub::Hub;
use super::reads::{Claim, Reads};
use crate::signal::idle::Idle;
use crate::signal::pending::{Door, Pending, Verdict};
use crate::signal::places::Places;
use crate::stream::Meter;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::Duration;
use trammel_io::clock::wall_ns;
use trammel_io::local::Local;

/// While answers cannot be sent, so often is looked whether to stop.
const SLICE: Duration = Duration::from_millis(50);
/// Bytes that are read at a time.
const PART_BYTES: usize = 1 << 16;

/// A port.
#[derive(Debug)]
pub struct TcpPort {
    listener: TcpListener,
}

/// Who comes in: flows of the hub's.
struct Flows<'a> {
    hub: &'a Mutex<Hub>,
    reads: &'a dyn Reads,
}

impl Door for Flows<'_> {
    fn admits(&self, from: SocketAddr) -> bool {
        held(self.hub).knows(from.ip())
    }

    fn judge(&self, first: &[u8], from: SocketAddr) -> Verdict {
        let claim = self.reads.claim(first, from);
        let mut hub = held(self.hub);
        let is_right = match claim {
            Claim::Wait => return Verdict::Wait,
            Claim::Of(flow) => hub.is_of(flow, from.ip()),
            Claim::OfPeer => hub.knows(from.ip()),
            Claim::Nobody => false,
        };
        if is_right {
            return Verdict::Serve;
        }
        hub.stray();
        Verdict::Hang
    }

    /// A sender may begin late.
    fn has_time(&self, from: SocketAddr) -> bool {
        self.admits(from)
    }
}

fn held(hub: &Mutex<Hub>) -> MutexGuard<'_, Hub> {
    hub.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TcpPort {
    /// A port at `local`, of which 0 leaves the number to the system.
    pub fn open(local: &Local<'_>) -> io::Result<TcpPort> {
        let listener = local.listen()?;
        listener.set_nonblocking(true)?;
        Ok(TcpPort { listener })
    }

    /// Where it is.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Takes what comes until it is over; `reads` tells whose it is.
    pub fn serve<'scope>(
        &self,
        (hub, reads, places): (&Arc<Mutex<Hub>>, &Arc<dyn Reads>, &Arc<Places>),
        (scope, stop): (&'scope Scope<'scope, '_>, &'scope AtomicBool),
        is_over: &dyn Fn() -> bool,
    ) -> io::Result<()> {
        let door = Flows {
            hub,
            reads: reads.as_ref(),
        };
        let mut pending = Pending::new(&self.listener)?;
        while !is_over() {
            for (stream, from) in pending.next(&door)? {
                let (hub, reads) = (hub.clone(), reads.clone());
                // One without a place or a thread is closed, which its sender sees.
                let Ok(place) = places.take(from) else {
                    continue;
                };
                let _ = place.spawn(scope, stream, move |stream| {
                    // Its end, whatever it was, shows as messages that did not come.
                    let _ = converse(stream, from, (&hub, reads.as_ref()), stop);
                });
            }
        }
        Ok(())
    }
}

/// The connection of a flow, until it was read to its end.
struct Connected<'a> {
    hub: &'a Mutex<Hub>,
    flow: u32,
}

impl Drop for Connected<'_> {
    fn drop(&mut self) {
        held(self.hub).disconnect(self.flow);
    }
}

/// Notes the messages of a connection, as long as the flow that they are of is open.
pub(crate) fn converse(
    mut stream: TcpStream,
    from: SocketAddr,
    (hub, reads): (&Mutex<Hub>, &dyn Reads),
    stop: &AtomicBool,
) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    let mut idle = Idle::new();
    stream.set_read_timeout(Some(idle.wait()))?;
    stream.set_write_timeout(Some(SLICE))?;
    let mut messages = reads.messages(from);
    let mut connected: Option<Connected<'_>> = None;
    let mut part = vec![0; PART_BYTES];
    while !stop.load(Ordering::Relaxed) {
        let count = match stream.read(&mut part) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {
                    let hub = held(hub);
                    let is_open = match messages.flow() {
                        Some(flow) => hub.is_of(flow, from.ip()),
                        None => hub.knows(from.ip()),
                    };
                    drop(hub);
                    if is_open {
                        stream.set_read_timeout(Some(idle.wait()))?;
                        continue;
                    }
                    return Ok(());
                }
                _ => return Err(error),
            },
        };
        let time = wall_ns();
        if idle.over() {
            stream.set_read_timeout(Some(idle.wait()))?;
        }
        let mut answers = Vec::new();
        let mut now = held(hub);
        let mut left = &part[..count];
        let mut flow = messages.flow();
        let mut is_foreign = false;
        while let Some((stamp, bytes)) = messages.next(&mut left, time) {
            flow = Some(stamp.flow);
            let meter = now.note(Some(stamp), Some(from.ip()), bytes as usize, time);
            match meter {
                // Nobody's: whatever comes next is nobody's as well.
                None => {
                    is_foreign = true;
                    break;
                }
                Some(Meter::RoundTrip) => messages.answer(&stamp, bytes, &mut answers),
                Some(Meter::OneWay) => {}
            }
        }
        flow = flow.or(messages.flow());
        let before = connected.as_ref().map(|one| one.flow);
        if let Some(flow) = flow.filter(|flow| !is_foreign && Some(*flow) != before) {
            now.connect(flow);
            drop(now);
            connected = Some(Connected { hub, flow });
        } else {
            if let Some(flow) = before {
                now.stir(flow, time);
            }
            drop(now);
        }
        if is_foreign || messages.is_wrong() {
            return Ok(());
        }
        if !answers.is_empty() {
            stream.write_all(&answers)?;
        }
    }
    Ok(())
}
