//! Holds what stations and access points of one 802.11 network know of it.
//!
//! # What it does
//! It has no ports. Elements that name it by `WIRELESS_INFO` ask it for the network's name, its
//! access point, the channel and the time between beacons.
//!
//! # Handlers
//! - `ssid`, `bssid`, `channel`, `interval`, `wep`: what is known
//! - `reset`: forgets it
//!
//! # Example
//! ```click
//! winfo :: WirelessInfo(SSID "net", BSSID 2:0:0:0:0:1, CHANNEL 11);
//! FromDevice(eth0) -> WifiEncap(2, WIRELESS_INFO winfo) -> ExtraEncap -> Queue -> ToDevice(wlan0)
//! ```

use crate::args::addresses::{EtherAddress, parse_ether};
use crate::args::kinds::{INT, UINT};
use crate::args::numbers::{parse_bool, parse_int};
use crate::args::{Args, Kind, Need, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::element::cast;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};

/// The class.
pub static ENTRY: Entry = Entry::new(
    "WirelessInfo",
    "holds the parameters of an 802.11 network",
    || Box::<WirelessInfo>::default(),
)
.ports("0/0", "a/a")
.references(&["IEEE 802.11-2020"])
.params(&[
    param("SSID", Need::Keyword, Kind::Text, "", "the network's name"),
    param(
        "BSSID",
        Need::Keyword,
        Kind::Ether,
        "",
        "the access point's address",
    ),
    param(
        "CHANNEL",
        Need::Keyword,
        INT,
        "-1",
        "the channel; below 1 for any",
    ),
    param(
        "INTERVAL",
        Need::Keyword,
        UINT,
        "100",
        "milliseconds between two beacons",
    ),
    param(
        "WEP",
        Need::Keyword,
        Kind::Bool,
        "false",
        "whether frames are encrypted",
    ),
    param(
        "IFID",
        Need::Keyword,
        INT,
        "-1",
        "has no effect: an interface of a simulator",
    ),
]);

/// What is known of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// Its name.
    pub name: String,
    /// The access point's address.
    pub bssid: [u8; 6],
    /// Its channel; below 1 for any.
    pub channel: i64,
    /// Milliseconds between two beacons.
    pub interval_ms: u32,
    /// Whether frames are encrypted.
    pub is_private: bool,
}

impl Default for Info {
    fn default() -> Info {
        Info {
            name: String::new(),
            bssid: [0; 6],
            channel: -1,
            interval_ms: 100,
            is_private: false,
        }
    }
}

impl Info {
    /// Whether the channel is one of the band at 5 GHz.
    pub fn is_5_ghz(&self) -> bool {
        self.channel > 15
    }
}

/// The element; others reach what it knows.
#[derive(Debug, Default)]
pub struct WirelessInfo {
    /// What is known.
    pub info: Info,
}

impl Element for WirelessInfo {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.info = Info {
            name: args.text("SSID").to_owned(),
            bssid: args.ether("BSSID").0,
            channel: args.int("CHANNEL"),
            interval_ms: args.uint("INTERVAL") as u32,
            is_private: args.bool("WEP"),
        };
        Ok(())
    }

    fn handlers(&self) -> Vec<Handler> {
        let mut handlers: Vec<Handler> = ["ssid", "bssid", "channel", "interval", "wep"]
            .map(|name| Handler::new(name, "rw"))
            .to_vec();
        handlers.push(Handler::new("reset", "wb"));
        handlers
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        let info = &self.info;
        Ok(match name {
            "ssid" => info.name.clone(),
            "bssid" => EtherAddress(info.bssid).to_string(),
            "channel" => info.channel.to_string(),
            "interval" => info.interval_ms.to_string(),
            _ => info.is_private.to_string(),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let value = value.trim();
        let number = |least| parse_int(value, least, i64::from(i32::MAX));
        let info = &mut self.info;
        match name {
            "ssid" => info.name = value.trim_matches('"').to_owned(),
            "bssid" => {
                let address = parse_ether(value, &ctx.names());
                info.bssid = address
                    .map_err(|_| "bssid parameter must be ethernet address")?
                    .0;
            }
            "channel" => {
                let channel = number(i64::from(i32::MIN));
                info.channel = channel.map_err(|_| "channel parameter must be int")?;
            }
            "interval" => {
                let interval = number(1).map_err(|_| "interval parameter must be int")?;
                info.interval_ms = interval as u32;
            }
            "wep" => {
                let wep = parse_bool(value).map_err(|_| "wep parameter must be boolean")?;
                info.is_private = wep;
            }
            _ => *info = Info::default(),
        }
        Ok(())
    }

    fn take_state(&mut self, _: &mut Ctx, old: &mut dyn Element) {
        if let Some(old) = cast::<WirelessInfo>(old) {
            self.info = old.info.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn what_is_known_can_be_asked_and_changed() {
        let mut run = loaded(
            "w :: WirelessInfo(SSID \"my net\", BSSID 2:0:0:0:0:1, CHANNEL 11); Idle -> Discard",
        );
        let all = ["ssid", "bssid", "channel", "interval", "wep"];
        let read = all.map(|name| run.read(&format!("w.{name}")));
        assert_eq!(read, ["my net", "02-00-00-00-00-01", "11", "100", "false"]);
        run.write("w.bssid", "2:0:0:0:0:2").expect("right");
        run.write("w.interval", "50").expect("right");
        assert!(run.write("w.channel", "x").is_err());
        assert_eq!(run.read("w.bssid"), "02-00-00-00-00-02");
        run.write("w.reset", "").expect("right");
        assert_eq!(
            (run.read("w.ssid"), run.read("w.channel")),
            (String::new(), "-1".into())
        );
    }
}
