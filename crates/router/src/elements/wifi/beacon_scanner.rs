//! Lists the 802.11 networks heard.
//!
//! # What it does
//! Beacons and answers to probes pass, and what they tell is kept. Other frames are dropped.
//!
//! # Handlers
//! - `scan`: the networks, a line each
//! - `reset`: forgets them
//!
//! # Example
//! ```click
//! FromDevice(wlan0) -> ExtraDecap -> Classifier(0/80%fc) -> s :: BeaconScanner -> Discard;
//! Script(wait 10s, print s.scan, stop)
//! ```

use super::shared::wifi::{self, Field};
use super::shared::wifi_stations::{self as stations, Management, element, subtype};
use crate::args::addresses::EtherAddress;
use crate::args::{Args, Kind, keyword};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, ElementId, Handler};
use crate::reason::Reason;
use std::collections::BTreeMap;
use std::fmt::Write;
use trammel_packet::batch::Packets;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new("BeaconScanner", "lists the 802.11 networks heard", || {
    Box::<BeaconScanner>::default()
})
.references(&["IEEE 802.11-2020, §9.3.3.2"])
.params(&[
    keyword(
        "RT",
        Kind::Element,
        "",
        "the `AvailableRates` that notes rates",
    ),
    keyword(
        "WIRELESS_INFO",
        Kind::Element,
        "",
        "the `WirelessInfo` whose channel alone counts, where it has one",
    ),
    keyword("DEBUG", Kind::Bool, "false", "has no effect"),
])
.ops("parse(64); work(300)");

/// Networks that are known at a time.
const MOST: usize = 4096;
/// Where the information elements begin, behind the time, the interval and the capability field.
pub(super) const BODY: usize = 12;

#[derive(Debug, Default)]
struct Heard {
    name: String,
    channel: i64,
    signal: u8,
    capability: u16,
    interval: u16,
    rates: Vec<u8>,
    last: Timestamp,
}

#[derive(Debug, Default)]
struct BeaconScanner {
    rates: Option<ElementId>,
    info: Option<ElementId>,
    networks: BTreeMap<[u8; 6], Heard>,
}

/// Whether a frame tells of a network.
pub(super) fn tells(frame: &Management<'_>) -> bool {
    matches!(frame.subtype, subtype::BEACON | subtype::PROBE_RESPONSE) && frame.body.len() >= BODY
}

impl BeaconScanner {
    fn hear(&mut self, ctx: &mut Ctx, frame: &Management<'_>, signal: u8) {
        let wanted = stations::info(ctx, self.info).channel;
        let channel = frame.find(BODY, element::CHANNEL);
        let channel = channel.and_then(<[u8]>::first).copied().map(i64::from);
        if wanted > 0 && channel.is_some_and(|channel| channel != wanted) {
            return;
        }
        if self.networks.len() >= MOST && !self.networks.contains_key(&frame.bssid) {
            self.networks.pop_first();
        }
        let heard = self.networks.entry(frame.bssid).or_default();
        let name = frame.name(BODY);
        if !name.is_empty() {
            heard.name = name;
        }
        heard.channel = channel.unwrap_or(-1);
        heard.signal = signal;
        heard.interval = frame.word(8).unwrap_or_default();
        heard.capability = frame.word(10).unwrap_or_default();
        heard.rates = frame.rates(BODY);
        heard.last = ctx.now();
        stations::learn_rates(ctx, self.rates, frame.bssid, &frame.rates(BODY));
    }
}

impl Element for BeaconScanner {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.rates = args.opt_element("RT").flatten();
        self.info = args.opt_element("WIRELESS_INFO").flatten();
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        stations::check(ctx, self.info, self.rates)
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            let packet = &ctx.pool()[&handle];
            let (data, signal) = (packet.data().to_vec(), wifi::field(packet, Field::Signal));
            match Management::read(&data).filter(tells) {
                Some(frame) => self.hear(ctx, &frame, signal),
                None => {
                    ctx.drop(handle, Reason::NoMatch);
                    return None;
                }
            }
            Some(handle)
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("scan", "r"), Handler::new("reset", "wb")]
    }

    fn read(&mut self, ctx: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        let (now, mut text) = (ctx.now(), String::new());
        for (bssid, heard) in &self.networks {
            let name = if heard.name.is_empty() {
                "(none)"
            } else {
                &heard.name
            };
            writeln!(
                text,
                "{} channel {} rssi {} ssid {name} beacon_interval {} last_rx {} {}",
                EtherAddress(*bssid),
                heard.channel,
                heard.signal,
                heard.interval,
                now - heard.last,
                stations::offer_text(heard.capability, &heard.rates)
            )
            .expect("a string takes any text");
        }
        Ok(text)
    }

    fn write(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<(), String> {
        self.networks.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::wifi::shared::wifi_stations::{
        EVERYBODY, management, put, put_name, put_rates, subtype,
    };
    use crate::probe::Probe;

    fn beacon(channel: u8, name: &str) -> Vec<u8> {
        let mut frame = management(subtype::BEACON, EVERYBODY, [2; 6], [2; 6]);
        frame.extend([0, 0, 0, 0, 0, 0, 0, 0, 100, 0, 0x11, 0]);
        put_name(&mut frame, name);
        put_rates(&mut frame, &[2, 4], false);
        put(&mut frame, 3, &[channel]);
        frame
    }

    #[test]
    fn what_networks_tell_is_kept() {
        let mut probe = Probe::new("BeaconScanner(RT r); r :: AvailableRates", 1);
        assert_eq!(probe.send(&beacon(6, "net")).len(), 1);
        assert_eq!(probe.send(&beacon(6, "")).len(), 1);
        let scan = probe.run.read("x.scan");
        assert!(
            scan.contains("channel 6 rssi 0 ssid net beacon_interval 100"),
            "{scan}"
        );
        assert!(scan.contains("[ ESS PRIVACY ] ( { 2 } 4 )"), "{scan}");
        assert!(probe.run.read("r.rates").contains(" 2 4"));
        assert_eq!(probe.send(&management(0xC0, [2; 6], [2; 6], [2; 6])), []);
        probe.run.write("x.reset", "").expect("right");
        assert_eq!(probe.run.read("x.scan"), "");
        let whole = beacon(6, "net");
        for len in 0..whole.len() {
            probe.send(&whole[..len]);
        }
        assert_eq!(probe.held(), 0);
    }

    #[test]
    fn of_another_channel_nothing_is_kept() {
        let mut probe = Probe::new(
            "BeaconScanner(WIRELESS_INFO w); w :: WirelessInfo(CHANNEL 11)",
            1,
        );
        probe.send(&beacon(6, "net"));
        assert_eq!(probe.run.read("x.scan"), "");
    }
}
