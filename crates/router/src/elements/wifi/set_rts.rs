//! Controls RTS/CTS before an 802.11 frame.
//!
//! # What it does
//! The annotation that `ExtraEncap` puts in front of the frame tells the driver whether RTS and CTS
//! go before it.
//!
//! # Handlers
//! - `rts`: as the argument
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> WifiEncap(1, 2:0:0:0:0:1) -> SetRTS(true) -> ExtraEncap -> Queue
//!     -> ToDevice(wlan0)
//! ```

use super::shared::wifi::{self, ASKS_FIRST};
use crate::args::numbers::parse_bool;
use crate::args::{Args, Kind, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("SetRTS", "controls RTS/CTS of frames", || {
    Box::<SetRts>::default()
})
.references(&["IEEE 802.11-2020"])
.params(&[mandatory(
    "RTS",
    Kind::Bool,
    "whether RTS and CTS go before a frame",
)])
.ops("work(12)");

#[derive(Debug, Default)]
struct SetRts {
    asks: bool,
}

impl Element for SetRts {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.asks = args.bool("RTS");
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        for handle in batch.iter() {
            let packet = &mut ctx.pool()[handle];
            wifi::mark(packet);
            let others = wifi::flags(packet) & !ASKS_FIRST;
            let flag = if self.asks { ASKS_FIRST } else { 0 };
            wifi::set_flags(packet, others | flag);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("rts", "rw")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.asks.to_string())
    }

    fn write(&mut self, _: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        let asks = parse_bool(value.trim());
        self.asks = asks.map_err(|_| "rts parameter must be boolean")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::wifi::shared::wifi::{ASKS_FIRST, BAD, flags, testing::tell};
    use crate::probe::Probe;

    #[test]
    fn one_flag_changes() {
        let mut probe = Probe::new("SetRTS(true)", 1);
        for (asks, expected) in [("true", BAD | ASKS_FIRST), ("false", BAD)] {
            probe.run.write("x.rts", asks).expect("right");
            let mut seen = 0;
            probe.send_and_look(b"x", |p| tell(p, BAD | ASKS_FIRST), |_, p| seen = flags(p));
            assert_eq!(seen, expected);
        }
    }
}
