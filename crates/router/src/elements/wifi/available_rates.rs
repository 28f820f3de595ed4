//! Holds the rates of 802.11 stations.
//!
//! # What it does
//! It has no ports. Elements that name it by `RT` look rates up here, and note those that stations
//! tell. An argument is a station's address, or `DEFAULT` for stations of which nothing is known,
//! and rates in units of 500 kbit/s. Where there are default rates, only those are noted of what a
//! station tells.
//!
//! # Handlers
//! - `rates`: all that is known, a line a station
//! - `insert`: takes an argument as the configuration has it
//! - `remove`: forgets the station of this address
//!
//! # Example
//! ```click
//! rates :: AvailableRates(DEFAULT 2 4 11 22, 2:0:0:0:0:2 2 4);
//! Idle -> BeaconSource(WIRELESS_INFO w, RT rates) -> Discard;
//! w :: WirelessInfo(SSID "net", BSSID 2:0:0:0:0:1)
//! ```

use crate::args::addresses::{EtherAddress, parse_ether};
use crate::args::names::Names;
use crate::args::numbers::parse_uint;
use crate::args::text::split_words;
use crate::args::{Args, Kind, Need, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::element::cast;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "AvailableRates",
    "holds the rates of 802.11 stations",
    || Box::<AvailableRates>::default(),
)
.ports("0/0", "a/a")
.references(&["IEEE 802.11-2020"])
.params(&[param(
    "RATES",
    Need::Rest,
    Kind::Raw,
    "",
    "`ADDRESS RATE ...` or `DEFAULT RATE ...`, in units of 500 kbit/s",
)]);

/// Stations that are known at a time.
pub const MOST: usize = 4096;

/// The element; others reach its table.
#[derive(Debug, Default)]
pub struct AvailableRates {
    default: Vec<u8>,
    stations: BTreeMap<EtherAddress, Vec<u8>>,
}

impl AvailableRates {
    /// The rates of `station`.
    pub fn of(&self, station: EtherAddress) -> Vec<u8> {
        if station.0 == [0; 6] {
            return Vec::new();
        }
        self.stations.get(&station).unwrap_or(&self.default).clone()
    }

    /// Notes what `station` told.
    pub fn learn(&mut self, station: EtherAddress, rates: &[u8]) {
        if station.0 == [0; 6] {
            return;
        }
        let is_ours = |rate: &u8| self.default.is_empty() || self.default.contains(rate);
        let rates = rates.iter().copied().filter(is_ours).collect();
        self.set(station, rates);
    }

    fn set(&mut self, station: EtherAddress, rates: Vec<u8>) {
        if self.stations.len() >= MOST && !self.stations.contains_key(&station) {
            self.stations.pop_first();
        }
        self.stations.insert(station, rates);
    }

    fn insert(&mut self, text: &str, names: &dyn Names) -> Result<(), String> {
        let words = split_words(text);
        let [who, rates @ ..] = &words[..] else {
            return Err("an address and rates are missing".to_owned());
        };
        if rates.is_empty() {
            return Err(format!("error param {text} must have > 1 arg"));
        }
        let rates = rates.iter().map(|rate| {
            let rate = parse_uint(rate, 127).map_err(|_| {
                format!("error param {text}: '{rate}' is no rate in units of 500 kbit/s")
            });
            rate.map(|rate| rate as u8)
        });
        let rates = rates.collect::<Result<Vec<u8>, String>>()?;
        if who == "DEFAULT" {
            self.default = rates;
            return Ok(());
        }
        let station = parse_ether(who, names)
            .map_err(|_| format!("error param {text}: must start with ethernet address"))?;
        self.set(station, rates);
        Ok(())
    }
}

fn listed(rates: &[u8]) -> String {
    rates.iter().fold(String::new(), |mut text, rate| {
        write!(text, " {rate}").expect("a string takes any text");
        text
    })
}

impl Element for AvailableRates {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut said = Diagnostics::new();
        for text in args.rest() {
            if let Err(why) = self.insert(text, &setup.names()) {
                said.error(None, why);
            }
        }
        if said.is_empty() { Ok(()) } else { Err(said) }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("rates", "r"),
            Handler::new("insert", "w"),
            Handler::new("remove", "w"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        let mut text = String::new();
        if !self.default.is_empty() {
            text = format!("DEFAULT {}\n", listed(&self.default));
        }
        for (station, rates) in &self.stations {
            writeln!(text, "{station} {}", listed(rates)).expect("a string takes any text");
        }
        Ok(text)
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        if name == "insert" {
            return self.insert(value, &ctx.names());
        }
        let station = parse_ether(value.trim(), &ctx.names())
            .map_err(|_| "remove parameter must be ethernet address")?;
        self.stations.remove(&station);
        Ok(())
    }

    fn take_state(&mut self, _: &mut Ctx, old: &mut dyn Element) {
        if let Some(old) = cast::<AvailableRates>(old) {
            for (station, rates) in std::mem::take(&mut old.stations) {
                self.stations.entry(station).or_insert(rates);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::testing::{errors, loaded};

    #[test]
    fn rates_are_inserted_removed_and_listed() {
        let mut run = loaded("r :: AvailableRates(DEFAULT 2 4 11, 2:0:0:0:0:1 2); Idle -> Discard");
        run.write("r.insert", "2:0:0:0:0:2 22 4").expect("right");
        assert_eq!(
            run.read("r.rates"),
            "DEFAULT  2 4 11\n02-00-00-00-00-01  2\n02-00-00-00-00-02  22 4\n"
        );
        run.write("r.remove", "2:0:0:0:0:1").expect("right");
        assert!(!run.read("r.rates").contains("00-01"));
        for wrong in ["", "2:0:0:0:0:1", "x 2", "DEFAULT x", "DEFAULT 300"] {
            assert!(run.write("r.insert", wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn of_what_a_station_tells_only_ours_is_noted() {
        let mut table = AvailableRates::default();
        let station = EtherAddress([2; 6]);
        table.learn(station, &[2, 4, 108]);
        assert_eq!(table.of(station), [2, 4, 108]);
        table.default = vec![2, 11];
        table.learn(station, &[2, 4, 108]);
        assert_eq!(table.of(station), [2]);
        assert_eq!(table.of(EtherAddress([4; 6])), [2, 11]);
        assert!(table.of(EtherAddress([0; 6])).is_empty());
    }

    #[test]
    fn a_wrong_argument_is_told() {
        let said = errors("AvailableRates(DEFAULT); Idle -> Discard");
        assert!(said.contains("must have > 1 arg"), "{said}");
    }
}
