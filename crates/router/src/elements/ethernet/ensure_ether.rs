//! Gives IP packets an Ethernet header where they have none.
//!
//! # What it does
//! Packets whose IP header is behind an Ethernet header, and such as are not IP, pass unchanged. A
//! header that was stripped is put back; else the packet gets the one of the arguments.
//!
//! # Example
//! ```click
//! // Packets of IP get an Ethernet header, frames stay as they are.
//! FromDump(a.pcap, STOP true) -> EnsureEther(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:2) -> Queue
//!     -> ToDevice(eth0)
//! ```

use crate::args::{Args, Kind, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;
use trammel_packet::headers::ether::{Ether, ethertype};
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new("EnsureEther", "gives IP packets an Ethernet header", || {
    Box::<EnsureEther>::default()
})
.params(&[
    positional("ETHERTYPE", Kind::EtherType, "0x0800", "the type"),
    positional("SRC", Kind::Ether, "1:1:1:1:1:1", "the source"),
    positional("DST", Kind::Ether, "2:2:2:2:2:2", "the destination"),
])
.ops("parse(2); deparse(14); work(30)");

#[derive(Debug, Default)]
struct EnsureEther {
    header: [u8; Ether::LEN],
}

/// Whether it is the header of an IP packet.
fn is_of_ip(header: &[u8]) -> bool {
    let header = Ether::read(header);
    header.is_some_and(|header| matches!(header.ethertype.get(), ethertype::IP | ethertype::IP6))
}

impl EnsureEther {
    fn ensure(&self, packet: &mut Packet) {
        let at = packet.network_header_at();
        let Some(at) = at.and_then(|at| usize::try_from(at).ok()) else {
            return;
        };
        let had = at == 0 && packet.headroom() >= Ether::LEN && is_of_ip(packet.before(Ether::LEN));
        if had {
            packet.push(Ether::LEN);
        } else if at != Ether::LEN || !is_of_ip(packet.data()) {
            packet.pull(at);
            packet.push(Ether::LEN).copy_from_slice(&self.header);
        }
    }
}

impl Element for EnsureEther {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.header[..6].copy_from_slice(&args.ether("DST").0);
        self.header[6..12].copy_from_slice(&args.ether("SRC").0);
        let ethertype = args.uint("ETHERTYPE") as u16;
        self.header[12..].copy_from_slice(&ethertype.to_be_bytes());
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for handle in batch.iter() {
            self.ensure(&mut pool[handle]);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::headers::ip_packet::mark;
    use crate::probe::{Probe, udp};

    #[test]
    fn a_header_stays_comes_back_or_is_made() {
        let mut probe = Probe::new("EnsureEther(0x0800, 1:1:1:1:1:1, 3:3:3:3:3:3)", 1);
        let framed = [&[7; 12][..], &[8, 0], &udp(9, b"x")].concat();
        assert_eq!(
            probe.send_with(&framed, |packet| mark(packet, 14))[0].1,
            framed
        );
        let left = probe.send_with(&framed, |packet| {
            mark(packet, 14);
            packet.pull(14);
        });
        assert_eq!(left[0].1, framed);
        let made = [&[3; 6][..], &[1; 6], &[8, 0], &udp(9, b"x")].concat();
        assert_eq!(probe.send_ip(&udp(9, b"x"))[0].1, made);
        let odd = [&[5; 3][..], &udp(9, b"x")].concat();
        assert_eq!(probe.send_with(&odd, |packet| mark(packet, 3))[0].1, made);
        assert_eq!(probe.send(b"no IP")[0].1, b"no IP");
    }
}
