//! Marks 802.11 frames as not acknowledged.
//!
//! # What it does
//! The annotation that `RadiotapEncap` or `ExtraEncap` put in front of the frame tells the driver
//! to send it once.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> WifiEncap(0, 0:0:0:0:0:0) -> SetNoAck -> RadiotapEncap -> Queue
//!     -> ToDevice(mon0)
//! ```

use super::shared::wifi::{self, UNACKNOWLEDGED};
use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("SetNoAck", "marks frames as not acknowledged", || {
    Box::<SetNoAck>::default()
})
.references(&["IEEE 802.11-2020"])
.ops("work(12)");

#[derive(Debug, Default)]
struct SetNoAck;

impl Element for SetNoAck {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        for handle in batch.iter() {
            let packet = &mut ctx.pool()[handle];
            wifi::set_flags(packet, wifi::flags(packet) | UNACKNOWLEDGED);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::wifi::shared::wifi::{UNACKNOWLEDGED, flags};
    use crate::probe::Probe;

    #[test]
    fn the_flag_is_set() {
        let mut seen = 0;
        Probe::new("SetNoAck", 1).send_and_look(b"x", |_| (), |_, packet| seen = flags(packet));
        assert_eq!(seen, UNACKNOWLEDGED);
    }
}
