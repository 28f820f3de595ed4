//! Sets the transmission rate of 802.11 frames.
//!
//! # What it does
//! The rate, in units of 500 kbit/s, and how often the frame is tried become an annotation, which
//! `ExtraEncap` or `RadiotapEncap` put in front of the frame for the driver.
//!
//! # Handlers
//! - `rate`, `tries`: as the arguments
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> WifiEncap(1, 2:0:0:0:0:1) -> SetTXRate(22, TRIES 4) -> ExtraEncap
//!     -> Queue -> ToDevice(wlan0)
//! ```

use super::shared::wifi::{self, Field};
use crate::args::kinds::{U8, UINT};
use crate::args::numbers::parse_uint;
use crate::args::{Args, Kind, keyword, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("SetTXRate", "sets the transmission rate of frames", || {
    Box::<SetTxRate>::default()
})
.references(&["IEEE 802.11-2020"])
.params(&[
    positional("RATE", U8, "2", "in units of 500 kbit/s; 0 is 2"),
    keyword("TRIES", U8, "11", "how often a frame is tried"),
    keyword(
        "ETHTYPE",
        Kind::EtherType,
        "0",
        "only frames of this Ethernet type; 0 is all",
    ),
    keyword("OFFSET", UINT, "0", "where their Ethernet header begins"),
])
.ops("work(14)");

#[derive(Debug, Default)]
struct SetTxRate {
    rate: u8,
    tries: u8,
    kind: u16,
    offset: usize,
}

impl Element for SetTxRate {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.rate = args.uint("RATE") as u8;
        self.tries = args.uint("TRIES") as u8;
        self.kind = args.uint("ETHTYPE") as u16;
        self.offset = args.uint("OFFSET") as usize;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let at = self.offset.saturating_add(12);
        for handle in batch.iter() {
            let packet = &mut ctx.pool()[handle];
            let kind = packet.data().get(at..).unwrap_or_default();
            if self.kind != 0 && !kind.starts_with(&self.kind.to_be_bytes()) {
                continue;
            }
            wifi::mark(packet);
            wifi::set_field(
                packet,
                Field::Rate,
                if self.rate == 0 { 2 } else { self.rate },
            );
            wifi::set_field(packet, Field::Tries, self.tries);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("rate", "rw"), Handler::new("tries", "rw")]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        let value = if name == "rate" {
            self.rate
        } else {
            self.tries
        };
        Ok(value.to_string())
    }

    fn write(&mut self, _: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let number = parse_uint(value.trim(), 255);
        let number = number.map_err(|_| format!("{name} parameter must be unsigned"))? as u8;
        if name == "rate" {
            self.rate = number;
        } else {
            self.tries = number;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::wifi::shared::wifi::{self, Field};
    use crate::probe::Probe;

    fn told(probe: &mut Probe, data: &[u8]) -> (u8, u8) {
        let mut seen = (0, 0);
        probe.send_and_look(
            data,
            |_| (),
            |_, packet| {
                seen = (
                    wifi::field(packet, Field::Rate),
                    wifi::field(packet, Field::Tries),
                );
            },
        );
        seen
    }

    #[test]
    fn rate_and_tries_are_noted() {
        let mut probe = Probe::new("SetTXRate(22)", 1);
        assert_eq!(told(&mut probe, b"x"), (22, 11));
        probe.run.write("x.rate", "0").expect("right");
        assert_eq!(told(&mut probe, b"x"), (2, 11));
        let mut probe = Probe::new("SetTXRate(22, TRIES 3, ETHTYPE 0x0800)", 1);
        assert_eq!(told(&mut probe, b"aaaaaabbbbbb\x08\0"), (22, 3));
        assert_eq!(told(&mut probe, b"aaaaaabbbbbb\x08\x06"), (0, 0));
        assert_eq!(told(&mut probe, b"short"), (0, 0));
    }
}
