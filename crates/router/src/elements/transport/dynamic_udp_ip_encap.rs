//! Adds UDP and IPv4 headers, with changing ports.
//!
//! # What it does
//! As UDPIPEncap; after each `INTERVAL` packets both ports are one greater.
//!
//! # Example
//! ```click
//! // Ports go up by one after each ten packets.
//! RatedSource(RATE 100) -> DynamicUDPIPEncap(10.0.0.1, 1000, 10.0.0.2, 1000, 1, 10) -> Discard
//! ```

use super::shared::udp_encap::Encap;
use crate::args::kinds::UINT;
use crate::args::{Args, Kind, mandatory, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "DynamicUDPIPEncap",
    "adds UDP and IP headers with changing ports",
    || Box::<DynamicUdpIpEncap>::default(),
)
.references(&["RFC 768", "RFC 791"])
.params(&[
    mandatory("SRC", Kind::Ip, "the source"),
    mandatory("SPORT", Kind::IpPort(17), "its first port"),
    mandatory("DST", Kind::Ip, "the destination"),
    mandatory("DPORT", Kind::IpPort(17), "its first port"),
    positional(
        "CHECKSUM",
        Kind::Bool,
        "true",
        "whether UDP's checksum is computed",
    ),
    positional(
        "INTERVAL",
        UINT,
        "0",
        "packets with the same ports; 0 is no limit",
    ),
])
.ops("checksum(frame + 16) by 4; checksum(20) by 4; deparse(28); work(145)");

#[derive(Debug, Default)]
struct DynamicUdpIpEncap {
    ends: Encap,
    interval: u64,
    count: u64,
}

impl Element for DynamicUdpIpEncap {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.ends.src = args.ip("SRC").octets();
        self.ends.dst = args.ip("DST").octets();
        self.ends.sport = args.uint("SPORT") as u16;
        self.ends.dport = args.uint("DPORT") as u16;
        self.ends.sums = args.bool("CHECKSUM");
        self.interval = args.uint("INTERVAL");
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            self.ends.put(&mut pool[packet]);
            self.count += 1;
            if self.count == self.interval {
                self.count = 0;
                self.ends.sport = self.ends.sport.wrapping_add(1);
                self.ends.dport = self.ends.dport.wrapping_add(1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;

    #[test]
    fn ports_move_on() {
        let mut probe = Probe::new("DynamicUDPIPEncap(1.0.0.1, 9, 1.0.0.2, 65535, true, 2)", 1);
        let ports = [(); 3].map(|()| probe.send(b"")[0].1[20..24].to_vec());
        assert_eq!(ports, [[0, 9, 255, 255], [0, 9, 255, 255], [0, 10, 0, 0]]);
    }
}
