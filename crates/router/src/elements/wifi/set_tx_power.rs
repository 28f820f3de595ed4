//! Sets the transmission power of 802.11 frames.
//!
//! # What it does
//! The power, from 0 to 63, becomes an annotation, which `ExtraEncap` or `RadiotapEncap` put in
//! front of the frame for the driver.
//!
//! # Handlers
//! - `power`: as the argument
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> WifiEncap(1, 2:0:0:0:0:1) -> SetTXPower(63) -> ExtraEncap -> Queue
//!     -> ToDevice(wlan0)
//! ```

use super::shared::wifi::{self, Field};
use crate::args::kinds::U8;
use crate::args::numbers::parse_uint;
use crate::args::{Args, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "SetTXPower",
    "sets the transmission power of frames",
    || Box::<SetTxPower>::default(),
)
.references(&["IEEE 802.11-2020"])
.params(&[positional("POWER", U8, "0", "from 0 to 63")])
.ops("work(12)");

#[derive(Debug, Default)]
struct SetTxPower {
    power: u8,
}

impl Element for SetTxPower {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.power = args.uint("POWER") as u8;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        for handle in batch.iter() {
            let packet = &mut ctx.pool()[handle];
            wifi::mark(packet);
            wifi::set_field(packet, Field::Power, self.power);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("power", "rw")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.power.to_string())
    }

    fn write(&mut self, _: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        let power = parse_uint(value.trim(), 255);
        self.power = power.map_err(|_| "power parameter must be unsigned")? as u8;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;

    #[test]
    fn the_power_stands_in_the_driver_s_header() {
        let mut probe = Probe::new("SetTXPower(60); e :: ExtraEncap; Idle -> e -> Idle", 1);
        probe.run.write("x.power", "63").expect("right");
        let mut seen = 0;
        probe.send_and_look(
            b"x",
            |_| (),
            |_, packet| {
                seen = crate::elements::wifi::shared::wifi::header_of_driver(packet)[10];
            },
        );
        assert_eq!(seen, 63);
    }
}
