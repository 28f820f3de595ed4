//! Answers 802.11 probe requests.
//!
//! # What it does
//! A probe request of this network's name, or of none, is answered. Other frames end here.
//!
//! # Handlers
//! - `bssid`, `ssid`, `channel`, `interval`: as the arguments
//!
//! # Example
//! ```click
//! r :: AvailableRates(DEFAULT 2 4 11 22);
//! FromDevice(wlan0) -> Classifier(0/40%fc)
//!     -> ProbeResponder(SSID "net", BSSID 2:0:0:0:0:1, CHANNEL 11, INTERVAL 100, RT r)
//!     -> SetTXRate(2) -> Queue -> ExtraEncap -> ToDevice(wlan0)
//! ```

use super::beacon_source::{asker, offer};
use super::shared::wifi_stations::{self as stations, subtype};
use super::wireless_info::Info;
use crate::args::addresses::{EtherAddress, parse_ether};
use crate::args::kinds::{INT, UINT};
use crate::args::numbers::parse_int;
use crate::args::{Args, Kind, Need, flag, keyword, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, ElementId, Handler};
use crate::reason::Reason;
use trammel_packet::batch::Batch;

/// The class.
pub static ENTRY: Entry = Entry::new("ProbeResponder", "answers 802.11 probe requests", || {
    Box::<ProbeResponder>::default()
})
.ports("1/1", "h/h")
.references(&["IEEE 802.11-2020, §11.1.4"])
.params(&[
    keyword("SSID", Kind::Text, "", "the network's name"),
    keyword("BSSID", Kind::Ether, "", "the access point's address"),
    keyword("CHANNEL", INT, "0", "the channel"),
    keyword("INTERVAL", UINT, "0", "milliseconds between two beacons"),
    param(
        "RT",
        Need::KeywordMandatory,
        Kind::Element,
        "",
        "the `AvailableRates` that knows rates",
    ),
    flag("DEBUG", "false", "has no effect"),
])
.ops("parse(24); deparse(64); work(200)");

#[derive(Debug, Default)]
struct ProbeResponder {
    info: Info,
    rates: Option<ElementId>,
}

impl Element for ProbeResponder {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.info = Info {
            name: args.text("SSID").to_owned(),
            bssid: args.ether("BSSID").0,
            channel: args.int("CHANNEL"),
            interval_ms: args.uint("INTERVAL") as u32,
            is_private: false,
        };
        self.rates = args.element("RT");
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        stations::check(ctx, None, self.rates)
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        batch.filter(|handle| {
            let asker = asker(ctx.pool()[&handle].data(), &self.info.name);
            ctx.drop(handle, Reason::Consumed);
            if let Some(asker) = asker {
                let rates = stations::rates_of(ctx, self.rates, self.info.bssid);
                let frame = offer(subtype::PROBE_RESPONSE, asker, &self.info, &rates);
                stations::send(ctx, &frame);
            }
            None
        });
        ctx.recycle(batch);
    }

    fn handlers(&self) -> Vec<Handler> {
        ["bssid", "ssid", "channel", "interval"]
            .map(|name| Handler::new(name, "rw"))
            .to_vec()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "bssid" => EtherAddress(self.info.bssid).to_string(),
            "ssid" => self.info.name.clone(),
            "channel" => self.info.channel.to_string(),
            _ => self.info.interval_ms.to_string(),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let value = value.trim();
        let number = || parse_int(value, 0, i64::from(i32::MAX));
        match name {
            "bssid" => {
                let address = parse_ether(value, &ctx.names());
                let address = address.map_err(|_| "bssid parameter must be ethernet address")?;
                self.info.bssid = address.0;
            }
            "ssid" => self.info.name = value.trim_matches('"').to_owned(),
            "channel" => {
                self.info.channel = number().map_err(|_| "channel parameter must be int")?;
            }
            _ => {
                let interval = number().map_err(|_| "interval parameter must be int")?;
                self.info.interval_ms = interval as u32;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::wifi::shared::wifi_stations::{EVERYBODY, management, put_name, subtype};
    use crate::probe::Probe;

    #[test]
    fn requests_for_this_network_are_answered() {
        let mut probe = Probe::new(
            "ProbeResponder(SSID net, BSSID 2:0:0:0:0:1, CHANNEL 6, INTERVAL 100, RT r); \
             r :: AvailableRates",
            1,
        );
        let mut asks = management(subtype::PROBE_REQUEST, EVERYBODY, [4; 6], EVERYBODY);
        put_name(&mut asks, "net");
        assert_eq!(
            probe.send(&asks)[0].1[..10],
            [0x50, 0, 0, 0, 4, 4, 4, 4, 4, 4]
        );
        probe.run.write("x.ssid", "other").expect("right");
        assert_eq!(probe.send(&asks), []);
    }
}
