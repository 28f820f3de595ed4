//! Copies an address from packets to an annotation.
//!
//! # Example
//! ```click
//! // The destination of the header at the front is noted for the lookup.
//! FromDump(a.pcap, STOP true, FORCE_IP true) -> StripToNetworkHeader -> GetIPAddress(16)
//!     -> RadixIPLookup(0.0.0.0/0 0) -> Discard
//! ```

use crate::args::kinds::INT;
use crate::args::{Args, Kind, keyword, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "GetIPAddress",
    "copies an address from the packet to an annotation",
    || Box::<GetIpAddress>::default(),
)
.params(&[
    positional("OFFSET", INT, "-1", "where the address stands"),
    positional("ANNO", Kind::Anno { size: 4 }, "DST_IP", "the annotation"),
    keyword(
        "IP",
        Kind::Text,
        "",
        "`src` or `dst`: of the marked IP header",
    ),
])
.ops("parse(4); work(20)");

/// Where an address stands.
#[derive(Clone, Copy, Debug)]
enum Place {
    Data(usize),
    Header(usize),
}

#[derive(Debug)]
struct GetIpAddress {
    place: Place,
    anno: usize,
}

impl Default for GetIpAddress {
    fn default() -> GetIpAddress {
        GetIpAddress {
            place: Place::Data(0),
            anno: 0,
        }
    }
}

impl Element for GetIpAddress {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut said = Diagnostics::new();
        match (usize::try_from(args.int("OFFSET")), args.text("IP")) {
            (Ok(offset), "") => self.place = Place::Data(offset),
            (Ok(_), _) | (Err(_), "") => said.error(None, "set one of OFFSET, IP"),
            (Err(_), "src") => self.place = Place::Header(12),
            (Err(_), "dst") => self.place = Place::Header(16),
            (Err(_), _) => said.error(None, "bad IP"),
        }
        self.anno = usize::from(args.anno("ANNO").offset);
        if said.has_errors() { Err(said) } else { Ok(()) }
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            let (data, at) = match self.place {
                Place::Data(at) => (packet.data(), at),
                Place::Header(at) => (packet.network_header(), at),
            };
            let Some(address) = data
                .get(at..)
                .and_then(|data| data.first_chunk::<4>())
                .copied()
            else {
                continue;
            };
            if let Some(place) = packet.annotations_mut().get_mut(self.anno..self.anno + 4) {
                place.copy_from_slice(&address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::errors;
    use crate::probe::{Probe, udp};

    #[test]
    fn the_address_is_noted() {
        for (arguments, expected) in [
            ("16", [10, 0, 0, 2]),
            ("IP src", [10, 0, 0, 1]),
            ("99", [0; 4]),
        ] {
            let mut seen = Vec::new();
            let mark = |packet: &mut _| crate::headers::ip_packet::mark(packet, 0);
            Probe::new(&format!("GetIPAddress({arguments})"), 1).send_and_look(
                &udp(9, b""),
                mark,
                |_, packet| {
                    seen.push(crate::headers::ip_packet::destination(packet));
                },
            );
            assert_eq!(seen, [expected], "{arguments}");
        }
    }

    #[test]
    fn one_place_is_wanted() {
        assert!(errors("Idle -> GetIPAddress() -> Idle").contains("  set one of OFFSET, IP\n"));
        assert!(errors("Idle -> GetIPAddress(IP via) -> Idle").contains("  bad IP\n"));
    }
}
