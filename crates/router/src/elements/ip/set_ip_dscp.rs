//! Sets the differentiated services code point of IPv4 packets.
//!
//! # Example
//! ```click
//! // Expedited forwarding (RFC 3246).
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> SetIPDSCP(46) -> Discard
//! ```
//!
//! # References
//! RFC 2474.

use crate::args::kinds::UINT;
use crate::args::numbers::parse_uint;
use crate::args::{Args, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::ip_packet::set_tos;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("SetIPDSCP", "sets the DSCP", || Box::<SetIpDscp>::default())
    .references(&["RFC 2474"])
    .live()
    .params(&[mandatory("DSCP", UINT, "0 to 63")])
    .ops("parse(2); inc_checksum(2); deparse(3); work(40)");

#[derive(Debug, Default)]
struct SetIpDscp {
    dscp: u8,
}

impl SetIpDscp {
    fn set(&mut self, dscp: u64) -> Result<(), &'static str> {
        if dscp > 63 {
            return Err("diffserv code point out of range");
        }
        self.dscp = dscp as u8;
        Ok(())
    }
}

impl Element for SetIpDscp {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.set(args.uint("DSCP")).map_err(|why| {
            let mut said = Diagnostics::new();
            said.error(None, why);
            said
        })
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            set_tos(&mut pool[packet], |old| self.dscp << 2 | old & 3);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("dscp", "rw.")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.dscp.to_string())
    }

    fn write(&mut self, _: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        let dscp = parse_uint(value.trim(), u64::from(u32::MAX)).map_err(|why| why.to_string())?;
        self.set(dscp).map_err(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::errors;
    use crate::probe::{Probe, udp};

    #[test]
    fn ecn_and_checksum_survive() {
        let mut packet = udp(9, b"");
        packet[1] = 0x02;
        trammel_packet::headers::ipv4::set_checksum(&mut packet);
        let left = Probe::new("SetIPDSCP(46)", 1).send_ip(&packet);
        assert_eq!(left[0].1[1], 46 << 2 | 2);
        assert_eq!(
            trammel_packet::headers::checksum::checksum(&left[0].1[..20]),
            0
        );
        assert!(
            errors("Idle -> SetIPDSCP(64) -> Idle").contains("diffserv code point out of range")
        );
    }
}
