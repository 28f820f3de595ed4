//! Associates this 802.11 station with an access point.
//!
//! # What it does
//! Its handler sends an association request. A response that says it is well makes the station
//! associated, one that ends the association undoes that; rates of the response are noted. Both end
//! here.
//!
//! # Handlers
//! - `send_assoc_req`: sends the request
//! - `associated`: whether the access point has taken it up
//! - `eth`: this station's address
//!
//! # Example
//! ```click
//! w :: WirelessInfo(SSID "net", BSSID 2:0:0:0:0:1, CHANNEL 11);
//! r :: AvailableRates(DEFAULT 2 4 11 22);
//! FromDevice(wlan0) -> Classifier(0/10%fc)
//!     -> a :: AssociationRequester(ETH 2:0:0:0:0:2, WIRELESS_INFO w, RT r)
//!     -> SetTXRate(2) -> Queue -> ExtraEncap -> ToDevice(wlan0);
//! Script(wait 1s, write a.send_assoc_req)
//! ```

use super::shared::wifi_stations::{self as stations, Management, capability, subtype};
use crate::args::addresses::{EtherAddress, parse_ether};
use crate::args::{Args, Kind, Need, flag, keyword, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, ElementId, Handler};
use crate::reason::Reason;
use trammel_packet::batch::Batch;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "AssociationRequester",
    "associates this station with an access point",
    || Box::<AssociationRequester>::default(),
)
.ports("1/1", "h/h")
.references(&["IEEE 802.11-2020, §11.3.5"])
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
.ops("parse(48); deparse(64); work(200)");

#[derive(Debug, Default)]
struct AssociationRequester {
    station: [u8; 6],
    info: Option<ElementId>,
    rates: Option<ElementId>,
    is_associated: bool,
}

impl AssociationRequester {
    /// Heeds a frame; gives who told which rates.
    fn heed(&mut self, data: &[u8], ours: [u8; 6]) -> Option<([u8; 6], Vec<u8>)> {
        let frame = Management::read(data)?;
        match frame.subtype {
            subtype::ASSOCIATION_RESPONSE => {
                frame.word(4)?;
                self.is_associated |= frame.word(2) == Some(0);
                Some((frame.bssid, frame.rates(6)))
            }
            subtype::DISASSOCIATION => {
                self.is_associated &= frame.bssid != ours;
                None
            }
            _ => None,
        }
    }
}

impl Element for AssociationRequester {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.station = args.ether("ETH").0;
        self.info = args.opt_element("WIRELESS_INFO").flatten();
        self.rates = args.element("RT");
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        stations::check(ctx, self.info, self.rates)
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        batch.filter(|handle| {
            let ours = stations::info(ctx, self.info).bssid;
            let told = self.heed(ctx.pool()[&handle].data(), ours);
            ctx.drop(handle, Reason::Consumed);
            if let Some((bssid, rates)) = told {
                stations::learn_rates(ctx, self.rates, bssid, &rates);
            }
            None
        });
        ctx.recycle(batch);
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("eth", "rw"),
            Handler::new("associated", "r"),
            Handler::new("send_assoc_req", "w"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "eth" => EtherAddress(self.station).to_string(),
            _ => self.is_associated.to_string(),
        })
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
        let rates = stations::rates_of(ctx, self.rates, info.bssid);
        let kind = subtype::ASSOCIATION_REQUEST;
        let mut frame = stations::management(kind, info.bssid, self.station, info.bssid);
        let private = if info.is_private {
            capability::PRIVACY
        } else {
            0
        };
        let interval = if self.info.is_some() {
            info.interval_ms as u16
        } else {
            1
        };
        frame.extend((capability::ESS | private).to_le_bytes());
        frame.extend(interval.to_le_bytes());
        stations::put_name(&mut frame, &info.name);
        let more = stations::put_rates(&mut frame, &rates, info.is_5_ghz());
        stations::put_more_rates(&mut frame, &more);
        stations::send(ctx, &frame);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::wifi::shared::wifi_stations::{management, subtype};
    use crate::load::testing::loaded;
    use crate::probe::Probe;

    const ELEMENTS: &str =
        "w :: WirelessInfo(SSID net, BSSID 2:2:2:2:2:2); r :: AvailableRates(DEFAULT 2 4)";

    #[test]
    fn an_access_point_takes_the_station_up() {
        let mut run = loaded(&format!(
            "{ELEMENTS}; Idle -> a :: AssociationRequester(ETH 4:4:4:4:4:4, WIRELESS_INFO w, RT r) \
             -> AssociationResponder(WIRELESS_INFO w, RT r) -> PrintWifi -> q :: Queue \
             -> u :: Unqueue -> a; \
             Script(write a.send_assoc_req)"
        ));
        run.run(1.0);
        assert_eq!(run.read("a.associated"), "true");
        assert!(run.read("r.rates").contains("02-02-02-02-02-02  2 4"));
        let said = run.host.memory().said.clone();
        assert!(
            said.contains("assoc_resp [ESS] status 0 success associd 49152"),
            "{said}"
        );
    }

    #[test]
    fn only_our_access_point_ends_it() {
        let mut probe = Probe::new(
            &format!("AssociationRequester(RT r, WIRELESS_INFO w); {ELEMENTS}"),
            1,
        );
        let mut well = management(subtype::ASSOCIATION_RESPONSE, [4; 6], [2; 6], [2; 6]);
        well.extend([1, 0, 0, 0, 1, 0xC0]);
        probe.send(&well);
        assert_eq!(probe.run.read("x.associated"), "true");
        for (bssid, left) in [([6; 6], "true"), ([2; 6], "false")] {
            probe.send(&management(subtype::DISASSOCIATION, [4; 6], bssid, bssid));
            assert_eq!(probe.run.read("x.associated"), left);
        }
    }
}
