//! Adds an Ethernet header.
//!
//! # Handlers
//! - `etht`: the Ethernet type
//!
//! # Example
//! ```click
//! RatedSource(RATE 1) -> UDPIPEncap(10.0.0.1, 1000, 10.0.0.2, 1000)
//!     -> EtherEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2) -> Queue -> ToDevice(eth0)
//! ```

use crate::args::addresses::{EtherAddress, parse_ether};
use crate::args::names::parse_ether_type;
use crate::args::{Args, Kind, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;
use trammel_packet::headers::U16;
use trammel_packet::headers::ether::Ether;

/// The class.
pub static ENTRY: Entry = Entry::new("EtherEncap", "adds an Ethernet header", || {
    Box::<EtherEncap>::default()
})
.references(&["RFC 894"])
.live()
.params(&[
    mandatory("ETHERTYPE", Kind::EtherType, "what the frame carries"),
    mandatory("SRC", Kind::Ether, "the source address"),
    mandatory("DST", Kind::Ether, "the destination address"),
])
.ops("deparse(14); work(25)");

#[derive(Debug, Default)]
struct EtherEncap {
    header: Ether,
}

impl Element for EtherEncap {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.header = Ether {
            dst: args.ether("DST").0,
            src: args.ether("SRC").0,
            ethertype: U16::new(args.uint("ETHERTYPE") as u16),
        };
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            packet.push(Ether::LEN).copy_from_slice(self.header.bytes());
            packet.set_mac_header(0);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        let all = [
            ("src", "rw"),
            ("dst", "rw"),
            ("ethertype", "rw"),
            ("etht", "rwD"),
        ];
        all.map(|(name, letters)| Handler::new(name, letters))
            .into()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "src" => EtherAddress(self.header.src).to_string(),
            "dst" => EtherAddress(self.header.dst).to_string(),
            _ => self.header.ethertype.get().to_string(),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let (names, value) = (ctx.names(), value.trim());
        let address = || parse_ether(value, &names).map_err(|why| why.to_string());
        match name {
            "src" => self.header.src = address()?.0,
            "dst" => self.header.dst = address()?.0,
            _ => {
                let number = parse_ether_type(value, &names).map_err(|why| why.to_string())?;
                self.header.ethertype = U16::new(number);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;

    #[test]
    fn the_header_stands_first_and_is_marked() {
        let mut probe = Probe::new("EtherEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2)", 1);
        let mut seen = 0;
        probe.send_and_look(
            b"data",
            |_| (),
            |_, packet| {
                assert_eq!(
                    packet.data(),
                    b"\x02\x02\x02\x02\x02\x02\x01\x01\x01\x01\x01\x01\x08\x00data"
                );
                assert_eq!(packet.mac_header_at(), Some(0));
                seen += 1;
            },
        );
        assert_eq!(seen, 1);
        probe.run.write("x.dst", "3:3:3:3:3:3").expect("an address");
        assert_eq!(probe.run.read("x.dst"), "03-03-03-03-03-03");
        assert_eq!(probe.run.read("x.ethertype"), "2048");
    }
}
