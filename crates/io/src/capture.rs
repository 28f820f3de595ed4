//! What passes an interface, both ways: the first bytes of each frame, with the kernel's own stamp.
//!
//! Frames that come are seen as the kernel takes them in, those that go as its driver is handed
//! them, behind every queue.

use crate::afpacket::{bind, see_all};
use crate::error::{Error, Result};
use crate::packet_ring::Ring;
use crate::sys;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// Bytes of a ring.
const RING_BYTES: usize = 8 << 20;
/// `BPF_RET | BPF_K`: the filter's answer is a constant, so many bytes of a frame.
const RETURN: u16 = 0x06;

/// A capture.
#[derive(Debug)]
pub struct Capture {
    socket: OwnedFd,
    ring: Ring,
}

/// A frame.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// When, in nanoseconds since 1970.
    pub time_ns: i64,
    /// Whether it goes out.
    pub is_outgoing: bool,
    /// Its first bytes, from the Ethernet header on.
    pub bytes: &'a [u8],
}

impl Capture {
    /// Begins to capture the first `most` bytes of each frame at interface `name` of the calling
    /// thread's namespace.
    pub fn open(name: &str, most: u32) -> Result<Capture> {
        let index = sys::interface_index(name)?;
        let of = |what| Error::of(what, name, "CAP_NET_RAW");
        let socket =
            sys::socket(libc::AF_PACKET, libc::SOCK_RAW, 0).map_err(of("open a packet socket"))?;
        sys::set_option(&socket, libc::SOL_PACKET, libc::PACKET_VNET_HDR, &1)
            .map_err(of("ask for offloads"))?;
        cut(&socket, most).map_err(of("cut frames"))?;
        let ring = Ring::new(&socket, RING_BYTES).map_err(of("make a receive ring"))?;
        see_all(&socket, index).map_err(of("see frames to others"))?;
        bind(&socket, index, libc::ETH_P_ALL as u16).map_err(of("bind a packet socket"))?;
        Ok(Capture { socket, ring })
    }

    /// Gives `each` what has come since; frames wait for up to a millisecond.
    pub fn drain(&mut self, mut each: impl FnMut(Seen<'_>)) {
        while let Some(frame) = self.ring.peek() {
            each(Seen {
                time_ns: frame.time_ns,
                is_outgoing: frame.kind == libc::PACKET_OUTGOING,
                bytes: frame.bytes,
            });
            self.ring.advance();
        }
    }

    /// Frames that found no room since this was asked last.
    pub fn missed(&self) -> io::Result<u64> {
        let told = sys::option::<libc::tpacket_stats_v3>(
            &self.socket,
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
        )?;
        Ok(u64::from(told.tp_drops))
    }
}

/// Has the kernel keep the first `most` bytes of frames that `socket` sees.
fn cut(socket: &OwnedFd, most: u32) -> io::Result<()> {
    let mut answer = libc::sock_filter {
        code: RETURN,
        jt: 0,
        jf: 0,
        k: most,
    };
    let program = libc::sock_fprog {
        len: 1,
        filter: &raw mut answer,
    };
    // SAFETY: the program and its one instruction outlive the call, and the length is the
    // program's.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ATTACH_FILTER,
            (&raw const program).cast(),
            size_of::<libc::sock_fprog>() as libc::socklen_t,
        )
    };
    sys::check(done).map(drop)
}
