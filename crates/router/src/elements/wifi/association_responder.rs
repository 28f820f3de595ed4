//! Associates 802.11 stations with an access point.
//!
//! # What it does
//! An association request of this network's name, or of none, is answered by a response that says
//! it is well and gives the station a number. Other frames end here.
//!
//! # Example
//! ```click
//! w :: WirelessInfo(SSID "net", BSSID 2:0:0:0:0:1, CHANNEL 11);
//! r :: AvailableRates(DEFAULT 2 4 11 22);
//! FromDevice(wlan0) -> Classifier(0/00%fc) -> AssociationResponder(WIRELESS_INFO w, RT r)
//!     -> SetTXRate(2) -> Queue -> ExtraEncap -> ToDevice(wlan0)
//! ```

use super::shared::wifi_stations::{self as stations, Management, subtype};
use crate::args::{Args, Kind, Need, flag, keyword, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, ElementId};
use crate::reason::Reason;
use trammel_packet::batch::Batch;

/// The class.
pub static ENTRY: Entry = Entry::new("AssociationResponder", "associates 802.11 stations", || {
    Box::<AssociationResponder>::default()
})
.ports("1/1", "h/h")
.references(&["IEEE 802.11-2020, §11.3.5"])
.params(&[
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
.ops("parse(64); deparse(48); work(200)");

/// The two highest bits of a station's number are set.
const NUMBER: u16 = 0xC000;

#[derive(Debug, Default)]
struct AssociationResponder {
    info: Option<ElementId>,
    rates: Option<ElementId>,
    stations: u16,
}

impl Element for AssociationResponder {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.info = args.opt_element("WIRELESS_INFO").flatten();
        self.rates = args.element("RT");
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        stations::check(ctx, self.info, self.rates)
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        batch.filter(|handle| {
            let info = stations::info(ctx, self.info);
            let request = Management::read(ctx.pool()[&handle].data());
            let asker = request.filter(|frame| {
                let name = frame.name(4);
                let is_for_us = name.is_empty() || name == info.name;
                frame.subtype == subtype::ASSOCIATION_REQUEST && frame.body.len() >= 4 && is_for_us
            });
            let asker = asker.map(|frame| frame.source);
            ctx.drop(handle, Reason::Consumed);
            if let Some(asker) = asker {
                let kind = subtype::ASSOCIATION_RESPONSE;
                let mut frame = stations::management(kind, asker, info.bssid, info.bssid);
                let number = NUMBER | self.stations;
                self.stations = self.stations.wrapping_add(1);
                for word in [stations::capability::ESS, 0, number] {
                    frame.extend(word.to_le_bytes());
                }
                let rates = stations::rates_of(ctx, self.rates, info.bssid);
                let more = stations::put_rates(&mut frame, &rates, false);
                stations::put_more_rates(&mut frame, &more);
                stations::send(ctx, &frame);
            }
            None
        });
        ctx.recycle(batch);
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::wifi::shared::wifi_stations::{Management, management, put_name, subtype};
    use crate::probe::Probe;

    #[test]
    fn each_station_gets_a_number() {
        let mut probe = Probe::new(
            "AssociationResponder(WIRELESS_INFO w, RT r); \
             w :: WirelessInfo(SSID net, BSSID 2:2:2:2:2:2); r :: AvailableRates(DEFAULT 2 4)",
            1,
        );
        let mut asks = management(subtype::ASSOCIATION_REQUEST, [2; 6], [4; 6], [2; 6]);
        asks.extend([1, 0, 1, 0]);
        let (nameless, mut other) = (asks.clone(), asks.clone());
        put_name(&mut asks, "net");
        put_name(&mut other, "another");
        for number in [0xC000, 0xC001] {
            let frame = probe.send(&asks)[0].1.clone();
            let answer = Management::read(&frame).expect("it is one");
            assert_eq!(answer.subtype, subtype::ASSOCIATION_RESPONSE);
            let words = [0, 2, 4].map(|at| answer.word(at).expect("it is there"));
            assert_eq!(words, [1, 0, number]);
            assert_eq!(answer.rates(6), [0x82, 4]);
        }
        assert_eq!(probe.send(&other), []);
        assert_eq!(probe.send(&nameless).len(), 1);
        assert_eq!(probe.send(&nameless[..27]), []);
        assert_eq!(probe.held(), 0);
    }
}
