//! Sends 802.11 beacons, and answers probe requests.
//!
//! # What it does
//! A beacon leaves each `INTERVAL` of the `WirelessInfo`. A probe request that comes in, of this
//! network's name or of none, is answered. Frames come and go without a driver's header.
//!
//! # Example
//! ```click
//! w :: WirelessInfo(SSID "net", BSSID 2:0:0:0:0:1, CHANNEL 11);
//! r :: AvailableRates(DEFAULT 2 4 11 22);
//! FromDevice(wlan0) -> Classifier(0/40%fc) -> BeaconSource(WIRELESS_INFO w, RT r)
//!     -> SetTXRate(2) -> Queue -> ExtraEncap -> ToDevice(wlan0)
//! ```

use super::shared::wifi_stations::{self as stations, Management, subtype};
use crate::args::{Args, Kind, Need, flag, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element, ElementId};
use crate::reason::Reason;
use trammel_packet::batch::Batch;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new("BeaconSource", "sends 802.11 beacons", || {
    Box::<BeaconSource>::default()
})
.ports("1/1", "h/h")
.references(&["IEEE 802.11-2020, §11.1.4"])
.params(&[
    param(
        "WIRELESS_INFO",
        Need::KeywordMandatory,
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
.ops("parse(24); deparse(64); work(200)");

#[derive(Debug, Default)]
struct BeaconSource {
    info: Option<ElementId>,
    rates: Option<ElementId>,
    timer: Option<TimerId>,
}

/// Tells of the network in a frame of this kind.
pub(super) fn offer(
    kind: u8,
    to: [u8; 6],
    info: &super::wireless_info::Info,
    rates: &[u8],
) -> Vec<u8> {
    let mut frame = stations::management(kind, to, info.bssid, info.bssid);
    // The driver writes the time.
    frame.extend([0; 8]);
    frame.extend((info.interval_ms as u16).to_le_bytes());
    frame.extend(stations::capability::ESS.to_le_bytes());
    stations::put_name(&mut frame, &info.name);
    let more = stations::put_rates(&mut frame, rates, false);
    stations::put(
        &mut frame,
        stations::element::CHANNEL,
        &[info.channel as u8],
    );
    stations::put(&mut frame, stations::element::TRAFFIC, &[0, 1, 0, 0]);
    stations::put_more_rates(&mut frame, &more);
    frame
}

/// Who asks for this network by the probe request in `data`.
pub(super) fn asker(data: &[u8], name: &str) -> Option<[u8; 6]> {
    let request = Management::read(data)?;
    let asked = request.name(0);
    let is_for_us = asked.is_empty() || asked == name;
    (request.subtype == subtype::PROBE_REQUEST && is_for_us).then_some(request.source)
}

impl BeaconSource {
    fn tell(&self, ctx: &mut Ctx, kind: u8, to: [u8; 6]) {
        let info = stations::info(ctx, self.info);
        let rates = stations::rates_of(ctx, self.rates, info.bssid);
        stations::send(ctx, &offer(kind, to, &info, &rates));
    }

    fn again(&self, ctx: &mut Ctx) {
        if let Some(timer) = self.timer {
            let interval = stations::info(ctx, self.info).interval_ms.max(1);
            ctx.set_timer_after(timer, Timestamp(i64::from(interval) * 1_000_000));
        }
    }
}

impl Element for BeaconSource {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.info = args.element("WIRELESS_INFO");
        self.rates = args.element("RT");
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        stations::check(ctx, self.info, self.rates)?;
        self.timer = Some(ctx.new_timer(0));
        self.again(ctx);
        Ok(())
    }

    fn run_timer(&mut self, ctx: &mut Ctx, _: u32) {
        self.tell(ctx, subtype::BEACON, stations::EVERYBODY);
        self.again(ctx);
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        batch.filter(|handle| {
            let name = stations::info(ctx, self.info).name;
            let asker = asker(ctx.pool()[&handle].data(), &name);
            ctx.drop(handle, Reason::Consumed);
            if let Some(asker) = asker {
                self.tell(ctx, subtype::PROBE_RESPONSE, asker);
            }
            None
        });
        ctx.recycle(batch);
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::wifi::shared::wifi_stations::{
        EVERYBODY, Management, management, put_name, subtype,
    };
    use crate::load::testing::loaded;
    use crate::probe::Probe;

    const ELEMENTS: &str = "w :: WirelessInfo(SSID net, BSSID 2:0:0:0:0:1, CHANNEL 11, \
        INTERVAL 100); \
        r :: AvailableRates(DEFAULT 2 4 11 22)";

    #[test]
    fn beacons_leave_at_intervals_and_a_scanner_hears_them() {
        let mut run = loaded(&format!(
            "{ELEMENTS}; Idle -> BeaconSource(WIRELESS_INFO w, RT r) -> s :: BeaconScanner \
             -> c :: Counter -> Discard"
        ));
        run.run(1.05);
        assert_eq!(run.read("c.count"), "10");
        let scan = run.read("s.scan");
        assert!(
            scan.starts_with("02-00-00-00-00-01 channel 11 rssi 0 ssid net beacon_interval 100"),
            "{scan}"
        );
        assert!(scan.contains("[ ESS ] ( { 2 } 4 11 22 )"), "{scan}");
    }

    #[test]
    fn those_that_ask_are_answered() {
        let mut probe = Probe::new(
            &format!("BeaconSource(WIRELESS_INFO w, RT r); {ELEMENTS}"),
            1,
        );
        for (name, answers) in [("net", 1), ("", 1), ("other", 0)] {
            let mut asks = management(subtype::PROBE_REQUEST, EVERYBODY, [4; 6], EVERYBODY);
            put_name(&mut asks, name);
            let left = probe.send(&asks);
            assert_eq!(left.len(), answers, "{name}");
            for (_, frame) in left {
                let answer = Management::read(&frame).expect("it is one");
                assert_eq!((answer.subtype, answer.name(12)), (0x50, "net".into()));
                assert_eq!(frame[4..10], [4; 6]);
            }
        }
        assert_eq!(probe.send(b"short"), []);
        assert_eq!(probe.held(), 0);
    }
}
