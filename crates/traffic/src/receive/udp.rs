//! A port that datagrams of UDP come to.

use super::frames::Frames;
use super::hub::Hub;
use super::reads::Reads;
use crate::signal::idle::Idle;
use crate::stream::Meter;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use trammel_io::clock::{Waiter, wall_ns};
use trammel_io::datagrams::{self, Receiver};
use trammel_io::local::Local;

/// Datagrams that one call takes at most, and what is kept of each: several that come as one are as
/// long as one may be.
const BATCH: usize = 64;
const KEPT_BYTES: usize = 65_536;
/// What waits in the kernel, at most: 30 ms of a million short datagrams a second.
const BUFFER_BYTES: usize = 32 << 20;

/// A socket's count of datagrams that it had no room for, of which the kernel's goes round at 2³².
#[derive(Debug, Default)]
pub(super) struct Drops(Mutex<(u32, u64)>);

impl Drops {
    /// By now; of a kernel that does not tell, none.
    pub(super) fn of(&self, socket: &UdpSocket) -> u64 {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = datagrams::drops(socket).unwrap_or(counted.0);
        counted.1 += u64::from(now.wrapping_sub(counted.0));
        counted.0 = now;
        counted.1
    }
}

/// A port.
#[derive(Debug)]
pub struct UdpPort {
    socket: UdpSocket,
    /// The interface whose datagrams do not come to the socket.
    frames: Mutex<Option<Frames>>,
    /// Frames that there was no room for.
    frames_lost: AtomicU64,
    drops: Drops,
}

impl UdpPort {
    /// A port at `local`, of which 0 leaves the number to the system.
    pub fn open(local: &Local<'_>) -> io::Result<UdpPort> {
        let socket = local.udp()?;
        let options = datagrams::Options {
            tells: true,
            gathers: true,
            receive_bytes: Some(BUFFER_BYTES),
            ..datagrams::Options::default()
        };
        datagrams::configure(&socket, &options)?;
        Ok(UdpPort {
            socket,
            frames: Mutex::default(),
            frames_lost: AtomicU64::new(0),
            drops: Drops::default(),
        })
    }

    /// Has what comes by `interface` go past the kernel's stack.
    pub(crate) fn take_frames(&self, interface: &str) -> Result<(), trammel_io::error::Error> {
        let port = self.address().map_or(0, |address| address.port());
        let frames = Frames::open(interface, port)?;
        *self.frames.lock().unwrap_or_else(PoisonError::into_inner) = Some(frames);
        Ok(())
    }

    /// Where it is.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Datagrams that its socket has had no room for by now, and frames.
    pub fn lost(&self) -> u64 {
        self.drops.of(&self.socket) + self.frames_lost.load(Ordering::Relaxed)
    }

    /// Whether datagrams have come that were not taken yet.
    pub fn has_waiting(&self) -> bool {
        datagrams::has_waiting(&self.socket).unwrap_or(false)
    }

    /// Sends a punch from this port, so that what comes back finds it.
    pub(crate) fn punch(&self, bytes: &[u8], to: SocketAddr) {
        // One that is lost is followed by others.
        let _ = self.socket.send_to(bytes, to);
    }

    /// Takes what comes until it is over; `reads` tells whose it is.
    pub fn serve(
        &self,
        hub: &Arc<Mutex<Hub>>,
        reads: &dyn Reads,
        is_over: &dyn Fn() -> bool,
    ) -> io::Result<()> {
        let mut receiver = Receiver::new(BATCH, KEPT_BYTES);
        let mut frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut waiter, mut idle) = (Waiter::new(), Idle::new());
        let descriptors: Vec<_> = frames.iter().filter_map(Frames::descriptor).collect();
        waiter.set(&[&[self.socket.as_raw_fd()], &descriptors[..]].concat());
        while !is_over() {
            let mut came = 0;
            if let Some(frames) = frames.as_mut() {
                let mut hub = hub.lock().unwrap_or_else(PoisonError::into_inner);
                came += frames.receive(|from, part, time| {
                    self.note((&mut hub, reads), part, from, time);
                })?;
                drop(hub);
                if came == 0 {
                    self.frames_lost.store(frames.lost(), Ordering::Relaxed);
                }
            }
            came += receiver.receive(&self.socket)?;
            if came == 0 {
                waiter.wait(Some(idle.wait_ns()))?;
                continue;
            }
            idle.over();
            let mut hub = hub.lock().unwrap_or_else(PoisonError::into_inner);
            for datagram in receiver.datagrams() {
                let time = datagram.time_ns.unwrap_or_else(wall_ns);
                for part in parts(datagram.data, datagram.segment) {
                    self.note((&mut hub, reads), part, datagram.from, time);
                }
            }
        }
        Ok(())
    }

    /// Notes a datagram, and sends it back where that is measured.
    fn note(
        &self,
        (hub, reads): (&mut Hub, &dyn Reads),
        part: &[u8],
        from: Option<SocketAddr>,
        time_ns: i64,
    ) {
        let stamp = from.and_then(|from| reads.datagram(part, from, time_ns));
        let meter = hub.note(stamp, from.map(|from| from.ip()), part.len(), time_ns);
        if let (Some(Meter::RoundTrip), Some(from)) = (meter, from) {
            // What cannot be answered is lost on the way back, as any other packet may be.
            let _ = self.socket.send_to(part, from);
        }
    }
}

/// The datagrams of one or of several that came as one.
fn parts(data: &[u8], segment: usize) -> impl Iterator<Item = &[u8]> {
    // One without bytes is one all the same.
    let empty = data.is_empty().then_some(data);
    empty.into_iter().chain(data.chunks(segment.max(1)))
}
