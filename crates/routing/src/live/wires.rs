//! The veth pairs between routers and the lab, and what comes and goes by them.

use std::sync::Arc;
use trammel_control::network::Topology;
use trammel_core::Span;
use trammel_io::Error;
use trammel_io::afpacket::{self, AfPacket};
use trammel_io::clock::Waiter;
use trammel_io::netns::{Namespace, veth};
use trammel_packet::batch::Packets;
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;

/// Bytes of the ring of an end: control packets and probes of some hundred milliseconds.
const RING_BYTES: usize = 256 << 10;
/// Packets of all ends on their way in or out.
const PACKETS: usize = 1024;

/// The lab's end of a router's port.
#[derive(Debug)]
pub(super) struct End {
    pub(super) router: usize,
    pub(super) port: usize,
    pub(super) subnet: usize,
    name: String,
    device: AfPacket,
    going: Packets,
}

/// All pairs.
#[derive(Debug)]
pub(super) struct Wires {
    /// The namespace of each router.
    pub(super) homes: Vec<Arc<Namespace>>,
    pub(super) ends: Vec<End>,
    lab: Namespace,
    pool: Pool,
    waiter: Waiter,
}

/// The name of `port` in its router's namespace.
pub(super) fn port_name(port: usize) -> String {
    format!("p{port}")
}

impl Wires {
    /// A pair for each interface of a router of `topology`.
    pub(super) fn new(topology: &Topology) -> Result<Wires, Error> {
        let lab = Namespace::new()?;
        let (mut homes, mut ends) = (Vec::new(), Vec::new());
        for router in 0..topology.routers.len() {
            let home = Namespace::new()?;
            for (port, subnet) in topology.subnets_of(router).into_iter().enumerate() {
                let (inner, name) = (port_name(port), format!("r{router}p{port}"));
                veth(&home, &inner, &lab, &name)?;
                home.set_offloads(&inner, false)?;
                lab.set_offloads(&name, false)?;
                let options = afpacket::Options {
                    ring_bytes: Some(RING_BYTES),
                    ..afpacket::Options::default()
                };
                ends.push(End {
                    router,
                    port,
                    subnet,
                    device: lab.run(|| AfPacket::open(&name, &options))?,
                    going: Packets::new(),
                    name,
                });
            }
            homes.push(Arc::new(home));
        }
        let mut waiter = Waiter::new();
        let descriptors: Vec<i32> = ends
            .iter()
            .filter_map(|end| end.device.descriptor())
            .collect();
        waiter.set(&descriptors);
        Ok(Wires {
            homes,
            ends,
            lab,
            pool: Pool::new(PACKETS, PACKETS),
            waiter,
        })
    }

    /// The frames that came by `end`.
    pub(super) fn receive(&mut self, end: usize) -> std::io::Result<Vec<Vec<u8>>> {
        let mut came = Packets::new();
        self.ends[end].device.receive(&mut self.pool, &mut came)?;
        let take = |packet| {
            let frame = self.pool[&packet].data().to_vec();
            self.pool.free(packet);
            frame
        };
        Ok(came.drain().map(take).collect())
    }

    /// Sends `frame` to the router of `end`. Where there is no room, it is lost as on a line.
    pub(super) fn send(&mut self, end: usize, frame: &[u8]) -> std::io::Result<()> {
        let end = &mut self.ends[end];
        if let Some(packet) = self.pool.alloc_with(frame) {
            end.going.push(packet);
            end.device.transmit(&mut self.pool, &mut end.going)?;
            end.device.flush(&mut self.pool)?;
            for packet in end.going.drain() {
                self.pool.free(packet);
            }
        }
        Ok(())
    }

    /// Waits until a frame comes, at most for `span`.
    pub(super) fn wait(&mut self, span: Span) -> std::io::Result<()> {
        let ns = i64::try_from(span.as_ns()).unwrap_or(i64::MAX);
        self.waiter.wait(Some(ns)).map(drop)
    }

    /// Takes the carrier from the ports on `subnet`, or gives it back.
    pub(super) fn set_carrier(&mut self, subnet: usize, is_up: bool) -> Result<(), Error> {
        let mut all = self.ends.iter().filter(|end| end.subnet == subnet);
        all.try_for_each(|end| self.lab.set_up(&end.name, is_up))
    }

    /// Frames that the kernel lost before the lab read them.
    pub(super) fn lost(&self) -> u64 {
        let all = self.ends.iter().map(|end| end.device.counters());
        all.map(|counters| counters.receive_drops).sum()
    }
}

impl Drop for Wires {
    fn drop(&mut self) {
        for end in &mut self.ends {
            end.device.close(&mut self.pool);
        }
    }
}
