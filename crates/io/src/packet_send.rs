//! Sending by a packet socket: many frames a system call (`sendmmsg`), past the queueing
//! discipline.

use crate::offload::{HEADER_BYTES, Offload};
use crate::sys;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use trammel_packet::batch::Packets;
use trammel_packet::packet::Packet;
use trammel_packet::pool::{Handle, Pool};

/// Frames a call: what a call costs is then below a hundredth of what its frames cost.
const BATCH: usize = 64;

/// Frames that wait for the next call, and the kernel's descriptions of them.
pub(crate) struct Sender {
    socket: OwnedFd,
    waiting: Vec<Handle>,
    /// What the kernel is told of each that waits, where it is asked to cut super-packets.
    offloads: Option<Vec<[u8; HEADER_BYTES]>>,
    vectors: Vec<libc::iovec>,
    headers: Vec<libc::mmsghdr>,
    pub(crate) sent: u64,
    pub(crate) errors: u64,
}

// SAFETY: the pointers in `vectors` and `headers` are written right before the call that reads
// them.
unsafe impl Send for Sender {}

impl std::fmt::Debug for Sender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sender")
            .field("socket", &self.socket)
            .field("waiting", &self.waiting)
            .finish_non_exhaustive()
    }
}

impl Sender {
    /// Sends by `socket`, which is bound to an interface; with `carries`, frames follow a header
    /// about offloads.
    pub(crate) fn new(socket: OwnedFd, carries: bool) -> Sender {
        Sender {
            socket,
            waiting: Vec::with_capacity(BATCH),
            offloads: carries.then(|| Vec::with_capacity(BATCH)),
            // SAFETY: zeroes are null pointers and lengths of zero.
            vectors: vec![unsafe { std::mem::zeroed() }; 2 * BATCH],
            // SAFETY: as above.
            headers: vec![unsafe { std::mem::zeroed() }; BATCH],
            sent: 0,
            errors: 0,
        }
    }

    /// Takes what there is room for; sends where a call is full.
    pub(crate) fn transmit(&mut self, pool: &mut Pool, from: &mut Packets) -> io::Result<usize> {
        let mut taken = 0;
        while !from.is_empty() {
            if self.waiting.len() == BATCH {
                self.flush(pool)?;
            }
            let room = BATCH - self.waiting.len();
            if room == 0 {
                break;
            }
            taken += room.min(from.len());
            from.drain_front(room, |packet| {
                if let Some(offloads) = &mut self.offloads {
                    offloads.push(header_of(&mut pool[&packet]));
                }
                self.waiting.push(packet);
            });
        }
        Ok(taken)
    }

    /// Sends what waits, as far as the kernel takes it. A frame that it refuses is lost and
    /// counted.
    pub(crate) fn flush(&mut self, pool: &mut Pool) -> io::Result<()> {
        let mut done = 0;
        let result = loop {
            if done == self.waiting.len() {
                break Ok(());
            }
            match self.send(pool, done) {
                Ok(sent) => {
                    self.sent += sent as u64;
                    done += sent;
                }
                Err(error) => match error.raw_os_error() {
                    Some(libc::EINTR) => {}
                    // No room: the rest stays and is tried again.
                    Some(libc::EAGAIN | libc::ENOBUFS) => break Ok(()),
                    Some(libc::ENXIO | libc::ENODEV) => {
                        self.errors += (self.waiting.len() - done) as u64;
                        done = self.waiting.len();
                        break Err(error);
                    }
                    // Too long, or the interface is down.
                    _ => {
                        self.errors += 1;
                        done += 1;
                    }
                },
            }
        };
        for packet in self.waiting.drain(..done) {
            pool.free(packet);
        }
        if let Some(offloads) = &mut self.offloads {
            offloads.drain(..done);
        }
        result
    }

    /// One call with the frames from `first`; says how many went.
    fn send(&mut self, pool: &Pool, first: usize) -> io::Result<usize> {
        let count = self.waiting.len() - first;
        for (index, packet) in self.waiting[first..].iter().enumerate() {
            let data = pool[packet].data();
            let of = |bytes: &[u8]| libc::iovec {
                iov_base: bytes.as_ptr().cast_mut().cast(),
                iov_len: bytes.len(),
            };
            let (mut at, mut count) = (2 * index + 1, 1);
            self.vectors[at] = of(data);
            if let Some(offloads) = &self.offloads {
                (at, count) = (2 * index, 2);
                self.vectors[at] = of(&offloads[first + index]);
            }
            let header = &mut self.headers[index].msg_hdr;
            header.msg_iov = &raw mut self.vectors[at];
            header.msg_iovlen = count;
        }
        // SAFETY: the first `count` headers point to vectors of ours that point to packets of ours;
        // the pool is borrowed until the call returns, and the kernel copies.
        let sent = unsafe {
            libc::sendmmsg(
                self.socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                count as libc::c_uint,
                libc::MSG_DONTWAIT as _,
            )
        };
        sys::check(sent).map(|sent| sent as usize)
    }

    /// Frames that wait.
    pub(crate) fn unsent(&self) -> usize {
        self.waiting.len()
    }

    /// The socket's descriptor.
    pub(crate) fn descriptor(&self) -> i32 {
        self.socket.as_raw_fd()
    }

    /// Gives back what waits.
    pub(crate) fn close(&mut self, pool: &mut Pool) {
        for packet in self.waiting.drain(..) {
            pool.free(packet);
        }
        if let Some(offloads) = &mut self.offloads {
            offloads.clear();
        }
    }
}

/// What the kernel is told of a packet: how to cut it, where it stands for many, else nothing.
fn header_of(packet: &mut Packet) -> [u8; HEADER_BYTES] {
    let marked = packet.super_packet();
    let offload = marked.and_then(|marked| Offload::of(packet.data(), true, marked));
    let header = offload.and_then(|offload| offload.hand_over(packet.data_mut(), true));
    header.unwrap_or_default()
}
