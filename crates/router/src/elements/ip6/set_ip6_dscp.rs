//! Sets the differentiated services code point of IPv6 packets.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Strip(14) -> CheckIP6Header -> SetIP6DSCP(46) -> Discard
//! ```
//!
//! # References
//! RFC 2474.

use crate::args::kinds::UINT;
use crate::args::{Args, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;
use trammel_packet::headers::ipv6::Ipv6;

/// The class.
pub static ENTRY: Entry = Entry::new("SetIP6DSCP", "sets the DSCP", || {
    Box::<SetIp6Dscp>::default()
})
.references(&["RFC 2474"])
.live()
.params(&[mandatory("DSCP", UINT, "0 to 63")])
.ops("parse(4); deparse(4); work(20)");

/// Where the code point stands in the header's first word.
const SHIFT: u32 = 22;

#[derive(Debug, Default)]
struct SetIp6Dscp {
    dscp: u32,
}

impl Element for SetIp6Dscp {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let dscp = args.uint("DSCP");
        if dscp > 63 {
            return Err(Diagnostics::of("diffserv code point out of range"));
        }
        self.dscp = dscp as u32;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for handle in batch.iter() {
            if let Some(ip) = Ipv6::read_mut(pool[handle].network_header_mut()) {
                let word = ip.version_class_flow.get() & !(63 << SHIFT);
                ip.version_class_flow.set(word | self.dscp << SHIFT);
            }
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("dscp", "rw.").of_argument(0, "DSCP")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.dscp.to_string())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::errors;
    use crate::probe::Probe;

    #[test]
    fn only_the_code_point_changes() {
        let mut probe = Probe::new("SetIP6DSCP(46)", 1);
        let mut packet = [0xFF; 40];
        packet[0] = 0x6F;
        let send = |probe: &mut Probe| {
            let left = probe.send_with(&packet, |packet| packet.set_network_header(0));
            left[0].1[..4].to_vec()
        };
        assert_eq!(send(&mut probe), [0x6B, 0xBF, 0xFF, 0xFF]);
        probe.run.write("x.dscp", "0").expect("it is one");
        assert_eq!(send(&mut probe), [0x60, 0x3F, 0xFF, 0xFF]);
        assert!(probe.run.write("x.dscp", "64").is_err());
        assert_eq!(probe.run.read("x.dscp"), "0");
        assert_eq!(probe.send(&packet[..39])[0].1, &packet[..39]);
        assert!(errors("Idle -> SetIP6DSCP(64) -> Discard").contains("out of range"));
    }
}
