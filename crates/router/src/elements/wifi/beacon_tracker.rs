//! Counts the beacons of the station's access point.
//!
//! # What it does
//! Beacons and answers to probes of the access point that the `WirelessInfo` knows pass and are
//! counted; all else is dropped.
//!
//! # Handlers
//! - `stats`: of the beacons that should have come in the last `TRACK` intervals, how many did, in
//!   percent
//! - `track`, `beacon_interval`: as the argument; what the beacons say
//! - `reset`: begins anew
//!
//! # Example
//! ```click
//! w :: WirelessInfo(BSSID 2:0:0:0:0:1);
//! FromDevice(wlan0) -> ExtraDecap -> Classifier(0/80%fc)
//!     -> BeaconTracker(WIRELESS_INFO w, TRACK 10) -> Discard
//! ```

use super::beacon_scanner::tells;
use super::shared::wifi_stations::{self as stations, Management};
use crate::args::kinds::UINT;
use crate::args::{Args, Kind, Need, flag, keyword, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, ElementId, Handler};
use crate::reason::Reason;
use std::collections::VecDeque;
use trammel_packet::batch::Packets;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "BeaconTracker",
    "counts the beacons of an access point",
    || Box::<BeaconTracker>::default(),
)
.references(&["IEEE 802.11-2020, §9.3.3.2"])
.params(&[
    param(
        "WIRELESS_INFO",
        Need::KeywordMandatory,
        Kind::Element,
        "",
        "the `WirelessInfo` that knows the access point",
    ),
    keyword(
        "TRACK",
        UINT,
        "10",
        "over how many intervals beacons are counted",
    ),
    flag("DEBUG", "false", "has no effect"),
])
.ops("parse(36); work(100)");

/// Beacons that are remembered at most.
const MOST: usize = 1 << 16;
const MS: i64 = 1_000_000;

#[derive(Debug, Default)]
struct BeaconTracker {
    info: Option<ElementId>,
    track: i64,
    interval_ms: i64,
    beacons: VecDeque<Timestamp>,
    start: Option<Timestamp>,
}

impl BeaconTracker {
    fn trim(&mut self, now: Timestamp) {
        let span = self
            .track
            .saturating_mul(self.interval_ms)
            .saturating_mul(MS);
        while let Some(first) = self.beacons.front()
            && (now.0.saturating_sub(first.0) > span || self.beacons.len() > MOST)
        {
            self.beacons.pop_front();
        }
    }
}

impl Element for BeaconTracker {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.info = args.element("WIRELESS_INFO");
        self.track = args.uint("TRACK") as i64;
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.start = Some(ctx.now());
        stations::check(ctx, self.info, None)
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let (now, ours) = (ctx.now(), stations::info(ctx, self.info).bssid);
        batch.filter(|handle| {
            let frame = Management::read(ctx.pool()[&handle].data());
            match frame.filter(|frame| tells(frame) && frame.bssid == ours) {
                Some(frame) => {
                    self.interval_ms = i64::from(frame.word(8).unwrap_or_default());
                    self.beacons.push_back(now);
                    self.trim(now);
                    Some(handle)
                }
                None => {
                    ctx.drop(handle, Reason::NoMatch);
                    None
                }
            }
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("stats", "r"),
            Handler::new("track", "r"),
            Handler::new("beacon_interval", "r"),
            Handler::new("reset", "wb"),
        ]
    }

    fn read(&mut self, ctx: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "track" => self.track.to_string(),
            "beacon_interval" => self.interval_ms.to_string(),
            _ => {
                let now = ctx.now();
                self.trim(now);
                let since = now.0 - self.start.unwrap_or(now).0;
                // Differs from Click, which takes milliseconds for intervals.
                let passed = since / (self.interval_ms.max(1) * MS);
                let expected = passed.min(self.track).max(1);
                (self.beacons.len() as i64 * 100 / expected)
                    .min(100)
                    .to_string()
            }
        })
    }

    fn write(&mut self, ctx: &mut Ctx, _: &str, _: &str) -> Result<(), String> {
        self.beacons.clear();
        self.start = Some(ctx.now());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn the_share_of_beacons_heard_is_told() {
        let mut run = loaded(
            "w :: WirelessInfo(SSID net, BSSID 2:0:0:0:0:1, INTERVAL 100); \
             r :: AvailableRates; Idle -> BeaconSource(WIRELESS_INFO w, RT r) \
             -> s :: Switch -> t :: BeaconTracker(WIRELESS_INFO w, TRACK 10) -> Discard; s[1] \
             -> Discard",
        );
        run.run(2.05);
        assert_eq!(
            (run.read("t.stats"), run.read("t.beacon_interval")),
            ("100".into(), "100".into())
        );
        run.write("s.switch", "1").expect("right");
        run.run(0.5);
        assert_eq!(run.read("t.stats"), "50");
        run.write("w.bssid", "4:4:4:4:4:4").expect("right");
        run.write("s.switch", "0").expect("right");
        run.write("t.reset", "").expect("right");
        run.run(1.0);
        assert_ne!(run.read("t.stats"), "50");
    }
}
