//! A loop over two devices without a router.

use crate::{Forwarder, failed};
use trammel_io::afpacket::{self, AfPacket};
use trammel_io::afxdp::{self, AfXdp};
use trammel_io::clock;
use trammel_io::error::Result;
use trammel_packet::batch::Packets;
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;

/// Frames that are gathered before they are handed over.
const GATHER: usize = 128;

/// The loop.
pub(crate) struct Bare {
    pool: Pool,
    from: Box<dyn Device>,
    to: Box<dyn Device>,
}

impl Bare {
    /// From `in0` to `out0` by AF_XDP.
    pub(crate) fn by_xdp() -> Result<Bare> {
        let mut pool = Pool::new(8192, 8192);
        let mut open = |name| AfXdp::open(name, &afxdp::Options::default(), &mut pool);
        let (from, to) = (Box::new(open("in0")?), Box::new(open("out0")?));
        Ok(Bare { pool, from, to })
    }

    /// From `in0` to `out0` by packet sockets.
    pub(crate) fn by_packet_socket() -> Result<Bare> {
        let open = |name| AfPacket::open(name, &afpacket::Options::default());
        let (from, to) = (Box::new(open("in0")?), Box::new(open("out0")?));
        let pool = Pool::new(8192, 8192);
        Ok(Bare { pool, from, to })
    }
}

impl Forwarder for Bare {
    fn forward(&mut self, ns: i64) -> Result<bool> {
        let until = clock::monotonic_ns() + ns;
        let (mut gathered, mut has_come) = (0, false);
        let mut batch = Packets::new();
        while clock::monotonic_ns() < until {
            let came = self
                .from
                .receive(&mut self.pool, &mut batch)
                .map_err(failed)?;
            has_come |= came > 0;
            gathered += self
                .to
                .transmit(&mut self.pool, &mut batch)
                .map_err(failed)?;
            if gathered >= GATHER || came == 0 && gathered > 0 {
                self.to.flush(&mut self.pool).map_err(failed)?;
                gathered = 0;
            }
            if came == 0
                && let Some(descriptor) = self.from.descriptor()
            {
                clock::wait(&[descriptor], Some(1_000_000)).map_err(failed)?;
            }
        }
        self.to.flush(&mut self.pool).map_err(failed)?;
        batch.drain().for_each(|packet| self.pool.free(packet));
        Ok(has_come)
    }

    fn end(&mut self) -> Vec<String> {
        let counters = format!(
            "in {:?}, out {:?}",
            self.from.counters(),
            self.to.counters()
        );
        let mut remarks = self.to.remarks();
        remarks.push(counters);
        self.from.close(&mut self.pool);
        self.to.close(&mut self.pool);
        remarks
    }
}
