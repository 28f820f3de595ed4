//! Authenticates an 802.11 station with its access point.
//!
//! # What it does
//! Its handler sends the first frame of an open authentication. The answers end here.
//!
//! # Handlers
//! - `send_auth_req`: sends the first frame
//! - `eth`: this station's address
//!
//! # Example
//! ```click
//! w :: WirelessInfo(SSID "net", BSSID 2:0:0:0:0:1, CHANNEL 11);
//! FromDevice(wlan0) -> Classifier(0/b0%fc)
//!     -> a :: OpenAuthRequester(ETH 2:0:0:0:0:2, WIRELESS_INFO w)
//!     -> SetTXRate(2) -> Queue -> ExtraEncap -> ToDevice(wlan0);
//! Script(wait 1s, write a.send_auth_req)
//! ```

use super::open_auth_responder::frame;
use super::shared::wifi_stations as stations;
use crate::args::addresses::{EtherAddress, parse_ether};
use crate::args::{Args, Kind, flag, keyword};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, ElementId, Handler};
use crate::reason::Reason;
use trammel_packet::batch::Batch;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "OpenAuthRequester",
    "authenticates an 802.11 station",
    || Box::<OpenAuthRequester>::default(),
)
.ports("1/1", "h/h")
.references(&["IEEE 802.11-2020, §12.3.3.2"])
.params(&[
    keyword("ETH", Kind::Ether, "", "the address of this station"),
    keyword(
        "WIRELESS_INFO",
        Kind::Element,
        "",
        "the `WirelessInfo` that knows the network",
    ),
    flag("DEBUG", "false", "has no effect"),
])
.ops("parse(30); deparse(30); work(120)");

#[derive(Debug, Default)]
struct OpenAuthRequester {
    station: [u8; 6],
    info: Option<ElementId>,
}

impl Element for OpenAuthRequester {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.station = args.ether("ETH").0;
        self.info = args.opt_element("WIRELESS_INFO").flatten();
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        stations::check(ctx, self.info, None)
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        batch.filter(|handle| {
            ctx.drop(handle, Reason::Consumed);
            None
        });
        ctx.recycle(batch);
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("eth", "rw"),
            Handler::new("send_auth_req", "w"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(EtherAddress(self.station).to_string())
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        if name == "eth" {
            let address = parse_ether(value.trim(), &ctx.names());
            self.station = address
                .map_err(|_| "eth parameter must be ethernet address")?
                .0;
            return Ok(());
        }
        let bssid = stations::info(ctx, self.info).bssid;
        stations::send(ctx, &frame(1, bssid, self.station, bssid));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn a_station_authenticates_when_it_is_told_to() {
        let mut run = loaded(
            "w :: WirelessInfo(BSSID 2:0:0:0:0:1); \
             Idle -> a :: OpenAuthRequester(ETH 2:0:0:0:0:2, WIRELESS_INFO w) -> c :: Counter \
             -> OpenAuthResponder(WIRELESS_INFO w) -> d :: Counter -> Discard; \
             Script(wait 1s, write a.send_auth_req)",
        );
        run.run(2.0);
        assert_eq!(
            (run.read("c.count"), run.read("d.count")),
            ("1".into(), "1".into())
        );
        assert_eq!(run.read("c.byte_count"), "30");
        assert!(run.write("a.eth", "x").is_err());
    }
}
