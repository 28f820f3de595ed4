//! Converts Ethernet frames to 802.11 data frames.
//!
//! # What it does
//! The Ethernet header goes, and an 802.11 header and that of LLC come in its place. Frames shorter
//! than an Ethernet header are dropped.
//!
//! # Handlers
//! - `mode`: between whom frames are
//! - `bssid`: the access point's address
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> WifiEncap(1, 2:0:0:0:0:1) -> SetTXRate(2) -> ExtraEncap -> Queue
//!     -> ToDevice(wlan0)
//! ```

use super::shared::wifi::{self, LLC};
use super::shared::wifi_stations as stations;
use crate::args::addresses::{EtherAddress, parse_ether};
use crate::args::kinds::UINT;
use crate::args::numbers::parse_uint;
use crate::args::{Args, Kind, flag, keyword, mandatory, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, ElementId, Handler};
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::headers::ether::Ether;
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new("WifiEncap", "converts Ethernet frames to 802.11", || {
    Box::<WifiEncap>::default()
})
.references(&["IEEE 802.11-2020, §9.3.2", "IEEE 802.2"])
.params(&[
    mandatory(
        "MODE",
        UINT,
        "between whom: 0 stations, 1 a station and its access point, \
         2 that and a station, 3 access points",
    ),
    positional("BSSID", Kind::Ether, "", "the access point's address"),
    keyword(
        "WIRELESS_INFO",
        Kind::Element,
        "",
        "the `WirelessInfo` that knows it instead",
    ),
    flag("DEBUG", "false", "has no effect"),
])
.ops("parse(14); deparse(32); work(60)");

const SNAP: [u8; 6] = [0xAA, 0xAA, 3, 0, 0, 0];

#[derive(Debug, Default)]
struct WifiEncap {
    mode: u64,
    bssid: [u8; 6],
    info: Option<ElementId>,
}

impl WifiEncap {
    fn change(&self, packet: &mut Packet, bssid: [u8; 6]) -> Result<(), Reason> {
        let ether = Ether::read(packet.data()).ok_or(Reason::TooShort)?;
        let (dst, src) = (ether.dst, ether.src);
        let kind = [packet.data()[12], packet.data()[13]];
        let addresses = match self.mode {
            1 => [bssid, src, dst],
            2 => [dst, bssid, src],
            0 | 3 => [dst, src, bssid],
            _ => return Err(Reason::Filtered),
        };
        packet.pull(Ether::LEN);
        let front = packet.push(wifi::LEN + LLC);
        front.fill(0);
        (front[0], front[1]) = (0x08, self.mode as u8);
        for (place, address) in front[4..22].chunks_exact_mut(6).zip(addresses) {
            place.copy_from_slice(&address);
        }
        front[wifi::LEN..][..6].copy_from_slice(&SNAP);
        front[wifi::LEN + 6..].copy_from_slice(&kind);
        Ok(())
    }
}

impl Element for WifiEncap {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.mode = args.uint("MODE");
        self.bssid = args.ether("BSSID").0;
        self.info = args.opt_element("WIRELESS_INFO").flatten();
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        stations::check(ctx, self.info, None)
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let bssid = match self.info {
            Some(_) => stations::info(ctx, self.info).bssid,
            None => self.bssid,
        };
        batch.filter(
            |handle| match self.change(&mut ctx.pool()[&handle], bssid) {
                Ok(()) => Some(handle),
                Err(reason) => {
                    ctx.drop(handle, reason);
                    None
                }
            },
        );
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("mode", "rw"), Handler::new("bssid", "rw")]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "mode" => self.mode.to_string(),
            _ => EtherAddress(self.bssid).to_string(),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let value = value.trim();
        if name == "mode" {
            let mode = parse_uint(value, u64::from(u32::MAX));
            self.mode = mode.map_err(|_| "mode parameter must be int")?;
        } else {
            let address = parse_ether(value, &ctx.names());
            self.bssid = address
                .map_err(|_| "bssid parameter must be ethernet address")?
                .0;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;

    const ETHER: &[u8] = b"\x02\x02\x02\x02\x02\x02\x04\x04\x04\x04\x04\x04\x08\x00bytes";

    #[test]
    fn each_direction_has_its_addresses_and_comes_back() {
        for (mode, addresses) in [(0, [2, 4, 6]), (1, [6, 4, 2]), (2, [2, 6, 4])] {
            let mut probe = Probe::new(&format!("WifiEncap({mode}, 6:6:6:6:6:6)"), 1);
            let frame = probe.send(ETHER)[0].1.clone();
            assert_eq!(frame[..2], [8, mode]);
            for (at, address) in addresses.into_iter().enumerate() {
                assert_eq!(frame[4 + 6 * at..][..6], [address; 6]);
            }
            assert_eq!(frame[24..32], *b"\xaa\xaa\x03\0\0\0\x08\0");
            assert_eq!(
                Probe::new("WifiDecap", 1).send(&frame),
                [(0, ETHER.to_vec())]
            );
            assert_eq!(probe.send(&ETHER[..13]), []);
        }
    }

    #[test]
    fn the_access_point_may_be_another_elements() {
        let mut probe = Probe::new(
            "WifiEncap(1, WIRELESS_INFO w); w :: WirelessInfo(BSSID 6:6:6:6:6:6)",
            1,
        );
        assert_eq!(probe.send(ETHER)[0].1[4..10], [6; 6]);
        probe.run.write("w.bssid", "8:8:8:8:8:8").expect("right");
        assert_eq!(probe.send(ETHER)[0].1[4..10], [8; 6]);
    }
}
