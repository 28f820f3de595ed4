//! Removes frames received with errors.
//!
//! # What it does
//! A driver tells by an annotation that a frame's check sequence was wrong. Such frames leave by
//! output 1, or are dropped; all others pass.
//!
//! # Example
//! ```click
//! FromDevice(mon0) -> FilterTX -> FilterPhyErr -> Discard
//! ```

use super::shared::wifi;
use crate::args::flag;
use crate::elements::Entry;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("FilterPhyErr", "removes frames with errors", || {
    Box::<FilterPhyErr>::default()
})
.references(&["IEEE 802.11-2020"])
.ports("1/1-3", "a/ah")
.params(&[flag("DEBUG", "false", "has no effect")])
.ops("work(10)");

#[derive(Debug, Default)]
struct FilterPhyErr {
    count: u64,
}

impl Element for FilterPhyErr {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            if wifi::told(&ctx.pool()[&handle]) & wifi::BAD == 0 {
                return Some(handle);
            }
            self.count += 1;
            ctx.reject(1, handle, Reason::BadChecksum);
            None
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("drops", "r"), Handler::new("reset", "wb")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.count.to_string())
    }

    fn write(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<(), String> {
        self.count = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::wifi::shared::wifi::{BAD, SENT, testing::tell};
    use crate::probe::Probe;

    #[test]
    fn bad_frames_leave_apart() {
        let mut probe = Probe::new("FilterPhyErr", 2);
        assert_eq!(probe.send_with(b"a", |packet| tell(packet, SENT))[0].0, 0);
        assert_eq!(probe.send_with(b"a", |packet| tell(packet, BAD))[0].0, 1);
        assert_eq!(probe.run.read("x.drops"), "1");
    }
}
