//! Removes the station's own frames.
//!
//! # What it does
//! A driver gives sent frames back with an annotation that tells how it went. They leave by output
//! 1, or are dropped; all others pass.
//!
//! # Example
//! ```click
//! FromDevice(mon0) -> FilterTX -> FilterPhyErr -> Discard
//! ```

use super::shared::wifi;
use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use crate::reason::Reason;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("FilterTX", "removes the station's own frames", || {
    Box::<FilterTx>::default()
})
.references(&["IEEE 802.11-2020"])
.ports("1/1-2", "a/ah")
.ops("work(10)");

#[derive(Debug, Default)]
struct FilterTx;

impl Element for FilterTx {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            if wifi::told(&ctx.pool()[&handle]) & wifi::SENT == 0 {
                return Some(handle);
            }
            ctx.reject(1, handle, Reason::Filtered);
            None
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::wifi::shared::wifi::{BAD, SENT, testing::tell};
    use crate::probe::Probe;

    #[test]
    fn sent_frames_leave_apart() {
        let mut probe = Probe::new("FilterTX", 2);
        assert_eq!(probe.send(b"a")[0].0, 0);
        assert_eq!(probe.send_with(b"a", |packet| tell(packet, BAD))[0].0, 0);
        assert_eq!(probe.send_with(b"a", |packet| tell(packet, SENT))[0].0, 1);
        let mut probe = Probe::new("FilterTX", 1);
        assert_eq!(probe.send_with(b"a", |packet| tell(packet, SENT)), []);
        assert_eq!(probe.held(), 0);
    }
}
