//! Lets any 802.11 station authenticate.
//!
//! # What it does
//! The first frame of an open authentication is answered by the second, which says that it is well.
//! Other frames end here.
//!
//! # Example
//! ```click
//! w :: WirelessInfo(SSID "net", BSSID 2:0:0:0:0:1, CHANNEL 11);
//! FromDevice(wlan0) -> Classifier(0/b0%fc) -> OpenAuthResponder(WIRELESS_INFO w)
//!     -> SetTXRate(2) -> Queue -> ExtraEncap -> ToDevice(wlan0)
//! ```

use super::shared::wifi_stations::{self as stations, Management, subtype};
use crate::args::{Args, Kind, Need, flag, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, ElementId};
use crate::reason::Reason;
use trammel_packet::batch::Batch;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "OpenAuthResponder",
    "lets any 802.11 station authenticate",
    || Box::<OpenAuthResponder>::default(),
)
.ports("1/1", "h/h")
.references(&["IEEE 802.11-2020, §12.3.3.2"])
.params(&[
    param(
        "WIRELESS_INFO",
        Need::KeywordMandatory,
        Kind::Element,
        "",
        "the `WirelessInfo` that knows the network",
    ),
    flag("DEBUG", "false", "has no effect"),
])
.ops("parse(30); deparse(30); work(120)");

#[derive(Debug, Default)]
struct OpenAuthResponder {
    info: Option<ElementId>,
}

/// The frame numbered `number` of an open authentication.
pub(super) fn frame(number: u16, to: [u8; 6], from: [u8; 6], bssid: [u8; 6]) -> Vec<u8> {
    let mut frame = stations::management(subtype::AUTHENTICATION, to, from, bssid);
    for word in [0, number, 0] {
        frame.extend(word.to_le_bytes());
    }
    frame
}

impl Element for OpenAuthResponder {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.info = args.element("WIRELESS_INFO");
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        stations::check(ctx, self.info, None)
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        batch.filter(|handle| {
            let asker = Management::read(ctx.pool()[&handle].data()).filter(|frame| {
                let is_first = (frame.word(0), frame.word(2)) == (Some(0), Some(1));
                frame.subtype == subtype::AUTHENTICATION && is_first && frame.body.len() >= 6
            });
            let asker = asker.map(|frame| frame.source);
            ctx.drop(handle, Reason::Consumed);
            if let Some(asker) = asker {
                let bssid = stations::info(ctx, self.info).bssid;
                stations::send(ctx, &frame(2, asker, bssid, bssid));
            }
            None
        });
        ctx.recycle(batch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Probe;

    #[test]
    fn the_first_frame_is_answered_by_the_second() {
        let mut probe = Probe::new(
            "OpenAuthResponder(WIRELESS_INFO w); w :: WirelessInfo(BSSID 2:2:2:2:2:2)",
            1,
        );
        let first = frame(1, [2; 6], [4; 6], [2; 6]);
        let second = frame(2, [4; 6], [2; 6], [2; 6]);
        assert_eq!(probe.send(&first), [(0, second.clone())]);
        assert_eq!(probe.send(&second), []);
        for len in 0..first.len() {
            assert_eq!(probe.send(&first[..len]), []);
        }
        let mut shared = first;
        shared[24] = 1;
        assert_eq!(probe.send(&shared), []);
        assert_eq!(probe.held(), 0);
    }
}
