//! Removes 802.11 frames without an acknowledgement.
//!
//! # What it does
//! A driver gives sent frames back and tells in a header, or an annotation, how it went. Those that
//! failed leave by output 1, or are dropped.
//!
//! # Handlers
//! - `drops`: frames that failed
//!
//! # Example
//! ```click
//! FromDevice(wlan0) -> ExtraDecap -> f :: FilterFailures -> Discard;
//! f[1] -> PrintWifi(failed) -> Discard
//! ```

use super::shared::wifi::{self, FAILED};
use crate::elements::Entry;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "FilterFailures",
    "removes frames without an acknowledgement",
    || Box::<FilterFailures>::default(),
)
.references(&["IEEE 802.11-2020"])
.ports("1/1-2", "a/ah")
.ops("work(16)");

#[derive(Debug, Default)]
struct FilterFailures {
    drops: u64,
}

impl Element for FilterFailures {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            let packet = &ctx.pool()[&handle];
            let header = wifi::driver_header(packet.data());
            let header = header.map_or(0, |header| wifi::flags_of(&header));
            if (header | wifi::told(packet)) & FAILED == 0 {
                return Some(handle);
            }
            self.drops += 1;
            ctx.reject(1, handle, Reason::Filtered);
            None
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("drops", "r")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.drops.to_string())
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::wifi::shared::wifi::{FAILED, SENT, testing::tell};
    use crate::probe::Probe;

    #[test]
    fn failures_leave_apart_whether_a_header_or_an_annotation_tells() {
        let mut probe = Probe::new("FilterFailures", 2);
        assert_eq!(probe.send_with(b"a", |p| tell(p, SENT))[0].0, 0);
        assert_eq!(probe.send_with(b"a", |p| tell(p, SENT | FAILED))[0].0, 1);
        let mut encap = Probe::new("ExtraEncap", 1);
        let frame = encap.send_with(b"a", |p| tell(p, FAILED))[0].1.clone();
        assert_eq!(probe.send(&frame)[0].0, 1);
        assert_eq!(probe.send(&frame[1..])[0].0, 0);
        assert_eq!(probe.run.read("x.drops"), "2");
    }
}
