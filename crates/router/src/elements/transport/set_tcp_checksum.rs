//! Computes the checksum of TCP segments anew.
//!
//! # Example
//! ```click
//! FromDump(a.pcap, STOP true, FORCE_IP true) -> IPClassifier(tcp) -> SetTCPChecksum
//!     -> ToDump(b.pcap, ENCAP IP)
//! ```

use crate::args::{Args, Kind, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::headers::ip_packet::{final_header, pseudo_sum};
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::headers::tcp::Tcp;
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new("SetTCPChecksum", "computes the checksum of TCP", || {
    Box::<SetTcpChecksum>::default()
})
.params(&[positional(
    "FIXOFF",
    Kind::Bool,
    "false",
    "whether a wrong length of the header is mended",
)])
.ops("parse(20); parse(20); checksum(frame - 38) by 4; deparse(2); work(120)");

#[derive(Debug, Default)]
struct SetTcpChecksum {
    mends: bool,
}

impl SetTcpChecksum {
    fn set(&self, packet: &mut Packet) -> Option<()> {
        let ip = final_header(packet.network_header())?;
        let len = usize::from(ip.total_length.get()).checked_sub(ip.header_len())?;
        let segment = packet.transport_header_mut().get_mut(..len)?;
        let tcp = Tcp::read_mut(segment)?;
        if self.mends {
            let words = match tcp.header_len() {
                head if head < Tcp::LEN => Tcp::LEN / 4,
                head if head > len && !ip.is_fragment() => len / 4,
                head => head / 4,
            };
            tcp.offset_reserved = (words as u8) << 4 | tcp.offset_reserved & 15;
        }
        tcp.checksum.set(0);
        let sum = pseudo_sum(&ip, segment).checksum();
        Tcp::read_mut(segment)?.checksum.set(sum);
        Some(())
    }
}

impl Element for SetTcpChecksum {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.mends = args.bool("FIXOFF");
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            if self.set(&mut ctx.pool()[&handle]).is_some() {
                return Some(handle);
            }
            ctx.host().say("SetTCPChecksum: bad lengths\n");
            ctx.drop(handle, Reason::BadLength);
            None
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::headers::ip_packet::transport_sum;
    use crate::probe::{Probe, udp};

    #[test]
    fn the_checksum_becomes_right() {
        let mut packet = udp(9, b"some more bytes");
        packet[9] = 6;
        let left = Probe::new("SetTCPChecksum", 1).send_ip(&packet);
        assert_eq!(
            transport_sum(&left[0].1).map(trammel_packet::headers::checksum::Sum::checksum),
            Some(0)
        );
        let left = Probe::new("SetTCPChecksum(true)", 1).send_ip(&packet);
        assert_eq!(left[0].1[32] >> 4, 5);
        assert_eq!(
            transport_sum(&left[0].1).map(trammel_packet::headers::checksum::Sum::checksum),
            Some(0)
        );
        let mut probe = Probe::new("SetTCPChecksum", 1);
        assert_eq!(probe.send_ip(&packet[..39]), []);
        assert_eq!(probe.said(), "SetTCPChecksum: bad lengths\n");
        assert_eq!(probe.held(), 0);
    }
}
