//! Probes for 802.11 networks.
//!
//! # What it does
//! Its handler sends a probe request of the network's name, of any where the `WirelessInfo` has
//! none.
//!
//! # Handlers
//! - `send_probe`: asks
//! - `eth`: this station's address
//!
//! # Example
//! ```click
//! w :: WirelessInfo(SSID "net", BSSID 2:0:0:0:0:1, CHANNEL 11);
//! r :: AvailableRates(DEFAULT 2 4 11 22);
//! p :: ProbeRequester(ETH 2:0:0:0:0:2, WIRELESS_INFO w, RT r)
//!     -> SetTXRate(2) -> Queue -> ExtraEncap -> ToDevice(wlan0);
//! Script(wait 1s, write p.send_probe)
//! ```

use super::shared::wifi_stations::{self as stations, subtype};
use crate::args::addresses::{EtherAddress, parse_ether};
use crate::args::{Args, Kind, Need, flag, keyword, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, ElementId, Handler};

/// The class.
pub static ENTRY: Entry = Entry::new("ProbeRequester", "probes for 802.11 networks", || {
    Box::<ProbeRequester>::default()
})
.ports("0/1", "h/h")
.references(&["IEEE 802.11-2020, §11.1.4"])
.params(&[
    keyword("ETH", Kind::Ether, "", "the address of this station"),
    keyword(
        "WIRELESS_INFO",
        Kind::Element,
        "",
        "the `WirelessInfo` that knows the network",
    ),
    param(
        "RT",
        Need::KeywordMandatory,
        Kind::Element,
        "",
        "the `AvailableRates` that knows rates",
    ),
    flag("DEBUG", "false", "has no effect"),
])
.ops("deparse(64); work(120)");

#[derive(Debug, Default)]
struct ProbeRequester {
    station: [u8; 6],
    info: Option<ElementId>,
    rates: Option<ElementId>,
}

impl Element for ProbeRequester {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.station = args.ether("ETH").0;
        self.info = args.opt_element("WIRELESS_INFO").flatten();
        self.rates = args.element("RT");
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        stations::check(ctx, self.info, self.rates)
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("eth", "rw"), Handler::new("send_probe", "w")]
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
        let info = stations::info(ctx, self.info);
        let rates = stations::rates_of(ctx, self.rates, self.station);
        let to = stations::EVERYBODY;
        let mut frame = stations::management(subtype::PROBE_REQUEST, to, self.station, to);
        stations::put_name(&mut frame, &info.name);
        let more = stations::put_rates(&mut frame, &rates, info.is_5_ghz());
        stations::put_more_rates(&mut frame, &more);
        stations::send(ctx, &frame);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn an_access_point_answers_the_request() {
        let mut run = loaded(
            "w :: WirelessInfo(SSID net, BSSID 2:0:0:0:0:1, CHANNEL 11, INTERVAL 100000); \
             r :: AvailableRates(DEFAULT 2 4); \
             p :: ProbeRequester(ETH 2:0:0:0:0:2, WIRELESS_INFO w, RT r) \
             -> PrintWifi -> BeaconSource(WIRELESS_INFO w, RT r) -> s :: BeaconScanner(RT r) \
             -> Discard; \
             Script(wait 1s, write p.send_probe)",
        );
        run.run(2.0);
        assert!(run.read("s.scan").contains("ssid net"));
        let said = run.host.memory().said.clone();
        assert!(
            said.contains("mgmt probe_req ssid net ({2} 4) FF-FF-FF"),
            "{said}"
        );
    }
}
