//! One element under test: packets go in, and what leaves by which output comes back.

use crate::engine::ElementId;
use crate::load::testing::{Run, loaded};
use trammel_packet::packet::Packet;

/// An element between ends that do nothing.
pub(crate) struct Probe {
    pub(crate) run: Run,
    element: ElementId,
}

/// Bytes that left, and by which output.
pub(crate) type Left = (usize, Vec<u8>);

impl Probe {
    /// The element of a declaration such as `DecIPTTL(MULTICAST false)`, with `outputs` of its
    /// outputs in use.
    pub(crate) fn new(declaration: &str, outputs: usize) -> Probe {
        let ends: String = (0..outputs)
            .map(|port| format!("x[{port}] -> Idle; "))
            .collect();
        let run = loaded(&format!("x :: {declaration}; Idle -> x; {ends}"));
        let element = run
            .ctx
            .find("x", None)
            .expect("the probe's element was declared");
        Probe { run, element }
    }

    /// Sends one packet, prepared by `prepare`, and gives the bytes that leave.
    pub(crate) fn send_with(
        &mut self,
        data: &[u8],
        prepare: impl FnOnce(&mut Packet),
    ) -> Vec<Left> {
        let mut left = Vec::new();
        self.send_and_look(data, prepare, |port, packet| {
            left.push((port, packet.data().to_vec()));
        });
        left
    }

    /// Sends one packet, prepared by `prepare`; `look` sees what leaves.
    pub(crate) fn send_and_look(
        &mut self,
        data: &[u8],
        prepare: impl FnOnce(&mut Packet),
        mut look: impl FnMut(usize, &Packet),
    ) {
        let pool = self.run.ctx.pool();
        let handle = pool
            .alloc_with(data)
            .expect("the pool has room for the probe");
        prepare(&mut pool[&handle]);
        for (port, handle) in self.run.ctx.pass(self.element, vec![handle]) {
            let pool = self.run.ctx.pool();
            look(port, &pool[&handle]);
            pool.free(handle);
        }
    }

    /// Sends an IPv4 packet with its header marked.
    pub(crate) fn send_ip(&mut self, data: &[u8]) -> Vec<Left> {
        self.send_with(data, |packet| crate::headers::ip_packet::mark(packet, 0))
    }

    /// Sends bytes as they are.
    pub(crate) fn send(&mut self, data: &[u8]) -> Vec<Left> {
        self.send_with(data, |_| ())
    }

    /// Packets that it still holds.
    pub(crate) fn held(&mut self) -> usize {
        self.run.ctx.pool().in_use()
    }

    /// Packets that ended in it, by the number of the reason.
    pub(crate) fn drops(&self) -> [u64; crate::reason::COUNT] {
        self.run.ctx.counters(self.element).drops
    }

    /// What was printed on standard error.
    pub(crate) fn said(&self) -> String {
        self.run.host.memory().said.clone()
    }
}

/// A packet of UDP from 10.0.0.1 port 1000 to 10.0.0.2 port 2000 with `payload`, all checksums
/// right.
pub(crate) fn udp(ttl: u8, payload: &[u8]) -> Vec<u8> {
    let udp_len = 8 + payload.len();
    let mut packet = vec![
        0x45, 0, 0, 0, 0, 7, 0, 0, ttl, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
    ];
    packet[2..4].copy_from_slice(&(20 + udp_len as u16).to_be_bytes());
    packet.extend([0x03, 0xE8, 0x07, 0xD0]);
    packet.extend((udp_len as u16).to_be_bytes());
    packet.extend([0, 0]);
    packet.extend(payload);
    trammel_packet::headers::ipv4::set_checksum(&mut packet);
    let sum = crate::headers::ip_packet::transport_sum(&packet)
        .expect("the packet holds a header and 8 bytes");
    let sum = trammel_packet::headers::checksum::for_udp(sum);
    packet[26..28].copy_from_slice(&sum.to_be_bytes());
    packet
}
