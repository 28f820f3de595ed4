//! Datagrams of UDP that AF_XDP takes from an interface before the kernel's stack has made anything
//! of them.
//!
//! Only those to one port come, of the interface's first queue; all others, and what is no plain
//! datagram, go to the kernel and so to the port's socket: each comes by one of both ways. Their
//! time is that at which a batch of them was read.

use crate::frame;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use trammel_io::afxdp::{self, AfXdp};
use trammel_io::clock::wall_ns;
use trammel_io::error::Result;
use trammel_packet::batch::Packets;
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;

/// Frames that wait, at most: 4 ms of a million a second.
const RING: u32 = 4096;

/// An interface that is read.
pub struct Frames {
    device: AfXdp,
    pool: Pool,
    batch: Packets,
}

impl fmt::Debug for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.device.fmt(f)
    }
}

impl Frames {
    /// Datagrams to `port` that come by `interface`. Needs the right to load a program in the
    /// initial user namespace.
    pub fn open(interface: &str, port: u16) -> Result<Frames> {
        let options = afxdp::Options {
            udp_port: Some(port),
            ring: RING,
            is_promiscuous: false,
            ..afxdp::Options::default()
        };
        let mut pool = Pool::new(4 * RING as usize, 4 * RING as usize);
        Ok(Frames {
            device: AfXdp::open(interface, &options, &mut pool)?,
            pool,
            batch: Packets::new(),
        })
    }

    /// The descriptor to wait on.
    pub fn descriptor(&self) -> Option<i32> {
        self.device.descriptor()
    }

    /// Frames that there was no room for.
    pub fn lost(&self) -> u64 {
        self.device.counters().receive_drops
    }

    /// Gives what has come to `each`: where from, the payload, and the time; of a frame that cannot
    /// be read, nothing. Says how many frames came.
    pub fn receive(
        &mut self,
        mut each: impl FnMut(Option<SocketAddr>, &[u8], i64),
    ) -> io::Result<usize> {
        let count = self.device.receive(&mut self.pool, &mut self.batch)?;
        let time = wall_ns();
        for packet in self.batch.drain() {
            match frame::read(self.pool[&packet].data()) {
                Some((from, payload)) => each(Some(from), payload, time),
                None => each(None, &[], time),
            }
            self.pool.free(packet);
        }
        Ok(count)
    }
}
