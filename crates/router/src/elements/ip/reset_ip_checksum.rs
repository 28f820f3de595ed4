//! Computes the checksum of IPv4 headers anew, and that of TCP or UDP too.
//!
//! # What it does
//! As `SetIPChecksum`; with `L4` also the checksum of the TCP or UDP packet within. Where it came
//! from, a network card did this: here the processor does.
//!
//! # Example
//! ```click
//! // After the source was changed.
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> StoreIPAddress(1.0.0.1, src)
//!     -> ResetIPChecksum(L4 true) -> Discard
//! ```

use super::set_ip_checksum::SetIpChecksum;
use crate::args::{Args, Kind, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::ip_packet::transport_sum;
use trammel_packet::batch::Packets;
use trammel_packet::headers::checksum::for_udp;
use trammel_packet::headers::ipv4::{Ipv4, protocol};
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "ResetIPChecksum",
    "computes the checksums of IP packets",
    || Box::<ResetIpChecksum>::default(),
)
.references(&["RFC 791, §3.1", "RFC 768", "RFC 9293, §3.1"])
.params(&[positional(
    "L4",
    Kind::Bool,
    "false",
    "whether that of TCP or UDP is computed too",
)])
.ops("parse(1); checksum(20) by 4; deparse(2); work(80)");

#[derive(Debug, Default)]
struct ResetIpChecksum {
    ip: SetIpChecksum,
    l4: bool,
}

/// Computes the checksum of what the IP packet carries, where it is whole and has one.
fn set_transport(packet: &mut Packet) -> Option<()> {
    let network = if packet.has_network_header() {
        packet.network_header_mut()
    } else {
        packet.data_mut()
    };
    let ip = *Ipv4::read(network)?;
    let at = match ip.protocol {
        protocol::TCP => ip.header_len() + 16,
        protocol::UDP => ip.header_len() + 6,
        _ => return None,
    };
    if ip.is_fragment() || network.len() < at + 2 {
        return None;
    }
    network[at..at + 2].fill(0);
    let sum = transport_sum(network)?;
    let value = match ip.protocol {
        protocol::UDP => for_udp(sum),
        _ => sum.checksum(),
    };
    network[at..at + 2].copy_from_slice(&value.to_be_bytes());
    Some(())
}

impl Element for ResetIpChecksum {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.l4 = args.bool("L4");
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        self.ip.process(ctx, batch);
        if self.l4 {
            let pool = ctx.pool();
            for handle in batch.iter() {
                set_transport(&mut pool[handle]);
            }
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        self.ip.handlers()
    }

    fn read(&mut self, ctx: &mut Ctx, name: &str, parameter: &str) -> Result<String, String> {
        self.ip.read(ctx, name, parameter)
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::{Probe, udp};

    #[test]
    fn wrong_checksums_become_right() {
        let right = udp(9, b"some bytes");
        let mut wrong = right.clone();
        wrong[10] ^= 7;
        wrong[27] ^= 7;
        let mut half = right.clone();
        half[27] ^= 7;
        assert_eq!(
            Probe::new("ResetIPChecksum", 1).send_ip(&wrong),
            [(0, half)]
        );
        assert_eq!(
            Probe::new("ResetIPChecksum(true)", 1).send_ip(&wrong),
            [(0, right)]
        );
    }
}
